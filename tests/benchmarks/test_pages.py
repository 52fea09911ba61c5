"""The pages say what the committed files say: every table is computed again, and no figure of FINDINGS is typed."""

import ast
import inspect
import re

import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")
pytest.importorskip("matplotlib", reason="the pictures need matplotlib")
pytest.importorskip("tqdm", reason="the benchmarks need tqdm")

from benchmarks import FOLDER, attributes, fair_importance, gpu, overhead
from benchmarks.curves import __main__ as curves
from benchmarks.curves import page as curves_page
from benchmarks.error_rates import __main__ as error_rates
from benchmarks.error_rates import page as error_rates_page
from benchmarks.findings import page as findings
from benchmarks.findings.numbers import Numbers
from benchmarks.frontier import __main__ as frontier
from benchmarks.frontier import page as frontier_page
from benchmarks.labels import __main__ as labels
from benchmarks.labels import page as labels_page
from benchmarks.mutants import page as mutants
from benchmarks.report import __main__ as report
from benchmarks.selection import page as selection
from benchmarks.unlabelled import __main__ as unlabelled
from benchmarks.unlabelled import page as unlabelled_page


def results(out):
    report.write_report(report.results_of([]), out)


def learning_curves(out):
    curves_page.write_page(curves.RESULTS, out, curves.TEST_SHARE)


def few_labels(out):
    unlabelled_page.write_page(unlabelled.RESULTS, unlabelled.breach_of(unlabelled.RESULTS), out)


def accuracy_and_fairness(out):
    frontier_page.write_page(frontier.RESULTS, frontier.SECTIONS, out)


PAGES = {
    "RESULTS": results,
    "CURVES": learning_curves,
    "UNLABELLED": few_labels,
    "FRONTIER": accuracy_and_fairness,
    "SELECTION": lambda out: selection.write(FOLDER / "results", out),
    "ERROR_RATES": lambda out: error_rates_page.write(
        error_rates.RESULTS, error_rates.file_of("digits", error_rates.RESULTS), out
    ),
    "OVERHEAD": lambda out: out.write_text(overhead.show(pd.read_csv(overhead.RESULTS)), encoding="utf-8"),
    "GPU": lambda out: out.write_text(gpu.page(pd.read_csv(gpu.RESULTS)), encoding="utf-8"),
    "LABELS": lambda out: labels_page.write_page(labels.RESULTS, out),
    "ATTRIBUTES": lambda out: attributes.write(attributes.RESULTS, out),
    "MUTANTS": lambda out: mutants.write(mutants.TABLE, mutants.JUDGED, out),
    "FAIR_IMPORTANCE": lambda out: out.write_text(fair_importance.page(FOLDER / "results"), encoding="utf-8"),
    "FINDINGS": lambda out: out.write_text(findings.text_of(Numbers(FOLDER / "results")), encoding="utf-8"),
}


@pytest.fixture
def without_pictures(monkeypatch):
    """Tables are compared here; a picture takes longer than all of them."""
    for name in ("draw_all", "draw_against_peers"):
        monkeypatch.setattr(report, name, lambda *source: [])
    for page in (curves_page, unlabelled_page, frontier_page, error_rates_page, labels_page, attributes):
        for name in ("draw", "draw_gains", "draw_split", "draw_breach"):
            if hasattr(page, name):
                monkeypatch.setattr(page, name, lambda *source: None)


def cells(text):
    """The rows of all tables, each a list of its cells."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]


@pytest.mark.slow
@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize("name", PAGES)
def test_every_table_comes_from_committed_files(name, tmp_path):
    out = tmp_path / f"{name}.md"
    PAGES[name](out)
    committed, computed = (cells(path.read_text(encoding="utf-8")) for path in (FOLDER / out.name, out))
    assert len(committed) > 5
    assert committed == computed


@pytest.mark.slow
@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize(
    "name", ["SELECTION", "MUTANTS", "FINDINGS", "ERROR_RATES", "ATTRIBUTES", "GPU", "LABELS", "FAIR_IMPORTANCE"]
)
def test_every_word_comes_from_the_program(name, tmp_path):
    out = tmp_path / f"{name}.md"
    PAGES[name](out)
    assert (FOLDER / out.name).read_text(encoding="utf-8") == out.read_text(encoding="utf-8")


def test_no_figure_of_findings_is_typed():
    """Decimal fractions in the words would be such; the version of XGBoost is a name."""
    tree = ast.parse(inspect.getsource(findings))
    typed = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert len(typed) > 50
    formats = re.compile(r"\.\d[f%]")
    words = [text.replace("1.6.2", "") for text in typed if not formats.fullmatch(text)]
    assert [text for text in words if re.search(r"\.\d", text)] == []


def quoted(text):
    """The means with their intervals, without code and examples of the notation."""
    text = re.sub(r"```.*?```|`[^`]*`|\"[^\"]*\"", "", text, flags=re.DOTALL)
    found = re.finditer(r"(\d*\.\d+)(?:\s+AUC)?\s+\((?:95\s+%\s+CI\s+)?(-?\d*\.\d+)\s+to\s+(-?\d*\.\d+)\)", text)
    return {interval.groups() for interval in found}


def test_every_interval_that_a_page_quotes_is_on_a_page_from_a_file():
    root = FOLDER.parent
    generated = set().union(*(quoted(page.read_text(encoding="utf-8")) for page in FOLDER.glob("*.md")))
    assert len(generated) > 1000
    quoting = [root / "README.md", *(root / "docs").glob("*.md")]
    unknown = {page.name: quoted(page.read_text(encoding="utf-8")) - generated for page in quoting}
    assert {name: found for name, found in unknown.items() if found} == {}

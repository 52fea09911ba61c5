"""The pages are what the committed tables say, and every interval that a document quotes stands on one of them."""

import re

import pytest

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")
pytest.importorskip("matplotlib", reason="the pictures need matplotlib")
pytest.importorskip("tqdm", reason="the benchmarks need tqdm")

import pandas as pd

from benchmarks import FOLDER, pages, pictures
from benchmarks.frontier import rates


@pytest.mark.parametrize("name", pages.PAGES)
def test_page_is_written_from_the_committed_tables(name, tmp_path, monkeypatch):
    # Words and tables are compared here; a picture takes longer than all of them.
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda *arguments, **options: None)
    monkeypatch.setattr(pictures, "_shrink", lambda path: None)
    text = pages.page(name, figures=tmp_path)
    assert text == (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert text.count("\n|") > 20
    # Every picture that is shown is there.
    shown = re.findall(r"\]\((figures/[^)]*)\)", text)
    assert [file for file in shown if not (FOLDER / file).is_file()] == []


def quoted(text):
    """The means with their intervals, without code and examples of the notation."""
    text = re.sub(r"```.*?```|`[^`]*`|\"[^\"]*\"", "", text, flags=re.DOTALL)
    found = re.finditer(r"(\d*\.\d+)(?:\s+AUC)?\s+\((?:95\s+%\s+CI\s+)?(-?\d*\.\d+)\s+to\s+(-?\d*\.\d+)\)", text)
    return {interval.groups() for interval in found}


ELSEWHERE = {"mathematics.md"}
"""Its section 14 quotes measurements that no page has."""


def test_every_interval_that_a_document_quotes_is_on_a_page():
    root = FOLDER.parent
    generated = set().union(*(quoted(page.read_text(encoding="utf-8")) for page in FOLDER.glob("*.md")))
    assert len(generated) > 250
    quoting = [root / "README.md", *(root / "docs").glob("*.md")]
    unknown = {
        page.name: quoted(page.read_text(encoding="utf-8")) - generated
        for page in quoting
        if page.name not in ELSEWHERE
    }
    assert {name: found for name, found in unknown.items() if found} == {}


def test_the_gaps_under_constraints_in_the_guide_are_those_of_the_tables():
    found = pd.read_csv(FOLDER / "results" / "frontier_rates.csv.gz").fillna({"constraint": ""})
    found = found[(found.dataset == rates.MADE) & found.kl_weight.isin([0, 10]) & (found["rounds"] == 100)]
    guide = (FOLDER.parent / "docs" / "fairness.md").read_text(encoding="utf-8")
    for name, kind in rates.KINDS.items():
        own = found[found.constraint.isin(["", name]) & found.method.isin([rates.PLAIN_NAME, kind.steps[0]])]
        before, after = rates.points(own, kind.rates)
        parts = [f"{getattr(before, gap):.2f} -> {getattr(after, gap):.2f}" for gap in ("train_gap", "gap")]
        assert re.search(rf"\| `{name}\(.*\| {' [|] '.join(parts)} \|", guide)

"""What the pages of docs/ show works as it stands, and what they name is there."""

from __future__ import annotations

import ast
import doctest
import inspect
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import xgboost
from test_architecture import ALLOWED, LEVELS, PUBLIC_MODULES

from pi_xgb.__main__ import _parser

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
MAP = (ROOT / "docs" / "contributors.md").read_text().partition("\n## Change guide")[0]
LONG_EXAMPLES = {"choosing", "fairness", "few_labels", "privacy"}
SNAPSHOT = ROOT / "tests" / "public_names.txt"
REFERENCE = [page for page in PAGES if page.stem.startswith("api_")]
READ = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


NUMBERS = doctest.register_optionflag("NUMBERS")


class Checker(doctest.OutputChecker):
    """Examples with the flag NUMBERS print decimals that may differ by 0.05, as between versions of XGBoost."""

    def check_output(self, want, got, optionflags):
        if not optionflags & NUMBERS:
            return super().check_output(want, got, optionflags)
        decimal = r"-?\d+\.\d+"
        pairs = zip(re.findall(decimal, want), re.findall(decimal, got), strict=False)
        same_text = re.sub(decimal, "", want) == re.sub(decimal, "", got)
        return same_text and all(abs(float(item) - float(other)) <= 0.05 for item, other in pairs)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow if page.stem in LONG_EXAMPLES else ()) for page in PAGES],
    ids=lambda page: page.stem,
)
def test_every_example_gives_what_the_page_shows(page):
    test = doctest.DocTestParser().get_doctest(page.read_text(), {"__name__": "__main__"}, page.stem, str(page), 0)
    with xgboost.config_context(verbosity=xgboost.get_config()["verbosity"]):
        failed, _ = doctest.DocTestRunner(Checker(), verbose=False).run(test)
    assert failed == 0
    # A block of Python is an example that is run; what is only read is fenced as "py", "sh" or "text".
    assert not re.search(r"^```python\n(?!>>> )", page.read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("got", "passes"), [("AUC 0.74", True), ("AUC 0.79", False), ("auc 0.70", False), ("AUC", False)]
)
def test_a_number_may_differ_a_little_and_the_text_not_at_all(got, passes):
    assert Checker().check_output("AUC 0.70", got, NUMBERS) is passes
    assert not Checker().check_output("AUC 0.70", got, 0)


def anchors(page):
    """The names by which GitHub links to a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", READ, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        path, _, anchor = target.replace("\n", "").partition("#")
        if path.startswith("http"):
            continue
        there = page.parent / path if path else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


@pytest.mark.parametrize("page", READ, ids=lambda page: page.stem)
def test_files_that_are_named_are_there(page):
    # In words such as `_core/blend.py`, `pi_xgb/_core/blend.py`, `tests/test_losses.py` and `_rows/`.
    named = re.findall(r"`((?:[\w.]+/)+(?:\w+\.(?:py|md|txt|csv))?)`", page.read_text())
    missing = [name for name in named if not ((ROOT / name).exists() or (ROOT / "pi_xgb" / name).exists())]
    assert missing == []


@pytest.mark.parametrize("page", READ, ids=lambda page: page.stem)
def test_names_stand_where_a_page_says(page):
    # As in `GAPS` in `metrics/_disparity_report.py`.
    output = re.findall(r"`(\w+)`\s+(?:in|of)\s+`([\w/]+\.py)`", page.read_text())
    files = {path: ROOT / path if (ROOT / path).exists() else ROOT / "pi_xgb" / path for _, path in output}
    assert [(name, path) for name, path in output if not re.search(rf"\b{name}\b", files[path].read_text())] == []


def test_the_map_shows_every_package_and_what_it_may_import():
    rows = re.findall(r"^\| (`.*?) \|.*\| (.*)\|$", MAP, flags=re.MULTILINE)
    shown = {package: set(re.findall(r"`(\w+)`", below)) for names, below in rows for package in _packages(names)}
    assert set(ALLOWED) - set(shown) <= PUBLIC_MODULES
    for package in set(ALLOWED) & set(shown):
        # The page names the top of what the plan allows, and nothing else.
        below = shown[package].union(*(ALLOWED[name] for name in shown[package]))
        assert shown[package] <= ALLOWED[package] <= below, package


def _packages(names):
    return re.findall(r"`(\w+)/?`", names)


def test_the_map_shows_the_levels_of_the_core():
    rows = re.findall(r"^\| (\d+) \| (.*?) \|", MAP, flags=re.MULTILINE)
    shown = {int(level): set(re.findall(r"`(\w+)`", parts)) for level, parts in rows}
    assert shown == dict(enumerate(LEVELS, start=1))


def toctrees(text):
    """The pages that the lists of contents of a page lead to."""
    entries = "\n".join(re.findall(r"```\{toctree\}\n(.*?)```", text, flags=re.DOTALL)).splitlines()
    return {re.sub(r".*<(.*)>", r"\1", entry) for entry in entries if entry and not entry.startswith(":")}


def test_every_page_has_a_place_on_the_site():
    # A new page goes into the toctree of docs/guides.md, or of the page of another section.
    placed = set().union(*(toctrees(page.read_text()) for page in PAGES))
    assert {page.stem for page in PAGES} - placed == {"index"}
    benchmarks = {f"evidence/{page.stem}" for page in (ROOT / "benchmarks").glob("*.md")}
    notebooks = {f"notebooks/{page.stem}" for page in (ROOT / "notebooks").glob("*.ipynb")}
    assert benchmarks | notebooks <= placed


def test_a_page_that_is_copied_to_the_site_keeps_its_form_and_its_pictures():
    conf = runpy.run_path(str(ROOT / "docs" / "conf.py"))
    for page, place in conf["COPIED"].items():
        text = conf["relinked"](page.read_text(), page, place)
        if page.suffix == ".ipynb":
            json.loads(text)
        pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
        folder = (ROOT / "docs" / place).parent.resolve()
        assert [name for name in pictures if not (folder / name).resolve().is_file()] == []


def test_no_public_name_stands_in_two_groups():
    assert len(PUBLIC) == len(set(PUBLIC))


SEARCHES = ("shap", "onnx", "early stopping", "missing labels", "soft labels", "gpu", "grid search", "group gap")


def test_each_search_has_a_page_and_heading():
    found = runpy.run_path(str(ROOT / "docs" / "conf.py"))["FOUND_FIRST"]
    assert sorted(found) == sorted(SEARCHES)
    for page, heading in found.values():
        headings = re.findall(r"^#+ (.*)$", (ROOT / "docs" / f"{page}.md").read_text(), flags=re.MULTILINE)
        assert headings.count(heading) == 1


def ranked_first(index, query):
    """The page that the search of the site shows first for these words, by its scores of titles and index entries."""
    scores = []
    for title, places in index["alltitles"].items():
        if query in title.lower() and len(query) >= len(title) / 2:
            scores += [(15 * len(query) / len(title) + 1, index["docnames"][place[0]]) for place in places]
    for entry, places in index["indexentries"].items():
        if query in entry and len(query) >= len(entry) / 2:
            scores += [(100 * len(query) / len(entry), index["docnames"][place]) for place, _, main in places if main]
    assert max(scores)[0] == 100  # above all names of objects (at most 26) and words of the text
    return max(scores)[1]


@pytest.mark.slow
def test_the_search_finds_the_page_of_the_user_first(tmp_path):
    pytest.importorskip("sphinx_gallery")
    pytest.importorskip("myst_nb")
    # A copy, since the build writes pages beside its sources.
    for name in ("docs", "benchmarks", "notebooks"):
        ignored = shutil.ignore_patterns("_build", "api", "evidence", "pictures", "project", "results", "*.pyc")
        shutil.copytree(
            ROOT / name, tmp_path / name, ignore=ignored if name == "docs" else shutil.ignore_patterns("*.pyc")
        )
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(tmp_path / "docs"), str(tmp_path / "site")]
    environment = os.environ | {"PI_XGB_DOCS_PICTURES": "0", "PYTHONPATH": str(ROOT)}
    subprocess.run(command, check=True, env=environment, capture_output=True)
    script = (tmp_path / "site" / "searchindex.js").read_text()
    index = json.loads(script.removeprefix("Search.setIndex(").rstrip().removesuffix(")"))
    found = runpy.run_path(str(ROOT / "docs" / "conf.py"))["FOUND_FIRST"]
    assert {query: ranked_first(index, query) for query in SEARCHES} == {
        words: page for words, (page, _) in found.items()
    }


def test_the_reference_has_every_public_name():
    # scikit-learn, Dask and XGBoost's own names are documented by them.
    page = "\n".join(page.read_text() for page in REFERENCE)
    names = {line.partition("(")[0].removeprefix("selection.") for line in SNAPSHOT.read_text().splitlines()}
    classes = {name for name in names if name.split(".")[-1][0].isupper()}
    public = {name for name in names if " of " not in name and not any(name.startswith(f"{c}.") for c in classes)}
    modules = {
        "constraints",
        "datasets",
        "importance",
        "labels",
        "metrics",
        "plotting",
        "privacy",
        "dask",
        "__version__",
    }
    missing = [name for name in public - modules if not re.search(rf"^   (\w+\.)?{name.split('.')[-1]}$", page, re.M)]
    assert missing == []


def referenced(page):
    """The public names that a page of the reference lists, each with its module."""
    lines = re.findall(r"^(?:\.\. currentmodule:: (\S+)|   (\w[\w.]*))$", page.read_text(), flags=re.MULTILINE)
    module, found = "", []
    for begins, name in lines:
        module = begins or module
        if name:
            found.append((module, name))
    return found


PUBLIC = [pair for page in REFERENCE for pair in referenced(page)]


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=[f"{module}.{name}" for module, name in PUBLIC])
def test_every_public_name_has_an_example(module, name):
    # Those of the modules are run as doctests.
    thing = pytest.importorskip(module, exc_type=ImportError)
    for part in name.split("."):
        thing = getattr(thing, part)
    assert ">>> " in (inspect.getdoc(thing) or "")


def commands(text):
    """Calls of the command line that a text shows, as lists of words; a line may go on after a backslash."""
    joined = re.sub(r"\\\n\s*", "", text)
    lines = re.findall(r"^ *(pi-xgb \w+ [^-\n].*)$", joined, flags=re.MULTILINE)
    return [shlex.split(line.partition(" > ")[0])[1:] for line in lines]


@pytest.mark.parametrize("page", READ, ids=lambda page: page.stem)
def test_commands_that_are_shown_are_commands(page):
    parser, _ = _parser()
    for words in commands("".join(re.findall(r"^```sh\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL))):
        assert parser.parse_args(words)


def test_the_help_of_each_command_shows_commands():
    parser, named = _parser()
    shown = {name: commands(item.epilog) for name, item in named.items()}
    for calls in shown.values():
        for words in calls:
            parser.parse_args(words)
    assert [len(shown[name]) for name in ("train", "evaluate", "tune", "compare")] == [4, 3, 2, 2]

"""What the pages of docs/ show works as it stands, and what they name is there."""

from __future__ import annotations

import doctest
import inspect
import re
import shlex
from pathlib import Path

import pytest
import xgboost
from test_architecture import ALLOWED, PUBLIC_MODULES

from pi_xgb._cli.commands import new_parser
from pi_xgb._core.losses import LOSSES

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
PLAN = (ROOT / "docs" / "contributors.md").read_text().partition("\n## Change guide")[0]
LONG_EXAMPLES = {"choosing", "fairness", "few_labels", "objectives", "privacy", "teachers"}
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


def packages():
    """The packages of the map, and what it says that each may import."""
    rows = re.findall(r"^\| (`.*?) \|.*\| (.*)\|$", PLAN, flags=re.MULTILINE)
    below = {names: set(re.findall(r"`(\w+)`", found)) for names, found in rows}
    return {package: found for names, found in below.items() for package in re.findall(r"`(\w+)/?`", names)}


def test_the_map_shows_every_package():
    assert set(packages()) == set(ALLOWED) - PUBLIC_MODULES


@pytest.mark.parametrize("package", sorted(ALLOWED.keys() - PUBLIC_MODULES))
def test_the_map_says_what_a_package_may_import(package):
    found = packages()[package]
    below = found.union(*(ALLOWED[name] for name in found))
    assert found <= ALLOWED[package] <= below


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


def test_the_reference_has_every_public_name():
    # scikit-learn, Dask and XGBoost's own names are documented by them.
    page = "\n".join(page.read_text() for page in REFERENCE)
    names = {line.partition("(")[0].removeprefix("selection.") for line in SNAPSHOT.read_text().splitlines()}
    classes = {name for name in names if name.split(".")[-1][0].isupper()}
    public = {name for name in names if " of " not in name and not any(name.startswith(f"{c}.") for c in classes)}
    modules = {"constraints", "dask", "datasets", "importance", "labels", "metrics", "plotting", "privacy", "selection"}
    modules |= {"sklearn", "__version__"}
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
    parser, _ = new_parser()
    for words in commands("".join(re.findall(r"^```sh\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL))):
        assert parser.parse_args(words)


# --- docs/objectives.md has every objective of the installed XGBoost, as the registry has it ---

OBJECTIVES = ROOT / "docs" / "objectives.md"


def engines_of(loss) -> str:
    if not loss.has_gradient:
        return "copies"
    return "callback" if loss.multiclass else "callback, native"


def guided_rows() -> list[str]:
    """The table of the page, from the registry."""
    return [
        f"| `{name}` | {engines_of(loss)} | {loss.range.must} | {loss.default_metric} |"
        for name, loss in LOSSES.items()
    ]


def of_xgboost() -> set[str]:
    """What this XGBoost has: it lists them where it does not know a name."""
    with pytest.raises(xgboost.core.XGBoostError) as caught:
        xgboost.train({"objective": "nonsense"}, xgboost.DMatrix([[1.0]], [1.0]), 1)
    return set(re.findall(r"Objective candidate: (\S+)", str(caught.value)))


def test_the_page_has_every_objective_of_xgboost_and_those_of_the_registry_as_they_are_there():
    rows = [line for line in OBJECTIVES.read_text().splitlines() if re.match(r"\| `\w+:", line)]
    assert rows[: len(LOSSES)] == guided_rows()
    assert len(of_xgboost()) >= 20
    assert of_xgboost() <= set(re.findall(r"`(\w+:\w+)`", "".join(rows)))
    assert of_xgboost() >= LOSSES.keys() - {"reg:expectileerror"}  # from XGBoost 3.3 on

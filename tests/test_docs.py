"""What the pages of docs/ show works as it stands, and what they name is there."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
import xgboost
from test_house import ALLOWED

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
PLAN = (ROOT / "docs" / "house.md").read_text().partition("## Rooms")[2].partition("\n## ")[0]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
READ = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


@every_page
def test_every_example_gives_what_the_page_shows(page):
    with xgboost.config_context(verbosity=xgboost.get_config()["verbosity"]):
        failed, _ = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
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


@pytest.mark.parametrize("page", READ, ids=lambda page: page.stem)
def test_names_stand_where_a_page_says(page):
    # As in `GAPS` in `metrics/_disparity_report.py`.
    said = re.findall(r"`(\w+)`\s+(?:in|of)\s+`([\w/]+\.py)`", page.read_text())
    files = {path: ROOT / path if (ROOT / path).exists() else ROOT / "pi_xgb" / path for _, path in said}
    assert [(name, path) for name, path in said if not re.search(rf"\b{name}\b", files[path].read_text())] == []


def rooms():
    """The rooms of the map, and what it says that each may import."""
    rows = re.findall(r"^\| (`.*?) \|.*\| (.*)\|$", PLAN, flags=re.MULTILINE)
    below = {names: set(re.findall(r"`(\w+)`", told)) for names, told in rows}
    return {room: told for names, told in below.items() for room in re.findall(r"`(\w+)/?`", names)}


def test_the_map_shows_every_room():
    assert set(rooms()) == set(ALLOWED)


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_the_map_says_what_a_room_may_import(room):
    told = rooms()[room]
    below = told.union(*(ALLOWED[name] for name in told))
    # The page names the top of what the plan allows, and nothing else.
    assert told <= ALLOWED[room] <= below

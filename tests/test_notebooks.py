"""The notebooks as they are committed, with their outputs; CI runs them."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
every_notebook = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)


def cells(notebook, kind):
    return [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == kind]


@every_notebook
def test_it_was_run_and_shows_pictures(notebook):
    code = cells(notebook, "code")
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
    assert any("image/png" in output.get("data", {}) for output in outputs)


@every_notebook
def test_it_defines_no_logic(notebook):
    # What is worth a function stands in the package or the benchmarks, where it is tested.
    for cell in cells(notebook, "code"):
        defined = (ast.FunctionDef, ast.ClassDef, ast.Lambda)
        assert not [node for node in ast.walk(ast.parse("".join(cell["source"]))) if isinstance(node, defined)]


@every_notebook
def test_it_opens_with_its_claim_and_ends_with_what_to_do(notebook):
    first, *_, last = ("".join(cell["source"]) for cell in cells(notebook, "markdown"))
    heading, _, claim = first.partition("\n\n")
    assert heading.startswith("# ")
    assert claim.startswith("**Claim**: ")
    assert last.startswith("**What to do**: ")
    assert json.loads(notebook.read_text())["cells"][-1]["cell_type"] == "markdown"


@every_notebook
def test_its_code_is_for_readers(notebook):
    # 90 characters fit between the side bars of the site; CI needs no code of its own.
    code = [cell for cell in cells(notebook, "code") if "remove-cell" not in cell["metadata"].get("tags", [])]
    lines = [line.rstrip("\n") for cell in code for line in cell["source"]]
    assert [line for line in lines if len(line) > 90] == []
    assert [line for line in lines if re.search(r"PI_XGB_|sys\.path|environ|chdir", line)] == []


@every_notebook
def test_its_links_lead_somewhere(notebook):
    text = "\n".join("".join(cell["source"]) for cell in cells(notebook, "markdown"))
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)]+)\)", text)]
    assert [target for target in targets if "://" not in target and not (notebook.parent / target).exists()] == []

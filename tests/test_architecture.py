"""Imports point one way, public modules are thin, and three packages alone name XGBoost's internals."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pi_xgb

PACKAGE = Path(pi_xgb.__file__).parent
PUBLIC_MODULES = {"constraints", "dask", "importance", "labels", "plotting", "privacy", "selection", "sklearn", "spark"}

GROUND = {"_arrays", "_files", "_progress", "_version", "_warnings"}
STATS = GROUND | {"_stats"}
XGB = STATS | {"_xgb"}
ROWS = XGB | {"_rows"}
CORE = ROWS | {"_core", "_privacy_record"}
# What each package may import besides itself; a public module may import what it re-exports.
ALLOWED = {
    "_arrays": set(),
    "_files": set(),
    "_progress": set(),
    "_version": set(),
    "_warnings": set(),
    "datasets": set(),
    "_stats": GROUND,
    "_xgb": STATS,
    "_rows": XGB,
    "metrics": ROWS,
    "_importance": ROWS,
    "_privacy_record": XGB,
    "_core": ROWS | {"_privacy_record"},
    "_constraints": CORE,
    "_privacy": CORE,
    "_plots": ROWS | {"metrics", "_importance"},
    "_labels": ROWS | {"_plots"},
    "_selection": CORE | {"_plots"},
    "_frontier": CORE | {"_constraints", "metrics", "_plots", "_selection"},
    "_report": ROWS | {"metrics", "_importance", "_plots"},
    "_dask": CORE | {"_constraints"},
    "_spark": CORE | {"_constraints"},
    "_sklearn": CORE | {"_constraints", "selection", "_selection"},
    "_cli": CORE
    | {"constraints", "datasets", "metrics", "_frontier", "_labels", "_selection", "selection", "_report", "_plots"},
    "constraints": {"_constraints"},
    "dask": {"_constraints", "_dask"},
    "importance": {"_importance"},
    "labels": {"_labels"},
    "plotting": {"_plots"},
    "privacy": {"_privacy"},
    "selection": {"_selection"},
    "sklearn": {"_constraints", "_sklearn"},
    "spark": {"_spark"},
    "__init__": CORE | PUBLIC_MODULES | {"datasets", "metrics", "_frontier", "_report", "_sklearn"},
    "__main__": {"_cli", "_version"},
}
# The files and folders of _core, from the ground up; each may import those on lower levels.
LEVELS = (
    {"losses"},
    {"crossfit", "training"},
    {"blend", "teachers"},
    {"engines", "joint", "learners"},
    {"keywords", "objective"},
    {"cv", "fit_teacher", "train"},
)
FILES = sorted(PACKAGE.rglob("*.py"))
CORE_FILES = [file for file in FILES if file.is_relative_to(PACKAGE / "_core")]


def module_of(file: Path) -> list[str]:
    """The dotted name below the package, ``__init__`` for the package itself."""
    parts = list(file.relative_to(PACKAGE).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts


def package_of(file: Path) -> str:
    return module_of(file)[0]


def imports(file: Path) -> list[list[str]]:
    """The dotted names below the package that a file imports, inside functions too."""
    found = []
    package = list(file.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            module = node.module.split(".") if node.module else []
            if node.level:
                module = package[: len(package) - node.level + 1] + module
            elif module.pop(0) != "pi_xgb":
                continue
            found += [[*module, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            found += [name[1:] for name in names if name[0] == "pi_xgb" and len(name) > 1]
    return found


def imported(file: Path) -> set[str]:
    """The packages that a file imports."""
    return {name[0] for name in imports(file)}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_point_one_way(file):
    # A package imports what stands below it, and every package is on the plan.
    assert imported(file) - {package_of(file)} <= ALLOWED[package_of(file)]


MODULES = {tuple(module_of(file)): file for file in FILES}
IMPORTED = {
    module: {own for name in imports(file) for own in (tuple(name), tuple(name[:-1])) if own in MODULES} - {module}
    for module, file in MODULES.items()
}


@pytest.mark.parametrize("left", [ALLOWED, IMPORTED], ids=["plan", "files"])
def test_imports_go_in_no_circle(left):
    # If what a package may import could come back to it, the test above would allow a circle.
    while left:
        free = {name for name, needed in left.items() if not set(needed) & left.keys()}
        assert free, f"a circle among {sorted(left)}"
        left = {name: needed for name, needed in left.items() if name not in free}


def part_of_core(file: Path) -> str:
    """The file or folder of the core that it belongs to, ``__init__`` for the core itself."""
    return Path(file.relative_to(PACKAGE / "_core").parts[0]).stem


@pytest.mark.parametrize("file", CORE_FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_the_core_imports_lower_levels_only(file):
    own = part_of_core(file)
    below = {part for level in LEVELS[: level_of(own)] for part in level}
    assert {name[1] for name in imports(file) if name[0] == "_core"} - {own} <= below


def level_of(part: str) -> int:
    """How many levels are below; none for the core itself, which imports nothing of its own."""
    return next((number for number, level in enumerate(LEVELS) if part in level), 0)


def test_every_part_of_the_core_has_a_level():
    assert {part_of_core(file) for file in CORE_FILES} == {"__init__"}.union(*LEVELS)
    assert sum(map(len, LEVELS)) == len(set().union(*LEVELS))
    assert len(LEVELS) <= 6


@pytest.mark.parametrize("name", sorted(PUBLIC_MODULES))
def test_public_modules_are_thin(name):
    # Module text and re-exports: what is done stands in the private package.
    tree = ast.parse((PACKAGE / f"{name}.py").read_text())
    assert not [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.For))]
    assert len((PACKAGE / f"{name}.py").read_text().splitlines()) <= 100


# XGBoost's private names, and the words of its model's JSON.
INTERNALS = re.compile(r"xgboost(?:\.\w+)*\._(?!_)\w+|save_config|save_raw\(\"json\"\)|\"learner\"")
MAY_NAME_INTERNALS = ("_xgb", "_dask", "_spark")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_xgboosts_internals_are_named_in_three_packages(file):
    # One place to look into where a version of XGBoost is built differently.
    assert package_of(file) in MAY_NAME_INTERNALS or not INTERNALS.findall(file.read_text())


@pytest.mark.slow
def test_training_loads_no_extra():
    # Matplotlib, Dask, PySpark and scikit-learn are loaded by what needs them.
    heavy = "{'matplotlib', 'dask', 'distributed', 'pyspark', 'sklearn', 'scipy.stats', 'scipy.optimize'}"
    # XGBoost itself loads scikit-learn where it is installed.
    code = (
        "import sys, xgboost; before = set(sys.modules); import pi_xgb; pi_xgb.train, pi_xgb.cv; "
        f"print(sorted({heavy} & (set(sys.modules) - before)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"

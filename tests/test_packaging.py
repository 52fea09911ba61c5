"""What is published: one version, one list of extras, what every file says of it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import pi_xgb

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_version_is_said_once_and_repeated_truly():
    assert "version" in PROJECT["dynamic"]
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE)
    assert cited.group(1) == pi_xgb.__version__
    assert f"\n## {pi_xgb.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_package_itself_needs_xgboost_and_what_it_is_called_with():
    assert sorted(re.split("[<>=]", need)[0] for need in PROJECT["dependencies"]) == [
        "numpy",
        "pandas",
        "scipy",
        "xgboost",
    ]


def packages(needs):
    return {re.match(r"[\w.-]+", need).group() for need in needs}


@pytest.mark.parametrize("extra", ["sklearn", "plot", "report", "parquet", "dask"])
def test_what_tests_need_covers_the_extras_that_they_test(extra):
    extras = PROJECT["optional-dependencies"]
    assert packages(extras[extra]) <= packages(extras["test"])


def test_errors_name_extras_that_exist():
    named = set()
    for file in (ROOT / "pi_xgb").rglob("*.py"):
        named |= set(re.findall(r"pi.xgb\[(\w+)\]|extra [\"'`]+(\w+)[\"'`]", file.read_text()))
    found = {name for pair in named for name in pair if name}
    assert found
    assert found <= PROJECT["optional-dependencies"].keys()


def test_the_classifiers_name_every_python_that_xgboost_declares():
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13, 14)} <= set(PROJECT["classifiers"])

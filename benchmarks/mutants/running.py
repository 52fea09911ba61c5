"""A mutant meets the tests: in a process that has the libraries loaded, until the first test fails."""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import FOLDER
from benchmarks.mutants.source import Mutant

ROOT = FOLDER.parent
SECONDS, FILES = 6, 6
"""Of the processor for the tests of a mutant, and test files; a third at most for the tests of one file."""
WAIT = 6
"""Times as long by the clock hangs, which is noticed as well: other programs run here too."""


def copied_tree(folder: Path) -> Path:
    """The package and its tests, to be broken."""
    for name in ("pi_xgb", "tests", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "results", "figures"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


LIBRARIES = ["xgboost", "scipy.special", "sklearn.linear_model", "sklearn.model_selection", "matplotlib.pyplot"]
LIBRARIES += ["pyarrow.parquet", "polars"]


def load_libraries() -> None:
    """Those that are installed, once for all children."""
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def outcome(mutant: Mutant | None, tree: Path, tests: Sequence[str], seconds: dict[str, float]) -> str:
    """killed, hung, or lived, by some of the tests; ``None`` is the package as it is."""
    chosen = batches(tests, seconds)
    if not chosen:
        return "lived"
    limit = 30 + 2 * sum(seconds.get(test, 0) for batch in chosen for test in batch)
    return _broken(mutant, tree, lambda: next(filter(None, map(_status_of_tests, chosen)), 0), limit)


def batches(tests: Sequence[str], seconds: dict[str, float]) -> list[list[str]]:
    """Tests by file, the quickest of each: first the files of which most tests come there, as it is their subject."""
    sizes = Counter(test.partition("::")[0] for test in seconds)
    by_file: dict[str, list[str]] = {}
    for test in sorted(tests, key=lambda test: seconds.get(test, 0)):
        by_file.setdefault(test.partition("::")[0], []).append(test)
    found, left = [], SECONDS
    own = sorted(by_file, key=lambda file: (-len(by_file[file]) / max(sizes[file], 1), file))
    for file in own[:FILES]:
        took = np.cumsum([seconds.get(test, 0) for test in by_file[file]])
        batch = by_file[file][: int((took <= min(left, SECONDS / 3)).sum())]
        left -= float(took[len(batch) - 1]) if batch else 0
        found += [batch] * bool(batch)
    return found


def outcome_of_files(mutant: Mutant, tree: Path, files: Sequence[str], limit: float) -> str:
    """The same by all tests of some files, the slow ones too, as far as the time goes; without files nobody notices."""
    if not files:
        return "lived"
    found = (_status(["-m", "slow or not slow", file]) for file in files if time.process_time() < limit)
    return _broken(mutant, tree, lambda: next(filter(None, found), 0), 3 * limit)


def _broken(mutant: Mutant | None, tree: Path, status: Callable[[], int], limit: float) -> str:
    path = tree / "pi_xgb" / (mutant.file if mutant else "__init__.py")
    original = path.read_bytes()
    path.write_bytes(mutant.source(original) if mutant else original)
    try:
        child = os.fork()
        if not child:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
            in_child(tree, status)
        return _awaited(child, limit * WAIT)
    finally:
        path.write_bytes(original)


def in_child(tree: Path, status: Callable[[], int], silent: bool = True) -> None:
    """Ends this process with the status; what it prints is nobody's, and the package is that of the tree."""
    ended = 1
    try:
        os.setsid()
        os.chdir(tree)
        sys.path.insert(0, str(tree))
        for number in (1, 2) if silent else ():
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        ended = status()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(min(int(ended), 100))


def _status(arguments: Sequence[str], plugins: Sequence[Any] = ()) -> int:
    return int(
        pytest.main(
            ["-x", "-q", "-n", "0", "--tb=no", "--assert=plain", "-p", "no:cacheprovider", *arguments],
            plugins=list(plugins),
        )
    )


def _status_of_tests(tests: Sequence[str]) -> int:
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    return _status(files, [_Chosen(tests)])


class _Chosen:
    """A pytest plugin: these tests, in this order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.place = {test: i for i, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.place), key=lambda item: self.place[item.nodeid]
        )


def _awaited(child: int, limit: float) -> str:
    until = time.monotonic() + limit
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "lived" if status == 0 else "killed"
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hung"

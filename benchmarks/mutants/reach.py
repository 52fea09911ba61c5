"""Which tests reach which line, and how long they take: measured once, by running them under coverage."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.mutants import source
from benchmarks.mutants.source import Mutant

CLUSTERS = {
    "_dask": ["dask_unlabelled", "dask_objectives", "dask"],
    "_spark": ["spark"],
    "__main__": ["cli_process"],
    "_constraints": ["distributed_constraints"],
    "_xgb": ["distributed", "distributed_unlabelled"],
    "_core": ["distributed", "distributed_unlabelled"],
}
"""The tests of packages whose code runs in other processes, where no line is measured."""
NOT_RUN = (
    "architecture",
    "dask",
    "distributed",
    "docs",
    "ecosystem",
    "gpu",
    "notebooks",
    "packaging",
    "process",
    "readme",
)
NOT_RUN += ("spark", "typed")
"""In the names of test files that look at no line of this process: clusters, commands, pages, type checkers."""
OF_SIGNATURES = ("tests/test_public_names.py", "tests/test_docstrings.py")
"""The tests that read signatures and defaults and run no line: they meet what runs as a module is imported."""


@dataclasses.dataclass
class Reach:
    """The seconds of the processor that each test takes, and by file and line the tests that came there."""

    seconds: dict[str, float]
    lines: dict[str, dict[int, frozenset[str]]]
    texts: dict[str, str]
    """What was measured, as digests by file: another text has other lines."""

    def of(self, mutant: Mutant) -> list[str]:
        """The tests that reach a mutant, quickest first; those of its file if it runs as the module is imported."""
        lines = self.lines.get(mutant.file, {})
        met = [lines[number] for number in mutant.lines if number in lines]
        tests = frozenset().union(*met) if self.texts.get(mutant.file) == digest(mutant.file) else frozenset()
        if not tests and (met or self.texts.get(mutant.file) != digest(mutant.file)):
            tests = frozenset().union(*lines.values())
            tests |= {test for test in self.seconds if test.startswith(OF_SIGNATURES)}
        return sorted(tests, key=lambda test: (self.seconds[test], test))

    def files(self, mutant: Mutant) -> list[str]:
        """All test files that reach the file of a mutant: those of its own lines come first."""
        near = [test.partition("::")[0] for test in self.of(mutant)]
        far = [test.partition("::")[0] for tests in self.lines.get(mutant.file, {}).values() for test in sorted(tests)]
        return list(dict.fromkeys([*sorted(near, key=near.count, reverse=True), *sorted(far)]))

    def updated(self, other: Reach) -> Reach:
        """With the tests of some files measured again."""
        again = {test.partition("::")[0] for test in other.seconds}
        kept = {test for test in self.seconds if test.partition("::")[0] not in again}
        lines = {
            file: {
                number: (self.lines.get(file, {}).get(number, frozenset()) & kept)
                | other.lines.get(file, {}).get(number, frozenset())
                for number in {*self.lines.get(file, {}), *other.lines.get(file, {})}
            }
            for file in {*self.lines, *other.lines}
        }
        seconds = {test: self.seconds[test] for test in kept} | other.seconds
        return Reach(seconds, lines, self.texts | other.texts)

    def write(self, path: Path) -> None:
        names = list(self.seconds)
        place = {name: i for i, name in enumerate(names)}
        sets: dict[frozenset[str], int] = {}
        lines = {
            file: {number: sets.setdefault(tests, len(sets)) for number, tests in own.items()}
            for file, own in self.lines.items()
        }
        content = {
            "seconds": self.seconds,
            "sets": [sorted(place[name] for name in tests) for tests in sets],
            "lines": lines,
            "texts": self.texts,
        }
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))


def read_reach(path: Path) -> Reach:
    content = json.loads(path.read_text())
    names = list(content["seconds"])
    sets = [frozenset(names[i] for i in members) for members in content["sets"]]
    lines = {file: {int(number): sets[i] for number, i in own.items()} for file, own in content["lines"].items()}
    return Reach(content["seconds"], lines, content["texts"])


def digest(file: str) -> str:
    path = source.PACKAGE / file
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def elsewhere(mutant: Mutant) -> list[str]:
    """The test files for a line that no test of this process reaches."""
    return [f"tests/test_{name}.py" for name in CLUSTERS.get(mutant.package, ())]


def files_run_here(tree: Path) -> list[str]:
    """The test files that are run here, and the package itself for its examples."""
    names = [path.relative_to(tree).as_posix() for path in sorted((tree / "tests").glob("test_*.py"))]
    return [name for name in names if not any(word in name for word in NOT_RUN)] + ["pi_xgb"]


def measured(tree: Path, files: Iterable[str]) -> Reach:
    """Runs these test files of a copy of the package. For a process that has not imported the package."""
    try:
        import coverage
    except ImportError as error:
        raise SystemExit("which tests reach a line is measured by coverage: pip install coverage") from error
    tracer = coverage.Coverage(data_file=None, config_file=False, source=[str(tree / "pi_xgb")])
    recorder = _Recorder(tracer)
    tracer.start()
    pytest.main(["--tb=no", "--assert=plain", "-p", "no:cacheprovider", *files], plugins=[recorder])
    tracer.stop()
    data = tracer.get_data()
    own = {f"{test.partition('::')[0]}::": set() for test in recorder.seconds}
    for test in recorder.seconds:
        own[f"{test.partition('::')[0]}::"].add(test)
    lines: dict[str, dict[int, frozenset[str]]] = defaultdict(dict)
    for path in data.measured_files():
        name = Path(path).relative_to(tree / "pi_xgb").as_posix()
        for number, contexts in data.contexts_by_lineno(path).items():
            tests = set().union(*(own.get(context, {context}) for context in contexts))
            lines[name][number] = frozenset(tests & recorder.seconds.keys())
    return Reach(recorder.seconds, dict(lines), {name: digest(name) for name in lines})


class _Recorder:
    """A pytest plugin: each line counts for the test that runs, or, in a fixture of many tests, for all of its file."""

    def __init__(self, tracer: Any) -> None:
        self.tracer = tracer
        self.running = ""
        self.seconds: dict[str, float] = {}
        self._failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        self.running = item.nodeid
        self.tracer.switch_context(item.nodeid)
        began = time.process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.process_time() - began
            self.tracer.switch_context("")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        if fixturedef.scope != "function":
            self.tracer.switch_context(self.running.partition("::")[0] + "::")
        try:
            return (yield)
        finally:
            self.tracer.switch_context(self.running)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed or report.skipped:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self.seconds = {test: round(took, 4) for test, took in self.seconds.items() if test not in self._failed}
        if self._failed:
            print(f"{len(self._failed)} tests fail here or are skipped, and are left out:", *sorted(self._failed)[:20])
        sys.stdout.flush()

"""Are the intervals and p-values of the audit what they say? Made rows whose rates and gaps are known.

    python -m benchmarks.coverage            all cells, some eight minutes of one core; those that are there are kept
    python -m benchmarks.coverage --groups   only the rates of one group, a minute
    python -m benchmarks.coverage --report   only write COVERAGE.md again
    python -m benchmarks.coverage --smoke    a few draws, which shows that it works

Writes results/coverage.csv, results/coverage_groups.csv and COVERAGE.md.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import FOLDER
from benchmarks.command_line import command
from benchmarks.coverage import cells, gaps, groups
from benchmarks.coverage.page import page

GAPS, GROUPS = "coverage.csv", "coverage_groups.csv"


def run(path: Path, chosen: Sequence[Any], lines_of: Callable[[Any], pd.DataFrame]) -> None:
    """Each cell that is not there yet; what is finished is kept."""
    done = _read(path)
    there = set(done[list(chosen[0]._fields)].itertuples(index=False, name=None)) if len(done) else set()
    for cell in chosen:
        if tuple(cell) not in there:
            done = pd.concat([done, lines_of(cell)], ignore_index=True)
            done.to_csv(path, index=False, float_format="%.6g")
            print(cell, flush=True)


def told(folder: Path) -> str:
    """The page of what is there."""
    return page(_read(folder / GAPS), _read(folder / GROUPS), len(cells.cells()))


def _read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path) if path.exists() else pd.DataFrame()


def smoke(folder: Path) -> None:
    """Few draws of small cells."""
    few = [cells.Cell(part, design, 3, 150) for part in cells.PARTS for design in ("alike", "one apart")]
    run(folder / GAPS, few, partial(gaps.lines_of, draws=3, n_boot=50))
    run(folder / GROUPS, groups.cells()[:1], partial(groups.lines_of, draws=3))
    print(told(folder))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command("coverage", __doc__)
    parser.add_argument("--groups", action="store_true", help="only the rates of one group")
    parser.add_argument("--report", action="store_true", help="only write the page again")
    parser.add_argument("--smoke", action="store_true", help="a few draws")
    given = parser.parse_args(arguments)
    results = FOLDER / "results"
    if given.smoke:
        with tempfile.TemporaryDirectory() as folder:
            smoke(Path(folder))
        return
    if not given.report:
        run(results / GROUPS, groups.cells(), groups.lines_of)
    if not (given.report or given.groups):
        run(results / GAPS, cells.cells(), gaps.lines_of)
    (FOLDER / "COVERAGE.md").write_text(told(results), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Accuracy against fairness: constraints as teachers over kl_weight, with their peers on the same folds.

    python -m benchmarks.frontier --jobs 2
    python -m benchmarks.frontier --tables frontier --only dataset=adult
    python -m benchmarks.frontier --smoke

frontier: five public sets, five folds. frontier_rates: each constraint between groups, on adult and on made rows.
Nobody sees the sensitive column at prediction.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from benchmarks.cells import Cell, Line, Table, main
from benchmarks.data import MADE
from benchmarks.frontier import rates
from benchmarks.frontier.cells import SETS, Split, cells, made_split, public_split, run_cell
from benchmarks.frontier.page import text

FOLDS = 5


@lru_cache(maxsize=1)
def split_of(dataset: str, fold: int) -> Split:
    return made_split(dataset, fold) if dataset == MADE else public_split(dataset, fold)


def measure(dataset: str, method: str, level: float, fold: int, small: bool = False) -> Iterator[Line]:
    for name, value in run_cell(split_of(dataset, fold), method, level, small).items():
        yield {"measure": name, "value": value}


def plan() -> list[Cell]:
    return [(name, method, level, fold) for name in SETS for fold in range(FOLDS) for method, level in cells(name)]


TABLES = [
    Table(
        "frontier",
        ("dataset", "method", "level", "fold"),
        plan,
        measure,
        [(MADE, method, level, 0) for method, level in cells(MADE)],
    ),
    Table(
        "frontier_rates",
        ("dataset", "fold", "constraint"),
        lambda: [(name, half, kind) for name in rates.SETS for half in (0, 1) for kind in ("", *rates.KINDS)],
        rates.measure,
        [(MADE, 0, kind) for kind in ("", *rates.KINDS)],
    ),
]

if __name__ == "__main__":
    main("frontier", __doc__, TABLES, text)

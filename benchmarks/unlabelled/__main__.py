"""Few labels, many rows: what privileged features are worth where most outcomes are not known yet.

    python -m benchmarks.unlabelled --jobs 2
    python -m benchmarks.unlabelled --only dataset=heart,spam --only method=plain,mixed --only labelled=50,100
    python -m benchmarks.unlabelled --smoke

    python -m benchmarks.unlabelled --tables fresh

A repeat draws a quarter of the set for testing and at most 2,000 of the other rows for training; of these as many as
the budget says get a label. ``fresh`` compares fixed recipes on twelve sets (``PROTOCOL.md``), ``unlabelled`` kinds of
teachers on nine.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from benchmarks.cells import Cell, Line, Table, main
from benchmarks.data import DATASETS, MADE
from benchmarks.unlabelled import fresh
from benchmarks.unlabelled.cell import METHODS, Draw, Work, budgets_of, line, training_rows
from benchmarks.unlabelled.fresh_sets import FRESH, fresh_set
from benchmarks.unlabelled.page import text
from benchmarks.unlabelled.splits import SPLITS, split_set

REPEATS = 20
KEY = ("dataset", "labelled", "repeat", "method")


@lru_cache(maxsize=1)
def draw_of(dataset: str, repeat: int) -> Draw:
    return Draw(fresh_set(dataset) if dataset in FRESH else split_set(dataset), repeat)


@lru_cache(maxsize=2)
def work_of(dataset: str, labelled: int, repeat: int) -> Work:
    """The methods of a draw share what they need of it."""
    return Work(draw_of(dataset, repeat), labelled)


def measure(dataset: str, labelled: int, repeat: int, method: str, small: bool = False) -> Iterator[Line]:
    yield line(work_of(dataset, labelled, repeat), METHODS[method])


def measure_fresh(dataset: str, labelled: int, repeat: int, method: str, small: bool = False) -> Iterator[Line]:
    yield line(work_of(dataset, labelled, repeat), fresh.METHODS[method])


def cells() -> list[Cell]:
    """The first repeat of all sets before the second."""
    places = [(name, budget) for name in SPLITS for budget in budgets_of(DATASETS[name].rows)]
    return [(*place, repeat, method) for repeat in range(REPEATS) for place in places for method in METHODS]


def fresh_cells() -> list[Cell]:
    """Few labels before all of them."""
    few = [(name, budget) for name in FRESH for budget in fresh.FEW]
    everything = [(name, training_rows(len(fresh_set(name).y))) for name in FRESH]
    return [
        (*place, draw, method)
        for places in (few, everything)
        for draw in range(fresh.DRAWS)
        for place in places
        for method in fresh.METHODS
    ]


SMOKE = [(MADE, 50, repeat, method) for repeat in (0, 1) for method in METHODS]
SMOKE_FRESH = [(MADE, 50, repeat, method) for repeat in (0, 1) for method in (fresh.RECIPE, fresh.PLAIN, fresh.MEAN)]
TABLES = [
    Table("unlabelled", KEY, cells, measure, SMOKE),
    Table("fresh", KEY, fresh_cells, measure_fresh, SMOKE_FRESH),
]

if __name__ == "__main__":
    main("unlabelled", __doc__, TABLES, text)

"""Few labels, many rows: what privileged features are worth where most outcomes are not known yet.

    python -m benchmarks.unlabelled --jobs 2
    python -m benchmarks.unlabelled --only dataset=heart,spam --only method=plain,mixed --only labelled=50,100
    python -m benchmarks.unlabelled --smoke

A repeat draws a quarter of the set for testing and at most 2,000 of the other rows for training; of these as many as
the budget says get a label. What a breach of the assumption costs is measured on made data, in a second table.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from benchmarks.cells import Cell, Line, Table, main
from benchmarks.data import DATASETS, MADE, PreparedSet
from benchmarks.unlabelled import breach
from benchmarks.unlabelled.cell import METHODS, SELECT, SELECT_BOOSTED, Draw, Work, budgets_of, line
from benchmarks.unlabelled.page import text
from benchmarks.unlabelled.splits import SPLITS, split_set

REPEATS = 20
SLOW, MOST_OF_SLOW = (SELECT, SELECT_BOOSTED), 200
KEY = ("dataset", "labelled", "repeat", "method")


@lru_cache(maxsize=1)
def loaded(name: str) -> PreparedSet:
    return split_set(name)


@lru_cache(maxsize=2)
def work_of(dataset: str, labelled: int, repeat: int) -> Work:
    """The methods of a draw share what they need of it."""
    return Work(Draw(loaded(dataset), repeat), labelled)


def measure(dataset: str, labelled: int, repeat: int, method: str, small: bool = False) -> Iterator[Line]:
    yield line(work_of(dataset, labelled, repeat), method)


def cells() -> list[Cell]:
    """The first repeat of all sets before the second; what is slow comes last, up to 200 labels, in fewer repeats."""
    places = [(name, budget) for name in SPLITS for budget in budgets_of(DATASETS[name].rows)]
    quick = [(*place, repeat, method) for repeat in range(REPEATS) for place in places for method in QUICK]
    few = [(name, budget) for name, budget in places if budget <= MOST_OF_SLOW]
    return quick + [(*place, repeat, method) for repeat in range(REPEATS // 2) for place in few for method in SLOW]


QUICK = [name for name in METHODS if name not in SLOW]
BREACH = [(setting, repeat, how) for repeat in range(REPEATS) for setting in breach.SETTINGS for how in breach.METHODS]
SMOKE_BREACH = [cell for cell in BREACH if cell[1] < 2]
TABLES = [
    Table("unlabelled", KEY, cells, measure, [(MADE, 50, repeat, how) for repeat in (0, 1) for how in QUICK]),
    Table("unlabelled_breach", ("setting", "repeat", "method"), lambda: BREACH, breach.measure, SMOKE_BREACH),
]

if __name__ == "__main__":
    main("unlabelled", __doc__, TABLES, text)

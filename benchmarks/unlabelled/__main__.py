"""Few labels, many rows: what privileged features are worth where most outcomes are not known yet.

    python -m benchmarks.unlabelled --jobs 2
    python -m benchmarks.unlabelled --only dataset=heart,spam --only method=plain,mixed --only labelled=50,100
    python -m benchmarks.unlabelled --smoke

A repeat draws a quarter of the set for testing and at most 2,000 of the other rows for training; of these as many as
the budget says get a label. What a breach of the assumption costs is measured on made data, in a second table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from benchmarks.cells import Cell, Line, Table, main
from benchmarks.data import DATASETS, MADE, PreparedSet
from benchmarks.unlabelled import breach, fresh
from benchmarks.unlabelled.cell import METHODS, SELECT, SELECT_BOOSTED, Draw, Work, budgets_of, line, training_rows
from benchmarks.unlabelled.fresh_sets import FRESH, fresh_set
from benchmarks.unlabelled.page import text
from benchmarks.unlabelled.splits import SPLITS, split_set

REPEATS = 20
SLOW, MOST_OF_SLOW = (SELECT, SELECT_BOOSTED), 200
KEY = ("dataset", "labelled", "repeat", "method")


@lru_cache(maxsize=len(FRESH))
def loaded(name: str) -> PreparedSet:
    return fresh_set(name) if name in FRESH else split_set(name)


@lru_cache(maxsize=1)
def draw_of(dataset: str, repeat: int) -> Draw:
    return Draw(loaded(dataset), repeat)


@lru_cache(maxsize=2)
def work_of(dataset: str, labelled: int, repeat: int) -> Work:
    """The methods of a draw share what they need of it."""
    return Work(draw_of(dataset, repeat), labelled)


def measure(dataset: str, labelled: int, repeat: int, method: str, small: bool = False) -> Iterator[Line]:
    yield line(work_of(dataset, labelled, repeat), METHODS[method])


def measure_fresh(dataset: str, labelled: int, repeat: int, method: str, small: bool = False) -> Iterator[Line]:
    yield line(work_of(dataset, labelled, repeat), fresh.METHODS[method])


def fresh_cells() -> list[Cell]:
    """A repeat of all sets with few labels before the next; all labels, CatBoost and `select` come last."""
    slow = (fresh.CATBOOST, SELECT)
    quick = [name for name in fresh.METHODS if name not in slow]

    def at(budgets: Sequence[int], repeats: int, methods: Sequence[str]) -> list[Cell]:
        return [
            (name, budget, repeat, method)
            for repeat in range(repeats)
            for name in FRESH
            for budget in budgets
            for method in methods
        ]

    few = at(fresh.BUDGETS, fresh.DRAWS, quick)
    everything = [
        (name, training_rows(len(loaded(name).y)), repeat, method)
        for name, _, repeat, method in at([0], fresh.DRAWS_WITH_ALL_LABELS, quick)
    ]
    catboost = at(fresh.BUDGETS, fresh.DRAWS_OF_CATBOOST, [fresh.CATBOOST])
    return [*few, *everything, *catboost, *at(fresh.BUDGETS[:1], fresh.DRAWS_OF_SELECT, [SELECT])]


def cells() -> list[Cell]:
    """The first repeat of all sets before the second; what is slow comes last, up to 200 labels, in fewer repeats."""
    places = [(name, budget) for name in SPLITS for budget in budgets_of(DATASETS[name].rows)]
    quick = [(*place, repeat, method) for repeat in range(REPEATS) for place in places for method in QUICK]
    few = [(name, budget) for name, budget in places if budget <= MOST_OF_SLOW]
    return quick + [(*place, repeat, method) for repeat in range(REPEATS // 2) for place in few for method in SLOW]


QUICK = [name for name in METHODS if name not in SLOW]
BREACH = [(setting, repeat, how) for repeat in range(REPEATS) for setting in breach.SETTINGS for how in breach.METHODS]
SMOKE_FRESH = [(MADE, 50, repeat, method) for repeat in (0, 1) for method in (fresh.RECIPE, fresh.MEAN)]
SMOKE_BREACH = [cell for cell in BREACH if cell[1] < 2]
TABLES = [
    Table("unlabelled", KEY, cells, measure, [(MADE, 50, repeat, how) for repeat in (0, 1) for how in QUICK]),
    Table("fresh", KEY, fresh_cells, measure_fresh, SMOKE_FRESH),
    Table("unlabelled_breach", ("setting", "repeat", "method"), lambda: BREACH, breach.measure, SMOKE_BREACH),
]

if __name__ == "__main__":
    main("unlabelled", __doc__, TABLES, text)

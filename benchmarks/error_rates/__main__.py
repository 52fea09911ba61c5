"""How often GPC+, SVM+ and boosting with privileged features are wrong, with few training rows, and their ranks.

    python -m benchmarks.error_rates --jobs 2
    python -m benchmarks.error_rates --tables error_rates --only set=heart,car
    python -m benchmarks.error_rates --smoke

error_rates: the public sets. error_rates_digits: pairs of scikit-learn's digits, which need no data from elsewhere.
"""

from __future__ import annotations

from benchmarks.cells import Cell, Table, main
from benchmarks.data import DATASETS, MADE
from benchmarks.error_rates.cells import measure_digits, measure_public
from benchmarks.error_rates.digits import TASKS
from benchmarks.error_rates.page import text

DRAWS = range(10)


def cells(names: tuple[str, ...]) -> list[Cell]:
    return [(name, draw) for draw in DRAWS for name in names]


KEY = ("set", "draw")
TABLES = [
    Table("error_rates", KEY, lambda: cells(tuple(DATASETS)), measure_public, [(MADE, 0)]),
    Table("error_rates_digits", KEY, lambda: cells(TASKS), measure_digits, [(TASKS[0], 0)]),
]

if __name__ == "__main__":
    main("error_rates", __doc__, TABLES, text)

"""Time and memory against rows, columns, rounds and workers, next to plain XGBoost.

    python -m benchmarks.scale
    python -m benchmarks.scale --only rows=10000,30000,100000
    python -m benchmarks.scale --tables scale_recipe            the recipe for few labels, some minutes
    python -m benchmarks.scale.external      a run whose data is larger than the memory it is given
    python -m benchmarks.scale --smoke

Every cell is measured in a process of its own (``benchmarks/scale/cell.py``). Run it on a machine with nothing else to
do.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import sys
from typing import Any

from benchmarks.cells import Line, Table, main
from benchmarks.measuring import versions
from benchmarks.scale import recipe
from benchmarks.scale.cell import METHODS, Cell
from benchmarks.scale.page import text

USUAL = Cell(rows=100_000, columns=30, rounds=20, workers=1, threads=2, method="plain", engine="")
ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
COLUMNS = (10, 30, 100, 300)
ROUNDS = (10, 20, 40, 80, 160)
# Workers and threads of each; both share the cores of this machine.
WORKERS = ((1, 1), (1, 2), (2, 1))
ROWS_OF_WORKERS = 300_000
CELL_TIMEOUT = 3600


def cells() -> list[Cell]:
    """The whole plan, small cells first."""
    sizes = [USUAL._replace(rows=rows) for rows in ROWS]
    sizes += [USUAL._replace(columns=columns) for columns in COLUMNS]
    sizes += [USUAL._replace(rounds=rounds) for rounds in ROUNDS]
    sizes += [USUAL._replace(rows=ROWS_OF_WORKERS, workers=workers, threads=threads) for workers, threads in WORKERS]
    each = {size._replace(method=m, engine=e) for size in sizes for m, engines in METHODS.items() for e in engines}
    return sorted(each, key=lambda cell: (cell.rows * cell.columns * cell.rounds, cell))


SMALL = USUAL._replace(rows=2000, rounds=2, method="JPIB", engine="callback")


def measure(*values: Any, small: bool = False) -> list[Line]:
    """The line of a cell."""
    arguments = [sys.executable, "-m", "benchmarks.scale.cell", json.dumps(Cell(*values)._asdict())]
    answer = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=CELL_TIMEOUT)
    if answer.returncode:
        raise RuntimeError(f"the training failed with {answer.returncode}: {answer.stderr[-2000:]}")
    found = json.loads(answer.stdout.splitlines()[-1])  # the tracker of several workers has its say before
    machine = f"{platform.machine()} with {os.cpu_count()} cores"
    return [{**found, "machine": machine, "versions": versions(), "date": datetime.date.today().isoformat()}]


TABLES = [
    Table("scale", Cell._fields, cells, measure, [SMALL, SMALL._replace(workers=2)]),
    Table("scale_recipe", ("rows", "labels", "threads", "busy"), lambda: recipe.CELLS, recipe.measure, recipe.SMOKE),
]

if __name__ == "__main__":
    main("scale", __doc__, TABLES, text)

"""Simple rivals on the rows of the learning curves: ridge regression and a random forest on x.

    python -m benchmarks.curves.rivals                 up to 1,000 rows; a run that was stopped goes on where it was
    python -m benchmarks.curves.rivals --repeats 2     fewer repeats of each set

They learn from all n rows of a step, those that a booster takes for stopping too. CURVES.md has their table:
``python -m benchmarks.curves --page``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from benchmarks import FOLDER
from benchmarks.command_line import command
from benchmarks.curves.__main__ import SETS, draw, loaded, steps_of
from benchmarks.curves.page import CELL
from benchmarks.data import PreparedSet, load
from benchmarks.methods.rivals import simple_models
from benchmarks.unlabelled.cell import measured

RESULTS = FOLDER / "results" / "curves_rivals.csv"
REPEATS, MOST_ROWS = 5, 1000


def lines(dataset: PreparedSet, step: int, repeat: int) -> list[dict[str, Any]]:
    """The scores of both rivals on the test rows of a step."""
    rows = draw(dataset, step, repeat)
    table, types = dataset.student()
    x, train = table.to_numpy(np.float32), np.concatenate([rows.train, rows.valid])
    found = []
    for method, model in simple_models(x, types, repeat).items():
        chance = model.fit(x[train], dataset.y[train]).predict_proba(x[rows.test])[:, 1]
        found.append({"method": method, **measured(dataset.y[rows.test], chance)})
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    made = command("curves.rivals", __doc__)
    made.add_argument("--repeats", type=int, default=REPEATS, help="per step (default: %(default)s)")
    repeats = made.parse_args(arguments).repeats
    done = set(pd.read_csv(RESULTS)[CELL].itertuples(index=False, name=None)) if RESULTS.exists() else set()
    sets = {name: loaded(name, load) for name in SETS}
    places = [(name, step) for name, rows in sets.items() for step in steps_of(rows.y.size) if step <= MOST_ROWS]
    todo = [(*place, repeat) for repeat in range(repeats) for place in places]
    for name, step, repeat in tqdm([cell for cell in todo if cell not in done], mininterval=5, desc="rivals"):
        where = {"dataset": name, "rows": step, "repeat": repeat}
        found = pd.DataFrame([{**where, **line} for line in lines(sets[name], step, repeat)])
        found.to_csv(RESULTS, mode="a", header=not RESULTS.exists(), index=False, float_format="%.6g")


if __name__ == "__main__":
    main()

"""What select and compare cost by their defaults: each call a process of its own, on one thread."""

from __future__ import annotations

import itertools
import os
import resource
import subprocess
import sys
from pathlib import Path

import pandas as pd

from benchmarks import FOLDER
from benchmarks.text import number, table

ROUNDS = 3
START = """
import numpy, sklearn.datasets, xgboost
import pi_xgb, pi_xgb.selection
data = sklearn.datasets.load_breast_cancer(as_frame=True)
order = numpy.random.default_rng(0).permutation(30)
x, z, y = data.data.iloc[:, order[15:]], data.data.iloc[:, order[:15]], data.target
params = {"objective": "binary:logistic", "nthread": 1}
how = {"params": params, "num_boost_round": 100, "progress": False, "n_jobs": 1}
"""
CALLS = {
    "neither": "",
    "select": "pi_xgb.select(dtrain=xgboost.DMatrix(x, y), privileged=xgboost.DMatrix(z, y), **how)",
    "compare": "pi_xgb.compare(x, y, z, **how)",
}
"""The first is what starting a process and reading the rows costs."""
ABOUT = """\
## What they cost

By their defaults, on 569 rows of 30 columns (scikit-learn's breast cancer, half of the columns, drawn by lot, taken for
privileged) and 100 rounds: processor seconds on one thread, less those of a process that only starts and reads the
rows. By default folds run side by side on the cores. "Load" is the number of programs that ran or waited on the
machine; beyond its cores they lengthen the seconds.
"""


def measured(call: str) -> float:
    """The processor seconds of one process."""
    known = {"PYTHONPATH": str(FOLDER.parent), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", START + CALLS[call]], env={**os.environ, **known}, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(out: Path, rounds: int = ROUNDS) -> None:
    """The calls in turn; what is in the file is not done again."""
    there = set(pd.read_csv(out)[["call", "round"]].itertuples(index=False, name=None)) if out.exists() else set()
    for round_, call in itertools.product(range(rounds), CALLS):
        if (call, round_) not in there:
            line = {"call": call, "round": round_, "processor": measured(call), "load": os.getloadavg()[0]}
            pd.DataFrame([line]).to_csv(out, mode="a", header=not out.exists(), index=False, float_format="%.3f")


def cost_section(found: pd.DataFrame) -> list[str]:
    """The median of the processor seconds, and the lowest and highest."""
    start = found.loc[found["call"] == "neither", "processor"].median()
    rows = []
    for call in ("select", "compare"):
        runs = found[found["call"] == call]
        own = runs["processor"] - start
        span = f"{number(own.min(), 1)} to {number(own.max(), 1)}"
        rows.append([call, str(len(own)), number(own.median(), 1), span, number(runs["load"].mean(), 0)])
    return [ABOUT, *table(["call", "runs", "seconds", "span", "load"], rows)]

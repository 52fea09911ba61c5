"""What select and compare cost by their defaults, beside an earlier checkout of the repository: A B A B.

Each call is a process of its own, which imports one of the two packages, on 569 rows of 30 columns (scikit-learn's
breast cancer, half of the columns, drawn by lot, privileged), one thread.
"""

from __future__ import annotations

import itertools
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd

from benchmarks import FOLDER
from benchmarks.text import number, table

ROUNDS = 3
BEFORE, NOW = "before", "now"
START = """
import numpy, sklearn.datasets, xgboost
import pi_xgb
data = sklearn.datasets.load_breast_cancer(as_frame=True)
order = numpy.random.default_rng(0).permutation(30)
x, z, y = data.data.iloc[:, order[15:]], data.data.iloc[:, order[:15]], data.target
params = {"objective": "binary:logistic", "nthread": 1}
"""
CALLS = {
    "neither": "",
    "select": "pi_xgb.select(params, xgboost.DMatrix(x, y), privileged=xgboost.DMatrix(z, y), progress=False)",
    "compare": "pi_xgb.compare(x, y, z, params=params, progress=False)",
}
"""The first is what starting a process and reading the rows costs."""


def measured(call: str, checkout: Path) -> dict[str, float]:
    """Wall time and processor time of one process."""
    known = {"PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", START + CALLS[call]], env={**os.environ, **known}, check=True, cwd=checkout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": time.perf_counter() - start, "processor": spent}


def run(checkout: Path, out: Path, rounds: int = ROUNDS) -> None:
    """The two in turn, so that whatever else the machine does hits both; what is in the file is not done again."""
    where = {BEFORE: checkout.resolve(), NOW: FOLDER.parent}
    keys = ["call", "round", "checkout"]
    there = set(pd.read_csv(out)[keys].itertuples(index=False, name=None)) if out.exists() else set()
    for cell in itertools.product(CALLS, range(rounds), where):
        if cell not in there:
            line = {**dict(zip(keys, cell, strict=True)), **measured(cell[0], where[cell[2]])}
            pd.DataFrame([line]).to_csv(out, mode="a", header=not out.exists(), index=False, float_format="%.3f")


def speed_table(found: pd.DataFrame) -> list[str]:
    """Medians of processor seconds less those of a process that calls neither, and the lowest and highest ratio."""
    wide = found.pivot(index=["call", "round"], columns="checkout", values="processor")
    own = (wide - wide.loc["neither"].median()).dropna()
    rows = []
    for call in [call for call in CALLS if call != "neither" and call in own.index]:
        here = own.loc[call]
        before, now = here[BEFORE].median(), here[NOW].median()
        ratios = here[BEFORE] / here[NOW]
        span = f"{number(ratios.min(), 1)} to {number(ratios.max(), 1)}"
        rows.append([call, str(len(here)), number(before, 1), number(now, 1), number(before / now, 1), span])
    return table(["call", "rounds", "at 546c0a3", "now", "times cheaper", "over the rounds"], rows)

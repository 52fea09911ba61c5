"""A small generated set, so that benchmarks can be tried without any data."""

from __future__ import annotations

import numpy as np

import pi_xgb
from benchmarks.data.prepared import PreparedSet

MADE = "made"
ROWS = 300


def made_set(name: str = MADE, rows: int = ROWS, seed: int = 0) -> PreparedSet:
    """Five columns for the student; two numbers and a category are privileged, and each has a protected group."""
    data = pi_xgb.datasets.make_privileged(rows, n_features=5, n_privileged=2, group_gap=0.5, seed=seed)
    table = data.x.join(data.z).assign(group=data.group.astype(float))
    privileged = tuple(i for i, column in enumerate(table.columns) if not str(column).startswith("x"))
    # Values far from the middle: groups that have both labels in every fold.
    distance = (data.z - data.z.median()).abs()
    far = [(distance[column] > distance[column].median()).to_numpy().astype(np.int64) for column in distance]
    types = ("q",) * (table.shape[1] - 1) + ("c",)
    return PreparedSet(name, table, data.y.to_numpy(), types, privileged, (*far, data.group.to_numpy()))

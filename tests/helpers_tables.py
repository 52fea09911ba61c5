"""Small tables for every objective, with what a teacher says of their rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xgboost as xgb

OBJECTIVES = ("binary:logistic", "multi:softprob", "multi:softmax", "reg:squarederror")
N_CLASSES = 3
N_ROWS = 90
QUIET = {"nthread": 1, "verbosity": 0}


class Table(NamedTuple):
    """Arrays from which fresh matrices are built: a training must never profit from the cache of another."""

    x: pd.DataFrame
    z: pd.DataFrame
    y: np.ndarray
    q: np.ndarray
    weight: np.ndarray

    def part(self, rows: slice) -> Table:
        return Table(self.x[rows], self.z[rows], self.y[rows], self.q[rows], self.weight[rows])


def table(objective: str, n: int = N_ROWS, *, seed: int = 0, missing: bool = False, categories: bool = False) -> Table:
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    x = pd.DataFrame({f"x{i}": hidden + rng.normal(size=n) for i in range(3)})
    if missing:
        x = x.mask(rng.random(x.shape) < 0.2)
    if categories:
        x["colour"] = pd.Categorical.from_codes(np.digitize(hidden + rng.normal(size=n), [-1, 0, 1]), list("rgbw"))
    z = pd.DataFrame({f"z{i}": hidden + 0.2 * rng.normal(size=n) for i in range(2)})
    if objective.startswith("multi"):
        y = np.digitize(hidden + 0.5 * rng.normal(size=n), [-0.5, 0.5]).astype(float)
        q = rng.dirichlet(np.ones(N_CLASSES), size=n)
    elif objective == "binary:logistic":
        y = (hidden + rng.normal(size=n) > 0.3).astype(float)
        q = 1 / (1 + np.exp(-2 * hidden))
    else:
        y = 3 * hidden + rng.normal(size=n) + 1
        q = 3 * hidden
    return Table(x, z, y, q, rng.uniform(0.5, 2.0, size=n))


def params_of(objective: str, **more: Any) -> dict[str, Any]:
    classes = {"num_class": N_CLASSES} if objective.startswith("multi") else {}
    return {**QUIET, "objective": objective, "max_depth": 3, **classes, **more}


def matrix(data: Table, make: Callable[..., xgb.DMatrix] = xgb.DMatrix, **fields: Any) -> xgb.DMatrix:
    return make(data.x, data.y, enable_categorical=True, **fields)


def privileged_of(data: Table, **fields: Any) -> xgb.DMatrix:
    return xgb.DMatrix(data.z, data.y, **fields)


Guiding = dict[str, Callable[[Table], dict[str, Any]]]
PAPER: dict[str, Any] = {"teacher": "boosted", "crossfit": 0, "teacher_sees": "privileged"}
JOINT: dict[str, Any] = {"teacher": "boosted", "method": "jpib"}
GUIDING: Guiding = {
    "array": lambda data: {"teacher": data.q},
    "kbpib": lambda data: {"privileged": privileged_of(data), **PAPER},
    "crossfit": lambda data: {"privileged": privileged_of(data), "teacher": "boosted", "crossfit": 3},
    "jpib": lambda data: {"privileged": privileged_of(data), **JOINT},
}
# Nobody teaches, in every way to say so.
SILENT: Guiding = {
    "nobody": lambda data: {},
    "list": lambda data: {"teacher": [(np.clip(data.q, 0, 1), 0), (np.clip(data.q[::-1], 0, 1), 0.0)]},
    **{kind: lambda data, kind=kind: {**GUIDING[kind](data), "kl_weight": 0} for kind in GUIDING},
}

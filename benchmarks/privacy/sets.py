"""The sets, their privileged columns, and the bounds of these, which are no look at the data."""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import xgboost as xgb
from sklearn.model_selection import train_test_split

import pi_xgb
from benchmarks.data import MADE, PreparedSet, load

Rows = npt.NDArray[Any]


class Split(NamedTuple):
    """The privileged columns with their bounds, and into how many bins a histogram divides numbers."""

    bounds: dict[str, Any]
    bins: int
    why: str


SPLITS = {
    "adult": Split(
        {"age": (17, 90), "race": list(range(5)), "sex": [0, 1]}, 8, "the paper's z; it says little beyond x"
    ),
    "bank": Split({"duration": (0, 3600)}, 16, "how long the call lasted, in seconds; known when it has ended"),
    "compas": Split({"sex": [0, 1], "race": list(range(6))}, 8, "the paper's z; it says little beyond x"),
    MADE: Split({"z0": (-3, 3), "z1": (-3, 3)}, 8, "a hidden score seen almost plainly, blurred in x"),
}


@lru_cache(maxsize=1)
def loaded(name: str) -> PreparedSet:
    """The set with the privileged columns of its split."""
    dataset = load(name)
    columns = list(dataset.X.columns)
    positions = tuple(columns.index(column) for column in SPLITS[name].bounds)
    return dataclasses.replace(dataset, privileged=positions, protected=())


@dataclasses.dataclass(frozen=True)
class Part:
    """Some rows, x and z apart."""

    x: Any
    z: Any
    y: npt.NDArray[np.int64]
    x_types: list[str]

    def take(self, rows: Rows) -> Part:
        return Part(self.x.iloc[rows], self.z.iloc[rows], self.y[rows], self.x_types)

    def matrix(self) -> xgb.DMatrix:
        return xgb.DMatrix(self.x, self.y, feature_types=self.x_types, enable_categorical=True, nthread=1)


def drawn(name: str, training: int, apart: int, test: int, repeat: int) -> tuple[Part, Part, Part]:
    """Rows to train on, to choose ``kl_weight`` by, and to judge by; of a small set the test rows are a quarter."""
    if name == MADE:
        data = pi_xgb.datasets.make_privileged(training + apart + test, n_privileged=2, x_noise=2.0, seed=repeat)
        whole = Part(data.x, data.z, data.y.to_numpy(), ["q"] * data.x.shape[1])
    else:
        dataset = loaded(name)
        (x, x_types), (z, _) = dataset.student(), dataset.teacher()
        whole = Part(x, z, dataset.y, x_types)
    rest, scored = train_test_split(
        np.arange(whole.y.size), test_size=min(test, whole.y.size // 4), stratify=whole.y, random_state=repeat
    )
    rest = np.random.default_rng(repeat).permutation(rest)
    return whole.take(rest[apart : apart + training]), whole.take(rest[:apart]), whole.take(scored)

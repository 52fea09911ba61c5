"""Rows of x, z and y, and where they come from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import xgboost as xgb

import pi_xgb

# How much the privileged features are blurred; the hidden score has standard deviation 1.
BLUR = {"strong": 0.0, "medium": 1.0, "weak": 4.0}


class Rows(NamedTuple):
    """Rows of x, z and y, with the types of the columns."""

    x: Any
    z: Any
    y: Any
    x_types: list[str] | None = None
    z_types: list[str] | None = None

    def take(self, rows: Any) -> Rows:
        return self._replace(x=self.x[rows], z=self.z[rows], y=self.y[rows])

    @property
    def student(self) -> xgb.DMatrix:
        return xgb.DMatrix(self.x, self.y, feature_types=self.x_types, enable_categorical=True)

    @property
    def teacher(self) -> xgb.DMatrix:
        return xgb.DMatrix(self.z, self.y, feature_types=self.z_types, enable_categorical=True)

    @property
    def all(self) -> xgb.DMatrix:
        types = None if self.x_types is None else [*self.x_types, *(self.z_types or ())]
        return xgb.DMatrix(np.hstack([self.x, self.z]), self.y, feature_types=types, enable_categorical=True)


def made(rows: int, strength: str, seed: int) -> Rows:
    data = pi_xgb.datasets.make_privileged(rows, seed=seed)
    blur = BLUR[strength] * np.random.default_rng([seed, 1]).normal(size=data.z.shape)
    return Rows(data.x.to_numpy(), data.z.to_numpy() + blur, data.y.to_numpy())

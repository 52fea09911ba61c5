"""Made rows of any number, drawn batch by batch: the floats of all rows never lie in memory at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xgboost

BATCH = 100_000
_TELLING = 5

Array = np.ndarray[Any, Any]


def rows_of_batch(number: int, n_rows: int, columns: int, *, privileged: bool, seed: int = 0) -> tuple[Array, Array]:
    """Features and labels of one batch.

    Both kinds of features are noisy views of one signal, which is drawn alone, so that each side has the labels
    of the other without its columns.
    """
    shared = np.random.default_rng([seed, number, 0])
    signal = shared.standard_normal((n_rows, _TELLING), dtype=np.float32)
    score = signal.sum(axis=1) + shared.standard_normal(n_rows, dtype=np.float32)
    own = np.random.default_rng([seed, number, 1 + privileged])
    features = own.random((n_rows, columns), dtype=np.float32)
    found = min(columns, _TELLING)
    features[:, :found] *= np.float32(1 if privileged else 4)
    features[:, :found] += signal[:, :found]
    return features, (score > 0).astype(np.float32)


class MadeRows(xgboost.DataIter):
    """``n_rows`` rows for XGBoost to take in, from batch ``first`` on."""

    def __init__(self, n_rows: int, columns: int, *, privileged: bool, first: int = 0) -> None:
        super().__init__()
        self._n_rows, self._columns, self._privileged, self._first = n_rows, columns, privileged, first
        self._done = 0

    def reset(self) -> None:
        self._done = 0

    def next(self, input_data: Callable[..., None]) -> bool:
        size = min(BATCH, self._n_rows - self._done)
        if size <= 0:
            return False
        number = self._first + self._done // BATCH
        data, label = rows_of_batch(number, size, self._columns, privileged=self._privileged)
        input_data(data=data, label=label)
        self._done += size
        return True

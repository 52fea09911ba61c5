"""The pairs of scikit-learn's digits, where a small picture is known at prediction and a larger one is privileged."""

from __future__ import annotations

import itertools
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss

from benchmarks.data.prepared import PreparedSet
from benchmarks.methods import boosted
from benchmarks.methods.boosted import Train
from benchmarks.modes.fold_work import FoldWork

CLASSES, SMALL, LARGE = 10, 16, 64
KL_WEIGHTS = (0.0, 0.3, 1.0, 3.0)
TASKS = tuple(f"{a} or {b}" for a, b in itertools.combinations(range(CLASSES), 2))


@lru_cache(maxsize=1)
def pictures() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """4 x 4 means of 2 x 2 blocks and the 8 x 8 pixels beside them, and which digit it is."""
    loaded = load_digits()
    small = loaded.images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, SMALL)
    return np.hstack([small, loaded.data]), loaded.target


def task(name: str) -> PreparedSet:
    """The rows of two digits; label 1 is the second."""
    first, second = map(int, name.split(" or "))
    X, digit = pictures()
    rows = np.isin(digit, (first, second))
    columns = [f"block {i}" for i in range(SMALL)] + [f"pixel {i}" for i in range(LARGE)]
    table = pd.DataFrame(X[rows], columns=columns)
    y = (digit[rows] == second).astype(np.int64)
    return PreparedSet(name, table, y, ("q",) * (SMALL + LARGE), tuple(range(SMALL, SMALL + LARGE)), ())


def by_log_loss(train: Train, work: FoldWork) -> npt.NDArray[np.float32]:
    """The test scores with the ``kl_weight`` of the lowest log loss on the validation rows."""
    every = [train(work, kl_weight) for kl_weight in KL_WEIGHTS]
    return min(every, key=lambda scores: log_loss(work.labels("valid"), scores.valid)).test


BOOSTED = {
    "NF": lambda work: work.plain("x").test,
    "KbPIB": partial(by_log_loss, partial(boosted.kbpib, boosted.in_sample)),
    "JPIB": partial(by_log_loss, boosted.jpib),
    "mixed": partial(by_log_loss, partial(boosted.kbpib, partial(boosted.mixed, "xz"))),
}

"""One cell: a method that learned from few rows of a set, and how often it is wrong on the others."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.data.folds import Fold
from benchmarks.data.prepared import PreparedSet
from benchmarks.methods import METHODS
from benchmarks.modes import CURRENT
from benchmarks.modes.fold_work import FoldWork
from benchmarks.run.cells import prepared

FEW = 200
"""Training rows, and as many validation rows, as in the paper of GPC+."""
MOST = 5000
"""So many of the other rows are tested: it is the training that is short of rows."""
NAMES = ("GPC", "GPC+", "SVM", "SVM+", "NF", "KbPIB", "JPIB", "KbPIB all features")


def drawn(dataset: PreparedSet, draw: int) -> Fold:
    """Training, validation and test rows; small sets give at most a half and a quarter."""
    y = dataset.y
    n_train, n_valid = min(FEW, len(y) // 2), min(FEW, len(y) // 4)
    train, others = train_test_split(np.arange(len(y)), train_size=n_train, stratify=y, random_state=draw)
    valid, test = train_test_split(others, train_size=n_valid, stratify=y[others], random_state=draw)
    return Fold(draw, np.sort(train), np.sort(valid), np.sort(test[:MOST]))


def lines_of(name: str, draw: int, methods: tuple[str, ...] = NAMES) -> list[dict[str, Any]]:
    """The error rates of the methods, all on the same draw of a set."""
    dataset = prepared(name)[0]
    work = FoldWork(dataset, drawn(dataset, draw), CURRENT)
    return [{"set": name, "draw": draw, "method": method, **measured(method, work)} for method in methods]


def measured(method: str, work: FoldWork) -> dict[str, float]:
    """The share of test rows whose probability is on the wrong side of a half."""
    start = time.perf_counter()
    scores = METHODS[method].run(work)
    y = work.labels("test")
    return {
        "train": len(work.part("train")),
        "test": len(y),
        "error": float(np.mean((scores.test > 0.5) != y)),
        "seconds": time.perf_counter() - start,
    }

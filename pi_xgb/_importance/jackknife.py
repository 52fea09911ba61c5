"""Jackknife intervals of the scores over parts of the rows and of the trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._stats.paired import student
from .._xgb.trees import Array
from .problem import Problem
from .score import PARTS


def limits(problem: Problem, whole: Array, fewer_rows: Sequence[Array], confidence: float) -> tuple[Array, Array]:
    """Return the interval of each feature's score, for all features together; NaN for a single tree.

    The first split of a tree decides the sign, so one tree shows no variance between trees.
    """

    def overall(by_group: Array) -> Array:
        return problem.scaled(by_group[-1].sum(axis=0))

    total = whole.sum(axis=0)
    value, n_parts = overall(total), min(problem.subject.n_trees, PARTS)
    if n_parts < 2:
        return np.full(value.shape, np.nan), np.full(value.shape, np.nan)
    scale = n_parts / (n_parts - 1)
    variance = _jackknifed([overall(part.sum(axis=0)) for part in fewer_rows])
    variance = variance + _jackknifed([overall(scale * (total - part)) for part in whole[:n_parts]])
    level = 1 - (1 - confidence) / problem.subject.n_features
    half = student(n_parts - 1, level) * np.sqrt(variance)
    return value - half, value + half


def _jackknifed(without: list[Array]) -> Array:
    n_parts = len(without)
    return np.asarray((n_parts - 1) ** 2 / n_parts * np.stack(without).var(axis=0, ddof=1))

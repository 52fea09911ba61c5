"""The scores of a problem, and their jackknife intervals over parts of the rows and of the trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._stats.paired import student
from .._xgb.trees import Array, sum_rows
from .problem import Problem
from .score import PARTS, scores

ROUNDING = 1e-13  # per tree and unit of node value: smaller sums of importances are rounding errors


@dataclass(frozen=True)
class Scoring:
    """The options that turn biases into scores."""

    bound: bool
    carry: bool
    normalize: bool


def scores_of(problems: Sequence[Problem], scoring: Scoring) -> list[Array]:
    """Return for each problem on the same trees the scores ``(PARTS, groups + 1, outputs, features)`` by part of trees.

    The last entry of the groups is the largest bias at each level. The trees are read once.
    """
    subject = problems[0].subject
    undefined = [_undefined(problem) for problem in problems]
    totals = [np.zeros((PARTS, mask.shape[0] + 1, subject.n_outputs, subject.n_features)) for mask in undefined]
    seen = 0
    for forest, leaves in subject.forests():
        part = (seen + forest.column) % PARTS
        seen += leaves.shape[1]
        for problem, mask, total in zip(problems, undefined, totals, strict=True):
            nodes = problem.nodes(*sum_rows(forest, leaves, problem.rows_of_output, problem.n_codes))
            total += scores(forest, nodes, mask, subject.n_features, part, bound=scoring.bound, carry=scoring.carry)
    for mask, total in zip(undefined, totals, strict=True):
        # Also for features that no tree uses: an undefined comparison is not 0.
        total[:, np.vstack([mask, mask.all(axis=0)])] = np.nan
    return totals


def _undefined(problem: Problem) -> Array:
    """Return which comparisons of a group with all others are undefined, ``(groups, outputs)``."""
    has_positives = problem.has_positives()
    return np.asarray(~has_positives | (has_positives.sum(axis=0) < 2))


def rows_of_parts(n_rows: int) -> Array:
    """Return the part of each row, random with a fixed seed."""
    return np.asarray(np.random.default_rng(0).permutation(n_rows) % PARTS)


def limits(
    problem: Problem, whole: Array, fewer_rows: Sequence[Array], scoring: Scoring, confidence: float
) -> tuple[Array, Array]:
    """Return the interval of each feature's score, for all features together; NaN for a single tree.

    The first split of a tree decides the sign, so one tree shows no variance between trees.
    """
    rounding = rounding_of(problem) if scoring.normalize else None
    value = _overall(whole.sum(axis=0), rounding)
    without_rows = np.stack([_overall(part.sum(axis=0), rounding) for part in fewer_rows])
    variance = _jackknifed(without_rows)
    n_parts = min(problem.subject.n_trees, PARTS)
    if n_parts < 2:
        return np.full(value.shape, np.nan), np.full(value.shape, np.nan)
    scale = n_parts / (n_parts - 1)
    without_trees = [scale * (whole.sum(axis=0) - part) for part in whole[:n_parts]]
    variance = variance + _jackknifed(np.stack([_overall(part, rounding) for part in without_trees]))
    level = 1 - (1 - confidence) / problem.subject.n_features
    half = student(n_parts - 1, level) * np.sqrt(variance)
    return value - half, value + half


def _overall(raw: Array, rounding: float | None) -> Array:
    score: Array = raw[-1].sum(axis=0)
    return score if rounding is None else normalized(score, rounding)


def _jackknifed(without: Array) -> Array:
    n_parts = len(without)
    return np.asarray((n_parts - 1) ** 2 / n_parts * without.var(axis=0, ddof=1))


def rounding_of(problem: Problem) -> float:
    """Return the largest sum of scores that is a rounding error of 0."""
    return ROUNDING * problem.subject.n_trees * problem.largest_value


def normalized(column: Array, rounding: float) -> Array:
    """Return the shares of the sum of absolute values."""
    total = np.abs(column).sum()
    return np.zeros_like(column) if total <= rounding else np.asarray(column / total)

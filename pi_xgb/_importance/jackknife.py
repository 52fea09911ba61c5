"""The scores of a problem, and how sure they are: what they would be without some of the rows or of the trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._stats.paired import student
from .._xgb.trees import Array, sum_rows
from .problem import Problem
from .score import PARTS, scores

ROUNDING = 1e-13  # per tree and unit of node value: importances that add up to less are rounding


@dataclass(frozen=True)
class Scoring:
    """How scores are made of biases."""

    bound: bool
    carry: bool
    normalize: bool


def scores_of(problems: Sequence[Problem], how: Scoring) -> list[Array]:
    """For each problem on the same trees, scores ``(PARTS, groups + 1, outputs, features)`` by part of the trees.

    The last group is the worst one at each level. The trees are gone through once.
    """
    subject = problems[0].subject
    undefined = [_undefined(problem) for problem in problems]
    totals = [np.zeros((PARTS, one.shape[0] + 1, subject.n_outputs, subject.n_features)) for one in undefined]
    seen = 0
    for forest, leaves in subject.forests():
        part = (seen + forest.column) % PARTS
        seen += leaves.shape[1]
        for problem, nowhere, total in zip(problems, undefined, totals, strict=True):
            nodes = problem.nodes(*sum_rows(forest, leaves, problem.rows_of_output, problem.n_codes))
            total += scores(forest, nodes, nowhere, subject.n_features, part, bound=how.bound, carry=how.carry)
    for nowhere, total in zip(undefined, totals, strict=True):
        # For features that no tree uses as well: what cannot be compared is not 0.
        total[:, np.vstack([nowhere, nowhere.all(axis=0)])] = np.nan
    return totals


def _undefined(problem: Problem) -> Array:
    """Which comparisons of a group with everybody else cannot be made, ``(groups, outputs)``."""
    has_positives = problem.has_positives()
    return np.asarray(~has_positives | (has_positives.sum(axis=0) < 2))


def rows_of_parts(n_rows: int) -> Array:
    """The part of each row, by chance but always the same."""
    return np.asarray(np.random.default_rng(0).permutation(n_rows) % PARTS)


def limits(
    problem: Problem, whole: Array, fewer_rows: Sequence[Array], how: Scoring, confidence: float
) -> tuple[Array, Array]:
    """The interval of each feature's score, for all features together; NaN for a single tree.

    Which of several features a tree splits on first decides the sign, and one tree does not tell how another would do.
    """
    rounding = rounding_of(problem) if how.normalize else None
    value = _overall(whole.sum(axis=0), rounding)
    without_rows = np.stack([_overall(part.sum(axis=0), rounding) for part in fewer_rows])
    variance = _jackknifed(without_rows)
    n_parts = min(problem.subject.n_trees, PARTS)
    if n_parts < 2:
        return np.full(value.shape, np.nan), np.full(value.shape, np.nan)
    scale = n_parts / (n_parts - 1)
    without_trees = [scale * (whole.sum(axis=0) - part) for part in whole[:n_parts]]
    variance = variance + _jackknifed(np.stack([_overall(part, rounding) for part in without_trees]))
    sure = 1 - (1 - confidence) / problem.subject.n_features
    half = student(n_parts - 1, sure) * np.sqrt(variance)
    return value - half, value + half


def _overall(raw: Array, rounding: float | None) -> Array:
    score: Array = raw[-1].sum(axis=0)
    return score if rounding is None else normalized(score, rounding)


def _jackknifed(without: Array) -> Array:
    n_parts = len(without)
    return np.asarray((n_parts - 1) ** 2 / n_parts * without.var(axis=0, ddof=1))


def rounding_of(problem: Problem) -> float:
    """What scores that are all 0 may add up to."""
    return ROUNDING * problem.subject.n_trees * problem.largest_value


def normalized(column: Array, rounding: float) -> Array:
    """Shares of the sum of absolute values."""
    total = np.abs(column).sum()
    return np.zeros_like(column) if total <= rounding else np.asarray(column / total)

"""The inputs of the score, the scores by part of the trees, and their jackknife intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._rows.groups import Groups
from .._stats.intervals import student
from .._xgb.trees import Array, sum_rows
from .score import PARTS, Nodes, ratio, scores
from .sklearn_trees import SklearnSubject
from .subject import Subject

ROUNDING = 1e-13  # per tree and unit of node value: smaller sums of importances are rounding errors


@dataclass(frozen=True)
class Problem:
    """The inputs of the score; ``labels`` and ``values``, those of the nodes, are ``(n, K)``."""

    subject: Subject | SklearnSubject
    groups: Groups
    labels: Array
    values: Array
    weight: Array
    metric: str
    bound: bool
    carry: bool
    normalize: bool

    def without_parts(self) -> list[Problem]:
        """Return the problem without each of ``PARTS`` random parts of the rows, with a fixed seed."""
        part_of_row = np.random.default_rng(0).permutation(self.weight.size) % PARTS
        return [replace(self, weight=self.weight * (part_of_row != part)) for part in np.unique(part_of_row)]

    def rows_of_output(self, output: int) -> tuple[Array, Array, Array]:
        """Return what to add up over rows for one output: code, weight and weighted value."""
        code = self.groups.codes
        if self.metric == "eo":
            code = 2 * code + (self.labels[:, output] == 1)
        return code, self.weight, self.values[:, output] * self.weight

    def nodes(self, sums: Array, value: Array) -> Nodes:
        """Return the quantities of the formula from sums over rows."""
        weight = sums.sum(axis=1)
        return Nodes(weight, sums.reshape(len(sums), self.groups.count, -1)[:, :, -1], ratio(value, weight))

    def has_positives(self) -> Array:
        """Return which group has rows to compare for which output ``(groups, outputs)``; all with "dp"."""
        positive = self.weight[:, None] * ((self.labels == 1) | (self.metric == "dp"))
        return np.stack([np.bincount(self.groups.codes, column) > 0 for column in positive.T], axis=1)

    def undefined(self) -> Array:
        """Return which comparisons of a group with all others are undefined, ``(groups, outputs)``."""
        has_positives = self.has_positives()
        return np.asarray(~has_positives | (has_positives.sum(axis=0) < 2))

    def scaled(self, column: Array) -> Array:
        """Return the scores of all features on the scale of the table."""
        rounding = ROUNDING * self.subject.n_trees * float(np.abs(self.values).max())
        return normalized(column, rounding) if self.normalize else column


def scores_of(problems: Sequence[Problem]) -> list[Array]:
    """Return for each problem on the same trees the scores ``(PARTS, groups + 1, outputs, features)`` by part of trees.

    The last entry of the groups is the largest bias at each level. The trees are read once.
    """
    subject = problems[0].subject
    totals = []
    forest, leaves = subject.forest()
    part = forest.column % PARTS
    for problem in problems:
        mask = problem.undefined()
        n_codes = problem.groups.count * (2 if problem.metric == "eo" else 1)
        nodes = problem.nodes(*sum_rows(forest, leaves, problem.rows_of_output, n_codes))
        total = scores(forest, nodes, mask, subject.n_features, part, bound=problem.bound, carry=problem.carry)
        # Also for features that no tree uses: an undefined comparison is not 0.
        total[:, np.vstack([mask, mask.all(axis=0)])] = np.nan
        totals.append(total)
    return totals


def normalized(column: Array, rounding: float = 0.0) -> Array:
    """Return the shares of the sum of absolute values, whose rounding error is at most ``rounding``."""
    total = np.abs(column).sum()
    return np.zeros_like(column) if total <= rounding else np.asarray(column / total)


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

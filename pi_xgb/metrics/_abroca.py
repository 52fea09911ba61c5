"""The area between the ROC curves of groups, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from .._rows.groups import Groups, as_groups
from .._rows.scores import Bools, Floats, as_scored, as_scores
from ._disparities import Undefined, check_undefined
from ._rates import Values, warn_undefined

ROC_NEEDS = "positives or no negatives, and a ROC curve needs both"


def abroca(
    y_true: Any, y_score: Any, *, sensitive_features: Any, sample_weight: Any = None, undefined: Undefined = "nan"
) -> float:
    """The area between the ROC curves of two groups, ``integral over t in [0, 1] of |ROC_a(t) - ROC_b(t)|``.

    Use it when the model ranks and no threshold is fixed yet: it sees a difference at any threshold, also where the
    curves cross and the areas under them agree. It lies between 0 and 1, and 0 means the same curve; note that equal
    curves may still lie at different thresholds; :func:`equalized_odds` measures that.

    With more than two groups it is the largest area over all pairs. Both curves are piecewise linear (a tie between a
    positive and a negative is a sloping piece), so the integral is computed exactly: no grid, crossings solved. It
    costs one sort of the scores and a merge per pair of groups.

    Parameters
    ----------
    y_true : array-like
    y_score : array-like of float
        Labels, 0 or 1, and scores of any scale, higher for label 1: only their order counts. Infinite scores are
        taken, NaN is not.
    sensitive_features, sample_weight : as for :func:`statistical_parity`
    undefined : {"nan", "skip"}, default="nan"
        What to do with a group that has no positives or no negatives: "nan" makes the result NaN, "skip" leaves
        the group out. Both warn and name the group.

    Examples
    --------
    One group is ranked perfectly, the other not at all:

    >>> from pi_xgb import metrics
    >>> sex = ["f", "f", "m", "m"]
    >>> metrics.abroca([1, 0, 1, 0], [0.9, 0.1, 0.5, 0.5], sensitive_features=sex)
    0.5
    """
    check_undefined(undefined)
    labels, scores, weights = as_scored(y_true, y_score, sensitive_features, sample_weight, as_scores)
    groups = as_groups(sensitive_features, labels.size, are_compared=True)
    curves = roc_curves(labels, scores, groups, weights, stacklevel=2)
    return largest_area(curves, groups, undefined)[0]


@dataclass(frozen=True)
class Curve:
    """A ROC curve: at each of the increasing ``fpr`` it enters at ``enter`` and leaves at ``leave``.

    The two differ where the curve is vertical; between two values of ``fpr`` it is a straight line. It starts in
    (0, 0) and ends in (1, 1).
    """

    fpr: Values
    enter: Values
    leave: Values

    def at(self, fpr: Values) -> tuple[Values, Values]:
        """Return the heights at which the curve enters and leaves each false positive rate."""
        left = np.searchsorted(self.fpr, fpr, side="right") - 1
        right = np.minimum(left + 1, self.fpr.size - 1)
        width = self.fpr[right] - self.fpr[left]
        share = np.divide(fpr - self.fpr[left], width, out=np.zeros_like(fpr), where=width > 0)
        between = self.leave[left] + share * (self.enter[right] - self.leave[left])
        at_knot = self.fpr[left] == fpr
        return np.where(at_knot, self.enter[left], between), np.where(at_knot, self.leave[left], between)


def roc_curves(labels: Bools, scores: Floats, groups: Groups, weights: Values, stacklevel: int) -> dict[int, Curve]:
    """Return the ROC curve of each group; warn of groups without weight on positives or negatives, which have none."""
    order = np.argsort(-scores)
    rows_of = [order[groups.codes[order] == code] for code in range(groups.count)]
    curves = [_curve(labels[rows], scores[rows], weights[rows]) for rows in rows_of]
    lacking = np.array([curve is None for curve in curves])
    warn_undefined("the ROC curve", lacking, ROC_NEEDS, groups.names, stacklevel=stacklevel + 1)
    return {code: curve for code, curve in enumerate(curves) if curve is not None}


def _curve(labels: Bools, scores: Floats, weights: Values) -> Curve | None:
    """Return the ROC curve of rows sorted by falling score."""
    ends = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))
    positives = np.where(labels, weights, 0.0)
    true_positives, false_positives = np.cumsum(positives)[ends], np.cumsum(weights - positives)[ends]
    if not (true_positives[-1] > 0 and false_positives[-1] > 0):
        return None
    fpr, tpr = (np.append(0.0, side / side[-1]) for side in (false_positives, true_positives))
    new = np.append(True, fpr[1:] != fpr[:-1])
    last = np.append(new[1:], True)
    return Curve(fpr[new], tpr[new], tpr[last])


def largest_area(curves: dict[int, Curve], groups: Groups, undefined: str) -> tuple[float, tuple[int, int] | None]:
    """Return ABROCA, the largest area between the curves of two groups, and these groups."""
    if len(curves) < 2 or (undefined == "nan" and len(curves) < groups.count):
        return np.nan, None
    areas = {(i, j): area_between(curves[i], curves[j]) for i, j in combinations(curves, 2)}
    pair = max(areas, key=areas.__getitem__)
    return areas[pair], pair


def area_between(first: Curve, second: Curve) -> float:
    """Return the exact integral of the absolute difference of two curves."""
    fpr = np.union1d(first.fpr, second.fpr)
    first_enter, first_leave = first.at(fpr)
    second_enter, second_leave = second.at(fpr)
    at_start = (first_leave - second_leave)[:-1]
    at_end = (first_enter - second_enter)[1:]
    # Not np.dot: its threads cost more than the sum when other processes keep the cores busy.
    return float((np.diff(fpr) * mean_absolute(at_start, at_end)).sum())


def mean_absolute(start: Values, end: Values) -> Values:
    """Return the mean of |d| where d runs linearly from ``start`` to ``end``."""
    total = np.abs(start) + np.abs(end)
    crossing = start * end < 0
    squares = start * start + end * end
    return np.where(crossing, np.divide(squares, 2 * total, out=np.zeros_like(total), where=crossing), total / 2)

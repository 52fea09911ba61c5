"""The numbers of the plots by group: ROC curves, calibration, distributions of scores."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._rows.groups import Groups, as_groups, check_several
from .._rows.per_row import FINITE
from .._rows.supervision import row_weights
from .._rows.vectors import Bools, Floats, as_labels, as_probabilities, as_scores
from .._stats.wilson import wilson
from ..metrics._abroca import Curve, area_between, merge, roc_curves, warn_no_curve
from ..metrics._rates import Values

MOST_POINTS = 1000  # the most points of a curve: more than a plot can show
MIN_ROWS = 10  # the fewest rows of a calibration bin, unless the group has fewer: less is noise


@dataclass(frozen=True)
class ScoredRows:
    """Checked rows of a plot; ``labels`` are all False if the plot needs no labels."""

    labels: Bools
    scores: Floats
    weights: Values
    groups: Groups

    def sizes(self) -> NDArray[np.intp]:
        """Return the number of rows of each group."""
        return np.bincount(self.groups.codes)

    def of_group(self, code: int) -> Bools:
        """Return the mask of the rows of a group."""
        return np.asarray(self.groups.codes == code)


def scored_rows(
    y_true: Any,
    y_score: Any,
    sensitive_features: Any,
    sample_weight: Any,
    *,
    labels_needed: bool = True,
    probabilities: bool = False,
) -> ScoredRows:
    """Return the checked arguments of a plot by group."""
    scores = as_probabilities(y_score, "y_prob") if probabilities else as_scores(y_score, FINITE)
    labels = as_labels(y_true, scores.size) if labels_needed else np.zeros(scores.size, bool)
    groups = as_groups(sensitive_features, scores.size)
    weights = row_weights(sample_weight, scores.size)
    return ScoredRows(labels, scores, np.ones(scores.size) if weights is None else weights, groups)


@dataclass(frozen=True)
class RocPicture:
    """ROC curves by group, where defined; ``pair`` are the two groups with the largest area between."""

    curves: dict[int, Curve]
    pair: tuple[int, int] | None
    area: float

    def band(self, pair: tuple[int, int]) -> tuple[Values, Values, Values]:
        """Return false positive rates, and the heights of the two curves there."""
        first, other = (self.curves[code] for code in pair)
        fpr = _thinned(merge(first.fpr, other.fpr))
        return np.repeat(fpr, 2), _both_ends(first, fpr), _both_ends(other, fpr)


def roc_picture(rows: ScoredRows, stacklevel: int) -> RocPicture:
    """Return the curves and the pair with the ABROCA; warn of groups without a curve."""
    check_several(rows.groups)
    found = roc_curves(rows.labels, rows.scores, rows.groups, rows.weights)
    warn_no_curve(found, rows.groups, stacklevel=stacklevel + 1)
    curves = {code: curve for code, curve in enumerate(found) if curve is not None}
    areas = {(i, j): area_between(curves[i], curves[j]) for i, j in combinations(curves, 2)}
    pair = max(areas, key=areas.__getitem__, default=None)
    return RocPicture(curves, pair, float("nan") if pair is None else areas[pair])


def auc(curve: Curve) -> float:
    """Return the area under a curve."""
    return float((np.diff(curve.fpr) * (curve.leave[:-1] + curve.enter[1:]) / 2).sum())


def path(curve: Curve) -> tuple[Values, Values]:
    """Return the points of a curve, vertical steps included."""
    fpr = _thinned(curve.fpr)
    return np.repeat(fpr, 2), _both_ends(curve, fpr)


def _both_ends(curve: Curve, fpr: Values) -> Values:
    return np.stack(curve.at(fpr), axis=1).ravel()


def _thinned(fpr: Values) -> Values:
    return fpr if fpr.size <= MOST_POINTS else np.linspace(0.0, 1.0, MOST_POINTS)


@dataclass(frozen=True)
class Calibration:
    """Per bin: the mean score, the share of positives and its interval."""

    score: Values
    share: Values
    low: Values
    high: Values


def calibration(scores: Floats, labels: Bools, weights: Values, n_bins: int) -> Calibration:
    """Return the bins of one group, of about equally many rows; rows of equal score share a bin."""
    n_bins = int(np.clip(scores.size // MIN_ROWS, 1, n_bins))
    order = np.argsort(scores)
    ordered = scores[order]
    # Each cut moves to the start of its run of equal scores.
    cuts = np.unique(np.searchsorted(ordered, ordered[np.arange(n_bins) * scores.size // n_bins]))
    weight = weights[order]
    has_weight = np.add.reduceat(weight, cuts) > 0
    sums = (weight, weight * ordered, weight * labels[order], weight * weight)
    total, scored, positive, squares = (np.add.reduceat(values, cuts)[has_weight] for values in sums)
    share = positive / total
    # With weights a bin counts its effective number of rows.
    return Calibration(scored / total, share, *wilson(share, total * total / squares, 0.95))


def bin_edges(scores: Floats, bins: int) -> Values:
    """Return the edges of equal bins over [0, 1] if all scores lie there, else over their range."""
    low, high = float(scores.min()), float(scores.max())
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1)

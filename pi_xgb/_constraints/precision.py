"""The constraint of equal precision in every group."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Array
from .._core.training import Hessian
from .._xgb.collective import global_sum
from .distribution import bounds, tabulate
from .groups import BetweenGroups


class PredictiveParity(BetweenGroups):
    """The same precision in every group (equal positive predictive value, predictive parity).

    Use it when a positive decision should be right equally often in every group: among patients with a positive test,
    among borrowers with a loan. The precision of a group is computed from predictions, sum(p y) / sum(p) over its rows;
    q are the closest values with the precision of all rows together. Where a group's precision is too low, q rises in
    rows with label 1 and falls in the others; where it is too high, the reverse. Labels must be 0 and 1. Rows without a
    label, and groups that lack a class, keep their predictions.
    Do not rely on it for new rows: on the data named in :class:`DemographicParity` the held-out gap of decisions grew
    from 0.17 to 0.18 (training rows: 0.13 to 0.05).

    Parameters
    ----------
    sensitive_features : as for :class:`DemographicParity`
    soft : bool, default=True
        False for the counted form, of decisions at p > 1/2: the cut of each group moves until its precision is as close
        as possible to that of all decisions. Rows between 1/2 and the cut get q = 1 - p.
    hessian : {"damped", "adaptive", "full"}, default="adaptive"
        As for :class:`DemographicParity`; "adaptive" by default, since q differs between labels.

    Notes
    -----
    The precision of decisions need not follow that of predictions. Heavy weights leave few selected rows, and may widen
    its gap: start with weights up to 10, and measure on held-out rows (:func:`pi_xgb.frontier`).

    Where base rates differ it contradicts :class:`EqualizedOdds`: only a perfect model satisfies both. A q that would
    leave [0, 1] stops at the edge.

    Examples
    --------
    >>> import numpy as np
    >>> from pi_xgb.constraints import PredictiveParity
    >>> p, y = np.array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5], np.float32), np.array([1, 0, 0, 1, 1, 0])
    >>> PredictiveParity(list("aaabbb")).q(p, label=y, weight=None).round(2).tolist()
    [0.67..., 0.33..., 0.33..., 0.33..., 0.33..., 0.67...]
    """

    gap = "predictive_parity"
    _labels = "0 or 1"
    _one_prediction = _probabilities = True

    def __init__(self, sensitive_features: Any, *, soft: bool = True, hessian: Hessian = "adaptive") -> None:
        super().__init__(sensitive_features, soft=soft, hessian=hessian)

    def _target(self, p: Array, label: Array, weight: Array | None) -> Array:
        known = ~np.isnan(label)
        counted = np.where(known, 1.0 if weight is None else weight, 0.0)
        return np.where(known, super()._target(p, np.nan_to_num(label), counted), p)

    def _satisfied(self, value: Array, label: Array, weight: Array) -> Array:
        value, weight = value.astype(np.float64), weight.astype(np.float64)
        kinds = (weight * value * label, weight * value, weight * label, weight * (1 - label))
        sums = np.stack([np.bincount(self._rows.codes, kind, minlength=self._rows.count) for kind in kinds])
        found, selected, positives, negatives = (
            global_sum(sums.ravel()).reshape(sums.shape) if self._over_workers else sums
        )
        if selected.sum() == 0:
            return value
        precision = found.sum() / selected.sum()
        # The closest q: p minus a multiple of y - precision, the gradient of the group's precision.
        length = positives * (1 - precision) ** 2 + negatives * precision**2
        can_change = (positives > 0) & (negatives > 0)
        step = np.divide(found - precision * selected, length, out=np.zeros_like(length), where=can_change)
        step[np.abs(step) < _ROUNDING] = 0.0
        return np.clip(value - step[self._rows.codes] * (label - precision), 0.0, 1.0)

    def _vote(self, p: Array, label: Array, weight: Array) -> Array:
        lines = tabulate(self._rows.codes, p, weight, over_workers=self._over_workers)
        right = tabulate(self._rows.codes, p, weight * label, over_workers=self._over_workers).weight
        is_selected = lines.value > 0.5
        selected = lines.weight[is_selected].sum()
        if selected == 0:
            return p.astype(np.float64)
        precision = right[is_selected].sum() / selected
        cells = map(slice, *bounds(lines.cell, self._rows.count))
        cut = np.array([_cut(lines.value[own], lines.weight[own], right[own], precision) for own in cells])
        changes = (p > 0.5) != (p > cut[self._rows.codes])
        return np.where(changes, 1.0 - p.astype(np.float64), p)


# Differences of sums below this are rounding errors.
_ROUNDING = 1e-9


def _cut(value: Array, weight: Array, right: Array, precision: float) -> float:
    """Return the cut at which a group's precision comes closest to ``precision``, or 1/2; ``value`` rises.

    Cuts start at 1/2 and move up where the precision is too low, down where it is too high, until it is reached.
    """
    above, hits = np.cumsum(weight[::-1])[::-1], np.cumsum(right[::-1])[::-1]
    at = int(np.searchsorted(value, 0.5, side="right"))
    if at == len(value) or above[at] <= 0:
        return 0.5
    # The precision of the rows from each line on; undefined where no row counts.
    own = np.where(above > 0, hits / np.where(above > 0, above, 1.0), np.nan)
    rises = own[at] < precision
    lines = np.arange(at, len(value)) if rises else np.arange(at, -1, -1)
    lines = lines[~np.isnan(own[lines])]
    reached = np.flatnonzero(own[lines] >= precision if rises else own[lines] <= precision)
    lines = lines[: reached[0] + 1] if reached.size else lines
    best = lines[np.abs(own[lines] - precision).argmin()]
    if best == at:
        return 0.5
    return float(value[best - 1]) if best else -1.0

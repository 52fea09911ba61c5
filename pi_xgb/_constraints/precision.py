"""The constraint of equal precision in every group."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Array
from .._core.step import Hessian
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

    def __init__(self, sensitive_features: Any, *, soft: bool = True, hessian: Hessian = "adaptive") -> None:
        super().__init__(sensitive_features, soft=soft, hessian=hessian)

    def _satisfied(self, value: Array, label: Array, weight: Array | None) -> Array:
        value, known, counted = value.astype(np.float64), ~np.isnan(label), self._counted(label, weight)
        hits = np.nan_to_num(label)
        kinds = (counted * value * hits, counted * value, counted * hits, counted * (1 - hits))
        found, selected, positives, negatives = self._sums(kinds)
        if selected.sum() == 0:
            return value
        precision = found.sum() / selected.sum()
        # The closest q: p minus a multiple of y - precision, the gradient of the group's precision.
        length = positives * (1 - precision) ** 2 + negatives * precision**2
        can_change = (positives > 0) & (negatives > 0)
        step = np.divide(found - precision * selected, length, out=np.zeros_like(length), where=can_change)
        step[np.abs(step) < _ROUNDING] = 0.0
        return np.where(known, np.clip(value - step[self._shared] * (hits - precision), 0.0, 1.0), value)

    def _vote(self, p: Array, label: Array, weight: Array | None) -> Array:
        counted, hits = self._counted(label, weight), np.nan_to_num(label)
        lines = tabulate(self._shared, p, counted, over_workers=self._over_workers)
        right = tabulate(self._shared, p, counted * hits, over_workers=self._over_workers).weight
        is_selected = lines.value > 0.5
        selected = lines.weight[is_selected].sum()
        if selected == 0:
            return p.astype(np.float64)
        precision = right[is_selected].sum() / selected
        cut = np.array(
            [
                _cut(lines.value[own], lines.weight[own], right[own], precision)
                for own in map(slice, *bounds(lines.cell, self._n_groups))
            ]
        )
        own_cut = cut[self._shared]
        changes = ((p > 0.5) != (p > own_cut)) & ~np.isnan(label)
        return np.where(changes, 1.0 - p.astype(np.float64), p)

    def _counted(self, label: Array, weight: Array | None) -> Array:
        known = ~np.isnan(label)
        return known.astype(np.float64) if weight is None else np.where(known, weight, 0.0).astype(np.float64)

    def _sums(self, kinds: tuple[Array, ...]) -> Array:
        sums = np.stack([np.bincount(self._shared, kind, minlength=self._n_groups) for kind in kinds])
        return global_sum(sums.ravel()).reshape(sums.shape) if self._over_workers else sums

    def _check_rows(self, p: Array, label: Array) -> None:
        super()._check_rows(p, label)
        if p.ndim == 2 and p.shape[1] > 1:
            raise ValueError(
                f"PredictiveParity needs one prediction per row, got {p.shape[1]} classes: train a binary model of "
                "the class that is selected"
            )
        if p.min() < 0 or p.max() > 1:
            raise ValueError(
                f"PredictiveParity needs probabilities, got predictions from {p.min()} to {p.max()}: use "
                "binary:logistic, or DemographicParity for regression"
            )
        label = np.asarray(label)
        if label.shape != self._row_values.shape or not np.isin(label[~np.isnan(label)], (0, 1)).all():
            raise ValueError(
                f"PredictiveParity needs one label 0 or 1 per row, got {np.unique(label)[:3].tolist()} among labels of "
                f"shape {label.shape} for {len(self._row_values)} rows"
            )


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

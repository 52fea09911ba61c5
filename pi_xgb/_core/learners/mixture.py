"""Convex combinations of teachers: how much each counts, from their predictions out of fold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._arrays import Array
from ..losses import Loss

# Keeps the loss finite where a prediction lies at an end of its range and the label contradicts it.
_FROM_END = 1e-6


def mixture_weights(loss: Loss, label: Array, weight: Array | None, means: Sequence[Array]) -> Array:
    """The weights w of the members, at least 0, with the sum 1, float64.

    They minimise ``(loss of sum_k w_k mean_k) / (loss of the best constant) + |w - 1/K|^2 / sqrt(n)``. Few rows cannot
    tell the members apart, which then count the same.

    Parameters
    ----------
    loss : Loss
        Of the objective.
    label : array, (n,) or (n, K)
        Of the labelled rows.
    weight : array, (n,), or None
        Of these rows; None where all count the same.
    means : arrays
        What each member predicts for these rows out of fold, on the scale of the label.
    """
    from scipy import optimize  # XGBoost needs SciPy itself

    n_members = len(means)
    equal = np.full(n_members, 1 / n_members)
    weight = np.ones(len(label)) if weight is None else weight.astype(np.float64)
    counts = weight > 0
    weight = weight[counts] / weight.sum()
    target = loss.one_hot(label, means[0]).astype(np.float64)[counts]
    stacked = np.stack(means).astype(np.float64)[:, counts]
    average = np.average(target, axis=0, weights=weight)
    # Rounding errors of equal labels are no variance.
    constant = np.broadcast_to(np.clip(average, target.min(axis=0), target.max(axis=0)), target.shape)
    # What the members can improve, for each target: the label's variance for squared error. Divided by it the loss has
    # no unit, and targets of several scales count the same.
    least = _mean_loss(loss, target, target, weight)
    room = _mean_loss(loss, constant, target, weight) - least
    varies = room > 0
    if not varies.any():
        return equal
    # 1 / sqrt(n), or more where weights differ: n is Kish's effective sample size.
    penalty = np.sqrt((weight**2).sum())

    def criterion(weights: Array) -> float:
        excess = _mean_loss(loss, np.tensordot(weights, stacked, 1), target, weight) - least
        relative = np.mean(excess[varies] / room[varies])
        return float(relative + penalty * ((weights - equal) ** 2).sum())

    found = optimize.minimize(
        criterion,
        equal,
        method="SLSQP",
        bounds=[(0, 1)] * n_members,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        options={"ftol": 1e-9},
    )
    weights = np.clip(found.x, 0, None)
    return weights / weights.sum()


def _mean_loss(loss: Loss, mean: Array, target: Array, weight: Array) -> Array:
    """The weighted mean of the loss, one value, or one per target, as an array; finite at the ends of the range."""
    unit = 1.0 if loss.probabilities else np.average(np.abs(target), axis=0, weights=weight) + np.finfo(np.float32).tiny
    inside = np.clip(mean, loss.range.low + _FROM_END * unit, loss.range.high - _FROM_END * unit)
    return np.atleast_1d(np.average(loss.value(loss.margin_of(inside), target), axis=0, weights=weight))

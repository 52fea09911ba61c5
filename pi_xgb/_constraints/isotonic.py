"""Isotonic regression: the closest values that never fall from one line to the next."""

from __future__ import annotations

import numpy as np

from .._arrays import Array

# Lines of weight 0 need an answer too, in order with the others, and must not move them.
_NEGLIGIBLE = 1e-18


def isotonic(value: Array, weight: Array) -> Array:
    """Weighted least squares under value[0] <= value[1] <= ...; float64, weights at least 0."""
    positive = weight[weight > 0]
    if positive.size == 0:
        weight = np.ones_like(weight)
    elif positive.size < weight.size:
        weight = np.where(weight > 0, weight, _NEGLIGIBLE * positive.min())
    try:
        from scipy.optimize import isotonic_regression
    except ImportError:  # scipy comes with xgboost, but has this only since 1.12
        return pool_adjacent_violators(value, weight)
    return np.asarray(isotonic_regression(value, weights=weight).x)


def pool_adjacent_violators(value: Array, weight: Array) -> Array:
    """The same in Python: one pass over the lines, for a scipy without it."""
    means: list[float] = []
    weights: list[float] = []
    counts: list[int] = []
    for mean, mass in zip(value.tolist(), weight.tolist(), strict=True):
        count = 1
        while means and means[-1] >= mean:
            left_mean, left_mass = means.pop(), weights.pop()
            mean = mean if left_mean == mean else (left_mean * left_mass + mean * mass) / (left_mass + mass)
            mass += left_mass
            count += counts.pop()
        means.append(mean)
        weights.append(mass)
        counts.append(count)
    return np.repeat(np.array(means, np.float64), counts)

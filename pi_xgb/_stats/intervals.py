"""Intervals of paired differences and of shares."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

Values = NDArray[np.float64]


class Interval(NamedTuple):
    """A mean difference, its standard error and its confidence interval."""

    mean: float
    error: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.4f} ({self.low:.4f} to {self.high:.4f})"


def corrected_interval(differences: Values, ratio: float, confidence: float = 0.95) -> Interval:
    """Return the corrected resampled t interval of Nadeau and Bengio for the mean of paired differences.

    The folds share most of their training rows, so their differences are not independent and s / sqrt(J) is too
    small. Instead, the variance of their mean is taken as (1 / J + n_test / n_train) s^2 with J - 1 degrees of
    freedom. ``ratio`` is n_test / n_train.

    Examples
    --------
    >>> print(corrected_interval(np.array([0.01, 0.02, 0.0, 0.03, 0.015]), 1 / 4))
    0.0150 (-0.0058 to 0.0358)
    """
    n_cells = len(differences)
    mean = float(np.mean(differences))
    # The spread of equal numbers is 0, but rounding of their mean could make it positive.
    spread = float(np.std(differences, ddof=1)) if np.ptp(differences) > 0 else 0.0
    error = spread * math.sqrt(1 / n_cells + ratio)
    half = student(n_cells - 1, confidence) * error
    return Interval(mean, error, mean - half, mean + half)


def student(freedom: int, confidence: float) -> float:
    """Return the x with P(|T| <= x) = ``confidence`` for Student's T."""
    return float(stdtrit(freedom, (1 + confidence) / 2))


def wilson(share: Values, rows: Values, confidence: float) -> tuple[Values, Values]:
    """Return the ends of Wilson's interval of a share of ``rows`` rows, which may be fractional; NaN for NaN.

    These are the true shares for which the observed share is not unusual. It uses the normal approximation at the true
    share, not at the observed one, so it keeps its width at observed shares of 0 and 1.

    Examples
    --------
    >>> low, high = wilson(np.array([0.0, 0.5, 1.0]), np.array([10.0, 10.0, 10.0]), 0.95)
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.0, 0.24, 0.72], [0.28, 0.76, 1.0])
    """
    z = float(ndtri((1 + confidence) / 2))
    known = rows + z**2
    middle = (share * rows + z**2 / 2) / known
    half = z / known * np.sqrt(share * (1 - share) * rows + z**2 / 4)
    return np.where(share <= 0, share, middle - half), np.where(share >= 1, share, middle + half)

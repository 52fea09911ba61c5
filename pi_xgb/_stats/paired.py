"""Intervals of paired differences over folds."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

STANDARD_ERRORS = 0.5
"""The default threshold of a gain."""


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
    half = student(n_cells - 1, confidence) * error if error else 0.0
    return Interval(mean, error, mean - half, mean + half)


def check_standard_errors(standard_errors: Any) -> None:
    """Raise unless ``standard_errors`` is a finite number of at least 0."""
    if isinstance(standard_errors, (bool, str)) or not 0 <= standard_errors < np.inf:
        raise ValueError(
            f"standard_errors must be finite, at least 0, got {standard_errors!r}: {STANDARD_ERRORS} is usual"
        )


def student(freedom: int, confidence: float) -> float:
    """Return the x with P(|T| <= x) = ``confidence`` for Student's T."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + confidence) / 2))

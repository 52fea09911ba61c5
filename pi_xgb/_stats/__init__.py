"""Intervals of paired differences, shares and resampled rows, and inference on the true gap between groups."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

Values = NDArray[np.float64]

_BLOCK_ENTRIES = 100_000  # small enough to stay in the cache

ROUNDING = 1e-9
"""Gaps that differ by less are equal."""

UNUSUALLY_ALIKE = 0.16
"""The upper limit is never below that of this quantile of the observed gaps without a true gap."""

LEAST_DRAWS = 100
"""Fewer null draws cannot distinguish 5 % from 10 %."""


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


def check_standard_errors(standard_errors: Any) -> None:
    """Raise unless ``standard_errors`` is a finite number of at least 0."""
    if isinstance(standard_errors, (bool, str)) or not 0 <= standard_errors < np.inf:
        raise ValueError(f"standard_errors must be finite, at least 0, got {standard_errors!r}: 0.5 is usual")


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


def resamples(n_rows: int, n_boot: int, random_state: Any) -> Iterator[Values]:
    """Yield how often each row is drawn with replacement, ``(b, n_rows)``, in blocks of ``n_boot`` resamples in all."""
    generator = np.random.default_rng(random_state)
    per_block = max(1, _BLOCK_ENTRIES // n_rows)
    for first in range(0, n_boot, per_block):
        count = min(per_block, n_boot - first)
        drawn = generator.integers(n_rows, size=(count, n_rows))
        drawn += np.arange(count)[:, None] * n_rows
        yield np.bincount(drawn.ravel(), minlength=count * n_rows).reshape(count, n_rows).astype(np.float64)


def percentiles(replicates: Values, confidence: float) -> tuple[Values, Values]:
    """Return the percentile interval of each column, of the replicates that are not NaN."""
    tail = (1 - confidence) / 2
    low, high = pd.DataFrame(replicates).quantile([tail, 1 - tail]).to_numpy()
    return low, high


# A gap between groups is a largest or an absolute difference, so noise alone increases it, and a plain bootstrap
# increases it again. Its limits are therefore the true gaps at which the observed gap is not unusual.


class Path(NamedTuple):
    """True gaps from 0 on, ``(levels,)``, and draws of the observed gap at each of them, ``(draws, levels)``."""

    truth: Values
    seen: Values

    def above(self, value: float) -> Values:
        """The chance of an observed gap above ``value`` at each level; equal gaps count half."""
        more = (self.seen > value + ROUNDING).mean(axis=0)
        return np.asarray(more + (np.abs(self.seen - value) <= ROUNDING).mean(axis=0) / 2)

    def tails(self, confidence: float) -> tuple[Values, Values]:
        """The lower and the upper tail of observed gaps that count as unusual, at each level.

        Together they are 1 - confidence. Without a true gap no observed gap is too small, so the upper tail has all of
        it; as the chance to detect a gap grows, the tails become equal.
        """
        alpha = 1 - confidence
        power = (self.seen > np.quantile(self.seen[:, 0], confidence)).mean(axis=0)
        lower = alpha / 2 * np.clip((power - alpha) / (1 - alpha), 0, 1)
        return lower, alpha - lower


def below_upper(value: float, plain: Path, confidence: float) -> Values:
    """Return values that are positive at true gaps for which the observed gap is not unusually small.

    Where the last one is positive, the path is too short to have an upper limit.
    """
    # An observed gap smaller than usual for equal groups does not prove that they are equal.
    at_least = max(value, float(np.quantile(plain.seen[:, 0], UNUSUALLY_ALIKE)))
    return (1 - plain.above(at_least)) - plain.tails(confidence)[0]


def limits(value: float, crowded: Path, plain: Path, confidence: float) -> dict[str, float]:
    """Return the true gap at which an observed gap of ``value`` is the median, and the ends of its interval.

    Under the true gaps in the interval the observed gap is not unusual.

    The true gap alone does not determine how much noise increases the observed one: most where many groups lie at both
    ends (``crowded``), least where a single pair differs (``plain``). The former gives the lower end, the latter the
    upper end.
    """
    above_lower = crowded.above(value) - crowded.tails(confidence)[1]
    low = _first_crossing(crowded.truth, above_lower)
    from_above = below_upper(value, plain, confidence)[::-1]
    high = plain.truth[-1] - _first_crossing(plain.truth[-1] - plain.truth[::-1], from_above)
    corrected = _first_crossing(plain.truth, plain.above(value) - 0.5)
    high = max(low, high)
    return {"corrected": float(np.clip(corrected, low, high)), "low": low, "high": high}


def _first_crossing(at: Values, values: Values) -> float:
    """Return where ``values`` first becomes positive, interpolated linearly; the last point if it never does."""
    positive = np.flatnonzero(values > 0)
    if not positive.size:
        return float(at[-1])
    i = int(positive[0])
    if i == 0:
        return float(at[0])
    share = -values[i - 1] / (values[i] - values[i - 1])
    return float(at[i - 1] + share * (at[i] - at[i - 1]))


def p_value(null: Values, value: float) -> float:
    """Return the chance of a gap of at least ``value`` under the null; never 0, as the rows count as a draw."""
    return float((1 + (null >= value - ROUNDING).sum()) / (1 + null.size))


def holm(p_values: Values) -> Values:
    """Return Holm's adjustment of several p-values; NaN marks tests that were not made.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    ranked = pd.Series(p_values).dropna().sort_values()
    adjusted = (ranked * np.arange(len(ranked), 0, -1)).cummax().clip(upper=1.0)
    return np.asarray(adjusted.reindex(range(len(p_values))))

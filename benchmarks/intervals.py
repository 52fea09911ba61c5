"""Differences over folds that share training rows, with an interval that knows it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import t

from benchmarks.text import number, signed

# A fold trains on eight parts and is tested on one.
TEST_OVER_TRAIN = 1 / 8
WIN, TIE, LOSS, UNKNOWN = "win", "tie", "loss", "unknown"


class Interval(NamedTuple):
    """mean - half to mean + half; ``half`` is NaN where there are fewer than two folds."""

    mean: float
    half: float
    folds: int

    @property
    def low(self) -> float:
        return self.mean - self.half

    @property
    def high(self) -> float:
        return self.mean + self.half


def corrected_interval(differences: npt.ArrayLike, test_over_train: float = TEST_OVER_TRAIN) -> Interval:
    """The corrected resampled t interval at 95 % (Nadeau and Bengio 2003); of one fold it is unknown."""
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise ValueError(f"expected one finite difference per fold, got {values!r}")
    if values.size == 1:
        return Interval(float(values[0]), math.nan, 1)
    # Equal numbers have no spread, whatever rounding makes of their mean.
    spread = float(values.std(ddof=1)) if np.ptp(values) > 0 else 0.0
    half = float(t.ppf(0.975, values.size - 1)) * spread * math.sqrt(1 / values.size + test_over_train)
    return Interval(float(values.mean()), half, values.size)


def with_bounds(found: Interval, digits: int = 3) -> str:
    """+0.104 (0.048 to 0.160): the mean, and the ends of its 95 % interval if it has one."""
    if math.isnan(found.half):
        return signed(found.mean, digits)
    # + 0.0 turns -0.0 into 0.0.
    low, high = (number(round(bound, digits) + 0.0, digits) for bound in (found.low, found.high))
    return f"{signed(found.mean, digits)} ({low} to {high})"


def verdict(difference: Interval, *, higher_is_better: bool = True) -> str:
    """A win or a loss where the interval excludes 0, else a tie; unknown from a single fold."""
    if math.isnan(difference.half):
        return UNKNOWN
    if difference.low <= 0 <= difference.high:
        return TIE
    return WIN if (difference.mean > 0) == higher_is_better else LOSS


def wins_ties_losses(verdicts: Iterable[str]) -> tuple[int, int, int]:
    """How many of each; what is unknown is not counted."""
    count = Counter(verdicts)
    return count[WIN], count[TIE], count[LOSS]

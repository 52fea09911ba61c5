"""How large a gap between groups is in truth: p-values, and limits by inversion of what would be seen.

A gap is a largest or an absolute difference, so that noise alone pushes it up, and its plain bootstrap pushes it up
once more. The limits here ask the other way round: at which true gaps is the gap that was seen nothing unusual?
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

ROUNDING = 1e-9
"""Gaps that are closer than this are the same gap."""

UNUSUALLY_ALIKE = 0.16
"""The upper limit is never below that of this quantile of what is seen where there is no gap."""

LEAST_DRAWS = 100
"""A null of fewer draws cannot tell 5 % from 10 %."""


@dataclass(frozen=True)
class Path:
    """True gaps from 0 on, ``(levels,)``, and the gaps that would be seen at each of them, ``(draws, levels)``."""

    truth: Values
    seen: Values

    def above(self, value: float) -> Values:
        """The chance of seeing more than ``value`` at each level; what equals it counts half."""
        more = (self.seen > value + ROUNDING).mean(axis=0)
        return np.asarray(more + (np.abs(self.seen - value) <= ROUNDING).mean(axis=0) / 2)

    def tails(self, confidence: float) -> tuple[Values, Values]:
        """How much of what would be seen is unusually little, and how much unusually much, at each level.

        Together they are 1 - confidence. Without a gap nothing can be too little, so that all of it is at the upper
        end; as the chance to notice a gap grows, the tails become equal.
        """
        alpha = 1 - confidence
        noticed = (self.seen > np.quantile(self.seen[:, 0], confidence)).mean(axis=0)
        little = alpha / 2 * np.clip((noticed - alpha) / (1 - alpha), 0, 1)
        return little, alpha - little


class Limits(NamedTuple):
    """The true gap at which the one that was seen is the median, and the ends of the interval."""

    corrected: float
    low: float
    high: float


def is_cut(value: float, plain: Path, confidence: float) -> bool:
    """Whether the path ends before the gap that is seen would be unusually little, so that it has no upper limit."""
    return bool(_enough(value, plain, confidence)[-1] > 0)


def _enough(value: float, plain: Path, confidence: float) -> Values:
    """Positive at true gaps under which what is seen is not unusually little."""
    # Groups that happen to look more alike than alike ones do are no proof that they are.
    at_least = max(value, float(np.quantile(plain.seen[:, 0], UNUSUALLY_ALIKE)))
    return (1 - plain.above(at_least)) - plain.tails(confidence)[0]


def limits(value: float, crowded: Path, plain: Path, confidence: float) -> Limits:
    """The interval of true gaps under which a gap of ``value`` is nothing unusual.

    Two paths, since the true gap alone does not say how far noise lifts what is seen: most where the groups crowd at
    both ends, least where one pair stands apart. The lower end asks the former, the upper end the latter.
    """
    too_much = crowded.above(value) - crowded.tails(confidence)[1]
    low = _first_crossing(crowded.truth, too_much)
    enough = _enough(value, plain, confidence)
    high = plain.truth[-1] - _first_crossing(plain.truth[-1] - plain.truth[::-1], enough[::-1])
    corrected = _first_crossing(plain.truth, plain.above(value) - 0.5)
    high = max(low, high)
    return Limits(float(np.clip(corrected, low, high)), low, high)


def _first_crossing(at: Values, values: Values) -> float:
    """Where ``values`` first becomes positive, between two points by a straight line; the last point if nowhere."""
    positive = np.flatnonzero(values > 0)
    if not positive.size:
        return float(at[-1])
    i = int(positive[0])
    if i == 0:
        return float(at[0])
    share = -values[i - 1] / (values[i] - values[i - 1])
    return float(at[i - 1] + share * (at[i] - at[i - 1]))


def p_value(null: Values, value: float) -> float:
    """The chance of a gap of at least ``value`` where groups do not matter; never 0, as the rows are a draw as well."""
    return float((1 + (null >= value - ROUNDING).sum()) / (1 + null.size))


def holm(p_values: Values) -> Values:
    """Holm's adjustment for having looked at several things; those that are NaN were not looked at.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted = np.full(p_values.shape, np.nan)
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known])]
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * np.arange(order.size, 0, -1)), 1.0)
    return adjusted

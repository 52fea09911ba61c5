"""Inference on the true gap between groups.

A gap between groups is a largest or an absolute difference, so noise alone increases it, and a plain bootstrap
increases it again. Its limits are therefore the true gaps at which the observed gap is not unusual.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from .._stats.intervals import Values

ROUNDING = 1e-9
"""Gaps that differ by less are equal."""

UNUSUALLY_ALIKE = 0.16
"""The upper limit is never below that of this quantile of the observed gaps without a true gap."""

LEAST_DRAWS = 100
"""Fewer null draws cannot distinguish 5 % from 10 %."""


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

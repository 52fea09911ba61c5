"""Statistics of a gap between groups: null distribution, p-value, interval, and the two groups it compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._rows.checks import check_whole
from .._rows.groups import Groups
from .._rows.names import in_words
from .._rows.vectors import Bools
from .._stats.gaps import LEAST_DRAWS, Path, is_cut, limits, p_value
from ._curve_noise import Curves, curves_of
from ._disparities import COMPARED
from ._rate_noise import Rates, rates_of
from ._rates import RATES, ScoredRows

N_NULL = 1999

Statistics = dict[str, Any]

UNKNOWN: Statistics = {
    "low": np.nan, "high": np.nan, "corrected": np.nan, "chance": np.nan, "p_value": np.nan, "between": ""
}  # fmt: skip
"""The statistics of an undefined gap."""


def check_null(n_null: Any) -> None:
    """Raise if ``n_null`` is neither 0 nor at least ``LEAST_DRAWS``."""
    check_whole("n_null", n_null, 0, f"0 for no p-values, {N_NULL} is usual")
    if 0 < n_null < LEAST_DRAWS:
        raise ValueError(
            f"n_null must be 0 or at least {LEAST_DRAWS}, got {n_null}: fewer draws give no usable p-value; "
            f"{N_NULL} is usual"
        )


def comparable(rows: ScoredRows, name: str) -> ScoredRows:
    """Return the rows of the groups in which the compared rates are defined."""
    cells = rows.cells()
    rates = [RATES[rate] for rate in COMPARED.get(name, ("true_positive_rate", "false_positive_rate"))]
    defined: Bools = np.isfinite(np.stack([rate.values(cells) for rate in rates])).min(axis=0)
    if defined.all():
        return rows
    mask = defined[rows.groups.codes]
    groups = Groups((np.cumsum(defined) - 1)[rows.groups.codes[mask]], rows.groups.names[defined])
    weights = None if rows.weights is None else rows.weights[mask]
    return ScoredRows(rows.labels[mask], rows.selected[mask], weights, groups, rows.scores[mask])


def gap_of(rows: ScoredRows, name: str) -> Rates | Curves:
    """Return the rates or curves that the metric compares, with their noise."""
    return rates_of(rows, name) if name in COMPARED else curves_of(rows)


@dataclass(frozen=True)
class Draws:
    """The number of draws of each kind, and the confidence of intervals."""

    n_boot: int
    n_null: int
    confidence: float

    def statistics(self, rows: ScoredRows, name: str, generator: np.random.Generator) -> Statistics:
        """Return the columns of a gap other than its value."""
        rows = comparable(rows, name)
        gap = gap_of(rows, name)
        found = dict(UNKNOWN, between=" – ".join(in_words(rows.groups.names[code]) for code in gap.widest_pair()))
        if self.n_null:
            null = gap.null_gaps(gap.draws(self.n_null), generator)
            found |= {"chance": float(null.mean()), "p_value": p_value(null, gap.observed())}
        if self.n_boot:
            n_draws = gap.draws(self.n_boot)
            crowded = gap.crowded(n_draws, generator)
            found |= limits(gap.value, crowded, self._plain(gap, n_draws, generator), self.confidence)._asdict()
            found["high"] = max(found["high"], gap.least_limit(self.confidence))
            # The permutation test is exact, so the interval must not contradict its p-value.
            if self.n_null and found["p_value"] > 1 - self.confidence:
                found["low"] = 0.0
        return found

    def _plain(self, gap: Rates | Curves, n_draws: int, generator: np.random.Generator) -> Path:
        """Return a path that contains the upper limit, if a limit below the largest possible gap exists.

        Groups whose rows all have the same decision show almost no noise, so the first path may be too short.
        """
        path, reach = gap.plain(n_draws, generator), 2
        while is_cut(gap.value, path, self.confidence):
            further = gap.plain(n_draws, generator, reach)
            if further.truth[-1] <= path.truth[-1]:
                break
            path, reach = further, 2 * reach
        return path

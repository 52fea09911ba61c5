"""How much of a difference between groups could be chance: null, p-value, interval, and the pair that it is about."""

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

Told = dict[str, Any]

UNKNOWN: Told = {
    "low": np.nan, "high": np.nan, "corrected": np.nan, "chance": np.nan, "p_value": np.nan, "between": ""
}  # fmt: skip
"""What is said of a gap that does not exist."""


def check_null(n_null: Any) -> None:
    """Enough draws to tell something from chance, or none."""
    check_whole("n_null", n_null, 0, f"0 for no p-values, {N_NULL} is usual")
    if 0 < n_null < LEAST_DRAWS:
        raise ValueError(
            f"n_null must be 0 or at least {LEAST_DRAWS}, got {n_null}: so few draws cannot tell a gap from chance; "
            f"{N_NULL} is usual"
        )


def comparable(rows: ScoredRows, name: str) -> ScoredRows:
    """The rows of the groups that have what the metric compares."""
    cells = rows.cells()
    rates = [RATES[rate] for rate in COMPARED.get(name, ("true_positive_rate", "false_positive_rate"))]
    there: Bools = np.isfinite(np.stack([rate.of(cells) for rate in rates])).min(axis=0)
    if there.all():
        return rows
    kept = there[rows.groups.codes]
    groups = Groups((np.cumsum(there) - 1)[rows.groups.codes[kept]], rows.groups.names[there])
    weights = None if rows.weights is None else rows.weights[kept]
    return ScoredRows(rows.labels[kept], rows.selected[kept], weights, groups, rows.scores[kept])


def gap_of(rows: ScoredRows, name: str) -> Rates | Curves:
    """What the metric compares, with its noise."""
    return rates_of(rows, name) if name in COMPARED else curves_of(rows)


@dataclass(frozen=True)
class Draws:
    """How many draws of each kind, and how sure an interval should be."""

    n_boot: int
    n_null: int
    confidence: float

    def of(self, rows: ScoredRows, name: str, generator: np.random.Generator) -> Told:
        """All that is said of a gap besides its value."""
        rows = comparable(rows, name)
        gap = gap_of(rows, name)
        told = dict(UNKNOWN, between=" – ".join(in_words(rows.groups.names[code]) for code in gap.furthest()))
        if self.n_null:
            null = gap.without_gap(gap.draws(self.n_null), generator)
            told |= {"chance": float(null.mean()), "p_value": p_value(null, gap.seen())}
        if self.n_boot:
            n_draws = gap.draws(self.n_boot)
            crowded = gap.crowded(n_draws, generator)
            told |= limits(gap.value, crowded, self._plain(gap, n_draws, generator), self.confidence)._asdict()
            told["high"] = max(told["high"], gap.unseen(self.confidence))
            # One answer to whether there is a gap at all: the test's, which is exact.
            if self.n_null and told["p_value"] > 1 - self.confidence:
                told["low"] = 0.0
        return told

    def _plain(self, gap: Rates | Curves, n_draws: int, generator: np.random.Generator) -> Path:
        """A path with an upper limit on it, if there is one below the largest gap that can be.

        Where no row of a group is decided otherwise, what is seen has next to no noise, and says little of the truth.
        """
        path, reach = gap.plain(n_draws, generator), 2
        while is_cut(gap.value, path, self.confidence):
            further = gap.plain(n_draws, generator, reach)
            if further.truth[-1] <= path.truth[-1]:
                break
            path, reach = further, 2 * reach
        return path

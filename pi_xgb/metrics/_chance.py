"""Inference on a gap between groups from counts: p-values by permutation, intervals by drawing new rows.

The rows enter as counts by stratum, group and cell. A rate has one stratum, the rows of its denominator, with two
cells: other rows, and rows of its numerator. ROC curves have two strata, negatives and positives, with a cell for each
range of scores. All gaps are then the largest sum of absolute differences between two groups.

Shapes: ``S`` strata, ``k`` groups, ``C`` cells; counts are ``(..., S, k, C)``. ``Q`` compared quantities, the rates or
the heights of the curves, are ``(..., Q, k)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._rows.names import in_words
from .._stats.intervals import wilson
from ._disparities import COMPARED, largest_between
from ._gaps import LEAST_DRAWS, Path, below_upper, limits, p_value
from ._rates import RATES, Decisions, Values

N_NULL = 1999
GRID = 48
"""The number of false positive rates at which curves are compared."""
CELLS = 64
"""The number of ranges of scores, with about equally many rows in each."""
LEVELS = 20
"""The number of true gaps that an interval tries."""
CROWDED = 5.0
"""How far groups are moved to the nearer end of the gap for its lower limit. Without it the limit exceeds the truth too
often if groups form two clusters. Chosen by trial; `python -m benchmarks.interval_coverage` measures the coverage."""
PRIOR_ROWS = 2.0
"""Rows added to each group of a stratum before drawing, since a rate of 0 or 1 would have no noise."""
MOST_WORK = 2e8
"""Upper limit of comparisons between groups over all draws and true gaps: above it, fewer draws are taken."""

Counts = NDArray[np.int64]
Statistics = dict[str, Any]


def statistics(
    rows: Decisions,
    name: str,
    value: float,
    pair_of_curves: tuple[int, int] | None,
    random: np.random.Generator,
    n_boot: int,
    n_null: int,
    confidence: float,
) -> Statistics:
    """Return the columns of a gap other than its value, for the groups in which it is defined; none if it is NaN."""
    if np.isnan(value):
        return {"between": ""}
    counts = _counts(rows, name)
    known = np.flatnonzero(counts.sum(axis=2).all(axis=0))
    gap = Gap(counts[:, known], of_curves=name not in COMPARED)
    # Cells of scores are too coarse to tell which curves are furthest apart.
    pair = pair_of_curves if gap.of_curves and pair_of_curves else known[list(gap.widest_pair)]
    found: Statistics = {"between": " – ".join(in_words(rows.groups.names[int(code)]) for code in pair)}
    if n_null:
        null = gap.null_gaps(gap.draws(n_null), random)
        found |= {"chance": float(null.mean()), "p_value": p_value(null, float(gap.largest(gap.observed)))}
    if n_boot:
        found |= gap.limits(value, gap.noise(gap.draws(n_boot), random), confidence)
        # The permutation test is exact, so the interval must not contradict its p-value.
        if n_null and found["p_value"] > 1 - confidence:
            found["low"] = 0.0
    return found


def _counts(rows: Decisions, name: str) -> Values:
    """Return the counts of what the metric compares; with weights, effective sample sizes (Kish)."""
    if name in COMPARED:
        rates = [RATES[rate] for rate in COMPARED[name]]
        cell = rows.cell
        strata = [(np.isin(cell, rate.denominator), np.isin(cell, rate.numerator).astype(np.intp)) for rate in rates]
        n_cells = 2
    else:
        cuts = np.unique(np.quantile(rows.scores, np.arange(1, CELLS) / CELLS, method="higher"))
        cell = len(cuts) - np.searchsorted(cuts, rows.scores, side="right")
        strata, n_cells = [(rows.labels == label, cell) for label in (False, True)], CELLS
    # Only proportions of weights matter, and squares of large weights overflow.
    weight, n_groups = rows.weights / rows.weights.max(), rows.groups.count
    counts = np.zeros((len(strata), n_groups, n_cells))
    for stratum, (mask, cell) in enumerate(strata):
        codes, own = rows.groups.codes[mask], weight[mask]
        sums = np.bincount(codes * n_cells + cell[mask], own, n_groups * n_cells).reshape(n_groups, n_cells)
        total, squares = sums.sum(axis=1), np.bincount(codes, np.square(own), n_groups)
        counts[stratum] = sums * np.divide(total, squares, out=np.zeros(n_groups), where=squares > 0)[:, None]
    return counts


@dataclass(frozen=True)
class Gap:
    """The counts of groups that all have rows in every stratum."""

    counts: Values
    of_curves: bool

    @cached_property
    def observed(self) -> Values:
        """The observed rates or curves, ``(Q, k)``."""
        return self.compared(self.counts)

    @cached_property
    def sizes(self) -> Counts:
        """The rows of each stratum and group, ``(S, k)``; effective sizes are 1 at least."""
        return np.asarray(np.rint(self.counts.sum(axis=2)), np.int64)

    @cached_property
    def widest_pair(self) -> tuple[int, int]:
        """The two groups with the largest gap."""
        values = self.observed
        apart = np.stack([np.abs(values - values[:, [code]]).sum(axis=0) for code in range(values.shape[1])]).round(9)
        first, second = np.unravel_index(apart.argmax(), apart.shape) if apart.any() else (0, 1)
        return int(first), int(second)

    def compared(self, counts: NDArray[Any]) -> Values:
        """Return the rates or curves of groups with these counts, ``(..., Q, k)``."""
        if self.of_curves:
            return _curves(counts)
        return np.asarray(counts[..., 1] / counts.sum(axis=-1))

    def largest(self, compared: Values) -> Values:
        """Return the largest gap between two groups, ``(...,)``."""
        if not self.of_curves:
            return largest_between(list(np.moveaxis(compared, -2, 0)), "nan")
        gaps = np.zeros(compared.shape[:-2])
        for first, second in combinations(range(compared.shape[-1]), 2):
            np.maximum(gaps, np.abs(compared[..., first] - compared[..., second]).sum(axis=-1), out=gaps)
        return gaps

    def draws(self, wanted: int) -> int:
        """Return the number of draws: ``wanted``, or fewer with many groups, where the cost would be minutes."""
        n_quantities, n_groups = self.observed.shape
        comparisons = n_quantities * (n_groups**2 / 2 if self.of_curves else n_groups)
        return max(LEAST_DRAWS, min(wanted, int(MOST_WORK / comparisons / LEVELS)))

    def null_gaps(self, n_draws: int, random: np.random.Generator) -> Values:
        """Return the gaps after permuting the groups over the rows of each stratum, ``(n_draws,)``."""
        permuted = [
            _permuted(counts, sizes, n_draws, random) for counts, sizes in zip(self.counts, self.sizes, strict=True)
        ]
        return self.largest(self.compared(np.stack(permuted, axis=1)))

    def noise(self, n_draws: int, random: np.random.Generator) -> Values:
        """Return the errors of rates or curves in new samples of the same size, ``(n_draws, Q, k)``."""
        shares = self.counts + PRIOR_ROWS / self.counts.shape[2]
        shares /= shares.sum(axis=2, keepdims=True)
        drawn = random.multinomial(self.sizes, shares, size=(n_draws, *self.sizes.shape))
        return np.asarray(self.compared(drawn) - self.compared(shares))

    def limits(self, value: float, noise: Values, confidence: float) -> Statistics:
        """Return the interval of true gaps under which the observed gap is not unusual, and the bias-corrected gap."""
        first, second = self.widest_pair
        between = self.observed[:, first] - self.observed[:, second]
        place = self._places(between)
        crowded = np.clip(CROWDED * place, -0.5, 0.5)
        along = between if between.any() else np.ones(between.size)
        crowded_path = self._path(along[:, None] * crowded, noise, value)
        # A difference in proportion to the noise keeps its sign, so that noise adds least to the gap.
        spread = np.maximum((noise[..., first] - noise[..., second]).std(axis=0), 1e-9)
        shape = spread[:, None] * place
        largest, reach = 1.0 if self.of_curves else float(len(self.counts)), 5 * float(spread.sum())
        path = self._path(shape, noise, min(value + reach, largest))
        while below_upper(value, path, confidence)[-1] > 0 and path.truth[-1] < largest:
            reach *= 2
            path = self._path(shape, noise, min(value + reach, largest))
        found = limits(value, crowded_path, path, confidence)
        return found | {"high": max(found["high"], self._least_limit(confidence))}

    def _least_limit(self, confidence: float) -> float:
        """Return a lower bound of the upper limit where a group has a rate of 0 or 1, or is ranked without a mistake.

        The true rate may still differ by as much as Wilson's upper limit of a share of 0 in the group's rows.
        """
        is_end = (self.observed <= 0) | (self.observed >= (1 / GRID if self.of_curves else 1))
        rows = self.sizes.min(axis=0)[is_end.all(axis=0)] if self.of_curves else self.sizes[is_end]
        return float(wilson(np.zeros(rows.size), rows.astype(float), confidence)[1].max(initial=0.0))

    def _places(self, between: Values) -> Values:
        """Return where each group lies between the two furthest apart, from -1/2 to 1/2."""
        if not between.any():  # if all groups are equal, any order will do
            return np.asarray(np.arange(self.observed.shape[1]) % 2 - 0.5, np.float64)
        first, second = self.widest_pair
        middle = (self.observed[:, first] + self.observed[:, second]) / 2
        return np.clip((self.observed - middle[:, None]).T @ between / (between @ between), -0.5, 0.5)

    def _path(self, shape: Values, noise: Values, furthest: float) -> Path:
        """Return true gaps up to ``furthest`` of groups that differ by multiples of ``shape``."""
        truth = furthest * np.linspace(0, 1, LEVELS) ** 1.3
        scale = truth / float(self.largest(shape))
        return Path(truth, np.stack([self.largest(step * shape + noise) for step in scale], axis=1))


def _permuted(counts: Values, sizes: Counts, n_draws: int, random: np.random.Generator) -> Counts:
    """Assign the rows of a stratum to the groups at random, ``(n_draws, k, C)``; group sizes stay."""
    so_far = np.cumsum(counts.sum(axis=0))
    pooled = np.diff(np.rint(so_far * (sizes.sum() / so_far[-1])).astype(np.int64), prepend=0)
    left = np.tile(pooled, (n_draws, 1))
    permuted = np.zeros((n_draws, *counts.shape), np.int64)
    for group, size in enumerate(sizes[:-1]):
        wanted, further = np.full(n_draws, size), left.sum(axis=1)
        for cell in range(len(pooled)):
            further -= left[:, cell]
            permuted[:, group, cell] = random.hypergeometric(left[:, cell], further, wanted)
            wanted -= permuted[:, group, cell]
        left -= permuted[:, group]
    permuted[:, -1] = left
    return permuted


def _curves(counts: NDArray[Any]) -> Values:
    """Return ROC curves at the middles of a grid, ``(..., GRID, k)``, scaled so that their sum is the area."""
    shares = np.cumsum(counts, axis=-1) / counts.sum(axis=-1, keepdims=True)
    fpr, tpr = (side.reshape(-1, counts.shape[-1]) for side in np.moveaxis(shares, -3, 0))
    # One search for all curves: each is shifted to an interval of its own.
    apart = 2.0 * np.arange(len(fpr))[:, None]
    start = np.zeros_like(apart)
    at = (apart + (np.arange(GRID) + 0.5) / GRID).ravel()
    heights = np.interp(at, np.hstack([apart, apart + fpr]).ravel(), np.hstack([start, tpr]).ravel())
    shape = (*counts.shape[:-3], counts.shape[-2], GRID)
    return np.asarray(np.moveaxis(heights.reshape(shape), -1, -2) / GRID)

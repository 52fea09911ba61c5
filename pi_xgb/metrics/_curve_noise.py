"""Sampling noise of the area between ROC curves: draws without a gap, and draws along a path of true gaps.

Shapes: ``k`` groups, ``G`` false positive rates at which curves are compared; curves are ``(..., k, G)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._stats.gaps import LEAST_DRAWS, Path, Values
from .._stats.wilson import wilson
from ._abroca import Curve, roc_curves
from ._rate_noise import CROWDED, crowd
from ._rates import ScoredRows

Counts = NDArray[np.int64]

GRID = 48
CELLS = 64
LEVELS = 20
MIDDLES, EDGES = (np.arange(GRID) + 0.5) / GRID, np.arange(GRID + 1) / GRID
FEW_ROWS = 10_000
"""Up to this many rows of unequal weights are permuted one by one; of more, their effective number."""
MOST_WORK = 2e8
"""Upper limit of pairs of groups times draws times grid points: above it, fewer draws are taken."""


class Side(NamedTuple):
    """The rows of one label: group, cell by score, and weight with mean 1 in each group."""

    group: NDArray[np.intp]
    cell: NDArray[np.intp]
    weight: Values

    def sums(self, n_groups: int, generator: np.random.Generator | None = None) -> Values:
        """Return the weight of each group and cell, ``(k, CELLS)``; a generator permutes the groups of the rows."""
        group = self.group if generator is None else generator.permutation(self.group)
        sums = np.bincount(group * CELLS + self.cell, self.weight, n_groups * CELLS)
        return np.asarray(sums.reshape(n_groups, CELLS), np.float64)


@dataclass(frozen=True)
class Curves:
    """ROC curves of groups on a grid, with the number of positives and negatives behind each.

    ``middles`` and ``edges`` are the curves at the middles and at the edges of the cells of the grid; ``cells`` counts
    the negatives and positives of each group by score, from the highest down, ``(2, k, CELLS)``.
    """

    middles: Values
    edges: Values
    cells: Counts
    sides: list[Side] | None = None
    """The rows themselves where few have unequal weights, whose noise is not that of an effective number of rows."""

    @property
    def rows(self) -> Counts:
        """The number of negatives and positives of each group, ``(2, k)``."""
        return np.asarray(self.cells.sum(axis=2))

    @property
    def value(self) -> float:
        """The observed gap on the grid."""
        return float(self.gap(self.middles))

    def gap(self, curves: Values) -> Values:
        """Return the largest area between two groups, ``(...,)``."""
        largest = np.zeros(curves.shape[:-2])
        for first, second in combinations(range(curves.shape[-2]), 2):
            area = np.abs(curves[..., first, :] - curves[..., second, :]).mean(axis=-1)
            np.maximum(largest, area, out=largest)
        return largest

    def widest_pair(self) -> tuple[int, int]:
        """Return the two groups with the largest area between their curves."""
        pairs = combinations(range(self.rows.shape[1]), 2)
        return max(pairs, key=lambda pair: float(np.abs(self.middles[pair[0]] - self.middles[pair[1]]).mean().round(9)))

    def draws(self, wanted: int) -> int:
        """Return the number of draws: ``wanted``, or fewer with many groups, where the cost would be minutes."""
        pairs = self.rows.shape[1] ** 2 / 2
        return max(LEAST_DRAWS, min(wanted, int(MOST_WORK / pairs / GRID / LEVELS)))

    def observed(self) -> float:
        """Return the gap of the counted cells; draws without a gap are computed from the same cells."""
        cells = self.cells if self.sides is None else np.stack([side.sums(len(self.middles)) for side in self.sides])
        return float(self.gap(_at_middles(cells[:, None])[0]))

    def null_gaps(self, n_draws: int, generator: np.random.Generator) -> Values:
        """Return the gaps after permuting the scores of each label over the groups, ``(n_draws,)``."""
        if self.sides is None:
            return self.gap(_at_middles(np.stack([_permuted(side, n_draws, generator) for side in self.cells])))
        n_groups = len(self.middles)
        permuted = [[side.sums(n_groups, generator) for _ in range(n_draws)] for side in self.sides]
        return self.gap(_at_middles(np.array(permuted)))

    def crowded(self, n_draws: int, generator: np.random.Generator) -> Path:
        """Return a path of true gaps up to the observed one, with most groups near an end of the widest pair."""
        place, between, between_edges = self._along_widest()
        place = self._centred(crowd(place, CROWDED)[:, None])
        mean, mean_edges = self._mean(self.middles), self._mean(self.edges)
        noise = self._drawn(mean_edges + place * between_edges / 2, n_draws, generator) - mean - place * between / 2
        return self._path(place * between, noise, self.value)

    def plain(self, n_draws: int, generator: np.random.Generator, reach: int = 1) -> Path:
        """Return a path of true gaps beyond the observed one, in the shape with the least effect of noise."""
        noise = self._drawn(self.edges, n_draws, generator) - self.middles
        first, second = self.widest_pair()
        # A difference in proportion to the noise keeps its sign, so its area grows linearly.
        spread = (noise[:, first] - noise[:, second]).std(axis=0)
        shape = self._centred(self._along_widest()[0][:, None]) * np.maximum(spread, 1e-9)
        return self._path(shape, noise, min(self.value + 5 * reach * float(spread.mean()), 1.0))

    def least_limit(self, confidence: float) -> float:
        """Return a lower bound of the upper limit for groups that are ranked perfectly, or in reverse.

        Samples of such a curve have no noise, but a true curve with errors may show none: the bound is Wilson's upper
        limit of a share of 0 in the group's rows.
        """
        perfect = (self.edges.min(axis=1) == 1) | (self.edges[:, :-1].max(axis=1) == 0)
        rows = self.rows.min(axis=0)[perfect].astype(np.float64)
        return float(wilson(np.zeros(rows.size), rows, confidence)[1].max(initial=0.0))

    def _path(self, shape: Values, noise: Values, furthest: float) -> Path:
        truth = furthest * np.linspace(0, 1, LEVELS) ** 1.3
        scale = truth / float(self.gap(shape))
        return Path(truth, np.stack([self.gap(step * shape + noise) for step in scale], axis=1))

    def _drawn(self, edges: Values, n_draws: int, generator: np.random.Generator) -> Values:
        """Return curves of samples from groups with true curves through these heights, ``(n_draws, k, GRID)``."""
        heights = np.maximum.accumulate(np.clip(edges, 0, 1), axis=1)
        heights[:, -1] = 1
        positives = np.diff(heights, prepend=0)
        negatives = np.append(0, np.full(GRID, 1 / GRID))
        # The negatives of a group are uniform in its own false positive rate.
        sides = [np.broadcast_to(negatives, positives.shape), positives / positives.sum(axis=1, keepdims=True)]
        drawn = [
            generator.multinomial(rows, side, size=(n_draws, rows.size))
            for rows, side in zip(self.rows, sides, strict=True)
        ]
        return _at_middles(np.stack(drawn))

    def _mean(self, curves: Values) -> Values:
        weight = self.rows[1] / self.rows[1].sum()
        return np.asarray(weight @ curves)

    def _centred(self, place: Values) -> Values:
        return np.asarray(place - self._mean(place))

    def _along_widest(self) -> tuple[Values, Values, Values]:
        """Return the position of each group between the two furthest apart, and the difference of these two."""
        first, second = self.widest_pair()
        between, between_edges = (curves[first] - curves[second] for curves in (self.middles, self.edges))
        length = float(between @ between)
        if length == 0:  # all curves are equal: any direction will do
            alternating = np.where(np.arange(len(self.middles)) % 2, 0.5, -0.5)
            return alternating, MIDDLES * (1 - MIDDLES), EDGES * (1 - EDGES)
        middle = (self.middles[first] + self.middles[second]) / 2
        return np.clip((self.middles - middle) @ between / length, -0.5, 0.5), between, between_edges


def curves_of(rows: ScoredRows) -> Curves:
    """Return the curves of groups that all have positives and negatives."""
    curves = roc_curves(rows.labels, rows.scores, rows.groups, rows.weight)
    found: list[Curve] = [curve for curve in curves if curve is not None]
    # Slightly to the right of a knot, so that rounding does not decide the side of a jump.
    middles, edges = (np.stack([curve.at(at + 1e-9)[1] for curve in found]) for at in (MIDDLES, EDGES))
    cuts = np.unique(np.quantile(rows.scores, np.arange(1, CELLS) / CELLS, method="higher"))
    cell = len(cuts) - np.searchsorted(cuts, rows.scores, side="right")
    is_equal = rows.weight.max() == rows.weight.min()
    sides = None if is_equal or len(cell) > FEW_ROWS else [_side(rows, cell, label) for label in (False, True)]
    return Curves(middles, edges, _cells(rows, cell), sides)


def _side(rows: ScoredRows, cell: NDArray[np.intp], label: bool) -> Side:
    own = (rows.labels == label) & (rows.weight > 0)
    group, weight = rows.groups.codes[own], rows.weight[own]
    # The weights of a group and label may have any scale: its curve is the same.
    mean = np.bincount(group, weight) / np.maximum(np.bincount(group), 1)
    return Side(group, cell[own], weight / mean[group])


def _cells(rows: ScoredRows, cell: NDArray[np.intp]) -> Counts:
    """Count rows by label, group and cell; with weights, the effective sample size (Kish)."""
    weight, n_groups = rows.weight / rows.weight.max(), rows.groups.count
    place = (rows.labels * n_groups + rows.groups.codes) * CELLS + cell
    sums = np.bincount(place, weight, minlength=2 * n_groups * CELLS).reshape(2, n_groups, CELLS)
    squares = np.bincount(place, np.square(weight), minlength=sums.size).reshape(sums.shape)
    total = sums.sum(axis=2, keepdims=True)
    # The heaviest row counts as at least one row, so every group has rows.
    counts: Counts = np.rint(sums * total / squares.sum(axis=2, keepdims=True)).astype(np.int64)
    return counts


def _permuted(side: Counts, n_draws: int, generator: np.random.Generator) -> Counts:
    """Assign the rows of one label to the groups at random, ``(n_draws, k, CELLS)``; group sizes stay."""
    left = np.tile(side.sum(axis=0), (n_draws, 1))
    permuted = np.zeros((n_draws, *side.shape), np.int64)
    for group, size in enumerate(side.sum(axis=1)[:-1]):
        wanted = np.full(n_draws, size)
        further = left.sum(axis=1)
        for cell in range(CELLS):
            further -= left[:, cell]
            permuted[:, group, cell] = generator.hypergeometric(left[:, cell], further, wanted)
            wanted -= permuted[:, group, cell]
        left -= permuted[:, group]
    permuted[:, -1] = left
    return permuted


def _at_middles(counts: Counts | Values) -> Values:
    """Return curves at ``MIDDLES`` from negatives and positives by cell, ``(2, draws, k, cells)``."""
    negative, positive = (np.cumsum(side, axis=-1) / side.sum(axis=-1, keepdims=True) for side in counts)
    n_curves, n_points = negative[..., 0].size, negative.shape[-1] + 1
    # One search for all curves: each is shifted to an interval of its own.
    apart = 2.0 * np.arange(n_curves)[:, None]
    known = np.zeros((2, n_curves, n_points))
    known[0, :, 1:], known[1, :, 1:] = negative.reshape(n_curves, -1), positive.reshape(n_curves, -1)
    known[0] += apart
    heights = np.interp((MIDDLES + apart).ravel(), known[0].ravel(), known[1].ravel())
    return np.asarray(heights.reshape(*negative.shape[:-1], GRID))

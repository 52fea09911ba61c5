"""What chance does to the area between ROC curves: draws without a gap, and draws along a path of true gaps.

Shapes: ``k`` groups, ``G`` false positive rates at which curves are compared; curves are ``(..., k, G)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

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
MOST_WORK = 2e8
"""Areas of so many pairs, times draws and points, take seconds; of more pairs fewer draws are taken."""


@dataclass(frozen=True)
class Curves:
    """ROC curves of groups on a grid, and of how many positives and negatives each of them is made.

    ``middles`` and ``edges`` are the curves at the middles and at the edges of the cells of the grid; ``cells`` counts
    the negatives and positives of each group by score, from the highest down, ``(2, k, CELLS)``.
    """

    middles: Values
    edges: Values
    cells: Counts

    @property
    def rows(self) -> Counts:
        """Negatives and positives of each group, ``(2, k)``."""
        return np.asarray(self.cells.sum(axis=2))

    @property
    def value(self) -> float:
        """The gap that is seen, on the grid."""
        return float(self.gap(self.middles))

    def gap(self, curves: Values) -> Values:
        """The largest area between two groups, ``(...,)``."""
        largest = np.zeros(curves.shape[:-2])
        for one, other in combinations(range(curves.shape[-2]), 2):
            area = np.abs(curves[..., one, :] - curves[..., other, :]).mean(axis=-1)
            np.maximum(largest, area, out=largest)
        return largest

    def furthest(self) -> tuple[int, int]:
        """The two groups that lie furthest apart."""
        pairs = combinations(range(self.rows.shape[1]), 2)
        return max(pairs, key=lambda pair: float(np.abs(self.middles[pair[0]] - self.middles[pair[1]]).mean().round(9)))

    def draws(self, wanted: int) -> int:
        """As many draws as are wanted, unless so many groups would take minutes."""
        pairs = self.rows.shape[1] ** 2 / 2
        return max(LEAST_DRAWS, min(wanted, int(MOST_WORK / pairs / GRID / LEVELS)))

    def seen(self) -> float:
        """The gap of the counted cells, which is what draws without a gap are to be compared with."""
        return float(self.gap(_through(self.cells[:, None])[0]))

    def without_gap(self, n_draws: int, generator: np.random.Generator) -> Values:
        """The gap where the scores of each label are dealt anew to the groups, ``(n_draws,)``."""
        dealt = np.stack([_dealt(side, n_draws, generator) for side in self.cells])
        return self.gap(_through(dealt))

    def crowded(self, n_draws: int, generator: np.random.Generator) -> Path:
        """Along true gaps up to the one seen, with most groups at one end or the other of the widest pair."""
        place, between, between_edges = self._along_widest()
        place = self._centred(crowd(place, CROWDED)[:, None])
        mean, mean_edges = self._mean(self.middles), self._mean(self.edges)
        noise = self._drawn(mean_edges + place * between_edges / 2, n_draws, generator) - mean - place * between / 2
        return self._path(place * between, noise, self.value)

    def plain(self, n_draws: int, generator: np.random.Generator, reach: int = 1) -> Path:
        """Along true gaps to well beyond the one seen, ``reach`` times as far, in the shape that noise bends least."""
        noise = self._drawn(self.edges, n_draws, generator) - self.middles
        one, other = self.furthest()
        # A difference that is large where noise is: it keeps its sign, so that its area grows as the difference does.
        spread = (noise[:, one] - noise[:, other]).std(axis=0)
        shape = self._centred(self._along_widest()[0][:, None]) * np.maximum(spread, 1e-9)
        return self._path(shape, noise, min(self.value + 5 * reach * float(spread.mean()), 1.0))

    def unseen(self, confidence: float) -> float:
        """How far the truth may lie from groups whose rows are ranked without a mistake, or with nothing else.

        Samples of such a curve have no noise, though a true curve with mistakes may well have shown none: as a share of
        0 in so many rows.
        """
        perfect = (self.edges.min(axis=1) == 1) | (self.edges[:, :-1].max(axis=1) == 0)
        rows = self.rows.min(axis=0)[perfect].astype(np.float64)
        return float(wilson(np.zeros(rows.size), rows, confidence)[1].max(initial=0.0))

    def _path(self, shape: Values, noise: Values, furthest: float) -> Path:
        truth = furthest * np.linspace(0, 1, LEVELS) ** 1.3
        scale = truth / float(self.gap(shape))
        return Path(truth, np.stack([self.gap(step * shape + noise) for step in scale], axis=1))

    def _drawn(self, edges: Values, n_draws: int, generator: np.random.Generator) -> Values:
        """Curves of samples from groups whose true curves pass these heights, ``(n_draws, k, GRID)``."""
        heights = np.maximum.accumulate(np.clip(edges, 0, 1), axis=1)
        heights[:, -1] = 1
        positives = np.diff(heights, prepend=0)
        negatives = np.append(0, np.full(GRID, 1 / GRID))
        # In a false positive rate of its own each group's negatives are spread evenly.
        sides = [np.broadcast_to(negatives, positives.shape), positives / positives.sum(axis=1, keepdims=True)]
        drawn = [
            generator.multinomial(rows, side, size=(n_draws, rows.size))
            for rows, side in zip(self.rows, sides, strict=True)
        ]
        return _through(np.stack(drawn))

    def _mean(self, curves: Values) -> Values:
        weight = self.rows[1] / self.rows[1].sum()
        return np.asarray(weight @ curves)

    def _centred(self, place: Values) -> Values:
        return np.asarray(place - self._mean(place))

    def _along_widest(self) -> tuple[Values, Values, Values]:
        """Where each group lies between the two that lie furthest apart, and the difference of these."""
        one, other = self.furthest()
        between, between_edges = (curves[one] - curves[other] for curves in (self.middles, self.edges))
        length = float(between @ between)
        if length == 0:  # all curves are the same: any direction will do to leave that
            anyway = np.where(np.arange(len(self.middles)) % 2, 0.5, -0.5)
            return anyway, MIDDLES * (1 - MIDDLES), EDGES * (1 - EDGES)
        middle = (self.middles[one] + self.middles[other]) / 2
        return np.clip((self.middles - middle) @ between / length, -0.5, 0.5), between, between_edges


def curves_of(rows: ScoredRows) -> Curves:
    """The curves of groups that all have positives and negatives."""
    curves = roc_curves(rows.labels, rows.scores, rows.groups, rows.weight)
    found: list[Curve] = [curve for curve in curves if curve is not None]
    # A little further right: on a knot, rounding would say on which side of a jump a point lies.
    middles, edges = (np.stack([curve.at(at + 1e-9)[1] for curve in found]) for at in (MIDDLES, EDGES))
    return Curves(middles, edges, _cells(rows))


def _cells(rows: ScoredRows) -> Counts:
    """Rows by label, group and score; with weights as many equal ones as tell as much (Kish)."""
    weight, n_groups = rows.weight / rows.weight.max(), rows.groups.count
    cuts = np.unique(np.quantile(rows.scores, np.arange(1, CELLS) / CELLS, method="higher"))
    cell = len(cuts) - np.searchsorted(cuts, rows.scores, side="right")
    place = (rows.labels * n_groups + rows.groups.codes) * CELLS + cell
    sums = np.bincount(place, weight, minlength=2 * n_groups * CELLS).reshape(2, n_groups, CELLS)
    squares = np.bincount(place, np.square(weight), minlength=sums.size).reshape(sums.shape)
    total = sums.sum(axis=2, keepdims=True)
    # The heaviest row counts for one at least, so no group is left without any.
    counts: Counts = np.rint(sums * total / squares.sum(axis=2, keepdims=True)).astype(np.int64)
    return counts


def _dealt(side: Counts, n_draws: int, generator: np.random.Generator) -> Counts:
    """The rows of one label dealt to the groups at random, ``(n_draws, k, CELLS)``; each group keeps its size."""
    left = np.tile(side.sum(axis=0), (n_draws, 1))
    dealt = np.zeros((n_draws, *side.shape), np.int64)
    for group, size in enumerate(side.sum(axis=1)[:-1]):
        wanted = np.full(n_draws, size)
        further = left.sum(axis=1)
        for cell in range(CELLS):
            further -= left[:, cell]
            dealt[:, group, cell] = generator.hypergeometric(left[:, cell], further, wanted)
            wanted -= dealt[:, group, cell]
        left -= dealt[:, group]
    dealt[:, -1] = left
    return dealt


def _through(counts: Counts) -> Values:
    """Curves at the middles from negatives and positives by cell, ``(2, draws, k, cells)``."""
    negative, positive = (np.cumsum(side, axis=-1) / side.sum(axis=-1, keepdims=True) for side in counts)
    n_curves, n_points = negative[..., 0].size, negative.shape[-1] + 1
    # One search for all curves: each is moved to a stretch of its own.
    apart = 2.0 * np.arange(n_curves)[:, None]
    known = np.zeros((2, n_curves, n_points))
    known[0, :, 1:], known[1, :, 1:] = negative.reshape(n_curves, -1), positive.reshape(n_curves, -1)
    known[0] += apart
    heights = np.interp((MIDDLES + apart).ravel(), known[0].ravel(), known[1].ravel())
    return np.asarray(heights.reshape(*negative.shape[:-1], GRID))

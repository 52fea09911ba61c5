"""Sampling noise of a difference in rates: draws without a gap, and draws along a path of true gaps.

Shapes: ``R`` rates that are compared together, ``k`` groups; rates are ``(..., R, k)``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._stats.gaps import LEAST_DRAWS, Path, Values
from ._disparities import COMPARED, largest_between
from ._rates import RATES, Decisions, share

Counts = NDArray[np.int64]

LEVELS = 20
CROWDED = 5.0
"""How far groups are moved to the nearer end of the gap for its lower limit. Without it the limit exceeds the truth too
often if groups form two clusters. Chosen by trial; `python -m benchmarks.coverage` measures the coverage."""


@dataclass(frozen=True)
class Rates:
    """Rates of groups, and the number of rows behind each: with weights, the effective sample size (Kish)."""

    rates: Values
    rows: Counts

    @property
    def value(self) -> float:
        """The observed gap."""
        return float(self.gap(self.rates))

    def observed(self) -> float:
        """Return the gap to compare with draws without a gap."""
        return self.value

    def draws(self, wanted: int) -> int:
        """Return at least ``LEAST_DRAWS``: counts are drawn, not rows, so draws are cheap."""
        return max(LEAST_DRAWS, wanted)

    def widest_pair(self) -> tuple[int, int]:
        """Return the two groups with the largest difference."""
        first, second = np.triu_indices(self.rates.shape[1], k=1)
        widest = np.abs(self.rates[:, first] - self.rates[:, second]).sum(axis=0).round(9).argmax()
        return int(first[widest]), int(second[widest])

    def gap(self, rates: Values) -> Values:
        """Return the largest difference between two groups, ``(...,)``."""
        return largest_between(list(np.moveaxis(rates, -2, 0)), "nan")

    def null_gaps(self, n_draws: int, generator: np.random.Generator) -> Values:
        """Return the gaps after permuting the decisions over the rows of all groups, ``(n_draws,)``."""
        drawn = np.stack([self._permuted(i, n_draws, generator) for i in range(len(self.rates))], axis=1)
        return self.gap(drawn / self.rows)

    def _permuted(self, i: int, n_draws: int, generator: np.random.Generator) -> Counts:
        rows = self.rows[i]
        ones = int(np.rint((self.rates[i] * rows).sum()))
        return generator.multivariate_hypergeometric(rows, ones, size=n_draws)

    def crowded(self, n_draws: int, generator: np.random.Generator) -> Path:
        """Return a path of true gaps up to the observed one, with most groups near one of the two ends."""
        return self._path(crowd(self._shape(), CROWDED), self.value, n_draws, generator)

    def plain(self, n_draws: int, generator: np.random.Generator, reach: int = 1) -> Path:
        """Return a path of true gaps beyond the observed one, with the groups in proportion to their rates."""
        spread = self._centre() * (1 - self._centre())
        error = np.sqrt((np.maximum(spread, 0.25 / self.rows.sum(axis=1, keepdims=True)) / self.rows).max(axis=1).sum())
        return self._path(self._aligned(), self.value + 5 * reach * error, n_draws, generator)

    def least_limit(self, confidence: float) -> float:
        """Return 0: the path includes all noise of rates."""
        return 0.0

    def _centre(self) -> Values:
        return np.asarray((self.rates * self.rows).sum(axis=1, keepdims=True) / self.rows.sum(axis=1, keepdims=True))

    def _shape(self) -> Values:
        shape = self.rates - self._centre()
        # If all groups are equal, any direction will do.
        alternating = np.where(np.arange(shape.shape[1]) % 2, 0.5, -0.5)
        return shape if self.gap(shape) > 0 else np.broadcast_to(alternating, shape.shape)

    def _aligned(self) -> Values:
        """Return the shape with the least effect of noise on the sum: each rate differs in proportion to its noise."""
        shape = self._shape()
        if len(shape) == 1:
            return shape
        apart = np.abs(shape[:, :, None] - shape[:, None, :]).sum(axis=0)
        first, second = np.unravel_index(apart.argmax(), apart.shape)
        between = shape[:, first] - shape[:, second]
        middle = (shape[:, first] + shape[:, second])[:, None] / 2
        place = np.clip(between @ (shape - middle) / (between @ between), -0.5, 0.5)
        noise = np.sqrt((self._centre() * (1 - self._centre()) / self.rows).mean(axis=1))
        return np.asarray((np.where(between < 0, -1, 1) * np.maximum(noise, 1e-9))[:, None] * place)

    def _path(self, shape: Values, furthest: float, n_draws: int, generator: np.random.Generator) -> Path:
        shape = shape - (shape * self.rows).sum(axis=1, keepdims=True) / self.rows.sum(axis=1, keepdims=True)
        steps = furthest * np.linspace(0, 1, LEVELS) ** 1.3 / float(self.gap(shape))
        rates = np.clip(self._centre() + steps[:, None, None] * shape, 0, 1)
        drawn = generator.binomial(self.rows, rates, size=(n_draws, *rates.shape))
        return Path(self.gap(rates), self.gap(drawn / self.rows))


def crowd(shape: Values, factor: float) -> Values:
    """Return ``shape`` scaled by ``factor`` about the middle of its range, clipped to the range; ``(..., k)``."""
    top, bottom = shape.max(axis=-1, keepdims=True), shape.min(axis=-1, keepdims=True)
    middle, half = (top + bottom) / 2, (top - bottom) / 2
    return np.asarray(middle + np.clip(factor * (shape - middle), -half, half))


def rates_of(decisions: Decisions, name: str) -> Rates:
    """Return the rates of ``COMPARED[name]``, for groups in which all of them are defined."""
    compared = [RATES[rate] for rate in COMPARED[name]]
    weight = decisions.weights
    # Only proportions of weights matter, and squares of large weights overflow.
    scaled = None if weight is None else weight / weight.max()
    squared = None if scaled is None else np.square(scaled)
    cells, squares = (replace(decisions, weights=weights).cells() for weights in (scaled, squared))
    whole = np.stack([cells[:, rate.denominator].sum(axis=1) for rate in compared])
    square = np.stack([squares[:, rate.denominator].sum(axis=1) for rate in compared])
    rows = np.rint(share(np.square(whole), square)).astype(np.int64)
    rates = np.stack([rate.values(cells) for rate in compared])
    return Rates(rates, rows)

"""What chance does to a difference in rates: draws without a gap, and draws along a path of true gaps.

Shapes: ``R`` rates that are compared together, ``k`` groups; rates are ``(..., R, k)``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._stats.gaps import Path, Values
from ._disparities import COMPARED, largest_between
from ._rates import RATES, Decisions, share

Counts = NDArray[np.int64]

LEVELS = 20
CROWDED = 5.0
"""How far groups are pushed to the nearer end of the gap for its lower limit, chosen by trial: without it limits of two
crowds of groups lie above the truth too often. `python -m benchmarks.coverage` measures what comes out."""


@dataclass(frozen=True)
class Rates:
    """Rates of groups, and of how many rows each of them is known: with weights, of how many equal ones (Kish)."""

    rates: Values
    rows: Counts

    @property
    def value(self) -> float:
        """The gap that is seen."""
        return float(self.gap(self.rates))

    def seen(self) -> float:
        """The gap to compare with draws without one."""
        return self.value

    def draws(self, wanted: int) -> int:
        """As many draws as are wanted: counts are drawn, not rows."""
        return wanted

    def furthest(self) -> tuple[int, int]:
        """The two groups that lie furthest apart."""
        apart = np.abs(self.rates[:, :, None] - self.rates[:, None, :]).sum(axis=0)
        one, other = np.unravel_index(apart.round(9).argmax(), apart.shape)
        return int(min(one, other)), int(max(one, other))

    def gap(self, rates: Values) -> Values:
        """The largest difference, ``(...,)``."""
        return largest_between(list(np.moveaxis(rates, -2, 0)), "nan")

    def without_gap(self, n_draws: int, generator: np.random.Generator) -> Values:
        """The gap where decisions are dealt anew to the rows of all groups together, ``(n_draws,)``."""
        drawn = np.stack([self._dealt(i, n_draws, generator) for i in range(len(self.rates))], axis=1)
        return self.gap(drawn / self.rows)

    def _dealt(self, i: int, n_draws: int, generator: np.random.Generator) -> Counts:
        rows = self.rows[i]
        ones = int(np.rint((self.rates[i] * rows).sum()))
        return generator.multivariate_hypergeometric(rows, ones, size=n_draws)

    def crowded(self, n_draws: int, generator: np.random.Generator) -> Path:
        """Along true gaps up to the one seen, with most groups at one end or the other."""
        return self._path(crowd(self._shape(), CROWDED), self.value, n_draws, generator)

    def plain(self, n_draws: int, generator: np.random.Generator, reach: int = 1) -> Path:
        """Along true gaps to well beyond the one seen, ``reach`` times as far, with groups in proportion to where
        they are."""
        spread = self._centre() * (1 - self._centre())
        error = np.sqrt((np.maximum(spread, 0.25 / self.rows.sum(axis=1, keepdims=True)) / self.rows).max(axis=1).sum())
        return self._path(self._aligned(), self.value + 5 * reach * error, n_draws, generator)

    def unseen(self, confidence: float) -> float:
        """Nothing that the path does not draw."""
        return 0.0

    def _centre(self) -> Values:
        return np.asarray((self.rates * self.rows).sum(axis=1, keepdims=True) / self.rows.sum(axis=1, keepdims=True))

    def _shape(self) -> Values:
        shape = self.rates - self._centre()
        # Where all groups are alike, any direction will do to leave that.
        anyway = np.where(np.arange(shape.shape[1]) % 2, 0.5, -0.5)
        return shape if self.gap(shape) > 0 else np.broadcast_to(anyway, shape.shape)

    def _aligned(self) -> Values:
        """Of several rates, the shape whose sum noise bends least: each rate differs as far as its noise goes."""
        shape = self._shape()
        if len(shape) == 1:
            return shape
        apart = np.abs(shape[:, :, None] - shape[:, None, :]).sum(axis=0)
        one, other = np.unravel_index(apart.argmax(), apart.shape)
        between = shape[:, one] - shape[:, other]
        middle = (shape[:, one] + shape[:, other])[:, None] / 2
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
    """Groups pushed from the middle of the range, ``factor`` times as far, but not beyond its ends; ``(..., k)``."""
    top, bottom = shape.max(axis=-1, keepdims=True), shape.min(axis=-1, keepdims=True)
    middle, half = (top + bottom) / 2, (top - bottom) / 2
    return np.asarray(middle + np.clip(factor * (shape - middle), -half, half))


def rates_of(decisions: Decisions, name: str) -> Rates:
    """The rates that one of ``COMPARED`` compares, for groups that all have them."""
    compared = [RATES[rate] for rate in COMPARED[name]]
    weight = decisions.weights
    # Of weights only their proportions count, and squares of large ones overflow.
    scaled = None if weight is None else weight / weight.max()
    squared = None if scaled is None else np.square(scaled)
    cells, squares = (replace(decisions, weights=weights).cells() for weights in (scaled, squared))
    whole = np.stack([cells[:, rate.denominator].sum(axis=1) for rate in compared])
    square = np.stack([squares[:, rate.denominator].sum(axis=1) for rate in compared])
    rows = np.rint(share(np.square(whole), square)).astype(np.int64)
    rates = np.stack([rate.of(cells) for rate in compared])
    return Rates(rates, rows)

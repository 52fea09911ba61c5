"""A private model of y on few privileged columns: noisy counts for each combination of values."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .budget import Spent
from .domain import Domain
from .mechanisms import Source

MOST_CELLS = 10_000
# A row whose privileged values change leaves one cell and enters another, with the same label.
MOVED = 2


class Histogram:
    """Shares of label 1 in the cells of a table of counts with Laplace noise."""

    def __init__(self, domain: Domain, bins: int) -> None:
        self._columns = domain.columns
        self._bins = bins
        self._sizes = [column.size(bins) for column in self._columns]
        if math.prod(self._sizes) > MOST_CELLS:
            raise ValueError(
                f"z must have at most {MOST_CELLS} combinations of values, got {math.prod(self._sizes)} combinations: "
                f"declare fewer columns or categories, pass bins below {bins}, or use teacher='dp-ebm'"
            )

    def fit(self, values: NDArray[np.float64], label: NDArray[np.int64], budget: Spent, noise: Source) -> None:
        """Store noisy counts only. ``budget.delta`` is not needed."""
        n_cells = math.prod(self._sizes)
        counts = np.bincount(2 * self._cell(values) + label, minlength=2 * n_cells)
        self.counts = noise.laplace(counts, MOVED, budget.epsilon).reshape(n_cells, 2)
        # From here on only noisy counts, and labels, which are not protected. Small cells shrink towards the share of
        # all rows.
        positive = np.maximum(self.counts, 0)
        prior = 1 + 2 * math.sqrt(2) * MOVED / budget.epsilon
        self._shares = (positive[:, 1] + prior * label.mean()) / (positive.sum(axis=1) + prior)

    def predict(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of label 1 in each row's cell."""
        return np.asarray(self._shares[self._cell(values)])

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest possible prediction for any row."""
        return float(self._shares.min()), float(self._shares.max())

    def _cell(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        cells = [column.cells(values[:, i], self._bins) for i, column in enumerate(self._columns)]
        return np.asarray(np.ravel_multi_index(cells, self._sizes))

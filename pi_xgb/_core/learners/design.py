"""The columns of a linear model: numbers standardised, missing values and categories as indicators."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._arrays import Array

# Numbers further from the mean than this many standard deviations count as that far. Heavy tails would otherwise rule
# the fit, and the predictions of the rows in them.
_MAX_DEVIATION = 3.0
# Levels of a category with a coefficient of their own, the most frequent ones: it bounds the number of coefficients.
_MAX_LEVELS = 256


class Design(NamedTuple):
    """The columns of a linear model, ``p`` numbers and ``m`` indicators, and a constant one for the intercept.

    Products are computed by einsum and by SciPy, not by BLAS: their sums do not depend on the number of threads.
    """

    numbers: Array
    """``(p, n)``, float32."""
    indicators: Any
    """``(n, m)``, 0 and 1, sparse."""

    @property
    def width(self) -> int:
        """How many coefficients an output has."""
        return int(1 + len(self.numbers) + self.indicators.shape[1])

    def margin(self, coefficients: Array) -> Array:
        """``(n, K)`` for coefficients of shape ``(K, width)``."""
        intercept, numbers, indicators = np.split(coefficients, [1, 1 + len(self.numbers)], axis=1)
        return (np.einsum("kj,jn->kn", numbers, self.numbers) + intercept).T + self.indicators @ indicators.T

    def gradient(self, slope: Array) -> Array:
        """In the coefficients, ``(K, width)``, for the gradient in the margin, ``(n, K)``."""
        by_output = np.ascontiguousarray(slope.T)
        numbers = np.einsum("kn,jn->kj", by_output, self.numbers)
        return np.hstack([by_output.sum(axis=1, keepdims=True), numbers, (self.indicators.T @ slope).T])

    def moments(self, weight: Array) -> tuple[Array, Array]:
        """Mean and variance of each column; 0 and 1 for the constant one, 1 for standardised numbers."""
        mean = self.gradient(weight[:, None])[0] / weight.sum()
        mean[0] = 0
        variance = np.ones_like(mean)
        indicators = slice(1 + len(self.numbers), None)
        variance[indicators] -= mean[indicators]
        variance[indicators] *= mean[indicators]
        return mean, variance

    def take(self, rows: Array) -> Design:
        """The same columns of some of the rows."""
        return Design(self.numbers[:, rows], self.indicators[rows])


class Encoding:
    """How the columns of rows become a design; fitted on the training rows.

    A missing number becomes the mean and sets an indicator, a missing category is a level. Where most rows lack a
    number, the others set the indicator, which is the same model in fewer entries. Constant numbers have no column.
    Levels and indicators that no training row has are no obstacle: a ridge model has a coefficient of 0 for them.
    """

    def __init__(self, values: Array, is_category: Array, weight: Array) -> None:
        self._numbers, self._categories = np.flatnonzero(~is_category), np.flatnonzero(is_category)
        moments = {column: _moments(values[:, column], weight) for column in self._numbers}
        self._moments = {column: found for column, found in moments.items() if np.isfinite(found[1])}
        self._mostly_absent = [np.isnan(values[:, column]).mean() > 0.5 for column in self._numbers]
        self._levels = [_frequent_levels(values[:, column], weight) for column in self._categories]

    def design(self, values: Array) -> Design:
        """The design of rows with the same columns."""
        from scipy import sparse

        numbers = np.empty((len(self._moments), len(values)), np.float32)
        for standardised, (column, (mean, deviation)) in zip(numbers, self._moments.items(), strict=True):
            deviations = np.clip((values[:, column] - mean) / deviation, -_MAX_DEVIATION, _MAX_DEVIATION)
            standardised[:] = np.where(np.isnan(deviations), 0, deviations)
        set_in = [
            np.flatnonzero(np.isnan(values[:, column]) != mostly_absent)
            for column, mostly_absent in zip(self._numbers, self._mostly_absent, strict=True)
        ]
        columns = [np.full(len(rows), number) for number, rows in enumerate(set_in)]
        width = len(set_in)
        for column, levels in zip(self._categories, self._levels, strict=True):
            codes = _codes(values[:, column])
            position = np.searchsorted(levels, codes).clip(max=len(levels) - 1)
            set_in.append(np.flatnonzero(levels[position] == codes))
            columns.append(width + position[set_in[-1]])
            width += len(levels)
        row, indicator = np.concatenate(set_in), np.concatenate(columns)
        return Design(numbers, sparse.csr_array((np.ones(len(row)), (row, indicator)), shape=(len(values), width)))


def _moments(column: Array, weight: Array) -> tuple[np.float64, np.float64]:
    """Mean and standard deviation of the values that are there; the latter infinite where they do not differ."""
    present = ~np.isnan(column) & (weight > 0)
    if not present.any():
        return np.float64(0), np.float64(np.inf)
    values, weight = column[present].astype(np.float64), weight[present]
    mean = np.average(values, weights=weight)
    deviation = np.sqrt(np.average((values - mean) ** 2, weights=weight))
    return mean, deviation if deviation > 1e-12 * abs(mean) else np.float64(np.inf)


def _frequent_levels(column: Array, weight: Array) -> Array:
    """The levels with a coefficient of their own, ascending."""
    levels, level_of_row = np.unique(_codes(column), return_inverse=True)
    frequency = np.bincount(level_of_row, weight)
    return np.sort(levels[np.argsort(-frequency, kind="stable")[:_MAX_LEVELS]])


def _codes(column: Array) -> Array:
    """The codes of categories, -1 where none is there."""
    return np.where(np.isnan(column), np.float32(-1), column)

"""Linear teachers: a ridge model on the loss of the objective itself, and the columns that it reads."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from ..._arrays import Array
from ..losses import NUMBERS, Loss
from ..training import Spec
from .features import Features

# For classes the choice of a penalty on held-out rows gains nothing: +0.000 AUC on twelve public sets.
_PENALTY_OF_CLASSES = 5.0
# For others it gains 0.006 to 0.037 R2 against the middle penalty on eight sets. In units of a row's curvature.
_PENALTIES = (80.0, 20.0, 5.0)
_N_FOLDS = 5
# The most rows for this choice: the best penalty against noise does not depend on their number.
_MOST_ROWS = 2000
# Numbers further from the mean than this many standard deviations count as that far. Heavy tails would otherwise rule
# the fit, and the predictions of the rows in them.
_MAX_DEVIATION = 3.0
# Levels of a category with a coefficient of their own, the most frequent ones: it bounds the number of coefficients.
_MAX_LEVELS = 256


def fit_linear(spec: Spec, features: Features, label: Array, weight: Array | None) -> LinearModel:
    """Learn a margin that is linear in standardised columns.

    Minimises sum_i w_i loss_i + penalty / 2 |coefficients|^2, with weights w of mean 1 and intercepts left free.
    """
    loss, n_rows = spec.loss, len(label)
    weight = np.ones(n_rows) if weight is None else weight.astype(np.float64)
    weight /= weight[weight > 0].mean()
    like = np.empty((n_rows, spec.n_classes))
    targets = loss.one_hot(label, like).reshape(n_rows, -1).astype(np.float64)
    encoding = Encoding(features.dense, features.is_category, weight)
    design, offset = encoding.design(features.dense), _offset(features, targets.shape)

    known = targets[weight > 0]
    at_end = (known == loss.range.low).all(axis=0) | (known == loss.range.high).all(axis=0)
    inside = np.flatnonzero(~at_end)
    coefficients = np.zeros((targets.shape[1], design.width))
    for outputs in [inside] if loss.multiclass and inside.size else inside[:, None]:
        coefficients[outputs] = _Ridge.scaled(loss, design, targets[:, outputs], weight, offset[:, outputs]).fit()
    return LinearModel(loss, encoding, coefficients, np.where(at_end, known[0], np.nan))


@dataclasses.dataclass(frozen=True)
class LinearModel:
    """A fitted linear teacher."""

    loss: Loss
    encoding: Encoding
    coefficients: Array
    """Of each class or target, its intercept first."""
    constant: Array
    """The mean of a class or target whose labels all lie at one end of their range; NaN for the others."""

    def predict(self, features: Features) -> Array:
        """The mean of each row."""
        mean = np.tile(self.constant, (features.matrix.num_row(), 1))
        outputs = np.isnan(self.constant)
        if outputs.any():
            margin = self.encoding.design(features.dense).margin(self.coefficients[outputs])
            mean[:, outputs] = self.loss.mean(margin + _offset(features, mean.shape)[:, outputs])
        mean = mean.astype(np.float32)
        return mean[:, 0] if mean.shape[1] == 1 else mean


@dataclasses.dataclass(frozen=True)
class _Ridge:
    """The minimisation for one target, or for all classes together. Arrays are float64, with a column per output."""

    loss: Loss
    design: Design
    target: Array
    weight: Array
    offset: Array
    constant: Array
    """The coefficients of a constant model, the start of the search."""
    curvature: float
    """The second derivative of a row's loss in the margin there, on average."""
    unit: float
    """Of margins: 1, but the spread of the labels where the margin is the mean."""

    @classmethod
    def scaled(cls, loss: Loss, design: Design, target: Array, weight: Array, offset: Array) -> _Ridge:
        """Return the minimisation with its scales."""

        def average(values: Array) -> Array:
            return np.average(values, axis=0, weights=weight)

        average_offset = loss.margin_of(average(loss.mean(offset))) if loss.has_exposure else average(offset)
        intercept = loss.margin_of(average(target)) - average_offset
        constant = np.zeros((target.shape[1], design.width))
        constant[:, 0] = intercept
        margin, slopes = intercept + offset, []
        spread = float(np.sqrt(average((target - margin) ** 2).mean()))
        unit = spread if loss.range == NUMBERS and spread > 0 else 1.0
        for step in (-1e-4 * unit, 2e-4 * unit):
            margin[:, 0] += step
            slopes.append(loss.slope(loss.mean(margin), target)[:, 0])
        curvature = float(average(slopes[1] - slopes[0])) / (2e-4 * unit)
        return cls(loss, design, target, weight, offset, constant, curvature, unit)

    def take(self, rows: Array) -> _Ridge:
        """The same with some of the rows."""
        return dataclasses.replace(
            self,
            design=self.design.take(rows),
            target=self.target[rows],
            weight=self.weight[rows],
            offset=self.offset[rows],
        )

    def fit(self) -> Array:
        """The coefficients, ``(K, width)``."""
        if not self.curvature > 0:  # the loss is flat, as for amounts beyond the largest mean
            return self.constant
        penalty = _PENALTY_OF_CLASSES if self.loss.probabilities else self._best_penalty()
        return self._minimise(penalty, self.constant)

    def _best_penalty(self) -> float:
        """The penalty with the least loss on rows left out."""
        rows = np.random.default_rng(0).permutation(np.flatnonzero(self.weight))[:_MOST_ROWS]
        if len(rows) < _N_FOLDS:
            return max(_PENALTIES) * self.curvature
        losses = np.zeros(len(_PENALTIES))
        for fold in range(_N_FOLDS):
            left_out = np.arange(len(rows)) % _N_FOLDS == fold
            rest, held_out, coefficients = self.take(rows[~left_out]), self.take(rows[left_out]), self.constant
            for number, penalty in enumerate(_PENALTIES):
                coefficients = rest._minimise(penalty * self.curvature, coefficients, tolerance=1e-4)
                losses[number] += held_out._summed(held_out._margin(coefficients))
        return _PENALTIES[int(losses.argmin())] * self.curvature

    def _margin(self, coefficients: Array) -> Array:
        return self.design.margin(coefficients) + self.offset

    def _summed(self, margin: Array) -> float:
        with np.errstate(over="ignore"):
            return float((self.weight * self.loss.value(margin, self.target).T).sum())

    def _minimise(self, penalty: float, start: Array, tolerance: float = 1e-7) -> Array:
        """The coefficients that minimise the loss and its penalty.

        The search uses other coordinates: columns are centred, and equal steps change the objective about equally.
        """
        from scipy import optimize  # XGBoost needs SciPy itself

        total = self.weight.sum() * self.curvature
        mean, variance = self.design.moments(self.weight)
        unit = self.unit / np.sqrt(variance + penalty / total)
        scale = 1 / (total * self.unit**2)

        def coefficients_at(point: Any) -> Array:
            coefficients = point.reshape(start.shape) * unit
            coefficients[:, 0] -= np.einsum("kj,j->k", coefficients, mean)
            return coefficients

        def objective(point: Any) -> tuple[float, Any]:
            coefficients = coefficients_at(point)
            penalty_slope = penalty * coefficients
            penalty_slope[:, 0] = 0
            margin = self._margin(coefficients)
            slope = self.loss.slope(self.loss.mean(margin), self.target) * self.weight[:, None]
            gradient = self.design.gradient(slope) + penalty_slope
            gradient -= gradient[:, :1] * mean
            value = self._summed(margin) + 0.5 * float((penalty_slope * coefficients).sum())
            return value * scale, (gradient * unit).ravel() * scale

        first = start.copy()
        first[:, 0] += np.einsum("kj,j->k", start, mean)
        # Not L-BFGS-B: in SciPy it solves small systems with BLAS, whose threads then wait for each other.
        options = {"gtol": tolerance, "maxiter": 1000}
        found = optimize.minimize(objective, (first / unit).ravel(), jac=True, method="CG", options=options)
        return coefficients_at(found.x)


def _offset(features: Features, shape: tuple[int, ...]) -> Array:
    offset = features.offset
    return np.zeros(shape) if offset is None else offset.reshape(len(offset), -1).astype(np.float64)


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
        self._moments = {column: found for column, found in moments.items() if found is not None}
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


def _moments(column: Array, weight: Array) -> tuple[np.float64, np.float64] | None:
    """Mean and standard deviation of the values that are there; None where they do not differ."""
    present = ~np.isnan(column) & (weight > 0)
    if not present.any():
        return None
    values, weight = column[present].astype(np.float64), weight[present]
    mean = np.average(values, weights=weight)
    deviation = np.sqrt(np.average((values - mean) ** 2, weights=weight))
    return (mean, deviation) if deviation > 1e-12 * abs(mean) else None


def _frequent_levels(column: Array, weight: Array) -> Array:
    """The levels with a coefficient of their own, ascending."""
    levels, level_of_row = np.unique(_codes(column), return_inverse=True)
    frequency = np.bincount(level_of_row, weight)
    return np.sort(levels[np.argsort(-frequency, kind="stable")[:_MAX_LEVELS]])


def _codes(column: Array) -> Array:
    """The codes of categories, -1 where none is there."""
    return np.where(np.isnan(column), np.float32(-1), column)

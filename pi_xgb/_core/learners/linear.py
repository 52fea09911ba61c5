"""Linear teachers: a ridge model on the loss of the objective itself."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..._arrays import Array
from ..losses import NUMBERS, Loss
from ..spec import Spec
from .design import Design, Encoding
from .features import Features

_PENALTY_OF_CLASSES = 5.0
# For other objectives, in units of the curvature of a row's loss: the best of them on rows left out.
_PENALTIES = (320.0, 80.0, 20.0, 5.0)
_N_FOLDS = 5
# A penalty is chosen on so many rows at most.
_MOST_ROWS = 2000


class Linear:
    """Learns a margin that is linear in standardised columns.

    Minimises sum_i w_i loss_i + penalty / 2 |coefficients|^2, with weights w of mean 1 and intercepts left free.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = spec

    def fit(self, features: Features, label: Array, weight: Array | None) -> LinearModel:
        """Train on these rows."""
        loss, n_rows = self._spec.loss, len(label)
        weight = np.ones(n_rows) if weight is None else weight.astype(np.float64)
        weight /= weight[weight > 0].mean()
        target = loss.one_hot(label, np.empty((n_rows, self._spec.n_classes))).astype(np.float64)
        targets = target.reshape(n_rows, -1)
        encoding = Encoding(features.dense, features.is_category, weight)
        ridge = _Ridge(loss, encoding.design(features.dense), targets, weight, _offset(features, targets.shape))

        known = targets[weight > 0]
        at_end = (known == loss.range.low).all(axis=0) | (known == loss.range.high).all(axis=0)
        open_outputs = np.flatnonzero(~at_end)
        coefficients = np.zeros((targets.shape[1], ridge.design.width))
        for outputs in [open_outputs] if loss.multiclass and open_outputs.size else open_outputs[:, None]:
            coefficients[outputs] = ridge.of(outputs).fit()
        return LinearModel(loss, encoding, coefficients, np.where(at_end, known[0], np.nan), target.ndim == 1)


@dataclasses.dataclass(frozen=True)
class LinearModel:
    """A fitted linear teacher."""

    loss: Loss
    encoding: Encoding
    coefficients: Array
    """Of each class or target, its intercept first."""
    constant: Array
    """The mean of a class or target whose labels all lie at one end of their range; NaN for the others."""
    is_flat: bool
    """Whether a row has one mean."""

    def predict(self, features: Features) -> Array:
        """The mean of each row."""
        mean = np.tile(self.constant, (features.matrix.num_row(), 1))
        outputs = np.isnan(self.constant)
        if outputs.any():
            margin = self.encoding.design(features.dense).margin(self.coefficients[outputs])
            mean[:, outputs] = self.loss.mean(margin + _offset(features, mean.shape)[:, outputs])
        mean = mean.astype(np.float32)
        return mean[:, 0] if self.is_flat else mean


@dataclasses.dataclass(frozen=True)
class _Ridge:
    """The minimisation for one target, or for all classes together; all arrays float64, a column for each output."""

    loss: Loss
    design: Design
    target: Array
    weight: Array
    offset: Array

    def of(self, outputs: Array) -> _Ridge:
        """The same for some of the outputs."""
        return dataclasses.replace(self, target=self.target[:, outputs], offset=self.offset[:, outputs])

    def take(self, rows: Array) -> _Ridge:
        """The same for some of the rows."""
        return _Ridge(self.loss, self.design.take(rows), self.target[rows], self.weight[rows], self.offset[rows])

    def fit(self) -> Array:
        """The coefficients, ``(K, width)``."""
        start = np.zeros((self.target.shape[1], self.design.width))
        start[:, 0] = self.loss.margin_of(np.average(self.target, axis=0, weights=self.weight))
        start[:, 0] -= np.average(self.offset, axis=0, weights=self.weight)
        scales = self._scales(start)
        if self.loss.probabilities:
            return self._minimise(_PENALTY_OF_CLASSES, start, *scales)
        return self._minimise(self._chosen_penalty(start, *scales), start, *scales)

    def value(self, coefficients: Array) -> float:
        """The loss of all rows."""
        with np.errstate(over="ignore"):
            losses = self.loss.value(self.design.margin(coefficients) + self.offset, self.target)
        return float((self.weight * losses.T).sum())

    def _scales(self, start: Array) -> tuple[float, float]:
        """The curvature of a row's loss in the margin, and the unit of margins, at a constant model."""
        margin, slopes = start[:, 0] + self.offset, []
        error = ((self.target - margin) ** 2).mean(axis=1)
        spread = float(np.sqrt(np.average(error, weights=self.weight)))
        for step in (-1e-4, 2e-4):
            margin[:, 0] += step
            slopes.append(self.loss.slope(self.loss.mean(margin), self.target)[:, 0])
        curvature = float(np.average(slopes[1] - slopes[0], weights=self.weight)) / 2e-4
        return curvature, spread if self.loss.range == NUMBERS and spread > 0 else 1.0

    def _chosen_penalty(self, start: Array, curvature: float, unit: float) -> float:
        """The penalty with the least loss on rows left out."""
        rows = np.random.default_rng(0).permutation(len(self.weight))[:_MOST_ROWS]
        losses = np.zeros(len(_PENALTIES))
        for fold in range(_N_FOLDS):
            held_out = np.arange(len(rows)) % _N_FOLDS == fold
            rest, judged, coefficients = self.take(rows[~held_out]), self.take(rows[held_out]), start
            for number, penalty in enumerate(_PENALTIES):
                coefficients = rest._minimise(penalty * curvature, coefficients, curvature, unit, 1e-4)
                losses[number] += judged.value(coefficients)
        return _PENALTIES[int(losses.argmin())] * curvature

    def _minimise(self, penalty: float, start: Array, curvature: float, unit: float, tolerance: float = 1e-7) -> Array:
        """The coefficients that minimise the loss and its penalty; unit and curvature make both of order 1."""
        from scipy import optimize

        scale = 1 / (self.weight.sum() * curvature * unit)

        def objective(flat: Any) -> tuple[float, Any]:
            coefficients = flat.reshape(start.shape) * unit
            pull = penalty * coefficients
            pull[:, 0] = 0
            margin = self.design.margin(coefficients) + self.offset
            with np.errstate(over="ignore"):
                losses = self.loss.value(margin, self.target)
            slope = self.loss.slope(self.loss.mean(margin), self.target) * self.weight[:, None]
            value = (self.weight * losses.T).sum() + 0.5 * (pull * coefficients).sum()
            return value * scale / unit, (self.design.gradient(slope) + pull).ravel() * scale

        # Not L-BFGS-B, whose small systems BLAS spreads over threads that wait for each other.
        options = {"maxiter": 1000, "gtol": tolerance}
        found = optimize.minimize(objective, start.ravel() / unit, jac=True, method="CG", options=options)
        return np.asarray(found.x.reshape(start.shape) * unit)


def _offset(features: Features, shape: tuple[int, ...]) -> Array:
    offset = features.offset
    return np.zeros(shape) if offset is None else offset.reshape(len(offset), -1).astype(np.float64)

"""Convex combinations of teachers, their temperature and the scale of scores, from predictions out of fold."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._arrays import Array
from ..._xgb.collective import gathered
from ..losses import Loss

# Keeps the loss finite where a prediction lies at an end of its range and the label contradicts it.
_FROM_END = 1e-6
# Without it, and few labels, a temperature costs more than it gains.
_TEMPERATURE_PENALTY = 3.0
_LOG_TEMPERATURES = (-np.log(4), np.log(4))


@dataclasses.dataclass(frozen=True)
class Mixture:
    """How the members of a teacher are combined: a convex combination of their means, then a temperature."""

    loss: Loss
    weights: Array
    temperature: float = 1.0

    @classmethod
    def fitted(cls, loss: Loss, label: Array, weight: Array | None, means: Sequence[Array]) -> Mixture:
        """From out-of-fold means of labelled rows; labels of one value fit nothing.

        ``label`` is ``(n,)`` or ``(n, K)``, ``weight`` that of each row, None where all count the same.
        """
        relative_loss = RelativeLoss(loss, label, weight, means[0])
        if not relative_loss.labels_vary:
            return cls(loss, np.full(len(means), 1 / len(means)))
        mixture = cls(loss, mixture_weights(relative_loss, means))
        return dataclasses.replace(mixture, temperature=fit_temperature(relative_loss, mixture.combine(means)))

    def combine(self, means: Sequence[Array]) -> Array:
        """The mean of each row from those of the members."""
        total: Any = sum(weight * mean for weight, mean in zip(self.weights, means, strict=True))
        return tempered(self.loss, total.astype(np.float32), self.temperature)


def mixture_weights(relative_loss: RelativeLoss, means: Sequence[Array]) -> Array:
    """The weights w of the members, at least 0, with the sum 1, float64.

    They minimise ``(loss of sum_k w_k mean_k) / (loss of the best constant) + |w - 1/K|^2 / sqrt(n)``. With few rows
    the weights are nearly equal. ``means`` is what each member predicts for the labelled rows out of fold.
    """
    from scipy import optimize  # XGBoost needs SciPy itself

    n_members = len(means)
    equal = np.full(n_members, 1 / n_members)
    stacked = np.stack(means).astype(np.float64)

    def criterion(weights: Array) -> float:
        distance = float(((weights - equal) ** 2).sum())
        return relative_loss(np.tensordot(weights, stacked, 1)) + relative_loss.shrinkage * distance

    found = optimize.minimize(
        criterion,
        equal,
        bounds=[(0, 1)] * n_members,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        options={"ftol": 1e-9},
    )
    weights = np.clip(found.x, 0, None)
    return weights / weights.sum()


def fit_temperature(relative_loss: RelativeLoss, mean: Array) -> float:
    """The temperature T of probabilities, 1/4 to 4, and 1 of other means.

    It minimises ``(loss of margin / T) / (loss of the best constant) + 3 log(T)^2 / sqrt(n)``.
    """
    from scipy import optimize

    loss = relative_loss.loss
    if not loss.probabilities:
        return 1.0

    def criterion(log_temperature: float) -> float:
        penalty = _TEMPERATURE_PENALTY * relative_loss.shrinkage
        return relative_loss(tempered(loss, mean, np.exp(log_temperature))) + penalty * log_temperature**2

    return float(np.exp(optimize.minimize_scalar(criterion, bounds=_LOG_TEMPERATURES).x))


def tempered(loss: Loss, mean: Array, temperature: float) -> Array:
    """The probabilities whose margins are divided by the temperature, float32."""
    if temperature == 1:
        return mean
    inside = np.clip(mean.astype(np.float64), _FROM_END, 1 - _FROM_END)
    return loss.mean(loss.margin_of(inside) / temperature).astype(np.float32)


def relevances(scores: Array, label: Array, known: Array) -> Array:
    """The expected relevance at each score of a ranking model, which has no scale; the ``label`` of some is ``known``.

    It is the rising function of the score that is closest to the labels, and flat where the score carries no
    information, so that noise makes no pairs.
    """
    from scipy.optimize import isotonic_regression

    own, labels = gathered(scores[known]), gathered(label[known])  # of all workers
    knots, at, count = np.unique(own, return_inverse=True, return_counts=True)
    average = np.bincount(at, labels) / count
    return np.interp(scores, knots, isotonic_regression(average, weights=count).x).astype(np.float32)


class RelativeLoss:
    """The mean loss of predictions, less its least value: 1 for the best constant, 0 for the labels themselves.

    It has no unit, so that targets of several scales count the same. Of squared error it is 1 - R2.
    """

    def __init__(self, loss: Loss, label: Array, weight: Array | None, like: Array) -> None:
        weight = np.ones(len(label)) if weight is None else weight.astype(np.float64)
        self.loss, self._rows = loss, weight > 0
        self._weight = weight[self._rows] / weight.sum()
        self._target = target = loss.one_hot(label, like).astype(np.float64)[self._rows]
        self._unit = 1.0 if loss.probabilities else self._average(np.abs(target)) + np.finfo(np.float32).tiny
        # Rounding errors of equal labels are no variance.
        constant = np.clip(self._average(target), target.min(axis=0), target.max(axis=0))
        self._least = self._mean_loss(target)
        self._room = self._mean_loss(np.broadcast_to(constant, target.shape)) - self._least
        self._varies = self._room > 0
        self.labels_vary = bool(self._varies.any())
        self.shrinkage = float(np.sqrt((self._weight**2).sum()))
        """1 / sqrt(n), where n is Kish's effective sample size: fewer rows where weights differ."""

    def __call__(self, mean: Array) -> float:
        excess = self._mean_loss(mean[self._rows]) - self._least
        return float(np.mean(excess[self._varies] / self._room[self._varies]))

    def _average(self, values: Array) -> Array:
        return np.average(values, axis=0, weights=self._weight)

    def _mean_loss(self, mean: Array) -> Array:
        """One value, or one per target, as an array."""
        low, high = self.loss.range.low + _FROM_END * self._unit, self.loss.range.high - _FROM_END * self._unit
        inside = np.clip(mean, low, high)
        return np.atleast_1d(self._average(self.loss.value(self.loss.margin_of(inside), self._target)))

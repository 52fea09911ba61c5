"""The blended gradient and Hessian of each XGBoost objective, as functions of arrays.

Shapes, dtypes and link, once for every loss: ``margin`` is what the booster sums up, float32, ``(n,)``, or
``(n, K)`` for K classes. ``mean`` is the prediction on the scale of the label, of margin's shape. ``target`` is
the blended target t = (y + sum_k a_k q_k) / (1 + sum_k a_k), of mean's shape, with y one-hot for classes.
``factor`` is 1 + sum_k a_k, times the row's weight where there are weights: a scalar or ``(n,)``.

Every loss here has the gradient ``mean - target`` in the margin; that is what makes the pull of a teacher the
same as a change of label. All arithmetic is float32, as in XGBoost, whose models it then repeats but for the last
bit of exp. Arrays may be NumPy's or CuPy's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Array, array_module

# XGBoost's own floor: p (1 - p) underflows to 0 in float32 from margin 17 on, and a leaf of such rows would
# have no Hessian at all.
_MIN_HESSIAN = np.float32(1e-16)
# exp overflows float32 above 88.7; XGBoost clips there too.
_MAX_EXPONENT = np.float32(88.7)


class Loss:
    """One XGBoost objective whose gradient is mean - target."""

    multiclass = False
    probabilities = True
    """Whether labels and teachers must lie in [0, 1]."""
    applies_scale_pos_weight = True
    """XGBoost's regression losses, logistic among them, multiply the weight of rows labelled 1."""

    def mean(self, margin: Array) -> Array:
        """The prediction on the scale of the label, in a fresh array."""
        raise NotImplementedError

    def margin_of(self, mean: Array) -> Array:
        """The inverse of :meth:`mean`."""
        raise NotImplementedError

    def curvature(self, mean: Array) -> Array:
        """The Hessian of one row of weight 1, in a fresh array."""
        raise NotImplementedError

    def value(self, margin: Array, target: Array) -> Array:
        """The loss of each row, in float64: the reference that the gradient is tested against."""
        raise NotImplementedError

    def predict(self, margin: Array) -> Array:
        """What XGBoost's built-in objective shows to metrics and returns from predict."""
        return self.mean(margin)

    def one_hot(self, label: Array, like: Array) -> Array:
        """The label in the shape of a mean, in a fresh array."""
        return label.astype(np.float32, copy=True)

    def base_score(self, mean: Array) -> Any:
        """XGBoost's ``base_score`` for a model that starts at this mean."""
        return float(mean)

    def newton_step(self, mean: Array) -> Array:
        """The mean after one Newton step from margin 0 towards ``mean``.

        XGBoost starts there, and not at the mean itself, where ``scale_pos_weight`` is set.
        """
        return mean

    def blend(self, label: Array, teachings: list[tuple[Array, float]], like: Array) -> tuple[Array, float]:
        """The blended target, and 1 + sum_k a_k, from pairs (q_k, a_k)."""
        target = self.one_hot(label, like)
        total = 1.0
        for q, weight in teachings:
            target += np.float32(weight) * q
            total += weight
        target /= np.float32(total)
        return target, total

    def gradient(self, mean: Array, target: Array, factor: Any) -> tuple[Array, Array]:
        """Gradient and Hessian in the margin, in fresh arrays."""
        xp = array_module(mean)
        if self.multiclass and np.ndim(factor) == 1:
            factor = factor[:, None]
        grad = mean - target
        grad *= factor
        hess = self.curvature(mean)
        xp.maximum(hess, _MIN_HESSIAN, out=hess)
        hess *= factor
        return grad, hess


class Logistic(Loss):
    """``binary:logistic``: mean = sigmoid(margin)."""

    def mean(self, margin: Array) -> Array:
        xp = array_module(margin)
        p = xp.negative(margin)
        xp.minimum(p, _MAX_EXPONENT, out=p)
        xp.exp(p, out=p)
        p += np.float32(1)
        return xp.divide(np.float32(1), p, out=p)

    def margin_of(self, mean: Array) -> Array:
        return np.log(mean) - np.log1p(-mean)

    def newton_step(self, mean: Array) -> Array:
        return 1 / (1 + np.exp(-4 * (mean - 0.5)))

    def curvature(self, mean: Array) -> Array:
        hess = np.float32(1) - mean
        hess *= mean
        return hess

    def value(self, margin: Array, target: Array) -> Array:
        f = margin.astype(np.float64)
        return np.logaddexp(0.0, f) - target * f


class SquaredError(Loss):
    """``reg:squarederror``: mean = margin."""

    probabilities = False

    def mean(self, margin: Array) -> Array:
        return margin.copy()

    def margin_of(self, mean: Array) -> Array:
        return mean

    def curvature(self, mean: Array) -> Array:
        return array_module(mean).ones_like(mean)

    def value(self, margin: Array, target: Array) -> Array:
        return 0.5 * (margin.astype(np.float64) - target) ** 2


class Softmax(Loss):
    """``multi:softprob`` and ``multi:softmax``: mean = softmax(margin), row by row."""

    multiclass = True
    applies_scale_pos_weight = False

    def __init__(self, *, predicts_class: bool) -> None:
        self._predicts_class = predicts_class

    def mean(self, margin: Array) -> Array:
        xp = array_module(margin)
        p = margin - margin.max(axis=1, keepdims=True)
        xp.exp(p, out=p)
        p /= p.sum(axis=1, keepdims=True, dtype=np.float64).astype(np.float32)
        return p

    def margin_of(self, mean: Array) -> Array:
        log = np.log(mean)
        return log - log.mean(axis=-1, keepdims=True)

    def curvature(self, mean: Array) -> Array:
        # XGBoost's diagonal Hessian of the softmax is twice p (1 - p).
        hess = np.float32(1) - mean
        hess *= mean
        hess *= np.float32(2)
        return hess

    def value(self, margin: Array, target: Array) -> Array:
        f = margin.astype(np.float64)
        f = f - f.max(axis=1, keepdims=True)
        return np.log(np.exp(f).sum(axis=1)) - (target * f).sum(axis=1)

    def predict(self, margin: Array) -> Array:
        return margin.argmax(axis=1).astype(np.float32) if self._predicts_class else self.mean(margin)

    def one_hot(self, label: Array, like: Array) -> Array:
        xp = array_module(like)
        target = xp.zeros_like(like)
        target[xp.arange(len(label)), label.astype(np.int64)] = 1
        return target

    def base_score(self, mean: Array) -> Any:
        # One margin per class, centred, with XGBoost's own term against classes that have no rows.
        return [float(m) for m in self.margin_of(mean + 1e-6)]


LOSSES: dict[str, Loss] = {
    "binary:logistic": Logistic(),
    "reg:squarederror": SquaredError(),
    "multi:softprob": Softmax(predicts_class=False),
    "multi:softmax": Softmax(predicts_class=True),
}

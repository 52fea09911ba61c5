"""The losses that blend: gradient and Hessian are linear in the target, so that a teacher is a change of label.

A new objective of this sort is a class here and a line in :data:`pi_xgb._core.losses.LOSSES`; the tests go through the
registry.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Array, array_module
from .._xgb.params import SHARES_ARE_MARGINS
from .loss import NUMBERS, Loss

# exp overflows float32 above 88.7; XGBoost clips there too.
_MAX_EXPONENT = np.float32(88.7)


class Logistic(Loss):
    """``binary:logistic``: mean = sigmoid(margin)."""

    kind = "label"
    label_advice = (
        "must lie in [0, 1] for binary:logistic, {found}: encode the classes as 0 and 1, or name another objective "
        "(multi:softprob for classes, reg:squarederror for numbers)"
    )

    @property
    def default_metric(self) -> str:
        return "logloss"

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

    def curvature(self, mean: Array, target: Array) -> Array:
        hess = np.float32(1) - mean
        hess *= mean
        return hess

    def value(self, margin: Array, target: Array) -> Array:
        f = margin.astype(np.float64)
        return np.logaddexp(0.0, f) - target * f


class SquaredError(Loss):
    """``reg:squarederror``: mean = margin."""

    range = NUMBERS

    def mean(self, margin: Array) -> Array:
        return margin.copy()

    def margin_of(self, mean: Array) -> Array:
        return mean

    def curvature(self, mean: Array, target: Array) -> Array:
        return array_module(mean).ones_like(mean)

    def value(self, margin: Array, target: Array) -> Array:
        return 0.5 * (margin.astype(np.float64) - target) ** 2


class Softmax(Loss):
    """``multi:softprob`` and ``multi:softmax``: mean = softmax(margin), row by row."""

    kind = "label"
    engines = ("callback",)  # XGBoost's own takes whole classes only
    multiclass = True
    applies_scale_pos_weight = False

    def __init__(self, *, predicts_class: bool) -> None:
        self._predicts_class = predicts_class

    @property
    def default_metric(self) -> str:
        return "mlogloss"

    def mean(self, margin: Array) -> Array:
        xp = array_module(margin)
        p = margin - margin.max(axis=1, keepdims=True)
        xp.exp(p, out=p)
        p /= p.sum(axis=1, keepdims=True, dtype=np.float64).astype(np.float32)
        return p

    def margin_of(self, mean: Array) -> Array:
        log = np.log(mean)
        return log - log.mean(axis=-1, keepdims=True)

    def curvature(self, mean: Array, target: Array) -> Array:
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

    def estimated_base_score(self, mean: Array) -> Any:
        return [float(share) for share in mean] if SHARES_ARE_MARGINS else self.base_score(mean)

    def check_labels(self, label: Array, n_classes: int, name: str = "dtrain") -> None:
        low, high = float(label.min()), float(label.max())
        if not (low >= 0 and high < n_classes and bool((label == label.astype(np.int64)).all())):
            raise ValueError(
                f"the labels of {name} must be the whole numbers 0 to {n_classes - 1} (num_class is {n_classes}), "
                f"they range from {low} to {high}: encode the classes, or set num_class"
            )

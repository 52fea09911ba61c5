"""The losses: one class for each XGBoost objective that a teacher can guide, and all that depends on the objective.

Shapes, dtypes and link, once for every loss: ``margin`` is what the booster sums up, float32, ``(n,)``, or
``(n, K)`` for K classes. ``mean`` is the prediction on the scale of the label, of margin's shape. ``target`` is
where a row's mean should be, of mean's shape, and ``factor`` how much that counts, a scalar or ``(n,)``: both come
from :mod:`pi_xgb._core.blend`.

Every loss here has the gradient ``mean - target`` in the margin; that is what makes the pull of a teacher the
same as a change of label. All arithmetic is float32, as in XGBoost, whose models it then repeats but for the last
bit of exp. Arrays may be NumPy's or CuPy's.

A new objective is one class here and a line in :data:`LOSSES`; the tests go through the registry.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._arrays import Array, array_module
from .._xgb.params import SHARES_ARE_MARGINS

# XGBoost's own floor: p (1 - p) underflows to 0 in float32 from margin 17 on, and a leaf of such rows would
# have no Hessian at all.
_MIN_HESSIAN = np.float32(1e-16)
# exp overflows float32 above 88.7; XGBoost clips there too.
_MAX_EXPONENT = np.float32(88.7)


class Range(NamedTuple):
    """Where values may lie, ends included; infinite ends mean any finite value."""

    low: float
    high: float

    def holds(self, low: Any, high: Any, slack: float = 0.0) -> bool:
        """Whether values from ``low`` to ``high`` lie inside; NaN and infinite ones never do."""
        return bool(np.isfinite(low) and np.isfinite(high) and self.low - slack <= low and high <= self.high + slack)

    def __str__(self) -> str:
        return f"[{self.low:g}, {self.high:g}]"


PROBABILITIES = Range(0.0, 1.0)
NUMBERS = Range(-np.inf, np.inf)


class Loss:
    """One XGBoost objective whose gradient is mean - target."""

    multiclass: ClassVar[bool] = False
    range: ClassVar[Range] = PROBABILITIES
    """Where labels, and the q of teachers, must lie."""
    label_advice: ClassVar[str] = "must be finite, {found}"
    """What an error says of labels outside that range."""
    default_metric: ClassVar[str] = "rmse"
    """XGBoost's name of the loss itself, by which models are compared unless the user says otherwise."""
    applies_scale_pos_weight: ClassVar[bool] = True
    """XGBoost's regression losses, logistic among them, multiply the weight of rows labelled 1."""
    takes_soft_labels: ClassVar[bool] = True
    """Whether XGBoost's own objective takes a target between two labels, so that the native engine is exact."""

    @property
    def probabilities(self) -> bool:
        """Whether means are probabilities."""
        return self.range == PROBABILITIES

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

    def estimated_base_score(self, mean: Array) -> Any:
        """The ``base_score`` that XGBoost makes of the weighted mean of the labels."""
        return self.base_score(mean)

    def newton_step(self, mean: Array) -> Array:
        """The mean after one Newton step from margin 0 towards ``mean``.

        XGBoost starts there, and not at the mean itself, where ``scale_pos_weight`` is set.
        """
        return mean

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

    def check_labels(self, label: Array, n_classes: int, name: str = "dtrain") -> None:
        """Labels of the kind that the objective needs; a custom objective is never checked by XGBoost."""
        low, high = float(label.min()), float(label.max())
        if not self.range.holds(low, high):
            raise ValueError(
                f"the labels of {name} {self.label_advice.format(found=f'they range from {low} to {high}')}"
            )


class Logistic(Loss):
    """``binary:logistic``: mean = sigmoid(margin)."""

    label_advice = (
        "must lie in [0, 1] for binary:logistic, {found}: encode the classes as 0 and 1, or name another objective "
        "(multi:softprob for classes, reg:squarederror for numbers)"
    )
    default_metric = "logloss"

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

    range = NUMBERS

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
    default_metric = "mlogloss"
    applies_scale_pos_weight = False
    takes_soft_labels = False

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

    def estimated_base_score(self, mean: Array) -> Any:
        return [float(share) for share in mean] if SHARES_ARE_MARGINS else self.base_score(mean)

    def check_labels(self, label: Array, n_classes: int, name: str = "dtrain") -> None:
        low, high = float(label.min()), float(label.max())
        if not (low >= 0 and high < n_classes and bool((label == label.astype(np.int64)).all())):
            raise ValueError(
                f"the labels of {name} must be the whole numbers 0 to {n_classes - 1} (num_class is {n_classes}), "
                f"they range from {low} to {high}: encode the classes, or set num_class"
            )


LOSSES: dict[str, Loss] = {
    "binary:logistic": Logistic(),
    "reg:squarederror": SquaredError(),
    "multi:softprob": Softmax(predicts_class=False),
    "multi:softmax": Softmax(predicts_class=True),
}


def loss_named(objective: Any) -> Loss:
    """The loss of an objective, or an error that lists those that a teacher can guide."""
    if objective not in LOSSES:
        raise ValueError(
            f"a teacher can guide the objectives {', '.join(LOSSES)}; got {objective!r}. "
            "Change params['objective'], or train without a teacher"
        )
    return LOSSES[objective]

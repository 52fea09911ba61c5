"""The losses that blend: gradient and Hessian are linear in the target, so that a teacher is a change of label.

A new objective of this sort is a class here and a line in :data:`pi_xgb._core.losses.LOSSES`; the tests go through the
registry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._arrays import Array, array_module
from .._xgb.params import SHARES_ARE_MARGINS
from .loss import NUMBERS, SHARES, Loss, Range

# exp overflows float32 above 88.7; XGBoost's sigmoid clips there too.
_MAX_EXPONENT = np.float32(88.7)
# XGBoost lets exp of a margin overflow, which ends in NaN. Within this a mean may be multiplied by any kl_weight.
_MAX_LOG = np.float32(60)

_OF_MEANS = "give the mean that a row is expected to have, not its logarithm"
AMOUNTS = Range(0.0, np.inf, "be at least 0", _OF_MEANS)
POSITIVE = Range(float(np.finfo(np.float32).tiny), np.inf, "be above 0", _OF_MEANS)


class Logistic(Loss):
    """``binary:logistic`` and ``reg:logistic``, which differ in their default metric: mean = sigmoid(margin)."""

    kind = "label"
    takes_targets = True
    takes_noise = True

    def __init__(self, objective: str, default_metric: str) -> None:
        self._default_metric = default_metric
        self.label_advice = (
            f"must lie in [0, 1] for {objective}, {{found}}: encode the classes as 0 and 1, or name another objective "
            "(multi:softprob for classes, reg:squarederror for numbers)"
        )

    @property
    def default_metric(self) -> str:
        return self._default_metric

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


class LogitRaw(Logistic):
    """``binary:logitraw``: the same, but XGBoost shows margins, and takes a base_score for one."""

    def __init__(self) -> None:
        # Its log loss is no measure of margins; their order is one.
        super().__init__("binary:logitraw", "auc")

    def predict(self, margin: Array) -> Array:
        return margin.copy()

    def base_score(self, mean: Array) -> Any:
        return super().base_score(self.margin_of(mean))

    def estimated_base_score(self, mean: Array) -> Any:
        return super().base_score(mean)  # the mean of the labels, taken as a margin

    def newton_step(self, mean: Array) -> Array:
        return 4 * (mean - 0.5)


class SquaredError(Loss):
    """``reg:squarederror``, of one target or several: mean = margin."""

    takes_targets = True
    takes_noise = True
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
    takes_noise = True
    range = SHARES
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


class _OfLogarithm(Loss):
    """Losses of amounts: mean = exp(margin), so that a base_margin is the logarithm of an exposure."""

    # XGBoost 3.1 takes one target of counts and of Tweedie's amounts.
    takes_targets = not SHARES_ARE_MARGINS
    has_exposure = True
    range = AMOUNTS
    applies_scale_pos_weight = False

    def mean(self, margin: Array) -> Array:
        xp = array_module(margin)
        mean = xp.minimum(margin, _MAX_LOG)
        xp.maximum(mean, -_MAX_LOG, out=mean)
        return xp.exp(mean, out=mean)

    def margin_of(self, mean: Array) -> Array:
        return np.log(mean)


class Poisson(_OfLogarithm):
    """``count:poisson``. XGBoost's Hessian is that of a mean ``max_delta_step`` further on."""

    kind = "count"
    label_advice = "must be counts, 0 or more, for count:poisson, {found}: reg:squarederror takes numbers of any sign"

    def __init__(self, max_delta_step: float = 0.7) -> None:
        self._larger = np.exp(np.float32(max_delta_step))

    def of(self, params: Mapping[str, Any]) -> Loss:
        return Poisson(_number(params, "max_delta_step", 0.7))

    @property
    def default_metric(self) -> str:
        return "poisson-nloglik"

    def curvature(self, mean: Array, target: Array) -> Array:
        return mean * self._larger

    def value(self, margin: Array, target: Array) -> Array:
        f = margin.astype(np.float64)
        return np.exp(f) - target * f


class Gamma(_OfLogarithm):
    """``reg:gamma``: amounts above 0, whose spread grows with their mean."""

    kind = "cost"
    takes_targets = True
    range = POSITIVE
    stand_in = 1.0
    label_advice = (
        "must be above 0 for reg:gamma, {found}: reg:tweedie takes amounts of 0 as well, or leave such rows out"
    )
    applies_scale_pos_weight = True

    @property
    def default_metric(self) -> str:
        return "gamma-deviance"

    def slope(self, mean: Array, target: Array) -> Array:
        slope = target / mean
        slope *= np.float32(-1)
        slope += np.float32(1)
        return slope

    def curvature(self, mean: Array, target: Array) -> Array:
        return target / mean

    def newton_step(self, mean: Array) -> Array:
        return np.exp(1 - 1 / mean)

    def value(self, margin: Array, target: Array) -> Array:
        f = margin.astype(np.float64)
        return f + target * np.exp(-f)


class Tweedie(_OfLogarithm):
    """``reg:tweedie``: amounts with many zeros; between Poisson at a ``tweedie_variance_power`` of 1 and gamma at 2."""

    kind = "cost"
    parameters = ("tweedie_variance_power",)
    label_advice = "must be 0 or more for reg:tweedie, {found}: reg:squarederror takes numbers of any sign"

    def __init__(self, power: float = 1.5) -> None:
        self._power = np.float32(power)

    def of(self, params: Mapping[str, Any]) -> Loss:
        return Tweedie(_number(params, "tweedie_variance_power", 1.5))

    @property
    def default_metric(self) -> str:
        return f"tweedie-nloglik@{self._power:g}"

    def slope(self, mean: Array, target: Array) -> Array:
        own, told = self._parts(mean, target)
        own -= told
        return own

    def curvature(self, mean: Array, target: Array) -> Array:
        own, told = self._parts(mean, target)
        own *= np.float32(2) - self._power
        told *= self._power - np.float32(1)
        own += told
        return own

    def value(self, margin: Array, target: Array) -> Array:
        f, r = margin.astype(np.float64), float(self._power)
        return np.exp((2 - r) * f) / (2 - r) + target * np.exp((1 - r) * f) / (r - 1)

    def _parts(self, mean: Array, target: Array) -> tuple[Array, Array]:
        """What pulls the mean down, and what the target adds to it, in fresh arrays."""
        told = mean ** (np.float32(1) - self._power)
        own = told * mean
        told *= target
        return own, told


def _number(params: Mapping[str, Any], name: str, default: float) -> float:
    value = params.get(name, default)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None

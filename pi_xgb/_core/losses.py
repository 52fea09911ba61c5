"""The objectives that a teacher can guide, with their losses, and the registry of both.

Shapes, dtypes and link, once for every loss: ``margin`` is what the booster sums up, float32, ``(n,)``, or
``(n, K)`` for K classes or K targets. ``mean`` is the prediction on the scale of the label, of margin's shape.
``target`` is the mean that a row should have, of mean's shape, and ``factor`` its weight, a scalar or ``(n,)``:
both come from :mod:`pi_xgb._core.blend`. All arithmetic is float32, as in XGBoost, so that models agree but for the
last bit of exp. Arrays may be NumPy's or CuPy's.

A new objective is a class here and a line in :data:`LOSSES`; the tests go through the registry. Where gradient and
Hessian are linear in the target, a teacher is a change of label: the class gives mean, inverse, curvature, value and
ranges. Where they are not, XGBoost's own objective is trained on further rows labelled with the teacher's predictions
(:mod:`pi_xgb._core.engines.copies`): the class gives the label fields, their range, and the label for a teacher's
margin.
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import xgboost

from .._arrays import Array, array_module
from .._xgb.collective import gathered
from .._xgb.matrix import labels_of
from .._xgb.params import SHARES_ARE_MARGINS

# XGBoost's own floor: p (1 - p) underflows to 0 in float32 from margin 17 on, and a leaf of such rows would
# have no Hessian at all.
_MIN_HESSIAN = np.float32(1e-16)


class Range(NamedTuple):
    """Where values may lie, ends included; infinite ends mean any finite value."""

    low: float
    high: float
    must: str
    """The requirement, after "must" in a message."""
    advice: str
    """The remedy in a message for other values of q."""
    sums_to_one: bool = False
    """Whether the values of a row, one per class, sum to 1."""

    def holds(self, low: Any, high: Any, slack: float = 0.0) -> bool:
        """Whether values from ``low`` to ``high`` lie inside; NaN and infinite ones never do."""
        return bool(np.isfinite(low) and np.isfinite(high) and self.low - slack <= low and high <= self.high + slack)


PROBABILITIES = Range(0.0, 1.0, "lie in [0, 1]", "give probabilities, not margins or percentages")
SHARES = PROBABILITIES._replace(sums_to_one=True)
NUMBERS = Range(-np.inf, np.inf, "be finite", "give a number for every row")

KINDS = {
    "label": "classes",
    "regression": "numbers",
    "count": "counts",
    "cost": "costs",
    "survival": "times",
    "ranking": "order",
}
"""The kinds of objectives, and the word for each in messages."""


class Loss:
    """One XGBoost objective."""

    kind: ClassVar[str] = "regression"
    """One of :data:`KINDS`."""
    engines: ClassVar[tuple[str, ...]] = ("callback", "native")
    """The engines that train the model of labels and teachers as stacked rows, if other params allow it. ``callback``
    and ``native`` blend both into one target, which is exact where gradient and Hessian are linear in the target.
    ``native`` also requires that XGBoost's own objective takes targets between two labels. ``copies`` stacks rows."""
    parameters: ClassVar[tuple[str, ...]] = ()
    """Params of the objective itself, which teacher and student share."""
    multiclass: ClassVar[bool] = False
    takes_targets: ClassVar[bool] = False
    """Whether labels may have several columns, one for each of several targets."""
    has_exposure: ClassVar[bool] = False
    """Whether a base_margin is the logarithm of an exposure, which the teacher needs as well."""
    range: ClassVar[Range] = PROBABILITIES
    """Where labels, and the q of teachers, must lie."""
    takes_noise: ClassVar[bool] = False
    """Whether q may be noisy if unbiased: the gradient is linear in the target, and the Hessian does not contain it."""
    label_advice: str = "must be finite, {found}"
    """The end of the error for labels outside that range."""
    stand_in: ClassVar[float] = 0.0
    """A valid label, for rows with neither label nor teacher."""
    applies_scale_pos_weight: ClassVar[bool] = True
    """XGBoost's regression losses, logistic among them, multiply the weight of rows labelled 1."""
    by_query: ClassVar[bool] = False
    """Whether rows are compared within queries; a query has one weight."""
    label_fields: ClassVar[tuple[str, ...]] = ("label",)
    """The fields of a DMatrix that hold its labels."""
    obstacle: str | None = None
    """Why these params exclude a teacher; None where they do not."""

    @property
    def has_gradient(self) -> bool:
        """Whether it has a mean and a gradient in the margin, so that label and teacher can be blended."""
        return "callback" in self.engines

    def with_params(self, params: Mapping[str, Any]) -> Loss:
        """Return this loss with its own settings among the params."""
        return self

    def has_gradient_of(self, other: Loss) -> bool:
        """Whether both have the same gradient, also if their predictions differ."""
        return isinstance(self, type(other)) or isinstance(other, type(self))

    @property
    def default_metric(self) -> str:
        """XGBoost's name of the loss, by which models are compared unless the user names a metric."""
        return "rmse"

    @property
    def probabilities(self) -> bool:
        """Whether means are probabilities."""
        return self.range in (PROBABILITIES, SHARES)

    def mean(self, margin: Array) -> Array:
        """The prediction on the scale of the label, in a fresh array."""
        raise NotImplementedError

    def margin_of(self, mean: Array) -> Array:
        """The inverse of :meth:`mean`."""
        raise NotImplementedError

    def slope(self, mean: Array, target: Array) -> Array:
        """The gradient of one row of weight 1 in the margin, in a fresh array."""
        return mean - target

    def curvature(self, mean: Array, target: Array) -> Array:
        """The Hessian of one row of weight 1, in a fresh array."""
        raise NotImplementedError

    def value(self, margin: Array, target: Array) -> Array:
        """The loss of each row, in float64: the reference that the gradient is tested against."""
        raise NotImplementedError

    def predict(self, margin: Array) -> Array:
        """The predictions of XGBoost's built-in objective, for metrics and ``predict``."""
        return self.mean(margin)

    def one_hot(self, label: Array, like: Array) -> Array:
        """The label in the shape of a mean, in a fresh array."""
        return label.astype(np.float32)

    def base_score(self, mean: Array) -> Any:
        """XGBoost's ``base_score`` for a model that starts at this mean."""
        return float(mean) if np.ndim(mean) == 0 else [float(value) for value in mean]

    def estimated_base_score(self, mean: Array) -> Any:
        """The ``base_score`` that XGBoost estimates from the weighted mean of the labels."""
        return self.base_score(mean)

    def newton_step(self, mean: Array) -> Array:
        """XGBoost's estimate of the mean from the weighted mean of the labels where ``scale_pos_weight`` is set.

        It is the result of one Newton step from margin 0.
        """
        return mean

    def gradient(self, mean: Array, target: Array, factor: Any) -> tuple[Array, Array]:
        """Gradient and Hessian in the margin, in fresh arrays."""
        xp = array_module(mean)
        if mean.ndim == 2 and np.ndim(factor) == 1:
            factor = factor[:, None]
        grad = self.slope(mean, target)
        grad *= factor
        hess = self.curvature(mean, target)
        xp.maximum(hess, _MIN_HESSIAN, out=hess)
        hess *= factor
        return grad, hess

    def label_of(self, matrix: xgboost.DMatrix, name: str = "dtrain") -> Array:
        """The label of each row of a matrix, as one number."""
        return labels_of(matrix)

    def teacher_values(self, mean: Array, label: Array, known: Array) -> Array:
        """The q of a teacher whose models predict ``mean``; the ``label`` of some rows is ``known``."""
        return mean

    def check_labels(self, label: Array, n_classes: int, name: str = "dtrain") -> None:
        """Raise if labels do not fit the objective: under a custom objective XGBoost checks none."""
        low, high = float(label.min()), float(label.max())
        if not self.range.holds(low, high):
            raise ValueError(
                f"the labels of {name} {self.label_advice.format(found=f'got values from {low} to {high}')}"
            )


# exp overflows float32 above 88.7; XGBoost's sigmoid clips there too.
_MAX_EXPONENT = np.float32(88.7)
# XGBoost lets exp of a margin overflow, which leads to NaN. Within this bound a mean times any kl_weight is finite.
_MAX_LOG = np.float32(60)

_OF_MEANS = "give the expected mean of each row, not its logarithm"
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
    """``binary:logitraw``: the logistic loss, but predictions and ``base_score`` are margins."""

    def __init__(self) -> None:
        # Log loss needs probabilities; AUC needs only the order of the margins.
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
    engines = ("callback",)  # XGBoost's own takes integer classes only
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
                f"got values from {low} to {high}: encode the classes, or set num_class"
            )


class _LogLinkLoss(Loss):
    """Losses with mean = exp(margin), so that a base_margin is the logarithm of an exposure."""

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


class Poisson(_LogLinkLoss):
    """``count:poisson``. XGBoost's Hessian is ``exp(max_delta_step)`` times the mean."""

    kind = "count"
    label_advice = "must be counts, 0 or more, for count:poisson, {found}: reg:squarederror takes numbers of any sign"

    def __init__(self, max_delta_step: float = 0.7) -> None:
        self._larger = np.exp(np.float32(max_delta_step))

    def with_params(self, params: Mapping[str, Any]) -> Loss:
        return Poisson(_number(params, "max_delta_step", 0.7))

    @property
    def default_metric(self) -> str:
        return "poisson-nloglik"

    def curvature(self, mean: Array, target: Array) -> Array:
        return mean * self._larger

    def value(self, margin: Array, target: Array) -> Array:
        f = margin.astype(np.float64)
        return np.exp(f) - target * f


class Gamma(_LogLinkLoss):
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


class Tweedie(_LogLinkLoss):
    """``reg:tweedie``: amounts with many zeros; between Poisson at a ``tweedie_variance_power`` of 1 and gamma at 2."""

    kind = "cost"
    parameters = ("tweedie_variance_power",)
    label_advice = "must be 0 or more for reg:tweedie, {found}: reg:squarederror takes numbers of any sign"

    def __init__(self, power: float = 1.5) -> None:
        self._power = np.float32(power)

    def with_params(self, params: Mapping[str, Any]) -> Loss:
        return Tweedie(_number(params, "tweedie_variance_power", 1.5))

    @property
    def default_metric(self) -> str:
        return f"tweedie-nloglik@{self._power:g}"

    def slope(self, mean: Array, target: Array) -> Array:
        mean_term, target_term = self._parts(mean, target)
        mean_term -= target_term
        return mean_term

    def curvature(self, mean: Array, target: Array) -> Array:
        mean_term, target_term = self._parts(mean, target)
        mean_term *= np.float32(2) - self._power
        target_term *= self._power - np.float32(1)
        mean_term += target_term
        return mean_term

    def value(self, margin: Array, target: Array) -> Array:
        f, r = margin.astype(np.float64), float(self._power)
        return np.exp((2 - r) * f) / (2 - r) + target * (np.exp((1 - r) * f) / (r - 1) if r > 1 else -f)

    def _parts(self, mean: Array, target: Array) -> tuple[Array, Array]:
        """Return the terms of mean and target in the slope, in fresh arrays."""
        target_term = mean ** (np.float32(1) - self._power)
        mean_term = target_term * mean
        target_term *= target
        return mean_term, target_term


def _number(params: Mapping[str, Any], name: str, default: float) -> float:
    value = params.get(name, default)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None


class Copied(Loss):
    """An objective trained on copies of rows, labelled by the teacher; by default the label is the margin."""

    engines = ("copies",)
    range = NUMBERS
    applies_scale_pos_weight = False
    metric: ClassVar[str]

    @property
    def default_metric(self) -> str:
        return self.metric

    def mean(self, margin: Array) -> Array:
        return margin.copy()

    def margin_of(self, mean: Array) -> Array:
        return mean

    def _with_obstacle(self, obstacle: str) -> Self:
        copied = copy.copy(self)
        copied.obstacle = obstacle
        return copied


class AbsoluteError(Copied):
    """``reg:absoluteerror``: the teacher predicts a median."""

    metric = "mae"


class PseudoHuber(Copied):
    """``reg:pseudohubererror``."""

    metric = "mphe"
    parameters = ("huber_slope",)


class SquaredLogError(Copied):
    """``reg:squaredlogerror``, of labels above -1."""

    metric = "rmsle"
    range = Range(-1 + 1e-6, np.inf, "lie above -1", "XGBoost takes the logarithm of 1 + label")
    label_advice = "must lie above -1 for reg:squaredlogerror, {found}: XGBoost takes the logarithm of 1 + label"
    applies_scale_pos_weight = True

    def mean(self, margin: Array) -> Array:
        # XGBoost's gradient stops there as well.
        return array_module(margin).maximum(margin, np.float32(-1 + 1e-6))


class QuantileError(Copied):
    """``reg:quantileerror``: the teacher predicts the same quantile."""

    metric = "quantile"
    parameters = ("quantile_alpha",)

    def with_params(self, params: Mapping[str, Any]) -> Loss:
        alpha: Any = params.get("quantile_alpha")
        if not ("," in alpha if isinstance(alpha, str) else np.size(alpha) > 1):
            return self
        return self._with_obstacle(
            "quantile_alpha has several quantiles, but a copy has one label for all of them: train a model for each"
        )


class AFT(Copied):
    """``survival:aft``: the teacher predicts a time, which is the observed end in its copy of the row."""

    kind = "survival"
    metric = "aft-nloglik"
    parameters = ("aft_loss_distribution", "aft_loss_distribution_scale")
    label_fields = ("label_lower_bound", "label_upper_bound")
    range = Range(float(np.finfo(np.float32).tiny), np.inf, "lie above 0", "give times")

    def mean(self, margin: Array) -> Array:
        return array_module(margin).exp(margin)

    def margin_of(self, mean: Array) -> Array:
        return np.log(mean)

    def label_of(self, matrix: xgboost.DMatrix, name: str = "dtrain") -> Array:
        lower, upper = (matrix.get_float_info(field) for field in self.label_fields)
        if not lower.size == upper.size == matrix.num_row():
            raise ValueError(
                f"survival:aft requires labels of two bounds per row, {name} has {lower.size} lower and "
                f"{upper.size} upper ones for {matrix.num_row()} rows: build it as xgboost.DMatrix(data, "
                "label_lower_bound=, label_upper_bound=), with infinity as the upper bound of censored times"
            )
        check_bounds(lower, upper, name)
        return lower

    def check_labels(self, label: Array, n_classes: int, name: str = "dtrain") -> None:
        """Accept all: ``label_of`` has checked the bounds."""


def check_bounds(lower: Array, upper: Array, name: str, place: Callable[[int], str] = "row {}".format) -> None:
    """Raise unless each row has two bounds of a time; the upper one is infinite for a censored time."""
    wrong = np.flatnonzero(~((lower >= 0) & (lower <= upper) & (upper > 0) & np.isfinite(lower)))
    if wrong.size:
        row = wrong[0]
        raise ValueError(
            f"the bounds of {name} must be times, the lower one at least 0 and not above the upper one, "
            f"{place(int(row))} has {lower[row]:g} and {upper[row]:g}"
        )


class Ranking(Copied):
    """``rank:pairwise`` and ``rank:ndcg``: the teacher predicts a relevance for each row of a copied query."""

    kind = "ranking"
    metric = "ndcg"
    parameters = ("ndcg_exp_gain",)
    by_query = True

    def with_params(self, params: Mapping[str, Any]) -> Loss:
        if _is_true(params.get("lambdarank_unbiased", False)):
            return self._with_obstacle(
                "lambdarank_unbiased estimates position bias, and copies of rows have no position: leave it out"
            )
        return self

    def teacher_values(self, score: Array, label: Array, known: Array) -> Array:
        """The expected relevance at each score: the rising function of the score that is closest to the labels.

        Scores of a ranking model have no scale. The result has that of the labels, and is flat where the score carries
        no information, so that noise makes no pairs.
        """
        from scipy.optimize import isotonic_regression

        scores, labels = gathered(score[known]), gathered(label[known])  # of all workers
        knots, at, count = np.unique(scores, return_inverse=True, return_counts=True)
        mean = np.bincount(at, labels) / count
        return np.interp(score, knots, isotonic_regression(mean, weights=count).x).astype(np.float32)


class NDCG(Ranking):
    """``rank:ndcg`` with linear gain, since a teacher's relevances are not integers."""

    range = Range(0.0, np.inf, "be at least 0", "give relevances")
    label_advice = "must be at least 0 for rank:ndcg, {found}: give relevances"

    def with_params(self, params: Mapping[str, Any]) -> Loss:
        if _is_true(params.get("ndcg_exp_gain", True)):
            return self._with_obstacle(
                "rank:ndcg with its default, the exponential gain, requires integer relevances, and a teacher's are "
                "not. Set params['ndcg_exp_gain'] = False (of PrivilegedXGBRanker: ndcg_exp_gain=False), with gains as "
                "labels (2 ** label - 1 are those of the default), or use rank:pairwise, which keeps the labels"
            )
        return super().with_params(params)


def _is_true(value: Any) -> bool:
    """Return whether XGBoost reads this as true."""
    return str(value).lower() in ("true", "1")


LOSSES: dict[str, Loss] = {
    "binary:logistic": Logistic("binary:logistic", "logloss"),
    "binary:logitraw": LogitRaw(),
    "reg:logistic": Logistic("reg:logistic", "rmse"),
    "multi:softprob": Softmax(predicts_class=False),
    "multi:softmax": Softmax(predicts_class=True),
    "reg:squarederror": SquaredError(),
    "reg:absoluteerror": AbsoluteError(),
    "reg:pseudohubererror": PseudoHuber(),
    "reg:quantileerror": QuantileError(),
    "reg:squaredlogerror": SquaredLogError(),
    "survival:aft": AFT(),
    "rank:ndcg": NDCG(),
    "rank:pairwise": Ranking(),
    "count:poisson": Poisson(),
    "reg:gamma": Gamma(),
    "reg:tweedie": Tweedie(),
}
"""The losses by XGBoost's names, with default params."""


OF_TARGETS = tuple(name for name, loss in LOSSES.items() if loss.takes_targets)
"""The objectives for which a teacher can guide several targets."""

NOT_GUIDED = {
    "binary:hinge": "has no mean, only a side of the margin: binary:logistic has one",
    "reg:linear": "is the former name of reg:squarederror",
    "reg:expectileerror": "has several margins that are added up, and a gradient that is not linear in the label",
    "survival:cox": "is no sum over rows, since each row is in the risk sets of others: survival:aft is one",
    "rank:map": "takes binary relevances, and a teacher predicts graded ones: rank:ndcg and rank:pairwise take these",
}
"""XGBoost's other objectives, some of later versions, and why no teacher guides them."""


def loss_named(objective: Any) -> Loss:
    """Return the loss of an objective; raise with a list of those that a teacher can guide.

    It has default params: :meth:`Loss.with_params` sets others.
    """
    if objective not in LOSSES:
        raise ValueError(
            f"a teacher can guide the objectives {objectives_by_kind()}; got {objective!r}{_why_not(objective)}. "
            "Change params['objective'], or train without a teacher"
        )
    return LOSSES[objective]


def _why_not(objective: Any) -> str:
    if objective in NOT_GUIDED:
        return f", which {NOT_GUIDED[objective]}"
    close = difflib.get_close_matches(str(objective), LOSSES, cutoff=0.8)
    return f" (did you mean {close[0]!r}?)" if close else ""


def check_labels_alone(objective: Any, ranker: str) -> None:
    """Raise if the objective requires more than the y of an estimator; ``ranker`` is the estimator with queries."""
    loss = LOSSES.get(objective)
    if loss is not None and loss.by_query:
        raise ValueError(f"{objective} requires queries, within which rows are ranked: use {ranker}")
    if loss is not None and loss.label_fields != ("label",):
        raise ValueError(
            f"{objective} requires two bounds per row in place of y, for which estimators have no argument: use "
            f"pi_xgb.train (on Dask pi_xgb.dask.train) with {' and '.join(loss.label_fields)} in the matrices"
        )


def loss_with_gradient(objective: Any) -> Loss:
    """Return the loss of an objective; raise unless it has a gradient that a custom objective can compute."""
    loss = loss_named(objective)
    if not loss.has_gradient:
        raise ValueError(
            f"an objective in Python can guide the objectives {objectives_by_kind('callback')}; {objective} "
            "requires copies of the rows: use pi_xgb.train, which makes them"
        )
    return loss


def objectives_by_kind(engine: str = "") -> str:
    """Return the objectives that a teacher can guide (with this engine), for a message."""
    named = {
        kind: [name for name, loss in LOSSES.items() if loss.kind == kind and engine in ("", *loss.engines)]
        for kind in KINDS
    }
    return "; ".join(f"{', '.join(names)} ({KINDS[kind]})" for kind, names in named.items() if names)

"""The objectives that a teacher can guide: a loss of each, composed of link, slope, curvature and domain.

Shapes, dtypes and link, once for every loss: ``margin`` is what the booster sums up, float32, ``(n,)``, or
``(n, K)`` for K classes or K targets. ``mean`` is the prediction on the scale of the label, of margin's shape.
``target`` is the mean that a row should have, of mean's shape, and ``factor`` its weight, a scalar or ``(n,)``:
both come from :mod:`pi_xgb._core.blend`. All arithmetic is float32, as in XGBoost, so that models agree but for the
last bit of exp. Arrays may be NumPy's or CuPy's, and functions return fresh ones.

A new objective is an entry in :data:`LOSSES`; the tests go through the registry. Where gradient and Hessian are linear
in the target, label and teacher are blended into one target. Where they are not, XGBoost's own objective is trained on
further rows labelled with the teacher's predictions (:mod:`pi_xgb._core.engines.copies`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import xgboost

from .._arrays import Array, array_module
from .._xgb.matrix import labels_of
from .._xgb.params import SHARES_ARE_MARGINS, as_number

# XGBoost's own floor: p (1 - p) underflows to 0 in float32 from margin 17 on, and a leaf of such rows would
# have no Hessian at all.
_MIN_HESSIAN = np.float32(1e-16)
# exp overflows float32 above 88.7; XGBoost's sigmoid clips there too.
_MAX_EXPONENT = np.float32(88.7)
# XGBoost lets exp of a margin overflow, which leads to NaN. Within this bound a mean times any kl_weight is finite.
_MAX_LOG = np.float32(60)
_CLOSE = np.float32(1e-7)


class Range(NamedTuple):
    """The domain of a loss: where labels and q lie, ends included; infinite ends mean any finite value."""

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

    def check(self, q: Array, name: str, slack: float = 0.0) -> None:
        """Raise unless all values of q lie inside."""
        if not q.size:
            return
        if self.holds(low := float(q.min()), high := float(q.max()), slack):
            if self.sums_to_one and q.ndim == 2 and not np.allclose(sums := q.sum(axis=1), 1, atol=1e-3):
                got = f"sums from {sums.min():g} to {sums.max():g}"
                raise ValueError(f"the rows of {name} must sum to 1, got {got}: give the probability of each class")
            return
        found, advice = f"values from {low} to {high}", self.advice
        if n_absent := int(np.isnan(q).sum()):
            found = f"{n_absent} NaN"
            advice = "give a value for every row, and a teacher_weight of 0 to rows that the teacher cannot predict"
        raise ValueError(f"{name} must {self.must}, got {found}: {advice}")


_OF_MEANS = "give the expected mean of each row, not its logarithm"
PROBABILITIES = Range(0.0, 1.0, "lie in [0, 1]", "give probabilities, not margins or percentages")
SHARES = PROBABILITIES._replace(sums_to_one=True)
NUMBERS = Range(-np.inf, np.inf, "be finite", "give a number for every row")
AMOUNTS = Range(0.0, np.inf, "be at least 0", _OF_MEANS)
POSITIVE = Range(float(np.finfo(np.float32).tiny), np.inf, "be above 0", _OF_MEANS)


def _same(values: Array) -> Array:
    return values.copy()


def _sigmoid(margin: Array) -> Array:
    xp = array_module(margin)
    p = xp.negative(margin)
    xp.minimum(p, _MAX_EXPONENT, out=p)
    xp.exp(p, out=p)
    p += np.float32(1)
    return xp.divide(np.float32(1), p, out=p)


def _softmax(margin: Array) -> Array:
    xp = array_module(margin)
    p = margin - margin.max(axis=1, keepdims=True)
    xp.exp(p, out=p)
    p /= p.sum(axis=1, keepdims=True, dtype=np.float64).astype(np.float32)
    return p


def _centred_log(mean: Array) -> Array:
    log = np.log(mean)
    return log - log.mean(axis=-1, keepdims=True)


def _clipped_exp(margin: Array) -> Array:
    return np.exp(np.clip(margin, -_MAX_LOG, _MAX_LOG))


def _difference(mean: Array, target: Array) -> Array:
    return mean - target


def _variance(mean: Array, target: Array) -> Array:
    hess = np.float32(1) - mean
    hess *= mean
    return hess


def _cross_entropy(margin: Array, target: Array) -> Array:
    f = margin - margin.max(axis=1, keepdims=True)
    return np.log(np.exp(f).sum(axis=1)) - (target * f).sum(axis=1)


def _no_gradient(mean: Array, target: Array) -> Array:
    raise NotImplementedError("XGBoost itself trains this objective, on copies of the rows")


Params = Mapping[str, Any]
Transform = Callable[[Array], Array]
RowFunction = Callable[[Array, Array], Array]


@dataclasses.dataclass(frozen=True)
class Loss:
    """One XGBoost objective."""

    objective: str
    default_metric: str
    """XGBoost's name of the loss, by which models are compared unless the user names a metric."""
    range: Range = NUMBERS
    """Where labels, and the q of teachers, must lie."""
    _: dataclasses.KW_ONLY
    mean: Transform = _same
    """The prediction on the scale of the label, from the margin: the inverse of the link."""
    margin_of: Transform = _same
    """The inverse of ``mean``."""
    slope: RowFunction = _no_gradient
    """The gradient of one row of weight 1 in the margin, from mean and target."""
    curvature: RowFunction = _no_gradient
    """The Hessian of one row of weight 1, from mean and target."""
    row_loss: RowFunction = _no_gradient
    """The loss of each row, from a float64 margin and target: the reference that the gradient is tested against."""
    multiclass: bool = False
    """Whether a row has one margin per class."""
    probabilities: bool = False
    """Whether means are probabilities."""
    has_exposure: bool = False
    """Whether a base_margin is the logarithm of an exposure, which the teacher needs as well."""
    output: Literal["mean", "margin", "class"] = "mean"
    """The predictions of XGBoost's objective."""
    parameters: tuple[str, ...] = ()
    """Params of the objective itself, which teacher and student share."""
    takes_targets: bool = False
    """Whether labels may have several columns, one for each of several targets."""
    applies_scale_pos_weight: bool = False
    """XGBoost's regression losses, logistic among them, multiply the weight of rows labelled 1."""
    by_query: bool = False
    """Whether rows are compared within queries; a query has one weight."""
    label_fields: tuple[str, ...] = ("label",)
    """The fields of a DMatrix that hold its labels."""
    newton_step: Callable[[Array], Array] = lambda mean: mean
    """XGBoost's estimate of the mean from the weighted mean of the labels where ``scale_pos_weight`` is set: the result
    of one Newton step from margin 0."""
    configure: Callable[[Loss, Params], Loss] = lambda loss, params: loss
    """Returns the loss with its own settings among the params."""
    params: Params = dataclasses.field(default_factory=dict)
    """Those that it was configured with."""
    obstacle: str | None = None
    """Why these params exclude a teacher; None where they do not."""

    def __reduce__(self) -> Any:
        # By name, since functions of the registry cannot be pickled.
        return loss_named, (self.objective, self.params)

    def with_params(self, params: Params) -> Loss:
        """Return this loss with its own settings among the params."""
        own = {name: params[name] for name in (*self.parameters, "max_delta_step") if name in params}
        return dataclasses.replace(self.configure(self, params), params=own)

    @property
    def has_gradient(self) -> bool:
        """Whether it has a mean and a gradient in the margin that is linear in the target, so that label and teacher
        can be blended into one; else XGBoost is trained on copies of the rows."""
        return self.slope is not _no_gradient

    def has_gradient_of(self, other: Loss) -> bool:
        """Whether both have the same gradient, also if their predictions differ."""
        return self.objective == other.objective or (self.probabilities and self.mean is other.mean)

    def value(self, margin: Array, target: Array) -> Array:
        """The loss of each row, float64."""
        return self.row_loss(margin.astype(np.float64), target)

    def finite_margins(self, mean: Array) -> Array:
        """The margins of these means; probabilities of 0 and 1 and rates of 0 are moved inside a little."""
        if self.probabilities:
            mean = np.clip(mean, _CLOSE, 1 - _CLOSE)
        elif self.has_exposure:
            mean = np.maximum(mean, np.finfo(np.float32).tiny)
        return np.asarray(self.margin_of(mean), np.float32)

    def mean_value(self, mean: Array, label: Array, weight: Array | None, *, constant: bool = False) -> float:
        """The loss of these predictions, or with ``constant`` of the mean label: log loss, rmse or deviance.

        NaN for rows of total weight 0, and for objectives without a mean.
        """
        weights = np.ones(len(label)) if weight is None else weight
        if not (self.has_gradient and weights.sum() > 0):
            return float("nan")
        target = self.one_hot(label, mean)
        if constant:
            mean = np.broadcast_to(np.average(target, axis=0, weights=weights), target.shape)
        losses = self.value(self.finite_margins(mean), target)
        if self.has_exposure:
            losses = 2 * (losses - self.value(self.finite_margins(target), target))
        average = float(np.average(losses.mean(axis=1) if losses.ndim == 2 else losses, weights=weights))
        return average if self.probabilities or self.has_exposure else (2 * average) ** 0.5

    def predict(self, margin: Array) -> Array:
        """The predictions of XGBoost's built-in objective, for metrics and ``predict``."""
        if self.output == "class":
            return margin.argmax(axis=1).astype(np.float32)
        return margin.copy() if self.output == "margin" else self.mean(margin)

    def one_hot(self, label: Array, like: Array) -> Array:
        """The label in the shape of a mean."""
        if not self.multiclass:
            return label.astype(np.float32)
        xp = array_module(like)
        target = xp.zeros_like(like)
        target[xp.arange(len(label)), label.astype(np.int64)] = 1
        return target

    def base_score(self, mean: Array) -> Any:
        """XGBoost's ``base_score`` for a model that starts at this mean."""
        if self.multiclass:  # one margin per class, centred, with XGBoost's own term against classes without rows
            mean = self.margin_of(mean + 1e-6)
        elif self.output == "margin":
            mean = self.margin_of(mean)
        return np.asarray(mean, np.float64).tolist()

    def estimated_base_score(self, mean: Array, scale_pos_weight: float) -> Any:
        """The ``base_score`` that XGBoost estimates from the weighted mean of the labels."""
        mean = self.newton_step(mean) if scale_pos_weight != 1 else mean
        taken_as_margin = self.output == "margin" or (self.multiclass and SHARES_ARE_MARGINS)
        return np.asarray(mean, np.float64).tolist() if taken_as_margin else self.base_score(mean)

    def gradient(self, mean: Array, target: Array, factor: Any) -> tuple[Array, Array]:
        """Gradient and Hessian in the margin."""
        if mean.ndim == 2 and np.ndim(factor) == 1:
            factor = factor[:, None]
        grad = self.slope(mean, target)
        grad *= factor
        hess = self.curvature(mean, target)
        array_module(mean).maximum(hess, _MIN_HESSIAN, out=hess)
        hess *= factor
        return grad, hess

    def label_of(self, matrix: xgboost.DMatrix, name: str = "dtrain") -> Array:
        """The label of each row of a matrix; of a time its lower bound."""
        if self.label_fields == ("label",):
            return labels_of(matrix)
        lower, upper = (matrix.get_float_info(field) for field in self.label_fields)
        if not lower.size == upper.size == matrix.num_row():
            raise ValueError(
                f"{self.objective} requires labels of two bounds per row, {name} has {lower.size} and {upper.size} for "
                f"{matrix.num_row()} rows: pass label_lower_bound= and label_upper_bound= to it"
            )
        check_bounds(lower, upper, name)
        return lower

    def check_labels(self, label: Array, n_classes: int, name: str) -> None:
        """Raise if labels do not fit the objective: under a custom objective XGBoost checks none."""
        if label.ndim == 2 and not self.takes_targets:
            several = ", ".join(loss.objective for loss in LOSSES.values() if loss.takes_targets)
            raise ValueError(
                f"{name} has {label.shape[1]} labels per row, and a teacher supports several targets for {several} "
                f"only, not for {self.objective}: train one model for each"
            )
        if not label.size or self.label_fields != ("label",):  # label_of has checked the bounds
            return
        low, high, must = float(label.min()), float(label.max()), self.range.must
        holds = self.range.holds(low, high)
        if self.multiclass:
            holds = low >= 0 and high < n_classes and bool((label == label.astype(np.int64)).all())
            must = f"be the whole numbers 0 to {n_classes - 1} (num_class is {n_classes})"
        if not holds:
            raise ValueError(
                f"the labels of {name} must {must} for {self.objective}, got values from {low} to {high}: correct or "
                "encode them (classes as 0, 1, ...), leave these rows out, or name another objective"
            )


def check_bounds(lower: Array, upper: Array, name: str, place: Callable[[int], str] = "row {}".format) -> None:
    """Raise unless each row has two bounds of a time; the upper one is infinite for a censored time."""
    wrong = np.flatnonzero(~((lower >= 0) & (lower <= upper) & (upper > 0) & np.isfinite(lower)))
    if wrong.size:
        row = wrong[0]
        raise ValueError(
            f"the bounds of {name} must be times, the lower one at least 0, the upper one not below it and above 0, "
            f"{place(int(row))} has {lower[row]:g} and {upper[row]:g}"
        )


def _is_true(value: Any) -> bool:
    """Return whether XGBoost reads this as true."""
    return str(value).lower() in ("true", "1")


def _with_max_delta_step(loss: Loss, params: Params) -> Loss:
    # XGBoost's Hessian is exp(max_delta_step) times the mean.
    larger = np.exp(np.float32(as_number(params.get("max_delta_step", 0.7), "max_delta_step")))
    return dataclasses.replace(loss, curvature=lambda mean, target: mean * larger)


def _with_variance_power(loss: Loss, params: Params) -> Loss:
    power = np.float32(as_number(params.get("tweedie_variance_power", 1.5), "tweedie_variance_power"))

    def slope(mean: Array, target: Array) -> Array:
        scale = mean ** (np.float32(1) - power)
        return scale * mean - scale * target

    def curvature(mean: Array, target: Array) -> Array:
        scale = mean ** (np.float32(1) - power)
        return scale * mean * (np.float32(2) - power) + scale * target * (power - np.float32(1))

    def row_loss(f: Array, target: Array) -> Array:
        r = float(power)
        return np.exp((2 - r) * f) / (2 - r) + target * (np.exp((1 - r) * f) / (r - 1) if r > 1 else -f)

    metric = f"tweedie-nloglik@{power:g}"
    return dataclasses.replace(loss, slope=slope, curvature=curvature, row_loss=row_loss, default_metric=metric)


def _with_one_quantile(loss: Loss, params: Params) -> Loss:
    (name,) = loss.parameters
    alpha: Any = params.get(name)
    has_several = "," in alpha if isinstance(alpha, str) else np.size(alpha) > 1
    obstacle = f"{name} has several values, but a copy has one label for all of them: train a model for each"
    return dataclasses.replace(loss, obstacle=obstacle if has_several else None)


def _without_position_bias(loss: Loss, params: Params) -> Loss:
    obstacle = None
    if loss.objective == "rank:ndcg" and _is_true(params.get("ndcg_exp_gain", True)):
        obstacle = (
            "rank:ndcg with its default, the exponential gain, requires integer relevances, and a teacher's are not. "
            "Set ndcg_exp_gain=False, with gains such as 2 ** label - 1 as labels, or use rank:pairwise"
        )
    elif _is_true(params.get("lambdarank_unbiased", False)):
        obstacle = "lambdarank_unbiased estimates position bias, and copies of rows have no position: leave it out"
    return dataclasses.replace(loss, obstacle=obstacle)


# Log loss needs probabilities; AUC, the metric of binary:logitraw, needs only the order of the margins.
_LOGISTIC = Loss(
    "binary:logistic",
    "logloss",
    PROBABILITIES,
    mean=_sigmoid,
    margin_of=lambda mean: np.log(mean) - np.log1p(-mean),
    slope=_difference,
    curvature=_variance,
    row_loss=lambda f, target: np.logaddexp(0.0, f) - target * f,
    probabilities=True,
    takes_targets=True,
    applies_scale_pos_weight=True,
    newton_step=lambda mean: 1 / (1 + np.exp(-4 * (mean - 0.5))),
)
_SOFTPROB = Loss(
    "multi:softprob",
    "mlogloss",
    SHARES,
    mean=_softmax,
    margin_of=_centred_log,
    slope=_difference,
    # XGBoost's diagonal Hessian of the softmax is twice p (1 - p).
    curvature=lambda mean, target: _variance(mean, target) * np.float32(2),
    row_loss=_cross_entropy,
    multiclass=True,
    probabilities=True,
)
_SQUARED_ERROR = Loss(
    "reg:squarederror",
    "rmse",
    slope=_difference,
    curvature=lambda mean, target: array_module(mean).ones_like(mean),
    row_loss=lambda f, target: 0.5 * (f - target) ** 2,
    takes_targets=True,
    applies_scale_pos_weight=True,
)
# The teacher predicts a relevance for each row of a copied query.
_NDCG = Loss(
    "rank:ndcg", "ndcg", AMOUNTS, parameters=("ndcg_exp_gain",), by_query=True, configure=_without_position_bias
)
_POISSON = Loss(
    "count:poisson",
    "poisson-nloglik",
    AMOUNTS,
    mean=_clipped_exp,
    margin_of=np.log,
    slope=_difference,
    row_loss=lambda f, target: np.exp(f) - target * f,
    has_exposure=True,
    # XGBoost 3.1 takes one target of counts and of Tweedie's amounts.
    takes_targets=not SHARES_ARE_MARGINS,
    configure=_with_max_delta_step,
)
_GAMMA = Loss(
    "reg:gamma",
    "gamma-deviance",
    POSITIVE,
    mean=_clipped_exp,
    margin_of=np.log,
    slope=lambda mean, target: np.float32(1) - target / mean,
    curvature=lambda mean, target: target / mean,
    row_loss=lambda f, target: f + target * np.exp(-f),
    has_exposure=True,
    takes_targets=True,
    applies_scale_pos_weight=True,
    newton_step=lambda mean: np.exp(1 - 1 / mean),
)
_SQUARED_LOG_ERROR = Loss(
    "reg:squaredlogerror",
    "rmsle",
    Range(-1 + 1e-6, np.inf, "lie above -1", "XGBoost takes the logarithm of 1 + label"),
    # XGBoost's gradient stops there as well.
    mean=lambda margin: array_module(margin).maximum(margin, np.float32(-1 + 1e-6)),
    applies_scale_pos_weight=True,
)
# The teacher predicts a time, which is the observed end in its copy of the row.
_AFT = Loss(
    "survival:aft",
    "aft-nloglik",
    POSITIVE,
    mean=np.exp,
    margin_of=np.log,
    parameters=("aft_loss_distribution", "aft_loss_distribution_scale"),
    label_fields=("label_lower_bound", "label_upper_bound"),
)
_TWEEDIE = dataclasses.replace(
    _POISSON, objective="reg:tweedie", parameters=("tweedie_variance_power",), configure=_with_variance_power
)
_ALL = (
    _LOGISTIC,
    dataclasses.replace(
        _LOGISTIC,
        objective="binary:logitraw",
        default_metric="auc",
        output="margin",
        newton_step=lambda mean: 4 * (mean - 0.5),
    ),
    dataclasses.replace(_LOGISTIC, objective="reg:logistic", default_metric="rmse"),
    _SOFTPROB,
    dataclasses.replace(_SOFTPROB, objective="multi:softmax", output="class"),
    _SQUARED_ERROR,
    Loss("reg:absoluteerror", "mae"),
    Loss("reg:pseudohubererror", "mphe", parameters=("huber_slope",)),
    Loss("reg:quantileerror", "quantile", parameters=("quantile_alpha",), configure=_with_one_quantile),
    Loss("reg:expectileerror", "expectile", parameters=("expectile_alpha",), configure=_with_one_quantile),
    _SQUARED_LOG_ERROR,
    _AFT,
    _NDCG,
    dataclasses.replace(_NDCG, objective="rank:pairwise", range=NUMBERS),
    _POISSON,
    _GAMMA,
    _TWEEDIE,
)

LOSSES: dict[str, Loss] = {loss.objective: loss.with_params({}) for loss in _ALL}
"""The losses by XGBoost's names, with default params."""


def loss_named(objective: Any, params: Params | None = None) -> Loss:
    """Return the loss of an objective; raise with a list of those that a teacher can guide."""
    if objective not in LOSSES:
        raise ValueError(
            f"a teacher can guide the objectives {', '.join(LOSSES)}; got {objective!r}. "
            "Change params['objective'], or train without a teacher"
        )
    return LOSSES[objective].with_params(params or {})


def check_labels_alone(objective: Any, ranker: str) -> None:
    """Raise if the objective requires more than the y of an estimator; ``ranker`` is the estimator with queries."""
    loss = LOSSES.get(objective)
    if loss is not None and loss.by_query:
        raise ValueError(f"{objective} requires queries, within which rows are ranked: use {ranker}")
    if loss is not None and loss.label_fields != ("label",):
        raise ValueError(
            f"{objective} requires two bounds per row in place of y, for which estimators have no argument: use "
            f"train, not an estimator, with {' and '.join(loss.label_fields)} in the matrices"
        )

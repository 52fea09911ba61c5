"""What depends on the objective: the shape of a loss, the kinds of objective, where labels and q may lie.

Shapes, dtypes and link, once for every loss: ``margin`` is what the booster sums up, float32, ``(n,)``, or
``(n, K)`` for K classes or K targets. ``mean`` is the prediction on the scale of the label, of margin's shape.
``target`` is where a row's mean should be, of mean's shape, and ``factor`` how much that counts, a scalar or ``(n,)``:
both come from :mod:`pi_xgb._core.blend`. All arithmetic is float32, as in XGBoost, whose models it then repeats but for
the last bit of exp. Arrays may be NumPy's or CuPy's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
import xgboost

from .._arrays import Array, array_module
from .._xgb.matrix import labels_of

# XGBoost's own floor: p (1 - p) underflows to 0 in float32 from margin 17 on, and a leaf of such rows would
# have no Hessian at all.
_MIN_HESSIAN = np.float32(1e-16)


class Range(NamedTuple):
    """Where values may lie, ends included; infinite ends mean any finite value."""

    low: float
    high: float
    must: str
    """What values must do, in a message."""
    advice: str
    """What it tells those who gave other values of q."""
    sums_to_one: bool = False
    """Whether the q of a row has a value for each class, which sum to 1."""

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
"""What an objective is about, and the word for it in messages."""


class Loss:
    """One XGBoost objective."""

    kind: ClassVar[str] = "regression"
    """One of :data:`KINDS`."""
    engines: ClassVar[tuple[str, ...]] = ("callback", "native")
    """Which engines give the model of labels and teachers as stacked rows, wherever the rest of the params lets them:
    ``callback`` and ``native`` blend them into one target, which is exact where gradient and Hessian are linear in the
    target, ``native`` where XGBoost's own objective takes a target between two labels as well. ``copies`` stacks
    them."""
    parameters: ClassVar[tuple[str, ...]] = ()
    """Params that are part of what is modelled, which teacher and student share."""
    multiclass: ClassVar[bool] = False
    takes_targets: ClassVar[bool] = False
    """Whether labels may have several columns, one for each of several targets."""
    has_exposure: ClassVar[bool] = False
    """Whether a base_margin is the logarithm of what a row was exposed to, which its teacher has to know as well."""
    range: ClassVar[Range] = PROBABILITIES
    """Where labels, and the q of teachers, must lie."""
    takes_noise: ClassVar[bool] = False
    """Whether a q that is right on average alone does: the gradient is linear in the target, the Hessian without it."""
    label_advice: str = "must be finite, {found}"
    """What an error says of labels outside that range."""
    stand_in: ClassVar[float] = 0.0
    """A label that XGBoost lets through, for rows that have neither a label nor a teacher."""
    applies_scale_pos_weight: ClassVar[bool] = True
    """XGBoost's regression losses, logistic among them, multiply the weight of rows labelled 1."""
    by_query: ClassVar[bool] = False
    """Whether rows are compared within their queries, each of which has one weight."""
    label_fields: ClassVar[tuple[str, ...]] = ("label",)
    """The fields of a DMatrix that hold its labels."""
    obstacle: str | None = None
    """Why params, as they are, leave no room for what a teacher says."""

    def of(self, params: Mapping[str, Any]) -> Loss:
        """The same with what these params say of it."""
        return self

    def has_gradient_of(self, other: Loss) -> bool:
        """Whether both are one loss to the trees, whatever they show to metrics."""
        return isinstance(self, type(other)) or isinstance(other, type(self))

    @property
    def default_metric(self) -> str:
        """XGBoost's name of the loss itself, by which models are compared unless the user says otherwise."""
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
        """What XGBoost's built-in objective shows to metrics and returns from predict."""
        return self.mean(margin)

    def one_hot(self, label: Array, like: Array) -> Array:
        """The label in the shape of a mean, in a fresh array."""
        return label.astype(np.float32)

    def base_score(self, mean: Array) -> Any:
        """XGBoost's ``base_score`` for a model that starts at this mean."""
        return float(mean) if np.ndim(mean) == 0 else [float(one) for one in mean]

    def estimated_base_score(self, mean: Array) -> Any:
        """The ``base_score`` that XGBoost makes of the weighted mean of the labels."""
        return self.base_score(mean)

    def newton_step(self, mean: Array) -> Array:
        """What XGBoost estimates from the weighted mean of the labels where ``scale_pos_weight`` is set.

        It takes one Newton step from margin 0 then, and starts where that ends.
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
        """One number per row of a matrix that tells what its label is."""
        return labels_of(matrix)

    def said(self, mean: Array, label: Array, known: Array) -> Array:
        """What a teacher whose models predict ``mean`` says, where rows of these labels are ``known``."""
        return mean

    def check_labels(self, label: Array, n_classes: int, name: str = "dtrain") -> None:
        """Labels of the kind that the objective needs; a custom objective is never checked by XGBoost."""
        low, high = float(label.min()), float(label.max())
        if not self.range.holds(low, high):
            raise ValueError(
                f"the labels of {name} {self.label_advice.format(found=f'they range from {low} to {high}')}"
            )

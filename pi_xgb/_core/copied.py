"""The losses that are taught by copies: their gradient is not linear in the label, so that no label is a blend.

XGBoost's own objective is trained on rows labelled with what the teacher says (:mod:`pi_xgb._core.copies`), so a loss
here has no gradient: it says how labels are kept, where they may lie, and what a teacher's margin is as a label.

A new objective of this sort is a class here and a line in :data:`pi_xgb._core.losses.LOSSES`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import xgboost

from .._arrays import Array, array_module
from .._xgb.collective import gathered
from .loss import NUMBERS, Loss, Range


class Copied(Loss):
    """An objective whose teacher says another label; by default a number, which is the margin."""

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

    def _without_room(self, obstacle: str) -> Self:
        hindered = copy.copy(self)
        hindered.obstacle = obstacle
        return hindered


class AbsoluteError(Copied):
    """``reg:absoluteerror``: the teacher says a median."""

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
    """``reg:quantileerror``: the teacher says the same quantile."""

    metric = "quantile"
    parameters = ("quantile_alpha",)

    def of(self, params: Mapping[str, Any]) -> Loss:
        alpha: Any = params.get("quantile_alpha")
        if not ("," in alpha if isinstance(alpha, str) else np.size(alpha) > 1):
            return self
        return self._without_room(
            "quantile_alpha names several quantiles, and a copy has one label for all of them: train a model for each"
        )


class AFT(Copied):
    """``survival:aft``: the teacher says a time, at which its copy of the row is taken to have ended."""

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
                f"survival:aft has no label but two bounds, {name} has {lower.size} lower and {upper.size} upper ones "
                f"for {matrix.num_row()} rows: build it as xgboost.DMatrix(data, label_lower_bound=, "
                "label_upper_bound=), with infinity as the upper bound of a time that nobody saw end"
            )
        check_bounds(lower, upper, name)
        return lower

    def check_labels(self, label: Array, n_classes: int, name: str = "dtrain") -> None:
        """Nothing is left to check of bounds that were read."""


def check_bounds(lower: Array, upper: Array, name: str, place: Callable[[int], str] = "row {}".format) -> None:
    """Two bounds of a time for each row, the upper one infinite where nobody saw the end."""
    wrong = np.flatnonzero(~((lower >= 0) & (lower <= upper) & (upper > 0) & np.isfinite(lower)))
    if wrong.size:
        row = wrong[0]
        raise ValueError(
            f"the bounds of {name} must be times, the lower one at least 0 and not above the upper one, "
            f"{place(int(row))} has {lower[row]:g} and {upper[row]:g}"
        )


class Ranking(Copied):
    """``rank:pairwise`` and ``rank:ndcg``: the teacher says a relevance, for each row of a query that it copies."""

    kind = "ranking"
    metric = "ndcg"
    parameters = ("ndcg_exp_gain",)
    by_query = True

    def of(self, params: Mapping[str, Any]) -> Loss:
        if _is_true(params.get("lambdarank_unbiased", False)):
            return self._without_room(
                "lambdarank_unbiased learns from the positions of the rows how much they were seen, which says nothing "
                "of copies"
            )
        return self

    def said(self, score: Array, label: Array, known: Array) -> Array:
        """The expected relevance at each score: the rising function of the score that is closest to the labels.

        Scores of a ranking model have no scale of their own. This one has that of the labels, and is flat where the
        score tells nothing, so that no pairs are made of noise.
        """
        from scipy.optimize import isotonic_regression

        judged, truth = gathered(score[known]), gathered(label[known])  # of all workers
        knots, at, count = np.unique(judged, return_inverse=True, return_counts=True)
        mean = np.bincount(at, truth) / count
        return np.interp(score, knots, isotonic_regression(mean, weights=count).x).astype(np.float32)


class NDCG(Ranking):
    """``rank:ndcg``, whose gain must be the relevance itself where relevance is not whole."""

    range = Range(0.0, np.inf, "be at least 0", "give relevances")
    label_advice = "must be at least 0 for rank:ndcg, {found}: they are relevances"

    def of(self, params: Mapping[str, Any]) -> Loss:
        if _is_true(params.get("ndcg_exp_gain", True)):
            return self._without_room(
                "with the exponential gain, its default, rank:ndcg takes whole relevances alone, and a teacher says "
                "2.7. Set params['ndcg_exp_gain'] = False (of PrivilegedXGBRanker: ndcg_exp_gain=False), for labels "
                "whose values are gains (2 ** label - 1 are those of the default), or take rank:pairwise, whose labels "
                "stay as they are"
            )
        return super().of(params)


def _is_true(value: Any) -> bool:
    """As XGBoost reads it."""
    return str(value).lower() in ("true", "1")

"""The score on held-out rows: a metric of XGBoost's, or the user's function."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xgboost

from .._arrays import Array
from .._core.training import Spec
from .._rows.matrix_checks import check_metric
from .._xgb.matrix import copy_rows_info

_SMALLER_IS_BETTER = (
    *("rmse", "rmsle", "mae", "mape", "mphe", "logloss", "error", "mlogloss", "merror"),
    *("poisson-nloglik", "gamma-deviance", "gamma-nloglik", "tweedie-nloglik", "quantile", "aft-nloglik"),
)
_LARGER_IS_BETTER = ("auc", "aucpr", "ndcg", "map", "pre")
_TITLES = {
    **dict.fromkeys(("logloss", "mlogloss"), "log loss"),
    **dict.fromkeys(("error", "merror"), "error rate"),
    **{name: name.upper() for name in ("auc", "rmse", "mae")},
}


@dataclasses.dataclass(frozen=True)
class Score:
    """A number per round on held-out rows. ``custom`` is what ``xgboost.train`` takes as custom_metric."""

    name: str
    maximised: bool
    custom: Callable[..., Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Pickles of results lack the user's function."""
        return {**vars(self), "custom": None}

    @property
    def title(self) -> str:
        """Its name in sentences."""
        return _TITLES.get(self.name, self.name)

    @property
    def unit(self) -> str:
        """The unit of a gain.

        Examples
        --------
        >>> Score("logloss", maximised=False).unit
        'log loss lower by'
        """
        return f"{self.title} {'higher' if self.maximised else 'lower'} by"

    @property
    def sign(self) -> float:
        """The factor that turns a difference into a gain."""
        return 1.0 if self.maximised else -1.0

    def best(self, curves: Any) -> int:
        """The place of the round with the best mean of several curves."""
        return int((self.sign * np.mean(curves, axis=0)).argmax())

    def applied_to(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The params of a training that computes this score and no other metric."""
        chosen = {key: value for key, value in params.items() if key != "eval_metric"}
        return {**chosen, **({"disable_default_eval_metric": 1} if self.custom else {"eval_metric": [self.name]})}

    def of_mean(self, mean: Array, matrix: xgboost.DMatrix, spec: Spec) -> float:
        """Return the score of these means as predictions of the rows of ``matrix``."""
        margin, params = spec.loss.finite_margins(mean), self.applied_to(spec.params)
        if self.custom:
            return float(self.custom(spec.loss.predict(margin), matrix)[1])
        # A booster without trees predicts the base margin of its rows.
        empty = xgboost.DMatrix(np.zeros((len(margin), 1)), base_margin=margin)
        copy_rows_info(matrix, empty)
        known = ("objective", "num_class", "nthread", "eval_metric", *spec.loss.parameters)
        booster = xgboost.Booster({name: params[name] for name in known if name in params}, [empty])
        return float(str(booster.eval(empty)).rpartition(":")[-1])


def score_of(metric: Any, custom_metric: Any, maximize: bool | None, spec: Spec) -> Score:
    """Return the score of these keywords; by default the last ``eval_metric``, or the loss."""
    if custom_metric is not None:
        check_metric(custom_metric)
        if metric is not None:
            raise ValueError("metric and custom_metric were both given: leave one of them out")
        if maximize is None:
            raise ValueError("custom_metric needs maximize: pass True if more is better, else False")
        return Score(getattr(custom_metric, "__name__", "custom_metric"), bool(maximize), custom_metric)
    if metric is None:
        metric = spec.params.get("eval_metric", spec.loss.default_metric)
        metric = metric[-1] if isinstance(metric, (list, tuple)) else metric
    if maximize is not None:
        raise ValueError(f"maximize is read with custom_metric only, got {maximize!r} for {metric}: leave it out")
    name = metric.partition("@")[0].removesuffix("-") if isinstance(metric, str) else None  # of ndcg@5, ndcg-
    if name not in (*_SMALLER_IS_BETTER, *_LARGER_IS_BETTER):
        raise ValueError(
            f"metric must be one of XGBoost's {', '.join((*_LARGER_IS_BETTER, *_SMALLER_IS_BETTER))}, got {metric!r}: "
            "in Python pass any other as custom_metric, a function as for xgboost.train, with maximize"
        )
    return Score(metric, name in _LARGER_IS_BETTER)

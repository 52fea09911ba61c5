"""The score on held-out rows: a metric of XGBoost's, a scorer of scikit-learn's, or the user's function."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xgboost

from .._arrays import Array
from .._core.losses import Loss
from .._core.metric_eval import eval_of_means, margins_of
from .._rows.matrix_checks import check_metric
from .._xgb.params import number_of_classes

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

    def applied_to(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The params of a training that computes this score and no other metric."""
        chosen = {key: value for key, value in params.items() if key != "eval_metric"}
        return {**chosen, **({"disable_default_eval_metric": 1} if self.custom else {"eval_metric": [self.name]})}

    def of_mean(self, mean: Array, matrix: xgboost.DMatrix, params: Mapping[str, Any], loss: Loss) -> float:
        """Return the score of these means as predictions of the rows of ``matrix``."""
        if self.custom:
            return float(self.custom(loss.predict(margins_of(mean, loss)), matrix)[1])
        return float(eval_of_means(mean, matrix, self.applied_to(params), loss).rpartition(":")[-1])


def score_of(
    metric: Any, custom_metric: Any, maximize: bool | None, params: Mapping[str, Any], loss: Loss, dtrain: Any
) -> Score:
    """Return the score of these keywords; by default the last ``eval_metric``, or the loss."""
    if custom_metric is not None:
        check_metric(custom_metric)
        if metric is not None:
            raise ValueError("metric and custom_metric were both given: leave one of them out")
        if maximize is None:
            raise ValueError("custom_metric needs maximize: pass True if more is better, else False")
        return Score(getattr(custom_metric, "__name__", "custom_metric"), bool(maximize), custom_metric)
    if metric is None:
        metric = params.get("eval_metric", loss.default_metric)
        metric = metric[-1] if isinstance(metric, (list, tuple)) else metric
    if maximize is not None:
        raise ValueError(
            f"maximize is read with custom_metric only, got {maximize!r} for {metric}, whose direction is known: leave "
            "maximize out"
        )
    name = metric.partition("@")[0].removesuffix("-") if isinstance(metric, str) else None  # of ndcg@5, ndcg-
    if name in (*_SMALLER_IS_BETTER, *_LARGER_IS_BETTER):
        return Score(metric, name in _LARGER_IS_BETTER)
    if loss.by_query or loss.label_fields != ("label",):
        raise ValueError(
            f"metric must be a metric of XGBoost's for queries or bounds, which scorers do not accept, got {metric!r}: "
            f"pass one such as {loss.default_metric}, or custom_metric"
        )
    return _scorer(metric, params, loss, dtrain)


def _scorer(metric: Any, params: Mapping[str, Any], loss: Loss, dtrain: xgboost.DMatrix) -> Score:
    """Return a scorer of scikit-learn, tried on the mean of the labels."""
    known = f"metric must be one of XGBoost's {', '.join((*_LARGER_IS_BETTER, *_SMALLER_IS_BETTER))}"
    if not (isinstance(metric, str) or callable(metric)):
        raise TypeError(f"metric must be the name of a metric or a scorer of scikit-learn, got {metric!r}")
    try:
        from sklearn.metrics import get_scorer

        scorer = get_scorer(metric)
    except (ImportError, ValueError) as error:
        hint = "or a scorer of scikit-learn (roc_auc, neg_log_loss, r2, ...), which is an extra"
        raise type(error)(f'{known}, {hint} (pip install ".[sklearn]" in a checkout), got {metric!r}') from error
    custom = ScoredByScikitLearn(scorer, number_of_classes(params), probabilities=loss.probabilities)
    label, n_classes = dtrain.get_label(), number_of_classes(params)
    base = np.full(len(label), label.mean(), np.float32)
    if loss.multiclass:
        base = np.tile(np.bincount(label.astype(int), minlength=n_classes) / len(label), (len(label), 1))
    try:
        custom(base, dtrain)
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(
            f"metric must suit the labels, got the scorer {metric!r}, which fails ({error}): choose another scorer"
        ) from error
    return Score(str(metric), True, custom)


class ScoredByScikitLearn:
    """A scorer as ``custom_metric``: it gets an estimator that returns the predictions."""

    def __init__(self, scorer: Any, n_classes: int, *, probabilities: bool) -> None:
        self._scorer, self._n_classes, self._probabilities = scorer, n_classes, probabilities

    def __call__(self, predictions: Array, matrix: xgboost.DMatrix) -> tuple[str, float]:
        """Return the score of these predictions, with the weights of their rows."""
        label, weight = matrix.get_label(), matrix.get_weight()
        more = {"sample_weight": weight} if weight.size else {}
        if self._probabilities:
            label = label.astype(np.int64)
            if self._n_classes > 1 and predictions.ndim == 1:  # multi:softmax predicts classes
                predictions = np.eye(self._n_classes)[predictions.astype(int)]
            elif predictions.ndim == 1:
                predictions = np.column_stack([1 - predictions, predictions])
        estimator = _predicting(predictions, classifies=self._probabilities)
        return "score", float(self._scorer(estimator, label.reshape(-1, 1), label, **more))


def _predicting(predictions: Array, *, classifies: bool) -> Any:
    """Return a fitted scikit-learn estimator with these predictions."""
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

    class Regressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
        def predict(self, X: Any) -> Array:
            return predictions

    class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        classes_ = np.arange(predictions.shape[-1])

        def predict_proba(self, X: Any) -> Array:
            return predictions

        def predict(self, X: Any) -> Array:
            return predictions.argmax(axis=1)

    return Classifier() if classifies else Regressor()

"""Metrics of groups during training, as XGBoost's ``custom_metric``."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xgboost
from numpy.typing import NDArray

from .._rows.groups import as_groups
from .._rows.names import plain
from .._rows.per_row import SHARE
from .._rows.scores import as_cut, as_scores
from ._abroca import abroca
from ._disparities import equal_opportunity, equalized_odds, statistical_parity
from ._rates import as_function

Metric = Callable[..., float]
CustomMetric = Callable[[NDArray[Any], xgboost.DMatrix], list[tuple[str, float]]]

_FUNCTIONS: tuple[Metric, ...] = (statistical_parity, equalized_odds, equal_opportunity, abroca)
WATCHABLE = {function.__name__: function for function in _FUNCTIONS}
"""The metrics that :func:`watch` accepts by name."""


def watch(
    metric: Any, sensitive_features: Any, *, threshold: float | None = 0.5, from_margin: bool = False
) -> CustomMetric:
    """A ``custom_metric`` that computes group metrics in every round, for monitoring or early stopping.

    Use it to see when in training a model becomes unfair, or with ``early_stopping_rounds`` to stop there.
    XGBoost passes a custom metric neither row numbers nor the name of the evaluation set, so the groups are looked up
    by the DMatrix object, never by its number of rows, which two sets may share. ``xgboost.cv`` makes matrices of its
    own: to watch its folds, train each of them with ``xgboost.train``.

    Parameters
    ----------
    metric : str, callable, list or dict
        A name ("statistical_parity", "equalized_odds", "equal_opportunity", "abroca"), any function with the
        calling convention of this module (Fairlearn's differences, or a ``functools.partial`` with options), a
        list of these, or a dict from the name to show to the metric.
    sensitive_features : list of (DMatrix, features) or dict
        A list of pairs ``(dmatrix, features)``, or a dict: one for each of the ``evals``, with the same DMatrix objects
        as in training. ``features`` is what the metrics take; None gives NaN for that set.
    threshold : float, default=0.5
        Rows with a probability above it are selected. None passes the scores to the metric, as always for "abroca".
    from_margin : bool, default=False
        Whether XGBoost passes margins. It does so when ``xgboost.train`` is called with a function as
        ``obj``, such as :class:`pi_xgb.KLObjective`; with a built-in objective, and in :func:`pi_xgb.train`, it
        passes probabilities.

    Returns
    -------
    callable
        The function to pass as ``custom_metric``.

    Notes
    -----
    Each round costs what the metric costs on each set; "abroca" sorts the rows. XGBoost keeps six decimals. It
    stops early on the last metric of the last set (choose another with
    ``xgboost.callback.EarlyStopping(metric_name=..., data_name=...)``) and takes smaller for better, unless
    the name begins with auc, pre, map or ndcg. A constant model optimizes any fairness metric, so stop on it only
    together with a performance metric, or on a function of your own that combines the two. A metric that is NaN never
    improves. In distributed training XGBoost averages the values of the workers.

    Examples
    --------
    >>> import numpy as np, xgboost as xgb
    >>> from pi_xgb import metrics
    >>> rng = np.random.default_rng(0)
    >>> sex, x = rng.integers(0, 2, 200), rng.normal(size=(200, 2))
    >>> y = (x[:, 0] + sex > 0.5).astype(int)
    >>> dtrain = xgb.DMatrix(np.c_[x, sex][:100], y[:100])
    >>> dvalid = xgb.DMatrix(np.c_[x, sex][100:], y[100:])
    >>> history = {}
    >>> booster = xgb.train(
    ...     {"objective": "binary:logistic", "nthread": 1}, dtrain, 3, evals=[(dvalid, "valid")], evals_result=history,
    ...     custom_metric=metrics.watch(["abroca", "equalized_odds"], [(dvalid, sex[100:])]),
    ...     verbose_eval=False)
    >>> sorted(history["valid"])
    ['abroca', 'equalized_odds', 'logloss']
    """
    metrics, groups_of = _named(metric), _groups(sensitive_features)
    cut = None if threshold is None else as_cut(threshold)

    def custom_metric(predt: NDArray[Any], dmatrix: xgboost.DMatrix) -> list[tuple[str, float]]:
        if predt.ndim != 1:
            raise ValueError(f"predictions must have one value per row, got shape {predt.shape}: use binary labels")
        if dmatrix not in groups_of:
            raise ValueError(f"an evaluation set of {dmatrix.num_row()} rows has no groups: add (dmatrix, features)")
        groups = groups_of[dmatrix]
        if groups is None:
            return [(name, np.nan) for name in metrics]
        scores = 0.5 + 0.5 * np.tanh(predt / 2) if from_margin else predt
        passed = {"sensitive_features": groups}
        if dmatrix.get_weight().size:
            passed["sample_weight"] = dmatrix.get_weight()
        found = []
        for name, function in metrics.items():
            is_area = _unwrapped(function) is abroca
            prediction = predt if is_area else scores if cut is None else _decided(scores, cut)
            value = function(dmatrix.get_label(), prediction, **passed)
            if np.ndim(value) != 0:
                raise TypeError(f"metric must return one number, {_name_of(function)} gave {type(value).__name__}")
            found.append((name, float(value)))
        return found

    return custom_metric


def _decided(scores: NDArray[Any], cut: float) -> NDArray[np.int8]:
    hint = "XGBoost passes margins to a custom metric when obj is a function, so pass from_margin=True"
    return (as_scores(scores, SHARE, hint, "the predictions in watch") > cut).astype(np.int8)


def _named(metric: Any) -> dict[str, Metric]:
    listed = metric if isinstance(metric, (list, tuple)) else [metric]
    given = metric.items() if isinstance(metric, Mapping) else [(_name_of(value), value) for value in listed]
    named = [(name, as_function("metric", value, WATCHABLE)) for name, value in given]
    names = [name for name, _ in named]
    for name in names:
        if not isinstance(name, str) or not name or any(mark.isspace() or mark == ":" for mark in name):
            raise ValueError(f"metric {name!r} cannot be a name in XGBoost: rename it without spaces and colons")
        if names.count(name) > 1:
            raise ValueError(f"metric has two entries called {name!r}: pass a dict from names to metrics")
    return dict(named)


def _name_of(metric: Any) -> str:
    return metric if isinstance(metric, str) else str(getattr(_unwrapped(metric), "__name__", type(metric).__name__))


def _unwrapped(metric: Any) -> Any:
    while isinstance(metric, partial):
        metric = metric.func
    return metric


def _groups(value: Any) -> dict[xgboost.DMatrix, Any]:
    """Return the encoded groups of each matrix, by identity."""
    listed = value.items() if isinstance(value, Mapping) else value
    for pair in listed if isinstance(listed, (list, tuple, ItemsView)) else [listed]:
        is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2
        if not is_pair or not isinstance(pair[0], xgboost.DMatrix):
            raise TypeError(
                "sensitive_features must be a list of pairs (dmatrix, features), one for each DMatrix in evals, got "
                + (f"{type(pair[0]).__name__} in place of a DMatrix" if is_pair else f"an entry {type(pair).__name__}")
            )
    return {matrix: None if features is None else _encoded(features, matrix.num_row()) for matrix, features in listed}


def _encoded(features: Any, n_rows: int) -> Any:
    """Encode the groups once, not in every round; names stay for messages."""
    groups = as_groups(features, n_rows)
    names = pd.Index([str(plain(name)) for name in groups.names])
    return pd.Series(pd.Categorical.from_codes(groups.codes, names)) if names.is_unique else groups.codes

"""Metrics of groups during training, as XGBoost's ``custom_metric``."""

from __future__ import annotations

import weakref
from collections.abc import Callable, ItemsView, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xgboost
from numpy.typing import NDArray

from .._rows.groups import as_groups
from .._rows.names import plain
from .._rows.vectors import as_cut, as_scores
from ._abroca import abroca
from ._disparities import equal_opportunity, equalized_odds, statistical_parity
from ._rates import as_function

Metric = Callable[..., float]

WATCHABLE: dict[str, Metric] = {
    "statistical_parity": statistical_parity,
    "equalized_odds": equalized_odds,
    "equal_opportunity": equal_opportunity,
    "abroca": abroca,
}
"""The metrics that :func:`watch` accepts by name."""

_FIELD = "label_upper_bound"
_FIRST_CODE = -16.0  # Group 0 in that field; the next are below. Probabilities and the marks of a teacher lie above


def watch(
    metric: Any, sensitive_features: Any = None, *, threshold: float | None = 0.5, from_margin: bool = False
) -> Watch:
    """A ``custom_metric`` that computes group metrics in every round, for monitoring or early stopping.

    Use it to see when in training a model becomes unfair, or with ``early_stopping_rounds`` to stop there.
    XGBoost passes a custom metric neither row numbers nor the name of the evaluation set, so the groups are looked up
    by the DMatrix object, never by its number of rows, which two sets may share.

    Parameters
    ----------
    metric : str, callable, list or dict
        A name ("statistical_parity", "equalized_odds", "equal_opportunity", "abroca"), any function with the
        calling convention of this module (Fairlearn's differences, or a ``functools.partial`` with options), a
        list of these, or a dict from the name to show to the metric.
    sensitive_features : list of (DMatrix, features) or dict, default=None
        A list of pairs ``(dmatrix, features)``, or a dict: one for each of the ``evals``, with the same DMatrix objects
        as in training. ``features`` is what the metrics take; None gives NaN for that set. The metric holds only weak
        references to the matrices. Without it, the groups come from :func:`attach_groups`, which is required for
        ``xgboost.cv`` and for pickled metrics.
    threshold : float, default=0.5
        Rows with a probability above it are selected. None passes the scores to the metric, as always for "abroca".
    from_margin : bool, default=False
        Whether XGBoost passes margins. It does so when ``xgboost.train`` is called with a function as
        ``obj``, such as :class:`pi_xgb.KLObjective`; with a built-in objective, and in :func:`pi_xgb.train`, it
        passes probabilities.

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
    cut = None if threshold is None else as_cut(threshold)
    return Watch(_named(metric), _pairs(sensitive_features), cut, from_margin)


def attach_groups(dmatrix: xgboost.DMatrix, sensitive_features: Any) -> xgboost.DMatrix:
    """Store the groups in a DMatrix for :func:`watch`, so that slices and ``xgboost.cv`` keep them.

    The number of each row's group is kept in the field ``label_upper_bound``, which only survival objectives use;
    nothing else is touched, and the booster never sees it. :func:`pi_xgb.attach_teacher` writes to that field too, so
    attach the groups after the teacher. Returns ``dmatrix`` itself.

    Parameters
    ----------
    dmatrix : xgboost.DMatrix
        The matrix to write to.
    sensitive_features : array-like or DataFrame
        One value per row, or a DataFrame for intersections.

    Examples
    --------
    >>> import numpy as np, xgboost as xgb
    >>> from pi_xgb import metrics
    >>> x = np.random.default_rng(0).normal(size=(60, 2))
    >>> dtrain = metrics.attach_groups(xgb.DMatrix(x, x[:, 0] > 0), np.where(x[:, 1] > 0, "f", "m"))
    >>> table = xgb.cv({"objective": "binary:logistic", "nthread": 1}, dtrain, 2, nfold=3, seed=1,
    ...                custom_metric=metrics.watch("statistical_parity"))
    >>> "test-statistical_parity-mean" in table
    True
    """
    _check_dmatrix(dmatrix)
    groups = as_groups(sensitive_features, dmatrix.num_row())
    dmatrix.set_float_info(_FIELD, _FIRST_CODE - groups.codes.astype(np.float32))
    return dmatrix


class Watch:
    """A ``custom_metric`` for XGBoost; made by :func:`watch`, which describes it.

    It can be pickled if its metrics can. A DMatrix cannot, so an unpickled copy has no pairs of matrix and
    groups: it reads the groups that :func:`attach_groups` stored in the matrices.

    Examples
    --------
    >>> import pickle
    >>> from pi_xgb import metrics
    >>> pickle.loads(pickle.dumps(metrics.watch("abroca")))
    Watch('abroca')
    """

    def __init__(
        self,
        metrics: dict[str, Metric],
        pairs: list[tuple[xgboost.DMatrix, Any]],
        threshold: float | None,
        from_margin: bool,
    ) -> None:
        self._metrics = metrics
        self._threshold = threshold
        self._from_margin = from_margin
        # Weak keys: the metric must not keep data alive, and a new matrix may reuse the id of a deleted one.
        self._groups: weakref.WeakKeyDictionary[xgboost.DMatrix, Any] = weakref.WeakKeyDictionary()
        for dmatrix, features in pairs:
            self._groups[dmatrix] = None if features is None else _encoded(features, dmatrix.num_row())

    def __call__(self, predt: NDArray[Any], dmatrix: xgboost.DMatrix) -> tuple[str, float] | list[tuple[str, float]]:
        """Return name and value of the metric on one evaluation set, or a list of pairs."""
        if predt.ndim != 1:
            raise ValueError(
                f"predictions must have one value per row, got shape {predt.shape}: train with binary labels"
            )
        groups = self._groups[dmatrix] if dmatrix in self._groups else _attached(dmatrix)
        found = [(name, self._value(metric, predt, dmatrix, groups)) for name, metric in self._metrics.items()]
        return found[0] if len(found) == 1 else found

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_groups"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._groups = weakref.WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"Watch({', '.join(map(repr, self._metrics))})"

    def _value(self, metric: Metric, predt: NDArray[Any], dmatrix: xgboost.DMatrix, groups: Any) -> float:
        if groups is None:
            return float("nan")
        weight = dmatrix.get_weight()
        weights = {"sample_weight": weight} if weight.size else {}
        prediction = self._prediction(metric, predt)
        value = metric(dmatrix.get_label(), prediction, sensitive_features=groups, **weights)
        if np.ndim(value) != 0:
            raise TypeError(
                f"metric must return one number, {_name_of(metric)} gave {type(value).__name__}: pass a "
                f"difference between groups ({', '.join(map(repr, WATCHABLE))}) or a function that picks one value"
            )
        return float(value)

    def _prediction(self, metric: Metric, predt: NDArray[Any]) -> NDArray[Any]:
        if _unwrapped(metric) is abroca:
            return predt
        score = 0.5 + 0.5 * np.tanh(predt / 2) if self._from_margin else predt
        if self._threshold is None:
            return score
        hint = "XGBoost passes margins to a custom metric when obj is a function, so pass from_margin=True"
        scores = as_scores(score, (0.0, 1.0), hint, "the predictions in watch")
        return (scores > self._threshold).astype(np.int8)


def _named(metric: Any) -> dict[str, Metric]:
    if isinstance(metric, Mapping):
        named = [(name, as_function("metric", value, WATCHABLE)) for name, value in metric.items()]
    else:
        listed = metric if isinstance(metric, (list, tuple)) else [metric]
        named = [(_name_of(value), as_function("metric", value, WATCHABLE)) for value in listed]
    if not named:
        raise ValueError(f"metric must name at least one metric, got {metric!r}")
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


def _pairs(value: Any) -> list[tuple[xgboost.DMatrix, Any]]:
    if value is None:
        return []
    if isinstance(value, Mapping):
        value = value.items()
    pairs = [value] if not isinstance(value, (list, tuple, ItemsView)) else list(value)
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(
                "sensitive_features must be a list of pairs (dmatrix, features), one for each evaluation set, "
                f"got an entry of type {type(pair).__name__}"
            )
        _check_dmatrix(pair[0])
    return pairs


def _check_dmatrix(dmatrix: Any) -> None:
    if not isinstance(dmatrix, xgboost.DMatrix):
        raise TypeError(f"dmatrix must be an xgboost.DMatrix, got {type(dmatrix).__name__}: pass the DMatrix in evals")


def _encoded(features: Any, n_rows: int) -> Any:
    """Encode the groups once, not in every round; names stay for messages."""
    groups = as_groups(features, n_rows)
    names = pd.Index([str(plain(name)) for name in groups.names])
    if not names.is_unique:
        return groups.codes
    return pd.Series(pd.Categorical.from_codes(groups.codes, names))


def _attached(dmatrix: xgboost.DMatrix) -> NDArray[np.int64]:
    field = dmatrix.get_float_info(_FIELD)
    if field.size != dmatrix.num_row() or not (field <= _FIRST_CODE).all():
        raise ValueError(
            f"an evaluation set of {dmatrix.num_row()} rows has no groups: add (dmatrix, features) to "
            "watch(metric, [...]), with the same object as in evals and None for features to skip the metric; "
            "or call attach_groups(dmatrix, features)"
        )
    return (_FIRST_CODE - field).astype(np.int64)

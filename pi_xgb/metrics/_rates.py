"""Rates of decisions, overall or per group, from the four cells of each group's confusion matrix."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._rows.groups import Groups, as_groups, everyone
from .._rows.names import describe
from .._rows.per_row import per_row
from .._rows.scores import Bools, as_labels, as_weights, check_scored_order

Values = NDArray[np.float64]

TN, FP, FN, TP = range(4)


class UndefinedRateWarning(UserWarning):
    """A rate is undefined in a group, because its denominator is 0; its value is NaN. The message names the group.

    Examples
    --------
    >>> import warnings
    >>> from pi_xgb import metrics
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", metrics.UndefinedRateWarning)  # if NaN is enough information
    ...     metrics.equal_opportunity([0, 1], [1, 1], sensitive_features=["a", "b"])
    nan
    """


def share(part: Values, whole: Values) -> Values:
    """Return ``part / whole``, NaN where ``whole`` is 0."""
    return np.asarray(np.divide(part, whole, out=np.full(np.broadcast(part, whole).shape, np.nan), where=whole > 0))


@dataclass(frozen=True)
class Rate:
    """The share of some cells among others; ``among`` names the rows of the denominator in messages."""

    numerator: tuple[int, ...]
    denominator: tuple[int, ...]
    among: str

    def values(self, cells: Values) -> Values:
        """Return the rate for cells of shape ``(..., 4)``; NaN where the denominator is 0."""
        return share(cells[..., self.numerator].sum(axis=-1), cells[..., self.denominator].sum(axis=-1))


RATES = {
    "base_rate": Rate((FN, TP), (TN, FP, FN, TP), "rows of positive weight"),
    "selection_rate": Rate((FP, TP), (TN, FP, FN, TP), "rows of positive weight"),
    "true_positive_rate": Rate((TP,), (FN, TP), "positives (rows with y_true = 1)"),
    "false_positive_rate": Rate((FP,), (TN, FP), "negatives (rows with y_true = 0)"),
    "precision": Rate((TP,), (FP, TP), "selected rows (y_pred = 1)"),
    "accuracy": Rate((TN, TP), (TN, FP, FN, TP), "rows of positive weight"),
}


@dataclass(frozen=True)
class Decisions:
    """Checked rows: label, decision, weight, group, and for some metrics the score behind the decision."""

    labels: Bools
    selected: Bools
    weights: Values
    groups: Groups
    scores: Any = None

    @property
    def cell(self) -> NDArray[np.intp]:
        """The cell of the confusion matrix of each row, one of ``TN, FP, FN, TP``."""
        return 2 * self.labels.astype(np.intp) + self.selected

    def cells(self, weights: Values | None = None) -> Values:
        """Return the weight in each cell, ``(k, 4)``; ``(b, k, 4)`` for ``b`` other weightings ``(b, n)``."""
        weights = self.weights if weights is None else weights
        n_cells, n_weightings = 4 * self.groups.count, weights.size // self.labels.size
        places = n_cells * np.arange(n_weightings)[:, None] + 4 * self.groups.codes + self.cell
        sums = np.bincount(places.ravel(), weights.ravel(), n_weightings * n_cells)
        return sums.reshape(*weights.shape[:-1], -1, 4).astype(np.float64)


def as_decided(
    y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any, *, labels_needed: bool, grouped: bool = True
) -> Decisions:
    """Check the arguments of a metric on decisions."""
    check_scored_order(y_true, y_pred, sensitive_features, sample_weight)
    selected = per_row("y_pred", y_pred, kind="truth values", hint="pass decisions, as in y_score > threshold")
    n_rows = selected.size
    labels = np.zeros_like(selected)
    if labels_needed or y_true is not None:
        labels = as_labels(y_true, n_rows, table="y_pred")
    groups = as_groups(sensitive_features, n_rows) if grouped else everyone(n_rows)
    return Decisions(labels, selected, as_weights(sample_weight, n_rows), groups)


def as_function(name: str, value: Any, known: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    """Return a user's function, or the function of this name in ``known``."""
    found: Any = known.get(value) if isinstance(value, str) else value
    if not callable(found):
        raise ValueError(f"{name} must be a function or one of {', '.join(map(repr, known))}, got {value!r}")
    return found  # type: ignore[no-any-return]


def warn_undefined(what: str, undefined: Bools, among: str, names: pd.Index | None, stacklevel: int) -> None:
    """Warn of groups without a value, with the reason."""
    if undefined.any():
        where = "" if names is None else f" in group {describe(names[undefined])}"
        message = f"{what} is undefined (NaN){where}: there are no {among}"
        warnings.warn(message, UndefinedRateWarning, stacklevel=stacklevel + 1)


def _rate(name: str, y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any) -> Any:
    grouped = sensitive_features is not None
    needed = name != "selection_rate"
    decided = as_decided(y_true, y_pred, sensitive_features, sample_weight, labels_needed=needed, grouped=grouped)
    values = RATES[name].values(decided.cells())
    names = decided.groups.names if grouped else None
    warn_undefined(name, np.isnan(values), RATES[name].among, names, stacklevel=3)
    return pd.Series(values, index=names, name=name) if grouped else float(values[0])


def selection_rate(y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> Any:
    """The share of rows that are selected (decision 1).

    Parameters
    ----------
    y_true, y_pred : array-like
        Labels and decisions, 0 or 1. Labels are not used and may be None; if passed, they are checked.
    sensitive_features : array-like or DataFrame, default=None
        None for one rate over all rows, a number, as Fairlearn's ``MetricFrame`` calls it. One value per row, or a
        DataFrame of several columns, gives a Series with the rate of each group or intersection.
    sample_weight : array-like of float, default=None
        Weight of each row.

    Examples
    --------
    >>> from pi_xgb import metrics
    >>> metrics.selection_rate([1, 0, 1, 0], [1, 0, 1, 1])
    0.75
    >>> metrics.selection_rate([1, 0, 1, 0], [1, 0, 1, 1], sensitive_features=["a", "a", "b", "b"])
    sensitive_feature_0
    a    0.5
    b    1.0
    Name: selection_rate, dtype: float64
    """
    return _rate("selection_rate", y_true, y_pred, sensitive_features, sample_weight)


def true_positive_rate(y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> Any:
    """The share of true positives that are selected; also called recall or sensitivity.

    In a group without positives the rate is NaN, with an :class:`UndefinedRateWarning` that names the group. (Fairlearn
    returns 0 there, the worst possible value.)

    Parameters
    ----------
    y_true, y_pred, sensitive_features, sample_weight : as for :func:`selection_rate`
        ``y_true`` is required.

    Examples
    --------
    >>> from pi_xgb import metrics
    >>> metrics.true_positive_rate([1, 1, 0, 0], [1, 0, 1, 0])
    0.5
    """
    return _rate("true_positive_rate", y_true, y_pred, sensitive_features, sample_weight)


recall = true_positive_rate


def false_positive_rate(y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> Any:
    """The share of true negatives that are selected.

    In a group without negatives the rate is NaN, with an :class:`UndefinedRateWarning` that names the group.

    Parameters
    ----------
    y_true, y_pred, sensitive_features, sample_weight : as for :func:`selection_rate`
        ``y_true`` is required.

    Examples
    --------
    >>> from pi_xgb import metrics
    >>> metrics.false_positive_rate([1, 1, 0, 0], [1, 0, 1, 0], sensitive_features=["a", "b", "a", "b"])
    sensitive_feature_0
    a    1.0
    b    0.0
    Name: false_positive_rate, dtype: float64
    """
    return _rate("false_positive_rate", y_true, y_pred, sensitive_features, sample_weight)


def precision(y_true: Any, y_pred: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> Any:
    """The share of selected rows that are true positives.

    In a group without selected rows the precision is NaN, with an :class:`UndefinedRateWarning` that names the group.

    Parameters
    ----------
    y_true, y_pred, sensitive_features, sample_weight : as for :func:`selection_rate`
        ``y_true`` is required.

    Examples
    --------
    >>> from pi_xgb import metrics
    >>> metrics.precision([1, 0, 0, 0], [1, 1, 0, 0])
    0.5
    """
    return _rate("precision", y_true, y_pred, sensitive_features, sample_weight)

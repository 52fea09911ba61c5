"""From a column of y to the labels and the objective that XGBoost needs."""

from __future__ import annotations

import decimal
import numbers
from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Array
from .._xgb.params import user_params
from .losses import LOSSES


def labels_and_params(y: Any, params: Any) -> tuple[Array, dict[str, Any], Any]:
    """Numbers for y, params with an objective, and the user's names of the classes, None where there are none.

    Without an objective two values, or truth values, strings and categories, are classes; other numbers are numbers.
    """
    column = _column(y)
    own = user_params(params)
    is_numeric = column.dtype.kind in "iuf"
    is_class = not is_numeric or isinstance(getattr(y, "dtype", None), pd.CategoricalDtype)
    n_values = column.nunique()
    if n_values < 2:
        raise ValueError(f"every y is {_plain(column.iloc[0])!r}: there is nothing to tell apart")
    if "objective" not in own and n_values == 2:
        own["objective"] = "binary:logistic"
    elif "objective" not in own and is_class:
        own["objective"] = "multi:softprob"
    own.setdefault("objective", "reg:squarederror")
    loss = LOSSES.get(own["objective"])
    if loss is None or not loss.probabilities:
        if not is_numeric:
            raise TypeError(f"y must be numbers for {own['objective']}, got dtype {column.dtype}")
        return _finite(column), own, None
    if not loss.multiclass and n_values > 2 and is_numeric:
        return _finite(column), own, None  # probabilities as labels
    if not loss.multiclass and n_values != 2:
        raise ValueError(f"y has {n_values} classes, binary:logistic takes 2: use objective 'multi:softprob'")
    codes, classes = pd.factorize(column, sort=True)
    if loss.multiclass:
        own.setdefault("num_class", len(classes))
    return codes.astype(np.float32), own, classes


def _column(y: Any) -> Any:
    """One label per row, in numbers where they are numbers of any kind."""
    values = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if values.ndim != 1 and not (values.ndim == 2 and values.shape[1] == 1):
        columns = values.shape[1] if values.ndim == 2 else f"shape {values.shape}"
        raise ValueError(f"y must be one column, got {columns}: compare them one at a time")
    column = pd.Series(values.ravel())
    if column.empty:
        raise ValueError("y is empty: give one label per row")
    missing = int(column.isna().sum())
    if missing:
        raise ValueError(f"y has {missing} missing values: leave out the rows without a label")
    if column.dtype == object and column.map(_is_number).all():
        return column.astype(np.float64)
    return column


def _is_number(value: Any) -> bool:
    return isinstance(value, (numbers.Real, decimal.Decimal)) and not isinstance(value, bool)


def _finite(column: Any) -> Array:
    with np.errstate(over="ignore"):
        label: Array = column.to_numpy(dtype=np.float32)
    wrong = np.flatnonzero(~np.isfinite(label))
    if wrong.size:
        raise ValueError(
            f"row {wrong[0]} of y is {column.iloc[wrong[0]]:g}, which is not finite for XGBoost's single precision: "
            "leave such rows out, or scale y"
        )
    return label


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value

"""A matrix of rows of another matrix, possibly repeated, with the cuts of that matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._arrays import Array
from .categories import categories_by_position
from .matrix import can_be_cut

_BATCH = 1 << 17


def can_be_stacked(matrix: xgboost.DMatrix) -> bool:
    """Return whether its rows can be read back, which external memory does not allow."""
    if isinstance(matrix, xgboost.ExtMemQuantileDMatrix):
        return False
    return isinstance(matrix, xgboost.QuantileDMatrix) or can_be_cut(matrix)


def stacked(matrix: xgboost.DMatrix, rows: Array, params: Mapping[str, Any]) -> xgboost.DMatrix:
    """Return these rows of ``matrix`` for trainings with ``params``: values, margins and columns, no other fields.

    For ``hist`` the result has the cuts of ``matrix``; the values that a QuantileDMatrix stores suffice for that. It
    takes the memory of the quantised rows, and briefly that of the values.
    """
    if grows_by_cuts(matrix, params):
        stack = _with_cuts_of(matrix, rows, params)
    else:
        stack = matrix.slice(rows, allow_groups=True)
    margin = matrix.get_base_margin()
    if margin.size:
        stack.set_base_margin(margin[rows])
    column_weights = matrix.get_float_info("feature_weights")
    if column_weights.size:
        stack.set_info(feature_weights=column_weights)
    return stack


def grows_by_cuts(matrix: xgboost.DMatrix, params: Mapping[str, Any]) -> bool:
    """Return whether XGBoost computes cuts once, before the first tree."""
    if isinstance(matrix, xgboost.QuantileDMatrix):
        return True
    by_trees = params.get("booster", "gbtree") != "gblinear"
    return by_trees and params.get("tree_method", "auto") not in ("exact", "approx")


def _with_cuts_of(matrix: xgboost.DMatrix, rows: Array, params: Mapping[str, Any]) -> xgboost.DMatrix:
    # Training a stump computes the cuts for these params, and the stump stores the categories.
    stump = xgboost.train({**params, "max_depth": 1, "num_parallel_tree": 1}, matrix, 1)
    values = matrix.get_data()
    as_table = _table_maker(matrix, stump)
    names, types = matrix.feature_names, matrix.feature_types

    class Batches(xgboost.DataIter):  # A local class, since XGBoost keeps a reference to the last batch.
        def __init__(self) -> None:
            super().__init__()
            self._begin = 0

        def next(self, input_data: Callable[..., Any]) -> bool:
            if self._begin >= len(rows):
                return False
            batch = values[rows[self._begin : self._begin + _BATCH]]
            self._begin += _BATCH
            if as_table is None:
                input_data(data=batch, feature_names=names, feature_types=types)
            else:
                input_data(data=as_table(batch), feature_names=names)
            return True

        def reset(self) -> None:
            self._begin = 0

    stack = xgboost.QuantileDMatrix(
        Batches(),
        ref=matrix,
        max_bin=int(params.get("max_bin") or 256),
        nthread=int(params.get("nthread") or params.get("n_jobs") or 0) or None,
        enable_categorical=True,
    )
    stack.feature_types = types
    return stack


def _table_maker(matrix: xgboost.DMatrix, model: xgboost.Booster) -> Callable[[Any], pd.DataFrame] | None:
    """Return a function that makes a table with the model's categories from numbers; None if it stores none.

    Without the names, XGBoost would read category numbers of new rows as those of the training.
    """
    categories = categories_by_position(model) if "c" in (matrix.feature_types or ()) else []
    if not any(len(index) for index in categories):
        return None

    def as_table(batch: Any) -> pd.DataFrame:
        dense = np.full(batch.shape, np.nan, np.float32)  # what is not stored is missing
        stored = batch.tocoo()
        dense[stored.row, stored.col] = stored.data
        columns = {
            i: pd.Categorical.from_codes(np.where(np.isnan(column), -1, column).astype(np.int64), index)
            if len(index)
            else column
            for i, (column, index) in enumerate(zip(dense.T, categories, strict=True))
        }
        return pd.DataFrame(columns)

    return as_table

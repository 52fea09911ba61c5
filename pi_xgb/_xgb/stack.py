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
    return type(matrix) is xgboost.QuantileDMatrix or can_be_cut(matrix)


def stacked(matrix: xgboost.DMatrix, rows: Array, params: Mapping[str, Any]) -> xgboost.DMatrix:
    """Return these rows of ``matrix`` for trainings with ``params``: values, margins and columns, no other fields.

    For ``hist`` the result has the cuts of ``matrix``; the values that a QuantileDMatrix stores suffice for that. It
    takes the memory of the quantised rows, and briefly that of the values.
    """
    by_cuts = grows_by_cuts(matrix, params)
    cut = _with_cuts_of(matrix, rows, params) if by_cuts else matrix.slice(rows, allow_groups=True)
    margin, column_weights = matrix.get_base_margin(), matrix.get_float_info("feature_weights")
    if margin.size:
        cut.set_base_margin(margin[rows])
    if column_weights.size:
        cut.set_info(feature_weights=column_weights)
    return cut


def grows_by_cuts(matrix: xgboost.DMatrix, params: Mapping[str, Any]) -> bool:
    """Return whether XGBoost computes cuts once, before the first tree."""
    if isinstance(matrix, xgboost.QuantileDMatrix):
        return True
    by_trees = params.get("booster", "gbtree") != "gblinear"
    return by_trees and params.get("tree_method", "auto") not in ("exact", "approx")


def _with_cuts_of(matrix: xgboost.DMatrix, rows: Array, params: Mapping[str, Any]) -> xgboost.DMatrix:
    # Training a stump computes the cuts for these params, and the stump stores the categories.
    stump = xgboost.train({**params, "max_depth": 1, "num_parallel_tree": 1}, matrix, 1)
    values, names, types = matrix.get_data(), matrix.feature_names, matrix.feature_types
    categories = categories_by_position(stump) if "c" in (types or ()) else []
    batches = iter(range(0, len(rows), _BATCH))

    class Batches(xgboost.DataIter):  # A local class, since XGBoost keeps a reference to the last batch.
        def next(self, input_data: Callable[..., Any]) -> bool:
            begin = next(batches, None)
            if begin is None:
                return False
            batch = values[rows[begin : begin + _BATCH]]
            # Without the names, XGBoost would read category numbers of new rows as those of the training.
            if any(len(index) for index in categories):
                input_data(data=_table(batch, categories), feature_names=names)
            else:
                input_data(data=batch, feature_names=names, feature_types=types)
            return True

        def reset(self) -> None:
            nonlocal batches
            batches = iter(range(0, len(rows), _BATCH))

    stack = xgboost.QuantileDMatrix(
        Batches(),
        ref=matrix,
        max_bin=int(params.get("max_bin") or 256),
        nthread=int(params.get("nthread") or params.get("n_jobs") or 0) or None,
        enable_categorical=True,
    )
    stack.feature_types = types
    return stack


def _table(batch: Any, categories: list[Any]) -> pd.DataFrame:
    """Return a table with the model's categories from numbers."""
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

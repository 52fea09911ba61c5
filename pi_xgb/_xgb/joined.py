"""Matrices made of others: columns side by side, rows stacked with the cuts of a matrix, rows of several workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._arrays import Array
from .categories import categories_by_position
from .collective import global_sum, on_any_worker
from .matrix import QUANTISED, copy_rows_info, row_fields, runs

_BATCH = 1 << 17
_WITHOUT_CUTS = ("exact", "approx")
_OF_CUTS = ("max_bin", "tree_method", "device", "nthread", "n_jobs")


def side_by_side(dtrain: xgboost.DMatrix, privileged: xgboost.DMatrix) -> xgboost.DMatrix:
    """Return both feature sets, with the labels and weights of ``dtrain`` and the base margin of ``privileged``."""
    from scipy import sparse  # a dependency of XGBoost

    matrices = dtrain, privileged
    x, z = (matrix.feature_names or [str(i) for i in range(matrix.num_col())] for matrix in matrices)
    if set(x) & set(z):  # such as the numbers of unnamed columns
        x, z = [f"x:{name}" for name in x], [f"z:{name}" for name in z]
    both = xgboost.DMatrix(
        # Missing values are not stored, so zeros stay distinct from gaps.
        sparse.hstack([matrix.get_data() for matrix in matrices], format="csr"),
        feature_names=[*x, *z],
        feature_types=[kind for matrix in matrices for kind in matrix.feature_types or ["float"] * matrix.num_col()],
        enable_categorical=True,
    )
    copy_rows_info(dtrain, both)
    if privileged.get_base_margin().size:
        both.set_base_margin(privileged.get_base_margin())
    return both


def freeze(matrix: xgboost.DMatrix) -> dict[str, Any]:
    """Return the arguments that make a DMatrix again, since it cannot be pickled itself."""
    if isinstance(matrix, QUANTISED):
        raise TypeError(f"a {type(matrix).__name__} cannot be pickled: use a DMatrix for privileged features")
    return {
        "data": matrix.get_data(),
        "feature_names": matrix.feature_names,
        "feature_types": matrix.feature_types,
        **row_fields(matrix),
    }


def thawed(frozen: Sequence[Mapping[str, Any]], label: Any = None, *, weighted: bool = False) -> xgboost.DMatrix:
    """Return the rows of these matrices as one, with codes of categories, which are equal, and without their names."""
    from scipy import sparse

    data = sparse.vstack([part["data"] for part in frozen], format="csr")
    fields = {
        name: np.concatenate([part[name] for part in frozen])
        for name in ("base_margin", *(["weight"] if weighted else []))
        if all(name in part for part in frozen)
    }
    if "base_margin" in fields:
        fields["base_margin"] = fields["base_margin"].reshape(data.shape[0], -1)
    names, types = frozen[0]["feature_names"], frozen[0]["feature_types"]
    return xgboost.DMatrix(data, label, feature_names=names, feature_types=types, enable_categorical=True, **fields)


def stacked(matrix: xgboost.DMatrix, rows: Array, params: Mapping[str, Any], xgb_model: Any = None) -> xgboost.DMatrix:
    """Return these rows of ``matrix`` for trainings with ``params``: values, margins and columns, no other fields.

    For ``hist`` the result has the cuts of ``matrix``; the values that a QuantileDMatrix stores suffice for that. It
    takes the memory of the quantised rows, and briefly that of the values. Of rows in bins a continued ``xgb_model``
    predicts right what it has split at these cuts; where it has others, the result has cuts of its own.
    """
    # XGBoost computes cuts once, before the first tree.
    by_cuts = params.get("booster", "gbtree") != "gblinear" and params.get("tree_method", "auto") not in _WITHOUT_CUTS
    is_quantile = isinstance(matrix, xgboost.QuantileDMatrix)
    cut = _with_cuts_of(matrix, rows, params) if by_cuts or is_quantile else matrix.slice(rows, allow_groups=True)
    margin, column_weights = matrix.get_base_margin(), matrix.get_float_info("feature_weights")
    if margin.size:
        cut.set_base_margin(margin[rows])
    if column_weights.size:
        cut.set_info(feature_weights=column_weights)
    if xgb_model is not None and by_cuts and not is_quantile:
        earlier = xgboost.Booster(model_file=xgb_model)
        seen, right = (earlier.predict(each, output_margin=True) for each in (cut, matrix))
        if on_any_worker(not np.allclose(seen, right[rows], atol=1e-5)):
            return stacked(matrix, rows, {"tree_method": "exact"})
    return cut


def set_queries_of_copies(stack: xgboost.DMatrix, queries: Sequence[Array], weight: Array) -> float:
    """Set queries and their weights for labelled rows and copies; return how many times too large the gradient is.

    XGBoost divides the weights of queries by their mean, which copies change.
    """
    sizes = [runs(query)[0] if query.size else query for query in queries]
    stack.set_group(np.concatenate(sizes))
    of_query = weight[np.append(0, np.cumsum(np.concatenate(sizes))[:-1])].astype(np.float64)
    stack.set_weight(of_query)
    labelled = of_query[: len(sizes[0])]
    # Over all workers, so that all build the same trees.
    sums = global_sum(np.array([labelled.sum(), len(labelled), of_query.sum(), len(of_query)], np.float64))
    if not sums[1]:  # soft labels alone are XGBoost's model of rows labelled q
        return 1.0
    return float((sums[0] / sums[1]) / (sums[2] / sums[3]))


def _with_cuts_of(matrix: xgboost.DMatrix, rows: Array, params: Mapping[str, Any]) -> xgboost.DMatrix:
    # Training a stump computes the cuts for these params, and the stump stores the categories. It reads no label.
    own = {name: params[name] for name in _OF_CUTS if name in params}
    stump = xgboost.train({**own, "max_depth": 1}, matrix, 1, obj=lambda margin, _: (0 * margin, 0 * margin + 1))
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


def dense_of(stored: Any) -> Array:
    """Return the values of a matrix as float32: what is not stored is missing, NaN."""
    dense, stored = np.full(stored.shape, np.nan, np.float32), stored.tocoo()
    dense[stored.row, stored.col] = stored.data
    return dense


def _table(batch: Any, categories: list[Any]) -> pd.DataFrame:
    """Return a table with the model's categories from numbers."""
    columns = {
        i: pd.Categorical.from_codes(np.where(np.isnan(column), -1, column).astype(np.int64), index)
        if len(index)
        else column
        for i, (column, index) in enumerate(zip(dense_of(batch).T, categories, strict=True))
    }
    return pd.DataFrame(columns)

"""Helpers for a DMatrix: building, slicing, the fields of its rows, and one training at a time."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._arrays import Array

QUANTISED = (xgboost.QuantileDMatrix, xgboost.ExtMemQuantileDMatrix)


def labels_of(matrix: xgboost.DMatrix) -> Array:
    """Return the labels, ``(n,)``, or ``(n, K)`` for K targets, which XGBoost 3.1 returns flat."""
    label, n_rows = matrix.get_label(), matrix.num_row()
    return label.reshape(n_rows, -1) if n_rows and label.size > n_rows else label


def slice_rows(matrix: xgboost.DMatrix, rows: Any, weight: Array | None = None) -> xgboost.DMatrix:
    """Return some rows of a DMatrix with their queries, or raise if it cannot be cut.

    ``weight`` replaces the weights of the matrix: one per row, or one per query where it has queries.
    """
    if isinstance(matrix, QUANTISED):
        raise TypeError(f"a {type(matrix).__name__} cannot be cut into labelled rows or folds: use a DMatrix")
    cut, query = matrix.slice(rows, allow_groups=True), query_of_row(matrix)
    if query is not None:  # queries and their weights were dropped
        cut.set_group(runs(query[rows])[0])
        weight = matrix.get_weight() if weight is None else weight
    if weight is not None:
        cut.set_weight(weights_of_rows(matrix, rows, weight))
    return cut


def weights_of_rows(matrix: xgboost.DMatrix, rows: Any, weight: Array) -> Array:
    """Return the weights of some rows, or of their queries where there are queries; empty without weights."""
    if not weight.size:
        return weight
    query = query_of_row(matrix)
    return weight[rows] if query is None else weight[query[rows][runs(query[rows])[1]]]


def query_of_row(matrix: xgboost.DMatrix) -> Array | None:
    """Return the number of each row's query; None for a matrix without queries."""
    ends = matrix.get_uint_info("group_ptr")
    return np.repeat(np.arange(ends.size - 1), np.diff(ends.astype(np.int64))) if ends.size > 1 else None


def set_queries(matrix: xgboost.DMatrix, query: Array, weight: Array | None = None) -> None:
    """Set the queries and their weights from a value per row; the rows of a query must be adjacent."""
    lengths, first = runs(pd.factorize(query)[0])
    if weight is not None and not np.array_equal(np.repeat(weight[first], lengths), weight):
        raise ValueError("sample_weight must be equal within a query, as XGBoost weights queries: pass equal values")
    matrix.set_group(lengths)
    if weight is not None:
        matrix.set_weight(weight[first])


def runs(values: Array) -> tuple[Array, Array]:
    """Return length and first position of each run of equal values."""
    first = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    return np.diff(np.append(first, len(values))), first


def can_be_cut(matrix: xgboost.DMatrix) -> bool:
    """Return whether rows can be selected: not from quantised matrices, nor from external memory, as a trial shows."""
    if isinstance(matrix, QUANTISED):
        return False
    try:
        matrix.slice([0], allow_groups=True)
    except xgboost.core.XGBoostError:
        return False
    return True


def rows_without_values(matrix: xgboost.DMatrix, besides: Collection[str] = ()) -> Array:
    """Return which rows are empty in every column except ``besides``; False everywhere if rows cannot be read."""
    n_rows, n_columns = matrix.num_row(), matrix.num_col()
    names = matrix.feature_names or [""] * n_columns
    columns = [i for i, name in enumerate(names) if name not in besides]
    if not columns or n_rows * n_columns - matrix.num_nonmissing() < len(columns):
        return np.zeros(n_rows, bool)
    try:
        return np.asarray(matrix.get_data()[:, columns].getnnz(axis=1) == 0)
    except xgboost.core.XGBoostError:  # in external memory
        return np.zeros(n_rows, bool)


_locks: weakref.WeakKeyDictionary[xgboost.DMatrix, threading.RLock] = weakref.WeakKeyDictionary()
_locks_guard = threading.Lock()


@contextlib.contextmanager
def exclusive(*matrices: xgboost.DMatrix) -> Iterator[None]:
    """Lock these matrices against every other training of this library in the process.

    XGBoost quantises a DMatrix at its first use and stores the result in it, without a lock: two threads that train
    on one matrix would race. Locks are taken in a fixed order, so that trainings that share several matrices cannot
    deadlock.
    """
    with _locks_guard:
        distinct = {id(m): m for m in matrices if isinstance(m, xgboost.DMatrix)}
        held = [_locks.setdefault(distinct[key], threading.RLock()) for key in sorted(distinct)]
    with contextlib.ExitStack() as stack:
        for lock in held:
            stack.enter_context(lock)
        yield


def row_fields(matrix: xgboost.DMatrix) -> dict[str, Array]:
    """Return the fields of the rows, except their features, by the keywords of ``DMatrix``; those that are set."""
    fields = {name: matrix.get_float_info(name) for name in ("weight", "label_lower_bound", "label_upper_bound")}
    fields |= {"label": labels_of(matrix), "base_margin": matrix.get_base_margin()}
    fields["group"] = np.diff(matrix.get_uint_info("group_ptr"))
    return {name: values for name, values in fields.items() if values.size}


def copy_rows_info(source: xgboost.DMatrix, target: xgboost.DMatrix) -> None:
    """Copy labels, queries and weights to another matrix of the same rows."""
    target.set_info(**{name: values for name, values in row_fields(source).items() if name != "base_margin"})


def copy_queries(source: xgboost.DMatrix, target: xgboost.DMatrix) -> None:
    """Copy the queries, if any, to another matrix of the same rows."""
    target.set_info(group=row_fields(source).get("group"))


@contextlib.contextmanager
def restored(matrix: xgboost.DMatrix) -> Iterator[None]:
    """Restore the labels and weights of a matrix at the end."""
    label, weight = labels_of(matrix), matrix.get_weight()
    try:
        yield
    finally:
        matrix.set_label(label)
        matrix.set_weight(weight)

"""Columns of tables of any kind: found by name or position, selected, left out, joined.

Tables of polars and Arrow are converted to pandas at once; arrays and sparse matrices stay what they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .names import describe
from .per_row import on_host


def as_table(data: Any, name: str) -> Any:
    """Return the data as a DataFrame, a two-dimensional array or a CSR matrix."""
    if hasattr(data, "tocsr"):
        return data.tocsr()
    if column_names(data) is not None or hasattr(data, "to_frame"):
        return as_frame(data)
    kind = type(data).__name__
    array = data if hasattr(data, "shape") else on_host(data, name)
    if len(array.shape) not in (1, 2):
        got = f"an array of shape {array.shape}" if len(array.shape) else f"a {kind}: pass a table or an array"
        raise ValueError(f"{name} must have rows and columns, got {got}")
    return array.reshape(-1, 1) if len(array.shape) == 1 else array


def as_frame(table: Any) -> pd.DataFrame:
    """Return the table as a DataFrame."""
    if hasattr(table, "collect") and not hasattr(table, "shape"):  # polars.LazyFrame
        table = table.collect()
    if hasattr(table, "to_frame"):  # a column
        table = table.to_frame()
    if isinstance(table, pd.DataFrame):
        return table
    if not hasattr(table, "to_pandas"):
        return pd.DataFrame(table.toarray() if hasattr(table, "toarray") else table)
    frame: pd.DataFrame = table.to_pandas()
    # Truth values with gaps arrive as objects, which XGBoost does not read.
    objects = frame.select_dtypes(object).columns
    return frame.astype({n: "boolean" for n in objects if pd.api.types.infer_dtype(frame[n]) in ("boolean", "empty")})


def column_names(table: Any) -> list[Any] | None:
    """Return the names of the columns, or None for an array, a list or a sparse matrix."""
    if hasattr(table, "collect_schema"):  # polars, lazy or not
        return list(table.collect_schema().names())
    # pyarrow calls the names column_names, and the data columns.
    names = getattr(table, "column_names", getattr(table, "columns", None))
    return None if names is None else list(names)


def listed(columns: Any) -> list[Any]:
    """Return a user's columns, names or positions, as a list; None is no column, a single name or number is one."""
    if columns is None:
        return []
    items = [columns] if isinstance(columns, (str, int, np.integer)) else list(dict.fromkeys(columns))
    if any(isinstance(item, (bool, np.bool_)) for item in items):  # they would count as the positions 0 and 1
        raise TypeError(
            "columns must be given by names or positions, got truth values: pass X.columns[mask], or "
            "numpy.flatnonzero(mask) for an array"
        )
    return items


def locate(table: Any, columns: Sequence[Any], name: str, what: str) -> list[int]:
    """Return the positions of these columns in the table ``name``; ``what`` is the keyword that lists them."""
    names = column_names(table)
    if names is None and any(not isinstance(column, (int, np.integer)) for column in columns):
        raise ValueError(
            f"{what} must be positions, since {name} is a {type(table).__name__} without column names, got "
            f"{describe(columns)}: pass whole numbers, or a DataFrame"
        )
    known = list(range(table.shape[1])) if names is None else names
    if missing := [column for column in columns if column not in known]:
        raise ValueError(
            f"{what} must be columns of {name}, got {describe(missing)}: add them for fit, or choose among "
            f"{describe(known)}"
        )
    return [known.index(column) for column in columns]


def present(table: Any, columns: Sequence[Any], n_others: int) -> list[int]:
    """Return the positions of those columns that the table has.

    An array has no names: by its width it has all of the columns or, if that is ``n_others``, none.
    """
    names = column_names(table)
    if names is None:
        return locate(table, columns, "X", "columns") if table.shape[1] == n_others + len(columns) else []
    return [names.index(column) for column in columns if column in names]


def take(table: Any, positions: Sequence[int]) -> Any:
    """Return the columns at these positions."""
    return table.iloc[:, list(positions)] if hasattr(table, "iloc") else table[:, list(positions)]


def take_rows(table: Any, rows: Any) -> Any:
    """Return the rows of these numbers."""
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def rows_without_values(table: Any) -> Any:
    """Return which rows are empty in every column; the gaps of a sparse matrix are zeros except to XGBoost."""
    return np.zeros(table.shape[0], bool) if hasattr(table, "tocsr") else as_frame(table).isna().all(axis=1).to_numpy()


def side_by_side(left: Any, right: Any) -> Any:
    """Return one table of both sets of columns, whose rows are matched by position."""
    if hasattr(left, "tocsr") or hasattr(right, "tocsr"):
        from scipy import sparse

        return sparse.hstack([_explicit_csr(left), _explicit_csr(right)], format="csr")
    if column_names(left) is None and column_names(right) is None:
        return np.hstack([left, right])
    frames = [as_frame(table).reset_index(drop=True) for table in (left, right)]
    if set(frames[0].columns) & set(frames[1].columns):  # such as the numbers of unnamed columns
        frames = [frame.add_prefix(f"{side}:") for side, frame in zip("xz", frames, strict=True)]
    return pd.concat(frames, axis=1)


def check_no_text(table: Any, name: str) -> None:
    """Raise if a column holds text, which XGBoost accepts as categories only, or dates."""
    if not isinstance(table, pd.DataFrame):
        return
    for column, dtype in zip(table.columns, table.dtypes, strict=True):
        if pd.api.types.is_object_dtype(dtype) or isinstance(dtype, pd.StringDtype):
            hint = f"pass numbers, or {name}[{column!r}].astype('category') with enable_categorical=True"
        elif dtype.kind in "mM":
            hint = "pass a number, such as days since an event"
        else:
            continue
        raise ValueError(f"the column {column!r} of {name} has dtype {dtype}, which XGBoost does not read: {hint}")


def _explicit_csr(table: Any) -> Any:
    """Return a sparse matrix that stores the zeros of a dense table, since XGBoost reads gaps as missing values."""
    from scipy import sparse

    if hasattr(table, "tocsr"):
        return table.tocsr()
    try:
        dense = np.asarray(table, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise TypeError("a sparse matrix can be joined with numeric columns only: pass both as DataFrames") from error
    return sparse.coo_matrix((dense.ravel(), np.indices(dense.shape).reshape(2, -1)), dense.shape).tocsr()

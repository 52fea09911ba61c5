"""Columns of tables of any kind: found by name or position, selected, left out, joined.

Tables of polars and Arrow are converted to pandas at once; arrays and sparse matrices stay what they are.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from .._arrays import Array
from .checks import several
from .names import describe
from .per_row import FINITE, as_columns, check_count, on_host, per_row


def as_table(data: Any, name: str) -> Any:
    """Return the data as a DataFrame, a two-dimensional array or a CSR matrix."""
    if hasattr(data, "tocsr"):
        return data.tocsr()
    if column_names(data) is not None or hasattr(data, "to_frame"):
        return as_frame(data)
    array = data if hasattr(data, "shape") else on_host(data, name)
    if len(array.shape) not in (1, 2):
        got = f"a {type(data).__name__} of shape {array.shape}"
        raise ValueError(f"{name} must have rows and columns, got {got}: pass a table or an array")
    return array.reshape(-1, 1) if len(array.shape) == 1 else array


def as_frame(table: Any) -> pd.DataFrame:
    """Return the table as a DataFrame."""
    if hasattr(table, "collect") and not hasattr(table, "shape"):  # polars.LazyFrame
        table = table.collect()
    if hasattr(table, "to_frame"):  # a column
        table = table.to_frame()
    if not hasattr(table, "to_pandas"):
        return pd.DataFrame(table.toarray() if hasattr(table, "toarray") else table)
    frame: pd.DataFrame = table.to_pandas()
    # Truth values with gaps arrive as objects, which XGBoost does not read.
    kinds = {n: pd.api.types.infer_dtype(column) for n, column in frame.items() if column.dtype == object}
    return frame.astype({n: "boolean" for n, kind in kinds.items() if kind in ("boolean", "empty")})


def columns_of(values: Any, name: str, stem: str, n_rows: int | None = None) -> pd.DataFrame:
    """Return one column or several of any container as a DataFrame, values as they are; unnamed ones are ``stem_i``."""
    if isinstance(values, Mapping):
        columns = {}
        for label, column in values.items():
            own = columns_of(column, f"{name}[{label!r}]", stem, n_rows)
            as_columns(f"{name}[{label!r}]", own.to_numpy(), several=False)  # raises for several
            columns[label], n_rows = own.iloc[:, 0], len(own)
        frame = pd.DataFrame(columns)
    elif isinstance(values, (pd.Series, pd.Index, pd.api.extensions.ExtensionArray)):
        column = pd.Series(values).reset_index(drop=True)
        frame = column.to_frame(f"{stem}_0" if column.name is None else column.name)
    elif column_names(values) is not None:
        frame = as_frame(values).reset_index(drop=True)
    else:
        array = as_columns(name, on_host(values, name), several=True)
        frame = pd.DataFrame(array, dtype=object if array.dtype.kind in "OU" else None).add_prefix(f"{stem}_")
    names_of(frame, name)
    check_count(name, len(frame), n_rows)
    return frame


def number_table(values: Any, name: str, n_rows: int | None = None) -> Array:
    """Return columns of finite numbers as a new float64 array of shape (rows, columns)."""
    hint = "encode text as numbers, ordered categories by their .cat.codes, and leave out rows with gaps"
    frame = columns_of(values, name, name, n_rows)
    names = [name] if frame.shape[1] == 1 else [f"{name}[{label!r}]" for label in frame]
    columns = zip(names, frame.items(), strict=True)
    return np.column_stack([per_row(own, column, within=FINITE, hint=hint) for own, (_, column) in columns])


def column_names(table: Any) -> list[Any] | None:
    """Return the names of the columns, or None for an array, a list or a sparse matrix."""
    if hasattr(table, "collect_schema"):  # polars, lazy or not
        return list(table.collect_schema().names())
    # pyarrow calls the names column_names, and the data columns.
    names = getattr(table, "column_names", getattr(table, "columns", None))
    return None if names is None else list(names)


def names_of(table: Any, name: str) -> list[Any]:
    """Return the names of the columns, or their positions in an array; raise if there are none, or two of one name."""
    names = column_names(table)
    names = list(range(as_table(table, name).shape[1])) if names is None else names
    if not names:
        raise ValueError(f"{name} must have at least one column, got none: add one")
    index = pd.Index(names, tupleize_cols=False)
    if repeated := index[index.duplicated()].tolist():
        raise ValueError(f"{name} has several columns called {', '.join(map(str, repeated))}: rename them")
    return names


def listed(columns: Any) -> list[Any]:
    """Return a user's columns, names or positions, as a list; None is no column, a single name or number is one."""
    items = [] if columns is None else list(dict.fromkeys(several(columns)))
    if any(isinstance(item, (bool, np.bool_)) for item in items):  # they would count as the positions 0 and 1
        raise TypeError("columns must be given by names or positions, got truth values: pass X.columns[mask]")
    return items


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
        return sparse.hstack([_explicit_csr(left), _explicit_csr(right)], format="csr")
    if column_names(left) is None and column_names(right) is None:
        return np.hstack([left, right])
    frames = [as_frame(table).reset_index(drop=True) for table in (left, right)]
    if set(frames[0].columns) & set(frames[1].columns):  # such as the numbers of unnamed columns
        frames = [frame.add_prefix(f"{side}:") for side, frame in zip("xz", frames, strict=True)]
    return pd.concat(frames, axis=1)


def check_no_text(table: Any, name: str) -> None:
    """Raise if a column holds text, which XGBoost accepts as categories only, or dates, or has a name it refuses."""
    if not isinstance(table, pd.DataFrame):
        return
    if odd := [column for column in table.columns if any(sign in str(column) for sign in "[]<")]:
        raise ValueError(
            f"the columns of {name} must have no [, ] or < in their names, got {describe(odd)}: rename them"
        )
    for column, dtype in table.dtypes.items():
        is_date = dtype.kind in "mM"
        if not (is_date or pd.api.types.is_object_dtype(dtype) or isinstance(dtype, pd.StringDtype)):
            continue
        hint = f"pass numbers, or {name}[{column!r}].astype('category'), in an estimator with enable_categorical=True"
        hint = "pass a number, such as days since an event" if is_date else hint
        raise ValueError(f"the column {column!r} of {name} has dtype {dtype}, which XGBoost does not read: {hint}")


def beside(X: Any, data: Any, X_name: str, name: str) -> Any:
    """Return the data as a table of the rows of X, or raise if they differ in number or order; None stays None."""
    if data is None:
        return None
    table = as_table(data, name)
    check_count(name, int(table.shape[0]), row_count(X), X_name)
    check_orders({X_name: X, name: data})
    return table


def check_orders(tables: dict[str, Any]) -> None:
    """Raise if two tables or columns have one index in different orders, since rows are matched by position."""
    indexed = [(name, one.index) for name, one in tables.items() if isinstance(one, (pd.DataFrame, pd.Series))]
    for (X_name, ours), (name, theirs) in itertools.combinations(indexed, 2):
        if len(ours) == len(theirs) and not ours.equals(theirs) and Counter(ours) == Counter(theirs):
            remedy = f"pass {name}.loc[{X_name}.index]" if theirs.is_unique else "sort both by one column"
            raise ValueError(
                f"{name} and {X_name} have the same index in another order, but rows are matched by position: {remedy}"
            )


def row_count(table: Any) -> int:
    """Return the number of rows of a table of any kind."""
    return int(table.shape[0]) if hasattr(table, "shape") else len(as_table(table, "X"))


def _explicit_csr(table: Any) -> Any:
    """Return a sparse matrix that stores the zeros of a dense table, since XGBoost reads gaps as missing values."""
    if hasattr(table, "tocsr"):
        return table.tocsr()
    try:
        dense = np.asarray(table, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise TypeError("a sparse matrix can be joined with numeric columns only: pass both as DataFrames") from error
    return sparse.coo_matrix((dense.ravel(), np.indices(dense.shape).reshape(2, -1)), dense.shape).tocsr()

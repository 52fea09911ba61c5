"""Columns of tables of any kind: found by name or position, selected, left out, joined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .names import describe


def as_table(data: Any, name: str) -> Any:
    """Return the data as a table of its own library whose rows and columns can be selected."""
    if hasattr(data, "collect") and not hasattr(data, "shape"):  # polars.LazyFrame
        data = data.collect()
    if hasattr(data, "tocsr"):
        return data.tocsr()
    kind = type(data).__name__
    if not hasattr(data, "shape"):
        try:
            data = np.asarray(data)
        except ValueError as error:
            raise ValueError(f"{name} must have rows and columns, got rows of different lengths ({error})") from error
    if len(data.shape) == 1:
        return data.to_frame() if hasattr(data, "to_frame") else data.reshape(-1, 1)
    if len(data.shape) != 2:
        got = f"an array of shape {data.shape}" if len(data.shape) else f"a {kind}: pass a table or an array"
        raise ValueError(f"{name} must have rows and columns, got {got}")
    return data


def column_names(table: Any) -> list[Any] | None:
    """Return the names of the columns, or None for an array, a list or a sparse matrix."""
    if hasattr(table, "collect_schema"):  # polars, lazy or not
        return list(table.collect_schema().names())
    # pyarrow calls the names column_names, and the data columns.
    names = getattr(table, "column_names", getattr(table, "columns", None))
    return None if names is None else list(names)


def listed(columns: Any) -> list[Any]:
    """Return a user's columns as a list; None is no column, a single name or number is one."""
    if columns is None:
        return []
    if isinstance(columns, (str, int, np.integer)):
        return [columns]
    names = list(dict.fromkeys(columns))
    if any(isinstance(name, (bool, np.bool_)) for name in names):
        raise TypeError(
            f"columns must be names or positions, got the mask {names}: pass table.columns[mask], or "
            "numpy.flatnonzero(mask) for an array"
        )
    return names


def locate(table: Any, columns: Sequence[Any], name: str, what: str) -> list[int]:
    """Return the positions of these columns in the table ``name``; ``what`` is the keyword that lists them."""
    names = column_names(table)
    if names is None:
        return _positions(table, columns, name, what)
    missing = [column for column in columns if column not in names]
    if missing:
        raise ValueError(
            f"{what} must be columns of {name}, got {describe(missing)}: add them for fit, or choose among "
            f"{describe(names)}"
        )
    return [names.index(column) for column in columns]


def _positions(table: Any, columns: Sequence[Any], name: str, what: str) -> list[int]:
    names = [column for column in columns if not isinstance(column, (int, np.integer))]
    if names:
        raise ValueError(
            f"{what} must be positions, since {name} is a {type(table).__name__} without column names, got "
            f"{describe(names)}: pass whole numbers, or a DataFrame"
        )
    outside = [column for column in columns if not 0 <= column < table.shape[1]]
    if outside:
        raise ValueError(f"{what} must be columns of {name}, which has {table.shape[1]}, got {describe(outside)}")
    return [int(column) for column in columns]


def take(table: Any, positions: Sequence[int]) -> Any:
    """Return the columns at these positions."""
    if hasattr(table, "iloc"):
        return table.iloc[:, list(positions)]
    names = column_names(table)
    if names is not None:  # polars and pyarrow
        return table.select([names[position] for position in positions])
    return table[:, list(positions)]


def take_rows(table: Any, rows: Any) -> Any:
    """Return the rows of these numbers."""
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    return table.take(rows) if hasattr(table, "column_names") else table[rows]  # pyarrow has column_names


def rows_without_values(table: Any) -> Any:
    """Return which rows are empty in every column; the gaps of a sparse matrix are zeros except to XGBoost."""
    if hasattr(table, "tocsr"):
        return np.zeros(table.shape[0], bool)
    return as_frame(table).isna().all(axis=1).to_numpy()


def leave_out(table: Any, positions: Iterable[int]) -> Any:
    """Return the table without these columns; the same object if there are none."""
    dropped = set(positions)
    return take(table, [i for i in range(table.shape[1]) if i not in dropped]) if dropped else table


def present(table: Any, columns: Sequence[Any], n_others: int) -> list[int]:
    """Return the positions of those columns that the table has.

    An array has no names: by its width it has all of the columns or, if that is ``n_others``, none.
    """
    names = column_names(table)
    if names is not None:
        return [names.index(column) for column in columns if column in names]
    return _positions(table, columns, "X", "columns") if table.shape[1] == n_others + len(columns) else []


def side_by_side(left: Any, right: Any) -> Any:
    """Return one table of both sets of columns, whose rows are matched by position."""
    if hasattr(left, "tocsr") or hasattr(right, "tocsr"):
        from scipy import sparse

        return sparse.hstack([_explicit_csr(left), _explicit_csr(right)], format="csr")
    if type(left) is type(right) and hasattr(left, "hstack"):  # polars
        return left.hstack(right)
    if column_names(left) is None and column_names(right) is None:
        return np.hstack([left, right])
    return pd.concat([as_frame(left).reset_index(drop=True), as_frame(right).reset_index(drop=True)], axis=1)


def as_frame(table: Any) -> pd.DataFrame:
    """Return the table as a DataFrame."""
    if isinstance(table, pd.DataFrame):
        return table
    if hasattr(table, "to_pandas"):
        frame: pd.DataFrame = table.to_pandas()
        return frame
    return pd.DataFrame(table.toarray() if hasattr(table, "toarray") else table)


def check_no_text(table: Any, name: str) -> None:
    """Raise if a column holds text, which XGBoost accepts as categories only, or dates."""
    if not isinstance(table, pd.DataFrame):
        return
    for position, column in enumerate(table.columns):
        dtype, hint = table.iloc[:, position].dtype, "pass a number, such as days since an event"
        if isinstance(dtype, pd.StringDtype) or (isinstance(dtype, np.dtype) and dtype.kind == "O"):
            hint = f"pass numbers, or {name}[{column!r}].astype('category') with enable_categorical=True"
        elif dtype.kind not in "mM":
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
        raise TypeError(
            "a sparse matrix can be joined with numeric columns only, and the other table has other columns: encode "
            "them first, or pass both tables as DataFrames"
        ) from error
    rows, columns = dense.shape
    return sparse.csr_matrix((dense.ravel(), np.tile(np.arange(columns), rows), np.arange(rows + 1) * columns))

"""One value per row or several, whatever holds them: as named columns, or as a table of numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._arrays import Array, to_host
from .checks import check_lengths, check_no_mask
from .tables import column_names
from .vectors import as_vector

_OF_PANDAS = (pd.Series, pd.Index, pd.Categorical)


def number_column(values: Any, name: str) -> Array:
    """One number per row as float64, without NaN."""
    table = number_table(values, name, finite=False)
    if table.shape[1] != 1:
        raise ValueError(f"{name} must be one number per row, got {table.shape[1]} columns: give one of them")
    return table[:, 0]


def number_table(values: Any, name: str, *, finite: bool = True) -> Array:
    """Columns of numbers as float64 of shape (rows, columns), without NaN, in an array of our own."""
    columns = named_columns(values, name, stem=name)
    check_lengths(**{f"{name}[{label!r}]": len(column) for label, column in columns})
    table = np.column_stack([_numbers(column, label, name) for label, column in columns])
    bad = (~np.isfinite(table) if finite else np.isnan(table)).any(axis=1)
    if bad.any():
        raise ValueError(
            f"{name} has missing {'or infinite ' if finite else ''}values in {int(bad.sum())} rows, first in row "
            f"{int(bad.argmax())}: fill them in, or leave those rows out"
        )
    return table


def _numbers(column: Any, label: Hashable, name: str) -> Array:
    series = pd.Series(column.tolist() if isinstance(column, np.ndarray) and column.dtype.kind == "O" else column)
    if pd.api.types.is_complex_dtype(series.dtype):
        raise TypeError(f"{name} must be real numbers, column {label!r} has dtype {series.dtype}: give one part of it")
    if not pd.api.types.is_numeric_dtype(series.dtype):
        raise TypeError(
            f"{name} must be numbers, column {label!r} has dtype {series.dtype}: encode it as numbers first, "
            "ordered categories by their .cat.codes"
        )
    return series.to_numpy(dtype=np.float64, na_value=np.nan)


def named_columns(values: Any, name: str, stem: str) -> list[tuple[Hashable, Any]]:
    """The columns of whatever holds one value per row, or several, with their names; the others are ``stem_i``."""
    if isinstance(values, pd.DataFrame):
        columns: list[tuple[Any, Any]] = [(label, values.iloc[:, i]) for i, label in enumerate(values.columns)]
    elif isinstance(values, Mapping):
        columns = [(label, _column(column, f"{name}[{label!r}]")) for label, column in values.items()]
    elif isinstance(values, _OF_PANDAS):
        columns = [(getattr(values, "name", None), values)]
    else:
        array = _as_array(values, name)
        if array.dtype.names and array.ndim == 1:  # a table as NumPy has it
            return named_columns(pd.DataFrame(array), name, stem)
        parts = array.T if array.ndim == 2 else [array]
        columns = list(zip(column_names(values) or [None] * len(parts), parts, strict=True))
    if not columns:
        raise ValueError(f"{name} has no columns: give at least one")
    if not len(columns[0][1]):
        raise ValueError(f"{name} is empty: give one value per row")
    return [(f"{stem}_{i}" if label is None else label, column) for i, (label, column) in enumerate(columns)]


def _column(values: Any, name: str) -> Any:
    if isinstance(values, _OF_PANDAS):
        return values
    return as_vector(name, _as_array(values, name))


def _as_array(values: Any, name: str) -> NDArray[Any]:
    """An array of one or two dimensions; a list keeps the kinds of its values."""
    if isinstance(values, (list, tuple)):
        if any(isinstance(row, (list, tuple, np.ndarray)) for row in values):
            return pd.DataFrame(list(values)).to_numpy(dtype=object)
        # numpy would turn the NaN of ["a", nan] into the text "nan".
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    check_no_mask(values, name)
    array = np.asarray(to_host(values))
    if array.ndim == 0:
        raise TypeError(
            f"{name} must hold one value per row, got {values!r}: give a list, an array or a Series, or a DataFrame "
            "for several columns"
        )
    if array.ndim > 2:
        raise ValueError(f"{name} must have one or two dimensions, got shape {array.shape}: one row per row of data")
    return array

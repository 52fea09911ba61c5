"""One value per row or several, in any container: as named columns, or as a table of numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Array
from .per_row import FINITE, as_columns, check_count, on_host, per_row
from .tables import column_names

_OF_PANDAS = (pd.Series, pd.Index, pd.api.extensions.ExtensionArray)


def number_table(values: Any, name: str, n_rows: int | None = None) -> Array:
    """Return columns of finite numbers as a new float64 array of shape (rows, columns)."""
    columns = named_columns(values, name, name, n_rows)
    hint = "encode text as numbers, ordered categories by their .cat.codes, and leave out rows with gaps"
    return np.column_stack(
        [per_row(_column_name(name, label, columns), column, within=FINITE, hint=hint) for label, column in columns]
    )


def named_columns(values: Any, name: str, stem: str, n_rows: int | None = None) -> list[tuple[Hashable, Any]]:
    """Return named columns of any container of one value per row or several; unnamed ones are ``stem_i``.

    Columns of pandas are unchanged, since categories have an order.
    """
    if isinstance(values, (list, tuple)) and any(isinstance(row, (list, tuple, np.ndarray)) for row in values):
        values = pd.DataFrame(list(values)).to_numpy(dtype=object)  # each value keeps its type
    if isinstance(values, np.ndarray) and values.dtype.names and values.ndim == 1:  # a structured array
        values = pd.DataFrame(on_host(values, name))
    if isinstance(values, pd.DataFrame):
        columns: list[tuple[Any, Any]] = [(label, values.iloc[:, i]) for i, label in enumerate(values.columns)]
    elif isinstance(values, Mapping):
        columns = [(label, _column(column, f"{name}[{label!r}]")) for label, column in values.items()]
    elif isinstance(values, _OF_PANDAS):
        columns = [(getattr(values, "name", None), values)]
    else:
        array = as_columns(name, on_host(values, name), several=True)
        parts = array.T if array.ndim == 2 else [array]
        columns = list(zip(column_names(values) or [None] * len(parts), parts, strict=True))
    if not columns:
        raise ValueError(f"{name} has no columns: give at least one")
    columns = [(f"{stem}_{i}" if label is None else label, column) for i, (label, column) in enumerate(columns)]
    for label, column in columns:
        check_count(_column_name(name, label, columns), len(column), n_rows or len(columns[0][1]) or None)
    return columns


def _column_name(name: str, label: Hashable, columns: list[Any]) -> str:
    return name if len(columns) == 1 else f"{name}[{label!r}]"


def _column(values: Any, name: str) -> Any:
    return values if isinstance(values, _OF_PANDAS) else per_row(name, values, kind="values", missing="keep")

"""What a user says about each row, as arrays of our own: groups as whole numbers, measurements as floats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Array
from .._xgb.collective import from_each_worker


def group_codes(values: Any, name: str) -> tuple[Array, list[Any]]:
    """A whole number per row and the group each number stands for; several columns give their intersections."""
    frame = _frame(values, name)
    _check_complete(
        frame.isna().to_numpy().any(axis=1),
        f"{name} has missing values",
        'give them a group of their own, such as "unknown"',
    )
    codes: Array = np.zeros(len(frame), np.intp)
    groups: list[tuple[Any, ...]] = [()]
    for position in range(frame.shape[1]):
        column, uniques = pd.factorize(frame.iloc[:, position])
        levels = list(uniques)
        # Made dense again after every column: the product of many level counts would overflow.
        codes, met = pd.factorize(codes * len(levels) + column)
        groups = [(*groups[pair // len(levels)], levels[pair % len(levels)]) for pair in met.tolist()]
    names = groups if frame.shape[1] > 1 else [group[0] for group in groups]
    return codes.astype(np.intp), names


def shared_codes(codes: Array, names: list[Any]) -> tuple[Array, int]:
    """The same codes under a numbering that all workers share, and how many names there are among them.

    Names are numbered as they come with the ranks of the workers, which for rows in that order is the numbering of
    one machine. A worker need not have rows of every name.
    """
    every = dict.fromkeys(name for names_there in from_each_worker(names) for name in names_there)
    number = {name: i for i, name in enumerate(every)}
    return np.array([number[name] for name in names], np.intp)[codes], len(every)


def number_column(values: Any, name: str) -> Array:
    """One number per row as float64, without NaN."""
    table = number_table(values, name, finite=False)
    if table.shape[1] != 1:
        raise ValueError(f"{name} must be one number per row, got {table.shape[1]} columns: give one of them")
    return table[:, 0]


def number_table(values: Any, name: str, *, finite: bool = True) -> Array:
    """Columns of numbers as float64 of shape (rows, columns), without NaN, in an array of our own."""
    frame = _frame(values, name)
    for label, kind in frame.dtypes.items():
        if not (pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind)):
            raise TypeError(
                f"{name} must be numbers, column {label!r} has dtype {kind}: encode it as numbers first, "
                "ordered categories by their .cat.codes"
            )
    table = frame.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    bad = ~np.isfinite(table) if finite else np.isnan(table)
    problem = f"{name} has missing {'or infinite ' if finite else ''}values"
    _check_complete(bad.any(axis=1), problem, "fill them in, or leave those rows out of the training")
    return table


def _frame(values: Any, name: str) -> pd.DataFrame:
    if hasattr(values, "__cuda_array_interface__") and hasattr(values, "get"):
        values = values.get()
    if not isinstance(values, (np.ndarray, Mapping, pd.DataFrame, pd.Series, pd.Index)):
        if values is None or isinstance(values, (str, bytes)) or np.ndim(values) == 0:
            raise TypeError(
                f"{name} must hold one value per row, got {values!r}: give a list, an array, a Series or a DataFrame"
            )
        if hasattr(values, "__array__"):  # a column or a table of another library
            values = np.asarray(values)
    if isinstance(values, np.ndarray) and values.ndim not in (1, 2):
        raise ValueError(f"{name} must have one or two dimensions, got shape {values.shape}: one row per training row")
    frame = pd.DataFrame(dict(values) if isinstance(values, Mapping) else values)
    if frame.empty:
        raise ValueError(f"{name} is empty: give one value per training row")
    return frame


def _check_complete(bad: Array, problem: str, advice: str) -> None:
    if bad.any():
        raise ValueError(f"{problem} in {int(bad.sum())} rows, first in row {int(bad.argmax())}: {advice}")

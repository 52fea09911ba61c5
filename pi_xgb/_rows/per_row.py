"""Reads keywords with a value for each row: from any container to a new NumPy array."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .checks import check_no_mask
from .names import plain

LARGEST = float(np.finfo(np.float64).max)
_LARGEST_SINGLE = float(np.finfo(np.float32).max)


class Span(NamedTuple):
    """The least and the greatest number, and words for a message; an infinite end allows infinite numbers."""

    low: float
    high: float
    words: str = ""


ANY_NUMBER = Span(-np.inf, np.inf, "numbers")
FINITE = Span(-LARGEST, LARGEST, "finite numbers")
FINITE_IN_SINGLE = Span(-_LARGEST_SINGLE, _LARGEST_SINGLE, "finite numbers of single precision")
NOT_NEGATIVE = Span(0.0, LARGEST, "finite and at least 0")
SHARE = Span(0.0, 1.0)


def per_row(
    name: str,
    values: Any,
    n_rows: int | None = None,
    kind: Literal["numbers", "truth values", "values"] = "numbers",
    *,
    within: Span = ANY_NUMBER,
    missing: Literal["refuse", "keep"] = "refuse",
    several: bool = False,
    dtype: Any = np.float64,
    table: str = "",
    hint: str = "",
) -> NDArray[Any]:
    """Return the values of a keyword, checked, in a new array.

    Parameters
    ----------
    name
        The keyword, for messages.
    values
        A list, an array of NumPy, CuPy or Arrow, a column of pandas or polars, or a table of one column.
    n_rows
        The required number of values; None accepts any number above 0.
    kind
        "numbers"; "truth values", including 1 and 0; or "values" of any type, such as the names of groups.
    within
        The range of numbers.
    missing
        Rows without a value (NaN, None, NaT, NA) are an error, or are kept: among numbers as NaN.
    several
        Whether a row may have several values. The array is then ``(n,)`` or ``(n, K)``.
    dtype
        The dtype of numbers. None is that of floats as they are, float64 for others.
    table
        For messages: "dtrain" makes "the rows of dtrain".
    hint
        The remedy for wrong values; for "values" of any type, the remedy for missing ones.
    """
    array = as_columns(name, on_host(values, name), several=several)
    check_count(name, len(array), n_rows, table)
    gaps, is_truth = np.asarray(pd.isna(array)), kind == "truth values"
    if gaps.any() and (missing == "refuse" or is_truth):
        advice = (kind != "numbers" and hint) or "fill them in, or leave these rows out"
        raise ValueError(
            f"{name} must have a value in every row, got {int(gaps.sum())} missing values in {len(array)}, first in "
            f"row {np.argwhere(gaps)[0, 0]}: {advice}"
        )
    if kind == "values":
        return np.array(array)
    numbers = unboxed(array)
    error: type[Exception]
    if numbers.dtype.kind in "biuf":
        # In float64: compared with a smaller float, the ends of the range would become infinite.
        checked = numbers.astype(np.float64)
        right = np.isin(checked, (0, 1)) if is_truth else (checked >= within.low) & (checked <= within.high)
        error, advice = ValueError, "correct such values, or leave these rows out"
    else:
        right = np.reshape([_is_number(value) for value in array.flat], array.shape)
        error, advice = TypeError, "encode text as numbers"
    if (wrong := ~(right | gaps)).any():
        must = within.words or f"numbers from {within.low:g} to {within.high:g}"
        must = "truth values, or 1 and 0" if is_truth else must
        value = array[wrong][0]
        got = f"{value:g}" if isinstance(value, (float, np.floating)) else repr(plain(value))
        got = f"{value} of dtype {array.dtype}" if array.dtype.kind in "cmMV" else got
        raise error(f"{name} must be {must}, got {got} in row {np.argwhere(wrong)[0, 0]}: {hint or advice}")
    if dtype is None:
        dtype = numbers.dtype if numbers.dtype.kind == "f" else np.float64
    with np.errstate(over="ignore"):  # values too large for the dtype become infinite
        return numbers.astype(np.bool_ if is_truth else dtype)


def on_host(values: Any, name: str = "y") -> NDArray[Any]:
    """Return the values of any container as an array in host memory, which the container may share."""
    check_no_mask(values, name)
    if hasattr(values, "collect") and not hasattr(values, "shape"):  # polars.LazyFrame
        values = values.collect()
    if hasattr(values, "__cuda_array_interface__"):
        values = values.to_numpy() if hasattr(values, "to_numpy") else values.get()
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must have rows of one length, got lists of several lengths: pass an array") from error
    if array.dtype.kind in "US" and isinstance(values, (list, tuple)):
        items = np.array(values, dtype=object)
        if not all(isinstance(item, (str, bytes)) for item in items.flat):
            return items  # NumPy would turn numbers and gaps among texts into text
    return array


def check_count(name: str, count: int, n_rows: int | None, table: str = "", units: str = "rows") -> None:
    """Raise unless there are ``n_rows`` values; None accepts any number above 0."""
    if n_rows is None and not count:
        raise ValueError(f"{name} is empty: give one value per row")
    if n_rows not in (None, count):
        units = f"{units} of {table}" if table else units
        raise ValueError(f"{name} must have one value for each of the {n_rows} {units}, got {count}: give as many")


def unboxed(array: NDArray[Any]) -> NDArray[Any]:
    """Return an object array of numbers or truth values with a dtype for them, gaps as NaN; others unchanged."""
    gaps = np.asarray(pd.isna(array))
    if array.dtype.kind != "O" or not all(map(_is_number, array[~gaps])):
        return array
    numbers = np.array(np.where(gaps, np.nan, array).tolist() if gaps.any() else array.tolist())
    return numbers if numbers.dtype.kind in "biuf" else array.astype(np.float64)


def _is_number(value: Any) -> bool:
    return isinstance(value, (Real, Decimal, np.bool_)) and not isinstance(value, np.timedelta64)


def as_columns(name: str, array: NDArray[Any], *, several: bool) -> NDArray[Any]:
    """Return a vector, also from a table of one column; or a table where a row may have ``several`` values."""
    if array.ndim == 0:
        raise TypeError(f"{name} must have one value per row, got {array.item()!r}: give a list or an array")
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim > 2 or (array.ndim == 2 and not several):
        raise ValueError(f"{name} must have one column, got shape {array.shape}: pass one column at a time")
    return array

"""The declared domain of the privileged values; nothing is read from the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._rows.names import describe
from .._rows.tables import as_frame, as_table


class Numbers:
    """A column of numbers in a range; values outside are clipped."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    def read(self, column: pd.Series[Any], name: Any) -> NDArray[np.float64]:
        """Return the column, clipped to the range."""
        # Dates and durations would be read as nanoseconds, complex numbers without their imaginary part.
        readable = not hasattr(column, "dt") and column.dtype.kind != "c"
        try:
            values = pd.to_numeric(column, errors="coerce").to_numpy(np.float64) if readable else np.array([np.nan])
        except OverflowError:  # whole numbers beyond the largest float
            values = np.array([np.nan])
        if np.isnan(values).any():
            # No value in the message: it would go into logs.
            raise TypeError(
                f"the column {name!r} of z must hold numbers, as declared from {self.low:g} to {self.high:g}, got "
                "other values: declare its categories as a list, or convert it, for example to days since a date"
            )
        return np.asarray(np.clip(values, self.low, self.high))

    def size(self, bins: int) -> int:
        """Return the number of cells."""
        return bins

    def cells(self, values: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
        """Return the cell of each value, of cells of equal width."""
        share = (values - self.low) / (self.high - self.low)
        return np.minimum((share * self.size(bins)).astype(np.int64), self.size(bins) - 1)


class Categories(Numbers):
    """A column of declared categories, read as their positions: each in the middle of a cell of width 1."""

    def __init__(self, names: list[Any]) -> None:
        super().__init__(-0.5, len(names) - 0.5)
        self.names = names

    def read(self, column: pd.Series[Any], name: Any) -> NDArray[np.float64]:
        """Return the position of each row's category."""
        try:
            codes = pd.Index(self.names).get_indexer(pd.Index(column.astype(object)))
        except TypeError:  # lists and the like
            codes = np.array([-1])
        if (codes < 0).any():
            raise ValueError(
                f"the column {name!r} of z must hold its declared categories {describe(self.names)}, got other values: "
                "declare all possible categories, or a range of numbers as a pair, (low, high)"
            )
        return np.asarray(codes, dtype=np.float64)

    def size(self, bins: int) -> int:
        """Return the number of categories."""
        return len(self.names)


class Domain:
    """The declared domain of every column of z."""

    def __init__(self, bounds: Any) -> None:
        if not isinstance(bounds, Mapping) or not bounds:
            raise ValueError(
                f"bounds must be a dict with the domain of each column of z, got {bounds!r}: pass a pair (low, high) "
                "for numbers, a list for categories, for example {'age': (0, 110), 'ward': ['a', 'b']}. Do not compute "
                "them from the data: they would reveal rows"
            )
        self.columns = {name: _column(name, declared) for name, declared in bounds.items()}

    def read(self, z: Any) -> NDArray[np.float64]:
        """Return the columns of z as numbers within their bounds, in the order of the declaration."""
        frame = as_frame(as_table(z, "z"))
        check_no_gaps(frame)
        if not frame.columns.is_unique:
            twice = frame.columns[frame.columns.duplicated()][0]
            raise ValueError(f"z must have distinct column names, got {twice!r} twice: rename one of them")
        unknown = [name for name in frame.columns if name not in self.columns]
        absent = [name for name in self.columns if name not in frame.columns]
        if unknown or absent:
            found = f"no bounds for {describe(unknown)}" if unknown else f"bounds for absent {describe(absent)}"
            raise ValueError(
                f"bounds must cover exactly the columns of z, {describe(frame.columns)}, got {found}: pass bounds that "
                "are known without the data"
            )
        return np.column_stack([column.read(frame[name], name) for name, column in self.columns.items()])


def check_no_gaps(frame: pd.DataFrame) -> None:
    """Raise if values are missing: no mechanism here hides which rows lack a value."""
    gaps = frame.isna().any()
    if gaps.any():
        raise ValueError(
            f"the column {gaps.index[gaps][0]!r} of z has missing values, which are privileged information as well: "
            "fill them by a rule that reads no other row, or declare 'missing' as a category"
        )


def _column(name: Any, declared: Any) -> Numbers:
    if isinstance(declared, tuple):
        if not is_range(declared):
            raise ValueError(
                f"the bounds of {name!r} must be a pair of finite numbers (low, high) with low < high, got "
                f"{declared!r}: pass categories as a list"
            )
        return Numbers(*map(float, declared))
    names = list(declared) if isinstance(declared, (list, np.ndarray, pd.Index)) else []
    are_names = all(pd.api.types.is_scalar(name) and not pd.isna(name) for name in names)
    if len(names) < 2 or not are_names or len(set(names)) < len(names):
        raise ValueError(
            f"the bounds of {name!r} must be a pair (low, high) for numbers, or a list of at least two different "
            f"categories, got {declared!r}"
        )
    return Categories(names)


def is_range(declared: Any) -> bool:
    """Whether this is a pair of finite numbers, (low, high) with low < high."""
    ends = list(declared) if isinstance(declared, (tuple, list, np.ndarray)) else []
    return len(ends) == 2 and all(map(_is_number, ends)) and 0 < float(ends[1]) - float(ends[0]) < np.inf


def _is_number(value: Any) -> bool:
    value = value.item() if isinstance(value, np.number) else value
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -1e308 < value < 1e308

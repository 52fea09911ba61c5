"""What privileged values may be, as their owner declared it: nothing about them is learned from the data itself."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._rows.names import describe
from .._rows.per_row import check_count
from .._rows.tables import as_frame, as_table


class Numbers:
    """A column of numbers in a range; what lies beyond an end counts as that end."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    def read(self, column: pd.Series[Any], name: Any) -> NDArray[np.float64]:
        """The column within the range."""
        # Moments and stretches of time would be read as nanoseconds, and a complex number without a part of it.
        readable = not hasattr(column, "dt") and column.dtype.kind != "c"
        values = pd.to_numeric(column, errors="coerce").to_numpy(np.float64) if readable else np.array([np.nan])
        if np.isnan(values).any():
            # The value itself would go into logs.
            raise TypeError(
                f"the column {name!r} of z is declared as numbers from {self.low:g} to {self.high:g}, and has values "
                "that are none: declare its categories as a list, or make numbers of them, such as days since a date"
            )
        return np.asarray(np.clip(values, self.low, self.high))

    def cells(self, values: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
        """Which of so many bins of equal width each value is in."""
        share = (values - self.low) / (self.high - self.low)
        return np.minimum((share * bins).astype(np.int64), bins - 1)

    def size(self, bins: int) -> int:
        """How many cells there are."""
        return bins

    @property
    def bounds(self) -> tuple[float, float]:
        """Where values as they are read lie."""
        return self.low, self.high


class Categories:
    """A column of declared categories, read as their numbers."""

    def __init__(self, names: list[Any]) -> None:
        self.names = names

    def read(self, column: pd.Series[Any], name: Any) -> NDArray[np.float64]:
        """The number of each row's category."""
        try:
            codes = pd.Index(self.names).get_indexer(pd.Index(column.astype(object)))
        except TypeError:  # lists and the like
            codes = np.array([-1])
        if (codes < 0).any():
            raise ValueError(
                f"the column {name!r} of z has values that are not among its declared categories "
                f"{describe(self.names)}: declare all that there may be, or a range of numbers as a pair, (low, high)"
            )
        return np.asarray(codes, dtype=np.float64)

    def cells(self, values: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
        """The category itself."""
        return values.astype(np.int64)

    def size(self, bins: int) -> int:
        """How many categories there are."""
        return len(self.names)

    @property
    def bounds(self) -> tuple[float, float]:
        """Where values as they are read lie, each category in the middle of a part of its own."""
        return -0.5, len(self.names) - 0.5


class Domain:
    """The declared domain of every column of z."""

    def __init__(self, bounds: Any) -> None:
        if not isinstance(bounds, Mapping) or not bounds:
            raise ValueError(
                f"bounds must say of each column of z what may be in it, got {bounds!r}: a pair (low, high) for "
                "numbers, a list for categories, for example {'age': (0, 110), 'ward': ['a', 'b']}. Were they read "
                "from the data, they would give rows away"
            )
        self.columns = {name: _column(name, declared) for name, declared in bounds.items()}

    def read(self, z: Any) -> NDArray[np.float64]:
        """The columns of z as numbers within their bounds, in the order of the declaration."""
        frame = as_frame(as_table(z, "z"))
        check_no_gaps(frame)
        if not frame.columns.is_unique:
            twice = frame.columns[frame.columns.duplicated()][0]
            raise ValueError(f"z has the column {twice!r} twice: give each column a name of its own")
        unknown = [name for name in frame.columns if name not in self.columns]
        absent = [name for name in self.columns if name not in frame.columns]
        if unknown or absent:
            what = f"no bounds for {describe(unknown)}" if unknown else f"bounds for {describe(absent)} besides"
            raise ValueError(
                f"z has the columns {describe(frame.columns)}, and there are {what}: every column needs bounds "
                "that are known without looking at the data"
            )
        return np.column_stack([column.read(frame[name], name) for name, column in self.columns.items()])


def check_no_gaps(frame: pd.DataFrame) -> None:
    """A gap says something of its row too, and no mechanism here accounts for it."""
    gaps = frame.isna().any()
    if gaps.any():
        raise ValueError(
            f"the column {gaps.index[gaps][0]!r} of z has missing values: that a value is missing is a privileged "
            "value as well. Fill it by a rule that does not look at other rows, or declare 'missing' as a category"
        )


def check_rows(frame: pd.DataFrame, n_rows: int) -> None:
    """As many privileged rows as labels."""
    check_count("y", n_rows, len(frame), table="z")


def _column(name: Any, declared: Any) -> Numbers | Categories:
    if isinstance(declared, tuple):
        ends = [float(end) for end in declared if _is_number(end)]
        if not len(ends) == len(declared) == 2 or not 0 < ends[1] - ends[0] < np.inf:
            raise ValueError(
                f"the bounds of {name!r} must be a pair of finite numbers (low, high) with low < high, got "
                f"{declared!r}: categories are a list"
            )
        return Numbers(*ends)
    names = list(declared) if isinstance(declared, (list, np.ndarray, pd.Index)) else []
    if len(names) < 2 or not all(map(_is_name, names)) or len(set(names)) < len(names):
        raise ValueError(
            f"the bounds of {name!r} must be a pair (low, high) for numbers, or a list of at least two different "
            f"categories, got {declared!r}"
        )
    return Categories(names)


def _is_name(value: Any) -> bool:
    is_one = isinstance(value, Hashable) and np.ndim(cast("Any", value)) == 0
    return is_one and not pd.isna(cast("Any", value))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and bool(np.isfinite(value))

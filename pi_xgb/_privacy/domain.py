"""The declared domain of the privileged values; nothing is read from the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._rows.names import describe
from .._rows.tables import as_frame


class Column:
    """Numbers in a range, beyond which they are clipped, or the positions of declared categories.

    The position of a category is the middle of a cell of width 1.
    """

    def __init__(self, declared: Any, name: Any) -> None:
        self.name = name
        is_list = isinstance(declared, (list, np.ndarray, pd.Index))
        self.categories = None if isinstance(declared, tuple) else list(declared) if is_list else []
        if self.categories is None and _is_range(declared):
            self.low, self.high = map(float, declared)
        elif self.categories and _are_names(self.categories):
            self.low, self.high = -0.5, len(self.categories) - 0.5
        else:
            raise ValueError(
                f"the bounds of {name!r} must be a pair of finite numbers (low, high) with low < high, or a list of at "
                f"least two different categories, got {declared!r}"
            )

    def read(self, column: pd.Series[Any]) -> NDArray[np.float64]:
        """Return the numbers or positions of a column; no value is in the messages, which would go into logs."""
        if self.categories is not None:
            codes = pd.Index(self.categories).get_indexer(pd.Index(column.astype(object)))
            if (codes < 0).any():
                raise ValueError(
                    f"the column {self.name!r} of z must hold its declared categories {describe(self.categories)}, got "
                    "other values: declare all possible categories, or a range of numbers as a pair, (low, high)"
                )
            return np.asarray(codes, dtype=np.float64)
        # Dates and durations would be read as nanoseconds, complex numbers without their imaginary part.
        odd = hasattr(column, "dt") or column.dtype.kind == "c"
        values = np.array([np.nan]) if odd else pd.to_numeric(column, errors="coerce").to_numpy(np.float64)
        if np.isnan(values).any():
            raise TypeError(
                f"the column {self.name!r} of z must hold numbers, as declared from {self.low:g} to {self.high:g}, got "
                "other values: declare its categories as a list, or convert it, for example to days since a date"
            )
        return np.asarray(np.clip(values, self.low, self.high))

    def size(self, bins: int) -> int:
        """Return the number of cells: that of the categories, or of bins of equal width."""
        return bins if self.categories is None else len(self.categories)

    def cells(self, values: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
        """Return the cell of each value."""
        share = (values - self.low) / (self.high - self.low)
        return np.minimum((share * self.size(bins)).astype(np.int64), self.size(bins) - 1)


class Domain:
    """The declared domain of every column of z."""

    def __init__(self, bounds: Any) -> None:
        if not isinstance(bounds, Mapping) or not bounds:
            raise ValueError(
                f"bounds must be a dict with the domain of each column of z, known without the data, got {bounds!r}: "
                "pass a pair (low, high) for numbers, a list for categories: {'age': (0, 110), 'ward': ['a', 'b']}"
            )
        self.columns = [Column(declared, name) for name, declared in bounds.items()]

    def read(self, table: Any) -> NDArray[np.float64]:
        """Return the columns of z as numbers within their bounds, in the order of the declaration."""
        frame, names = as_frame(table), [column.name for column in self.columns]
        if len(frame.columns) != len(names) or set(frame.columns) != set(names):
            raise ValueError(
                f"bounds must cover each column of z once, {describe(frame.columns)}, got those of {describe(names)}: "
                "pass bounds that are known without the data"
            )
        return np.column_stack([column.read(frame[column.name]) for column in self.columns])


def _is_range(declared: tuple[Any, ...]) -> bool:
    """Whether this is a pair of finite numbers, (low, high) with low < high."""
    ends = [end.item() if isinstance(end, np.number) else end for end in declared]
    are_numbers = all(type(end) in (int, float) and -1e308 < end < 1e308 for end in ends)
    return len(ends) == 2 and are_numbers and 0 < float(ends[1]) - float(ends[0]) < np.inf


def _are_names(categories: list[Any]) -> bool:
    are_scalars = all(pd.api.types.is_scalar(name) and not pd.isna(name) for name in categories)
    return are_scalars and 2 <= len(categories) == len(set(categories))

"""From sensitive features to groups: a code per row and a name per code."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .vectors import check_lengths

MISSING = "missing"
"""The name of the group of rows whose sensitive feature is missing."""

MAX_GROUPS = 1000
"""Beyond this a sensitive feature is taken for a number or an identifier."""


@dataclass(frozen=True)
class Groups:
    """Rows in groups: ``codes`` is ``(n,)`` with values 0..k-1, ``names`` an index of length k, none of them empty."""

    codes: NDArray[np.intp]
    names: pd.Index

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.names)


def as_groups(sensitive_features: Any, n_rows: int) -> Groups:
    """The groups of one column, or the intersections of several."""
    columns = [_encode(column, values) for column, values in split_columns(sensitive_features, n_rows)]
    return groups_of(columns)


def groups_of(columns: list[Groups]) -> Groups:
    """The intersections of encoded columns; one column stays itself."""
    groups = columns[0] if len(columns) == 1 else _intersect(columns)
    _check_count(groups)
    return groups


def encoded_columns(sensitive_features: Any, n_rows: int) -> list[Groups]:
    """Each sensitive column by itself."""
    return [_encode(column, values) for column, values in split_columns(sensitive_features, n_rows)]


def everyone(n_rows: int) -> Groups:
    """All rows in one group without a feature."""
    return Groups(np.zeros(n_rows, dtype=np.intp), pd.Index([None], dtype=object))


def check_several(groups: Groups) -> None:
    """A difference needs two sides."""
    if groups.count < 2:
        raise ValueError(
            f"sensitive_features has one group only, {describe(groups.names)}: a difference needs at least two"
        )


def describe(names: Iterable[Hashable], most: int = 5) -> str:
    """A few group names for a message."""
    listed = list(names)
    shown = ", ".join(repr(plain(name)) for name in listed[:most])
    return shown + (f" and {len(listed) - most} more" if len(listed) > most else "")


def split_columns(sensitive_features: Any, n_rows: int) -> list[tuple[Hashable, Any]]:
    """Columns with their names; unnamed ones are called as Fairlearn calls them."""
    if sensitive_features is None or isinstance(sensitive_features, (str, bytes)):
        raise TypeError(
            f"sensitive_features must hold one value per row, got {sensitive_features!r}: "
            "give a list, an array, a Series, or a DataFrame for several features"
        )
    columns = _named_columns(sensitive_features)
    if not columns:
        raise ValueError("sensitive_features has no columns: give at least one")
    _check_names([name for name, _ in columns])
    for name, values in columns:
        check_lengths(**{f"sensitive_features[{name!r}]": len(values), "y_true": n_rows})
    return columns


def _named_columns(features: Any) -> list[tuple[Hashable, Any]]:
    if isinstance(features, Mapping):
        return list(features.items())
    if isinstance(features, pd.DataFrame):
        return [(name, features.iloc[:, i]) for i, name in enumerate(features.columns)]
    if isinstance(features, (pd.Series, pd.Index, pd.Categorical)):
        name = getattr(features, "name", None)
        return [("sensitive_feature_0" if name is None else name, features)]
    if isinstance(features, (list, tuple)):
        # numpy would turn the NaN of ["a", nan] into the text "nan".
        nested = any(isinstance(row, (list, tuple, np.ndarray)) for row in features)
        array = pd.DataFrame(list(features)).to_numpy(dtype=object) if nested else _objects(features)
    else:
        array = np.asarray(features)
    if array.ndim not in (1, 2):
        raise ValueError(f"sensitive_features must have one or two dimensions, got shape {array.shape}")
    parts = array.T if array.ndim == 2 else [array]
    return [(f"sensitive_feature_{i}", part) for i, part in enumerate(parts)]


def _objects(values: Any) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _check_names(names: list[Hashable]) -> None:
    repeated = sorted({str(name) for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"sensitive_features has several columns called {', '.join(repeated)}: rename them")


def _encode(name: Hashable, values: Any) -> Groups:
    codes, uniques = _factorize(values)
    if isinstance(uniques, pd.CategoricalIndex):
        uniques = uniques.astype(uniques.categories.dtype)
    absent = codes < 0
    if absent.any():
        if MISSING in set(uniques):
            raise ValueError(
                f"sensitive feature {name!r} has missing values and a group called {MISSING!r}: missing values "
                "become a group of that name, so rename yours"
            )
        codes = np.where(absent, len(uniques), codes)
        uniques = pd.Index([*uniques, MISSING], dtype=object)
    return Groups(codes.astype(np.intp), pd.Index(uniques, name=name))


def _factorize(values: Any) -> tuple[NDArray[np.intp], pd.Index]:
    if not isinstance(values, (pd.Series, pd.Index, pd.Categorical)):
        values = np.asarray(values)
        if values.dtype.kind == "O":
            values = pd.Series(values, dtype=object).infer_objects()
    try:
        codes, uniques = pd.factorize(values, sort=True)
    except TypeError:  # values of kinds that have no order among them
        codes, uniques = pd.factorize(values)
    return np.asarray(codes), pd.Index(uniques)


def _intersect(columns: list[Groups]) -> Groups:
    combined = np.zeros_like(columns[0].codes)
    for column in columns:
        # Made dense again after each column, so that many columns cannot overflow the code.
        combined = np.unique(combined * column.count + column.codes, return_inverse=True)[1]
    first_rows = np.unique(combined, return_index=True)[1]
    levels = [column.names.take(column.codes[first_rows]) for column in columns]
    names = pd.MultiIndex.from_arrays(levels, names=[column.names.name for column in columns])
    return Groups(combined.astype(np.intp), names)


def _check_count(groups: Groups) -> None:
    n_rows = groups.codes.size
    if groups.count > min(MAX_GROUPS, max(2, n_rows // 2)):
        raise ValueError(
            f"sensitive_features makes {groups.count} groups of {n_rows} rows: at most {MAX_GROUPS}, and two rows "
            "per group on average, are taken. Is it a number or an identifier? Cut numbers into bands, for "
            "example with pandas.cut"
        )


def plain(name: Any) -> Any:
    """A group's name without numpy's types, as it should read in a message."""
    if isinstance(name, tuple):
        return tuple(plain(part) for part in name)
    return name.item() if isinstance(name, np.generic) else name

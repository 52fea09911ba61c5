"""From sensitive features to groups: a code per row and a name per code.

Rows whose value is missing form a group, so that no row is dropped.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._arrays import Array
from .._xgb.collective import from_each_worker, gathered
from .names import describe
from .tables import columns_of

MISSING = "missing"
"""The name of the group of rows whose sensitive feature is missing."""

MAX_GROUPS = 1000
"""A sensitive feature with more groups is taken for a number or an identifier."""


@dataclass(frozen=True)
class Groups:
    """Rows in groups: ``codes`` is ``(n,)`` with values 0..k-1, ``names`` an index of length k."""

    codes: NDArray[np.intp]
    names: pd.Index

    @property
    def count(self) -> int:
        """The number of groups."""
        return len(self.names)

    def by_appearance(self) -> Groups:
        """The same groups, numbered in the order of their first rows."""
        codes, order = pd.factorize(self.codes)
        return Groups(codes.astype(np.intp), self.names.take(order))


def as_groups(
    values: Any, n_rows: int | None = None, *, name: str = "sensitive_features", are_compared: bool = False
) -> Groups:
    """Return the nonempty groups of one column, or the intersections of several, sorted by name.

    Takes a list, array, Series or Categorical, several columns as a DataFrame, 2-D array or dict, and columns and
    tables of other libraries. Raise if there are too many groups, or a single one where they ``are_compared``.
    """
    groups = groups_of(encoded_columns(values, n_rows, name))
    check_few(groups, groups.codes.size, name=name)
    if are_compared:
        check_several(groups)
    return groups


def encoded_columns(values: Any, n_rows: int | None = None, name: str = "sensitive_features") -> list[Groups]:
    """Return the groups of each sensitive column; unnamed columns get Fairlearn's names."""
    table = columns_of(values, name, "sensitive_feature", n_rows)
    return [_encode(label, column, name) for label, column in table.items()]


def groups_of(columns: list[Groups]) -> Groups:
    """Return the intersections of encoded columns; a single column is unchanged."""
    if len(columns) == 1:
        return columns[0]
    codes = pd.DataFrame({i: column.codes for i, column in enumerate(columns)}).groupby([*range(len(columns))])
    present = codes.size().index
    levels = [column.names.take(present.get_level_values(i).to_numpy()) for i, column in enumerate(columns)]
    return Groups(codes.ngroup().to_numpy().astype(np.intp), pd.MultiIndex.from_arrays(levels))


def everyone(n_rows: int) -> Groups:
    """Return one group of all rows."""
    return Groups(np.zeros(n_rows, dtype=np.intp), pd.Index([None]))


def shared_codes(codes: Array, names: list[Any]) -> Groups:
    """Return groups by appearance under a numbering that all workers share; ``names`` are this worker's.

    Names are numbered in the order of the workers' ranks, which for rows in that order is the numbering of one
    machine. A worker need not have rows of every name.
    """
    shared = dict.fromkeys(name for worker_names in from_each_worker(names) for name in worker_names)
    number = {name: i for i, name in enumerate(shared)}
    own = np.array([number[name] for name in names], np.intp)
    return Groups(own[codes], pd.Index(list(shared), tupleize_cols=False))


def on_several_workers(values: Array) -> int:
    """Return how many of these group values more than one worker has; every worker must call this."""
    hashes = gathered(pd.util.hash_array(np.asarray(pd.unique(values), object)))
    return int((np.unique(hashes, return_counts=True)[1] > 1).sum())


def check_several(groups: Groups) -> None:
    """Raise if there is nothing to compare."""
    if groups.count < 2:
        raise ValueError(f"sensitive_features has one group only, {describe(groups.names)}: at least two are compared")


def check_few(groups: Groups, n_rows: int, most: int = MAX_GROUPS, name: str = "sensitive_features") -> None:
    """Raise if there are more than ``most`` groups, or fewer than two rows per group on average."""
    limit = min(most, max(2, n_rows // 2))
    if groups.count > limit:
        raise ValueError(f"{name} makes {groups.count} groups of {n_rows} rows, at most {limit}: use bins (pandas.cut)")


def _encode(label: Hashable, values: pd.Series[Any], name: str) -> Groups:
    column = pd.Categorical(values).remove_unused_categories()
    if column.isna().any():
        if MISSING in column.categories:
            raise ValueError(
                f"{name} has missing values in {label!r}, where a group has the name {MISSING!r}: rename it"
            )
        column = column.add_categories(pd.Index([MISSING], dtype=object)).fillna(MISSING)
    return Groups(column.codes.astype(np.intp), column.categories.rename(label))

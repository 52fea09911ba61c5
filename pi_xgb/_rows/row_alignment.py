"""Checks that tables and columns passed with X describe the rows of X, in their order."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Array
from .per_row import on_host, per_row
from .supervision import row_weights
from .tables import as_table


def check_same_rows(X: Any, privileged: Any, X_name: str, name: str) -> None:
    """Raise if the two differ in the number or in the order of rows."""
    n_expected, n_rows = row_count(X), row_count(privileged)
    if n_expected != n_rows:
        raise ValueError(
            f"{name} must describe the rows of {X_name}: {X_name} has {n_expected} rows, {name} has {n_rows}. Take "
            "both from the same table, in the same order"
        )
    check_same_order(X, privileged, X_name, name)


def check_same_order(X: Any, privileged: Any, X_name: str, name: str) -> None:
    """Raise if one index is a permutation of the other, since rows are matched by position."""
    if not all(isinstance(table, (pd.DataFrame, pd.Series)) for table in (X, privileged)):
        return
    ours, theirs = X.index, privileged.index
    if not ours.equals(theirs) and ours.is_unique and theirs.is_unique and ours.isin(theirs).all():
        raise ValueError(
            f"{name} and {X_name} have the same index in another order, but rows are matched by position: pass "
            f"{name}.loc[{X_name}.index], or reset an index without meaning"
        )


def check_orders(X: Any, X_name: str, values: dict[str, Any]) -> None:
    """Check the order of several columns, each under its name; X may be without an index."""
    for (first_name, first), (name, column) in itertools.combinations({X_name: X, **values}.items(), 2):
        check_same_order(first, column, first_name, name)


def eval_pairs(eval_set: Any) -> list[Any] | None:
    """Return the evaluation sets as a list of (X, y), or None."""
    if eval_set is None:
        return None
    pairs = list(eval_set) if np.iterable(eval_set) else [eval_set]
    odd = [pair for pair in pairs if not (isinstance(pair, (tuple, list)) and len(pair) == 2)]
    if odd:
        raise TypeError(
            f"eval_set must be a list of (X, y), got {type(odd[0]).__name__}: give a list even for one pair, "
            "eval_set=[(X, y)], and other values of its rows by their keyword, such as eval_privileged"
        )
    return pairs


def check_one_label_each(label: Any, X: Any, name: str = "y", X_name: str = "X") -> None:
    """Raise unless each row has a label or several; they may be missing."""
    per_row(name, label, row_count(X), "values", missing="keep", several=True, table=X_name)


def check_one_margin_each(margin: Any, X: Any, name: str = "base_margin", X_name: str = "X") -> None:
    """Raise unless the number of margins is a multiple of the rows; None is accepted."""
    if margin is None:
        return
    n_rows, shape = row_count(X), on_host(margin, name).shape
    if not shape or not n_rows or math.prod(shape) % n_rows:
        raise ValueError(
            f"{name} must have one margin (of each class) for each of the {n_rows} rows of {X_name}, got shape {shape}"
        )


def checked_weight(
    sample_weight: Any, X: Any, labelled: Any = None, name: str = "sample_weight", X_name: str = "X"
) -> Array | None:
    """Return one finite weight per row in the order of X, or None; some labelled row has a weight above 0."""
    check_same_order(X, sample_weight, X_name, name)
    return row_weights(sample_weight, row_count(X), name=name, labelled=labelled, table=X_name)


def row_count(table: Any) -> int:
    """Return the number of rows of a table of any kind."""
    return int(table.shape[0]) if hasattr(table, "shape") else len(as_table(table, "X"))

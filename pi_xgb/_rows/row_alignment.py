"""What comes next to X must describe the rows of X, in their order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from .checks import check_no_mask
from .tables import as_table


def check_same_rows(X: Any, privileged: Any, X_name: str, name: str) -> None:
    """As many rows on both sides, in one order."""
    n_expected, n_rows = row_count(X), row_count(privileged)
    if n_expected != n_rows:
        raise ValueError(
            f"{name} must describe the rows of {X_name}: {X_name} has {n_expected} rows, {name} has {n_rows}. Take "
            "both from the same table, in the same order"
        )
    check_same_order(X, privileged, X_name, name)


def check_same_order(X: Any, privileged: Any, X_name: str, name: str) -> None:
    """Rows are matched by position, so an index that is the other's in another order is a mistake."""
    if not (isinstance(X, pd.DataFrame) and isinstance(privileged, (pd.DataFrame, pd.Series))):
        return
    if X.index.equals(privileged.index) or not (X.index.is_unique and privileged.index.is_unique):
        return
    if not X.index.isin(privileged.index).all():
        return
    raise ValueError(
        f"{name} and {X_name} have the same index in another order, and rows are matched by position: pass "
        f"{name}.loc[{X_name}.index], or reset the index of one if it means nothing"
    )


def check_orders(X: Any, X_name: str, values: dict[str, Any]) -> None:
    """The same for several, each under its name."""
    for name, its in values.items():
        check_same_order(X, its, X_name, name)


def check_eval_orders(eval_set: Any, values: dict[str, Any]) -> None:
    """The same for the evaluation sets, and for lists with something for each of them."""
    for i, (X, y) in enumerate(eval_set or ()):
        its = {f"{name}[{i}]": each[i] for name, each in values.items() if each is not None and i < len(each)}
        check_orders(X, f"X of eval_set[{i}]", {f"y of eval_set[{i}]": y, **its})


def eval_pairs(eval_set: Any) -> list[Any] | None:
    """The evaluation sets as a list of (X, y); or None."""
    if eval_set is None:
        return None
    if not np.iterable(eval_set):
        raise TypeError(f"eval_set must be a list of (X, y), got {eval_set!r}: give one pair for each evaluation set")
    pairs = list(eval_set)
    for i, pair in enumerate(pairs):
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
            its = f"a {type(pair).__name__}" + (f" of {len(pair)}" if isinstance(pair, (tuple, list)) else "")
            raise TypeError(
                f"eval_set must be a list of (X, y), and its item {i} is {its}: give a list even for one pair, "
                "eval_set=[(X, y)], and what else is known of its rows by its own keyword, such as eval_privileged"
            )
    return pairs


def check_one_label_each(label: Any, X: Any, name: str = "y", X_name: str = "X", what: str = "label") -> None:
    """As many labels, or other values, as rows."""
    n_rows = row_count(X)
    if not np.ndim(label):  # a number, or an iterator, which numpy takes for one thing
        raise TypeError(
            f"{name} must have one {what} for each of the {n_rows} rows of {X_name}, got {np.asarray(label).item()!r}: "
            "give a list, an array or a Series"
        )
    if n_rows != len(label):
        raise ValueError(f"{name} must have one {what} for each of the {n_rows} rows of {X_name}, got {len(label)}")


def check_one_margin_each(margin: Any, X: Any, name: str = "base_margin", X_name: str = "X") -> None:
    """As many margins as rows, or as rows times classes; or None."""
    if margin is None:
        return
    check_no_mask(margin, name)
    n_rows, shape = row_count(X), np.shape(margin)
    if not shape or not n_rows or math.prod(shape) % n_rows:
        raise ValueError(
            f"{name} must have one margin (of each class) for each of the {n_rows} rows of {X_name}, got shape {shape}"
        )


def checked_weight(
    sample_weight: Any,
    X: Any,
    labelled: Any = None,
    name: str = "sample_weight",
    X_name: str = "X",
    unit: str = "row",
    units: str = "rows",
) -> Any:
    """One finite weight per row, or None; a row that has a label weighs something. X may have others than rows."""
    if sample_weight is None:
        return None
    check_same_order(X, sample_weight, X_name, name)
    check_no_mask(sample_weight, name)
    try:
        weight = np.asarray(sample_weight, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be numbers: {error}") from error
    n_rows = row_count(X)
    if len(weight) != n_rows:
        raise ValueError(f"{name} must have one weight for each of the {n_rows} {units} of {X_name}, got {len(weight)}")
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if wrong.size:
        raise ValueError(f"{name} must be finite and at least 0, {unit} {wrong[0]} has {weight[wrong[0]]:g}")
    if not (weight if labelled is None else weight[labelled]).any():
        rows = unit if labelled is None else f"{unit} that has a label"
        raise ValueError(f"{name} is zero in every {rows}: at least one must weigh something")
    return weight


def row_count(table: Any) -> int:
    """The rows of a table of any kind."""
    return int(table.shape[0]) if hasattr(table, "shape") else len(as_table(table, "X"))

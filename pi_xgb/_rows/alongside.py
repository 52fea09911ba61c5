"""What comes next to X must describe the rows of X, in their order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .tables import as_table


def check_same_rows(X: Any, privileged: Any, X_name: str, name: str) -> None:
    """As many rows on both sides, in one order."""
    n_expected, n_rows = _n_rows(X), _n_rows(privileged)
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


def check_one_label_each(label: Any, X: Any) -> None:
    """As many labels as rows."""
    n_rows = _n_rows(X)
    if n_rows != len(label):
        raise ValueError(f"y must have one label for each of the {n_rows} rows of X, got {len(label)}")


def checked_weight(sample_weight: Any, X: Any) -> Any:
    """One finite weight per row, or None."""
    if sample_weight is None:
        return None
    check_same_order(X, sample_weight, "X", "sample_weight")
    try:
        weight = np.asarray(sample_weight, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise TypeError(f"sample_weight must be numbers: {error}") from error
    n_rows = _n_rows(X)
    if len(weight) != n_rows:
        raise ValueError(f"sample_weight must have one weight for each of the {n_rows} rows of X, got {len(weight)}")
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if wrong.size:
        raise ValueError(f"sample_weight must be finite and not negative, row {wrong[0]} has {weight[wrong[0]]:g}")
    check_some_weight(weight)
    return weight


def check_some_weight(weight: Any) -> None:
    """At least one row counts."""
    if not weight.any():
        raise ValueError("sample_weight is zero for every row: at least one row must weigh something")


def _n_rows(table: Any) -> int:
    return int(table.shape[0]) if hasattr(table, "shape") else len(as_table(table, "X"))

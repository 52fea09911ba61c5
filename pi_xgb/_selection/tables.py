"""What can be wrong with the tables that ``compare`` is given, before XGBoost says it in its own words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .._rows.views import check_same_order


def check_no_text(table: Any, name: str) -> None:
    """Columns of text, which XGBoost takes as categories only."""
    if not isinstance(table, pd.DataFrame):
        return
    for position, column in enumerate(table.columns):
        dtype = table.iloc[:, position].dtype
        if isinstance(dtype, pd.StringDtype) or (isinstance(dtype, np.dtype) and dtype.kind == "O"):
            raise ValueError(
                f"the column {column!r} of {name} has dtype {dtype}, which XGBoost does not read: make it a category, "
                f"{name}[{column!r}].astype('category'), or numbers"
            )


def check_one_label_each(label: Any, table: Any) -> None:
    """As many labels as rows."""
    n_rows = table.shape[0] if hasattr(table, "shape") else len(label)
    if isinstance(n_rows, int) and n_rows != len(label):
        raise ValueError(f"y must have one label for each of the {n_rows} rows of X, got {len(label)}")


def checked_weight(sample_weight: Any, X: Any, n_rows: int) -> Any:
    """One finite weight per row, or None."""
    if sample_weight is None:
        return None
    check_same_order(X, sample_weight, "X", "sample_weight")
    try:
        weight = np.asarray(sample_weight, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise TypeError(f"sample_weight must be numbers: {error}") from error
    if len(weight) != n_rows:
        raise ValueError(f"sample_weight must have one weight for each of the {n_rows} rows of X, got {len(weight)}")
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if wrong.size:
        raise ValueError(f"sample_weight must be finite and not negative, row {wrong[0]} has {weight[wrong[0]]:g}")
    if not weight.any():
        raise ValueError("sample_weight is 0 for every row: at least one row must weigh something")
    return weight

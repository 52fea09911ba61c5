"""What users say of each row's supervision: whether its label is known, and how much a teacher counts there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xgboost
from xgboost import collective

from .._arrays import Array
from .._warnings import warn_user
from .._xgb.matrix import rows_without_values
from .checks import check_no_mask
from .names import plain

MOST_WEIGHT = 1e12
"""Beyond it single precision knows no labels beside a teacher."""


def no_labelled_row(name: str) -> ValueError:
    """The error where nobody can learn anything."""
    return ValueError(f"{name} has no row with a label: a teacher has to learn from some, give it labelled rows")


def warn_of_idle_rows(idle: Array) -> None:
    """Rows that have neither a label nor a teacher take no part, which their owner may not expect."""
    if idle.any():
        warn_user(
            f"{int(idle.sum())} of {len(idle)} rows have neither a label nor a teacher that counts: they take no part"
        )


def read_labelled(labelled: Any, n_rows: int) -> Array | None:
    """One truth value per row; None where every row has a label."""
    if labelled is None:
        return None
    column = _column(labelled, n_rows, "labelled")
    if column.isna().any() or not column.isin([True, False]).all():
        odd = column[column.isna() | ~column.isin([True, False])].iloc[0]
        raise TypeError(
            f"labelled must hold truth values, True where the label of a row is known, got {plain(odd)!r}: build it as "
            "y.notna()"
        )
    known: Array = column.to_numpy(dtype=bool)
    return None if known.all() else known


def read_teacher_weight(teacher_weight: Any, n_rows: int, name: str = "teacher_weight") -> Array | None:
    """One number of at least 0 per row; None where every row has 1."""
    if teacher_weight is None:
        return None
    column = _column(teacher_weight, n_rows, name)
    if column.dtype.kind in "mMc":
        raise TypeError(f"{name} must hold numbers, got dtype {column.dtype}")
    try:
        weights: Array = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must hold numbers: {error}") from error
    wrong = np.flatnonzero(~((weights <= MOST_WEIGHT) & (weights >= 0)))
    if wrong.size:
        raise ValueError(
            f"{name} must be finite and at least 0 in every row, and at most {MOST_WEIGHT:g}, row {wrong[0]} has "
            f"{weights[wrong[0]]:g}: 0 leaves the teacher out of a row, 1 lets it count there as kl_weight says"
        )
    return None if (weights == 1).all() else weights


def _column(values: Any, n_rows: int, name: str) -> pd.Series[Any]:
    check_no_mask(values, name)
    if type(values).__module__.partition(".")[0] == "pyarrow":
        values = values.to_pandas()
    array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} must have one value per row, got shape {array.shape} for {n_rows} rows")
    if len(array) != n_rows:
        raise ValueError(f"{name} must have one value for each of the {n_rows} rows of dtrain, got {len(array)}")
    return pd.Series(array)


def weight_of_known(privileged: xgboost.DMatrix, besides: xgboost.DMatrix | None = None) -> Array | None:
    """1 for rows with a privileged value and 0 for rows without any; None where every row has one.

    Columns that are ``besides`` as well are not privileged.
    """
    shared = set(() if besides is None else besides.feature_names or ())
    return weight_beside(rows_without_values(privileged, besides=shared))


def weight_beside(empty: Array) -> Array | None:
    """1 for all rows but the ``empty`` ones, which have no privileged value; None where there are none."""
    if not empty.any():
        return None
    if empty.all() and not collective.is_distributed():
        raise ValueError(
            f"none of the {len(empty)} rows has any privileged value, so there is nothing to teach from: look at how "
            "the privileged columns were joined to the rows, or train without them"
        )
    warn_user(
        f"{int(empty.sum())} of {len(empty)} rows have no privileged value at all and are not taught: their labels "
        "alone count. teacher_weight says otherwise, if they should be",
    )
    return 1.0 - empty

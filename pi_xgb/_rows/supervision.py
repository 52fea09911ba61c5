"""Keywords with a value per row about its supervision: labelled, teacher_weight, groups, weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost
from numpy.typing import NDArray
from xgboost import collective

from .._arrays import Array
from .._warnings import warn_user
from .._xgb.matrix import rows_without_values
from .per_row import LARGEST, NOT_NEGATIVE, Unit, per_row

MOST_WEIGHT = 1e12
"""Larger weights swamp the labels in float32."""


def no_labelled_row(name: str) -> ValueError:
    """The error where nobody can learn anything."""
    return ValueError(f"{name} has no row with a label: a teacher has to learn from some, give it labelled rows")


def warn_of_idle_rows(idle: Array) -> None:
    """Rows that have neither a label nor a teacher take no part, which their owner may not expect."""
    if idle.any():
        warn_user(
            f"{int(idle.sum())} of {len(idle)} rows have neither a label nor a teacher that counts: they take no part"
        )


def read_labelled(labelled: Any, n_rows: int | None = None) -> Array | None:
    """Which rows have a label; None where every row has one."""
    if labelled is None:
        return None
    known = per_row("labelled", labelled, n_rows, "truth values", table="dtrain", hint="build it as y.notna()")
    return None if known.all() else known


def read_teacher_weight(teacher_weight: Any, n_rows: int | None = None, name: str = "teacher_weight") -> Array | None:
    """What a teacher counts in each row, from 0 to ``MOST_WEIGHT``; None where that is 1 everywhere."""
    if teacher_weight is None:
        return None
    hint = "0 leaves the teacher out of a row, 1 counts it there as kl_weight does"
    weights = per_row(name, teacher_weight, n_rows, within=(0.0, MOST_WEIGHT), table="dtrain", hint=hint)
    return None if (weights == 1).all() else weights


def checked_groups(groups: Any, n_rows: int, name: str = "groups") -> Array | None:
    """Which rows belong together: a value of any type for each, or None."""
    if groups is None:
        return None
    hint = "give a row that belongs to no other a group of its own"
    return per_row(name, groups, n_rows, "values", hint=hint)


def row_weights(
    sample_weight: Any,
    n_rows: int,
    *,
    name: str = "sample_weight",
    labelled: Array | None = None,
    unit: Unit = "row",
    table: str = "",
) -> NDArray[np.float64] | None:
    """Finite weights that can be added up, one of them above 0 (of the ``labelled`` rows, if these are given)."""
    if sample_weight is None:
        return None
    weight = per_row(
        name, sample_weight, n_rows, within=NOT_NEGATIVE, unit=unit, table=table, hint="a weight of 0 leaves a row out"
    )
    if not (weight if labelled is None else weight[labelled]).any():
        rows = unit if labelled is None else f"{unit} that has a label"
        raise ValueError(f"{name} must be above 0 somewhere, got 0 in every {rows}: weights of zero leave all rows out")
    if weight.max() > LARGEST / weight.size:
        raise ValueError(
            f"{name} must have a finite sum, got weights up to {weight.max():g}: divide all by the largest, since only "
            "their proportions count"
        )
    return weight


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

"""Who supervises each row of a training: labels, teachers and their weights, groups that stay together."""

from __future__ import annotations

from typing import Any

import xgboost
from xgboost import collective

from .._arrays import Array
from .._warnings import warn_user
from .per_row import LARGEST, NOT_NEGATIVE, Span, per_row

MOST_WEIGHT = 1e12
"""Larger weights swamp the labels in float32."""


def no_labelled_row(name: str) -> ValueError:
    """Return the error for data without labels."""
    return ValueError(
        f"{name} has no row with a label: add labelled rows, from which a teacher learns, or "
        "give soft labels as teacher= and a kl_weight above 0"
    )


def warn_of_idle_rows(idle: Array) -> None:
    """Warn of rows with neither a label nor a teacher, whose features place cuts all the same."""
    if idle.any():
        warn_user(f"{int(idle.sum())} of {len(idle)} rows have neither a label nor a teacher: leave them out")


def read_labelled(labelled: Any, n_rows: int | None = None, table: str = "dtrain") -> Array | None:
    """Return which rows have a label; None where every row has one."""
    if labelled is None:
        return None
    known = per_row("labelled", labelled, n_rows, "truth values", table=table, hint="build it as y.notna()")
    return None if known.all() else known


def read_teacher_weight(teacher_weight: Any, n_rows: int | None = None, name: str = "teacher_weight") -> Array | None:
    """Return the teacher's weight in each row, from 0 to ``MOST_WEIGHT``; None where it is 1 everywhere."""
    if teacher_weight is None:
        return None
    hint = "0 ignores the teacher in a row, 1 gives it the weight kl_weight"
    weights = per_row(name, teacher_weight, n_rows, within=Span(0.0, MOST_WEIGHT), table="dtrain", hint=hint)
    return None if (weights == 1).all() else weights


def read_groups(groups: Any, n_rows: int, name: str = "groups") -> Array | None:
    """Return the group of each row, a value of any type, or None."""
    hint = "give a row without a group a separate value"
    return None if groups is None else per_row(name, groups, n_rows, "values", hint=hint)


def row_weights(
    sample_weight: Any, n_rows: int, *, name: str = "sample_weight", labelled: Array | None = None, table: str = ""
) -> Array | None:
    """Return weights with a finite sum, at least one of them above 0 (of the ``labelled`` rows, if given)."""
    if sample_weight is None:
        return None
    hint = "a weight of 0 ignores a row"
    weight = per_row(name, sample_weight, n_rows, within=NOT_NEGATIVE, table=table, hint=hint)
    if not ((weight if labelled is None else weight[labelled]).any() or collective.is_distributed()):
        rows = "row" if labelled is None else "row that has a label"
        raise ValueError(f"{name} must be above 0 somewhere, got 0 in every {rows}: zero weights ignore all rows")
    if weight.max() > LARGEST / weight.size:
        raise ValueError(f"{name} must have a finite sum, got {weight.max():g}: divide all by the largest")
    return weight


def weight_beside(empty: Array) -> Array | None:
    """Return 0 for the ``empty`` rows, which have no privileged value, and 1 for others; None if none is empty."""
    if not empty.any():
        return None
    if empty.all() and not collective.is_distributed():
        raise ValueError(f"privileged must have values, got none in {len(empty)} rows: check how they were joined")
    warn_user(
        f"{int(empty.sum())} of {len(empty)} rows have no privileged value: only their labels count. To "
        "use the teacher there too, pass a teacher_weight of 1 in every row"
    )
    return 1.0 - empty


def check_evals_are_labelled(labelled: Array | None, dtrain: xgboost.DMatrix, evals: Any) -> None:
    """Raise if dtrain has unlabelled rows and is among the evals: metrics would use unknown labels."""
    if labelled is not None and any(matrix is dtrain for matrix, _ in evals):
        raise ValueError("dtrain with unlabelled rows is among the evals: pass dtrain.slice(np.flatnonzero(labelled))")

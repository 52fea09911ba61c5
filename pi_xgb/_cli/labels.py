"""The target in a file: a column of labels, or two columns of bounds."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Array
from .._core.losses import LOSSES, check_bounds
from .._rows.labels import Target, encode_labels, read_target, warn_of_odd_classes
from .._rows.per_row import per_row
from .._rows.supervision import no_labelled_row
from .._rows.words import first_text, place_of
from .source import check_no_nul

_EXACT = 2.0**53
"""Below it, double precision holds every whole number."""


def training_labels(columns: pd.DataFrame, objective: str | None, file: str) -> Target:
    """Return the labels of the training rows; class names are text unless they are numbers or booleans.

    Two columns are the bounds of a time, and a row without a lower bound has no label.
    """
    if columns.shape[1] == 2:
        return _training_times(columns, str(objective), file)
    column = columns.iloc[:, 0]
    target = read_target(column, objective, whole_numbers="error", name=_named(column, file), option="--objective ")
    classes = target.classes
    if classes is not None:
        warn_of_odd_classes(target, _named(column, file))
    if classes is None or classes.dtype.kind in "biu":
        return target
    if classes.dtype.kind != "f":
        # In pandas' spelling, also of dates: later labels are compared with these names.
        names = [str(name) for name in pd.Index(classes)]
        check_no_nul(names, _named(column, file))
        return dataclasses.replace(target, classes=np.array(names))
    if target.labelled is None or not (np.abs(classes) < _EXACT).all() or (classes != np.round(classes)).any():
        return target
    # pandas reads whole numbers with a gap as floats; their names stay whole numbers.
    return dataclasses.replace(target, classes=classes.astype(np.int64))


def keep_names(target: Target, written: pd.Series[Any], file: str) -> Target:
    """Return text names of classes if numbers would not reproduce what is ``written``, as with 007."""
    classes = target.classes
    if classes is None or has_text_names(classes):
        return target
    numbers = classes.astype(np.float64).tolist()  # 1.0 reproduces class 1
    known = written if target.labelled is None else written.where(target.labelled)
    if set(known.dropna().map(str).str.strip()) <= {str(name) for name in (*classes.tolist(), *numbers)}:
        return target
    return training_labels(known.to_frame(), target.objective, file)


def _training_times(bounds: pd.DataFrame, objective: str, file: str) -> Target:
    values, known = _bounds(bounds, file)
    if not known.any():
        raise no_labelled_row(f"the lower bound {bounds.columns[0]!r} of {file}")
    return Target(values, objective, None, None if known.all() else known)


def _bounds(bounds: pd.DataFrame, file: str) -> tuple[Array, Array]:
    """Return both bounds in float32, 0 and infinity if missing, and which rows have a lower bound."""
    for name, column in bounds.items():
        if not pd.api.types.is_numeric_dtype(column.dtype):
            raise ValueError(f"the bound {name!r} of {file} must be numbers, got {first_text(column, file)}")
    with np.errstate(over="ignore"):
        lower, upper = bounds.to_numpy(np.float64, na_value=np.nan).astype(np.float32).T
    known = ~np.isnan(lower)
    without_lower = np.flatnonzero(~known & ~np.isnan(upper))
    if without_lower.size:
        raise ValueError(
            f"{place_of(int(without_lower[0]), file)} of {file} has an upper bound only: write 0 as the lower bound "
            "if only the end is known, or leave both empty"
        )
    lower, upper = np.where(known, lower, np.float32(0)), np.where(np.isnan(upper), np.float32(np.inf), upper)
    check_bounds(lower, upper, file, lambda row: place_of(row, file))
    return np.column_stack([lower, upper]), known


def later_labels(columns: pd.DataFrame, classes: Array | None, objective: str, file: str) -> Array:
    """Return the labels of other rows with the training's class numbers, or both bounds of their times."""
    column = columns.iloc[:, 0]
    if columns.shape[1] == 2:
        per_row(f"the lower bound {column.name!r} of {file}", column, kind="values")
        return _bounds(columns, file)[0]
    if has_text_names(classes):
        column = column.map(str, na_action="ignore")
    label = encode_labels(column, classes, name=_named(column, file), like="the training")
    if classes is None and objective in LOSSES:
        LOSSES[objective].check_labels(label, 0, _named(column, file))
    return label


def has_text_names(classes: Array | None) -> bool:
    """Return whether labels are read as text."""
    return classes is not None and classes.dtype.kind in "UO"


def _named(column: pd.Series[Any], file: str) -> str:
    return f"the label {column.name!r} of {file}"

"""What is to be predicted, as a file has it: a column of labels, or two of bounds."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Array
from .._core.losses import LOSSES, check_bounds
from .._rows.labels import Target, encode_labels, read_target
from .._rows.per_row import per_row
from .._rows.supervision import no_labelled_row
from .._rows.words import first_text, place_of
from .source import check_no_nul

_EXACT = 2.0**53
"""Below it each whole number is a number of double precision."""


def training_labels(columns: pd.DataFrame, objective: str | None, file: str) -> Target:
    """The labels of the training rows; names of classes are text unless they are numbers or truth values.

    Two columns are the bounds of a time, of which the target has both; without a lower one there is no label.
    """
    if columns.shape[1] == 2:
        return _training_times(columns, str(objective), file)
    column = columns.iloc[:, 0]
    target = read_target(
        column, objective, whole_numbers="error", missing="unlabelled", name=_named(column, file), option="--objective "
    )
    classes = target.classes
    if classes is None or classes.dtype.kind in "biu":
        return target
    if classes.dtype.kind != "f":
        # As pandas spells them, dates too: later labels are compared with these names.
        names = [str(name) for name in pd.Index(classes)]
        check_no_nul(names, _named(column, file))
        return dataclasses.replace(target, classes=np.array(names))
    if target.labelled is None or not (np.abs(classes) < _EXACT).all() or (classes != np.round(classes)).any():
        return target
    # A gap makes a column of whole numbers one of decimal numbers to pandas; their names are what they were.
    return dataclasses.replace(target, classes=classes.astype(np.int64))


def keep_names(target: Target, written: pd.Series[Any], file: str) -> Target:
    """The same, with text for the names of classes where numbers would not give back what is ``written``: 007."""
    classes = target.classes
    if classes is None or has_text_names(classes):
        return target
    numbers = [] if classes.dtype.kind == "b" else classes.astype(np.float64).tolist()
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
    """Both bounds of each row in single precision, and whether there is a lower one; 0 and infinity where not."""
    for name, column in bounds.items():
        if not pd.api.types.is_numeric_dtype(column.dtype):
            raise ValueError(f"the bound {name!r} of {file} must be numbers, it has {first_text(column, file)}")
    with np.errstate(over="ignore"):
        lower, upper = bounds.to_numpy(np.float64, na_value=np.nan).astype(np.float32).T
    known = ~np.isnan(lower)
    alone = np.flatnonzero(~known & ~np.isnan(upper))
    if alone.size:
        raise ValueError(
            f"{place_of(int(alone[0]), file)} of {file} has an upper bound and no lower one: write 0 as the lower "
            "bound of a time of which only the end is known, and leave both empty where nothing is"
        )
    lower, upper = np.where(known, lower, np.float32(0)), np.where(np.isnan(upper), np.float32(np.inf), upper)
    check_bounds(lower, upper, file, lambda row: place_of(row, file))
    return np.column_stack([lower, upper]), known


def later_labels(columns: pd.DataFrame, classes: Array | None, objective: str, file: str) -> Array:
    """The labels of other rows, numbered as those of the training, or both bounds of their times."""
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
    """Whether labels are to be read as they are written."""
    return classes is not None and classes.dtype.kind in "UO"


def _named(column: pd.Series[Any], file: str) -> str:
    return f"the label {column.name!r} of {file}"

"""The target in a file: a column of labels, or two columns of bounds."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Array
from .._core.losses import LOSSES, check_bounds
from .._rows.labels import Target, encode_labels, read_target, warn_of_odd_classes
from .._rows.names import describe
from .._rows.per_row import per_row
from .._rows.supervision import no_labelled_row
from .._rows.words import first_text, is_text, place_of
from .features import check_numbers
from .table import values_of

_EXACT = 2.0**53
"""Below it, double precision holds every whole number."""


def training_labels(columns: pd.DataFrame, objective: str | None, file: str, *, as_names: bool = False) -> Target:
    """Return the labels of the training rows; class names are text unless they are numbers or booleans.

    Two columns are the bounds of a time, and a row without a lower bound has no label. A column of text, such as those
    of CSV files, is read as numbers if it has no other text, unless ``as_names``.
    """
    if columns.shape[1] == 2:
        return _training_times(columns, str(objective), file)
    column = columns.iloc[:, 0]
    name, is_written = _named(column, file), is_text(column) and not as_names
    values = values_of(column) if is_written else None
    if is_written and values is None:
        check_numbers(column, file)
    how: dict[str, Any] = {"whole_numbers": "error", "name": name, "option": "--objective "}
    target = _with_whole_numbers(read_target(column if values is None else values, objective, **how), column)
    if target.classes is not None and values is not None:
        names = [*target.classes.tolist(), *target.classes.astype(np.float64).tolist()]  # 1.0 reproduces class 1
        if not column[values.notna()].str.strip().isin(map(str, names)).all():  # 007 is not 7
            target = read_target(column.where(values.notna()), target.objective, **how)
    if target.classes is None:
        return target
    warn_of_odd_classes(target, name)
    if target.classes.dtype.kind in "biuf":
        return target
    # In pandas' spelling, also of dates: later labels are compared with these names.
    texts = pd.Series([str(label) for label in pd.Index(target.classes)])
    number = pd.to_numeric(texts, errors="coerce")
    twice = texts[number.duplicated(keep=False) & number.notna()].tolist()
    if twice and not as_names:
        raise ValueError(
            f"{name} has the number {twice[0]} in several spellings, {describe(twice)}: write it in one way, or add "
            f"--categories {column.name} if they name different classes"
        )
    return dataclasses.replace(target, classes=texts.to_numpy(np.str_))


def _with_whole_numbers(target: Target, column: pd.Series[Any]) -> Target:
    """Name classes 1 and 2, not 1.0 and 2.0, if a gap made floats of them or the file has one of them as 1 or 2."""
    classes: Any = target.classes
    if classes is None or classes.dtype.kind != "f" or (classes % 1 != 0).any() or (abs(classes) >= _EXACT).any():
        return target
    whole = classes.astype(np.int64)
    is_whole = target.labelled is not None or column.map(str).str.strip().isin(map(str, whole)).any()
    return dataclasses.replace(target, classes=whole) if is_whole else target


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

"""The target in a file: a column of labels, or two columns of bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Array
from .._core.losses import LOSSES, check_bounds
from .._rows.labels import Target, encode_labels, read_target, warn_of_odd_classes
from .._rows.names import describe
from .._rows.per_row import per_row
from .._rows.supervision import no_labelled_row
from .features import check_names
from .table import first_text, place_of, values_of


def training_labels(columns: pd.DataFrame, objective: str | None, file: str, *, as_names: bool = False) -> Target:
    """Return the labels of the training rows; class names are text unless they are numbers or booleans.

    Two columns are the bounds of a time, and a row without a lower bound has no label. A column of text, such as those
    of CSV files, is read as numbers if it has no other text, unless ``as_names``.
    """
    if columns.shape[1] == 2:
        bounds, known = _bounds(columns, file)
        if not known.any():
            raise no_labelled_row(f"the lower bound {columns.columns[0]!r} of {file}")
        return Target(bounds, str(objective), None, None if known.all() else known)
    column = columns.iloc[:, 0]
    name, values = _named(column, file), None
    if pd.api.types.infer_dtype(column) == "string" and not as_names and (values := values_of(column)) is None:
        check_names(column, file)
    how: dict[str, Any] = {"name": name, "option": "--objective "}
    target = read_target(column if values is None else values, objective, **how)
    classes: Any = target.classes
    has_whole = classes is not None and classes.dtype.kind == "f" and bool((classes % 1 == 0).all())
    # Classes 1 and 2, of which a gap made floats, are not called 1.0 and 2.0.
    if has_whole and abs(classes).max() < 2**53 and not column.map(str).str.endswith(".0").all():
        target = target._replace(classes=classes.astype(np.int64))
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
    return target._replace(classes=texts.to_numpy(np.str_))


def _bounds(bounds: pd.DataFrame, file: str) -> tuple[Array, Array]:
    """Return both bounds in float32, 0 and infinity if missing, and which rows have a lower bound."""
    for name, column in bounds.items():
        if not pd.api.types.is_numeric_dtype(column.dtype):
            raise ValueError(f"the bound {name!r} of {file} must be numbers, got {first_text(column, file)}")
    with np.errstate(over="ignore"):
        lower, upper = bounds.to_numpy(np.float64, na_value=np.nan).astype(np.float32).T
    known = ~np.isnan(lower)
    for row in np.flatnonzero(~known & ~np.isnan(upper)):
        raise ValueError(f"{place_of(int(row), file)} of {file} has an upper bound only: write 0 as the lower one")
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

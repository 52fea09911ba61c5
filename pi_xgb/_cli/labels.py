"""The column that is to be predicted, as a file has it."""

from __future__ import annotations

import dataclasses
from typing import Any

import pandas as pd

from .._arrays import Array
from .._core.target import Target, encode_labels, read_target


def training_labels(column: pd.Series[Any], objective: str | None, file: str) -> Target:
    """The labels of the training rows; names of classes are text unless they are numbers or truth values."""
    target = read_target(column, objective, whole_numbers="ask", name=_named(column, file), say="--objective ")
    if target.classes is None or target.classes.dtype.kind in "biuf":
        return target
    return dataclasses.replace(target, classes=target.classes.astype(str))


def later_labels(column: pd.Series[Any], classes: Array | None, objective: str, file: str) -> Array:
    """The labels of other rows, numbered as those of the training."""
    if is_text(classes):
        column = column.map(str, na_action="ignore")
    return encode_labels(column, classes, objective, name=_named(column, file), like="the training")


def is_text(classes: Array | None) -> bool:
    """Whether labels are to be read letter by letter."""
    return classes is not None and classes.dtype.kind in "UO"


def _named(column: pd.Series[Any], file: str) -> str:
    return f"the label {column.name!r} of {file}"

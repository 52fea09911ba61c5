"""The column that is to be predicted, as a file has it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Array
from .._core.target import Target, encode_labels, read_target

_EXACT = 2.0**53
"""Below it each whole number is a number of double precision."""


def training_labels(column: pd.Series[Any], objective: str | None, unlabelled: str, file: str) -> Target:
    """The labels of the training rows; names of classes are text unless they are numbers or truth values."""
    target = read_target(
        column, objective, whole_numbers="ask", missing="unlabelled", name=_named(column, file), say="--objective "
    )
    if unlabelled == "refuse" and target.labelled is not None:
        raise ValueError(
            f"{_named(column, file)} has {int((~target.labelled).sum())} missing values in {len(column)} rows: "
            "--unlabelled teach lets the teacher alone teach these rows, from their privileged columns; --unlabelled "
            "drop leaves them out; --unlabelled refuse, the default, is this error"
        )
    classes = target.classes
    if classes is None or classes.dtype.kind in "biu":
        return target
    if classes.dtype.kind != "f":
        return dataclasses.replace(target, classes=classes.astype(str))
    if target.labelled is None or not (np.abs(classes) < _EXACT).all() or (classes != np.round(classes)).any():
        return target
    # A gap makes a column of whole numbers one of decimal numbers to pandas; their names are what they were.
    return dataclasses.replace(target, classes=classes.astype(np.int64))


def labelled_alone(target: Target) -> Target:
    """The same without the rows that have no label."""
    return dataclasses.replace(target, values=target.values[target.labelled], labelled=None)


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

"""The column that is to be predicted: which objective it asks for, and how its classes are numbered."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd

from .._rows.words import first_text

_CLASSES = ("binary:logistic", "multi:softprob", "multi:softmax")


@dataclasses.dataclass(frozen=True)
class Target:
    """Labels as XGBoost takes them. ``classes`` are the names of 0, 1, ..., or None for numbers."""

    values: np.ndarray[Any, Any]
    objective: str
    classes: np.ndarray[Any, Any] | None

    @property
    def params(self) -> dict[str, Any]:
        """What the labels say about the params of the booster."""
        named: dict[str, Any] = {"objective": self.objective}
        if self.objective.startswith("multi:") and self.classes is not None:
            named["num_class"] = len(self.classes)
        return named


def read_target(column: pd.Series[Any], objective: str | None, file: str) -> Target:
    """The labels of the training rows.

    Without an objective the labels decide: two different values mean ``binary:logistic``, more of text mean
    ``multi:softprob``, numbers with a fraction mean ``reg:squarederror``. Several whole numbers may be either
    classes or amounts, which only the user knows.
    """
    _check_complete(column, file)
    distinct = pd.unique(column)
    is_number = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
    if len(distinct) < 2:
        raise ValueError(
            f"the label {column.name!r} of {file} has the same value in every row, {distinct[0]!s}: there is nothing "
            "to learn from it"
        )
    if objective is None:
        objective = _guess(column, distinct, file, is_number=is_number)
    if objective in _CLASSES and not (objective == "binary:logistic" and _is_probability(distinct, is_number)):
        return _classes(column, distinct, objective, file)
    if not is_number:
        raise ValueError(
            f"the objective {objective} needs numbers, and the label {column.name!r} of {file} has values such as "
            f"{distinct[0]!r}: name another label, or --objective multi:softprob for classes"
        )
    return Target(column.to_numpy(np.float64), objective, None)


def encoded(column: pd.Series[Any], classes: Any, file: str) -> np.ndarray[Any, Any]:
    """The labels of other rows, numbered as those of the training."""
    _check_complete(column, file)
    if classes is None:
        if not pd.api.types.is_numeric_dtype(column.dtype):
            raise ValueError(
                f"the label {column.name!r} of {file} has values such as {first_text(column, file)}, and the model "
                "learned from numbers"
            )
        return column.to_numpy(np.float64)
    known = pd.Index(classes)
    codes = np.asarray(known.get_indexer(pd.Index(column.astype(str) if classes.dtype.kind == "U" else column)))
    if (codes < 0).any():
        unknown = pd.unique(column[codes < 0])[:5].tolist()
        raise ValueError(
            f"the label {column.name!r} of {file} has the classes {unknown}, which the training did not have: it had "
            f"{classes.tolist()}"
        )
    numbered: np.ndarray[Any, Any] = codes.astype(np.float64)
    return numbered


def _guess(column: pd.Series[Any], distinct: Any, file: str, *, is_number: bool) -> str:
    if len(distinct) == 2:
        return "binary:logistic"
    if not is_number:
        return "multi:softprob"
    values = np.asarray(distinct, np.float64)
    if (values != np.round(values)).any():
        return "reg:squarederror"
    raise ValueError(
        f"the label {column.name!r} of {file} has {len(distinct)} different whole numbers, which can be classes or "
        "amounts: say --objective multi:softprob or --objective reg:squarederror"
    )


def _is_probability(distinct: Any, is_number: bool) -> bool:
    """Numbers that binary:logistic takes as they are: 0 and 1, and shares in between."""
    return is_number and bool(((np.asarray(distinct, float) >= 0) & (np.asarray(distinct, float) <= 1)).all())


def _classes(column: pd.Series[Any], distinct: Any, objective: str, file: str) -> Target:
    if objective == "binary:logistic" and len(distinct) > 2:
        raise ValueError(
            f"binary:logistic tells two classes apart, and the label {column.name!r} of {file} has {len(distinct)}: "
            "say --objective multi:softprob"
        )
    is_text = not pd.api.types.is_numeric_dtype(column.dtype)
    classes = np.array(sorted(str(value) if is_text else value for value in distinct))
    return Target(encoded(column, classes, file), objective, classes)


def _check_complete(column: pd.Series[Any], file: str) -> None:
    missing = int(column.isna().sum())
    if missing:
        raise ValueError(
            f"the label {column.name!r} of {file} is missing in {missing} of {len(column)} rows: leave these rows out"
        )

"""Reads y of any kind: labels for XGBoost, the objective that suits them, the names of their classes."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from .._arrays import Array
from .._warnings import warn_user
from .per_row import FINITE_IN_SINGLE, per_row, unboxed
from .supervision import no_labelled_row

OF_TWO_CLASSES = ("binary:logistic", "binary:logitraw", "reg:logistic")
OF_CLASSES = ("multi:softprob", "multi:softmax")
"""The objectives whose labels are classes, or probabilities of the second of two classes."""

_OF_LANGUAGES = ("NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "<NA>")
_OF_SPREADSHEETS = ("#N/A", "#N/A N/A", "#NA", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN")
MISSING = (*_OF_LANGUAGES, *_OF_SPREADSHEETS)
"""Texts that programs write for a missing number. In a text column each of them may be a name."""
EMPTY = (*MISSING, "NaT", "?", "-", ".")
"""Texts that programs write for a missing text."""

_TO_NUMBERS = "encode or scale them, or train with an objective of classes"


class Target(NamedTuple):
    """The labels of y, one entry per row; ``classes`` are the names of 0, 1, ...

    ``values`` are float32. ``classes`` is None for numbers. ``labelled`` is None where every row has a label; else it
    is False in rows without a label, whose value is 0.
    """

    values: Array
    objective: str
    classes: Array | None = None
    labelled: Array | None = None

    @property
    def params(self) -> dict[str, Any]:
        """The params of the booster for these labels."""
        if self.classes is None or not self.objective.startswith("multi:"):
            return {"objective": self.objective}
        return {"objective": self.objective, "num_class": len(self.classes)}


def read_target(
    y: Any, objective: str | None = None, *, classes: bool = False, name: str = "y", option: str = ""
) -> Target:
    """Return the labels of training rows from any container.

    Rows without a label (NaN, None, NaT, NA) are marked in :attr:`Target.labelled`. Without an ``objective`` the
    labels decide: two values mean ``binary:logistic``; several of text, truth values or categories
    ``multi:softprob``; numbers ``reg:squarederror``. For ``binary:logistic``, numbers in [0, 1] are probabilities, and
    any other two values are classes in their order.

    Parameters
    ----------
    classes
        Whether y holds classes for any objective.
    name
        The name of y, for messages.
    option
        The option of a command line that sets an objective; without it several whole numbers, which may be classes,
        are an error there.
    """
    column = per_row(name, y, kind="values", missing="keep")
    labelled = ~np.asarray(pd.isna(column))
    if not labelled.any():
        raise no_labelled_row(name)
    known = unboxed(column[labelled])
    try:
        codes, distinct = pd.factorize(known, sort=True)
    except TypeError as error:
        types = ", ".join(sorted({type(value).__name__ for value in known}))
        raise TypeError(f"{name} must have classes of one sortable type, got {types}: convert them to text") from error
    distinct = np.asarray(distinct, known.dtype)
    if len(distinct) < 2:
        raise ValueError(
            f"{name} has the same value in every labelled row, {distinct.tolist()[0]!r}: there is one class or one "
            "number to learn, add rows with another"
        )
    for text in [value for value in distinct if isinstance(value, str) and (value in EMPTY or not value.strip())]:
        # NumPy makes "nan" of NaN among texts, and forms make " " of no answer.
        warn_user(f"{name} has the class {str(text)!r}, which may mean a missing label: if so, leave it empty")
    if objective is None:
        is_number = distinct.dtype.kind in "iuf" and not isinstance(getattr(y, "dtype", None), pd.CategoricalDtype)
        objective = "reg:squarederror" if is_number else "multi:softprob"
        objective = "binary:logistic" if len(distinct) == 2 else objective
        if option and objective == "reg:squarederror" and (distinct == np.round(distinct)).all():
            raise ValueError(
                f"{name} has {len(distinct)} whole numbers: pass {option}multi:softprob or {option}reg:squarederror"
            )
    holds_classes = classes or _holds_classes(distinct, objective, name, option or "objective ")
    values = np.zeros(len(column), np.float32)
    values[labelled] = codes if holds_classes else numbers_of(column, name, missing="keep")[labelled]
    return Target(values, objective, distinct if holds_classes else None, None if labelled.all() else labelled)


def encode_labels(y: Any, classes: Array | None, *, name: str, like: str = "y") -> Array:
    """Return the labels of other rows, numbered as those of the training, which messages call ``like``."""
    if classes is None:
        return numbers_of(y, name)
    column = unboxed(per_row(name, y, kind="values", hint="leave out rows without a label"))
    codes = np.asarray(pd.Index(classes).get_indexer(pd.Index(column)))
    if unknown := pd.unique(column[codes < 0]).tolist():
        raise ValueError(f"{name} must have classes of {like}, {classes.tolist()}, got {unknown[:5]}: leave them out")
    return codes.astype(np.float32)


def numbers_of(y: Any, name: str = "y", missing: Literal["refuse", "keep"] = "refuse") -> Array:
    """Return the labels of one target or of several as float32."""
    return per_row(name, y, within=FINITE_IN_SINGLE, missing=missing, several=True, dtype=np.float32, hint=_TO_NUMBERS)


def read_targets(y: Any) -> tuple[Array, Array]:
    """Return one number or several per row, 0 in rows without any, and which rows have them."""
    values = numbers_of(y, missing="keep")
    gaps = np.isnan(values).reshape(len(values), -1)
    labelled = ~gaps.all(axis=1)
    if (partial := gaps.any(axis=1) & labelled).any():
        raise ValueError(
            f"y must have all {values.shape[1]} labels of a row or none, got some of them in {int(partial.sum())} of "
            f"{len(values)} rows, first in row {int(partial.argmax())}: make all their labels missing"
        )
    if not labelled.any():
        raise no_labelled_row("y")
    values[~labelled] = 0
    return values, labelled


def warn_of_odd_classes(target: Target, name: str = "y") -> None:
    """Warn of a class -1 beside others, or of -1 and two other numbers."""
    known = target.values if target.labelled is None else target.values[target.labelled]
    classes = (np.unique(known) if target.classes is None else np.asarray(target.classes)).tolist()
    condition = "y == -1, np.nan" if classes[0] == -1 else "y == '-1', None" if "-1" in classes else ""
    if condition and len(classes) > 2 and (target.classes is not None or len(classes) == 3):
        warn_user(f"{name} has the class -1 beside {len(classes) - 1} others: if no label, np.where({condition}, y)")


def _holds_classes(distinct: Array, objective: str, name: str, option: str) -> bool:
    """Return whether these labels are classes for this objective, rather than numbers."""
    if objective not in OF_TWO_CLASSES:
        return objective in OF_CLASSES
    if distinct.dtype.kind in "iuf" and distinct.min() >= 0 and distinct.max() <= 1 and distinct.tolist() != [0, 1]:
        return False
    if len(distinct) > 2:
        raise ValueError(f"{name} needs two classes for {objective}, got {len(distinct)}: use {option}multi:softprob")
    return True

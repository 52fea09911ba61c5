"""y of any kind: labels as XGBoost takes them, the objective that they ask for, the names of their classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from .._arrays import Array
from .._warnings import warn_user
from .per_row import FINITE_IN_SINGLE, per_row, unboxed
from .supervision import no_labelled_row
from .words import EMPTY

OF_TWO_CLASSES = ("binary:logistic", "binary:logitraw", "reg:logistic")
OF_CLASSES = ("multi:softprob", "multi:softmax")
"""The objectives whose labels are classes, or probabilities of the second of two."""

_FEW = 5
"""Labelled rows of a class; with fewer not every fold of a cross-fitted teacher has one."""

_TO_NUMBERS = "encode or scale them, or train with an objective of classes"
_LEAVE_OUT = "leave out the rows without a label"


@dataclass(frozen=True)
class Target:
    """The labels of y. All arrays have one entry per row, but ``classes``, which names 0, 1, ...

    ``values`` are in single precision. ``classes`` is None for numbers. ``labelled`` is None where every row has a
    label; else False where it has none, and the value there is 0.
    """

    values: Array
    objective: str
    classes: Array | None = None
    labelled: Array | None = None

    @property
    def params(self) -> dict[str, Any]:
        """The params of the booster that follow from the labels."""
        if self.classes is None or not self.objective.startswith("multi:"):
            return {"objective": self.objective}
        return {"objective": self.objective, "num_class": len(self.classes)}


def read_target(
    y: Any,
    objective: str | None = None,
    *,
    classes: bool = False,
    whole_numbers: str = "numbers",
    missing: Literal["error", "unlabelled"] = "error",
    name: str = "y",
    say: str = "objective ",
) -> Target:
    """The labels of training rows, in a container of any kind.

    Without an ``objective`` the labels decide: two values mean ``binary:logistic``; several of text, truth values or
    categories ``multi:softprob``; numbers ``reg:squarederror``. For ``binary:logistic`` numbers in [0, 1] are taken as
    they are, any other two values are classes in their order.

    Parameters
    ----------
    classes
        Whether y holds classes whatever the objective.
    whole_numbers
        What several whole numbers are where no objective decides it: "numbers", or "ask", an error, since they may be
        classes.
    missing
        "error", or "unlabelled": rows without a label (NaN, None, NaT, NA) are marked in :attr:`Target.labelled`.
    name, say
        How messages call y, and what they put before an objective that they advise.
    """
    column = per_row(name, y, kind="values", missing="refuse" if missing == "error" else "keep", hint=_LEAVE_OUT)
    labelled = ~np.asarray(pd.isna(column))
    if not labelled.any():
        raise no_labelled_row(name)
    known = unboxed(column[labelled])
    codes, distinct = _sorted(known, name)
    if len(distinct) < 2:
        row = "row" if labelled.all() else "labelled row"
        raise ValueError(
            f"{name} has the same value in every {row}, {distinct.tolist()[0]!r}: one class or one amount leaves "
            "nothing to learn"
        )
    _warn_of_empty_words(distinct, name)
    if objective is None:
        is_category = isinstance(getattr(y, "dtype", None), pd.CategoricalDtype)
        objective = _guess(distinct, is_category=is_category, ask=whole_numbers == "ask", name=name, say=say)
    holds_classes = classes or _holds_classes(distinct, objective, name, say)
    values = np.zeros(len(column), np.float32)
    values[labelled] = codes if holds_classes else numbers_of(column, name, missing="keep")[labelled]
    return Target(values, objective, distinct if holds_classes else None, None if labelled.all() else labelled)


def encode_labels(y: Any, classes: Array | None, *, name: str = "y", like: str = "y") -> Array:
    """The labels of other rows, numbered as those of the training, which messages call ``like``."""
    if classes is None:
        return numbers_of(y, name)
    column = unboxed(per_row(name, y, kind="values", hint=_LEAVE_OUT))
    codes = np.asarray(pd.Index(classes).get_indexer(pd.Index(column)))
    unknown = pd.unique(column[codes < 0]).tolist()
    if unknown:
        raise ValueError(
            f"{name} has the classes {unknown[:5]}, which {like} has not: it has {classes.tolist()}. Evaluate on rows "
            "of known classes, or train on some rows of the others"
        )
    return codes.astype(np.float32)


def numbers_of(y: Any, name: str = "y", missing: Literal["refuse", "keep"] = "refuse") -> Array:
    """The labels, of one target or of several, as numbers that XGBoost can hold."""
    return per_row(name, y, within=FINITE_IN_SINGLE, missing=missing, several=True, dtype=np.float32, hint=_TO_NUMBERS)


def read_targets(y: Any, name: str = "y") -> tuple[Array, Array]:
    """Several numbers per row, 0 where a row has none, and which rows have them."""
    values = numbers_of(y, name, missing="keep")
    gaps = np.isnan(values)
    labelled = ~gaps.all(axis=1)
    torn = np.flatnonzero(gaps.any(axis=1) & labelled)
    if torn.size:
        raise ValueError(
            f"{name} must have all {values.shape[1]} labels of a row or none, got some of them in {len(torn)} of "
            f"{len(values)} rows, first in row {torn[0]}: leave such rows out, or make all their labels missing, so "
            "that the teacher alone guides them"
        )
    if not labelled.any():
        raise no_labelled_row(name)
    values[gaps] = 0
    return values, labelled


def _warn_of_empty_words(distinct: Array, name: str) -> None:
    """NumPy makes the text "nan" of a NaN among texts, and a form the text " " of nothing."""
    if distinct.dtype.kind not in "OU":
        return
    for word in [value for value in distinct if isinstance(value, str) and (value in EMPTY or not value.strip())]:
        warn_user(
            f"{name} has the class {str(word)!r}, a text among texts; where it means that there is no label, it must "
            "be empty: an empty field in a file, None or NaN in a table"
        )


def warn_of_odd_classes(target: Target, name: str = "y") -> None:
    """Warn of a class -1 beside others, and of classes with hardly a labelled row."""
    classes = np.asarray(target.classes)
    if len(classes) > 2 and _is_number(classes) and classes[0] == -1:
        warn_user(
            f"{name} has the class -1 beside {len(classes) - 1} others; where it means that there is no label, as in "
            "scikit-learn, it must be missing: np.where(y == -1, np.nan, y), or an empty field in a file"
        )
    if target.labelled is None:
        return
    counts = np.bincount(target.values[target.labelled].astype(np.intp))
    if counts.min() < _FEW:
        warn_user(
            f"{name} has {counts.min()} labelled rows of the class {classes.tolist()[counts.argmin()]!r}, of which a "
            f"teacher learns little: label {_FEW} or more of each class, or merge it with another"
        )


def _sorted(known: Array, name: str) -> tuple[Array, Array]:
    """For each label its place among the distinct ones in their order, and these."""
    try:
        codes, distinct = pd.factorize(known, sort=True)
    except TypeError as error:
        types = sorted({type(value).__name__ for value in known})
        raise TypeError(
            f"{name} must have classes of one type that can be sorted, such as text, numbers or dates, and holds "
            f"{', '.join(types)} ({error}): turn them into text, for example by .astype(str)"
        ) from error
    return codes, np.asarray(distinct, known.dtype)


def _is_number(values: Array) -> bool:
    return values.dtype.kind in "iuf"


def _guess(distinct: Array, *, is_category: bool, ask: bool, name: str, say: str) -> str:
    if len(distinct) == 2:
        return "binary:logistic"
    if is_category or not _is_number(distinct):
        return "multi:softprob"
    if ask and (distinct == np.round(distinct)).all():
        raise ValueError(
            f"{name} has {len(distinct)} different whole numbers, which can be classes or amounts: say "
            f"{say}multi:softprob or {say}reg:squarederror"
        )
    return "reg:squarederror"


def _holds_classes(distinct: Array, objective: str, name: str, say: str) -> bool:
    """Whether these labels are classes to this objective, rather than numbers."""
    if objective not in OF_TWO_CLASSES:
        return objective in OF_CLASSES
    if _is_number(distinct) and distinct.min() >= 0 and distinct.max() <= 1 and distinct.tolist() != [0, 1]:
        return False
    if len(distinct) > 2:
        raise ValueError(
            f"{objective} tells two classes apart, and {name} has {len(distinct)} classes: say {say}multi:softprob"
        )
    return True

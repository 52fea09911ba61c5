"""The one reader of y: labels as XGBoost takes them, the objective that they ask for, the names of their classes."""

from __future__ import annotations

import decimal
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Array
from .._rows.checks import check_choice, check_no_mask
from .._rows.supervision import no_labelled_row
from .._rows.words import EMPTY
from .._warnings import warn_user
from .losses import LOSSES


@dataclass(frozen=True)
class Target:
    """What y says. All arrays have one entry per row, but ``classes``, which names 0, 1, ...

    ``values`` are in single precision. ``classes`` is None for numbers. ``labelled`` is None where every row has a
    label; else False where it has none, and the value there is 0.
    """

    values: Array
    objective: str
    classes: Array | None = None
    labelled: Array | None = None

    @property
    def params(self) -> dict[str, Any]:
        """What the labels say about the params of the booster."""
        if self.classes is None or not self.objective.startswith("multi:"):
            return {"objective": self.objective}
        return {"objective": self.objective, "num_class": len(self.classes)}


def read_target(
    y: Any,
    objective: str | None = None,
    *,
    classes: bool = False,
    whole_numbers: str = "numbers",
    missing: str = "error",
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
        What several whole numbers are where nobody says it: "numbers", or "ask", an error, since they may be classes.
    missing
        "error", or "unlabelled": rows without a label (NaN, None, NaT, NA) are marked in :attr:`Target.labelled`.
    name, say
        How messages call y, and what they put before an objective that they advise.
    """
    check_choice(missing, ("error", "unlabelled"), "missing")
    column, labelled = _column(y, name)
    if missing == "unlabelled" and not labelled.any():
        raise no_labelled_row(name)
    if not labelled.all() and missing == "error":
        raise ValueError(
            f"{name} has {int((~labelled).sum())} missing values in {len(labelled)} rows: leave out the rows without "
            "a label"
        )
    kept = _unboxed(column[labelled])
    codes, distinct = _sorted(kept, name)
    if len(distinct) < 2:
        row = "row" if labelled.all() else "labelled row"
        raise ValueError(
            f"{name} has the same value in every {row}, {distinct.tolist()[0]!r}: one class or one amount leaves "
            "nothing to tell apart"
        )
    _warn_of_empty_words(distinct, name)
    if objective is None:
        is_category = isinstance(getattr(y, "dtype", None), pd.CategoricalDtype)
        objective = _guess(distinct, is_category=is_category, ask=whole_numbers == "ask", name=name, say=say)
    if classes or _means_classes(distinct, objective, name, say):
        return Target(_spread(codes.astype(np.float32), labelled), objective, distinct, _mask(labelled))
    values = _numbers(kept, name, objective, np.flatnonzero(labelled))
    return Target(_spread(values, labelled), objective, None, _mask(labelled))


def encode_labels(
    y: Any, classes: Array | None, objective: str | None = None, *, name: str = "y", like: str = "y"
) -> Array:
    """The labels of other rows, numbered as those of the training, which messages call ``like``."""
    check_no_gaps(y, name)
    column = _unboxed(_column(y, name)[0])
    if classes is None:
        truth = column.dtype.kind == "b"
        label = _numbers(column.astype(int) if truth else column, name, objective or "the model")
        if objective in LOSSES:
            LOSSES[objective].check_labels(label, 0, name)
        return label
    codes = np.asarray(pd.Index(classes).get_indexer(pd.Index(column)))
    unknown = pd.unique(column[codes < 0]).tolist()
    if unknown:
        raise ValueError(
            f"{name} has the classes {unknown[:5]}, which {like} has not: it has {classes.tolist()}. Evaluate on rows "
            "of known classes, or train on some rows of the others"
        )
    return codes.astype(np.float32)


def read_targets(y: Any, name: str = "y") -> tuple[Array, Array]:
    """Several numbers per row, 0 where a row has none, and which rows have them."""
    columns = on_host(y, name)
    gaps = pd.isna(columns)
    labelled = ~gaps.all(axis=1)
    torn = np.flatnonzero(gaps.any(axis=1) & labelled)
    if torn.size:
        raise ValueError(
            f"a row has all its labels or none, and {len(torn)} of {len(columns)} rows of {name} lack some of "
            f"{columns.shape[1]} labels, first row {torn[0]}: leave such rows out, or make all their labels missing, "
            "and only the teacher speaks there"
        )
    if not labelled.any():
        raise no_labelled_row(name)
    return _spread(numbers_of(columns[labelled], name), labelled), labelled


def numbers_of(y: Any, name: str) -> Array:
    """The labels, of one target or of several, as numbers that XGBoost can hold."""
    check_no_gaps(y, name)
    columns = on_host(y)
    if columns.ndim != 2:
        return encode_labels(columns, None, name=name)
    return np.column_stack([encode_labels(column, None, name=name) for column in columns.T])


def check_no_gaps(y: Any, name: str) -> None:
    """Every row has a label, be it of one column or of several."""
    missing = int(pd.isna(on_host(y, name)).sum())
    if missing:
        raise ValueError(f"{name} has {missing} missing values: leave out the rows without a label")


def on_host(y: Any, name: str = "what is given for each row") -> Any:
    """A column, wherever it lies, as a NumPy array."""
    check_no_mask(y, name)
    if hasattr(y, "collect") and not hasattr(y, "shape"):  # polars.LazyFrame
        y = y.collect()
    if hasattr(y, "__cuda_array_interface__"):
        y = y.to_numpy() if hasattr(y, "to_numpy") else y.get()
    return np.asarray(y)


def _column(y: Any, name: str) -> tuple[Array, Array]:
    """One value per row, and whether there is one."""
    values = on_host(y, name)
    if values.ndim != 1 and not (values.ndim == 2 and values.shape[1] == 1):
        columns = values.shape[1] if values.ndim == 2 else f"shape {values.shape}"
        raise ValueError(f"{name} must be one column, got {columns}: take them one at a time")
    if not values.size:
        raise ValueError(f"{name} is empty: give one label per row")
    column = values.ravel()
    return column, ~pd.isna(column)


def _warn_of_empty_words(distinct: Array, name: str) -> None:
    """NumPy makes the text "nan" of a NaN among texts, and a form the text " " of nothing."""
    if distinct.dtype.kind not in "OU":
        return
    for word in [value for value in distinct if isinstance(value, str) and (value in EMPTY or not value.strip())]:
        warn_user(
            f"{name} has the class {str(word)!r}, a text among texts; where it means that there is no label, it must "
            "be empty: an empty field in a file, None or NaN in a table"
        )


def _unboxed(column: Array) -> Array:
    """Numbers and truth values out of their objects."""
    if column.dtype.kind != "O":
        return column
    if all(isinstance(value, (bool, np.bool_)) for value in column):
        return column.astype(bool)
    if all(isinstance(value, (numbers.Real, decimal.Decimal)) and not isinstance(value, bool) for value in column):
        unboxed = np.array(column.tolist())
        return unboxed if unboxed.dtype.kind in "iuf" else column.astype(np.float64)
    return column


def _sorted(kept: Array, name: str) -> tuple[Array, Array]:
    """For each label its place among the distinct ones in their order, and these."""
    try:
        codes, distinct = pd.factorize(kept, sort=True)
    except TypeError as error:
        types = sorted({type(value).__name__ for value in kept})
        raise TypeError(
            f"{name} must have classes of one type that can be sorted, such as text, numbers or dates, and holds "
            f"{', '.join(types)} ({error}): turn them into text, for example by .astype(str)"
        ) from error
    return codes, np.asarray(distinct, kept.dtype)


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


def _means_classes(distinct: Array, objective: str, name: str, say: str) -> bool:
    """Whether these labels are classes to this objective, rather than numbers."""
    loss = LOSSES.get(objective)
    if loss is None or not loss.probabilities:
        return False
    if loss.multiclass:
        return True
    if _is_number(distinct) and distinct.min() >= 0 and distinct.max() <= 1 and distinct.tolist() != [0, 1]:
        return False
    if len(distinct) > 2:
        raise ValueError(
            f"{objective} tells two classes apart, and {name} has {len(distinct)} classes: say {say}multi:softprob"
        )
    return True


def _numbers(column: Array, name: str, objective: str, rows: Array | None = None) -> Array:
    """The column in single precision; ``rows`` are the numbers of its rows where it is a part of y."""
    if not _is_number(column):
        raise TypeError(
            f"{objective} needs numbers: {name} must be numbers, and has dtype {column.dtype} with values such as "
            f"{column.tolist()[0]!r}"
        )
    with np.errstate(over="ignore"):
        label: Array = column.astype(np.float32)
    wrong = np.flatnonzero(~np.isfinite(label))
    if wrong.size:
        row = wrong[0] if rows is None else rows[wrong[0]]
        raise ValueError(
            f"row {row} of {name} is {column[wrong[0]]:g}, which is not finite for XGBoost's single precision: "
            "leave such rows out, or scale y"
        )
    return label


def _spread(values: Array, labelled: Array) -> Array:
    """The values in the rows that have a label, 0 elsewhere."""
    spread = np.zeros((len(labelled), *values.shape[1:]), np.float32)
    spread[labelled] = values
    return spread


def _mask(labelled: Array) -> Array | None:
    return None if labelled.all() else labelled

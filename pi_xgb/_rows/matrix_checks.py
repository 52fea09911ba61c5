"""Checks of a DMatrix and of the fields of its rows; XGBoost accepts some that train a wrong model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import xgboost
from xgboost import collective

from .._arrays import Array
from .._xgb.matrix import row_fields
from .per_row import FINITE, per_row

Evals = list[tuple[xgboost.DMatrix, str]]


def check_is_dmatrix(matrix: Any, name: str) -> None:
    """Raise unless this is a DMatrix of any kind."""
    if not isinstance(matrix, xgboost.DMatrix):
        raise TypeError(f"{name} must be an xgboost.DMatrix, got {type(matrix).__name__}: use xgboost.DMatrix(data, y)")


def check_matrix(matrix: Any, name: str) -> None:
    """Raise unless this is a DMatrix with columns and finite margins: NaN in one row makes every prediction NaN."""
    check_is_dmatrix(matrix, name)
    if matrix.num_row() and not matrix.num_col():
        raise ValueError(f"{name} has no columns, nothing to learn from: add at least one feature")
    margin = matrix.get_base_margin()
    if margin.size:
        per_row(f"the base_margin of {name}", margin, within=FINITE, several=True)


def check_labels_per_row(label: Array, n_rows: int, name: str) -> None:
    """Raise unless there is one label per row, and at least one row."""
    if n_rows == 0:
        here = " on this worker" if collective.is_distributed() else ""
        raise ValueError(f"{name} has no rows{here}: pass rows to train on, to every worker")
    if len(label) != n_rows:
        raise ValueError(
            f"the label of {name} must have one value for each of the {n_rows} rows, got {len(label)}: build it as "
            "xgboost.DMatrix(data, label=y), or pass labelled=numpy.zeros(n, bool) where soft labels alone teach"
        )


def check_same_rows(dtrain: xgboost.DMatrix, privileged: xgboost.DMatrix, labelled: Array | None) -> None:
    """Raise unless both matrices have the same labels and queries, and weights that agree."""
    ours, theirs = row_fields(dtrain), row_fields(privileged)
    for field in ("label", "label_lower_bound", "label_upper_bound"):
        if field in ours:
            check_same_labels(ours[field], theirs.get(field, np.empty(0)), labelled)
    for field, what in (("group", "queries"), ("weight", "weights")):
        if field in theirs and not np.array_equal(theirs[field], ours.get(field, ())):
            raise ValueError(f"the {what} of privileged differ from those of dtrain, which apply to both: drop them")


def check_same_labels(label: Array, privileged_label: Array, labelled: Array | None) -> None:
    """Raise if known labels differ, a cheap sign of other rows or another order."""
    if label.shape != privileged_label.shape:
        raise ValueError(
            f"privileged must describe the {len(label)} rows of dtrain, got labels of shape {privileged_label.shape}, "
            f"not {label.shape}: build both from the same table, with the same label= or the same two bounds"
        )
    differs = (label != privileged_label).reshape(len(label), -1).any(axis=1)
    differing = np.flatnonzero(differs if labelled is None else differs & labelled)
    if differing.size:
        raise ValueError(
            f"the labels of dtrain and privileged disagree in {differing.size} rows, first in row {differing[0]}: "
            "build both from the same table, in the same order"
        )


def check_no_overlap(dtrain: xgboost.DMatrix, privileged: xgboost.DMatrix) -> None:
    """Raise for columns in both matrices, mostly an accident."""
    shared = sorted(set(dtrain.feature_names or ()) & set(privileged.feature_names or ()))
    both = "privileged is dtrain itself" if privileged is dtrain else f"columns {shared} are in dtrain and privileged"
    if shared or privileged is dtrain:
        raise ValueError(f"{both}: give each column to one of the two, or pass allow_overlap=True to train and cv")


def check_evals(evals: Any, name: str, pair: str = "(DMatrix, name)") -> list[Any]:
    """Return evaluation sets as a list of pairs, as XGBoost takes them."""
    pairs = list(evals) if isinstance(evals, Iterable) else [evals]
    for entry in pairs:
        if not isinstance(entry, (tuple, list)) or len(entry) != 2:
            raise TypeError(f"{name} must be a list of pairs {pair}, got an entry {type(entry).__name__}: give a list")
    return pairs


def check_metric(custom_metric: Any) -> None:
    """Raise unless custom_metric is a function, before a teacher is trained."""
    if custom_metric is not None and not callable(custom_metric):
        raise TypeError(f"custom_metric must be a function, got {custom_metric!r}: names go into eval_metric in params")

"""Checks of user input. Each message has the keyword, the expected value, the value passed and the remedy."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
import xgboost
from xgboost import collective

from .._arrays import Array
from .._rows.per_row import per_row
from .._rows.supervision import MOST_WEIGHT
from .._xgb.collective import global_sum
from .._xgb.matrix import labels_of, query_of_row
from .losses import SHARES, Loss, Range


def check_kl_weight(kl_weight: Any, name: str = "kl_weight") -> float:
    """Return the weight of a teacher, a finite number of at least 0."""
    if np.ndim(kl_weight) > 0:
        raise TypeError(
            f"{name} must be one number for all rows, got {np.size(kl_weight)}: pass weights per row as teacher_weight="
        )
    if isinstance(kl_weight, (bool, np.bool_)) or not isinstance(kl_weight, Real):
        raise TypeError(f"{name} must be a number, got {kl_weight!r} of type {type(kl_weight).__name__}")
    if not 0 <= float(kl_weight) <= MOST_WEIGHT:
        raise ValueError(
            f"{name} must be finite and at least 0, and at most {MOST_WEIGHT:g} (larger weights swamp the labels in "
            f"float32), got {kl_weight!r}: 0 trains without the teacher, 1 weighs teacher and labels alike"
        )
    return float(kl_weight)


def check_is_dmatrix(matrix: Any, name: str) -> None:
    """Raise unless this is a DMatrix of any kind."""
    if not isinstance(matrix, xgboost.DMatrix):
        raise TypeError(
            f"{name} must be an xgboost.DMatrix, got {type(matrix).__name__}: wrap it as xgboost.DMatrix(data, label=y)"
        )


def check_dmatrix(matrix: Any, name: str, loss: Loss) -> None:
    """Raise unless this is a DMatrix with rows, columns and one label per row."""
    check_is_dmatrix(matrix, name)
    check_has_columns(matrix, name)
    check_labels_per_row(loss.label_of(matrix, name), matrix.num_row(), name)
    weighted = check_queries(matrix, name) if loss.by_query else matrix.num_row()
    check_weights(matrix.get_weight(), weighted, name, unit="query" if loss.by_query else "row")


def check_has_columns(matrix: xgboost.DMatrix, name: str) -> None:
    """Raise if there are rows but no columns: XGBoost's own error does not mention columns."""
    if matrix.num_row() and not matrix.num_col():
        raise ValueError(f"{name} has no columns, nothing to learn from: add at least one feature")


def check_queries(matrix: xgboost.DMatrix, name: str) -> int:
    """Return the number of queries; raise if there are none."""
    query = query_of_row(matrix)
    if query is None:
        raise ValueError(
            f"{name} has no queries, within which rows are ranked: build it as xgboost.DMatrix(data, label, qid=...), "
            "with the rows of a query next to each other"
        )
    return int(query[-1]) + 1


def check_weights(weight: Array, n_rows: int, name: str, *, unit: str = "row") -> None:
    """Raise unless there is one weight per ``unit``, finite, at least 0, and not all 0; XGBoost accepts some others."""
    if weight.size == 0:
        return
    if weight.size != n_rows:
        units = "queries" if unit == "query" else "rows"
        raise ValueError(f"{name} has {weight.size} weights for {n_rows} {units}: give one weight per {unit}")
    if not weight.min() >= 0 or not np.isfinite(weight.max()):
        raise ValueError(f"the weights of {name} must be finite and at least 0, got {weight.min()} to {weight.max()}")
    if weight.max() == 0 and not collective.is_distributed():
        raise ValueError(f"the weights of {name} are all 0: give at least one row a positive weight")


def check_base_margin(margin: Array, name: str) -> None:
    """Raise unless margins are finite: NaN in one row makes every prediction NaN without a warning."""
    wrong = np.flatnonzero(~np.isfinite(margin.reshape(len(margin), -1)).all(axis=1)) if margin.size else margin
    if wrong.size:
        raise ValueError(
            f"the base_margin of {name} must be finite, got {wrong.size} rows where it is not, first row {wrong[0]}: "
            "give every row a finite margin"
        )


def check_total_weight(weight: Array, n_rows: int, name: str) -> None:
    """Raise if no row of any worker has a positive weight; call it on every worker."""
    if global_sum(np.array([weight.sum() if weight.size else n_rows]))[0] == 0:
        raise ValueError(f"the weights of {name} are all 0, on every worker: give at least one row a positive weight")


def check_labels_per_row(label: Array, n_rows: int, name: str) -> None:
    """Raise unless there is one label per row, and at least one row."""
    if n_rows == 0:
        if collective.is_distributed():
            raise ValueError(
                f"{name} has no rows on this worker: spread the rows over all workers, or use fewer workers"
            )
        raise ValueError(f"{name} has no rows: there is nothing to train on")
    if len(label) != n_rows:
        raise ValueError(
            f"{name} must have one label per row, got {label.size} labels for {n_rows} rows: "
            "build it as xgboost.DMatrix(data, label=y)"
        )


def check_q(
    q: Any, within: Range = SHARES, *, name: str = "teacher", needed: Array | None = None
) -> np.ndarray[Any, Any]:
    """Return a teacher's q as a new float32 array, ``(n,)``, or ``(n, K)`` for classes.

    Values of rows that are not ``needed``, one truth value per row, are not checked.
    """
    hint = "give one probability per row, or one for each class"
    array = per_row(f"the q of {name}", q, missing="keep", several=True, dtype=np.float32, hint=hint)
    if needed is not None and len(needed) == len(array):
        array[~needed] = 0
    values = array if needed is None or len(needed) != len(array) else array[needed]
    if values.size:
        _check_values(values, within, name)
    return array


def _check_values(q: Array, within: Range, name: str) -> None:
    low, high = float(q.min()), float(q.max())
    if np.isnan(low):
        raise ValueError(
            f"the q of {name} must not be NaN, got {int(np.isnan(q).sum())} NaN: give a value for every row, and a "
            "teacher_weight of 0 to rows that the teacher cannot predict"
        )
    if not within.holds(low, high):
        raise ValueError(f"the q of {name} must {within.must}, got values from {low} to {high}: {within.advice}")
    if within.sums_to_one and q.ndim == 2 and not np.allclose(q.sum(axis=1), 1, atol=1e-3):
        raise ValueError(f"the rows of the q of {name} must sum to 1: give the probability of each class")


def check_shape(q: Array, mean: Array, name: str = "teacher") -> None:
    """Raise unless there is one q for each prediction."""
    if q.shape != mean.shape and q.ndim == 2 and mean.ndim == 1 and len(q) == len(mean):
        raise ValueError(
            f"the q of {name} has shape {q.shape}, but must have shape {mean.shape}: take the column of the positive "
            "class, q[:, 1]"
        )
    if q.shape != mean.shape:
        raise ValueError(
            f"the q of {name} has shape {q.shape}, but must have shape {mean.shape}: compute it for the training rows, "
            "in their order (in xgboost.cv: pi_xgb.attach_teacher)"
        )


def check_answer(q: Array, within: Range, name: str) -> None:
    """Raise unless a q from a round of training is finite and in range: XGBoost trains on NaN without an error."""
    low, high = float(q.min()), float(q.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"the q of {name} must be finite, got NaN or infinite values: return finite values")
    if not within.holds(low, high, slack=1e-6):
        raise ValueError(f"the q of {name} must {within.must}, got values from {low} to {high}: {within.advice}")


def check_as_many_rows(n_rows: int, privileged: xgboost.DMatrix) -> None:
    """Raise unless the matrix of privileged features has as many rows as dtrain."""
    if privileged.num_row() != n_rows:
        raise ValueError(
            f"privileged must describe the rows of dtrain: dtrain has {n_rows} rows, privileged has "
            f"{privileged.num_row()}. Build both from the same table, in the same order"
        )


def check_same_rows(dtrain: xgboost.DMatrix, privileged: xgboost.DMatrix, labelled: Array | None = None) -> None:
    """Raise unless both matrices have as many rows, the same labels and queries, and weights that agree."""
    check_as_many_rows(dtrain.num_row(), privileged)
    check_same_labels(_labels_or_bounds(dtrain), _labels_or_bounds(privileged), labelled)
    _check_same_queries(query_of_row(dtrain), query_of_row(privileged))
    weight = privileged.get_weight()
    if weight.size and not np.array_equal(weight, dtrain.get_weight()):
        raise ValueError(
            "the weights of privileged differ from the weights of dtrain, which apply to both: leave them out of "
            "privileged"
        )


def check_same_labels(label: Array, privileged_label: Array, labelled: Array | None = None) -> None:
    """Raise if known labels differ, a cheap sign of other rows or another order."""
    check_shape_of_labels(label, privileged_label)
    differs = label != privileged_label
    if differs.ndim == 2:
        differs = differs.any(axis=1)
    differing = np.flatnonzero(differs if labelled is None else differs & labelled)
    if differing.size:
        raise ValueError(
            f"the labels of dtrain and privileged disagree in {differing.size} rows, first in row {differing[0]}: "
            "build both from the same table, in the same order"
        )


def _labels_or_bounds(matrix: xgboost.DMatrix) -> Array:
    """Return the labels, or lower and upper bounds as two columns where a matrix has only bounds."""
    label = labels_of(matrix)
    if label.size:
        return label
    return np.stack([matrix.get_float_info(f"label_{side}_bound") for side in ("lower", "upper")], axis=1)


def _check_same_queries(query: Array | None, privileged_query: Array | None) -> None:
    """Raise unless both matrices have the same queries, where both have any."""
    if query is not None and privileged_query is not None and not np.array_equal(query, privileged_query):
        raise ValueError(
            "the queries of dtrain and privileged differ: build both with the same qid, from the same table in the "
            "same order"
        )


def check_shape_of_labels(label: Array, privileged_label: Array) -> None:
    """Raise unless both have as many targets."""
    if label.shape != privileged_label.shape:
        raise ValueError(
            f"dtrain has labels of shape {label.shape}, privileged of shape {privileged_label.shape}: build both from "
            "the same table, with all targets"
        )


def check_same_exposure(dtrain: xgboost.DMatrix, privileged: xgboost.DMatrix, loss: Loss) -> None:
    """Raise if only dtrain has exposures: the teacher would take a long exposure for a high rate."""
    if loss.has_exposure and dtrain.get_base_margin().size and not privileged.get_base_margin().size:
        raise ValueError(
            "privileged must have a base_margin, the logarithm of the exposure, where dtrain has one: build it with "
            "the base_margin of dtrain, or with zeros for a teacher without exposures"
        )


def check_no_overlap(dtrain: xgboost.DMatrix, privileged: xgboost.DMatrix, *, allow_overlap: bool) -> None:
    """Raise for columns in both matrices, mostly an accident, unless the user allows them."""
    if privileged is dtrain and not allow_overlap:
        raise ValueError(
            "privileged is dtrain itself: pass the matrix of privileged features. (train and cv take "
            "allow_overlap=True for a teacher that sees the classifier features.)"
        )
    shared = sorted(set(dtrain.feature_names or ()) & set(privileged.feature_names or ()))
    if shared and not allow_overlap:
        raise ValueError(
            f"columns {shared} are in dtrain and in privileged: drop them from one of the two. (train and cv take "
            "allow_overlap=True for a teacher that sees the classifier features.)"
        )


def check_evals(evals: Any, name: str) -> list[tuple[xgboost.DMatrix, str]]:
    """Return evals as a list of (DMatrix, name), as XGBoost takes them."""
    pairs = list(evals) if isinstance(evals, Iterable) else [evals]
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(
                f"{name} must be a list of pairs (DMatrix, name), got an entry of type {type(pair).__name__}: write "
                f"{name}=[(dvalid, 'valid')]"
            )
    return pairs


def check_metric(custom_metric: Any) -> None:
    """Raise unless custom_metric is a function, before a teacher is trained."""
    if custom_metric is not None and not callable(custom_metric):
        raise TypeError(
            f"custom_metric must be a function of (predictions, DMatrix), got {custom_metric!r}: names of XGBoost's "
            "metrics go into params['eval_metric']"
        )

"""What a user says about each row, as checked arrays: labels, decisions, scores, weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._arrays import to_host
from .checks import check_lengths, check_no_mask
from .names import describe

Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]

_NUMBERS = {"integer", "floating", "mixed-integer-float", "boolean", "decimal"}


def as_vector(name: str, values: Any) -> NDArray[Any]:
    """One value per row, as numpy; a single column counts as a vector."""
    check_no_mask(values, name)
    array = np.asarray(to_host(values))
    if array.ndim == 0:
        raise TypeError(f"{name} must hold one value per row, got {values!r}: give a list, an array or a Series")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {array.shape}: give one value per row")
    if array.size == 0:
        raise ValueError(f"{name} is empty: give one value per row")
    return array


def as_numbers(name: str, values: Any) -> NDArray[Any]:
    """A vector of numbers without NaN; floating types are kept as they are."""
    array = as_vector(name, values)
    if array.dtype.kind == "O" and pd.api.types.infer_dtype(array) in _NUMBERS:
        array = pd.Series(array).astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must hold numbers, got {describe(pd.unique(array))}: recode it, as in (y == 'yes').astype(int)"
        )
    if array.dtype.kind == "f" and np.isnan(array).any():
        count = int(np.isnan(array).sum())
        raise ValueError(f"{name} has {count} NaN in {array.size} rows: drop those rows, or fill them in knowingly")
    return array


def as_binary(name: str, values: Any, hint: str) -> Bools:
    """A vector of 0 and 1 as booleans."""
    array = as_numbers(name, values)
    if array.dtype.kind == "b":
        return array
    ones: Bools = array == 1
    others = ~(ones | (array == 0))
    if others.any():
        raise ValueError(f"{name} must hold 0 and 1 only, got {describe(pd.unique(array[others]))}: {hint}")
    return ones


def as_labels(y_true: Any) -> Bools:
    """The true labels."""
    return as_binary("y_true", y_true, "recode it, as in (y == positive_class).astype(int)")


def as_decisions(y_pred: Any) -> Bools:
    """Decisions already made."""
    return as_binary("y_pred", y_pred, "this metric is about decisions, so hand it (y_score > threshold)")


def as_scores(y_score: Any) -> Floats:
    """Scores of any scale; float32 stays float32, so that comparisons are those that the user would make."""
    array = as_numbers("y_score", y_score)
    return array if array.dtype.kind == "f" else array.astype(float)


def as_probabilities(y_score: Any) -> Floats:
    """Scores that are probabilities."""
    array = as_scores(y_score)
    low, high = float(array.min()), float(array.max())
    if low < 0 or high > 1:
        raise ValueError(
            f"y_score must hold probabilities in [0, 1], it ranges from {low:g} to {high:g}: "
            "margins become probabilities by 1 / (1 + exp(-margin))"
        )
    return array


def as_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Weights that may be summed, or None."""
    if sample_weight is None:
        return None
    array = as_numbers("sample_weight", sample_weight).astype(np.float64)
    check_lengths(**{"sample_weight": array.size, "the rest": n_rows})
    if not np.isfinite(array).all():
        raise ValueError(f"sample_weight has {int(np.isinf(array).sum())} infinite values: weights must be finite")
    if (array < 0).any():
        count = int((array < 0).sum())
        raise ValueError(
            f"sample_weight has {count} negative values, the smallest is {array.min():g}: "
            "weights count rows, so they must be at least 0"
        )
    if array.max() > np.finfo(np.float64).max / array.size:
        raise ValueError(
            f"sample_weight goes up to {array.max():g}, and its sum is more than a number can hold: divide all weights "
            "by the largest, since only their proportions count"
        )
    if not array.any():
        raise ValueError("sample_weight is 0 in every row: nothing is left to measure")
    return array


def as_scored(y_true: Any, y_score: Any, sample_weight: Any) -> tuple[Bools, Floats, NDArray[np.float64] | None]:
    """Labels, probabilities and weights of the same rows."""
    labels, scores = as_labels(y_true), as_probabilities(y_score)
    check_lengths(y_true=labels.size, y_score=scores.size)
    return labels, scores, as_weights(sample_weight, labels.size)


def as_threshold(threshold: Any) -> float:
    """A single cut."""
    if np.ndim(threshold) != 0 or isinstance(threshold, (str, bool)) or threshold is None:
        raise TypeError(f"threshold must be one number, got {threshold!r}")
    if np.isnan(threshold):
        raise ValueError("threshold is NaN: no row would be selected; give a number")
    return float(threshold)


def as_cut(threshold: Any) -> float:
    """A single cut between probabilities."""
    cut = as_threshold(threshold)
    # Just below 0 lies the cut that choose_threshold gives for "every row" when a probability is 0.
    if not -1e-6 <= cut <= 1:
        raise ValueError(
            f"threshold must lie between 0 and 1, as the probabilities that it cuts do, got {cut:g}: "
            "divide percent by 100"
        )
    return cut

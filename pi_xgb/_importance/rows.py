"""What a user says about the rows whose trees are looked at: groups, labels and weights, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Groups:
    """The group of each row as 0 to G-1, and the names of the groups."""

    code: Array
    names: list[Any]


@dataclass(frozen=True)
class Labels:
    """y as class codes ``(n,)`` or numbers ``(n, K)``; ``is_hard`` if every output is 0 or 1 in every row."""

    y: Array
    are_codes: bool
    is_hard: bool

    def of_output(self, output: int) -> Array:
        """The label of each row for one class or target."""
        return np.asarray(self.y == output) if self.are_codes else self.y[:, output]


def read_groups(sensitive_features: Any) -> Groups:
    """At least two groups and no missing value; several columns mean their intersections."""
    frame = pd.DataFrame(sensitive_features)
    frame.columns = pd.RangeIndex(frame.shape[1])
    if frame.empty:
        raise ValueError("sensitive_features is empty: give the group of each row")
    missing = int(frame.isna().any(axis=1).sum())
    if missing:
        raise ValueError(
            f"sensitive_features is missing in {missing} rows: give them a group of their own, "
            "for example fillna('unknown'), or drop the rows"
        )
    grouped = frame.groupby(list(frame.columns), sort=True, observed=True)
    names = grouped.size().index.tolist()
    if len(names) < 2:
        raise ValueError(
            f"sensitive_features must have at least two groups to compare, all rows are in {names[0]!r}: "
            "give the rows of the other groups as well"
        )
    return Groups(grouped.ngroup().to_numpy(), names)


def read_weights(sample_weight: Any, of_data: Array, n_rows: int, groups: Groups) -> Array | None:
    """The user's weights, or else those of the data; None if there are none."""
    if sample_weight is not None:
        weight = check_numbers(sample_weight, "sample_weight", n_rows).reshape(-1)
    elif of_data.size:
        weight = check_numbers(of_data, "the weight of the DMatrix X", n_rows)
    else:
        return None
    if weight.min() < 0:
        raise ValueError(f"sample_weight must not be negative, the smallest is {weight.min()}")
    by_group = np.bincount(groups.code, weight, minlength=len(groups.names))
    if not by_group.all():
        raise ValueError(
            "every group needs some sample_weight above 0, group "
            f"{groups.names[int(by_group.argmin())]!r} has none: drop its rows"
        )
    return weight


def read_labels(y: Any, n_rows: int, n_outputs: int, *, are_codes: bool, classes: Array | None) -> Labels:
    """Class codes or numbers; a model with ``classes`` has labels of that kind."""
    values = check_numbers(y if classes is None else _codes(y, classes), "y", n_rows)
    n_columns = 1 if are_codes else n_outputs
    if values.size != n_rows * n_columns:
        raise ValueError(
            f"y must have {n_columns} value{'s' * (n_columns > 1)} per row for this model, got shape {values.shape}"
        )
    if are_codes:
        _check_codes(values, n_outputs)
        return Labels(values.reshape(-1), are_codes=True, is_hard=True)
    is_hard = bool(np.isin(values, (0.0, 1.0)).all())
    return Labels(values.reshape(n_rows, n_outputs), are_codes=False, is_hard=is_hard)


def _codes(y: Any, classes: Array) -> Array:
    labels = np.asarray(y).reshape(-1)
    codes = pd.Index(classes).get_indexer(pd.Index(labels))
    if (codes < 0).any():
        unknown = pd.unique(labels[codes < 0])
        raise ValueError(f"y must hold the model's classes {some(list(classes))}, got also {some(list(unknown))}")
    return np.asarray(codes)


def _check_codes(values: Array, n_classes: int) -> None:
    if values.min() < 0 or values.max() >= n_classes or (values % 1).any():
        raise ValueError(
            f"y must hold the whole numbers 0 to {n_classes - 1}, the classes of the model, it ranges "
            f"from {values.min()} to {values.max()}: encode the classes as for training"
        )


def check_probabilities(labels: Labels, objective: str) -> None:
    """Labels that a binary objective can have."""
    low, high = labels.y.min(), labels.y.max()
    if objective.startswith("binary:") and not (low >= 0 and high <= 1):
        raise ValueError(
            f"y must lie in [0, 1] for the booster's objective {objective}, it ranges from {low} to {high}: "
            "encode the classes as for training"
        )


def check_hard(labels: Labels) -> None:
    """Labels that tell which rows are positive."""
    if not labels.is_hard:
        raise ValueError(
            "metric='eo' compares the rows with label 1, so y must be 0 or 1 (or classes, for a multi-class "
            f"model), it ranges from {labels.y.min()} to {labels.y.max()}: use metric='dp' for regression"
        )


def check_lengths(n_expected: int, n_got: int, name: str, of: str = "X") -> None:
    """One value per row."""
    if n_expected != n_got:
        raise ValueError(
            f"{name} must have one value per row: {of} has {n_expected} rows, {name} has {n_got}. "
            "Take all from the same table, in the same order"
        )


def check_numbers(values: Any, name: str, n_rows: int) -> Array:
    """Finite numbers, one (or one row of them) for each row."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{name} must be numbers without gaps, got {type(values).__name__} with something else: "
            "encode it as for training"
        ) from error
    check_lengths(n_rows, array.shape[0] if array.ndim else 0, name)
    if not np.isfinite(array).all():
        raise ValueError(
            f"{name} must be finite, {int((~np.isfinite(array)).sum())} values are NaN or infinite: drop those rows"
        )
    return array


def some(names: Sequence[Any]) -> str:
    """A few names, for a message."""
    shown = ", ".join(repr(name.item() if isinstance(name, np.generic) else name) for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"

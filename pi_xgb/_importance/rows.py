"""Checked labels and weights of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._rows.columns import number_table
from .._rows.groups import Groups
from .._rows.names import describe, plain
from .._rows.per_row import per_row
from .._rows.supervision import row_weights
from .._xgb.trees import Array
from .sklearn_trees import SklearnSubject
from .subject import Subject


@dataclass(frozen=True)
class Labels:
    """y as class codes ``(n,)`` or numbers ``(n, K)``; ``is_hard`` if every output is 0 or 1 in every row."""

    y: Array
    are_codes: bool
    is_hard: bool

    def for_output(self, output: int) -> Array:
        """Return the label of each row for one class or target."""
        return np.asarray(self.y == output) if self.are_codes else self.y[:, output]


def read_weights(sample_weight: Any, data_weights: Array, groups: Groups) -> Array | None:
    """Return the user's weights, else those of the data, else None."""
    given = data_weights if sample_weight is None and data_weights.size else sample_weight
    weight = row_weights(given, groups.codes.size)
    if weight is None:
        return None
    by_group = np.bincount(groups.codes, weight)
    if not by_group.all():
        raise ValueError(
            "sample_weight must be above 0 in some row of every group, got 0 in all rows of group "
            f"{plain(groups.names[int(by_group.argmin())])!r}: drop its rows"
        )
    return weight


def read_labels(y: Any, subject: Subject | SklearnSubject, metric: str) -> Labels:
    """Return the labels as class codes or numbers; raise if they do not fit the model and the metric."""
    n_rows, n_outputs, classes = subject.n_rows, subject.n_outputs, subject.classes
    are_codes = subject.output_kind == "class" and n_outputs > 1
    values = number_table(y if classes is None else _codes(y, classes), "y", n_rows)
    n_columns = 1 if are_codes else n_outputs
    if values.shape[1] != n_columns:
        raise ValueError(
            f"y must have {n_columns} value{'s' * (n_columns > 1)} per row for this model, got shape {values.shape}"
        )
    low, high, objective = values.min(), values.max(), subject.objective
    ranges = f"got values from {low} to {high}"
    if are_codes and (low < 0 or high >= n_outputs or (values % 1).any()):
        raise ValueError(
            f"y must hold the model's classes, whole numbers from 0 to {n_outputs - 1}, {ranges}: encode the "
            "classes as for training"
        )
    if objective.startswith("binary:") and not (low >= 0 and high <= 1):
        raise ValueError(
            f"y must lie in [0, 1] for the booster's objective {objective}, {ranges}: encode the classes as for "
            "training"
        )
    is_hard = are_codes or bool(np.isin(values, (0.0, 1.0)).all())
    if metric == "eo" and not is_hard:
        raise ValueError(
            "y must be 0 or 1 (or the classes of a multi-class model) with metric='eo', "
            f"{ranges}: use metric='dp' for regression"
        )
    return Labels(values.reshape(-1) if are_codes else values, are_codes, is_hard)


def _codes(y: Any, classes: Array) -> Array:
    labels = per_row("y", y, kind="values")
    codes = pd.Index(classes).get_indexer(pd.Index(labels))
    if (codes < 0).any():
        unknown = pd.unique(labels[codes < 0])
        raise ValueError(f"y must hold the model's classes {describe(classes)}, got also {describe(unknown)}")
    return np.asarray(codes)

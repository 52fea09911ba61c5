"""Checked labels and weights of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .._rows.groups import Groups
from .._rows.names import describe, plain
from .._rows.per_row import per_row
from .._rows.supervision import row_weights
from .._rows.tables import number_table
from .._xgb.trees import Array
from .sklearn_trees import SklearnSubject
from .subject import Subject


def read_weights(sample_weight: Any, data_weights: Array, groups: Groups) -> Array:
    """Return the user's weights, else those of the data, else ones."""
    given = data_weights if sample_weight is None and data_weights.size else sample_weight
    weight = row_weights(given, groups.codes.size)
    if weight is None:
        return np.ones(groups.codes.size)
    by_group = np.bincount(groups.codes, weight)
    if not by_group.all():
        raise ValueError(
            "sample_weight must be above 0 in some row of every group, got 0 in all rows of group "
            f"{plain(groups.names[int(by_group.argmin())])!r}: drop its rows"
        )
    return weight


def read_labels(y: Any, subject: Subject | SklearnSubject, metric: str) -> Array:
    """Return the labels by class or target ``(n, K)``; raise if they do not fit the model and the metric."""
    n_outputs, classes, objective = subject.n_outputs, subject.classes, subject.objective
    of_classes = subject.output_kind == "class" and n_outputs > 1
    if classes is not None:
        labels = per_row("y", y, kind="values")
        y = pd.Index(classes).get_indexer(pd.Index(labels))
        if (y < 0).any():
            unknown = describe(pd.unique(labels[y < 0]))
            raise ValueError(f"y must hold the model's classes {describe(classes)}, got also {unknown}")
    values = number_table(y, "y", subject.n_rows)
    n_columns = 1 if of_classes else n_outputs
    if values.shape[1] != n_columns:
        raise ValueError(
            f"y must have {n_columns} value{'s' * (n_columns > 1)} per row for this model, got shape {values.shape}"
        )
    low, high = values.min(), values.max()
    must = ""
    if of_classes and (low < 0 or high >= n_outputs or (values % 1).any()):
        must = f"hold the model's classes, whole numbers from 0 to {n_outputs - 1}"
    elif objective.startswith("binary:") and not (low >= 0 and high <= 1):
        must = f"lie in [0, 1] for the booster's objective {objective}"
    if must:
        raise ValueError(f"y must {must}, got values from {low} to {high}: encode the classes as for training")
    if of_classes:
        return np.asarray(values == np.arange(n_outputs), np.float64)
    if metric == "eo" and not np.isin(values, (0.0, 1.0)).all():
        raise ValueError(
            "y must be 0 or 1 (or the classes of a multi-class model) with metric='eo', "
            f"got values from {low} to {high}: use metric='dp' for regression"
        )
    return np.asarray(values)

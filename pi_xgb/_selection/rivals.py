"""What a practitioner would use instead of a student: a linear model and a forest, also with imputed z."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._arrays import Array
from .._core.learners.features import Features
from .._core.learners.fit_teacher import fit_teacher
from .._xgb.matrix import side_by_side
from .students import FoldStudents, Students, cut

LINEAR, FOREST, MEAN, IMPUTED = "linear", "forest", "linear and forest", "z imputed"
RIVALS = (LINEAR, FOREST, MEAN, IMPUTED)
_FOLDS = 5
_MOST_LEVELS = 20
"""The most frequent levels of a category are imputed."""


def with_imputed(students: Students) -> xgboost.DMatrix:
    """Return the classifier features and each row's privileged features as a forest predicts them out of fold.

    It needs no labels, so the forests of all rows serve every fold: none has seen the z of the row that it predicts.
    """
    privileged: Any = students.config.privileged
    values = _numbers(privileged)
    known, n_rows = ~np.isnan(values).all(axis=1), len(values)
    with np.errstate(all="ignore"):
        values = np.where(np.isnan(values), np.nanmean(values[known], axis=0), values)
    rows = cut(students.dtrain, np.arange(n_rows))
    rows.set_info(label=values if values.shape[1] > 1 else values[:, 0])
    params = {
        "objective": "reg:squarederror",
        **{k: v for k, v in students.spec.params.items() if k in ("nthread", "seed")},
    }
    how: dict[str, Any] = {"labelled": None if known.all() else known, "crossfit_groups": students.groups}
    imputed = fit_teacher(params, rows, 1, teacher="forest", crossfit=_FOLDS, **how)
    return side_by_side(students.dtrain, xgboost.DMatrix(imputed.values.reshape(n_rows, -1)))


def rival_means(part: FoldStudents, imputed: xgboost.DMatrix) -> dict[str, Array]:
    """Return the held-out predictions of each rival, fitted on the labelled rows of a fold."""
    (linear, forest), (linear_imputed, forest_imputed) = (_means(part, own) for own in (part.all.dtrain, imputed))
    mean, of_imputed = (linear + forest) / 2, (linear_imputed + forest_imputed) / 2
    return dict(zip(RIVALS, (linear, forest, mean, of_imputed), strict=True))


def _means(part: FoldStudents, matrix: xgboost.DMatrix) -> list[Array]:
    rows, held_out = cut(matrix, part.known), cut(matrix, part.test)
    models = [fit_teacher(part.all.spec.params, rows, 1, teacher=kind, crossfit=0) for kind in (LINEAR, FOREST)]
    return [model.predict(held_out) for model in models]


def _numbers(matrix: xgboost.DMatrix) -> Any:
    """Return the columns as numbers, a category as indicators of its levels; NaN where nothing is known."""
    features = Features(matrix)
    columns: list[Any] = []
    for values, is_category in zip(features.dense.T, features.is_category, strict=True):
        if not is_category:
            columns.append(values)
            continue
        levels = pd.Series(values).value_counts().index[:_MOST_LEVELS]
        columns += [np.where(np.isnan(values), np.nan, values == level) for level in levels]
    return np.column_stack(columns)

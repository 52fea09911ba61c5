"""What a practitioner would use instead of a student: a linear model and a forest, also with imputed z."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._arrays import Array
from .._core.fit_teacher import fit_teacher
from .._core.learners.features import Features
from .._xgb.matrix import exclusive, side_by_side, slice_rows
from .students import FoldStudents, Students, labelled_part

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
    with exclusive(students.dtrain):
        rows = slice_rows(students.dtrain, np.arange(n_rows))
    rows.set_info(label=values if values.shape[1] > 1 else values[:, 0])
    params = {"objective": "reg:squarederror", **{k: v for k, v in students.params.items() if k in ("nthread", "seed")}}
    how: dict[str, Any] = {"labelled": None if known.all() else known, "crossfit_groups": students.groups}
    imputed = fit_teacher(params, rows, 1, teacher="forest", crossfit=_FOLDS, **how)
    return side_by_side(students.dtrain, xgboost.DMatrix(imputed.values.reshape(n_rows, -1)))


def rival_means(part: FoldStudents, imputed: xgboost.DMatrix) -> dict[str, Array]:
    """Return the held-out predictions of each rival, fitted on the labelled rows of a fold."""
    own = _fitted(part, part.dtrain, part.held_out)
    with exclusive(imputed):
        rows, held_out = (slice_rows(imputed, chosen) for chosen in (part.rows, part.test))
    more = _fitted(part, rows, held_out)
    return {**own, MEAN: (own[LINEAR] + own[FOREST]) / 2, IMPUTED: (more[LINEAR] + more[FOREST]) / 2}


def _fitted(part: FoldStudents, rows: xgboost.DMatrix, held_out: xgboost.DMatrix) -> dict[str, Array]:
    rows = labelled_part(rows, part.labelled)
    models = {kind: fit_teacher(part.all.params, rows, 1, teacher=kind, crossfit=0) for kind in (LINEAR, FOREST)}
    return {kind: model.predict(held_out) for kind, model in models.items()}


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

"""What ``compare`` sets beside a student: plain XGBoost, its upper bound, controls, and rivals.

Rivals are what a practitioner would use instead: a linear model and a forest, also with imputed z.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._arrays import Array
from .._core.fit_teacher import fit_teacher
from .._core.learners.features import Features
from .._xgb.joined import side_by_side
from .._xgb.matrix import copy_queries, rows_without_values, slice_rows
from .candidates import PLAIN, Candidate
from .students import FoldStudents, Students, cut

BASELINE, CEILING, STUDENT, SELF, SHUFFLED, TEACHER = (
    *("plain XGBoost", "z known at prediction", "student", "self-distillation", "shuffled", "teacher"),
)
RIVALS = {
    "linear": "a linear model",
    "forest": "a forest",
    "linear and forest": "the mean of a linear model and a forest",
    "z imputed": "the mean of a linear model and a forest on x and the imputed z",
}
"""By their names in tables, what to deploy in words."""
_MOST_LEVELS = 20
"""The most frequent levels of a category are imputed."""


def compared_models(student: Candidate, students: Students, seed: int) -> dict[str, tuple[Students, Candidate]]:
    """Return the boosted models by their names in tables: the rows with their features, and how they are taught."""
    privileged: Any = students.config.privileged
    # Rows without any privileged value are not shuffled, so that the same rows have a teacher.
    filled = np.flatnonzero(~rows_without_values(privileged))
    order = np.arange(privileged.num_row())
    order[filled] = np.random.default_rng(seed).permutation(filled)
    others = slice_rows(privileged, order)
    for field in students.spec.loss.label_fields:  # features of other rows with the labels of these
        others.set_info(**{field: students.dtrain.get_float_info(field)})
    copy_queries(students.dtrain, others)
    shuffled = students.with_privileged(others, "shuffled")
    shuffled.training(student)  # read here, once for all threads
    both = side_by_side(students.dtrain, privileged)
    ceiling = dataclasses.replace(students.with_privileged(None, "ceiling"), dtrain=both)
    return {
        BASELINE: (students, PLAIN),
        CEILING: (ceiling, PLAIN),
        STUDENT: (students, student),
        SELF: (students, student.without_privileged()),
        SHUFFLED: (shuffled, student),
    }


def with_imputed(students: Students) -> xgboost.DMatrix:
    """Return the classifier features and each row's privileged features as a forest predicts them out of fold.

    It needs no labels, so the forests of all rows serve every fold: none has seen the z of the row that it predicts.
    """
    privileged: Any = students.config.privileged
    values = _numbers(privileged)
    values = values[:, ~np.isnan(values).all(axis=0)]
    known, n_rows = ~np.isnan(values).all(axis=1), len(values)
    with np.errstate(all="ignore"):
        values = np.where(np.isnan(values), np.nanmean(values[known], axis=0), values)
    rows = cut(students.dtrain, np.arange(n_rows))
    rows.set_info(label=values if values.shape[1] > 1 else values[:, 0])
    own = students.spec.params
    params = {"objective": "reg:squarederror"} | {name: own[name] for name in ("nthread", "seed") if name in own}
    how: dict[str, Any] = {"labelled": None if known.all() else known, "crossfit_groups": students.groups}
    imputed = fit_teacher(params, rows, 1, teacher="forest", **how)
    return side_by_side(students.dtrain, xgboost.DMatrix(imputed.values.reshape(n_rows, -1)))


def rivals_of(students: Students) -> Callable[[FoldStudents], dict[str, Array]]:
    """Return the function for the predictions of the rivals in one fold."""
    imputed = with_imputed(students)

    def rival_means(part: FoldStudents) -> dict[str, Array]:
        """Return the held-out predictions of each rival, fitted on the labelled rows of a fold."""
        (linear, forest), (linear_imputed, forest_imputed) = (_means(part, own) for own in (part.all.dtrain, imputed))
        mean, of_imputed = (linear + forest) / 2, (linear_imputed + forest_imputed) / 2
        return dict(zip(RIVALS, (linear, forest, mean, of_imputed), strict=True))

    return rival_means


def _means(part: FoldStudents, matrix: xgboost.DMatrix) -> list[Array]:
    known = part.rows if part.labelled is None else part.rows[part.labelled]
    rows, held_out = cut(matrix, known), cut(matrix, part.test)
    models = [fit_teacher(part.all.spec.params, rows, 1, teacher=kind, crossfit=0) for kind in ("linear", "forest")]
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

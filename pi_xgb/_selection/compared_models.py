"""The models that ``compare`` scores, in each outer fold and at each number of labelled training rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .._core.folds import Split
from .._rows.checks import check_whole, several
from .._xgb.matrix import copy_queries, rows_without_values, side_by_side, slice_rows
from .candidates import PLAIN, Candidate
from .scores import Score
from .splits import subset
from .students import Students

BASELINE, CEILING, STUDENT, SELF, SHUFFLED, TEACHER = (
    *("plain XGBoost", "z known at prediction", "student", "self-distillation", "shuffled", "teacher"),
)


def sized(students: Students, splits: Sequence[Split], sizes: Any, seed: int) -> list[Split]:
    """Return every fold at every number of labelled training rows."""
    label = students.loss.label_of(students.dtrain)
    full = min(len(split.train) for split in splits)
    for size in (sizes := several(sizes)):
        check_whole("sizes", size, 2)
        if size >= full:
            raise ValueError(
                f"sizes must be below the {full} {students.labelled_rows} of a fold, which are always included, got "
                f"{size}: pass smaller sizes"
            )
    cells = []
    for number, split in enumerate(splits):
        for size in sorted(set(sizes)):
            rows = subset(label, split.train, size, seed + number)
            cells.append(split._replace(train=rows, shared=None, size=int(size)))
        # Folds differ by a row or so; the curve has one point for all of them.
        cells.append(split._replace(size=full))
    return cells


def compared_models(student: Candidate, students: Students, seed: int) -> dict[str, tuple[Students, Candidate]]:
    """Return the boosted models by their names in tables: the rows with their features, and how they are taught."""
    privileged: Any = students.config.privileged
    # Rows without any privileged value are not shuffled, so that the same rows have a teacher.
    filled = np.flatnonzero(~rows_without_values(privileged))
    order = np.arange(privileged.num_row())
    order[filled] = np.random.default_rng(seed).permutation(filled)
    others = slice_rows(privileged, order)
    for field in students.loss.label_fields:  # features of other rows with the labels of these
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


def table_of(splits: Sequence[Split], found: Sequence[dict[str, Any]], score: Score) -> pd.DataFrame:
    """Return a row per fold and model.

    The rounds of a student are those that are best on average in the other folds of the same size and repeat, so that
    the held-out rows of a fold do not choose the rounds by which they are scored.
    """
    rows = []
    for split, outcome in zip(splits, found, strict=True):
        beside = [
            other
            for place, other in zip(splits, found, strict=True)
            if place is not split and (place.size, place.repeat) == (split.size, split.repeat)
        ]
        best = {
            model: int((score.sign * np.mean([other[model][0] for other in beside], axis=0)).argmax())
            for model in outcome
        }
        scores = {model: curve[best[model]] for model, (curve, _) in outcome.items()} | {TEACHER: outcome[STUDENT][1]}
        rows += [
            {
                "size": split.size,
                "repeat": split.repeat,
                "fold": split.fold,
                "model": model,
                "score": value,
                "gain": score.sign * (value - scores[BASELINE]) + 0.0,  # no -0
                "rounds": best[model] + 1 if model in outcome and len(outcome[model][0]) > 1 else 0,
                "n_train": len(split.train),
                "n_test": len(split.test),
            }
            for model, value in scores.items()
        ]
    return pd.DataFrame(rows)

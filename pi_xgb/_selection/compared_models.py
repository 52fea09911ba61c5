"""The models that ``compare`` scores, in each outer fold and at each number of labelled training rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._core.folds import SharedFolds, Split
from .._rows.checks import check_whole, several
from .._xgb.matrix import copy_queries, rows_without_values, side_by_side, slice_rows
from .candidates import PLAIN, Candidate
from .rivals import RIVALS, rival_means, with_imputed
from .scores import Score, score_of_mean
from .splits import subset
from .students import Students

BASELINE, CEILING, STUDENT, SELF, SHUFFLED, TEACHER = (
    *("plain XGBoost", "z known at prediction", "student", "self-distillation", "shuffled", "teacher"),
)


class Cell(NamedTuple):
    """A fold at one number of labelled training rows."""

    size: int
    split: Split
    folds: SharedFolds | None

    @property
    def name(self) -> str:
        """The name of the cell within a comparison."""
        return f"{self.size}/{self.split.name}"


def cells_of(students: Students, splits: Sequence[Split], sizes: Any, seed: int) -> list[Cell]:
    """Return every fold at every number of labelled training rows."""
    label = students.loss.label_of(students.dtrain)
    full = min(len(split.train) for split in splits)
    sizes = several(sizes)
    for size in sizes:
        check_whole("sizes", size, 2)
        if size >= full:
            raise ValueError(
                f"sizes must be below the {full} {students.labelled_rows} of a fold, which are always included, got "
                f"{size}: pass smaller sizes"
            )
    cells = []
    for number, (split, folds) in enumerate(zip(splits, students.in_folds(splits), strict=True)):
        for size in sorted(set(sizes)):
            rows = subset(label, split.train, size, seed + number)
            cells.append(Cell(int(size), split._replace(train=rows), None))
        # Folds differ by a row or so; the curve has one point for all of them.
        cells.append(Cell(full, split, folds))
    return cells


@dataclasses.dataclass(frozen=True)
class ComparedModels:
    """The models and how they are scored."""

    student: Candidate
    students: Students
    ceiling: Students
    shuffled: Students
    imputed: Any
    """The matrix of the rival that imputes z; None where there are no rivals."""
    score: Score

    @classmethod
    def of(cls, student: Candidate, students: Students, score: Score, seed: int, *, has_rivals: bool) -> ComparedModels:
        """Return the models of these rows."""
        privileged: Any = students.config.privileged
        # Rows without any privileged value are not shuffled, so that the same rows have a teacher.
        filled = np.flatnonzero(~rows_without_values(privileged))
        order = np.arange(privileged.num_row())
        order[filled] = np.random.default_rng(seed).permutation(filled)
        others = slice_rows(privileged, order)
        for field in students.loss.label_fields:  # features of other rows with the labels of these
            others.set_info(**{field: students.dtrain.get_float_info(field)})
        copy_queries(students.dtrain, others)
        both = side_by_side(students.dtrain, others) if student.sees_all else None
        shuffled = students.with_privileged(others, both, "shuffled")
        ceiling = dataclasses.replace(students.with_privileged(None, None, "ceiling"), dtrain=students.both)
        return cls(student, students, ceiling, shuffled, with_imputed(students) if has_rivals else None, score)

    @property
    def models(self) -> list[str]:
        """The names in tables."""
        return [BASELINE, CEILING, STUDENT, SELF, SHUFFLED, *(RIVALS if self.imputed is not None else ()), TEACHER]

    def evaluate(self, cell: Cell, step: Callable[[], Any]) -> dict[str, list[float]]:
        """Return the score of each model on the held-out rows, of students after each round."""
        of_cell = (cell.split.train, cell.split.test, cell.folds)
        part, found = self.students.take(*of_cell), {}
        boosted = {
            BASELINE: (part, PLAIN),
            CEILING: (self.ceiling.take(*of_cell), PLAIN),
            STUDENT: (part, self.student),
            SELF: (part, self.student.without_privileged()),
            SHUFFLED: (self.shuffled.take(*of_cell), self.student),
        }
        for model, (rows, candidate) in boosted.items():
            # The shuffled teachers are others than those of the student.
            found[model] = rows.curve(candidate, self.score).tolist()
            step()
        if self.imputed is not None:
            for model, mean in rival_means(part, self.imputed).items():
                of_mean = (mean, part.held_out, self.students.params, self.students.loss)
                found[model] = [score_of_mean(self.score, *of_mean)]
                step()
        found[TEACHER] = [part.teacher_score(self.student, self.score)]
        step()
        return found


def table_of(cells: Sequence[Cell], outcomes: Sequence[dict[str, list[float]]], score: Score) -> pd.DataFrame:
    """Return a row per cell and model.

    The rounds of a student are those that are best on average in the other folds of the same size and repeat, so that
    the held-out rows of a fold do not choose the rounds by which they are scored.
    """
    rows = []
    for cell, outcome in zip(cells, outcomes, strict=True):
        scores, rounds = {}, {}
        for model, curve in outcome.items():
            others = [
                other[model]
                for beside, other in zip(cells, outcomes, strict=True)
                if (beside.size, beside.split.repeat) == (cell.size, cell.split.repeat) and beside is not cell
            ]
            best = int((score.sign * np.mean(others, axis=0)).argmax())
            scores[model], rounds[model] = curve[best], best + 1 if len(curve) > 1 else 0
        rows += [
            {
                "size": cell.size,
                "repeat": cell.split.repeat,
                "fold": cell.split.fold,
                "model": model,
                "score": value,
                "gain": score.sign * (value - scores[BASELINE]) + 0.0,  # no -0
                "rounds": rounds[model],
                "n_train": len(cell.split.train),
                "n_test": len(cell.split.test),
            }
            for model, value in scores.items()
        ]
    return pd.DataFrame(rows)

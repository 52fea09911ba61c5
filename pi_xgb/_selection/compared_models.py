"""The models that ``compare`` evaluates, in each outer fold and at each number of labelled training rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._arrays import Array
from .._rows.checks import check_whole, several
from .._xgb.matrix import copy_queries, rows_without_values, side_by_side, slice_rows
from .candidates import PLAIN, Candidate
from .problem import Problem
from .scores import Score
from .search import Found, check_crossfit_fits, search
from .splits import Split, splits_of, subset

BASELINE, CEILING, STUDENT, SELF, SHUFFLED = (
    "plain XGBoost",
    "z known at prediction",
    "student",
    "self-distillation",
    "shuffled",
)
BOOSTED = (BASELINE, CEILING, STUDENT, SELF, SHUFFLED)
RIVAL, TEACHER = "best rival", "teacher"
RIVALS = [Candidate("kbpib", 1.0, kind, crossfit=0) for kind in ("linear", "forest")]
"""The teachers of these candidates, which see x alone, are the rivals."""


@dataclasses.dataclass(frozen=True)
class Cell:
    """An outer fold at one number of labelled training rows; ``rows`` are their numbers."""

    size: int
    split: Split
    rows: Any

    @property
    def name(self) -> str:
        """The name of the cell within a comparison."""
        return f"{self.size}/{self.split.name}"


def cells_of(problem: Problem, splits: Sequence[Split], sizes: Any, seed: int) -> list[Cell]:
    """Return every fold at every number of labelled training rows."""
    label = problem.loss.label_of(problem.dtrain)
    full = min(len(split.train) for split in splits)
    sizes = several(sizes)
    for size in sizes:
        check_whole("sizes", size, 2)
        if size >= full:
            raise ValueError(
                f"sizes must be below the {full} {problem.adjective}training rows of a fold, which are always "
                f"included, got {size}: pass smaller sizes"
            )
    cells = []
    for number, split in enumerate(splits):
        cells += [
            Cell(int(size), split, subset(label, split.train, size, seed + number)) for size in sorted(set(sizes))
        ]
        # Folds differ by a row or so; the curve has one point for all of them.
        cells.append(Cell(full, split, split.train))
    return cells


@dataclasses.dataclass(frozen=True)
class ComparedModels:
    """The settings by which the models are chosen and evaluated in each cell."""

    candidates: list[Candidate]
    controls: list[Candidate]
    rivals: list[Candidate]
    score: Score
    standard_errors: float
    inner_nfold: int
    seed: int
    names: Any

    @property
    def steps(self) -> int:
        """The steps of the progress bar per cell."""
        return self.inner_nfold * (2 * len(self.candidates) + len(self.controls) + len(self.rivals) + 1)

    def check(self, problem: Problem, cells: Sequence[Cell]) -> None:
        """Raise if a training part cannot be cut into the inner folds."""
        label, classes = problem.loss.label_of(problem.dtrain), problem.loss.probabilities
        how = {"classes": classes, "names": self.names, "name": "inner_nfold"}
        for cell in cells:
            groups = None if problem.groups is None else problem.groups[cell.rows]
            inner = splits_of(label[cell.rows], self.inner_nfold, 1, None, self.seed, groups=groups, **how)
            parts = [cell.rows[split.train] for split in inner]
            check_crossfit_fits(problem, [*self.candidates, *self.controls], parts, "an inner fold")

    def evaluate(self, problem: Problem, cell: Cell, step: Callable[[], Any]) -> list[dict[str, Any]]:
        """Return a row of the table for each of the models."""
        part = problem.take(cell.rows, cell.split.test)
        test, test_both = (slice_rows(matrix, cell.split.test) for matrix in (problem.dtrain, problem.both))
        parts = {BASELINE: part, STUDENT: part, **self._others(part, cell)}
        inner = part.splits(self.inner_nfold, 1, None, self.seed, self.names)
        found = self._found(parts, inner, step)
        chosen = {model: (search.candidate, search.best_rounds) for model, search in found.items()}
        scores: dict[str, float] = {}
        teachers: dict[str, Any] = {}
        for model, (candidate, rounds) in chosen.items():
            if model not in (BASELINE, CEILING) and candidate == PLAIN:
                scores[model] = scores[BASELINE]  # the student is plain XGBoost, which is trained already
            else:
                held_out = test_both if model == CEILING else test
                teachers[model] = None if candidate == PLAIN else parts[model].teacher_of(candidate)
                curves = parts[model].curves(candidate, rounds, held_out, self.score, teachers[model])
                scores[model] = float(curves[-1, -1])
        if self.rivals:
            rival = self._best_rival(parts[SELF], inner, step)
            scores[RIVAL] = _score_of_rival(rival, parts[SELF], problem, cell.split.test, self.score)
            chosen[RIVAL] = rival, 0
        scores[TEACHER] = self._score_of_teacher(part, found[STUDENT], teachers.get(STUDENT), problem, cell)
        chosen[TEACHER] = chosen[STUDENT]
        return [
            {
                "size": cell.size,
                "repeat": cell.split.repeat,
                "fold": cell.split.fold,
                "model": model,
                "score": scores[model],
                "gain": self.score.sign * (scores[model] - scores[BASELINE]) + 0.0,  # no -0
                "chosen": candidate.kind if model == RIVAL else candidate.name,
                "rounds": rounds,
                "n_train": len(cell.rows),
                "n_test": len(cell.split.test),
            }
            for model, (candidate, rounds) in chosen.items()
        ]

    def _best_rival(self, part: Problem, inner: Sequence[Split], step: Callable[[], Any]) -> Candidate:
        """Return the rival with the best mean score on the inner folds."""

        def score_of(rival: Candidate, split: Split) -> float:
            step()
            return _score_of_rival(rival, part.take(split.train, split.test), part, split.test, self.score)

        means = [np.mean([score_of(rival, split) for split in inner]) for rival in self.rivals]
        return self.rivals[int(np.argmax(self.score.sign * np.array(means)))]

    def _score_of_teacher(self, part: Problem, found: Found, teacher: Any, problem: Problem, cell: Cell) -> float:
        """Return the score of the student's teacher; if plain XGBoost was chosen, of the best teacher."""
        candidate = found.candidate
        if candidate == PLAIN:
            candidate = found.candidates[1 + int(np.argmax([gain.mean for gain in found.gains[1:]]))]
            teacher = part.teacher_of(candidate)
            if not candidate.learns_first:  # the teacher grows with the student
                part.fit(candidate, found.best_rounds, teacher)
        test = slice_rows(problem.dtrain, cell.split.test)
        return problem.teacher_score(candidate, teacher, cell.split.test, test, self.score)

    def _others(self, part: Problem, cell: Cell) -> dict[str, Problem]:
        """Return the training data of the upper bound and of the two controls."""
        rng = np.random.default_rng([self.seed, cell.split.repeat, cell.split.fold])
        privileged: Any = part.config.privileged
        # Rows without any privileged value are not shuffled, so that the same rows have a teacher.
        filled = np.flatnonzero(~rows_without_values(privileged))
        order = np.arange(privileged.num_row())
        order[filled] = rng.permutation(filled)
        shuffled = slice_rows(privileged, order)
        for field in part.loss.label_fields:  # features of other rows with the labels of these
            shuffled.set_info(**{field: part.dtrain.get_float_info(field)})
        copy_queries(part.dtrain, shuffled)
        return {
            CEILING: dataclasses.replace(part, dtrain=part.both, both=None),
            SELF: part.learning_from(None, None),
            SHUFFLED: part.learning_from(shuffled, side_by_side(part.dtrain, shuffled)),
        }

    def _found(self, parts: dict[str, Problem], inner: Sequence[Split], step: Callable[[], Any]) -> dict[str, Found]:
        """Return the choice for each model, by folds inside the training rows alone."""
        tried = {STUDENT: self.candidates, CEILING: [PLAIN], SELF: self.controls, SHUFFLED: self.candidates}
        found: dict[str, Found] = {}
        for model, candidates in tried.items():
            # Plain XGBoost is the same in all searches except for the upper bound, which has other features.
            plain = None if model == CEILING else found.get(STUDENT)
            search_in = (parts[model], inner, candidates, self.score, self.standard_errors)
            found[model] = search(*search_in, n_jobs=1, step=step, plain=plain)
        return {
            BASELINE: dataclasses.replace(found[STUDENT], chosen=0),
            **{model: found[model] for model in BOOSTED[1:]},
        }


def _score_of_rival(rival: Candidate, part: Problem, problem: Problem, rows: Array, score: Score) -> float:
    """Return the score of a rival, fitted on ``part``, on these rows of ``problem``."""
    test = slice_rows(problem.dtrain, rows)
    return problem.learning_from(None, None).teacher_score(rival, part.teacher_of(rival), rows, test, score)

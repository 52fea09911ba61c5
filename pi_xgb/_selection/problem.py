"""One student: its data, the data of its teachers, what is known of each row, and how both are trained."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xgboost
from numpy.typing import NDArray

from .._arrays import Array
from .._core.checks import check_is_dmatrix, check_kl_weight
from .._core.config import TeacherConfig
from .._core.copies import check_copies, check_whole_queries
from .._core.crossfit import Folds, whole_queries
from .._core.loss import Loss
from .._core.native import obstacle_to_native
from .._core.spec import Spec
from .._core.teachers import Teacher, is_list_of_pairs
from .._core.train import train
from .._stats.folds import checked_groups
from .._xgb.matrix import exclusive, query_of_row, side_by_side, slice_rows
from .._xgb.params import objective_name, on_one_thread, user_params
from .candidates import PLAIN, Candidate
from .scores import Score, score_of_mean
from .splits import Split, splits_of

Values = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How candidates are trained, whatever the data."""

    params: dict[str, Any]
    num_boost_round: int
    """The most that a student may have, and what the teachers of KbPIB have."""
    teacher_params: Any

    def problem(
        self,
        dtrain: xgboost.DMatrix,
        config: TeacherConfig,
        name: str,
        *,
        groups: Any = None,
        constraints: Any = (),
        sees_all: bool,
    ) -> Problem:
        """The recipe with its data, checked for everything that can be wrong with them, before any training.

        ``name`` is the calling function, ``sees_all`` whether a teacher, or a student, sees both sides.
        """
        privileged: Any = config.privileged
        spec = Spec.read(self.params)
        for matrix, role in ((dtrain, "dtrain"), (privileged, "privileged")):
            check_is_dmatrix(matrix, role)
            if isinstance(matrix, (xgboost.QuantileDMatrix, xgboost.ExtMemQuantileDMatrix)):
                raise TypeError(
                    f"{role} is of type {type(matrix).__name__}, which cannot be cut into folds: build a DMatrix for "
                    f"{name}"
                )
        label, n_rows = spec.loss.label_of(dtrain), dtrain.num_row()
        if label.ndim == 2:
            raise ValueError(
                f"{name} scores one target, and the labels of dtrain have {label.shape[1]} columns: pass one target "
                "at a time, or score all of them with pi_xgb.cv(..., kl_weight=[0.0, 1.0, 10.0])"
            )
        together = whole_queries(spec.loss, dtrain, checked_groups(groups, n_rows), "groups")
        check_constraints(constraints, n_rows)
        # One thread for each of many trainings on few rows.
        params = on_one_thread(self.params, n_rows)
        teacher_params = None if self.teacher_params is None else on_one_thread(self.teacher_params, n_rows)
        recipe = dataclasses.replace(self, params=params, teacher_params=teacher_params)
        if config.crossfit_groups is None:
            config = dataclasses.replace(config, crossfit_groups=together)
        config = dataclasses.replace(config, teacher_params=teacher_params).of_rows(dtrain)
        config.task(spec, dtrain, self.num_boost_round).check_labelled_rows()
        if query_of_row(dtrain) is not None and not spec.loss.by_query:
            raise ValueError(
                f"{name} deals queries as a whole for ranking objectives only, and {spec.objective} is none: build "
                "dtrain without qid, and pass groups=qid"
            )
        both = side_by_side(dtrain, privileged) if sees_all else None
        # From here on what a teacher sees is the library's own choice.
        config = dataclasses.replace(config, allow_overlap=True)
        return Problem(recipe, dtrain, config, both, together, tuple(constraints))


@dataclasses.dataclass(frozen=True)
class Problem:
    """A recipe and its rows, with what is known of each row."""

    recipe: Recipe
    dtrain: xgboost.DMatrix
    config: TeacherConfig
    """The privileged features; of each row whether it has a label, the teacher's weight, its cross-fitting group."""
    both: Any
    """Classifier and privileged features side by side, None where no model sees them."""
    groups: Array | None = None
    """Rows that stay together in the folds of the selection."""
    constraints: Sequence[tuple[Teacher, float]] = ()
    """They hold for every candidate."""
    folds: Folds | None = None
    """Of the selection, where they are those of cross-fitted teachers too."""

    @property
    def loss(self) -> Loss:
        """Of the student."""
        return Spec.read(self.recipe.params).loss

    @property
    def labelled(self) -> Array | None:
        """Which rows have a label; None where all have."""
        labelled: Array | None = self.config.labelled
        return labelled

    @property
    def inputs(self) -> dict[str, Any]:
        """What its trainings depend on, by keyword."""
        rows = {"dtrain": self.dtrain, "groups": self.groups, "constraints": self.constraints}
        return {**vars(self.recipe), **vars(self.config), **rows}

    @property
    def adjective(self) -> str:
        """Of the rows that are dealt to folds, in messages."""
        return "" if self.labelled is None else "labelled "

    @property
    def plain(self) -> xgboost.DMatrix:
        """The training rows of plain XGBoost: labelled ones."""
        return labelled_part(self.dtrain, self.labelled)

    def splits(self, nfold: int, repeats: int, folds: Any, seed: int, names: Any = None) -> list[Split]:
        """The folds of its labelled rows."""
        label, classes = self.loss.label_of(self.dtrain), self.loss.probabilities
        rows = {"groups": self.groups, "labelled": self.labelled}
        splits = splits_of(label, nfold, repeats, folds, seed, classes=classes, names=names, **rows)
        if not self.loss.by_query:
            return splits
        # The rows of a query stay side by side.
        return [dataclasses.replace(split, train=np.sort(split.train), test=np.sort(split.test)) for split in splits]

    def take(self, rows: Array, held_out: Array) -> Problem:
        """The same problem for some of the labelled rows, in their order, and all without a label, in own matrices.

        No row trains whose group is among those of the labelled rows that are ``held_out``.
        """
        if self.labelled is not None:
            others = ~self.labelled & ~self.idle
            if self.groups is not None:
                others &= ~pd.Series(self.groups).isin(self.groups[held_out]).to_numpy()
            rows = np.concatenate([rows, np.flatnonzero(others)])
            if self.loss.by_query:  # whose rows stand side by side
                rows = np.sort(rows)
        with exclusive(self.dtrain, *([] if self.both is None else [self.both]), *self.config.matrices):
            return dataclasses.replace(
                self,
                dtrain=slice_rows(self.dtrain, rows),
                config=self.config.subset(rows),
                both=None if self.both is None else slice_rows(self.both, rows),
                groups=None if self.groups is None else self.groups[rows],
                constraints=tuple((constraint.take(rows), weight) for constraint, weight in self.constraints),
                folds=None if self.folds is None else self.folds.take(rows),
            )

    def learning_from(self, privileged: xgboost.DMatrix, both: Any) -> Problem:
        """The same rows with other privileged features."""
        return dataclasses.replace(self, config=dataclasses.replace(self.config, privileged=privileged), both=both)

    def check_taught(self, candidates: Sequence[Candidate]) -> None:
        """Where the objective needs copies of the rows: whether every candidate can have them, before any training."""
        spec = Spec.read(self.recipe.params)
        if "copies" not in spec.loss.engines:
            return
        follows = any(not candidate.learns_first for candidate in candidates if candidate != PLAIN)
        follows = follows or any(constraint.is_adaptive for constraint, _ in self.constraints)
        check_copies(spec, self.dtrain, teaches=True, is_adaptive=follows)
        if spec.loss.by_query:
            check_whole_queries(self.config.teacher_weight, self.dtrain)

    @property
    def idle(self) -> Array:
        """Which rows have neither a label nor a teacher."""
        if self.labelled is None or self.config.teacher_weight is None:
            return np.zeros(self.dtrain.num_row(), bool)
        return ~self.labelled & (self.config.teacher_weight == 0)

    def teacher_of(self, candidate: Candidate) -> Any:
        """The teacher that :func:`pi_xgb.train` would make; one that learns first can serve several students."""
        folds = self.folds if self.folds is not None and self.folds.number == candidate.crossfit else None
        config = dataclasses.replace(
            self.config,
            privileged=self._seen_by(candidate),
            method=candidate.method,
            crossfit=candidate.crossfit,
            folds=None if folds is None else dataclasses.replace(folds, whose=candidate.way),
        )
        with exclusive(self.dtrain, *config.matrices):
            task = config.task(Spec.read(self.recipe.params), self.dtrain, self.recipe.num_boost_round)
            return config.teachers_from_privileged(task, self.dtrain, self.recipe.num_boost_round)[0].teacher

    def teacher_score(
        self, candidate: Candidate, teacher: Any, rows: Array, held_out: xgboost.DMatrix, score: Score
    ) -> float:
        """The score of the teacher itself on these rows of this problem, on which it was not trained."""
        matrix = self._seen_by(candidate)
        with exclusive(matrix):
            seen = slice_rows(matrix, rows)
        boosters = teacher.boosters if candidate.learns_first else [teacher.booster]
        means = [self.loss.mean(booster.predict(seen, output_margin=True)) for booster in boosters]
        return score_of_mean(score, np.mean(means, axis=0), held_out, self.recipe.params, self.loss)

    def _seen_by(self, candidate: Candidate) -> Any:
        return self.both if candidate.teacher == "all" else self.config.privileged

    def fit(
        self,
        candidate: Candidate,
        rounds: int,
        teacher: Any = None,
        params: Any = None,
        dtrain: Any = None,
        **keywords: Any,
    ) -> xgboost.Booster:
        """The candidate's student. ``teacher`` is its :meth:`teacher_of`, made here if it is not given."""
        params = self.recipe.params if params is None else params
        if candidate == PLAIN and not self.constraints:
            return train(params, self.plain, rounds, **keywords)
        if candidate != PLAIN and teacher is None:
            teacher = self.teacher_of(candidate)
        kl_weight, per_row = candidate.kl_weight, self.config.teacher_weight
        if not self.constraints:
            keywords |= {"teacher": teacher, "kl_weight": kl_weight, "teacher_weight": per_row}
        elif candidate == PLAIN:
            keywords |= {"teacher": list(self.constraints)}
        else:
            weight = kl_weight if per_row is None else kl_weight * per_row
            keywords |= {"teacher": [(teacher, weight), *self.constraints]}
        return train(params, self.dtrain if dtrain is None else dtrain, rounds, labelled=self.labelled, **keywords)

    def curves(
        self,
        candidate: Candidate,
        rounds: int,
        held_out: xgboost.DMatrix,
        score: Score,
        teacher: Any = None,
        besides: Sequence[str] = (),
    ) -> Values:
        """XGBoost's metrics ``besides`` on held-out rows after each round, and last the score."""
        log: dict[str, dict[str, list[float]]] = {}
        self.fit(
            candidate,
            rounds,
            teacher,
            params=score.applied_to(self.recipe.params, besides),
            engine=self._engine(candidate),
            evals=[(held_out, "test")],
            evals_result=log,
            verbose_eval=False,
            custom_metric=score.custom,
        )
        values = np.array(list(log["test"].values()))
        undefined = values[-1][~np.isfinite(values[-1])]
        if undefined.size:
            raise ValueError(
                f"{score.name} is {undefined[0]} on {held_out.num_row()} held-out rows: choose a metric, or folds, for "
                "which every fold has a value"
            )
        return values

    def _engine(self, candidate: Candidate) -> str:
        """The fast one, where it gives the same model to rounding."""
        fast = candidate.learns_first and not self.constraints
        spec, uniform = Spec.read(self.recipe.params), self.config.is_uniform
        fast = fast and obstacle_to_native(spec, is_adaptive=False, uniform=uniform) is None
        return "native" if fast else "auto"


def check_constraints(constraints: Any, n_rows: int) -> None:
    """Pairs of a teacher of these rows and what it weighs."""
    none = isinstance(constraints, (list, tuple)) and not constraints
    if not (none or is_list_of_pairs(constraints)):
        raise TypeError(
            "constraints must be a list of (constraint, weight), as in constraints=[(DemographicParity(sex), 5.0)], "
            f"got {constraints!r}"
        )
    for constraint, weight in constraints:
        if not isinstance(constraint, Teacher):
            raise TypeError(f"a constraint must be one of pi_xgb.constraints, got {type(constraint).__name__}")
        check_kl_weight(weight, "the weight of a constraint")
        constraint.check(n_rows)


def settled(params: Any) -> dict[str, Any]:
    """The params under unambiguous names, or every training of many would warn."""
    own = user_params(params)
    own["objective"] = objective_name(own)
    if "alpha" in own and "reg_alpha" not in own:
        own["reg_alpha"] = own.pop("alpha")
    return own


def labelled_part(matrix: xgboost.DMatrix, labelled: Array | None) -> xgboost.DMatrix:
    """The rows that have a label; the matrix itself where all have."""
    if labelled is None:
        return matrix
    with exclusive(matrix):
        return slice_rows(matrix, np.flatnonzero(labelled))

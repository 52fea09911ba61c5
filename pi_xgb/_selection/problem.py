"""A student's training problem: its rows, its teachers' rows, and the training of both."""

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
from .._core.config import PER_ROW, TeacherConfig, seen_by
from .._core.crossfit import whole_queries
from .._core.job import Boosting
from .._core.learned import TrainableTeacher, train_teachers
from .._core.losses import Loss
from .._core.spec import Spec
from .._core.teachers import Teacher, WeightedTeacher, is_list_of_pairs
from .._core.train import check_engine, train
from .._rows.supervision import checked_groups, read_labelled, read_teacher_weight, weight_of_known
from .._xgb.matrix import exclusive, query_of_row, rows_without_values, side_by_side, slice_rows
from .._xgb.params import objective_name, user_params
from .._xgb.threads import on_one_thread
from .candidates import PLAIN, Candidate
from .scores import Score, score_of_mean
from .splits import Split, splits_of

Values = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Recipe:
    """The training settings of all candidates, without data."""

    params: dict[str, Any]
    num_boost_round: int
    """The maximum for students, and the number of rounds of KbPIB teachers."""
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
        """The recipe with its data, checked completely before any training.

        ``name`` is the calling function. ``sees_all``: a teacher or a student sees all features.
        """
        spec, privileged = Spec.read(self.params), config.privileged
        for matrix, role in ((dtrain, "dtrain"), (privileged, "privileged")):
            if matrix is None and role == "privileged":
                continue
            check_is_dmatrix(matrix, role)
            if isinstance(matrix, (xgboost.QuantileDMatrix, xgboost.ExtMemQuantileDMatrix)):
                raise TypeError(
                    f"{role} must be a DMatrix for {name}, got a {type(matrix).__name__}, which cannot be cut into "
                    "folds: build a DMatrix"
                )
        label, n_rows = spec.loss.label_of(dtrain), dtrain.num_row()
        if label.ndim == 2:
            raise ValueError(
                f"dtrain must have one target for {name}, got {label.shape[1]} columns of labels: pass one target at "
                "a time, or score all of them with pi_xgb.cv(..., kl_weight=[0.0, 1.0, 10.0])"
            )
        groups = whole_queries(spec.loss, dtrain, checked_groups(groups, n_rows), "groups")
        check_constraints(constraints, n_rows)
        params = on_one_thread(self.params, n_rows)
        teacher_params = None if self.teacher_params is None else on_one_thread(self.teacher_params, n_rows)
        recipe = dataclasses.replace(self, params=params, teacher_params=teacher_params)
        weight = read_teacher_weight(config.teacher_weight, n_rows)
        if config.teacher_weight is None and privileged is not None:
            weight = weight_of_known(privileged, besides=dtrain)
        elif weight is None and privileged is not None and rows_without_values(privileged).any():
            weight = np.ones(n_rows)  # the user's weights also teach rows without privileged values
        own_groups = checked_groups(config.crossfit_groups, n_rows, "crossfit_groups")
        config = dataclasses.replace(
            config,
            teacher="boosted",
            teacher_params=teacher_params,
            labelled=read_labelled(config.labelled, n_rows),
            teacher_weight=weight,
            crossfit_groups=groups if own_groups is None else own_groups,
        )
        supervision = config.read(spec, dtrain, Boosting(self.num_boost_round))
        supervision.task(spec, dtrain).check_labelled_rows()
        if query_of_row(dtrain) is not None and not spec.loss.by_query:
            raise ValueError(
                f"dtrain must have no queries for {spec.objective}, since {name} reads them for ranking objectives "
                "only: build it without qid, and pass groups=qid"
            )
        both = side_by_side(dtrain, privileged) if sees_all and privileged is not None else None
        return Problem(recipe, dtrain, config, both, groups, tuple(constraints))


@dataclasses.dataclass(frozen=True)
class Problem:
    """A recipe with its rows and their supervision."""

    recipe: Recipe
    dtrain: xgboost.DMatrix
    config: TeacherConfig
    """The privileged features, and by row ``labelled``, ``teacher_weight`` and ``crossfit_groups``."""
    both: Any
    """Classifier and privileged features side by side, None if no model sees both."""
    groups: Array | None = None
    """Rows that stay together in the folds of the selection."""
    constraints: Sequence[tuple[Teacher, float]] = ()
    """Constraints of every candidate."""
    folds: Any = None
    """The folds of the selection, if cross-fitted teachers share them."""

    @property
    def loss(self) -> Loss:
        """The loss of the student."""
        return Spec.read(self.recipe.params).loss

    @property
    def labelled(self) -> Array | None:
        """Which rows have a label; None where all have."""
        labelled: Array | None = self.config.labelled
        return labelled

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs of its trainings, by keyword."""
        rows = {"dtrain": self.dtrain, "groups": self.groups, "constraints": self.constraints}
        return {**vars(self.recipe), **vars(self.config), **rows}

    @property
    def adjective(self) -> str:
        """The adjective of the rows in folds, for messages."""
        return "" if self.labelled is None else "labelled "

    @property
    def plain(self) -> xgboost.DMatrix:
        """The training rows of plain XGBoost: the labelled rows."""
        return labelled_part(self.dtrain, self.labelled)

    def splits(self, nfold: int, repeats: int, folds: Any, seed: int, names: Any = None) -> list[Split]:
        """The folds of the labelled rows."""
        label, classes = self.loss.label_of(self.dtrain), self.loss.probabilities
        rows: dict[str, Any] = {"groups": self.groups, "labelled": self.labelled}
        splits = splits_of(label, nfold, repeats, folds, seed, classes=classes, names=names, **rows)
        if not self.loss.by_query:
            return splits
        # The rows of a query stay adjacent.
        return [dataclasses.replace(split, train=np.sort(split.train), test=np.sort(split.test)) for split in splits]

    def take(self, rows: Array, held_out: Array) -> Problem:
        """The problem of some labelled rows, in their order, and all unlabelled ones, in new matrices.

        Rows whose group is among those of the ``held_out`` labelled rows are left out.
        """
        if self.labelled is not None:
            unlabelled = ~self.labelled & ~self.idle
            if self.groups is not None:
                unlabelled &= ~pd.Series(self.groups).isin(self.groups[held_out]).to_numpy()
            rows = np.concatenate([rows, np.flatnonzero(unlabelled)])
            if self.loss.by_query:  # the rows of a query stay adjacent
                rows = np.sort(rows)
        with exclusive(self.dtrain, *([] if self.both is None else [self.both]), *self.config.matrices):
            return dataclasses.replace(
                self,
                dtrain=slice_rows(self.dtrain, rows),
                config=_subset(self.config, rows),
                both=None if self.both is None else slice_rows(self.both, rows),
                groups=None if self.groups is None else self.groups[rows],
                constraints=tuple((constraint.subset(rows), weight) for constraint, weight in self.constraints),
                folds=None if self.folds is None else self.folds.subset(rows),
            )

    def learning_from(self, privileged: xgboost.DMatrix | None, both: Any) -> Problem:
        """The same rows with other features for the teachers; None: the features of the student."""
        return dataclasses.replace(self, config=dataclasses.replace(self.config, privileged=privileged), both=both)

    def check_candidates(self, candidates: Sequence[Candidate]) -> None:
        """Raise, before any training, if the teacher of a candidate cannot teach these rows."""
        spec = Spec.read(self.recipe.params)
        taught = [candidate for candidate in candidates if candidate != PLAIN]
        for candidate in dict.fromkeys(dataclasses.replace(candidate, kl_weight=1.0) for candidate in taught):
            config = self._config_of(candidate)
            config.check()
            supervision = config.read(spec, self.dtrain, self._boosting)
            constraints = [WeightedTeacher(constraint, weight) for constraint, weight in self.constraints]
            supervision = supervision.with_teachers([*supervision.teachers, *constraints])
            check_engine("auto", spec, supervision, dtrain=self.dtrain)

    @property
    def idle(self) -> Array:
        """Which rows have neither a label nor a teacher."""
        if self.labelled is None or self.config.teacher_weight is None:
            return np.zeros(self.dtrain.num_row(), bool)
        return ~self.labelled & (self.config.teacher_weight == 0)

    @property
    def _boosting(self) -> Boosting:
        return Boosting(self.recipe.num_boost_round)

    def _config_of(self, candidate: Candidate) -> TeacherConfig:
        """Return the keywords of the candidate's teacher, with the joined features if it sees all."""
        has_privileged, sees = self.config.privileged is not None, self._seen_by(candidate)
        return dataclasses.replace(
            self.config,
            method=candidate.method,
            teacher=candidate.teacher,
            teacher_sees=sees if has_privileged and candidate.learns_first else None,
            crossfit=candidate.crossfit,
            crossfit_groups=self.config.crossfit_groups if candidate.crossfits(has_privileged=has_privileged) else None,
            all_features=self.both if sees == "all" else None,
        )

    def _seen_by(self, candidate: Candidate) -> str:
        return seen_by(candidate.teacher, candidate.sees, has_privileged=self.config.privileged is not None)

    def teacher_of(self, candidate: Candidate) -> Any:
        """The teacher that :func:`pi_xgb.train` would make; a teacher that learns first can serve several students."""
        config = self._config_of(candidate)
        with exclusive(self.dtrain, *config.matrices):
            supervision = config.read(Spec.read(self.recipe.params), self.dtrain, self._boosting)
            teacher = supervision.teachers[0].teacher
            if self.folds is not None and isinstance(teacher, TrainableTeacher):
                teacher.folds = dataclasses.replace(self.folds, way=self._seen_by(candidate))
            return train_teachers(supervision).teachers[0].teacher

    def teacher_score(
        self, candidate: Candidate, teacher: Any, rows: Array, held_out: xgboost.DMatrix, score: Score
    ) -> float:
        """The score of the teacher's own predictions on these held-out rows of this problem."""
        config = self._config_of(candidate)
        features = (config.all_features, config.privileged, self.dtrain)
        matrix: Any = next(matrix for matrix in features if matrix is not None)
        with exclusive(matrix):
            seen = slice_rows(matrix, rows)
        if candidate.learns_first:
            mean = teacher.predict(seen)
        else:
            mean = self.loss.mean(teacher.booster.predict(seen, output_margin=True))
        return score_of_mean(score, mean, held_out, self.recipe.params, self.loss)

    def fit(
        self,
        candidate: Candidate,
        rounds: int,
        teacher: Any = None,
        params: Any = None,
        dtrain: Any = None,
        **keywords: Any,
    ) -> xgboost.Booster:
        """The candidate's student. ``teacher`` is its :meth:`teacher_of`, trained here if None."""
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
        """The metrics ``besides`` and then the score, on held-out rows after each round."""
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
                f"{score.name} must be finite in every fold, got {undefined[0]} on {held_out.num_row()} held-out rows: "
                "choose another metric or other folds"
            )
        return values

    def _engine(self, candidate: Candidate) -> str:
        """Return the native engine, the fastest, where its model is that of others up to rounding; else "auto"."""
        if not candidate.learns_first or self.constraints:
            return "auto"
        supervision = self._config_of(candidate).supervision_without_rows()
        uniform = self.labelled is None and self.config.teacher_weight is None
        try:
            check_engine("native", Spec.read(self.recipe.params), supervision, is_uniform=uniform)
        except ValueError:
            return "auto"
        return "native"


def check_constraints(constraints: Any, n_rows: int) -> None:
    """Raise unless the constraints are pairs of a teacher of these rows and its weight."""
    is_empty = isinstance(constraints, (list, tuple)) and not constraints
    if not (is_empty or is_list_of_pairs(constraints)):
        raise TypeError(
            "constraints must be a list of (constraint, weight), as in constraints=[(DemographicParity(sex), 5.0)], "
            f"got {constraints!r}"
        )
    for constraint, weight in constraints:
        if not isinstance(constraint, Teacher):
            raise TypeError(f"a constraint must be one of pi_xgb.constraints, got {type(constraint).__name__}")
        check_kl_weight(weight, "the weight of a constraint")
        constraint.check(n_rows)


def _subset(config: TeacherConfig, rows: Array) -> TeacherConfig:
    """Return the keywords for some of the rows."""
    cut: dict[str, Any] = {
        name: None if (values := getattr(config, name)) is None else values[rows] for name in PER_ROW
    }
    privileged = None if config.privileged is None else slice_rows(config.privileged, rows)
    return dataclasses.replace(config, privileged=privileged, **cut)


def settled(params: Any) -> dict[str, Any]:
    """Return the params under unambiguous names, since otherwise every training would warn."""
    own = user_params(params)
    own["objective"] = objective_name(own)
    if "alpha" in own and "reg_alpha" not in own:
        own["reg_alpha"] = own.pop("alpha")
    return own


def labelled_part(matrix: xgboost.DMatrix, labelled: Array | None) -> xgboost.DMatrix:
    """Return the labelled rows; the matrix itself if all rows have labels."""
    if labelled is None:
        return matrix
    with exclusive(matrix):
        return slice_rows(matrix, np.flatnonzero(labelled))

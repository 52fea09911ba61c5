"""One student, what its teachers may learn from, what is known of each row, and how both are trained."""

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
from .._rows.supervision import checked_groups, warn_of_idle_rows
from .._xgb.matrix import exclusive, query_of_row, side_by_side, slice_rows
from .._xgb.params import objective_name, on_one_thread, user_params
from .candidates import PLAIN, Candidate
from .scores import Score, score_of_mean

Values = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How candidates are trained, whatever the data."""

    params: dict[str, Any]
    num_boost_round: int
    """The most that a student may have, and what the teachers of KbPIB have."""
    teacher_params: Any

    def _on_few_rows(self, n_rows: int) -> Recipe:
        """The same for the many trainings of a search, each on one thread where rows are few."""
        teacher = None if self.teacher_params is None else on_one_thread(self.teacher_params, n_rows)
        return dataclasses.replace(self, params=on_one_thread(self.params, n_rows), teacher_params=teacher)

    def problem(
        self, dtrain: xgboost.DMatrix, config: TeacherConfig, name: str, *, groups: Any = None, sees_all: bool
    ) -> Problem:
        """The recipe with its data, checked for everything that can be wrong with them, before any training.

        ``name`` is the function that asks, ``sees_all`` says whether a teacher, or anybody, sees both sides.
        """
        privileged: Any = config.privileged
        spec = Spec.read(self.params)
        for matrix, role in ((dtrain, "dtrain"), (privileged, "privileged")):
            if isinstance(matrix, (xgboost.QuantileDMatrix, xgboost.ExtMemQuantileDMatrix)):
                raise TypeError(
                    f"{role} is of type {type(matrix).__name__}, which cannot be cut into folds: build a DMatrix for "
                    f"{name}"
                )
            check_is_dmatrix(matrix, role)
        label = spec.loss.label_of(dtrain)
        if label.ndim == 2:
            raise ValueError(
                f"{name} judges one target, and the labels of dtrain have {label.shape[1]} columns: ask for one target "
                "at a time, or let pi_xgb.cv(..., kl_weight=[0.0, 1.0, 10.0]) judge all of them"
            )
        together = whole_queries(spec.loss, dtrain, checked_groups(groups, dtrain.num_row()), "groups")
        check_constraints(config.constraints, dtrain.num_row())
        if config.crossfit_groups is None:
            config = dataclasses.replace(config, crossfit_groups=together)
        own = self._on_few_rows(dtrain.num_row())
        config = dataclasses.replace(config, teacher_params=own.teacher_params).of_rows(dtrain)
        config.task(spec, dtrain, self.num_boost_round).check_labelled_rows()
        if query_of_row(dtrain) is not None and not spec.loss.by_query:
            raise ValueError(
                f"{name} deals queries as a whole for ranking objectives alone, and {spec.objective} is none: build "
                "dtrain without qid, and pass groups=qid"
            )
        both = side_by_side(dtrain, privileged) if sees_all else None
        # From here on what a teacher sees is the library's own choice.
        return Problem(own, dtrain, dataclasses.replace(config, allow_overlap=True), both, together)


@dataclasses.dataclass(frozen=True)
class Problem:
    """A recipe and its rows, with all that their user says of each."""

    recipe: Recipe
    dtrain: xgboost.DMatrix
    config: TeacherConfig
    """The privileged features, which rows are labelled, what a teacher counts in each, who is cross-fitted together."""
    both: Any
    """Classifier and privileged features side by side, None where nobody sees them."""
    groups: Array | None = None
    """Whose rows stay together in the folds of the selection."""

    @property
    def loss(self) -> Loss:
        """Of the student."""
        return Spec.read(self.recipe.params).loss

    @property
    def labelled(self) -> Array | None:
        """Which rows have a label; None where all have."""
        known: Array | None = self.config.labelled
        return known

    @property
    def told(self) -> tuple[Any, ...]:
        """All that its trainings depend on."""
        of_rows = (self.labelled, self.config.teacher_weight, self.config.crossfit_groups, self.groups)
        return (vars(self.recipe), self.dtrain, self.config.privileged, *of_rows, self.config.constraints)

    @property
    def adjective(self) -> str:
        """What tells the rows that are dealt to folds from others, in messages."""
        return "" if self.labelled is None else "labelled "

    @property
    def plain(self) -> xgboost.DMatrix:
        """What plain XGBoost trains on: labelled rows alone."""
        return labelled_part(self.dtrain, self.labelled)

    def take(self, rows: Array, held_out: Array) -> Problem:
        """The same problem for some of the labelled rows, in their order, and all without a label, in own matrices.

        Of the groups of the labelled rows that are ``held_out`` nobody trains.
        """
        if self.labelled is not None:
            others = ~self.labelled & ~self._idle
            if self.groups is not None:
                others &= ~pd.Series(self.groups).isin(self.groups[held_out]).to_numpy()
            rows = np.concatenate([rows, np.flatnonzero(others)])
            if self.loss.by_query:  # whose rows stand side by side
                rows = np.sort(rows)
        matrices = [self.dtrain, *([] if self.both is None else [self.both])]
        with exclusive(*matrices, *self.config.matrices):
            dtrain, *both = [slice_rows(matrix, rows) for matrix in matrices]
            groups = None if self.groups is None else self.groups[rows]
            return Problem(self.recipe, dtrain, self.config.subset(rows), both[0] if both else None, groups)

    def learning_from(self, privileged: xgboost.DMatrix, both: Any) -> Problem:
        """The same rows, their teachers shown something else."""
        return dataclasses.replace(self, config=dataclasses.replace(self.config, privileged=privileged), both=both)

    def check_taught(self, candidates: Sequence[Candidate]) -> None:
        """Where copies of the rows are what teaches: whether they can for every candidate, before any training."""
        spec = Spec.read(self.recipe.params)
        if "copies" not in spec.loss.engines:
            return
        follows = any(not one.learns_first for one in candidates if one != PLAIN)
        follows = follows or any(one.is_adaptive for one, _ in self.config.constraints)
        check_copies(spec, self.dtrain, teaches=True, is_adaptive=follows)
        if spec.loss.by_query:
            check_whole_queries(self.config.teacher_weight, self.dtrain)

    def warn_of_idle_rows(self) -> None:
        """Says how many rows have neither a label nor a teacher: once, and not in every training."""
        warn_of_idle_rows(self._idle)

    @property
    def _idle(self) -> Array:
        if self.labelled is None or self.config.teacher_weight is None:
            return np.zeros(self.dtrain.num_row(), bool)
        return ~self.labelled & (self.config.teacher_weight == 0)

    def teacher_of(self, candidate: Candidate) -> Any:
        """The teacher that :func:`pi_xgb.train` would make; one that learns first can serve several students."""
        config = dataclasses.replace(
            self.config,
            privileged=self.both if candidate.teacher == "all" else self.config.privileged,
            method=candidate.method,
            crossfit=candidate.crossfit,
            folds=self._folds_of(candidate),
        )
        with exclusive(self.dtrain, *config.matrices):
            task = config.task(Spec.read(self.recipe.params), self.dtrain, self.recipe.num_boost_round)
            return config.teachers_from_privileged(task, self.dtrain, self.recipe.num_boost_round)[0].teacher

    def teacher_score(
        self, candidate: Candidate, teacher: Any, rows: Array, held_out: xgboost.DMatrix, score: Score
    ) -> float:
        """What the teacher itself would score on these rows of this problem, which it was not trained on."""
        matrix: Any = self.both if candidate.teacher == "all" else self.config.privileged
        with exclusive(matrix):
            seen = slice_rows(matrix, rows)
        boosters = teacher.boosters if candidate.learns_first else [teacher.booster]
        said = [booster.predict(seen, output_margin=True) for booster in boosters]
        mean = np.mean([self.loss.mean(margin) for margin in said], axis=0)
        return score_of_mean(score, mean, held_out, self.recipe.params, self.loss)

    def _folds_of(self, candidate: Candidate) -> Folds | None:
        folds = self.config.folds
        if folds is None or folds.number != candidate.crossfit:
            return None
        return dataclasses.replace(folds, whose=candidate.way)

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
        if candidate == PLAIN and not self.config.constraints:
            return train(params, self.plain, rounds, **keywords)
        dtrain = self.dtrain if dtrain is None else dtrain
        return train(params, dtrain, rounds, labelled=self.labelled, **self._teaching(candidate, teacher), **keywords)

    def _teaching(self, candidate: Candidate, teacher: Any) -> dict[str, Any]:
        """The keywords of ``train`` that say who teaches; constraints hold for every candidate."""
        constraints, per_row = list(self.config.constraints), self.config.teacher_weight
        if candidate == PLAIN:
            return {"teacher": constraints}
        teacher = self.teacher_of(candidate) if teacher is None else teacher
        if not constraints:
            return {"teacher": teacher, "kl_weight": candidate.kl_weight, "teacher_weight": per_row}
        weight = candidate.kl_weight if per_row is None else candidate.kl_weight * per_row
        return {"teacher": [(teacher, weight), *constraints]}

    def _engine(self, candidate: Candidate) -> str:
        """For scores the one that is fast, where it gives the same model to rounding."""
        spec, uniform = Spec.read(self.recipe.params), self.config.is_uniform
        fast = candidate.learns_first and not self.config.constraints
        fast = fast and obstacle_to_native(spec, is_adaptive=False, uniform=uniform) is None
        return "native" if fast else "auto"

    def curve(
        self, candidate: Candidate, rounds: int, held_out: xgboost.DMatrix, score: Score, teacher: Any = None
    ) -> Values:
        """The score on held-out rows after each round."""
        values: Values = self.curves(candidate, rounds, held_out, score, teacher)[-1]
        return values

    def curves(
        self,
        candidate: Candidate,
        rounds: int,
        held_out: xgboost.DMatrix,
        score: Score,
        teacher: Any = None,
        besides: Sequence[str] = (),
    ) -> Values:
        """What XGBoost's metrics ``besides`` say of held-out rows after each round, and at last the score."""
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
        if not np.isfinite(values[-1]).all():
            raise ValueError(
                f"{score.name} is {values[-1][~np.isfinite(values[-1])][0]} on {held_out.num_row()} held-out rows: "
                "choose a metric, or folds, for which every fold has a value"
            )
        return values


def check_constraints(constraints: Any, n_rows: int) -> None:
    """Pairs of a teacher of these rows and what it weighs."""
    none = isinstance(constraints, (list, tuple)) and not constraints
    if not (none or is_list_of_pairs(constraints)):
        raise TypeError(
            "constraints must be a list of (constraint, weight), as in constraints=[(DemographicParity(sex), 5.0)], "
            f"got {constraints!r}"
        )
    for one, weight in constraints:
        if not isinstance(one, Teacher):
            raise TypeError(f"a constraint must be one of pi_xgb.constraints, got {type(one).__name__}")
        check_kl_weight(weight, "the weight of a constraint")
        one.check(n_rows)


def settled(params: Any) -> dict[str, Any]:
    """The params by names that mean one thing, so that not every training of many has to warn."""
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

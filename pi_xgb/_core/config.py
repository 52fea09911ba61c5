"""Who teaches in a training: the teaching keywords of ``train`` and ``cv``, checked and turned into teachers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import xgboost

from .._arrays import Array
from .._rows.checks import check_choice
from .._rows.supervision import checked_groups, read_labelled, read_teacher_weight, weight_of_known
from .._xgb.matrix import side_by_side, slice_rows
from .._xgb.params import objective_name
from .checks import (
    check_dmatrix,
    check_is_dmatrix,
    check_kl_weight,
    check_no_overlap,
    check_same_exposure,
    check_same_rows,
)
from .crossfit import Folds, check_crossfit, whole_queries
from .learned import check_teacher_rounds
from .losses import LOSSES
from .methods import DEFAULT_METHOD, METHODS, Method, Privileged, method_named
from .repetition import warn_of_repetition
from .spec import Spec
from .task import Task
from .teachers import DEFAULT_KL_WEIGHT, Teacher, WeightedTeacher, as_weighted_teachers, is_list_of_pairs, moves_freely

SEES = ("privileged", "all")


@dataclasses.dataclass(frozen=True)
class TeacherConfig:
    """The keywords that say who teaches. Making one checks nothing: :meth:`check_keywords`,
    :meth:`of_rows` and :meth:`task` do, before any training."""

    privileged: xgboost.DMatrix | None = None
    method: str = DEFAULT_METHOD
    kl_weight: float = DEFAULT_KL_WEIGHT
    teacher: Any = None
    crossfit: int = 0
    teacher_params: Any = None
    privileged_evals: Sequence[tuple[xgboost.DMatrix, str]] | None = None
    allow_overlap: bool = False
    labelled: Any = None
    teacher_weight: Any = None
    crossfit_groups: Any = None
    folds: Folds | None = None
    """Of crossfit, where the library dealt them beforehand."""
    constraints: Sequence[tuple[Teacher, float]] = ()
    """Teachers that hold for every candidate of a selection."""

    @property
    def given(self) -> bool:
        """Whether anybody teaches at all."""
        return self.privileged is not None or self.teacher is not None

    @property
    def _is_learned(self) -> bool:
        """Whether ``teacher`` is at most a word for what a teacher that is trained here sees."""
        return self.teacher is None or (isinstance(self.teacher, str) and self.privileged is not None)

    def check_keywords(self, early_stopping_rounds: Any = None) -> None:
        """Keywords that contradict each other, or that nothing would read."""
        check_choice(self.method, METHODS, "method")
        check_kl_weight(self.kl_weight)
        if isinstance(self.teacher, str) and self.privileged is not None:
            self._check_word()
        if self.privileged is not None and not self._is_learned:
            raise ValueError(
                "privileged and teacher were both given: privileged= learns a teacher, teacher= brings one. For "
                "both together pass teacher=[(pi_xgb.fit_teacher(...), weight), (other, weight)]"
            )
        if self.privileged is None:
            if isinstance(self.teacher, str) and self.teacher in SEES:
                raise ValueError(
                    f"teacher={self.teacher!r} says what a teacher sees that learns from privileged=, a DMatrix, and "
                    "there is none: pass privileged=, or a teacher of your own"
                )
            named = [name for name in _ABOUT_PRIVILEGED if self._is_set(name)]
            if named:
                raise ValueError(
                    f"without privileged=, the DMatrix of privileged features, there is no use for {', '.join(named)}"
                )
            if self.teacher is None:
                self._check_nobody_teaches()
            return
        named = [name for name in self._way.unread if self._is_set(name)]
        if named:
            raise ValueError(f"method={self.method!r} has no use for {', '.join(named)}: {self._way.why_unread}")
        if self.crossfit_groups is not None and not self.crossfit:
            raise ValueError(
                "crossfit_groups say which rows stay together in the folds of crossfit: pass crossfit as well"
            )
        if self.privileged_evals and not early_stopping_rounds:
            raise ValueError("privileged_evals stop the teacher early: pass early_stopping_rounds with them")

    def _check_word(self) -> None:
        check_choice(self.teacher, SEES, "as a word for what it sees, teacher")
        if self.teacher == "all" and self.privileged_evals is not None:
            raise ValueError(
                "teacher='all' puts dtrain and privileged side by side, and cannot do so with privileged_evals: use "
                "crossfit, or pass all features as privileged with allow_overlap=True"
            )

    def _check_nobody_teaches(self) -> None:
        named = ["kl_weight"] * (self.kl_weight != 0 and self._is_set("kl_weight"))
        named += [name for name in ("labelled", "teacher_weight") if self._is_set(name)]
        if named:
            raise ValueError(
                f"without privileged= or teacher= there is no use for {', '.join(named)}: nobody teaches. To train on "
                "labelled rows alone build dtrain from them"
            )

    def _is_set(self, name: str) -> bool:
        value, default = getattr(self, name), _DEFAULTS[name]
        return value is not None if default is None else bool(value != default)

    def of_rows(self, dtrain: xgboost.DMatrix) -> TeacherConfig:
        """The same config, what it says of each row of dtrain read and checked.

        Rows without any privileged value have nothing to be taught from, unless ``teacher_weight`` says otherwise.
        """
        check_is_dmatrix(dtrain, "dtrain")
        n_rows = dtrain.num_row()
        read: dict[str, Any] = {
            "teacher": None if self._is_learned else self.teacher,
            "labelled": read_labelled(self.labelled, n_rows),
            "teacher_weight": read_teacher_weight(self.teacher_weight, n_rows),
            "crossfit_groups": checked_groups(self.crossfit_groups, n_rows, "crossfit_groups"),
        }
        if self.privileged is not None:
            check_is_dmatrix(self.privileged, "privileged")
            if self.teacher_weight is None:
                read["teacher_weight"] = weight_of_known(self.privileged, besides=dtrain)
            if isinstance(self.teacher, str) and self.teacher == "all":
                check_same_rows(dtrain, self.privileged, read["labelled"])
                check_no_overlap(dtrain, self.privileged, allow_overlap=False)
                read |= {"privileged": side_by_side(dtrain, self.privileged), "allow_overlap": True}
        return dataclasses.replace(self, **read)

    @property
    def is_uniform(self) -> bool:
        """Whether labels and teachers count the same in every row that :meth:`of_rows` read."""
        weights = [weight for _, weight in self.teacher] if self.has_own_weights else []
        own = [teacher.teacher_weight for teacher in self._brought]
        per_row = [self.labelled, self.teacher_weight, *own]
        return all(one is None for one in per_row) and all(np.ndim(weight) == 0 for weight in weights)

    @property
    def _way(self) -> Method:
        return method_named(self.method)

    @property
    def has_own_weights(self) -> bool:
        """Whether ``teacher`` is a list of pairs, whose weights take the place of ``kl_weight``."""
        return is_list_of_pairs(self.teacher)

    @property
    def weight_is_given(self) -> bool:
        """Whether the user said how much the teachers count."""
        return self.has_own_weights or self._is_set("kl_weight")

    @property
    def total_weight(self) -> float:
        """What the teachers weigh together, at most where it differs from row to row."""
        weights = [weight for _, weight in self.teacher] if self.has_own_weights else [self.kl_weight]
        return float(sum(np.max(np.asarray(weight), initial=0.0) for weight in weights))

    @property
    def changes_nothing(self) -> bool:
        """Whether nobody teaches, or with a weight of 0, and all rows have a label."""
        return not self.given or not (self.has_own_weights or self.kl_weight or self.labelled is not None)

    def leaves_to_xgboost(self, params: dict[str, Any], obj: Any) -> bool:
        """Whether it is XGBoost's affair alone: nobody teaches, or nobody counts for what no teacher could guide."""
        return not self.given or (self.changes_nothing and (obj is not None or objective_name(params) not in LOSSES))

    @property
    def learns_first(self) -> bool:
        """Whether a teacher has to be trained before the student."""
        return self.privileged is not None and self.kl_weight > 0 and self._way.learns_first

    @property
    def is_adaptive(self) -> bool:
        """Whether a teacher changes with the student."""
        if self.privileged is not None:
            return self.kl_weight > 0 and not self._way.learns_first
        return any(teacher.is_adaptive for teacher in self._brought)

    @property
    def teaches(self) -> bool:
        """Whether anybody who counts may be there."""
        weights = [weight for _, weight in self.teacher] if self.has_own_weights else [self.kl_weight]
        return any(np.any(np.asarray(weight) > 0) for weight in weights)

    @property
    def is_noisy(self) -> bool:
        """Whether a teacher may ask for means that no prediction can have."""
        return any(teacher.is_noisy for teacher in self._brought)

    @property
    def moves_freely(self) -> bool:
        """Whether the Hessian counts less of a teacher than the paper's does."""
        return any(moves_freely(teacher) for teacher in self._brought)

    @property
    def matrices(self) -> list[xgboost.DMatrix]:
        """Every matrix that the teachers are trained or judged on."""
        own = [] if self.privileged is None else [self.privileged]
        brought = [matrix for teacher in self._brought for matrix in teacher.matrices]
        return [*own, *(matrix for matrix, _ in self.privileged_evals or ()), *brought]

    @property
    def _brought(self) -> list[Teacher]:
        """The teachers that the user made."""
        candidates = [teacher for teacher, _ in self.teacher] if self.has_own_weights else [self.teacher]
        return [teacher for teacher in candidates if isinstance(teacher, Teacher)]

    def task(self, spec: Spec, dtrain: xgboost.DMatrix, num_boost_round: int) -> Task:
        """The student's task; everything that can be wrong with it, or with those who are to teach it, is checked."""
        task = Task.of_matrix(spec, dtrain, self.labelled)
        if self.privileged is not None:
            check_dmatrix(self.privileged, "privileged", spec.loss)
            check_same_rows(dtrain, self.privileged, self.labelled)
            check_same_exposure(dtrain, self.privileged, spec.loss)
            check_no_overlap(dtrain, self.privileged, allow_overlap=self.allow_overlap)
            groups = whole_queries(spec.loss, self.privileged, self.crossfit_groups)
            check_crossfit(self.crossfit, task.labelled, task.n_rows, groups)
            check_teacher_rounds(num_boost_round)
            self._way.check(spec, spec.of_teacher(self.teacher_params))
            for matrix, name in self.privileged_evals or ():
                check_dmatrix(matrix, f"privileged_evals {name!r}", spec.loss)
        for teacher in self._brought:
            for matrix in teacher.matrices:
                check_same_rows(dtrain, matrix, self.labelled)
        return task

    def check_continues(self, xgb_model: Any) -> None:
        """A training that goes on needs the teacher of the training before it."""
        if xgb_model is not None and self.privileged is not None and not self._way.learns_first:
            raise ValueError(
                "a JPIB student cannot be continued without its teacher: pass "
                "teacher=pi_xgb.JointTeacher(privileged, params, xgb_model=its_booster) in place of privileged"
            )

    def teachers_at_hand(self, task: Task) -> list[WeightedTeacher]:
        """The teachers that the user brought, and what they weigh."""
        if self.teacher is None:
            return []
        spec = task.spec
        weighted = as_weighted_teachers(self.teacher, self.kl_weight, spec.loss.range, self.teacher_weight)
        for weighted_teacher in weighted:
            weighted_teacher.teacher.check_compatible(
                [other.teacher for other in weighted if other is not weighted_teacher]
            )
            weighted_teacher.teacher.check(task.n_rows)
            if not weighted_teacher.teacher.is_adaptive:
                # By its name in the class, since one that was checked when it was made passes over it.
                Teacher.answer(weighted_teacher.teacher, task, task.like, weighted_teacher.weight)
        return weighted

    def teachers_from_privileged(
        self,
        task: Task,
        dtrain: xgboost.DMatrix,
        num_boost_round: int,
        *,
        early_stopping_rounds: int | None = None,
        maximize: bool | None = None,
    ) -> list[WeightedTeacher]:
        """The teacher that is made of the privileged features, if there are any; it is trained here, or will be."""
        if self.privileged is None or self.kl_weight == 0:
            return []
        privileged = Privileged(
            task.spec.of_teacher(self.teacher_params),
            self.privileged,
            task,
            dtrain.get_weight(),
            num_boost_round,
            self.crossfit,
            self.crossfit_groups,
            self.folds,
            self.privileged_evals,
            early_stopping_rounds,
            maximize,
        )
        return [WeightedTeacher(self._way.teacher(privileged), self.kl_weight, self.teacher_weight)]

    def warn_of_repetition(
        self, task: Task, dtrain: xgboost.DMatrix, weighted: Sequence[WeightedTeacher], num_boost_round: int
    ) -> None:
        """Warn of a teacher made here that repeats the labels; rows without a label have none to repeat."""
        if not self.learns_first or self.crossfit or task.labelled is not None:
            return
        spec, matrix = task.spec.of_teacher(self.teacher_params), self.privileged
        q = weighted[-1].teacher.answer(task, task.like, self.kl_weight)
        warn_of_repetition(spec, cast("xgboost.DMatrix", matrix), dtrain.get_weight(), q, num_boost_round)

    def weighing(self, kl_weight: float) -> TeacherConfig:
        """The same config with another weight, unless it is a list, which has its own."""
        return self if self.has_own_weights else dataclasses.replace(self, kl_weight=kl_weight)

    def taught(
        self, spec: Spec, dtrain: xgboost.DMatrix, num_boost_round: int, early_stopping_rounds: int | None = None
    ) -> list[tuple[Teacher, Any]]:
        """The teachers that may stand beside constraints, trained, with what they weigh."""
        self.check_keywords(early_stopping_rounds)
        read = self.of_rows(dtrain)
        task = read.task(spec, dtrain, num_boost_round)
        taught = read.teachers_at_hand(task)
        taught += read.teachers_from_privileged(
            task, dtrain, num_boost_round, early_stopping_rounds=early_stopping_rounds
        )
        return [(one.teacher, one.weight) for one in taught]

    def subset(self, rows: Array) -> TeacherConfig:
        """The same config for some of the rows."""
        return dataclasses.replace(
            self,
            privileged=None if self.privileged is None else slice_rows(self.privileged, rows),
            teacher=_subset(self.teacher, rows),
            labelled=_of_rows(self.labelled, rows),
            teacher_weight=_of_rows(self.teacher_weight, rows),
            crossfit_groups=_of_rows(self.crossfit_groups, rows),
            folds=None if self.folds is None else self.folds.subset(rows),
            constraints=tuple(_subset(list(self.constraints), rows)) if self.constraints else (),
        )


SETTINGS = ("method", "kl_weight", "crossfit", "teacher_params", "allow_overlap")
PER_ROW = ("labelled", "teacher_weight", "crossfit_groups")
"""Of the keywords, those that are the same for all rows, and those that have a value for each."""

_DEFAULTS = {field.name: field.default for field in dataclasses.fields(TeacherConfig)}
_ABOUT_PRIVILEGED = ("method", "crossfit", "crossfit_groups", "teacher_params", "privileged_evals", "allow_overlap")


def _subset(teacher: Any, rows: Array) -> Any:
    if is_list_of_pairs(teacher):
        return [
            (_subset(one, rows), weight if np.ndim(weight) == 0 else np.asarray(weight)[rows])
            for one, weight in teacher
        ]
    return teacher.subset(rows) if isinstance(teacher, Teacher) else _of_rows(teacher, rows)


def _of_rows(values: Any, rows: Array) -> Any:
    return None if values is None else np.asarray(values)[rows]

"""Who teaches in a training: the guiding keywords of ``train`` and ``cv``, checked and turned into teachers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xgboost

from .._arrays import Array
from .._rows.checks import check_choice
from .._xgb.matrix import slice_rows
from .._xgb.params import number_of_classes, objective_name, scale_pos_weight, user_params
from .checks import (
    check_answer,
    check_dmatrix,
    check_kl_weight,
    check_labels,
    check_margins_stay,
    check_no_overlap,
    check_same_rows,
    check_shape,
)
from .joint import JointTeacher
from .learned import LearnedTeacher, check_crossfit, check_teacher_rounds, learn
from .losses import Loss
from .objective import KLObjective
from .task import intercept, loss_of, positive_weight, teacher_params_from
from .teachers import DEFAULT_KL_WEIGHT, Teacher, as_teachers, is_list_of_pairs

METHODS = ("kbpib", "jpib")


@dataclasses.dataclass(frozen=True)
class Guidance:
    """The keywords that say who teaches. Making one checks nothing; :meth:`check` does, before any training."""

    privileged: xgboost.DMatrix | None = None
    method: str = "kbpib"
    kl_weight: float = DEFAULT_KL_WEIGHT
    teacher: Any = None
    crossfit: int = 0
    teacher_params: Any = None
    privileged_evals: Sequence[tuple[xgboost.DMatrix, str]] | None = None
    allow_overlap: bool = False

    @property
    def given(self) -> bool:
        """Whether anybody teaches at all."""
        return self.privileged is not None or self.teacher is not None

    @property
    def is_joint(self) -> bool:
        """Whether the teacher is boosted along with the student."""
        return self.privileged is not None and self.method == "jpib"

    def check_keywords(self) -> None:
        """Keywords that contradict each other, or that nothing would read."""
        check_choice(self.method, METHODS, "method")
        check_kl_weight(self.kl_weight)
        if self.privileged is not None and self.teacher is not None:
            raise ValueError(
                "privileged and teacher were both given: privileged= learns a teacher, teacher= brings one. For "
                "both together pass teacher=[(pi_xgb.fit_teacher(...), weight), (other, weight)]"
            )
        unread = {
            "method": self.method != "kbpib",
            "crossfit": bool(self.crossfit),
            "teacher_params": self.teacher_params is not None,
            "privileged_evals": self.privileged_evals is not None,
            "allow_overlap": self.allow_overlap,
            "kl_weight": self.teacher is None and self.kl_weight not in (0, DEFAULT_KL_WEIGHT),
        }
        if self.privileged is None:
            named = [name for name, is_set in unread.items() if is_set]
            if named:
                raise ValueError(
                    f"without privileged=, the DMatrix of privileged features, there is no use for {', '.join(named)}"
                )
        if self.is_joint:
            named = [name for name in ("crossfit", "privileged_evals") if unread[name]]
            if named:
                raise ValueError(
                    f"method='jpib' has no use for {', '.join(named)}: its teacher grows with the student and "
                    "stops with it"
                )

    @property
    def matrices(self) -> list[xgboost.DMatrix]:
        """Every matrix that the teachers are trained or judged on."""
        own = [] if self.privileged is None else [self.privileged]
        return [*own, *(matrix for matrix, _ in self.privileged_evals or ()), *(t.matrix for t in self._joint_teachers)]

    @property
    def _joint_teachers(self) -> list[JointTeacher]:
        candidates = [t for t, _ in self.teacher] if is_list_of_pairs(self.teacher) else [self.teacher]
        return [t for t in candidates if isinstance(t, JointTeacher)]

    def check(self, params: dict[str, Any], dtrain: xgboost.DMatrix, num_boost_round: int) -> Loss:
        """Everything that can be wrong, in the order in which a user would want to hear of it."""
        check_dmatrix(dtrain, "dtrain")
        loss = loss_of(params)
        check_labels(dtrain.get_label(), loss, number_of_classes(params))
        scale_pos_weight(params)
        if self.privileged is not None:
            check_dmatrix(self.privileged, "privileged")
            check_same_rows(dtrain, self.privileged)
            check_no_overlap(dtrain, self.privileged, allow_overlap=self.allow_overlap)
            check_crossfit(self.crossfit, dtrain.num_row())
            check_teacher_rounds(num_boost_round)
            own = self.params_of_teacher(params)
            if type(loss_of(own)) is not type(loss) or number_of_classes(own) != number_of_classes(params):
                raise ValueError(
                    "teacher and student must share objective and num_class: the student has "
                    f"{objective_name(params)!r} and {number_of_classes(params)}, teacher_params have "
                    f"{objective_name(own)!r} and {number_of_classes(own)}. Leave both out of teacher_params"
                )
            if self.is_joint:
                check_margins_stay(params)
                check_margins_stay(own)
            for matrix, name in self.privileged_evals or ():
                check_dmatrix(matrix, f"privileged_evals {name!r}")
        for joint in self._joint_teachers:
            check_same_rows(dtrain, joint.matrix)
        return loss

    def params_of_teacher(self, params: dict[str, Any]) -> dict[str, Any]:
        """The teacher's own params on top of what it shares with the student by definition."""
        if self.teacher_params is None:
            return teacher_params_from(params)
        shared: dict[str, Any] = {key: params[key] for key in ("objective", "num_class") if key in params}
        return {**shared, **user_params(self.teacher_params)}

    def teachers_at_hand(
        self, params: dict[str, Any], loss: Loss, dtrain: xgboost.DMatrix
    ) -> list[tuple[Teacher, float]] | None:
        """The teachers and their weights, checked; none if they count for nothing, None if one must be learned."""
        if self.privileged is not None:
            if self.kl_weight == 0:
                return []
            if self.is_joint:
                return [(JointTeacher(self.privileged, self.params_of_teacher(params)), self.kl_weight)]
            return None
        pairs = as_teachers(self.teacher, self.kl_weight, probabilities=loss.probabilities)
        shape: tuple[int, ...] = (dtrain.num_row(),)
        if loss.multiclass:
            shape = (*shape, number_of_classes(params))
        label, weight = dtrain.get_label(), training_weight(params, loss, dtrain)
        like = np.empty(shape, np.float32)
        for teacher, _ in pairs:
            teacher.check(dtrain.num_row())
            if not teacher.follows_student:
                q = teacher.q(like, label, weight)
                check_shape(q, like, type(teacher).__name__)
                check_answer(q, loss, type(teacher).__name__)
        return [(teacher, weight) for teacher, weight in pairs if weight > 0]

    def learned_teacher(
        self,
        params: dict[str, Any],
        dtrain: xgboost.DMatrix,
        num_boost_round: int,
        *,
        early_stopping_rounds: int | None = None,
        maximize: bool | None = None,
    ) -> LearnedTeacher:
        """Train the teacher on the privileged features."""
        if self.privileged is None:
            raise ValueError("there are no privileged features to learn a teacher from: pass privileged=")
        return learn(
            self.params_of_teacher(params),
            self.privileged,
            num_boost_round,
            weight=dtrain.get_weight(),
            crossfit=self.crossfit,
            evals=self.privileged_evals,
            early_stopping_rounds=early_stopping_rounds if self.privileged_evals else None,
            maximize=maximize,
        )

    def weighing(self, kl_weight: float) -> Guidance:
        """The same guidance with another weight, unless it is a list, which has its own."""
        return self if is_list_of_pairs(self.teacher) else dataclasses.replace(self, kl_weight=kl_weight)

    def take(self, rows: Array) -> Guidance:
        """The same guidance for some of the rows."""
        return dataclasses.replace(
            self,
            privileged=None if self.privileged is None else slice_rows(self.privileged, rows),
            teacher=_take(self.teacher, rows),
        )


def _take(teacher: Any, rows: Array) -> Any:
    if teacher is None:
        return None
    pairs = as_teachers(teacher, DEFAULT_KL_WEIGHT, probabilities=False)
    taken = [(t.take(rows), w) for t, w in pairs]
    return taken if is_list_of_pairs(teacher) else taken[0][0]


def training_weight(params: Mapping[str, Any], loss: Loss, dtrain: xgboost.DMatrix) -> Array | None:
    """What each row of dtrain weighs in the student's objective."""
    return positive_weight(loss, dtrain.get_label(), dtrain.get_weight(), scale_pos_weight(params))


def with_intercept(
    params: dict[str, Any],
    loss: Loss,
    dtrain: xgboost.DMatrix,
    pairs: list[tuple[Teacher, float]],
    *,
    continues: bool = False,
) -> dict[str, Any]:
    """The student's params with an intercept where XGBoost would have estimated one, known to its teachers."""
    chosen = dict(params)
    # A base_margin takes the place of the intercept in training only: XGBoost estimates one all the same.
    if not ("base_score" in chosen or continues):
        weight = training_weight(params, loss, dtrain)
        chosen["base_score"] = intercept(params, loss, dtrain.get_label(), weight, pairs)
    for teacher, _ in pairs:
        if isinstance(teacher, JointTeacher):
            teacher.starts_at(chosen.get("base_score"))
    return chosen


def objective_of(params: dict[str, Any], pairs: list[tuple[Teacher, float]]) -> KLObjective:
    """The custom objective of the student."""
    return KLObjective(
        pairs,
        objective=objective_name(params),
        scale_pos_weight=scale_pos_weight(params),
        device=str(params.get("device", "cpu")),
    )


def shown_predictions(metric: Any, loss: Loss) -> Any:
    """A user's custom_metric, shown what it would see with XGBoost's own objective.

    With a custom objective XGBoost shows it margins; but the user of this library gave no objective.
    """
    if metric is None:
        return None

    def on_predictions(margin: Array, matrix: xgboost.DMatrix) -> Any:
        return metric(loss.predict(margin), matrix)

    return on_predictions

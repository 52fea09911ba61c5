"""What an estimator's ``fit`` calls where XGBoost's own calls ``xgboost.train``."""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import xgboost

from .._arrays import Array
from .._core.config import TeacherConfig
from .._core.loss import Loss
from .._core.methods import method_named
from .._core.spec import Spec
from .._core.teachers import Teacher
from .._core.train import train_by
from .._rows.supervision import weight_of_known
from .._rows.views import Views
from .._warnings import warn_user
from .._xgb.matrix import copy_queries, labels_of
from .._xgb.params import user_params
from .estimator_teacher import judged_by
from .settings import Settings

_WAYS = "pass privileged= to fit (a search or a pipeline must pass it on), or name columns of X in privileged_features"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Trainer(abc.ABC):
    """``xgboost.train`` with somebody who teaches."""

    settings: Settings
    teaches: bool = True
    """Whether anybody does."""
    classes: Any = None
    """The names of the classes 0, 1, ... of the labels, where they have some."""
    labelled: Array | None = None
    """Which rows have a label; None where all have."""
    teacher_weight: Any = None
    crossfit_groups: Any = None
    """As the user gave them to ``fit``."""
    taught: list[Teacher] = dataclasses.field(default_factory=list)
    """Filled by the training: who taught, besides constraints."""

    def check_rows(self) -> None:  # noqa: B027  # select checks them by itself
        """Whether anything can be learned from rows such as these; they are known by now."""

    @abc.abstractmethod
    def check_early_stopping(self, early_stopping_rounds: int | None, eval_set: Any) -> None:
        """Whether the rounds can be chosen so."""

    @abc.abstractmethod
    def __call__(
        self, params: dict[str, Any], dtrain: xgboost.DMatrix, num_boost_round: int, **keywords: Any
    ) -> xgboost.Booster:
        """Train the student."""

    def matrix(self, table: Any, label: Array, weight: Array | None = None, **more: Any) -> xgboost.DMatrix:
        """A table as XGBoost's estimators would read it."""
        its = self.settings
        return xgboost.DMatrix(
            table,
            label,
            weight=weight if weight is not None and weight.size else None,
            missing=its.missing,
            nthread=its.n_jobs,
            enable_categorical=its.enable_categorical,
            **more,
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DirectTrainer(Trainer):
    """Teaches as the parameters of the estimator say."""

    table: Any
    """What the teacher learns from; None where there is nothing to learn, or nobody who would."""
    privileged: Any
    """The part of it that is privileged, where X is in it too."""
    eval_tables: Sequence[Any] | None
    constraints: list[tuple[Teacher, float]]

    def check_early_stopping(self, early_stopping_rounds: int | None, eval_set: Any) -> None:
        """A teacher that sees its own training rows should stop when the student does, and needs rows to do so."""
        its = self.settings
        endless = its.learns_here and method_named(its.method).learns_first and not its.crossfit and its.kl_weight > 0
        if not (early_stopping_rounds and eval_set and endless) or self.table is None:
            return
        if self.eval_tables is None or all(table is None for table in self.eval_tables):
            raise ValueError(
                "early_stopping_rounds stops the student on eval_set, but the teacher has no privileged columns of "
                "those rows and would run through all of n_estimators, until it repeats the labels: pass "
                "eval_privileged=[...], one table for each of eval_set (or keep the privileged_features in its X). "
                "crossfit=5 does without them"
            )

    def check_rows(self) -> None:
        """Somebody teaches the rows without a label, and is there to be weighed."""
        if self.labelled is not None and not self.teaches:
            raise ValueError(
                f"{int((~self.labelled).sum())} of {len(self.labelled)} rows have no label (their y is missing), and "
                f"nobody teaches there: {_WAYS}. Or leave these rows out"
            )
        if self.table is None:
            brought = isinstance(self.settings.teacher, Teacher)
            given = {
                "teacher_weight": None if brought else self.teacher_weight,
                "crossfit_groups": self.crossfit_groups,
            }
            named = [name for name, value in given.items() if value is not None]
            if named:
                raise ValueError(f"{', '.join(named)} speak of a teacher that learns here, and there is none: {_WAYS}")
        if not self.teaches and self.settings.kl_weight != 0:
            warn_user(
                "nobody teaches here: there are no privileged columns and no constraints, so this is plain XGBoost. "
                f"If this is not what you want, {_WAYS}; if it is, set kl_weight=0"
            )

    def __call__(
        self, params: dict[str, Any], dtrain: xgboost.DMatrix, num_boost_round: int, **keywords: Any
    ) -> xgboost.Booster:
        """Train the student."""
        own = user_params(params)
        teaching = self._teaching(own, dtrain, keywords)
        if self.constraints:
            taught = self._taught(own, dtrain, num_boost_round, teaching, keywords) if teaching else []
            teaching = {"teacher": taught + self.constraints}
        if self.labelled is not None:
            teaching = {**(teaching or {"teacher": _Silent(), "kl_weight": 0.0}), "labelled": self.labelled}
        config = TeacherConfig(**(teaching or {}))
        booster, weighted = train_by(config, params, dtrain, num_boost_round, self.settings.engine, **keywords)
        constraints = [id(constraint) for constraint, _ in self.constraints]
        self.taught.extend(one.teacher for one in weighted if id(one.teacher) not in constraints)
        return booster

    def _teaching(self, params: dict[str, Any], dtrain: xgboost.DMatrix, keywords: dict[str, Any]) -> dict[str, Any]:
        """The keywords of ``train`` that say who teaches besides the constraints."""
        its = self.settings
        if isinstance(its.teacher, Teacher):
            return {"teacher": its.teacher, "kl_weight": its.kl_weight, "teacher_weight": self.teacher_weight}
        if self.table is None:
            return {}
        if its.learns_here:
            stops = bool(keywords.get("early_stopping_rounds"))
            return self._learning(params, dtrain, keywords.get("evals") or (), stops=stops)
        if its.kl_weight == 0:
            return {}
        q, weight = judged_by(
            its.teacher,
            self.table,
            dtrain,
            crossfit=its.crossfit,
            loss=Spec.read(params).loss,
            classes=self.classes,
            labelled=self.labelled,
            groups=self.crossfit_groups,
            teacher_weight=self.teacher_weight,
        )
        return {"teacher": q, "kl_weight": its.kl_weight, "teacher_weight": weight}

    def _learning(
        self,
        params: dict[str, Any],
        dtrain: xgboost.DMatrix,
        evals: Sequence[tuple[xgboost.DMatrix, str]],
        *,
        stops: bool,
    ) -> dict[str, Any]:
        """The keywords of ``train`` that describe a teacher which it trains."""
        its, weight = self.settings, self.teacher_weight
        # Without weights: train gives the teacher those of dtrain.
        loss = Spec.read(params).loss
        privileged = self.matrix(self.table, labels_of(dtrain), **_exposure(loss, dtrain))
        copy_queries(dtrain, privileged)
        if weight is None and self.privileged is not None:
            # Side by side the two parts cannot be told apart where columns have no names.
            weight = weight_of_known(self.matrix(self.privileged, labels_of(dtrain)))
        pairs = zip(self.eval_tables or (), evals, strict=False)
        privileged_evals = [
            (self._of_eval(table, matrix, loss), name)
            for table, (matrix, name) in pairs
            if table is not None and stops and method_named(its.method).learns_first
        ]
        return {
            "privileged": privileged,
            "method": its.method,
            "kl_weight": its.kl_weight,
            "crossfit": its.crossfit,
            "teacher_params": its.teacher_params,
            "privileged_evals": privileged_evals or None,
            "allow_overlap": its.teacher == "all",
            "teacher_weight": weight,
            "crossfit_groups": self.crossfit_groups if its.crossfit else None,
        }

    def _of_eval(self, table: Any, matrix: xgboost.DMatrix, loss: Loss) -> xgboost.DMatrix:
        """What the teacher sees of the rows of an evaluation matrix."""
        its = self.matrix(table, labels_of(matrix), **_exposure(loss, matrix))
        copy_queries(matrix, its)
        its.set_weight(matrix.get_weight())
        return its

    def _taught(
        self,
        params: dict[str, Any],
        dtrain: xgboost.DMatrix,
        num_boost_round: int,
        teaching: dict[str, Any],
        keywords: dict[str, Any],
    ) -> list[tuple[Teacher, Any]]:
        """The teachers that stand beside constraints, trained, with what they weigh."""
        config, stopping = TeacherConfig(**teaching, labelled=self.labelled), keywords.get("early_stopping_rounds")
        return config.taught(Spec.read(params), dtrain, num_boost_round, stopping)


def _exposure(loss: Loss, student: xgboost.DMatrix) -> dict[str, Any]:
    """The base_margin of the student, where it says what a row was exposed to."""
    return {"base_margin": student.get_base_margin()} if loss.has_exposure and student.get_base_margin().size else {}


class _Silent(Teacher):
    """Agrees with the student: somebody has to be there where some rows have no label and nobody counts."""

    def q(self, mean: Array, label: Array, weight: Array | None) -> Array:
        return mean


def direct_trainer(settings: Settings, views: Views) -> DirectTrainer:
    """For an estimator's parameters and the columns that its teachers may see."""
    hidden: set[Any] = set()
    constraints = []
    for constraint, kl_weight in settings.constraint_pairs:
        hidden.update(constraint.privileged_columns)
        look_up = functools.partial(views.values, hidden_from_student=bool(constraint.privileged_columns))
        constraints.append((constraint.resolve_columns(look_up), kl_weight))
    table = privileged = eval_tables = None
    brings_teacher = isinstance(settings.teacher, Teacher)
    if not brings_teacher:
        table, eval_tables = views.for_teacher(hidden, sees_all=settings.teacher == "all")
        privileged = views.for_teacher(hidden, sees_all=False)[0] if settings.teacher == "all" else None
        if table is None and settings.asked_for:
            raise ValueError(
                f"{', '.join(settings.asked_for)}: that is about a teacher of privileged columns, and there are none: "
                f"{_WAYS}"
            )
    elif views.privileged is not None and len(hidden) < len(views.privileged_labels):
        raise ValueError(
            f"privileged columns were given, but the teacher {settings.teacher!r} would not look at them: leave "
            "them out, for a teacher that you bring has learned before (a PrivateTeacher by its fit(z, y)); "
            "teacher='privileged' learns from them here"
        )
    teaches = brings_teacher or table is not None or bool(constraints)
    return DirectTrainer(
        settings=settings,
        teaches=teaches,
        table=table,
        privileged=privileged,
        eval_tables=eval_tables,
        constraints=constraints,
    )

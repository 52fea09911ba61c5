"""What an estimator's ``fit`` calls where XGBoost's own calls ``xgboost.train``."""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import xgboost

from .._arrays import Array
from .._core.config import TeacherConfig, seen_by
from .._core.job import Boosting
from .._core.learners import DEFAULT_TEACHER
from .._core.learners.recipe import chosen_crossfit
from .._core.losses import Loss
from .._core.spec import Spec
from .._core.teachers import DEFAULT_KL_WEIGHT, Teacher
from .._core.train import train_by
from .._rows.supervision import weight_beside, weight_of_known
from .._rows.tables import rows_without_values
from .._rows.views import Views
from .._warnings import warn_user
from .._xgb.matrix import copy_queries, labels_of
from .._xgb.params import user_params
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
        own = self.settings
        return xgboost.DMatrix(
            table,
            label,
            weight=weight if weight is not None and weight.size else None,
            missing=own.missing,
            nthread=own.n_jobs,
            enable_categorical=own.enable_categorical,
            **more,
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DirectTrainer(Trainer):
    """Teaches as the parameters of the estimator say."""

    privileged: Any = None
    """The privileged columns that a teacher may see; None where there are none."""
    table: Any = None
    """What a trained teacher sees; None where nobody is trained."""
    eval_tables: Sequence[Any] | None = None
    constraints: list[tuple[Teacher, float]]

    @property
    def _brings_teacher(self) -> bool:
        return isinstance(self.settings.teacher, Teacher)

    @property
    def _boosts_first(self) -> bool:
        own = self.settings
        return own.method == "kbpib" and (own.teacher is None or own.teacher == "boosted")

    @property
    def _sees(self) -> str:
        return seen_by(self.settings.teacher, self.settings.teacher_sees, has_privileged=self.privileged is not None)

    @property
    def _is_crossfitted(self) -> bool:
        """Whether the teacher that is trained here learns without the rows that it predicts."""
        own = self.settings
        teacher = own.teacher or DEFAULT_TEACHER
        crossfit = chosen_crossfit(own.crossfit, teacher, sees_student=self._sees == "all")
        return own.method == "kbpib" and crossfit != 0

    def check_early_stopping(self, early_stopping_rounds: int | None, eval_set: Any) -> None:
        """A teacher that sees its own training rows should stop when the student does, and needs rows to do so."""
        own = self.settings
        endless = self._boosts_first and not self._is_crossfitted and own.kl_weight > 0
        if not (early_stopping_rounds and eval_set and endless) or self.privileged is None:
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
            given = {
                "teacher_weight": None if self._brings_teacher else self.teacher_weight,
                "crossfit_groups": self.crossfit_groups,
            }
            named = [name for name, value in given.items() if value is not None]
            if named:
                raise ValueError(f"{', '.join(named)} require a trainable teacher, and none is configured: {_WAYS}")
        if not self.teaches and self.settings.kl_weight != 0:
            warn_user(
                "nobody teaches here: there are no privileged columns and no constraints, so this is plain XGBoost. "
                f"If this is not what you want, {_WAYS}; if it is, set kl_weight=0"
            )

    def __call__(
        self, params: dict[str, Any], dtrain: xgboost.DMatrix, num_boost_round: int, **keywords: Any
    ) -> xgboost.Booster:
        """Train the student."""
        config = self._config(user_params(params), dtrain, keywords)
        if self.labelled is not None and not config.is_given:
            config = TeacherConfig(teacher=_Agreeing(), kl_weight=0.0, labelled=self.labelled)
        booster, teachers = train_by(
            config,
            params,
            dtrain,
            Boosting.from_keywords(num_boost_round, keywords),
            self.settings.engine,
            keywords.get("obj"),
        )
        constraints = [id(constraint) for constraint, _ in self.constraints]
        self.taught.extend(one.teacher for one in teachers if id(one.teacher) not in constraints)
        return booster

    def _config(self, params: dict[str, Any], dtrain: xgboost.DMatrix, keywords: dict[str, Any]) -> TeacherConfig:
        """The keywords of ``train`` that say who teaches."""
        own = self.settings
        if self.table is None and not self._brings_teacher:
            if not self.constraints:
                return TeacherConfig()
            return TeacherConfig(teacher=self.constraints, labelled=self.labelled)
        if self._brings_teacher:
            of_rows: dict[str, Any] = {"teacher_weight": self.teacher_weight}
        else:
            of_rows = self._learning(Spec.read(params).loss, dtrain, keywords)
        if self.constraints:
            weight = of_rows.pop("teacher_weight", None)
            per_row = own.kl_weight if weight is None else own.kl_weight * np.asarray(weight, np.float64)
            of_rows |= {
                "kl_weight": DEFAULT_KL_WEIGHT,
                "teacher": [(own.teacher or DEFAULT_TEACHER, per_row), *self.constraints],
            }
        return own.config(labelled=self.labelled, **of_rows)

    def _learning(self, loss: Loss, dtrain: xgboost.DMatrix, keywords: dict[str, Any]) -> dict[str, Any]:
        """The keywords that describe what a trained teacher sees. It has the weights of dtrain."""
        own, weight = self.settings, self.teacher_weight
        is_estimator = hasattr(own.teacher, "fit")
        sees = self._sees
        seen = self._of_teacher(None if is_estimator else self.table, dtrain, loss)
        privileged = None
        if self.privileged is not None:
            apart = sees == "all" and not is_estimator
            privileged = self._of_teacher(self.privileged, dtrain, loss) if apart else seen
            if weight is None and is_estimator:
                weight = weight_beside(rows_without_values(self.privileged))
            elif weight is None:
                # Side by side the two parts cannot be told apart where columns have no names.
                weight = weight_of_known(privileged)
        pairs = zip(self.eval_tables or (), keywords.get("evals") or (), strict=False)
        stops = bool(keywords.get("early_stopping_rounds")) and self._boosts_first
        privileged_evals = []
        for table, (matrix, name) in pairs:
            if table is not None and stops:
                privileged_evals.append((self._of_teacher(table, matrix, loss), name))
                privileged_evals[-1][0].set_weight(matrix.get_weight())
        return {
            "privileged": privileged,
            "all_features": seen if sees == "all" or is_estimator else None,
            "table": self.table if is_estimator else None,
            "classes": self.classes,
            "privileged_evals": privileged_evals or None,
            "teacher_weight": weight,
            "crossfit_groups": self.crossfit_groups if self._is_crossfitted else None,
        }

    def _of_teacher(self, table: Any, student: xgboost.DMatrix, loss: Loss) -> xgboost.DMatrix:
        """A table of what a teacher sees, with labels, queries and exposures of the student; no columns for None."""
        exposure = student.get_base_margin() if loss.has_exposure else np.empty(0)
        margin = {"base_margin": exposure} if exposure.size else {}
        if table is None:  # an estimator reads the user's own
            table = np.zeros((student.num_row(), 1), np.float32)
        matrix = self.matrix(table, labels_of(student), **margin)
        copy_queries(student, matrix)
        return matrix


class _Agreeing(Teacher):
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
    brings_teacher = isinstance(settings.teacher, Teacher)
    table = privileged = eval_tables = None
    if not brings_teacher:
        privileged = views.for_teacher(hidden, sees_all=False)[0]
        sees = seen_by(settings.teacher, settings.teacher_sees, has_privileged=privileged is not None)
        table, eval_tables = views.for_teacher(hidden, sees_all=sees == "all")
        if table is None and settings.teacher is not None:
            table = views.student
        if table is None and settings.asked_for:
            raise ValueError(
                f"{', '.join(settings.asked_for)} require a trainable teacher, and none is configured: {_WAYS}"
            )
    elif views.privileged is not None and len(hidden) < len(views.privileged_labels):
        raise ValueError(
            f"privileged columns were given, but the teacher {settings.teacher!r} does not read them: leave them out, "
            "for a teacher that you bring has learned before (a PrivateTeacher by its fit(z, y)); "
            "teacher='boosted' learns from them here"
        )
    return DirectTrainer(
        settings=settings,
        teaches=brings_teacher or table is not None or bool(constraints),
        table=table,
        privileged=privileged,
        eval_tables=eval_tables,
        constraints=constraints,
    )

"""The trainers that an estimator's ``fit`` calls in place of ``xgboost.train``."""

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
from .._rows.checks import require
from .._rows.per_row import on_host
from .._rows.row_alignment import row_count
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
    """A replacement of ``xgboost.train`` that trains with a teacher."""

    settings: Settings
    has_teacher: bool = True
    """Whether there is a teacher or a constraint."""
    classes: Any = None
    """The names of the classes 0, 1, ...; None without names."""
    labelled: Array | None = None
    """True for rows with a label; None if all have one."""
    teacher_weight: Any = None
    crossfit_groups: Any = None
    """The argument of ``fit``."""
    teachers: list[Teacher] = dataclasses.field(default_factory=list)
    """The teachers that the training used, without constraints."""

    @property
    def is_plain(self) -> bool:
        """Whether all teachers have a weight of 0, so that XGBoost trains on the labelled rows alone."""
        return False

    def check_rows(self) -> None:  # noqa: B027  # select checks them
        """Raise if the rows and the teacher do not fit together."""

    @abc.abstractmethod
    def check_early_stopping(self, early_stopping_rounds: int | None, eval_set: Any) -> None:
        """Raise if early stopping is not supported."""

    @abc.abstractmethod
    def __call__(
        self, params: dict[str, Any], dtrain: xgboost.DMatrix, num_boost_round: int, **keywords: Any
    ) -> xgboost.Booster:
        """Train the student."""

    def matrix(self, table: Any, label: Array, weight: Array | None = None, **more: Any) -> xgboost.DMatrix:
        """Return a table as the matrix that XGBoost's estimators would make."""
        settings = self.settings
        return xgboost.DMatrix(
            table,
            label,
            weight=weight if weight is not None and weight.size else None,
            missing=settings.missing,
            nthread=settings.n_jobs,
            enable_categorical=settings.enable_categorical,
            **more,
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DirectTrainer(Trainer):
    """Train with the parameters of the estimator."""

    privileged: Any = None
    """The privileged columns that a teacher may see, or None."""
    table: Any = None
    """The columns of a trainable teacher; None without one."""
    eval_tables: Sequence[Any] | None = None
    constraints: list[tuple[Teacher, float]]

    @property
    def is_plain(self) -> bool:
        weight = 1 if self.teacher_weight is None else on_host(self.teacher_weight, "teacher_weight")
        return not (self.settings.kl_weight and np.any(weight)) and not any(weight for _, weight in self.constraints)

    @property
    def _has_trained_teacher(self) -> bool:
        return isinstance(self.settings.teacher, Teacher)

    @property
    def _teacher(self) -> Any:
        # A forest of scikit-learn has a length, so that it cannot be tested as a truth value before it is fitted.
        return DEFAULT_TEACHER if self.settings.teacher is None else self.settings.teacher

    @property
    def _has_boosted_teacher(self) -> bool:
        return self.settings.method == "kbpib" and self._teacher == "boosted"

    @property
    def _sees(self) -> str:
        return seen_by(self.settings.teacher, self.settings.teacher_sees, has_privileged=self.privileged is not None)

    @property
    def _is_crossfitted(self) -> bool:
        """Whether a trainable teacher predicts each row without training on it."""
        settings = self.settings
        crossfit = chosen_crossfit(settings.crossfit, self._teacher, sees_student=self._sees == "all")
        return settings.method == "kbpib" and crossfit != 0

    def check_early_stopping(self, early_stopping_rounds: int | None, eval_set: Any) -> None:
        """Raise if a teacher without cross-fitting lacks rows to stop on."""
        can_overfit = self._has_boosted_teacher and not self._is_crossfitted and self.settings.kl_weight > 0
        if not (early_stopping_rounds and eval_set and can_overfit) or self.privileged is None:
            return
        if self.eval_tables is None or all(table is None for table in self.eval_tables):
            raise ValueError(
                "early_stopping_rounds stops the student only: without the privileged columns of eval_set the teacher "
                "trains for all of n_estimators and reproduces the labels. Pass eval_privileged=[...], one table for "
                "each of eval_set, or keep the privileged_features in its X, or set crossfit=5"
            )

    def check_rows(self) -> None:
        """Raise if unlabelled rows or per-row arguments lack a teacher; warn if the student has none."""
        if self.labelled is not None and not self.has_teacher:
            raise ValueError(
                f"y must have a label in every row without a teacher, and {int((~self.labelled).sum())} of "
                f"{len(self.labelled)} rows have no label: {_WAYS}, or leave these rows out"
            )
        if self.table is None:
            given = {
                "teacher_weight": None if self._has_trained_teacher else self.teacher_weight,
                "crossfit_groups": self.crossfit_groups,
            }
            named = [name for name, value in given.items() if value is not None]
            if named:
                raise ValueError(f"{require(named)} a trainable teacher; none is configured: {_WAYS}")
        if not self.has_teacher and self.settings.kl_weight != 0:
            warn_user(
                f"kl_weight={self.settings.kl_weight} has no effect without privileged columns or constraints, so this "
                f"is plain XGBoost: {_WAYS}, or set kl_weight=0"
            )

    def __call__(
        self, params: dict[str, Any], dtrain: xgboost.DMatrix, num_boost_round: int, **keywords: Any
    ) -> xgboost.Booster:
        """Train the student."""
        config = self._config(user_params(params), dtrain, keywords)
        booster, teachers = train_by(
            config,
            params,
            dtrain,
            Boosting.from_keywords(num_boost_round, keywords),
            self.settings.engine,
            keywords.get("obj"),
        )
        constraints = [id(constraint) for constraint, _ in self.constraints]
        self.teachers.extend(pair.teacher for pair in teachers if id(pair.teacher) not in constraints)
        return booster

    def _config(self, params: dict[str, Any], dtrain: xgboost.DMatrix, keywords: dict[str, Any]) -> TeacherConfig:
        """Return the keywords of ``train`` that describe the teacher."""
        settings = self.settings
        if self.table is None and not self._has_trained_teacher:
            if not self.constraints:
                return TeacherConfig()
            return TeacherConfig(teacher=self.constraints, labelled=self.labelled)
        if self._has_trained_teacher:
            row_keywords: dict[str, Any] = {"teacher_weight": self.teacher_weight}
        else:
            row_keywords = self._trainable_teacher(Spec.read(params).loss, dtrain, keywords)
        if self.constraints:
            weight, kl_weight = row_keywords.pop("teacher_weight", None), settings.kl_weight
            per_row = kl_weight if weight is None else kl_weight * np.asarray(weight, np.float64)
            row_keywords |= {
                "kl_weight": DEFAULT_KL_WEIGHT,
                "teacher": [(self._teacher, per_row), *self.constraints],
            }
        return settings.config(labelled=self.labelled, **row_keywords)

    def _trainable_teacher(self, loss: Loss, dtrain: xgboost.DMatrix, keywords: dict[str, Any]) -> dict[str, Any]:
        """Return the keywords with the columns of a trainable teacher, which has the weights of dtrain."""
        weight = self.teacher_weight
        is_estimator = hasattr(self.settings.teacher, "fit")
        sees = self._sees
        features = self._teacher_matrix(None if is_estimator else self.table, dtrain, loss)
        privileged = None
        if self.privileged is not None:
            is_separate = sees == "all" and not is_estimator
            privileged = self._teacher_matrix(self.privileged, dtrain, loss) if is_separate else features
            if weight is None and is_estimator:
                weight = weight_beside(rows_without_values(self.privileged))
            elif weight is None:
                # Without column names, a joined matrix does not separate its two parts.
                weight = weight_of_known(privileged)
        pairs = zip(self.eval_tables or (), keywords.get("evals") or (), strict=False)
        stops = bool(keywords.get("early_stopping_rounds")) and self._has_boosted_teacher
        privileged_evals = []
        for table, (matrix, name) in pairs:
            if table is not None and stops:
                privileged_evals.append((self._teacher_matrix(table, matrix, loss), name))
                privileged_evals[-1][0].set_weight(matrix.get_weight())
        return {
            "privileged": privileged,
            "all_features": features if sees == "all" or is_estimator else None,
            "table": self.table if is_estimator else None,
            "classes": self.classes,
            "privileged_evals": privileged_evals or None,
            "teacher_weight": weight,
            "crossfit_groups": self.crossfit_groups if self._is_crossfitted else None,
        }

    def _teacher_matrix(self, table: Any, student: xgboost.DMatrix, loss: Loss) -> xgboost.DMatrix:
        """Return the table of a teacher with labels, queries and exposures of the student."""
        exposure = student.get_base_margin() if loss.has_exposure else np.empty(0)
        margin = {"base_margin": exposure} if exposure.size else {}
        if table is None:  # an estimator reads self.table
            table = np.zeros((student.num_row(), 1), np.float32)
        matrix = self.matrix(table, labels_of(student), **margin)
        copy_queries(student, matrix)
        return matrix


def direct_trainer(settings: Settings, views: Views) -> DirectTrainer:
    """Return the trainer for an estimator's parameters and the columns that its teachers may see."""
    constraint_columns: set[Any] = set()
    constraints = []
    for constraint, kl_weight in settings.constraint_pairs:
        constraint_columns.update(constraint.privileged_columns)
        look_up = functools.partial(views.values, hidden_from_student=bool(constraint.privileged_columns))
        resolved = constraint.resolve_columns(look_up)
        resolved.check(row_count(views.student))
        constraints.append((resolved, kl_weight))
    has_trained_teacher = isinstance(settings.teacher, Teacher)
    table = privileged = eval_tables = None
    if not has_trained_teacher:
        privileged = views.for_teacher(constraint_columns, sees_all=False)[0]
        sees = seen_by(settings.teacher, settings.teacher_sees, has_privileged=privileged is not None)
        table, eval_tables = views.for_teacher(constraint_columns, sees_all=sees == "all")
        if table is None and settings.teacher is not None:
            table = views.student
        if table is None and settings.trainable_keywords:
            raise ValueError(f"{require(settings.trainable_keywords)} a trainable teacher; none is configured: {_WAYS}")
    elif views.privileged is not None and len(constraint_columns) < len(views.privileged_labels):
        raise ValueError(
            f"privileged must be left out with teacher={settings.teacher!r}, which is trained and does not read them: "
            "a PrivateTeacher learns in its fit(z, y), teacher='boosted' learns here"
        )
    return DirectTrainer(
        settings=settings,
        has_teacher=has_trained_teacher or table is not None or bool(constraints),
        table=table,
        privileged=privileged,
        eval_tables=eval_tables,
        constraints=constraints,
    )

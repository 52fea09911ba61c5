"""What an estimator's ``fit`` calls where XGBoost's own calls ``xgboost.train``."""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import xgboost

from .._arrays import Array
from .._core.guidance import Guidance
from .._core.spec import Spec
from .._core.teachers import Teacher
from .._core.train import train
from .._rows.views import Views
from .._xgb.params import user_params
from .estimator_teacher import judged_by
from .settings import Settings


@dataclasses.dataclass(frozen=True, kw_only=True)
class Trainer(abc.ABC):
    """``xgboost.train`` with somebody who teaches."""

    settings: Settings
    teaches: bool = True
    """Whether anybody does."""
    classes: Any = None
    """The names of the classes 0, 1, ... of the labels, where they have some."""

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
    eval_tables: Sequence[Any] | None
    constraints: list[tuple[Teacher, float]]

    def check_early_stopping(self, early_stopping_rounds: int | None, eval_set: Any) -> None:
        """A teacher that sees its own training rows should stop when the student does, and needs rows to do so."""
        its = self.settings
        endless = its.learns_here and its.method == "kbpib" and not its.crossfit and its.kl_weight > 0
        if not (early_stopping_rounds and eval_set and endless) or self.table is None:
            return
        if self.eval_tables is None or all(table is None for table in self.eval_tables):
            raise ValueError(
                "early_stopping_rounds stops the student on eval_set, but the teacher has no privileged columns of "
                "those rows and would run through all of n_estimators, until it repeats the labels: pass "
                "eval_privileged=[...], one table for each of eval_set (or keep the privileged_features in its X). "
                "crossfit=5 does without them"
            )

    def __call__(
        self, params: dict[str, Any], dtrain: xgboost.DMatrix, num_boost_round: int, **keywords: Any
    ) -> xgboost.Booster:
        """Train the student."""
        stops = bool(keywords.get("early_stopping_rounds"))
        teaching = self._learned(dtrain, keywords.get("evals") or (), stops=stops)
        if self.constraints or not teaching:
            pairs = self._pairs(user_params(params), dtrain, num_boost_round, teaching, keywords)
            teaching = {"teacher": pairs} if pairs else {}
        return train(params, dtrain, num_boost_round, **teaching, engine=self.settings.engine, **keywords)

    def _learned(
        self, dtrain: xgboost.DMatrix, evals: Sequence[tuple[xgboost.DMatrix, str]], *, stops: bool
    ) -> dict[str, Any]:
        """The keywords of ``train`` that say who teaches, where the teacher is one that it trains."""
        its = self.settings
        if self.table is None or not its.learns_here:
            return {}
        # Without weights: train gives the teacher those of dtrain.
        privileged = self.matrix(self.table, dtrain.get_label())
        pairs = zip(self.eval_tables or (), evals, strict=False)
        privileged_evals = [
            (self.matrix(table, matrix.get_label(), matrix.get_weight()), name)
            for table, (matrix, name) in pairs
            if table is not None and stops and its.method == "kbpib"
        ]
        return {
            "privileged": privileged,
            "method": its.method,
            "kl_weight": its.kl_weight,
            "crossfit": its.crossfit,
            "teacher_params": its.teacher_params,
            "privileged_evals": privileged_evals or None,
            "allow_overlap": its.teacher == "all",
        }

    def _pairs(
        self,
        params: dict[str, Any],
        dtrain: xgboost.DMatrix,
        num_boost_round: int,
        learned: dict[str, Any],
        keywords: dict[str, Any],
    ) -> list[tuple[Any, float]]:
        """Every teacher with its ``kl_weight``."""
        its = self.settings
        pairs: list[tuple[Any, float]] = []
        if learned:
            guidance = Guidance(**learned)
            guidance.check_keywords()
            task = guidance.task(Spec.read(params), dtrain, num_boost_round)
            stopping = keywords.get("early_stopping_rounds")
            taught = guidance.teachings_from_privileged(task, dtrain, num_boost_round, early_stopping_rounds=stopping)
            pairs += [(teaching.teacher, teaching.weight) for teaching in taught]
        elif isinstance(its.teacher, Teacher):
            pairs.append((its.teacher, its.kl_weight))
        elif self.table is not None and its.kl_weight > 0:
            q = judged_by(
                its.teacher,
                self.table,
                dtrain,
                crossfit=its.crossfit,
                loss=Spec.read(params).loss,
                classes=self.classes,
            )
            pairs.append((q, its.kl_weight))
        return pairs + self.constraints


def direct_trainer(settings: Settings, views: Views) -> DirectTrainer:
    """For an estimator's parameters and the columns that its teachers may see."""
    hidden: set[Any] = set()
    constraints = []
    for constraint, kl_weight in settings.constraint_pairs:
        hidden.update(constraint.hidden_columns)
        look_up = functools.partial(views.values, hidden_from_student=bool(constraint.hidden_columns))
        constraints.append((constraint.bind(look_up), kl_weight))
    table = eval_tables = None
    brings_teacher = isinstance(settings.teacher, Teacher)
    if not brings_teacher:
        table, eval_tables = views.for_teacher(hidden, sees_all=settings.teacher == "all")
        if table is None and settings.asked_for:
            raise ValueError(
                f"{', '.join(settings.asked_for)} only mean something with privileged columns, and there are none: "
                "pass privileged= to fit, or name columns of X in privileged_features"
            )
    elif views.privileged is not None and len(hidden) < len(views.privileged_labels):
        raise ValueError(
            f"privileged columns were given, but the teacher {settings.teacher!r} would not look at them: leave "
            "them out, or use teacher='privileged'"
        )
    teaches = brings_teacher or table is not None or bool(constraints)
    return DirectTrainer(
        settings=settings, teaches=teaches, table=table, eval_tables=eval_tables, constraints=constraints
    )

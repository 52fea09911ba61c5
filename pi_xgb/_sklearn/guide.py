"""From the parameters of a scikit-learn estimator to one call of ``pi_xgb.train``."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import sklearn
import xgboost
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_predict
from sklearn.utils.validation import has_fit_parameter

from .._arrays import Array
from .._core.checks import check_kl_weight
from .._core.guidance import Guidance
from .._core.learned import check_crossfit
from .._core.losses import Loss
from .._core.methods import METHODS
from .._core.spec import Spec
from .._core.teachers import Teacher
from .._core.train import train
from .._rows.checks import check_choice
from .._rows.views import Views
from .._stats.folds import deal_folds
from .._xgb.params import user_params

LEARNED = ("privileged", "all")


@dataclasses.dataclass(frozen=True)
class Settings:
    """The parameters of an estimator that say who teaches, as the user set them."""

    method: str
    kl_weight: float
    teacher: Any
    crossfit: int
    teacher_params: Any
    engine: str
    constraints: Any
    missing: float
    enable_categorical: bool
    n_jobs: int | None

    @property
    def learns_here(self) -> bool:
        """Whether the teacher is one that this library trains."""
        return isinstance(self.teacher, str)

    def check(self) -> None:
        """Values that could not mean anything, or that nothing would read."""
        check_choice(self.method, METHODS, "method")
        check_kl_weight(self.kl_weight)
        if self.learns_here:
            check_choice(self.teacher, LEARNED, "teacher")
            if "n_estimators" in dict(self.teacher_params or {}):
                raise ValueError(
                    "teacher_params are parameters of XGBoost's boosters, and n_estimators is none: a teacher has as "
                    "many rounds as the student. For another number pass an estimator as teacher, for example "
                    "XGBClassifier(n_estimators=...)"
                )
            return
        if isinstance(self.teacher, type) or not (isinstance(self.teacher, Teacher) or hasattr(self.teacher, "fit")):
            raise TypeError(
                f"teacher must be 'privileged', 'all', an estimator or a pi_xgb.Teacher, got {self.teacher!r}. An "
                "array of q belongs to one data set, not to an estimator: pass it to pi_xgb.train"
            )
        unread = {
            "method='jpib'": self.method != "kbpib",
            "teacher_params": self.teacher_params is not None,
            "crossfit": bool(self.crossfit) and isinstance(self.teacher, (Teacher, FrozenEstimator)),
        }
        named = [name for name, is_set in unread.items() if is_set]
        if named:
            raise ValueError(
                f"{', '.join(named)} would be ignored with the teacher {self.teacher!r}: leave it out, or use "
                "teacher='privileged'"
            )

    @property
    def asked_for(self) -> list[str]:
        """What the user set that needs privileged data."""
        is_set = {
            "method": self.method != "kbpib",
            "crossfit": bool(self.crossfit),
            "teacher": not isinstance(self.teacher, Teacher) and self.teacher != "privileged",
            "teacher_params": self.teacher_params is not None,
        }
        return [name for name, value in is_set.items() if value]


@dataclasses.dataclass(frozen=True)
class Guide:
    """``pi_xgb.train`` with a teacher in mind, to be called as XGBoost's estimators call ``xgboost.train``."""

    settings: Settings
    table: Any
    """What the teacher learns from; None where there is nothing to learn, or nobody who would."""
    eval_tables: Sequence[Any] | None
    constraints: list[tuple[Teacher, float]]
    classes: Any = None
    """The names of the classes 0, 1, ... of the labels, where they have some."""

    @property
    def teaches(self) -> bool:
        """Whether anybody teaches."""
        return self.table is not None or bool(self.constraints) or isinstance(self.settings.teacher, Teacher)

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
        guiding = self._learned(dtrain, keywords.get("evals") or (), stops=stops)
        if self.constraints or not guiding:
            pairs = self._pairs(user_params(params), dtrain, num_boost_round, guiding, keywords)
            guiding = {"teacher": pairs} if pairs else {}
        return train(params, dtrain, num_boost_round, **guiding, engine=self.settings.engine, **keywords)

    def _learned(
        self, dtrain: xgboost.DMatrix, evals: Sequence[tuple[xgboost.DMatrix, str]], *, stops: bool
    ) -> dict[str, Any]:
        """The guiding keywords of ``train`` where the teacher is one that it trains."""
        its = self.settings
        if self.table is None or not its.learns_here:
            return {}
        # Without weights: train gives the teacher those of dtrain.
        privileged = self._matrix(self.table, dtrain.get_label())
        pairs = zip(self.eval_tables or (), evals, strict=False)
        privileged_evals = [
            (self._matrix(table, matrix.get_label(), matrix.get_weight()), name)
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

    def _matrix(self, table: Any, label: Array, weight: Array | None = None) -> xgboost.DMatrix:
        its = self.settings
        return xgboost.DMatrix(
            table,
            label,
            weight=weight if weight is not None and weight.size else None,
            missing=its.missing,
            nthread=its.n_jobs,
            enable_categorical=its.enable_categorical,
        )

    def _pairs(
        self,
        params: dict[str, Any],
        dtrain: xgboost.DMatrix,
        num_boost_round: int,
        learned: dict[str, Any],
        keywords: dict[str, Any],
    ) -> list[tuple[Any, float]]:
        """Every teacher with its weight."""
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


def guide_of(settings: Settings, views: Views) -> Guide:
    """The guide for an estimator's parameters and the columns that its teachers may see."""
    hidden: set[Any] = set()
    constraints = []
    for constraint, weight in _checked_pairs(settings.constraints):
        hidden.update(constraint.hidden_columns)
        look_up = functools.partial(views.values, hidden_from_student=bool(constraint.hidden_columns))
        constraints.append((constraint.bind(look_up), weight))
    if isinstance(settings.teacher, Teacher):
        if views.privileged is not None and len(hidden) < len(views.privileged_labels):
            raise ValueError(
                f"privileged columns were given, but the teacher {settings.teacher!r} would not look at them: leave "
                "them out, or use teacher='privileged'"
            )
        return Guide(settings, None, None, constraints)
    table, eval_tables = views.for_teacher(hidden, sees_all=settings.teacher == "all")
    if table is None and settings.asked_for:
        raise ValueError(
            f"{', '.join(settings.asked_for)} only mean something with privileged columns, and there are none: pass "
            "privileged= to fit, or name columns of X in privileged_features"
        )
    return Guide(settings, table, eval_tables, constraints)


def judged_by(
    model: Any, table: Any, dtrain: xgboost.DMatrix, *, crossfit: int, loss: Loss, classes: Any = None
) -> Array:
    """The q of every training row from a clone of a scikit-learn estimator, trained on privileged columns.

    A clone learns from the numbers of the classes. A frozen estimator has learned already, from ``classes``.
    """
    method = "predict_proba" if loss.probabilities else "predict"
    if not hasattr(model, method):
        raise TypeError(
            f"the teacher {model!r} has no {method}, which the objective of the student needs: give a classifier "
            "with probabilities (CalibratedClassifierCV adds them) for classes, a regressor for numbers"
        )
    label, weight = dtrain.get_label(), dtrain.get_weight()
    if weight.size and not (has_fit_parameter(model, "sample_weight") or isinstance(model, FrozenEstimator)):
        raise ValueError(
            f"the fit of the teacher {model!r} takes no sample_weight, so the weights of the rows would be ignored: "
            "use another estimator, or leave sample_weight out"
        )
    weights = {"sample_weight": weight} if weight.size else {}
    target = label.astype(np.int64) if loss.probabilities else label
    frozen = isinstance(model, FrozenEstimator)
    model = clone(model)
    if crossfit:
        check_crossfit(crossfit, None, len(label))
        folds = deal_folds(label, crossfit, 0)
        with sklearn.config_context(enable_metadata_routing=False):
            q = cross_val_predict(model, table, target, cv=folds, method=method, params=weights)
    else:
        q = getattr(model.fit(table, target, **weights), method)(table)
        if loss.probabilities:
            numbered = np.arange(max(int(target.max()) + 1, 2))
            q = _in_order(np.asarray(q), model, classes if frozen and classes is not None else numbered)
    q = np.asarray(q)
    return q[:, 1] if loss.probabilities and not loss.multiclass else q


def _in_order(q: Array, model: Any, classes: Any) -> Array:
    """The columns of ``predict_proba`` in the order of the student's classes; they come in that of ``classes_``."""
    if not hasattr(model, "classes_"):
        return q
    own, wanted = list(model.classes_), list(classes)
    if len(own) != len(wanted) or set(own) != set(wanted):
        raise ValueError(
            f"the teacher {model!r} tells the classes {own[:5]} apart, y has the classes {wanted[:5]}: which is which "
            "cannot be known. Train it on labels with the names that they have in y"
        )
    return q[:, [own.index(name) for name in wanted]]


def _checked_pairs(constraints: Any) -> list[tuple[Any, float]]:
    if isinstance(constraints, Teacher):
        raise TypeError(
            f"constraints must be a list of (constraint, weight), got {constraints!r} alone: say how much it counts, "
            "as in constraints=[(GroupParity('sex'), 5.0)]"
        )
    pairs = list(constraints or ())
    for pair in pairs:
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
            raise TypeError(f"constraints must be a list of (constraint, weight), got the item {pair!r}")
        if not isinstance(pair[0], Teacher):
            raise TypeError(
                f"a constraint must be one of pi_xgb.constraints, or pi_xgb.sklearn.by_column(...) of one, got "
                f"{pair[0]!r}"
            )
        check_kl_weight(pair[1], "the weight of a constraint")
    return pairs

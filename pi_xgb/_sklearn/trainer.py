"""What an estimator's ``fit`` calls in place of ``xgboost.train``: ``pi_xgb.train`` on matrices of its tables."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import xgboost

from .._arrays import Array
from .._constraints.by_column import ByColumn
from .._constraints.constraint import Constraint
from .._core.crossfit import check_crossfit
from .._core.keywords import Keywords, seen_by
from .._core.losses import Loss
from .._core.teachers import default_kl_weight, is_trained_here
from .._core.train import train_by
from .._core.training import Boosting, Spec, Teacher
from .._rows.per_row import on_host
from .._rows.supervision import weight_beside
from .._rows.tables import as_frame, check_no_text, check_orders, column_names, row_count, rows_without_values
from .._rows.views import Views
from .._warnings import warn_user
from .._xgb.matrix import copy_queries, labels_of
from .._xgb.params import user_params

_WAYS = "pass privileged= to fit (a search or a pipeline must pass it on), or name columns of X in privileged_features"


class Trainer:
    """The training of one ``fit``, with the teacher and the constraints that the estimator's parameters describe."""

    def __init__(
        self, model: Any, views: Views, teacher: Any, teacher_weight: Any, crossfit_groups: Any, *, evaluates: bool
    ) -> None:
        self.model, self.views, self.teacher, self.evaluates = model, views, teacher, evaluates
        self.teacher_weight, self.crossfit_groups = teacher_weight, crossfit_groups
        self.classes: Array | None = None
        """The names of the classes 0, 1, ...; None without names."""
        self.labelled: Array | None = None
        """True for rows with a label; None if all have one."""
        self.teachers: list[Teacher] = []
        """The teachers of the training, without constraints."""
        check_no_text(views.student, "X")
        self._read_parameters()

    def _read_parameters(self) -> None:
        """Find the columns of the teacher and of the constraints; raise for parameters at fault."""
        model, views = self.model, self.views
        if not (self.teacher is None or isinstance(self.teacher, Teacher) or is_trained_here(self.teacher)):
            raise TypeError(
                f"teacher must be a name, an estimator or a pi_xgb.Teacher, got {self.teacher!r:.60}: pass others to "
                "train"
            )
        if "n_estimators" in user_params(model.teacher_params or {}):
            raise ValueError("teacher_params must be those of boosters, got n_estimators: pass an estimator as teacher")
        hidden: set[Any] = set()
        self.constraints: list[tuple[Teacher, float]] = []
        for pair in [model.constraints] if isinstance(model.constraints, Teacher) else model.constraints or ():
            if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[0], Teacher)):
                raise TypeError(
                    "constraints must be a list of (constraint, weight), as (DemographicParity('sex'), 5.0), got "
                    f"{pair!r}"
                )
            constraint, weight = pair
            if isinstance(constraint, ByColumn):
                hidden.update(constraint.privileged_columns)
                look_up = functools.partial(views.values, hidden_from_student=bool(constraint.privileged_columns))
                constraint = constraint.resolve_columns(look_up)
            if isinstance(constraint, Constraint):
                constraint.check(row_count(views.student))
                check_orders({"X": views.student, "sensitive_features": getattr(constraint, "index", None)})
            self.constraints.append((constraint, weight))

        self.privileged = views.for_teacher(hidden, sees_all=False)[0]
        self.kind = self.teacher
        if self.teacher is None:
            own = {"method": model.method, "kl_weight": model.kl_weight, "crossfit": model.crossfit}
            self.kind = Keywords(**own, privileged_evals=[] if self.evaluates else None).default_kind(model.objective)
        self.kl_weight = default_kl_weight(self.kind) if model.kl_weight is None else model.kl_weight
        self.sees = seen_by(self.kind, model.teacher_sees, has_privileged=self.privileged is not None)
        self.table = self.eval_tables = None
        if not isinstance(self.teacher, Teacher):
            self.table, self.eval_tables = views.for_teacher(hidden, sees_all=self.sees == "all")
            if self.table is None and self.teacher is not None:
                self.table = views.student
        if hasattr(self.teacher, "fit"):
            self.table, self.privileged = (with_gaps(table, model.missing) for table in (self.table, self.privileged))
        elif self.table is not None:
            check_no_text(self.table, "privileged")
        self.is_taught = self.table is not None or isinstance(self.teacher, Teacher)
        self.has_teacher = self.is_taught or bool(self.constraints)
        self._stops = model.method == "kbpib" and self.kind == "boosted"
        config = self._config()
        config.check()
        if model.crossfit is not None:
            check_crossfit(model.crossfit, row_count(views.student))
        self._check_early_stopping(config)

    @property
    def is_plain(self) -> bool:
        """Whether all teachers have a weight of 0, so that XGBoost trains on the labelled rows alone."""
        weight = 1 if self.teacher_weight is None else on_host(self.teacher_weight, "teacher_weight")
        counts = self.is_taught and self.kl_weight and np.any(weight)
        return not (counts or any(weight for _, weight in self.constraints))

    def _check_early_stopping(self, config: Keywords) -> None:
        """Raise if a teacher that predicts its training rows lacks others to stop on."""
        model, tables = self.model, self.eval_tables or ()
        stops = model.early_stopping_rounds and self.views.eval_set and self._stops and self.kl_weight > 0
        config = config.naming_teacher(model.objective)
        if stops and self.privileged is not None and not config.is_crossfitted and all(t is None for t in tables):
            raise ValueError(
                "early_stopping_rounds stops the student only, and the teacher reproduces the labels: pass "
                "eval_privileged=[...], keep the privileged_features in the X of eval_set, or set crossfit=5"
            )

    def read_labels(self, classes: Array | None, labelled: Array | None) -> None:
        """Take what y says of the rows; raise if rows without labels lack a teacher, warn if the student has none."""
        self.classes, self.labelled = classes, labelled
        if self.has_teacher:
            return
        if labelled is not None:
            raise ValueError(
                f"y must have a label in every row without a teacher, got {int((~labelled).sum())} of {len(labelled)} "
                f"rows with no label: {_WAYS}"
            )
        if self.model.kl_weight != 0:
            warn_user(f"without privileged columns this is plain XGBoost: {_WAYS}, or set kl_weight=0")

    def __call__(
        self, params: dict[str, Any], dtrain: xgboost.DMatrix, num_boost_round: int, **keywords: Any
    ) -> xgboost.Booster:
        """Train the student."""
        config = Keywords()
        if not self.is_plain or self.labelled is not None:
            config = self._config(**({} if self.table is None else self._matrices(params, dtrain, keywords)))
        boosting = Boosting(dtrain, num_boost_round, keywords["evals"] or (), keywords, keywords.get("xgb_model"))
        booster, teachers = train_by(config, params, boosting, self.model.engine)
        constraints = [id(constraint) for constraint, _ in self.constraints]
        self.teachers.extend(pair.teacher for pair in teachers if id(pair.teacher) not in constraints)
        return booster

    def _config(self, teacher_weight: Any = None, **matrices: Any) -> Keywords:
        """Return the keywords of ``pi_xgb.train``; before there are matrices, tables stand for them."""
        model, teacher, kl_weight = self.model, self.teacher, self.model.kl_weight
        weight = self.teacher_weight if teacher_weight is None else teacher_weight
        if not self.is_taught:  # kl_weight is the teacher's
            teacher, kl_weight = self.constraints or None, None if self.constraints else 0
        elif self.constraints:
            per_row = self.kl_weight if weight is None else self.kl_weight * np.asarray(weight, np.float64)
            teacher, kl_weight, weight = [(self.kind, per_row), *self.constraints], None, None
        config = Keywords(
            **{"privileged": self.privileged, "classes": self.classes, **matrices},
            **{name: getattr(model, name) for name in ("method", "teacher_sees", "crossfit", "teacher_params")},
            teacher=teacher,
            kl_weight=kl_weight,
            labelled=self.labelled,
            teacher_weight=weight,
        )
        # One search may go through teachers that are cross-fitted and others.
        ignores_groups = self.table is not None and not (config.method == "kbpib" and config.is_crossfitted)
        groups = None if ignores_groups else self.crossfit_groups
        return dataclasses.replace(config, crossfit_groups=groups)

    def _matrices(self, params: Any, dtrain: xgboost.DMatrix, keywords: dict[str, Any]) -> dict[str, Any]:
        """Return the columns of a trainable teacher, for rows with the labels of ``dtrain``."""
        loss = Spec.read(params).loss
        if hasattr(self.teacher, "fit"):  # it reads the table, and the matrix has the labels
            features = privileged = self._like(dtrain, np.zeros((dtrain.num_row(), 1), np.float32), loss)
            empty = None if self.privileged is None else rows_without_values(self.privileged)
            weight = weight_beside(empty) if self.teacher_weight is None and empty is not None else None
            more = {"all_features": features, "table": self.table, "teacher_weight": weight}
            return {"privileged": None if self.privileged is None else privileged, **more}
        features = self._like(dtrain, self.table, loss)
        sees_all = self.sees == "all"
        privileged = self._like(dtrain, self.privileged, loss) if sees_all and self.privileged is not None else features
        evals = []
        if keywords.get("early_stopping_rounds") and self._stops:
            for table, (matrix, name) in zip(self.eval_tables or (), keywords.get("evals") or (), strict=False):
                if table is not None:
                    evals.append((self._like(matrix, table, loss), name))
                    evals[-1][0].set_weight(matrix.get_weight())
        return {
            "privileged": None if self.privileged is None else privileged,
            "all_features": features if sees_all else None,
            "privileged_evals": evals or None,
        }

    def _like(self, student: xgboost.DMatrix, table: Any, loss: Loss) -> xgboost.DMatrix:
        """Return a table of the teacher with labels, queries and exposures of the student's matrix."""
        exposure = student.get_base_margin() if loss.has_exposure else np.empty(0)
        matrix = self.matrix(table, labels_of(student), base_margin=exposure if exposure.size else None)
        copy_queries(student, matrix)
        return matrix

    def matrix(self, table: Any, label: Array, **fields: Any) -> xgboost.DMatrix:
        """Return a table as the matrix that XGBoost's estimators would make."""
        model = self.model
        reads = {"missing": model.missing, "nthread": model.n_jobs, "enable_categorical": model.enable_categorical}
        return xgboost.DMatrix(table, label, **reads, **fields)


def with_gaps(table: Any, missing: Any) -> Any:
    """Return a table with NaN for the values that are missing to XGBoost, which another estimator would read."""
    if table is None or missing is None or np.isnan(missing):
        return table
    frame = as_frame(table)
    frame = frame.mask(frame.isin([missing]))
    return frame.to_numpy() if column_names(table) is None else frame

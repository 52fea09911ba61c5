"""A teacher to be trained: its kind, its rows, the checks of both, and the fit."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import xgboost
from xgboost import collective

from ..._arrays import Array
from ..._rows.checks import check_choice
from ..._warnings import warn_user
from ..._xgb.matrix import can_be_cut, weights_of_rows
from ..._xgb.threads import FEW_ROWS, threads_of
from ..crossfit import LEFT_OUT, check_crossfit, rarest_class, whole_queries
from ..losses import NUMBERS, PROBABILITIES
from ..teachers import is_estimator
from ..training import About, Spec, Training, per_label
from . import TEACHERS
from .boosted import fit_boosted
from .estimator import Estimator, is_frozen
from .features import Features, Learner, Model, TrainedColumns
from .forest import fit_forest
from .learned_teacher import Fitted, LearnedTeacher, Member
from .linear import fit_linear
from .mixture import Mixture, relevances

_MOST_ROWS = 10_000
"""A member of a mixture learns from at most so many rows: with more labels a mixture gains next to nothing."""
_TREES, _TREES_OF_MIXED = 150, 60
"""Of a forest for classes; in a mixture more trees gain nothing."""
MIXED_BINS = 64
"""``max_bin`` of the boosted member of a mixed teacher, unless set: a third of the time of 256 on 2,000 rows."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recipe:
    """A teacher to be trained."""

    is_adaptive: ClassVar[bool] = False
    about: ClassVar[About] = About(learns=True)

    teacher: Any
    """The name of its kind, or an estimator."""
    training: Training
    """The student's: label and weight of each row."""
    boosted_spec: Spec
    """The spec of the teacher's own booster, where it has one."""
    features: Features
    own_weight: Array
    """The weights of the matrix, without ``scale_pos_weight``."""
    num_boost_round: int
    crossfit: int | None
    """None: as many folds as the labelled rows can fill."""
    teacher_sees: str | None
    """None in ``fit_teacher``, which has one matrix."""
    groups: Array | None
    teacher_weight: Array | None
    seed: int = 0
    keywords: Mapping[str, Any]
    """The keywords of a booster's training: evaluation and early stopping."""
    classes: Sequence[Any] | None
    """The names of the classes that a frozen estimator knows."""

    def check(self) -> None:
        """Raise, before any training, if it cannot learn from these rows for this objective."""
        training, loss = self.training, self.training.spec.loss
        check_readable(self.teacher, self.features.matrix)
        if not isinstance(self.teacher, str):
            self._estimator.check(self.features, training.label, weighted=training.weight is not None)
            lower, upper = (self.features.matrix.get_float_info(field) for field in (loss.label_fields * 2)[:2])
            if training.known[np.flatnonzero(lower != upper)].any() and not is_frozen(self.teacher):
                warn_user(
                    "teacher is an estimator, which learns lower bounds as times: 'boosted' learns from both bounds"
                )
        elif not loss.has_gradient and self.teacher != "boosted":
            raise ValueError(f"teacher must be 'boosted' or an estimator with {loss.objective}, got {self.teacher!r}")
        self.check_crossfit(np.arange(training.n_rows))
        if self.crossfit and loss.probabilities and not self.is_gathered:
            rarest = rarest_class(training.label[self.counting])
            if rarest < self.crossfit:
                warn_user(f"crossfit should be at most {rarest}, the rows of the rarest class, got {self.crossfit}")

    def check_crossfit(self, rows: Array) -> None:
        """Raise unless the labelled ones of these rows, in whole groups, can fill the folds."""
        if self.crossfit == 0 or self.is_gathered:  # the worker that gathers the rows checks their number
            return
        counting = rows[self.counting[rows]]
        groups = None if self.whole_groups is None else self.whole_groups[counting]
        what = "rows" if len(counting) == len(rows) else "labelled rows"
        check_crossfit(2 if self.crossfit is None else self.crossfit, len(counting), groups, what)

    def subset(self, rows: Array) -> Recipe:
        """The same teacher for some of the rows."""
        return dataclasses.replace(
            self,
            training=self.training.replace(guides=()).subset(rows),
            features=self.features.subset(rows),
            own_weight=weights_of_rows(self.features.matrix, rows, self.own_weight),
            groups=None if self.groups is None else self.groups[rows],
            teacher_weight=None if self.teacher_weight is None else self.teacher_weight[rows],
        )

    def fit_in_sample(self) -> Fitted:
        """Return the one member, fitted on all rows with labels, which predicts these as well."""
        fold_of = np.where(self.left_out, LEFT_OUT, 0)
        ((kind, learner),) = self.learners({}).items()
        model = self.fit_rows(kind, learner, np.flatnonzero(self.learnable))
        rows = np.flatnonzero(fold_of == 0)
        predicted = self.predict_rows(model, rows)
        mean = np.zeros((self.training.n_rows, *predicted.shape[1:]), predicted.dtype)
        mean[rows] = predicted
        return self.fitted({kind: (mean, [model], [model])}, fold_of, 0)

    def fitted(
        self, found: Mapping[str, tuple[Array, list[Model], list[Model]]], fold_of: Array, crossfit: int
    ) -> Fitted:
        """Return the members, of which was ``found``: predictions of all rows, models, those that predict others."""
        training, loss = self.training, self.training.spec.loss
        known = training.known & (fold_of != LEFT_OUT)
        label, weight = training.label[known], None if training.weight is None else training.weight[known]
        means, mixture = [mean for mean, _, _ in found.values()], None
        if len(means) > 1:
            mixture = Mixture.fitted(loss, label, weight, [mean[known] for mean in means])
        shares = [1.0] if mixture is None else mixture.weights
        members = [
            Member(kind, models, loss.mean_value(mean[known], label, weight), float(share), predicting)
            for (kind, (mean, models, predicting)), share in zip(found.items(), shares, strict=True)
        ]
        mean = means[0] if mixture is None else mixture.combine(means)
        loss_of_all = loss.mean_value(mean[known], label, weight)
        loss_of_mean = loss.mean_value(mean[known], label, weight, constant=True)
        return Fitted(members, mixture, mean, loss_of_all, loss_of_mean, fold_of, crossfit, self.columns)

    def learned(self, fitted: Fitted) -> LearnedTeacher:
        """Return the trained teacher of fitted members, with its q."""
        training, loss, is_predicted = self.training, self.training.spec.loss, fitted.fold_of != LEFT_OUT
        q = relevances(fitted.mean, training.label, training.known & is_predicted) if loss.by_query else fitted.mean
        (PROBABILITIES if loss.probabilities else NUMBERS).check(q[is_predicted], "the q of the teacher")
        if not is_predicted.all():  # taken as an array, q then asks for weights of 0 in the other rows
            q = np.where(per_label(is_predicted, q), q, np.float32(np.nan))
        own = self.boosted_spec.params if any(member.kind == "boosted" for member in fitted.members) else None
        settings = {"crossfit": fitted.crossfit, "teacher_sees": self.teacher_sees, "teacher_params": own}
        settings = {name: value for name, value in settings.items() if value is not None}
        # A frozen estimator learned from other labels.
        is_own = isinstance(self.teacher, str) or not is_frozen(self.teacher)
        labelled, label = (training.known, training.label) if is_own else (training.labelled, None)
        return LearnedTeacher(fitted, q, settings, labelled, label)

    @property
    def columns(self) -> TrainedColumns:
        """The columns that it learns from."""
        return TrainedColumns(self.features, are_read_by_xgboost=self.teacher in ("boosted", "forest"))

    @property
    def left_out(self) -> Array:
        """Which rows an estimator does not predict: those without values, where its weight is 0."""
        if isinstance(self.teacher, str) or self.teacher_weight is None:
            return np.zeros(self.training.n_rows, bool)
        return self.features.empty_rows & (self.teacher_weight == 0)

    @property
    def is_gathered(self) -> bool:
        """Whether it is fitted in one place; XGBoost trains boosting and forests over all workers."""
        return collective.is_distributed() and self.teacher not in ("boosted", "forest")

    @property
    def _estimator(self) -> Estimator:
        return Estimator(self.teacher, self.training.spec, self.classes)

    def learners(self, threads: Mapping[str, int]) -> dict[str, Learner]:
        """Return the learner of each member, by the name of its kind; ``threads`` are params on top of the user's."""
        if not isinstance(self.teacher, str):
            return {kind_of(self.teacher): self._estimator.fit}
        spec, boosted, is_mixed = self.training.spec, self.boosted_spec, self.teacher == "mixed"
        spec, boosted = spec.with_params(**threads), boosted.with_params(**threads)
        if is_mixed and boosted.params.get("booster") != "gblinear":
            boosted = boosted.with_params(**{"max_bin": MIXED_BINS, **boosted.params})
        learners: dict[str, Learner] = {"boosted": partial(fit_boosted, boosted, self.num_boost_round, self.keywords)}
        if self.teacher == "boosted":
            return learners
        most_trees = _TREES_OF_MIXED if is_mixed else _TREES
        learners |= {"forest": partial(fit_forest, spec, most_trees), "linear": partial(fit_linear, spec)}
        if not is_mixed:
            return {self.teacher: learners[self.teacher]}
        if spec.loss.probabilities:  # where a mixture is as good without a booster
            del learners["boosted"]
        return learners

    @property
    def whole_groups(self) -> Array | None:
        """The groups that stay in one fold: the user's, or queries."""
        return whole_queries(self.training.spec.loss, self.features.matrix, self.groups)

    @property
    def counting(self) -> Array:
        """Which rows have a label and a positive weight: folds share out these."""
        known, weight = self.training.known, self.training.weight
        return known if weight is None else known & (weight > 0)

    @property
    def learnable(self) -> Array:
        """Which rows models are fitted on: those with a label, and for an estimator with values."""
        return self.training.known if isinstance(self.teacher, str) else self.training.known & ~self.features.empty_rows

    def predict_rows(self, model: Any, rows: Array) -> Array:
        """Return the mean of these rows; many are predicted with all threads, also by a model fitted on one."""
        if len(rows) > FEW_ROWS and hasattr(model, "booster"):
            model.booster.set_param({"nthread": threads_of(self.training.spec.params)})
        return model.predict(self._features_of(rows))

    def _features_of(self, rows: Array) -> Features:
        return self.features if len(rows) == self.training.n_rows else self.features.subset(rows)

    def fit_rows(self, kind: str, learner: Learner, rows: Array) -> Model:
        """Return a model of these rows. A matrix that cannot be sliced is used whole, with weight 0 for other rows."""
        training, features, matrix = self.training, self.features, self.features.matrix
        if self.teacher == "mixed" and len(rows) > _MOST_ROWS:
            rows = np.sort(np.random.default_rng(self.seed).choice(rows, _MOST_ROWS, replace=False))
        label, weight, is_whole = training.label, self.own_weight, len(rows) == training.n_rows
        can_weigh = self.crossfit == 0 and training.spec.loss.has_gradient
        if kind != "boosted":
            features, label = self._features_of(rows), label[rows]
            weight = None if training.weight is None else training.weight[rows]
        elif not is_whole and can_weigh and (collective.is_distributed() or not can_be_cut(matrix)):
            chosen = np.zeros(len(label), np.float32)
            chosen[rows] = 1
            label = np.where(per_label(chosen > 0, label), label, np.float32(max(training.spec.loss.range.low, 0)))
            weight = chosen * weight if weight.size else chosen
        elif not is_whole:
            features, label, weight = features.subset(rows), label[rows], weights_of_rows(matrix, rows, weight)
        return learner(features, label, weight)


def kind_of(teacher: Any) -> str:
    """Return the name of its kind; of an estimator that of its class."""
    return teacher if isinstance(teacher, str) else type(teacher).__name__


def check_readable(teacher: Any, *matrices: xgboost.DMatrix) -> None:
    """Raise unless the matrices hold values, which every teacher but a boosted one reads."""
    if teacher != "boosted" and not all(map(can_be_cut, matrices)):
        raise TypeError(
            f"teacher={kind_of(teacher)!r} requires the values of the rows, got a QuantileDMatrix or external memory: "
            "build a DMatrix, or use teacher='boosted'"
        )


def check_teacher_word(teacher: Any) -> None:
    """Raise unless this is the name of a kind of teacher, or an estimator."""
    if isinstance(teacher, type):
        raise TypeError(f"teacher must be an instance, got the class {teacher.__name__}: pass {teacher.__name__}()")
    if isinstance(teacher, str):
        check_choice(teacher, TEACHERS, "teacher")
    elif not is_estimator(teacher):
        raise TypeError(
            f"teacher must be one of {', '.join(map(repr, TEACHERS))} or an estimator with fit and predict, got "
            f"an object of the type {type(teacher).__name__}: pass predictions to pi_xgb.train"
        )

"""Teachers that are trained before the student: boosters, forests, linear models, mixtures of them, estimators."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import xgboost
from xgboost import collective

from .._arrays import Array
from .._progress import progress_bar
from .._rows.supervision import checked_groups, read_labelled, read_teacher_weight, weight_of_known
from .._xgb.matrix import can_be_cut, exclusive, query_of_row, slice_rows, weights_of_rows
from .._xgb.threads import FEW_ROWS, jobs_side_by_side
from .checks import check_dmatrix
from .crossfit import (
    LEFT_OUT,
    DealtFolds,
    Folds,
    check_crossfit,
    check_groups_apart,
    deal_labelled,
    default_crossfit,
    out_of_fold,
    warn_of_rare_classes,
    whole_queries,
)
from .job import Evals
from .learners import DEFAULT_TEACHER
from .learners.boosted import Boosted
from .learners.features import Columns, Features, Learner, Model
from .learners.learned_teacher import LearnedTeacher, Member
from .learners.mixture import Mixture
from .learners.recipe import Recipe, check_teacher_word, chosen_crossfit
from .metric_eval import eval_of_means, mean_loss
from .spec import Spec
from .supervision import Supervision
from .task import Task, per_label
from .teachers import Teacher


class TrainableTeacher(Teacher):
    """A teacher to be trained by :meth:`trained`: its recipe, rows and labels."""

    is_adaptive = False
    folds: DealtFolds | None = None
    """Dealt beforehand by a selection, in the place of those of ``crossfit``."""

    def __init__(
        self,
        recipe: Recipe,
        features: Features,
        label: Array,
        weight: Array,
        *,
        labelled: Array | None = None,
        groups: Array | None = None,
        teacher_weight: Array | None = None,
    ) -> None:
        self._teacher_weight = teacher_weight
        self.recipe, self.features, self._label, self._weight = recipe, features, label, weight
        self._labelled, self._groups = labelled, groups
        self.kind = recipe.kind

    def check(self, n_rows: int) -> None:
        """Raise unless recipe and folds fit the rows."""
        recipe, counting = self.recipe, self._counting
        recipe.check(self.features, self._label, weighted=self._task().weight is not None)
        crossfit = 2 if recipe.crossfit is None else recipe.crossfit
        check_crossfit(crossfit, counting, n_rows, self._whole_groups)
        if recipe.crossfit and recipe.spec.loss.kind == "label":
            warn_of_rare_classes(recipe.crossfit, self._label, counting)

    def check_answers(self, task: Task, weight: Any) -> None:
        """Accept all: q is unknown before the training."""

    @property
    def _whole_groups(self) -> Array | None:
        return whole_queries(self.recipe.spec.loss, self.features.matrix, self._groups)

    def subset(self, rows: Array) -> TrainableTeacher:
        features, weight = self.features.subset(rows), weights_of_rows(self.features.matrix, rows, self._weight)
        per_row = {"labelled": self._labelled, "groups": self._groups, "teacher_weight": self._teacher_weight}
        parts = {name: None if values is None else values[rows] for name, values in per_row.items()}
        part = TrainableTeacher(self.recipe, features, self._label[rows], weight, **parts)
        part.folds = None if self.folds is None else self.folds.subset(rows)
        return part

    def trained(self, progress: bool | None) -> LearnedTeacher:
        """Return the trained teacher, with q out of fold where it is cross-fitted."""
        folds, jobs = self._dealt(), self._jobs
        recipe = self.recipe if jobs == 1 else self.recipe.on_one_thread()
        loss, known = recipe.spec.loss, self._known
        task = self._task()
        label, weight = task.label, None if task.weight is None else task.weight[known]
        learners = recipe.learners()
        if folds.in_sample or len(label) <= FEW_ROWS or collective.is_distributed():
            progress = False
        with progress_bar(len(learners) * len(folds.numbers), "teacher", progress) as step:
            fits: dict[str, Callable[[Array], Model]] = {
                name: partial(self._fit, learner, task, folds, step) for name, learner in learners.items()
            }
            found = out_of_fold(fits, lambda model, rows: model.predict(self._features_of(rows)), folds, jobs)
        mixture = Mixture.fitted(loss, label[known], weight, [mean[known] for mean, _ in found.values()])
        members = [
            Member(name, models, mean_loss(loss, mean[known], label[known], weight), float(share))
            for (name, (mean, models)), share in zip(found.items(), mixture.weights, strict=True)
        ]
        mean = mixture.combine([mean for mean, _ in found.values()])
        teacher = LearnedTeacher(
            loss.teacher_values(mean, label, known),
            members,
            mixture,
            mean_loss(loss, mean[known], label[known], weight),
            Columns(self.features, are_read_by_xgboost=self.kind in ("boosted", "forest")),
        )
        teacher.labelled = self._known if teacher._learned_here else self._labelled
        seen = {} if recipe.teacher_sees is None else {"teacher_sees": recipe.teacher_sees}
        params = {"teacher_params": recipe.boosted_spec.params} if "boosted" in learners else {}
        teacher.settings = {"crossfit": 0 if folds.in_sample else len(folds.numbers), **seen, **params}
        return teacher

    @property
    def _known(self) -> Array:
        return np.ones(len(self._label), bool) if self._labelled is None else self._labelled

    @property
    def _counting(self) -> Array | None:
        """Which rows have a label and a positive weight, None where all have: folds share out these."""
        weight = self._task().weight
        return self._labelled if weight is None or weight.all() else self._known & (weight > 0)

    def _task(self) -> Task:
        query, weight = query_of_row(self.features.matrix), self._weight
        if query is not None and weight.size:
            weight = weight[query]
        return Task.from_arrays(
            self.recipe.spec, self._label, weight, self._labelled, n_rows=len(self._label), name="privileged"
        )

    def _dealt(self) -> Folds:
        """Return the folds. An estimator is fitted on rows with values, and predicts rows of positive weight."""
        recipe, label, n_rows = self.recipe, self._label, len(self._label)
        check_groups_apart(self._groups)  # the user's groups; queries are numbered per worker
        groups, classes, crossfit = self._whole_groups, recipe.spec.loss.probabilities, recipe.crossfit
        counting = self._counting
        if crossfit is None:
            crossfit = default_crossfit(label, counting, groups, classes=classes)
        filled = np.ones(n_rows, bool) if recipe.estimator is None else ~self.features.empty_rows
        fold_of = np.zeros(n_rows, int)
        if self.folds is not None and self.folds.number == crossfit:
            return self.folds.fitted_on(self._known & filled)
        if crossfit:
            fold_of = deal_labelled(label, counting, groups, crossfit, recipe.seed, classes=classes)
        if self._teacher_weight is not None:
            fold_of[~filled & (self._teacher_weight == 0)] = LEFT_OUT
        return Folds(fold_of, self._known & filled, in_sample=not crossfit)

    @property
    def _jobs(self) -> int:
        """How many folds are fitted side by side: few rows, without an estimator or evaluation sets to share."""
        recipe = self.recipe
        if recipe.crossfit == 0 or collective.is_distributed():
            return 1
        shared = recipe.estimator or recipe.keywords.get("evals") or None
        return jobs_side_by_side({**recipe.spec.params, **recipe.boosted_spec.params}, len(self._label), shared)

    def _features_of(self, rows: Array) -> Features:
        return self.features if len(rows) == len(self._label) else self.features.subset(rows)

    def _fit(self, learner: Learner, task: Task, folds: Folds, step: Callable[[], None], rows: Array) -> Model:
        """Return a model of these rows. A matrix that cannot be sliced is used whole, with weight 0 for other rows."""
        matrix, weight, loss = self.features.matrix, self._weight, self.recipe.spec.loss
        features, label = self.features, task.label
        is_part, is_distributed = len(rows) < len(label), collective.is_distributed()
        if not isinstance(learner, Boosted):
            features, label = self._features_of(rows), label[rows]
            weight = None if task.weight is None else task.weight[rows]
        elif is_part and folds.in_sample and loss.has_gradient and (is_distributed or not can_be_cut(matrix)):
            chosen = np.zeros(len(label), np.float32)
            chosen[rows] = 1
            label = np.where(per_label(chosen > 0, label), label, np.float32(loss.stand_in))
            weight = chosen * weight if weight.size else chosen
        elif is_part:
            features, label, weight = features.subset(rows), label[rows], weights_of_rows(matrix, rows, weight)
        model = learner.fit(features, label, weight)
        step()
        return model


def train_teachers(supervision: Supervision, progress: bool | None = False) -> Supervision:
    """Return the supervision with trained teachers; ``progress`` None shows a bar in terminals."""
    pairs = [
        pair._replace(teacher=pair.teacher.trained(progress)) if isinstance(pair.teacher, TrainableTeacher) else pair
        for pair in supervision.teachers
    ]
    return supervision.with_teachers(pairs)


def fit_teacher(
    params: Any,
    dprivileged: xgboost.DMatrix,
    num_boost_round: int = 10,
    *,
    teacher: Any = DEFAULT_TEACHER,
    crossfit: int | None = None,
    seed: int = 0,
    evals: Evals | None = None,
    early_stopping_rounds: int | None = None,
    maximize: bool | None = None,
    labelled: Any = None,
    teacher_weight: Any = None,
    crossfit_groups: Any = None,
    verbose_eval: bool | int | None = False,
) -> LearnedTeacher:
    """Train a teacher of KbPIB on the features of a matrix and let it predict a q for each of its rows.

    :func:`pi_xgb.train` calls it for you. Call it yourself to look at the teacher, to use it for several
    students, or to continue a student later (a teacher trained again would not be the same).

    Parameters
    ----------
    params, num_boost_round : as for ``xgboost.train``
        A teacher must be able to guide the objective.
    dprivileged : xgboost.DMatrix
        The features that the teacher sees, with the labels of the training rows (and weights, if any).
    teacher : {"boosted", "forest", "linear", "mixed"} or estimator, default="boosted"
        The kind of teacher, as for :func:`pi_xgb.train`.
    crossfit : int, default=None
        0: the teacher predicts the rows it was trained on, as in the paper. It then repeats their labels the
        more faithfully the longer it is trained, and a perfect copy of the labels teaches nothing. K of at
        least 2: K teachers are trained, each without one K-th of the rows, and each row's q comes from the teacher that
        did not see it. It costs K trainings. None is 0 for a boosted teacher and for a frozen estimator, else up to 5.
    seed : int, default=0
        Shuffles the folds. Rows are dealt to folds by label, so that every fold has its share of each class.
    evals : list of (DMatrix, str), default=None
    early_stopping_rounds : int, default=None
    maximize : bool, default=None
        Early stopping of a boosted teacher, as for ``xgboost.train``; q is that of the best round.
    labelled : array-like of bool, default=None
        One truth value per row, False where the label is not known: the teacher learns from the others, and predicts
        all. With ``crossfit`` the q of a row without a label is the mean of what the K models predict.
    teacher_weight : array-like of float, default=None
        One number of at least 0 per row: the weight of this teacher there, relative to ``kl_weight``. By default 1, and
        0 for rows that have no privileged value at all.
    crossfit_groups : array-like, default=None
        One value per row; rows of the same value, such as the visits of one patient, stay in one fold of ``crossfit``.
        Otherwise the teachers see other visits of the patient that they predict, and q repeats the labels.
    verbose_eval : bool or int, default=False
        As for ``xgboost.train``: prints the metrics of ``evals`` every so many rounds, fold by fold, and at the end the
        metrics of q on the labelled rows, out of fold or on its training rows. With many rows it shows progress.

    Returns
    -------
    LearnedTeacher
        Pass it as ``teacher=`` or to :class:`KLObjective`.

    Examples
    --------
    >>> import pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> params = {"objective": "binary:logistic", "max_depth": 3}
    >>> teacher = pi_xgb.fit_teacher(params, xgb.DMatrix(data.z, data.y), 20, crossfit=5)
    >>> student = pi_xgb.train(params, xgb.DMatrix(data.x, data.y), 20, teacher=teacher, kl_weight=2.0)
    >>> student.num_features() == data.x.shape[1]
    True
    """
    evals = list(evals or ())
    check_teacher_word(teacher)
    if teacher != "boosted" and (evals or early_stopping_rounds):
        raise ValueError(f"evals and early_stopping_rounds require teacher='boosted', got {teacher!r}: leave them out")
    with exclusive(dprivileged, *(matrix for matrix, _ in evals)):
        spec = Spec.read(params)
        check_dmatrix(dprivileged, "privileged", spec.loss)
        n_rows = dprivileged.num_row()
        known, per_row = read_labelled(labelled, n_rows), read_teacher_weight(teacher_weight, n_rows)
        task = Task.from_matrix(spec, dprivileged, known, name="privileged")
        task.check_labelled_rows()
        if teacher_weight is None:
            per_row = weight_of_known(dprivileged)
        crossfit = chosen_crossfit(crossfit, teacher, sees_student=False)
        if crossfit_groups is not None and crossfit == 0:
            raise ValueError("crossfit_groups require crossfit of at least 2, got crossfit=0: pass crossfit as well")
        keywords = {
            "evals": evals,
            "early_stopping_rounds": early_stopping_rounds,
            "maximize": maximize,
            "verbose_eval": verbose_eval,
        }
        recipe = Recipe(
            teacher=teacher,
            spec=spec,
            boosted_spec=spec,
            num_boost_round=num_boost_round,
            crossfit=crossfit,
            seed=seed,
            keywords=keywords,
        )
        trainable = TrainableTeacher(
            recipe,
            Features(dprivileged),
            task.label,
            dprivileged.get_weight(),
            labelled=known,
            groups=checked_groups(crossfit_groups, n_rows, "crossfit_groups"),
            teacher_weight=per_row,
        )
        trainable.check(n_rows)
        learned = trainable.trained(None if verbose_eval else False)
        learned.teacher_weight = per_row
        if verbose_eval and not (spec.loss.by_query or spec.loss.label_fields != ("label",)):
            _print_score(learned, spec, dprivileged, known)
        return learned


def _print_score(teacher: LearnedTeacher, spec: Spec, matrix: xgboost.DMatrix, labelled: Array | None) -> None:
    """Print the metrics of q on the labelled rows."""
    if labelled is not None:
        matrix = slice_rows(matrix, np.flatnonzero(labelled))
    q = teacher.values if labelled is None else teacher.values[labelled]
    scores = eval_of_means(q, matrix, spec.params, spec.loss).partition("\t")[2]
    n_models = len(teacher.members[0].models)
    rows = f", out of {n_models} folds" if n_models > 1 else ", its training rows" * teacher._learned_here
    collective.communicator_print(f"teacher: {scores} on {matrix.num_row()} labelled rows{rows}\n")

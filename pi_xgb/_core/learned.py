"""The learned teacher of KbPIB: a booster on the privileged features, in-sample or cross-fitted."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from typing import Any

import numpy as np
import xgboost
from xgboost import collective

from .._arrays import Array
from .._rows.checks import check_whole
from .._rows.supervision import checked_groups, read_labelled, read_teacher_weight, weight_of_known
from .._xgb.booster import rounds_in_use
from .._xgb.collective import on_any_worker
from .._xgb.matrix import can_be_cut, exclusive, slice_rows
from .checks import check_dmatrix
from .crossfit import Folds, check_crossfit, check_groups_apart, deal_labelled, whole_queries
from .distillation import DistillationLoss
from .loss import NUMBERS, PROBABILITIES
from .metric_eval import eval_of_means
from .native import Evals
from .objective import DistillationObjective
from .repetition import NAMES, mean_loss, warn_of_repetition
from .spec import Spec
from .task import Task
from .teachers import FixedTeacher, Teacher


class LearnedTeacher(FixedTeacher):
    """What :func:`fit_teacher` returns: the q of every training row and the boosters that said so.

    Attributes
    ----------
    values
        q, one per training row.
    boosters
        The teacher's boosters: one, or one per fold when cross-fitted.
    loss
        The mean loss of q on the labelled rows: of rows that its booster has not seen where it is cross-fitted, else of
        those that it was trained on, which says nothing of what it knows. NaN where the objective's own metric says
        little by itself.

    Examples
    --------
    >>> import pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> teacher = pi_xgb.fit_teacher({"objective": "binary:logistic"}, xgb.DMatrix(data.z, data.y), crossfit=5)
    >>> teacher.values.shape, len(teacher.boosters)
    ((300,), 5)
    """

    loss = float("nan")
    _told = "loss"

    def __init__(self, q: Array, boosters: list[xgboost.Booster], *, probabilities: bool) -> None:
        super().__init__(q, PROBABILITIES if probabilities else NUMBERS)
        self.boosters = boosters

    @classmethod
    def of(
        cls, spec: Spec, mean: Array, boosters: list[xgboost.Booster], label: Array, known: Array, weight: Array
    ) -> LearnedTeacher:
        """Of what its models predict, with the loss of that on the labels that are known."""
        loss = spec.loss
        teacher = cls(loss.said(mean, label, known), boosters, probabilities=loss.probabilities)
        if loss.default_metric in NAMES:
            task = Task.of(spec, label, weight, known, n_rows=len(label), name="privileged")
            counts = None if task.weight is None else task.weight[known]
            teacher.loss, teacher._told = mean_loss(loss, mean[known], label[known], counts), NAMES[loss.default_metric]
        return teacher

    def __repr__(self) -> str:
        where = "out of fold" if len(self.boosters) > 1 else "on its own training rows"
        told = "" if np.isnan(self.loss) else f", {self._told} {self.loss:.4f} {where}"
        return f"<LearnedTeacher: {len(self.boosters)} booster(s){told}>"

    @property
    def booster(self) -> xgboost.Booster:
        """The teacher's booster, where there is one (``crossfit=0``)."""
        if len(self.boosters) != 1:
            raise ValueError(f"a cross-fitted teacher has {len(self.boosters)} boosters: see .boosters")
        return self.boosters[0]

    def subset(self, rows: Array) -> Teacher:
        raise ValueError(
            "this teacher learned from the labels of all rows, so the held-out rows of a fold would leak into "
            "it: give cv the matrix of privileged features (privileged=), and each fold trains its own teacher"
        )


def fit_teacher(
    params: Any,
    dprivileged: xgboost.DMatrix,
    num_boost_round: int = 10,
    *,
    crossfit: int = 0,
    seed: int = 0,
    evals: Evals | None = None,
    early_stopping_rounds: int | None = None,
    maximize: bool | None = None,
    labelled: Any = None,
    teacher_weight: Any = None,
    crossfit_groups: Any = None,
    verbose_eval: bool | int | None = False,
) -> LearnedTeacher:
    """Train the teacher of KbPIB on privileged features and let it say a q for each of its training rows.

    :func:`pi_xgb.train` calls it for you. Call it yourself to look at the teacher, to use it for several
    students, or to continue a student later (a teacher trained again would not be the same).

    Parameters
    ----------
    params, num_boost_round
        As for ``xgboost.train``. The objective must be one that a teacher can guide.
    dprivileged
        The privileged features of the training rows, with their labels (and weights, if any).
    crossfit
        0: the teacher says q for the rows it was trained on, as in the paper. It then repeats their labels the
        more faithfully the longer it is trained, and a perfect copy of the labels teaches nothing. K of at
        least 2: K teachers are trained, each without one K-th of the rows, and each row's q comes from the one
        that did not see it. It costs K trainings, and is the honest choice on small data.
    seed
        Shuffles the folds. Rows are dealt to folds by label, so that every fold has its share of each class.
    evals, early_stopping_rounds, maximize
        Early stopping of the teacher, as for ``xgboost.train``; q is that of the best round.
    labelled
        One truth value per row, False where the label is not known: the teacher learns from the others, and says q for
        all. With ``crossfit`` the q of a row without a label is the mean of what the K teachers say.
    teacher_weight
        One number of at least 0 per row: what this teacher counts there, relative to ``kl_weight``. By default 1, and 0
        for rows that have no privileged value at all.
    crossfit_groups
        One value per row; rows of the same value, visits of one patient, stay in one fold of ``crossfit``. Without it
        the teachers know other visits of the patient whom they judge, and q repeats the labels.

    verbose_eval
        As for ``xgboost.train``: prints the metrics of ``evals`` every so many rounds, of each fold one after the
        other, and at the end what q scores on the labelled rows: out of fold, or on those that it learned from.

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
    with exclusive(dprivileged, *(matrix for matrix, _ in evals)):
        spec = Spec.read(params)
        check_dmatrix(dprivileged, "privileged", spec.loss)
        n_rows = dprivileged.num_row()
        known, per_row = read_labelled(labelled, n_rows), read_teacher_weight(teacher_weight, n_rows)
        Task.of_matrix(spec, dprivileged, known, name="privileged").check_labelled_rows()
        if teacher_weight is None:
            per_row = weight_of_known(dprivileged)
        if crossfit_groups is not None and not crossfit:
            raise ValueError(
                "crossfit_groups say which rows stay together in the folds of crossfit: pass crossfit as well"
            )
        teacher = learn(
            spec,
            dprivileged,
            num_boost_round,
            weight=dprivileged.get_weight(),
            crossfit=crossfit,
            labelled=known,
            groups=checked_groups(crossfit_groups, n_rows, "crossfit_groups"),
            seed=seed,
            evals=evals,
            early_stopping_rounds=early_stopping_rounds,
            maximize=maximize,
            verbose_eval=verbose_eval,
        )
        if not crossfit and known is None:
            warn_of_repetition(spec, dprivileged, dprivileged.get_weight(), teacher.values, num_boost_round)
        teacher.teacher_weight = per_row
        if verbose_eval and not (spec.loss.by_query or spec.loss.label_fields != ("label",)):
            _tell(teacher, spec, dprivileged, known, crossfit)
        return teacher


def _tell(teacher: LearnedTeacher, spec: Spec, matrix: xgboost.DMatrix, labelled: Array | None, crossfit: int) -> None:
    """Print what q scores on the labelled rows."""
    if labelled is not None:
        matrix = slice_rows(matrix, np.flatnonzero(labelled))
    q = teacher.values if labelled is None else teacher.values[labelled]
    told = eval_of_means(q, matrix, spec.params, spec.loss).partition("\t")[2]
    rows = f"out of {crossfit} folds" if crossfit else "which it learned from"
    collective.communicator_print(f"teacher: {told} on {matrix.num_row()} labelled rows, {rows}\n")


def check_teacher_rounds(num_boost_round: int) -> None:
    """A teacher of no rounds knows only the average."""
    check_whole("num_boost_round", num_boost_round)
    if num_boost_round < 1:
        raise ValueError(
            f"the teacher would end with {num_boost_round} rounds and say the same for every row: give "
            "num_boost_round of at least 1, or train without a teacher"
        )


def learn(
    spec: Spec,
    dprivileged: xgboost.DMatrix,
    num_boost_round: int,
    *,
    weight: Array,
    crossfit: int,
    labelled: Array | None = None,
    groups: Array | None = None,
    folds: Folds | None = None,
    seed: int = 0,
    evals: Evals | None = None,
    early_stopping_rounds: int | None = None,
    maximize: bool | None = None,
    verbose_eval: bool | int | None = False,
) -> LearnedTeacher:
    """:func:`fit_teacher` on params that were read, with the weights that count for these rows.

    ``folds`` were dealt beforehand and take the place of those that ``crossfit`` would deal.
    """
    check_teacher_rounds(num_boost_round)
    stopping = {
        "evals": list(evals or ()),
        "early_stopping_rounds": early_stopping_rounds,
        "maximize": maximize,
        "verbose_eval": verbose_eval,
    }
    learner = _Learner(spec, dprivileged, weight, labelled, num_boost_round, stopping)
    n_rows, label = dprivileged.num_row(), spec.loss.label_of(dprivileged, "privileged")
    check_groups_apart(groups)  # those of the user; queries are numbered on each worker anew
    groups = whole_queries(spec.loss, dprivileged, groups)
    check_crossfit(crossfit, labelled, n_rows, groups)
    known = np.ones(n_rows, bool) if labelled is None else labelled
    if not crossfit:
        booster = learner.fit(None)
        return LearnedTeacher.of(spec, learner.mean(booster, None), [booster], label, known, weight)
    if folds is None:
        fold_of = deal_labelled(label, labelled, groups, crossfit, seed, classes=spec.loss.probabilities)
    else:
        fold_of = folds.fold_of
    of_no_fold = np.flatnonzero(fold_of < 0)
    numbers = np.unique(fold_of[fold_of >= 0])
    boosters, q = [], np.zeros(label.shape if label.ndim == 2 else spec.shape(n_rows), np.float32)
    for fold in numbers.tolist():
        fit = functools.partial(learner.fit, np.flatnonzero(known & (fold_of != fold)))
        held_out = np.flatnonzero(fold_of == fold)
        with contextlib.nullcontext(fit()) if folds is None else folds.booster_without(fold, fit) as booster:
            boosters.append(booster)
            q[held_out] = learner.mean(booster, held_out)
            if of_no_fold.size:
                q[of_no_fold] += learner.mean(booster, of_no_fold) / np.float32(len(numbers))
    return LearnedTeacher.of(spec, q, boosters, label, known, weight)


@dataclasses.dataclass(frozen=True)
class _Learner:
    """Trains teachers on labelled rows of one matrix, and asks them about any."""

    spec: Spec
    matrix: xgboost.DMatrix
    weight: Array
    labelled: Array | None
    num_boost_round: int
    stopping: dict[str, Any]

    def fit(self, rows: Array | None) -> xgboost.Booster:
        """Train on these rows; None: on all labelled ones."""
        if "callback" not in self.spec.loss.engines:
            return self._fit_plain(rows)
        labelled = self.labelled if rows is None else None
        if labelled is not None and can_be_cut(self.matrix) and not collective.is_distributed():
            rows, labelled = np.flatnonzero(labelled), None
        matrix = self.matrix if rows is None else slice_rows(self.matrix, rows)
        weight = self.weight if rows is None or not self.weight.size else self.weight[rows]
        label = self.spec.loss.label_of(matrix, "privileged")
        task = Task.of(self.spec, label, weight, labelled, n_rows=matrix.num_row(), name="privileged")
        params, objective = dict(self.spec.params), None
        if on_any_worker(task.labelled is not None or not np.array_equal(matrix.get_weight(), weight)):
            # The matrix stays as it is, so weights that it does not carry come with an objective.
            distillation = DistillationLoss(task, [])
            params.setdefault("base_score", distillation.base_score())
            objective = DistillationObjective(distillation)
        return xgboost.train(params, matrix, self.num_boost_round, obj=objective, **self.stopping)

    def _fit_plain(self, rows: Array | None) -> xgboost.Booster:
        """The same without an objective of ours: weights that the matrix does not carry come with a copy of it."""
        matrix = self.matrix
        if rows is None and on_any_worker(self.labelled is not None):
            rows = np.arange(matrix.num_row()) if self.labelled is None else np.flatnonzero(self.labelled)
        if rows is not None or not np.array_equal(matrix.get_weight(), self.weight):
            matrix = slice_rows(matrix, np.arange(matrix.num_row()) if rows is None else rows, self.weight)
        return xgboost.train(self.spec.params, matrix, self.num_boost_round, **self.stopping)

    def mean(self, booster: xgboost.Booster, rows: Array | None) -> Array:
        """What a teacher says of these rows; None: of all."""
        matrix = self.matrix if rows is None else slice_rows(self.matrix, rows)
        return self.spec.loss.mean(booster.predict(matrix, output_margin=True, iteration_range=rounds_in_use(booster)))

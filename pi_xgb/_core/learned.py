"""The learned teacher of KbPIB: a booster on the privileged features, in-sample or cross-fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xgboost

from .._arrays import Array
from .._stats.folds import deal_folds
from .._xgb.booster import rounds_in_use
from .._xgb.matrix import exclusive, slice_rows
from .._xgb.params import number_of_classes, scale_pos_weight, user_params
from .checks import check_dmatrix, check_labels
from .losses import Loss
from .task import intercept, loss_of, positive_weight
from .teachers import FixedTeacher

Evals = Sequence[tuple[xgboost.DMatrix, str]]


class LearnedTeacher(FixedTeacher):
    """What :func:`fit_teacher` returns: the q of every training row and the boosters that said so.

    Attributes
    ----------
    values
        q, one per training row.
    boosters
        The teacher's boosters: one, or one per fold when cross-fitted.

    Examples
    --------
    >>> import pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> teacher = pi_xgb.fit_teacher({"objective": "binary:logistic"}, xgb.DMatrix(data.z, data.y), crossfit=5)
    >>> teacher.values.shape, len(teacher.boosters)
    ((300,), 5)
    """

    def __init__(self, q: Array, boosters: list[xgboost.Booster], *, probabilities: bool) -> None:
        super().__init__(q, probabilities=probabilities)
        self.boosters = boosters

    @property
    def booster(self) -> xgboost.Booster:
        """The teacher's booster, where there is one (``crossfit=0``)."""
        if len(self.boosters) != 1:
            raise ValueError(f"a cross-fitted teacher has {len(self.boosters)} boosters: see .boosters")
        return self.boosters[0]

    def take(self, rows: Array) -> FixedTeacher:
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
        check_dmatrix(dprivileged, "privileged")
        return learn(
            user_params(params),
            dprivileged,
            num_boost_round,
            weight=dprivileged.get_weight(),
            crossfit=crossfit,
            seed=seed,
            evals=evals,
            early_stopping_rounds=early_stopping_rounds,
            maximize=maximize,
        )


def check_crossfit(crossfit: Any, n_rows: int) -> None:
    """0, or a number of folds that the rows can fill."""
    if isinstance(crossfit, bool) or not isinstance(crossfit, (int, np.integer)):
        raise TypeError(f"crossfit must be a whole number of folds, got {crossfit!r}")
    if crossfit < 0 or crossfit == 1 or crossfit > n_rows:
        raise ValueError(
            f"crossfit must be 0 (the teacher sees every row) or between 2 and the {n_rows} rows, got {crossfit}"
        )


def check_teacher_rounds(num_boost_round: int) -> None:
    """A teacher of no rounds knows only the average."""
    if num_boost_round < 1:
        raise ValueError(
            f"the teacher would end with {num_boost_round} rounds and say the same for every row: give "
            "num_boost_round of at least 1, or train without a teacher"
        )


def learn(
    params: dict[str, Any],
    dprivileged: xgboost.DMatrix,
    num_boost_round: int,
    *,
    weight: Array,
    crossfit: int,
    seed: int = 0,
    evals: Evals | None = None,
    early_stopping_rounds: int | None = None,
    maximize: bool | None = None,
) -> LearnedTeacher:
    """:func:`fit_teacher` on params that are ours to keep, with the weights that count for these rows."""
    loss = loss_of(params)
    label = dprivileged.get_label()
    check_labels(label, loss, number_of_classes(params), "privileged")
    check_crossfit(crossfit, len(label))
    check_teacher_rounds(num_boost_round)

    def fit(rows: Array | None) -> xgboost.Booster:
        matrix = dprivileged if rows is None else slice_rows(dprivileged, rows)
        row_weight = weight if rows is None or not weight.size else weight[rows]
        fold_params, objective = dict(params), None
        if not np.array_equal(matrix.get_weight(), row_weight):
            objective = _Weighted(loss, row_weight, scale_pos_weight(params))
            fold_params.setdefault(
                "base_score",
                intercept(params, loss, matrix.get_label(), objective.weight(matrix), []),
            )
        return xgboost.train(
            fold_params,
            matrix,
            num_boost_round,
            obj=objective,
            evals=list(evals or ()),
            early_stopping_rounds=early_stopping_rounds,
            maximize=maximize,
            verbose_eval=False,
        )

    if crossfit == 0:
        boosters = [fit(None)]
        q = _best_mean(loss, boosters[0], dprivileged)
    else:
        boosters = []
        q = np.empty((len(label), number_of_classes(params)) if loss.multiclass else len(label), np.float32)
        for rest, held_out in deal_folds(label, crossfit, seed):
            boosters.append(fit(rest))
            q[held_out] = _best_mean(loss, boosters[-1], slice_rows(dprivileged, held_out))
    return LearnedTeacher(q, boosters, probabilities=loss.probabilities)


class _Weighted:
    """XGBoost's own gradient with row weights that the matrix does not carry, so that the matrix can stay as is."""

    def __init__(self, loss: Loss, row_weight: Array, scale: float) -> None:
        self._loss, self._row_weight, self._scale = loss, row_weight, scale

    def weight(self, matrix: xgboost.DMatrix) -> Array:
        return positive_weight(self._loss, matrix.get_label(), self._row_weight, self._scale)

    def __call__(self, margin: Array, matrix: xgboost.DMatrix) -> tuple[Array, Array]:
        mean = self._loss.mean(margin)
        target = self._loss.one_hot(matrix.get_label(), mean)
        return self._loss.gradient(mean, target, self.weight(matrix))


def _best_mean(loss: Loss, booster: xgboost.Booster, matrix: xgboost.DMatrix) -> Array:
    return loss.mean(booster.predict(matrix, output_margin=True, iteration_range=rounds_in_use(booster)))

"""``fit_teacher``: a teacher of KbPIB by itself."""

from __future__ import annotations

import dataclasses
from typing import Any

import xgboost
from xgboost import collective

from .._rows.checks import check_whole
from .._rows.matrix_checks import Evals, check_is_dmatrix
from .._xgb.matrix import exclusive
from .keywords import Keywords, trained
from .learners.learned_teacher import LearnedTeacher
from .learners.recipe import check_teacher_word
from .training import Boosting, Spec


def fit_teacher(
    params: Any,
    dprivileged: xgboost.DMatrix,
    num_boost_round: int = 10,
    *,
    teacher: Any = None,
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
    teacher : {"boosted", "forest", "linear", "mixed"} or estimator, default=None
        The kind of teacher, as for :func:`pi_xgb.train`. None is ``"mixed"``, or ``"boosted"`` with ``evals``,
        ``early_stopping_rounds`` or ``crossfit=0`` and where the rows or the objective allow no other.
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
        all. With ``crossfit`` the q of a row without a label is the mean of what the K boosters predict; a teacher
        of another kind is then fitted once more, on all labelled rows, for these rows.
    teacher_weight : array-like of float, default=None
        One number of at least 0 per row: the weight of this teacher there, relative to ``kl_weight``. By default 1, and
        0 for rows that have no privileged value at all.
    crossfit_groups : array-like, default=None
        One value per row; rows of the same value, such as the visits of one patient, stay in one fold of ``crossfit``.
        Otherwise the teachers see other visits of the patient that they predict, and q repeats the labels.
    verbose_eval : bool or int, default=False
        As for ``xgboost.train``: prints the metrics of ``evals`` every so many rounds, fold by fold, and at the end the
        teacher with its loss on the labelled rows. With many rows it shows progress.

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
    check_whole("seed", seed, 0)
    evals = list(evals or ())
    if teacher is None and (evals or early_stopping_rounds or crossfit == 0):
        teacher = "boosted"
    if teacher is not None:
        check_teacher_word(teacher)
    if teacher != "boosted" and (evals or early_stopping_rounds):
        raise ValueError(f"evals and early_stopping_rounds require teacher='boosted', got {teacher!r}: leave them out")
    check_is_dmatrix(dprivileged, "privileged")
    with exclusive(dprivileged, *(matrix for matrix, _ in evals)):
        keywords = Keywords(
            dprivileged,
            teacher=teacher,
            crossfit=crossfit,
            allow_overlap=True,  # with the student's matrix, which is the same here
            labelled=labelled,
            teacher_weight=teacher_weight,
            crossfit_groups=crossfit_groups,
        )
        keywords.check()
        training = keywords.read(Spec.read(params), Boosting(dprivileged, num_boost_round), "privileged")
        training.check_labelled_rows()
        (guide,) = training.guides
        stopping = {"early_stopping_rounds": early_stopping_rounds, "maximize": maximize}
        recipe = dataclasses.replace(
            guide.teacher,
            teacher_sees=None,
            seed=seed,
            keywords={"evals": evals, **stopping, "verbose_eval": verbose_eval},
        )
        learned = trained(recipe, None if verbose_eval else False)
        learned.about = dataclasses.replace(learned.about, weight=guide.per_row)
        if verbose_eval:
            collective.communicator_print(f"{learned}\n")
        return learned

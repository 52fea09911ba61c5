"""``train``: XGBoost's training function with a teacher."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import xgboost
from xgboost import collective
from xgboost.callback import TrainingCallback

from .._privacy_record import record_privacy
from .._rows.matrix_checks import check_evals
from .._rows.supervision import warn_of_idle_rows
from .._version import __version__
from .._xgb.categories import warn_of_pieces
from .._xgb.collective import all_or_none, global_max, global_sum, on_any_worker
from .._xgb.matrix import can_be_cut, exclusive, slice_rows
from .._xgb.params import user_params
from .._xgb.signature import called_like, keyword_names
from .blend import total_weight
from .engines import MODULES, Engine, choose
from .joint import JointTeacher
from .keywords import DEFAULT_METHOD, Keywords, MethodName, with_fitted_teachers
from .learners.learned_teacher import LearnedTeacher
from .training import ABOUT_COLUMNS, Boosting, Guide, Spec, Training

_KEYWORDS = keyword_names(xgboost.train)


@called_like(xgboost.train)
def train(
    params: Any,
    dtrain: xgboost.DMatrix,
    num_boost_round: int = 10,
    *,
    privileged: xgboost.DMatrix | None = None,
    method: MethodName = DEFAULT_METHOD,
    teacher: Any = None,
    teacher_sees: Literal["privileged", "all"] | None = None,
    crossfit: int | None = None,
    kl_weight: float | None = None,
    teacher_params: Any = None,
    privileged_evals: Sequence[tuple[xgboost.DMatrix, str]] | None = None,
    allow_overlap: bool = False,
    labelled: Any = None,
    teacher_weight: Any = None,
    crossfit_groups: Any = None,
    engine: Engine = "auto",
    evals: Sequence[tuple[xgboost.DMatrix, str]] | None = None,
    obj: Any = None,
    maximize: bool | None = None,
    early_stopping_rounds: int | None = None,
    evals_result: Any = None,
    verbose_eval: bool | int | None = True,
    xgb_model: str | os.PathLike[str] | xgboost.Booster | bytearray | None = None,
    callbacks: Sequence[TrainingCallback] | None = None,
    custom_metric: Any = None,
) -> xgboost.Booster:
    """Train a booster on the classifier features, guided by a teacher.

    It is ``xgboost.train`` with a teacher: all keywords of XGBoost keep their meaning, and without
    ``privileged`` and ``teacher``, or with ``kl_weight=0``, the model is XGBoost's to the bit. The result is a plain
    ``xgboost.Booster`` on the features of ``dtrain``, without names or values of the privileged ones.

    Parameters
    ----------
    params, dtrain, num_boost_round : as for ``xgboost.train``
        A teacher can guide objectives of classes, numbers, counts, costs, times or rankings (the error for any other
        lists them). Labels of numbers, counts, costs and binary classes may have several columns.
    privileged : xgboost.DMatrix, default=None
        A DMatrix of the features that exist at training time only: the rows of ``dtrain``, in the same order,
        with the same labels. The weights of ``dtrain`` count for it too. For counts and costs, where a base_margin is
        the logarithm of an exposure, it needs the one of ``dtrain``.
    method : {"kbpib", "jpib"}, default="kbpib"
        ``"kbpib"``: a teacher is trained on ``privileged`` first, then it guides the student. ``"jpib"``:
        teacher and student grow a tree each in turn and learn from each other.
    teacher : {"boosted", "forest", "linear", "mixed"}, estimator, array-like, Teacher or list, default=None
        The teacher. A kind or an estimator with scikit-learn's interface is trained first: boosting, XGBoost's random
        forest, a ridge model, or ``"mixed"``, a combination of these weighted by out-of-fold loss, the best choice
        where labels are few. With ``privileged`` it learns from those features; without, from the columns of
        ``dtrain``. None with ``privileged`` is ``"mixed"``, or ``"boosted"`` with ``method="jpib"``,
        ``privileged_evals`` or ``crossfit=0`` and where rows or objective allow no other; None without is plain
        XGBoost. Instead of a kind: an array with one q per row (one column per class), any :class:`Teacher`, or a list
        of (one of these, weight), whose weights, one number or one per row, then take the place of ``kl_weight``.
    teacher_sees : {"privileged", "all"}, default=None
        What a trained teacher sees: the privileged features, or those of ``dtrain`` as well. By default
        ``"privileged"`` for a boosted teacher (the paper) and ``"all"`` for every other.
    crossfit : int, default=None
        With ``method="kbpib"``: 0 lets the teacher predict the rows it was trained on, as in the paper; K of at
        least 2 gives every row the prediction of a teacher that did not see it, at the cost of K trainings. None is 0
        for a boosted teacher that sees the privileged features alone and for a frozen estimator, else up to 5.
    kl_weight : float, default=None
        How much the teacher counts, against 1 for the labels; the paper's alpha. 0 is plain XGBoost. None is 2.0 for
        teachers trained here that are not boosted, and 0.5 for everything else. Choose it by cross-validation
        (:func:`pi_xgb.cv`), or take 1 to 10 where labels are few.
    teacher_params : dict, default=None
        The params of a boosted teacher, also as a member of ``"mixed"`` for numbers and counts. By default the
        student's, without monotone and interaction constraints, which are about the student's columns.
    privileged_evals : list of (DMatrix, str), default=None
        Validation rows of privileged features for a boosted teacher. With them ``early_stopping_rounds`` stops the
        teacher too; without them it is trained for ``num_boost_round`` rounds, and the longer it trains the more its q
        repeats the labels, which teaches nothing: give them, or ``crossfit``.
    allow_overlap : bool, default=False
        Whether ``privileged`` may have columns of ``dtrain``. If it has all of them, a teacher reads it alone.
    labelled : array-like of bool, default=None
        One truth value per row of ``dtrain``: False where the label is not known (yet). The label that such a row has
        in the matrices, any allowed value, is never read. The teacher learns from the labelled rows and teaches
        all of them. Privileged features help most there: few labels, and many rows whose privileged values are
        known. The assumption: which labels are missing depends on the features alone, not on the outcome itself.
    teacher_weight : array-like of float, default=None
        One number of at least 0 per row: how much the teacher counts there, relative to ``kl_weight``. By default 1,
        and 0 for rows of ``privileged`` without any value. A row with neither label nor teacher has no weight, but its
        features still place splits: leave it out.
    crossfit_groups : array-like, default=None
        One value per row; with ``crossfit`` rows of the same value, such as the visits of one patient, stay in one
        fold: otherwise the teacher would recognise the patient.
    engine : {"auto", "callback", "native", "copies"}, default="auto"
        ``"callback"``: the gradient is computed in Python. ``"native"``: the same model, to rounding, through
        XGBoost's own objective on blended labels; an error where it is not exact (multi-class, ``dtrain``
        among the evals, heavy teachers). It scales params: a callback of yours must not set them between rounds. Where
        two splits are equally good, or ``approx`` draws its cuts, rounding may choose differently. ``"copies"``: the
        teacher's predictions become further rows of weight ``kl_weight``, at about twice the time and memory; it is the
        only engine for objectives whose gradient is not linear in the label. ``"auto"`` is ``"copies"`` there,
        ``"native"`` on CUDA where it is exact, else ``"callback"``.
    evals, maximize, early_stopping_rounds, evals_result, verbose_eval, xgb_model, callbacks : as for ``xgboost.train``
    custom_metric : as for ``xgboost.train``
        They belong to the student. A ``custom_metric`` sees what it sees there (probabilities, or class numbers for
        multi:softmax).
    obj : callable, default=None
        Only without a teacher, as for ``xgboost.train``.

    Returns
    -------
    xgboost.Booster
        With attributes ``pi_xgb_method``, ``pi_xgb_teacher``, ``pi_xgb_teacher_settings`` (``crossfit``,
        ``teacher_sees``, and ``teacher_params`` other than the student's), ``pi_xgb_kl_weight``, ``pi_xgb_rows``,
        ``pi_xgb_labelled`` (the number of rows with a label), ``pi_xgb_engine`` and ``pi_xgb_version`` if a teacher
        took part, and if all were private (:class:`pi_xgb.privacy.PrivateTeacher`) ``pi_xgb_epsilon``,
        ``pi_xgb_delta``, ``pi_xgb_epsilon_source`` and ``pi_xgb_epsilon_scope``.

    Notes
    -----
    Whether privileged features help depends on the data: with many labelled rows they mostly do not. Compare with
    ``kl_weight=0`` on held-out rows.

    Trainings that share a matrix wait for each other when started from several threads; their models are those
    of trainings one after the other.

    Examples
    --------
    >>> import numpy as np, pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> dtrain = xgb.DMatrix(data.x, data.y)
    >>> privileged = xgb.DMatrix(data.z, data.y)
    >>> params = {"objective": "binary:logistic", "max_depth": 3}
    >>> booster = pi_xgb.train(params, dtrain, 20, privileged=privileged, kl_weight=1.0)
    >>> booster.predict(xgb.DMatrix(data.x)).shape
    (300,)

    Labels are known for the first hundred rows only:

    >>> labelled = np.arange(300) < 100
    >>> booster = pi_xgb.train(params, dtrain, 20, privileged=privileged, teacher="mixed", labelled=labelled)
    """
    if privileged_evals is not None:
        privileged_evals = check_evals(privileged_evals, "privileged_evals")
    given = locals()
    own = {name: given[name] for name in _KEYWORDS if name in given}
    boosting = Boosting(dtrain, num_boost_round, check_evals(evals or (), "evals"), own, xgb_model)
    return train_by(Keywords.of(given), params, boosting, engine)[0]


def train_by(
    keywords: Keywords, params: Any, boosting: Boosting, engine: str
) -> tuple[xgboost.Booster, Sequence[Guide]]:
    """:func:`train`, which also returns the teachers."""
    obj = boosting.keywords.get("obj")
    keywords.check(boosting.keywords.get("early_stopping_rounds"), obj, boosting.xgb_model)
    with exclusive(boosting.dtrain, *(matrix for matrix, _ in boosting.evals), *keywords.matrices):
        own, guides = user_params(params), tuple[Guide, ...]()
        if keywords.leaves_to_xgboost(own, obj):
            booster = boosting.run(params)
        else:
            training = keywords.read(Spec.read(own, boosting.xgb_model), boosting).counting()
            training.check_labelled_rows()
            training.warn_of_other_meanings(kl_weight_given=keywords.weight_is_given)
            if boosting.keywords.get("early_stopping_rounds") and not boosting.evals:
                raise ValueError("early_stopping_rounds require evals, whose rows stop the training: pass evals")
            chosen = _engine(engine, training, boosting)
            training = with_fitted_teachers(training, None if boosting.keywords.get("verbose_eval") else False)
            guides = training.guides
            if boosting.evals and boosting.keywords.get("verbose_eval") and collective.get_rank() == 0:
                for line in lines_about(guides):
                    collective.communicator_print(f"{line}\n")
            rows = None if guides else _labelled_alone(training, boosting.dtrain)
            booster = MODULES[chosen].fit(training, boosting) if rows is None else boosting.run(params, rows)
        if guides:
            _record(booster, training, chosen)
            if "c" in (boosting.dtrain.feature_types or ()):
                warn_of_pieces(booster)
        if boosting.xgb_model is not None or any(guide.teacher.about.privacy for guide in guides):
            record_privacy(booster, [guide.teacher for guide in guides], boosting.dtrain, boosting.xgb_model, obj)
    return booster, guides


def lines_about(guides: Sequence[Guide]) -> list[str]:
    """Return a line about each teacher that was trained before the student."""
    return [
        f"kl_weight {one.kl_weight:g} of {one.teacher}" for one in guides if isinstance(one.teacher, LearnedTeacher)
    ]


def _engine(engine: str, training: Training, boosting: Boosting) -> str:
    """Return the engine to train with, the same on every worker."""
    is_uniform = training.is_uniform
    if training.guides and not is_uniform:
        warn_of_idle_rows(total_weight(training.labelled, [guide.weight for guide in training.guides]) == 0)
    with all_or_none("the choice of the engine"):
        return choose(engine, training, boosting, is_uniform=is_uniform)


def _labelled_alone(training: Training, dtrain: xgboost.DMatrix) -> xgboost.DMatrix | None:
    """Return the labelled rows, for plain XGBoost; None where the matrix cannot be sliced."""
    if not on_any_worker(training.labelled is not None):
        return dtrain
    if collective.is_distributed() or not can_be_cut(dtrain):
        return None
    return slice_rows(dtrain, np.flatnonzero(training.known))


def _record(booster: xgboost.Booster, training: Training, engine: str) -> None:
    """Record in the model how it was trained, and no data of the teachers."""
    guides = training.guides
    # A weight can be 0 on this worker alone.
    weights = np.array([float(np.any(guide.weight > 0)) * guide.kl_weight for guide in guides])
    n_rows, n_labelled = global_sum(np.array([training.n_rows, training.known.sum()])).astype(int).tolist()
    kinds, settings = zip(*(_settings(guide, training.spec) for guide in guides), strict=True)
    booster.set_attr(
        pi_xgb_method="jpib" if any(isinstance(guide.teacher, JointTeacher) for guide in guides) else "kbpib",
        pi_xgb_teacher=",".join(kinds),
        pi_xgb_teacher_settings="; ".join(filter(None, settings)) or None,  # None removes those of a continued model
        pi_xgb_kl_weight=",".join(map(str, global_max(weights).tolist())),
        pi_xgb_rows=str(n_rows),
        pi_xgb_labelled=str(n_labelled),
        pi_xgb_engine=engine,
        pi_xgb_version=__version__,
    )


def _settings(guide: Guide, spec: Spec) -> tuple[str, str]:
    """Return the kind of a teacher and the keywords of its training; without params that are the student's."""
    about = guide.teacher.about
    kind, settings = about.kind or type(guide.teacher).__name__, dict(about.settings)
    # Without params that may name a privileged column, and a long value's end.
    own, shared = (
        {name: str(value)[:200] for name, value in sorted(params.items()) if name not in ABOUT_COLUMNS}
        for params in (settings.pop("teacher_params", {}), spec.params)
    )
    if own and own != shared:
        settings["teacher_params"] = own
    keywords = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    return kind, f"{kind}: {keywords}" if keywords else ""

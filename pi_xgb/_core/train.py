"""``train``: XGBoost's training function with a teacher."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import xgboost
from xgboost import collective
from xgboost.callback import TrainingCallback

from .._arrays import Array
from .._rows.checks import check_choice, check_whole
from .._version import __version__
from .._warnings import warn_user
from .._xgb.categories import kept_in_pieces
from .._xgb.collective import all_or_none, global_max, on_any_worker, on_every_worker
from .._xgb.matrix import can_be_cut, exclusive, slice_rows
from .._xgb.params import user_params
from .._xgb.rebind import train_in_place_of
from .._xgb.signature import called_like
from .checks import check_evals, check_metric, check_some_weight
from .config import TeacherConfig
from .copies import check_copies, check_whole_queries, train_copies
from .distillation import DistillationLoss
from .loss import Loss
from .methods import METHODS, MethodName
from .native import Evals, obstacle_to_native, train_native, uses_native
from .objective import DistillationObjective
from .spec import Spec
from .task import Task
from .teachers import DEFAULT_KL_WEIGHT, WeightedTeacher

Engine = Literal["auto", "callback", "native", "copies"]
ENGINES: tuple[Engine, ...] = get_args(Engine)


@called_like(xgboost.train)
def train(
    params: Any,
    dtrain: xgboost.DMatrix,
    num_boost_round: int = 10,
    *,
    privileged: xgboost.DMatrix | None = None,
    method: MethodName = "kbpib",
    kl_weight: float = DEFAULT_KL_WEIGHT,
    teacher: Any = None,
    crossfit: int = 0,
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
    """Train a booster on the classifier features, guided by a teacher that knows more.

    It is ``xgboost.train`` with a teacher: all keywords of XGBoost keep their meaning, and without
    ``privileged`` and ``teacher``, or with ``kl_weight=0``, the model is XGBoost's to the bit. What comes out
    is a plain ``xgboost.Booster`` on the features of ``dtrain``; it holds no name and no value of the
    privileged ones.

    Parameters
    ----------
    params, dtrain, num_boost_round
        As for ``xgboost.train``. The objective must be one that a teacher can guide: of classes, numbers, counts,
        costs, times or order (the error for another one lists them). Labels of numbers, counts, costs, and of yes and
        no, may have several columns.
    privileged
        A DMatrix of the features that exist at training time only: the rows of ``dtrain``, in the same order,
        with the same labels. The weights of ``dtrain`` count for it too. For counts and costs, where a base_margin is
        the logarithm of an exposure, it needs the one of ``dtrain``.
    method
        ``"kbpib"``: a teacher is trained on ``privileged`` first, then it guides the student. ``"jpib"``:
        teacher and student get a tree each in turn and pull each other.
    kl_weight
        How much the teacher counts, against 1 for the labels; the paper's alpha. 0 is plain XGBoost. Choose it
        by cross-validation (:func:`pi_xgb.cv`), small values first.
    teacher
        Next to ``privileged``, what its teacher sees: ``"privileged"``, or ``"all"`` for the classifier features as
        well. Instead of ``privileged``: an array with one q per row (one column per class), any :class:`Teacher`, or a
        list of (teacher, weight), whose weights, one number or one per row, then take the place of ``kl_weight``.
    crossfit
        With ``method="kbpib"``: 0 lets the teacher judge the rows it was trained on, as in the paper; K of at
        least 2 gives every row the verdict of a teacher that did not see it, at the cost of K trainings.
    teacher_params
        The teacher's params. By default the student's, without monotone and interaction constraints, which
        speak of the student's columns.
    privileged_evals
        Validation rows of privileged features. With them ``early_stopping_rounds`` stops the teacher too;
        without them it is trained for ``num_boost_round`` rounds, and the longer it trains the more its q
        repeats the labels, which teaches nothing: give them, or ``crossfit``.
    allow_overlap
        Whether ``privileged`` may have columns of ``dtrain``. A cross-fitted teacher that sees all features is
        often the best one.
    labelled
        One truth value per row of ``dtrain``: False where the label is not known (yet). The label that such a row has
        in the matrices, any allowed value, is never looked at. The teacher learns from the labelled rows and teaches
        all of them. This is where privileged features pay most: few labels, and many rows whose privileged values are
        known. The assumption: which labels are missing depends on the features alone, not on the outcome itself.
    teacher_weight
        One number of at least 0 per row: how much the teacher counts there, relative to ``kl_weight``. By default 1,
        and 0 for rows of ``privileged`` without any value. A row with neither label nor teacher takes no part.
    crossfit_groups
        One value per row; with ``crossfit`` rows of the same value, such as the visits of one patient, stay together,
        or the teacher would recognise the patient whom it judges.
    engine
        ``"callback"``: the gradient is computed in Python. ``"native"``: the same model, to rounding, through
        XGBoost's own objective on blended labels; an error says where it cannot be exact (multi-class, ``dtrain``
        among the evals, heavy teachers). It scales params: a callback of yours must not set them between rounds. Where
        two splits are equally good, or ``approx`` draws its cuts, rounding may choose differently. ``"copies"``: what
        the teacher says becomes further rows of weight ``kl_weight``, which takes about twice the time and memory; it
        is for the objectives whose gradient is not linear in the label, and the only one there. ``"auto"`` takes it
        there, the native one on CUDA where it is exact, else the callback.
    evals, maximize, early_stopping_rounds, evals_result, verbose_eval, xgb_model, callbacks, custom_metric
        As for ``xgboost.train``; they belong to the student. A ``custom_metric`` sees what it sees there
        (probabilities, or class numbers for multi:softmax).
    obj
        Only without a teacher, as for ``xgboost.train``.

    Returns
    -------
    xgboost.Booster
        With attributes ``pi_xgb_method``, ``pi_xgb_kl_weight``, ``pi_xgb_engine`` and ``pi_xgb_version`` if a
        teacher took part, and ``pi_xgb_epsilon`` and ``pi_xgb_delta`` if all were private
        (:class:`pi_xgb.privacy.PrivateTeacher`).

    Notes
    -----
    Whether privileged features help is a question of the data: they mostly do not where rows are plentiful.
    Compare with ``kl_weight=0`` on held-out rows before you believe in a gain.

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
    >>> booster = pi_xgb.train(params, dtrain, 20, privileged=privileged, crossfit=5, labelled=labelled)
    """
    config = TeacherConfig(
        privileged,
        method,
        kl_weight,
        teacher,
        crossfit,
        teacher_params,
        privileged_evals,
        allow_overlap,
        labelled,
        teacher_weight,
        crossfit_groups,
    )
    boosting = {
        "evals": evals,
        "obj": obj,
        "maximize": maximize,
        "early_stopping_rounds": early_stopping_rounds,
        "evals_result": evals_result,
        "verbose_eval": verbose_eval,
        "xgb_model": xgb_model,
        "callbacks": callbacks,
        "custom_metric": custom_metric,
    }
    return train_by(config, params, dtrain, num_boost_round, engine, **boosting)[0]


def train_by(
    config: TeacherConfig,
    params: Any,
    dtrain: xgboost.DMatrix,
    num_boost_round: int,
    engine: str = "auto",
    *,
    evals: Any = None,
    obj: Any = None,
    maximize: bool | None = None,
    early_stopping_rounds: int | None = None,
    xgb_model: Any = None,
    callbacks: Sequence[TrainingCallback] | None = None,
    custom_metric: Any = None,
    **keywords: Any,
) -> tuple[xgboost.Booster, list[WeightedTeacher]]:
    """:func:`train`, and who taught."""
    evals = check_evals(evals or (), "evals")
    if config.privileged_evals is not None:
        checked = check_evals(config.privileged_evals, "privileged_evals")
        config = dataclasses.replace(config, privileged_evals=checked)
    config.check_keywords(early_stopping_rounds)
    check_choice(engine, ENGINES, "engine")
    check_obj(obj, config)

    def boost(
        chosen: Any, listeners: Sequence[TrainingCallback] = (), rows: xgboost.DMatrix = dtrain, **further: Any
    ) -> xgboost.Booster:
        its_train = xgboost.train if rows is dtrain else train_in_place_of(dtrain)
        return its_train(
            chosen,
            rows,
            num_boost_round,
            evals=evals,
            maximize=maximize,
            early_stopping_rounds=early_stopping_rounds,
            xgb_model=xgb_model,
            callbacks=[*(callbacks or ()), *listeners] if listeners else callbacks,
            **{**keywords, "custom_metric": custom_metric, **further},
        )

    with exclusive(dtrain, *(matrix for matrix, _ in evals), *config.matrices):
        own = user_params(params)
        if config.leaves_to_xgboost(own, obj):
            booster = boost(params, obj=obj)
            if obj is not None and xgb_model is not None:  # nobody knows what it has seen
                booster.set_attr(pi_xgb_epsilon=None, pi_xgb_delta=None)
            return booster, []
        check_metric(custom_metric)
        spec = Spec.read(own, xgb_model)
        config, task, weighted = _checked(config, spec, dtrain, num_boost_round, evals, xgb_model)
        chosen_engine = _engine(engine, config, task.spec, dtrain, evals, callbacks or ())
        weighted += config.teachers_from_privileged(
            task,
            dtrain,
            num_boost_round,
            early_stopping_rounds=early_stopping_rounds,
            # Next to a custom_metric it speaks of that one, which the teacher never sees.
            maximize=maximize if custom_metric is None else None,
        )
        config.warn_of_repetition(task, dtrain, weighted, num_boost_round)
        if not weighted and (plain := _labelled_alone(task, dtrain)) is not None:
            return boost(params, rows=plain), []
        distillation = DistillationLoss(task, weighted)
        distillation.warn_of_idle_rows()
        if chosen_engine == "copies":
            booster = train_copies(task, weighted, dtrain, xgb_model, boost)
        else:
            chosen = with_intercept(distillation, continues=xgb_model is not None)
            if chosen_engine == "native":
                booster = train_native(distillation, chosen, dtrain, xgb_model, boost)
            else:
                objective = DistillationObjective(distillation, chosen.get("base_score"))
                booster = boost(chosen, obj=objective, custom_metric=shown_predictions(custom_metric, task.spec.loss))
    _record(booster, weighted, chosen_engine)
    _warn_of_pieces(booster)
    return booster, weighted


def _checked(
    config: TeacherConfig,
    spec: Spec,
    dtrain: xgboost.DMatrix,
    num_boost_round: int,
    evals: Evals,
    xgb_model: Any,
) -> tuple[TeacherConfig, Task, list[WeightedTeacher]]:
    """The config of these rows, the student's task and the teachers at hand, checked before any training."""
    check_whole("num_boost_round", num_boost_round)
    with all_or_none("a check of the training data"):
        config = config.of_rows(dtrain)
        task = config.task(spec, dtrain, num_boost_round)
        task.check_evals(dtrain, evals)
        config.check_continues(xgb_model)
        weighted = config.teachers_at_hand(task)
    weighted = [weighted_teacher for weighted_teacher in weighted if weighted_teacher.counts]
    check_some_weight(dtrain.get_weight(), dtrain.num_row(), "dtrain")
    task.check_labelled_rows()
    spec.warn_of_other_meanings(task.label, kl_weight_given=config.weight_is_given)
    return config, task, weighted


def _labelled_alone(task: Task, dtrain: xgboost.DMatrix) -> xgboost.DMatrix | None:
    """What plain XGBoost trains on where nobody teaches; None where rows without a label cannot be taken out."""
    if not on_any_worker(task.labelled is not None):
        return dtrain
    if task.labelled is None or collective.is_distributed() or not can_be_cut(dtrain):
        return None
    return slice_rows(dtrain, np.flatnonzero(task.labelled))


def _engine(
    engine: str,
    config: TeacherConfig,
    spec: Spec,
    dtrain: xgboost.DMatrix,
    evals: Evals,
    callbacks: Sequence[TrainingCallback],
) -> str:
    """The engine that is asked for, if it is exact here; by itself the one that is fast where it is."""
    follows, uniform = config.is_adaptive, on_every_worker(config.is_uniform)
    with all_or_none("the choice of the engine"):
        if takes_copies(engine, spec):
            check_copies(spec, dtrain, teaches=config.teaches, is_adaptive=follows)
            if spec.loss.by_query:
                check_whole_queries(config.teacher_weight, dtrain)
            return "copies"
        obstacle = obstacle_to_native(
            spec,
            is_adaptive=follows,
            moves_freely=config.moves_freely,
            taught=config.total_weight,
            uniform=uniform,
            noisy=config.is_noisy,
            dtrain=dtrain,
            evals=evals,
            callbacks=callbacks,
        )
        return "native" if uses_native(engine, spec, obstacle) else "callback"


def takes_copies(engine: str, spec: Spec) -> bool:
    """Whether this objective is taught by copies, or an error where another engine was asked for."""
    by_copies = "copies" in spec.loss.engines
    if by_copies and engine not in ("auto", "copies"):
        raise ValueError(
            f"engine={engine!r} would not be exact for {spec.objective}, whose gradient is not linear in the label: "
            "use engine='copies' or 'auto'"
        )
    if engine == "copies" and not by_copies:
        raise ValueError(
            f"engine='copies' is for objectives whose gradient is not linear in the label; {spec.objective} takes a "
            "blended label, at half the cost: use engine='auto'"
        )
    return by_copies


def check_obj(obj: Any, config: TeacherConfig) -> None:
    """A teacher and the user's own objective would both be the objective."""
    if obj is not None and not config.changes_nothing:
        raise ValueError(
            "obj was given together with a teacher: the teacher works through an objective of its own. Name the "
            "loss in params['objective'], or train without a teacher"
        )


def with_intercept(distillation: DistillationLoss, *, continues: bool = False) -> dict[str, Any]:
    """The student's params, with an intercept where XGBoost would have estimated one."""
    chosen = dict(distillation.task.spec.params)
    # A base_margin takes the place of the intercept in training only: XGBoost estimates one all the same.
    if not ("base_score" in chosen or continues):
        chosen["base_score"] = distillation.base_score()
    return chosen


def shown_predictions(metric: Any, loss: Loss) -> Any:
    """A user's custom_metric, shown what it would see with XGBoost's own objective.

    With a custom objective XGBoost shows it margins; but the user of this library gave no objective.
    """
    if metric is None:
        return None

    def on_predictions(margin: Array, matrix: xgboost.DMatrix) -> Any:
        return metric(loss.predict(margin), matrix)

    return on_predictions


def _warn_of_pieces(booster: xgboost.Booster) -> None:
    """XGBoost tells categories apart by their names, and not all versions keep these whole."""
    if names := kept_in_pieces(booster):
        warn_user(
            f"the categories of {', '.join(map(repr, names))} have letters beyond ASCII, of which XGBoost "
            f"{xgboost.__version__} keeps pieces only where they come from pandas: a table that has them in another "
            "order, or not all of them, is then read wrongly. Use XGBoost 3.4 or later, names in ASCII, or .cat.codes "
            "of one fixed list"
        )


def _record(booster: xgboost.Booster, weighted: Sequence[WeightedTeacher], engine: str) -> None:
    """Write into the model how it was made, and nothing of what the teachers know; a plain model is XGBoost's."""
    if not weighted:
        return
    methods = {weighted_teacher.teacher.recorded_method for weighted_teacher in weighted}
    epsilon, delta = _spent(booster, weighted)
    # Of a teacher that counts on other workers alone they know the weight.
    weights = np.array(
        [float(np.any(weighted_teacher.weight > 0)) * weighted_teacher.kl_weight for weighted_teacher in weighted]
    )
    booster.set_attr(
        pi_xgb_method=max(methods, key=METHODS.index),
        pi_xgb_kl_weight=",".join(map(str, global_max(weights).tolist())),
        pi_xgb_engine=engine,
        pi_xgb_version=__version__,
        pi_xgb_epsilon=epsilon,
        pi_xgb_delta=delta,
    )


def _spent(booster: xgboost.Booster, weighted: Sequence[WeightedTeacher]) -> tuple[str | None, str | None]:
    """What privacy has cost, where all teachers keep it, those of a continued model as well: budgets add up."""
    spent = [weighted_teacher.teacher.spent for weighted_teacher in weighted]
    if booster.attr("pi_xgb_method") is not None:
        epsilon, delta = booster.attr("pi_xgb_epsilon"), booster.attr("pi_xgb_delta")
        spent.append(None if epsilon is None or delta is None else (float(epsilon), float(delta)))
    known = [one for one in spent if one is not None]
    if len(known) < len(spent):
        return None, None
    return str(sum(epsilon for epsilon, _ in known)), str(sum(delta for _, delta in known))

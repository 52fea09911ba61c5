"""``cv``: XGBoost's cross-validation with a teacher, over a grid of kl_weight."""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pandas as pd
import xgboost
from xgboost import collective
from xgboost.callback import EvaluationMonitor, TrainingCallback

from .._arrays import Array
from .._rows.checks import check_whole, checked_list
from .._xgb.matrix import exclusive, query_of_row, slice_rows
from .._xgb.params import jobs_side_by_side, on_one_thread, user_params
from .._xgb.rebind import cv_on
from .._xgb.signature import called_like
from .checks import check_is_dmatrix, check_kl_weight, check_metric
from .config import TeacherConfig
from .cv_copies import CopiedFolds, check_copied_folds
from .cv_folds import Fold, row_folds, with_unlabelled
from .distillation import DistillationLoss
from .methods import MethodName
from .native import quantise
from .objective import DistillationObjective
from .resume_cache import ResumeCache
from .spec import Spec
from .task import Task
from .teachers import DEFAULT_KL_WEIGHT
from .train import check_obj, shown_predictions, with_intercept


@called_like(xgboost.cv)
def cv(
    params: Any,
    dtrain: xgboost.DMatrix,
    num_boost_round: int = 10,
    *,
    privileged: xgboost.DMatrix | None = None,
    method: MethodName = "kbpib",
    kl_weight: float | Iterable[float] = DEFAULT_KL_WEIGHT,
    teacher: Any = None,
    crossfit: int = 0,
    teacher_params: Any = None,
    allow_overlap: bool = False,
    labelled: Any = None,
    teacher_weight: Any = None,
    crossfit_groups: Any = None,
    n_jobs: int | None = None,
    nfold: int = 3,
    stratified: bool = False,
    folds: Any = None,
    metrics: Any = (),
    obj: Any = None,
    maximize: bool | None = None,
    early_stopping_rounds: int | None = None,
    fpreproc: Callable[..., Any] | None = None,
    as_pandas: bool = True,
    verbose_eval: bool | int | None = None,
    show_stdv: bool = True,
    seed: int = 0,
    callbacks: Sequence[TrainingCallback] | None = None,
    shuffle: bool = True,
    custom_metric: Any = None,
    resume: Any = None,
    resume_key: str | None = None,
) -> Any:
    """Cross-validate a guided training, for one ``kl_weight`` or several on the same folds.

    It is ``xgboost.cv`` with a teacher. The teacher of a fold is trained on that fold's training rows only, so
    that the held-out rows are held out of everything.

    Parameters
    ----------
    params, dtrain, num_boost_round
        As for ``xgboost.cv``. Like there, a QuantileDMatrix cannot be cut into folds.
    privileged, method, teacher, crossfit, teacher_params, allow_overlap
        As for :func:`pi_xgb.train`. A ``teacher`` array is cut along with the rows; make sure that it was not
        learned from their labels.
    kl_weight
        A number, or several: the table then has ``kl_weight`` as the first level of its index. Put 0 among
        them: it is plain XGBoost, the one to beat.
    labelled, teacher_weight, crossfit_groups
        As for :func:`pi_xgb.train`. Rows without a label are in every training part and in no test part; folds are
        dealt among the labelled ones. At ``kl_weight`` 0 only labelled rows are trained on.
    n_jobs
        How many values of ``kl_weight`` to work on side by side, in threads. Each training uses
        ``params["nthread"]`` threads of its own. Callbacks are copied for each value. By default one for each core
        where each training has one thread (see below), nothing is printed and no function of yours is called; else 1.
    resume
        A file for the finished values of a grid of ``kl_weight``. After an interruption the same call with the same
        file goes on where it was; a file of another search is refused. Callbacks are not called again for finished
        values.
    resume_key
        A text that stands for your own code: callbacks, functions, splitters, teachers of your own classes. ``resume``
        needs it with any of them, and cannot see whether they changed: pass another text when they did.
    nfold, stratified, folds, metrics, maximize, early_stopping_rounds, fpreproc, as_pandas, verbose_eval,
    show_stdv, seed, callbacks, shuffle, custom_metric
        As for ``xgboost.cv``; with several values of ``kl_weight`` a printed line begins with its value. Up to 10,000
        rows each training has one thread, unless params say ``nthread``: on a busy machine threads that wait for each
        other in every round take many times as long.
    obj
        Only without a teacher, as for ``xgboost.cv``.

    Returns
    -------
    pandas.DataFrame or dict
        The history of ``xgboost.cv``: a row per round, mean and standard deviation of each metric. For several
        values of ``kl_weight``, their histories under one another, or a dict of them by ``kl_weight`` where
        ``as_pandas`` is False.

    Examples
    --------
    >>> import pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> dtrain, privileged = xgb.DMatrix(data.x, data.y), xgb.DMatrix(data.z, data.y)
    >>> params = {"objective": "binary:logistic", "max_depth": 2}
    >>> table = pi_xgb.cv(params, dtrain, 5, privileged=privileged, kl_weight=[0.0, 1.0], metrics="auc")
    >>> table.index.names, len(table)
    (FrozenList(['kl_weight', 'round']), 10)
    >>> best = table["test-auc-mean"].groupby("kl_weight").max().idxmax()
    """
    several = isinstance(kl_weight, Iterable) and not isinstance(kl_weight, str)
    grid = [float(weight) for weight in checked_list(kl_weight, "kl_weight", check_kl_weight)]
    if n_jobs is not None:
        check_whole("n_jobs", n_jobs, 1)
    weight = DEFAULT_KL_WEIGHT if several else grid[0]
    how = {"teacher": teacher, "crossfit": crossfit, "teacher_params": teacher_params, "allow_overlap": allow_overlap}
    of_rows = {"labelled": labelled, "teacher_weight": teacher_weight, "crossfit_groups": crossfit_groups}
    config = TeacherConfig(privileged, method, weight, **how, **of_rows)
    config.check_keywords()
    check_obj(obj, config)
    if several:
        _check_one_to_weigh(config)
    elif resume is not None or resume_key is not None:
        raise ValueError("resume needs several values of kl_weight, got one: leave resume and resume_key out")
    dealing: dict[str, Any] = {"nfold": nfold, "stratified": stratified, "shuffle": shuffle, "seed": seed}
    stopping = {"metrics": metrics, "maximize": maximize, "early_stopping_rounds": early_stopping_rounds}
    functions = {"fpreproc": fpreproc, "custom_metric": custom_metric}

    def run(chosen: Any, where: Any, listeners: Any, its_cv: Callable[..., Any] = xgboost.cv, **further: Any) -> Any:
        return its_cv(
            chosen,
            dtrain,
            num_boost_round,
            folds=where,
            as_pandas=as_pandas,
            verbose_eval=False if several else verbose_eval,
            show_stdv=show_stdv,
            callbacks=listeners,
            **dealing,
            **stopping,
            **{**functions, **further},
        )

    with exclusive(dtrain, *config.matrices):
        own = user_params(params)
        if config.leaves_to_xgboost(own, obj) and not several:
            return run(params, folds, callbacks, obj=obj)
        check_metric(custom_metric)
        check_is_dmatrix(dtrain, "dtrain")
        check_whole("num_boost_round", num_boost_round)
        users_own = callbacks or custom_metric or fpreproc or verbose_eval or None
        jobs = n_jobs or jobs_side_by_side(own, dtrain.num_row(), users_own)
        params, own = (on_one_thread(given, dtrain.num_row()) for given in (params, own))
        deal = functools.partial(row_folds, folds=folds, **dealing)
        rows = _Folds.of(Spec.read(own), dtrain, num_boost_round, config, grid, deal, several=several)
        options = {**dealing, **stopping, **functions, "callbacks": callbacks, "num_boost_round": num_boost_round}
        inputs = {"params": own, "dtrain": dtrain, **options, **vars(rows.config)}
        cache = ResumeCache(resume, resume_key, "cv", {**inputs, "folds": [getattr(folds, "split", None), rows.dealt]})
        if not all(str(weight) in cache for weight in grid):
            rows = rows.with_teachers(max(grid))

        def history(weight: float) -> Any:
            listeners = callbacks
            if several:
                listeners = [*copy.deepcopy(list(callbacks or ())), *_saying(weight, verbose_eval, show_stdv)]
            chosen, where, further = rows.told(weight, params, custom_metric, fpreproc)
            return run(chosen, where, listeners, **further)

        once = history if not several else cache.memoize(history, str, pd.DataFrame if as_pandas else dict)
        if jobs == 1 or not several:
            histories = {weight: once(weight) for weight in grid}
    if jobs > 1 and several:
        # The lock of dtrain is free again: it would keep the threads of a user's metric from training on it.
        with ThreadPoolExecutor(jobs) as pool:
            histories = dict(zip(grid, pool.map(once, grid), strict=True))
    if not several:
        return histories[grid[0]]
    return pd.concat(histories, names=["kl_weight", "round"]) if as_pandas else histories


@dataclasses.dataclass(frozen=True)
class _Folds:
    """The rows in folds, and who teaches on each, whatever it weighs."""

    spec: Spec
    dtrain: xgboost.DMatrix
    num_boost_round: int
    config: TeacherConfig
    dealt: list[Fold]
    """Of the rows that have a label."""
    row_folds: list[Fold]
    """With the others in the training parts."""
    nobody_counts: bool
    learned: list[TeacherConfig] | None = None
    """Per fold, with a teacher that is trained already."""

    @classmethod
    def of(
        cls,
        spec: Spec,
        dtrain: xgboost.DMatrix,
        num_boost_round: int,
        config: TeacherConfig,
        grid: list[float],
        deal: Callable[..., list[Fold]],
        *,
        several: bool,
    ) -> _Folds:
        """Everything checked, nothing trained."""
        config = config.of_rows(dtrain)
        task = _checked_task(spec, dtrain, num_boost_round, config)
        weighted = config.teachers_at_hand(task)
        nobody_counts = config.privileged is None and not any(weighted_teacher.counts for weighted_teacher in weighted)
        spec.warn_of_other_meanings(task.label, kl_weight_given=several or config.weight_is_given)
        if "copies" in spec.loss.engines:
            check_copied_folds(spec, dtrain, config, teaches=max(grid) > 0 and not nobody_counts)
        query = query_of_row(dtrain) if spec.loss.by_query else None
        dealt = deal(task.label, task.labelled, query)
        row_folds = with_unlabelled(dealt, task.labelled, query)
        return cls(spec, dtrain, num_boost_round, config, dealt, row_folds, nobody_counts)

    def with_teachers(self, largest: float) -> _Folds:
        """With the teachers that learn first: one serves every kl_weight of its fold."""
        if not self.config.weighing(largest).learns_first:
            return self
        taught = [
            _learned(self.config.subset(rows), self.spec, self.dtrain, rows, self.num_boost_round)
            for rows, _ in self.row_folds
        ]
        return dataclasses.replace(self, learned=taught)

    def told(self, weight: float, params: Any, custom_metric: Any, fpreproc: Any) -> tuple[Any, Any, dict[str, Any]]:
        """Params, folds and further keywords of ``xgboost.cv`` for one kl_weight."""
        by_copies = "copies" in self.spec.loss.engines
        if not by_copies and (weight == 0 or self.nobody_counts):
            return params, self.dealt, {}  # of labelled rows alone
        # Teachers that follow the student change as they teach: each weight needs its own.
        own = self.learned if weight else None
        weighed = [one.weighing(weight) for one in own or [self.config.subset(rows) for rows, _ in self.row_folds]]
        if by_copies:
            its_folds = CopiedFolds(self.dtrain, self.row_folds, weighed, fpreproc)
            return self.spec.params, None, {"its_cv": cv_on(its_folds)}
        cell = _Cell(weighed, self.num_boost_round, fpreproc)
        shown = shown_predictions(custom_metric, self.spec.loss)
        return (
            self.spec.params,
            self.row_folds,
            {"obj": cell.gradient, "fpreproc": cell.prepare, "custom_metric": shown},
        )


def _saying(weight: float, verbose_eval: Any, show_stdv: bool) -> list[TrainingCallback]:
    """What prints the rounds of one ``kl_weight`` among others."""
    if not verbose_eval:
        return []

    def say(line: str) -> None:
        collective.communicator_print(f"kl_weight {weight:g} {line}")

    return [EvaluationMonitor(period=int(verbose_eval), show_stdv=show_stdv, logger=say)]


def _check_one_to_weigh(config: TeacherConfig) -> None:
    if not config.given or config.has_own_weights:
        raise ValueError(
            "a grid of kl_weight needs one teacher to weigh: give privileged=, or teacher= that is not a list with "
            "weights of its own"
        )


def _checked_task(spec: Spec, dtrain: xgboost.DMatrix, num_boost_round: int, config: TeacherConfig) -> Task:
    if any(isinstance(matrix, xgboost.QuantileDMatrix) for matrix in (dtrain, config.privileged)):
        raise TypeError("a QuantileDMatrix cannot be cut into folds: build a DMatrix for cv")
    task = config.task(spec, dtrain, num_boost_round)
    task.check_labelled_rows()
    if query_of_row(dtrain) is not None and not spec.loss.by_query:
        raise ValueError("cv with a teacher cannot keep query groups together: build dtrain without qid")
    return task


def _learned(
    config: TeacherConfig, spec: Spec, dtrain: xgboost.DMatrix, rows: Array, num_boost_round: int
) -> TeacherConfig:
    """The config of these rows, its teacher trained already."""
    part = slice_rows(dtrain, rows)
    task = Task.of_matrix(spec, part, config.labelled)
    (taught,) = config.teachers_from_privileged(task, part, num_boost_round)
    return TeacherConfig(teacher=taught.teacher, labelled=config.labelled, teacher_weight=taught.per_row)


class _Cell:
    """The folds of one kl_weight: which objective belongs to which of the matrices that XGBoost cuts."""

    def __init__(
        self, configs: Sequence[TeacherConfig], num_boost_round: int, fpreproc: Callable[..., Any] | None
    ) -> None:
        self._waiting = iter(configs)
        self._num_boost_round = num_boost_round
        self._fpreproc = fpreproc
        self._objectives: dict[xgboost.DMatrix, DistillationObjective] = {}

    def prepare(self, dtrain: xgboost.DMatrix, dtest: xgboost.DMatrix, params: Any) -> Any:
        """Called by XGBoost once per fold, in order, before the fold's booster is made."""
        config = next(self._waiting)
        if self._fpreproc is not None:
            dtrain, dtest, params = self._fpreproc(dtrain, dtest, params)
        task = Task.of_matrix(Spec.read(params), dtrain, config.labelled)
        weighted = [weighted_teacher for weighted_teacher in config.teachers_at_hand(task) if weighted_teacher.counts]
        weighted += config.teachers_from_privileged(task, dtrain, self._num_boost_round)
        distillation = DistillationLoss(task, weighted)
        chosen = with_intercept(distillation)
        self._objectives[dtrain] = DistillationObjective(distillation, chosen["base_score"])
        if task.labelled is not None:
            # The metrics of the training rows are those of the labelled ones; the cuts stay those of all.
            quantise(chosen, dtrain)
            weight = dtrain.get_weight()
            dtrain.set_weight(task.labelled * weight if weight.size else task.labelled)
        return dtrain, dtest, chosen

    def gradient(self, margin: Array, dtrain: xgboost.DMatrix) -> tuple[Array, Array]:
        """The objective of the fold that asks."""
        return self._objectives[dtrain](margin, dtrain)

"""``cv``: XGBoost's cross-validation with a teacher, over a grid of kl_weight."""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import xgboost
from xgboost import collective
from xgboost.callback import EvaluationMonitor, TrainingCallback

from .._arrays import Array
from .._rows.checks import check_whole, checked_list
from .._rows.cv_folds import Dealing, Fold, with_unlabelled
from .._rows.resume_cache import ResumeCache
from .._xgb.matrix import exclusive, query_of_row, slice_rows
from .._xgb.params import user_params
from .._xgb.rebind import FoldParts, cv_on
from .._xgb.signature import called_like, keyword_names
from .._xgb.threads import in_threads, jobs_side_by_side, on_one_thread
from .checks import check_is_dmatrix, check_kl_weight, check_metric
from .config import DEFAULT_METHOD, MethodName, TeacherConfig
from .engines import callback, choose, copies
from .job import Boosting, Job, Plan, shown_predictions
from .learned import TrainableTeacher, train_teachers
from .spec import Spec
from .supervision import Supervision
from .teachers import DEFAULT_KL_WEIGHT
from .train import check_obj

_KEYWORDS = keyword_names(xgboost.cv)


@called_like(xgboost.cv)
def cv(
    params: Any,
    dtrain: xgboost.DMatrix,
    num_boost_round: int = 10,
    *,
    privileged: xgboost.DMatrix | None = None,
    method: MethodName = DEFAULT_METHOD,
    teacher: Any = None,
    teacher_sees: Literal["privileged", "all"] | None = None,
    crossfit: int | None = None,
    kl_weight: float | Iterable[float] = DEFAULT_KL_WEIGHT,
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
    that the held-out rows stay unseen.

    Parameters
    ----------
    params, dtrain, num_boost_round : as for ``xgboost.cv``
        Like there, a QuantileDMatrix cannot be cut into folds.
    privileged, method, teacher, teacher_sees, crossfit, teacher_params, allow_overlap : as for :func:`pi_xgb.train`
        A ``teacher`` array is cut along with the rows; make sure that it was not learned from their labels.
    kl_weight : float or sequence of float, default=0.5
        A number, or several: the table then has ``kl_weight`` as the first level of its index. Include 0: it is plain
        XGBoost, the baseline.
    labelled, teacher_weight, crossfit_groups : as for :func:`pi_xgb.train`
        Rows without a label are in every training part and in no test part; folds are dealt among the labelled ones. At
        ``kl_weight`` 0 only labelled rows are trained on.
    n_jobs : int, default=None
        How many values of ``kl_weight`` to work on side by side, in threads. Each training uses
        ``params["nthread"]`` threads of its own. Callbacks are copied for each value. By default one for each core
        where each training has one thread (see below), nothing is printed and no function of yours is called; else 1.
    resume : str or path, default=None
        A file for the finished values of a grid of ``kl_weight``. After an interruption the same call with the same
        file continues where it stopped; a file of another search is an error. Callbacks are not called again for
        finished values.
    resume_key : str, default=None
        A text that stands for your own code: callbacks, functions, splitters, teachers of your own classes. ``resume``
        requires it with any of them, and cannot detect changes: pass another text when your code changes.
    nfold, stratified, folds, metrics, maximize, early_stopping_rounds, fpreproc, as_pandas : as for ``xgboost.cv``
    verbose_eval, show_stdv, seed, callbacks, shuffle, custom_metric : as for ``xgboost.cv``
        With several values of ``kl_weight`` a printed line begins with its value. Up to 10,000 rows each training has
        one thread, unless params set ``nthread``: on a busy machine threads that wait for each other in every round
        take many times as long.
    obj : callable, default=None
        Only without a teacher, as for ``xgboost.cv``.

    Returns
    -------
    pandas.DataFrame or dict
        The history of ``xgboost.cv``: a row per round, mean and standard deviation of each metric. For several
        values of ``kl_weight``, their histories stacked, or a dict of them by ``kl_weight`` where
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
    given = locals()
    keywords = {name: given[name] for name in _KEYWORDS if name in given}
    is_grid = isinstance(kl_weight, Iterable) and not isinstance(kl_weight, str)
    grid = [float(weight) for weight in checked_list(kl_weight, "kl_weight", check_kl_weight)]
    if n_jobs is not None:
        check_whole("n_jobs", n_jobs, 1)
    config = TeacherConfig.from_keywords({**given, "kl_weight": DEFAULT_KL_WEIGHT if is_grid else grid[0]})
    config.check()
    check_obj(obj, config)
    if is_grid:
        _check_single_teacher(config)
    elif resume is not None or resume_key is not None:
        raise ValueError("resume needs several values of kl_weight, got one: leave resume and resume_key out")
    with exclusive(dtrain, *config.matrices):
        own = user_params(params)
        if not is_grid and config.leaves_to_xgboost(own, obj):
            return xgboost.cv(params, dtrain, num_boost_round, **keywords)
        check_metric(custom_metric)
        check_is_dmatrix(dtrain, "dtrain")
        check_whole("num_boost_round", num_boost_round)
        user_code = callbacks or custom_metric or fpreproc or verbose_eval or None
        jobs = n_jobs or jobs_side_by_side(own, dtrain.num_row(), user_code)
        params, own = (on_one_thread(each, dtrain.num_row()) for each in (params, own))
        rows = _Folds.from_config(Spec.read(own), dtrain, num_boost_round, config, grid, keywords, is_grid=is_grid)
        if not is_grid:
            return rows.with_trained_teachers().history(grid[0], params, keywords)
        cache = _cache(resume, resume_key, own, rows, config, keywords)
        if not all(str(weight) in cache for weight in grid):
            rows = rows.with_trained_teachers()
        history = functools.partial(_grid_history, rows, params, keywords)
        once = cache.memoize(history, str, pd.DataFrame if as_pandas else dict)
        if jobs == 1:
            histories = {weight: once(weight) for weight in grid}
    if jobs > 1:
        # Outside of the lock of dtrain, which would block a user's metric that trains on dtrain in these threads.
        histories = dict(zip(grid, in_threads(once, grid, jobs), strict=True))
    return pd.concat(histories, names=["kl_weight", "round"]) if as_pandas else histories


@dataclasses.dataclass(frozen=True)
class _Folds:
    """The rows in folds and their teachers, for any ``kl_weight``."""

    spec: Spec
    dtrain: xgboost.DMatrix
    num_boost_round: int
    supervision: Supervision
    """Of all rows, without teachers of weight 0."""
    dealt: list[Fold]
    """The folds of the labelled rows."""
    row_folds: list[Fold]
    """The same, with unlabelled rows in the training parts."""
    engine: str
    trained: list[Supervision] | None = None
    """Per fold, with trained teachers; None before they are trained."""

    @classmethod
    def from_config(
        cls,
        spec: Spec,
        dtrain: xgboost.DMatrix,
        num_boost_round: int,
        config: TeacherConfig,
        grid: list[float],
        keywords: Mapping[str, Any],
        *,
        is_grid: bool,
    ) -> _Folds:
        """Return the folds, after all checks that precede a training."""
        if any(isinstance(matrix, xgboost.QuantileDMatrix) for matrix in (dtrain, config.privileged)):
            raise TypeError("a QuantileDMatrix cannot be cut into folds: build a DMatrix for cv")
        supervision = config.read(spec, dtrain, Boosting(num_boost_round))
        supervision = supervision.weighing(max(grid)).counting()
        task = supervision.task(spec, dtrain)
        task.check_labelled_rows()
        query = query_of_row(dtrain)
        if query is not None and not spec.loss.by_query:
            raise ValueError("cv with a teacher cannot keep query groups together: build dtrain without qid")
        spec.warn_of_other_meanings(task.label, kl_weight_given=is_grid or config.weight_is_given)
        # On the CPU: xgboost.cv takes one objective, and the native engine needs other labels for every fold.
        on_host = dataclasses.replace(spec, device="cpu")
        engine = choose("auto", Plan(spec=on_host, supervision=supervision, dtrain=dtrain))
        dealing = Dealing(**{name: keywords[name] for name in Dealing._fields})
        dealt = dealing.row_folds(task.label, task.labelled, query)
        row_folds = with_unlabelled(dealt, task.labelled, query)
        return cls(spec, dtrain, num_boost_round, supervision, dealt, row_folds, engine)

    def with_trained_teachers(self) -> _Folds:
        """Return the folds with trained teachers: one teacher serves every ``kl_weight`` of its fold."""
        if not any(isinstance(weighted.teacher, TrainableTeacher) for weighted in self.supervision.teachers):
            return self
        trained = [train_teachers(self.supervision.subset(rows)) for rows, _ in self.row_folds]
        return dataclasses.replace(self, trained=trained)

    def history(self, weight: float, params: Any, keywords: Mapping[str, Any]) -> Any:
        """Return the history of ``xgboost.cv`` for one ``kl_weight``."""
        has_own_weights = self.supervision.has_own_weights
        has_teacher = bool(self.supervision.teachers) and (weight > 0 or has_own_weights)
        if self.engine != "copies" and not has_teacher:
            # Plain XGBoost trains on labelled rows only.
            return xgboost.cv(params, self.dtrain, self.num_boost_round, **{**keywords, "folds": self.dealt})
        # Adaptive teachers change as they teach: each weight needs its own.
        per_fold = self.trained or [self.supervision.subset(rows) for rows, _ in self.row_folds]
        supervisions = [supervision.weighing(weight) for supervision in per_fold]
        if not has_teacher:
            supervisions = [supervision.with_teachers([]) for supervision in supervisions]
        folds = _Matrices(self, supervisions, keywords["fpreproc"])
        changed = {**keywords, "folds": None, "fpreproc": None}
        if self.engine != "copies":
            changed["callbacks"] = [*(keywords["callbacks"] or ()), callback.StartFolds(folds.distillations)]
            changed["obj"] = callback.FoldObjective(folds.distillations)
            changed["custom_metric"] = shown_predictions(keywords["custom_metric"], self.spec.loss)
        return cv_on(folds)(self.spec.params, self.dtrain, self.num_boost_round, **changed)


@dataclasses.dataclass(frozen=True)
class _Matrices:
    """The matrices of the folds for one ``kl_weight``: prepared for the engine, evaluated on the original rows."""

    rows: _Folds
    supervisions: Sequence[Supervision]
    """Of the training rows of each fold, their teachers trained."""
    fpreproc: Callable[..., Any] | None
    distillations: dict[xgboost.DMatrix, callback.Start] = dataclasses.field(default_factory=dict)
    """By training matrix, for the callback engine."""

    def __call__(self, params: dict[str, Any]) -> list[FoldParts]:
        """Return matrices and params of each fold."""
        folds = zip(self.rows.row_folds, self.supervisions, strict=True)
        return [self._fold(rows, out, supervision, dict(params)) for (rows, out), supervision in folds]

    def _fold(self, rows: Array, out: Array, supervision: Supervision, params: dict[str, Any]) -> FoldParts:
        dtrain = self.rows.dtrain
        own, test = slice_rows(dtrain, rows), slice_rows(dtrain, out)
        if self.fpreproc is not None:
            own, test, params = self.fpreproc(own, test, params)
        supervision = supervision.counting()
        task = supervision.task(Spec.read(params), own)
        # Training metrics use labelled rows only.
        shown = own if task.labelled is None else slice_rows(own, np.flatnonzero(task.labelled))
        if self.rows.engine == "copies":
            if not supervision.teachers:
                return FoldParts(shown, shown, test, params)
            stack, chosen = copies.stack_with_params(task, supervision.teachers, own, {})
            return FoldParts(stack, shown, test, chosen)
        job = Job(task=task, supervision=supervision, dtrain=own, boosting=Boosting())
        start, chosen = callback.prepared(job)
        self.distillations[own] = start
        return FoldParts(own, shown, test, chosen)


def _cache(
    resume: Any, resume_key: str | None, params: Any, rows: _Folds, config: TeacherConfig, keywords: Mapping[str, Any]
) -> ResumeCache:
    """Return the cache of this search in the file of ``resume``."""
    shown = ("as_pandas", "verbose_eval", "show_stdv", "obj")  # these change no number
    inputs = {name: value for name, value in keywords.items() if name not in shown}
    inputs |= {"params": params, "dtrain": rows.dtrain, "num_boost_round": rows.num_boost_round, **vars(config)}
    inputs["folds"] = [getattr(keywords["folds"], "split", None), rows.dealt]
    return ResumeCache(resume, resume_key, "cv", inputs)


def _grid_history(rows: _Folds, params: Any, keywords: Mapping[str, Any], weight: float) -> Any:
    """Return the history of one ``kl_weight`` of a grid; printed lines begin with its value."""
    printing = _printing(weight, keywords["verbose_eval"], keywords["show_stdv"])
    listeners = [*copy.deepcopy(list(keywords["callbacks"] or ())), *printing]
    return rows.history(weight, params, {**keywords, "callbacks": listeners, "verbose_eval": False})


def _printing(weight: float, verbose_eval: Any, show_stdv: bool) -> list[TrainingCallback]:
    """Return the callbacks that print the rounds of one ``kl_weight``."""
    if not verbose_eval:
        return []

    def write(line: str) -> None:
        collective.communicator_print(f"kl_weight {weight:g} {line}")

    return [EvaluationMonitor(period=int(verbose_eval), show_stdv=show_stdv, logger=write)]


def _check_single_teacher(config: TeacherConfig) -> None:
    if not config.is_given or config.has_own_weights:
        raise ValueError(
            "several values of kl_weight require one teacher: pass privileged=, or teacher= other than a list, which "
            "has its own weights"
        )

"""``cv``: XGBoost's cross-validation with a teacher, over a grid of kl_weight."""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import xgboost
from xgboost import collective
from xgboost.callback import EvaluationMonitor, TrainingCallback

from .._arrays import Array
from .._progress import progress_bar
from .._rows.checks import check_whole, checked_list
from .._rows.folds import Fold, row_folds, warn_of_torn_groups, with_unlabelled
from .._rows.matrix_checks import check_is_dmatrix
from .._rows.supervision import read_labelled
from .._xgb.matrix import exclusive, labels_of, query_of_row, slice_rows
from .._xgb.params import user_params
from .._xgb.rebind import FoldParts, cv_on
from .._xgb.signature import called_like, keyword_names
from .._xgb.threads import in_threads, jobs_side_by_side, on_one_thread
from .blend import Distillation
from .engines import callback, choose, copies
from .keywords import DEFAULT_METHOD, Keywords, MethodName, with_fitted_teachers
from .learners.recipe import Recipe
from .teachers import check_kl_weight
from .training import Boosting, Spec, Training

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
    kl_weight: float | Iterable[float] | None = None,
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
    kl_weight : float or sequence of float, default=None
        A number, or several: the table then has ``kl_weight`` as the first level of its index. Include 0: it is plain
        XGBoost, the baseline. None is the default of :func:`pi_xgb.train`.
    labelled, teacher_weight, crossfit_groups : as for :func:`pi_xgb.train`
        Rows without a label are in every training part and in no test part; folds are dealt among the labelled ones. At
        ``kl_weight`` 0 only labelled rows are trained on.
    n_jobs : int, default=None
        How many values of ``kl_weight`` to work on side by side, in threads. Each training uses
        ``params["nthread"]`` threads of its own. Callbacks are copied for each value. By default one for each core
        where each training has one thread (see below), nothing is printed and no function of yours is called; else 1.
    nfold, stratified, folds, metrics, maximize, early_stopping_rounds, fpreproc, as_pandas : as for ``xgboost.cv``
    verbose_eval, show_stdv, seed, callbacks, shuffle, custom_metric : as for ``xgboost.cv``
        With several values of ``kl_weight`` a printed line begins with its value, and ``verbose_eval=None`` shows
        progress where they take long. Up to 10,000 rows each training has one thread, unless params set ``nthread``: on
        a busy machine threads that wait for each other in every round take many times as long.
    obj : callable, default=None
        Only without a teacher, as for ``xgboost.cv``. An objective with a method ``subset(rows)``, such as
        :class:`pi_xgb.KLObjective`, is cut along with the rows: each fold calls ``obj.subset(its training rows)``, so
        that the objective may hold values per row. Rows without a label, by its ``labelled`` if it has one, are in
        every training part and in no test part.

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
    own_keywords = {name: given[name] for name in _KEYWORDS if name in given}
    is_grid = isinstance(kl_weight, Iterable) and not isinstance(kl_weight, str)
    grid = [float(weight) for weight in checked_list(kl_weight, "kl_weight", check_kl_weight)] if is_grid else []
    if n_jobs is not None:
        check_whole("n_jobs", n_jobs, 1)
    keywords = Keywords.of({**given, "kl_weight": max(grid) if is_grid else kl_weight})
    if is_grid and (not keywords.is_given or keywords.has_own_weights):
        raise ValueError("several values of kl_weight require one teacher, not a list with its own weights: pass one")
    keywords.check(obj=obj)
    with exclusive(dtrain, *keywords.matrices):
        own = user_params(params)
        if not is_grid and keywords.leaves_to_xgboost(own, obj):
            if hasattr(obj, "subset"):
                return _cv_with_objective(obj, params, dtrain, num_boost_round, own_keywords)
            return xgboost.cv(params, dtrain, num_boost_round, **own_keywords)
        check_is_dmatrix(dtrain, "dtrain")
        user_code = callbacks or custom_metric or fpreproc or verbose_eval or None
        jobs = n_jobs or jobs_side_by_side(own, dtrain.num_row(), user_code)
        own = on_one_thread(own, dtrain.num_row())
        folds = _Folds.read(Spec.read(own), Boosting(dtrain, num_boost_round, keywords=own_keywords), keywords)
        if not is_grid:
            return folds.history(None, own_keywords)
    # The lock of dtrain is released: metrics may train on dtrain in these threads.
    with progress_bar(len(grid), "cv", _progress(verbose_eval)) as step:
        history = functools.partial(_grid_history, folds, own_keywords, step)
        histories = dict(zip(grid, in_threads(history, grid, jobs), strict=True))
    return pd.concat(histories, names=["kl_weight", "round"]) if as_pandas else histories


def _cv_with_objective(
    obj: Any, params: Any, dtrain: xgboost.DMatrix, num_boost_round: int, keywords: Mapping[str, Any]
) -> Any:
    """``xgboost.cv`` with an objective whose values per row are cut into folds with the matrix."""
    labelled, query = read_labelled(getattr(obj, "labelled", None), dtrain.num_row()), query_of_row(dtrain)
    folds = with_unlabelled(row_folds(keywords, labels_of(dtrain), labelled, query), labelled, query)
    objectives: dict[xgboost.DMatrix, Any] = {}

    def prepare(number: int, own: xgboost.DMatrix, shown: xgboost.DMatrix, params: dict[str, Any]) -> Any:
        objectives[own] = obj.subset(folds[number][0])
        return own, params

    changed = {**keywords, "obj": lambda margin, matrix: objectives[matrix](margin, matrix)}
    return _cv_on_folds(folds, labelled, prepare, params, dtrain, num_boost_round, changed)


def _cv_on_folds(
    row_folds: Sequence[Fold],
    labelled: Array | None,
    prepare: Callable[[int, xgboost.DMatrix, xgboost.DMatrix, dict[str, Any]], tuple[xgboost.DMatrix, dict[str, Any]]],
    params: Any,
    dtrain: xgboost.DMatrix,
    num_boost_round: int,
    keywords: Mapping[str, Any],
) -> Any:
    """``xgboost.cv`` on folds of rows. ``prepare`` gets the number of a fold, its training rows, those with a label and
    its params; it returns the matrix to train on and the params."""
    fpreproc = keywords["fpreproc"]

    def folds(params: dict[str, Any]) -> Iterator[FoldParts]:
        for number, (rows, out) in enumerate(row_folds):
            own, test, chosen = slice_rows(dtrain, rows), slice_rows(dtrain, out), dict(params)
            if fpreproc is not None:
                own, test, chosen = fpreproc(own, test, chosen)
            # Training metrics use labelled rows only.
            shown = own if labelled is None else slice_rows(own, np.flatnonzero(labelled[rows]))
            train, chosen = prepare(number, own, shown, chosen)
            yield train, shown, test, chosen

    return cv_on(folds)(params, dtrain, num_boost_round, **{**keywords, "folds": None, "fpreproc": None})


@dataclasses.dataclass(frozen=True)
class _Folds:
    """The rows in folds and their teachers, for any ``kl_weight``."""

    training: Training
    """Of all rows, without teachers of weight 0."""
    boosting: Boosting
    dealt: list[Fold]
    """The folds of the labelled rows."""
    row_folds: list[Fold]
    """The same, with unlabelled rows in the training parts."""
    engine: str
    of_folds: list[Training] | None
    """The training of each fold, with teachers that serve every ``kl_weight``; None where each weight needs its own."""

    @classmethod
    def read(cls, spec: Spec, boosting: Boosting, keywords: Keywords) -> _Folds:
        """Return the folds with fitted teachers, after all checks that precede a training."""
        dtrain = boosting.dtrain
        if any(isinstance(matrix, xgboost.QuantileDMatrix) for matrix in (dtrain, keywords.privileged)):
            raise TypeError("a QuantileDMatrix cannot be cut into folds: build a DMatrix for cv")
        training = keywords.read(spec, boosting).counting()
        training.check_labelled_rows()
        query = query_of_row(dtrain)
        if query is not None and not spec.loss.by_query:
            raise ValueError("cv with a teacher cannot keep query groups together: build dtrain without qid")
        training.warn_of_other_meanings(kl_weight_given=keywords.weight_is_given)
        # On the CPU: xgboost.cv takes one objective, and the native engine needs other labels for every fold.
        on_host = training.replace(spec=dataclasses.replace(spec, device="cpu"))
        engine = choose("auto", on_host, boosting, is_uniform=True)
        dealt = row_folds(boosting.keywords, training.label, training.labelled, query)
        folds = with_unlabelled(dealt, training.labelled, query)
        if keywords.crossfit_groups is not None:
            remedy = "folds=list(pi_xgb.sklearn.LabelledGroupKFold(5).split(X, y, groups))"
            warn_of_torn_groups(np.asarray(keywords.crossfit_groups), dealt, remedy)
        recipes = [guide.teacher for guide in training.guides if isinstance(guide.teacher, Recipe)]
        for recipe in recipes:
            for rows, _ in folds:
                recipe.check_crossfit(rows)
        if not recipes:
            return cls(training, boosting, dealt, folds, engine, None)
        progress = _progress(boosting.keywords["verbose_eval"])
        of_folds = [with_fitted_teachers(training.subset(rows), progress) for rows, _ in folds]
        return cls(training, boosting, dealt, folds, engine, of_folds)

    def history(self, weight: float | None, keywords: Mapping[str, Any]) -> Any:
        """Return the history of ``xgboost.cv`` for one ``kl_weight``; None keeps the weights of the teachers."""
        dtrain, n_rounds, spec = self.boosting.dtrain, self.boosting.num_boost_round, self.training.spec
        has_teacher = bool(self.training.guides) and weight != 0
        if self.engine != "copies" and not has_teacher:
            # Plain XGBoost trains on labelled rows only.
            return xgboost.cv(spec.params, dtrain, n_rounds, **{**keywords, "folds": self.dealt})
        trainings = self.of_folds or [self.training.subset(rows) for rows, _ in self.row_folds]
        students: dict[xgboost.DMatrix, tuple[Distillation, Any]] = {}

        def prepare(number: int, own: xgboost.DMatrix, shown: xgboost.DMatrix, params: dict[str, Any]) -> Any:
            training = trainings[number]
            # The user's preparation may have changed rows and params.
            fresh = Training.from_matrix(Spec.read(params), own, training.labelled)
            guides = (guide if weight is None else guide._replace(kl_weight=weight) for guide in training.guides)
            training = fresh.replace(guides=tuple(guides)).counting()
            if self.engine == "copies":
                return copies.stack_with_params(training, own, {}) if training.guides else (shown, params)
            distillation = Distillation(training)
            chosen = distillation.params()
            students[own] = distillation, chosen.get("base_score")
            return own, chosen

        if self.engine != "copies":
            metric = keywords["custom_metric"]
            keywords = {
                **keywords,
                "callbacks": [*(keywords["callbacks"] or ()), callback.Start(students)],
                "obj": lambda margin, matrix: students[matrix][0].gradient(margin),
                "custom_metric": metric and callback.shown_predictions(metric, spec.loss),
            }
        return _cv_on_folds(self.row_folds, self.training.labelled, prepare, spec.params, dtrain, n_rounds, keywords)


def _progress(verbose_eval: Any) -> bool | None:
    """Return whether progress is shown: where the user asked for no lines, nor against them."""
    return None if verbose_eval is None else False


def _grid_history(folds: _Folds, keywords: Mapping[str, Any], step: Callable[[], None], weight: float) -> Any:
    """Return the history of one ``kl_weight`` of a grid; printed lines begin with its value."""
    verbose_eval, listeners = keywords["verbose_eval"], copy.deepcopy(list(keywords["callbacks"] or ()))
    if verbose_eval:

        def write(line: str) -> None:
            collective.communicator_print(f"kl_weight {weight:g} {line}")

        listeners.append(EvaluationMonitor(period=int(verbose_eval), show_stdv=keywords["show_stdv"], logger=write))
    history = folds.history(weight, {**keywords, "callbacks": listeners, "verbose_eval": False})
    step()
    return history

"""``compare``: do privileged features improve this model at this number of rows?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._arrays import Array
from .._core.config import MethodName, TeacherConfig
from .._core.losses import LOSSES
from .._progress import progress_bar
from .._rows.checks import check_confidence, check_whole
from .._rows.labels import Target, read_target, warn_of_odd_classes
from .._rows.per_row import on_host
from .._rows.resume_cache import ResumeCache
from .._rows.row_alignment import check_one_label_each, check_same_order, checked_weight
from .._rows.supervision import checked_groups, warn_of_idle_rows
from .._rows.tables import check_no_text
from .._rows.views import Views, divide
from .._stats.paired import STANDARD_ERRORS
from .._xgb.matrix import matrix_of, runs, set_queries
from .._xgb.params import user_params
from .._xgb.threads import in_threads, jobs_side_by_side
from .candidates import KL_WEIGHTS, METHOD, candidates_of, without_privileged
from .compared_models import RIVALS, ComparedModels, cells_of
from .comparison import Comparison
from .problem import Recipe, settled
from .scores import score_of
from .search import check_effort, held_out_ratio


def compare(
    X: Any,
    y: Any,
    privileged: Any = None,
    *,
    privileged_features: Any = None,
    params: Any = None,
    num_boost_round: int = 100,
    kl_weight: float | Iterable[float] = KL_WEIGHTS,
    method: MethodName | Iterable[MethodName] = METHOD,
    teacher: Any = None,
    teacher_sees: Any = None,
    crossfit: int | Iterable[int] | None = None,
    teacher_params: Any = None,
    teacher_weight: Any = None,
    crossfit_groups: Any = None,
    constraints: Any = (),
    metric: Any = None,
    custom_metric: Any = None,
    maximize: bool | None = None,
    standard_errors: float = STANDARD_ERRORS,
    sample_weight: Any = None,
    sizes: Sequence[int] | int = (),
    nfold: int = 5,
    repeats: int = 2,
    folds: Any = None,
    groups: Any = None,
    inner_nfold: int = 5,
    confidence: float = 0.95,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    resume: Any = None,
    resume_key: str | None = None,
) -> Comparison:
    """Measure whether privileged features improve the model, before you build on them.

    These models are scored on the same held-out rows:

    =====================  ==========================================================================================
    plain XGBoost          XGBoost on X: the model without a teacher
    z known at prediction  XGBoost on X and the privileged features, also at prediction: the upper bound
    student                the choice of :func:`pi_xgb.select`, by folds inside the training rows alone
    self-distillation      the same with a cross-fitted teacher that sees X only: the gain of smoothing alone
    shuffled               as the student, with the privileged features of other rows: a teacher without information
    best rival             a linear model or a forest on X, whichever is better on folds inside the training rows
    teacher                the predictions of the student's teacher, or of the best teacher if plain XGBoost is chosen
    =====================  ==========================================================================================

    The verdict names the model to deploy, or "undecided", with its reason. The student is recommended only if it is
    significantly better than plain XGBoost, both controls and the best rival. There is no rival under constraints, nor
    for objectives without a mean (rankings, survival, quantiles).

    Rows whose y is missing have no label: they are in every training part and in no test part. Plain XGBoost and the
    upper bound learn from labelled rows alone; teachers, also of both controls, teach all rows. Self-distillation
    therefore measures the gain of the unlabelled rows without privileged features.

    Parameters
    ----------
    X : array-like or DataFrame
    y : array-like
        The classifier features and labels, NaN or None for an unknown label. Two values, strings or categories are
        classes, other numbers are numbers, unless ``params`` name an objective. For ``survival:aft`` y is a table of
        two columns, the lower and the upper bound.
    privileged : DataFrame or array-like, default=None
    privileged_features : list of str or int, default=None
        A table of the privileged features of the same rows, or the names of columns in X that are privileged.
    params : dict, default=None
        XGBoost's parameters. None: its defaults, with the objective of ``y``.
    num_boost_round : int, default=100
        The maximum number of rounds, as for :func:`pi_xgb.select`.
    kl_weight, method, teacher, teacher_sees, crossfit, teacher_params, teacher_weight : as for :func:`pi_xgb.select`
    crossfit_groups, metric, custom_metric, maximize, standard_errors, constraints : as for :func:`pi_xgb.select`
        Constraints hold for all models, so that the comparison is fair.
    sample_weight : array-like of float, default=None
        One weight per row, the same in a query where rows are ranked; counts in training and in every score.
    sizes : int or sequence of int, default=()
        For a learning curve: further numbers of labelled training rows (one or several), drawn from those of each
        fold; all rows without a label stay.
    nfold : int, default=5
    repeats : int, default=2
    folds : splitter or list of (rows, rows), default=None
    seed : int, default=0
        The outer folds, as for :func:`pi_xgb.select`.
    groups : array-like, default=None
        For rows that belong together (one patient, one day): one value per row; the queries where rows are ranked.
        Outer and inner folds keep each group together, and so do the folds of cross-fitted teachers, unless
        ``crossfit_groups`` are given. A splitter gets the groups, and pairs of row numbers are checked against them.
        Rows without a label train where no row of their group is held out.
    inner_nfold : int, default=5
        The number of folds inside each training part, by which the rounds of every model and the student are chosen.
    confidence : float, default=0.95
        The confidence of the intervals, which are corrected for folds that share rows (Nadeau and Bengio).
    n_jobs, progress, resume, resume_key : as for :func:`pi_xgb.select`

    Returns
    -------
    Comparison

    Notes
    -----
    Everything is chosen within every outer training part: no held-out row influences the models it scores.
    By default 60 models are scored on inner folds for each of 10 outer folds and each size, 600 in all, which is what
    the progress counts; one ``kl_weight`` less saves its share. With 100 rounds on 569 rows of 30 columns that takes
    about 70 processor seconds, shared by the cores. There is one set of inner folds, where
    :func:`pi_xgb.select` repeats the folds of few rows.

    The number of labelled rows that an undecided verdict names assumes that gains stay as large while their standard
    errors fall with the root of the number of rows.

    Examples
    --------
    >>> import pi_xgb
    >>> data = pi_xgb.datasets.make_privileged(240, x_noise=2.0, seed=0)
    >>> comparison = pi_xgb.compare(
    ...     data.x, data.y, data.z, params={"max_depth": 2, "nthread": 1}, num_boost_round=20, kl_weight=10.0,
    ...     method="kbpib", teacher="boosted", crossfit=3, nfold=3, repeats=1, inner_nfold=3,
    ... )
    >>> comparison.summary.loc[240 * 2 // 3].index.tolist()
    ['plain XGBoost', 'z known at prediction', 'student', 'self-distillation', 'shuffled', 'best rival', 'teacher']
    """
    check_whole("inner_nfold", inner_nfold, 2)
    check_confidence(confidence)
    jobs = check_effort(num_boost_round, standard_errors, n_jobs, progress)
    per_row = {"y": y, "groups": groups, "crossfit_groups": crossfit_groups, "teacher_weight": teacher_weight}
    views = _divided(X, privileged, privileged_features, per_row)
    own = user_params(params)
    target, fields = _read_labels(y, own.get("objective"))
    check_one_label_each(target.values, X)
    weight = checked_weight(sample_weight, X)
    dtrain, privileged_rows = matrix_of(views.student), matrix_of(views.privileged)
    for matrix in (dtrain, privileged_rows):
        matrix.set_info(**fields)
    if target.objective in LOSSES and LOSSES[target.objective].by_query:
        _rank(dtrain, privileged_rows, groups, weight, sizes)
    elif weight is not None:
        dtrain.set_weight(weight)
    rows = {"labelled": target.labelled, "teacher_weight": teacher_weight, "crossfit_groups": crossfit_groups}
    recipe = Recipe(settled({**target.params, **own}), int(num_boost_round), teacher_params)
    problem = recipe.problem(
        dtrain, TeacherConfig(privileged_rows, **rows), "compare", groups=groups, constraints=constraints, sees_all=True
    )
    score = score_of(metric, custom_metric, maximize, recipe.params, problem.loss, problem.plain)
    candidates = candidates_of(recipe.params, method, teacher, teacher_sees, crossfit, kl_weight)
    splits = problem.splits(nfold, repeats, folds, seed, target.classes)
    controls = without_privileged(candidates)
    rivals = RIVALS if problem.loss.has_gradient and not constraints else []
    models = ComparedModels(candidates, controls, rivals, score, standard_errors, inner_nfold, seed, target.classes)
    cells = cells_of(problem, splits, sizes, seed)
    models.check(problem, cells)
    problem.check_candidates(candidates)
    problem.learning_from(None, None).check_candidates(controls)
    warn_of_idle_rows(problem.idle)
    inputs = {**problem.inputs, "metric": metric, "custom_metric": custom_metric, "maximize": maximize, "seed": seed}
    inputs |= {"candidates": [candidates, controls], "standard_errors": standard_errors, "inner_nfold": inner_nfold}
    cache = ResumeCache(resume, resume_key, "compare", {**inputs, "folds": [getattr(folds, "split", None), cells]})
    n_left = sum(cell.name not in cache for cell in cells)
    jobs = jobs or jobs_side_by_side(params, dtrain.num_row(), score.custom)
    with progress_bar(n_left * models.steps, "compare", progress, models.steps) as step:
        work = cache.memoize(lambda cell: models.evaluate(problem, cell, step), lambda cell: cell.name)
        outcomes = in_threads(work, cells, jobs)
    table = pd.DataFrame([row for rows in outcomes for row in rows])
    n_labelled, unlabelled = problem.plain.num_row(), target.labelled is not None
    return Comparison(table, score, held_out_ratio(splits), confidence, n_labelled, unlabelled=unlabelled)


def _read_labels(y: Any, objective: Any) -> tuple[Target, dict[str, Array]]:
    """Return the labels, and the fields of a matrix that hold them."""
    if objective not in LOSSES or LOSSES[objective].label_fields == ("label",):
        target = read_target(y, objective)
        if objective is None or target.classes is not None:
            warn_of_odd_classes(target)
        return target, {"label": target.values}
    bounds = np.array(on_host(y), np.float32)
    if bounds.ndim != 2 or bounds.shape[1] != 2:
        raise ValueError(
            f"y must have two columns for {objective}, got shape {bounds.shape}: pass the lower and the upper bound, "
            "infinite for an end that was not observed"
        )
    known = ~np.isnan(bounds).any(axis=1)
    bounds[~known] = [0, np.inf]
    fields = dict(zip(LOSSES[objective].label_fields, bounds.T, strict=True))
    return Target(bounds[:, 0], objective, None, None if known.all() else known), fields


def _rank(dtrain: xgboost.DMatrix, privileged: xgboost.DMatrix, groups: Any, weight: Any, sizes: Any) -> None:
    """Set ``groups`` as the queries of both matrices."""
    queries = checked_groups(groups, dtrain.num_row())
    if queries is None:
        raise ValueError("groups must be passed to rank rows within queries: pass groups=qid, one value per row")
    if np.size(sizes):
        raise ValueError(f"sizes must be empty where rows are ranked, got {sizes!r}: drawn rows would split queries")
    if len(runs(pd.factorize(queries)[0])[0]) > len(pd.unique(queries)):
        raise ValueError(
            "the rows of a query must be adjacent where rows are ranked: sort X, y, privileged and all other values "
            "per row by groups"
        )
    set_queries(dtrain, queries, weight)
    set_queries(privileged, queries)


def _divided(X: Any, privileged: Any, privileged_features: Any, per_row: dict[str, Any]) -> Views:
    """Return the views of the tables, or raise if XGBoost cannot read them or their rows differ in order."""
    views = divide(X, None, privileged, None, privileged_features)
    if views.privileged is None:
        raise ValueError("compare needs privileged features: pass privileged, or columns of X as privileged_features")
    for table, name in ((X, "X"), (privileged, "privileged")):
        check_no_text(table, name)
    for name, column in per_row.items():
        check_same_order(X, column, "X", name)
    return views

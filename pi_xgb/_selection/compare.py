"""``compare``: is a student better than what else one could deploy, at this number of rows?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._arrays import Array
from .._core.keywords import DEFAULT_METHOD, Keywords, MethodName
from .._core.losses import LOSSES
from .._plots.by_table import plot_comparison
from .._rows.checks import check_choice, check_confidence
from .._rows.labels import Target, read_target, warn_of_odd_classes
from .._rows.per_row import check_count, on_host
from .._rows.supervision import read_groups, row_weights
from .._rows.tables import check_no_text, check_orders, row_count
from .._rows.views import divide
from .._stats.intervals import Interval, student
from .._xgb.categories import matrix_of
from .._xgb.matrix import runs, set_queries
from .._xgb.params import user_params
from .candidates import Candidate, candidates_of
from .rivals import BASELINE, RIVALS, SELF, SHUFFLED, STUDENT, TEACHER, compared_models, rivals_of
from .scores import Score, score_of
from .splits import Split, held_out_ratio
from .students import Students, search
from .verdict import Measurement, Verdict, student_of


def compare(
    X: Any,
    y: Any,
    privileged: Any = None,
    *,
    privileged_features: Any = None,
    params: Any = None,
    num_boost_round: int = 100,
    kl_weight: float | None = None,
    method: MethodName = DEFAULT_METHOD,
    teacher: Any = None,
    teacher_sees: Any = None,
    crossfit: int | None = None,
    teacher_params: Any = None,
    teacher_weight: Any = None,
    crossfit_groups: Any = None,
    constraints: Any = (),
    metric: Any = None,
    custom_metric: Any = None,
    maximize: bool | None = None,
    standard_errors: float | None = None,
    sample_weight: Any = None,
    nfold: int = 5,
    repeats: int = 2,
    folds: Any = None,
    groups: Any = None,
    confidence: float = 0.95,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    resume: Any = None,
    resume_key: str | None = None,
) -> Comparison:
    """Score a student against what else one could deploy, and say which model to deploy.

    These models are scored on the same held-out rows:

    =====================  ==========================================================================================
    plain XGBoost          XGBoost on X: the model without a teacher
    z known at prediction  XGBoost on X and the privileged features, also at prediction: the upper bound
    student                XGBoost on X with the teacher that the keywords name, a mixed one by default
    self-distillation      the same with a cross-fitted teacher that sees X only: the gain of smoothing alone
    shuffled               as the student, with the privileged features of other rows: a teacher without information
    linear, forest         a linear model and a forest on X
    linear and forest      the mean of their predictions
    z imputed              the same mean on X and the privileged features that a forest predicts from X
    teacher                the predictions of the student's teacher
    =====================  ==========================================================================================

    The verdict names the model to deploy. It is the student, which public data sets recommend, unless another model
    leads it on your rows by more standard errors than chance gives the best of so many. There are no rivals (the four
    models without boosting) under constraints, nor for objectives without a mean (rankings, survival, quantiles).

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
        The maximum number of rounds of a student. A fold has the number that is best on average in the other folds.
    kl_weight : float, default=None
    method : {"kbpib", "jpib"}, default="kbpib"
    teacher, teacher_sees, crossfit : default=None
        The student, as for :func:`pi_xgb.train`, one value each. By default a mixed teacher with ``kl_weight`` 2; to
        choose among several, use :func:`pi_xgb.select`.
    teacher_params, teacher_weight, crossfit_groups : as for :func:`pi_xgb.select`
    metric, custom_metric, maximize, standard_errors, constraints : as for :func:`pi_xgb.select`
        Constraints hold for all models, so that the comparison is fair.
    sample_weight : array-like of float, default=None
        One weight per row, the same in a query where rows are ranked; counts in training and in every score.
    nfold : int, default=5
    repeats : int, default=2
    folds : splitter or list of (rows, rows), default=None
    seed : int, default=0
        The folds, as for :func:`pi_xgb.select`.
    groups : array-like, default=None
        For rows that belong together (one patient, one day): one value per row; the queries where rows are ranked.
        Folds keep each group together, and so do the folds of cross-fitted teachers, unless ``crossfit_groups`` are
        given. A splitter gets the groups, and pairs of row numbers are checked against them.
        Rows without a label train where no row of their group is held out.
    confidence : float, default=0.95
        The confidence of the intervals, which are corrected for folds that share rows (Nadeau and Bengio).
    n_jobs, progress, resume, resume_key : as for :func:`pi_xgb.select`

    Returns
    -------
    Comparison

    Notes
    -----
    By default five boosted models and the rivals are scored in each of ten folds, which is what the progress counts.
    For a learning curve, compare with fewer labels: replace some of y by NaN.

    Examples
    --------
    >>> import pi_xgb
    >>> data = pi_xgb.datasets.make_privileged(240, x_noise=2.0, seed=0)
    >>> comparison = pi_xgb.compare(
    ...     data.x, data.y, data.z, params={"max_depth": 2, "nthread": 1}, num_boost_round=20, nfold=3, repeats=1
    ... )
    >>> comparison.recommendation in comparison.summary.index.unique("model")
    True
    """
    given = locals()
    check_confidence(confidence)
    views = divide(X, None, privileged, None, privileged_features)
    if views.privileged is None:
        raise ValueError("compare needs privileged features: pass privileged, or columns of X as privileged_features")
    rows = {"teacher_weight": teacher_weight, "crossfit_groups": crossfit_groups}
    check_orders({"X": X, "y": y, "groups": groups, "sample_weight": sample_weight, **rows})
    check_no_text(views.student, "X")
    check_no_text(views.privileged, "privileged")
    own = user_params(params)
    target, fields = _read_labels(y, own.get("objective"))
    own = {**target.params, **own}
    check_count("y", len(target.values), row_count(X), table="X")
    weight = row_weights(sample_weight, row_count(X), table="X")
    dtrain, privileged_rows = matrix_of(views.student), matrix_of(views.privileged)
    for matrix in (dtrain, privileged_rows):
        matrix.set_info(**fields)
    if target.objective in LOSSES and LOSSES[target.objective].by_query:
        _rank(dtrain, privileged_rows, groups, weight)
    elif weight is not None:
        dtrain.set_weight(weight)
    config = Keywords(privileged_rows, teacher_params=teacher_params, labelled=target.labelled, **rows)
    students = Students.read(own, num_boost_round, dtrain, config, "compare", groups=groups, constraints=constraints)
    score = score_of(metric, custom_metric, maximize, students.spec)
    _, *taught = candidates_of(students.params, method, teacher, teacher_sees, crossfit, kl_weight)
    if len(taught) > 1:
        raise ValueError(f"compare takes one student, got {', '.join(item.name for item in taught)}: use pi_xgb.select")
    student = taught[0]
    splits = students.splits(nfold, repeats, folds, seed, target.classes)
    students.check([student, student.without_privileged()], splits)
    has_rivals = students.spec.loss.has_gradient and not constraints
    models = compared_models(student, students, seed)
    found = search("compare", models, splits, score, given, rivals_of if has_rivals else None)
    measurement = Measurement(score, held_out_ratio(splits), students.n_labelled, standard_errors, confidence)
    rounds = {model: score.best([fold[model][0] for fold in found]) + 1 for model in models}
    return Comparison(table_of(splits, found, score), measurement, student, rounds)


class Comparison:
    """The result of :func:`compare`.

    Attributes
    ----------
    table
        A row for each repeat, fold and model: its score, its gain over plain XGBoost there, and its rounds.
        ``size``, ``n_train`` and ``n_test`` count labelled rows.
    summary
        By size (the least ``n_train``) and model: mean score, mean gain over plain XGBoost with its corrected standard
        error (``gain_se``) and interval (``low``, ``high``), and the share of the folds in which the model is better
        (``better``). Positive gains are improvements for every metric.
    recommendation
        The model to deploy: "student", "self-distillation", "plain XGBoost" or a rival.
    verdict
        What to deploy, with the rounds of the best mean score on the folds, the gain to expect, and what would change
        that; ``print(comparison)`` adds the scores.
    evidence
        Whether privileged features improve the model: the interval of the student's gain over plain XGBoost lies above
        0, and the student is better than each control by a one-sided test at the same level. All three must hold, so
        uninformative privileged features pass no more often than in any single test.
    metric, maximize, confidence
        The metric, whether more is better, and the confidence of the intervals.

    Examples
    --------
    >>> import pi_xgb
    >>> data = pi_xgb.datasets.make_privileged(120, seed=0)
    >>> few = {"nfold": 2, "repeats": 1, "crossfit": 2, "num_boost_round": 3}
    >>> comparison = pi_xgb.compare(data.x, data.y, data.z, params={"max_depth": 2, "nthread": 1}, **few)
    >>> gain = comparison.difference("student", "plain XGBoost")
    >>> gain.low <= gain.mean <= gain.high
    True
    """

    def __init__(
        self, table: pd.DataFrame, measurement: Measurement, candidate: Candidate, rounds: Mapping[str, int]
    ) -> None:
        self.table, self.confidence = table, measurement.confidence
        self.metric, self.maximize = measurement.score.name, measurement.score.maximised
        self._scores = table.pivot(index=["repeat", "fold"], columns="model", values="score")
        taught, alone = (student_of(item) for item in (candidate, candidate.without_privileged()))
        words = {BASELINE: BASELINE, STUDENT: taught, SELF: alone, **RIVALS}
        deployable = [model for model in words if model in self._scores]
        models = [words[model] for model in deployable]
        by_model = self._scores[deployable].to_numpy().T
        of_models = [rounds.get(model, 0) for model in deployable]
        self._verdict = Verdict.of(measurement, models, by_model, deployable.index(STUDENT), of_models)
        groups = table.groupby(["size", "model"], sort=False)
        self.summary = groups[["score"]].mean()
        gains = [self.difference(str(model), BASELINE) for _, model in self.summary.index]
        self.summary[["gain", "gain_se", "low", "high"]] = gains
        self.summary["better"] = groups["gain"].agg(lambda gain: (gain > 0).mean())
        self.recommendation = deployable[self._verdict.chosen]
        self.verdict = f"{self._verdict.instruction}\n{self._verdict.expectation}\n{self._verdict.change}"

    @property
    def evidence(self) -> bool:
        """Whether privileged features improve the model."""
        one_sided = student(len(self._scores) - 1, max(2 * self.confidence - 1, 0.0))
        gain, *others = (self.difference(STUDENT, model) for model in (BASELINE, SELF, SHUFFLED))
        # A gain that is equal in all folds has an unknown error.
        ahead = all(other.error > 0 and other.mean > one_sided * other.error for other in others)
        return gain.error > 0 and gain.low > 0 and ahead

    def difference(self, model: str, other: str) -> Interval:
        """The gain of one model over another on the same held-out rows."""
        for name in (model, other):
            check_choice(name, self.table["model"].unique().tolist(), "model")
        return self._verdict.measurement.gain(self._scores[model].to_numpy(), self._scores[other].to_numpy())

    def plot(self, ax: Any = None) -> Any:
        """The gain of each model over plain XGBoost with its interval; needs matplotlib."""
        return plot_comparison(self.summary, self._verdict.measurement.score.unit, ax)

    def __str__(self) -> str:
        return self._verdict.text(self.summary.droplevel("size")[["score", "gain", "low", "high"]])

    def __repr__(self) -> str:
        return f"<Comparison: {self._verdict.instruction} {self._verdict.expectation}>"


def table_of(splits: Sequence[Split], found: Sequence[dict[str, Any]], score: Score) -> pd.DataFrame:
    """Return a row per fold and model.

    The rounds of a student are those that are best on average in the other folds of the same repeat, so that the
    held-out rows of a fold do not choose the rounds by which they are scored.
    """
    cells, size = [], min(len(split.train) for split in splits)  # one number for folds that differ by a row or so
    for split, outcome in zip(splits, found, strict=True):
        beside = [
            other
            for place, other in zip(splits, found, strict=True)
            if place is not split and place.repeat == split.repeat
        ]
        lines = []
        for model, (curve, _) in outcome.items():
            best = score.best([other[model][0] for other in beside])
            lines.append((model, curve[best], best + 1 if len(curve) > 1 else 0))
        lines.append((TEACHER, outcome[STUDENT][1], 0))
        cell = pd.DataFrame(lines, columns=["model", "score", "rounds"])
        gain = score.sign * (cell["score"] - cell["score"][0]) + 0.0  # no -0
        of_split = {"repeat": split.repeat, "fold": split.fold, "n_train": len(split.train), "n_test": len(split.test)}
        cells.append(cell.assign(size=size, gain=gain, **of_split))
    columns = ["size", "repeat", "fold", "model", "score", "gain", "rounds", "n_train", "n_test"]
    return pd.concat(cells, ignore_index=True)[columns]


def _read_labels(y: Any, objective: Any) -> tuple[Target, dict[str, Array]]:
    """Return the labels, and the fields of a matrix that hold them."""
    if objective not in LOSSES or LOSSES[objective].label_fields == ("label",):
        target = read_target(y, objective)
        if objective is None or target.classes is not None:
            warn_of_odd_classes(target)
        return target, {"label": target.values}
    bounds = np.array(on_host(y), np.float32)
    if bounds.ndim != 2 or bounds.shape[1] != 2:
        raise ValueError(f"y must have two columns for {objective}, got shape {bounds.shape}: lower and upper bounds")
    gaps = np.isnan(bounds)
    if (gaps[:, 0] != gaps[:, 1]).any():
        raise ValueError("y must have both bounds of a row or none, got one in some: an open end is numpy.inf")
    known = ~gaps[:, 0]
    bounds[~known] = [0, np.inf]
    fields = dict(zip(LOSSES[objective].label_fields, bounds.T, strict=True))
    return Target(bounds[:, 0], objective, None, None if known.all() else known), fields


def _rank(dtrain: xgboost.DMatrix, privileged: xgboost.DMatrix, groups: Any, weight: Any) -> None:
    """Set ``groups`` as the queries of both matrices."""
    queries = read_groups(groups, dtrain.num_row())
    if queries is None:
        raise ValueError("groups must be passed to rank rows within queries: pass groups=qid, one value per row")
    if len(runs(pd.factorize(queries)[0])[0]) > len(pd.unique(queries)):
        raise ValueError("the rows of a query must be adjacent where rows are ranked: sort all values per row by group")
    set_queries(dtrain, queries, weight)
    set_queries(privileged, queries)

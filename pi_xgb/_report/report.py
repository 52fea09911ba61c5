"""``report``: one page about one model or several, with their effect on groups."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .._files import new_file, write_file
from .._progress import progress_bar
from .._rows.checks import check_bootstrap, check_choice, check_whole, needed_module
from .card import model_cards
from .models import read_models, read_rows
from .numbers import compute
from .page import draw, render
from .settings import model_params, model_settings, page_settings
from .summary import small_groups, summary


def report(
    path: str | os.PathLike[str],
    models: Any,
    X: Any,
    y: Any = None,
    *,
    sensitive_features: Any,
    threshold: float | Mapping[str, float] = 0.5,
    sample_weight: Any = None,
    title: str = "Model report",
    evaluated_on: str | None = None,
    importance_metric: Literal["dp", "eo"] = "dp",
    pictures: bool = True,
    max_features: int = 15,
    n_boot: int = 1000,
    confidence: float = 0.95,
    random_state: Any = 0,
    overwrite: bool = False,
    json: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Path:
    """Write one HTML page about one model, or about several side by side.

    Use it to show colleagues the performance and fairness of a model without a notebook. The page needs no network,
    script or other file. It supports phones, dark mode and print. It contains performance, differences between groups,
    the rates of each group, feature importances, pictures and settings, nearly all with intervals. A summary in plain
    words comes first: the number of gaps, those that are more than chance after correction for all of them, their
    groups, and the confidence. Each sensitive feature is analysed alone, then their intersections. With several models
    the first is the baseline: put plain XGBoost there.

    The page needs jinja2, and matplotlib for its pictures (extra ``report``).

    Parameters
    ----------
    path : str or path
    json : str or path, default=None
    overwrite : bool, default=False
        The page to write; a file for its numbers as JSON; whether they may replace existing files, which otherwise
        raise FileExistsError. Files are written atomically, and the path of the page is returned. The JSON is a
        CycloneDX bill of materials with a ``modelCard`` for each model: type, value, slice and confidence interval of
        each number (``performanceMetrics``), the gaps in words (``fairnessAssessments``), and the training settings
        (``properties``).
    models : model or dict of str to model
        A model, or a dict from names to models. A model is an ``xgboost.Booster``, an estimator of XGBoost's
        scikit-learn interface, or any other with ``predict_proba`` (whose importances come from a surrogate
        tree). Binary labels only. A model that was stopped early is evaluated up to its best round.
    X : DataFrame, array-like or DMatrix
    y : array-like, default=None
        Rows that the models were not trained on (a DataFrame, an array or a DMatrix), and the label of each, 0 or 1.
        A DMatrix may contain the labels. Each model gets the columns of a DataFrame that it was trained on, so models
        with different features can be compared.
    sensitive_features : array-like or DataFrame
        The group of each row, or a DataFrame of several columns for their intersections. It need not be in X.
    threshold : float or dict of str to float, default=0.5
        Rows with a probability above it are selected. One for all models, or a dict from names to thresholds.
        Choose them on validation rows (:func:`pi_xgb.metrics.choose_threshold`).
    sample_weight : array-like of float, default=None
        The weight of each row. None: those of X if it is a DMatrix with weights.
    title : str, default="Model report"
    evaluated_on : str, default=None
        The data of the page in your words, such as the name of the file and the dates of its rows.
    importance_metric : {"dp", "eo"}, default="dp"
        The heading of the page, and the ``metric`` of :func:`pi_xgb.importance.fair_importance`.
    pictures : bool, default=True
    max_features : int, default=15
        Whether to draw, which needs matplotlib, and the number of features to show.
    n_boot : int, default=1000
    confidence : float, default=0.95
    random_state : int or numpy.random.Generator, default=0
        Settings of intervals, as for :func:`pi_xgb.metrics.group_report` and :func:`pi_xgb.metrics.disparity_report`;
        ``n_boot=0`` for none, and for no p-values.
    progress : bool, default=None
        Whether to show the progress of resampling, as in :func:`pi_xgb.select`.

    Notes
    -----
    The settings at the end of the page let an audit repeat it: for each model the teachers with their settings,
    constraints, weights, parameters and numbers of training rows and labels; for the page its data, draws, versions and
    day. A booster records neither the training data nor the columns of groups: name file, dates and columns with
    ``booster.set_attr(trained_on="adult.csv, 1994, groups by sex")``. A plain booster does not record its rows either.
    An estimator shows the columns of its constraints.

    The page contains no value of any row, but counts and rates of groups, names of groups and features, and all
    attributes of the boosters. Rates of a small group may identify people; the page warns of groups below ten rows. An
    undefined rate is marked on the page and raises a :class:`pi_xgb.metrics.UndefinedRateWarning`.

    All arguments are checked before anything is computed. The numbers are those of :mod:`pi_xgb.metrics`. Most of the
    time goes to resampling the performance of models. It grows with the number of rows, models and resamples: use a
    smaller ``n_boot`` for a first look at many rows.

    Examples
    --------
    >>> import tempfile, pi_xgb, xgboost as xgb
    >>> from pi_xgb import report
    >>> data = pi_xgb.datasets.make_privileged(300, group_gap=1.0, seed=0)
    >>> params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
    >>> dtrain = xgb.DMatrix(data.x[:150], data.y[:150])
    >>> privileged = xgb.DMatrix(data.z[:150], data.y[:150])
    >>> models = {
    ...     "plain": pi_xgb.train(params, dtrain, 10),
    ...     "guided": pi_xgb.train(params, dtrain, 10, privileged=privileged, kl_weight=1.0)}
    >>> test = data.x[150:], data.y[150:]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = report(f"{folder}/report.html", models, *test, sensitive_features=data.group[150:], n_boot=20)
    ...     path.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    target = new_file(path, "path", overwrite=overwrite)
    cards = None if json is None else new_file(json, "json", overwrite=overwrite)
    if cards is not None and cards.absolute() == target.absolute():
        raise ValueError(f"json must name another file than path, got {str(json)!r} for both")
    needed_module("jinja2", "pages need jinja2", "report")
    check_choice(importance_metric, ("dp", "eo"), "importance_metric")
    check_whole("max_features", max_features, 1)
    if pictures:
        needed_module("matplotlib", "plots need matplotlib", "plot")
    check_bootstrap(n_boot, confidence)
    if isinstance(random_state, np.random.Generator):  # the same resamples for every table and every model
        random_state = int(random_state.integers(2**63))
    how = {"n_boot": int(n_boot), "confidence": confidence, "random_state": random_state}
    rows = read_rows(X, y, sensitive_features, sample_weight)
    scored = read_models(models, threshold, X, rows.labels.size)

    with progress_bar(len(scored) * (1 + n_boot), "report", progress) as step:
        numbers, noted = compute(scored, rows, how, importance_metric, step)
    for text, category, _ in noted:
        warnings.warn(text, category, stacklevel=2)
    trained = {model.name: model_settings(model) for model in scored}
    page = render(
        numbers,
        confidence,
        max_features,
        title=title,
        summary=summary(rows, numbers, n_boot, confidence),
        notes=[*small_groups(rows), *(text for text, _, is_ours in noted if is_ours)],
        pictures=draw(scored, rows, numbers, max_features) if pictures else {"groups": {}, "features": {}},
        trained=trained,
        params={model.name: model_params(model) for model in scored},
        settings=page_settings(rows, how, importance_metric, evaluated_on),
    )
    write_file(target, page.encode(), overwrite=overwrite)
    if cards is not None:
        write_file(cards, model_cards(numbers, trained, confidence).encode(), overwrite=overwrite)
    return target

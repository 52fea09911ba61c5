"""FairFIS, the fair feature importance score of a model's trees."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from .._rows.checks import check_choice, check_confidence
from .._rows.groups import as_groups
from .._rows.names import describe, in_words, plain
from .._rows.per_row import per_row
from .._rows.tables import check_orders, number_table
from .._xgb.trees import Array
from .problem import Problem, limits, normalized, scores_of
from .sklearn_trees import SklearnSubject
from .subject import Subject, read_weights, subject_of


def fair_importance(
    booster: Any,
    X: Any,
    y: Any = None,
    *,
    sensitive_features: Any,
    metric: Literal["dp", "eo"] = "dp",
    node_value: Literal["label", "prob"] = "label",
    bound: bool = False,
    normalize: bool = True,
    sample_weight: Any = None,
    iteration_range: tuple[int, int] | None = None,
    absent_group: Literal["carry", "zero"] = "carry",
    surrogate_params: Mapping[str, Any] | None = None,
    surrogate_rounds: int = 1,
    confidence: float | None = None,
) -> pd.DataFrame:
    """Fair feature importance (FairFIS): which features add group bias to a model, and which remove it.

    Use it to find the features that make a model treat groups differently, beside how much the model relies on them.
    Each split of each tree is compared with the level above: how much does the difference between the groups in the
    expected value change? The change, weighted by the share of rows at the split, is added to the split's feature.
    **Positive: splits on the feature make the trees fairer. Negative: they add bias.** The sensitive column need not be
    among the features.

    Parameters
    ----------
    booster : xgboost.Booster or model
        A tree booster: ``xgboost.Booster``, or an estimator of XGBoost's scikit-learn interface. Or a tree, a forest or
        ``GradientBoosting`` of scikit-learn, whose own trees are read unless ``surrogate_params`` are given. Any other
        model is replaced by a surrogate (see Notes): an object with ``predict_proba`` or ``predict``, or an array of
        its predictions for the rows of X, ``(n,)``, or ``(n, K)`` with the probability of each class.
    X : DataFrame, array-like or DMatrix
        The rows to pass through the trees, usually the training rows: a DataFrame, array or DMatrix with the booster's
        features in the booster's order (an array has no names, a DMatrix must have the booster's). For a surrogate: no
        DMatrix.
    y : array-like, default=None
        The label of each row: 0 and 1; the classes 0 to K-1 (for another model with ``classes_``: those); numbers for
        regression; ``(n, K)`` for several targets. Optional with ``metric="dp"`` and ``node_value="prob"`` only.
    sensitive_features : array-like or DataFrame
    sample_weight : array-like of float, default=None
        The group and the weight of each row. Several columns of groups mean their intersections; missing values form a
        group called "missing". Weights None: those of X if it is a DMatrix with weights, otherwise equal weights.
    metric : {"dp", "eo"}, default="dp"
        ``"dp"`` (demographic parity) compares the groups over all rows of a node, ``"eo"`` (equality of opportunity)
        over its rows with label 1, which needs classes as labels.
    node_value : {"label", "prob"}, default="label"
        The value of a node. ``"label"``: the share of label 1 among its rows (the mean of y in regression). ``"prob"``:
        the mean of the whole model's predictions among its rows (with a custom objective, the output of ``predict``).
    bound : bool, default=False
    normalize : bool, default=True
        ``bound=True`` gives an upper bound on the bias, with absolute values inside the sum over the two children.
        ``normalize`` divides each column by the sum of its absolute values (all-zero columns stay zero).
    iteration_range : (int, int), default=None
        The rounds to read, ``(begin, end)`` as in ``Booster.predict``; ``(0, 0)`` means all. None: up to the best
        iteration if the booster was stopped early, otherwise all. ``attrs`` has the range.
    absent_group : {"carry", "zero"}, default="carry"
        The rule for a node where a group, or all other groups, has no rows to compare. ``"carry"``: the bias of the
        level above stays, so the split contributes 0. ``"zero"``: the share of the absent group counts as 0, as in the
        code of the authors of FairFIS; such a node can look very biased.
    surrogate_params : dict, default=None
    surrogate_rounds : int, default=1
        XGBoost parameters and rounds of the surrogate, over the defaults: one tree of depth 6 by squared error,
        without shrinkage or penalty. Only for models that are not boosters.
    confidence : float, default=None
        The confidence of the intervals of ``fair_importance``, such as 0.95; None for no intervals.

    Returns
    -------
    pandas.DataFrame
        One row per feature, in the order of X; features that no tree uses have 0. The columns:

        - ``fair_importance``: the score. With several classes or targets, their sum. With more than two groups each
          group is compared with all others, and at each level of a tree the largest bias counts.
        - ``fair_importance_low`` and ``fair_importance_high``, with ``confidence``: a jackknife over twentieths of the
          rows and of the trees, for all features together (Bonferroni). The sign is supported where the interval
          excludes 0. NaN for a single tree, whose first split decides the sign.
        - ``gain`` and ``total_gain``: XGBoost's own importances for the same trees, as an average and as a sum over
          the splits (the score is a sum, too). NaN for trees with vector leaves before XGBoost 3.2.
        - ``fair_importance[class=...]`` or ``fair_importance[target=...]``: one for each if there are several.
        - ``fair_importance[group=...]``: each group against all others, if there are more than two.

        ``attrs`` has iteration_range, n_trees, groups and surrogate, which is None or a dict with the fidelity (``r2``,
        ``agreement``), ``params`` and ``rounds``.

    Notes
    -----
    With ``metric="eo"``, a group without rows with label 1 cannot be compared, which raises a UserWarning. Its own
    column is NaN, never 0; ``fair_importance`` covers the other groups, and is NaN with fewer than two of them. With
    several classes this holds for each class, and NaN in one class makes the sum NaN.

    The authors' released code corresponds to ``node_value="label"`` and ``absent_group="zero"``, with ``bound=True``
    for boosting and ``bound=False`` for a single tree. Their formulas for regression and for several classes have
    errors, which are not reproduced. The trees of a DART booster count with their weights in the model. A tree with
    vector leaves (``multi_strategy="multi_output_tree"``) counts once for each output.

    A surrogate is a small XGBoost model fitted to another model's predictions; scores and gains are those of the
    surrogate. Check ``attrs["surrogate"]`` first: with an ``r2`` far below 1 the scores do not describe the model, so
    allow more depth or rounds. ``agreement`` is the share of rows with the same decision (NaN for regression). Both
    are computed on the rows that the surrogate was fitted to. With ``node_value="label"`` its nodes hold the labels,
    with ``"prob"`` the model's predictions.

    The score describes these trees and these rows. It is not causal, and among correlated features it depends on which
    of them the trees split on. :func:`shap_gap` reads the predictions instead. The cost is one
    ``predict(pred_leaf=True)`` and somewhat less again to count the rows (with ``confidence`` twenty times). Memory
    stays bounded, since many trees take several passes.

    Examples
    --------
    The second feature depends on the group; splits on the first feature below it reduce the difference again:

    >>> import numpy as np, xgboost as xgb
    >>> from pi_xgb.importance import fair_importance
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(0, 2, 1000)
    >>> X = np.column_stack([rng.normal(size=1000), rng.normal(group, 1.0)])
    >>> y = (X.sum(axis=1) > 0.5).astype(int)
    >>> params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
    >>> booster = xgb.train(params, xgb.DMatrix(X, y), 5)
    >>> scores = fair_importance(booster, X, y, sensitive_features=group)
    >>> scores["fair_importance"].round(1).to_dict()
    {'f0': 0.5, 'f1': -0.5}
    >>> scores.attrs["iteration_range"]
    (0, 5)
    """
    check_choice(metric, ("dp", "eo"), "metric")
    check_choice(node_value, ("label", "prob"), "node_value")
    check_choice(absent_group, ("carry", "zero"), "absent_group")
    if confidence is not None:
        check_confidence(confidence)
    if y is None and (metric == "eo" or node_value == "label"):
        raise ValueError(f"metric={metric!r} with node_value={node_value!r} needs the labels y, got None: pass them")
    check_orders({"X": X, "y": y, "sensitive_features": sensitive_features, "sample_weight": sample_weight})
    groups = as_groups(sensitive_features, are_compared=True)
    n_rows = groups.codes.size
    subject = subject_of(booster, X, n_rows, iteration_range, sample_weight, surrogate_params, surrogate_rounds)
    labels = subject.mean() if y is None else _read_labels(y, subject, metric)
    problem = Problem(
        subject,
        groups,
        labels,
        values=subject.mean() if node_value == "prob" else labels,
        weight=read_weights(sample_weight, subject.weights, groups),
        metric=metric,
        bound=bound,
        carry=absent_group == "carry",
        normalize=normalize,
    )
    has_positives = problem.has_positives()
    if not has_positives.all():
        warnings.warn(_groups_without_positives(problem, has_positives), UserWarning, stacklevel=2)
    whole, *fewer_rows = scores_of([problem, *(problem.without_parts() if confidence else [])])
    frame = _frame(problem, whole.sum(axis=0))
    if confidence:
        low, high = limits(problem, whole, fewer_rows, confidence)
        frame.insert(1, "fair_importance_low", low)
        frame.insert(2, "fair_importance_high", high)
    frame.attrs = {
        "iteration_range": (subject.begin, subject.end),
        "n_trees": subject.n_trees,
        "groups": groups.names.tolist(),
        "surrogate": subject.surrogate,
    }
    return frame


def _read_labels(y: Any, subject: Subject | SklearnSubject, metric: str) -> Array:
    """Return the labels by class or target ``(n, K)``; raise if they do not fit the model and the metric."""
    n_outputs, classes, objective = subject.n_outputs, subject.classes, subject.objective
    of_classes = subject.output_kind == "class" and n_outputs > 1
    if classes is not None:
        labels = per_row("y", y, kind="values")
        y = pd.Index(classes).get_indexer(pd.Index(labels))
        if (y < 0).any():
            unknown = describe(pd.unique(labels[y < 0]))
            raise ValueError(f"y must hold the model's classes {describe(classes)}, got also {unknown}")
    values = number_table(y, "y", subject.n_rows)
    n_columns = 1 if of_classes else n_outputs
    if values.shape[1] != n_columns:
        raise ValueError(f"y must have {n_columns} value(s) per row for this model, got shape {values.shape}")
    low, high = values.min(), values.max()
    must = ""
    if of_classes and (low < 0 or high >= n_outputs or (values % 1).any()):
        must = f"hold the model's classes, whole numbers from 0 to {n_outputs - 1}"
    elif objective.startswith("binary:") and not (low >= 0 and high <= 1):
        must = f"lie in [0, 1] for the booster's objective {objective}"
    if must:
        raise ValueError(f"y must {must}, got values from {low} to {high}: encode the classes as for training")
    if of_classes:
        return np.asarray(values == np.arange(n_outputs), np.float64)
    if metric == "eo" and not np.isin(values, (0.0, 1.0)).all():
        raise ValueError(f"y must be 0 or 1 with metric='eo', got values from {low} to {high}: use metric='dp'")
    return np.asarray(values)


def _names_of_outputs(subject: Subject | SklearnSubject) -> list[str]:
    """Return the names of classes or targets; with one output for two classes that of the second."""
    names = range(subject.n_outputs) if subject.classes is None else subject.classes[-subject.n_outputs :]
    return [str(name) for name in names]


def _groups_without_positives(problem: Problem, has_positives: Array) -> str:
    subject = problem.subject
    parts = []
    for code in np.flatnonzero(~has_positives.all(axis=1)):
        outputs = ", ".join(np.array(_names_of_outputs(subject))[~has_positives[code]])
        which = f" ({subject.output_kind} {outputs})" if subject.n_outputs > 1 else ""
        parts.append(f"group {plain(problem.groups.names[int(code)])!r}{which}")
    return (
        f"metric='eo' needs rows with label 1, got none in {'; '.join(parts)}: their importance is NaN. Merge "
        "small groups, or use metric='dp'"
    )


def _frame(problem: Problem, raw: Array) -> pd.DataFrame:
    subject = problem.subject
    by_group, overall = raw[:-1], raw[-1]
    fair = {"fair_importance": overall.sum(axis=0)}
    if subject.n_outputs > 1:
        for name, score in zip(_names_of_outputs(subject), overall, strict=True):
            fair[f"fair_importance[{subject.output_kind}={name}]"] = score
    if problem.groups.count > 2:
        for name, score in zip(problem.groups.names, by_group.sum(axis=1), strict=True):
            fair[f"fair_importance[group={in_words(name)}]"] = score
    table = {name: problem.scaled(column) for name, column in fair.items()}
    frame = pd.DataFrame(table, index=pd.Index(subject.features, name="feature"))
    for place, kind in enumerate(("gain", "total_gain"), start=1):
        gain = subject.gain(kind)
        frame.insert(place, kind, normalized(gain) if problem.normalize else gain)
    return frame

"""Differences between two groups in the mean SHAP contribution of each feature."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from .._rows.checks import check_confidence
from .._rows.groups import Groups, as_groups
from .._rows.names import describe, plain
from .._rows.tables import check_orders
from .._stats.intervals import student
from .._xgb.trees import Array
from .subject import Subject, is_booster, read_weights, subject_of


def shap_gap(
    booster: Any,
    X: Any,
    *,
    sensitive_features: Any,
    between: tuple[Hashable, Hashable] | None = None,
    sample_weight: Any = None,
    iteration_range: tuple[int, int] | None = None,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Which features cause the gap between two groups' scores: differences of their mean SHAP contributions.

    Use it beside :func:`fair_importance`, which reads the splits of the trees and may change its sign from one training
    to the next. Here each row's margin is a sum over features (XGBoost's ``pred_contribs``), so the gap between two
    groups' mean margins is a sum over features as well. **Above 0: the feature raises the first group's scores over the
    second's.**

    Parameters
    ----------
    booster, X, iteration_range : as for :func:`fair_importance`
        One output only. Any other model is replaced by a surrogate, in the units of its predictions.
    sensitive_features : array-like or DataFrame
    sample_weight : array-like of float, default=None
        The group of each row, and its weight.
    between : pair of groups, default=None
        The two groups. None: those with the highest and the lowest mean margin.
    confidence : float, default=0.95
        The confidence of the intervals, for all features together (Bonferroni).

    Returns
    -------
    pandas.DataFrame
        One row per feature: ``shap_gap``, ``shap_gap_low``, ``shap_gap_high``, and ``sign``: "+" or "-" where the
        interval excludes 0, else "not supported". ``attrs`` has ``between`` and ``gap``, the sum of all features.

    Notes
    -----
    The intervals are Welch's: they hold for this model on rows drawn independently from the same distribution. Another
    training gives another model. A contribution describes the model's use of a feature, not a causal effect. The trees
    decide how correlated features share their contributions. The cost is that of ``pred_contribs``.

    Examples
    --------
    >>> import numpy as np, xgboost as xgb
    >>> from pi_xgb.importance import shap_gap
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(0, 2, 1000)
    >>> X = np.column_stack([rng.normal(size=1000), rng.normal(group, 1.0)])
    >>> y = (X.sum(axis=1) > 0.5).astype(int)
    >>> params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
    >>> booster = xgb.train(params, xgb.DMatrix(X, y), 5)
    >>> table = shap_gap(booster, X, sensitive_features=group)
    >>> table["sign"].to_dict(), table.attrs["between"]
    ({'f0': 'not supported', 'f1': '+'}, (1, 0))
    """
    check_confidence(confidence)
    check_orders({"X": X, "sensitive_features": sensitive_features, "sample_weight": sample_weight})
    groups = as_groups(sensitive_features, are_compared=True)
    # Trees of scikit-learn have no contributions: all models but boosters get a surrogate.
    surrogate_params: dict[str, Any] | None = None if is_booster(booster) else {}
    subject = subject_of(booster, X, groups.codes.size, iteration_range, sample_weight, surrogate_params, 1)
    if not isinstance(subject, Subject) or subject.n_outputs > 1:
        raise ValueError("booster must have one output in shap_gap, got several: pass a model of one class or target")
    weight = read_weights(sample_weight, subject.weights, groups)
    contributions = subject.predict(pred_contribs=True)
    pair = _pair(between, contributions.sum(axis=1), weight, groups)
    # As differences from one row: a constant contribution has a gap of exactly 0.
    contributions = contributions - contributions[0]
    found = [_mean_and_error(contributions, groups.codes == code, weight) for code in pair]
    (first, first_error, first_rows), (other, other_error, other_rows) = found
    gap, error = (first - other)[:-1], np.hypot(first_error, other_error)[:-1]
    half = student(int(max(min(first_rows, other_rows) - 1, 1)), 1 - (1 - confidence) / subject.n_features) * error
    frame = pd.DataFrame(
        {"shap_gap": gap, "shap_gap_low": gap - half, "shap_gap_high": gap + half},
        index=pd.Index(subject.features, name="feature"),
    )
    frame["sign"] = np.where(gap - half > 0, "+", np.where(gap + half < 0, "-", "not supported"))
    frame.attrs = {"between": tuple(plain(groups.names[code]) for code in pair), "gap": float(gap.sum())}
    return frame


def _pair(between: Any, margin: Array, weight: Array, groups: Groups) -> tuple[int, int]:
    """Return the codes of the two groups."""
    if between is None:
        means = np.bincount(groups.codes, weight * margin) / np.bincount(groups.codes, weight)
        return int(means.argmax()), int(means.argmin() if np.ptp(means) else means.size - 1)
    names = list(groups.names)
    pair = list(between) if isinstance(between, (tuple, list, np.ndarray, pd.Index)) else [between]
    if len(pair) != 2 or any(name not in names for name in pair) or pair[0] == pair[1]:
        raise ValueError(f"between must name two of the groups {describe(names)}, got {between!r}: pass a pair of them")
    return names.index(pair[0]), names.index(pair[1])


def _mean_and_error(contributions: Array, rows: Array, weight: Array) -> tuple[Array, Array, float]:
    """Return mean and standard error of each column over ``rows``, and their effective number."""
    part, share = contributions[rows], weight[rows] / weight[rows].sum()
    mean = share @ part
    concentration = float(np.square(share).sum())
    # A group of one row has no variance: its interval is infinite.
    error = np.full(mean.shape, np.inf)
    if concentration < 1:
        error = np.sqrt(np.square(share) @ np.square(part - mean) / (1 - concentration))
    return mean, error, 1 / concentration

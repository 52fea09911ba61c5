"""Differences in rates between groups, as one number: parity, odds, opportunity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from .._rows.checks import check_choice
from .._rows.groups import as_groups, check_several
from .._rows.names import plain
from ._rates import RATES, Values, as_decided, warn_undefined

Undefined = Literal["nan", "skip"]

GAPS = {
    "statistical_parity": ("selection_rate",),
    "equalized_odds": ("true_positive_rate", "false_positive_rate"),
    "equal_opportunity": ("true_positive_rate",),
}
"""The rates that each difference between groups compares."""

COMPARED = {**GAPS, "predictive_parity": ("precision",), "false_positive_rate_parity": ("false_positive_rate",)}
"""The same, with metrics that only tables offer."""


def statistical_parity(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, undefined: Undefined = "nan"
) -> float:
    """The largest difference in selection rate of two groups, ``|P(d=1 | s=a) - P(d=1 | s=b)|``, between 0 and 1.

    Use it when selection itself must not depend on the group, regardless of the labels; 0 is parity. It equals
    Fairlearn's ``demographic_parity_difference``.

    Parameters
    ----------
    y_true, y_pred : array-like
        Labels and decisions, 0 or 1. Labels are not used and may be None; if passed, they are checked.
    sensitive_features : array-like or DataFrame
    sample_weight : array-like of float, default=None
        The group of each row, or a DataFrame of several columns, whose intersections are then the groups (missing
        values are a group called "missing"); and its weight.
    undefined : {"nan", "skip"}, default="nan"
        What to do with a group that lacks the rate (here: has no weight). "nan" makes the result NaN, since the
        largest of undefined values is undefined; "skip" compares the others. Both warn and name the group.

    Examples
    --------
    >>> from pi_xgb import metrics
    >>> sex = ["f", "f", "m", "m"]
    >>> metrics.statistical_parity([1, 0, 1, 0], [1, 0, 1, 1], sensitive_features=sex)
    0.5
    """
    return _decided_gap("statistical_parity", y_true, y_pred, sensitive_features, sample_weight, undefined)


def equal_opportunity(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, undefined: Undefined = "nan"
) -> float:
    """The largest difference in true positive rate, ``|P(d=1 | s=a, y=1) - P(d=1 | s=b, y=1)|``, between 0 and 1.

    Use it when those who deserve selection should have the same chance in every group. It equals Fairlearn's
    ``equal_opportunity_difference``, except that a group without positives gives NaN, with a warning, instead of a rate
    of 0.

    Parameters
    ----------
    y_true, y_pred, sensitive_features, sample_weight, undefined : as for :func:`statistical_parity`
        ``y_true`` is required.

    Examples
    --------
    >>> from pi_xgb import metrics
    >>> sex = ["f", "f", "m", "m"]
    >>> metrics.equal_opportunity([1, 1, 1, 1], [1, 0, 1, 1], sensitive_features=sex)
    0.5
    """
    return _decided_gap("equal_opportunity", y_true, y_pred, sensitive_features, sample_weight, undefined)


def equalized_odds(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    undefined: Undefined = "nan",
    agg: Literal["sum", "max"] = "sum",
) -> float:
    """The difference in error rates: ``sum over v in {0, 1} of |P(d=1 | s=a, y=v) - P(d=1 | s=b, y=v)|``.

    Use it when both kinds of error should be equally common in every group. The sum is the definition of the
    paper on privileged information, and ranges to 2. Fairlearn's ``equalized_odds_difference`` takes the larger
    of the two differences instead; ``agg="max"`` gives exactly that.

    With more than two groups the sum is formed for each pair and the largest is returned, so it may be smaller
    than the largest difference in true positive rate plus the largest in false positive rate, which may come
    from different pairs. If a group lacks positives or negatives the result is NaN, with a warning.

    Parameters
    ----------
    y_true, y_pred, sensitive_features, sample_weight, undefined : as for :func:`statistical_parity`
        But ``y_true`` is required.
    agg : {"sum", "max"}, default="sum"
        "sum" of the two differences, between 0 and 2, or "max", between 0 and 1.

    Examples
    --------
    >>> from pi_xgb import metrics
    >>> y, d = [1, 1, 0, 0, 1, 1, 0, 0], [1, 1, 1, 0, 1, 0, 0, 0]
    >>> sex = ["f", "f", "f", "f", "m", "m", "m", "m"]
    >>> metrics.equalized_odds(y, d, sensitive_features=sex)
    1.0
    >>> metrics.equalized_odds(y, d, sensitive_features=sex, agg="max")
    0.5
    """
    check_choice(agg, ("sum", "max"), "agg")
    return _decided_gap("equalized_odds", y_true, y_pred, sensitive_features, sample_weight, undefined, agg)


def one_vs_rest(
    metric: Any, y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, **options: Any
) -> pd.Series[float]:
    """A metric for each group against all other rows together, one value per group.

    Use it to find the groups that differ from the others; one number over many groups hides them. Calls ``metric``
    once per group. For the interval and the p-value of one group, pass ``sensitive_features=(group == "a")`` to
    :func:`disparity_report`.

    Parameters
    ----------
    metric : callable
        Any function with the calling convention of this module, Fairlearn's differences among them.
    y_true, y_pred, sensitive_features : array-like
    sample_weight : array-like of float, default=None
    **options
        What ``metric`` takes; scores instead of ``y_pred`` for :func:`abroca`.

    Examples
    --------
    >>> from pi_xgb import metrics
    >>> band = ["young", "young", "middle", "middle", "old", "old"]
    >>> y, d = [1, 0, 1, 0, 1, 0], [1, 1, 1, 0, 0, 0]
    >>> metrics.one_vs_rest(metrics.statistical_parity, y, d, sensitive_features=band)
    sensitive_feature_0
    middle    0.00
    old       0.75
    young     0.75
    Name: statistical_parity, dtype: float64
    """
    if not callable(metric):
        raise TypeError(f"metric must be a function such as metrics.equalized_odds, got {metric!r}: pass it unquoted")
    groups = as_groups(sensitive_features, are_compared=True)
    weight = {} if sample_weight is None else {"sample_weight": sample_weight}
    values = []
    for code, name in enumerate(groups.names):
        group = str(plain(name))
        group_or_rest = np.where(groups.codes == code, group, "the rest" if group != "the rest" else "all others")
        values.append(float(metric(y_true, y_pred, sensitive_features=group_or_rest, **weight, **options)))
    return pd.Series(values, index=groups.names, name=getattr(metric, "__name__", None))


def check_undefined(undefined: str) -> None:
    """Raise if ``undefined`` is not one of ``Undefined``."""
    check_choice(undefined, get_args(Undefined), "undefined")


def gap(cells: Values, name: str, undefined: str, agg: str = "sum") -> Values:
    """Return the largest difference in the rates of ``COMPARED[name]``, for cells of shape ``(..., k, 4)``."""
    values = [RATES[rate].values(cells) for rate in COMPARED[name]]
    if agg == "max":
        larger = np.maximum if undefined == "nan" else np.fmax
        return np.asarray(larger.reduce([_spread(rates, undefined) for rates in values]))
    return largest_between(values, undefined)


def largest_between(values: Sequence[Values], undefined: str) -> Values:
    """Return the largest sum of absolute differences between two groups, of one or two rates ``(..., k)``."""
    if len(values) == 1:
        return _spread(values[0], undefined)
    # max over pairs of |a| + |b| is the larger of the spreads of the sum and of the difference.
    first, second = values
    return np.maximum(_spread(first + second, undefined), _spread(first - second, undefined))


def _spread(values: Values, undefined: str) -> Values:
    if undefined == "nan":
        return np.asarray(np.ptp(values, axis=-1))
    spread = np.fmax.reduce(values, axis=-1) - np.fmin.reduce(values, axis=-1)
    return np.where((~np.isnan(values)).sum(axis=-1) >= 2, spread, np.nan)


def warn_undefined_rates(cells: Values, gaps: Iterable[str], names: pd.Index, stacklevel: int) -> None:
    """Warn of groups that lack a rate compared by one of ``gaps``."""
    for rate in dict.fromkeys(rate for name in gaps for rate in COMPARED[name]):
        warn_undefined(rate, np.isnan(RATES[rate].values(cells)), RATES[rate].among, names, stacklevel + 1)


def _decided_gap(
    name: str, y_true: Any, y_pred: Any, features: Any, weight: Any, undefined: str, agg: str = "sum"
) -> float:
    check_undefined(undefined)
    decided = as_decided(y_true, y_pred, features, weight, labels_needed=name != "statistical_parity")
    check_several(decided.groups)
    cells = decided.cells()
    warn_undefined_rates(cells, [name], decided.groups.names, stacklevel=3)
    return float(gap(cells, name, undefined, agg))

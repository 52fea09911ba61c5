"""How far apart groups are treated, as one number: parity, odds, opportunity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._rows.checks import check_choice
from .._rows.groups import Groups, as_groups, check_several
from .._rows.names import plain
from .._rows.vectors import as_vector
from ._rates import RATES, as_decided, warn_undefined

METHODS = ("between_groups", "to_rest")
UNDEFINED = ("nan", "skip")
AGGREGATES = ("sum", "max")

Values = NDArray[np.float64]


def statistical_parity(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    method: str = "between_groups",
    undefined: str = "nan",
) -> float:
    """The largest difference in selection rate, ``|P(d=1 | s=a) - P(d=1 | s=b)|``.

    Use it when selection itself must not depend on the group, whatever the labels say; 0 is parity. It equals
    Fairlearn's ``demographic_parity_difference``.

    Parameters
    ----------
    y_true
        Labels, 0 or 1. They do not enter, so None will do; labels that are given are checked.
    y_pred
        Decisions, 0 or 1.
    sensitive_features
        One value per row, or a DataFrame of several columns: then the groups are their intersections. Missing
        values are a group of their own, called "missing".
    sample_weight
        Weight of each row.
    method
        "between_groups" compares any two groups and takes the largest difference; "to_rest" compares each group
        with all other rows and takes the largest (:func:`each_against_rest` gives them all).
    undefined
        What to do with a group that lacks the rate (here: has no weight). "nan" makes the result NaN, since the
        largest of unknown things is unknown; "skip" compares the others. Both warn and name the group.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from pi_xgb import metrics
    >>> sex = ["f", "f", "m", "m"]
    >>> metrics.statistical_parity([1, 0, 1, 0], [1, 0, 1, 1], sensitive_features=sex)
    0.5
    """
    return _decided_gap(
        ("selection_rate",), "sum", y_true, y_pred, sensitive_features, sample_weight, method, undefined
    )


def equal_opportunity(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    method: str = "between_groups",
    undefined: str = "nan",
) -> float:
    """The largest difference in true positive rate, ``|P(d=1 | s=a, y=1) - P(d=1 | s=b, y=1)|``.

    Use it when those who deserve selection should have the same chance in every group. It equals Fairlearn's
    ``equal_opportunity_difference``, except that a group without positives gives NaN instead of a rate of 0.

    Parameters
    ----------
    y_true, y_pred
        Labels and decisions, 0 or 1.
    sensitive_features, sample_weight, method, undefined
        As for :func:`statistical_parity`.

    Returns
    -------
    float
        Between 0 and 1; NaN, with a warning, if a group has no positives.

    Examples
    --------
    >>> from pi_xgb import metrics
    >>> sex = ["f", "f", "m", "m"]
    >>> metrics.equal_opportunity([1, 1, 1, 1], [1, 0, 1, 1], sensitive_features=sex)
    0.5
    """
    return _decided_gap(
        ("true_positive_rate",), "sum", y_true, y_pred, sensitive_features, sample_weight, method, undefined
    )


def equalized_odds(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    method: str = "between_groups",
    undefined: str = "nan",
    agg: str = "sum",
) -> float:
    """The difference in error rates: ``sum over v in {0, 1} of |P(d=1 | s=a, y=v) - P(d=1 | s=b, y=v)|``.

    Use it when both kinds of error should be equally common in every group. The sum is the definition of the
    paper on privileged information, and ranges to 2. Fairlearn's ``equalized_odds_difference`` takes the larger
    of the two differences instead; ``agg="max"`` gives exactly that.

    With more than two groups the sum is formed for each pair and the largest is returned, so it may be smaller
    than the largest difference in true positive rate plus the largest in false positive rate, which may come
    from different pairs.

    Parameters
    ----------
    y_true, y_pred
        Labels and decisions, 0 or 1.
    sensitive_features, sample_weight, method, undefined
        As for :func:`statistical_parity`.
    agg
        "sum" of the two differences, or "max".

    Returns
    -------
    float
        Between 0 and 2 ("sum") or 1 ("max"); NaN, with a warning, if a group lacks positives or negatives.

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
    check_choice(agg, AGGREGATES, "agg")
    names = ("true_positive_rate", "false_positive_rate")
    return _decided_gap(names, agg, y_true, y_pred, sensitive_features, sample_weight, method, undefined)


def each_against_rest(
    metric: Any, y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None, **options: Any
) -> pd.Series[float]:
    """A metric for each group against all other rows together.

    Use it to see which groups stand apart, where a single number over many groups does not say. Calls ``metric``
    once per group.

    Parameters
    ----------
    metric
        Any function with the calling convention of this module, Fairlearn's differences among them.
    y_true, y_pred, sensitive_features, sample_weight
        What ``metric`` takes; scores in the place of ``y_pred`` for :func:`abroca`.
    **options
        Further keywords for ``metric``.

    Returns
    -------
    pandas.Series
        One value per group.

    Examples
    --------
    >>> from pi_xgb import metrics
    >>> band = ["young", "young", "middle", "middle", "old", "old"]
    >>> y, d = [1, 0, 1, 0, 1, 0], [1, 1, 1, 0, 0, 0]
    >>> metrics.each_against_rest(metrics.statistical_parity, y, d, sensitive_features=band)
    sensitive_feature_0
    middle    0.00
    old       0.75
    young     0.75
    Name: statistical_parity, dtype: float64
    """
    if not callable(metric):
        raise TypeError(f"metric must be a function such as metrics.equalized_odds, got {metric!r}: pass it unquoted")
    n_rows = as_vector("y_pred", y_pred).size
    groups = as_groups(sensitive_features, n_rows)
    check_several(groups)
    weight = {} if sample_weight is None else {"sample_weight": sample_weight}
    values = [
        float(metric(y_true, y_pred, sensitive_features=one_or_rest(groups, code), **weight, **options))
        for code in range(groups.count)
    ]
    return pd.Series(values, index=groups.names, name=getattr(metric, "__name__", None), dtype=float)


def one_or_rest(groups: Groups, code: int) -> NDArray[Any]:
    """Each row's group, with all groups but one called "the rest"."""
    return np.where(groups.codes == code, str(plain(groups.names[code])), "the rest")


def rest_cells(cells: Values) -> Values:
    """For each group the cells of all others; ``(..., k, 4)``."""
    # Summed, not subtracted from the total: a cell that is empty everywhere else is then exactly 0.
    before = np.zeros_like(cells)
    after = np.zeros_like(cells)
    before[..., 1:, :] = np.cumsum(cells[..., :-1, :], axis=-2)
    after[..., :-1, :] = np.cumsum(cells[..., :0:-1, :], axis=-2)[..., ::-1, :]
    return before + after


def gap(cells: Values, rates: tuple[str, ...], agg: str, method: str, undefined: str) -> Values:
    """The largest difference in one rate, or in two together, for cells of shape ``(..., k, 4)``."""
    values = [RATES[name].of(cells) for name in rates]
    if method == "to_rest":
        others = rest_cells(cells)
        differences = [np.abs(one - RATES[name].of(others)) for name, one in zip(rates, values, strict=True)]
        together = sum(differences[1:], differences[0]) if agg == "sum" else _larger(differences, undefined)
        return _largest(together, undefined)
    if agg == "max" or len(values) == 1:
        return _larger([_spread(one, undefined) for one in values], undefined)
    # max over pairs of |a| + |b| is the larger of the spreads of the sum and of the difference.
    first, second = values
    return np.maximum(_spread(first + second, undefined), _spread(first - second, undefined))


def _decided_gap(
    rates: tuple[str, ...],
    agg: str,
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    sample_weight: Any,
    method: str,
    undefined: str,
) -> float:
    check_choice(method, METHODS, "method")
    check_choice(undefined, UNDEFINED, "undefined")
    labels_needed = rates != ("selection_rate",)
    decided = as_decided(y_true, y_pred, sensitive_features, sample_weight, labels_needed=labels_needed)
    check_several(decided.groups)
    cells = decided.cells()
    for name in rates:
        warn_undefined(name, RATES[name].of(cells), RATES[name].among, decided.groups.names, stacklevel=3)
    return float(gap(cells, rates, agg, method, undefined))


def _spread(values: Values, undefined: str) -> Values:
    if undefined == "nan":
        return np.asarray(values.max(axis=-1) - values.min(axis=-1))
    unknown = np.isnan(values)
    highest = np.where(unknown, -np.inf, values).max(axis=-1)
    lowest = np.where(unknown, np.inf, values).min(axis=-1)
    comparable = (~unknown).sum(axis=-1) >= 2
    return np.where(comparable, highest - lowest, np.nan)


def _larger(values: list[Values], undefined: str) -> Values:
    larger = np.maximum if undefined == "nan" else np.fmax
    return np.asarray(larger.reduce(values))


def _largest(values: Values, undefined: str) -> Values:
    largest = np.maximum if undefined == "nan" else np.fmax
    return np.asarray(largest.reduce(values, axis=-1))

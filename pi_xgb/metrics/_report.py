"""A table of groups: counts, rates and their intervals."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from .._rows.checks import check_bootstrap
from .._rows.groups import Groups, as_groups, encoded_columns, everyone, groups_of
from .._rows.scores import as_cut, as_scored
from .._stats.intervals import wilson
from ._abroca import ROC_NEEDS
from ._rates import RATES, Decisions, warn_undefined
from ._scored import MEASURES, ScoredGroups

ALL = "(all)"
"""The index entry of a sensitive feature that a row does not condition on."""


def group_report(
    y_true: Any,
    y_score: Any,
    *,
    sensitive_features: Any,
    threshold: float = 0.5,
    sample_weight: Any = None,
    margins: bool = True,
    n_boot: int = 1000,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> pd.DataFrame:
    """Counts and rates of each group, with intervals.

    Use it to see the counts and rates behind a single fairness number, and how few rows they rest on.

    Parameters
    ----------
    y_true : array-like
    y_score : array-like of float
        Labels, 0 or 1, and probabilities of label 1, from rows that the model was not trained on.
    sensitive_features : array-like or DataFrame
        One value per row, or a DataFrame of several columns: the rows of the report are then the intersections
        that occur. Missing values are a group of their own, called "missing".
    threshold : float, default=0.5
        Rows with ``y_score > threshold`` are selected, as XGBoost's own classifier does at 0.5. Choose it on
        validation rows (:func:`choose_threshold`), not on the rows reported here.
    sample_weight : array-like of float, default=None
        Weight of each row. Rates are weighted, and the column ``weight`` is added; the counts stay counts.
    margins : bool, default=True
        Whether to add rows for all groups together, called "(all)", and with several columns for each of them
        (and each smaller intersection) alone.
    n_boot : int, default=1000
        0 for no intervals. They are computed, not drawn: any other number gives the same ones.
    confidence : float, default=0.95
        The confidence of the intervals.
    random_state : int or numpy.random.Generator, default=0
        No effect; it exists because :func:`disparity_report` takes the same keywords.

    Returns
    -------
    pandas.DataFrame
        Per group the counts ``rows``, ``positives``, ``negatives``, ``selected``; then ``base_rate``,
        ``selection_rate``, ``true_positive_rate``, ``false_positive_rate``, ``precision``, ``accuracy`` and ``auc``,
        each followed by its ``_low`` and ``_high``. An undefined rate (such as one without positives) is NaN, with an
        :class:`UndefinedRateWarning` that names the group.

    Notes
    -----
    The intervals are Wilson's, which hold in small groups and where a rate is 0 or 1; coverage is measured by
    ``python -m benchmarks.interval_coverage``. Each covers one rate of one group: of many, one in twenty misses. For a
    difference between groups use :func:`disparity_report`. The sample size is the number of rows in a rate's
    denominator; with weights, the effective sample size. The interval of ``auc`` uses DeLong's variance or Hanley and
    McNeil's, whichever is larger. Dependent rows (such as those of one household) make the intervals too narrow. The
    cost is one sort of the rows.

    Examples
    --------
    >>> from pi_xgb import metrics
    >>> y, p = [1, 1, 0, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.1, 0.7, 0.4, 0.3, 0.2]
    >>> sex = ["f", "f", "f", "f", "m", "m", "m", "m"]
    >>> report = metrics.group_report(y, p, sensitive_features=sex, n_boot=0)
    >>> report[["rows", "selected", "selection_rate", "true_positive_rate", "auc"]]
                         rows  selected  selection_rate  true_positive_rate     auc
    sensitive_feature_0
    f                       4         3            0.75                1.00  1.0000
    m                       4         1            0.25                0.50  1.0000
    (all)                   8         4            0.50                0.75  0.9375
    """
    check_bootstrap(n_boot, confidence)
    labels, scores, weights = as_scored(y_true, y_score, sensitive_features, sample_weight)
    selected = scores > as_cut(threshold)
    columns = encoded_columns(sensitive_features, labels.size)
    whole = as_groups(sensitive_features, labels.size, are_compared=True)
    groupings = [whole, *(_margins(columns) if margins else [])]
    tables = [ScoredGroups(Decisions(labels, selected, weights, groups, scores)) for groups in groupings]

    once = np.ones((1, labels.size))
    estimates = np.concatenate([table.measures(once)[0] for table in tables])
    for name, values in zip(MEASURES, estimates[: whole.count].T, strict=True):
        among = RATES[name].among if name in RATES else ROC_NEEDS
        warn_undefined(name, np.isnan(values), among, whole.names, stacklevel=2)
    found = {"": estimates}
    if n_boot:
        known_rows = np.concatenate([table.known_rows() for table in tables])
        found["_low"], found["_high"] = wilson(estimates, known_rows, confidence)

    index = _row_names(groupings, len(columns))
    counts = pd.concat([table.counts() for table in tables]).set_axis(index)
    if sample_weight is None:
        counts = counts.drop(columns="weight")
    rates = {name + end: part[:, j] for j, name in enumerate(MEASURES) for end, part in found.items()}
    return pd.concat([counts, pd.DataFrame(rates, index=index)], axis=1)


def _margins(columns: list[Groups]) -> list[Groups]:
    sizes = range(len(columns) - 1, 0, -1)
    fewer = [groups_of(list(chosen)) for size in sizes for chosen in combinations(columns, size)]
    return [*fewer, everyone(columns[0].codes.size)]


def _row_names(groupings: list[Groups], n_columns: int) -> pd.Index:
    features = list(groupings[0].names.names)
    names = pd.concat([groups.names.to_frame(index=False).astype(object) for groups in groupings])
    names = names.reindex(columns=features)
    names = names.where(names.notna(), ALL)
    if names.duplicated().any():
        raise ValueError(f"sensitive_features must not contain {ALL!r}, the name of the margins: rename the group")
    if n_columns > 1:
        return pd.MultiIndex.from_tuples(list(names.itertuples(index=False, name=None)), names=features)
    (feature,) = features
    return pd.Index(names[feature].tolist(), name=feature, tupleize_cols=False)  # type: ignore[no-any-return]

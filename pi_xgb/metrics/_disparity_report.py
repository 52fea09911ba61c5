"""A table of differences between groups, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .._rows.checks import check_bootstrap, check_choice
from .._rows.groups import as_groups, check_several
from .._rows.vectors import as_cut, as_scored
from .._stats.bootstrap import interval, resamples
from ._abroca import RankedGroups, warn_no_curve
from ._disparities import GAPS, Pairs, Undefined, check_comparison, gap, warn_undefined_rates
from ._rates import Values
from ._scored import ScoredGroups

DISPARITIES = (*GAPS, "abroca")


def disparity_report(
    y_true: Any,
    y_score: Any,
    *,
    sensitive_features: Any,
    threshold: float = 0.5,
    sample_weight: Any = None,
    metrics: Sequence[str] = DISPARITIES,
    method: Pairs = "between_groups",
    undefined: Undefined = "nan",
    n_boot: int = 1000,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> pd.DataFrame:
    """The fairness metrics of one set of scores, one per row, with bootstrap intervals.

    Use it before saying that one model is fairer than another: on a few hundred rows the interval of any of
    these differences is wide. The columns are ``value`` and, if ``n_boot`` > 0, ``low`` and ``high``.

    Parameters
    ----------
    y_true, y_score, sensitive_features, threshold, sample_weight, n_boot, confidence, random_state
        As for :func:`group_report`.
    metrics
        Which rows to compute. "abroca" is by far the slowest to resample: it merges two curves each time.
    method, undefined
        As for :func:`statistical_parity`.

    Notes
    -----
    These are absolute differences, and noise pushes an absolute difference away from 0. So the interval lies above 0
    even for a model that treats the groups alike: that alone is no proof of unfairness. Resamples in which a metric
    does not exist are left out.

    Examples
    --------
    >>> from pi_xgb import metrics
    >>> y, p = [1, 1, 0, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.1, 0.7, 0.4, 0.3, 0.2]
    >>> sex = ["f", "f", "f", "f", "m", "m", "m", "m"]
    >>> metrics.disparity_report(y, p, sensitive_features=sex, n_boot=0)
                        value
    statistical_parity    0.5
    equalized_odds        1.0
    equal_opportunity     0.5
    abroca                0.0
    """
    check_bootstrap(n_boot, confidence)
    check_comparison(method, undefined)
    chosen = [metrics] if isinstance(metrics, str) else list(metrics)
    for name in chosen:
        check_choice(name, DISPARITIES, "metrics")
    labels, scores, weights = as_scored(y_true, y_score, sample_weight)
    groups = as_groups(sensitive_features, labels.size)
    check_several(groups)
    decided = ScoredGroups(labels, scores, scores > as_cut(threshold), weights, groups)
    ranked = RankedGroups(labels, scores, groups)
    weight = np.ones(labels.size) if weights is None else weights

    def values(multiplicity: Values) -> Values:
        cells = decided.cells(multiplicity)
        found = [gap(cells, name, method, undefined) if name in GAPS else areas(multiplicity) for name in chosen]
        return np.stack(found, axis=-1)

    def areas(multiplicity: Values) -> Values:
        weightings = multiplicity * weight
        return np.array([ranked.largest_area(w, ranked.curves(w), method, undefined) for w in weightings])

    once = np.ones((1, labels.size))
    table = pd.DataFrame({"value": values(once)[0]}, index=pd.Index(chosen))
    gaps = [name for name in chosen if name in GAPS]
    warn_undefined_rates(decided.cells(once)[0], gaps, groups.names, stacklevel=2)
    if "abroca" in chosen:
        warn_no_curve(ranked.curves(weight), groups, stacklevel=2)
    if n_boot:
        replicates = [values(multiplicity) for multiplicity in resamples(labels.size, n_boot, random_state)]
        table["low"], table["high"] = interval(np.concatenate(replicates), confidence)
    return table

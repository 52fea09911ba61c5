"""A table of differences between groups, with intervals and p-values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from .._rows.checks import check_bootstrap, check_choice, check_whole, checked_list
from .._rows.groups import as_groups
from .._rows.scores import as_cut, as_scored
from ._abroca import largest_area, roc_curves
from ._chance import N_NULL, statistics
from ._disparities import COMPARED, GAPS, Undefined, check_undefined, gap, warn_undefined_rates
from ._gaps import holm
from ._rates import Decisions

DISPARITIES = (*GAPS, "abroca")
KNOWN = (*DISPARITIES, *(name for name in COMPARED if name not in GAPS))


def disparity_report(
    y_true: Any,
    y_score: Any,
    *,
    sensitive_features: Any,
    threshold: float = 0.5,
    sample_weight: Any = None,
    metrics: Sequence[str] = DISPARITIES,
    undefined: Undefined = "nan",
    n_boot: int = 1000,
    confidence: float = 0.95,
    random_state: Any = 0,
    n_null: int | None = None,
) -> pd.DataFrame:
    """The fairness metrics of one set of scores, one per row, with intervals and p-values.

    Use it before claiming that groups are treated differently, or that one model is fairer than another. A gap is a
    largest or an absolute difference, so chance alone keeps it above 0: among ten groups of a hundred rows that a
    model treats alike, half of them selected, two will differ by .15 in the share selected.

    Parameters
    ----------
    y_true, y_score, sensitive_features, threshold, sample_weight : as for :func:`group_report`
    metrics : sequence of str, default=("statistical_parity", "equalized_odds", "equal_opportunity", "abroca")
        Which rows to compute; also available: "predictive_parity" and "false_positive_rate_parity", the largest
        differences in precision and in false positive rate.
    undefined : as for :func:`statistical_parity`
    n_boot : int, default=1000
    confidence : float, default=0.95
    random_state : int or numpy.random.Generator, default=0
        Draws at each of the true gaps that the interval tries: at least 100 are taken, 0 for no intervals; the
        confidence of intervals; a seed or a ``numpy.random.Generator``.
    n_null : int, default=None
        Draws in which groups are treated alike: at least 100 are taken, 0 for none, None for 1999 (none where
        ``n_boot`` is 0). A p-value is 1 / (n_null + 1) at least.

    Returns
    -------
    pandas.DataFrame
        One row per metric. Without draws the one column ``value``; with them also

        - ``low``, ``high``: the true gaps under which the observed gap is not unusual. Their coverage is measured
          by ``python -m benchmarks.interval_coverage``. The lower end is 0 wherever ``p_value`` is above
          1 - confidence.
        - ``corrected``: the true gap under which the observed gap is the median. It lies in the interval; with
          many small groups ``value`` may lie above both.
        - ``chance``: the expected gap where all groups are treated alike.
        - ``p_value``: how often chance alone gives a gap of at least this size. In each draw the largest gap of all
          pairs counts, as in ``value``, so no correction for the number of groups is needed.
        - ``p_adjusted``: ``p_value`` adjusted for all metrics of this table (Holm).
        - ``between``: the two groups with the largest gap.

    Notes
    -----
    The p-value is that of a permutation test. It permutes decisions (for ABROCA: scores) over the rows, within each
    label where the metric conditions on the label. For precision it permutes labels over the selected rows. The rows
    must be an independent sample: dependent rows (such as those of one household) make intervals too narrow and
    p-values too small. Weighted rows enter with their effective sample size (Kish), an approximation. Apart from one
    sort of the scores the cost does not grow with the rows. With many groups fewer draws are taken, at least 100.

    Examples
    --------
    >>> import numpy as np
    >>> from pi_xgb import metrics
    >>> rng = np.random.default_rng(0)
    >>> group, p = rng.integers(0, 5, 1000), rng.random(1000)
    >>> y = rng.random(1000) < p
    >>> table = metrics.disparity_report(y, p, sensitive_features=group, metrics=["statistical_parity"])
    >>> table[["value", "chance", "low", "high", "p_value"]].round(2)
                        value  chance  low  high  p_value
    statistical_parity    0.1    0.08  0.0  0.14     0.33
    """
    check_bootstrap(n_boot, confidence)
    n_null = (N_NULL if n_boot else 0) if n_null is None else n_null
    check_whole("n_null", n_null, 0, f"0 for no p-values, {N_NULL} is usual")
    check_undefined(undefined)
    chosen = checked_list(metrics, "metrics", partial(check_choice, choices=KNOWN, name="metrics"))
    labels, scores, weights = as_scored(y_true, y_score, sensitive_features, sample_weight)
    groups = as_groups(sensitive_features, labels.size, are_compared=True)
    rows = Decisions(labels, scores > as_cut(threshold), weights, groups, scores)
    values, pair_of_curves = _values(rows, chosen, undefined)
    table = pd.DataFrame({"value": values}, index=pd.Index(chosen))
    if not n_boot and not n_null:
        return table
    streams = _streams(random_state)
    found = [
        statistics(rows, name, value, pair_of_curves, streams[name], n_boot, n_null, confidence)
        for name, value in zip(chosen, table["value"], strict=True)
    ]
    of_boot = ["low", "high", "corrected"] if n_boot else []
    of_null = ["chance", "p_value", "p_adjusted"] if n_null else []
    # An undefined gap has no statistics, so that columns may be missing.
    table = table.join(pd.DataFrame(found, index=table.index).reindex(columns=[*of_boot, *of_null, "between"]))
    if n_null:
        table["p_adjusted"] = holm(table["p_value"].to_numpy(float))
    return table


def _streams(random_state: Any) -> dict[str, np.random.Generator]:
    """Return a stream for each metric, so that results do not depend on the other metrics."""
    try:
        streams = np.random.default_rng(random_state).spawn(len(KNOWN))
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"random_state must be a whole number of at least 0 or a numpy.random.Generator, got {random_state!r}: "
            "give a seed such as 0"
        ) from error
    return dict(zip(KNOWN, streams, strict=True))


def _values(rows: Decisions, chosen: list[str], undefined: str) -> tuple[list[float], tuple[int, int] | None]:
    """Return each metric, and the groups of ABROCA; warn of groups in which a metric is undefined."""
    cells, pair = rows.cells(), None
    warn_undefined_rates(cells, [name for name in chosen if name in COMPARED], rows.groups.names, stacklevel=3)
    values = {name: float(gap(cells, name, undefined)) for name in chosen if name in COMPARED}
    if "abroca" in chosen:
        curves = roc_curves(rows.labels, rows.scores, rows.groups, rows.weights, stacklevel=3)
        values["abroca"], pair = largest_area(curves, rows.groups, undefined)
    return [values[name] for name in chosen], pair

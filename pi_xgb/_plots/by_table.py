"""Plots of tables: frontiers, importances, the path over kl_weight, gains of a selection and of a comparison."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._rows.checks import check_confidence, check_whole
from .._stats.intervals import Values, student
from .style import MOST, PALETTE, REFERENCE, as_axes, finish, short_names, stroke

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_frontier(
    table: Any,
    *,
    fairness: str = "statistical_parity",
    performance: str = "accuracy",
    method: str = "method",
    along: str = "kl_weight",
    confidence: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Plot performance against a difference between groups, over ``kl_weight`` and methods.

    Use it to choose a ``kl_weight``, and to compare methods at equal fairness: of two points with equal fairness the
    higher is better, and of two with equal performance the point further left.

    Parameters
    ----------
    table : pandas.DataFrame
        A DataFrame with the columns ``method``, ``fairness`` and ``performance``, and ``along`` for methods that
        form a line. Several rows with the same method and the same value of ``along`` are repeats (folds, seeds): the
        plot shows their mean and Student's interval of the mean. A single row has the interval of the columns with
        ``_low`` and ``_high`` after the name, if they exist. Folds share training rows, so intervals over folds are
        somewhat too narrow.
    fairness : str, default="statistical_parity"
    performance : str, default="accuracy"
    method : str, default="method"
        The columns of the horizontal and the vertical axis, and of the name of each method, at most ten.
    along : str, default="kl_weight"
        The column that a line follows, usually the strength of a constraint. A method without it (an absent column, or
        NaN) is a single point.
    confidence : float, default=0.95
    ax : matplotlib.axes.Axes, default=None
        The confidence of the intervals over repeats, and the Axes to draw on; None opens a figure.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from pi_xgb import plotting
    >>> table = pd.DataFrame({
    ...     "method": ["parity", "parity", "parity", "peer"], "kl_weight": [0.0, 1.0, 5.0, None],
    ...     "statistical_parity": [0.2, 0.1, 0.03, 0.05], "accuracy": [0.85, 0.84, 0.81, 0.80]})
    >>> ax = plotting.plot_frontier(table, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['parity', 'peer']
    """
    check_confidence(confidence)
    hint = "pass their names as method=, fairness= and performance="
    table = as_table(table, [method, fairness, performance], hint)
    methods = table.groupby(method, sort=False, dropna=False)
    if len(methods) > MOST:
        raise ValueError(f"table must have at most {MOST} methods, got {len(methods)}: plot some of them")
    ax = as_axes(ax)
    names = short_names(name for name, _ in methods)
    for i, (name, (_, rows)) in enumerate(zip(names, methods, strict=True)):
        keys = rows[along].astype(float) if along in rows else pd.Series(np.nan, rows.index)
        (x, x_errors), (y, y_errors) = (_means(rows, keys, column, confidence) for column in (fairness, performance))
        ax.errorbar(x, y, xerr=np.nan_to_num(x_errors), yerr=np.nan_to_num(y_errors), fmt="none", ecolor=PALETTE[i])
        is_line = len(x) > 1
        style = {"label": name} | stroke(i) | ({} if is_line else {"linestyle": "none"})
        ax.plot(x, y, **style)
        for end in (0, -1) if is_line else ():
            offset: dict[str, Any] = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center"}
            ax.annotate(f"{np.unique(keys)[end]:g}", (x[end], y[end]), fontsize="small", **offset)
    ax.margins(0.12)
    labels = (name.replace("_", " ") for name in (f"{fairness} (0 = equal)", performance))
    return finish(ax, *labels, legend=True, title=f"line ends: {along}" if along in table else None)


def plot_importance(table: Any, *, plain: str = "gain", max_features: int = 15, ax: Axes | None = None) -> Axes:
    """Plot fair importance beside plain importance, a pair of bars for each feature.

    Use it to find important features that add bias (a long grey bar, and a blue bar to the left), and features that the
    model does not need. Each bar is a share of the sum of absolute values, also for a table made with
    ``normalize=False``.

    Parameters
    ----------
    table : pandas.DataFrame
        The table of :func:`pi_xgb.importance.fair_importance`.
    plain : str, default="gain"
        The column to compare with: "gain" is XGBoost's average over splits, "total_gain" the sum.
    max_features : int, default=15
    ax : matplotlib.axes.Axes, default=None
        The most features to draw, in the order of the longer of their two bars, and the Axes; None opens a figure.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from pi_xgb import plotting
    >>> table = pd.DataFrame({"fair_importance": [0.1, -0.9], "gain": [0.6, 0.4]}, index=["age", "postcode"])
    >>> ax = plotting.plot_importance(table, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['postcode', 'age']
    """
    check_whole("max_features", max_features, 1)
    table = as_table(table, ["fair_importance", plain], "pass the table of pi_xgb.importance.fair_importance")
    values = [table[name].to_numpy(dtype=float) for name in ("fair_importance", plain)]
    fair, gain = (column / (np.nansum(np.abs(column)) or 1.0) for column in values)
    order = np.argsort(-np.fmax(np.abs(fair), np.abs(gain)), kind="stable")[:max_features]
    ax = as_axes(ax)
    place = np.arange(order.size)
    label = "fair importance" + (" (undefined)" if np.isnan(fair).all() else "")
    ax.barh(place - 0.2, fair[order], 0.4, color=PALETTE[0], label=label)
    grey: dict[str, Any] = {"color": "#B8B8B8", "edgecolor": "#606060", "hatch": "////"}
    ax.barh(place + 0.2, gain[order], 0.4, label=plain.replace("_", " "), **grey)
    ax.axvline(0, color=REFERENCE)
    ax.set_yticks(place, short_names(table.index[order]))
    ax.invert_yaxis()
    return finish(ax, "share of the importance\n(fair < 0: adds bias)", "", legend=True)


def plot_kl_weight_path(
    table: Any,
    *,
    metric: str | None = None,
    maximize: bool | None = None,
    nfold: int | None = None,
    confidence: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Plot the cross-validated score over ``kl_weight``, each at its best round, with intervals.

    Use it to see whether the teacher helps: the dashed line is plain XGBoost (``kl_weight=0``); a teacher whose curve
    stays within the bars around it does not help. Values are equally spaced, so that 0 fits on the axis. All values
    share the folds, so a difference between two values is more certain than the bars suggest. The score of the best
    value is optimistic, since it is the best of several.

    Parameters
    ----------
    table : pandas.DataFrame
        The table of :func:`pi_xgb.cv` for several values of ``kl_weight``.
    metric : str, default=None
    maximize : bool, default=None
        The metric, such as "auc", where the table has several, and whether more is better (None: by the name, as
        XGBoost does).
    nfold : int, default=None
    confidence : float, default=0.95
        The number of folds. Without it the bars are one standard deviation over the folds, as in the table. With it
        they are Student's interval of the mean with this confidence.
    ax : matplotlib.axes.Axes, default=None
        The Axes to draw on; None opens a figure.

    Examples
    --------
    >>> import pi_xgb, xgboost as xgb
    >>> from matplotlib.figure import Figure
    >>> from pi_xgb import plotting
    >>> data = pi_xgb.datasets.make_privileged(200, seed=0)
    >>> table = pi_xgb.cv(
    ...     {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}, xgb.DMatrix(data.x, data.y), 3,
    ...     privileged=xgb.DMatrix(data.z, data.y), kl_weight=[0.0, 0.5, 2.0], metrics="auc")
    >>> ax = plotting.plot_kl_weight_path(table, nfold=3, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['0', '0.5', '2']
    """
    check_confidence(confidence)
    if nfold is not None:
        check_whole("nfold", nfold, 2)
    name, more_is_better, best = best_rounds(as_table(table), metric, maximize)
    mean, half = best["mean"], best["std"]
    if nfold is not None:  # xgboost.cv divides by the number of folds, not by one less.
        half = student(nfold - 1, confidence) * half / math.sqrt(nfold - 1)
    ax, place = as_axes(ax), np.arange(len(best))
    spread = "± 1 SD over folds" if nfold is None else f"{100 * confidence:g} % interval"
    ax.errorbar(place, mean, half.fillna(0), label=spread, **stroke(0))
    chosen = int(np.argmax(mean if more_is_better else -mean))
    ring: dict[str, Any] = {"markersize": 10, "fillstyle": "none", "color": PALETTE[1]}
    ax.plot(chosen, mean.iloc[chosen], "D", label=f"best: {best.index[chosen]:g}", **ring)
    if best.index[0] == 0:
        ax.axhline(mean.iloc[0], color=REFERENCE, linestyle="--", label="without teacher")
    ax.set_xticks(place, [f"{kl_weight:g}" for kl_weight in best.index])
    direction = "↑ better" if more_is_better else "↓ better"
    return finish(ax, "kl_weight (not to scale)", f"held-out {name} ({direction})", legend=True)


def as_table(table: Any, needed: Sequence[str] = (), hint: str = "") -> pd.DataFrame:
    """Return the table; raise unless it is a DataFrame with rows and the needed columns."""
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"table must be a pandas.DataFrame, got {type(table).__name__}")
    if table.empty:
        raise ValueError("table must have rows, got none")
    if lacking := [column for column in needed if column not in table.columns]:
        raise ValueError(f"table lacks {', '.join(map(repr, lacking))}, got {list(table.columns)}: {hint}")
    return table


def _means(rows: pd.DataFrame, keys: Any, column: str, confidence: float) -> tuple[Values, Values]:
    """Return the mean of a column for each key, ``(n,)``, and the errors below and above it, ``(2, n)``, or NaN.

    Several rows of one key are repeats with Student's interval; a single row has the interval of its columns.
    """
    points = rows[column].astype(float).groupby(keys, dropna=False)
    mean, n = points.mean().to_numpy(), points.size().to_numpy()
    half = points.sem().to_numpy() * [student(count - 1, confidence) if count > 1 else math.nan for count in n]
    errors = np.stack([half, half])
    for error, end, sign in zip(errors, ("_low", "_high"), (-1, 1), strict=True):
        if column + end in rows:
            given = rows[column + end].astype(float).groupby(keys, dropna=False).mean().to_numpy()
            # The interval need not contain the estimate, and an error cannot be negative.
            error[n == 1] = np.maximum(sign * (given - mean), 0)[n == 1]
    return mean, errors


def best_rounds(table: pd.DataFrame, metric: str | None, maximize: bool | None) -> tuple[str, bool, pd.DataFrame]:
    """Return the metric, whether more is better, and mean and std of the best round of each kl_weight of ``cv``."""
    if "kl_weight" not in table.index.names:
        raise ValueError(f"table must have kl_weight in its index, got {list(table.index.names)}: use that of cv")
    known = [str(name)[len("test-") : -len("-mean")] for name in table if re.fullmatch("test-.*-mean", str(name))]
    if metric is None and len(known) == 1:
        metric = known[0]
    if metric not in known:
        raise ValueError(f"metric must be one of {known}, the metrics of the table, got {metric!r}")
    if maximize is None:  # XGBoost's rule
        maximize = metric != "mape" and metric.startswith(("auc", "pre", "map", "ndcg"))
    mean = table[f"test-{metric}-mean"].astype(float)
    best = (mean if maximize else -mean).groupby(level="kl_weight").idxmax()
    found = pd.DataFrame({"mean": mean, "std": table.get(f"test-{metric}-std", math.nan)}).loc[best]
    return metric, maximize, found.set_axis(best.index)


def plot_selection(summary: pd.DataFrame, better_by: str, ax: Axes | None) -> Axes:
    """Plot the gain of each configuration over ``kl_weight``; bars are one corrected standard error.

    ``better_by`` is the unit of a gain, such as "log loss lower by".
    """
    taught = summary[summary["kl_weight"] > 0]
    configs = taught.index.to_series().str.rsplit(n=1).str[0]  # The name of a candidate ends in its kl_weight.
    ax = as_axes(ax)
    ax.axhline(0, color=REFERENCE, label="plain XGBoost")
    for position, config in zip(cycle(range(MOST)), configs.unique(), strict=False):
        rows = taught[configs == config]
        # Side by side, so that bars at the same kl_weight do not overlap.
        along = rows["kl_weight"] * 1.04**position
        style = {"label": config, **stroke(position)}
        ax.errorbar(along, rows["gain"], rows["gain_se"], **style)
        if rows["chosen"].any():
            ring: dict[str, Any] = {"markersize": 14, "fillstyle": "none", "color": REFERENCE}
            ax.plot(along[rows["chosen"]], rows["gain"][rows["chosen"]], "o", label="chosen", **ring)
    ticks = sorted(taught["kl_weight"].unique())
    ax.set_xscale("log")
    ax.set_xticks(ticks, [f"{weight:g}" for weight in ticks])
    ax.set_xticks([], minor=True)
    return finish(ax, "kl_weight", f"{better_by}, against plain XGBoost", legend=True)


def plot_comparison(summary: pd.DataFrame, better_by: str, ax: Axes | None) -> Axes:
    """Plot the gain of each model over plain XGBoost, with intervals."""
    own = summary.droplevel("size").drop("plain XGBoost")
    ax = as_axes(ax)
    ax.axvline(0, color=REFERENCE)
    errors = [own["gain"] - own["low"], own["high"] - own["gain"]]
    ax.errorbar(own["gain"], range(len(own)), xerr=errors, fmt="o", color=PALETTE[0])
    ax.set_yticks(range(len(own)), own.index)
    ax.invert_yaxis()
    return finish(ax, f"{better_by}, against plain XGBoost", "")

"""Plots of tables: the frontier, importances, the path over kl_weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._rows.checks import check_confidence, check_whole
from .series import Measured, as_table, check_columns, frontier_lines, weight_path
from .style import MOST, PALETTE, REFERENCE, as_axes, check_axes, finish, legend, legend_on_top, look, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AXIS_LABELS = {
    "auc": "AUC",
    "statistical_parity": "difference in selection rate\n(statistical parity, 0 = equal)",
    "equalized_odds": "difference in error rates\n(equalized odds, 0 = equal)",
    "equal_opportunity": "difference in true positive rate\n(equal opportunity, 0 = equal)",
    "abroca": "area between the ROC curves\n(ABROCA, 0 = equal)",
}


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
    check_axes(ax)
    check_confidence(confidence)
    table = as_table(table)
    check_columns(table, [method, fairness, performance], "pass their names as method=, fairness= and performance=")
    lines = frontier_lines(table, fairness, performance, method, along, confidence)
    if len(lines) > MOST:
        raise ValueError(f"table must have at most {MOST} methods, got {len(lines)}: plot some of them")
    ax = as_axes(ax)
    entries = []
    for position, line in enumerate(lines):
        style, x, y = look(position), line.fairness, line.performance
        bars: dict[str, Any] = {"fmt": "none", "ecolor": style.color, "alpha": 0.6}
        ax.errorbar(x.value, y.value, xerr=_errors(x), yerr=_errors(y), **bars)
        stroke = style.stroke if len(line.along) > 1 else style.stroke | {"linestyle": "none"}
        drawn = ax.plot(x.value, y.value, marker=style.marker, **stroke)[0]
        entries.append((drawn, short(line.method)))
        if len(line.along) > 1:
            _name_ends(ax, line.along, x.value, y.value)
    has_lines = any(len(line.along) > 1 for line in lines)
    ax.margins(0.12)
    ax.locator_params(nbins=6)
    legend_on_top(ax, entries, title=f"line ends: {along}" if has_lines else None)
    return finish(ax, AXIS_LABELS.get(fairness, fairness), AXIS_LABELS.get(performance, performance))


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
    check_axes(ax)
    check_whole("max_features", max_features, 1)
    table = as_table(table)
    check_columns(table, ["fair_importance", plain], "pass the table of pi_xgb.importance.fair_importance")
    fair, gain = (_shares(table[name].to_numpy(dtype=float)) for name in ("fair_importance", plain))
    longest = np.fmax(np.abs(fair), np.abs(gain))
    order = np.argsort(-longest, kind="stable")[:max_features]
    ax = as_axes(ax)
    place = np.arange(order.size)
    blue = ax.barh(place - 0.2, fair[order], 0.4, color=PALETTE[0])
    grey = ax.barh(place + 0.2, gain[order], 0.4, color="#B8B8B8", edgecolor="#606060", hatch="////")
    ax.axvline(0, color=REFERENCE)
    ax.set_yticks(place, [short(table.index[i]) for i in order])
    ax.invert_yaxis()
    label = "fair importance" + (" (undefined)" if np.isnan(fair).all() else "")
    bars = [(blue, label), (grey, plain.replace("_", " "))]
    legend(ax, bars, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(bars), frameon=False)
    finish(ax, "share of the importance\n(fair < 0: adds bias)", "").grid(False, axis="y")
    return ax


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
    check_axes(ax)
    check_confidence(confidence)
    if nfold is not None:
        check_whole("nfold", nfold, 2)
    found = weight_path(as_table(table), metric, maximize, nfold, confidence)
    ax = as_axes(ax)
    place = np.arange(found.kl_weight.size)
    style = look(0)
    entries = []
    if found.kl_weight[0] == 0:
        plain = ax.axhline(found.mean[0], color=REFERENCE, linestyle="--")
        entries.append((plain, "without teacher"))
    line = ax.plot(place, found.mean, marker=style.marker, **style.stroke)[0]
    if np.isfinite(found.half).any():
        ax.errorbar(place, found.mean, found.half, fmt="none", ecolor=style.color)
    ring: dict[str, Any] = {"markersize": 10, "fillstyle": "none", "color": PALETTE[1]}
    best = ax.plot(place[found.best], found.mean[found.best], "D", **ring)[0]
    spread = "± 1 SD over folds" if nfold is None else f"{100 * confidence:g} % interval"
    entries = [(line, spread), (best, f"best: {found.kl_weight[found.best]:g}"), *entries]
    legend_on_top(ax, entries)
    _name_weights(ax, found.kl_weight, found.best)
    direction = "↑ better" if found.maximised else "↓ better"
    return finish(ax, "kl_weight (not to scale)", f"held-out {found.metric} ({direction})")


def _errors(measured: Measured) -> Any:
    errors = np.stack([measured.below, measured.above])
    return np.nan_to_num(errors) if np.isfinite(errors).any() else None


def _name_ends(ax: Axes, along: Any, x: Any, y: Any) -> None:
    """Label the first and the last point of a line."""
    above: dict[str, Any] = {"xytext": (0, 6), "textcoords": "offset points", "fontsize": "small", "ha": "center"}
    for end in (0, -1):
        ax.annotate(f"{along[end]:g}", (x[end], y[end]), **above).set_in_layout(False)


def _name_weights(ax: Axes, kl_weights: Any, best: int) -> None:
    """Label the axis: all values of a short grid, else some, and always the best."""
    step = -(-len(kl_weights) // 10)
    named = {*range(0, len(kl_weights), step), best}
    # The best value needs the room of its neighbours.
    ticks = sorted(i for i in named if i == best or abs(i - best) >= step)
    ax.set_xticks(ticks, [f"{kl_weights[i]:g}" for i in ticks])


def _shares(values: Any) -> Any:
    total = np.nansum(np.abs(values))
    return values / total if total > 0 else values

"""Plots of rows by group: ROC curves, calibration, distributions of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._rows.checks import check_whole
from .._rows.vectors import as_threshold
from .groups import ScoredRows, auc, bin_edges, calibration, path, roc_picture, scored_rows
from .style import FEW, MOST, REFERENCE, as_axes, check_axes, finish, largest, legend_below, legend_on_top, look, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAINT: dict[str, Any] = {"color": REFERENCE, "alpha": 0.6}
"""The line of a group without a style of its own."""


def plot_roc(
    y_true: Any, y_score: Any, *, sensitive_features: Any, sample_weight: Any = None, ax: Axes | None = None
) -> Axes:
    """Plot the ROC curve of each group, and shade the area between them (ABROCA).

    Use it to see where along the curve groups are ranked unequally: the number alone does not separate a small
    difference everywhere from a large difference at the relevant thresholds. With more than two groups, the pair with
    the largest area is shaded and named in the legend, the pair of :func:`pi_xgb.metrics.abroca`. A group without
    positives or without negatives has no curve and raises an :class:`~pi_xgb.metrics.UndefinedRateWarning`.

    Parameters
    ----------
    y_true : array-like
    y_score : array-like of float
        Labels, 0 or 1, and scores of any scale, higher for label 1.
    sensitive_features : array-like or DataFrame
    sample_weight : array-like of float, default=None
        The group of each row, or a DataFrame of several columns for their intersections (at least two groups), and the
        weight of each row.
    ax : matplotlib.axes.Axes, default=None
        The Axes to draw on; None opens a figure.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from pi_xgb import plotting
    >>> y, p = [1, 1, 0, 0, 1, 1, 0, 0], [0.9, 0.8, 0.6, 0.1, 0.7, 0.3, 0.4, 0.2]
    >>> ax = plotting.plot_roc(y, p, sensitive_features=list("ffffmmmm"), ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['f, AUC 1.00', 'm, AUC 0.75', 'ABROCA 0.250']
    """
    check_axes(ax)
    rows = scored_rows(y_true, y_score, sensitive_features, sample_weight)
    picture = roc_picture(rows, stacklevel=2)
    ax = as_axes(ax, rows.groups.count)
    names = list(rows.groups.names)
    _unit_square(ax)
    entries: list[tuple[Any, str]] = []
    for code, style in _styles(rows).items():
        curve = picture.curves.get(code)
        if curve is None:
            continue
        line = ax.plot(*path(curve), **style)[0]
        if code in _shown(rows) and rows.groups.count > FEW:
            _mark(line, _shown(rows).index(code))
        if code in _shown(rows):
            entries.append((line, f"{short(names[code])}, AUC {auc(curve):.2f}"))
    entries += _others(ax, rows)
    if picture.pair is not None:
        fill = ax.fill_between(*picture.band(picture.pair), color=REFERENCE, alpha=0.35)
        pair = "\n" + " – ".join(short(names[code]) for code in picture.pair) if rows.groups.count > 2 else ""
        entries.append((fill, f"ABROCA {picture.area:.3f}{pair}"))
    if entries:
        legend_below(ax, entries)
    return finish(ax, "false positive rate", "true positive rate")


def plot_calibration(
    y_true: Any,
    y_prob: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    n_bins: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """Plot the share of positives against the predicted probability, by group.

    Use it to see whether a probability means the same in every group: a curve below the diagonal belongs to a group
    whose probabilities are too high. Equal calibration and equal error rates exclude each other where base rates
    differ, so compare it with the rates.

    Parameters
    ----------
    y_true : array-like
    y_prob : array-like of float
        Labels, 0 or 1, and probabilities of label 1.
    sensitive_features, sample_weight, ax : as for :func:`plot_roc`
        One group is enough.
    n_bins : int, default=10
        The most points per group. Each group is divided into bins of equally many rows, at least 10. The bars are
        Wilson's 95 % intervals of each bin's share: a calibrated model misses one in twenty. Plots of more than three
        groups omit the bars, which would hide the curves.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from pi_xgb import plotting
    >>> rng = np.random.default_rng(0)
    >>> p, group = rng.random(200), rng.integers(0, 2, 200)
    >>> y = rng.random(200) < p
    >>> ax = plotting.plot_calibration(y, p, sensitive_features=group, ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('predicted probability', 'share of positives')
    """
    check_axes(ax)
    check_whole("n_bins", n_bins, 1)
    rows = scored_rows(y_true, y_prob, sensitive_features, sample_weight, probabilities=True)
    ax = as_axes(ax, rows.groups.count)
    _unit_square(ax)
    entries = []
    for code, style in _styles(rows).items():
        chosen = rows.of_group(code)
        bins = calibration(rows.scores[chosen], rows.labels[chosen], rows.weights[chosen], n_bins)
        if code not in _shown(rows):
            ax.plot(bins.score, bins.share, **style)
            continue
        marker = look(_shown(rows).index(code)).marker
        if rows.groups.count <= FEW:
            ax.vlines(bins.score, bins.low, bins.high, color=style["color"])
        line = ax.plot(bins.score, bins.share, marker=marker, **style)[0]
        entries.append((line, f"{short(rows.groups.names[code])} (n = {chosen.sum()})"))
    entries += _others(ax, rows)
    legend_below(ax, entries)
    return finish(ax, "predicted probability", "share of positives")


def plot_scores(
    y_score: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    threshold: float | None = None,
    bins: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Plot the distribution of the scores in each group, with the threshold and the shares above it.

    Use it to see how much of a difference in selection comes from the position of the threshold, and how much from the
    scores themselves.

    Parameters
    ----------
    y_score : array-like of float
        Scores of any scale.
    sensitive_features, sample_weight, ax : as for :func:`plot_roc`
        One group is enough.
    threshold : float, default=None
        Draw a line there, and show in the legend the share of each group that is selected (``y_score > threshold``).
    bins : int, default=20
        Bins of equal width: over [0, 1] if all scores lie there, else over their range.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from pi_xgb import plotting
    >>> p = [0.9, 0.8, 0.6, 0.1, 0.7, 0.3, 0.4, 0.2]
    >>> ax = plotting.plot_scores(p, sensitive_features=list("ffffmmmm"), threshold=0.5, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['f (75 % above)', 'm (25 % above)', 'threshold 0.5']
    """
    check_axes(ax)
    check_whole("bins", bins, 1)
    cut = None if threshold is None else as_threshold(threshold)
    rows = scored_rows(None, y_score, sensitive_features, sample_weight, labels_needed=False)
    ax = as_axes(ax, rows.groups.count)
    edges = bin_edges(rows.scores, bins)
    entries: list[tuple[Any, str]] = []
    for code, style in _styles(rows).items():
        chosen = rows.of_group(code)
        weights = rows.weights[chosen]
        total = weights.sum()
        if total == 0:
            continue
        heights = 100 * np.histogram(rows.scores[chosen], edges, weights=weights)[0] / total
        step = ax.stairs(heights, edges, baseline=None, **style)
        if rows.groups.count <= FEW:
            ax.stairs(heights, edges, fill=True, color=style["color"], alpha=0.12)
        if code in _shown(rows):
            above = 100 * weights[rows.scores[chosen] > cut].sum() / total if cut is not None else None
            label = f"n = {chosen.sum()}" if above is None else f"{above:.0f} % above"
            entries.append((step, f"{short(rows.groups.names[code])} ({label})"))
    entries += _others(ax, rows)
    if cut is not None:
        entries.append((ax.axvline(cut, color=REFERENCE), f"threshold {cut:g}"))
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(0, 1.05 * ax.dataLim.y1)
    (legend_below if rows.groups.count > FEW else legend_on_top)(ax, entries)
    return finish(ax, "score", "share of the group (%)")


def _mark(line: Any, position: int) -> None:
    """Add a few markers along a line, away from those of its neighbours."""
    every = max(len(line.get_xdata()) // 5, 1)
    line.set(marker=look(position).marker, markevery=(every * position // MOST, every))


def _shown(rows: ScoredRows) -> list[int]:
    """Return the groups with a style of their own."""
    return largest(rows.sizes())


def _styles(rows: ScoredRows) -> dict[int, dict[str, Any]]:
    """Return keywords for the line of each group: smaller groups first, so that they lie beneath."""
    shown = _shown(rows)
    faint = {code: FAINT for code in range(rows.groups.count) if code not in shown}
    return faint | {code: look(position).stroke for position, code in enumerate(shown)}


def _others(ax: Axes, rows: ScoredRows) -> list[tuple[Any, str]]:
    """Return the legend entry of the smaller groups."""
    more = rows.groups.count - len(_shown(rows))
    return [(ax.plot([], [], **FAINT)[0], f"{more} smaller group{'s' * (more > 1)}")] if more else []


def _unit_square(ax: Axes) -> None:
    """Set both axes to [0, 1] and draw the diagonal."""
    ax.plot([0, 1], [0, 1], color=REFERENCE, linestyle=":")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))

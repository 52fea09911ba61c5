"""Plots of rows by group: ROC curves, calibration, distributions of scores and of propensities."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import Array
from .._rows.checks import check_whole
from .._rows.groups import as_groups
from .._rows.per_row import FINITE
from .._rows.scores import as_probabilities, as_scored, as_scores, as_threshold, as_weights, check_scored_order
from .._stats.intervals import wilson
from ..metrics._abroca import Curve, largest_area, roc_curves
from ..metrics._rates import Values
from .style import LINES, MOST, PALETTE, REFERENCE, as_axes, finish, short_names, stroke

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MIN_ROWS = 10  # the fewest rows of a calibration bin, unless the group has fewer: less is noise
FEW = 3  # with more groups, intervals would hide the lines


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
    read = partial(as_scores, within=FINITE)
    labels, scores, weights = as_scored(y_true, y_score, sensitive_features, sample_weight, read)
    groups = as_groups(sensitive_features, scores.size, are_compared=True)
    curves = roc_curves(labels, scores, groups, weights, stacklevel=2)
    abroca, widest = largest_area(curves, groups, "skip")
    ax = as_axes(ax)
    _unit_square(ax)
    styles, names = _styles(groups.codes), short_names(groups.names)
    for code, curve in curves.items():
        auc = (np.diff(curve.fpr) * (curve.leave[:-1] + curve.enter[1:]) / 2).sum()
        named = {"label": f"{names[code]}, AUC {auc:.2f}", **styles[code]}
        ax.plot(np.repeat(curve.fpr, 2), _corners(curve, curve.fpr), markevery=0.2, **named)
    if widest is not None:
        fpr = np.linspace(0, 1, 501)  # as fine as a picture
        first, other = (_corners(curves[code], fpr) for code in widest)
        pair = "\n" + " – ".join(names[code] for code in widest) if groups.count > 2 else ""
        area: dict[str, Any] = {"color": REFERENCE, "alpha": 0.35, "label": f"ABROCA {abroca:.3f}{pair}"}
        ax.fill_between(np.repeat(fpr, 2), first, other, **area)
    return finish(ax, "false positive rate", "true positive rate", legend=True)


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
    check_whole("n_bins", n_bins, 1)
    read = partial(as_probabilities, name="y_prob")
    labels, scores, weights = as_scored(y_true, y_prob, sensitive_features, sample_weight, read)
    groups = as_groups(sensitive_features, scores.size)
    ax = as_axes(ax)
    _unit_square(ax)
    for code, (name, style) in enumerate(zip(short_names(groups.names), _styles(groups.codes), strict=True)):
        chosen = groups.codes == code
        score, share, low, high = _calibration(scores[chosen], labels[chosen], weights[chosen], n_bins)
        if groups.count <= FEW:
            ax.vlines(score, low, high, color=style["color"])
        ax.plot(score, share, **{"label": f"{name} (n = {chosen.sum()})", **style})
    return finish(ax, "predicted probability", "share of positives", legend=True)


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
    cut = None if threshold is None else as_threshold(threshold)
    check_scored_order(None, y_score, sensitive_features, sample_weight)
    scores = as_scores(y_score, FINITE)
    groups, weights = as_groups(sensitive_features, scores.size), as_weights(sample_weight, scores.size)
    is_share = scores.min() >= 0 and scores.max() <= 1
    edges = np.histogram_bin_edges(scores, bins, range=(0, 1) if is_share else None)
    ax = as_axes(ax)
    for code, (name, style) in enumerate(zip(short_names(groups.names), _styles(groups.codes), strict=True)):
        chosen = groups.codes == code
        if not (weight := weights[chosen]).any():
            continue
        heights = 100 * np.histogram(scores[chosen], edges, weights=weight)[0] / weight.sum()
        above = None if cut is None else f"{100 * np.average(scores[chosen] > cut, weights=weight):.0f} % above"
        label = {"label": f"{name} ({above or f'n = {chosen.sum()}'})"}
        style.pop("marker", None)  # of which a histogram has none
        ax.stairs(heights, edges, baseline=None, **label | style)
    if cut is not None:
        ax.axvline(cut, color=REFERENCE, label=f"threshold {cut:g}")
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(bottom=0)
    return finish(ax, "score", "share of the group (%)", legend=True)


def plot_propensity(propensity: Any, labelled: Any, ax: Axes | None) -> Axes:
    """Plot the shares of labelled and of unlabelled rows in each range of the propensity."""
    ax = as_axes(ax)
    edges = np.linspace(propensity.min(), propensity.max(), 21)
    for position, (name, rows) in enumerate({"labelled": labelled, "unlabelled": ~labelled}.items()):
        shares = np.histogram(propensity[rows], edges)[0] / rows.sum()
        ax.stairs(shares, edges, label=f"{name}, {rows.sum()} rows", color=PALETTE[position], linestyle=LINES[position])
    return finish(ax, "probability to be labelled, given x and z", "share of the rows", legend=True)


def _styles(codes: Any) -> list[dict[str, Any]]:
    """Return the keywords for the line of each group; the legend has the ``MOST`` largest, other lines are faint.

    Put these keywords last, as their label hides others.
    """
    sizes = np.bincount(codes)
    faint: dict[str, Any] = {"color": REFERENCE, "alpha": 0.6, "zorder": 1, "label": "_"}
    styles = [faint] * len(sizes)
    for position, code in enumerate(sorted(np.argsort(-sizes, kind="stable")[:MOST])):
        styles[code] = stroke(position)
    return styles


def _corners(curve: Curve, fpr: Values) -> Values:
    """Return the heights of a curve at ``np.repeat(fpr, 2)``: below and above each vertical step."""
    return np.stack(curve.at(fpr), axis=1).ravel()


def _calibration(scores: Array, labels: Array, weights: Values, n_bins: int) -> tuple[Values, ...]:
    """Return mean score, share of positives, and the ends of its interval for the bins of one group.

    The bins have about equally many rows; rows of equal score share a bin.
    """
    n_bins = int(np.clip(scores.size // MIN_ROWS, 1, n_bins))
    order = np.argsort(scores)
    ordered = scores[order]
    # Each cut moves to the start of its run of equal scores.
    cuts = np.unique(np.searchsorted(ordered, ordered[np.arange(n_bins) * scores.size // n_bins]))
    weight = weights[order]
    has_weight = np.add.reduceat(weight, cuts) > 0
    sums = (weight, weight * ordered, weight * labels[order], weight * weight)
    total, scored, positive, squares = (np.add.reduceat(values, cuts)[has_weight] for values in sums)
    share = positive / total
    # With weights a bin counts its effective number of rows.
    return scored / total, share, *wilson(share, total * total / squares, 0.95)


def _unit_square(ax: Axes) -> None:
    """Set both axes to [0, 1] and draw the diagonal."""
    ax.plot([0, 1], [0, 1], color=REFERENCE, linestyle=":")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))

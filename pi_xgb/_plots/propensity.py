"""Plot of the probability to be labelled, of rows with and without a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .style import as_axes, check_axes, finish, legend_on_top, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 20


def plot_propensity(propensity: Any, labelled: Any, ax: Axes | None) -> Axes:
    """Plot the shares of labelled and of unlabelled rows in each range of the propensity."""
    check_axes(ax)
    ax = as_axes(ax)
    edges = np.linspace(propensity.min(), propensity.max(), _BINS + 1)
    entries = []
    for position, (name, rows) in enumerate({"labelled": labelled, "unlabelled": ~labelled}.items()):
        style, n_rows = look(position), int(rows.sum())
        shares = np.histogram(propensity[rows], edges)[0] / n_rows
        drawn = ax.stairs(shares, edges, color=style.color, linestyle=style.line, linewidth=1.5)
        entries.append((drawn, f"{name}, {n_rows} rows"))
    legend_on_top(ax, entries)
    return finish(ax, "probability to be labelled, given x and z", "share of the rows")

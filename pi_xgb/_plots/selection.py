"""Plots of a selection and of a comparison, gains over plain XGBoost with intervals; and of labelled rows."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .style import MARKERS, MOST, PALETTE, REFERENCE, as_axes, finish, stroke

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_BINS = 20


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
        style = {"marker": MARKERS[position], "label": config, **stroke(position)}
        ax.errorbar(along, rows["gain"], rows["gain_se"], **style)
        if rows["chosen"].any():
            ring: dict[str, Any] = {"markersize": 14, "fillstyle": "none", "color": REFERENCE}
            ax.plot(along[rows["chosen"]], rows["gain"][rows["chosen"]], "o", label="chosen", **ring)
    ticks = sorted(taught["kl_weight"].unique())
    _log_axis(ax, ticks, [f"{weight:g}" for weight in ticks])
    return finish(ax, "kl_weight", f"{better_by}, against plain XGBoost", legend=True)


def _log_axis(ax: Axes, ticks: list[float], labels: list[str]) -> None:
    ax.set_xscale("log")
    ax.set_xticks(ticks, labels)
    ax.set_xticks([], minor=True)


def plot_comparison(summary: pd.DataFrame, better_by: str, ax: Axes | None, rows: str = "training rows") -> Axes:
    """Plot the gain of each model over plain XGBoost, with intervals: at one size as rows, at several as lines.

    ``rows`` is the unit of a size.
    """
    sizes = summary.index.unique("size")
    models = [model for model in summary.index.unique("model") if model != "plain XGBoost"]
    ax, gain = as_axes(ax), f"{better_by}, against plain XGBoost"
    if len(sizes) == 1:
        own = summary.loc[sizes[0]].loc[models]
        ax.axvline(0, color=REFERENCE)
        errors = [own["gain"] - own["low"], own["high"] - own["gain"]]
        ax.errorbar(own["gain"], range(len(models)), xerr=errors, fmt="o", color=PALETTE[0])
        ax.set_yticks(range(len(models)), models)
        ax.invert_yaxis()
        return finish(ax, gain, "")
    ax.axhline(0, color=REFERENCE, label="plain XGBoost")
    for position, model in zip(cycle(range(MOST)), models, strict=False):
        own = summary.xs(model, level="model")
        ax.fill_between(own.index, own["low"], own["high"], color=PALETTE[position], alpha=0.12)
        ax.plot(own.index, own["gain"], marker=MARKERS[position], label=model, **stroke(position))
    _log_axis(ax, list(sizes), [f"{size:,}" for size in sizes])
    return finish(ax, rows, gain, legend=True)


def plot_propensity(propensity: Any, labelled: Any, ax: Axes | None) -> Axes:
    """Plot the shares of labelled and of unlabelled rows in each range of the propensity."""
    ax = as_axes(ax)
    edges = np.linspace(propensity.min(), propensity.max(), _BINS + 1)
    for position, (name, rows) in enumerate({"labelled": labelled, "unlabelled": ~labelled}.items()):
        shares = np.histogram(propensity[rows], edges)[0] / rows.sum()
        ax.stairs(shares, edges, label=f"{name}, {rows.sum()} rows", **stroke(position))
    return finish(ax, "probability to be labelled, given x and z", "share of the rows", legend=True)

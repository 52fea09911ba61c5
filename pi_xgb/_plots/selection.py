"""Plots of a selection and of a comparison, gains over plain XGBoost with intervals; and of labelled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .style import REFERENCE, as_axes, check_axes, finish, legend, legend_on_top, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes


RING: dict[str, Any] = {"markersize": 14, "fillstyle": "none", "color": REFERENCE}
_BINS = 20


def plot_selection(summary: pd.DataFrame, better_by: str, ax: Axes | None) -> Axes:
    """Plot the gain of each configuration over ``kl_weight``; bars are one corrected standard error.

    ``better_by`` is the unit of a gain, such as "log loss lower by".
    """
    check_axes(ax)
    taught = summary[summary["kl_weight"] > 0]
    configs = taught.index.to_series().str.rsplit(n=1).str[0]  # The name of a candidate ends in its kl_weight.
    ax = as_axes(ax, configs.nunique())
    entries: list[tuple[Any, str]] = [(ax.axhline(0, color=REFERENCE), "plain XGBoost")]
    chosen: list[tuple[Any, str]] = []
    for position, config in enumerate(configs.unique()):
        rows, style = taught[configs == config], look(position)
        # Side by side, so that bars at the same kl_weight do not overlap.
        along = rows["kl_weight"] * 1.04**position
        bars = ax.errorbar(along, rows["gain"], yerr=rows["gain_se"], marker=style.marker, **style.stroke)
        entries.append((bars, config))
        for name in rows.index[rows["chosen"]]:
            chosen = [(ax.plot(along[name], rows["gain"][name], "o", **RING)[0], "chosen")]
    ax.set_xscale("log")
    ax.set_xticks(sorted(taught["kl_weight"].unique()), [f"{w:g}" for w in sorted(taught["kl_weight"].unique())])
    ax.set_xticks([], minor=True)
    legend(ax, entries + chosen)
    finish(ax, "kl_weight", f"{better_by}, against plain XGBoost")
    return ax


def plot_comparison(summary: pd.DataFrame, better_by: str, ax: Axes | None, rows: str = "training rows") -> Axes:
    """Plot the gain of each model over plain XGBoost, with intervals: at one size as rows, at several as lines.

    ``rows`` is the unit of a size.
    """
    check_axes(ax)
    sizes = summary.index.unique("size")
    models = [model for model in summary.index.unique("model") if model != "plain XGBoost"]
    ax = as_axes(ax, len(models))
    if len(sizes) == 1:
        return _rows(summary.loc[sizes[0]], models, better_by, ax)
    entries: list[tuple[Any, str]] = [(ax.axhline(0, color=REFERENCE), "plain XGBoost")]
    for position, model in enumerate(models):
        own, style = summary.xs(model, level="model"), look(position)
        size = own.index.to_numpy()
        ax.fill_between(size, own["low"].to_numpy(), own["high"].to_numpy(), color=style.color, alpha=0.12)
        entries.append((ax.plot(size, own["gain"], marker=style.marker, **style.stroke)[0], model))
    ax.set_xscale("log")
    ax.set_xticks(list(sizes), [f"{size:,}" for size in sizes])
    ax.set_xticks([], minor=True)
    legend(ax, entries)
    finish(ax, rows, f"{better_by}, against plain XGBoost")
    return ax


def _rows(summary: pd.DataFrame, models: list[str], better_by: str, ax: Axes) -> Axes:
    ax.axvline(0, color=REFERENCE)
    for position, model in enumerate(models):
        row, style = summary.loc[model], look(position)
        errors = np.array([[row["gain"] - row["low"]], [row["high"] - row["gain"]]])
        ax.errorbar([row["gain"]], [position], xerr=errors, marker=style.marker, color=style.color)
    ax.set_yticks(range(len(models)), models)
    ax.set_ylim(len(models) - 0.5, -0.5)
    finish(ax, f"{better_by}, against plain XGBoost", "")
    return ax


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

"""Pictures of a selection and of a comparison: gains over plain XGBoost and how sure they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .style import REFERENCE, as_axes, check_axes, finish, legend, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes


RING: dict[str, Any] = {"markersize": 14, "fillstyle": "none", "color": REFERENCE}


def plot_selection(summary: pd.DataFrame, better_by: str, ax: Axes | None) -> Axes:
    """The gain of each way of teaching along ``kl_weight``; bars are one corrected standard error.

    ``better_by`` says what a gain counts: "log loss lower by".
    """
    check_axes(ax)
    guided = summary[summary["kl_weight"] > 0]
    ways = guided.index.to_series().str.rsplit(n=1).str[0]  # The name of a candidate ends in its kl_weight.
    ax = as_axes(ax, ways.nunique())
    entries: list[tuple[Any, str]] = [(ax.axhline(0, color=REFERENCE), "plain XGBoost")]
    chosen: list[tuple[Any, str]] = []
    for position, way in enumerate(ways.unique()):
        rows, how = guided[ways == way], look(position)
        # Side by side, so that bars at one kl_weight do not lie on one another.
        along = rows["kl_weight"] * 1.04**position
        bars = ax.errorbar(along, rows["gain"], yerr=rows["gain_se"], marker=how.marker, **how.stroke)
        entries.append((bars, way))
        for name in rows.index[rows["chosen"]]:
            chosen = [(ax.plot(along[name], rows["gain"][name], "o", **RING)[0], "chosen")]
    ax.set_xscale("log")
    ax.set_xticks(sorted(guided["kl_weight"].unique()), [f"{w:g}" for w in sorted(guided["kl_weight"].unique())])
    ax.set_xticks([], minor=True)
    legend(ax, entries + chosen)
    finish(ax, "kl_weight", f"{better_by}, against plain XGBoost")
    return ax


def plot_comparison(summary: pd.DataFrame, better_by: str, ax: Axes | None, rows: str = "training rows") -> Axes:
    """The gain of each model over plain XGBoost, with intervals: at one size a row each, at several a line each.

    ``rows`` are what a size counts.
    """
    check_axes(ax)
    sizes = summary.index.unique("size")
    models = [model for model in summary.index.unique("model") if model != "plain XGBoost"]
    ax = as_axes(ax, len(models))
    if len(sizes) == 1:
        return _rows(summary.loc[sizes[0]], models, better_by, ax)
    entries: list[tuple[Any, str]] = [(ax.axhline(0, color=REFERENCE), "plain XGBoost")]
    for position, model in enumerate(models):
        own, how = summary.xs(model, level="model"), look(position)
        size = own.index.to_numpy()
        ax.fill_between(size, own["low"].to_numpy(), own["high"].to_numpy(), color=how.color, alpha=0.12)
        entries.append((ax.plot(size, own["gain"], marker=how.marker, **how.stroke)[0], model))
    ax.set_xscale("log")
    ax.set_xticks(list(sizes), [f"{size:,}" for size in sizes])
    ax.set_xticks([], minor=True)
    legend(ax, entries)
    finish(ax, rows, f"{better_by}, against plain XGBoost")
    return ax


def _rows(summary: pd.DataFrame, models: list[str], better_by: str, ax: Axes) -> Axes:
    ax.axvline(0, color=REFERENCE)
    for position, model in enumerate(models):
        row, how = summary.loc[model], look(position)
        reach = np.array([[row["gain"] - row["low"]], [row["high"] - row["gain"]]])
        ax.errorbar([row["gain"]], [position], xerr=reach, marker=how.marker, color=how.color)
    ax.set_yticks(range(len(models)), models)
    ax.set_ylim(len(models) - 0.5, -0.5)
    finish(ax, f"{better_by}, against plain XGBoost", "")
    return ax

"""Plots of a selection and of a comparison, gains over plain XGBoost with intervals; and of labelled rows."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .style import MARKERS, MOST, PALETTE, REFERENCE, as_axes, finish, stroke

if TYPE_CHECKING:
    from matplotlib.axes import Axes


RING: dict[str, Any] = {"markersize": 14, "fillstyle": "none", "color": REFERENCE}
_BINS = 20


def plot_selection(summary: pd.DataFrame, better_by: str, ax: Axes | None) -> Axes:
    """Plot the gain of each configuration over ``kl_weight``; bars are one corrected standard error.

    ``better_by`` is the unit of a gain, such as "log loss lower by".
    """
    taught = summary[summary["kl_weight"] > 0]
    configs = taught.index.to_series().str.rsplit(n=1).str[0]  # The name of a candidate ends in its kl_weight.
    ax = as_axes(ax, configs.nunique())
    entries: list[tuple[Any, str]] = [(ax.axhline(0, color=REFERENCE), "plain XGBoost")]
    chosen: list[tuple[Any, str]] = []
    for position, config in zip(cycle(range(MOST)), configs.unique(), strict=False):
        rows = taught[configs == config]
        # Side by side, so that bars at the same kl_weight do not overlap.
        along = rows["kl_weight"] * 1.04**position
        bars = ax.errorbar(along, rows["gain"], rows["gain_se"], marker=MARKERS[position], **stroke(position))
        entries.append((bars, config))
        for name in rows.index[rows["chosen"]]:
            chosen = [(ax.plot(along[name], rows["gain"][name], "o", **RING)[0], "chosen")]
    ax.set_xscale("log")
    ax.set_xticks(sorted(taught["kl_weight"].unique()), [f"{w:g}" for w in sorted(taught["kl_weight"].unique())])
    ax.set_xticks([], minor=True)
    return finish(ax, "kl_weight", f"{better_by}, against plain XGBoost", entries + chosen)


def plot_comparison(summary: pd.DataFrame, better_by: str, ax: Axes | None, rows: str = "training rows") -> Axes:
    """Plot the gain of each model over plain XGBoost, with intervals: at one size as rows, at several as lines.

    ``rows`` is the unit of a size.
    """
    sizes = summary.index.unique("size")
    models = [model for model in summary.index.unique("model") if model != "plain XGBoost"]
    ax = as_axes(ax, len(models))
    if len(sizes) == 1:
        return _rows(summary.loc[sizes[0]], models, better_by, ax)
    entries: list[tuple[Any, str]] = [(ax.axhline(0, color=REFERENCE), "plain XGBoost")]
    for position, model in zip(cycle(range(MOST)), models, strict=False):
        own = summary.xs(model, level="model")
        size = own.index.to_numpy()
        ax.fill_between(size, own["low"].to_numpy(), own["high"].to_numpy(), color=PALETTE[position], alpha=0.12)
        entries.append((ax.plot(size, own["gain"], marker=MARKERS[position], **stroke(position))[0], model))
    ax.set_xscale("log")
    ax.set_xticks(list(sizes), [f"{size:,}" for size in sizes])
    ax.set_xticks([], minor=True)
    return finish(ax, rows, f"{better_by}, against plain XGBoost", entries)


def _rows(summary: pd.DataFrame, models: list[str], better_by: str, ax: Axes) -> Axes:
    ax.axvline(0, color=REFERENCE)
    for position, model in enumerate(models):
        row = summary.loc[model]
        errors = np.array([[row["gain"] - row["low"]], [row["high"] - row["gain"]]])
        ax.errorbar([row["gain"]], [position], xerr=errors, marker="o", color=PALETTE[position % MOST])
    ax.set_yticks(range(len(models)), models)
    ax.set_ylim(len(models) - 0.5, -0.5)
    return finish(ax, f"{better_by}, against plain XGBoost", "")


def plot_propensity(propensity: Any, labelled: Any, ax: Axes | None) -> Axes:
    """Plot the shares of labelled and of unlabelled rows in each range of the propensity."""
    ax = as_axes(ax)
    edges = np.linspace(propensity.min(), propensity.max(), _BINS + 1)
    entries = []
    for position, (name, rows) in enumerate({"labelled": labelled, "unlabelled": ~labelled}.items()):
        n_rows = int(rows.sum())
        shares = np.histogram(propensity[rows], edges)[0] / n_rows
        entries.append((ax.stairs(shares, edges, **stroke(position)), f"{name}, {n_rows} rows"))
    return finish(ax, "probability to be labelled, given x and z", "share of the rows", entries)

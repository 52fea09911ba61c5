"""The pictures of RESULTS.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.intervals import Interval
from benchmarks.pictures import PALETTE, REFERENCE, finish, panels, pyplot, save
from benchmarks.report.paper import METHODS as PAPER_METHODS
from benchmarks.report.paper import printed, printed_group
from benchmarks.report.results import BASELINES, CONTROLS, GROUP_MEASURES, NF, OURS, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h", "d", "8")
FAMILIES = {"ours": PALETTE[0], "baseline": "#404040", "control": PALETTE[4], "peer": PALETTE[2]}


class Picture(NamedTuple):
    """A file in the folder of figures, and what it shows."""

    file: str
    caption: str


def draw_all(results: Results, folder: Path) -> list[Picture]:
    """Those that there are results for."""
    pictures = []
    if results.datasets("paper"):
        pictures.append(paper_auc(results, folder))
    if results.datasets("current"):
        pictures += [current_auc(results, folder), gains(results, folder)]
        pictures += [picture for short in GROUP_MEASURES if (picture := fairness(results, folder, short))]
    return pictures


def family(method: str) -> str:
    if method in OURS:
        return "ours"
    return "baseline" if method in BASELINES else "control" if method in CONTROLS else "peer"


def paper_auc(results: Results, folder: Path) -> Picture:
    """Ours beside the printed mean, a panel per method, a row per set."""
    sets = results.datasets("paper")[::-1]
    figure, axes = pyplot().subplots(
        1, len(PAPER_METHODS), figsize=(11, 1.6 + 0.32 * len(sets)), sharey=True, sharex=True, layout="constrained"
    )
    at = np.arange(len(sets))
    for ax, method in zip(axes, PAPER_METHODS, strict=True):
        ours = [results.mean("paper", name, method, "auc") for name in sets]
        spread = [results.spread("paper", name, method, "auc") for name in sets]
        theirs = [printed("table_auc", "mean", dataset=name, method=method) for name in sets]
        spread_there = [printed("table_auc", "std", dataset=name, method=method) for name in sets]
        dots(ax, ours, spread, at + 0.14, "o", PALETTE[0], "here")
        dots(ax, numbers(theirs), numbers(spread_there), at - 0.14, "s", PALETTE[1], "printed")
        ax.set_yticks(at, sets)
        ax.set_title(method, fontsize="medium")
        finish(ax, "AUC, mean and standard deviation", "")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    save(figure, folder / "auc_paper.png")
    return Picture("auc_paper.png", "AUC in paper mode and as printed")


def dots(ax: Axes, x: Any, spread: Any, y: Any, marker: str, color: str, label: str | None = None) -> None:
    ax.errorbar(x, y, xerr=spread, fmt=marker, color=color, ms=5, elinewidth=1, capsize=2, label=label)


def numbers(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


def current_auc(results: Results, folder: Path) -> Picture:
    """A panel per set, a row per method: the mean and the standard deviation over the folds."""
    sets, methods = results.datasets("current"), results.methods("current")
    return rows_of_methods(
        results,
        folder,
        Picture("auc.png", "AUC per set and method in current mode, mean and standard deviation"),
        methods,
        lambda name, method: deviation(results, name, method),
        sets,
        level=lambda name: results.mean("current", name, NF, "auc"),
        xlabel="AUC",
    )


def deviation(results: Results, dataset: str, method: str) -> Interval | None:
    folds = results.folds("current", dataset, method, "auc")
    return Interval(float(folds.mean()), float(folds.std(ddof=1)), folds.size) if folds.size else None


def gains(results: Results, folder: Path) -> Picture:
    """The differences from NF that the table has."""
    methods = [name for name in results.methods("current") if name in (*OURS, *CONTROLS)]
    return rows_of_methods(
        results,
        folder,
        Picture("gain_over_nf.png", "Difference in AUC from NF with its corrected 95 % interval, current mode"),
        methods,
        lambda name, method: results.difference("current", name, method, NF, "auc"),
        results.datasets("current"),
        level=lambda name: 0.0,
        xlabel="AUC less that of NF",
    )


def rows_of_methods(
    results: Results,
    folder: Path,
    picture: Picture,
    methods: Sequence[str],
    value: Callable[[str, str], Interval | None],
    sets: Sequence[str],
    level: Callable[[str], float],
    xlabel: str,
) -> Picture:
    """Small panels, one per set, each with a dot and a bar per method and a line at ``level``."""
    figure, axes = panels(len(sets), 5, 2.9, 1.1 + 0.17 * max(len(methods), 1))
    at = {method: -row for row, method in enumerate(methods)}
    for position, (ax, dataset) in enumerate(zip(axes, sets, strict=True)):
        ax.axvline(level(dataset), color=REFERENCE, linewidth=1)
        for method in methods:
            found = value(dataset, method)
            if found is not None:
                half = 0.0 if math.isnan(found.half) else found.half
                dots(ax, found.mean, half, at[method], "o", FAMILIES[family(method)])
        ax.set_yticks(list(at.values()), list(at) if position % 5 == 0 else [""] * len(at), fontsize=8)
        ax.set_ylim(-len(methods) + 0.4, 0.6)
        ax.set_title(dataset, fontsize="medium")
        ax.locator_params(axis="x", nbins=4)
        finish(ax, xlabel, "")
    shown = dict.fromkeys(family(method) for method in methods)
    handles = [pyplot().Line2D([], [], color=FAMILIES[name], marker="o", linestyle="") for name in shown]
    if handles:
        figure.legend(handles, list(shown), loc="outside lower center", ncols=len(handles))
    save(figure, folder / picture.file)
    return picture


def fairness(results: Results, folder: Path, short: str) -> Picture | None:
    """A panel per set for the column of the paper's table 4: the gap against the AUC, a mark per method."""
    columns = {name: shown_column(results, name) for name in results.datasets("current")}
    sets = [name for name, column in columns.items() if column is not None]
    if not sets:
        return None
    # What z alone says of a group that z names is so far from the rest that nothing else could be told apart.
    methods = [method for method in results.methods("current") if method != "PF"]
    figure, axes = panels(len(sets), 4, 3.2, 2.9)
    looks = looks_of(methods)
    for ax, dataset in zip(axes, sets, strict=True):
        for method, look in looks.items():
            gap = results.mean("current", dataset, method, f"{short}:{columns[dataset]}")
            ax.plot(results.mean("current", dataset, method, "auc"), gap, linestyle="", **look)
        ax.set_title(f"{dataset}, {columns[dataset]}", fontsize="medium")
        # Room for whole marks above the largest gap: a margin of the range would be none where gaps are alike.
        ax.set_ylim(0, 1.08 * ax.dataLim.y1)
        ax.locator_params(axis="x", nbins=3)
        finish(ax, "AUC", GROUP_MEASURES[short])
    handles = [pyplot().Line2D([], [], linestyle="", **look) for look in looks.values()]
    figure.legend(handles, list(looks), loc="outside lower center", ncols=6 if len(sets) > 2 else 3, fontsize="small")
    file = f"fairness_{short}.png"
    save(figure, folder / file)
    return Picture(file, f"{GROUP_MEASURES[short]} (lower is fairer) against AUC, current mode, all methods but PF")


def shown_column(results: Results, dataset: str) -> str | None:
    """The column that the paper's table 4 has, else the first."""
    columns = results.privileged_columns("current", dataset)
    in_paper = [
        column for column in columns if printed("table_fairness", "NF", dataset=dataset, group=printed_group(column))
    ]
    return next(iter([*in_paper, *columns]), None)


def looks_of(methods: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Colour by family; within one, every method has a marker of its own."""
    looks, used = {}, dict.fromkeys(FAMILIES, 0)
    for method in methods:
        kind = family(method)
        looks[method] = {"color": FAMILIES[kind], "marker": MARKERS[used[kind] % len(MARKERS)], "ms": 6, "alpha": 0.85}
        used[kind] += 1
    return looks

"""The pictures of the paper's sets, among them the content of its Figures 2 and 3."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.intervals import Interval
from benchmarks.pictures import PALETTE, REFERENCE, finish, panels, pyplot, save
from benchmarks.report.paper import printed
from benchmarks.report.questions import gaps_of
from benchmarks.report.results import CONTROLS, GROUP_MEASURES, NF, OURS, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Picture(NamedTuple):
    """A file in the folder of figures, and what it shows."""

    file: str
    caption: str


def dots(ax: Axes, found: Sequence[Interval], y: Any, marker: str, color: str, label: str | None = None) -> None:
    halves = [0.0 if math.isnan(item.half) else item.half for item in found]
    means = [item.mean for item in found]
    ax.errorbar(means, y, xerr=halves, fmt=marker, color=color, ms=5, elinewidth=1, capsize=2, label=label)


def gains(results: Results, folder: Path) -> Picture:
    """Small panels, one per set: the difference of each method of ours and each control from plain XGBoost."""
    methods = [name for name in results.methods("current") if name in (*OURS, *CONTROLS)]
    sets, at = results.datasets("current"), {method: -row for row, method in enumerate(methods)}
    figure, axes = panels(len(sets), 5, 2.9, 1.1 + 0.17 * len(methods))
    for position, (ax, dataset) in enumerate(zip(axes, sets, strict=True)):
        ax.axvline(0, color=REFERENCE, linewidth=1)
        for method in methods:
            found = results.difference("current", dataset, method, NF, "auc")
            if found is not None:
                dots(ax, [found], at[method], "o", PALETTE[0] if method in OURS else PALETTE[4])
        ax.set_yticks(list(at.values()), list(at) if position % 5 == 0 else [""] * len(at), fontsize=8)
        ax.set_ylim(-len(methods) + 0.4, 0.6)
        ax.set_title(dataset, fontsize="medium")
        ax.locator_params(axis="x", nbins=4)
        finish(ax, "AUC less that of NF", "")
    save(figure, folder / "gain_over_nf.png")
    caption = "Difference in AUC from NF with its corrected 95 % interval, current mode; the controls in another colour"
    return Picture("gain_over_nf.png", caption)


def less_svm(results: Results, folder: Path) -> Picture | None:
    """A row per set: the difference in AUC on the folds that both have, beside that of the printed means."""
    found = {name: results.difference("current", name, "JPIB", "SVM+", "auc") for name in results.datasets("current")}
    differences = {name: item for name, item in found.items() if item is not None}
    if not differences:
        return None
    sets = list(differences)[::-1]
    figure, ax = pyplot().subplots(figsize=(8, 1.6 + 0.34 * len(sets)), layout="constrained")
    at = np.arange(len(sets))
    ax.axvline(0, color=REFERENCE, linewidth=1)
    dots(ax, [differences[name] for name in sets], at + 0.14, "o", PALETTE[0], "here, with interval")
    pairs = [
        [printed("table_auc", "mean", dataset=name, method=method) for method in ("JPIB", "SVM+")] for name in sets
    ]
    there = [math.nan if a is None or b is None else a - b for a, b in pairs]
    ax.plot(there, at - 0.14, "s", color=PALETTE[1], ms=5, label="printed means")
    ax.set_yticks(at, sets)
    finish(ax, "AUC of JPIB less that of SVM+", "")
    figure.legend(loc="outside upper center", ncols=2)
    save(figure, folder / "jpib_less_svm.png")
    return Picture("jpib_less_svm.png", "JPIB less SVM+ in AUC, the content of the paper's Figure 2")


def less_mfc(results: Results, folder: Path) -> Picture | None:
    """A panel per measure, a row per privileged column; for AUC a row per set."""
    peer, sets = "MFC c chosen", results.datasets("current")
    gaps = list(gaps_of(results, sets, "JPIB", peer))
    if not gaps:
        return None
    rows = list(dict.fromkeys((gap.dataset, gap.column) for gap in gaps))[::-1]
    figure, axes = pyplot().subplots(
        1, 1 + len(GROUP_MEASURES), figsize=(14, 1.6 + 0.3 * len(rows)), sharey=True, layout="constrained"
    )
    at = {row: position for position, row in enumerate(rows)}
    auc = [results.difference("current", dataset, "JPIB", peer, "auc") for dataset, _ in rows]
    panels_ = {"AUC (higher is better)": [(item, i) for i, item in enumerate(auc) if item is not None]}
    for short, name in GROUP_MEASURES.items():
        own = [(gap.difference, at[gap.dataset, gap.column]) for gap in gaps if gap.short == short]
        panels_[f"{name} (lower is fairer)"] = own
    for ax, (title, found) in zip(axes, panels_.items(), strict=True):
        ax.axvline(0, color=REFERENCE, linewidth=1)
        dots(ax, [item for item, _ in found], [place for _, place in found], "o", PALETTE[0])
        finish(ax, title, "")
    axes[0].set_yticks(range(len(rows)), [f"{dataset}, {column}" for dataset, column in rows])
    figure.suptitle("JPIB less MFC")
    save(figure, folder / "jpib_less_mfc.png")
    return Picture("jpib_less_mfc.png", "JPIB less MFC in AUC and group measures, the content of the paper's Figure 3")

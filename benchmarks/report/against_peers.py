"""Pictures of the content of the paper's Figures 2 and 3: JPIB less SVM+, and JPIB less MFC."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.intervals import Interval
from benchmarks.pictures import PALETTE, REFERENCE, finish, pyplot, save
from benchmarks.report.figures import Picture, dots
from benchmarks.report.paper import printed
from benchmarks.report.questions import gaps_of
from benchmarks.report.results import GROUP_MEASURES, Results

MODE, OURS = "current", "JPIB"


def draw_against_peers(results: Results, folder: Path) -> list[Picture]:
    """Those that there are results for."""
    found = [less_svm(results, folder), less_mfc(results, folder)]
    return [picture for picture in found if picture is not None]


def less_svm(results: Results, folder: Path) -> Picture | None:
    """A row per set: the difference in AUC on the folds that both have, beside that of the printed means."""
    differences = {name: results.difference(MODE, name, OURS, "SVM+", "auc") for name in results.datasets(MODE)}
    sets = [name for name, item in differences.items() if item is not None][::-1]
    if not sets:
        return None
    figure, ax = pyplot().subplots(figsize=(8, 1.6 + 0.34 * len(sets)), layout="constrained")
    at = np.arange(len(sets))
    intervals(ax, [differences[name] for name in sets], at + 0.14, "here, with interval")
    means = {
        method: [printed("table_auc", "mean", dataset=n, method=method) for n in sets] for method in (OURS, "SVM+")
    }
    there = [math.nan if a is None or b is None else a - b for a, b in zip(*means.values(), strict=True)]
    ax.plot(there, at - 0.14, "s", color=PALETTE[1], ms=5, label="printed means")
    ax.set_yticks(at, sets)
    finish(ax, "AUC of JPIB less that of SVM+", "")
    figure.legend(loc="outside upper center", ncols=2)
    save(figure, folder / "jpib_less_svm.png")
    return Picture("jpib_less_svm.png", "JPIB less SVM+ in AUC, the content of the paper's Figure 2")


def less_mfc(results: Results, folder: Path) -> Picture | None:
    """A panel per measure, a row per privileged column; for AUC a row per set."""
    peer, sets = "MFC c chosen", results.datasets(MODE)
    gaps = list(gaps_of(results, sets, OURS, peer))
    auc = {name: item for name in sets if (item := results.difference(MODE, name, OURS, peer, "auc")) is not None}
    if not gaps or not auc:
        return None
    rows = list(dict.fromkeys((gap.dataset, gap.column) for gap in gaps))[::-1]
    figure, axes = pyplot().subplots(
        1, 1 + len(GROUP_MEASURES), figsize=(14, 1.6 + 0.3 * len(rows)), sharey=True, layout="constrained"
    )
    at = {row: position for position, row in enumerate(rows)}
    by_row = [auc.get(dataset) for dataset, _ in rows]
    intervals(axes[0], [item for item in by_row if item], np.array([i for i, item in enumerate(by_row) if item]))
    finish(axes[0], "AUC (higher is better)", "")
    for ax, (short, name) in zip(axes[1:], GROUP_MEASURES.items(), strict=True):
        own = [gap for gap in gaps if gap.short == short]
        intervals(ax, [gap.difference for gap in own], np.array([at[gap.dataset, gap.column] for gap in own]))
        finish(ax, f"{name} (lower is fairer)", "")
    axes[0].set_yticks(range(len(rows)), [f"{dataset}, {column}" for dataset, column in rows])
    figure.suptitle("JPIB less MFC")
    save(figure, folder / "jpib_less_mfc.png")
    return Picture("jpib_less_mfc.png", "JPIB less MFC in AUC and group measures, the content of the paper's Figure 3")


def intervals(ax: object, found: Sequence[Interval | None], at: np.ndarray, label: str | None = None) -> None:
    ax.axvline(0, color=REFERENCE, linewidth=1)  # type: ignore[attr-defined]
    known = [item for item in found if item is not None]
    halves = [0.0 if math.isnan(item.half) else item.half for item in known]
    dots(ax, [item.mean for item in known], halves, at, "o", PALETTE[0], label)  # type: ignore[arg-type]

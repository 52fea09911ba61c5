"""The picture of the README: three sets, one of which gains nothing from its privileged features."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.curves.page import log_steps
from benchmarks.intervals import corrected_interval
from benchmarks.pictures import PALETTE, REFERENCE, finish, panels, save
from benchmarks.unlabelled.cell import ALL_LABELS, KBPIB, ON_X, PLAIN, TEST_SHARE

TITLES = {
    "student_por": "final grades\nprivileged: the two earlier grades",
    "spam": "spam\nprivileged: 19 of 57 counts",
    "adult": "income\nprivileged: age, race and sex",
}
DRAWN = {
    ALL_LABELS: ("all labels known", REFERENCE, "X", (0, (1.2, 1.2))),
    KBPIB: ("taught, on all rows (KbPIB)", PALETTE[0], "o", "-"),
    ON_X: ("control: teacher without z", PALETTE[1], "D", (0, (5, 1.5))),
    PLAIN: ("plain XGBoost on the labelled rows", "#606060", "s", "-"),
}


def draw_headline(lines: pd.DataFrame, path: Path) -> None:
    """AUC against rows with a label; the band is the corrected 95 % interval of what teaching gains over plain."""
    figure, axes = panels(len(TITLES), len(TITLES), 4.2, 3.5)
    for ax, (name, title) in zip(axes, TITLES.items(), strict=True):
        here = lines[(lines["dataset"] == name) & lines["method"].isin(DRAWN)]
        wide = here.pivot(index=["labelled", "repeat"], columns="method", values="auc")
        means = wide.groupby(level="labelled").mean()
        for method, (label, color, marker, style) in DRAWN.items():
            ax.plot(means.index, means[method], color=color, marker=marker, linestyle=style, ms=4, lw=1.6, label=label)
        gains = (wide[KBPIB] - wide[PLAIN]).groupby(level="labelled")
        half = np.array([corrected_interval(values, TEST_SHARE / (1 - TEST_SHARE)).half for _, values in gains])
        ax.fill_between(
            means.index, means[KBPIB] - half, means[KBPIB] + half, color=PALETTE[0], alpha=0.15, linewidth=0
        )
        log_steps(ax, list(means.index))
        ax.set_title(title, fontsize="medium")
        finish(ax, "rows with a label", "AUC on other rows")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(DRAWN), fontsize="small")
    save(figure, path, dpi=110)

"""The picture of the README: the gain of a mixed teacher by the number of labels, legible on a phone."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmarks.curves.page import log_steps
from benchmarks.pictures import PALETTE, REFERENCE, finish, panels, pyplot, save
from benchmarks.unlabelled.cell import FOREST_RIVAL, MIXED, MIXED_ON_X, PLAIN, RIDGE_RIVAL
from benchmarks.unlabelled.kinds import ALL, mean_gain, over_sets, places_by_labels
from benchmarks.unlabelled.scores import Scores, with_all_of

DRAWN = {
    MIXED: ("mixed teacher, with privileged features", PALETTE[0], "o", "-"),
    MIXED_ON_X: ("mixed teacher, without privileged features", PALETTE[1], "D", (0, (5, 1.5))),
    FOREST_RIVAL: ("random forest", PALETTE[2], "s", (0, (5, 1.5, 1.2, 1.5))),
    RIDGE_RIVAL: ("ridge regression", REFERENCE, "X", (0, (1.2, 1.2))),
}


def draw_headline(lines: pd.DataFrame, path: Path) -> None:
    """Gain in AUC over plain XGBoost, mean of the sets; the band is the mixed teacher's 95 % interval."""
    lines = with_all_of(lines, MIXED)
    places = {int(labels): found for labels, found in places_by_labels(lines).items() if labels != ALL}
    auc = Scores(lines, "auc")
    with pyplot().rc_context({"font.size": 13}):
        figure, (ax,) = panels(1, 1, 5.6, 5.2)
        for method, (label, color, marker, style) in DRAWN.items():
            found = [over_sets([mean_gain(auc, place, method, PLAIN) for place in here]) for here in places.values()]
            means = [interval.mean for interval in found if interval]
            ax.plot(list(places), means, color=color, marker=marker, linestyle=style, ms=6, lw=2.2, label=label)
            if method == MIXED:
                ends = [(interval.low, interval.high) for interval in found if interval]
                ax.fill_between(
                    list(places),
                    *zip(*ends, strict=True),
                    color=color,
                    alpha=0.15,
                    linewidth=0,
                    label="its 95 % interval",
                )
        ax.axhline(0, color="#606060", lw=1)
        ax.text(min(places), 0, "plain XGBoost", ha="left", va="top", fontsize="small", color="#606060")
        log_steps(ax, list(places))
        ax.set_xticks(list(places), [f"{labels}\n{len(here)} sets" for labels, here in places.items()])
        finish(ax, "rows with a label, and public data sets", "gain in AUC over plain XGBoost")
        ax.tick_params(labelsize="medium")
        figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", fontsize="small")
        save(figure, path, dpi=110)

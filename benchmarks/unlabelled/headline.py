"""The picture of the README: the gain over the best rival by the number of labels, legible on a phone."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmarks.pictures import PALETTE, finish, panels, pyplot, save
from benchmarks.unlabelled.cell import CHOSEN_BY_AUC, MIXED, MIXED_ON_X
from benchmarks.unlabelled.kinds import mean_gain, over_sets, places_by_labels, places_in
from benchmarks.unlabelled.scores import Scores, with_all_of

DRAWN = {
    MIXED: ("with privileged features, 95 % interval", PALETTE[0], "o", "-", -0.06),
    MIXED_ON_X: ("without privileged features", PALETTE[1], "D", (0, (5, 1.5)), 0.06),
}
PANELS = {"All sets": None, "Privileged features predict better": True, "Privileged: a sensitive attribute": False}


def draw_headline(lines: pd.DataFrame, path: Path) -> None:
    """The mixed teacher's gain in AUC over the rival that cross-validation chooses, mean of the sets, three panels."""
    lines = with_all_of(lines, MIXED, MIXED_ON_X, CHOSEN_BY_AUC)
    auc, by_labels = Scores(lines, "auc"), places_by_labels(lines)
    with pyplot().rc_context({"font.size": 14}):
        figure, axes = panels(len(PANELS), 1, 5.2, 2.9, sharey=True)
        for ax, (title, telling) in zip(axes, PANELS.items(), strict=True):
            here = {n: found if telling is None else places_in(found, telling) for n, found in by_labels.items()}
            here = {labels: places for labels, places in here.items() if places}
            ax.axhline(0, color="black", lw=1)
            for method, (label, color, marker, style, shift) in DRAWN.items():
                found = [
                    over_sets([mean_gain(auc, p, method, CHOSEN_BY_AUC) for p in places]) for places in here.values()
                ]
                at = [step + shift for step in range(len(here))]
                means = [interval.mean for interval in found if interval]
                ax.plot(at, means, color=color, marker=marker, linestyle=style, ms=7, lw=2.2, label=label)
                if method == MIXED:
                    halves = [interval.half for interval in found if interval]
                    ax.errorbar(at, means, halves, fmt="none", ecolor=color, elinewidth=2, capsize=4)
            ax.set_xticks(range(len(here)), [f"{labels}\n{len(places)} sets" for labels, places in here.items()])
            ax.set_title(title, fontsize="medium")
            ax.set_xlim(-0.3, len(here) - 0.6)
            finish(ax, "", "")
            ax.tick_params(labelsize="medium")
        figure.supylabel("gain in AUC over the chosen rival", fontsize="medium")
        axes[-1].set_xlabel("rows with a label", fontsize="medium")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", fontsize="small")
        save(figure, path, dpi=100)

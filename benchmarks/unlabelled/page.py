"""The sections on few labels: fresh sets, the nine sets, and the advice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import policy
from benchmarks.cells import read
from benchmarks.pictures import PALETTE, REFERENCE, finish, log_steps, panels, save
from benchmarks.text import paragraphs, signed, table
from benchmarks.unlabelled import cell as cells
from benchmarks.unlabelled import fresh_page
from benchmarks.unlabelled.scores import ALL, Place, Scores, bounds, places_by_labels
from benchmarks.unlabelled.splits import SPLITS

SHOWN = ("50", "100", "200", ALL)
KINDS = {
    cells.KBPIB: "boosted",
    cells.FOREST_TEACHER: "forest",
    cells.LINEAR_TEACHER: "linear",
    cells.MIXED: "mixed",
    cells.MIXED_ON_X: "mixed, without z",
    cells.RIDGE_RIVAL: cells.RIDGE_RIVAL,
    cells.FOREST_RIVAL: cells.FOREST_RIVAL,
}
OTHERS = (
    *(cells.KBPIB_LABELLED, cells.JPIB, cells.MIXED, cells.MIXED_ON_X, cells.ON_X, cells.TUNED),
    *(cells.SELF_TRAINING, cells.SPREADING, cells.ALL_LABELS),
)
GROUPS = {"z predicts better than x": True, "z predicts little": False}
DRAWN = {
    cells.MIXED: (PALETTE[0], "o", "-"),
    cells.FOREST_TEACHER: (PALETTE[2], "s", (0, (5, 1.5))),
    cells.LINEAR_TEACHER: (PALETTE[1], "D", (0, (5, 1.5, 1.2, 1.5))),
    cells.KBPIB: (PALETTE[4], "v", (0, (1.2, 1.2))),
    cells.MIXED_ON_X: (REFERENCE, "X", "-"),
}

ABOUT = """\
`python -m benchmarks.unlabelled`. These sets were looked at while the kinds of teachers were developed, so the fresh
sets count for more. A repeat draws a quarter of the set for testing (at most {most_test:,} rows) and at most
{most_training:,} of the other rows for training. Some of these get a label, in the proportion of the classes; no
method except the ceiling sees other labels. Boosters have depth {depth}, eta {eta:g} and {rounds} rounds. Teachers
see x and z, are cross-fitted with {crossfit} folds, and teach all rows at `kl_weight` {kl_weight:g}, JPIB at
{joint:g}; "mixed" is the recipe of an earlier version, with a booster in the mixture. [Every
draw](results/unlabelled.csv.gz), with up to 800 labels and log loss.

**The assumption**: which labels are missing depends on x and z alone. Data cannot show a breach. What it costs is
measured on [late labels](#labels-that-come-late) and under [a
shift](#weights-against-a-shift-of-the-labelled-rows)."""

KIND = """\
Gain in AUC over plain XGBoost on the labelled rows by kind of teacher, and of two rivals on x of the labelled rows;
mean over the sets, 95 % interval over the sets in brackets, {draws} draws:"""

GLANCE = """\
Other methods, by what we expected of z before the run. "KbPIB labelled only": the student does not see the unlabelled
rows. "teacher on x": a boosted teacher without z. Depth and rounds of XGBoost were tuned by inner folds. Self-training
and label spreading are scikit-learn's. Ceiling: plain XGBoost with all labels."""


def text(folder: Path, figures: Path) -> str:
    """The sections, and their pictures."""
    lines = read("unlabelled", folder)
    draw_kinds(lines, figures / "unlabelled_kinds.png")
    facts = {"most_test": cells.MOST_TEST, "most_training": cells.MOST_TRAINING, "rounds": cells.ROUNDS}
    facts |= {"depth": cells.PARAMS["max_depth"], "eta": cells.PARAMS["eta"], "crossfit": cells.CROSSFIT}
    facts |= {"kl_weight": cells.KL_WEIGHT, "joint": cells.JOINT_KL_WEIGHT, "draws": lines["repeat"].nunique()}
    out = [*fresh_page.text(folder, figures), "# Nine public sets", "", paragraphs(ABOUT.format(**facts)), ""]
    out += ["## The sets and their z", "", *(f"- {name}: {split.why}." for name, split in SPLITS.items()), ""]
    out += ["## Which kind of teacher", "", paragraphs(KIND.format(**facts)), "", *kinds(lines)]
    out += ["![Gain over plain by kind of teacher](figures/unlabelled_kinds.png)", ""]
    out += [paragraphs(GLANCE), "", *glance(lines)]
    return "\n".join([*out, "## Advice", "", *policy.section(folder)])


def shown(lines: pd.DataFrame) -> dict[str, list[Place]]:
    return {labels: places for labels, places in places_by_labels(lines).items() if labels in SHOWN}


def kinds(lines: pd.DataFrame) -> list[str]:
    auc = Scores(lines)
    rows = [
        [labels, str(len(places)), *(bounds(auc.over_sets(places, method)) for method in KINDS)]
        for labels, places in shown(lines).items()
    ]
    return table(["labels", "sets", *KINDS.values()], rows)


def places_in(places: list[Place], telling: bool) -> list[Place]:
    return [place for place in places if (place[0] not in SPLITS or SPLITS[place[0]].telling) == telling]


def glance(lines: pd.DataFrame) -> list[str]:
    """The mean gain of a group of sets for each budget that is not the whole of a set."""
    auc, rows = Scores(lines), []
    for title, telling in GROUPS.items():
        for labels, everywhere in shown(lines).items():
            places = places_in(everywhere, telling)
            if places and labels != ALL:
                means = [np.mean([auc.gain(place, method).mean() for place in places]) for method in OTHERS]
                rows.append([title, labels, str(len(places)), *(signed(float(mean)) for mean in means)])
    return table(["sets", "labels", "number", *OTHERS], rows)


def draw_kinds(lines: pd.DataFrame, path: Path) -> None:
    """Mean gain by number of labels, a panel for the sets whose z says more than x and one for the others."""
    auc = Scores(lines)
    by_labels = {int(labels): places for labels, places in places_by_labels(lines).items() if labels != ALL}
    figure, axes = panels(len(GROUPS), 1, 5.0, 3.1)
    for ax, (title, telling) in zip(axes, GROUPS.items(), strict=True):
        ax.axhline(0, color="black", linewidth=0.8)
        there = {labels: found for labels, places in by_labels.items() if (found := places_in(places, telling))}
        for method, (color, marker, style) in DRAWN.items():
            means = [np.mean([auc.gain(place, method).mean() for place in places]) for places in there.values()]
            ax.plot(list(there), means, color=color, marker=marker, linestyle=style, ms=5, lw=1.8, label=KINDS[method])
        log_steps(ax, list(there))
        ax.set_title(title, fontsize="medium")
        finish(ax, "rows with a label", "gain in AUC over plain XGBoost")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize="medium")
    save(figure, path)

"""UNLABELLED.md and its pictures, all of it from the two CSV files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.cells import read
from benchmarks.intervals import Interval, corrected_interval
from benchmarks.pictures import PALETTE, REFERENCE, both_intervals, finish, log_steps, panels, save
from benchmarks.text import number, signed, table
from benchmarks.unlabelled import breach
from benchmarks.unlabelled import cell as cells
from benchmarks.unlabelled.cell import (
    ALL_LABELS,
    CHOSEN_BY_AUC,
    CHOSEN_BY_LOSS,
    DEPTH_TUNED,
    EBM_RIVAL,
    FOREST_RIVAL,
    FOREST_TEACHER,
    JPIB,
    KBPIB,
    KBPIB_LABELLED,
    KBPIB_TUNED,
    LINEAR_TEACHER,
    METHODS,
    MIXED,
    MIXED_ON_X,
    ON_X,
    PLAIN,
    RIDGE_RIVAL,
    SELECT,
    SELECT_BOOSTED,
    SELF_TRAINING,
    TUNED,
)
from benchmarks.unlabelled.headline import draw_headline
from benchmarks.unlabelled.kinds import OVER_TRAIN, draw_kinds, mean_gain, section
from benchmarks.unlabelled.scores import Scores
from benchmarks.unlabelled.splits import SPLITS

CEILINGS = (ALL_LABELS, "z known at prediction")
DRAWN = {
    KBPIB: (PALETTE[0], "o", "-"),
    ON_X: (PALETTE[1], "D", (0, (5, 1.5))),
    JPIB: (PALETTE[2], "s", "-"),
    SELF_TRAINING: (PALETTE[4], "v", (0, (1.2, 1.2))),
    ALL_LABELS: (REFERENCE, "X", "-"),
}

ABOUT = """\
Made by `python -m benchmarks.unlabelled`. A few rows have their label; many more have x, the features at prediction,
and z, the privileged features. A teacher learns from x and z of the labelled rows and predicts the label of all rows.
The student learns these predictions from x. The page measures the gain over plain XGBoost on the labelled rows and
over other rivals, and how much of it needs z. [Every draw](results/unlabelled.csv.gz).

**The assumption**: which labels are missing depends on x and z alone. Data cannot show a breach; the [last
section](#what-a-breach-of-the-assumption-costs) measures what it costs.

A repeat draws a quarter of the set for testing (at most {most_test} rows) and at most {most_training} of the other rows
for training. Some of these get a label, in the proportion of the classes. No method except the ceiling sees other
labels. Methods are compared on the draws that both have; slow ones have fewer. Boosters have depth {depth}, eta
{eta:g}, {rounds} rounds and one thread, untuned except where noted; cross-fitting has {crossfit} folds."""

DESCRIBED = {
    KBPIB: "on all rows: a boosted teacher on x and z, cross-fitted, kl_weight {kl_weight:g}",
    JPIB: "on all rows: co-training with a booster on z alone, kl_weight {joint:g}",
    MIXED: 'KbPIB with `teacher="mixed"`: boosting, a forest and a linear model',
    FOREST_TEACHER: 'KbPIB with `teacher="forest"`',
    LINEAR_TEACHER: 'KbPIB with `teacher="linear"`',
    MIXED_ON_X: "control: the mixed teacher sees x alone",
    SELECT: "the setting that `pi_xgb.select` chooses by its defaults on the same rows; {tries} repeats, "
    "up to 200 labels",
    SELECT_BOOSTED: "the same among boosted teachers on x and z, its earlier defaults",
    KBPIB_LABELLED: "the same teacher, its student on the labelled rows",
    ON_X: "control: KbPIB with a teacher on x alone",
    "z shuffled": "control: KbPIB with z of other rows",
    DEPTH_TUNED: "plain XGBoost of depth {depths} by inner cross-validation on log loss",
    RIDGE_RIVAL: "logistic regression on the labelled rows, its penalty chosen by inner cross-validation on log loss",
    FOREST_RIVAL: "scikit-learn's, on the labelled rows; {trees} trees, at least {leaf} rows in a leaf",
    TUNED: "plain XGBoost, depth and number of rounds (at most {rounds}) by inner cross-validation on log loss",
    EBM_RIVAL: "the explainable boosting machine of interpret on the labelled rows; {bags} bags, no pairs of columns, "
    "learning rate {rate:g}, for the time",
    CHOSEN_BY_AUC: "one of the rivals, chosen by cross-validation on the labelled rows; "
    "[details](#mixed-against-the-rival-that-cross-validation-chooses)",
    CHOSEN_BY_LOSS: "likewise",
    KBPIB_TUNED: "KbPIB, teacher and student of the depth that is tuned for plain XGBoost",
    SELF_TRAINING: "scikit-learn's SelfTrainingClassifier around the same booster, on x; rows above {threshold:g} get "
    "their predicted label, at most {steps} times",
    "self-training k best": "the same; the most confident tenth of the unlabelled rows in each of the {steps} steps",
    "label spreading": "scikit-learn's LabelSpreading, on standardised x; a Gaussian kernel of a width chosen "
    "on other draws as the best of five kernels",
    "z imputed": "z is regressed on x, on all training rows, out of fold, and plain XGBoost trained on x and that",
    ALL_LABELS: "ceiling: plain XGBoost with the label of every training row",
    "z known at prediction": "ceiling: plain XGBoost on x and z of the labelled rows, with z at prediction",
}

GLANCE = """\
Gain in AUC over plain XGBoost on the labelled rows, mean over the sets that have more training rows than labels. The
first column is what we expected before the run: whether z predicts y better than x does. Bands of the picture are 95 %
intervals for independent repeats, thin bars those for repeats that share training rows (corrected resampled t, Nadeau
and Bengio 2003)."""

BREACH = """\
`make_privileged` with bad outcomes (y = 1) made rarer, {training} training rows, {repeats} seeds, {test} test rows. Of
the outcomes {settled:.0%} are settled. Plain XGBoost learns from the labelled rows, KbPIB from all of them. "plain,
weighted" has the weights of `labels.shift`, which sees x and z, on the labelled rows. Columns: rows used as labelled;
AUC; the mean prediction; truth, the mean true chance of a bad outcome in the test rows; and the calibration error, the
mean distance from the true chance over ten bins of equally many rows. Brackets are 95 % intervals over the seeds, which
are independent.

- by chance: settled rows are drawn at random. The assumption holds.
- by z: as many, most of them where z is high. It holds for the teacher, which sees z, not for plain XGBoost.
- bad ones early: {early:.0%} of the bad outcomes among the other rows are known already and are added as labels.
  Broken: the label decides whether it is there.
- not yet taken for no: the same file, with every unknown outcome recorded as good. Broken.
- and some watched closely: the same; in half of the rows (first feature above its median) {watched:.0%} of the bad
  outcomes are known, in the others {unwatched:.0%}."""

LESSON = """\
A breach hardly shows in AUC: where only the outcome decides whether it is known, the order of the chances stays, and
the broken files have more labels. Where some rows are watched more closely, AUC falls too. The level breaks: the mean
prediction follows the share of bad outcomes among the labels, with and without a teacher, and neither unlabelled rows
nor weights correct it. So use the labels of settled rows only, those old enough for every outcome to be known
(`pi_xgb.labels.mature`). Leave the others unlabelled, whether their outcome is known or not, and give the teacher the
columns that decide which rows are settled."""


def text(folder: Path, figures: Path) -> str:
    """The section, and its pictures."""
    lines, broken = read("unlabelled", folder), read("unlabelled_breach", folder)
    auc = Scores(lines, "auc")
    draw_gains(lines, auc, figures / "unlabelled_gain.png")
    draw_kinds(lines, figures / "unlabelled_kinds.png")
    draw_headline(lines, figures / "headline.png")
    out = ["# Nine public sets", "", about(), "", *methods(lines), *splits(lines), "## At a glance", "", GLANCE, ""]
    out += [*glance(lines, auc), "![Gain over plain against labels](figures/unlabelled_gain.png)", "", *section(lines)]
    out += ["## What a breach of the assumption costs", "", about_breach(broken), "", *breach_table(broken)]
    return "\n".join([*out, LESSON])


def about() -> str:
    return ABOUT.format(
        most_test=f"{cells.MOST_TEST:,}",
        most_training=f"{cells.MOST_TRAINING:,}",
        depth=cells.PARAMS["max_depth"],
        eta=cells.PARAMS["eta"],
        rounds=cells.ROUNDS,
        crossfit=cells.CROSSFIT,
    )


def methods(lines: pd.DataFrame) -> list[str]:
    tries = lines[lines["method"] == SELECT].groupby("dataset")["repeat"].nunique()
    values = {
        "kl_weight": cells.KL_WEIGHT,
        "joint": cells.JOINT_KL_WEIGHT,
        "depths": ", ".join(map(str, cells.DEPTHS)),
        "threshold": cells.THRESHOLD,
        "steps": cells.SELF_TRAINING_STEPS,
        "rounds": cells.MOST_ROUNDS,
        "bags": cells.EBM["outer_bags"],
        "rate": cells.EBM["learning_rate"],
        "trees": cells.FOREST["n_estimators"],
        "leaf": cells.FOREST["min_samples_leaf"],
        "tries": " or ".join(str(count) for count in sorted(tries.unique())) or "no",
    }
    return table(["method", "what it is"], [[name, text.format(**values)] for name, text in DESCRIBED.items()])


def splits(lines: pd.DataFrame) -> list[str]:
    found = lines.groupby("dataset")[["training", "repeat"]]
    most, repeats = found.max()["training"], found.nunique()["repeat"]
    rows = [
        [name, str(most[name]), str(repeats[name]), SPLITS[name].why if name in SPLITS else ""] for name in sets(lines)
    ]
    return ["## The sets and their z", "", *table(["set", "training rows", "repeats", "z, and why"], rows)]


def sets(lines: pd.DataFrame) -> list[str]:
    """The sets that are there, in the order of the splits."""
    there = list(lines["dataset"].unique())
    return [*(name for name in SPLITS if name in there), *(name for name in there if name not in SPLITS)]


def places(lines: pd.DataFrame) -> list[tuple[str, int]]:
    return [
        (name, int(labelled))
        for name in sets(lines)
        for labelled in sorted(lines.loc[lines["dataset"] == name, "labelled"].unique())
    ]


def glance(lines: pd.DataFrame, scores: Scores) -> list[str]:
    """The mean over the sets for each budget that is not the whole of a set."""
    columns = [method for method in METHODS if method not in (PLAIN, SELECT, SELECT_BOOSTED, CEILINGS[1])]
    training = lines.groupby("dataset")["training"].max()
    rows = []
    for telling, expected in ((True, "predicts better than x"), (False, "predicts little")):
        for budget in sorted(lines["labelled"].unique()):
            at = [name for name, labelled in places(lines) if labelled == budget < training[name]]
            there = [name for name in at if (name not in SPLITS or SPLITS[name].telling) == telling]
            if there:
                means = [np.mean([mean_gain(scores, (name, budget), method) for name in there]) for method in columns]
                rows.append([expected, str(budget), str(len(there)), *(signed(float(mean)) for mean in means)])
    return table(["z", "labels", "sets", *columns], rows)


def draw_gains(lines: pd.DataFrame, scores: Scores, path: Path) -> None:
    """A panel per set: lines with the narrower interval as a band and the wider one as bars."""
    names = sets(lines)
    figure, axes = panels(len(names), 3, 4.4, 3.4)
    for ax, name in zip(axes, names, strict=True):
        budgets = [labelled for at, labelled in places(lines) if at == name]
        ax.axhline(0, color="black", linewidth=0.8)
        for shift, (method, (color, marker, style)) in zip(
            np.linspace(0.95, 1.05, len(DRAWN)), DRAWN.items(), strict=True
        ):
            found = [both_intervals(scores.gain(name, labelled, method), OVER_TRAIN) for labelled in budgets]
            at, means = np.asarray(budgets) * shift, np.array([wide.mean for wide, _ in found])
            narrow = np.array([apart.half for _, apart in found])
            ax.plot(at, means, color=color, marker=marker, linestyle=style, ms=4, lw=1.6, label=method)
            ax.fill_between(at, means - narrow, means + narrow, color=color, alpha=0.18, linewidth=0)
            ax.errorbar(at, means, [wide.half for wide, _ in found], fmt="none", ecolor=color, elinewidth=0.6)
        log_steps(ax, budgets)
        ax.set_title(name, fontsize="medium")
        finish(ax, "rows with a label", "gain in AUC over plain XGBoost")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(DRAWN), fontsize="small")
    save(figure, path)


def about_breach(broken: pd.DataFrame) -> str:
    return BREACH.format(
        training=f"{breach.TRAINING:,}",
        test=f"{breach.TEST:,}",
        repeats=broken["repeat"].nunique(),
        settled=breach.SETTLED,
        early=breach.EARLY,
        watched=breach.WATCHED,
        unwatched=breach.UNWATCHED,
    )


def bounds(found: Interval) -> str:
    return f"{number(found.mean)} ({number(found.low)} to {number(found.high)})"


def breach_table(broken: pd.DataFrame) -> list[str]:
    rows = []
    order = {name: place for place, name in enumerate((*breach.SETTINGS, *breach.METHODS))}
    broken = broken.sort_values(["setting", "method"], key=lambda names: names.map(order))
    for (setting, method), found in broken.groupby(["setting", "method"], sort=False):
        auc, mean, error = (corrected_interval(found[name], 0.0) for name in ("auc", "mean", "calibration"))
        rows.append(
            [setting, breach.SETTINGS[setting][1], method, number(found["labels"].mean(), 0)]
            + [bounds(item) for item in (auc, mean)]
            + [number(found["truth"].mean()), bounds(error)]
        )
    header = [
        "labels",
        "assumption",
        "method",
        "used as labelled",
        "AUC",
        "mean prediction",
        "truth",
        "calibration error",
    ]
    return table(header, rows)

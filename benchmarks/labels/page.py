"""LABELS.md and its picture, from the CSV file."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmarks.cells import read
from benchmarks.intervals import corrected_interval, with_bounds
from benchmarks.labels import made, public
from benchmarks.pictures import PALETTE, REFERENCE, finish, panels, save
from benchmarks.text import NOTHING, paragraph, table

MADE_RATIO, PUBLIC_RATIO = 0.0, 1 / 3
"""Draws of made rows share nothing; draws of a public set share rows, test part over the rest."""
TITLES = {"auc": "AUC", "logloss": "log loss", "bias": "bias", "flips": "flips", "right_to_wrong": "right became wrong"}

ABOUT = """\
`python -m benchmarks.labels`: what the workflows around late labels are worth, on test rows. Boosters have the depth,
rounds and step of [the nine sets](#nine-public-sets) and are not tuned. Made rows are `make_privileged` with bad
outcomes (y = 1) made rarer, {training:,} for training and {test:,} for testing, with known chances. A number is the
mean over {repeats} draws, with its 95 % interval in brackets, corrected for shared rows on public sets (Nadeau and
Bengio). "against" is the difference in log loss from the first method of the same rows, of retrained models from
training from scratch; below 0 is better. [labels.csv.gz](results/labels.csv.gz) has further methods and sets, and AUC
throughout."""

LATE = """\
Rows are observed over {days} days and an event counts within {horizon}; on the last day the labels are read. Bias is
the mean prediction minus the mean true chance. "mature rows" is `labels.mature`. "early events too" adds the events
that are known already as labels. "not yet taken for no" also makes a no of every row without an event."""

DATED = """\
compas has the days of screening and of the next offence. The data end before {read_on}, and an offence counts within
two years (`{window}`). Of {rows:,} people {early} were screened too late for that, and all {early} have an offence: the
published set leaves out those without one, as [Barenstein](https://arxiv.org/abs/1906.04711) found. Half of the rows
train plain XGBoost on age, sex, charge and counts. The mature rows of the other half test it. Bias is the mean
prediction minus their share of offences."""

WEIGHTS = """\
About one label in five is there. Which one depends on the setting: on nothing, on x, on z, on both, or on the outcome
itself. `labels.shift` sees x and z; its AUC is the mean over the draws. Its weights go into the DMatrix of the
labelled rows, for plain XGBoost and for teacher and student."""

RETRAINING = """\
The old model was trained on the first half of the training rows, at most {half:,}. Then the second half arrives, as
many rows. The halves of bank are in the order of time, those of the other sets are random. Flips are the test rows
whose decision differs from the old model's, at the share of positives of the old rows as the threshold
(`metrics.churn`)."""

RETIRING = """\
The old model was trained on {labels} labelled rows with all features. The privileged columns of
[the nine sets](#the-sets-and-their-z) are retired: the new model does not see them, and up to 2,000
unlabelled rows still have them. The old model teaches at `kl_weight` {weight:g}."""

FUNCTIONS = """\
{functions} labelling functions vote on {coverage:.0%} of the rows each and abstain on the others; their accuracies
are spread from {worst:.0%} to {best:.0%}. Rows without a majority have no voted label. The teacher sees the votes and
x, and learns from the true labels alone how far to trust each."""

LESSONS = {
    "late": """\
Both wrong ways have more labels and rank as well as the right one. Their level is wrong, with a teacher as without, and
their log loss with it. So use the labels of settled rows only, and leave the others unlabelled, whether their outcome
is known or not.""",
    "dated": """\
`labels.mature` sets these people aside. As labels they make the model predict too many offences.""",
    "weights": """\
Where x or z decide, plain XGBoost predicts too many, and with weights slightly too few: the weights take most of
the bias where z decides. They cost log loss: under so large a shift few labelled rows have most of the weight. The
teacher sees x and z, has little bias without weights, and the lowest log loss. Where the outcome decides, nearly
all of the bias stays, with weights and with a teacher.""",
    "retraining": """\
A larger `kl_weight` changes fewer decisions, on adult, credit and compas the fewest of all ways. On credit and
compas its log loss is below that of training from scratch, on adult slightly above. The mean of scores is as good
or better in log loss, with slightly more changes on these sets and two models at prediction. On spam, whose models
are nearly certain, the teacher costs log loss. On bank the world has changed: the old model is wrong, what is not
changed stays wrong, and no `kl_weight` is better than 0.""",
    "retiring": """\
The unlabelled rows make the difference: on the labelled rows alone the old model adds next to nothing (in the CSV).""",
    "functions": """\
The teacher learns from few true labels which functions to trust, and is ahead of the majority vote.""",
}

SECTIONS = (
    ("late", "Labels that come late", LATE, ("bias", "logloss"), MADE_RATIO),
    ("dated", "Labels of real dates", DATED, ("bias", "auc"), PUBLIC_RATIO),
    ("weights", "Weights against a shift of the labelled rows", WEIGHTS, ("bias",), MADE_RATIO),
    (
        "retraining",
        "Retraining with few changed decisions",
        RETRAINING,
        ("flips", "right_to_wrong", "logloss"),
        PUBLIC_RATIO,
    ),
    ("retiring", "When a feature is retired", RETIRING, ("auc", "logloss"), PUBLIC_RATIO),
    ("functions", "Labelling functions as privileged features", FUNCTIONS, ("auc", "logloss"), MADE_RATIO),
)
SHOWN = {
    "weights": (("x", "z", "the outcome"), ()),
    "retraining": (
        ("credit", "bank"),
        (public.SCRATCH, "on old and new rows", "continued", "mean of scores", "old model as teacher, kl_weight 5"),
    ),
    "retiring": (
        ("student_por", "bank"),
        ("trained again without it", "old model as teacher, all rows", "new mixed teacher, all rows"),
    ),
    "functions": ((), ("true labels only", "majority vote", "votes as privileged features", "all true labels")),
}
"""Settings and methods in the tables, where these are not all."""
PICTURE = "![Flips against log loss of retrained models](figures/labels_retraining.png)"


def text(folder: Path, figures: Path) -> str:
    """The section, and its picture."""
    lines = read("labels", folder)
    facts = {
        **{"training": made.TRAINING, "test": made.TEST, "days": made.DAYS, "horizon": made.HORIZON},
        **{"functions": made.FUNCTIONS, "coverage": made.COVERAGE, "worst": made.WORST, "best": made.BEST},
        **{"read_on": public.READ_ON, "window": public.WINDOW, "rows": public.PEOPLE, "early": public.EARLY},
        **{"half": public.MOST_HALF, "labels": public.LABELS, "weight": public.RETIRED_WEIGHT},
        "repeats": lines["repeat"].nunique(),
    }
    out = ["# Late labels, retraining, retired features", "", paragraph(ABOUT.format(**facts)), ""]
    for part, title, words, measures, ratio in SECTIONS:
        own = lines[lines["part"] == part]
        out += [f"## {title}", "", paragraph(words.format(**facts)), "", *rows_of(shown(own, part), measures, ratio)]
        if part == "weights":
            shifts = own.groupby("setting", sort=False)["shift"].mean()
            seen = ", ".join(f"{value:.2f} for {name}" for name, value in shifts.items())
            out += [f"The AUC of `labels.shift`: {seen}.", ""]
        if part == "retraining":
            draw(own, figures / "labels_retraining.png")
            out += [PICTURE, ""]
        out += [paragraph(LESSONS[part]), ""]
    return "\n".join(out)


def shown(lines: pd.DataFrame, part: str) -> pd.DataFrame:
    """The lines of a part that the page shows; all are in the CSV."""
    settings, methods = SHOWN.get(part, ((), ()))
    is_shown = [lines[name].isin(kept) | (not kept) for name, kept in (("setting", settings), ("method", methods))]
    return lines[is_shown[0] & is_shown[1]]


def rows_of(lines: pd.DataFrame, measures: tuple[str, ...], ratio: float) -> list[str]:
    """A table with a line for each setting and method."""
    found = []
    for setting, own in lines.groupby("setting", sort=False):
        by_method = own.pivot_table("logloss", "repeat", "method", sort=False)
        first = public.SCRATCH if public.SCRATCH in by_method else by_method.columns[0]
        for method, cells in own.groupby("method", sort=False):
            scores = [interval(cells[measure], ratio, signs=measure == "bias") for measure in measures]
            against = NOTHING if method == first else interval(by_method[method] - by_method[first], ratio, signs=True)
            found.append([str(setting), str(method), *scores, against])
    header = ["setting", "method", *(TITLES[measure] for measure in measures), "against"]
    return table(header, found)


def interval(values: pd.Series[float], ratio: float, *, signs: bool = False) -> str:
    found = corrected_interval(values.to_numpy(), ratio)
    text = with_bounds(found)
    return text if signs else text.removeprefix("+")


def draw(lines: pd.DataFrame, path: Path) -> None:
    """Flips against log loss, one panel per set; a line joins the weights of the old model as teacher."""
    names = list(lines["setting"].unique())
    figure, axes = panels(len(names), 3, 3.4, 3.0)
    means = lines.groupby(["setting", "method"], sort=False)[["flips", "logloss"]].mean()
    for ax, name in zip(axes, names, strict=True):
        own = means.loc[name]
        is_teacher = own.index.str.contains("as teacher")
        taught = own[is_teacher]
        ax.plot(taught["flips"], taught["logloss"], marker="o", color=PALETTE[0], label="old model as teacher")
        for position, (method, place) in enumerate(own[~is_teacher].iterrows()):
            color = REFERENCE if method == "old model" else PALETTE[position % len(PALETTE)]
            ax.plot(place["flips"], place["logloss"], "sD^vX"[position % 5], color=color, label=method)
        ax.set_title(name, fontsize="medium")
        finish(ax, "share of changed decisions", "log loss of new rows")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize="small")
    save(figure, path)

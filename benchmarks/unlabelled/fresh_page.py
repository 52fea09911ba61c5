"""The section on the fresh sets, the headline and its picture."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmarks.cells import exists, read
from benchmarks.intervals import Interval, with_bounds
from benchmarks.pictures import PALETTE, finish, panels, pyplot, save
from benchmarks.text import joined, number, paragraph, table
from benchmarks.unlabelled.cell import PLAIN
from benchmarks.unlabelled.fresh import IMPUTED_MEAN, MEAN, METHODS, RECIPE, SELECT, WITHOUT_Z, Z_KNOWN
from benchmarks.unlabelled.scores import ALL, Scores, bounds, places_by_labels

NAMED = {
    PLAIN: "plain XGBoost",
    IMPUTED_MEAN: "the mean of logistic regression and a forest on columns that a forest imputed",
    MEAN: "the mean of these two without privileged columns",
}
NOT_RIVALS = (WITHOUT_Z, Z_KNOWN, SELECT)
OTHERS = [*(name for name in METHODS if name not in (RECIPE, *NOT_RIVALS)), *NOT_RIVALS]
DRAWN = {
    PLAIN: ("plain XGBoost", PALETTE[0], "o", -0.08),
    MEAN: ("mean of linear and forest", PALETTE[1], "D", 0.0),
    IMPUTED_MEAN: ("the same, columns imputed", PALETTE[2], "s", 0.08),
}
ABOUT = """\
`python -m benchmarks.unlabelled --tables fresh`. Twelve sets that no recipe of this project had met; sets, methods and
analysis were written down [before the run](PROTOCOL.md). Differences of the recipe, `pi_xgb.train` with its defaults,
to every other method on the same draws: means over the sets, 95 % intervals over the sets in brackets; above 0 the
recipe is better. The last rows are not rivals: the same recipe without z, and what z at prediction would give. Draws of
each set: {draws}. Others find as well that gains often come from the model and not from z
([2408.14319](https://arxiv.org/abs/2408.14319), [2303.01806](https://arxiv.org/abs/2303.01806)), and that a teacher
that predicts too well hurts ([2209.08754](https://arxiv.org/abs/2209.08754)). [Every draw](results/fresh.csv.gz)."""
FIRST = 8
"""So many draws were published before the others were measured."""


def text(folder: Path, figures: Path) -> list[str]:
    """Nothing where the fresh sets were not run."""
    if not exists("fresh", folder):
        return []
    lines = read("fresh", folder)
    by_labels = places_by_labels(lines)
    draw(lines, figures / "headline.png")
    few = next(iter(by_labels))
    out = ["# Fresh sets", "", paragraph(ABOUT.format(draws=lines["repeat"].nunique())), "", headline(lines), ""]
    out += two_runs(lines, few)
    out += ["![Gain of the recipe in AUC by rival and number of labels](figures/headline.png)", ""]
    out += ["AUC of the recipe less that of:", "", *differences(lines, "auc", list(by_labels))]
    out += ["Log loss of the other method less that of the recipe:", "", *differences(lines, "logloss", [few, ALL])]
    return [*out, f"Mean AUC with {few} labels:", "", *by_set(lines, few), ceilings(lines), ""]


def headline(lines: pd.DataFrame) -> str:
    """The sentences of the README, with the numbers of the smallest budget."""
    labels, places = next(iter(places_by_labels(lines).items()))
    found = {name: Scores(lines).over_sets(places, RECIPE, rival) for rival, name in NAMED.items()}
    there = {name: interval for name, interval in found.items() if interval is not None}
    gains = joined(f"{sentence(one)} over {name}" for name, one in there.items() if one.low > 0)
    others = [f"{name}: {sentence(one)}" for name, one in there.items() if not one.low > 0]
    unknown = f" No gain is shown over {joined(others)}." if others else ""
    return paragraph(
        f"With {labels} labels on {len(places)} public sets kept aside, the default gains {gains}.{unknown}"
    )


def two_runs(lines: pd.DataFrame, labels: str) -> list[str]:
    """The same gains in the first draws, and in those measured when these were known."""
    places, rows = places_by_labels(lines)[labels], []
    is_first = lines["repeat"] < FIRST
    for own in (lines[is_first], lines[~is_first]):
        if len(own):
            gains = [Scores(own).over_sets(places, RECIPE, rival) for rival in NAMED]
            rows.append([f"{own['repeat'].min() + 1} to {own['repeat'].max() + 1}", *map(bounds, gains)])
    return table([f"draws, {labels} labels", *NAMED], rows)


def sentence(found: Interval) -> str:
    mean, *rest = with_bounds(found).split(" ", 1)
    return " ".join([f"{mean.removeprefix('+')} AUC", *(part.replace("(", "(95 % CI ") for part in rest)])


def differences(lines: pd.DataFrame, measure: str, columns: list[str]) -> list[str]:
    scores, by_labels = Scores(lines, measure), places_by_labels(lines)
    columns = [labels for labels in columns if labels in by_labels]
    rows = []
    for other in OTHERS:
        found = [scores.over_sets(by_labels[labels], RECIPE, other) for labels in columns]
        if any(found):
            rows.append([other, *map(bounds, found)])
    heads = [labels if labels == ALL else f"{labels} labels" for labels in columns]
    return table(["less", *heads], rows)


def by_set(lines: pd.DataFrame, labels: str) -> list[str]:
    auc = Scores(lines)
    methods = {RECIPE: RECIPE, WITHOUT_Z: "without z", PLAIN: PLAIN, MEAN: "mean of two"}
    methods |= {IMPUTED_MEAN: "z imputed", Z_KNOWN: "z known"}
    places = places_by_labels(lines)[labels]
    rows = [[place[0], *(number(auc.mean(place, method)) for method in methods)] for place in places]
    return table(["set", *methods.values()], rows)


def ceilings(lines: pd.DataFrame) -> str:
    """How far all labels would take the recipe."""
    by_labels, auc = places_by_labels(lines), Scores(lines)
    if ALL not in by_labels:
        return ""
    labels, places = next(iter(by_labels.items()))
    few, everything = (
        sum(auc.mean(place, RECIPE) for place in found) / len(found) for found in (places, by_labels[ALL])
    )
    means = f"With all labels the recipe has a mean AUC of {everything:.3f}, with {labels} {few:.3f}"
    return paragraph(f"{means}: the limit is what few labels teach the teacher.")


def draw(lines: pd.DataFrame, path: Path) -> None:
    """The recipe less three rivals against the number of labels, with intervals over the sets; legible on a phone."""
    by_labels, auc = places_by_labels(lines), Scores(lines)
    with pyplot().rc_context({"font.size": 14}):
        figure, (ax,) = panels(1, 1, 6.4, 4.6)
        ax.axhline(0, color="black", lw=1)
        for rival, (label, color, marker, shift) in DRAWN.items():
            found = {
                at + shift: interval
                for at, places in enumerate(by_labels.values())
                if (interval := auc.over_sets(places, RECIPE, rival))
            }
            means, halves = ([getattr(one, name) for one in found.values()] for name in ("mean", "half"))
            ax.plot(list(found), means, color=color, marker=marker, ms=7, lw=2.2, label=label)
            ax.errorbar(list(found), means, halves, fmt="none", ecolor=color, elinewidth=2, capsize=4)
        ax.set_xticks(range(len(by_labels)), list(by_labels))
        finish(ax, "rows with a label", "gain in AUC over")
        ax.tick_params(labelsize="medium")
        figure.legend(fontsize="small", loc="outside upper center", ncols=2)
        save(figure, path)

"""PRIVACY.md and its pictures, all of it from the CSV files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.cells import exists, read
from benchmarks.data import MADE
from benchmarks.intervals import Interval, corrected_interval, with_bounds
from benchmarks.privacy import attacks, central, cost, few, printed
from benchmarks.privacy.cost import OPEN, PLAIN
from benchmarks.privacy.sets import SPLITS
from benchmarks.text import NOTHING, number, paragraph, paragraphs, signed, table
from pi_xgb._privacy.teacher import FEW_LABELS

CHEAP = 0.002
SHOWN = "histogram"
PLACE = ["dataset", "labels"]

ABOUT = """\
`python -m benchmarks.privacy`. The cost of [a private teacher](../docs/privacy.md) in AUC, the number of rows from
which it is small, and the results of attacks. delta is {cost.DELTA:g} where no other is named.

A repeat draws at most {cost.TEST:,} rows for testing and {cost.TRAINING:,} for training; **all** of these have a
label, or **few**, as many as the tables say. Students are plain XGBoost of depth {cost.PARAMS[max_depth]}, eta
{cost.PARAMS[eta]:g}, {cost.ROUNDS} rounds. "{cost.OPEN}" has a teacher that is KbPIB's, cross-fitted. Private
teachers have split {cost.SHARE:g} and clip {cost.CLIP:g}. kl_weight is one of 0 (plain), {weights}, by the log loss
of held-out rows ({cost.APART[all]} where all have labels, {cost.APART[few]} where few have), for teachers with and
without privacy; that costs no privacy. In brackets stands the 95 % interval over paired repeats (corrected for shared
rows, Nadeau and Bengio 2003, on public sets; simulated data share none)."""

SIZES = """\
Simulated data, histogram, the AUC that privacy costs: the student of the teacher without privacy less that of the
private one. Where few have labels it is one row in {one_in}. The list has the size from which on the mean cost is
below {cheap:g}; [sizes where all have labels](results/privacy_sizes.csv.gz), whose cost and gain are small, are not
shown."""

FEW = """\
Simulated data, {cost.TRAINING:,} rows, gain in AUC over plain XGBoost on the labelled rows. "{alone}" is the default
where at most {most:.0%} of the rows has a label; here it is measured at every number. "{few.SELF}" uses no z: its
teacher is plain XGBoost's own prediction for the rows without a label. "{few.RESPONSE}" replaces the cell of each
row's z by a random one, so that nobody need be trusted with z. "{few.ALONE}" is a DP-EBM trained on x and y of the
labelled rows, with delta {few.DELTA:g}; its guarantee covers x and y as well. {few.APART} rows are held out to choose
kl_weight."""

CENTRAL = """\
Gain in AUC over plain XGBoost, {cost.TRAINING:,} rows. "{central.EACH_ROW}" is the default.
"{central.SUMS}" is `fit(..., x=x)`: noise is added to sums over all rows without a label.
"{central.CURVED}", where every second column of x is |x - 0.5| or sin(3 x), and the gains without privacy are in [the
table](results/privacy_central.csv.gz)."""

ATTACKS = """\
`pi_xgb.privacy.audit` on {attacks.ROWS} rows whose z predicts y nearly and whose x identifies each row, the worst
case. Neighbours: z of one row differs. Values: z of {attacks.SECRETS} rows is drawn, and guessed. The student has
deep trees, {attacks.ROUNDS} rounds and kl_weight {attacks.KL_WEIGHT:g}. A bound holds with {attacks.CONFIDENCE:.0%};
with {runs} runs none above about {most:.1f} can be shown for one row. Teachers without a stated epsilon give no
guarantee. A bound above the stated epsilon would prove a violation."""


def text(folder: Path, figures: Path) -> str:
    """The page, as far as the tables are there, and its pictures."""

    def lines_of(part: str) -> pd.DataFrame:
        return read(f"privacy_{part}", folder) if exists(f"privacy_{part}", folder) else pd.DataFrame()

    weights = ", ".join(f"{weight:g}" for weight in cost.KL_WEIGHTS)
    out = ["# What privacy costs", "", paragraphs(ABOUT.format(cost=cost, weights=weights)), ""]
    if len(lines := lines_of("cost")):
        out += ["## The sets", "", *sets(lines), "## AUC against epsilon", "", *costs(lines)]
    if len(lines := lines_of("sizes")):
        out += ["## From how many rows on", "", *sizes(lines)]
    further = {
        "few": ("Few labels: which budget plan", plans),
        "central": ("Few labels: noise in each prediction or in sums", central_release),
        "attacks": ("Attacks", found),
        "printed": ("DP-EBM beside its paper", printed.section),
    }
    for part, (title, section) in further.items():
        if len(lines := lines_of(part)):
            out += [f"## {title}", "", *section(lines)]
    return "\n".join(out)


def sets(lines: pd.DataFrame) -> list[str]:
    most = lines.groupby("dataset")[["rows", "repeat"]].agg({"rows": "max", "repeat": "nunique"})
    rows = [
        [name, str(most.loc[name, "rows"]), str(most.loc[name, "repeat"]), ", ".join(split.bounds), split.why]
        for name, split in SPLITS.items()
        if name in most.index
    ]
    return table(["set", "training rows", "repeats", "z", "what it is"], rows)


class Wide:
    """AUC by repeat, a column for each method and epsilon."""

    def __init__(self, lines: pd.DataFrame, place: Sequence[str]) -> None:
        self.table = lines.pivot_table(index=[*place, "repeat"], columns=["method", "epsilon"], values="auc")

    def gain(
        self, place: Any, method: str, epsilon: float = np.inf, less: str = PLAIN, less_epsilon: float = np.inf
    ) -> Interval:
        here = self.table.loc[place]
        values = (here[(method, epsilon)] - here[(less, less_epsilon)]).dropna().to_numpy()
        shares_rows = not str(np.atleast_1d(place)[0]).startswith(MADE)
        return corrected_interval(values, 1 / 3 if shares_rows else 0.0)

    def mean(self, place: Any, method: str) -> float:
        return float(self.table.loc[place][(method, np.inf)].mean())


def costs(lines: pd.DataFrame) -> list[str]:
    wide, epsilons = Wide(lines, PLACE), sorted(lines.loc[np.isfinite(lines["epsilon"]), "epsilon"].unique())
    rows = []
    for place in places(lines):
        here = lines[(lines["dataset"] == place[0]) & (lines["labels"] == place[1])]
        first = [place[0], str(here["labelled"].max()), number(wide.mean(place, PLAIN))]
        found = [wide.gain(place, OPEN), *(wide.gain(place, SHOWN, epsilon) for epsilon in epsilons)]
        rows.append([*first, *map(with_bounds, found)])
    columns = [f"epsilon {epsilon:g}" for epsilon in epsilons]
    return [
        f"Gain in AUC over plain XGBoost on the labelled rows, private teacher: {SHOWN}; [the others](results/"
        "privacy_cost.csv.gz).",
        "",
        *table(["set", "labels", "plain", OPEN, *columns], rows),
    ]


def places(lines: pd.DataFrame) -> list[tuple[str, str]]:
    there = set(lines[PLACE].itertuples(index=False, name=None))
    return [(name, labels) for name in SPLITS for labels in cost.LABELS if (name, labels) in there]


def sizes(lines: pd.DataFrame) -> list[str]:
    wide = Wide(lines, [*PLACE, "rows"])
    epsilons = sorted(lines.loc[np.isfinite(lines["epsilon"]), "epsilon"].unique())
    rows, result = [], []
    for labels in lines["labels"].unique():
        own = sorted(lines.loc[lines["labels"] == labels, "rows"].unique())
        gain = {size: wide.gain((MADE, labels, size), OPEN).mean for size in own}
        price = {
            (size, epsilon): wide.gain((MADE, labels, size), OPEN, less=SHOWN, less_epsilon=epsilon).mean
            for size in own
            for epsilon in epsilons
        }
        for size in own if labels == "few" else ():
            rows.append([labels, f"{size:,}", signed(gain[size]), *(signed(price[size, e]) for e in epsilons)])
        for epsilon in epsilons:
            dear = [size for size in own if not price[size, epsilon] < CHEAP]
            first = [size for size in own if not dear or size > dear[-1]]
            words = f"from {first[0]:,} rows on" if first else f"not with {own[-1]:,} rows"
            result.append(f"- {labels} labels, epsilon {epsilon:g}: {words}")
    text = SIZES.format(one_in=round(1 / cost.SIZE_LABELS["few"]), cheap=CHEAP)
    header = ["labels", "rows", f"{OPEN}, gain over plain", *(f"cost, epsilon {epsilon:g}" for epsilon in epsilons)]
    return [text, "", *result, "", *table(header, rows)]


def plans(lines: pd.DataFrame) -> list[str]:
    wide = Wide(lines.assign(dataset=MADE), ["dataset", "labelled"])
    epsilons, names = few.EPSILONS, [*list(few.PLANS)[:2], few.RESPONSE, few.ALONE]
    rows = []
    for labels in sorted(lines["labelled"].unique())[:2]:
        place = (MADE, labels)
        first = [str(labels), number(wide.mean(place, PLAIN))]
        for name in (OPEN, few.SELF):
            rows.append([*first, name, with_bounds(wide.gain(place, name)), *[NOTHING] * (len(epsilons) - 1)])
        for name in names:
            rows.append([*first, name, *(with_bounds(wide.gain(place, name, epsilon)) for epsilon in epsilons)])
    text = paragraph(FEW.format(cost=cost, few=few, alone=next(iter(few.PLANS)), most=FEW_LABELS))
    return [text, "", *table(["labels", "plain", "teacher", *(f"epsilon {epsilon:g}" for epsilon in epsilons)], rows)]


def central_release(lines: pd.DataFrame) -> list[str]:
    wide, rows = Wide(lines, ["dataset", "labelled"]), []
    places = lines[["dataset", "labelled"]].drop_duplicates().itertuples(index=False, name=None)
    for name, labels in (place for place in places if place[0] == MADE):
        for method in (central.EACH_ROW, central.SUMS):
            found = [wide.gain((name, labels), method, epsilon) for epsilon in few.EPSILONS]
            rows.append([str(labels), method, *map(with_bounds, found)])
    text = paragraph(CENTRAL.format(cost=cost, central=central))
    return [text, "", *table(["labels", "teacher", *(f"epsilon {epsilon:g}" for epsilon in few.EPSILONS)], rows)]


def found(lines: pd.DataFrame) -> list[str]:
    runs = int(lines["runs"].max())
    text = paragraph(ATTACKS.format(attacks=attacks, runs=runs, most=np.log(runs / 15)))
    rows = []
    for (teacher, sees, stated), own in lines.groupby(["teacher", "sees", "stated"], sort=False):
        cells = [f"{item.bound:.2f} ({item.accuracy:.0%})" for item in own.itertuples()]
        rows.append([teacher, sees, f"{stated:g}" if np.isfinite(stated) else "none", *cells])
    broken = lines[(lines["bound"] > lines["stated"]) & ~lines["teacher"].str.contains("switched off")]
    kept = "No bound is above what is stated, but for noise that was switched off on purpose."
    verdict = kept if broken.empty else f"{len(broken)} bounds are above what is stated."
    attacked = [f"{attack}: at least (right guesses)" for attack in lines["attack"].unique()]
    header = ["teacher", "seen by the attacker", "epsilon stated", *attacked]
    return [text, "", verdict, "", *table(header, rows)]

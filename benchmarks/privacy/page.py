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
from benchmarks.privacy import attacks, central, cost, ebm, few, printed
from benchmarks.privacy.cost import MODELS, OPEN, PLAIN
from benchmarks.privacy.sets import SPLITS
from benchmarks.text import number, table
from pi_xgb._privacy.teacher import FEW_LABELS

CHEAP = 0.002
PLACE = ["dataset", "labels"]

ABOUT = """\
`python -m benchmarks.privacy`. The cost of [a private teacher](../docs/privacy.md) in AUC, the number of rows
from which it is small, and the results of attacks. delta is {delta:g} where no other is named.

A repeat draws at most {test} rows for testing and {training} for training; **all** of these have a label, or **few**,
as many as the tables say. Students are plain XGBoost of depth {depth}, eta {eta:g}, {rounds} rounds. "{open}" has a
teacher that is KbPIB's, cross-fitted. Private teachers have split {share:g} and clip {clip:g}. kl_weight is one of 0
(plain), {weights}, by the log loss of held-out rows ({apart_all} where all have labels, {apart_few} where few have),
for teachers with and without privacy; that costs no privacy. In brackets stands the 95 % interval over paired repeats
(corrected for shared rows, Nadeau and Bengio 2003, on public sets; simulated data share none)."""

SIZES = """\
Simulated data, histogram, the AUC that privacy costs: the student of the teacher without privacy less that of
the private one. Where few have labels it is one row in {one_in}. The list has the size from which on the mean cost is
below {cheap:g}. Read the cost beside the gain: where all have labels, both are small."""

FEW = """\
Simulated data, {rows:,} rows, gain in AUC over plain XGBoost on the labelled rows.
"{alone}" is the default where at most {most:.0%} of the rows has a label; here it is
measured at every number. "{itself}" uses no z: its teacher is plain XGBoost's own prediction for the
rows without a label. "{response}" replaces the cell of each row's z by a random one, so that nobody
need be trusted with z. "{ebm}" is a DP-EBM trained on x and y of the labelled rows, with delta
{delta:g}; its guarantee covers x and y as well. {apart} rows are held out to choose kl_weight."""

CENTRAL = """\
Gain in AUC over plain XGBoost, {rows:,} rows. "{each}" is the default.
"{sums}" is `fit(..., x=x)`: noise is added to sums over all rows without a label.
In "{curved}" every second column of x is |x - 0.5| or sin(3 x)."""

ATTACKS = """\
`pi_xgb.privacy.audit` on {rows} rows whose z predicts y nearly and whose x identifies each row, the worst
case. Neighbours: z of one row differs. Values: z of {secrets} rows is drawn, and guessed. The student has deep trees,
{rounds} rounds and kl_weight {kl_weight:g}. A bound holds with {confidence:.0%}; with {runs} runs none above about
{most:.1f} can be shown for one row. Teachers without a stated epsilon give no guarantee. A bound above the
stated epsilon would prove a violation."""

EBM = """\
interpret's DP-EBM on adult with its defaults, {folds} folds, delta {delta:g}; standard deviation over folds in
brackets. Its guarantee is for a row that comes or goes with all that it has, y and x too. The set here has no column
`fnlwgt` and no rows with an unknown value. Ranges and the codes of categories are declared, since interpret would read
them from the rows without privacy."""

BRIDGE = """\
**The bridge**, for those who need y and x protected as well: a DP-EBM teacher on z (age, race, sex) with {share:g} of
epsilon, and a DP-EBM student on x with the rest, trained on the target (y + a q) / (1 + a), a = {kl_weight:g}. Given
the teacher, a row enters the student's data by its own x and target alone, so the two budgets add up to the epsilon
of the table, each with half of delta, and q needs no noise of its own. "x alone" is a DP-EBM on x with all of
epsilon."""


def text(folder: Path, figures: Path) -> str:
    """The page, as far as the tables are there, and its pictures."""

    def lines_of(part: str) -> pd.DataFrame:
        return read(f"privacy_{part}", folder) if exists(f"privacy_{part}", folder) else pd.DataFrame()

    out = ["# What privacy costs", "", about(), ""]
    if len(lines := lines_of("cost")):
        out += ["## The sets", "", *sets(lines), "## AUC against epsilon", "", *costs(lines)]
    if len(lines := lines_of("sizes")):
        out += ["## From how many rows on", "", *sizes(lines)]
    further = {
        "few": ("Few labels: which budget plan", plans),
        "central": ("Few labels: noise in each prediction or in sums", central_release),
        "attacks": ("Attacks", found),
        "printed": ("DP-EBM beside its paper", printed.section),
        "ebm": ("DP-EBM as in its paper, and a bridge", dp_ebm),
    }
    for part, (title, section) in further.items():
        if len(lines := lines_of(part)):
            out += [f"## {title}", "", *section(lines)]
    return "\n".join(out)


def about() -> str:
    return ABOUT.format(
        delta=cost.DELTA,
        test=f"{cost.TEST:,}",
        training=f"{cost.TRAINING:,}",
        depth=cost.PARAMS["max_depth"],
        eta=cost.PARAMS["eta"],
        rounds=cost.ROUNDS,
        share=cost.SHARE,
        clip=cost.CLIP,
        open=OPEN,
        weights=", ".join(f"{weight:g}" for weight in cost.KL_WEIGHTS),
        apart_all=cost.APART["all"],
        apart_few=cost.APART["few"],
    )


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

    def gain(self, place: Any, method: str, epsilon: float = np.inf, less: str = PLAIN) -> Interval:
        here = self.table.loc[place]
        values = (here[(method, epsilon)] - here[(less, np.inf)]).dropna().to_numpy()
        shares_rows = not str(np.atleast_1d(place)[0]).startswith(MADE)
        return corrected_interval(values, 1 / 3 if shares_rows else 0.0)

    def mean(self, place: Any, method: str) -> float:
        return float(self.table.loc[place][(method, np.inf)].mean())


def costs(lines: pd.DataFrame) -> list[str]:
    wide, epsilons = Wide(lines, PLACE), sorted(lines.loc[np.isfinite(lines["epsilon"]), "epsilon"].unique())
    models = [model for model in MODELS if model in set(lines["method"])]
    rows, below = [], []
    for place in places(lines):
        here = lines[(lines["dataset"] == place[0]) & (lines["labels"] == place[1])]
        plain, gain = number(wide.mean(place, PLAIN)), with_bounds(wide.gain(place, OPEN))
        first = [place[0], str(here["labelled"].max()), plain, gain]
        for model in models:
            rows.append([*first, model, *(with_bounds(wide.gain(place, model, epsilon)) for epsilon in epsilons)])
            weights = [here[(here["method"] == model) & (here["epsilon"] == e)]["kl_weight"] for e in epsilons]
            shares = [f"{(item == 0).mean():.0%}, {item.median():g}" for item in weights]
            private = [with_bounds(wide.gain(place, model, epsilon, OPEN)) for epsilon in epsilons]
            below.append(
                [place[0], first[1], model, *(f"{gain} ({w})" for gain, w in zip(private, shares, strict=True))]
            )
    columns = [f"epsilon {epsilon:g}" for epsilon in epsilons]
    return [
        "Gain in AUC over plain XGBoost on the labelled rows.",
        "",
        *table(["set", "labels", "plain", f"{OPEN}, gain", "private teacher", *columns], rows),
        "The same less the student that is not private; in brackets how often plain was chosen, and the median of the",
        "chosen kl_weight.",
        "",
        *table(["set", "labels", "private teacher", *columns], below),
    ]


def places(lines: pd.DataFrame) -> list[tuple[str, str]]:
    there = set(lines[PLACE].itertuples(index=False, name=None))
    return [(name, labels) for name in SPLITS for labels in cost.LABELS if (name, labels) in there]


def price(wide: Wide, place: tuple[str, str, int], epsilon: float) -> Interval:
    gain = wide.gain(place, "histogram", epsilon, OPEN)
    return gain._replace(mean=-gain.mean)


def sizes(lines: pd.DataFrame) -> list[str]:
    wide = Wide(lines, [*PLACE, "rows"])
    epsilons = sorted(lines.loc[np.isfinite(lines["epsilon"]), "epsilon"].unique())
    rows, result = [], []
    for labels in lines["labels"].unique():
        own = sorted(lines.loc[lines["labels"] == labels, "rows"].unique())
        for size in own:
            place = (MADE, labels, size)
            cells = [with_bounds(price(wide, place, epsilon), 4) for epsilon in epsilons]
            rows.append([labels, f"{size:,}", with_bounds(wide.gain(place, OPEN), 4), *cells])
        for epsilon in epsilons:
            dear = [size for size in own if not price(wide, (MADE, labels, size), epsilon).mean < CHEAP]
            first = [size for size in own if not dear or size > dear[-1]]
            words = f"from {first[0]:,} rows on" if first else f"not with {own[-1]:,} rows"
            result.append(f"- {labels} labels, epsilon {epsilon:g}: {words}")
    text = SIZES.format(one_in=round(1 / cost.SIZE_LABELS["few"]), cheap=CHEAP)
    header = ["labels", "rows", f"{OPEN}, gain over plain", *(f"cost, epsilon {epsilon:g}" for epsilon in epsilons)]
    return [text, "", *result, "", *table(header, rows)]


def plans(lines: pd.DataFrame) -> list[str]:
    wide = Wide(lines.assign(dataset=MADE), ["dataset", "labelled"])
    epsilons, names = (
        sorted(lines.loc[np.isfinite(lines["epsilon"]), "epsilon"].unique()),
        [*few.PLANS, few.RESPONSE, few.ALONE],
    )
    rows = []
    for labels in sorted(lines["labelled"].unique()):
        place = (MADE, labels)
        first = [str(labels), number(wide.mean(place, PLAIN))]
        for name in (OPEN, few.SELF):
            rows.append([*first, name, *[with_bounds(wide.gain(place, name))] * len(epsilons)])
        for name in names:
            rows.append([*first, name, *(with_bounds(wide.gain(place, name, epsilon)) for epsilon in epsilons)])
    text = FEW.format(
        rows=cost.TRAINING,
        alone=next(iter(few.PLANS)),
        most=FEW_LABELS,
        itself=few.SELF,
        response=few.RESPONSE,
        ebm=few.ALONE,
        delta=few.DELTA,
        apart=few.APART,
    )
    return [text, "", *table(["labels", "plain", "teacher", *(f"epsilon {epsilon:g}" for epsilon in epsilons)], rows)]


def central_release(lines: pd.DataFrame) -> list[str]:
    wide, rows = Wide(lines, ["dataset", "labelled"]), []
    for place in lines[["dataset", "labelled"]].drop_duplicates().itertuples(index=False, name=None):
        first = [place[0], str(place[1]), number(wide.mean(place, PLAIN)), with_bounds(wide.gain(place, OPEN))]
        rows += [
            [*first, method, *(with_bounds(wide.gain(place, method, epsilon)) for epsilon in few.EPSILONS)]
            for method in (central.EACH_ROW, central.SUMS)
        ]
        more = wide.table.loc[place][central.SUMS] - wide.table.loc[place][central.EACH_ROW]
        gaps = [corrected_interval(more[epsilon].to_numpy(), 0.0) for epsilon in few.EPSILONS]
        rows.append([*first, "difference", *map(with_bounds, gaps)])
    text = CENTRAL.format(rows=cost.TRAINING, each=central.EACH_ROW, sums=central.SUMS, curved=central.CURVED)
    columns = [f"epsilon {epsilon:g}" for epsilon in few.EPSILONS]
    return [text, "", *table(["set", "labels", "plain", f"{OPEN}, gain", "teacher", *columns], rows)]


def found(lines: pd.DataFrame) -> list[str]:
    runs = int(lines["runs"].max())
    text = ATTACKS.format(
        rows=attacks.ROWS,
        secrets=attacks.SECRETS,
        rounds=attacks.ROUNDS,
        kl_weight=attacks.KL_WEIGHT,
        confidence=attacks.CONFIDENCE,
        runs=runs,
        most=np.log(runs / 15),
    )
    rows = [
        [
            item.teacher,
            item.sees,
            item.attack,
            f"{item.stated:g}" if np.isfinite(item.stated) else "none",
            number(item.bound, 2),
            f"{item.accuracy:.0%}",
            str(item.runs),
        ]
        for item in lines.itertuples()
    ]
    broken = lines[(lines["bound"] > lines["stated"]) & ~lines["teacher"].str.contains("switched off")]
    kept = "No bound is above what is stated, but for noise that was switched off on purpose."
    verdict = kept if broken.empty else f"{len(broken)} bounds are above what is stated."
    header = ["teacher", "seen by the attacker", "attack", "epsilon stated", "at least", "right guesses", "runs"]
    return [text, "", verdict, "", *table(header, rows)]


def dp_ebm(lines: pd.DataFrame) -> list[str]:
    kinds = [("all features", "classic"), ("all features", "gdp"), ("x alone", "gdp"), ("x, blended targets", "gdp")]
    by_kind = lines.groupby(["method", "composition", "epsilon"])["auc"].agg(["mean", "std"])
    rows = []
    for epsilon in ebm.EPSILONS:
        cells = [by_kind.loc[(*kind, epsilon)] for kind in kinds]
        rows.append([f"{epsilon:g}", *(f"{number(c['mean'])} ({number(c['std'])})" for c in cells)])
    text = EBM.format(folds=lines["fold"].nunique(), delta=ebm.DELTA)
    header = ["epsilon", *(f"{method}, {composition}" for method, composition in kinds)]
    bridge = BRIDGE.format(share=ebm.TEACHER_SHARE, kl_weight=ebm.KL_WEIGHT)
    return [text, "", *table(header, rows), bridge]

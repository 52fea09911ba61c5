"""From the cells to SELECTION.md: what the choice gains, whether it ever hurts, and how the bar was found."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchmarks import FOLDER
from benchmarks.intervals import Interval, corrected_interval, with_bounds
from benchmarks.selection.cells import MOST_ROWS
from benchmarks.selection.speed import cost_section
from benchmarks.selection.truth_page import truth_section
from benchmarks.text import paragraph, signed, table
from pi_xgb.selection import select

PAGE = FOLDER / "SELECTION.md"
LEAST_WRONG = 10
DEFAULT = signature(select).parameters["standard_errors"].default
BARS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5)


class Part(NamedTuple):
    """What makes a cell, what makes a setting, n_test / n_train of the outer folds, and the mistakes that it takes."""

    keys: list[str]
    by: list[str]
    ratio: float
    least: float = LEAST_WRONG


PARTS = {
    "synthetic": Part(["strength", "rows", "seed"], ["strength", "rows"], 0.0),
    "public": Part(["set", "fold"], ["set"], 1 / 9),
    "unseen": Part(["set", "repeat", "fold"], ["set"], 1 / 4),
}

ABOUT = """\
# What choosing and comparing are worth

Made by `python -m benchmarks.selection --report` from `results/selection_*.csv`; the same program made these files. x
are the classifier features, z the privileged features. Except in the verdict's test: depth 3, eta 0.1, at most 60
rounds, one thread. `select` ran with its defaults: plain XGBoost and the mixed teacher at `kl_weight` 1 and 10, judged
by log loss over five folds of the training rows, few rows dealt several times. A gain is over plain XGBoost on rows
that no choice has seen, and positive for the better. Brackets are 95 % intervals; where outer folds share training rows
they are corrected for it (Nadeau and Bengio)."""


def cells_of(lines: pd.DataFrame, part: Part, bar: float) -> pd.DataFrame:
    """A line for each cell: what the rule chooses with this bar, and what that gains on the test rows."""
    rows = []
    for key, cell in lines.groupby(part.keys, sort=False):
        plain, best = cell.iloc[0], cell.loc[cell["cv_gain"].idxmax()]
        leaves = best.cv_gain > max(bar * best.cv_error, 0) and (plain.n_errors >= part.least or bar == 0)
        chosen = best if leaves else plain
        gains = {"logloss": plain.logloss - chosen.logloss, "auc": chosen.auc - plain.auc}
        rows.append({**dict(zip(part.keys, key, strict=True)), **gains, "plain": not leaves})
    return pd.DataFrame(rows)


def settings_of(cells: pd.DataFrame, part: Part) -> pd.DataFrame:
    """A line for each setting: mean gains, the interval of log loss, how often plain XGBoost was chosen."""
    settings = cells.groupby(part.by, sort=False)
    found = settings[["logloss", "auc", "plain"]].mean()
    found["cells"] = settings.size()
    found["interval"] = settings["logloss"].apply(lambda gains: corrected_interval(gains.to_numpy(), part.ratio))
    return found


def name_of(setting: Any) -> str:
    return ", ".join(map(str, setting)) if isinstance(setting, tuple) else str(setting)


def interval_text(interval: Interval) -> str:
    return with_bounds(interval, 4)


def gain_table(lines: pd.DataFrame, part: Part) -> list[str]:
    found = settings_of(cells_of(lines, part, DEFAULT), part)
    rows = []
    for key, row in found.iterrows():
        rows.append(
            [
                *name_of(key).split(", "),
                str(row.cells),
                interval_text(row.interval),
                signed(row.auc, 4),
                f"{row.plain:.0%}",
            ]
        )
    return table([*part.by, "cells", "log loss lower by", "AUC higher by", "plain chosen"], rows)


def summary_line(lines: pd.DataFrame, part: Part) -> str:
    found = settings_of(cells_of(lines, part, DEFAULT), part)
    worse = [name for name, interval in found["interval"].items() if interval.high < 0]
    better = [name for name, interval in found["interval"].items() if interval.low > 0]
    lowest = found["logloss"].idxmin()
    return (
        f"Mean over the {len(found)} rows of this table: log loss lower by {signed(found['logloss'].mean(), 4)}, AUC "
        f"higher by {signed(found['auc'].mean(), 4)}.\nSignificantly worse in {len(worse)}, significantly better in "
        f"{len(better)}; the lowest mean is {signed(found['logloss'].min(), 4)} ({name_of(lowest)})."
    )


def bar_table(parts: dict[str, pd.DataFrame]) -> list[str]:
    rows = []
    for bar in BARS:
        row = [f"{bar:g}"]
        for name, lines in parts.items():
            found = settings_of(cells_of(lines, PARTS[name], bar), PARTS[name])
            worse = sum(interval.high < 0 for interval in found["interval"])
            row += [signed(found["logloss"].mean(), 4), signed(found["logloss"].min(), 4), str(worse)]
        rows.append(row)
    header = [text for name in parts for text in (f"{name}: mean", "lowest", "worse")]
    return table(["standard errors", *header], rows)


def small(lines: pd.DataFrame) -> str:
    """The sets that are small, and those on which plain XGBoost is hardly ever wrong."""
    part = PARTS["unseen"]
    found = settings_of(cells_of(lines, part, DEFAULT), part)
    few = [name for name in found.index if name in SMALL]
    mean = found.loc[few, "logloss"].mean()
    n_mistakes = lines[lines["candidate"] == "plain"].groupby("set", sort=False)["n_errors"].mean()
    never = [str(name) for name, mistakes in n_mistakes.items() if mistakes < LEAST_WRONG]
    without = settings_of(cells_of(lines, part._replace(least=0), DEFAULT), part).loc[never, "logloss"]
    return paragraph(
        f"The {len(few)} sets of fewer than 250 rows ({', '.join(few)}): mean gain {signed(mean, 4)}, lowest "
        f"{signed(found.loc[few, 'logloss'].min(), 4)}. On {', '.join(never)} plain XGBoost gets fewer than "
        f"{LEAST_WRONG} rows wrong on average, and is mostly kept for that reason; without this rule the gains there "
        f"would be {', '.join(signed(gain, 4) for gain in without)}."
    )


SMALL = ("wine", "iris", "hepatitis", "new_thyroid1", "glass1", "glass_0_6_vs_5")
CANDIDATES = """\
## Boosted teachers, each fixed beforehand

On the paper's public sets, ten outer folds of at most 1,000 training rows: the mean gain in log loss of one fixed way,
its lowest mean, and on how many sets its mean is below 0. Teachers that see z alone lose on most sets, so `select` does
not try them by default.
"""


def candidate_gains(folder: Path) -> pd.DataFrame:
    """A row for each public set, a column for each candidate, fixed beforehand: its mean gain in log loss."""
    return fixed_gains(pd.read_csv(folder / "selection_candidates.csv"), PARTS["public"])


def fixed_gains(lines: pd.DataFrame, part: Part) -> pd.DataFrame:
    wide = lines.pivot(index=part.keys, columns="candidate", values="logloss")
    return wide.rsub(wide["plain"], axis=0)[list(lines["candidate"].unique()[1:])].groupby(part.by).mean()


def candidate_table(folder: Path) -> list[str]:
    gains = candidate_gains(folder)
    rows = [
        [str(name), signed(own.mean(), 4), signed(own.min(), 4), f"{(own < 0).sum()} of {len(own)}"]
        for name, own in gains.items()
    ]
    return table(["candidate", "mean", "lowest", "sets below 0"], rows)


PUBLIC = """\
## The paper's public sets

The first {folds} of ten outer folds, at most {most} training rows.
"""
MADE = """\
## Made data of known truth

`make_privileged`, its privileged features blurred by noise of standard deviation 0 (strong), 1 (medium) or 4 (weak);
5,000 test rows. A cell is a seed.
"""
BAR = f"""\
## How convincing must a gain be?

`standard_errors` is the number of corrected standard errors that a gain must exceed to replace plain XGBoost; by
default {DEFAULT:g}, which was set before these runs. Mean over the sets and settings of the gain in log loss, the
lowest of them, and how many are significantly worse.
"""
UNSEEN = """\
## Sets that had no part in any choice

Small sets (`benchmarks/selection/fresh.py`), half of the columns of each, drawn by lot, taken for privileged; {folds}
of five outer folds.
"""


def in_short(parts: dict[str, pd.DataFrame]) -> list[str]:
    """How often it is worse, what it gains, and what it does to small sets."""
    found = {name: settings_of(cells_of(lines, PARTS[name], DEFAULT), PARTS[name]) for name, lines in parts.items()}
    worse = sum(interval.high < 0 for of_part in found.values() for interval in of_part["interval"])
    lower = sum(int((of_part["logloss"] < 0).sum()) for of_part in found.values())
    fixed = fixed_gains(parts["unseen"], PARTS["unseen"]).mean()
    best = str(fixed.idxmax())
    means = [signed(of_part["logloss"].mean(), 4) for of_part in found.values()]
    text = f"""In short: on {worse} of {sum(map(len, found.values()))} sets and settings below the choice is
        significantly worse, on {lower} its mean is lower than that of plain XGBoost. Its mean gain in log loss is
        {means[0]} on the paper's public sets, {means[1]} on made data and
        {means[2]} on sets that had no part in any choice. There the best candidate without a choice, {best}, gains
        {signed(fixed[best], 4)}. Few labels on many rows: [UNLABELLED.md](UNLABELLED.md)."""
    return [paragraph(text), ""]


def section(name: str, folder: Path) -> list[str]:
    lines = pd.read_csv(folder / f"selection_{name}.csv")
    return [*gain_table(lines, PARTS[name]), summary_line(lines, PARTS[name]), ""]


def text_of(folder: Path) -> str:
    """The page."""
    parts = {name: pd.read_csv(folder / f"selection_{name}.csv") for name in ("public", "synthetic", "unseen")}
    folds = {name: str(lines["fold"].nunique()) for name, lines in parts.items() if "fold" in lines}
    lines = [ABOUT, "", *in_short(parts), *truth_section(pd.read_csv(folder / "selection_truth.csv"))]
    lines += [PUBLIC.format(folds=folds["public"], most=MOST_ROWS), *section("public", folder)]
    lines += [UNSEEN.format(folds=folds["unseen"]), *section("unseen", folder), small(parts["unseen"]), ""]
    lines += [MADE, *section("synthetic", folder), CANDIDATES, *candidate_table(folder), BAR, *bar_table(parts)]
    lines += cost_section(pd.read_csv(folder / "selection_speed.csv"))
    return "\n".join(lines).rstrip() + "\n"


def write(folder: Path, page: Path = PAGE) -> None:
    """The page, from the CSV files of this folder."""
    page.write_text(text_of(folder), encoding="utf-8")

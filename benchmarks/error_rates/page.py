"""ERROR_RATES.md and its picture, from the cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.data import DATASETS
from benchmarks.error_rates.cells import NAMES
from benchmarks.error_rates.ranks import Ranking, ranking
from benchmarks.pictures import PALETTE, REFERENCE, pyplot, save
from benchmarks.text import joined, number, paragraph, signed, table

PICTURE = "error_rates.png"
PAIRS = (("GPC+", "GPC"), ("SVM+", "SVM"), ("KbPIB", "NF"), ("JPIB", "NF"), ("KbPIB all features", "NF"))
"""With privileged features, and the same without."""

ABOUT = """\
# GPC+ on its paper's own measure

Made by `python -m benchmarks.error_rates` from `results/error_rates.csv`, which the same program made. The paper of
GPC+ (Hernandez-Lobato et al., "Mind the Nuisance: Gaussian Process Classification using Privileged Noise", NIPS 2014)
does not measure AUC but the share of wrong decisions, with 200 training and 200 validation rows, and compares methods
over its tasks by their average ranks and the critical distance of Nemenyi's test. Here are the same measure, test and
figure on the public sets of this repository. The design differs: its data sets (Attribute Discovery, Animals with
Attributes) are not at hand, it repeats each task 100 times (the draws here are above the table), it tunes the
SVMs by classification error in cross-validation (SVM) and on the validation rows (SVM+), and it reduces its features to
50 principal components. Small sets give at most half of their rows for training and a quarter for
validation; at most 5,000 rows are tested. A decision is a probability above a half; those of the SVMs are calibrated on
the validation rows, which choose all parameters by AUC, as everywhere here. KbPIB and JPIB have the alpha that the
paper of these two prints for the set, "all features" a teacher on x and z, cross-fitted, its weight chosen."""


def error_table(lines: pd.DataFrame) -> pd.DataFrame:
    """A row per set, a column per method: the mean over the draws."""
    wide = lines.pivot_table(index="set", columns="method", values="error", sort=False)
    return wide[list(NAMES)].dropna()


def rank_words(found: Ranking, sets: int) -> str:
    best, worst = found.ranks.index[0], found.ranks.index[-1]
    apart = "" if found.p_value < 0.05 else " not"
    return paragraph(
        f"Friedman's test over {sets} sets: chi squared {number(found.statistic, 2)}, p = {number(found.p_value, 4)}: "
        f"the methods are{apart} significantly different. Two differ significantly where their average ranks are more "
        f"than {number(found.critical, 2)} apart (Nemenyi, 5 %). The best average rank is that of {best}, the "
        f"worst that of {worst}."
    )


def not_run(lines: pd.DataFrame, errors: pd.DataFrame) -> str:
    """Which of the public sets are missing, and what one would take."""
    missing = [name for name in DATASETS if name not in errors.index]
    seconds = lines.groupby(["set", "draw"])["seconds"].sum().median()
    return f"Not run: {joined(missing)}; a draw of a set took {number(seconds, 0)} seconds." if missing else ""


def pair_rows(errors: pd.DataFrame, found: Ranking) -> list[list[str]]:
    rows = []
    for with_z, without in PAIRS:
        gain = errors[without] - errors[with_z]
        apart = found.ranks[without] - found.ranks[with_z]
        said = "yes" if abs(apart) > found.critical else "no"
        counts = f"{int((gain > 0).sum())} / {int((gain == 0).sum())} / {int((gain < 0).sum())}"
        rows.append([f"{with_z} for {without}", signed(gain.mean(), 4), counts, signed(apart, 2), said])
    return rows


def text_of(lines: pd.DataFrame) -> str:
    """The page."""
    errors = error_table(lines)
    found = ranking(errors)
    draws = lines.groupby(["set", "method"])["draw"].nunique()
    fewest, most = int(draws.min()), int(draws.max())
    told = [ABOUT, "", "## Error rates", ""]
    number_of = f"{most}" if fewest == most else f"{fewest} to {most}"
    told += [paragraph(f"Means over {number_of} draw{'s' * (most > 1)} of each set. {not_run(lines, errors)}"), ""]
    told += table(["set", *NAMES], [[str(name), *(number(value, 4) for value in row)] for name, row in _rows(errors)])
    told += ["## Average ranks", "", rank_words(found, len(errors)), ""]
    told += table(["method", "average rank"], [[str(name), number(rank, 2)] for name, rank in found.ranks.items()])
    told += [f"![Average ranks, and what is not significantly different](figures/{PICTURE})", ""]
    groups = [joined(map(str, found.ranks.index[i : j + 1])) for i, j in found.cliques()]
    told += [paragraph("Not significantly different from each other are " + "; ".join(groups) + "."), ""]
    told += ["## What the privileged features bring", ""]
    header = ["pair", "error lower by, mean", "sets better / equal / worse", "rank better by", "significant"]
    told += table(header, pair_rows(errors, found))
    told += ["## Cost", "", "Median seconds of a cell, one thread, beside other work.", ""]
    seconds = lines.groupby("method")["seconds"].median()
    told += table(list(NAMES), [[number(seconds[name], 2) for name in NAMES]])
    return "\n".join(told).rstrip() + "\n"


def _rows(errors: pd.DataFrame) -> list[tuple[object, np.ndarray]]:
    return list(zip(errors.index, errors.to_numpy(), strict=True))


def draw(found: Ranking, path: Path) -> None:
    """Average ranks on a line; bars join what is not significantly different."""
    names, places, cliques = list(found.ranks.index), found.ranks.to_numpy(), found.cliques()
    left, half = len(names) // 2 + len(names) % 2, len(cliques)
    figure, ax = pyplot().subplots(figsize=(8, 1.6 + 0.22 * len(names)), layout="constrained")
    ax.axhline(0, color=REFERENCE, linewidth=1)
    for place, (name, rank) in enumerate(zip(names, places, strict=True)):
        on_left = place < left
        depth = -(half * 0.3 + 0.6 + 0.55 * (place if on_left else len(names) - 1 - place))
        end = 0.6 if on_left else len(names) + 0.4
        ax.plot([rank, rank, end], [0, depth, depth], color=PALETTE[0], linewidth=1)
        text = f"{name} ({rank:.2f})"
        ax.text(end, depth, f"{text} " if on_left else f" {text}", ha="right" if on_left else "left", va="center")
    for level, (i, j) in enumerate(cliques):
        ax.plot([places[i] - 0.06, places[j] + 0.06], [-0.3 * (level + 1)] * 2, color=PALETTE[1], linewidth=4)
    ax.plot([1, 1 + found.critical], [0.9, 0.9], color=REFERENCE, linewidth=2, marker="|")
    ax.text(1 + found.critical / 2, 1.0, f"critical distance {found.critical:.2f}", ha="center", va="bottom")
    for rank in range(1, len(names) + 1):
        ax.text(rank, 0.12, str(rank), ha="center", va="bottom", fontsize="small")
        ax.plot([rank, rank], [0, 0.1], color=REFERENCE, linewidth=1)
    ax.set(xlim=(-2, len(names) + 3), ylim=(-(half * 0.3 + 1.1 + 0.55 * left), 1.7))
    ax.set_axis_off()
    save(figure, path)


def write(results: Path, page: Path) -> None:
    """The page, and its picture in the folder ``figures`` beside it."""
    lines = pd.read_csv(results)
    page.write_text(text_of(lines), encoding="utf-8")
    draw(ranking(error_table(lines)), page.parent / "figures" / PICTURE)

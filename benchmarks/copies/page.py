"""COPIES.md: the tables of what teachers are worth and what copies cost, from the results."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.cells import read
from benchmarks.copies.problems import PROBLEMS
from benchmarks.text import number, signed, table

TEST_OVER_TRAIN = 60 / 191
"""Queries held out over the others, of the public set."""


ABOUT = """\
`python -m benchmarks.copies`. In brackets: standard errors over independent draws; for splits that share queries,
corrected for it (Nadeau and Bengio 2003)."""


def text(folder: Path, figures: Path) -> str:
    """The section."""
    found = [read(f"copies_{name}", folder) for name in ("gains", "strength", "public", "cost")]
    parts = [part(lines) for part, lines in zip((_gains, _strength, _public, _cost), found, strict=True)]
    return "\n".join(["# Counts, survival, ranking, and what copies cost", "", ABOUT, "", *chain(*parts)])


def gain(better: pd.Series[float], worse: pd.Series[float], digits: int = 4, test_over_train: float = 0.0) -> str:
    """The mean of the differences, draw by draw, with its standard error."""
    differences = (better - worse).dropna()
    if differences.empty:
        return "-"
    error = differences.std() * np.sqrt(1 / len(differences) + test_over_train)
    return f"{signed(differences.mean(), digits)} ({number(error, digits)})"


def _gains(found: pd.DataFrame) -> list[str]:
    rows = []
    for problem in PROBLEMS.values():
        own = found[found["problem"] == problem.name]
        ways = ("labelled", "labelled_control", "unlabelled", "unlabelled_control", "all_labels")
        gains = [gain(own["plain"], own[way]) for way in ways]
        rows.append([f"{problem.name}: {problem.measure}", number(own["plain"].mean(), 4), *gains])
    header = ["problem: loss", "plain", "labelled rows", "control"]
    header += ["with unlabelled rows", "control", "all labels known"]
    return [
        "## Made data with known truth",
        "",
        f"150 labelled rows of 1,500 (15 queries of 150 for the ranking), {found['draw'].nunique()} draws. `count` is "
        "`count:poisson`, `survival` is `survival:aft` with two fifths of the times censored, `ranking` is `rank:ndcg`."
        " The label depends on a hidden score; x has it with much noise, z with little. The teacher sees x and z, "
        "cross-fitted in five folds, `kl_weight` 1; the control's teacher sees x. Losses of plain XGBoost on "
        "the labelled rows against the "
        "truth, and what is gained of them (more is better).",
        "",
        *table(header, rows),
    ]


def _strength(found: pd.DataFrame) -> list[str]:
    rows = [
        [number(noise, 1), number(result, 2), number(own["teacher_ndcg"].mean()), gain(own["plain"], own["student"])]
        for (noise, result), own in found.groupby(["z_noise", "told_chance"], sort=False)
    ]
    return [
        "## A teacher can be too good",
        "",
        f"60 queries of ten rows, all labelled, {found['draw'].nunique()} draws, `kl_weight` 10. From line to line z "
        "predicts the labels better: it has the hidden score with less noise, then also a share of the random part of "
        "each label, which no model of x can predict. The teacher's NDCG@5 on the labels (cross-fitted) grows "
        "throughout; the gain of its student in NDCG@5 does not.",
        "",
        *table(["noise of z", "share of the random part in z", "teacher's NDCG@5", "student's gain"], rows),
    ]


def _public(found: pd.DataFrame) -> list[str]:
    ways = ("labelled", "labelled_control", "unlabelled", "unlabelled_control", "z_at_prediction")
    rows = [
        [str(n), number(own["plain"].mean()), *(gain(own[way], own["plain"], 3, TEST_OVER_TRAIN) for way in ways)]
        for n, own in found.groupby("n_labelled")
    ]
    few = found[found["n_labelled"] == (least := found["n_labelled"].min())]
    ours, control = (gain(few[way], few["plain"], 3, TEST_OVER_TRAIN) for way in ("unlabelled", "unlabelled_control"))
    header = ["labelled queries", "plain", "labelled queries taught", "control"]
    header += ["unlabelled ones too", "control", "z known at prediction"]
    return [
        "## A public ranking set",
        "",
        "251 queries of LightGBM's example (`benchmarks/data/ranking.py`), 60 of them held out, "
        f"{found['split'].nunique()} splits. z are the ten features of largest gain in a model of all queries; "
        "`rank:ndcg`, `kl_weight` 1, the teacher on x and z cross-fitted by query. NDCG@5 of plain XGBoost on the "
        f"labelled queries, and the gain over it. With {least} labelled queries and the unlabelled ones the gain is "
        f"{ours}; the control without z gains {control}. No gain of z is shown here.",
        "",
        *table(header, rows),
    ]


def _cost(found: pd.DataFrame) -> list[str]:
    rows = [
        [
            str(line["objective"]),
            number(line["plain_seconds"], 2),
            f"{number(line['time_ratio'], 2)} ({number(line['low'], 2)} to {number(line['high'], 2)})",
            f"{line['plain_mib']:.0f}",
            f"{line['copies_mib']:.0f}",
            number(line["memory_ratio"], 2),
        ]
        for _, line in found.iterrows()
    ]
    return [
        "## Cost",
        "",
        f"{found['rows'].iloc[0]:,} rows of 30 columns, {found['rounds'].iloc[0]} rounds of depth 6 on one core, every "
        "row with a given q. Times are those of the processor; plain XGBoost finds the cuts drawn, copies "
        "bin their rows in every training. Memory is the highest of a process less its libraries, the matrix in it.",
        "",
        *table(["objective", "plain, CPU seconds", "time ratio", "plain, MiB", "copies, MiB", "memory ratio"], rows),
    ]

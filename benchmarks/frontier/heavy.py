"""Weights beyond those that a step can bear: the default, the steady step, and what many more rounds give."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import xgboost as xgb

import pi_xgb
from benchmarks.frontier.cells import PLAIN, Part, Split, judged, matrix
from benchmarks.text import joined, table
from pi_xgb.constraints import GroupParity

KL_WEIGHTS, ROUNDS, ROWS = (50.0, 100.0, 200.0, 500.0, 1000.0), (100, 200, 1000), 5000
HESSIANS = ("follow", "steady")
ABOUT = """\
Accuracy and gap in the positive rate on held-out rows of one fold, as above, for {rows:,} training rows and weights at
which a step leaves little to the labels: the default (`hessian="follow"`) and `hessian="steady"`, which counts the
labels alone at every weight and averages the pull over rounds, after {rounds} rounds.
Plain XGBoost after 100 rounds: {plain}.
The share is how much of the labels a round of the default teaches, of what one of plain XGBoost does: where it is low,
a model of few rounds is fair because it has learned nothing. On bank the steady models have learned more than those of
the default ever do, and larger gaps on held-out rows with it.
"""


def measured_heavy(
    name: str, split: Split, weights: Sequence[float] = KL_WEIGHTS, rounds: Sequence[int] = ROUNDS
) -> pd.DataFrame:
    """Both steps at every weight, after each number of rounds, on some of the training rows."""
    some = np.random.default_rng(0).permutation(len(split.train.y))[:ROWS]
    train = Part(*(values[some] for values in split.train))
    dtrain, dtest = matrix(train, split.types), matrix(split.test, split.types)
    plain = xgb.train(PLAIN, dtrain, 100)
    lines = [judged(plain, dtest, split.test, 100, dataset=name, hessian="plain", kl_weight=0.0)]
    for a in weights:
        for hessian in HESSIANS:
            teacher = GroupParity(train.group, hessian=hessian)
            booster = pi_xgb.train(PLAIN, dtrain, max(rounds), teacher=teacher, kl_weight=a)
            named = {"dataset": name, "hessian": hessian, "kl_weight": a}
            lines += [judged(booster, dtest, split.test, number, **named) for number in rounds]
    return pd.DataFrame(lines)


def share(kl_weight: float) -> float:
    """How much of the labels a round of the default teaches, of what one of plain XGBoost does."""
    return 1 / max(1.0, PLAIN["eta"] * (1 + kl_weight) / 2)


def heavy_section(results: Path) -> list[str]:
    """A table per set; nothing where nothing was measured."""
    if not results.exists():
        return []
    found = pd.read_csv(results)
    rounds = sorted({int(one) for one in found[found.hessian != "plain"]["rounds"]})
    plain = found[found.hessian == "plain"]
    told = joined(f"{row.accuracy:.3f} {row.SP:.3f} on {row.dataset}" for row in plain.itertuples())
    about = ABOUT.format(rows=ROWS, rounds=joined(map(str, rounds)), plain=told)
    lines = ["## The step at heavy weights", "", about]
    for name in found.dataset.unique():
        rows = []
        for a in sorted({one for one in found.kl_weight if one}):
            cells = [_cell(found, name, hessian, a, number) for hessian in HESSIANS for number in rounds]
            rows.append([f"{a:g}", f"{share(a):.2f}", *cells])
        header = ["a", "share", *(f"{hessian}, {number}" for hessian in HESSIANS for number in rounds)]
        lines += [f"{name}:", "", *table(header, rows)]
    return lines


def _cell(found: pd.DataFrame, name: str, hessian: str, a: float, rounds: int) -> str:
    """Accuracy and gap."""
    named = (found.dataset == name) & (found.hessian == hessian)
    row = found[named & (found.kl_weight == a) & (found["rounds"] == rounds)].iloc[0]
    return f"{row.accuracy:.3f} {row.SP:.3f}"

"""Weights beyond those that a step can bear: with and without a mean over rounds, and what many more rounds give."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import xgboost as xgb

import pi_xgb
from benchmarks.frontier.cells import PLAIN, Part, Split, judged, matrix
from benchmarks.text import joined, paragraphs
from pi_xgb.constraints import DemographicParity

KL_WEIGHTS, ROUNDS, ROWS = (50.0, 100.0, 200.0, 500.0, 1000.0), (100, 200, 1000), 5000
MADE = {"made data, 2,000 rows": 2000, "made data, 20,000 rows": 20_000}
HESSIANS = ("adaptive", "damped")
ABOUT = """\
[{file}](results/{file}) has the same after {rounds} rounds for weights of {weights}, and the gap on the training rows
(`taught`): `hessian="adaptive"` at weights at which its steps leave little to the labels, and the default,
`hessian="damped"`. {rows:,} training rows of the public sets, and made data whose groups differ in what their features
say. Plain XGBoost after 100 rounds: {plain}. At the heaviest weight a round of "adaptive" teaches {share:.0%} of the
labels that one of plain XGBoost does. So a model of few rounds is fair because it has learned nothing.

What is taught is parity on the training rows, and damped steps get there at every weight. How far it holds on other
rows is another question: with 2,000 rows a model that grows as far as plain XGBoost satisfies a heavy constraint by
what is so in these rows only, as it does in more rounds of "adaptive"; with 20,000 it held better after 100 and 200
rounds, not after 1000. Fewer rounds, like "adaptive", come to smaller gaps by models that have learned less: compare at
equal accuracy.
"""


def measured_heavy(
    name: str, split: Split, weights: Sequence[float] = KL_WEIGHTS, rounds: Sequence[int] = ROUNDS
) -> pd.DataFrame:
    """Both steps at every weight, after each number of rounds."""
    dtrain, dtest = matrix(split.train, split.types), matrix(split.test, split.types)
    plain = xgb.train(PLAIN, dtrain, 100)
    lines = [judged(plain, dtest, split.test, 100, dataset=name, hessian="plain", kl_weight=0.0)]
    for a in weights:
        for hessian in HESSIANS:
            teacher = DemographicParity(split.train.group, hessian=hessian)
            booster = pi_xgb.train(PLAIN, dtrain, max(rounds), teacher=teacher, kl_weight=a)
            named = {"dataset": name, "hessian": hessian, "kl_weight": a}
            for number in rounds:
                taught = judged(booster, dtrain, split.train, number)["SP"]
                lines.append({**judged(booster, dtest, split.test, number, **named), "taught": taught})
    return pd.DataFrame(lines)


def in_part(split: Split) -> Split:
    """With some of the training rows."""
    subset = np.random.default_rng(0).permutation(len(split.train.y))[:ROWS]
    return split._replace(train=Part(*(values[subset] for values in split.train)))


def made_rows(rows: int) -> Split:
    """Made data with so many rows for training."""
    data = pi_xgb.datasets.make_privileged(rows + 6000, group_gap=1.0, seed=0)
    parts = (slice(0, rows), slice(0), slice(rows, None))
    made = [Part(data.x[part].to_numpy(), data.y[part].to_numpy(), data.group[part].to_numpy()) for part in parts]
    return Split(*made, ["q"] * data.x.shape[1])


def share(kl_weight: float) -> float:
    """How much of the labels a round of "adaptive" teaches, of what one of plain XGBoost does."""
    return 1 / max(1.0, PLAIN["eta"] * (1 + kl_weight))


def heavy_section(results: Path) -> list[str]:
    """What both steps came to, in words; nothing where nothing was measured."""
    if not results.exists():
        return []
    found = pd.read_csv(results)
    plain, taught = found[found.hessian == "plain"], found[found.hessian != "plain"]
    about = ABOUT.format(
        file=results.name,
        rows=ROWS,
        rounds=joined(map(str, sorted(taught["rounds"].unique()))),
        weights=joined(f"{a:g}" for a in sorted(taught.kl_weight.unique())),
        plain=joined(f"{row.accuracy:.3f} and {row.SP:.3f} on {row.dataset}" for row in plain.itertuples()),
        share=share(taught.kl_weight.max()),
    )
    return ["## The step at heavy weights", "", paragraphs(about), ""]

"""Both steps for constraints that differ row by row, and from a model that a training goes on from, on made data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import xgboost as xgb

import pi_xgb
from benchmarks.frontier.groups import HESSIANS, loss, made
from benchmarks.text import paragraphs
from pi_xgb.constraints import DemographicParity, IndividualFairness, Meritocracy

ROWS, KL_WEIGHTS, ROUNDS = 2000, (30.0, 100.0, 1000.0), 100
PARAMS = {"objective": "binary:logistic", "nthread": 1, "eta": 0.1, "max_depth": 3}
CONSTRAINTS: dict[str, Callable[[np.ndarray, np.ndarray, str], pi_xgb.Teacher]] = {
    "DemographicParity, 5 groups": lambda x, group, hessian: DemographicParity(group, hessian=hessian),
    "IndividualFairness, alike in a feature": lambda x, group, hessian: IndividualFairness(
        key=np.round(2 * x[:, 0]), hessian=hessian
    ),
    "Meritocracy, by another": lambda x, group, hessian: Meritocracy(x[:, 1], hessian=hessian),
}
STARTS = ("nothing", "a plain model")
ABOUT = """\
[{file}](results/{file}) has the log loss on {rows:,} made training rows, and how far their predictions are from what
the constraint asks for, the mean of |p - q|: both steps, after {rounds} rounds of eta 0.1 from nothing, or from a plain
model of {rounds} rounds. Where q differs from row to row "adaptive" comes closer to it from nothing, which is why it is
the default there. What a training finds in a model that it goes on from is far from q. Between groups that does no
harm. Row by row a heavy constraint leaps, by either step, and is better taught from the beginning or by weights
below 30.
"""


def measured_rows(rows: int = ROWS, weights: Sequence[float] = KL_WEIGHTS, rounds: int = ROUNDS) -> pd.DataFrame:
    """Loss and distance of every constraint, weight, start and step."""
    dtrain, group = made(rows, 5)
    x = dtrain.get_data().toarray()
    plain, lines = xgb.train(PARAMS, dtrain, rounds), []
    for constraint, source in CONSTRAINTS.items():
        for start, known in zip(STARTS, (None, plain), strict=True):
            for a in weights:
                for hessian in HESSIANS:
                    teacher = source(x, group, hessian)
                    booster = pi_xgb.train(PARAMS, dtrain, rounds, teacher=teacher, kl_weight=a, xgb_model=known)
                    p = booster.predict(dtrain)
                    far = float(np.abs(p - teacher.q(p, dtrain.get_label(), None)).mean())
                    named = {"constraint": constraint, "start": start, "kl_weight": a, "hessian": hessian}
                    lines.append({**named, "loss": loss(booster, dtrain), "distance": far})
    return pd.DataFrame(lines)


def rows_section(results: Path) -> list[str]:
    """What was seen, in words; nothing where nothing was measured."""
    if not results.exists():
        return []
    about = ABOUT.format(file=results.name, rows=ROWS, rounds=ROUNDS)
    return ["## The step row by row, and from a model", "", paragraphs(about), ""]

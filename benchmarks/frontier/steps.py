"""What the Hessian should count of a constraint: five rules at the same rounds, on one fold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import xgboost as xgb

from benchmarks.frontier.cells import PLAIN, Split, judged, matrix
from benchmarks.text import joined, paragraphs
from pi_xgb.constraints import DemographicParity

ROUNDS = (50, 100, 200)
KL_WEIGHTS = (3.0, 10.0, 30.0, 100.0)
# What counts of 1 + a, for steps of size eta. The second is "adaptive", the third the largest that could settle.
RULES: dict[str, Callable[[float, float], float]] = {
    "1 + a (the paper's)": lambda a, eta: 1 + a,
    "max(1, eta (1 + a))": lambda a, eta: max(1.0, eta * (1 + a)),
    "max(1, eta (1 + a) / 2)": lambda a, eta: max(1.0, eta * (1 + a) / 2),
    "sqrt(1 + a)": lambda a, eta: float(np.sqrt(1 + a)),
    "1": lambda a, eta: 1.0,
}
ABOUT = """\
[{file}](results/{file}) has accuracy and gap in the positive rate on held-out rows of one fold ({sets};
DemographicParity, depth {depth}, eta {eta}), for weights a of {weights}, after {rounds} rounds, by what the Hessian
counts of the labels and of the constraint together. Plain XGBoost after 100 rounds: {plain}.

With all of 1 + a (the paper's) a model of the heavier weights has learned next to nothing when plain XGBoost is done.
With none of a it is best up to where it breaks down. The rule max(1, eta (1 + a)) is `hessian="adaptive"`, and
max(1, eta (1 + a) / 2) is twice its step, the largest that can settle; the
[mathematics](../docs/mathematics.md#the-hessian-of-a-teacher-that-follows) says why. Beyond a weight of about 30 more
rounds pay at this eta, with any of these rules that is stable. The default averages over rounds and needs no more of
them: it is in the next section.
"""


def measured_steps(name: str, split: Split) -> pd.DataFrame:
    """Every rule at every weight, after each number of rounds."""
    dtrain, dtest = matrix(split.train, split.types), matrix(split.test, split.types)
    plain = xgb.train(PLAIN, dtrain, 100)
    lines = [judged(plain, dtest, split.test, 100, dataset=name, rule="plain", kl_weight=0.0)]
    for a in KL_WEIGHTS:
        for rule, counted in RULES.items():
            booster = trained(split, dtrain, a, counted(a, PLAIN["eta"]))
            named = {"dataset": name, "rule": rule, "kl_weight": a}
            lines += [judged(booster, dtest, split.test, rounds, **named) for rounds in ROUNDS]
    return pd.DataFrame(lines)


def trained(split: Split, dtrain: xgb.DMatrix, a: float, counted: float) -> xgb.Booster:
    """The student of parity with a Hessian of ``counted`` times p (1 - p), written out."""
    parity, y = DemographicParity(split.train.group), split.train.y.astype(np.float32)

    def gradient(margin: np.ndarray, matrix: xgb.DMatrix) -> tuple[np.ndarray, np.ndarray]:
        p = (1 / (1 + np.exp(-np.clip(margin, -80, 80)))).astype(np.float32)
        hessian = np.maximum(p * (1 - p), np.float32(1e-16))
        return (p - y) + np.float32(a) * (p - parity.q(p, y, None)), np.float32(counted) * hessian

    return xgb.train({**PLAIN, "base_score": float(y.mean())}, dtrain, max(ROUNDS), obj=gradient)


def steps_section(results: Path) -> list[str]:
    """What the rules came to, in words; nothing where they were not measured."""
    if not results.exists():
        return []
    found = pd.read_csv(results)
    plain = found[found.rule == "plain"]
    about = ABOUT.format(
        file=results.name,
        sets=joined(found.dataset.unique()),
        depth=PLAIN["max_depth"],
        eta=PLAIN["eta"],
        weights=joined(f"{a:g}" for a in KL_WEIGHTS),
        rounds=joined(map(str, ROUNDS)),
        plain=joined(f"{row.accuracy:.3f} and {row.SP:.3f} on {row.dataset}" for row in plain.itertuples()),
    )
    return ["## The step", "", paragraphs(about), ""]

"""Both steps with few groups and many, at heavy weights, on made data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import xgboost as xgb
from sklearn.metrics import log_loss

import pi_xgb
from benchmarks.text import joined, paragraphs
from pi_xgb.constraints import DemographicParity, EqualizedOdds

ROWS, GROUPS, KL_WEIGHTS, ROUNDS = (800, 5000), (2, 5, 20, 80), (30.0, 100.0, 1000.0), 100
STEPS = {"eta 0.1, depth 3": {"eta": 0.1, "max_depth": 3}, "eta 0.3, depth 6": {"eta": 0.3, "max_depth": 6}}
CONSTRAINTS = {"parity": DemographicParity, "odds": EqualizedOdds}
HESSIANS = ("damped", "adaptive")
ABOUT = """\
[{file}](results/{file}) has the log loss on the training rows after {rounds} rounds of both steps, on made data of
{rows} rows and {groups} groups, whose label depends on the group. A heavy constraint costs some of it, and "adaptive"
has learned less at heavy weights. Steps that swing ever wider would end far above "adaptive", or in NaN. Of the {count}
trainings with the damped step, {worse} end more than 0.01 above "adaptive" at the same weight, and {diverged} in NaN.
"""


def measured_groups(
    rows: Sequence[int] = ROWS, groups: Sequence[int] = GROUPS, weights: Sequence[float] = KL_WEIGHTS
) -> pd.DataFrame:
    """Both steps for every number of groups and weight, and plain XGBoost."""
    lines = []
    for n in rows:
        for k in groups:
            dtrain, group = made(n, k)
            for name, step in STEPS.items():
                params = {"objective": "binary:logistic", "nthread": 1, **step}
                result = {"rows": n, "groups": k, "step": name}
                plain = xgb.train(params, dtrain, ROUNDS)
                lines.append(
                    {**result, "constraint": "plain", "kl_weight": 0.0, "hessian": "", "loss": loss(plain, dtrain)}
                )
                for constraint, source in CONSTRAINTS.items():
                    for a in weights:
                        for hessian in HESSIANS:
                            teacher = source(group, hessian=hessian)
                            booster = pi_xgb.train(params, dtrain, ROUNDS, teacher=teacher, kl_weight=a)
                            found = {"constraint": constraint, "kl_weight": a, "hessian": hessian}
                            lines.append({**result, **found, "loss": loss(booster, dtrain)})
    return pd.DataFrame(lines)


def made(n: int, k: int) -> tuple[xgb.DMatrix, np.ndarray]:
    """Rows of so many groups, of which the last feature tells something."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, k, n)
    x = np.column_stack([rng.normal(size=(n, 6)), group / k + rng.normal(0, 0.2, n)])
    margin = 1.5 * x[:, 0] + x[:, 1] * x[:, 2] + 2 * (group / k > 0.5) - 1
    return xgb.DMatrix(x, rng.random(n) < 1 / (1 + np.exp(-margin))), group


def loss(booster: xgb.Booster, dtrain: xgb.DMatrix) -> float:
    scores = booster.predict(dtrain).astype(float)
    return float(log_loss(dtrain.get_label(), scores)) if np.isfinite(scores).all() else np.nan


def groups_section(results: Path) -> list[str]:
    """How often damped steps were behind, in words; nothing where nothing was measured."""
    if not results.exists():
        return []
    found = pd.read_csv(results)
    taught = found[found.constraint != "plain"]
    where = ["step", "rows", "groups", "constraint", "kl_weight"]
    pairs = taught.pivot(index=where, columns="hessian", values="loss")
    about = ABOUT.format(
        file=results.name,
        rounds=ROUNDS,
        rows=joined(f"{n:,}" for n in sorted(found.rows.unique())),
        groups=joined(map(str, sorted(found.groups.unique()))),
        count=len(pairs),
        worse=(pairs.damped - pairs.adaptive > 0.01).sum() or "none",
        diverged=pairs.damped.isna().sum() or "none",
    )
    return ["## The step and many groups", "", paragraphs(about), ""]

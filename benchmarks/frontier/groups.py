"""Both steps with few groups and many, at heavy weights, on made data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import xgboost as xgb
from sklearn.metrics import log_loss

import pi_xgb
from benchmarks.text import table
from pi_xgb.constraints import DemographicParity, EqualizedOdds

ROWS, GROUPS, KL_WEIGHTS, ROUNDS = (800, 5000), (2, 5, 20, 80), (30.0, 100.0, 1000.0), 100
STEPS = {"eta 0.1, depth 3": {"eta": 0.1, "max_depth": 3}, "eta 0.3, depth 6": {"eta": 0.3, "max_depth": 6}}
CONSTRAINTS = {"parity": DemographicParity, "odds": EqualizedOdds}
HESSIANS = ("damped", "adaptive")
ABOUT = """\
Log loss on the training rows after {rounds} rounds, damped / adaptive, on made data whose label depends on the group. A
heavy constraint costs some of it, and "adaptive" has learned less at heavy weights. Steps that swing ever wider would
end far above "adaptive", or in NaN (written "diverges"): with groups of 10 rows as well none does.
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
    """A table; nothing where nothing was measured."""
    if not results.exists():
        return []
    found = pd.read_csv(results, keep_default_na=True)
    rows = []
    for (step, n, k), part in found.groupby(["step", "rows", "groups"]):
        cells = [
            " / ".join(_shown(own[own.hessian == hessian].loss.iloc[0]) for hessian in HESSIANS)
            for _, own in part[part.constraint != "plain"].groupby(["constraint", "kl_weight"])
        ]
        rows.append([step, f"{n:,}", str(k), _shown(part[part.constraint == "plain"].loss.iloc[0]), *cells])
    taught = found[found.constraint != "plain"].groupby(["constraint", "kl_weight"]).size().index
    header = ["step", "rows", "groups", "plain", *(f"{constraint}, {a:g}" for constraint, a in taught)]
    return ["## The step and many groups", "", ABOUT.format(rounds=ROUNDS), *table(header, rows)]


def _shown(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else "diverges"

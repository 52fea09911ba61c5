"""One cell of each part: what select tries on training rows, and what that is worth on rows nobody has seen."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import xgboost as xgb
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import pi_xgb
from benchmarks.data import load
from benchmarks.data.folds import parts
from benchmarks.selection.fresh import fresh
from benchmarks.selection.rows import Rows, made
from pi_xgb.selection import Selection, select

PARAMS: dict[str, Any] = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1}
ROUNDS = 60
TEST_ROWS = 5000
# Larger sets are cut to so many training rows: where rows are plentiful, nothing is to be gained.
MOST_ROWS = 600
OUTER = 5
EVERY: dict[str, Any] = {
    "method": ("kbpib", "jpib"),
    "teacher": "boosted",
    "teacher_sees": ("privileged", "all"),
    "crossfit": (0, 5),
    "repeats": 1,
}
"""Every way to use a boosted teacher, by name."""

Lines = list[dict[str, Any]]


def measures(booster: xgb.Booster, test: xgb.DMatrix, y: Any) -> dict[str, float]:
    chance = booster.predict(test).astype(float)
    kept = np.clip(np.where(y == 1, chance, 1 - chance), 1e-7, None)
    return {"auc": float(roc_auc_score(y, chance)), "logloss": float(-np.log(kept).mean())}


def judged(selection: Selection, train: Rows, test: Rows) -> Lines:
    """Every candidate of a selection, trained as it was cross-validated, on rows that nobody has seen."""
    dtrain, held_out = train.student, test.student
    teachers: dict[Any, Any] = {}
    lines = []
    for name, row in selection.summary.iterrows():
        if row.method == "plain":
            booster = xgb.train(PARAMS, dtrain, row.rounds)
        elif row.method == "jpib":
            joint = {"privileged": train.teacher, "method": "jpib", "kl_weight": row.kl_weight}
            booster = pi_xgb.train(PARAMS, dtrain, row.rounds, **joint)
        else:
            crossfit = None if pd.isna(row.crossfit) else int(row.crossfit)
            key = row.teacher, row.teacher_sees, crossfit
            if key not in teachers:
                seen = train.teacher if row.teacher_sees == "privileged" else train.all
                teachers[key] = pi_xgb.fit_teacher(PARAMS, seen, ROUNDS, teacher=row.teacher, crossfit=crossfit)
            booster = pi_xgb.train(PARAMS, dtrain, row.rounds, teacher=teachers[key], kl_weight=row.kl_weight)
        cv = {"rounds": row.rounds, "cv_gain": row.gain, "cv_error": row.gain_se, "n_errors": selection.n_errors}
        lines.append({"candidate": name, **cv, **measures(booster, held_out, test.y)})
    return lines


def selected(train: Rows, test: Rows, **settings: Any) -> Lines:
    """What ``select`` tries on these rows, by default or with other settings."""
    selection = select(PARAMS, train.student, ROUNDS, privileged=train.teacher, progress=False, **settings)
    return judged(selection, train, test)


def synthetic(strength: str, size: int, seed: int, test_rows: int = TEST_ROWS, **settings: Any) -> Lines:
    rows = made(size + test_rows, strength, seed)
    return selected(rows.take(slice(0, size)), rows.take(slice(size, None)), **settings)


_load = lru_cache(1)(load)


def public(name: str, fold: int, most_rows: int = MOST_ROWS, **settings: Any) -> Lines:
    data = _load(name)
    (x, x_types), (z, z_types) = data.student(), data.teacher()
    rows = Rows(x.to_numpy(), z.to_numpy(), data.y, x_types, z_types)
    test = parts(data.y)[fold]
    rest = np.setdiff1d(np.arange(len(data.y)), test)
    chosen = np.sort(np.random.default_rng(fold).permutation(rest)[:most_rows])
    return selected(rows.take(chosen), rows.take(test), **settings)


def unseen(name: str, repeat: int, fold: int) -> Lines:
    """On a set that had no part in any choice; ``repeat`` times five folds."""
    rows = fresh(name)
    split = StratifiedKFold(OUTER, shuffle=True, random_state=repeat).split(rows.x, rows.y)
    rest, test = list(split)[fold]
    rest = np.sort(np.random.default_rng([repeat, fold]).permutation(rest)[:MOST_ROWS])
    return selected(rows.take(rest), rows.take(test))

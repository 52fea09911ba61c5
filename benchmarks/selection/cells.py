"""One cell of each part: what select tries on training rows, and what that is worth on rows nobody has seen."""

from __future__ import annotations

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
from benchmarks.selection.rows import Rows, made, strong
from benchmarks.unlabelled.cell import Draw, Work
from pi_xgb.selection import Selection, compare, select

PARAMS: dict[str, Any] = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1}
ROUNDS = 60
TEST_ROWS = 5000
# Larger sets are cut to so many training rows: where rows are plentiful, nothing is to be gained.
MOST_ROWS = 1000
COMPARED_ROWS = 1000
OUTER = 5
BOOSTED: dict[str, Any] = {"teacher": "boosted", "teacher_sees": "all", "crossfit": 5}
"""What this benchmark measures: a cross-fitted booster on all features."""
EVERY: dict[str, Any] = {
    "method": ("kbpib", "jpib"),
    "teacher": "boosted",
    "teacher_sees": ("privileged", "all"),
    "crossfit": (0, 5),
    "repeats": 1,
}
"""Every kind of candidate, by name."""

Lines = list[dict[str, Any]]


def measures(booster: xgb.Booster, test: xgb.DMatrix, y: Any) -> dict[str, float]:
    chance = booster.predict(test).astype(float)
    kept = np.clip(np.where(y == 1, chance, 1 - chance), 1e-7, None)
    return {"auc": float(roc_auc_score(y, chance)), "logloss": float(-np.log(kept).mean())}


def judged(selection: Selection, dtrain: Any, seen: dict[str, Any], test: Any, y: Any, labelled: Any = None) -> Lines:
    """Every candidate of a selection, trained as it was cross-validated, on rows that nobody has seen.

    ``seen`` is what a teacher sees by its name: z, or all features.
    """
    how: dict[str, Any] = {"labelled": labelled}
    known = dtrain if labelled is None else dtrain.slice(np.flatnonzero(labelled))
    teachers: dict[tuple[str, int | None], Any] = {}
    lines = []
    for name, row in selection.summary.iterrows():
        if row.method == "plain":
            booster = xgb.train(PARAMS, known, row.rounds)
        elif row.method == "jpib":
            joint = {"privileged": seen["privileged"], "method": "jpib", "kl_weight": row.kl_weight}
            booster = pi_xgb.train(PARAMS, dtrain, row.rounds, **joint, **how)
        else:
            crossfit = None if pd.isna(row.crossfit) else int(row.crossfit)
            key = row.teacher_sees, crossfit
            if key not in teachers:
                teachers[key] = pi_xgb.fit_teacher(PARAMS, seen[row.teacher_sees], ROUNDS, crossfit=crossfit, **how)
            guiding = {"teacher": teachers[key], "kl_weight": row.kl_weight}
            booster = pi_xgb.train(PARAMS, dtrain, row.rounds, **guiding, **how)
        cv = {"rounds": row.rounds, "cv_gain": row.gain, "cv_error": row.gain_se, "n_errors": selection.n_errors}
        lines.append({"candidate": name, **cv, **measures(booster, test, y)})
    return lines


def selected(train: Rows, test: Rows, **settings: Any) -> Lines:
    """What ``select`` finds among boosted teachers on these rows."""
    dtrain = train.student
    selection = select(PARAMS, dtrain, ROUNDS, privileged=train.teacher, progress=False, **{**BOOSTED, **settings})
    seen = {"privileged": train.teacher, "all": train.all}
    return judged(selection, dtrain, seen, test.student, test.y)


def synthetic(strength: str, size: int, seed: int, test_rows: int = TEST_ROWS, **settings: Any) -> Lines:
    rows = made(size + test_rows, strength, seed)
    return selected(rows.take(slice(0, size)), rows.take(slice(size, None)), **settings)


def control(strength: str, size: int, seed: int) -> Lines:
    """The same made rows with x as the privileged features: what smoothing alone is worth."""
    rows = made(size + TEST_ROWS, strength, seed)
    train, test = rows.take(slice(0, size)), rows.take(slice(size, None))
    dtrain, copy = train.student, train._replace(z=train.x).teacher
    selection = select(
        PARAMS, dtrain, ROUNDS, privileged=copy, progress=False, **{**BOOSTED, "teacher_sees": "privileged"}
    )
    return judged(selection, dtrain, {"privileged": copy}, test.student, test.y)


def public(name: str, fold: int, **settings: Any) -> Lines:
    data = load(name)
    (x, x_types), (z, z_types) = data.student(), data.teacher()
    rows = Rows(x.to_numpy(), z.to_numpy(), data.y, x_types, z_types)
    test = parts(data.y)[fold]
    rest = np.setdiff1d(np.arange(len(data.y)), test)
    chosen = np.sort(np.random.default_rng(fold).permutation(rest)[:MOST_ROWS])
    return selected(rows.take(chosen), rows.take(test), **settings)


def unseen(name: str, repeat: int, fold: int) -> Lines:
    """On a set that had no part in any choice; ``repeat`` times five folds."""
    rows = fresh(name)
    split = StratifiedKFold(OUTER, shuffle=True, random_state=repeat).split(rows.x, rows.y)
    rest, test = list(split)[fold]
    rest = np.sort(np.random.default_rng([repeat, fold]).permutation(rest)[:MOST_ROWS])
    return selected(rows.take(rest), rows.take(test))


def unlabelled(name: str, labels: int, repeat: int) -> Lines:
    """Few labels on many rows: whether and how the teacher teaches is judged on labelled rows alone."""
    work = Work(Draw(load(name), repeat), labels)
    draw, known = work.draw, work.known
    dtrain = work.all_x
    privileged = draw.matrix("z", work.all, work.label)
    selection = select(PARAMS, dtrain, ROUNDS, privileged=privileged, labelled=known, progress=False, **BOOSTED)
    dall = draw.matrix("xz", work.all, work.label)
    return judged(selection, dtrain, {"all": dall}, draw.matrix("x", draw.test), draw.test.y, known)


def compared(what: str, seed: int, size: int = COMPARED_ROWS, **settings: Any) -> Lines:
    rows = strong(size, seed)
    z = rows.z[np.random.default_rng([seed, 2]).permutation(size)] if what == "shuffled" else rows.z
    quick = {"params": {**PARAMS, "eta": 0.3}, "num_boost_round": 40, "seed": seed, "progress": False}
    found = compare(rows.x, rows.y, z, **{**quick, **BOOSTED, **settings})
    means = found.summary.droplevel("size")
    gains = {f"gain_{model}": means.loc[model, "gain"] for model in means.index}
    return [{"evidence": found.evidence, "verdict": found.verdict, **gains}]

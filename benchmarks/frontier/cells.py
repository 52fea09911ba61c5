"""A cell of the frontier: one method at one level on one fold, and what is measured of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import xgboost as xgb
from sklearn.metrics import roc_auc_score

import pi_xgb
from pi_xgb.constraints import DemographicParity, EqualizedOdds

# Everybody has 100 rounds of eta 0.1: Fairlearn's reductions, FairGBM, and every kl_weight.
PLAIN = {"objective": "binary:logistic", "max_depth": 4, "eta": 0.1, "tree_method": "hist", "nthread": 1}
ROUNDS, SMOKE_ROUNDS = 100, 5
KL_WEIGHTS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
# Each in both forms: the whole distribution of predictions, or decisions at 1/2.
CONSTRAINTS: dict[str, Any] = {
    "DemographicParity": DemographicParity,
    "DemographicParity, counted": partial(DemographicParity, soft=False),
    "EqualizedOdds": EqualizedOdds,
    "EqualizedOdds, counted": partial(EqualizedOdds, soft=False),
    "EqualizedOdds, means": partial(EqualizedOdds, match="mean"),
}
# Tried where a peer was better than the first form.
ONLY_ON = {"EqualizedOdds, means": ("adult", "dutch", "made")}
# The set, and which of its privileged columns is the sensitive one.
SETS = {"adult": "sex", "compas": "race", "bank": "age", "dutch": "sex", "credit": "SEX"}


class Part(NamedTuple):
    """Rows of one fold, without the privileged columns; the group stands apart."""

    x: np.ndarray
    y: np.ndarray
    group: np.ndarray


class Split(NamedTuple):
    """A fold, and the types of its columns."""

    train: Part
    valid: Part
    test: Part
    types: list[str]


def measures(y: np.ndarray, chance: np.ndarray, group: np.ndarray, *, randomised: bool) -> dict[str, float]:
    """Accuracy, gaps and AUC; of the expected decision where decisions are drawn."""
    decision = chance if randomised else (chance > 0.5).astype(float)

    def rate(rows: np.ndarray) -> float:
        return float(decision[rows].mean())

    odds = [abs(rate((group == 1) & (y == v)) - rate((group == 0) & (y == v))) for v in (0, 1)]
    return {
        "accuracy": float((decision * y + (1 - decision) * (1 - y)).mean()),
        "AUC": float(roc_auc_score(y, chance)),
        "SP": abs(rate(group == 1) - rate(group == 0)),
        "EO": sum(odds),
    }


def matrix(part: Part, types: list[str]) -> xgb.DMatrix:
    return xgb.DMatrix(part.x, part.y, feature_types=types, enable_categorical=True)


def our_scores(split: Split, constraint: str | None, kl_weight: float, rounds: int) -> np.ndarray:
    dtrain = matrix(split.train, split.types)
    if constraint is None:
        booster = xgb.train(PLAIN, dtrain, rounds)
    else:
        teacher = CONSTRAINTS[constraint](split.train.group)
        booster = pi_xgb.train(PLAIN, dtrain, rounds, teacher=teacher, kl_weight=kl_weight)
    return booster.predict(matrix(split.test, split.types))


def peers(max_iter: int = 20) -> dict[str, Any]:
    """Each peer, made anew for each fold; the constraint that it answers to stands in its name."""
    from benchmarks.peers.installed import FairGBM, FairlearnExponentiatedGradient
    from benchmarks.peers.mfc import MFC

    reduction = partial(FairlearnExponentiatedGradient, max_iter=max_iter, n_jobs=2)
    return {
        "ExponentiatedGradient, parity": partial(reduction, constraint="DemographicParity"),
        "ExponentiatedGradient, odds": partial(reduction, constraint="EqualizedOdds"),
        "FairGBM": partial(FairGBM, n_jobs=2),
        "MFC, c = 0": partial(MFC, c=0.0),
        "MFC, c chosen": partial(MFC, c=None),
    }


def peer_scores(split: Split, peer: Any) -> np.ndarray:
    peer.fit(
        split.train.x,
        split.train.y,
        sensitive=split.train.group,
        X_valid=split.valid.x,
        y_valid=split.valid.y,
        sensitive_valid=split.valid.group,
        x_types=split.types,
    )
    return np.asarray(peer.predict_proba(split.test.x))[:, 1]


def cells(dataset: str) -> Iterator[tuple[str, float]]:
    yield "NF", 0.0
    for constraint in CONSTRAINTS:
        if dataset not in ONLY_ON.get(constraint, (dataset,)):
            continue
        for kl_weight in KL_WEIGHTS:
            yield constraint, kl_weight
    for peer in peers():
        yield peer, 0.0


def run_cell(split: Split, method: str, level: float, small: bool = False) -> dict[str, float]:
    start = time.perf_counter()
    if method == "NF" or method in CONSTRAINTS:
        rounds = SMOKE_ROUNDS if small else ROUNDS
        scores, randomised = our_scores(split, None if method == "NF" else method, level, rounds), False
    else:
        peer = (peers(max_iter=2) if small else peers())[method]()
        scores, randomised = peer_scores(split, peer), peer.randomised
    found = measures(split.test.y, scores, split.test.group, randomised=randomised)
    return {**found, "seconds": time.perf_counter() - start}


def public_split(name: str, number: int) -> Split:
    from benchmarks.data import load

    prepared = load(name)
    features, types = prepared.student()
    sensitive = [str(prepared.X.columns[i]) for i in prepared.privileged].index(SETS[name])
    group = np.asarray(prepared.protected[sensitive])
    fold = prepared.folds()[number]
    x = features.to_numpy(dtype=np.float64)
    parts = [Part(x[rows], prepared.y[rows], group[rows]) for rows in (fold.train, fold.valid, fold.test)]
    return Split(*parts, list(types))


def made_split(name: str, number: int) -> Split:
    data = pi_xgb.datasets.make_privileged(900, group_gap=1.0, seed=number)
    rows = (slice(0, 500), slice(500, 700), slice(700, 900))
    parts = [Part(data.x[r].to_numpy(), data.y[r].to_numpy(), data.group[r].to_numpy()) for r in rows]
    return Split(*parts, ["q"] * data.x.shape[1])

"""The public ranking set: ten features privileged, few queries labelled, queries held out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import xgboost as xgb

import pi_xgb
from benchmarks.copies.problems import ndcg
from benchmarks.data.ranking import RankingSet, load_ranking

PARAMS = {"objective": "rank:ndcg", "ndcg_exp_gain": False, "max_depth": 3, "eta": 0.1, "nthread": 1}
N_PRIVILEGED, N_HELD_OUT = 10, 60
LABELLED = (30, 80, 191)


def useful(data: RankingSet, rounds: int) -> list[int]:
    """The features of largest total gain in a model of all queries."""
    booster = xgb.train(PARAMS, xgb.DMatrix(data.X, data.y, qid=data.qid), rounds)
    gain = booster.get_score(importance_type="total_gain")
    return sorted(int(name[1:]) for name in sorted(gain, key=lambda name: -gain[name])[:N_PRIVILEGED])


@lru_cache
def loaded(small: bool) -> RankingSet:
    if not small:
        return load_ranking()
    rng = np.random.default_rng(0)
    x = rng.normal(size=(240, 12)).astype(np.float32)
    return RankingSet(x, rng.integers(0, 3, 240).astype(np.float32), np.arange(240) // 8)


def measure(n_labelled: int, split: int, small: bool = False) -> Iterator[dict[str, Any]]:
    """NDCG@5 on the queries held out."""
    data, rounds = loaded(small), 3 if small else 80
    z = useful(data, rounds)
    x = [i for i in range(data.X.shape[1]) if i not in z]
    n_queries = int(data.qid[-1]) + 1
    held_out = min(N_HELD_OUT, n_queries // 3)
    order = np.random.default_rng(split).permutation(n_queries)
    train, test = (np.flatnonzero(np.isin(data.qid, part)) for part in (order[held_out:], order[:held_out]))
    known = np.isin(data.qid[train], order[held_out : held_out + n_labelled])
    yield _scores(data, x, z, train, test, known, rounds)


def _scores(
    data: RankingSet, x: list[int], z: list[int], train: Any, test: Any, known: Any, rounds: int
) -> dict[str, float]:
    def matrix(columns: list[int], rows: Any) -> xgb.DMatrix:
        return xgb.DMatrix(data.X[np.ix_(rows, columns)], data.y[rows], qid=data.qid[rows])

    def score(booster: xgb.Booster, columns: list[int] = x) -> float:
        return ndcg(booster.predict(matrix(columns, test)), data.y[test], data.qid[test])

    def taught(columns: list[int], rows: Any, **keywords: Any) -> float:
        guided = {
            "privileged": matrix(columns, rows),
            "teacher": "boosted",
            "allow_overlap": True,
            "crossfit": 5,
            "kl_weight": 1.0,
            **keywords,
        }
        return score(pi_xgb.train(PARAMS, matrix(x, rows), rounds, **guided))

    few = train[known]
    found = {
        "plain": score(xgb.train(PARAMS, matrix(x, few), rounds)),
        "labelled": taught(x + z, few),
        "labelled_control": taught(x, few),
        "z_at_prediction": score(xgb.train(PARAMS, matrix(x + z, few), rounds), x + z),
    }
    if known.all():
        return {**found, "unlabelled": np.nan, "unlabelled_control": np.nan}
    subset = {"labelled": known}
    return {**found, "unlabelled": taught(x + z, train, **subset), "unlabelled_control": taught(x, train, **subset)}

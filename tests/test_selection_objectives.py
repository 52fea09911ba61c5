"""``select`` and ``compare`` for objectives that are taught by copies: rankings, times, medians."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.model_selection import GroupKFold

import pi_xgb
from pi_xgb.constraints import DemographicParity

N_ROWS, N_QUERIES = 240, 40
FEW: dict[str, Any] = {"kl_weight": 2.0, "teacher": "boosted", "crossfit": 2, "nfold": 2, "progress": False}
COMPARED: dict[str, Any] = {**FEW, "num_boost_round": 3, "repeats": 1}
RANKED = {"objective": "rank:ndcg", "ndcg_exp_gain": False, "max_depth": 2, "nthread": 1}


@dataclasses.dataclass(frozen=True)
class Made:
    x: pd.DataFrame
    z: pd.DataFrame
    amount: np.ndarray
    query: np.ndarray

    @property
    def relevance(self) -> np.ndarray:
        return np.digitize(self.amount, [0.5, 1.5, 4.0])

    def ranked(self, weight: Any = None) -> tuple[xgb.DMatrix, xgb.DMatrix]:
        first, second = (xgb.DMatrix(table, self.relevance, qid=self.query) for table in (self.x, self.z))
        if weight is not None:
            first.set_weight(weight)
        return first, second

    def for_objective(self, objective: str) -> tuple[xgb.DMatrix, xgb.DMatrix]:
        if objective == "survival:aft":
            upper = np.where(self.query % 3 == 0, np.inf, self.amount)
            bounds = {"label_lower_bound": self.amount, "label_upper_bound": upper}
            return xgb.DMatrix(self.x, **bounds), xgb.DMatrix(self.z, **bounds)
        label = np.floor(self.amount) if objective == "count:poisson" else self.amount
        return xgb.DMatrix(self.x, label), xgb.DMatrix(self.z, label)


@pytest.fixture(scope="module")
def made() -> Made:
    rng = np.random.default_rng(0)
    u = rng.normal(size=N_ROWS)
    x = pd.DataFrame(u[:, None] + 2 * rng.normal(size=(N_ROWS, 3))).add_prefix("x")
    z = pd.DataFrame({"z0": u + 0.2 * rng.normal(size=N_ROWS)})
    sizes = np.bincount(rng.integers(0, N_QUERIES, N_ROWS - 3 * N_QUERIES), minlength=N_QUERIES) + 3
    return Made(x, z, np.exp(u), np.repeat(np.arange(N_QUERIES), sizes))


def by_hand(made: Made, train: np.ndarray, test: np.ndarray, kl_weight: float, labelled: Any = None) -> float:
    """NDCG on the held-out queries of a student trained on the others, by the public functions alone."""

    def rows(table: pd.DataFrame, which: np.ndarray) -> xgb.DMatrix:
        return xgb.DMatrix(table.iloc[which], made.relevance[which], qid=made.query[which])

    dtrain, privileged = rows(made.x, train), rows(made.z, train)
    guided: dict[str, Any] = {"privileged": privileged, "crossfit": 2, "kl_weight": kl_weight}
    if labelled is not None:
        guided["labelled"] = labelled[train]
    if kl_weight == 0:
        guided = {}
        dtrain = rows(made.x, train if labelled is None else train[labelled[train]])
    booster = pi_xgb.train({**RANKED, "eval_metric": "ndcg"}, dtrain, 3, **guided)
    return float(booster.eval(rows(made.x, test)).split(":")[1])


@pytest.mark.parametrize("scored", [1.0, 0.6])
def test_rankings_are_selected_in_whole_queries_by_ndcg(made: Made, scored: float) -> None:
    dtrain, privileged = made.ranked()
    # Queries that nobody judged, and one that is judged in part.
    labelled = None if scored == 1 else made.query < scored * N_QUERIES
    if labelled is not None:
        labelled[np.flatnonzero(made.query == 3)[1]] = False
    known = np.arange(N_ROWS) if labelled is None else np.flatnonzero(labelled)
    folds = [tuple(known[part] for part in pair) for pair in GroupKFold(2).split(known, groups=made.query[known])]
    settings = {**FEW, "labelled": labelled, "standard_errors": 0, "folds": folds}
    del settings["nfold"]
    selection = pi_xgb.select(RANKED, dtrain, 3, privileged=privileged, **settings)
    assert (selection.metric, selection.maximize) == ("ndcg", True)
    everything, means = np.arange(N_ROWS), []
    for train, test in folds:
        if labelled is not None:
            others = everything[~labelled & ~np.isin(made.query, made.query[test])]
            train = np.sort(np.concatenate([train, others]))
        means.append([by_hand(made, train, test, kl_weight, labelled) for kl_weight in (0.0, 2.0)])
    assert selection.curves.iloc[-1, :2].tolist() == pytest.approx(np.mean(means, axis=0).tolist(), abs=1e-5)
    assert 0 < selection.summary["teacher_score"].iloc[1] <= 1
    final = selection.train(dtrain, privileged=privileged, **({} if labelled is None else {"labelled": labelled}))
    assert final.num_features() == 3


def test_the_folds_of_the_user_and_queries_with_weights_are_kept(made: Made) -> None:
    weight = np.where(np.arange(N_QUERIES) < 20, 1.0, 5.0)
    dtrain, privileged = made.ranked(weight)
    halves = made.query % 2 == 0
    shuffled = np.random.default_rng(0).permutation(N_ROWS)
    folds = [(shuffled[halves[shuffled]], shuffled[~halves[shuffled]])]
    folds.append(folds[0][::-1])
    settings: dict[str, Any] = {**FEW, "folds": folds, "metric": "ndcg@3"}
    del settings["nfold"]
    selection = pi_xgb.select(RANKED, dtrain, 3, privileged=privileged, **settings)
    plain = selection.table[selection.table["candidate"] == "plain"]
    rows = [
        xgb.DMatrix(
            made.x[part], made.relevance[part], qid=made.query[part], weight=weight[np.unique(made.query[part])]
        )
        for part in (halves, ~halves)
    ]
    params = {**RANKED, "eval_metric": "ndcg@3"}
    for (train, test), score in zip((rows, rows[::-1]), plain["score"], strict=True):
        booster = xgb.train(params, train, int(plain["rounds"].iloc[0]))
        assert score == pytest.approx(float(booster.eval(test).split(":")[1]), abs=1e-5)


@pytest.mark.parametrize("objective", ["survival:aft", "reg:absoluteerror"])
def test_times_and_medians_are_selected_by_their_own_metric(made: Made, objective: str) -> None:
    dtrain, privileged = made.for_objective(objective)
    params = {"objective": objective, "max_depth": 2, "nthread": 1}
    selection = pi_xgb.select(params, dtrain, 3, privileged=privileged, **FEW, repeats=1)
    assert selection.metric == {"s": "aft-nloglik", "r": "mae"}[objective[0]]
    assert np.isfinite(selection.table["score"]).all()
    assert len(selection.table) == 6
    assert np.isfinite(selection.summary["teacher_score"].iloc[1])


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "jpib": ({}, {"method": ["kbpib", "jpib"]}, "an adaptive teacher.*method='kbpib'"),
    "exponential gain": ({"ndcg_exp_gain": True}, {}, r"ndcg_exp_gain=False"),
    "a constraint": ({}, {"constraints": [(DemographicParity(np.arange(N_ROWS) % 2), 1.0)]}, "an adaptive teacher"),
    "half-taught queries": ({}, {"teacher_weight": 1.0 + np.arange(N_ROWS) % 2}, "teacher_weight differs"),
    "torn queries": ({}, {"groups": np.arange(N_ROWS)}, "groups must be equal within a query"),
    "folds through queries": ({}, {"folds": [(np.arange(121), np.arange(121, 240))] * 2}, "on both sides"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_cannot_be_selected_is_refused_before_any_training(made: Made, why: str, monkeypatch: Any) -> None:
    params, found, message = REFUSED[why]
    dtrain, privileged = made.ranked()
    monkeypatch.setattr(xgb, "train", lambda *_, **__: pytest.fail("it trained"))
    with pytest.raises(ValueError, match=message):
        pi_xgb.select({**RANKED, **params}, dtrain, 3, privileged=privileged, **{**FEW, **found})


def test_queries_of_other_objectives_are_refused(made: Made) -> None:
    dtrain, privileged = made.ranked()
    with pytest.raises(ValueError, match="without qid, pass groups=qid"):
        pi_xgb.select({"objective": "reg:squarederror"}, dtrain, 3, privileged=privileged, **FEW)


@pytest.mark.parametrize("objective", ["survival:aft", "count:poisson", "rank:ndcg"])
@pytest.mark.slow
def test_compare_scores_every_objective_with_missing_labels(made: Made, objective: str) -> None:
    params = RANKED if objective == "rank:ndcg" else {"objective": objective, "max_depth": 2, "nthread": 1}
    amount = pd.Series(made.amount)
    y: Any = np.floor(amount)
    keywords: dict[str, Any] = {"teacher_sees": "all"}
    if objective == "survival:aft":
        y = pd.DataFrame({"lower": amount, "upper": np.where(made.query % 3 == 0, np.inf, amount)})
    if objective == "rank:ndcg":
        y, keywords = pd.Series(made.relevance).astype(float), {"groups": made.query, **keywords}
    unknown = made.query % 5 == 0
    y = y.where(~(unknown if y.ndim == 1 else np.column_stack([unknown, unknown])))
    table = pi_xgb.compare(made.x, y, made.z, params=params, **COMPARED, **keywords).table
    assert np.isfinite(table["score"]).all()
    assert (table["n_train"] + table["n_test"] == N_ROWS - unknown.sum()).all()
    # Rivals need an objective with a mean.
    assert ("z imputed" in set(table["model"])) == (objective == "count:poisson")
    assert table[table["model"] == "z known at prediction"]["gain"].mean() > 0.01


NOT_COMPARED: dict[str, tuple[dict[str, Any], str]] = {
    "no queries": ({}, "pass groups=qid"),
    "scattered": ({"groups": np.arange(N_ROWS) % 40}, "must be adjacent"),
    "weights": ({"groups": np.arange(N_ROWS) // 6, "sample_weight": np.arange(1, N_ROWS + 1)}, "within a query"),
    "jpib": ({"groups": np.arange(N_ROWS) // 6, "method": "jpib"}, "an adaptive teacher"),
}


@pytest.mark.parametrize("why", NOT_COMPARED)
def test_what_cannot_be_compared_is_refused_before_any_training(made: Made, why: str, monkeypatch: Any) -> None:
    found, message = NOT_COMPARED[why]
    monkeypatch.setattr(xgb, "train", lambda *_, **__: pytest.fail("it trained"))
    with pytest.raises(ValueError, match=message):
        pi_xgb.compare(made.x, made.relevance, made.z, params=RANKED, **{**COMPARED, **found})


def test_a_time_without_bounds_is_no_y(made: Made) -> None:
    with pytest.raises(ValueError, match="y must have two columns"):
        pi_xgb.compare(made.x, made.amount, made.z, params={"objective": "survival:aft"}, **COMPARED)
    half_open = np.column_stack([made.amount, np.where(made.amount > made.amount.mean(), np.nan, made.amount)])
    with pytest.raises(ValueError, match="an open end is numpy"):
        pi_xgb.compare(made.x, half_open, made.z, params={"objective": "survival:aft"}, **COMPARED)


def test_several_targets_are_refused_with_the_mend(made: Made) -> None:
    both = np.column_stack([made.amount, made.amount])
    dtrain, privileged = xgb.DMatrix(made.x, both), xgb.DMatrix(made.z, both)
    params = {"objective": "reg:squarederror"}
    with pytest.raises(ValueError, match=r"dtrain .* 2 columns: .* pi_xgb\.cv"):
        pi_xgb.select(params, dtrain, 3, privileged=privileged, **FEW)
    with pytest.raises(ValueError, match=r"y .*2.*time"):
        pi_xgb.compare(made.x, both, made.z, params=params, **COMPARED)

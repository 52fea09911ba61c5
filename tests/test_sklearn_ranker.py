"""The ranker: XGBRanker to the bit where nobody teaches, pi_xgb.train's model where somebody does."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_val_score

import pi_xgb
from pi_xgb.sklearn import PrivilegedXGBRanker

SMALL = {"n_estimators": 8, "max_depth": 3, "n_jobs": 1, "ndcg_exp_gain": False}
QID = np.repeat(np.arange(30), 8)


def rows(seed=0):
    """X, privileged and relevances of 30 queries of 8 rows."""
    data = pi_xgb.datasets.make_privileged(240, n_features=4, n_privileged=2, seed=seed)
    return data.x, data.z, pd.Series(np.clip(np.round(2 + data.z["z0"]), 0, 4), name="relevance")


def trained(x, z, y, rounds=8, **keywords):
    """The same by pi_xgb.train."""
    params = {"objective": "rank:ndcg", "max_depth": 3, "nthread": 1, "ndcg_exp_gain": False}
    shown, label = keywords.pop("weight", None), y.fillna(0)
    dtrain = xgb.QuantileDMatrix(x, label, qid=QID, weight=shown)
    return pi_xgb.train(params, dtrain, rounds, privileged=xgb.DMatrix(z, label, qid=QID), **keywords)


def test_without_a_teacher_it_is_xgbranker():
    x, z, y = rows()
    theirs = xgb.XGBRanker(n_estimators=8, n_jobs=1).fit(x, y, qid=QID)
    for ours, privileged in (
        (PrivilegedXGBRanker(n_estimators=8, n_jobs=1, kl_weight=0.0), None),
        (PrivilegedXGBRanker(n_estimators=8, n_jobs=1, kl_weight=0.0), z),
    ):
        ours.fit(x, y, group=np.bincount(QID), privileged=privileged)
        assert ours.get_booster().save_raw() == theirs.get_booster().save_raw()
    np.testing.assert_array_equal(ours.predict(x), theirs.predict(x))


def test_every_keyword_of_xgbranker_arrives(capsys):
    (x, _, y), (x_valid, _, y_valid), chance = rows(), rows(1), np.random.default_rng(0)
    size = np.bincount(QID)
    keywords = {
        "group": size,
        "sample_weight": chance.uniform(0.5, 2, 30),
        "base_margin": chance.normal(size=240),
        "eval_set": [(x_valid, y_valid)],
        "eval_group": [size],
        "sample_weight_eval_set": [chance.uniform(0.5, 2, 30)],
        "base_margin_eval_set": [chance.normal(size=240)],
        "xgb_model": xgb.XGBRanker(n_estimators=2, max_depth=1, n_jobs=1).fit(x, y, group=size),
        "verbose": True,
    }
    params = {"n_estimators": 4, "n_jobs": 1, "colsample_bynode": 0.5, "feature_weights": [9, 1, 1, 0.1]}
    theirs = xgb.XGBRanker(**params).fit(x, y, **keywords)
    shown = capsys.readouterr().out
    ours = PrivilegedXGBRanker(kl_weight=0.0, **params).fit(x, y, **keywords)
    assert capsys.readouterr().out == shown != ""
    assert ours.get_booster().get_dump() == theirs.get_booster().get_dump()
    assert ours.evals_result() == theirs.evals_result()


@pytest.mark.parametrize("crossfit", [0, 4])
def test_it_trains_what_train_trains(crossfit):
    x, z, y = rows()
    weight = np.random.default_rng(0).uniform(0.5, 2, 30)
    subset = y.where(QID % 3 > 0)  # queries without labels, too
    keywords = {"kl_weight": 3.0, "crossfit": crossfit}
    model = PrivilegedXGBRanker(**SMALL, **keywords).fit(x, subset, qid=QID, privileged=z, sample_weight=weight)
    same = trained(x, z, subset, weight=weight, labelled=subset.notna(), **keywords)
    np.testing.assert_array_equal(model.predict(x), same.predict(xgb.DMatrix(x)))
    assert model.get_booster().attr("pi_xgb_engine") == "copies"
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict(x), model.predict(x))


def test_qid_may_be_a_column_which_no_model_sees():
    x, z, y = rows()
    keywords = {"kl_weight": 3.0, "crossfit": 4, "teacher_sees": "all"}
    by_keyword = PrivilegedXGBRanker(**SMALL, **keywords).fit(x, y, qid=QID, privileged=z)
    assert by_keyword.get_booster().get_dump() != trained(x, z, y, kl_weight=3.0, crossfit=4).get_dump()
    table = x.assign(qid=QID)
    sets = [(table, y), (table.copy(), y)]
    by_column = PrivilegedXGBRanker(**SMALL, **keywords).fit(table, y, privileged=z, eval_set=sets)
    mixed = PrivilegedXGBRanker(**SMALL, **keywords).fit(table, y, privileged=z, eval_set=[(x, y)], eval_qid=[QID])
    seen = [*by_column.evals_result().values(), *mixed.evals_result().values()]
    assert seen[0] == seen[1] == seen[2]
    within = PrivilegedXGBRanker(**SMALL, **keywords, privileged_features=list(z)).fit(x.join(z).assign(qid=QID), y)
    for model in (by_column, within):
        assert model.get_booster().get_dump() == by_keyword.get_booster().get_dump()
        assert model.n_features_in_ == 4
        np.testing.assert_array_equal(model.predict(table), by_keyword.predict(x))
    score = by_column.score(table, y)
    assert score == pytest.approx(by_column.evals_result()["validation_0"]["ndcg@32"][-1])
    assert score == pytest.approx(within.score(x.join(z).assign(qid=QID), y)) == pytest.approx(within.score(table, y))
    scores = cross_val_score(clone(within), x.join(z).assign(qid=QID), y, cv=GroupKFold(3), groups=QID)
    assert np.isfinite(scores).sum() == 3


def test_the_teacher_stops_on_its_own_queries():
    (x, z, y), (x_valid, z_valid, y_valid) = rows(), rows(1)
    endless = {**SMALL, "n_estimators": 60, "early_stopping_rounds": 2}
    sets = {"eval_set": [(x_valid, y_valid)], "eval_qid": [QID]}
    model = PrivilegedXGBRanker(**endless).fit(x, y, qid=QID, privileged=z, eval_privileged=[z_valid], **sets)
    assert model.best_iteration < 59
    dvalid = xgb.QuantileDMatrix(x_valid, y_valid, qid=QID, ref=(dtrain := xgb.QuantileDMatrix(x, y, qid=QID)))
    matrices = [xgb.DMatrix(item, label, qid=QID) for item, label in ((z, y), (z_valid, y_valid))]
    same = pi_xgb.train(
        {"objective": "rank:ndcg", "max_depth": 3, "nthread": 1, "ndcg_exp_gain": False},
        dtrain, 60, privileged=matrices[0], privileged_evals=[(matrices[1], "valid")], early_stopping_rounds=2,
        evals=[(dvalid, "valid")], verbose_eval=False,
    )  # fmt: skip
    assert model.get_booster().get_dump() == same.get_dump()
    with pytest.raises(ValueError, match="eval_privileged"):
        PrivilegedXGBRanker(**endless).fit(x, y, qid=QID, privileged=z, **sets)


def test_an_estimator_teaches_the_order_that_it_predicts():
    x, z, y = rows()
    ranker = PrivilegedXGBRanker(**SMALL, kl_weight=3.0, crossfit=4, teacher=LinearRegression())
    shifted = [
        ranker.fit(x, y, qid=QID, privileged=scale * z + 7, sample_weight=np.full(30, 2.0)).get_booster().get_dump()
        for scale in (1, 5)
    ]
    # Its scores have no scale: relevances are read from the labels at equal scores.
    assert shifted[0] == shifted[1]
    assert shifted[0] != trained(x, z, y, kl_weight=0.0).get_dump()


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"group": [8] * 29}, ValueError, "group must .* 240 rows of X, got 232"),
        ({"group": [8] * 31 + [-8]}, ValueError, "Invalid group structure"),  # XGBoost's own words
        ({"qid": QID[::-1]}, ValueError, "qid must hold whole numbers that never decrease from row to row: sort"),
        ({"qid": np.where(QID == 3, np.nan, QID)}, ValueError, "qid must .* 8 missing .* first in row 24"),
        ({"qid": QID.astype(str)}, TypeError, "qid must be .*numbers.*factorize"),
        ({"qid": QID / 4}, ValueError, "qid must hold whole numbers"),
        ({"qid": QID * 2**32}, ValueError, "qid must be numbers from 0 to .* in row 8"),
        ({"qid": QID - 3}, ValueError, "qid must be numbers from 0 to .* got -3"),
        ({"group": [8] * 30, "sample_weight": np.ones(29)}, ValueError, "Size of weight must equal to the number of"),
        ({"qid": QID, "sample_weight": [1] * 29 + [-1]}, ValueError, "Weights must be positive values"),
        ({"qid": QID, "eval_qid": [QID[::-1]]}, ValueError, r"eval_qid\[0\] must hold whole numbers"),
        ({"qid": QID, "eval_qid": [QID[1:]]}, ValueError, r"eval_qid\[0\] must have one value .* of eval_set\[0\]"),
    ],
)
def test_what_is_told_of_queries_fits_the_rows(keywords, error, message):
    x, z, y = rows()
    sets = {"eval_set": [(x, y)]} if any(name.startswith("eval") for name in keywords) else {}
    with pytest.raises(error, match=message):
        PrivilegedXGBRanker(**SMALL, crossfit=2).fit(x, y, privileged=z, **sets, **keywords)


@pytest.mark.parametrize(
    "keywords",
    [
        {"group": pd.Series([8.0] * 30)},
        {"group": [8] * 15 + [0] + [8] * 15},
        {"group": np.full((30, 1), 8)},
        {"qid": QID.tolist()},
        {"qid": QID * 2.0},
        {"qid": QID.astype(np.uint8)},
        {"qid": pd.Series(QID, dtype="Int64")},
        {"qid": pd.Series(QID).astype("category")},
        {"qid": pd.DataFrame({"query": QID})},
    ],
)
def test_queries_are_told_in_every_way_that_xgboost_reads(keywords):
    x, z, y = rows()
    expected = PrivilegedXGBRanker(**SMALL).fit(x, y, privileged=z, qid=QID)
    model = PrivilegedXGBRanker(**SMALL).fit(x, y, privileged=z, **keywords)
    assert model.get_booster().get_dump() == expected.get_booster().get_dump()
    seen = xgb.XGBRanker(**SMALL).fit(x, y, **keywords).get_booster()
    assert PrivilegedXGBRanker(**SMALL, kl_weight=0).fit(x, y, **keywords).get_booster().get_dump() == seen.get_dump()


@pytest.mark.parametrize(
    ("objective", "match"),
    [("rank:ndcg", "requires queries, .*: use PrivilegedXGBRanker"), ("survival:aft", "requires two bounds per row")],
)
def test_an_objective_of_other_labels_is_refused_by_the_estimators_of_y(objective, match):
    x, z, y = rows()
    with pytest.raises(ValueError, match=match):
        pi_xgb.PrivilegedXGBRegressor(objective=objective).fit(x, y, privileged=z)

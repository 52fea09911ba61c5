"""Counts, costs and several targets through the adapters: estimators, selection, the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_problems import AMOUNTS, LOGISTIC, ONE_VALUE

import pi_xgb

LEARNED = {"teacher": "boosted", "kl_weight": 2.0, "crossfit": 3}


def data(n: int = 240, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series, np.ndarray]:
    """x, z, claims of each row, and the logarithm of how long it was insured."""
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.normal(size=(n, 3))).add_prefix("x")
    z = pd.DataFrame(x[["x0"]].to_numpy() + rng.normal(scale=0.5, size=(n, 1)), columns=["z0"])
    exposure = np.log(rng.choice([0.5, 1.0, 2.0], n)).astype(np.float32)
    return x, z, pd.Series(rng.poisson(np.exp(z["z0"] + exposure)).astype(float)), exposure


def labels_for(objective: str, claims: pd.Series) -> pd.Series:
    if objective in LOGISTIC:
        return (claims > 0).astype(float)
    return claims + (objective == "reg:gamma")


@pytest.mark.parametrize("objective", ONE_VALUE)
def test_the_regressor_trains_what_train_trains(objective):
    x, z, claims, exposure = data()
    y = labels_for(objective, claims)
    from pi_xgb.sklearn import PrivilegedXGBRegressor

    settings = {"n_estimators": 4, "max_depth": 2, "n_jobs": 1, "objective": objective}
    model = PrivilegedXGBRegressor(**settings, **LEARNED).fit(x, y, privileged=z, base_margin=exposure)
    knows = exposure if objective in AMOUNTS else None
    params = {"objective": objective, "max_depth": 2, "nthread": 1}
    expected = pi_xgb.train(
        params,
        xgb.QuantileDMatrix(x, y, base_margin=exposure),
        4,
        privileged=xgb.DMatrix(z, y, base_margin=knows),
        teacher="boosted",
        teacher_sees="privileged",
        kl_weight=2.0,
        crossfit=3,
    )
    # The teacher knows of an exposure what the student knows; any other base_margin is the student's own.
    assert model.get_booster().get_dump(with_stats=True) == expected.get_dump(with_stats=True)
    subset = y.where(np.arange(len(y)) % 3 > 0)
    taught = PrivilegedXGBRegressor(**settings, **LEARNED).fit(x, subset, privileged=z)
    assert np.isfinite(taught.predict(x)).all()


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_the_regressor_takes_several_targets(strategy):
    from pi_xgb.sklearn import PrivilegedXGBRegressor

    x, z, claims, _ = data()
    y = np.column_stack([claims, x["x1"] - z["z0"]])
    settings = {"n_estimators": 4, "max_depth": 2, "n_jobs": 1, "multi_strategy": strategy}
    for sees in ("privileged", "all"):
        model = PrivilegedXGBRegressor(**settings, **LEARNED, teacher_sees=sees).fit(x, y, privileged=z)
        assert model.predict(x).shape == y.shape
        plain = xgb.XGBRegressor(**settings).fit(x, y)
        assert np.abs(model.predict(x) - plain.predict(x)).max() > 1e-3
    with pytest.raises(ValueError, match=r"labels.*46.*240 rows"):
        PrivilegedXGBRegressor(**settings).fit(x, np.where(y > 3, np.nan, y), privileged=z)


def test_an_estimator_teaches_counts():
    from sklearn.linear_model import PoissonRegressor

    from pi_xgb.sklearn import PrivilegedXGBRegressor

    x, z, claims, _ = data()
    model = PrivilegedXGBRegressor(
        n_estimators=4, n_jobs=1, objective="count:poisson", teacher=PoissonRegressor(), crossfit=3, kl_weight=3.0
    )
    assert (model.fit(x, claims, privileged=z).predict(x) > 0).all()


def test_the_ranker_says_how_a_teacher_can_guide_it():
    from pi_xgb.sklearn import PrivilegedXGBRanker

    x, z, claims, _ = data()
    query, claims = np.arange(len(x)) // 8, claims.clip(upper=4)
    with pytest.raises(ValueError, match=r"ndcg_exp_gain=False.*rank:pairwise"):
        PrivilegedXGBRanker(n_estimators=2).fit(x, claims, qid=query, privileged=z)
    # Where nobody teaches, the defaults are XGBoost's own.
    PrivilegedXGBRanker(n_estimators=2, kl_weight=0.0).fit(x, claims, qid=query, privileged=z)


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        ("survival:aft", r"survival:aft.*bounds.*use train"),
        ("rank:ndcg", "rank:ndcg requires queries.*use PrivilegedXGBRanker"),
    ],
)
@pytest.mark.parametrize("chooses", [False, True])
def test_an_estimator_says_where_its_y_has_no_room(objective, message, chooses):
    from pi_xgb import sklearn

    x, z, claims, _ = data()
    kind = sklearn.PrivilegedXGBRegressorCV if chooses else sklearn.PrivilegedXGBRegressor
    with pytest.raises(ValueError, match=message):
        kind(n_estimators=2, n_jobs=1, objective=objective).fit(x, claims, privileged=z)

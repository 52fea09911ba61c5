"""Objectives that are taught by copies, on a Dask cluster: plain XGBoost there, on rows and copies stacked by hand."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_dask import both_workers
from sklearn.base import clone

import pi_xgb
from pi_xgb._core.losses import LOSSES
from pi_xgb.sklearn import PrivilegedXGBRanker

da = pytest.importorskip("dask.array", reason="pi_xgb.dask needs Dask")
pytest.importorskip("distributed", reason="pi_xgb.dask needs Dask's scheduler")
dd = importlib.import_module("dask.dataframe")
pid = importlib.import_module("pi_xgb.dask")

pytestmark = pytest.mark.slow

N, CUT, ROUNDS = 300, 120, 4
RNG = np.random.default_rng(0)
X = RNG.integers(0, 9, size=(N, 4)).astype(np.float32)  # every worker has all cuts
Z = (X[:, :1] + RNG.integers(0, 5, size=(N, 2))).astype(np.float32)
AMOUNT = np.exp((X[:, 0] + Z[:, 1] + RNG.normal(size=N)) / 9).astype(np.float32)
QID = np.arange(N) // 10
OWN: dict[str, dict[str, Any]] = {"rank:ndcg": {"ndcg_exp_gain": False}, "survival:aft": {}, "reg:absoluteerror": {}}


def params_of(objective: str) -> dict[str, Any]:
    return {"objective": objective, "max_depth": 3, **OWN[objective]}


def fields_of(objective: str) -> dict[str, np.ndarray]:
    if objective == "survival:aft":
        return {"label_lower_bound": AMOUNT, "label_upper_bound": np.where(QID % 3, AMOUNT, np.inf).astype(np.float32)}
    if objective == "rank:ndcg":
        return {"label": np.digitize(AMOUNT, [1.5, 2.2, 3.0]).astype(np.float32), "qid": QID}
    return {"label": AMOUNT}


def on_both(client: Any, halves: list[np.ndarray]) -> Any:
    """A part for each worker, so that the same rows meet in every training."""
    placed = [
        client.persist(da.from_array(part, chunks=part.shape), workers=[worker], allow_other_workers=False)
        for part, worker in zip(halves, both_workers(client), strict=True)
    ]
    return da.concatenate(placed)


def matrix(client: Any, values: list[np.ndarray], fields: list[dict[str, np.ndarray]]) -> Any:
    settings = {name: on_both(client, [item[name] for item in fields]) for name in fields[0]}
    return pid.DaskDMatrix(client, on_both(client, values), **settings)


def halves(values: np.ndarray) -> list[np.ndarray]:
    return [values[:CUT], values[CUT:]]


def q_of(booster: xgb.Booster, objective: str) -> np.ndarray:
    """q of all rows, of a teacher that learned from all."""
    loss = LOSSES[objective]
    mean = loss.mean(booster.predict(xgb.DMatrix(Z), output_margin=True))
    return loss.teacher_values(mean, fields_of(objective).get("label", AMOUNT), np.ones(N, bool))


@pytest.mark.parametrize("objective", OWN)
def test_workers_train_what_plain_xgboost_trains_on_their_stacks(client: Any, objective: str) -> None:
    params, fields = params_of(objective), fields_of(objective)
    kl_weight = 1.0 if "qid" in fields else 2.0  # XGBoost takes no weights of queries from collections
    parts = [{name: half[i] for name, half in ((n, halves(v)) for n, v in fields.items())} for i in (0, 1)]
    dtrain, privileged = (matrix(client, halves(table), parts) for table in (X, Z))
    student = pid.train(client, params, dtrain, ROUNDS, privileged=privileged, kl_weight=kl_weight)["booster"]

    teacher = xgb.dask.train(client, params, privileged, ROUNDS)["booster"]
    q = halves(q_of(teacher, objective))
    stacks = []
    for part, q_of_part in zip(parts, q, strict=True):
        stack = {name: np.concatenate([own, q_of_part]) for name, own in part.items() if name != "qid"}
        if "qid" in fields:
            stack["qid"] = np.concatenate([part["qid"], part["qid"] + 1000])
        else:
            stack["weight"] = np.repeat(np.float32([1, kl_weight]), len(q_of_part))
        stacks.append(stack)
    doubled = matrix(client, [np.concatenate([half, half]) for half in halves(X)], stacks)
    expected = xgb.dask.train(client, params, doubled, ROUNDS)["booster"]
    test = xgb.DMatrix(X)
    np.testing.assert_allclose(student.predict(test), expected.predict(test), rtol=1e-4, atol=1e-5)
    assert student.attr("pi_xgb_engine") == "copies"
    assert len(np.unique(student.predict(test))) > 10


def test_what_an_objective_needs_is_asked_for_before_any_training(client: Any) -> None:
    x, z, amount = (on_both(client, halves(values)) for values in (X, Z, AMOUNT))
    for objective, message in (
        ("survival:aft", r"bounds.*pi_xgb\.dask\.train\).*label_lower_bound"),
        ("rank:pairwise", r"requires queries.* use DaskPrivilegedXGBRanker"),
    ):
        model = pid.DaskPrivilegedXGBRegressor(n_estimators=2, objective=objective)
        model.client = client
        with pytest.raises(ValueError, match=message):
            model.fit(x, amount, privileged=z)


def test_the_regressor_of_a_cluster_takes_copies_and_missing_labels(client: Any) -> None:
    x, z = (on_both(client, halves(values)) for values in (X, Z))
    known = QID % 4 > 0
    y = on_both(client, halves(np.where(known, AMOUNT, np.nan)))
    model = pid.DaskPrivilegedXGBRegressor(
        n_estimators=ROUNDS, max_depth=3, objective="reg:squaredlogerror", kl_weight=2.0
    )
    model.client = client
    model.fit(x, y, privileged=z)
    dtrain, privileged = (xgb.DMatrix(table, np.where(known, AMOUNT, 0)) for table in (X, Z))
    params = {"objective": "reg:squaredlogerror", "max_depth": 3, "nthread": 1}
    alone = pi_xgb.train(params, dtrain, ROUNDS, privileged=privileged, labelled=known, kl_weight=2.0)
    test = xgb.DMatrix(X)
    np.testing.assert_allclose(model.get_booster().predict(test), alone.predict(test), rtol=1e-4)
    assert len(np.unique(alone.predict(test))) > 3


def test_a_teacher_of_counts_knows_what_rows_were_exposed_to(client: Any) -> None:
    exposure = 1 + np.arange(N) % 5
    columns = {"label": AMOUNT * exposure, "base_margin": np.log(exposure).astype(np.float32)}
    x, z, y, start = (on_both(client, halves(values)) for values in (X, Z, *columns.values()))
    settings = {"objective": "count:poisson", "max_depth": 3, "eval_metric": "poisson-nloglik"}
    model = pid.DaskPrivilegedXGBRegressor(n_estimators=50, learning_rate=1.0, early_stopping_rounds=2, **settings)
    model.client = client
    evals = {"eval_set": [(x, y)], "eval_privileged": [z], "base_margin_eval_set": [start]}
    model.fit(x, y, privileged=z, base_margin=start, verbose=False, **evals)
    dtrain, privileged = (xgb.DMatrix(table, **columns) for table in (X, Z))
    alone = pi_xgb.train(
        {**settings, "learning_rate": 1.0, "nthread": 1},
        dtrain,
        50,
        privileged=privileged,
        evals=[(dtrain, "valid")],
        privileged_evals=[(privileged, "valid")],
        early_stopping_rounds=2,
        verbose_eval=False,
    )
    np.testing.assert_allclose(model.get_booster().predict(dtrain), alone.predict(dtrain), rtol=1e-3)


def test_several_targets_are_those_of_one_machine(client: Any) -> None:
    both = np.column_stack([AMOUNT, X[:, 1] - Z[:, 0]]).astype(np.float32)
    x, z, y = (on_both(client, halves(values)) for values in (X, Z, both))
    model = pid.DaskPrivilegedXGBRegressor(n_estimators=ROUNDS, max_depth=3, kl_weight=2.0)
    model.client = client
    model.fit(x, y, privileged=z)
    params = {"objective": "reg:squarederror", "max_depth": 3, "nthread": 1}
    dtrain, privileged = xgb.DMatrix(X, both), xgb.DMatrix(Z, both)
    alone = pi_xgb.train(params, dtrain, ROUNDS, privileged=privileged, kl_weight=2.0)
    np.testing.assert_allclose(model.get_booster().predict(dtrain), alone.predict(dtrain), rtol=1e-4, atol=1e-5)


def test_queries_are_cross_fitted_where_they_lie_and_judged_by_all_workers(client: Any) -> None:
    params, fields = params_of("rank:ndcg"), fields_of("rank:ndcg")
    parts = [{name: half[i] for name, half in ((n, halves(v)) for n, v in fields.items())} for i in (0, 1)]
    dtrain, privileged = (matrix(client, halves(table), parts) for table in (X, Z))
    # No query of the first worker is judged, which must learn from the other what scores are worth.
    known = np.arange(N) >= CUT
    student = pid.train(client, params, dtrain, ROUNDS, privileged=privileged, labelled=known)["booster"]
    assert len(np.unique(student.predict(xgb.DMatrix(X)))) > 10
    crossed = pid.train(client, params, dtrain, ROUNDS, privileged=privileged, crossfit=3)["booster"]
    assert len(np.unique(crossed.predict(xgb.DMatrix(X)))) > 10


# --- the ranker -------------------------------------------------------------------------------------------------

SCATTERED = np.arange(N) * 7 % 10
RELEVANCE = np.digitize(AMOUNT, [1.5, 2.2, 3.0]).astype(np.float32)
# All pairs, so that the order in which the rows of a query come says nothing.
BY_PAIRS = {"objective": "rank:pairwise", "lambdarank_num_pair_per_sample": 30, "max_depth": 3, "kl_weight": 1.0}


def table_of(values: np.ndarray, **more: np.ndarray) -> Any:
    """In partitions that are none of the queries', under names and an index that say nothing."""
    table = pd.DataFrame({f"c{i}": column for i, column in enumerate(values.T)} | more)
    return dd.from_pandas(table, npartitions=3)


def ranker(client: Any, **settings: Any) -> Any:
    model = pid.DaskPrivilegedXGBRanker(**{**BY_PAIRS, "n_estimators": ROUNDS, **settings})
    model.client = client
    return model


def test_scattered_queries_are_brought_together_with_all_that_is_told_of_them(client: Any) -> None:
    # rmse, since ties make NDCG depend on the order of rows.
    settings = {"n_estimators": 30, "early_stopping_rounds": 2, "eval_metric": "rmse", "learning_rate": 1.0}
    known, weight = SCATTERED > 2, np.where((SCATTERED % 4 > 0) | (SCATTERED < 3), 1.0, 0.0)
    y = np.where(known, RELEVANCE, np.nan)
    order = np.argsort(SCATTERED, kind="stable")
    alone = PrivilegedXGBRanker(**{**BY_PAIRS, **settings}, n_jobs=1)
    alone.fit(
        X[order],
        y[order],
        qid=SCATTERED[order],
        privileged=Z[order],
        teacher_weight=weight[order],
        eval_set=[(X[::-1][order], RELEVANCE[order])],
        eval_qid=[SCATTERED[order]],
        eval_privileged=[Z[::-1][order]],
    )

    columns = table_of(np.empty((N, 0)), qid=SCATTERED, y=y, weight=weight)
    others = table_of(np.empty((N, 0)), qid=SCATTERED, y=RELEVANCE)
    # Columns of x and z have the same names.
    model = ranker(client, **settings, allow_overlap=True, teacher="boosted")
    model.fit(
        table_of(X),
        columns["y"],
        qid=columns["qid"],
        privileged=table_of(Z),
        teacher_weight=columns["weight"],
        eval_set=[(table_of(X[::-1]), others["y"])],
        eval_qid=[others["qid"]],
        eval_privileged=[table_of(Z[::-1])],
    )
    ours, theirs = (item.evals_result()["validation_0"]["rmse"] for item in (model, alone))
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)
    assert model.best_iteration == alone.best_iteration < 20
    booster = model.get_booster()
    assert booster.feature_names == ["c0", "c1", "c2", "c3"]
    expected = alone.predict(X)
    np.testing.assert_allclose(model.predict(table_of(X)).compute(), expected, rtol=1e-4, atol=1e-5)
    assert len(np.unique(expected)) > 10


def test_where_rows_stay_a_torn_query_is_two_as_in_xgboost(client: Any) -> None:
    torn = QID.copy()
    torn[CUT - 5 : CUT + 5] = QID[CUT]
    x, z, y, qid = (on_both(client, halves(values)) for values in (X, Z, RELEVANCE, torn))
    model = ranker(client, **params_of("rank:ndcg"), allow_group_split=True)
    model.fit(x, y, qid=qid, privileged=z)
    apart = np.where(np.arange(N) < CUT, torn, torn + 1)
    settings = {"label": RELEVANCE, "qid": apart}
    dtrain, privileged = (xgb.DMatrix(values, **settings) for values in (X, Z))
    params = {**model.get_xgb_params(), "nthread": 1}
    alone = pi_xgb.train(params, dtrain, ROUNDS, privileged=privileged, kl_weight=1.0)
    test = xgb.DMatrix(X)
    np.testing.assert_allclose(model.get_booster().predict(test), alone.predict(test), rtol=1e-4, atol=1e-5)
    brought = pi_xgb.train(params, dtrain, ROUNDS, teacher=RELEVANCE[::-1], kl_weight=1.0)
    model.fit(x, y, qid=qid, teacher=on_both(client, halves(RELEVANCE[::-1])))
    np.testing.assert_allclose(model.get_booster().predict(test), brought.predict(test), rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match=r"1 quer.*workers"):
        model.set_params(crossfit=3).fit(x, y, qid=qid, privileged=z)


def test_a_training_on_workers_looks_where_queries_lie(client: Any) -> None:
    params, torn = params_of("rank:ndcg"), np.arange(N) * 7 % 30
    for qid, message in ((torn, r"30 queries.*workers"), (QID[::-1], "qid must rise")):
        fields = [{"label": half, "qid": own} for half, own in zip(halves(RELEVANCE), halves(qid), strict=True)]
        dtrain, privileged = (matrix(client, halves(table), fields) for table in (X, Z))
        known = {"labelled": QID > 3} if message.startswith("qid") else {}
        with pytest.raises(ValueError, match=message):
            pid.train(client, params, dtrain, 2, privileged=privileged, **known)


def test_what_a_ranker_of_a_cluster_cannot_is_said_before_any_training(client: Any) -> None:
    x, z = table_of(X), table_of(Z)
    columns = table_of(np.empty((N, 0)), qid=QID, y=RELEVANCE)
    model, good = ranker(client, allow_overlap=True), {"qid": columns["qid"], "privileged": z}
    for changed, error, message in [
        ({"qid": None}, ValueError, "pass qid="),
        ({"group": [10] * 30}, ValueError, "neither groups nor weights"),
        ({"sample_weight": columns["y"]}, ValueError, r"neither groups.*weights"),
        ({"privileged": z.to_dask_array(lengths=True)}, TypeError, r"privileged.*DataFrame.*Series"),
        ({"teacher_weight": np.ones(N)}, TypeError, r"teacher_weight.*DataFrame.*Series"),
        ({"privileged": z.repartition(npartitions=2)}, ValueError, r"privileged.*2 partitions.*3"),
        ({"eval_set": [(x, columns["y"])]}, ValueError, r"eval_qid.*eval_set.*0 for 1"),
    ]:
        with pytest.raises(error, match=message):
            model.fit(x, columns["y"], **{**good, **changed})
    shorter = dd.concat([z.partitions[0], z.partitions[1], z.partitions[2].loc[:298]])
    with pytest.raises(ValueError, match=r"100.*X.*99.*privileged"):
        model.fit(x, columns["y"], **{**good, "privileged": shorter})
    for objective, message in (
        ("rank:ndcg", "ndcg_exp_gain"),
        ("reg:squarederror", "objective must be .* got 'reg:squarederror'"),
    ):
        with pytest.raises(ValueError, match=message):
            ranker(client, objective=objective).fit(x, columns["y"], **good)
    assert clone(ranker(client, allow_group_split=True)).allow_group_split

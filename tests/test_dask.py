"""``pi_xgb.dask`` on two worker processes; test_clusters.py has the models."""

import asyncio
import importlib
import os
import sys

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_dask import CHUNKS, both_workers, spread
from helpers_distributed import N_ROWS, rows
from sklearn.base import clone

import pi_xgb
from pi_xgb.constraints import DemographicParity, EqualizedOdds, Meritocracy
from pi_xgb.sklearn import PrivilegedXGBRanker

da = pytest.importorskip("dask.array", reason="pi_xgb.dask needs Dask")
dd = pytest.importorskip("dask.dataframe", reason="pi_xgb.dask needs Dask")
distributed = pytest.importorskip("distributed", reason="pi_xgb.dask needs Dask's scheduler")
pid = importlib.import_module("pi_xgb.dask")
pytestmark = pytest.mark.slow

ROUNDS = 6
PARAMS = {"objective": "binary:logistic", "max_depth": 3, "tree_method": "hist", "eval_metric": "logloss"}
ROW = np.arange(N_ROWS)
KNOWN = (np.random.default_rng(3).random(N_ROWS) < 0.4) & (ROW >= 90) | (ROW >= 560)  # the first partition has no label
COUNTS = np.random.default_rng(4).choice([0.5, 1.0, 2.0], N_ROWS)


def series(array):
    return dd.from_dask_array(spread(array))


def made(kind, client, **parameters):
    model = getattr(pid, f"DaskPrivilegedXGB{kind}")(**parameters)
    model.client = client
    return model


def lying(client, array, homes, chunks=CHUNKS):
    """A collection whose partitions lie on workers of our choice."""
    from dask import delayed

    workers = both_workers(client)
    blocks, start = [], 0
    for size, home in zip(chunks, homes, strict=True):
        block = array[start : start + size]
        future = client.scatter(block, workers=[workers[home]], hash=False)
        blocks.append(da.from_delayed(delayed(future), shape=block.shape, dtype=block.dtype))
        start += size
    return da.concatenate(blocks)


def matrix(client, table, label, **keywords):
    return pid.DaskDMatrix(client, spread(table), spread(label), **keywords)


def train(client, dtrain, **keywords):
    keywords = {"kl_weight": 2.0, "verbose_eval": False, **keywords}
    if isinstance(keywords.get("teacher"), list):
        del keywords["kl_weight"]
    return pid.train(client, PARAMS, dtrain, ROUNDS, **keywords)["booster"]


def on_one_machine(privileged=True, weight=None, **keywords):
    x, z, y, *_ = rows()
    if privileged:
        keywords["privileged"] = xgb.DMatrix(z, y)
    if not isinstance(keywords.get("teacher"), list):
        keywords.setdefault("kl_weight", 2.0)
    dtrain = xgb.DMatrix(x, y, weight=weight)
    return pi_xgb.train({**PARAMS, "nthread": 1}, dtrain, ROUNDS, verbose_eval=False, **keywords)


def same(booster, other):
    return bytes(booster.save_raw("json")) == bytes(other.save_raw("json"))


@pytest.mark.parametrize("homes", [(0, 1, 0, 1), (1, 1, 1, 1)], ids=["both", "one worker without rows"])
def test_privileged_partitions_go_to_the_rows_they_describe(client, homes):
    x, z, y, *_ = rows()
    away = [1 - home for home in homes]
    dtrain = pid.DaskDMatrix(client, lying(client, x, homes), lying(client, y, homes))
    privileged = pid.DaskDMatrix(client, lying(client, z, away), lying(client, y, away))
    valid = pid.DaskDMatrix(client, lying(client, x, away), lying(client, y, away))
    workers = both_workers(client)
    assert {workers.index(worker) for worker in dtrain.worker_map} == set(homes)
    assert {workers.index(worker) for worker in privileged.worker_map} == set(away)
    result = pid.train(
        client,
        PARAMS,
        dtrain,
        ROUNDS,
        privileged=privileged,
        teacher="boosted",
        kl_weight=2.0,
        evals=[(valid, "valid")],
        verbose_eval=False,
    )
    assert same(result["booster"], on_one_machine(teacher="boosted"))
    # Evaluation rows on workers that do not train are counted as well.
    p = result["booster"].predict(xgb.DMatrix(x)).astype(np.float64)
    assert result["history"]["valid"]["logloss"][-1] == pytest.approx(
        -np.log(np.where(y == 1, p, 1 - p)).mean(), abs=1e-5
    )


def test_teachers_of_every_kind_reach_the_rows_they_are_for(client):
    x, z, y, _, q = rows()
    group = np.where(x[:, 0] > 5, "a", np.where(np.arange(N_ROWS) < 400, "b", "c"))
    dtrain = matrix(client, x, y)
    fitted = pi_xgb.fit_teacher({**PARAMS, "nthread": 1}, xgb.DMatrix(z, y), 3)
    groups = dd.from_pandas(pd.Series(group), npartitions=1).repartition(divisions=[0, 90, 350, 380, N_ROWS - 1])
    cases = {
        "a collection": (spread(q), q),
        "a Series": (dd.from_dask_array(spread(q)), q),
        "an array": (q, q),
        "a learned teacher": (fitted, fitted),
        "a constraint of all rows": (DemographicParity(group), DemographicParity(group)),
        "a constraint of a column": (
            pid.by_column(DemographicParity, groups, match="mean"),
            DemographicParity(group, match="mean"),
        ),
        "a list": (
            [(pid.by_column(EqualizedOdds, groups), 3.0), (spread(q), 1.0), (Meritocracy(z[:, 0]), 1.0)],
            [(EqualizedOdds(group), 3.0), (q, 1.0), (Meritocracy(z[:, 0]), 1.0)],
        ),
    }
    for name, (there, here) in cases.items():
        assert same(train(client, dtrain, teacher=there), on_one_machine(privileged=False, teacher=here)), name


def test_without_a_teacher_it_is_xgboosts_own_training(client):
    x, _, y, *_ = rows()
    dtrain = matrix(client, x, y)
    plain = xgb.dask.train(client, PARAMS, dtrain, ROUNDS)["booster"]
    assert same(pid.train(client, PARAMS, dtrain, ROUNDS)["booster"], plain)
    assert train(client, dtrain, privileged=matrix(client, rows()[1], y), kl_weight=0).get_dump() == plain.get_dump()


def test_quantile_matrices_continuation_and_prediction(client):
    x, z, y, *_ = rows()
    dtrain = pid.DaskQuantileDMatrix(client, spread(x), spread(y))
    privileged = pid.DaskQuantileDMatrix(client, spread(z), spread(y))
    q = spread(rows()[4])
    first = pid.train(client, PARAMS, dtrain, 3, teacher=q, verbose_eval=False)["booster"]
    second = pid.train(client, PARAMS, dtrain, 3, teacher=q, xgb_model=first, verbose_eval=False)
    whole = pi_xgb.train({**PARAMS, "nthread": 1}, xgb.DMatrix(x, y), 6, teacher=rows()[4])
    assert second["booster"].get_dump() == whole.get_dump()
    expected = whole.predict(xgb.DMatrix(x))
    assert np.array_equal(pid.predict(client, second, spread(x)).compute(), expected)
    assert np.array_equal(pid.inplace_predict(client, second, spread(x)).compute(), expected)
    assert same(train(client, dtrain, privileged=privileged, method="jpib"), on_one_machine(method="jpib"))


def test_an_asynchronous_client_awaits_the_training(client):
    x, z, y, *_ = rows()

    async def run():
        async with distributed.Client(client.scheduler.address, asynchronous=True) as own:
            dtrain = await pid.DaskDMatrix(own, spread(x), spread(y))
            privileged = await pid.DaskDMatrix(own, spread(z), spread(y))
            how = {"privileged": privileged, "teacher": "boosted", "kl_weight": 2.0, "verbose_eval": False}
            return await pid.train(own, PARAMS, dtrain, ROUNDS, **how)

    assert same(asyncio.run(run())["booster"], on_one_machine(teacher="boosted"))


@pytest.mark.parametrize("form", [series, np.asarray], ids=["Series", "array of all rows"])
def test_values_per_row_of_every_form(client, form):
    x, z, y, *_ = rows()
    dtrain, privileged = (matrix(client, table, y) for table in (x, z))
    booster = train(client, dtrain, privileged=privileged, labelled=form(KNOWN), teacher_weight=form(COUNTS))
    assert same(
        booster, train(client, dtrain, privileged=privileged, labelled=spread(KNOWN), teacher_weight=spread(COUNTS))
    )


# --- estimators --------------------------------------------------------------------------------


def test_the_classifier_is_xgboosts_with_a_teacher(client):
    x, z, y, weight, _ = rows()
    settings = {"n_estimators": ROUNDS, "max_depth": 3, "method": "jpib", "kl_weight": 2.0, "tree_method": "hist"}
    model = made("Classifier", client, **settings)
    model.fit(
        spread(x), spread(y), privileged=spread(z), sample_weight=spread(weight), eval_set=[(spread(x), spread(y))]
    )
    whole = on_one_machine(weight=weight, method="jpib")
    probability = whole.predict(xgb.DMatrix(x))
    assert np.array_equal(model.predict_proba(spread(x)).compute()[:, 1], probability)
    assert np.array_equal(model.predict(spread(x)).compute(), probability > 0.5)
    assert model.get_booster().attr("pi_xgb_method") == "jpib"
    assert len(model.evals_result()["validation_0"]["logloss"]) == ROUNDS
    assert model.n_classes_ == 2
    assert settings.items() <= model.get_params().items()
    assert "kl_weight" not in model.get_xgb_params()
    classes = (z.sum(axis=1) // 9).clip(0, 2).astype(int)
    frame, labels = dd.from_dask_array(spread(x)), dd.from_dask_array(spread(classes))
    several = pid.DaskPrivilegedXGBClassifier(n_estimators=3, kl_weight=1.0)
    several.client = client
    several.fit(frame, labels, privileged=dd.from_dask_array(spread(z), columns=["z0", "z1"]))
    assert several.predict_proba(frame).compute().shape == (N_ROWS, 3)
    assert np.mean(several.predict(frame).compute() == classes) > 0.6


def test_the_regressor_stops_teacher_and_student(client):
    x, z, *_ = rows()
    target = (z.sum(axis=1) + x[:, 4]).astype(np.float32)
    valid = [(spread(x), spread(target + 1))]
    model = made(
        "Regressor", client, n_estimators=60, learning_rate=1.0, max_depth=3, kl_weight=1.0, early_stopping_rounds=2
    )
    model.fit(
        spread(x), spread(target), privileged=spread(z), eval_set=valid, eval_privileged=[spread(z)], verbose=False
    )
    whole = pi_xgb.train(
        {**model.get_xgb_params(), "nthread": 1},
        xgb.DMatrix(x, target),
        60,
        privileged=xgb.DMatrix(z, target),
        kl_weight=1.0,
        evals=[(xgb.DMatrix(x, target + 1), "valid")],
        privileged_evals=[(xgb.DMatrix(z, target + 1), "valid")],
        early_stopping_rounds=2,
        verbose_eval=False,
    )
    # Student and teacher stop where they stop on one machine, and prediction uses the best round.
    assert model.best_iteration == whole.best_iteration < 57
    expected = whole.predict(xgb.DMatrix(x), iteration_range=(0, whole.best_iteration + 1))
    np.testing.assert_allclose(model.predict(spread(x)).compute(), expected, atol=1e-4)


def test_an_estimator_without_a_teacher_says_so(client):
    x, _, y, *_ = rows()
    model = made("Regressor", client, n_estimators=2)
    with pytest.warns(UserWarning, match="without a teacher this is plain XGBoost.*set kl_weight=0"):
        model.fit(spread(x), spread(y))
    with pytest.raises(ValueError, match="y must have a finite label in every row without a teacher: pass privileged="):
        model.set_params(kl_weight=0).fit(spread(x), spread(np.where(KNOWN, y, np.nan)))
    plain = xgb.dask.DaskXGBRegressor(n_estimators=2)
    plain.client = client
    plain.fit(spread(x), spread(y))
    # What it then fits is XGBoost's own model; its intercept is summed in the order in which rows come to lie.
    np.testing.assert_allclose(model.predict(spread(x)).compute(), plain.predict(spread(x)).compute(), atol=1e-6)


def test_a_missing_y_is_an_unlabelled_row(client):
    x, z, y, *_ = rows()
    values = np.where(KNOWN, y, np.nan).astype(np.float32)
    dtrain, privileged = (xgb.DMatrix(table, np.where(KNOWN, y, 0)) for table in (x, z))
    how = {"privileged": privileged, "teacher": "boosted", "labelled": KNOWN, "teacher_weight": COUNTS}
    whole = pi_xgb.train({**PARAMS, "nthread": 1}, dtrain, ROUNDS, **how)
    frame = dd.from_dask_array(spread(values[:, None]), columns=["y"])
    for label in (spread(values), series(values), series(values).astype("Float32"), frame):
        model = made("Classifier", client, teacher="boosted", n_estimators=ROUNDS, max_depth=3, tree_method="hist")
        model.fit(spread(x), label, privileged=spread(z), teacher_weight=series(COUNTS))
        # "missing" is no class.
        np.testing.assert_allclose(model.predict_proba(spread(x)).compute()[:, 1], whole.predict(dtrain), atol=1e-5)
        assert sorted(model.classes_) == [0, 1]
    with pytest.raises(ValueError, match="no row with a label"):
        model.fit(spread(x), spread(np.full(N_ROWS, np.nan)), privileged=spread(z))


def test_the_estimator_passes_its_teacher_on(client):
    x, z, y, _, q = (spread(array) for array in rows())
    model = made("Classifier", client, n_estimators=2, kl_weight=2.0, teacher="forest", crossfit=0)
    assert model.fit(x, y).get_booster().attr("pi_xgb_teacher") == "forest"
    # Nothing stops a forest, and the student stops by itself.
    model.set_params(teacher_sees="privileged", early_stopping_rounds=2)
    model.fit(x, y, privileged=z, eval_set=[(x, y)], eval_privileged=[z], verbose=False)
    assert model.get_booster().attr("pi_xgb_teacher_settings") == "forest: crossfit=0, teacher_sees='privileged'"
    # A teacher of the rows takes the place of the word.
    model.set_params(teacher_sees=None, crossfit=None, early_stopping_rounds=None).fit(x, y, teacher=q)
    assert model.get_booster().attr("pi_xgb_teacher") == "array"


def test_the_base_margin_of_counts_is_the_teachers_too(client):
    x, z, *_ = rows()
    exposure = 1 + ROW % 5
    columns = {"label": z.sum(axis=1) * exposure, "base_margin": np.log(exposure).astype(np.float32)}
    dask_x, dask_z, y, start = (spread(values) for values in (x, z, *columns.values()))
    settings = {"objective": "count:poisson", "max_depth": 3, "learning_rate": 1.0}
    model = made("Regressor", client, n_estimators=6, teacher="boosted", **settings)
    model.fit(dask_x, y, privileged=dask_z, base_margin=start, verbose=False)
    dtrain, privileged = (xgb.DMatrix(table, **columns) for table in (x, z))
    alone = pi_xgb.train({**settings, "nthread": 1}, dtrain, 6, privileged=privileged, teacher="boosted")
    np.testing.assert_allclose(model.get_booster().predict(dtrain), alone.predict(dtrain), rtol=1e-3)


# --- the ranker --------------------------------------------------------------------------------


N, CUT = 300, 120
RNG = np.random.default_rng(0)
X = RNG.integers(0, 9, size=(N, 4)).astype(np.float32)  # every worker has all cuts
Z = (X[:, :1] + RNG.integers(0, 5, size=(N, 2))).astype(np.float32)
QID, SCATTERED = np.arange(N) // 10, np.arange(N) * 7 % 10
RELEVANCE = np.digitize(np.exp((X[:, 0] + Z[:, 1] + RNG.normal(size=N)) / 9), [1.5, 2.2, 3.0]).astype(np.float32)
# All pairs, so that the order in which the rows of a query come says nothing.
BY_PAIRS = {"objective": "rank:pairwise", "lambdarank_num_pair_per_sample": 30, "max_depth": 3, "kl_weight": 1.0}


def halves(values):
    return [values[:CUT], values[CUT:]]


def on_both(client, parts):
    """A part for each worker, so that the same rows meet in every training."""
    placed = [
        client.persist(da.from_array(part, chunks=part.shape), workers=[worker], allow_other_workers=False)
        for part, worker in zip(parts, both_workers(client), strict=True)
    ]
    return da.concatenate(placed)


def table_of(values, **more):
    """In partitions that are none of the queries', under names and an index that say nothing."""
    return dd.from_pandas(pd.DataFrame({f"c{i}": column for i, column in enumerate(values.T)} | more), npartitions=3)


def ranker(client, **settings):
    return made("Ranker", client, **{**BY_PAIRS, "n_estimators": ROUNDS, **settings})


def test_scattered_queries_are_brought_together_with_all_that_is_told_of_them(client):
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


def test_where_rows_stay_a_torn_query_is_two_as_in_xgboost(client):
    torn = QID.copy()
    torn[CUT - 5 : CUT + 5] = QID[CUT]
    x, z, y, qid = (on_both(client, halves(values)) for values in (X, Z, RELEVANCE, torn))
    model = ranker(client, objective="rank:ndcg", ndcg_exp_gain=False, allow_group_split=True)
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


def test_rows_of_a_query_lie_on_one_worker_in_order(client):
    for qid, message in ((np.arange(N) * 7 % 30, r"30 queries.*workers"), (QID[::-1], "qid must rise")):
        fields = {"label": on_both(client, halves(RELEVANCE)), "qid": on_both(client, halves(qid))}
        dtrain, privileged = (pid.DaskDMatrix(client, on_both(client, halves(table)), **fields) for table in (X, Z))
        known = {"labelled": QID > 3} if message.startswith("qid") else {}
        params = {"objective": "rank:ndcg", "ndcg_exp_gain": False}
        with pytest.raises(ValueError, match=message):
            pid.train(client, params, dtrain, 2, privileged=privileged, **known)


def test_what_a_ranker_of_a_cluster_cannot_is_said_before_any_training(client):
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


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(("parameter", "instead"), [("constraints", r"teacher=\[\(by_column")])
def test_parameters_of_the_other_estimators_are_not_dropped_in_silence(parameter, instead):
    x, _, y, *_ = rows()
    model = pid.DaskPrivilegedXGBClassifier(n_estimators=2, **{parameter: ["a"]})
    # XGBoost would only say that a parameter is not used, on a worker's standard error.
    with pytest.raises(TypeError, match=f"{parameter}.*Dask.*{instead}"):
        model.fit(spread(x), spread(y), privileged=spread(x))


def faults(client):
    x, z, y, _, q = rows()
    dtrain, privileged = matrix(client, x, y), matrix(client, z, y)
    other_cuts, three = (90, 200, 90, 220), (90, 260, 250)
    swapped, bad_q = y.copy(), q.copy()
    swapped[[595, 596]] = 1 - swapped[[595, 596]]
    bad_q[595] = np.nan
    named = pid.DaskDMatrix(client, spread(x), spread(y), feature_names=list("abcde"))
    shared = pid.DaskDMatrix(client, spread(z), spread(y), feature_names=["a", "z"])
    one_part = pid.DaskDMatrix(client, spread(z, (N_ROWS,)), spread(y, (N_ROWS,)))
    stopping = {"privileged": privileged, "early_stopping_rounds": 2, "evals": [(dtrain, "train")]}
    joint = pi_xgb.JointTeacher(xgb.DMatrix(z, y), PARAMS)
    return {
        r"partition 1.*200 rows.*privileged.*260.*dtrain": {
            "privileged": pid.DaskDMatrix(client, spread(z, other_cuts), spread(y, other_cuts))
        },
        r"privileged.*3 partitions.*dtrain.*4": {
            "privileged": pid.DaskDMatrix(client, spread(z, three), spread(y, three))
        },
        r"labels.*2 rows": {"privileged": matrix(client, z, swapped)},
        r"columns \['a'\].*dtrain": {"dtrain": named, "privileged": shared},
        r"privileged.*xgboost.dask.DaskDMatrix.*DMatrix": {"privileged": xgb.DMatrix(z, y)},
        "dtrain must be an xgboost.dask.DaskDMatrix": {"dtrain": xgb.DMatrix(x, y), "privileged": privileged},
        r"evals 'valid'.*xgboost.dask.DaskDMatrix": {"privileged": privileged, "evals": [(xgb.DMatrix(x, y), "valid")]},
        r"q .*599 rows.*600": {"teacher": q[:-1]},
        r"teacher.*3 partitions.*4": {"teacher": spread(q, three)},
        r"partition 1.*200 rows.*teacher": {"teacher": spread(q, other_cuts)},
        "must have one block of columns": {"teacher": da.from_array(np.stack([q, 1 - q], axis=1), chunks=(CHUNKS, 1))},
        "1 NaN": {"teacher": spread(bad_q)},
        "sensitive_features of by_column must be a Dask": {"teacher": pid.by_column(DemographicParity, x[:, 0])},
        "one group only": {"teacher": pid.by_column(DemographicParity, spread(np.zeros(N_ROWS)))},
        "for JPIB on a cluster pass privileged=": {"teacher": joint},
        "repartition it into at least 2": {**stopping, "privileged_evals": [(one_part, "valid")]},
        "privileged_evals require early_stopping_rounds": {
            "privileged": privileged,
            "privileged_evals": [(one_part, "valid")],
        },
        "privileged and teacher were both given": {"privileged": privileged, "teacher": q},
        "obj must be left out with a teacher": {"teacher": q, "obj": max},
        "engine must be one of": {"teacher": q, "engine": "gpu"},
        "dtrain is among the evals": {"dtrain": dtrain, "teacher": q, "engine": "native", "evals": [(dtrain, "train")]},
        "crossfit must be 0": {"privileged": privileged, "crossfit": N_ROWS + 1},
        "labelled must have one value for each of the 600 rows of dtrain": {"teacher": q, "labelled": KNOWN[:-1]},
        "teacher_weight has 3 partitions, dtrain has 4": {"teacher": q, "teacher_weight": spread(COUNTS, three)},
        "the weight of a teacher in the list must have one value": {"teacher": [(q, COUNTS[:5])]},
        "teacher_weight must be numbers from 0": {"teacher": q, "teacher_weight": spread(-COUNTS)},
        "labelled must be truth values": {"teacher": q, "labelled": spread(ROW)},
        "labelled has no row with a label": {"privileged": privileged, "labelled": ROW < 0},
        r"teacher='forest' requires .*values.*QuantileDMatrix": {
            "dtrain": pid.DaskQuantileDMatrix(client, spread(x), spread(y)),
            "teacher": "forest",
        },
    }


def test_faults_have_a_clear_message(client):
    x, _, y, *_ = rows()
    dtrain = matrix(client, x, y)
    for message, keywords in faults(client).items():
        with pytest.raises((ValueError, TypeError), match=message):
            train(client, keywords.pop("dtrain", dtrain), **keywords)
    for row in (0, N_ROWS - 1):
        wrong = y.copy()
        wrong[row] = np.nan
        homes = (0, 1, 0, 1)
        unknown = pid.DaskDMatrix(client, lying(client, x, homes), lying(client, wrong, homes))
        # An error of XGBoost's own on one worker is told before those of the others that lost touch with it.
        with pytest.raises(xgb.core.XGBoostError, match="Label contains NaN"):
            train(client, unknown, teacher=rows()[4])
    with pytest.raises(TypeError, match=r"client.*distributed.Client.*None"):
        pid.train("tcp://127.0.0.1", PARAMS, dtrain)
    model = made("Classifier", client, n_estimators=2)
    z = rows()[1]
    for message, keywords in {
        r"privileged.*3 partitions.*y .*4": {"privileged": spread(z, (90, 260, 250))},
        r"privileged.*Dask.*DataFrame": {"privileged": z},
        r"eval_privileged.*eval_set.*1 for 0": {"privileged": spread(z), "eval_privileged": [spread(z)]},
    }.items():
        with pytest.raises((ValueError, TypeError), match=message):
            model.fit(spread(x), spread(y), **keywords)


def test_an_objective_that_needs_more_than_y_is_refused(client):
    x, z, y, *_ = (spread(array) for array in rows())
    for objective, message in (
        ("survival:aft", r"bounds.*use train, .*label_lower_bound"),
        ("rank:pairwise", r"requires queries.* use DaskPrivilegedXGBRanker"),
    ):
        with pytest.raises(ValueError, match=message):
            made("Regressor", client, n_estimators=2, objective=objective).fit(x, y, privileged=z)


def test_a_misspelt_parameter_is_pointed_out_and_left_to_xgboost():
    with pytest.warns(UserWarning, match=r"DaskPrivilegedXGBRegressor.*'crosfit'.*'crossfit'"):
        pid.DaskPrivilegedXGBRegressor(crosfit=5)


def test_dask_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost.dask", None)
    monkeypatch.delitem(sys.modules, "pi_xgb.dask")
    # Without Dask the import says how to get it, and pi_xgb itself does not import it.
    with pytest.raises(ImportError, match=r'pip install "\.\[dask\]"'):
        importlib.import_module("pi_xgb.dask")


class Dies(xgb.callback.TrainingCallback):
    """Ends the process of one worker in its third round."""

    def __init__(self, victim):
        super().__init__()
        self.victim = victim

    def after_iteration(self, model, epoch, evals_log):
        if epoch == 2 and distributed.get_worker().address == self.victim:
            os._exit(1)
        return False


# The last test of this file: what lay on the cluster is gone after it.
def test_a_lost_worker_ends_the_training(client):
    x, z, y, *_ = rows()
    homes = (0, 1, 0, 1)
    dtrain = pid.DaskDMatrix(client, lying(client, x, homes), lying(client, y, homes))
    privileged = pid.DaskDMatrix(client, lying(client, z, homes), lying(client, y, homes))
    victim = both_workers(client)[1]
    coll_cfg = xgb.collective.Config(timeout=20)
    # The training ends with an error that names what happened; it does not wait for ever.
    with pytest.raises(ConnectionError, match="lost during the training"):
        train(client, dtrain, privileged=privileged, callbacks=[Dies(victim)], coll_cfg=coll_cfg)
    # The same matrices are of no use after that, and are refused at once.
    with pytest.raises(ConnectionError, match=r"held partitions.*dtrain"):
        train(client, dtrain, privileged=privileged)
    # New workers for the tests that follow; XGBoost may yet end the other one, whose peer is gone.
    client.restart_workers(list(client.scheduler_info()["workers"]), timeout=60)


@pytest.mark.parametrize("teacher", ["mixed", "boosted"])
def test_names_of_privileged_columns_serve_as_a_second_collection(client, teacher):
    import dask.dataframe as dd
    import pandas as pd

    x, z, y, *_ = rows()
    table = pd.DataFrame(np.hstack([x, z]), columns=["a", "b", "c", "d", "e", "z0", "z1"])
    both, label = dd.from_pandas(table, npartitions=3), dd.from_pandas(pd.Series(y), npartitions=3)
    apart = both[["a", "b", "c", "d", "e"]]
    settings = {"n_estimators": 3, "max_depth": 3, "teacher": teacher, "kl_weight": 2.0}
    named = pid.DaskPrivilegedXGBClassifier(privileged_features=["z0", "z1"], **settings)
    named.fit(both, label, eval_set=[(both, label)])
    second = pid.DaskPrivilegedXGBClassifier(**settings).fit(apart, label, privileged=both[["z0", "z1"]])
    assert named.get_booster().feature_names == list(apart.columns)
    expected = second.predict_proba(apart).compute()
    for X in (both, apart):
        np.testing.assert_allclose(named.predict_proba(X).compute(), expected, atol=1e-5)
        np.testing.assert_array_equal(named.predict(X).compute(), expected[:, 1] > 0.5)
    for names, message in [(["nothing"], "lacks"), ("z0", "list of some names"), ([], "list of some names")]:
        with pytest.raises(ValueError, match=f"privileged_features.*{message}"):
            pid.DaskPrivilegedXGBClassifier(privileged_features=names, **settings).fit(both, label)
    with pytest.raises(TypeError, match="privileged_features require Dask DataFrames"):
        named.fit(spread(x), spread(y))

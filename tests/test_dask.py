"""``pi_xgb.dask`` on a real cluster of two worker processes, against one machine with all the rows."""

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

import pi_xgb
from pi_xgb._stats.folds import deal_folds
from pi_xgb.constraints import DemographicParity, EqualizedOdds, Meritocracy

da = pytest.importorskip("dask.array", reason="pi_xgb.dask needs Dask")
dd = pytest.importorskip("dask.dataframe", reason="pi_xgb.dask needs Dask")
distributed = pytest.importorskip("distributed", reason="pi_xgb.dask needs Dask's scheduler")
pid = importlib.import_module("pi_xgb.dask")

ROUNDS = 6
PARAMS = {"objective": "binary:logistic", "max_depth": 3, "tree_method": "hist", "eval_metric": "logloss"}


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


@pytest.mark.parametrize(
    ("method", "engine", "weighted"),
    [
        ("kbpib", "callback", False),
        ("kbpib", "native", True),
        ("jpib", "callback", True),
        ("jpib", "native", False),
    ],
)
def test_the_model_is_that_of_one_machine(client, method, engine, weighted):
    x, z, y, weight, _ = rows()
    keywords = {"weight": spread(weight)} if weighted else {}
    dtrain, privileged = matrix(client, x, y, **keywords), matrix(client, z, y)
    booster = train(client, dtrain, privileged=privileged, method=method, engine=engine)
    whole = on_one_machine(weight=weight if weighted else None, method=method, engine=engine)
    # The cluster's model is the model of one machine with all the rows, to the bit.
    assert same(booster, whole)
    assert booster.attr("pi_xgb_engine") == engine


@pytest.mark.slow
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
        kl_weight=2.0,
        evals=[(valid, "valid")],
        verbose_eval=False,
    )
    # Wherever the partitions lie, rows meet their own privileged values.
    assert same(result["booster"], on_one_machine())
    # Evaluation rows on workers that do not train are counted as well.
    p = result["booster"].predict(xgb.DMatrix(x)).astype(np.float64)
    assert result["history"]["valid"]["logloss"][-1] == pytest.approx(
        -np.log(np.where(y == 1, p, 1 - p)).mean(), abs=1e-5
    )


@pytest.mark.slow
def test_student_and_teacher_stop_early(client):
    x, z, y, *_ = rows()
    x_valid, z_valid, y_valid = x[::3] + 1, z[::3] + 1, y[::3]
    on_one_worker = {"homes": (0, 0), "chunks": (150, 50)}
    result = pid.train(
        client,
        {**PARAMS, "eta": 1.0},
        matrix(client, x, y),
        40,
        privileged=matrix(client, z, y),
        kl_weight=1.0,
        evals=[(pid.DaskDMatrix(client, spread(x_valid, (200,)), spread(y_valid, (200,))), "valid")],
        privileged_evals=[
            (
                pid.DaskDMatrix(
                    client, lying(client, z_valid, **on_one_worker), lying(client, y_valid, **on_one_worker)
                ),
                "valid",
            )
        ],
        early_stopping_rounds=3,
        verbose_eval=False,
    )
    history = {}
    whole = pi_xgb.train(
        {**PARAMS, "eta": 1.0, "nthread": 1},
        xgb.DMatrix(x, y),
        40,
        privileged=xgb.DMatrix(z, y),
        kl_weight=1.0,
        evals=[(xgb.DMatrix(x_valid, y_valid), "valid")],
        privileged_evals=[(xgb.DMatrix(z_valid, y_valid), "valid")],
        early_stopping_rounds=3,
        evals_result=history,
        verbose_eval=False,
    )
    # Both stop where they stop on one machine.
    assert result["booster"].best_iteration == whole.best_iteration < 36
    assert result["booster"].get_dump() == whole.get_dump()
    np.testing.assert_allclose(result["history"]["valid"]["logloss"], history["valid"]["logloss"], atol=1e-6)


@pytest.mark.slow
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
        # Each teacher is cut up along the rows, and the model is that of one machine.
        assert same(train(client, dtrain, teacher=there), on_one_machine(privileged=False, teacher=here)), name


@pytest.mark.slow
def test_crossfit_judges_every_row_out_of_fold(client):
    x, z, y, *_ = rows()
    dtrain, privileged = matrix(client, x, y), matrix(client, z, y)
    booster = train(client, dtrain, privileged=privileged, crossfit=3)
    first = np.concatenate([[0], np.cumsum(CHUNKS)])
    fold = np.empty(N_ROWS, np.intp)
    for futures in dtrain.worker_map.values():
        parts = sorted(dtrain.partition_order[future.key] for future in futures)
        mine = np.concatenate([np.arange(first[i], first[i + 1]) for i in parts])
        for k, (_, held_out) in enumerate(deal_folds(y[mine], 3, 0)):
            fold[mine[held_out]] = k
    q = np.empty(N_ROWS, np.float32)
    for k in range(3):
        taught = xgb.train({**PARAMS, "nthread": 1}, xgb.DMatrix(z[fold != k], y[fold != k]), ROUNDS)
        q[fold == k] = taught.predict(xgb.DMatrix(z[fold == k]))
    # Each worker deals its own rows to folds; a fold's teacher is trained on all workers' other rows.
    whole = on_one_machine(privileged=False, teacher=q)
    np.testing.assert_allclose(booster.predict(xgb.DMatrix(x)), whole.predict(xgb.DMatrix(x)), atol=1e-6)


@pytest.mark.slow
def test_without_a_teacher_it_is_xgboosts_own_training(client):
    x, _, y, *_ = rows()
    dtrain = matrix(client, x, y)
    plain = xgb.dask.train(client, PARAMS, dtrain, ROUNDS)["booster"]
    # Without a teacher, and with one that weighs nothing, the model is XGBoost's.
    assert same(pid.train(client, PARAMS, dtrain, ROUNDS)["booster"], plain)
    assert train(client, dtrain, privileged=matrix(client, rows()[1], y), kl_weight=0).get_dump() == plain.get_dump()


@pytest.mark.slow
def test_quantile_matrices_continuation_and_prediction(client):
    x, z, y, *_ = rows()
    dtrain = pid.DaskQuantileDMatrix(client, spread(x), spread(y))
    privileged = pid.DaskQuantileDMatrix(client, spread(z), spread(y))
    q = spread(rows()[4])
    first = pid.train(client, PARAMS, dtrain, 3, teacher=q, verbose_eval=False)["booster"]
    second = pid.train(client, PARAMS, dtrain, 3, teacher=q, xgb_model=first, verbose_eval=False)
    whole = pi_xgb.train({**PARAMS, "nthread": 1}, xgb.DMatrix(x, y), 6, teacher=rows()[4])
    # 3 and 3 rounds on the cluster are 6 on one machine, and XGBoost's predictions take the result as it is.
    assert second["booster"].get_dump() == whole.get_dump()
    expected = whole.predict(xgb.DMatrix(x))
    assert np.array_equal(pid.predict(client, second, spread(x)).compute(), expected)
    assert np.array_equal(pid.inplace_predict(client, second, spread(x)).compute(), expected)
    assert same(train(client, dtrain, privileged=privileged, method="jpib"), on_one_machine(method="jpib"))


@pytest.mark.slow
def test_an_asynchronous_client_awaits_the_training(client):
    x, z, y, *_ = rows()

    async def run():
        async with distributed.Client(client.scheduler.address, asynchronous=True) as own:
            dtrain = await pid.DaskDMatrix(own, spread(x), spread(y))
            privileged = await pid.DaskDMatrix(own, spread(z), spread(y))
            return await pid.train(
                own, PARAMS, dtrain, ROUNDS, privileged=privileged, kl_weight=2.0, verbose_eval=False
            )

    # The same model comes out of a client that does not block.
    assert same(asyncio.run(run())["booster"], on_one_machine())


@pytest.mark.slow
def test_the_classifier_is_xgboosts_with_a_teacher(client):
    x, z, y, weight, _ = rows()
    settings = {"n_estimators": ROUNDS, "max_depth": 3, "method": "jpib", "kl_weight": 2.0, "tree_method": "hist"}
    model = pid.DaskPrivilegedXGBClassifier(**settings)
    model.client = client
    model.fit(
        spread(x), spread(y), privileged=spread(z), sample_weight=spread(weight), eval_set=[(spread(x), spread(y))]
    )
    whole = on_one_machine(weight=weight, method="jpib")
    probability = whole.predict(xgb.DMatrix(x))
    # The estimator's model is that of train, weights included.
    assert np.array_equal(model.predict_proba(spread(x)).compute()[:, 1], probability)
    assert np.array_equal(model.predict(spread(x)).compute(), probability > 0.5)
    assert model.get_booster().attr("pi_xgb_method") == "jpib"
    assert len(model.evals_result()["validation_0"]["logloss"]) == ROUNDS
    assert model.n_classes_ == 2
    # Its own parameters are parameters of the estimator and none of the booster.
    assert settings.items() <= model.get_params().items()
    assert "kl_weight" not in model.get_xgb_params()
    classes = (z.sum(axis=1) // 9).clip(0, 2).astype(int)
    frame, labels = dd.from_dask_array(spread(x)), dd.from_dask_array(spread(classes))
    several = pid.DaskPrivilegedXGBClassifier(n_estimators=3, kl_weight=1.0)
    several.client = client
    several.fit(frame, labels, privileged=dd.from_dask_array(spread(z), columns=["z0", "z1"]))
    assert several.predict_proba(frame).compute().shape == (N_ROWS, 3)
    assert np.mean(several.predict(frame).compute() == classes) > 0.6


@pytest.mark.slow
def test_the_regressor_stops_teacher_and_student(client):
    x, z, *_ = rows()
    target = (z.sum(axis=1) + x[:, 4]).astype(np.float32)
    valid = [(spread(x), spread(target + 1))]
    model = pid.DaskPrivilegedXGBRegressor(
        n_estimators=60, learning_rate=1.0, max_depth=3, kl_weight=1.0, early_stopping_rounds=2
    )
    model.client = client
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


@pytest.mark.slow
def test_an_estimator_without_a_teacher_says_so(client):
    x, _, y, *_ = rows()
    model = pid.DaskPrivilegedXGBRegressor(n_estimators=2)
    model.client = client
    with pytest.warns(UserWarning, match="kl_weight.*without a teacher"):
        model.fit(spread(x), spread(y))
    plain = xgb.dask.DaskXGBRegressor(n_estimators=2)
    plain.client = client
    plain.fit(spread(x), spread(y))
    # What it then fits is XGBoost's own model; its intercept is summed in the order in which rows come to lie.
    np.testing.assert_allclose(model.predict(spread(x)).compute(), plain.predict(spread(x)).compute(), atol=1e-6)


@pytest.mark.parametrize(
    ("parameter", "instead"),
    [("constraints", r"teacher=\[\(by_column"), ("privileged_features", r"privileged=table\[names\]")],
)
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
        r"evals 'valid'.*xgboost.dask.DaskDMatrix": {
            "privileged": privileged,
            "evals": [(xgb.DMatrix(x, y), "valid")],
        },
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
        "crossfit must be 0": {"privileged": privileged, "crossfit": 400},
    }


@pytest.mark.slow
def test_faults_have_a_clear_message(client):
    x, _, y, *_ = rows()
    dtrain = matrix(client, x, y)
    for message, keywords in faults(client).items():
        # The user hears of the reason itself, also where it was one worker of two that found it.
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
    model = pid.DaskPrivilegedXGBClassifier(n_estimators=2)
    model.client = client
    z = rows()[1]
    for message, keywords in {
        r"privileged.*3 partitions.*y .*4": {"privileged": spread(z, (90, 260, 250))},
        r"privileged.*Dask.*DataFrame": {"privileged": z},
        r"eval_privileged.*eval_set.*1 for 0": {"privileged": spread(z), "eval_privileged": [spread(z)]},
    }.items():
        with pytest.raises((ValueError, TypeError), match=message):
            model.fit(spread(x), spread(y), **keywords)


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
@pytest.mark.slow
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

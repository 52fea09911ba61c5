"""Kinds of teachers on a Dask cluster: the forest that plain XGBoost grows there, words in lists, and refusals."""

import contextlib
import importlib

import numpy as np
import pytest
import xgboost as xgb
from helpers_dask import spread
from helpers_distributed import rows
from sklearn.linear_model import LogisticRegression

import pi_xgb
from pi_xgb._core.learners import forest
from pi_xgb._core.spec import Spec
from pi_xgb.constraints import DemographicParity

da = pytest.importorskip("dask.array", reason="pi_xgb.dask needs Dask")
pytest.importorskip("distributed", reason="pi_xgb.dask needs Dask's scheduler")
pid = importlib.import_module("pi_xgb.dask")

pytestmark = pytest.mark.slow

ROUNDS = 6
PARAMS = {"objective": "binary:logistic", "max_depth": 3, "tree_method": "hist", "seed": 3}


@contextlib.contextmanager
def every_row_drawn(client):
    """Grow the trees of forests on all rows: which ones a worker draws depends on the rows that Dask gives it."""

    def draw(share):
        forest._PARAMS["subsample"] = share

    share = forest._PARAMS["subsample"]
    draw(1.0)
    client.run(draw, 1.0)
    try:
        yield
    finally:
        draw(share)
        client.run(draw, share)


def q_of_forest(client, table, label):
    """What a forest of plain XGBoost predicts for all rows, by the parameters of ours."""
    params = forest.Forest(Spec.read(PARAMS))._params(table.shape[1], 1, len(table))
    params["base_score"] = float(rows()[2].mean())
    grown = xgb.dask.train(client, params, pid.DaskDMatrix(client, table, label), 1)["booster"]
    return np.clip(grown.predict(xgb.DMatrix(table.compute())), 0.005, 0.995)


def margins(booster):
    return booster.predict(xgb.DMatrix(rows()[0]), output_margin=True)


@pytest.mark.parametrize("sees", ["all", "privileged", "no privileged columns"])
def test_a_forest_is_that_of_plain_xgboost_on_the_cluster(client, sees):
    arrays = rows()
    x, z, y = (spread(array) for array in arrays[:3])
    has_privileged = sees != "no privileged columns"
    keywords = {"privileged": pid.DaskDMatrix(client, z, y), "teacher_sees": sees} if has_privileged else {}
    taught = {"teacher": "forest", "crossfit": 0, "kl_weight": 2.0}
    with every_row_drawn(client):
        booster = pid.train(client, PARAMS, pid.DaskDMatrix(client, x, y), ROUNDS, **taught, **keywords)["booster"]
        table = {"all": da.concatenate([x, z], axis=1), "privileged": z}.get(sees, x)
        q = q_of_forest(client, table.rechunk({1: -1}), y)
    alone = pi_xgb.train(PARAMS, xgb.DMatrix(*arrays[::2][:2]), ROUNDS, teacher=q, kl_weight=2.0)
    np.testing.assert_allclose(margins(booster), margins(alone), atol=1e-5)
    assert booster.attr("pi_xgb_teacher") == "forest"
    assert len(np.unique(margins(alone))) > 10


@pytest.mark.parametrize("method", ["kbpib", "jpib"])
def test_a_word_stands_in_a_list_with_constraints(client, method):
    x, z, y, *_ = rows()
    group = (x[:, 0] > 5).astype(int)
    dtrain, privileged = (pid.DaskDMatrix(client, spread(table), spread(y)) for table in (x, z))
    parity = pid.by_column(DemographicParity, spread(group))
    teacher = [("boosted", 1.5), (parity, 3.0)]
    booster = pid.train(client, PARAMS, dtrain, ROUNDS, privileged=privileged, teacher=teacher, method=method)[
        "booster"
    ]
    alone = pi_xgb.train(
        {**PARAMS, "nthread": 1},
        xgb.DMatrix(x, y),
        ROUNDS,
        privileged=xgb.DMatrix(z, y),
        teacher=[("boosted", 1.5), (DemographicParity(group), 3.0)],
        method=method,
    )
    assert booster.save_raw("json") == alone.save_raw("json")


def test_the_estimator_passes_its_teacher_on_and_learns_from_x_without_privileged_columns(client):
    x, z, y = (spread(array) for array in rows()[:3])
    dtrain, privileged = (pid.DaskDMatrix(client, table, y) for table in (x, z))
    model = pid.DaskPrivilegedXGBClassifier(
        n_estimators=ROUNDS,
        max_depth=3,
        tree_method="hist",
        random_state=3,
        kl_weight=2.0,
        teacher="forest",
        crossfit=0,
    )
    model.client = client
    keywords = {"teacher": "forest", "kl_weight": 2.0, "crossfit": 0}
    assert "teacher" not in model.get_xgb_params()
    # Nothing stops a forest, and the student stops by itself.
    sets = {"eval_set": [(x, y)], "eval_privileged": [z]}
    more = {"privileged": privileged, "teacher_sees": "privileged"}
    with every_row_drawn(client):
        found = [margins(model.fit(x, y).get_booster())]
        expected = [margins(pid.train(client, PARAMS, dtrain, ROUNDS, **keywords)["booster"])]
        model.set_params(teacher_sees="privileged", early_stopping_rounds=2)
        found.append(margins(model.fit(x, y, privileged=z, **sets).get_booster()))
        expected.append(margins(pid.train(client, PARAMS, dtrain, ROUNDS, **keywords, **more)["booster"]))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert np.abs(expected[0] - expected[1]).max() > 0.01
    # A teacher of the rows takes the place of the word.
    model.set_params(teacher_sees=None, crossfit=None, early_stopping_rounds=None).fit(x, y, teacher=spread(rows()[4]))
    assert model.get_booster().attr("pi_xgb_teacher") == "array"


REFUSED = {
    "teacher must be 'boosted' or 'forest' in a distributed training, got 'mixed'.*pi_xgb.fit_teacher": {
        "teacher": "mixed"
    },
    "got 'linear'": {"teacher": "linear"},
    "got 'LogisticRegression'": {"teacher": LogisticRegression()},
    "in a distributed training, got 'mixed'": {"teacher": [("boosted", 1.0), ("mixed", 1.0)]},
    "teacher must be one of .* got 'woods'": {"teacher": "woods"},
    "method='jpib' requires .*got teacher='forest'": {"teacher": "forest", "method": "jpib"},
    "teacher_params require .*got teacher='forest'": {"teacher": "forest", "teacher_params": {"eta": 1}},
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_no_cluster_trains_is_refused_before_any_work(client, message):
    with pytest.raises(ValueError, match=message):
        pid.train(client, PARAMS, "never looked at", privileged="never looked at", **REFUSED[message])
    if isinstance(REFUSED[message]["teacher"], list):
        return
    model = pid.DaskPrivilegedXGBClassifier(**REFUSED[message])
    model.client = client
    with pytest.raises(ValueError, match=message):
        model.fit("never looked at", "never looked at", privileged="never looked at")


def test_a_matrix_of_quantiles_teaches_no_forest(client):
    x, z, y, *_ = rows()
    dtrain = pid.DaskQuantileDMatrix(client, spread(x), spread(y))
    privileged = pid.DaskQuantileDMatrix(client, spread(z), spread(y))
    for sees in ({"privileged": privileged, "teacher_sees": "privileged"}, {}):
        with pytest.raises(TypeError, match=r"teacher='forest' requires .*values.*QuantileDMatrix"):
            pid.train(client, PARAMS, dtrain, 2, teacher="forest", **sees)

"""Rows without labels on a Dask cluster, against one machine with all the rows."""

import importlib

import numpy as np
import pytest
import xgboost as xgb
from helpers_dask import CHUNKS, spread
from helpers_distributed import N_ROWS, rows

import pi_xgb
from pi_xgb.constraints import DemographicParity

dd = pytest.importorskip("dask.dataframe", reason="pi_xgb.dask needs Dask")
distributed = pytest.importorskip("distributed", reason="pi_xgb.dask needs Dask's scheduler")
pid = importlib.import_module("pi_xgb.dask")

pytestmark = pytest.mark.slow

ROUNDS = 6
PARAMS = {"objective": "binary:logistic", "max_depth": 3, "tree_method": "hist"}
ROW = np.arange(N_ROWS)
RNG = np.random.default_rng(3)
KNOWN = (RNG.random(N_ROWS) < 0.4) & (ROW >= 90) | (ROW >= 560)  # the first partition has no label at all
COUNTS = RNG.choice([0.5, 1.0, 2.0], N_ROWS)


def series(array):
    return dd.from_dask_array(spread(array))


def matrices(client):
    x, z, y, *_ = rows()
    filled = np.where(KNOWN, y, 0)
    return [pid.DaskDMatrix(client, spread(table), spread(filled)) for table in (x, z)]


def on_one_machine(label=None, params=PARAMS, **keywords):
    x, z, y, *_ = rows()
    label = np.where(KNOWN, y if label is None else label, 0)
    if "teacher" not in keywords:
        keywords["privileged"] = xgb.DMatrix(z, label)
    dtrain = xgb.DMatrix(x, label)
    booster = pi_xgb.train({**params, "nthread": 1}, dtrain, ROUNDS, labelled=KNOWN, verbose_eval=False, **keywords)
    return booster.predict(xgb.DMatrix(x))


def on_one_machine_matrix():
    _, z, y, *_ = rows()
    return xgb.DMatrix(z, np.where(KNOWN, y, 0))


def assert_close(booster, expected):
    np.testing.assert_allclose(booster.predict(xgb.DMatrix(rows()[0])), expected, atol=1e-5)


@pytest.mark.parametrize(("method", "engine"), [("kbpib", "callback"), ("kbpib", "native"), ("jpib", "native")])
@pytest.mark.parametrize("form", [spread, series, np.asarray], ids=["array", "Series", "of all rows"])
def test_the_model_is_that_of_one_machine(client, method, engine, form):
    dtrain, privileged = matrices(client)
    keywords = {"method": method, "engine": engine, "kl_weight": 2.0}
    values = {"labelled": form(KNOWN), "teacher_weight": form(COUNTS)}
    result = pid.train(client, PARAMS, dtrain, ROUNDS, privileged=privileged, **values, **keywords)
    # Each row is told apart where it lies, in whatever form it was said.
    assert_close(result["booster"], on_one_machine(teacher_weight=COUNTS, **keywords))


def test_a_teacher_that_sees_all(client):
    dtrain, privileged = matrices(client)
    guided = {"kl_weight": 2.0, "teacher_sees": "all", "crossfit": 0}
    student = pid.train(client, PARAMS, dtrain, ROUNDS, privileged=privileged, labelled=KNOWN, **guided)["booster"]
    # Each worker puts its own rows side by side.
    assert_close(student, on_one_machine(privileged=on_one_machine_matrix(), **guided))


def test_teachers_at_hand_count_row_by_row(client):
    x, z, y, _, q = rows()
    dtrain, _ = matrices(client)
    counted = {"labelled": KNOWN, "teacher_weight": COUNTS}
    fitted = pi_xgb.fit_teacher({**PARAMS, "nthread": 1}, xgb.DMatrix(z, y), 3, **counted)
    group = (x[:, 0] > 5).astype(int)
    cases = {
        "a list": ([(spread(q), spread(COUNTS)), (q, 1.0)], [(q, COUNTS), (q, 1.0)]),
        "a list with weights of all rows": ([(q, COUNTS)], [(q, COUNTS)]),
        "a teacher with weights of its own": (fitted, fitted),
        "a constraint": (
            [(pid.by_column(DemographicParity, spread(group)), series(COUNTS))],
            [(DemographicParity(group), COUNTS)],
        ),
    }
    for name, (there, here) in cases.items():
        booster = pid.train(client, PARAMS, dtrain, ROUNDS, teacher=there, labelled=spread(KNOWN))["booster"]
        expected = on_one_machine(teacher=here)
        # Weights are cut up along with the rows.
        assert np.abs(booster.predict(xgb.DMatrix(x)) - expected).max() < 1e-5, name


def test_a_missing_y_is_an_unlabelled_row_of_the_classifier(client):
    x, z, y, *_ = rows()
    values = np.where(KNOWN, y, np.nan).astype(np.float32)
    expected = on_one_machine(kl_weight=2.0)
    nullable = dd.from_dask_array(spread(values)).astype("Float32")
    for label in (spread(values), series(values), nullable):
        model = pid.DaskPrivilegedXGBClassifier(n_estimators=ROUNDS, max_depth=3, tree_method="hist", kl_weight=2.0)
        model.client = client
        model.fit(spread(x), label, privileged=spread(z))
        # Nothing has to be said but the labels, and "missing" is no class.
        np.testing.assert_allclose(model.predict_proba(spread(x)).compute()[:, 1], expected, atol=1e-5)
        assert sorted(model.classes_) == [0, 1]


def test_a_missing_y_is_an_unlabelled_row_of_the_regressor_whose_teacher_counts_more_or_less(client):
    x, z, *_ = rows()
    amount = (z.sum(axis=1) + 7).astype(np.float32)
    model = pid.DaskPrivilegedXGBRegressor(
        n_estimators=ROUNDS, max_depth=3, tree_method="hist", kl_weight=2.0, method="jpib"
    )
    model.client = client
    frame = dd.from_dask_array(spread(np.where(KNOWN, amount, np.nan)[:, None]), columns=["y"])
    for label in (series(np.where(KNOWN, amount, np.nan)), frame):
        model.fit(spread(x), label, privileged=spread(z), teacher_weight=series(COUNTS))
        params = {**PARAMS, "objective": "reg:squarederror"}
        expected = on_one_machine(amount, params, method="jpib", kl_weight=2.0, teacher_weight=COUNTS)
        np.testing.assert_allclose(model.predict(spread(x)).compute(), expected, atol=1e-4)


def test_groups_stay_together_where_a_worker_has_them(client):
    dtrain, privileged = matrices(client)
    first = np.cumsum([0, *CHUNKS])
    home = {}
    for number, futures in enumerate(dtrain.worker_map.values()):
        home |= {dtrain.partition_order[future.key]: number for future in futures}
    worker = np.concatenate([np.full(n, home[i]) for i, n in enumerate(CHUNKS)])
    assert set(worker) == {0, 1}
    assert len(first) == 5
    patient = worker * 1000 + ROW // 4
    known = KNOWN | (ROW % 50 == 0)
    keywords = {"privileged": privileged, "crossfit": 2, "labelled": known}
    by_series, by_text = (
        pid.train(client, PARAMS, dtrain, 3, crossfit_groups=groups, **keywords)["booster"].save_raw("json")
        for groups in (series(patient), patient.astype(str))
    )
    apart = pid.train(client, PARAMS, dtrain, 3, **keywords)["booster"].save_raw("json")
    # Groups are told apart by what they are, and matter.
    assert by_series == by_text != apart
    # A patient with visits on both workers would be recognised by one of the teachers.
    with pytest.raises(ValueError, match=r"groups.*several workers"):
        pid.train(client, PARAMS, dtrain, 3, crossfit_groups=ROW % 300, **keywords)


def test_faults_have_a_clear_message(client):
    dtrain, privileged = matrices(client)
    q = rows()[4]
    guided = {"dtrain": dtrain, "privileged": privileged}
    faults = {
        "labelled must have one value for each of the 600 rows of dtrain": {**guided, "labelled": KNOWN[:-1]},
        "labelled must have one value per row, got True": {**guided, "labelled": True},
        "teacher_weight has 3 partitions, dtrain has 4": {
            **guided,
            "teacher_weight": spread(COUNTS, (90, 260, 250)),
        },
        "the weight of a teacher in the list must have one value": {"dtrain": dtrain, "teacher": [(q, COUNTS[:5])]},
        "teacher_weight must be numbers from 0": {**guided, "teacher_weight": spread(-COUNTS)},
        "labelled must be truth values": {**guided, "labelled": spread(ROW)},
        "labelled has no row with a label": {**guided, "labelled": ROW < 0},
        "Each worker deals its own rows": {**guided, "labelled": ROW < 2, "crossfit": 2},
        "crossfit_groups require crossfit": {**guided, "crossfit_groups": ROW},
        "labelled requires a teacher": {"dtrain": dtrain, "labelled": KNOWN},
    }
    for message, keywords in faults.items():
        # The user hears of the reason, and nobody is left waiting.
        with pytest.raises((ValueError, TypeError), match=message):
            pid.train(client, PARAMS, num_boost_round=2, **keywords)
    model = pid.DaskPrivilegedXGBClassifier(n_estimators=2)
    model.client = client
    x, z, *_ = rows()
    with pytest.raises(ValueError, match="no row with a label"):
        model.fit(spread(x), spread(np.full(N_ROWS, np.nan)), privileged=spread(z))

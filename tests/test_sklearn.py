"""The scikit-learn estimators: XGBoost's own without a teacher, the model of ``pi_xgb.train`` with one."""

from __future__ import annotations

import copy
import io
import pickle
import struct
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
import xgboost as xgb
from helpers_sklearn import (
    NAMES,
    ROUNDS,
    SMALL,
    N,
    Rows,
    estimator,
    every_target,
    nameless,
    params_of,
    plain,
    raw,
    rows,
    same_as_train,
    same_model,
)
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

import pi_xgb
from pi_xgb._core.crossfit import deal_labelled
from pi_xgb.constraints import DemographicParity
from pi_xgb.sklearn import PrivilegedXGBClassifier, by_column


@pytest.fixture(autouse=True)
def one_thread():
    """Setting labels ignores n_jobs, and threads that wait for each other make small data slow on a busy machine."""
    with threadpool_limits(1, user_api="openmp"):
        yield


@every_target
@pytest.mark.parametrize(
    "guiding",
    [
        {},
        {"teacher": "boosted"},
        {"teacher": "boosted", "kl_weight": 2.0, "crossfit": 3},
        {"method": "jpib", "kl_weight": 1.0},
        {"teacher": "boosted", "teacher_sees": "all", "crossfit": 2},
        {"crossfit": 3, "teacher_weight": True, "crossfit_groups": True},
        {"teacher": "boosted", "crossfit": 3, "teacher_weight": True, "crossfit_groups": True},
        {"method": "jpib", "teacher_weight": True},
        {"kl_weight": 0},
    ],
)
@pytest.mark.slow
def test_a_missing_y_is_the_unlabelled_row_of_train(classes, guiding):
    rows = Rows(classes)
    keywords = {k: v for k, v in guiding.items() if k not in ("teacher_weight", "crossfit_groups", "teacher_sees")}
    of_rows = {
        k: v
        for k, v in {"teacher_weight": rows.teacher_weight, "crossfit_groups": rows.patient}.items()
        if guiding.get(k)
    }
    # The default teacher, a mixed one, sees all columns.
    is_mixed = not {"teacher", "method"} & guiding.keys() and guiding.get("kl_weight") != 0
    sees_all = is_mixed or guiding.get("teacher_sees") == "all"
    model = rows.estimator(**keywords, **({"teacher_sees": "all"} if "teacher_sees" in guiding else {}))
    model.fit(rows.x, rows.y, privileged=rows.z, sample_weight=rows.weight, **of_rows)

    models = []
    for label in (rows.full, rows.full.where(rows.labelled, rows.full.to_numpy()[::-1])):
        table = rows.x.join(rows.z) if sees_all else rows.z
        models.append(
            rows.by_train(
                label,
                rows.weight,
                privileged=xgb.DMatrix(table, label),
                labelled=rows.labelled,
                allow_overlap=sees_all,
                **keywords,
                **of_rows,
            )
        )
    # To the last byte, and whatever labels train was given for the rows that have none.
    # Of a named teacher that sees all columns in one table, train does not know that it sees "all".
    bytes_of = nameless if sees_all else raw
    assert bytes_of(model) == bytes_of(models[0]) == bytes_of(models[1])


@pytest.mark.parametrize("classes", [2, 3, 0])
def test_early_stopping_of_student_and_teacher_is_that_of_train(classes):
    x, z, y = rows(360, classes)
    fit, held_out, weight = slice(0, 240), slice(240, None), np.geomspace(0.01, 10, 120)
    model = estimator(classes, n_estimators=60, learning_rate=0.5, early_stopping_rounds=3, kl_weight=1.0)
    params = params_of(model, classes)
    model.fit(
        x[fit],
        y[fit],
        privileged=z[fit],
        eval_set=[(x[fit], y[fit]), (x[held_out], y[held_out])],
        eval_privileged=[None, z[held_out]],
        sample_weight_eval_set=[None, weight],
        verbose=False,
    )

    dtrain = xgb.QuantileDMatrix(x[fit], y[fit])
    history = {}
    expected = pi_xgb.train(
        params,
        dtrain,
        60,
        kl_weight=1.0,
        privileged=xgb.DMatrix(z[fit], y[fit]),
        privileged_evals=[(xgb.DMatrix(z[held_out], y[held_out], weight=weight), "validation_1")],
        evals=[
            (dtrain, "validation_0"),
            (xgb.QuantileDMatrix(x[held_out], y[held_out], weight=weight, ref=dtrain), "validation_1"),
        ],
        early_stopping_rounds=3,
        evals_result=history,
        verbose_eval=False,
    )

    # The teacher stops on eval_privileged, the student on eval_set, both where train stops them.
    assert model.get_booster().save_raw() == expected.save_raw()
    assert model.best_iteration == expected.best_iteration < 59
    assert model.evals_result() == history
    # Predictions are those of the best round, not of all rounds.
    whole, best = (expected.predict(xgb.DMatrix(x), iteration_range=(0, end)) for end in (0, model.best_iteration + 1))
    answers = model.predict_proba(x) if classes else model.predict(x)
    np.testing.assert_array_equal(answers[:, 1] if classes == 2 else answers, best)
    assert not np.array_equal(whole, best)


def error_rate(y_true, y_score, sample_weight=None):
    error = np.abs(np.asarray(y_true) - (y_score.argmax(1) if y_score.ndim > 1 else y_score))
    return float(np.average(error, weights=sample_weight))


@pytest.mark.parametrize("classes", [2, 3, 0])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"early_stopping_rounds": 2, "n_estimators": 40, "learning_rate": 0.7},
        {"eval_metric": error_rate},
        {"tree_method": "exact", "missing": 0.0},
        {"scale_pos_weight": 3.0, "gamma": 0.1, "feature_weights": [1.0, 2.0, 3.0, 4.0], "colsample_bytree": 0.5},
        {"num_parallel_tree": 2, "subsample": 0.6, "grow_policy": "lossguide", "max_leaves": 5},
    ],
)
def test_at_kl_weight_0_it_is_the_estimator_of_xgboost(classes, parameters):
    x, z, y = rows(300, classes)
    fit, held_out = slice(0, 200), slice(200, None)
    weight = np.linspace(0.5, 2, 200)
    sets = [(x[fit], y[fit]), (x[held_out], y[held_out])]
    keywords = {"sample_weight": weight, "sample_weight_eval_set": [weight, np.ones(100)], "verbose": False}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*scale_pos_weight", UserWarning)
        guided = estimator(classes, kl_weight=0, random_state=1, **parameters)
        guided.fit(x[fit], y[fit], privileged=z[fit], eval_set=sets, eval_privileged=[None, None], **keywords)
        own = plain(classes, random_state=1, **parameters).fit(x[fit], y[fit], eval_set=sets, **keywords)

    assert np.array_equal(guided.predict(x), own.predict(x))
    if classes:
        assert np.array_equal(guided.predict_proba(x), own.predict_proba(x))
    assert guided.evals_result_ == own.evals_result_
    assert same_model(guided, own)
    if "early_stopping_rounds" in parameters:
        assert guided.best_iteration == own.best_iteration
        assert guided.best_score == own.best_score


def test_without_privileged_data_it_is_xgboosts_and_says_so():
    x, _, y = rows()
    with pytest.warns(UserWarning, match="without privileged columns this is plain XGBoost.*kl_weight=0"):
        guided = estimator().fit(x, y)
    # A teacher that got lost on the way to fit is reported, and leaves the plain model.
    assert same_model(guided, plain().fit(x, y))
    # kl_weight=0 says that this is meant.
    assert same_model(estimator(kl_weight=0).fit(x, y), guided)


def test_base_margin_and_continuation_are_those_of_xgboost():
    x, z, y = rows()
    margin = np.linspace(-1, 1, len(y))
    first = estimator(n_estimators=3, kl_weight=0).fit(x, y, base_margin=margin, privileged=z)
    more = estimator(n_estimators=3, kl_weight=0).fit(x, y, base_margin=margin, xgb_model=first, privileged=z)
    own_first = plain(n_estimators=3).fit(x, y, base_margin=margin)
    own_more = plain(n_estimators=3).fit(x, y, base_margin=margin, xgb_model=own_first)
    assert same_model(more, own_more)
    assert np.array_equal(more.predict_proba(x, base_margin=margin), own_more.predict_proba(x, base_margin=margin))


@every_target
@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
def test_without_weight_it_is_xgboost_on_the_labelled_rows(classes, method):
    rows, known = Rows(classes), Rows(classes).labelled
    y = rows.y
    # Few bins, so that other rows would move the cuts.
    model = rows.estimator(kl_weight=0.0, tree_method=method, max_bin=4)
    keywords = {"sample_weight": list(rows.weight)}
    keywords |= {} if classes == 3 else {"base_margin": rows.weight}
    model.fit(rows.x, y, privileged=rows.z, eval_set=[(rows.x[known], y[known])], verbose=False, **keywords)
    plain = xgb.XGBRegressor if classes == 0 else xgb.XGBClassifier
    plain = plain(**SMALL, tree_method=method, max_bin=4)
    keywords = {name: np.asarray(value)[known] for name, value in keywords.items()}
    plain.fit(rows.x[known], y[known], eval_set=[(rows.x[known], y[known])], verbose=False, **keywords)
    assert raw(model) == raw(plain)
    assert model.evals_result() == plain.evals_result()
    assert model.teacher_ is None


def test_a_constraint_that_counts_keeps_the_rows_without_a_label():
    rows, known = Rows(), Rows().labelled
    plain = raw(xgb.XGBClassifier(**SMALL).fit(rows.x[known], rows.y[known]))
    for weight in (0.0, 5.0):
        model = rows.estimator(kl_weight=0.0, constraints=[(DemographicParity(rows.patient % 2), weight)])
        assert (raw(model.fit(rows.x, rows.y)) == plain) == (weight == 0)


def test_several_labels_are_guided_as_by_train():
    x, z, y = rows()
    several = np.column_stack([y, 1 - y, (z.iloc[:, 0] > 0).astype(int)])
    model = estimator(2, kl_weight=2.0).fit(x, several, privileged=z)
    params = {**model.get_xgb_params(), "nthread": 1}
    dtrain, privileged = xgb.DMatrix(x, several), xgb.DMatrix(z, several)
    alone = pi_xgb.train(params, dtrain, model.n_estimators, privileged=privileged, kl_weight=2.0)
    np.testing.assert_allclose(model.predict_proba(x), alone.predict(dtrain), atol=1e-6)
    assert model.predict(x).shape == several.shape
    assert np.abs(model.predict_proba(x) - plain(2).fit(x, several).predict_proba(x)).max() > 1e-3
    with pytest.raises(ValueError, match=r"one class per row.*teacher='mixed'"):
        estimator(2, teacher=LogisticRegression()).fit(x, several[:, :2], privileged=z)


# --- containers ------------------------------------------------------------------------------------------


def as_polars(frame):
    return pytest.importorskip("polars").DataFrame({name: frame[name].to_numpy() for name in frame})


def as_arrow(frame):
    return pytest.importorskip("pyarrow").table({name: frame[name].to_numpy() for name in frame})


def as_lazy(frame):
    return as_polars(frame).lazy()


KINDS = {
    "pandas": lambda frame: frame,
    "numpy": lambda frame: frame.to_numpy(),
    "csr": lambda frame: sparse.csr_matrix(frame.to_numpy()),
    "csc": lambda frame: sparse.csc_matrix(frame.to_numpy()),
    "coo": lambda frame: sparse.coo_matrix(frame.to_numpy()),
    "polars": as_polars,
    "lazy": as_lazy,
    "arrow": as_arrow,
    "list": lambda frame: frame.to_numpy().tolist(),
}


@pytest.mark.filterwarnings("ignore:Using the default parameters for the polars")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_privileged_features_of_every_kind(kind):
    x, z, y = rows()
    both = pd.concat([x.iloc[:, :2], z, x.iloc[:, 2:]], axis=1)
    named = kind in ("pandas", "polars", "lazy", "arrow")
    model = estimator(privileged_features=["z0", "z1"] if named else [2, 3])
    model.fit(KINDS[kind](both), y, eval_set=[(KINDS[kind](both), y)], verbose=False)

    expected = estimator().fit(x, y, privileged=z)
    assert np.array_equal(model.predict_proba(KINDS[kind](both)), expected.predict_proba(x))
    # At predict they may be missing.
    assert np.array_equal(model.predict(KINDS[kind](x)), expected.predict(x))
    assert model.n_features_in_ == 4
    if named:
        assert model.feature_names_in_.tolist() == list(x)


def test_zeros_of_a_dense_table_stay_values_beside_a_sparse_one():
    x, z, y = rows()
    # 1 where y tends to be 0, else 0 or 2: with zeros as missing a single split could tell these from the 1s.
    zeros = pd.DataFrame({"z0": np.where(z["z0"] > 0, 2.0 * (np.arange(len(z)) % 2), 1.0)})
    stumps = {"teacher_sees": "all", "crossfit": 0, "teacher_params": {"max_depth": 1, "nthread": 1}}
    apart = estimator(**stumps).fit(x, y, privileged=zeros)
    beside = estimator(**stumps).fit(sparse.csr_matrix(x), y, privileged=zeros)
    assert np.array_equal(apart.predict_proba(x), beside.predict_proba(sparse.csr_matrix(x)))


@pytest.mark.filterwarnings("ignore:.*no privileged value")
def test_what_counts_as_missing_does_so_for_the_teacher():
    x, z, y = rows()
    # As above: only if 2 is missing can one split put it beside the 0s.
    column = pd.DataFrame({"z0": np.where(z["z0"] > 0, 2.0 * (np.arange(len(z)) % 2), 1.0)})
    stumps = {"kl_weight": 2.0, "teacher_params": {"max_depth": 1, "nthread": 1}}
    model = estimator(missing=2.0, **stumps).fit(x, y, privileged=column)
    assert same_model(model, estimator(**stumps).fit(x, y, privileged=column.replace(2.0, np.nan)))
    assert not same_model(model, estimator(**stumps).fit(x, y, privileged=column))


@pytest.mark.filterwarnings("ignore:.*no privileged value")
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("sees", ["privileged", "all"])
@pytest.mark.parametrize("kind", ["pandas", "numpy", "polars"])
def test_what_counts_as_missing_does_so_for_an_estimator_as_teacher(kind, sees, inside):
    x, z, y = rows()
    z = z.mask(np.random.default_rng(0).random(z.shape) < 0.4)
    teacher = {"teacher": HistGradientBoostingClassifier(max_iter=5, random_state=0), "teacher_sees": sees}
    models = []
    for missing in (np.nan, -999.0):
        as_kind = lambda table: KINDS[kind](table.fillna(missing))  # noqa: B023, E731
        if inside:
            names = list(z) if kind != "numpy" else [4, 5]
            model = estimator(missing=missing, **teacher, privileged_features=names).fit(as_kind(x.join(z)), y)
        else:
            model = estimator(missing=missing, **teacher).fit(as_kind(x), y, privileged=as_kind(z))
        models.append(raw(model))
    assert models[0] == models[1]


@pytest.mark.slow
def test_one_privileged_column_may_be_a_series_or_flat():
    x, z, y = rows()
    expected = estimator().fit(x, y, privileged=z[["z0"]]).predict_proba(x)
    polars_series = as_polars(z)["z0"]
    for column in (z["z0"], z["z0"].to_numpy(), z["z0"].tolist(), polars_series):
        assert np.array_equal(estimator().fit(x, y, privileged=column).predict_proba(x), expected)


def test_categories_of_both_parties():
    x, z, y = rows()
    x, z = x.copy(), z.copy()
    x["x0"] = pd.cut(x["x0"], 4, labels=list("abcd")).astype("category")
    z["z0"] = pd.cut(z["z0"], 5, labels=list("pqrst")).astype("category")
    half = len(y) // 2
    held_out = z[half:].copy()
    held_out["z0"] = held_out["z0"].cat.reorder_categories(list("tsrqp"))
    keywords = {"enable_categorical": True, "early_stopping_rounds": 3, "n_estimators": 30, "learning_rate": 0.5}

    def fitted(z_eval):
        model = estimator(kl_weight=2.0, **keywords)
        sets = [(x[half:], y[half:])]
        return model.fit(
            x[:half], y[:half], privileged=z[:half], eval_set=sets, eval_privileged=[z_eval], verbose=False
        )

    # Categories are matched by name and not by their number, in the teacher's evaluation rows too.
    assert same_model(fitted(held_out), fitted(z[half:]))


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.slow
def test_classes_of_any_type_come_back(kind, classes):
    x, z, y = rows(classes=classes)
    labels = NAMES[kind][:classes][y]
    model = estimator(classes, kl_weight=1.0).fit(x, labels, privileged=z)
    in_order = np.sort(NAMES[kind][:classes])
    codes = np.searchsorted(in_order, labels)
    numbered = estimator(classes, kl_weight=1.0).fit(x, codes, privileged=z)

    assert same_model(model, numbered)
    assert model.classes_.tolist() == in_order.tolist()
    assert np.array_equal(model.predict(x), in_order[numbered.predict(x)])
    assert np.array_equal(model.predict_proba(x), numbered.predict_proba(x))
    assert model.score(x, labels) == numbered.score(x, codes)


NAMED = {
    "NaN": lambda y: np.where(pd.isna(y), np.nan, y),
    "NaN in single precision": lambda y: np.asarray(y, np.float32),
    "None": lambda y: [None if pd.isna(value) else int(value) for value in y],
    "Int64": lambda y: y.astype("Int64"),
    "boolean": lambda y: y.astype("boolean"),
    "truth values": lambda y: y.astype(object).where(y.notna(), None).map({0: False, 1: True, None: None}),
    "text": lambda y: y.map({0: "healthy", 1: "ill"}),
    "text with None": lambda y: np.array([{0: "healthy", 1: "ill"}.get(value) for value in y], dtype=object),
    "pandas' text": lambda y: y.map({0: "healthy", 1: "ill"}).astype("string"),
    "text with NA": lambda y: y.map({0: "healthy", 1: "ill"}).astype(object).where(y.notna(), pd.NA),
    "categories": lambda y: y.map({0: "healthy", 1: "ill"}).astype("category"),
    "dates": lambda y: y.map({0: pd.Timestamp("2020-01-01"), 1: pd.Timestamp("2021-01-01")}),
    "one column": lambda y: y.to_frame().to_numpy(),
    "one column of text": lambda y: y.map({0: "healthy", 1: "ill"}).to_frame().to_numpy(object),
    "polars": lambda y: pytest.importorskip("polars").Series([{0: "a", 1: "b"}.get(value) for value in y]),
    "arrow": lambda y: pytest.importorskip("pyarrow").array([{0: "a", 1: "b"}.get(value) for value in y]),
}


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("kind", NAMED)
@pytest.mark.slow
def test_classes_of_every_kind_may_be_missing(kind):
    rows = Rows()
    y = NAMED[kind](rows.y)
    model = rows.estimator(crossfit=2).fit(rows.x, y, privileged=rows.z)
    assert raw(model) == raw(rows.estimator(crossfit=2).fit(rows.x, rows.y, privileged=rows.z))
    # Classes are those of the labelled rows, by their names, and answers carry these.
    known = [value for value in np.asarray(y).ravel() if not pd.isna(value)]
    assert model.classes_.tolist() == sorted(set(np.asarray(known).tolist()))
    assert set(model.predict(rows.x).tolist()) <= set(model.classes_.tolist())


@pytest.mark.parametrize("guiding", [{"crossfit": 2}, {"method": "jpib"}, {"teacher_sees": "all"}])
@pytest.mark.parametrize("classes", [2, 3, 0])
@pytest.mark.slow
def test_privileged_columns_change_nothing_at_predict(guiding, classes):
    x, z, y = rows(classes=classes)
    both = x.join(z)
    model = estimator(classes, privileged_features=list(z), kl_weight=2.0, **guiding).fit(both, y)
    shuffled = x.join(z.sample(frac=1, random_state=0).set_axis(z.index))
    answers = ["predict", "apply"] + ["predict_proba"] * (classes > 0)
    for answer in answers:
        there = getattr(model, answer)(both)
        # Permuted, left out or partly there: no prediction moves.
        assert np.array_equal(getattr(model, answer)(shuffled), there)
        assert np.array_equal(getattr(model, answer)(x), there)
        assert np.array_equal(getattr(model, answer)(both.drop(columns="z1")), there)
    # Nor do privileged columns beside a student that was given them as a table apart: it refuses them.
    apart = estimator(classes, **guiding).fit(x, y, privileged=z)
    with pytest.raises(ValueError, match="feature"):
        apart.predict(both)


def patterns(values):
    """The ways in which a number can stand in a file."""
    for value in np.asarray(values, dtype=float).ravel():
        yield struct.pack("<d", value)
        yield struct.pack("<f", np.float32(value))
        yield struct.pack(">d", value)
        yield repr(float(value)).encode()
        yield repr(np.float32(value).item()).encode()


@pytest.mark.parametrize(
    "guiding",
    [
        {},
        {"crossfit": 2},
        {"method": "jpib"},
        {"teacher_sees": "all"},
        {"teacher": LogisticRegression(), "crossfit": 2},
        {"constraints": [(by_column(DemographicParity, "secret_group"), 3.0)]},
    ],
)
@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.slow
def test_the_fitted_estimator_holds_no_privileged_value(guiding, inside):
    x, z, y = rows()
    z = z.add_prefix("secret_").assign(secret_group=np.where(z["z0"] > 0, "Northerner", "Southerner"))
    numbers = z[["secret_z0", "secret_z1"]]
    if "constraints" not in guiding:
        z = numbers
    model = estimator(kl_weight=1.0, privileged_features=list(z) if inside else None, **guiding)
    if inside:
        model.fit(x.join(z), y, eval_set=[(x.join(z)[:60], y[:60])], verbose=False)
    else:
        model.fit(x, y, privileged=z, eval_set=[(x[:60], y[:60])], eval_privileged=[z[:60]], verbose=False)

    written = io.BytesIO()
    joblib.dump(model, written)
    attributes = {key: value for key, value in vars(model).items() if key not in (*model.get_params(), "teacher_")}
    fitted = pickle.dumps(attributes)
    # Searched byte by byte: no value of z, as a double, as a float or as text, and no group.
    for blob in (pickle.dumps(model), written.getvalue(), model.get_booster().save_raw("json")):
        assert not any(pattern in blob for pattern in patterns(numbers))
        assert b"Northerner" not in blob
    # What training added to the estimator does not even name the columns.
    assert b"secret" not in fitted
    assert b"secret" not in model.get_booster().save_raw("json")
    # The search can find something: a feature of the student is in its own pickle by name.
    assert b"x0" in fitted


# --- parameters, copies, files --------------------------------------------------------------------------------


def test_clone_and_parameters():
    model = estimator(
        kl_weight=3.0,
        method="jpib",
        privileged_features=["z0"],
        constraints=[(by_column(DemographicParity, "sex"), 1.0)],
        teacher=LogisticRegression(C=3.0),
        gamma=0.5,
        some_new_parameter=1,
    )
    parameters = model.get_params()
    # Own parameters, XGBoost's, unknown ones and those of the teacher are all there.
    assert {"kl_weight", "gamma", "objective", "some_new_parameter", "teacher__C"} <= set(parameters)
    copied = clone(model)
    ours = {key: value for key, value in parameters.items() if key not in ("teacher", "constraints", "missing")}
    assert {key: copied.get_params()[key] for key in ours} == ours
    assert repr(copied.constraints) == "[(by_column(DemographicParity, sensitive_features='sex'), 1.0)]"
    # The booster gets XGBoost's parameters and no other.
    assert set(plain().get_xgb_params()) | {"some_new_parameter"} == set(model.get_xgb_params())

    model.set_params(kl_weight=0.25, teacher__C=7.0, max_depth=2)
    assert (model.kl_weight, model.teacher.C, model.max_depth) == (0.25, 7.0, 2)
    assert copied.teacher.C == 3.0
    with pytest.raises(ValueError, match=r"teacher__C needs an estimator.*got teacher='boosted'"):
        model.set_params(teacher="boosted", teacher__C=1.0)


@pytest.mark.parametrize("classes", [2, 3, 0])
def test_pickle_joblib_and_clone_of_a_fitted_estimator(classes, tmp_path):
    x, z, y = rows(classes=classes)
    labels = NAMES["strings"][y] if classes else y
    model = estimator(classes, method="jpib", kl_weight=2.0).fit(x, labels, privileged=z)
    joblib.dump(model, tmp_path / "model.joblib")
    for copied in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        assert np.array_equal(copied.predict(x), model.predict(x))
    again = clone(model)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        again.predict(x)
    assert same_model(again.fit(x, labels, privileged=z), model)


@pytest.mark.parametrize("classes", [2, 3, 0])
@pytest.mark.parametrize("ending", ["ubj", "json"])
@pytest.mark.slow
def test_save_and_load(classes, ending, tmp_path):
    x, z, y = rows(classes=classes)
    labels = NAMES["objects"][y] if classes else y
    model = estimator(classes).fit(x, labels, privileged=z)
    before = model.get_booster().save_raw()
    model.save_model(tmp_path / f"model.{ending}")
    loaded = estimator(classes)
    loaded.load_model(tmp_path / f"model.{ending}")
    assert np.array_equal(loaded.predict(x), model.predict(x))
    if classes:
        assert loaded.classes_.tolist() == model.classes_.tolist()
        assert np.array_equal(loaded.predict_proba(x), model.predict_proba(x))
    # Neither saving nor loading leaves a trace in the booster.
    assert model.get_booster().save_raw() == loaded.get_booster().save_raw() == before
    # XGBoost's own estimator reads the same file.
    own = plain(classes)
    own.load_model(tmp_path / f"model.{ending}")
    expected = own.predict(x) if classes == 0 else model.classes_[own.predict(x)]
    assert np.array_equal(model.predict(x), expected)


def test_a_loaded_estimator_forgets_the_classes_it_had(tmp_path):
    x, z, y = rows()
    estimator().fit(x, y, privileged=z).save_model(tmp_path / "numbers.ubj")
    model = estimator().fit(x, np.where(y == 1, "yes", "no"), privileged=z)
    with pytest.raises(xgb.core.XGBoostError):
        model.save_model(tmp_path / "no folder" / "names.ubj")
    assert model.get_booster().attr("pi_xgb_classes") is None
    model.load_model(tmp_path / "numbers.ubj")
    assert model.classes_.tolist() == [0, 1]
    dated = estimator().fit(x, NAMES["dates"][y], privileged=z)
    with pytest.raises(TypeError, match=r"classes.*file.*strings"):
        dated.save_model(tmp_path / "dates.ubj")


def test_fit_leaves_the_users_objects_alone_and_can_be_repeated():
    x, z, y = rows()
    both = x.join(z)
    params, constraints = {"max_depth": 2}, [(by_column(DemographicParity, "z1"), 0.5)]
    both["z1"] = (both["z1"] > 0).astype(int)
    kept = both.copy(), y.copy()
    model = estimator(privileged_features=["z0", "z1"], teacher_params=params, constraints=constraints)
    names = np.where(y == 1, "yes", "no")
    first = model.fit(both, names, eval_set=[(both, names)], verbose=False).get_booster().save_raw()
    second = model.fit(both, names, eval_set=[(both, names)], verbose=False).get_booster().save_raw()
    assert first == second
    # The classes of the first fit do not stand in the way of another.
    assert model.fit(both, y).classes_.tolist() == [0, 1]
    pd.testing.assert_frame_equal(both, kept[0])
    pd.testing.assert_series_equal(y, kept[1])
    assert params == {"max_depth": 2}
    assert len(constraints) == 1


def test_the_teacher_can_be_seen_and_stays_out_of_pickles():
    made = pi_xgb.datasets.make_privileged(200, seed=0)
    few = {"n_estimators": 5, "max_depth": 2, "n_jobs": 1, "teacher": "boosted"}
    model = PrivilegedXGBClassifier(**few, crossfit=3).fit(made.x, made.y, privileged=made.z)
    params, dprivileged = model.get_xgb_params(), xgb.DMatrix(made.z, made.y)
    expected = pi_xgb.fit_teacher(params, dprivileged, 5, teacher="boosted", crossfit=3)
    assert np.array_equal(model.teacher_.values, expected.values)
    assert repr(model.teacher_) == repr(expected)
    for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), clone(model)):
        assert not hasattr(copied, "teacher_")
    # The default, the joint one, one that nobody trains, and nobody.
    mixed = clone(model).set_params(teacher=None).fit(made.x, made.y, privileged=made.z).teacher_
    assert mixed.kind == "mixed"
    everything = xgb.DMatrix(made.x.join(made.z), made.y)
    assert np.array_equal(mixed.values, pi_xgb.fit_teacher(params, everything, 5, teacher="mixed", crossfit=3).values)
    model = PrivilegedXGBClassifier(**few, method="jpib").fit(made.x, made.y, privileged=made.z)
    assert model.teacher_.booster.num_features() == 3
    silent = PrivilegedXGBClassifier(**few, kl_weight=0).fit(made.x, made.y, privileged=made.z)
    assert silent.teacher_ is None
    parity = [(DemographicParity(made.group), 1.0)]
    beside = PrivilegedXGBClassifier(**few, crossfit=3, constraints=parity).fit(made.x, made.y, privileged=made.z)
    assert np.array_equal(beside.teacher_.values, expected.values)


# --- values per row ------------------------------------------------------------------------------------------


def test_weights_of_unlabelled_rows_count_for_the_teacher():
    rows = Rows()
    models = []
    for factor in (1.0, 5.0):
        weight = np.where(rows.labelled, 1.0, factor)
        models.append(rows.estimator(crossfit=2).fit(rows.x, rows.y, privileged=rows.z, sample_weight=weight))
    assert raw(models[0]) != raw(models[1])
    with pytest.raises(ValueError, match=r"sample_weight must .* 0 in every row that has a label"):
        models[0].fit(rows.x, rows.y, privileged=rows.z, sample_weight=~rows.labelled * 1.0)
    with pytest.raises(ValueError, match="sample_weight must have one value for each of the 160 rows of X, got 3"):
        models[0].fit(rows.x, rows.y, privileged=rows.z, sample_weight=[1.0] * 3)


@pytest.mark.parametrize("method", ["kbpib", "jpib"])
def test_teacher_weight_counts_for_the_teacher_and_not_for_constraints(method):
    rows = Rows()
    group = np.arange(N) % 2
    parity = [(DemographicParity(group, match="mean"), 3.0)]
    model = rows.estimator(kl_weight=2.0, method=method, teacher="boosted", constraints=parity)
    model.fit(rows.x, rows.y, privileged=rows.z, teacher_weight=rows.teacher_weight)
    dprivileged, params = xgb.DMatrix(rows.z, rows.full), rows.params()
    if method == "kbpib":
        learned = pi_xgb.fit_teacher(params, dprivileged, ROUNDS, teacher="boosted", labelled=rows.labelled)
    else:
        learned = pi_xgb.JointTeacher(dprivileged, params)
    pairs = [(learned, 2.0 * rows.teacher_weight), *parity]
    assert nameless(model) == nameless(rows.by_train(teacher=pairs, labelled=rows.labelled))
    with pytest.raises(ValueError, match=r"teacher_weight is not supported with a list"):
        rows.estimator(constraints=parity).fit(rows.x, rows.full, teacher_weight=rows.teacher_weight)


def test_groups_are_not_read_where_nothing_is_cross_fitted():
    rows = Rows()
    # So that one search can go through crossfit, or through the methods.
    in_sample = {"teacher": LogisticRegression(), "crossfit": 0}
    for parameters in ({"teacher": "boosted"}, {"crossfit": 0}, {"method": "jpib"}, in_sample, {"kl_weight": 0}):
        model = rows.estimator(**parameters).fit(rows.x, rows.y, privileged=rows.z, crossfit_groups=rows.patient)
        assert raw(model) == raw(rows.estimator(**parameters).fit(rows.x, rows.y, privileged=rows.z))
    with pytest.raises(ValueError, match="crossfit_groups requires a teacher"):
        rows.estimator(kl_weight=0).fit(rows.x, rows.full, crossfit_groups=rows.patient)


UNNAMED = {
    "frames": lambda table: table,
    "arrays": lambda table: table.to_numpy(),
    "sparse": lambda table: sparse.csr_matrix(np.nan_to_num(table.to_numpy())),
    "X without names": None,
}


@pytest.mark.parametrize("sees", ["privileged", "all"])
@pytest.mark.parametrize("kind", UNNAMED)
@pytest.mark.slow
def test_rows_without_privileged_values_are_not_taught(sees, kind):
    rows = Rows()
    rows.z[::4] = np.nan
    known = np.where(np.arange(N) % 4, 1.0, 0.0)
    as_x = UNNAMED[kind] or UNNAMED["arrays"]
    as_z = UNNAMED[kind] or UNNAMED["frames"]
    model = rows.estimator(teacher_sees=sees, crossfit=2, kl_weight=5.0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*neither a label")
        with pytest.warns(UserWarning, match=r"40.*160.*privileged"):
            found = raw(model.fit(as_x(rows.x), rows.y, privileged=as_z(rows.z)))
    with pytest.warns(UserWarning, match=r"neither.*label.*teacher"):
        model.fit(as_x(rows.x), rows.y, privileged=as_z(rows.z), teacher_weight=known)
    # teacher_weight=0 in these rows says the same, and 1 the opposite.
    assert raw(model) == found
    assert raw(model.fit(as_x(rows.x), rows.y, privileged=as_z(rows.z), teacher_weight=np.ones(N))) != found


def test_an_estimator_does_not_judge_rows_without_privileged_values():
    rows = Rows()
    gaps = rows.z.copy()
    gaps[::4] = np.nan
    known = np.where(np.arange(N) % 4, 1.0, 0.0)
    alone = {"teacher_sees": "privileged", "crossfit": 0, "kl_weight": 2.0}
    model = rows.estimator(teacher=LogisticRegression(), **alone)
    with pytest.warns(UserWarning, match=r"40.*160.*privileged"):
        model.fit(rows.x, rows.full, privileged=gaps)  # LogisticRegression takes no NaN
    whole = known > 0
    q = np.zeros(N)
    q[whole] = LogisticRegression().fit(rows.z[whole], rows.full[whole]).predict_proba(rows.z[whole])[:, 1]
    assert nameless(model) == nameless(rows.by_train(teacher=q, kl_weight=2.0, teacher_weight=known))


# --- teachers and constraints --------------------------------------------------------------------------------


@every_target
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.slow
def test_an_estimator_learns_from_labelled_rows_and_judges_all(classes, grouped):
    rows = Rows(classes)
    teacher = LogisticRegression() if classes else LinearRegression()
    of_rows = {"crossfit_groups": rows.patient} if grouped else {}
    alone = {"teacher": teacher, "teacher_sees": "privileged", "kl_weight": 2.0}
    model = rows.estimator(**alone, crossfit=3)
    model.fit(rows.x, rows.y, privileged=rows.z, sample_weight=rows.weight, **of_rows)

    # By hand: what each row is told by the model that knows neither it nor its group, the others by one of all rows.
    label = rows.full.to_numpy(np.float32)
    groups = rows.patient if grouped else None
    fold_of = deal_labelled(label, rows.labelled, groups, 3, 0, classes=classes > 0)
    assert (fold_of[rows.labelled] >= 0).all()
    of_none = -1
    assert set(fold_of) == {of_none, 0, 1, 2}
    q = np.zeros((N, classes) if classes else N)
    for fold in (of_none, 0, 1, 2):
        fit = rows.labelled & (fold_of != fold)
        single = clone(teacher).fit(rows.z[fit], label[fit], sample_weight=rows.weight[fit])
        told = single.predict_proba(rows.z) if classes else single.predict(rows.z)
        q[fold_of == fold] = told[fold_of == fold]
    q = q[:, 1] if classes == 2 else q
    expected = rows.by_train(weight=rows.weight, teacher=q, kl_weight=2.0, labelled=rows.labelled)
    np.testing.assert_allclose(
        model.get_booster().predict(xgb.DMatrix(rows.x)), expected.predict(xgb.DMatrix(rows.x)), atol=1e-6
    )
    # In-sample: one model of all labelled rows.
    model = rows.estimator(**alone, crossfit=0).fit(rows.x, rows.y, privileged=rows.z)
    single = clone(teacher).fit(rows.z[rows.labelled], label[rows.labelled])
    q = single.predict_proba(rows.z) if classes else single.predict(rows.z)
    q = q[:, 1] if classes == 2 else q
    assert nameless(model) == nameless(rows.by_train(teacher=q, kl_weight=2.0, labelled=rows.labelled))


def test_the_classes_of_another_estimator_are_matched_by_name():
    x, z, y = rows()
    names = np.where(y == 1, "sick", "well")  # the class 1 of the published model is the first one here
    for teacher in (LogisticRegression(), LogisticRegression(C=0.1)):
        frozen = FrozenEstimator(clone(teacher).fit(z, names))
        model = estimator(teacher=frozen, teacher_sees="privileged").fit(x, names, privileged=z)
        assert same_as_train(model, x, 1 - y, 2, teacher=frozen.predict_proba(z)[:, 1], kl_weight=2.0)
        # A fresh one learns the numbers of the classes, and may list them in any order too.
        model = estimator(teacher=teacher, teacher_sees="privileged", crossfit=0).fit(x, names, privileged=z)
        q = clone(teacher).fit(z, 1 - y).predict_proba(z)[:, 1]
        assert same_as_train(model, x, 1 - y, 2, teacher=q, kl_weight=2.0)
    # Classes of other names would be taken for one another without a word.
    numbered = FrozenEstimator(LogisticRegression().fit(z, y))
    with pytest.raises(ValueError, match=r"classes of y.*got \[.*0.*1.*\]"):
        estimator(teacher=numbered, teacher_sees="privileged").fit(x, names, privileged=z)
    with pytest.raises(ValueError, match=r"crossfit must be 0 .*frozen.*got 2"):
        estimator(teacher=numbered, crossfit=2).fit(x, y, privileged=z)


@pytest.mark.parametrize("sees", ["privileged", "all"])
def test_an_estimator_reads_columns_that_xgboost_cannot_read(sees):
    x, z, y = rows()
    ward = pd.DataFrame({"ward": np.where(z["z0"] > 0, "a", "b")})
    teacher = make_pipeline(OneHotEncoder(), LogisticRegression())
    model = estimator(teacher=teacher, teacher_sees=sees, crossfit=0).fit(x, y, privileged=ward)
    seen = ward if sees == "privileged" else x.join(ward)
    q = clone(teacher).fit(seen, y).predict_proba(seen)[:, 1]
    assert same_as_train(model, x, y, 2, teacher=q, kl_weight=2.0)  # the default of a teacher that is trained here


def test_a_class_that_a_fold_lacks_has_probability_0_there():
    rows = Rows(3)
    # The class 2 is on one row, which one of the two models has not seen.
    y = rows.y.where(rows.y < 2)
    y.iloc[0] = 2.0
    model = rows.estimator(teacher=LogisticRegression(), crossfit=2, kl_weight=2.0)
    with pytest.warns(UserWarning, match="crossfit should be at most 1, .* got 2"):
        model.fit(rows.x, y, privileged=rows.z)
    assert model.predict_proba(rows.x).shape == (N, 3)


def test_an_estimator_learns_only_where_it_teaches():
    x, z, y = rows()
    fits = []

    class Counted(LogisticRegression):
        def fit(self, *given, **how):
            fits.append(1)
            return super().fit(*given, **how)

    for kl_weight in (0.0, 1.0):
        model = estimator(teacher=Counted(), kl_weight=kl_weight, crossfit=0).fit(x, y, privileged=z)
        assert len(fits) == (kl_weight > 0)
        assert same_model(model, plain().fit(x, y)) == (kl_weight == 0)


def test_a_teacher_of_the_library_serves_one_fit():
    x, z, y = rows()
    learned = pi_xgb.fit_teacher({"objective": "binary:logistic"}, xgb.DMatrix(z, y), 5, crossfit=2)
    model = estimator(teacher=learned, kl_weight=1.5).fit(x, y)
    assert same_as_train(model, x, y, 2, teacher=learned, kl_weight=1.5)


@pytest.mark.parametrize("method", ["kbpib", "jpib"])
@pytest.mark.parametrize("classes", [2, 0])
def test_constraints_join_the_privileged_teacher(method, classes):
    x, z, y = rows(classes=classes)
    group = pd.Series(np.where(z["z0"] > 0, "a", "b"), name="group")
    guiding = {"method": method, "kl_weight": 1.0, "teacher": "boosted"}
    by_name = estimator(
        classes,
        **guiding,
        privileged_features=["group", "z0", "z1"],
        constraints=[(by_column(DemographicParity, "group", match="mean"), 3.0)],
    ).fit(x.join(group).join(z), y)
    params, dpriv = params_of(by_name, classes), xgb.DMatrix(z, y)
    if method == "jpib":
        learned = pi_xgb.JointTeacher(dpriv, params)
    else:
        learned = pi_xgb.fit_teacher(params, dpriv, 8, teacher="boosted")

    # The constraint reads its column, the learned teacher the other privileged columns, the student neither.
    pairs = [(learned, 1.0), (DemographicParity(group, match="mean"), 3.0)]
    assert same_as_train(by_name, x, y, classes, teacher=pairs)
    by_value = estimator(classes, **guiding, constraints=[(DemographicParity(group, match="mean"), 3.0)])
    assert same_model(by_value.fit(x, y, privileged=z), by_name)
    apart = estimator(classes, **guiding, constraints=by_name.constraints)
    assert same_model(apart.fit(x, y, privileged=z.join(group)), by_name)


@pytest.mark.parametrize("classes", [2, 3, 0])
def test_soft_labels_of_fit_are_the_teacher_of_train(classes):
    x, z, y = rows(classes=classes)
    share = z["z0"].rank(pct=True).to_numpy()
    q = {2: share, 3: np.stack([share / 2, 1 - share, share / 2], axis=1), 0: 9 * share}[classes]
    model = estimator(classes, kl_weight=2.0, teacher="boosted")
    nobody = np.zeros(len(x), bool)
    for none in (None, np.full(len(x), np.nan), [None] * len(x)):
        assert same_as_train(model.fit(x, none, teacher=q), x, y, classes, teacher=q, kl_weight=2.0, labelled=nobody)
    assert classes == 0 or model.classes_.tolist() == list(range(classes))
    assert same_as_train(model.fit(x, y, teacher=q), x, y, classes, teacher=q, kl_weight=2.0)
    assert model.teacher == "boosted"
    with pytest.raises(ValueError, match=r"kl_weight.*above 0 where no row has a label"):
        estimator(classes, kl_weight=0).fit(x, None, teacher=q)
    if classes:
        with pytest.raises(ValueError, match=r"sum to 1|lie in \[0, 1\]"):
            model.fit(x, None, teacher=1.5 * q)
    assert model.teacher == "boosted"
    with pytest.raises(ValueError, match="teacher and X have the same index in another order"):
        model.fit(x, None, teacher=pd.DataFrame(q, x.index).iloc[::-1].squeeze())


def test_soft_labels_may_be_named_by_class():
    x, z, y = rows(classes=3)
    share = z["z0"].rank(pct=True)
    q, names = pd.DataFrame({"b": 1 - share, "a": share / 2, "c": share / 2}), np.array(list("abc"))[y]
    model = estimator(3, kl_weight=2.0)
    swapped = model.fit(x, names, teacher=q).predict_proba(x)
    np.testing.assert_array_equal(swapped, model.fit(x, names, teacher=q[["a", "b", "c"]].to_numpy()).predict_proba(x))
    # Several targets have no classes to be named by.
    targets = np.stack([share, 1 - share], axis=1)
    assert estimator(0, kl_weight=2.0).fit(x, targets, teacher=q[["a", "b"]]).predict(x).shape == targets.shape

"""The scikit-learn estimators: XGBoost's own to the bit where nobody teaches, pi_xgb.train's where somebody does."""

from __future__ import annotations

import copy
import datetime
import io
import pickle
import struct
import subprocess
import sys
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
import xgboost as xgb
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer, log_loss
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

import pi_xgb
from pi_xgb._rows.views import divide
from pi_xgb.constraints import DemographicParity, EqualizedOdds, IndividualFairness, Meritocracy
from pi_xgb.sklearn import (
    PrivilegedXGBClassifier,
    PrivilegedXGBClassifierCV,
    PrivilegedXGBRanker,
    PrivilegedXGBRegressor,
    by_column,
)


@pytest.fixture(autouse=True)
def one_thread():
    """Setting labels ignores n_jobs, and threads that wait for each other make small data slow on a busy machine."""
    with threadpool_limits(1, user_api="openmp"):
        yield


SMALL = {"n_estimators": 8, "max_depth": 3, "n_jobs": 1}


def rows(n=240, classes=2, seed=0):
    """X, privileged and y: 0/1, several classes or, with ``classes=0``, numbers."""
    data = pi_xgb.datasets.make_privileged(n, n_features=4, n_privileged=2, seed=seed)
    if classes == 0:
        return data.x, data.z, data.q
    if classes == 2:
        return data.x, data.z, data.y
    return data.x, data.z, pd.qcut(data.q, classes, labels=False)


def estimator(classes=2, **parameters):
    made = PrivilegedXGBRegressor if classes == 0 else PrivilegedXGBClassifier
    return made(**{**SMALL, **parameters})


def plain(classes=2, **parameters):
    made = xgb.XGBRegressor if classes == 0 else xgb.XGBClassifier
    return made(**{**SMALL, **parameters})


def params_of(model, classes):
    params = {key: value for key, value in model.get_xgb_params().items() if value is not None}
    return params if classes in (0, 2) else {**params, "objective": "multi:softprob", "num_class": classes}


def same_model(first, second):
    return first.get_booster().save_raw() == second.get_booster().save_raw()


# --- the model of pi_xgb.train ------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3, 0])
@pytest.mark.parametrize(
    "guiding",
    [
        {},
        {"kl_weight": 2.0, "crossfit": 3},
        {"method": "jpib", "kl_weight": 1.0},
        {"teacher_params": {"max_depth": 1, "nthread": 1}},
        {"teacher_sees": "all", "crossfit": 2},
    ],
)
def test_a_fitted_estimator_is_the_model_of_train(classes, guiding):
    x, z, y = rows(classes=classes)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y)).astype(np.float32)
    model = estimator(classes, subsample=0.8, random_state=3, **guiding)
    params = params_of(model, classes)
    model.fit(x, y, privileged=z, sample_weight=weight)

    keywords = {key: value for key, value in guiding.items() if key != "teacher_sees"}
    sees_all = guiding.get("teacher_sees") == "all"
    expected = pi_xgb.train(
        params,
        xgb.QuantileDMatrix(x, y, weight=weight),
        SMALL["n_estimators"],
        privileged=xgb.DMatrix(x.join(z) if sees_all else z, y),
        allow_overlap=sees_all,
        **keywords,
    )

    # The estimator is pi_xgb.train on the same data: the same booster to the last byte, attributes included.
    assert model.get_booster().save_raw() == expected.save_raw()


def test_margins_to_start_from_are_the_students_alone():
    x, z, y = rows()
    margin = np.linspace(-1, 1, len(y)).astype(np.float32)
    model = estimator(kl_weight=2.0).fit(x, y, privileged=z, base_margin=margin)
    dtrain = xgb.QuantileDMatrix(x, y, base_margin=margin)
    expected = pi_xgb.train(params_of(model, 2), dtrain, 8, privileged=xgb.DMatrix(z, y), kl_weight=2.0)
    assert model.get_booster().save_raw() == expected.save_raw()


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


def test_evaluation_columns_are_found_by_name():
    x, z, y = rows()
    group = pd.Series((z["z0"] > 0).astype(int), name="group")
    stopping = {"early_stopping_rounds": 2, "n_estimators": 40, "learning_rate": 0.8}

    def fitted(table, **keywords):
        model = estimator(constraints=[(by_column(DemographicParity, "group"), 0.1)], **stopping, **keywords)
        apart = {"eval_set": [(x[:80], y[:80])], "eval_privileged": [table], "verbose": False}
        return model.fit(x, y, privileged=z.join(group), **apart)

    expected = fitted(z.join(group)[:80])
    # Their order does not matter, and a group column is no concern of an evaluation.
    assert same_model(fitted(z[["z1", "z0"]][:80]), expected)
    assert same_model(fitted(as_polars(z[["z1", "z0"]][:80])), expected)
    with pytest.raises(ValueError, match=r"privileged.*eval_set\[0\] lack 'z1'"):
        fitted(z[["z0"]][:80])
    with pytest.raises(ValueError, match=r"privileged columns.*eval_set\[0\] lack some"):
        fitted(z.to_numpy()[:80])


def test_engine_is_passed_on():
    x, z, y = rows()
    with pytest.raises(ValueError, match="engine must be one of"):
        estimator(engine="fast").fit(x, y, privileged=z)


# --- XGBoost's own model where nobody teaches ---------------------------------------------------------------


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

    # Predictions, history and best round are XGBoost's to the bit, for all of its parameters.
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
    with pytest.warns(UserWarning, match=r"kl_weight=.*privileged columns.*plain XGBoost"):
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


def test_several_targets_and_labels_stay_possible_without_a_teacher():
    x, z, y = rows()
    several = np.column_stack([y, 1 - y, y])
    for classes, more in ((2, {}), (0, {"objective": "reg:logistic"})):
        guided = estimator(classes, kl_weight=0, **more).fit(x, several)
        assert np.array_equal(guided.predict(x), plain(classes, **more).fit(x, several).predict(x))
    two = several[:, :2]
    with pytest.raises(ValueError, match=r"objective.*reg:absoluteerror.*2 columns"):
        estimator(0, objective="reg:absoluteerror").fit(x, two, privileged=z)
    gaps = two.astype(float)
    gaps[3:5, 1] = gaps[9] = np.nan
    for classes in (0, 2):
        with pytest.raises(ValueError, match=r"y must have all 2 labels.* 2 of 240 rows.*row 3"):
            estimator(classes).fit(x, gaps, privileged=z)
        with pytest.raises(ValueError, match=r"y .*row.*label"):
            estimator(classes).fit(x, gaps * np.nan, privileged=z)


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
    with pytest.raises(ValueError, match=r"teacher .*y with 2 columns.*teacher='boosted'"):
        estimator(2, teacher=LogisticRegression()).fit(x, several[:, :2], privileged=z)


def test_the_training_rows_among_the_evaluation_sets_are_recognised(monkeypatch):
    x, z, y = rows()
    both = x.join(z)
    built = []
    original = xgb.QuantileDMatrix.__init__

    def counting(self, *args, **kwargs):
        built.append(kwargs.get("ref"))
        original(self, *args, **kwargs)

    monkeypatch.setattr(xgb.QuantileDMatrix, "__init__", counting)
    names = np.where(y == 1, "yes", "no")
    estimator(privileged_features=list(z)).fit(both, names, eval_set=[(both, names)], verbose=False)
    # Splitting X and encoding y must not make XGBoost quantise the same rows twice.
    assert built == [None]


# --- every kind of table ------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("kind", ["Classifier", "Regressor", "ClassifierCV", "RegressorCV"])
def test_older_scripts_pass_arguments_by_position(kind):
    ours = getattr(pi_xgb.sklearn, f"PrivilegedXGB{kind}")
    theirs = getattr(xgb, f"XGB{kind.removesuffix('CV')}")
    found = {}
    for made in (ours, theirs):
        with pytest.warns(FutureWarning, match="Pass `objective` as keyword args"):
            found[made] = made("binary:logistic", **SMALL).get_params()["objective"]
    assert found[ours] == found[theirs] == "binary:logistic"


@pytest.mark.parametrize("classes", [2, 0])
def test_fit_and_predict_take_xgboosts_order_of_arguments(classes):
    x, _, y = rows(classes=classes)
    weight, margin = np.linspace(1, 2, len(y)), np.full(len(y), 0.25)
    ours, theirs = estimator(classes, kl_weight=0.0), plain(classes)
    for model in (ours, theirs):
        with pytest.warns(FutureWarning, match=r"`sample_weight.*base_margin.*eval_set"):
            model.fit(x, y, weight, margin, [(x, y)], False)
    assert same_model(ours, theirs)
    for model in (ours, theirs):
        with pytest.warns(FutureWarning, match="Pass `output_margin` as keyword args"):
            model.predict(x, True)
    np.testing.assert_array_equal(ours.predict(x, output_margin=True), theirs.predict(x, output_margin=True))
    with pytest.warns(FutureWarning, match="Pass") as found:
        estimator(classes, kl_weight=0.0).fit(x, y, weight)
    assert found[0].filename == __file__
    with pytest.raises(TypeError, match=r"sample_weight.*position.*keyword"):
        ours.fit(x, y, weight, sample_weight=weight)
    with pytest.raises(TypeError, match=r"early_stopping_rounds.*constructor"):
        ours.fit(x, y, early_stopping_rounds=3)
    if classes:
        with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
            estimator(classes, kl_weight=0.0).fit(x, np.asarray(y)[:, None])


@pytest.mark.filterwarnings("ignore:.*feature_weights")  # XGBoost wants them as a parameter
@pytest.mark.parametrize("classes", [2, 3, 0])
def test_every_keyword_of_fit_and_predict_arrives(classes, capsys):
    (x, _, y), (x_valid, _, y_valid), chance = (
        rows(classes=classes),
        rows(classes=classes, seed=1),
        np.random.default_rng(0),
    )
    n_margins = (len(y), 3) if classes == 3 else len(y)
    keywords = {
        "sample_weight": chance.uniform(0.5, 2, len(y)),
        "base_margin": chance.normal(size=n_margins),
        "eval_set": [(x_valid, y_valid)],
        "sample_weight_eval_set": [chance.uniform(0.5, 2, len(y))],
        "base_margin_eval_set": [chance.normal(size=n_margins)],
        "verbose": 2,
    }
    first = plain(classes, n_estimators=2, max_depth=1).fit(x, y)
    for params, further in (
        ({"colsample_bynode": 0.5, "feature_weights": [9, 1, 1, 0.1]}, {}),
        ({"colsample_bynode": 0.5}, {"feature_weights": [9, 1, 1, 0.1]}),
        ({}, {"xgb_model": first}),
    ):
        theirs = plain(classes, **params).fit(x, y, **keywords, **further)
        shown = capsys.readouterr().out
        ours = estimator(classes, kl_weight=0.0, **params).fit(x, y, **keywords, **further)
        assert capsys.readouterr().out == shown != ""
        assert ours.get_booster().get_dump() == theirs.get_booster().get_dump()
        assert ours.evals_result() == theirs.evals_result()
    keywords = {"base_margin": keywords["base_margin"], "iteration_range": (1, 3)}
    ways = [lambda model: model.predict(x, **keywords), lambda model: model.predict(x, output_margin=True, **keywords)]
    ways += [lambda model: model.apply(x, (0, 3)), lambda model: model.predict(x[["x1", "x0", "x2", "x3"]].to_numpy())]
    if classes:
        ways.append(lambda model: model.predict_proba(x, True, *keywords.values()))
    for way in ways:
        np.testing.assert_array_equal(way(ours), way(theirs))
    # Names are looked at unless the caller says that they need not be.
    renamed = x.rename(columns={"x0": "q"})
    for way in ("predict", "predict_proba") if classes else ("predict",):
        with pytest.raises(ValueError, match="feature_names mismatch"):
            getattr(ours, way)(renamed)
        expected = getattr(theirs, way)(x)
        np.testing.assert_array_equal(getattr(ours, way)(renamed, validate_features=False), expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sees", ["privileged", "all"])
def test_privileged_columns_of_every_kind_teach_the_same(kind, sees):
    x, z, y = rows()
    expected = estimator(teacher_sees=sees, kl_weight=2.0).fit(x, y, privileged=z).predict_proba(x)
    model = estimator(teacher_sees=sees, kl_weight=2.0).fit(x, y, privileged=KINDS[kind](z))
    assert np.array_equal(model.predict_proba(x), expected)


@pytest.mark.filterwarnings("ignore:Using the default parameters for the polars")
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "list"])
def test_X_of_every_kind_that_xgboost_takes(kind):
    x, z, y = rows()
    table = KINDS[kind](x)
    for sees in ("privileged", "all"):
        expected = estimator(teacher_sees=sees).fit(x, y, privileged=z).predict_proba(x)
        model = estimator(teacher_sees=sees).fit(table, y, privileged=z)
        assert np.array_equal(model.predict_proba(table), expected)


@pytest.mark.filterwarnings("ignore:Using the default parameters for the polars")
@pytest.mark.parametrize("kind", KINDS)
def test_privileged_features_of_every_kind(kind):
    x, z, y = rows()
    both = pd.concat([x.iloc[:, :2], z, x.iloc[:, 2:]], axis=1)
    named = kind in ("pandas", "polars", "lazy", "arrow")
    model = estimator(privileged_features=["z0", "z1"] if named else [2, 3])
    model.fit(KINDS[kind](both), y, eval_set=[(KINDS[kind](both), y)], verbose=False)

    # Privileged columns inside X teach what they teach as a table apart.
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


def test_one_privileged_column_may_be_a_series_or_flat():
    x, z, y = rows()
    expected = estimator().fit(x, y, privileged=z[["z0"]]).predict_proba(x)
    polars_series = as_polars(z)["z0"]
    for column in (z["z0"], z["z0"].to_numpy(), z["z0"].tolist(), polars_series):
        assert np.array_equal(estimator().fit(x, y, privileged=column).predict_proba(x), expected)


def test_tables_are_read_as_the_parameters_say(monkeypatch):
    x, z, y = rows(40)
    trainer = estimator(n_jobs=3, missing=-1.0, enable_categorical=True)._trainer(divide(x, None, z, None, None))
    read = []
    monkeypatch.setattr(xgb, "DMatrix", lambda *given, **how: read.append((given, how)))
    trainer.matrix(z, y)
    trainer.matrix(z, y, np.empty(0), base_margin=1)
    trainer.matrix(z, y, y)
    how = {"missing": -1.0, "nthread": 3, "enable_categorical": True}
    expected = [{"weight": None, **how}, {"weight": None, **how, "base_margin": 1}, {"weight": y, **how}]
    assert [found for _, found in read] == expected
    assert all(table is z and label is y for (table, label), _ in read)


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
    model = estimator(teacher_sees="all", crossfit=0, enable_categorical=True).fit(x, y, privileged=z)
    params = params_of(model, 2)
    dtrain = xgb.QuantileDMatrix(x, y, enable_categorical=True)
    dpriv = xgb.DMatrix(x.join(z), y, enable_categorical=True)
    expected = pi_xgb.train(params, dtrain, 8, privileged=dpriv, allow_overlap=True)
    assert model.get_booster().save_raw() == expected.save_raw()


# --- classes ------------------------------------------------------------------------------------------------

NAMES = {
    "strings": np.array(["ill", "healthy", "well"]),
    "objects": np.array(["ill", "healthy", "well"], dtype=object),
    "numbers": np.array([7, -2, 30]),
    "floats": np.array([2.0, 1.0, 4.0]),
    "dates": np.array(["2020-01-02", "2021-01-01", "1999-01-01"], dtype="datetime64[D]"),
}


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("classes", [2, 3])
def test_classes_of_any_type_come_back(kind, classes):
    x, z, y = rows(classes=classes)
    labels = NAMES[kind][:classes][y]
    model = estimator(classes, kl_weight=1.0).fit(x, labels, privileged=z)
    in_order = np.sort(NAMES[kind][:classes])
    codes = np.searchsorted(in_order, labels)
    numbered = estimator(classes, kl_weight=1.0).fit(x, codes, privileged=z)

    # The model is that of the numbered classes, and its answers carry the names.
    assert same_model(model, numbered)
    assert model.classes_.tolist() == in_order.tolist()
    assert np.array_equal(model.predict(x), in_order[numbered.predict(x)])
    assert np.array_equal(model.predict_proba(x), numbered.predict_proba(x))
    assert model.score(x, labels) == numbered.score(x, codes)


@pytest.mark.parametrize(
    "names",
    [
        [datetime.date(2020, 1, 2), datetime.date(2021, 1, 1)],
        list(pd.period_range("2020", periods=2, freq="M")),
        list(pd.interval_range(0, 2)),
        [(1, 2), (1, 3)],
        [1, "a"],
    ],
    ids=lambda names: type(names[0]).__name__,
)
def test_classes_of_types_that_scikit_learn_does_not_know(names):
    x, z, y = rows()
    labels = pd.Series([names[code] for code in y], dtype=object)
    numbered = estimator(crossfit=2).fit(x, y, privileged=z)
    model = estimator(crossfit=2).fit(x, labels, privileged=z, eval_set=[(x, labels)], verbose=False)
    assert same_model(model, numbered)
    assert list(model.classes_) == names
    assert list(model.predict(x)) == [names[code] for code in numbered.predict(x)]
    taught = estimator(teacher=LogisticRegression()).fit(x, labels.where(y.index > 20), privileged=z)
    assert list(taught.classes_) == names


def test_labels_of_every_kind_of_column():
    x, z, y = rows()
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    names = np.where(y == 1, "yes", "no")
    expected = estimator().fit(x, names, privileged=z).predict(x)
    for labels in (
        names.tolist(),
        pd.Series(names),
        pd.Series(names, dtype="category"),
        pd.Series(names, dtype="string"),
        pd.Categorical(names, categories=["yes", "no", "unused"]),
        polars.Series(names),
        arrow.array(names),
        arrow.chunked_array([names]),
    ):
        assert np.array_equal(estimator().fit(x, labels, privileged=z).predict(x), expected)
    truth = estimator().fit(x, y == 1, privileged=z)
    assert truth.classes_.tolist() == [False, True]
    assert np.array_equal(truth.predict(x), expected == "yes")


def test_evaluation_labels_are_encoded_along():
    x, z, y = rows()
    names = np.where(y == 1, "yes", "no")
    sets = {"eval_set": [(x, names), (x[:50], names[:50])], "eval_privileged": [z, z[:50]], "verbose": False}
    model = estimator(early_stopping_rounds=2).fit(x, names, privileged=z, **sets)
    sets = {"eval_set": [(x, y), (x[:50], y[:50])], "eval_privileged": [z, z[:50]], "verbose": False}
    numbered = estimator(early_stopping_rounds=2).fit(x, y, privileged=z, **sets)
    assert model.evals_result() == numbered.evals_result()
    assert same_model(model, numbered)


def test_multi_softmax_predicts_the_names_of_its_classes():
    x, z, y = rows(classes=3)
    names = NAMES["strings"][y]
    model = estimator(objective="multi:softmax").fit(x, names, privileged=z)
    assert np.array_equal(model.predict(x), model.classes_[model.predict_proba(x).argmax(axis=1)])
    assert model.predict(x, output_margin=True).shape == (len(y), 3)


def test_two_classes_as_multi_class_predict_as_xgboosts_estimator_does():
    x, z, y = rows()
    two = {"objective": "multi:softprob", "num_class": 2}
    model = estimator(kl_weight=0, **two).fit(x, y, privileged=z)
    assert np.array_equal(model.predict(x), plain(**two).fit(x, y).predict(x))


# --- no leak ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("guiding", [{"crossfit": 2}, {"method": "jpib"}, {"teacher_sees": "all"}])
@pytest.mark.parametrize("classes", [2, 3, 0])
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


# --- parameters, copies, files ------------------------------------------------------------------------------


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


def test_set_params_of_a_fitted_estimator_reaches_the_booster_only_with_what_it_knows(recwarn):
    x, z, y = rows()
    model = estimator(verbosity=1).fit(x, y, privileged=z)
    before = model.predict_proba(x)
    model.set_params(kl_weight=9.0, crossfit=2, n_jobs=2)
    assert np.array_equal(model.predict_proba(x), before)
    assert not recwarn.list


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
def test_save_and_load(classes, ending, tmp_path):
    x, z, y = rows(classes=classes)
    labels = NAMES["objects"][y] if classes else y
    model = estimator(classes).fit(x, labels, privileged=z)
    before = model.get_booster().save_raw()
    model.save_model(tmp_path / f"model.{ending}")
    loaded = estimator(classes)
    loaded.load_model(tmp_path / f"model.{ending}")
    # The file gives back an estimator that predicts, by the names of the classes.
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


# --- scikit-learn's tools -----------------------------------------------------------------------------------


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("classes", [2, 0])
def test_a_grid_search_scores_as_a_hand_written_loop(classes):
    x, z, y = rows(classes=classes)
    grid = {"kl_weight": [0.0, 0.5, 4.0], "crossfit": [0, 2]}
    folds = StratifiedKFold(3) if classes else KFold(3)
    scoring = "neg_log_loss" if classes else "neg_mean_squared_error"
    search = GridSearchCV(
        estimator(classes).set_fit_request(privileged=True), grid, cv=folds, scoring=scoring, refit=True
    ).fit(x, y, privileged=z)

    for k, (fit, out) in enumerate(folds.split(x, y)):
        for cell, parameters in enumerate(search.cv_results_["params"]):
            model = estimator(classes, **parameters)
            model.fit(x.iloc[fit], y.iloc[fit], privileged=z.iloc[fit])
            score = get_scorer(scoring)(model, x.iloc[out], y.iloc[out])
            # Cell by cell the score of the loop that cuts privileged by hand.
            assert search.cv_results_[f"split{k}_test_score"][cell] == score
    refitted = estimator(classes, **search.best_params_).fit(x, y, privileged=z)
    assert same_model(search.best_estimator_, refitted)


@pytest.mark.usefixtures("routing")
def test_routing_through_pipeline_calibration_stacking_and_cross_validation():
    x, z, y = rows()
    names = np.where(y == 1, "yes", "no")
    model = estimator(kl_weight=2.0).set_fit_request(privileged=True)
    scaled = Pipeline([("scale", StandardScaler().set_output(transform="pandas")), ("model", model)])
    by_hand = estimator(kl_weight=2.0).fit(
        StandardScaler().set_output(transform="pandas").fit_transform(x), names, privileged=z
    )
    assert same_model(scaled.fit(x, names, privileged=z)[-1], by_hand)

    folds = StratifiedKFold(3)
    scores = cross_validate(model, x, names, cv=folds, params={"privileged": z}, scoring="neg_log_loss")["test_score"]
    for (fit, out), score in zip(folds.split(x, names), scores, strict=True):
        item = estimator(kl_weight=2.0).fit(x.iloc[fit], names[fit], privileged=z.iloc[fit])
        assert score == -log_loss(names[out], item.predict_proba(x.iloc[out]), labels=item.classes_)

    calibrated = CalibratedClassifierCV(model, cv=folds).fit(x, names, privileged=z)
    for (fit, _), item in zip(folds.split(x, names), calibrated.calibrated_classifiers_, strict=True):
        assert same_model(item.estimator, estimator(kl_weight=2.0).fit(x.iloc[fit], names[fit], privileged=z.iloc[fit]))
    # scikit-learn hands the metadata of a stack to its last estimator as well, routed or not, so that must take it.
    stack = StackingClassifier([("guided", model), ("plain", LogisticRegression())], final_estimator=model, cv=folds)
    stack.fit(x, names, privileged=z)
    assert same_model(stack.estimators_[0], estimator(kl_weight=2.0).fit(x, names, privileged=z))
    assert set(stack.predict(x)) <= {"yes", "no"}


def test_without_routing_privileged_features_serve_every_tool():
    x, z, y = rows()
    both = x.join(z)
    folds = StratifiedKFold(3)
    model = estimator(privileged_features=["z0", "z1"], kl_weight=2.0)

    search = GridSearchCV(model, {"kl_weight": [0.0, 2.0]}, cv=folds, scoring="neg_log_loss").fit(both, y)
    for k, (fit, out) in enumerate(folds.split(x, y)):
        single = estimator(kl_weight=2.0).fit(x.iloc[fit], y.iloc[fit], privileged=z.iloc[fit])
        score = -log_loss(y.iloc[out], single.predict_proba(x.iloc[out]))
        assert search.cv_results_[f"split{k}_test_score"][1] == score
    # A search, a calibration and a stack that were fitted with the columns predict without them.
    for tool in (
        search,
        CalibratedClassifierCV(model, cv=folds).fit(both, y),
        StackingClassifier([("a", model), ("b", clone(model).set_params(method="jpib"))], cv=folds).fit(both, y),
    ):
        assert np.array_equal(tool.predict_proba(x), tool.predict_proba(both))


def test_without_routing_scikit_learn_cuts_what_is_passed_to_fit():
    x, z, y = rows()
    folds = StratifiedKFold(2)
    search = GridSearchCV(estimator(), {"kl_weight": [2.0]}, cv=folds, scoring="neg_log_loss")
    search.fit(x, y, privileged=z)
    pipe = Pipeline([("model", estimator(kl_weight=2.0))])
    crossed = cross_validate(pipe, x, y, cv=folds, params={"model__privileged": z}, scoring="neg_log_loss")
    for k, (fit, out) in enumerate(folds.split(x, y)):
        single = estimator(kl_weight=2.0).fit(x.iloc[fit], y.iloc[fit], privileged=z.iloc[fit])
        score = -log_loss(y.iloc[out], single.predict_proba(x.iloc[out]))
        assert search.cv_results_[f"split{k}_test_score"][0] == crossed["test_score"][k] == score


def test_columns_prepared_in_a_pipeline_keep_their_names():
    x, z, y = rows()
    both = x.join(z)
    prepare = ColumnTransformer(
        [("scale", StandardScaler(), ["x0", "x1", "z0"])], remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    pipe = Pipeline([("prepare", prepare), ("model", estimator(privileged_features=["z0", "z1"]))])
    pipe.fit(both, y)
    assert pipe[-1].feature_names_in_.tolist() == ["x0", "x1", "x2", "x3"]
    shuffled = both.assign(z0=both["z0"].sample(frac=1, random_state=0).to_numpy())
    assert np.array_equal(pipe.predict_proba(shuffled), pipe.predict_proba(both))
    # Without names the columns are found by position.
    array = Pipeline([("scale", StandardScaler()), ("model", estimator(privileged_features=[4, 5]))])
    array.fit(both.to_numpy(), y)
    assert array[-1].n_features_in_ == 4


def first_column(X):
    """The first column of whatever a check passes as X, as the privileged one; it is the student's, too."""
    table = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    return table[:, :1] if table.ndim == 2 and table.shape[1] else None


class GuidedClassifier(PrivilegedXGBClassifier):
    def fit(self, X, y, *, sample_weight=None):
        return super().fit(X, y, sample_weight=sample_weight, privileged=first_column(X))


class GuidedRegressor(PrivilegedXGBRegressor):
    def fit(self, X, y, *, sample_weight=None):
        return super().fit(X, y, sample_weight=sample_weight, privileged=first_column(X))


# What scikit-learn's checks find, and why it stays.
INHERITED = {
    "check_estimators_overwrite_params": "XGBClassifier.fit sets objective to multi:softprob for several classes",
    "check_dont_overwrite_parameters": "the same",
    "check_dont_overwrite_attributes": "the same, by its name in older versions",
    "check_classifiers_multilabel_output_format_predict": "XGBClassifier predicts several labels per row as floats",
    "check_regressor_multioutput": "XGBRegressor predicts in single precision",
    "check_classifiers_one_label_sample_weights": "XGBoost 3.1 refuses rows whose weights leave one class only",
}
ONE_TARGET = {
    "check_classifiers_multilabel_representation_invariance": "a teacher of several targets",
    "check_classifiers_multilabel_output_format_predict": "a teacher of several targets",
    "check_classifiers_multilabel_output_format_predict_proba": "a teacher of several targets",
    "check_classifiers_multilabel_output_format_decision_function": "a teacher of several targets",
}
# A weight of 2 and a row given twice differ in the last bit of a sum, which can tip a tie between two splits.
ROUNDING = {"check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"}


def failures(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks = check_estimator(model, on_fail=None, on_skip=None)
    return {check["check_name"] for check in checks if check["status"] == "failed"}


@pytest.mark.parametrize("classes", [2, 0])
def test_check_estimator_finds_nothing_that_xgboosts_estimator_does_not_have(classes):
    quick = {"n_estimators": 2, "n_jobs": 1}
    found = failures(estimator(classes, **quick, kl_weight=0))
    assert found <= failures(plain(classes, **quick))
    assert found <= set(INHERITED) | ROUNDING


@pytest.mark.slow
@pytest.mark.parametrize("guided", [GuidedClassifier, GuidedRegressor])
def test_check_estimator_finds_nothing_more_when_somebody_teaches(guided):
    assert failures(guided(n_estimators=5, n_jobs=1)) <= set(INHERITED) | set(ONE_TARGET) | ROUNDING


# --- teachers of other kinds --------------------------------------------------------------------------------


def nameless(booster):
    """Its bytes, but for the name of its teacher: what an estimator taught may come from an array as well."""
    booster = booster.copy()
    booster.set_attr(pi_xgb_teacher=None, pi_xgb_teacher_settings=None)
    return booster.save_raw()


def same_as_train(model, x, y, classes, *, weight=None, **guiding):
    dtrain = xgb.QuantileDMatrix(x, y, weight=weight)
    expected = pi_xgb.train(params_of(model, classes), dtrain, SMALL["n_estimators"], **guiding)
    return nameless(model.get_booster()) == nameless(expected)


@pytest.mark.parametrize("crossfit", [0, 3])
@pytest.mark.parametrize("classes", [2, 3, 0])
def test_an_estimator_as_teacher(classes, crossfit):
    x, z, y = rows(classes=classes)
    teacher = LogisticRegression() if classes else LinearRegression()
    guiding = {"teacher": teacher, "teacher_sees": "privileged", "crossfit": crossfit, "kl_weight": 2.0}
    model = estimator(classes, **guiding).fit(x, y, privileged=z)

    def judged(fit, out):
        fitted = clone(teacher).fit(z.iloc[fit], np.asarray(y, np.float32)[fit])  # labels as XGBoost keeps them
        if classes == 0:
            return fitted.predict(z.iloc[out])
        proba = fitted.predict_proba(z.iloc[out])
        return proba[:, 1] if classes == 2 else proba

    if crossfit:
        # Rows that share a teacher were not among its training rows: recovered from the q of a hand-written loop.
        from pi_xgb._stats.folds import deal_folds

        q = np.empty((len(y), *([classes] if classes > 2 else [])))
        for rest, out in deal_folds(np.asarray(y, np.float32), crossfit, 0):
            q[out] = judged(rest, out)
    else:
        everything = np.arange(len(y))
        q = judged(everything, everything)
    assert same_as_train(model, x, y, classes, teacher=q, kl_weight=2.0)
    # The user's estimator was cloned, not fitted.
    assert not hasattr(teacher, "coef_")


def test_a_frozen_teacher_is_taken_as_it_is_and_weights_reach_a_fresh_one():
    frozen_estimator = pytest.importorskip("sklearn.frozen").FrozenEstimator
    x, z, y = rows()
    published = LogisticRegression().fit(z, y)
    model = estimator(teacher=frozen_estimator(published), teacher_sees="privileged").fit(x, y, privileged=z)
    assert same_as_train(model, x, y, 2, teacher=published.predict_proba(z)[:, 1])

    # Weights mean nothing to a frozen teacher, and reach any other.
    weight = np.linspace(0.1, 3, len(y))
    model = model.fit(x, y, privileged=z, sample_weight=weight)
    assert same_as_train(model, x, y, 2, weight=weight, teacher=published.predict_proba(z)[:, 1])
    model = estimator(teacher=LogisticRegression(), teacher_sees="privileged", crossfit=0)
    model.fit(x, y, privileged=z, sample_weight=weight)
    q = LogisticRegression().fit(z, y, weight.astype(np.float32)).predict_proba(z)[:, 1]
    assert same_as_train(model, x, y, 2, weight=weight, teacher=q)


class Reversed(LogisticRegression):
    """A classifier that lists its classes from last to first, as nothing forbids."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.classes_ = self.classes_[::-1]
        return self

    def predict_proba(self, X):
        return super().predict_proba(X)[:, ::-1]


def test_the_classes_of_another_estimator_are_matched_by_name():
    frozen_estimator = pytest.importorskip("sklearn.frozen").FrozenEstimator
    x, z, y = rows()
    names = np.where(y == 1, "sick", "well")  # the class 1 of the published model is the first one here
    expected = LogisticRegression().fit(z, names).predict_proba(z)[:, 1]
    for teacher in (LogisticRegression(), Reversed()):
        frozen = frozen_estimator(clone(teacher).fit(z, names))
        model = estimator(teacher=frozen, teacher_sees="privileged").fit(x, names, privileged=z)
        assert same_as_train(model, x, 1 - y, 2, teacher=expected)
        # A fresh one learns the numbers of the classes, and may list them in any order too.
        model = estimator(teacher=teacher, teacher_sees="privileged", crossfit=0).fit(x, names, privileged=z)
        assert same_as_train(model, x, 1 - y, 2, teacher=LogisticRegression().fit(z, 1 - y).predict_proba(z)[:, 1])
    # Classes of other names would be taken for one another without a word.
    numbered = frozen_estimator(LogisticRegression().fit(z, y))
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
    assert same_as_train(model, x, y, 2, teacher=clone(teacher).fit(seen, y).predict_proba(seen)[:, 1])


@pytest.mark.usefixtures("routing")
def test_weights_reach_a_cross_fitted_estimator_with_routing_switched_on():
    x, z, y = rows()
    weight = np.linspace(0.1, 3, len(y))
    weighted = estimator(teacher=LogisticRegression(), crossfit=2, kl_weight=5.0)
    weighted.fit(x, y, privileged=z, sample_weight=weight)
    unweighted = estimator(teacher=LogisticRegression(), crossfit=2, kl_weight=5.0).fit(x, y, privileged=z)
    assert not np.array_equal(weighted.predict_proba(x), unweighted.predict_proba(x))


def test_a_teacher_of_the_library_serves_one_fit():
    x, z, y = rows()
    learned = pi_xgb.fit_teacher({"objective": "binary:logistic"}, xgb.DMatrix(z, y), 5, crossfit=2)
    model = estimator(teacher=learned, kl_weight=1.5).fit(x, y)
    assert same_as_train(model, x, y, 2, teacher=learned, kl_weight=1.5)


def test_a_teacher_of_the_library_beside_the_column_of_a_constraint():
    x, z, y = rows()
    learned = pi_xgb.fit_teacher({"objective": "binary:logistic"}, xgb.DMatrix(z, y), 5, crossfit=2)
    group = (z["z0"] > 0).rename("group")
    model = estimator(teacher=learned, kl_weight=1.5, constraints=[(by_column(DemographicParity, "group"), 2.0)])
    model.fit(x, y, privileged=group.to_frame())
    assert same_as_train(model, x, y, 2, teacher=[(learned, 1.5), (DemographicParity(group), 2.0)])


@pytest.mark.parametrize("method", ["kbpib", "jpib"])
@pytest.mark.parametrize("classes", [2, 0])
def test_constraints_join_the_privileged_teacher(method, classes):
    x, z, y = rows(classes=classes)
    group = pd.Series(np.where(z["z0"] > 0, "a", "b"), name="group")
    by_name = estimator(
        classes,
        method=method,
        kl_weight=1.0,
        privileged_features=["group", "z0", "z1"],
        constraints=[(by_column(DemographicParity, "group", match="mean"), 3.0)],
    ).fit(x.join(group).join(z), y)
    params, dpriv = params_of(by_name, classes), xgb.DMatrix(z, y)
    learned = pi_xgb.JointTeacher(dpriv, params) if method == "jpib" else pi_xgb.fit_teacher(params, dpriv, 8)

    # The constraint reads its column, the learned teacher the other privileged columns, the student neither.
    pairs = [(learned, 1.0), (DemographicParity(group, match="mean"), 3.0)]
    assert same_as_train(by_name, x, y, classes, teacher=pairs)
    by_value = estimator(
        classes, method=method, kl_weight=1.0, constraints=[(DemographicParity(group, match="mean"), 3.0)]
    )
    assert same_model(by_value.fit(x, y, privileged=z), by_name)
    apart = estimator(classes, method=method, kl_weight=1.0, constraints=by_name.constraints)
    assert same_model(apart.fit(x, y, privileged=z.join(group)), by_name)


def test_a_constraint_names_its_column_like_its_values():
    x, z, y = rows()
    group = (z["z0"] > 0).astype(int)
    both = x.assign(group=group, score=z["z1"])
    pairs = [
        (DemographicParity("group", match="mean"), by_column(DemographicParity, "group", match="mean")),
        (EqualizedOdds(sensitive_features="group"), by_column(EqualizedOdds, "group")),
        (IndividualFairness(key="group"), by_column(IndividualFairness, key="group")),
        (Meritocracy("score"), by_column(Meritocracy, "score")),
    ]
    for short, long in pairs:
        assert repr(short) == repr(long)
        fitted = [
            estimator(privileged_features=["group", "score"], kl_weight=0, constraints=[(item, 2.0)]).fit(both, y)
            for item in (short, clone(short, safe=False), pickle.loads(pickle.dumps(long)))
        ]
        assert same_model(fitted[0], fitted[1])
        assert same_model(fitted[0], fitted[2])
    given = estimator(kl_weight=0, constraints=[(DemographicParity(group, match="mean"), 2.0)]).fit(x, y, privileged=z)
    named = estimator(kl_weight=0, constraints=[(DemographicParity("group", match="mean"), 2.0)])
    assert same_model(named.fit(x, y, privileged=z.assign(group=group)), given)
    # Where nobody can look the column up, it says so before any training.
    dtrain = xgb.DMatrix(x, y)
    for teacher in (DemographicParity("group"), [(DemographicParity("group"), 1.0)]):
        for ask in (pi_xgb.train, pi_xgb.cv):
            with pytest.raises(TypeError, match=r"names columns.*scikit-learn"):
                ask({"objective": "binary:logistic"}, dtrain, 2, teacher=teacher)
    named = DemographicParity("group")
    for ask in (lambda: named.check(2), lambda: named.subset([0]), lambda: named.q(*[np.zeros(2)] * 3)):
        with pytest.raises(TypeError, match=r"names columns.*scikit-learn"):
            ask()
    with pytest.raises(TypeError, match="unexpected keyword"):
        DemographicParity("group", mtch="mean")


def test_constraints_alone_and_by_every_kind_of_column():
    x, z, y = rows()
    group = pd.Series(np.where(z["z0"] > 0, "a", "b"), name="group")
    both = x.join(group).join(z["z1"])
    alone = estimator(privileged_features=["group"], constraints=[(by_column(EqualizedOdds, "group"), 3.0)])
    # A group column is for its constraint: with nothing else privileged, no teacher is learned.
    assert same_as_train(alone.fit(x.join(group), y), x, y, 2, teacher=[(EqualizedOdds(group), 3.0)])

    pairs = [
        (
            by_column(DemographicParity, ["group", "z1"]),
            DemographicParity(pd.DataFrame({"g": group, "z": z["z1"] > 0})),
        ),
        (by_column(Meritocracy, "x1"), Meritocracy(x["x1"])),
        (by_column(IndividualFairness, features=["x0", "x1"], k=3), IndividualFairness(features=x[["x0", "x1"]], k=3)),
        (by_column(IndividualFairness, key="group"), IndividualFairness(key=group)),
    ]
    both["z1"] = both["z1"] > 0
    for named, given in pairs:
        model = estimator(privileged_features=["group", "z1"], kl_weight=0, constraints=[(named, 2.0)])
        model.fit(both.assign(group=(group == "a").astype(int)), y)
        assert same_as_train(model, x, y, 2, teacher=[(given, 2.0)])


def test_constraints_by_column_are_searched_without_routing():
    x, z, y = rows()
    both = x.assign(group=(z["z0"] > 0).astype(int))
    model = estimator(privileged_features=["group"])
    grid = {"constraints": [None, [(by_column(DemographicParity, "group"), 5.0)]], "kl_weight": [0.0]}
    search = GridSearchCV(model, grid, cv=StratifiedKFold(2), scoring="neg_log_loss", error_score="raise")
    scores = search.fit(both, y).cv_results_["mean_test_score"]
    assert scores[0] != scores[1]


# --- bad input ----------------------------------------------------------------------------------------------


def refused(match, *, X=None, y=None, error=ValueError, classes=2, fit=None, **parameters):
    """Fit on the usual rows, but for what is given, and expect an error; the message must say what to do."""
    x, z, labels = rows(classes=classes)
    model = estimator(classes, **parameters)
    with pytest.raises(error, match=match):
        model.fit(x if X is None else X(x, z), labels if y is None else y(labels), **(fit(x, z, labels) if fit else {}))
    # Nothing was trained.
    assert not hasattr(model, "_Booster")


def both(x, z):
    return x.join(z)


def apart(x, z, y):
    return {"privileged": z}


@pytest.mark.parametrize(
    ("parameters", "eval_privileged", "rounds", "is_refused"),
    [
        ({}, None, 5, True),
        ({"teacher_sees": "all"}, None, 5, False),
        ({"teacher_sees": "all", "crossfit": 0}, None, 5, True),
        ({}, "none", 5, True),
        ({}, "some", 5, False),
        ({}, None, None, False),
        ({"crossfit": 2}, None, 5, False),
        ({"method": "jpib"}, None, 5, False),
        ({"kl_weight": 0}, None, 5, False),
        ({"teacher": LogisticRegression()}, None, 5, False),
        ({"privileged": None}, None, 5, False),
        ({"eval_set": []}, None, 5, False),
    ],
)
def test_a_teacher_that_sees_its_own_rows_needs_others_to_stop(parameters, eval_privileged, rounds, is_refused):
    x, z, y = rows(40)
    keywords = {"privileged": z, "eval_set": [(x, y), (x, y)], **parameters}
    tables = {"none": [None, None], "some": [None, z]}.get(eval_privileged)
    views = divide(x, keywords.pop("eval_set"), keywords.pop("privileged"), tables, None)
    trainer = estimator(**keywords)._trainer(views)
    if not is_refused:
        assert trainer.check_early_stopping(rounds, views.eval_set) is None
        return
    with pytest.raises(ValueError, match=r"early_stopping_rounds.*privileged columns.*eval_privileged"):
        trainer.check_early_stopping(rounds, views.eval_set)


def test_who_teaches_which_columns():
    x, z, _ = rows(40)
    views = divide(x.join(z), None, None, None, ["z0", "z1"])
    for sees, constraints, table, privileged in (
        ("privileged", None, ["z0", "z1"], ["z0", "z1"]),
        ("all", None, ["x0", "x1", "x2", "x3", "z0", "z1"], ["z0", "z1"]),
        ("privileged", [(DemographicParity("z1"), 2.0)], ["z0"], ["z0"]),
        ("all", [(by_column(DemographicParity, "z1"), 2.0)], ["x0", "x1", "x2", "x3", "z0"], ["z0"]),
    ):
        values = views if constraints is None else divide(x.join(z > 0), None, None, None, ["z0", "z1"])
        trainer = estimator(teacher_sees=sees, constraints=constraints)._trainer(values)
        assert trainer.has_teacher
        assert list(trainer.table.columns) == table
        assert list(trainer.privileged.columns) == privileged
        assert [weight for _, weight in trainer.constraints] == ([] if constraints is None else [2.0])
    alone = estimator()._trainer(divide(x, None, None, None, None))
    assert (alone.has_teacher, alone.table, alone.privileged, alone.eval_tables) == (False, None, None, None)
    by_groups = estimator(constraints=[(DemographicParity("z0"), 2.0), (DemographicParity("z1"), 0.0)])
    assert by_groups._trainer(divide(x.join(z > 0), None, None, None, ["z0", "z1"])).table is None


def test_what_is_said_of_evaluation_rows_has_their_length():
    x, _, y = rows(40)
    for name, found, words in (
        (
            "sample_weight_eval_set",
            [np.ones(39)],
            r"sample_weight_eval_set\[0\] must have one value for .* of X of eval_s",
        ),
        ("sample_weight_eval_set", [-np.ones(40)], r"sample_weight_eval_set\[0\].*least 0"),
        (
            "base_margin_eval_set",
            [np.ones(39)],
            r"base_margin_eval_set\[0\].*eval_set\[0\]",
        ),
        ("base_margin", np.ones(39), r"base_margin must have one margin"),
        ("sample_weight", np.ones(39), r"sample_weight must have one value for each of the 40 rows of X"),
        ("sample_weight", np.zeros(40), r"sample_weight must .* 0 in every row"),
    ):
        with pytest.raises(ValueError, match=words):
            estimator(kl_weight=0).fit(x, y, eval_set=[(x, y)], **{name: found})
    with pytest.raises(ValueError, match=r"requires y .*None"):
        estimator().fit(x, None)
    # A list may be shorter than the evaluation sets: XGBoost's own says so.
    with pytest.raises(ValueError, match="sample_weight_eval_set"):
        estimator(kl_weight=0).fit(x, y, eval_set=[(x, y)] * 2, sample_weight_eval_set=[None])


@pytest.mark.parametrize("made", [PrivilegedXGBClassifier, PrivilegedXGBRanker])
def test_evaluation_sets_are_pairs(made):
    x, z, y = rows(40)
    queries = {"qid": np.arange(40) // 8} if made is PrivilegedXGBRanker else {}
    for given, own in (
        ((x, y), "got a DataFrame as item 0: give a list even for one pair"),
        ([(x, y), (x, y, z)], r"got a tuple of 3 as item 1: .* such as eval_privileged"),
        (x, "got a str as item 0"),
        (3, "got 3"),
    ):
        with pytest.raises(TypeError, match=rf"eval_set.*\(X, y\).*{own}"):
            made(**SMALL).fit(x, y, **queries, privileged=z, eval_set=given)
    if not queries:
        read_once = iter([[x, y]])
        fitted = made(**SMALL).fit(x, y, privileged=z, eval_set=read_once, verbose=False)
        assert list(fitted.evals_result()) == ["validation_0"]


def test_privileged_columns_that_are_not_there():
    refused(r"privileged_features.*X.*'lab'", X=both, privileged_features=["lab", "z0"])
    refused(
        r"privileged_features.*6",
        X=both,
        privileged_features=["x0", "x1", "x2", "x3", "z0", "z1"],
    )
    refused(r"method requires a trainable teacher.*privileged=", method="jpib")
    refused(r"crossfit, teacher_sees require a trainable teacher", crossfit=3, teacher_sees="all")
    refused("both given", X=both, privileged_features=["z0"], fit=apart)
    sparse_x = lambda x, z: sparse.csr_matrix(both(x, z))  # noqa: E731
    refused("csr_matrix without column names", X=sparse_x, privileged_features=["z0"])
    refused(r"privileged_features .*6.*6", X=sparse_x, privileged_features=[0, 6])
    refused(r"privileged .*X.*'x1'", fit=lambda x, z, y: {"privileged": z.assign(x1=1.0)})


def test_privileged_rows_that_do_not_match():
    refused(r"X .*240 rows.*200", fit=lambda x, z, y: {"privileged": z[:200]})
    refused(r"privileged.*index.*order", fit=lambda x, z, y: {"privileged": z.sample(frac=1, random_state=0)})
    sets = {"eval_set": [(pd.DataFrame(np.zeros((9, 4)), columns=list("abcd")), [0, 1] * 4 + [0])]}
    refused(
        r"eval_set\[0\].*9 rows.*eval_privileged\[0\].*8",
        fit=lambda x, z, y: {"privileged": z, **sets, "eval_privileged": [z[:8]]},
    )


def test_labels_that_cannot_be_classes():
    refused(r"y .*row.*'ill'", y=lambda y: np.full(len(y), "ill"), fit=apart)
    refused("Unknown label type: continuous", y=lambda y: y + 0.25, fit=apart)
    refused(r"1.*240 rows", y=lambda y: y.astype(float).where(y.index > 0))
    refused(  # also where XGBoost trains on the labelled rows alone
        "method must be one of", y=lambda y: y.astype(float).where(y.index > 20), fit=apart, kl_weight=0.0, method="pib"
    )
    unseen = lambda x, z, y: {"privileged": z, "eval_set": [(x, y), (x, y + 1)]}  # noqa: E731
    refused(r"eval_set\[1\].*\[2\]", fit=unseen)
    refused(
        "sample_weight must .* 0 in every row", fit=lambda x, z, y: {"privileged": z, "sample_weight": np.zeros(len(y))}
    )


def test_evaluation_sets_without_the_privileged_columns_that_the_teacher_needs():
    stopping = {"early_stopping_rounds": 3, "n_estimators": 50}
    sets = lambda x, z, y: {"privileged": z, "eval_set": [(x, y)], "verbose": False}  # noqa: E731
    refused(r"early_stopping_rounds.*eval_privileged", fit=sets, **stopping)
    inside = lambda x, z, y: {"eval_set": [(x, y)], "verbose": False}  # noqa: E731
    refused(
        r"early_stopping_rounds.*privileged_features.*X",
        X=both,
        fit=inside,
        privileged_features=["z0", "z1"],
        **stopping,
    )
    # Who does not stop with it does not need it.
    x, z, y = rows()
    for guiding in ({"crossfit": 2}, {"method": "jpib"}, {"kl_weight": 0}, {"teacher": LogisticRegression()}):
        model = estimator(**stopping, **guiding).fit(x, y, **sets(x, z, y))
        assert model.best_iteration < 50
        # Who does not read it is not disturbed by it, so that one search can go through all of them.
        again = estimator(**stopping, **guiding).fit(x, y, **sets(x, z, y), eval_privileged=[z])
        assert guiding == {"crossfit": 2} or same_model(again, model)
    refused(r"table.*1", fit=lambda x, z, y: {**sets(x, z, y), "eval_privileged": [z, z]})
    refused("eval_privileged needs privileged", fit=lambda x, z, y: {"eval_privileged": [z]})


def test_constraints_that_cannot_be():
    parity = by_column(DemographicParity, "group")
    grouped = lambda x, z: x.assign(group=z["z0"] > 0)  # noqa: E731
    refused(r"group.*'group'.*feature", X=grouped, constraints=[(parity, 1.0)])
    refused(r"a column.*'group'", constraints=[(parity, 1.0)])
    refused("list of .constraint, weight.*add its weight, as in", constraints=[parity], error=TypeError)
    refused(r"constraints .*weight.*got", constraints=parity, error=TypeError)
    refused(r"constraints .*weight.*got", constraints=DemographicParity([0, 1]), error=TypeError)
    refused(r"group.*'x0'.*feature", constraints=[(DemographicParity("x0"), 1.0)])
    refused("list of .constraint, weight.", constraints=(DemographicParity("group"), 1.0), error=TypeError)
    refused(r"constraints.*pi_xgb.constraints.*got <class", constraints=[(DemographicParity, 1.0)], error=TypeError)
    refused(r"weight.*constraint.*finite", constraints=[(parity, -1.0)])
    # Before XGBoost reads the columns, which may be text.
    text = lambda x, z: x.assign(a="f", b="g")  # noqa: E731
    several = [(DemographicParity(["a", "b"]), 1.0)]
    refused("got 2 for 240 rows.*by_column", X=text, privileged_features=["a", "b"], constraints=several)
    with pytest.raises(ValueError, match="by_column needs a column"):
        by_column(IndividualFairness, k=3)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        by_column(DemographicParity, "group", sofft=True)


def test_parameters_that_mean_nothing():
    q = pi_xgb.fit_teacher({}, xgb.DMatrix(rows()[1], rows(classes=0)[2]), 2)
    refused("method must be one of", method="both", fit=apart)
    refused("teacher must be one of 'boosted'", teacher="everything", fit=apart)
    refused(
        r"an estimator or a pi_xgb.Teacher, got array\(.{0,54}\. An array",
        teacher=np.zeros(240),
        fit=apart,
        error=TypeError,
    )
    refused("an estimator or a pi_xgb.Teacher", teacher=LogisticRegression, fit=apart, error=TypeError)
    refused("kl_weight must be a number", kl_weight="much", fit=apart, error=TypeError)
    refused(r"teacher_params must be .*got n_estimators", teacher_params={"n_estimators": 3}, fit=apart)
    for wrong in (3, 0, "ab", [1]):
        refused(r"teacher_params.*dict", teacher_params=wrong, fit=apart, error=TypeError)
    refused(
        r"method='jpib' requires .*teacher='boosted', got .*LogisticRegression",
        teacher=LogisticRegression(),
        method="jpib",
        fit=apart,
    )
    refused("crossfit requires a trainable teacher", teacher=q, crossfit=2)
    refused("does not read them", teacher=q, fit=apart)
    without = "teacher must have predict_proba .*got LinearRegression"
    refused(without, teacher=LinearRegression(), fit=apart, error=TypeError)
    piped = Pipeline([("model", KNeighborsClassifier())])
    weighted = lambda x, z, y: {"privileged": z, "sample_weight": np.ones(len(y))}  # noqa: E731
    refused("teacher must take sample_weight .*got Pipeline", teacher=piped, fit=weighted)
    refused(r"teacher.*objectives", classes=0, objective="survival:cox", fit=apart)
    refused(r"obj must be left out.*objective= of an estimator", objective=lambda y, p: (p - y, p * 0 + 1), fit=apart)
    words = lambda x, z, y: {"privileged": z.assign(z0="word")}  # noqa: E731
    refused(
        "needs numbers|numbers only|numeric columns",
        X=lambda x, z: sparse.csr_matrix(x),
        teacher="boosted",
        teacher_sees="all",
        fit=words,
        error=TypeError,
    )


def test_an_objective_of_the_library_in_xgboosts_own_estimators():
    x, _, y = rows()
    with pytest.raises(TypeError, match=r"objective=pi_xgb.KLObjective\(...\).sklearn"):
        plain(objective=pi_xgb.KLObjective(np.full(len(y), 0.5))).fit(x, y)


def test_an_xgboost_that_trains_in_another_way_is_refused(monkeypatch):
    x, z, y = rows()

    def fit(self, X, y, *, verbose=True):
        return self

    monkeypatch.setattr(xgb.XGBClassifier, "fit", fit)
    with pytest.raises(RuntimeError, match="does not call train"):
        estimator().fit(x, y, privileged=z)


# --- without scikit-learn -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_library_is_importable_without_scikit_learn():
    script = (
        "import sys\n"
        "sys.modules['sklearn'] = None\n"
        "import pi_xgb\n"
        "try:\n"
        "    import pi_xgb.sklearn\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (
        done.stdout.strip() == 'the estimators need scikit-learn 1.6 or later: pip install ".[sklearn]" in a checkout'
    )


# --- the teacher can be seen --------------------------------------------------------------------------------


def test_the_teacher_can_be_seen_and_stays_out_of_pickles():
    made = pi_xgb.datasets.make_privileged(200, seed=0)
    few = {"n_estimators": 5, "max_depth": 2, "n_jobs": 1}
    model = PrivilegedXGBClassifier(**few, crossfit=3).fit(made.x, made.y, privileged=made.z)
    expected = pi_xgb.fit_teacher(model.get_xgb_params(), xgb.DMatrix(made.z, made.y), 5, crossfit=3)
    assert np.array_equal(model.teacher_.values, expected.values)
    assert repr(model.teacher_) == repr(expected)
    for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), clone(model)):
        assert not hasattr(copied, "teacher_")
    # The joint one, one that nobody trains, and nobody.
    model = PrivilegedXGBClassifier(**few, method="jpib").fit(made.x, made.y, privileged=made.z)
    assert model.teacher_.booster.num_features() == 3
    silent = PrivilegedXGBClassifier(**few, kl_weight=0).fit(made.x, made.y, privileged=made.z)
    assert silent.teacher_ is None
    parity = [(DemographicParity(made.group), 1.0)]
    beside = PrivilegedXGBClassifier(**few, crossfit=3, constraints=parity).fit(made.x, made.y, privileged=made.z)
    assert np.array_equal(beside.teacher_.values, expected.values)


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


def test_the_teacher_of_a_choice():
    made = pi_xgb.datasets.make_privileged(300, seed=0)
    few = {
        "n_estimators": 20,
        "max_depth": 2,
        "n_jobs": 1,
        "nfold": 3,
        "repeats": 1,
        "teacher": "boosted",
        "crossfit": 3,
    }
    found = {
        bar: PrivilegedXGBClassifierCV(**few, standard_errors=bar).fit(made.x, made.y, privileged=made.z)
        for bar in (0.0, 1e6)
    }
    assert found[1e6].teacher_ is None
    assert len(found[0.0].teacher_.boosters) == 3


@pytest.mark.parametrize("name", ["Classifier", "Regressor", "Ranker", "ClassifierCV", "RegressorCV"])
def test_a_misspelt_parameter_is_pointed_out_and_left_to_xgboost(name):
    made = getattr(pi_xgb.sklearn, f"PrivilegedXGB{name}")
    for wrong, meant in (
        ("kl_weigth", "kl_weight"),
        ("crosfit", "crossfit"),
        ("privileged_feature", "privileged_features"),
    ):
        with pytest.warns(UserWarning, match=f"no parameter '{wrong}'.*'{meant}'"):
            assert made(**{wrong: 2}).get_xgb_params()[wrong] == 2
        with pytest.warns(UserWarning, match=f"no parameter '{wrong}'.*'{meant}'"):
            assert made().set_params(**{wrong: 2}).get_xgb_params()[wrong] == 2
    # XGBoost's own, and those that only it may know one day, are left to it.
    assert made(monotone_constraints="(1)", tree_method="hist", unheard_of=3).get_params()["unheard_of"] == 3
    model = made(unheard_of=3).set_params(unheard_of=4, eta=0.5, kl_weight=2.0, other__nested=1)
    assert {"unheard_of": 4, "eta": 0.5, "kl_weight": 2.0, "other__nested": 1}.items() <= model.get_params().items()


def test_fit_prints_the_metrics_of_each_round_as_xgboost_does(capsys):
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(40, 2)), rng.normal(size=(40, 1))
    settings = {"n_estimators": 2, "n_jobs": 1}
    xgb.XGBRegressor(**settings).fit(x, x[:, 0], eval_set=[(x, x[:, 0])])
    expected = capsys.readouterr().out.count("validation_0-rmse")
    PrivilegedXGBRegressor(**settings).fit(x, x[:, 0], privileged=z, eval_set=[(x, x[:, 0])])
    assert capsys.readouterr().out.count("validation_0-rmse") == expected == 2

"""The estimators that choose for themselves: select, then the model of its choice."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import pi_xgb
from pi_xgb.selection import select
from pi_xgb.sklearn import PrivilegedXGBClassifier, PrivilegedXGBClassifierCV, PrivilegedXGBRegressorCV

SMALL = {"n_estimators": 6, "max_depth": 2, "learning_rate": 0.3, "n_jobs": 1}
FEW = {"kl_weight": [1.0, 5.0], "crossfit": (0, 2), "nfold": 3, "repeats": 1}


def rows(n=150, classes=2):
    made = pi_xgb.datasets.make_privileged(n, n_features=4, n_privileged=2, seed=0)
    if classes == 0:
        return made.x, made.z, made.q
    return made.x, made.z, made.y if classes == 2 else pd.qcut(made.q, classes, labels=False)


def estimator(classes=2, **parameters):
    made = PrivilegedXGBRegressorCV if classes == 0 else PrivilegedXGBClassifierCV
    return made(**{**SMALL, **FEW, **parameters})


@pytest.mark.parametrize(("classes", "standard_errors"), [(2, 0.0), (3, 0.0), (0, 0.0), (2, 1e6)])
@pytest.mark.slow
def test_a_fitted_estimator_is_the_choice_of_select(classes, standard_errors):
    x, z, y = rows(classes=classes)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y)).astype(np.float32)
    model = estimator(classes, teacher="boosted", standard_errors=standard_errors)
    model.fit(x, y, privileged=z, sample_weight=weight)
    params = {key: value for key, value in model.get_xgb_params().items() if value is not None}
    if classes == 3:
        params |= {"objective": "multi:softprob", "num_class": 3}
    dtrain, privileged = xgb.DMatrix(x, y, weight=weight), xgb.DMatrix(z, y)
    few = {**FEW, "teacher": "boosted", "standard_errors": standard_errors, "progress": False}
    expected = select(params, dtrain, 6, privileged=privileged, **few)
    assert model.selection_.table.equals(expected.table)
    booster = expected.train(dtrain, privileged=privileged)
    assert np.array_equal(model.get_booster().predict(dtrain), booster.predict(dtrain))
    assert model.get_booster().num_boosted_rounds() == expected.choice["num_boost_round"]
    assert model.best_params_["kl_weight"] == expected.choice["kl_weight"]
    assert (standard_errors == 0) or model.best_params_["kl_weight"] == 1


def test_best_params_are_those_of_the_estimator_without_cv():
    x, z, y = rows(300)
    for sees, crossfit in (("privileged", 0), ("privileged", 2), ("all", 2)):
        keywords = {"teacher": "boosted", "teacher_sees": sees, "crossfit": crossfit}
        model = estimator(method="kbpib", **keywords, standard_errors=0.0, n_estimators=15)
        model.fit(x, y, privileged=z)
        again = PrivilegedXGBClassifier(**{**SMALL, **model.best_params_})
        again.fit(x, y, privileged=z if model.best_params_["kl_weight"] else None)
        assert again.get_booster().num_boosted_rounds() == model.get_booster().num_boosted_rounds()
        # Teacher and student then have the same number of rounds, so the models are akin and not equal.
        assert np.corrcoef(again.predict_proba(x)[:, 1], model.predict_proba(x)[:, 1])[0, 1] > 0.8


def test_results_are_named_as_in_scikit_learns_searches():
    x, z, y = rows()
    model = estimator(method=("kbpib", "jpib"), teacher="boosted", teacher_sees=("privileged", "all")).fit(
        x, y, privileged=z
    )
    results = model.cv_results_
    assert len(results["params"]) == 1 + 2 * 4 + 1
    last = {"method": "jpib", "teacher": "boosted", "crossfit": None, "kl_weight": 5.0}
    assert {name: results["params"][-2][name] for name in last} == last
    assert {item["crossfit"] for item in results["params"]} == {None, 0, 2}
    assert {item["method"] for item in results["params"]} == {"kbpib", "jpib"}
    assert {item["teacher_sees"] for item in results["params"]} == {None, "privileged", "all"}
    splits = np.array([results[f"split{i}_test_score"] for i in range(3)])
    # More is better, so that a logloss is negative.
    assert (splits < 0).all()
    assert results["mean_test_score"] == pytest.approx(splits.mean(axis=0))
    assert results["std_test_score"] == pytest.approx(splits.std(axis=0))
    assert results["rank_test_score"].tolist() == rankdata(-results["mean_test_score"], method="min").tolist()
    assert results["rank_test_score"].dtype.kind == "i"
    assert [item["n_estimators"] for item in results["params"]] == model.selection_.summary["rounds"].tolist()
    scores = model.selection_.table.set_index(["candidate", "fold"])["score"]
    assert splits[1].tolist() == [-scores[candidate, 1] for candidate in results["candidate"]]
    assert model.best_score_ == results["mean_test_score"][list(results["candidate"]).index(model.selection_.candidate)]


def test_clone_pickle_and_parameters():
    x, z, y = rows()
    model = estimator(metric="auc", fold_jobs=2)
    assert clone(model).get_params() == model.get_params()
    own = {"metric", "nfold", "repeats", "folds", "standard_errors", "fold_jobs"}
    assert own | {"max_depth"} <= set(model.get_params())
    # None of these reaches XGBoost, which would only warn of them.
    assert not {*own, "kl_weight", "method"} & set(model.get_xgb_params())
    model.set_params(metric="logloss", max_depth=1).fit(x, y, privileged=z)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(x), model.predict_proba(x))
    assert again.best_params_ == model.best_params_
    assert again.selection_.metric == "logloss"


def test_prediction_needs_no_privileged_columns_and_nothing_of_them_is_kept():
    x, z, y = rows()
    model = estimator(privileged_features=list(z.columns), standard_errors=0.0).fit(x.join(z), y)
    assert np.array_equal(model.predict_proba(x), model.predict_proba(x.join(z * 0)))
    assert list(model.feature_names_in_) == list(x.columns)
    kept = pickle.dumps(model)
    for value in z.to_numpy().ravel():
        assert np.float64(value).tobytes() not in kept
        assert np.float32(value).tobytes() not in kept


def test_classes_by_name_inside_a_cross_validation():
    x, z, y = rows()
    named = y.map({0: "healthy", 1: "ill"})
    model = estimator(privileged_features=list(z.columns), method="jpib", kl_weight=1.0)
    scores = cross_val_score(model, x.join(z), named, cv=2, scoring="roc_auc")
    assert ((scores > 0.5) & (scores <= 1)).all()
    assert set(model.fit(x.join(z), named).predict(x)) == {"healthy", "ill"}


@pytest.mark.parametrize(
    ("parameters", "fit", "message"),
    [
        ({"early_stopping_rounds": 3}, {}, r"early_stopping_rounds.*choose.*rounds"),
        ({"engine": "callback"}, {}, r"engine.*ignored.*selection"),
        ({}, {"base_margin": np.zeros(150)}, "base_margin .*cross-validation"),
        ({"nfold": 1}, {}, r"nfold.*least 2"),
        ({"method": "pib"}, {}, "method must be one of"),
        ({"metric": "r2_score"}, {}, "metric must be one of"),
    ],
)
def test_what_cannot_be_cross_validated_is_refused(monkeypatch, parameters, fit, message):
    x, z, y = rows()
    with pytest.raises(ValueError, match=message):
        estimator(**parameters).fit(x, y, **{"privileged": z, **fit})

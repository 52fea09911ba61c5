"""Training on the predictions of a given teacher alone: the model is that of rows labelled q."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from helpers_problems import BLENDED, CLASSES, COPIED, OBJECTIVES, RANKINGS, Problem, by_objective, stacked

import pi_xgb

A = 1.7
HAS_EXPECTILES = tuple(int(part) for part in xgb.__version__.split(".")[:2]) >= (3, 3)


def none_labelled(rows: Problem) -> np.ndarray:
    return np.zeros(rows.n, bool)


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("several", [False, True])
def test_soft_labels_alone_give_the_model_of_rows_labelled_q(name, several):
    rows, none = Problem(name), np.zeros(160, bool)
    params = rows.params(**({"base_score": rows.start} if name in BLENDED else {}))
    teachers: list[Any] = [(rows.q, A), *([(rows.other, 0.5)] if several else [])]
    ours = pi_xgb.train(params, rows.dtrain(weighted=True), 5, teacher=teachers, labelled=none)
    theirs = stacked(rows, params, 5, teachers, labelled=none, weighted=True)
    tolerance = 0 if name in COPIED and name not in RANKINGS else 2e-5
    np.testing.assert_allclose(rows.margins(ours), rows.margins(theirs), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", BLENDED)
def test_an_objective_trains_on_soft_labels_alone(name):
    rows = Problem(name)
    params, none = rows.params(base_score=rows.start), none_labelled(rows)
    found = by_objective(params, rows.dtrain(), 5, pi_xgb.KLObjective(rows.q, A, labelled=none))
    expected = pi_xgb.train(params, rows.dtrain(), 5, teacher=rows.q, kl_weight=A, labelled=none)
    np.testing.assert_array_equal(rows.margins(found), rows.margins(expected))


@pytest.mark.parametrize("name", ["binary:logistic", "multi:softprob", "reg:absoluteerror"])
def test_a_matrix_without_labels_has_the_classes_of_q(name):
    rows = Problem(name)
    keywords = {"teacher": rows.q, "kl_weight": A, "labelled": none_labelled(rows)}
    found = pi_xgb.train(rows.params(), xgb.DMatrix(rows.x), 5, **keywords)
    expected = pi_xgb.train(rows.params(), rows.dtrain(), 5, **keywords)
    np.testing.assert_array_equal(rows.margins(found), rows.margins(expected))
    assert rows.margins(found).shape == ((rows.n, rows.q.shape[1]) if name in CLASSES else (rows.n,))


@pytest.mark.parametrize("kl_weight", [0, 0.0])
def test_soft_labels_of_weight_0_alone_raise(kl_weight):
    rows = Problem("binary:logistic")
    keywords = {"teacher": rows.q, "kl_weight": kl_weight, "labelled": none_labelled(rows)}
    with pytest.raises(ValueError, match="label"):
        pi_xgb.train(rows.params(), rows.dtrain(), 2, **keywords)


@pytest.mark.skipif(not HAS_EXPECTILES, reason="XGBoost has expectiles from 3.3 on")
@pytest.mark.parametrize("weighted", [False, True])
def test_one_expectile_is_taught_by_copies(weighted):
    rows = Problem("reg:absoluteerror")
    params = rows.params(objective="reg:expectileerror", expectile_alpha=0.7)
    ours = pi_xgb.train(params, rows.dtrain(weighted=weighted), 5, teacher=rows.q, kl_weight=A)
    theirs = stacked(rows, params, 5, [(rows.q, A)], weighted=weighted)
    np.testing.assert_array_equal(rows.margins(ours), rows.margins(theirs))


@pytest.mark.parametrize("y", ["none", "missing"])
@pytest.mark.parametrize("name", ["binary:logistic", "multi:softprob", "reg:squarederror"])
def test_an_estimator_trains_on_soft_labels_alone(name, y):
    rows = Problem(name)
    estimator = pi_xgb.PrivilegedXGBRegressor if name == "reg:squarederror" else pi_xgb.PrivilegedXGBClassifier
    teacher = pi_xgb.ModelTeacher(lambda _: rows.q, rows.x, probabilities=name != "reg:squarederror")
    model = estimator(n_estimators=5, n_jobs=1, max_depth=3, teacher=teacher, kl_weight=A)
    model.fit(rows.x, None if y == "none" else np.full(rows.n, np.nan))
    params = {"objective": name, "max_depth": 3, "nthread": 1}
    if name in CLASSES:
        params["num_class"] = rows.q.shape[1]
        assert model.classes_.tolist() == list(range(rows.q.shape[1]))
    expected = pi_xgb.train(params, xgb.DMatrix(rows.x), 5, teacher=rows.q, kl_weight=A, labelled=none_labelled(rows))
    found = model.get_booster().predict(xgb.DMatrix(rows.x), output_margin=True)
    np.testing.assert_allclose(found, expected.predict(xgb.DMatrix(rows.x), output_margin=True), atol=1e-6)

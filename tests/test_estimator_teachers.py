"""What an estimator predicts as a teacher, from any container and in any shape, and what cannot be a prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from helpers_problems import Problem
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pi_xgb
from pi_xgb._core.learners.estimator import Estimator
from pi_xgb._core.learners.features import Features
from pi_xgb._core.training import Spec

ROWS = Features(xgb.DMatrix(np.zeros((2, 1))))


class Known:
    """Predicts what it was made with."""

    def __init__(self, q: Any) -> None:
        self.predict = self.predict_proba = lambda table: q


def predicted(objective: str, q: Any) -> np.ndarray:
    params = {"objective": objective} | ({"num_class": 3} if objective.startswith("multi") else {})
    return Estimator(Known(q), Spec.read(params), None).predict(ROWS)


@pytest.mark.parametrize(
    ("objective", "q", "expected"),
    [
        ("reg:squarederror", [1.5, -2], [1.5, -2]),
        ("reg:squarederror", [[1.5], [-2]], [1.5, -2]),
        ("reg:squarederror", [True, False], [1, 0]),
        ("reg:squarederror", [[1, 2], [3, 4]], [[1, 2], [3, 4]]),
        ("count:poisson", [-5e-7, 2], [0, 2]),
        ("binary:logistic", [[0.25, 0.75], [1, 0]], [0.75, 0]),
        ("multi:softprob", [[0.25, 0.5, 0.25], [0, 0, 1]], [[0.25, 0.5, 0.25], [0, 0, 1]]),
        ("rank:ndcg", [-3, 7], [-3, 7]),
    ],
)
def test_a_value_for_each_row(objective, q, expected):
    found = predicted(objective, q)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.float32(expected))


@pytest.mark.parametrize(
    ("objective", "q", "message"),
    [
        ("reg:squarederror", [1, 2, 3], "got 3 for 2 rows"),
        ("reg:squarederror", [1, np.inf], "the predict of the teacher Known must be finite"),
        ("binary:logistic", [[0, np.nan], [0, 1]], "the predict_proba of the teacher Known must .* got 1 NaN"),
        ("binary:logistic", [0.5, 0.5], r"2 columns .*, got shape \(2,\)"),
        ("binary:logistic", [[1], [1]], r"2 columns .*, got shape \(2, 1\)"),
        ("binary:logistic", [[1.5, -0.5], [-0.5, 1.5]], "from -0.5 to 1.5"),
        ("count:poisson", [-1, 2], "from -1.0 to 2"),
        ("binary:logistic", [[1, 1], [0, 1]], "must sum to 1, got sums from 1 to 2"),
        ("multi:softprob", [[0, 0, 0], [0, 0, 1]], "must sum to 1, got sums from 0 to 1"),
        ("binary:logistic", [[0.5, 0.49], [0, 1]], "must sum to 1, got sums from 0.99 to 1"),
        ("count:poisson", [-1e-5, 2], "from -1e-05 to 2"),
    ],
)
def test_what_cannot_be_a_prediction(objective, q, message):
    with pytest.raises(ValueError, match=message):
        predicted(objective, q)


@pytest.mark.parametrize(
    ("own", "is_frozen", "expected"),
    [
        ([2, 0, 1], True, [[0.25, 0.25, 0.5]]),
        ([2, 0, 1], False, [[0.25, 0.25, 0.5]]),
        ([2, 0], False, [[0.5, 0, 0.5]]),  # fitted on a fold without the class
        ([2, 0], True, None),
        ([2, 0, 5], False, None),
        ([2, 0, 5], True, None),
    ],
)
def test_classes_in_the_order_of_the_labels(own, is_frozen, expected):
    known = Known([[0.5, 0.25, 0.25] if len(own) == 3 else [0.5, 0.5]])
    known.classes_ = np.array(own)
    estimator = FrozenEstimator(known) if is_frozen else known
    model = Estimator(estimator, Spec.read({"objective": "multi:softprob", "num_class": 3}), [0, 1, 2])
    features = Features(xgb.DMatrix(np.zeros((1, 1))))
    if expected is None:
        with pytest.raises(ValueError, match=r"must have the classes of y, \[0, 1, 2\], got"):
            model.predict(features)
    else:
        np.testing.assert_array_equal(model.predict(features), np.float32(expected))


RNG = np.random.default_rng(0)
X, SIGNAL = RNG.normal(size=(60, 2)), RNG.normal(size=60)
CLASS, SHARE = (SIGNAL > 0).astype(float), 1 / (1 + np.exp(-SIGNAL))


@pytest.mark.parametrize(
    ("objective", "estimator", "label", "message"),
    [
        ("reg:logistic", LogisticRegression(), SHARE, "one class per row, got the classifier LogisticRegression"),
        ("binary:logistic", LogisticRegression(), SHARE, "one class per row, got the classifier"),
        ("count:poisson", LogisticRegression(), CLASS, "got the classifier LogisticRegression: pass a regressor"),
        ("binary:logistic", KNeighborsClassifier(), np.stack([CLASS, CLASS], 1), "one class per row, got"),
        ("binary:logistic", Ridge(), CLASS, "must have predict_proba for binary:logistic, got Ridge"),
    ],
)
def test_an_estimator_for_other_labels_is_an_error_before_a_fit(monkeypatch, objective, estimator, label, message):
    monkeypatch.setattr(Estimator, "fit", None)
    with pytest.raises((TypeError, ValueError), match=message):
        pi_xgb.fit_teacher({"objective": objective}, xgb.DMatrix(X, label), teacher=estimator)


def test_a_regressor_learns_shares():
    teacher = pi_xgb.fit_teacher({"objective": "reg:logistic"}, xgb.DMatrix(X, SHARE), teacher=KNeighborsRegressor(3))
    expected = KNeighborsRegressor(3).fit(X.astype(np.float32), SHARE.astype(np.float32))
    folds = teacher.members[0].models
    assert len(folds) == 5
    assert abs(np.mean([model.estimator.predict(X) for model in folds], axis=0) - expected.predict(X)).mean() < 0.2
    assert teacher.values.min() > 0


WEIGHT = RNG.uniform(0.1, 3, 60).astype(np.float32)


def fitted(estimator: Any, objective: str, label: np.ndarray) -> Any:
    matrix = xgb.DMatrix(X, label, weight=WEIGHT)
    teacher = pi_xgb.fit_teacher({"objective": objective}, matrix, teacher=estimator, crossfit=0)
    return teacher.members[0].models[0].estimator


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_of_counts_with_an_exposure_it_learns_the_rates(weight):
    exposure = RNG.uniform(0.1, 9, 60).astype(np.float32)
    counts = RNG.poisson(exposure * np.exp(X[:, 0])).astype(np.float32)
    rows = xgb.DMatrix(X, counts, weight=weight, base_margin=np.log(exposure))
    weights = exposure * (1 if weight is None else weight)
    line = PoissonRegressor().fit(X.astype(np.float32), counts / exposure, weights)
    for teacher in (PoissonRegressor(), FrozenEstimator(line)):
        learned = pi_xgb.fit_teacher({"objective": "count:poisson"}, rows, teacher=teacher, crossfit=0)
        np.testing.assert_allclose(learned.values, line.predict(X) * exposure, rtol=1e-3)
        np.testing.assert_allclose(learned.predict(xgb.DMatrix(X)), line.predict(X), rtol=1e-3)
    if weight is None:  # without weights of its own
        near = KNeighborsRegressor(5)
        learned = pi_xgb.fit_teacher({"objective": "count:poisson"}, rows, teacher=near, crossfit=0)
        expected = near.fit(X.astype(np.float32), counts / exposure).predict(X.astype(np.float32)) * exposure
        np.testing.assert_allclose(learned.values, expected, rtol=1e-4)


def test_pipelines_searches_and_votes_pass_weights_on():
    line = LogisticRegression().fit(X.astype(np.float32), CLASS, WEIGHT).coef_
    search = fitted(
        GridSearchCV(make_pipeline(LogisticRegression()), {"logisticregression__C": [1.0]}), "binary:logistic", CLASS
    )
    np.testing.assert_allclose(search.best_estimator_[-1].coef_, line, rtol=1e-5)
    vote = VotingClassifier([("line", LogisticRegression()), ("bayes", GaussianNB())], voting="soft")
    np.testing.assert_allclose(fitted(vote, "binary:logistic", CLASS).estimators_[0].coef_, line, rtol=1e-5)
    inner = make_pipeline(StandardScaler(), make_pipeline(PoissonRegressor()))
    counts = RNG.poisson(2, 60).astype(np.float32)
    scaled = StandardScaler().fit_transform(X.astype(np.float32))
    expected = PoissonRegressor().fit(scaled, counts, WEIGHT).coef_
    np.testing.assert_allclose(fitted(inner, "count:poisson", counts)[-1][-1].coef_, expected, rtol=1e-3)


@pytest.mark.parametrize(("params", "seed"), [({}, 0), ({"seed": 3}, 3), ({"random_state": 4}, 4)])
def test_seeds_of_an_estimator_are_those_of_the_params_unless_set(params, seed):
    estimator = make_pipeline(StandardScaler(), VotingRegressor([("a", Ridge()), ("b", Ridge(random_state=7))]))
    matrix = xgb.DMatrix(X, CLASS)
    learned = pi_xgb.fit_teacher({"objective": "reg:squarederror", **params}, matrix, teacher=estimator, crossfit=0)
    (model,) = learned.members[0].models
    assert [one.random_state for one in model.estimator[-1].estimators_] == [seed, 7]


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(),
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        GridSearchCV(KNeighborsClassifier(), {}),
        VotingClassifier([("a", KNeighborsClassifier()), ("b", GaussianNB())], voting="soft"),
    ],
)
@pytest.mark.parametrize("by", ["weight", "scale_pos_weight"])
def test_weights_are_refused_where_nobody_takes_them(monkeypatch, estimator, by):
    monkeypatch.setattr(Estimator, "fit", None)
    weight, params = (WEIGHT, {}) if by == "weight" else (None, {"scale_pos_weight": 3})
    with pytest.raises(ValueError, match="must take sample_weight where rows have weights, got"):
        pi_xgb.fit_teacher(
            {"objective": "binary:logistic", **params}, xgb.DMatrix(X, CLASS, weight=weight), teacher=estimator
        )


def test_rows_without_values_are_not_predicted_by_an_estimator():
    z = X.astype(np.float32).copy()
    z[:5] = np.nan
    matrix = xgb.DMatrix(z, CLASS)
    with pytest.warns(UserWarning, match="5 of 60 rows have no privileged value"):
        teacher = pi_xgb.fit_teacher({"objective": "binary:logistic"}, matrix, teacher=LogisticRegression())
    assert np.isnan(teacher.values).tolist() == [True] * 5 + [False] * (len(z) - 5)


def test_an_estimator_that_learns_bounds_of_censored_times_warns():
    rows = Problem("survival:aft")
    rows.fields["label_upper_bound"][:5] = np.inf
    with pytest.warns(UserWarning, match="learns lower bounds as times"):
        pi_xgb.fit_teacher(rows.params(), rows.dprivileged(), 2, teacher=LinearRegression(), crossfit=2)

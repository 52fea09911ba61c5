"""Forest and linear teachers: their trees and coefficients against scikit-learn's, and what must not change them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from helpers_problems import AMOUNTS, BLENDED, CLASSES, LOGISTIC, N_CLASSES, OF_TARGETS, mean_of, one_hot
from hypothesis import given
from hypothesis import strategies as st

import pi_xgb
from pi_xgb._core.learners import forest, linear
from pi_xgb._core.learners.features import as_rates
from pi_xgb._core.training import Spec

KINDS = ("forest", "linear")
# One objective of each loss.
DISTINCT = ("binary:logistic", "multi:softprob", "reg:squarederror", "count:poisson", "reg:gamma", "reg:tweedie")
every_kind = pytest.mark.parametrize("kind", KINDS)
every_shape = pytest.mark.parametrize(
    ("name", "n_targets"), [(name, 0) for name in BLENDED] + [(name, 2) for name in OF_TARGETS]
)
each_loss = pytest.mark.parametrize("name", DISTINCT)


def rows(n: int = 120, seed: int = 0) -> np.ndarray:
    """Correlated numbers."""
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)) + 5).astype(np.float32)


def rows_of_all_kinds(n: int = 120, seed: int = 0) -> np.ndarray:
    """Numbers, a fifth of them missing, and a last column of codes, some of them missing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4)).astype(np.float32)
    x[:, 3] = rng.integers(0, 5, n)
    x[rng.random(x.shape) < 0.2] = np.nan
    x[:, 2] = rng.normal(size=n)  # no row is empty
    return x


def signal_of(x: np.ndarray) -> np.ndarray:
    return np.nan_to_num(x[:, 0] - np.nanmean(x[:, 0]), nan=2.0) - np.isin(x[:, 3], [1, 4])


def labels(name: str, signal: np.ndarray, seed: int = 0, n_targets: int = 0) -> np.ndarray:
    """Labels of the objective's kind, which grow with the signal."""
    rng = np.random.default_rng(seed)
    if n_targets:
        return np.stack([labels(name, signal, seed + k) for k in range(n_targets)], axis=1)
    noisy = signal + rng.normal(size=len(signal))
    if name in CLASSES:
        label = np.clip(np.floor(noisy + 1.5), 0, N_CLASSES - 1)
        label[:N_CLASSES] = np.arange(N_CLASSES)
        return label.astype(np.float32)
    if name in LOGISTIC:
        return (noisy > 0).astype(np.float32)
    if name == "reg:gamma":
        return rng.gamma(3, np.exp(signal / 2) / 3).astype(np.float32)
    return (rng.poisson(np.exp(signal / 2)) if name in AMOUNTS else noisy).astype(np.float32)


def matrix(x: np.ndarray, label: Any = None, weight: Any = None, *, category: bool = False, **more: Any) -> xgb.DMatrix:
    types = ["q"] * (x.shape[1] - 1) + ["c" if category else "q"]
    return xgb.DMatrix(x, label, weight=weight, feature_types=types, enable_categorical=True, **more)


def fitted(kind: str, name: str, data: xgb.DMatrix, **params: Any) -> Any:
    classes = {"num_class": N_CLASSES} if name in CLASSES else {}
    return pi_xgb.fit_teacher({"objective": name, "nthread": 1, **classes, **params}, data, teacher=kind, crossfit=0)


def predicted(kind: str, name: str, x: np.ndarray, label: Any, weight: Any = None, **fields: Any) -> np.ndarray:
    data = matrix(x, label, weight, **fields)
    return fitted(kind, name, data).predict(data)


@every_kind
@every_shape
def test_means_have_the_shape_and_the_range_of_the_objective(kind, name, n_targets):
    x = rows_of_all_kinds()
    label = labels(name, 3 * signal_of(x), n_targets=n_targets)
    mean = predicted(kind, name, x, label, category=True)
    assert mean.dtype == np.float32
    assert mean.shape == ((120, N_CLASSES) if name in CLASSES else label.shape)
    if name in (*LOGISTIC, *CLASSES):
        assert mean.min() >= (0.002 if kind == "forest" else 0)
        assert mean.max() <= (0.996 if kind == "forest" else 1)
    if name in CLASSES:
        np.testing.assert_allclose(mean.sum(axis=1), 1, atol=1e-6)
    if name in AMOUNTS:
        assert mean.min() > 0
    target = one_hot(name, label)
    assert ((mean - target) ** 2).mean() < 0.8 * ((target.mean(axis=0) - target) ** 2).mean()


@every_kind
@given(name=st.sampled_from(DISTINCT), seed=st.integers(0, 99), power=st.integers(-6, 6))
@pytest.mark.slow
def test_the_scale_of_weights_changes_nothing(kind, name, seed, power):
    x = rows(40, seed)
    label = labels(name, signal_of(x), seed)
    weight = np.random.default_rng(seed).uniform(0.1, 3, 40).astype(np.float32)
    scaled = predicted(kind, name, x, label, weight * np.float32(2.0**power))
    np.testing.assert_array_equal(scaled, predicted(kind, name, x, label, weight))


@every_kind
@each_loss
def test_rows_of_weight_0_change_nothing(kind, name, monkeypatch):
    monkeypatch.setattr(linear, "_PENALTIES", (20.0,))  # whose folds are of all rows
    x = rows_of_all_kinds()
    label, weight = labels(name, signal_of(x)), np.repeat(np.float32([2, 0]), 60)
    x[60:, :3] *= 100
    counted = fitted(kind, name, matrix(x, label, weight, category=True)).predict(matrix(x[:60], category=True))
    expected = predicted(kind, name, x[:60], label[:60], category=True)
    np.testing.assert_allclose(counted, expected, atol=1e-4 * expected.std())


@every_kind
@pytest.mark.parametrize("name", AMOUNTS)
def test_an_exposure_multiplies_the_mean(kind, name):
    x = rows()
    exposure = np.random.default_rng(0).uniform(0.2, 30, 120)
    label = labels(name, signal_of(x)) * np.float32(exposure)
    margin = np.log(exposure).astype(np.float32)
    model = fitted(kind, name, matrix(x, label, base_margin=margin))
    rate = model.predict(matrix(x))
    np.testing.assert_allclose(model.predict(matrix(x, base_margin=margin)), rate * exposure, rtol=1e-4)
    assert np.corrcoef(np.log(rate), np.log((label + 0.1) / exposure))[0, 1] > 0.4


@every_kind
@pytest.mark.parametrize(
    ("name", "value"), [("reg:squarederror", -7), ("count:poisson", 3), ("reg:gamma", 1e-3), ("reg:logistic", 0.3)]
)
def test_labels_of_one_value_give_this_value(kind, name, value):
    found = predicted(kind, name, rows(), np.full(120, value, np.float32))
    np.testing.assert_allclose(found, value, rtol=1e-4)


@every_kind
@given(name=st.sampled_from(BLENDED), n=st.integers(3, 12), seed=st.integers(0, 99))
def test_few_rows_are_enough(kind, name, n, seed):
    x = rows_of_all_kinds(n, seed)
    label = labels(name, np.random.default_rng(seed).normal(size=n), seed)
    weight = np.random.default_rng(seed).integers(0, 3, n).astype(np.float32)
    weight[0] = 1
    mean = fitted(kind, name, matrix(x, label, weight)).predict(matrix(rows_of_all_kinds(50, seed + 1)))
    assert np.isfinite(mean).all()
    assert name == "reg:squarederror" or mean.min() >= 0


@every_kind
def test_it_takes_seed_and_threads_of_the_student_alone(kind):
    x = rows()
    data = matrix(x, labels("binary:logistic", signal_of(x)))
    expected = fitted(kind, "binary:logistic", data).values
    users = {"max_depth": 1, "eta": 0.01, "lambda": 99, "base_score": 0.9, "eval_metric": "auc", "subsample": 0.1}
    for params in ({"nthread": 3}, {"device": "cpu"}, users):
        np.testing.assert_array_equal(fitted(kind, "binary:logistic", data, **params).values, expected)
    other = fitted(kind, "binary:logistic", data, seed=1).values
    assert (other != expected).any() == (kind == "forest")


def test_a_row_of_several_targets_has_the_mean_of_their_exposures_as_weight():
    exposure = np.array([[1.0, 3.0], [2.0, 8.0], [1.0, 1.0]])
    rates, weight = as_rates(np.full((3, 2), 6.0), np.array([1.0, 2.0, 3.0]), exposure)
    np.testing.assert_array_equal(rates, 6 / exposure)
    np.testing.assert_array_equal(weight, [2, 10, 3])


# --- the forest ----------------------------------------------------------------------------------------------------


def test_params_of_a_forest_depend_on_rows_outputs_objective_and_device():
    spec = Spec.read({"objective": "binary:logistic", "device": "cuda"})
    assert ["device" in forest._params(spec, 5, 1, n, 150) for n in (299_999, 300_000)] == [False, True]
    assert ["max_cached_hist_node" in forest._params(spec, 5, 1, n, 150) for n in (10_000, 10_001)] == [True, False]
    of_numbers = [forest._params(Spec.read({}), 5, 1, n, 150) for n in (499, 500)]
    assert [(params["max_depth"], params["max_bin"]) for params in of_numbers] == [(14, 64), (14, 32)]
    assert [forest._params(spec, 5, n, 9, 150)["num_parallel_tree"] for n in (1, 3, 4, 9)] == [150, 100, 75, 50]


def test_a_forest_has_fewer_trees_beside_a_linear_model():
    x, params = rows(), {"objective": "binary:logistic", "nthread": 1}
    for kind, trees in (("forest", 150), ("mixed", 60), (None, 60)):
        data = matrix(x, labels("binary:logistic", signal_of(x)))
        teacher = pi_xgb.fit_teacher(params, data, teacher=kind, crossfit=2)
        assert [len(forest.get_dump()) for forest in teacher.boosters] == [trees] * 2


@pytest.mark.parametrize("weighted", [False, True])
def test_one_tree_on_all_rows_is_that_of_scikit_learn(monkeypatch, weighted):
    tree = pytest.importorskip("sklearn.tree")
    ours, all_in = forest._params, {"num_parallel_tree": 1, "subsample": 1.0, "colsample_bynode": 1.0}
    monkeypatch.setattr(forest, "_params", lambda *sizes: ours(*sizes) | all_in)
    rng = np.random.default_rng(0)
    x = rng.integers(0, 40, size=(200, 3)).astype(np.float32)
    label = (x[:, 0] / 20 + rng.normal(size=200)).astype(np.float32)
    weight = rng.uniform(0.1, 3, 200).astype(np.float32) if weighted else None
    # At least 2 rows of average weight in each leaf.
    oracle = tree.DecisionTreeRegressor(max_depth=14, min_weight_fraction_leaf=2 / 200, random_state=0)
    expected = oracle.fit(x, label, np.ones(200) if weight is None else weight).predict(x)
    np.testing.assert_allclose(predicted("forest", "reg:squarederror", x, label, weight), expected, atol=2e-5)


@pytest.mark.parametrize("name", ["binary:logistic", "multi:softprob", "reg:squarederror"])
def test_as_good_as_the_forest_of_scikit_learn(name):
    ensemble = pytest.importorskip("sklearn.ensemble")
    x = np.random.default_rng(0).normal(size=(900, 6)).astype(np.float32)
    label = labels(name, np.sin(2 * x[:, 0]) * 2 + x[:, 1] * x[:, 2])
    train, test = slice(0, 300), slice(300, None)
    mean = fitted("forest", name, matrix(x[train], label[train])).predict(matrix(x[test]))
    if name == "reg:squarederror":
        rival = ensemble.RandomForestRegressor(150, max_features=1 / 3, min_samples_leaf=2, random_state=0)
        other = rival.fit(x[train], label[train]).predict(x[test])
    else:
        rival = ensemble.RandomForestClassifier(150, min_samples_leaf=2, random_state=0)
        other = rival.fit(x[train], label[train]).predict_proba(x[test])
        other = other if name in CLASSES else other[:, 1]
    target = one_hot(name, label[test])
    assert ((mean - target) ** 2).mean() <= 1.05 * ((other - target) ** 2).mean()


def test_the_forest_splits_at_sets_of_categories_and_at_gaps():
    codes = np.arange(300, dtype=np.float32) % 9
    x = np.stack([np.where(np.arange(300) % 4 == 0, np.nan, 1.0), codes], axis=1).astype(np.float32)
    label = (np.isin(codes, [1, 4, 8]) * 2 + np.isnan(x[:, 0])).astype(np.float32)
    found = predicted("forest", "reg:squarederror", x, label, category=True)
    assert np.corrcoef(found, label)[0, 1] > 0.98


# --- the linear model ----------------------------------------------------------------------------------------------


def standardised(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    mean = np.average(x, axis=0, weights=weight)
    deviation = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=weight))
    return np.clip((x - mean) / deviation, -3, 3)


def strength_at(name: str, mean: float) -> float:
    """The penalty of an objective, of 20 where it is chosen: in units of the curvature of the mean's loss."""
    if name in (*LOGISTIC, *CLASSES):
        return 5.0
    return 20 * {"count:poisson": mean, "reg:tweedie": abs(mean) ** 0.5}.get(name, 1.0)


def oracle(name: str, z: np.ndarray, label: np.ndarray, weight: np.ndarray, strength: float) -> np.ndarray:
    """Predictions of scikit-learn's model for the penalty strength / 2 |w|^2 on the summed loss."""
    models = pytest.importorskip("sklearn.linear_model")
    if name in (*LOGISTIC, *CLASSES):
        model = models.LogisticRegression(C=1 / strength, tol=1e-10, max_iter=10_000)
        q = model.fit(z, label, weight).predict_proba(z)
        return q if name in CLASSES else q[:, 1]
    if name == "reg:squarederror":
        return models.Ridge(alpha=strength).fit(z, label, weight).predict(z)
    power = {"count:poisson": 1, "reg:gamma": 2, "reg:tweedie": 1.5}[name]
    settings = {"power": power, "link": "log", "tol": 1e-10, "max_iter": 10_000}
    model = models.TweedieRegressor(alpha=strength / weight.sum(), **settings)
    return model.fit(z, label, weight).predict(z)


@each_loss
def test_linear_predictions_are_those_of_scikit_learn(name, monkeypatch):
    monkeypatch.setattr(linear, "_PENALTIES", (20.0,))
    x = rows(300)
    label = labels(name, signal_of(x))
    weight = np.random.default_rng(1).uniform(0.1, 3, 300)
    weight /= weight.mean()
    strength = strength_at(name, np.average(label.astype(np.float64), weights=weight))
    expected = oracle(name, standardised(x.astype(np.float64), weight), label, weight, strength)
    mean = predicted("linear", name, x, label, weight.astype(np.float32))
    assert mean.std() > 0.1
    np.testing.assert_allclose(mean, expected, atol=1e-4 * max(1.0, expected.std()))


def test_rates_are_those_of_quotients_weighted_by_exposure(monkeypatch):
    monkeypatch.setattr(linear, "_PENALTIES", (20.0,))
    x = rows(300)
    exposure = np.random.default_rng(0).uniform(0.2, 30, 300).astype(np.float32)
    label = np.random.default_rng(1).poisson(exposure * np.exp(signal_of(x) / 4)).astype(np.float32)
    z, strength = standardised(x.astype(np.float64), np.ones(300)), 20 * label.astype(np.float64).mean()
    expected = oracle("count:poisson", z, label / exposure, exposure, strength)
    model = fitted("linear", "count:poisson", matrix(x, label, base_margin=np.log(exposure)))
    np.testing.assert_allclose(model.predict(matrix(x)), expected, atol=1e-4)


@pytest.mark.parametrize("name", OF_TARGETS)
def test_targets_are_models_of_their_own(name):
    x = rows()
    label = labels(name, signal_of(x), n_targets=2) * np.float32([1, 1 if name in LOGISTIC else 1000])
    apart = [predicted("linear", name, x, label[:, k]) for k in range(2)]
    np.testing.assert_array_equal(predicted("linear", name, x, label), np.stack(apart, axis=1))


@each_loss
def test_units_and_order_of_columns_and_idle_columns_change_nothing(name):
    x = rows()
    label = labels(name, signal_of(x))
    expected = predicted("linear", name, x, label)
    other = (x * np.float32([1e-3, 1, 50, 1e6]) + np.float32([0, 100, -3, 0]))[:, [2, 0, 3, 1]]
    idle = np.stack([np.full(120, 0.1), np.full(120, np.nan), np.full(120, 1e30)], axis=1).astype(np.float32)
    for table in (other, np.hstack([idle, x])):
        np.testing.assert_allclose(predicted("linear", name, table, label), expected, atol=1e-4 * expected.std())


@pytest.mark.parametrize("name", ["reg:squarederror", "reg:gamma", "reg:tweedie"])
@pytest.mark.parametrize("unit", [1e-4, 1e6, 1e15])
def test_the_unit_of_labels_is_that_of_means(name, unit):
    x = rows()
    label = labels(name, signal_of(x))
    expected = predicted("linear", name, x, label)
    means = predicted("linear", name, x, label * np.float32(unit)) / unit
    np.testing.assert_allclose(means, expected, atol=1e-4 * expected.std())


def test_missing_values_and_categories_have_indicators_and_unseen_ones_none():
    rng = np.random.default_rng(0)
    gone, codes = rng.random(400) < 0.4, np.tile(np.float32([0, 1, 2, np.nan]), 100)
    full, gaps = rng.normal(size=(2, 400))
    x = np.stack([full, np.where(gone, np.nan, gaps), codes], axis=1).astype(np.float32)
    label = np.where(gone, 5.0, 0.0) + np.nan_to_num(3 * codes, nan=9)
    model = fitted("linear", "reg:squarederror", matrix(x, label, category=True))
    np.testing.assert_allclose(model.values, label, atol=0.7)
    unseen = model.predict(matrix(np.float32([[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 0, 8]]), category=True))
    assert abs(unseen[3] - unseen[:3].mean()) < 3


def test_levels_beyond_the_256_of_most_weight_share_a_mean():
    codes, label = np.arange(258, dtype=np.float32), np.random.default_rng(0).normal(size=258)
    mean = predicted("linear", "reg:squarederror", codes[:, None], label, weight=500 - codes, category=True)
    assert len(np.unique(mean)) == 257
    assert mean[256] == mean[257]


@pytest.mark.parametrize("name", ["count:poisson", "reg:gamma", "reg:tweedie", "reg:squarederror"])
def test_a_value_far_out_counts_as_three_deviations(name):
    x = rows()
    model = fitted("linear", name, matrix(x, labels(name, signal_of(x))))
    far, further = np.float32(1e6) * np.sign(x), np.float32(1e38) * np.sign(x)
    np.testing.assert_array_equal(model.predict(matrix(far)), model.predict(matrix(further)))


@pytest.mark.parametrize(("noise", "chosen"), [(0.01, min(linear._PENALTIES)), (50, max(linear._PENALTIES))])
def test_the_penalty_follows_the_noise(noise, chosen, monkeypatch):
    x = rows(100)
    label = signal_of(x) + np.float32(noise) * np.random.default_rng(0).normal(size=100).astype(np.float32)
    found = predicted("linear", "reg:squarederror", x, label)
    monkeypatch.setattr(linear, "_PENALTIES", (chosen,))
    np.testing.assert_allclose(found, predicted("linear", "reg:squarederror", x, label), rtol=1e-4, atol=1e-5)


def test_labels_at_an_end_of_the_range_are_the_mean():
    for name, value in [("binary:logistic", 0), ("binary:logistic", 1), ("count:poisson", 0), ("reg:tweedie", 0)]:
        np.testing.assert_array_equal(predicted("linear", name, rows(), np.full(120, value, np.float32)), value)
    huge = np.linspace(1e30, 2e30, 120, dtype=np.float32)
    np.testing.assert_allclose(predicted("linear", "reg:gamma", rows(), huge), np.exp(60), rtol=1e-5)
    mean = predicted("linear", "multi:softprob", rows(), 2 * labels("binary:logistic", signal_of(rows())))
    np.testing.assert_array_equal(mean[:, 1], 0)  # a class without rows


@pytest.mark.parametrize("name", ["binary:logistic", "reg:squarederror"])
def test_a_margin_to_start_from_is_added(name):
    x = rows()
    margin = np.random.default_rng(0).normal(size=120).astype(np.float32)
    model = fitted("linear", name, matrix(x, labels(name, signal_of(x)), base_margin=margin))
    without, shown = model.predict(matrix(x)), model.predict(matrix(x, base_margin=margin))
    start = np.log(without / (1 - without)) if name in LOGISTIC else without
    np.testing.assert_allclose(shown, mean_of(name, start + margin), atol=1e-5)


SCRIPT = """
import hashlib, sys, numpy as np, xgboost as xgb, pi_xgb
x = np.random.default_rng(0).normal(size=(30_000, 40)).astype(np.float32)
matrix = xgb.DMatrix(x, x[:, 0] + x[:, 1] ** 2 > 1, nthread=int(sys.argv[1]))
for name in ("binary:logistic", "reg:squarederror"):
    params = {"objective": name, "nthread": int(sys.argv[1])}
    teacher = pi_xgb.fit_teacher(params, matrix, teacher="linear", crossfit=0)
    print(hashlib.sha256(teacher.values.tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_the_number_of_threads_changes_no_bit(tmp_path):
    answers = set()
    for threads in ("1", "2"):
        environment = {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads, "PYTHONPATH": ":".join(sys.path)}
        command = [sys.executable, "-c", SCRIPT, threads]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path)
        answers.add(done.stdout)
    assert len(answers) == 1
    assert len(set(answers.pop().split())) == 2

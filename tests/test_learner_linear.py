"""The linear teacher: its coefficients against scikit-learn's, its encoding, and what must not change it."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from helpers_learners import N_CLASSES, OF_TARGETS, WITH_MEAN, every_shape, labels, spec_of
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_xgb._core.learners import design, linear
from pi_xgb._core.learners.features import Features
from pi_xgb._core.learners.linear import Linear, LinearModel
from pi_xgb._core.losses import LOSSES

# One objective of each loss.
DISTINCT = ["binary:logistic", "multi:softprob", "reg:squarederror", "count:poisson", "reg:gamma", "reg:tweedie"]
WITH_EXPOSURE = ["count:poisson", "reg:gamma", "reg:tweedie"]
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
    return x


def features(x: np.ndarray, *, category: bool = False, **fields: Any) -> Features:
    types = ["q"] * (x.shape[1] - 1) + ["c" if category else "q"]
    return Features(xgb.DMatrix(x, feature_types=types, enable_categorical=True, **fields))


def signal_of(x: np.ndarray) -> np.ndarray:
    return np.nan_to_num(x[:, 0] - np.nanmean(x[:, 0]), nan=2.0) - np.isin(x[:, 3], [1, 4])


def fitted(name: str, x: np.ndarray, label: np.ndarray, weight: Any = None, **fields: Any) -> LinearModel:
    return Linear(spec_of(name)).fit(features(x, **fields), label, weight)


def predicted(name: str, x: np.ndarray, label: np.ndarray, weight: Any = None, **fields: Any) -> np.ndarray:
    return fitted(name, x, label, weight, **fields).predict(features(x, **fields))


def standardised(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    mean = np.average(x, axis=0, weights=weight)
    deviation = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=weight))
    return np.clip((x - mean) / deviation, -3, 3)


def strength_at(name: str, mean: float) -> float:
    """The penalty of an objective, of 20 where it is chosen: in units of the curvature of the mean's loss."""
    if LOSSES[name].probabilities:
        return 5.0
    return 20 * {"count:poisson": mean, "reg:tweedie": abs(mean) ** 0.5}.get(name, 1.0)


def oracle(name: str, z: np.ndarray, label: np.ndarray, weight: np.ndarray, strength: float) -> np.ndarray:
    """Predictions of scikit-learn's model for the penalty strength / 2 |w|^2 on the summed loss."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    if LOSSES[name].probabilities:
        model = linear_model.LogisticRegression(C=1 / strength, tol=1e-10, max_iter=10_000)
        q = model.fit(z, label, weight).predict_proba(z)
        return q if LOSSES[name].multiclass else q[:, 1]
    if name == "reg:squarederror":
        return linear_model.Ridge(alpha=strength).fit(z, label, weight).predict(z)
    kinds = {
        "count:poisson": linear_model.PoissonRegressor,
        "reg:gamma": linear_model.GammaRegressor,
        "reg:tweedie": linear_model.TweedieRegressor,
    }
    power = {"power": 1.5, "link": "log"} if name == "reg:tweedie" else {}
    model = kinds[name](alpha=strength / weight.sum(), tol=1e-10, max_iter=10_000, **power)
    return model.fit(z, label, weight).predict(z)


@pytest.mark.parametrize("weighted", [False, True])
@each_loss
def test_predictions_are_those_of_scikit_learn(name, weighted, monkeypatch):
    monkeypatch.setattr(linear, "_PENALTIES", (20.0,))
    x = rows(300)
    label = labels(name, signal_of(x))
    weight = np.random.default_rng(1).uniform(0.1, 3, 300) if weighted else np.ones(300)
    weight /= weight.mean()
    strength = strength_at(name, np.average(label.astype(np.float64), weights=weight))
    expected = oracle(name, standardised(x.astype(np.float64), weight), label, weight, strength)
    mean = predicted(name, x, label, weight.astype(np.float32) if weighted else None)
    assert mean.std() > 0.1
    np.testing.assert_allclose(mean, expected, atol=1e-4 * max(1.0, expected.std()))


@every_shape
def test_the_objective_is_flat_at_the_coefficients(name, n_targets, monkeypatch):
    # Its definition once more, and central differences in every direction of the coefficients.
    monkeypatch.setattr(linear, "_PENALTIES", (20.0,))
    x, loss = rows_of_all_kinds(), LOSSES[name]
    label = labels(name, signal_of(x), n_targets=n_targets)
    model = fitted(name, x, label, category=True)
    encoded = model.encoding.design(x)
    columns = np.hstack([np.ones((len(x), 1)), encoded.numbers.T, encoded.indicators.toarray()])
    target = loss.one_hot(label, np.empty((len(x), N_CLASSES))).astype(np.float64).reshape(len(x), -1)
    penalty = np.array([[strength_at(name, centre)] for centre in target.mean(axis=0)])

    def objective(coefficients: np.ndarray) -> float:
        summed = loss.value(columns @ coefficients.T, target).sum()
        return float(summed + (penalty * coefficients[:, 1:] ** 2).sum() / 2)

    steps = 1e-4 * np.eye(model.coefficients.size).reshape(-1, *model.coefficients.shape)
    slope = [(objective(model.coefficients + step) - objective(model.coefficients - step)) / 2e-4 for step in steps]
    assert np.abs(slope).max() < 1e-3
    at_zero = np.zeros_like(model.coefficients)
    assert max(abs(objective(at_zero + step) - objective(at_zero - step)) / 2e-4 for step in steps) > 5


@every_shape
def test_means_have_the_shape_and_the_range_of_the_objective(name, n_targets):
    x, loss = rows_of_all_kinds(), LOSSES[name]
    label = labels(name, 3 * signal_of(x), n_targets=n_targets)
    model = fitted(name, x, label, category=True)
    mean = model.predict(features(x, category=True))
    assert mean.dtype == np.float32
    assert mean.shape == ((120, N_CLASSES) if loss.multiclass else label.shape)
    assert loss.range.holds(mean.min(), mean.max())
    if loss.multiclass:
        np.testing.assert_allclose(mean.sum(axis=1), 1, atol=1e-6)
    target = loss.one_hot(label, mean)
    assert ((mean - target) ** 2).mean() < 0.8 * ((target.mean(axis=0) - target) ** 2).mean()
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict(features(x, category=True)), mean)


@pytest.mark.parametrize("name", OF_TARGETS)
def test_targets_are_models_of_their_own(name):
    x = rows()
    label = labels(name, signal_of(x), n_targets=2) * np.float32([1, 1 if LOSSES[name].probabilities else 1000])
    apart = [predicted(name, x, label[:, k]) for k in range(2)]
    np.testing.assert_array_equal(predicted(name, x, label), np.stack(apart, axis=1))


@each_loss
def test_the_unit_and_the_order_of_columns_mean_nothing(name):
    x = rows()
    label = labels(name, signal_of(x))
    other = (x * np.float32([1e-3, 1, 50, 1e6]) + np.float32([0, 100, -3, 0]))[:, [2, 0, 3, 1]]
    expected = predicted(name, x, label)
    np.testing.assert_allclose(predicted(name, other, label), expected, atol=1e-4 * expected.std())


@pytest.mark.parametrize("name", ["reg:squarederror", "reg:gamma", "reg:tweedie"])
@pytest.mark.parametrize("unit", [1e-4, 1e6, 1e15])
def test_the_unit_of_labels_is_that_of_means(name, unit):
    x = rows()
    label = labels(name, signal_of(x))
    expected = predicted(name, x, label)
    means = predicted(name, x, label * np.float32(unit)) / unit
    np.testing.assert_allclose(means, expected, atol=1e-4 * expected.std())


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(DISTINCT), st.integers(0, 99), st.integers(-6, 6))
def test_the_scale_of_weights_means_nothing(name, seed, power):
    x = rows(40, seed)
    label = labels(name, signal_of(x), seed)
    weight = np.random.default_rng(seed).uniform(0.1, 3, 40).astype(np.float32)
    expected = predicted(name, x, label, weight)
    scaled = predicted(name, x, label, weight * np.float32(2.0**power))
    np.testing.assert_array_equal(scaled, expected)


@each_loss
def test_rows_of_weight_0_mean_nothing(name, monkeypatch):
    monkeypatch.setattr(linear, "_PENALTIES", (20.0,))
    x = rows_of_all_kinds()
    label = labels(name, signal_of(x))
    weight = np.repeat(np.float32([2, 0]), 60)
    x[60:, :3] *= 100
    x[60:, 3] = 7
    counted = fitted(name, x, label, weight, category=True).predict(features(x[:60], category=True))
    expected = predicted(name, x[:60], label[:60], category=True)
    np.testing.assert_allclose(counted, expected, atol=1e-4 * expected.std())


@each_loss
def test_copies_of_rows_are_weights(name, monkeypatch):
    x = rows_of_all_kinds()
    label = labels(name, signal_of(x))
    copies = np.random.default_rng(0).integers(1, 4, 120)
    repeated = np.repeat(np.arange(120), copies)
    monkeypatch.setattr(linear, "_PENALTIES", (20.0,))
    weighted = predicted(name, x, label, copies.astype(np.float32), category=True)
    # Weights are scaled to a sum of 120, copies are more rows against the same penalty.
    monkeypatch.setattr(linear, "_PENALTIES", (20 * copies.mean(),))
    monkeypatch.setattr(linear, "_PENALTY_OF_CLASSES", 5 * copies.mean())
    model = fitted(name, x[repeated], label[repeated], category=True)
    means = model.predict(features(x, category=True))
    np.testing.assert_allclose(means, weighted, atol=1e-4 * weighted.std())


def test_that_a_value_is_missing_counts():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2)).astype(np.float32)
    gone = rng.random(400) < 0.4
    x[gone, 0] = np.nan
    label = np.where(gone, 5.0, 0.0).astype(np.float32)
    mean = predicted("reg:squarederror", x, label)
    np.testing.assert_allclose(mean, label, atol=0.5)


def test_of_a_column_of_few_values_those_set_the_indicator():
    rng = np.random.default_rng(0)
    full = (rng.random((200, 5)) < 0.3).astype(np.float32)
    label = (full @ rng.normal(size=5) + rng.normal(size=200) > 0).astype(np.float32)
    ones, zeros = np.where(full > 0, full, np.nan), np.where(full > 0, np.nan, full)
    model = fitted("binary:logistic", ones, label)
    encoded = model.encoding.design(ones)
    assert encoded.numbers.shape == (0, 200)
    np.testing.assert_array_equal(encoded.indicators.toarray(), full)
    expected = predicted("binary:logistic", zeros, label)
    np.testing.assert_allclose(model.predict(features(ones)), expected, atol=1e-5)


def test_of_a_column_with_gaps_in_half_of_the_rows_these_set_the_indicator():
    x = np.float32([[1], [np.nan]])
    encoded = design.Encoding(x, np.array([False]), np.ones(2)).design(x)
    assert encoded.indicators.toarray().tolist() == [[0], [1]]


def test_a_value_that_no_training_row_lacks_is_the_mean_where_it_is_missing():
    x = rows()
    model = fitted("reg:squarederror", x, signal_of(x))
    absent, average = x[:1].copy(), x[:1].copy()
    absent[0, 0], average[0, 0] = np.nan, x[:, 0].astype(np.float64).mean()
    np.testing.assert_allclose(model.predict(features(absent)), model.predict(features(average)), atol=1e-5)


def test_a_missing_category_is_a_level_and_an_unseen_one_none():
    codes = np.tile(np.float32([0, 1, 2, np.nan]), 100)
    label = np.tile(np.float32([0, 1, 2, 9]), 100)
    x = np.stack([np.zeros(400, np.float32), codes], axis=1)
    model = fitted("reg:squarederror", x, label, category=True)
    levels = np.float32([[0, 0], [0, 1], [0, 2], [0, np.nan], [0, 8]])
    means = model.predict(features(levels, category=True))
    np.testing.assert_allclose(means[:4], label[:4], atol=0.5)
    np.testing.assert_allclose(means[4], model.coefficients[0, 0], atol=1e-6)


def test_the_most_frequent_levels_have_coefficients(monkeypatch):
    monkeypatch.setattr(design, "_MAX_LEVELS", 2)
    codes = np.repeat(np.float32([3, 0, 4, 1]), [40, 5, 30, 2])
    model = fitted("reg:squarederror", np.stack([codes, codes], axis=1), codes == 4, category=True)
    assert model.encoding.design(np.float32([[0, 3], [0, 0], [0, 4]])).indicators.toarray()[:, 1:].tolist() == [
        [1, 0],
        [0, 0],
        [0, 1],
    ]


def test_256_levels_of_a_category_have_coefficients():
    codes = np.arange(300, dtype=np.float32)[:, None]
    assert design.Encoding(codes, np.array([True]), np.ones(300)).design(codes).indicators.shape == (300, 256)


@each_loss
def test_columns_that_say_nothing_change_nothing(name):
    x = rows()
    label = labels(name, signal_of(x))
    idle = np.stack([np.full(120, 0.1), np.full(120, np.nan), np.full(120, 1e30)], axis=1).astype(np.float32)
    with_idle = fitted(name, np.hstack([idle, x]), label)
    expected = predicted(name, x, label)
    other = np.hstack([np.full_like(idle, 7), x])
    np.testing.assert_allclose(with_idle.predict(features(other)), expected, atol=1e-4 * expected.std())


def test_tweedie_of_power_1_is_poisson():
    x = rows()
    label = labels("count:poisson", signal_of(x))
    spec = spec_of("reg:tweedie", tweedie_variance_power=1.0)
    mean = Linear(spec).fit(features(x), label, None).predict(features(x))
    np.testing.assert_allclose(mean, predicted("count:poisson", x, label), rtol=1e-4)


@pytest.mark.parametrize("name", WITH_EXPOSURE)
def test_an_exposure_multiplies_the_mean(name):
    x = rows()
    exposure = np.random.default_rng(0).uniform(0.2, 30, 120)
    label = labels(name, signal_of(x)) * np.float32(exposure)
    margin = np.log(exposure).astype(np.float32)
    model = fitted(name, x, label, base_margin=margin)
    rate = model.predict(features(x))
    np.testing.assert_allclose(model.predict(features(x, base_margin=margin)), rate * exposure, rtol=1e-5)
    assert np.corrcoef(np.log(rate), np.log((label + 0.1) / exposure))[0, 1] > 0.5


def test_rates_are_those_of_weighted_quotients(monkeypatch):
    # Counts with an exposure have the likelihood of the quotients, each weighted by its exposure.
    monkeypatch.setattr(linear, "_PENALTIES", (20.0,))
    x = rows(300)
    exposure = np.random.default_rng(0).uniform(0.2, 30, 300).astype(np.float32)
    label = np.random.default_rng(1).poisson(exposure * np.exp(signal_of(x) / 4)).astype(np.float32)
    z = standardised(x.astype(np.float64), np.ones(300))
    expected = oracle("count:poisson", z, label / exposure, exposure, 20 * label.astype(np.float64).mean())
    model = fitted("count:poisson", x, label, base_margin=np.log(exposure))
    np.testing.assert_allclose(model.predict(features(x)), expected, atol=1e-4)


@pytest.mark.parametrize("name", ["binary:logistic", "reg:squarederror", "multi:softprob"])
def test_a_margin_to_start_from_is_added(name):
    x = rows()
    label, loss = labels(name, signal_of(x)), LOSSES[name]
    shape = (120, N_CLASSES) if loss.multiclass else 120
    margin = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    model = fitted(name, x, label, base_margin=margin)
    without = model.encoding.design(x).margin(model.coefficients)
    expected = loss.mean(without + margin.reshape(without.shape)).reshape(shape)
    np.testing.assert_allclose(model.predict(features(x, base_margin=margin)), expected, atol=1e-5)


def test_labels_at_one_end_of_the_range_are_the_mean():
    x = rows()
    for name, label in [("binary:logistic", 0), ("binary:logistic", 1), ("count:poisson", 0), ("reg:tweedie", 0)]:
        np.testing.assert_array_equal(predicted(name, x, np.full(120, label, np.float32)), label)
    for name, label in [("reg:squarederror", -7), ("count:poisson", 3), ("reg:gamma", 1e-3), ("reg:logistic", 0.3)]:
        np.testing.assert_allclose(predicted(name, x, np.full(120, label, np.float32)), label, rtol=1e-5)
    only_one = predicted("multi:softprob", x, np.full(120, 2, np.float32))
    np.testing.assert_array_equal(only_one, np.tile(np.float32([0, 0, 1]), (120, 1)))


@pytest.mark.parametrize("name", ["reg:gamma", "reg:tweedie"])
def test_amounts_beyond_the_largest_mean_give_this_mean(name):
    label = np.linspace(1e30, 2e30, 120, dtype=np.float32)
    np.testing.assert_allclose(predicted(name, rows(), label), np.exp(60), rtol=1e-5)


def test_a_class_without_rows_has_no_probability():
    x = rows()
    label = 2 * labels("binary:logistic", signal_of(x))
    mean = predicted("multi:softprob", x, label)
    np.testing.assert_array_equal(mean[:, 1], 0)
    np.testing.assert_allclose(mean.sum(axis=1), 1, atol=1e-6)
    assert np.corrcoef(mean[:, 2], label)[0, 1] > 0.5


@pytest.mark.parametrize("name", ["count:poisson", "reg:gamma", "reg:tweedie", "reg:squarederror"])
def test_a_value_far_out_counts_as_three_deviations(name):
    x = rows()
    model = fitted(name, x, labels(name, signal_of(x)))
    far, further = np.float32(1e6) * np.sign(x), np.float32(1e38) * np.sign(x)
    np.testing.assert_array_equal(model.predict(features(far)), model.predict(features(further)))


def test_the_penalty_follows_the_noise(monkeypatch):
    x = rows(100)
    chosen: list[float] = []
    best = linear._Ridge._best_penalty
    monkeypatch.setattr(linear._Ridge, "_best_penalty", lambda self: chosen.append(best(self)) or chosen[-1])
    for noise in (0.01, 50):
        label = signal_of(x) + np.float32(noise) * np.random.default_rng(0).normal(size=100).astype(np.float32)
        fitted("reg:squarederror", x, label)
    assert chosen == pytest.approx([min(linear._PENALTIES), max(linear._PENALTIES)])


@pytest.mark.parametrize(("n", "penalty"), [(4, max(linear._PENALTIES)), (5, min(linear._PENALTIES))])
def test_a_penalty_is_chosen_from_as_many_rows_as_folds_on(n, penalty, monkeypatch):
    x = np.arange(n, dtype=np.float32)[:, None]
    found = predicted("reg:squarederror", x, x[:, 0])
    monkeypatch.setattr(linear, "_PENALTIES", (penalty,))
    np.testing.assert_allclose(found, predicted("reg:squarederror", x, x[:, 0]), rtol=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(WITH_MEAN), st.integers(1, 12), st.integers(0, 99))
def test_few_rows_are_enough(name, n, seed):
    x, loss = rows_of_all_kinds(n + N_CLASSES, seed)[:n], LOSSES[name]
    label = labels(name, np.random.default_rng(seed).normal(size=n + N_CLASSES), seed)[:n]
    weight = np.random.default_rng(seed).integers(0, 3, n).astype(np.float32)
    weight[0] = 1
    model = fitted(name, x, label, weight, category=True)
    mean = model.predict(features(rows_of_all_kinds(50, seed + 1), category=True))
    assert loss.range.holds(mean.min(), mean.max())


SCRIPT = """
import hashlib, sys, numpy as np, xgboost as xgb
from pi_xgb._core.learners.features import Features
from pi_xgb._core.learners.linear import Linear
from pi_xgb._core.spec import Spec
x = np.random.default_rng(0).normal(size=(30_000, 40)).astype(np.float32)
label = (x[:, 0] + x[:, 1] ** 2 > 1).astype(np.float32)
features = Features(xgb.DMatrix(x, nthread=int(sys.argv[1])))
learner = Linear(Spec.read({"objective": sys.argv[2], "nthread": int(sys.argv[1])}))
print(hashlib.sha256(learner.fit(features, label, None).predict(features).tobytes()).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["binary:logistic", "reg:squarederror"])
def test_the_number_of_threads_changes_no_bit(name, tmp_path):
    answers = set()
    for threads in ("1", "2"):
        environment = {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads, "PYTHONPATH": ":".join(sys.path)}
        command = [sys.executable, "-c", SCRIPT, threads, name]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path)
        answers.add(done.stdout)
    assert len(answers) == 1

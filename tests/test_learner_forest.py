"""The forest as a teacher: its trees against scikit-learn's, and what must not change it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from helpers_learners import N_CLASSES, WITH_MEAN, every_shape, labels, spec_of
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_xgb._core.learners import forest
from pi_xgb._core.learners.features import Features
from pi_xgb._core.learners.forest import Forest
from pi_xgb._core.losses import LOSSES

every_objective = pytest.mark.parametrize("name", WITH_MEAN)


def rows(n: int = 80, seed: int = 0) -> np.ndarray:
    """Numbers of few values, a fifth of them missing, and a last column of codes."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 40, size=(n, 4)).astype(np.float32)
    x[rng.random(x.shape) < 0.2] = np.nan
    x[:, 3] = rng.integers(0, 9, n)
    return x


def features(x: np.ndarray, **fields: Any) -> Features:
    types = ["q"] * (x.shape[1] - 1) + ["c"]
    return Features(xgb.DMatrix(x, feature_types=types, enable_categorical=True, **fields))


def signal_of(x: np.ndarray) -> np.ndarray:
    return np.nan_to_num(x[:, 0], nan=20) / 20 - 1 + np.isin(x[:, 3], [1, 4, 8])


def fitted(name: str, x: np.ndarray, label: np.ndarray, weight: Any = None, **params: Any) -> np.ndarray:
    return Forest(spec_of(name, **params)).fit(features(x), label, weight).predict(features(x))


@pytest.mark.parametrize("weighted", [False, True])
def test_one_tree_on_all_rows_is_that_of_scikit_learn(monkeypatch, weighted):
    tree = pytest.importorskip("sklearn.tree")
    ours = Forest._params
    all_in = {"num_parallel_tree": 1, "subsample": 1.0, "colsample_bynode": 1.0}
    monkeypatch.setattr(Forest, "_params", lambda self, *sizes: ours(self, *sizes) | all_in)
    rng = np.random.default_rng(0)
    x = rng.integers(0, 40, size=(200, 3)).astype(np.float32)
    label = (x[:, 0] / 20 + rng.normal(size=200)).astype(np.float32)
    weight = rng.uniform(0.1, 3, 200).astype(np.float32) if weighted else np.ones(200, np.float32)
    # At least 2 rows of average weight in each leaf.
    oracle = tree.DecisionTreeRegressor(max_depth=14, min_weight_fraction_leaf=2 / 200, random_state=0)
    expected = oracle.fit(x, label, weight).predict(x)
    model = Forest(spec_of("reg:squarederror")).fit(Features(xgb.DMatrix(x)), label, weight if weighted else None)
    np.testing.assert_allclose(model.predict(Features(xgb.DMatrix(x))), expected, atol=2e-5)


@pytest.mark.parametrize("name", ["binary:logistic", "multi:softprob", "reg:squarederror"])
def test_as_good_as_the_forest_of_scikit_learn(name):
    ensemble = pytest.importorskip("sklearn.ensemble")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(900, 6)).astype(np.float32)
    label = labels(name, np.sin(2 * x[:, 0]) * 2 + x[:, 1] * x[:, 2])
    train, test = slice(0, 300), slice(300, None)
    model = Forest(spec_of(name)).fit(Features(xgb.DMatrix(x[train])), label[train], None)
    mean = model.predict(Features(xgb.DMatrix(x[test])))
    if name == "reg:squarederror":
        rival = ensemble.RandomForestRegressor(150, max_features=1 / 3, min_samples_leaf=2, random_state=0)
        other = rival.fit(x[train], label[train]).predict(x[test])
    else:
        rival = ensemble.RandomForestClassifier(150, min_samples_leaf=2, random_state=0)
        other = rival.fit(x[train], label[train]).predict_proba(x[test])
        other = other if name == "multi:softprob" else other[:, 1]
    loss = LOSSES[name]
    target = loss.one_hot(label[test], mean)
    assert ((mean - target) ** 2).mean() <= 1.05 * ((other - target) ** 2).mean()


@every_shape
def test_means_have_the_shape_and_the_range_of_the_objective(name, n_targets):
    x, loss = rows(), LOSSES[name]
    label = labels(name, 3 * signal_of(x), n_targets=n_targets)
    model = Forest(spec_of(name)).fit(features(x), label, None)
    mean = model.predict(features(x))
    assert mean.dtype == np.float32
    assert mean.shape == ((80, N_CLASSES) if loss.multiclass else label.shape)
    assert loss.range.holds(mean.min(), mean.max())
    if loss.probabilities:
        assert mean.min() >= 0.0025  # of three classes .01 / 3, divided by the sum
        assert mean.max() <= np.float32(0.995)
    if loss.has_exposure:
        assert mean.min() > 0
    if loss.multiclass:
        np.testing.assert_allclose(mean.sum(axis=1), 1, atol=1e-6)
    target = loss.one_hot(label, mean)
    assert ((mean - target) ** 2).mean() < 0.8 * ((target.mean(axis=0) - target) ** 2).mean()
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict(features(x)), mean)
    assert [booster.num_boosted_rounds() for booster in copied.boosters] == [1]


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(WITH_MEAN), st.integers(0, 99), st.integers(-6, 6))
def test_the_scale_of_weights_means_nothing(name, seed, power):
    x = rows(40, seed)
    label = labels(name, signal_of(x), seed)
    weight = np.random.default_rng(seed).uniform(0.1, 3, 40).astype(np.float32)
    expected = fitted(name, x, label, weight)
    np.testing.assert_array_equal(fitted(name, x, label, weight * np.float32(2.0**power)), expected)
    constant = np.full(40, 10.0**power, np.float32)
    np.testing.assert_array_equal(fitted(name, x, label, constant), fitted(name, x, label))


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(WITH_MEAN), st.integers(0, 99), st.booleans())
def test_rows_of_weight_0_change_nothing(name, seed, with_offset):
    x = rows(60, seed)
    rng = np.random.default_rng(seed)
    label, weight = labels(name, signal_of(x), seed), rng.uniform(0.1, 3, 60).astype(np.float32)
    shape = spec_of(name).shape(60)
    rows_of = features(x, base_margin=rng.normal(size=shape)) if with_offset else features(x)
    absent = rng.random(60) < 0.3
    weight[absent] = 0
    kept = np.flatnonzero(~absent)
    learner = Forest(spec_of(name))
    expected = learner.fit(rows_of.subset(kept), label[kept], weight[kept]).predict(rows_of)
    np.testing.assert_array_equal(learner.fit(rows_of, label, weight).predict(rows_of), expected)


def test_it_inherits_seed_threads_and_device_alone():
    name, x = "binary:logistic", rows()
    label = labels(name, signal_of(x))
    expected = fitted(name, x, label)
    users = {"max_depth": 1, "eta": 0.01, "lambda": 99, "base_score": 0.9, "eval_metric": "auc", "subsample": 0.1}
    for params in ({"seed": 0}, {"random_state": 0}, {"nthread": 3}, {"n_jobs": 2}, {"device": "cpu"}, users):
        np.testing.assert_array_equal(fitted(name, x, label, **params), expected, err_msg=str(params))
    other = fitted(name, x, label, seed=1)
    assert (other != expected).any()
    np.testing.assert_array_equal(fitted(name, x, label, random_state=1), other)


@every_shape
def test_the_rows_of_the_user_stay_as_they_are(name, n_targets):
    x = rows()
    label = labels(name, signal_of(x), n_targets=n_targets)
    shape = label.shape if n_targets else spec_of(name).shape(80)
    rng = np.random.default_rng(0)
    fields = {"label": label, "weight": rng.random(80, np.float32), "base_margin": rng.normal(size=shape)}
    given_rows = features(x, **fields)
    Forest(spec_of(name)).fit(given_rows, label, None).predict(given_rows)
    for field, expected in fields.items():
        found = given_rows.matrix.get_float_info(field).reshape(expected.shape)
        np.testing.assert_array_equal(found, expected.astype(np.float32))


@every_shape
@pytest.mark.parametrize("weighted", [False, True])
def test_without_a_split_it_is_the_mean_beyond_the_base_margin(monkeypatch, name, n_targets, weighted):
    monkeypatch.setitem(forest._PARAMS, "subsample", 1.0)
    loss, rng = LOSSES[name], np.random.default_rng(0)
    label = labels(name, rng.normal(size=50), n_targets=n_targets)
    shape = label.shape if n_targets else spec_of(name).shape(50)
    margin = rng.normal(scale=0.3, size=shape).astype(np.float32)
    weight = rng.random(50).astype(np.float32) + 1 if weighted else None
    counts = np.ones(50) if weight is None else weight
    same = features(np.zeros((50, 2), np.float32), base_margin=margin)
    found = Forest(spec_of(name)).fit(same, label, weight).predict(same)
    start = loss.mean(margin).astype(np.float64)
    target = loss.one_hot(label, start).astype(np.float64)
    if loss.has_exposure:
        # Of several targets each row has one weight: the mean of its exposures.
        per_row = counts * (start.mean(axis=1) if n_targets else start)
        expected = start * np.average(target / start, axis=0, weights=per_row)
    else:
        expected = start + np.average(target - start, axis=0, weights=counts)
    if loss.probabilities:
        assert expected.min() > 0.005
        assert expected.max() < 0.995
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_an_exposure_multiplies_the_prediction():
    x = rows(200)
    exposure = np.random.default_rng(0).uniform(0.5, 4, 200)
    rate = np.exp(signal_of(x))
    label = np.random.default_rng(1).poisson(rate * exposure).astype(np.float32)
    margin = np.log(exposure).astype(np.float32)
    model = Forest(spec_of("count:poisson")).fit(features(x, base_margin=margin), label, None)
    single = model.predict(features(x))
    np.testing.assert_allclose(model.predict(features(x, base_margin=margin)), single * exposure, rtol=1e-5)
    blind = fitted("count:poisson", x, label)
    assert ((single - rate) ** 2).mean() < 0.5 * ((blind - rate) ** 2).mean()


def test_labels_of_one_value_give_this_value():
    x = rows(30)
    for name, value, expected in (
        ("binary:logistic", 0, 0.005),
        ("binary:logistic", 1, 0.995),
        ("reg:squarederror", 7.25, 7.25),
        ("count:poisson", 0, 0),
        ("reg:gamma", 3, 3),
    ):
        np.testing.assert_array_equal(fitted(name, x, np.full(30, value, np.float32)), np.float32(expected))
    mean = fitted("multi:softprob", x, np.ones(30, np.float32))
    floor = 0.01 / N_CLASSES
    np.testing.assert_allclose(mean, np.tile([floor, 1, floor], (30, 1)) / (1 + 2 * floor), rtol=1e-6)


def test_rows_that_never_count_have_a_small_rate():
    x = np.repeat([[0, 0], [1, 1]], 100, axis=0).astype(np.float32)
    for name in ("count:poisson", "reg:tweedie"):
        mean = fitted(name, x, 8 * x[:, 0])
        np.testing.assert_allclose(np.unique(mean), [0.005 * 4, 8], rtol=1e-6)


@pytest.mark.parametrize("name", ["binary:logistic", "reg:squarederror"])
def test_few_rows_need_no_cache_of_histograms(name, monkeypatch):
    x = rows(300)
    label, params = labels(name, signal_of(x)), Forest(spec_of(name))._params
    assert params(4, 1, 10_000)["max_cached_hist_node"] == 1
    assert "max_cached_hist_node" not in params(4, 1, 10_001)
    without = fitted(name, x, label)
    monkeypatch.setattr(forest, "_ROWS_FOR_CACHE", 0)
    np.testing.assert_array_equal(fitted(name, x, label), without)


def test_the_number_of_rows_chooses_bins_and_device():
    for name, few, many in (("reg:squarederror", 64, 32), ("binary:logistic", 64, 64)):
        params = Forest(spec_of(name, device="cuda"))._params
        assert params(4, 1, 499)["max_bin"] == few
        assert params(4, 1, 500)["max_bin"] == many
        assert "device" not in params(4, 1, 299_999)
        assert params(4, 1, 300_000)["device"] == "cuda"


def test_it_splits_at_sets_of_categories_and_at_gaps():
    x = rows(300)
    for truth in (np.isin(x[:, 3], [1, 4, 8]), np.isnan(x[:, 1])):
        mean = fitted("binary:logistic", x, truth.astype(np.float32))
        assert mean[truth].min() > 0.5 > mean[~truth].max()


def test_fewer_trees_for_each_of_many_classes():
    x = rows(60)
    for n_classes, n_trees in ((2, 150), (4, 75), (9, 50)):
        label = np.arange(60, dtype=np.float32) % n_classes
        model = Forest(spec_of("multi:softprob", num_class=n_classes)).fit(features(x), label, None)
        assert len(model.booster.get_dump()) == n_trees * n_classes


def test_the_square_root_of_the_columns_for_classes_and_a_third_for_numbers():
    for name, share in (("binary:logistic", 1 / 4), ("multi:softprob", 1 / 4), ("reg:squarederror", 1 / 3)):
        assert Forest(spec_of(name))._params(16, 1, 99)["colsample_bynode"] == share
    # Of a column alone nothing is left out.
    x = np.arange(20, dtype=np.float32)[:, None]
    mean = Forest(spec_of("reg:squarederror")).fit(Features(xgb.DMatrix(x)), x[:, 0], None)
    assert np.corrcoef(mean.predict(Features(xgb.DMatrix(x))), x[:, 0])[0, 1] > 0.98

"""Group metrics during training: XGBoost calls them; plain calls after each round say what they must be."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

from pi_xgb import metrics
from pi_xgb.metrics import UndefinedRateWarning

PARAMS = {"objective": "binary:logistic", "max_depth": 2, "eta": 0.5, "nthread": 1, "seed": 0, "base_score": 0.5}
NAMES = ["statistical_parity", "equalized_odds", "equal_opportunity", "abroca"]


@pytest.fixture
def data():
    """A training set, and two evaluation sets with as many rows; labels depend on the group."""
    rng = np.random.default_rng(0)
    sex, w = rng.integers(0, 2, 300), rng.random(300) + 0.5
    x = rng.normal(size=(300, 3)) + 0.5 * sex[:, None]
    y = (x[:, 0] + 0.7 * sex + rng.normal(size=300) > 0.8).astype(int)
    g = np.array(["f", "m"])[sex]
    parts = [slice(0, 100), slice(100, 200), slice(200, 300)]
    return [(xgb.DMatrix(x[r], y[r], weight=w[r]), x[r], y[r], g[r], w[r]) for r in parts]


def train(dtrain, evals, watcher, rounds=4, params=PARAMS, **options):
    history = {}
    options = {"evals": evals, "custom_metric": watcher, "evals_result": history, "verbose_eval": False} | options
    return xgb.train(params, dtrain, rounds, **options), history


def by_hand(booster, part, name, rounds=4):
    """The metric after each round, from predictions."""
    dmatrix, _, y, g, w = part
    scores = [booster.predict(dmatrix, iteration_range=(0, i + 1)) for i in range(rounds)]
    predictions = [p if name == "abroca" else p > 0.5 for p in scores]
    return [getattr(metrics, name)(y, d, sensitive_features=g, sample_weight=w) for d in predictions]


def test_watch_gives_each_set_the_metric_of_its_own_groups(data):
    (dtrain, *_), first, second = data
    plain = xgb.train(PARAMS, dtrain, 4)
    watcher = metrics.watch(NAMES, [(first[0], first[3]), (second[0], second[3]), (dtrain, None)])
    booster, history = train(dtrain, [(dtrain, "train"), (second[0], "two"), (first[0], "one")], watcher)
    for name in NAMES:
        # XGBoost keeps six decimals.
        np.testing.assert_allclose(history["one"][name], by_hand(booster, first, name), atol=6e-7)
        np.testing.assert_allclose(history["two"][name], by_hand(booster, second, name), atol=6e-7)
        assert np.isnan(history["train"][name]).all()
    assert booster.save_raw() == plain.save_raw()
    # It has no state: the same object measures a second training alike.
    _, again = train(dtrain, [(dtrain, "train"), (second[0], "two"), (first[0], "one")], watcher)
    np.testing.assert_equal(again, history)


def test_watch_takes_functions_partials_dicts_and_fairlearn(data):
    fair = pytest.importorskip("fairlearn.metrics")
    (dtrain, *_), first, _ = data

    def mean_gap(y_true, y_score, *, sensitive_features, sample_weight=None):
        means = pd.Series(y_score).groupby(np.asarray(sensitive_features)).mean()
        return means.max() - means.min()

    functions = {"odds": partial(metrics.equalized_odds, agg="max"), "theirs": fair.demographic_parity_difference}
    functions["share"] = lambda y_true, y_pred, **rest: np.mean(y_pred)  # which is not that of the other decisions
    watcher = metrics.watch(functions, {first[0]: first[3]}, threshold=0.3)
    booster, history = train(dtrain, [(first[0], "one")], watcher)
    dmatrix, _, y, g, w = first
    p = booster.predict(dmatrix)
    rows = {"sensitive_features": g, "sample_weight": w}
    assert history["one"]["odds"][-1] == pytest.approx(metrics.equalized_odds(y, p > 0.3, agg="max", **rows), abs=6e-7)
    assert history["one"]["theirs"][-1] == pytest.approx(metrics.statistical_parity(y, p > 0.3, **rows), abs=6e-7)
    assert history["one"]["share"][-1] == pytest.approx((p > 0.3).mean(), abs=6e-7)
    scores = metrics.watch(mean_gap, [(dmatrix, g)], threshold=None)(p, dmatrix)
    assert scores == [("mean_gap", pytest.approx(abs(p[g == "f"].mean() - p[g == "m"].mean())))]
    # abroca gets scores whatever the threshold.
    area = metrics.watch(partial(metrics.abroca, undefined="skip"), [(dmatrix, g)])(p, dmatrix)
    assert area == [("abroca", pytest.approx(metrics.abroca(y, p, **rows), abs=1e-6))]


def test_watch_takes_quantile_matrices_and_several_columns(data):
    _, first, second = data
    dtrain = xgb.QuantileDMatrix(first[1], first[2])
    dvalid = xgb.QuantileDMatrix(second[1], second[2], ref=dtrain)
    table = pd.DataFrame({"sex": second[3], "half": second[1][:, 1] > 0})
    booster, history = train(dtrain, [(dvalid, "v")], metrics.watch("statistical_parity", [(dvalid, table)]))
    expected = metrics.statistical_parity(second[2], booster.predict(dvalid) > 0.5, sensitive_features=table)
    assert history["v"]["statistical_parity"][-1] == pytest.approx(expected, abs=6e-7)
    # Groups of one name in text remain two.
    alike = pd.Series(second[3]).map({"f": 1, "m": "1"})
    (found,) = metrics.watch("statistical_parity", [(dvalid, alike)])(booster.predict(dvalid), dvalid)
    expected = metrics.statistical_parity(second[2], booster.predict(dvalid) > 0.5, sensitive_features=second[3])
    assert found[1] == pytest.approx(expected)


def test_watch_names_the_group_with_an_undefined_rate(data):
    (dtrain, *_), first, _ = data
    groups = np.where(first[2] == 0, "no_positives", "others")
    with pytest.warns(UndefinedRateWarning, match="'no_positives'"):
        _, history = train(dtrain, [(first[0], "one")], metrics.watch("equal_opportunity", [(first[0], groups)]))
    assert np.isnan(history["one"]["equal_opportunity"]).all()


def test_watch_from_margin_equals_watch_of_probabilities(data):
    def logistic(margin, dmatrix):
        p = 1 / (1 + np.exp(-margin))
        return p - dmatrix.get_label(), p * (1 - p)

    _, first, second = data
    dtrain, pairs, evals = xgb.DMatrix(first[1], first[2]), [(second[0], second[3])], [(second[0], "v")]
    # At a cut of 1/2 the gaps of the other decisions are the same, so that a wrong sign would not show.
    _, plain = train(dtrain, evals, metrics.watch(NAMES, pairs, threshold=0.3))
    _, custom = train(dtrain, evals, metrics.watch(NAMES, pairs, threshold=0.3, from_margin=True), obj=logistic)
    for name in NAMES:
        np.testing.assert_allclose(plain["v"][name], custom["v"][name], atol=1e-6)
    with pytest.raises(ValueError, match=r"predictions .* must be .*, got -.*from_margin=True"):
        train(dtrain, evals, metrics.watch("equalized_odds", pairs), obj=logistic)
    # Margins of any size become probabilities; warnings are errors here.
    extreme = np.where(second[3] == "f", 1e4, -1e4).astype(np.float32)
    assert metrics.watch("statistical_parity", pairs, from_margin=True)(extreme, second[0])[0][1] == 1


def test_watch_can_stop_training(data):
    (dtrain, *_), first, _ = data
    watcher = metrics.watch("abroca", [(first[0], first[3])])
    booster, history = train(dtrain, [(first[0], "one")], watcher, rounds=60, early_stopping_rounds=3)
    areas = history["one"]["abroca"]
    assert booster.best_iteration == int(np.argmin(areas)) == len(areas) - 4 < 56


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("auc", r"metric.*function.*'statistical_parity'"),
        (3, "metric must be a function"),
        (["abroca", metrics.abroca], "metric.*two.*'abroca'"),
        ({"a:b": "abroca"}, "metric 'a:b'.*rename"),
        ({1: "abroca"}, "metric 1 .*rename"),
    ],
)
def test_watch_refuses_wrong_metrics(data, metric, message):
    with pytest.raises(ValueError, match=message):
        metrics.watch(metric, [(data[0][0], data[0][3])])


def test_watch_refuses_wrong_groups_and_thresholds(data):
    dmatrix, x, _, g, _ = data[0]
    for wrong in (g, list(g), pd.Series(g), [dmatrix], (dmatrix, g), None):
        with pytest.raises(TypeError, match=r"sensitive_features must be a list of pairs \(dmatrix, features\)"):
            metrics.watch("abroca", wrong)
    with pytest.raises(TypeError, match="got ndarray in place of a DMatrix"):
        metrics.watch("abroca", [(x, g)])
    with pytest.raises(ValueError, match=r"sensitive_features must .* 100 rows, got 99"):
        metrics.watch("abroca", [(dmatrix, g[:99])])
    with pytest.raises(TypeError, match="threshold must be one number"):
        metrics.watch("abroca", [(dmatrix, g)], threshold="0.5")
    with pytest.raises(ValueError, match=r"threshold.*between 0.*1"):
        metrics.watch("abroca", [(dmatrix, g)], threshold=50)


def test_watch_refuses_what_it_cannot_measure(data):
    (dtrain, x, _, g, _), second, _ = data
    with pytest.raises(ValueError, match=r"evaluation set of 100 rows has no groups"):
        train(dtrain, [(second[0], "two")], metrics.watch("abroca", [(dtrain, g)]))
    per_group = partial(metrics.one_vs_rest, metrics.statistical_parity)
    with pytest.raises(TypeError, match="one number, one_vs_rest gave Series"):
        train(dtrain, [(dtrain, "t")], metrics.watch(per_group, [(dtrain, g)]))
    classes, params = xgb.DMatrix(x, np.arange(100) % 3), {"objective": "multi:softprob", "num_class": 3}
    with pytest.raises(ValueError, match=r"shape \(100, 3\): use binary labels"):
        train(classes, [(classes, "t")], metrics.watch("abroca", [(classes, g)]), params={**PARAMS, **params})

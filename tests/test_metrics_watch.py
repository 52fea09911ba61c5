"""Group metrics during training: XGBoost calls them, plain calls after each round say what they must be."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from functools import partial

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

from pi_xgb import metrics
from pi_xgb.metrics import UndefinedRateWarning

PARAMS = {"objective": "binary:logistic", "max_depth": 2, "eta": 0.5, "nthread": 1, "seed": 0}
NAMES = ["statistical_parity", "equalized_odds", "equal_opportunity", "abroca"]


def make(n=300, seed=0):
    """Rows whose labels depend on the group."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    x = rng.normal(size=(n, 3)) + 0.5 * sex[:, None]
    y = (x[:, 0] + 0.7 * sex + rng.normal(size=n) > 0.8).astype(int)
    return x, y, np.array(["f", "m"])[sex], rng.random(n) + 0.5


@pytest.fixture
def data():
    """A training set, and two evaluation sets with as many rows as each other."""
    x, y, g, w = make()
    parts = [slice(0, 100), slice(100, 200), slice(200, 300)]
    return [(xgb.DMatrix(x[r], y[r], weight=w[r]), x[r], y[r], g[r], w[r]) for r in parts]


def train(dtrain, evals, watcher, rounds=4, params=PARAMS, **options):
    history = {}
    booster = xgb.train(
        params,
        dtrain,
        rounds,
        evals=evals,
        custom_metric=watcher,
        evals_result=history,
        verbose_eval=False,
        **options,
    )
    return booster, history


def by_hand(booster, part, name, rounds):
    """The metric after each round, from predictions."""
    dmatrix, _, y, g, w = part
    values = []
    for i in range(rounds):
        p = booster.predict(dmatrix, iteration_range=(0, i + 1))
        prediction = p if name == "abroca" else p > 0.5
        values.append(getattr(metrics, name)(y, prediction, sensitive_features=g, sample_weight=w))
    return values


class TestValues:
    def test_each_set_gets_its_own_groups(self, data):
        (dtrain, *_), first, second = data
        watcher = metrics.watch(NAMES, [(first[0], first[3]), (second[0], second[3]), (dtrain, None)])
        booster, history = train(dtrain, [(dtrain, "train"), (second[0], "two"), (first[0], "one")], watcher)
        for name in NAMES:
            # The value of each round is the metric of its predictions; both sets have 100 rows, and the order of
            # evals is not that of the pairs. XGBoost keeps six decimals.
            np.testing.assert_allclose(history["one"][name], by_hand(booster, first, name, 4), atol=6e-7)
            np.testing.assert_allclose(history["two"][name], by_hand(booster, second, name, 4), atol=6e-7)
            # A set whose groups are given as None is not watched.
            assert np.isnan(history["train"][name]).all()
        assert history["one"]["abroca"] != history["two"]["abroca"]

    def test_training_is_not_changed(self, data):
        (dtrain, *_), first, _ = data
        plain = xgb.train(PARAMS, dtrain, 4)
        watched, _ = train(dtrain, [(first[0], "one")], metrics.watch("abroca", {first[0]: first[3]}))
        assert watched.save_raw() == plain.save_raw()

    def test_threshold(self, data):
        (dtrain, *_), first, _ = data
        watcher = metrics.watch("statistical_parity", [(first[0], first[3])], threshold=0.3)
        booster, history = train(dtrain, [(first[0], "one")], watcher)
        dmatrix, _, y, g, w = first
        expected = metrics.statistical_parity(y, booster.predict(dmatrix) > 0.3, sensitive_features=g, sample_weight=w)
        assert history["one"]["statistical_parity"][-1] == pytest.approx(expected, abs=6e-7)

    def test_functions_partials_and_names(self, data):
        (dtrain, *_), first, _ = data

        def highest(y_true, y_pred, *, sensitive_features, sample_weight=None):
            assert set(np.unique(y_pred)) <= {0, 1}
            return metrics.selection_rate(y_true, y_pred, sensitive_features=sensitive_features).max()

        watcher = metrics.watch(
            {"eo_max": partial(metrics.equalized_odds, agg="max"), "highest": highest, "area": "abroca"},
            [(first[0], first[3])],
        )
        booster, history = train(dtrain, [(first[0], "one")], watcher)
        dmatrix, _, y, g, w = first
        d = booster.predict(dmatrix) > 0.5
        expected = metrics.equalized_odds(y, d, sensitive_features=g, sample_weight=w, agg="max")
        assert history["one"]["eo_max"][-1] == pytest.approx(expected, abs=6e-7)
        assert history["one"]["highest"][-1] == pytest.approx(metrics.selection_rate(y, d, sensitive_features=g).max())
        assert "area" in history["one"]

    def test_scores_for_those_who_want_them(self, data):
        (dtrain, *_), first, _ = data

        def mean_gap(y_true, y_score, *, sensitive_features, sample_weight=None):
            means = pd.Series(y_score).groupby(np.asarray(sensitive_features)).mean()
            return means.max() - means.min()

        watcher = metrics.watch(mean_gap, [(first[0], first[3])], threshold=None)
        booster, history = train(dtrain, [(first[0], "one")], watcher)
        p = booster.predict(first[0])
        expected = abs(p[first[3] == "f"].mean() - p[first[3] == "m"].mean())
        assert history["one"]["mean_gap"][-1] == pytest.approx(expected, abs=1e-6)
        # A partial of abroca is abroca: it gets scores whatever the threshold.
        area = metrics.watch(partial(metrics.abroca, undefined="skip"), [(first[0], first[3])])
        assert area(p, first[0]) == metrics.watch("abroca", [(first[0], first[3])])(p, first[0])

    def test_fairlearn(self, data):
        fair = pytest.importorskip("fairlearn.metrics")
        (dtrain, *_), first, _ = data
        watcher = metrics.watch([fair.demographic_parity_difference, "statistical_parity"], [(first[0], first[3])])
        _, history = train(dtrain, [(first[0], "one")], watcher)
        # Fairlearn's metrics can be watched as they are.
        assert history["one"]["demographic_parity_difference"] == history["one"]["statistical_parity"]

    def test_quantile_dmatrix_and_several_columns(self, data):
        _, first, second = data
        dtrain = xgb.QuantileDMatrix(first[1], first[2])
        dvalid = xgb.QuantileDMatrix(second[1], second[2], ref=dtrain)
        table = pd.DataFrame({"sex": second[3], "half": second[1][:, 1] > 0})
        booster, history = train(dtrain, [(dvalid, "v")], metrics.watch("statistical_parity", [(dvalid, table)]))
        expected = metrics.statistical_parity(second[2], booster.predict(dvalid) > 0.5, sensitive_features=table)
        assert history["v"]["statistical_parity"][-1] == pytest.approx(expected, abs=6e-7)

    def test_groups_are_named_in_warnings(self, data):
        (dtrain, *_), first, _ = data
        groups = np.where(first[2] == 0, "no_positives", "others")
        with pytest.warns(UndefinedRateWarning, match="'no_positives'"):
            _, history = train(dtrain, [(first[0], "one")], metrics.watch("equal_opportunity", [(first[0], groups)]))
        assert np.isnan(history["one"]["equal_opportunity"]).all()


def logistic(margin, dmatrix):
    p = 1 / (1 + np.exp(-margin))
    return p - dmatrix.get_label(), p * (1 - p)


class TestMargins:
    def test_from_margin(self, data):
        _, first, second = data
        dtrain = xgb.DMatrix(first[1], first[2])
        pairs = [(second[0], second[3])]
        params = {**PARAMS, "base_score": 0.5}
        _, plain = train(dtrain, [(second[0], "v")], metrics.watch(NAMES, pairs), params=params)
        _, custom = train(
            dtrain, [(second[0], "v")], metrics.watch(NAMES, pairs, from_margin=True), params=params, obj=logistic
        )
        # With a function as objective XGBoost hands over margins; turned back they are the same model's metrics.
        for name in NAMES:
            np.testing.assert_allclose(plain["v"][name], custom["v"][name], atol=1e-6)

    def test_margins_by_accident(self, data):
        (dtrain, *_), first, _ = data
        watcher = metrics.watch("equalized_odds", [(first[0], first[3])])
        with pytest.raises(ValueError, match=r"predictions .* must be .*, got -.*from_margin=True"):
            train(dtrain, [(first[0], "one")], watcher, obj=logistic)
        inside = np.linspace(0, 1, len(first[3]), dtype=np.float32)
        for predt, value in ((inside - 0.25, "-0.25 in row 0"), (inside + 0.25, "1.0")):
            with pytest.raises(ValueError, match=f"predictions .* must be .*, got {value}"):
                watcher(predt, first[0])
        assert np.isfinite(watcher(inside, first[0])[1])

    def test_margins_become_probabilities(self, data):
        _, first, _ = data
        margin, seen = np.linspace(-3, 3, 100).astype(np.float32), []

        def kept(y_true, y_score, *, sensitive_features, sample_weight=None):
            seen.append(y_score)
            return 0.0

        for threshold, expected in ((None, 1 / (1 + np.exp(-margin))), (0.5, margin > 0)):
            watcher = metrics.watch(kept, [(first[0], first[3])], threshold=threshold, from_margin=True)
            assert watcher(margin, first[0]) == ("kept", 0.0)
            np.testing.assert_allclose(seen[-1], expected, rtol=1e-6)
        # Selected is what lies above the threshold, not on it.
        metrics.watch(kept, [(first[0], first[3])])(np.repeat([0.5, 0.75], 50), first[0])
        assert seen[-1].tolist() == [0] * 50 + [1] * 50

    def test_extreme_margins(self, data):
        _, first, _ = data
        watcher = metrics.watch("statistical_parity", [(first[0], first[3])], from_margin=True)
        # No overflow: warnings are errors here.
        assert watcher(np.where(first[3] == "f", 1e4, -1e4).astype(np.float32), first[0])[1] == 1


class TestEarlyStopping:
    def test_any_metric_can_stop_training(self, data):
        (dtrain, *_), first, _ = data
        watcher = metrics.watch("abroca", [(first[0], first[3])])
        booster, history = train(dtrain, [(first[0], "one")], watcher, rounds=60, early_stopping_rounds=3)
        areas = history["one"]["abroca"]
        # Training stops three rounds after the smallest area, as XGBoost does for its own metrics.
        assert len(areas) < 60
        assert booster.best_iteration == int(np.argmin(areas)) == len(areas) - 4

    def test_on_one_of_several(self, data):
        (dtrain, *_), first, _ = data
        watcher = metrics.watch(["equalized_odds", "abroca"], [(first[0], first[3])])
        stopper = xgb.callback.EarlyStopping(rounds=3, metric_name="equalized_odds", data_name="one")
        booster, history = train(dtrain, [(first[0], "one")], watcher, rounds=60, callbacks=[stopper])
        assert booster.best_iteration == int(np.argmin(history["one"]["equalized_odds"]))


class TestAttached:
    def test_groups_travel_through_slices_and_cv(self, data):
        x, y, g, w = make()
        dtrain = metrics.attach_groups(xgb.DMatrix(x, y, weight=w), g)
        folds = [(np.arange(100, 300), np.arange(100)), (np.arange(200), np.arange(200, 300))]
        table = xgb.cv(PARAMS, dtrain, 3, folds=folds, custom_metric=metrics.watch(NAMES))
        for name in NAMES:
            values = []
            for train_rows, test_rows in folds:
                booster = xgb.train(PARAMS, xgb.DMatrix(x[train_rows], y[train_rows], weight=w[train_rows]), 3)
                part = (xgb.DMatrix(x[test_rows]), None, y[test_rows], g[test_rows], w[test_rows])
                values.append(by_hand(booster, part, name, 3))
            # Each fold is measured with the groups of its own rows.
            np.testing.assert_allclose(table[f"test-{name}-mean"], np.mean(values, axis=0), atol=1e-6)

    def test_nothing_else_is_touched(self, data):
        x, y, g, w = make()
        plain, attached = xgb.DMatrix(x, y, weight=w), xgb.DMatrix(x, y, weight=w)
        attached.set_float_info("label_lower_bound", np.linspace(0, 1, len(y)))
        assert metrics.attach_groups(attached, g) is attached
        # The booster does not see the groups, and the field of the teacher's q stays.
        assert xgb.train(PARAMS, attached, 3).save_raw() == xgb.train(PARAMS, plain, 3).save_raw()
        np.testing.assert_allclose(attached.get_float_info("label_lower_bound"), np.linspace(0, 1, len(y)), rtol=1e-6)

    def test_pairs_come_first(self, data):
        _, first, _ = data
        p = np.linspace(0, 1, 100)
        metrics.attach_groups(first[0], np.arange(100) % 2)
        pairs = metrics.watch("abroca", [(first[0], first[3])])(p, first[0])
        assert pairs != metrics.watch("abroca")(p, first[0])
        expected = metrics.abroca(first[2], p, sensitive_features=first[3], sample_weight=first[4])
        assert pairs[1] == pytest.approx(expected, abs=1e-6)

    @pytest.mark.parametrize("field", [None, np.nan, 0.3, 1.0, -1.0, -2.0])
    def test_a_field_with_something_else_is_no_group(self, data, field):
        (dtrain, *_), first, _ = data
        if field is not None:
            first[0].set_float_info("label_upper_bound", np.full(100, field))
        with pytest.raises(ValueError, match=r"100 rows.*attach_groups"):
            train(dtrain, [(first[0], "one")], metrics.watch("abroca"))


class TestLifeOfAWatch:
    def test_an_unlisted_set_is_an_error(self, data):
        (dtrain, *_), first, second = data
        with pytest.raises(ValueError, match=r"evaluation.*100 rows"):
            train(dtrain, [(second[0], "two")], metrics.watch("abroca", [(first[0], first[3])]))

    def test_matrices_are_not_kept_alive(self):
        x, y, g, _ = make()
        dmatrix = xgb.DMatrix(x, y)
        watcher = metrics.watch("abroca", [(dmatrix, g)])
        alive = weakref.ref(dmatrix)
        del dmatrix
        gc.collect()
        # The metric outlives the data without holding it.
        assert alive() is None
        with pytest.raises(ValueError, match="has no groups"):
            watcher(np.zeros(len(y)), xgb.DMatrix(x, y))

    def test_pickle(self, data):
        _, first, _ = data
        p = np.linspace(0, 1, 100)
        watcher = metrics.watch(["abroca", "equalized_odds"], [(first[0], first[3])], threshold=0.4)
        for again in (pickle.loads(pickle.dumps(watcher)), copy.deepcopy(watcher)):
            # A copy knows no matrices, and says so.
            with pytest.raises(ValueError, match="has no groups"):
                again(p, first[0])
            # With attached groups it measures what the original does.
            metrics.attach_groups(first[0], first[3])
            assert again(p, first[0]) == watcher(p, first[0])
            first[0].set_float_info("label_upper_bound", np.zeros(100))

    def test_two_trainings(self, data):
        (dtrain, *_), first, _ = data
        watcher = metrics.watch("abroca", [(first[0], first[3])])
        # It has no state: the same object measures a second training alike.
        assert train(dtrain, [(first[0], "one")], watcher)[1] == train(dtrain, [(first[0], "one")], watcher)[1]


class TestBadInput:
    @pytest.mark.parametrize(
        ("metric", "message"),
        [
            ("auc", r"metric.*function.*'statistical_parity'"),
            (3, "metric must be a function"),
            ([], r"metric.*least one.*\[\]"),
            (["abroca", metrics.abroca], "metric.*two.*'abroca'"),
            ({"a b": "abroca"}, "'a b'"),
            ({"a:b": "abroca"}, "metric 'a:b'.*rename"),
            ({"": "abroca"}, "metric ''.*rename"),
            ({1: "abroca"}, "metric 1 .*rename"),
        ],
    )
    def test_metrics(self, metric, message):
        with pytest.raises(ValueError, match=message):
            metrics.watch(metric)

    def test_groups(self, data):
        _, first, _ = data
        for wrong in (first[3], list(first[3]), pd.Series(first[3]), [first[0]], (first[0], first[3])):
            with pytest.raises(TypeError, match=r"list of pairs \(dmatrix, features\)"):
                metrics.watch("abroca", wrong)
        with pytest.raises(TypeError, match=r"dmatrix.*xgboost.DMatrix.*ndarray"):
            metrics.watch("abroca", [(first[1], first[3])])
        with pytest.raises(TypeError, match=r"dmatrix.*xgboost.DMatrix.*ndarray"):
            metrics.attach_groups(first[1], first[3])
        # Groups of the wrong length are found before training.
        with pytest.raises(ValueError, match=r"sensitive_features must .* 100 rows, got 99"):
            metrics.watch("abroca", [(first[0], first[3][:99])])
        with pytest.raises(ValueError, match=r"sensitive_features must .* 100 rows, got 99"):
            metrics.attach_groups(first[0], first[3][:99])

    def test_threshold(self):
        with pytest.raises(TypeError, match="threshold must be one number"):
            metrics.watch("abroca", threshold="0.5")
        with pytest.raises(ValueError, match=r"threshold.*between 0.*1"):
            metrics.watch("abroca", threshold=50)

    def test_a_metric_of_many_numbers(self, data):
        _, first, _ = data
        per_group = partial(metrics.one_vs_rest, metrics.statistical_parity)
        with pytest.raises(TypeError, match="one number, one_vs_rest gave Series"):
            train(first[0], [(first[0], "t")], metrics.watch(per_group, [(first[0], first[3])]))

    def test_multi_class(self, data):
        _, first, _ = data
        dtrain = xgb.DMatrix(first[1], np.arange(100) % 3)
        watcher = metrics.watch("abroca", [(dtrain, first[3])])
        with pytest.raises(ValueError, match=r"shape \(100, 3\)"):
            train(dtrain, [(dtrain, "t")], watcher, params={**PARAMS, "objective": "multi:softprob", "num_class": 3})


def test_a_teacher_and_groups_travel_on_one_matrix():
    import pi_xgb

    data = pi_xgb.datasets.make_privileged(300, seed=0)
    params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
    objective = pi_xgb.KLObjective(kl_weight=2.0)

    def history(dtrain, **more):
        return xgb.cv(params, dtrain, 3, metrics="logloss", seed=1, obj=objective, **more)

    alone = history(pi_xgb.attach_teacher(xgb.DMatrix(data.x, data.y), data.q))
    both = pi_xgb.attach_teacher(xgb.DMatrix(data.x, data.y), data.q)
    pi_xgb.metrics.attach_groups(both, data.group)
    watched = history(both, custom_metric=pi_xgb.metrics.watch("statistical_parity", from_margin=True))
    # The groups are watched, and the teacher teaches as it does without them.
    assert "test-statistical_parity-mean" in watched
    assert watched[alone.columns].equals(alone)

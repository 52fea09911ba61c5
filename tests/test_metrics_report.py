"""Reports and thresholds: against single metrics, a plain bootstrap loop, scikit-learn and exhaustive search."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, roc_auc_score

from pi_xgb import metrics
from pi_xgb._stats import bootstrap as _bootstrap
from pi_xgb.metrics import UndefinedRateWarning

few = settings(max_examples=25, deadline=None)
undefined_is_fine = pytest.mark.filterwarnings("ignore::pi_xgb.metrics.UndefinedRateWarning")

RATES = {
    "base_rate": lambda y, d, **options: metrics.selection_rate(None, y, **options),
    "selection_rate": metrics.selection_rate,
    "true_positive_rate": metrics.true_positive_rate,
    "false_positive_rate": metrics.false_positive_rate,
    "precision": metrics.precision,
    "accuracy": lambda y, d, **options: metrics.selection_rate(None, y == d, **options),
}
DISPARITIES = ["statistical_parity", "equalized_odds", "equal_opportunity", "abroca"]


def draw(seed, n, levels=20, n_groups=2):
    """Rows in which every group has every combination of label and decision at 0.5."""
    rng = np.random.default_rng(seed)
    corners = np.array(list(product(range(n_groups), (0, 1), (0.25, 0.75))))
    y = np.r_[rng.integers(0, 2, n), corners[:, 1].astype(int)]
    p = np.r_[rng.integers(0, levels + 1, n) / levels, corners[:, 2]]
    g = np.r_[rng.integers(0, n_groups, n), corners[:, 0].astype(int)]
    return y, p, np.array(["a", "b", "c", "d"])[g], rng.random(len(y)) + 0.1


class TestGroupReport:
    @few
    @given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.sampled_from([2, 100]), st.booleans())
    def test_values_are_those_of_the_single_metrics(self, seed, n, levels, weighted):
        y, p, g, w = draw(seed, n, levels, n_groups=3)
        w = w if weighted else None
        report = metrics.group_report(y, p, sensitive_features=g, sample_weight=w, n_boot=0)
        assert list(report.index) == ["a", "b", "c", "(all)"]
        for name, rate in RATES.items():
            grouped = rate(y, p > 0.5, sensitive_features=g, sample_weight=w)
            # A row of the report is the metric of that group.
            np.testing.assert_allclose(report[name].iloc[:3], grouped, rtol=1e-12)
            # The last row is the metric without groups.
            assert report.loc["(all)", name] == pytest.approx(rate(y, p > 0.5, sample_weight=w))
        for name, rows in [*((a, g == a) for a in "abc"), ("(all)", g == g)]:
            weights = None if w is None else w[rows]
            assert report.loc[name, "auc"] == pytest.approx(roc_auc_score(y[rows], p[rows], sample_weight=weights))
            # Counts count rows, weighted or not.
            assert report.loc[name, "rows"] == rows.sum()
            assert report.loc[name, "positives"] == (y[rows] == 1).sum()
            assert report.loc[name, "negatives"] == (y[rows] == 0).sum()
            assert report.loc[name, "selected"] == (p[rows] > 0.5).sum()
            if weighted:
                assert report.loc[name, "weight"] == pytest.approx(w[rows].sum())
        assert ("weight" in report) is weighted

    @undefined_is_fine
    @pytest.mark.parametrize("threshold", [0.0, 0.25, 0.3, 0.999, 1.0])
    def test_threshold(self, threshold):
        y, p, g, _ = draw(0, 40)
        report = metrics.group_report(y, p, sensitive_features=g, threshold=threshold, n_boot=0, margins=False)
        # Selected is what lies above the threshold, not on it.
        np.testing.assert_array_equal(report["selected"], pd.Series(p > threshold).groupby(g).sum())

    @undefined_is_fine
    def test_float32_is_compared_as_the_user_would(self):
        p = np.array([0.3, 0.3, 0.7, 0.7], dtype=np.float32)
        report = metrics.group_report([0, 1, 0, 1], p, sensitive_features=list("aabb"), threshold=0.3, n_boot=0)
        # 0.3 in float32 is a little more than 0.3 in float64; numpy compares in float32, and so do we.
        assert (p > 0.3).sum() == report.loc["(all)", "selected"] == 2

    @undefined_is_fine
    def test_several_columns(self):
        y, p, g, w = draw(3, 120)
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"sex": g, "band": rng.choice([30, 60], len(y)), "site": rng.choice(["x", "y"], len(y))})
        report = metrics.group_report(y, p, sensitive_features=table, sample_weight=w, n_boot=0)
        assert report.index.names == ["sex", "band", "site"]
        # All intersections, then of two columns, then of one, then all rows: 8 + 3 * 4 + 3 * 2 + 1.
        assert len(report) == 27
        for name in report.index:
            rows = np.ones(len(y), dtype=bool)
            for column, value in zip(table, name, strict=True):
                if value != "(all)":
                    rows &= (table[column] == value).to_numpy()
            expected = metrics.selection_rate(y[rows], p[rows] > 0.5, sample_weight=w[rows])
            # Each row describes the rows with the values in its name.
            assert report.loc[name, "selection_rate"] == pytest.approx(expected)
            assert report.loc[name, "rows"] == rows.sum()
        finest = metrics.group_report(y, p, sensitive_features=table, sample_weight=w, n_boot=0, margins=False)
        pd.testing.assert_frame_equal(finest, report.iloc[:8], check_index_type=False)

    def test_undefined_is_nan_and_named(self):
        with pytest.warns(UndefinedRateWarning) as caught:
            report = metrics.group_report(
                [1, 0, 0, 0], [0.9, 0.8, 0.1, 0.2], sensitive_features=list("aabb"), n_boot=20
            )
        said = " ".join(str(warning.message) for warning in caught)
        assert "true_positive_rate is undefined (NaN) in group 'b'" in said
        assert "precision is undefined (NaN) in group 'b'" in said
        assert "auc is undefined (NaN) in group 'b'" in said
        assert {warning.filename for warning in caught} == {__file__}
        # Neither the rate nor its interval is made up.
        for name in ("true_positive_rate", "precision", "auc"):
            assert report.loc["b", [name, f"{name}_low", f"{name}_high"]].isna().all()
        assert report.loc["b", "false_positive_rate"] == 0

    def test_a_group_must_not_be_called_like_the_margins(self):
        with pytest.raises(ValueError, match="called '\\(all\\)'"):
            metrics.group_report([1, 0, 1, 0], [1, 1, 1, 1], sensitive_features=["(all)", "(all)", "b", "b"], n_boot=0)


class TestIntervals:
    @pytest.mark.parametrize("weighted", [False, True])
    def test_a_plain_bootstrap_loop(self, weighted):
        y, p, g, w = draw(1, 60)
        w = w if weighted else np.ones(len(y))
        report = metrics.group_report(
            y, p, sensitive_features=g, sample_weight=w, n_boot=30, confidence=0.8, random_state=7
        )
        generator = np.random.default_rng(7)
        rates = []
        for _ in range(30):
            rows = generator.integers(len(y), size=len(y))
            one = metrics.group_report(y[rows], p[rows], sensitive_features=g[rows], sample_weight=w[rows], n_boot=0)
            rates.append(one[[*RATES, "auc"]].to_numpy())
        for side, quantile in [("low", 0.1), ("high", 0.9)]:
            # Counting how often a row is drawn is the same as drawing it and starting again.
            expected = np.quantile(rates, quantile, axis=0)
            np.testing.assert_allclose(report[[f"{name}_{side}" for name in [*RATES, "auc"]]], expected, rtol=1e-9)

    @undefined_is_fine
    def test_resamples_without_the_rate_are_left_out(self):
        y = np.array([0, 1] * 6 + [1, 0, 0, 0, 0, 0])
        g = np.repeat(["a", "b"], [12, 6])
        p = np.where(np.isin(np.arange(18), [0, 1, 2, 12, 13]), 0.9, 0.1)
        report = metrics.group_report(y, p, sensitive_features=g, n_boot=200)
        generator = np.random.default_rng(0)
        precision = []
        for _ in range(200):
            rows = generator.integers(len(y), size=len(y))
            chosen = rows[(g[rows] == "b") & (p[rows] > 0.5)]
            precision.append(y[chosen].mean() if chosen.size else np.nan)
        # In some resamples nobody of b is selected; the interval is that of the others.
        assert 0 < np.isnan(precision).sum() < 200
        assert report.loc["b", "precision_high"] == np.nanquantile(precision, 0.975)

    @undefined_is_fine
    def test_no_positives_at_all(self):
        report = metrics.group_report([0] * 6, [0.1, 0.9] * 3, sensitive_features=list("aaabbb"), n_boot=10)
        assert report["auc"].isna().all()
        assert list(report["false_positive_rate"]) == [1 / 3, 2 / 3, 1 / 2]

    def test_seed_and_block_size(self, monkeypatch):
        y, p, g, _ = draw(1, 60)
        first, same, other = (
            metrics.group_report(y, p, sensitive_features=g, n_boot=25, random_state=seed) for seed in (0, 0, 1)
        )
        pd.testing.assert_frame_equal(first, same)
        assert not first.equals(other)
        monkeypatch.setattr(_bootstrap, "_BLOCK_ENTRIES", 3 * len(y))
        # How many resamples are worked on at once changes nothing.
        pd.testing.assert_frame_equal(first, metrics.group_report(y, p, sensitive_features=g, n_boot=25))
        # A generator is taken as well.
        again = metrics.group_report(y, p, sensitive_features=g, n_boot=25, random_state=np.random.default_rng(0))
        pd.testing.assert_frame_equal(first, again)

    def test_resamples_are_resamples(self):
        drawn = np.concatenate(list(_bootstrap.resamples(8, 4000, 0)))
        assert drawn.shape == (4000, 8)
        # Each resample has as many rows as the data; a row is in it with probability 1 - (1 - 1/8)^8.
        assert (drawn.sum(axis=1) == 8).all()
        np.testing.assert_allclose((drawn > 0).mean(axis=0), 1 - (7 / 8) ** 8, atol=0.03)

    def test_width(self):
        rng = np.random.default_rng(0)
        g = np.repeat(["a", "b"], [4000, 1000])
        y = rng.integers(0, 2, g.size)
        p = rng.random(g.size)
        report = metrics.group_report(y, p, sensitive_features=g, n_boot=1000)
        width = report["selection_rate_high"] - report["selection_rate_low"]
        # For many rows the interval is that of the normal approximation, 2 * 1.96 * sqrt(.25 / n).
        np.testing.assert_allclose(width, 1.96 / np.sqrt([4000, 1000, 5000]), rtol=0.15)

    def test_without_intervals(self):
        y, p, g, _ = draw(0, 20)
        with_intervals = metrics.group_report(y, p, sensitive_features=g, n_boot=5)
        without = metrics.group_report(y, p, sensitive_features=g, n_boot=0)
        assert not [name for name in without if name.endswith(("_low", "_high"))]
        # The estimates are the same with and without.
        pd.testing.assert_frame_equal(with_intervals[without.columns], without)
        assert list(metrics.disparity_report(y, p, sensitive_features=g, n_boot=0).columns) == ["value"]

    @pytest.mark.parametrize("report", [metrics.group_report, metrics.disparity_report])
    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"n_boot": -1}, ValueError, "n_boot must be at least 0"),
            ({"n_boot": 10.0}, TypeError, "n_boot must be a whole number, got 10.0"),
            ({"confidence": 95}, ValueError, "confidence must lie between 0 and 1, got 95"),
            ({"threshold": None}, TypeError, "threshold must be one number, got None"),
            ({"threshold": [0.5, 0.5]}, TypeError, "threshold must be one number"),
            ({"threshold": float("nan")}, ValueError, "threshold is NaN"),
            ({"threshold": 50}, ValueError, "threshold must lie between 0 and 1.*got 50: divide percent by 100"),
            ({"threshold": -0.1}, ValueError, "threshold must lie between 0 and 1"),
        ],
    )
    def test_bad_options(self, report, options, error, message):
        with pytest.raises(error, match=message):
            report([1, 0, 1, 0], [1, 0, 1, 0], sensitive_features=list("aabb"), **options)

    def test_every_cut_that_choose_threshold_gives_is_taken(self):
        y, p = [0, 1, 0, 1], [0.0, 0.0, 1.0, 1.0]

        def many(tn, fp, fn, tp):
            return tp + fp

        cut = metrics.choose_threshold(y, p, rule=many)
        # The cut that selects every row lies just below the smallest probability, which may be 0.
        assert cut < 0
        report = metrics.group_report(y, p, sensitive_features=list("aabb"), threshold=cut, n_boot=0)
        assert (report["selection_rate"] == 1).all()


class TestDisparityReport:
    @pytest.mark.parametrize("method", ["between_groups", "to_rest"])
    @pytest.mark.parametrize("threshold", [0.5, 0.3])
    def test_values_are_those_of_the_single_metrics(self, method, threshold):
        y, p, g, w = draw(2, 90, n_groups=3)
        report = metrics.disparity_report(
            y, p, sensitive_features=g, sample_weight=w, threshold=threshold, method=method, n_boot=5
        )
        assert list(report.index) == DISPARITIES
        for name in DISPARITIES:
            prediction = p if name == "abroca" else p > threshold
            options = {"sensitive_features": g, "sample_weight": w, "method": method}
            assert report.loc[name, "value"] == pytest.approx(getattr(metrics, name)(y, prediction, **options))
            assert report.loc[name, "low"] <= report.loc[name, "high"]

    def test_choice_of_metrics(self):
        y, p, g, _ = draw(2, 30)
        full = metrics.disparity_report(y, p, sensitive_features=g, n_boot=5)
        some = metrics.disparity_report(y, p, sensitive_features=g, n_boot=5, metrics=["abroca", "equalized_odds"])
        # Leaving metrics out changes nothing about the others, but for how many were looked at.
        alone = [name for name in full if name != "p_adjusted"]
        pd.testing.assert_frame_equal(some[alone], full.loc[["abroca", "equalized_odds"], alone])
        one = metrics.disparity_report(y, p, sensitive_features=g, n_boot=5, metrics="abroca")
        pd.testing.assert_frame_equal(one[alone], full.loc[["abroca"], alone])
        assert one.loc["abroca", "p_adjusted"] == one.loc["abroca", "p_value"]
        with pytest.raises(ValueError, match="metrics must be one of 'statistical_parity'"):
            metrics.disparity_report(y, p, sensitive_features=g, metrics=["auc"])

    def test_nothing_to_resample(self):
        with pytest.warns(UndefinedRateWarning):
            report = metrics.disparity_report(
                [1, 0, 0, 0],
                [0.9, 0.8, 0.1, 0.2],
                sensitive_features=list("aabb"),
                metrics=["equal_opportunity"],
                n_boot=5,
            )
        # What does not exist has no interval, no p-value and no pair, which is no reason to fail.
        assert report.drop(columns="between").isna().all(axis=None)
        assert report.loc["equal_opportunity", "between"] == ""

    def test_undefined(self):
        y, p, g = [1, 0, 1, 0, 0, 0], [0.9, 0.8, 0.1, 0.2, 0.3, 0.7], list("aabbcc")
        with pytest.warns(UndefinedRateWarning) as caught:
            report = metrics.disparity_report(y, p, sensitive_features=g, n_boot=0)
        assert [str(w.message).split(" is ")[0] for w in caught] == ["true_positive_rate", "the ROC curve"]
        assert {w.filename for w in caught} == {__file__}
        # What cannot be known is NaN, what can be known is there.
        assert list(report["value"].isna()) == [False, True, True, True]
        with pytest.warns(UndefinedRateWarning):
            skipping = metrics.disparity_report(y, p, sensitive_features=g, n_boot=0, undefined="skip")
        assert skipping["value"].notna().all()
        # Parity alone needs no labels to differ, so nothing is said.
        metrics.disparity_report(y, p, sensitive_features=g, n_boot=0, metrics="statistical_parity")


SKLEARN_RULES = {
    "f1": lambda y, d, w: f1_score(y, d, sample_weight=w, zero_division=0),
    "accuracy": lambda y, d, w: accuracy_score(y, d, sample_weight=w),
    "balanced_accuracy": lambda y, d, w: balanced_accuracy_score(y, d, sample_weight=w),
}
PAPER_GRID = [i / 1000 for i in range(1, 1000)]


class TestChooseThreshold:
    @pytest.mark.parametrize("rule", SKLEARN_RULES)
    @settings(max_examples=15, deadline=None)
    @given(st.integers(0, 2**32 - 1), st.integers(0, 12), st.booleans())
    def test_nothing_is_better(self, rule, seed, n, weighted):
        y, p, _, w = draw(seed, n, levels=8)
        w = w if weighted else None
        value = {cut: SKLEARN_RULES[rule](y, p > cut, w) for cut in np.r_[-1, np.linspace(0, 1, 17)]}
        chosen = metrics.choose_threshold(y, p, rule=rule, sample_weight=w)
        # No threshold at all does better than the one chosen.
        assert SKLEARN_RULES[rule](y, p > chosen, w) >= max(value.values()) - 1e-12
        on_grid = metrics.choose_threshold(y, p, rule=rule, sample_weight=w, grid=list(value))
        # On a grid it is the smallest of the best.
        assert on_grid == min(cut for cut, v in value.items() if v >= max(value.values()) - 1e-12)

    def test_the_rule_of_the_paper(self):
        folds = np.repeat([3, 1, 2], 24)
        parts = [draw(seed, 16, levels=997) for seed in range(3)]
        y, p = (np.concatenate([part[i] for part in parts]) for i in (0, 1))

        def f1(rows, cut):
            hits = (y[rows] * (p[rows] > cut)).sum()
            return 2 * hits / (y[rows].sum() + (p[rows] > cut).sum())

        mean = [np.mean([f1(folds == f, cut) for f in (1, 2, 3)]) for cut in PAPER_GRID]
        # The mean over folds of F1 on their validation rows; of equals the smallest.
        expected = min(cut for cut, m in zip(PAPER_GRID, mean, strict=True) if m >= max(mean) - 1e-12)
        assert metrics.choose_threshold(y, p, rule="f1", grid="paper", folds=folds) == expected

    def test_folds_weigh_alike(self):
        # Two small folds are best cut between .4 and .6, a big one between .05 and .2.
        y = np.array([1, 0] * 12)
        p = np.array([0.6, 0.4] * 2 + [0.2, 0.05] * 10)
        folds = np.repeat(["small", "other", "big"], [2, 2, 20])
        # The mean over folds goes with the two small ones, all rows together with the big one.
        assert 0.4 <= metrics.choose_threshold(y, p, rule="accuracy", folds=folds) < 0.6
        assert 0.05 <= metrics.choose_threshold(y, p, rule="accuracy") < 0.2

    def test_a_grid_meets_float32_scores(self):
        p = np.array([0.3, 0.7], dtype=np.float32)
        # 0.3 in float32 lies above 0.3 in float64, but p > 0.3 compares in float32.
        assert metrics.choose_threshold([0, 1], p, rule="accuracy", grid=[0.2, 0.3]) == 0.3

    @few
    @given(st.lists(st.floats(0, 1, width=32), min_size=2, max_size=12, unique=True), st.data())
    def test_neighbouring_float32_scores(self, values, data):
        close = np.nextafter(np.float32(values[0]), np.float32(2))
        p = np.unique(np.array([*values, close], dtype=np.float32))
        cut = data.draw(st.integers(1, len(p) - 1))
        y = np.arange(len(p)) >= cut
        chosen = metrics.choose_threshold(y, p, rule="accuracy")
        # Scores that separate the labels are separated, also when no float32 lies between two of them.
        np.testing.assert_array_equal(p > chosen, y)
        assert type(chosen) is float

    def test_all_or_none(self):
        all_of_them = metrics.choose_threshold([1, 0], [0.0, 1.0], rule=lambda tn, fp, fn, tp: tp)
        # A cut below the smallest score selects everybody, one on the largest nobody.
        assert (np.array([0.0, 1.0]) > all_of_them).all()
        assert metrics.choose_threshold([1, 0], [0.0, 1.0], rule=lambda tn, fp, fn, tp: tn) == 1.0
        nobody = metrics.choose_threshold([1, 0], [0.0, 1.0], rule=lambda tn, fp, fn, tp: -tp - fp)
        assert nobody == 1.0
        infinite = metrics.choose_threshold([0, 1, 0, 1], [-np.inf, np.inf, -np.inf, np.inf], rule="accuracy")
        assert -np.inf <= infinite < np.inf

    def test_a_rule_that_is_nan_somewhere(self):
        def precision(tn, fp, fn, tp):
            return tp / (tp + fp)

        # Where nobody is selected precision is NaN, which is never the best.
        assert metrics.choose_threshold([0, 1, 0], [0.1, 0.6, 0.8], rule=precision) == 0.35

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"rule": "f2"}, ValueError, "rule must be a function or one of 'f1', 'accuracy'"),
            ({"grid": "fine"}, ValueError, "grid must be None, 'paper' or an array"),
            ({"grid": []}, ValueError, "grid is empty"),
            ({"grid": [0.1, np.nan]}, ValueError, "grid has 1 NaN"),
            ({"y_score": [-1, 2, 3, 4], "grid": "paper"}, ValueError, r"needs probabilities in \[0, 1\].*-1 to 4"),
            ({"y_score": [-1, 0, 1, 1], "grid": "paper"}, ValueError, r"needs probabilities in \[0, 1\].*-1 to 1"),
            ({"y_score": [0, 1, 1, 4], "grid": "paper"}, ValueError, r"needs probabilities in \[0, 1\].*0 to 4"),
            ({"y_true": [1, 1, 1, 1]}, ValueError, "y_true has no negatives"),
            ({"y_true": [0, 0, 0, 0]}, ValueError, "y_true has no positives"),
            ({"sample_weight": [1, 0, 1, 0]}, ValueError, "y_true has no positives"),
            ({"folds": ["x", "y", "x", "y"]}, ValueError, "fold 'x' has no positives"),
            ({"folds": [1, 1, 1]}, ValueError, "folds has 3, y_true has 4"),
            ({"folds": [1, 1, np.nan, 1]}, ValueError, "folds has missing values"),
            ({"y_true": [0, 1, 2, 1]}, ValueError, "y_true must hold 0 and 1 only, got 2"),
            ({"y_score": [0, 1, np.nan, 1]}, ValueError, "y_score has 1 NaN"),
            ({"y_score": [0, 1, 1]}, ValueError, "y_score has 3"),
            ({"sample_weight": [1, 1, 1, -1]}, ValueError, "negative values"),
            ({"rule": lambda tn, fp, fn, tp: tp.max()}, ValueError, r"one value per threshold.*got \(\)"),
            ({"rule": lambda tn, fp, fn, tp: tp * np.nan}, ValueError, "NaN at every threshold"),
        ],
    )
    def test_bad_input(self, options, error, message):
        arguments = {"y_true": [0, 1, 0, 1], "y_score": [0.1, 0.2, 0.3, 0.4], **options}
        with pytest.raises(error, match=message):
            metrics.choose_threshold(arguments.pop("y_true"), arguments.pop("y_score"), **arguments)

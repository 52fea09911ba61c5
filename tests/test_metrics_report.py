"""Reports and thresholds: against single metrics, SciPy, all pairs, scikit-learn and exhaustive search."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, roc_auc_score

from pi_xgb import metrics
from pi_xgb.metrics import UndefinedRateWarning

few = settings(max_examples=12, deadline=None)
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
            np.testing.assert_allclose(report[name].iloc[:3], grouped, rtol=1e-12)
            assert report.loc["(all)", name] == pytest.approx(rate(y, p > 0.5, sample_weight=w))
        for name, rows in [*((a, g == a) for a in "abc"), ("(all)", g == g)]:
            weights = None if w is None else w[rows]
            assert report.loc[name, "auc"] == pytest.approx(roc_auc_score(y[rows], p[rows], sample_weight=weights))
            assert report.loc[name, "rows"] == rows.sum()
            assert report.loc[name, "positives"] == (y[rows] == 1).sum()
            assert report.loc[name, "negatives"] == (y[rows] == 0).sum()
            assert report.loc[name, "selected"] == (p[rows] > 0.5).sum()
            if weighted:
                assert report.loc[name, "weight"] == pytest.approx(w[rows].sum())
        assert ("weight" in report) is weighted

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
            assert report.loc[name, "selection_rate"] == pytest.approx(expected)
            assert report.loc[name, "rows"] == rows.sum()
        two = metrics.group_report(y, p, sensitive_features=table[["band", "sex"]], n_boot=0)
        assert two.index.names == ["band", "sex"]
        assert metrics.group_report(y, p, sensitive_features=table[["band"]], n_boot=0).index.name == "band"
        finest = metrics.group_report(y, p, sensitive_features=table, sample_weight=w, n_boot=0, margins=False)
        pd.testing.assert_frame_equal(finest, report.iloc[:8], check_index_type=False)

    def test_undefined_is_nan_and_named(self):
        weight = [1, 1, 1, 1, 0]  # the positive row of b has none
        with pytest.warns(UndefinedRateWarning) as caught:
            report = metrics.group_report(
                [1, 0, 0, 0, 1], [0.9, 0.8, 0.1, 0.2, 0.3], sensitive_features=list("aabbb"), sample_weight=weight
            )
        message = " ".join(str(warning.message) for warning in caught)
        assert "true_positive_rate is undefined (NaN) in group 'b'" in message
        assert "precision is undefined (NaN) in group 'b'" in message
        assert "auc is undefined (NaN) in group 'b'" in message
        assert {warning.filename for warning in caught} == {__file__}
        # Neither the rate nor its interval is made up.
        for name in ("true_positive_rate", "precision", "auc"):
            assert report.loc["b", [name, f"{name}_low", f"{name}_high"]].isna().all()
        assert report.loc["b", "false_positive_rate"] == 0

    def test_only_proportions_of_weights_count(self):
        y, p, g, w = draw(5, 60, n_groups=3)
        reports = [
            metrics.group_report(y, p, sensitive_features=g, sample_weight=w * 2.0**power).drop(columns="weight")
            for power in (0, 990, -990)
        ]
        assert reports[0]["auc"].notna().all()
        for report in reports[1:]:
            pd.testing.assert_frame_equal(report, reports[0])

    def test_a_group_must_not_be_called_like_the_margins(self):
        with pytest.raises(ValueError, match=r"sensitive_features.*'\(all\)'.*rename"):
            metrics.group_report([1, 0, 1, 0], [1, 1, 1, 1], sensitive_features=["(all)", "(all)", "b", "b"], n_boot=0)


class TestIntervals:
    @few
    @given(st.integers(0, 2**32 - 1), st.integers(0, 60), st.sampled_from([0.8, 0.95]))
    def test_rates_have_the_interval_of_wilson(self, seed, n, confidence):
        y, p, g, _ = draw(seed, n)
        report = metrics.group_report(y, p, sensitive_features=g, confidence=confidence)
        for name in ("a", "b", "(all)"):
            rows = np.full(len(y), True) if name == "(all)" else g == name
            label, decided = y[rows], p[rows] > 0.5
            hits = {
                "base_rate": label,
                "selection_rate": decided,
                "true_positive_rate": decided[label == 1],
                "false_positive_rate": decided[label == 0],
                "precision": label[decided],
                "accuracy": label == decided,
            }
            for rate, hit in hits.items():
                expected = binomtest(int(hit.sum()), len(hit)).proportion_ci(confidence, method="wilson")
                reported = report.loc[name, [f"{rate}_low", f"{rate}_high"]]
                np.testing.assert_allclose(reported.astype(float), expected, atol=1e-12)

    @few
    @given(st.integers(0, 2**32 - 1), st.integers(0, 40))
    def test_weighted_rows_count_as_so_many_equal_ones_as_tell_as_much(self, seed, n):
        y, p, g, w = draw(seed, n)
        report = metrics.group_report(y, p, sensitive_features=g, sample_weight=w)
        for name in ("a", "b"):
            label, weight = y[g == name], w[g == name]
            share = np.average(label, weights=weight)
            # Kish, and what the rows themselves show of the error; whichever leaves less.
            error = (weight**2 * (label - share) ** 2).sum() / weight.sum() ** 2
            rows = min(weight.sum() ** 2 / (weight**2).sum(), share * (1 - share) / error)
            reported = report.loc[name, ["base_rate_low", "base_rate_high"]].astype(float)
            for end in reported:
                # The ends are the shares under which what was seen lies 1.96 errors away.
                assert abs(end - share) == pytest.approx(1.959964 * np.sqrt(end * (1 - end) / rows), rel=1e-5)
        # Of weights only their proportions count.
        for scale in (1e-200, 1e200):  # whose squares are beyond a float
            again = metrics.group_report(y, p, sensitive_features=g, sample_weight=w * scale)
            ends = [column for column in report if column.endswith(("_low", "_high"))]
            np.testing.assert_allclose(again[ends].to_numpy(float), report[ends].to_numpy(float), rtol=1e-6, atol=1e-12)

    @few
    @given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.booleans())
    def test_the_interval_of_auc_is_that_of_all_pairs(self, seed, n, weighted):
        y, p, g, w = draw(seed, n, levels=6)
        w = w if weighted else np.ones(len(y))
        report = metrics.group_report(y, p, sensitive_features=g, sample_weight=w if weighted else None)
        for name in ("a", "b"):
            source = [(g == name) & (y == label) for label in (1, 0)]
            wins = np.sign(p[source[0]][:, None] - p[source[1]]) / 2 + 0.5
            sides = w[source[0]], w[source[1]]
            area = np.average(np.average(wins, axis=1, weights=sides[1]), weights=sides[0])
            assert report.loc[name, "auc"] == pytest.approx(area)
            equal = [side.sum() ** 2 / (side**2).sum() for side in sides]
            # DeLong: the spread of each positive's share of wins, and of each negative's share of losses.
            delong = 0.0
            for axis in (0, 1):
                places = np.average(wins, axis=1 - axis, weights=sides[1 - axis])
                spread = (sides[axis] ** 2 * (places - area) ** 2).sum() / sides[axis].sum() ** 2
                delong += spread * equal[axis] / (equal[axis] - 1) if equal[axis] > 1 else spread
            # Hanley and McNeil: two positives above one negative, one positive above two negatives.
            two_up, two_down = area / (2 - area), 2 * area**2 / (1 + area)
            hanley = area * (1 - area) + (sum(equal) / 2 - 1) * (two_up + two_down - 2 * area**2)
            error = max(delong, hanley / np.prod(equal))
            for end in report.loc[name, ["auc_low", "auc_high"]].astype(float):
                if 0 < area < 1:
                    rows = area * (1 - area) / error
                    assert abs(end - area) == pytest.approx(1.959964 * np.sqrt(end * (1 - end) / rows), rel=1e-5)
                assert 0 <= end <= 1

    @undefined_is_fine
    @pytest.mark.parametrize("label", [0, 1])
    def test_rows_of_one_label_have_no_auc_and_all_other_rates(self, label):
        report = metrics.group_report([label] * 6, [0.1, 0.9] * 3, sensitive_features=list("aaabbb"))
        assert report["auc"].isna().all()
        assert list(report["true_positive_rate" if label else "false_positive_rate"]) == [1 / 3, 2 / 3, 1 / 2]

    def test_without_intervals(self):
        y, p, g, _ = draw(0, 20)
        with_intervals = metrics.group_report(y, p, sensitive_features=g, n_boot=5)
        without = metrics.group_report(y, p, sensitive_features=g, n_boot=0)
        assert not [name for name in without if name.endswith(("_low", "_high"))]
        pd.testing.assert_frame_equal(with_intervals[without.columns], without)
        assert list(metrics.disparity_report(y, p, sensitive_features=g, n_boot=0).columns) == ["value"]

    @pytest.mark.parametrize("report", [metrics.group_report, metrics.disparity_report])
    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"n_boot": -1}, ValueError, r"n_boot.*least 0"),
            ({"n_boot": 10.0}, TypeError, r"n_boot.*whole.*10.0"),
            ({"confidence": 95}, ValueError, r"confidence.*0.*1.*95"),
            ({"threshold": None}, TypeError, r"threshold.*number.*None"),
            ({"threshold": [0.5, 0.5]}, TypeError, "threshold must be one number"),
            ({"threshold": float("nan")}, ValueError, "threshold is NaN"),
            ({"threshold": 50}, ValueError, r"threshold.*0.*1.*50.*100"),
            ({"threshold": -0.1}, ValueError, r"threshold.*0.*1"),
        ],
    )
    def test_bad_options(self, report, options, error, message):
        with pytest.raises(error, match=message):
            report([1, 0, 1, 0], [1, 0, 1, 0], sensitive_features=list("aabb"), **options)


class TestDisparityReport:
    @pytest.mark.parametrize("threshold", [0.5, 0.3])
    def test_values_are_those_of_the_single_metrics(self, threshold):
        y, p, g, w = draw(2, 90, n_groups=3)
        report = metrics.disparity_report(y, p, sensitive_features=g, sample_weight=w, threshold=threshold, n_boot=5)
        assert list(report.index) == DISPARITIES
        for name in DISPARITIES:
            prediction = p if name == "abroca" else p > threshold
            options = {"sensitive_features": g, "sample_weight": w}
            assert report.loc[name, "value"] == pytest.approx(getattr(metrics, name)(y, prediction, **options))
            assert report.loc[name, "low"] <= report.loc[name, "high"]

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
    @pytest.mark.slow
    def test_nothing_is_better(self, rule, seed, n, weighted):
        y, p, _, w = draw(seed, n, levels=8)
        w = w if weighted else None
        value = {cut: SKLEARN_RULES[rule](y, p > cut, w) for cut in np.r_[-1, np.linspace(0, 1, 17)]}
        chosen = metrics.choose_threshold(y, p, rule=rule, sample_weight=w)
        assert SKLEARN_RULES[rule](y, p > chosen, w) >= max(value.values()) - 1e-12
        on_grid = metrics.choose_threshold(y, p, rule=rule, sample_weight=w, grid=list(value))
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
        # From one end of the grid to the other.
        for best, *both in ((0.001, 0.001, 0.002), (0.999, 0.9985, 1.0)):
            assert metrics.choose_threshold([0, 1], both, grid="paper") == best

    @few
    @given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=6, unique=True))
    def test_neighbouring_float32_scores(self, values):
        close = np.nextafter(np.float32(values[0]), np.float32(2))
        p = np.unique(np.array([*values, close, np.nextafter(close, np.float32(2))], dtype=np.float32))
        for cut in range(1, len(p)):
            y = np.arange(len(p)) >= cut
            chosen = metrics.choose_threshold(y, p, rule="accuracy")
            # Scores that separate the labels are separated, also when no float32 lies between two of them.
            np.testing.assert_array_equal(p > chosen, y)
            assert type(chosen) is float

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"rule": "f2"}, ValueError, r"rule.*'f1'.*'accuracy'"),
            ({"grid": "fine"}, ValueError, r"grid.*None.*'paper'"),
            ({"grid": []}, ValueError, r"grid must be None, 'paper' or .*got \[\]"),
            ({"grid": [0.1, np.nan]}, ValueError, r"grid must be .*thresholds, got \[0.1, nan\]"),
            ({"y_score": [-1, 2, 3, 4], "grid": "paper"}, ValueError, r"y_score must be .* from 0 to 1, got -1 .*grid"),
            ({"y_score": [-1, 0, 1, 1], "grid": "paper"}, ValueError, r"y_score must be .* from 0 to 1, got -1 .*grid"),
            ({"y_score": [0, 1, 1, 1.5], "grid": "paper"}, ValueError, r"y_score must be .* got 1.5 in row 3.*grid"),
            ({"y_true": [1, 1, 1, 1]}, ValueError, "y_true has no negatives"),
            ({"y_true": [0, 0, 0, 0]}, ValueError, "y_true has no positives"),
            ({"sample_weight": [1, 0, 1, 0]}, ValueError, "y_true has no positives"),
            ({"folds": ["x", "y", "x", "y"]}, ValueError, "fold 'x' has no positives"),
            ({"folds": [1, 1, 1]}, ValueError, "folds must .* 4 rows of y_true, got 3"),
            ({"folds": [1, 1, np.nan, 1]}, ValueError, "folds must .* 1 missing"),
            ({"y_true": [0, 1, 2, 1]}, ValueError, "y_true must be .* got 2"),
            ({"y_score": [0, 1, np.nan, 1]}, ValueError, "y_score must .* 1 missing"),
            ({"y_score": [0, 1, 1]}, ValueError, "y_true must .* 3 rows of y_score, got 4"),
            ({"sample_weight": [1, 1, 1, -1]}, ValueError, "sample_weight must be .* got -1"),
            ({"rule": lambda tn, fp, fn, tp: tp.max()}, ValueError, r"one value per threshold.*got \(\)"),
            ({"rule": lambda tn, fp, fn, tp: tp * np.nan}, ValueError, "rule.*got NaN at every threshold"),
        ],
    )
    def test_bad_input(self, options, error, message):
        arguments = {"y_true": [0, 1, 0, 1], "y_score": [0.1, 0.2, 0.3, 0.4], **options}
        with pytest.raises(error, match=message):
            metrics.choose_threshold(arguments.pop("y_true"), arguments.pop("y_score"), **arguments)

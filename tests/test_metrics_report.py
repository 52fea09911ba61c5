"""Reports and thresholds: against single metrics, SciPy, all pairs, scikit-learn and exhaustive search."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, roc_auc_score

from pi_xgb import metrics
from pi_xgb._rows.groups import as_groups
from pi_xgb._stats import bootstrap as _bootstrap
from pi_xgb._stats.wilson import wilson
from pi_xgb.metrics import UndefinedRateWarning
from pi_xgb.metrics._rates import ScoredRows
from pi_xgb.metrics._scored import ScoredGroups

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
        two = metrics.group_report(y, p, sensitive_features=table[["band", "sex"]], n_boot=0)
        assert two.index.names == ["band", "sex"]
        assert metrics.group_report(y, p, sensitive_features=table[["band"]], n_boot=0).index.name == "band"
        finest = metrics.group_report(y, p, sensitive_features=table, sample_weight=w, n_boot=0, margins=False)
        pd.testing.assert_frame_equal(finest, report.iloc[:8], check_index_type=False)

    def test_a_structured_array_has_several_columns_and_one_column_may_hold_tuples(self):
        y, p, g, _ = draw(0, 20)
        pairs = [(letter, i % 2) for i, letter in enumerate(g)]
        fields = np.array(pairs, dtype=[("letter", "U1"), ("odd", int)])
        frame = pd.DataFrame(pairs, columns=["letter", "odd"])
        reported = metrics.group_report(y, p, sensitive_features=frame)
        pd.testing.assert_frame_equal(metrics.group_report(y, p, sensitive_features=fields), reported)
        for margins in (True, False):
            names = metrics.group_report(y, p, sensitive_features=pd.Series(pairs), margins=margins).index
            assert names.tolist() == [*sorted(set(pairs)), *(["(all)"] if margins else [])]

    def test_undefined_is_nan_and_named(self):
        with pytest.warns(UndefinedRateWarning) as caught:
            report = metrics.group_report(
                [1, 0, 0, 0], [0.9, 0.8, 0.1, 0.2], sensitive_features=list("aabb"), n_boot=20
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

    def test_rows_of_weight_zero_do_not_count(self):
        y, p, g, w = draw(5, 60, n_groups=3)
        # Nor do they where they are all that a group has of a label.
        w[(np.arange(len(y)) % 3 == 0) | ((g == "b") & (y == 1))] = 0
        with pytest.warns(UndefinedRateWarning, match="in group 'b'"):
            whole = metrics.group_report(y, p, sensitive_features=g, sample_weight=w)
        y, p, g, w = (part[w > 0] for part in (y, p, g, w))
        with pytest.warns(UndefinedRateWarning, match="in group 'b'"):
            rest = metrics.group_report(y, p, sensitive_features=g, sample_weight=w)
        counts = ["rows", "positives", "negatives", "selected"]
        pd.testing.assert_frame_equal(whole.drop(columns=counts), rest.drop(columns=counts))

    @few
    @given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.sampled_from([2, 100]))
    def test_many_weightings_are_as_many_tables(self, seed, n, levels):
        y, p, g, w = draw(seed, n, levels, n_groups=3)
        times = np.random.default_rng(seed).integers(1, 4, (2, len(y)))

        def measured(rows, multiplicity):
            table = ScoredGroups(ScoredRows(y[rows] == 1, p[rows] > 0.5, w[rows], as_groups(g[rows]), p[rows]))
            return table.measures(multiplicity), table.cells(multiplicity)

        together = measured(slice(None), times.astype(float))
        for row, repeats in enumerate(times):
            rows = np.repeat(np.arange(len(y)), repeats)
            for found, alone in zip(together, measured(rows, np.ones((1, len(rows)))), strict=True):
                np.testing.assert_allclose(found[row], alone[0], rtol=1e-9)

    def test_one_row_of_each_label_in_a_tie(self):
        report = metrics.group_report([1, 0, 1, 0], [0.6, 0.6, 0.7, 0.7], sensitive_features=list("aabb"))
        # Nothing is seen of the error, so it is that which no sample makes 0.
        assert report["auc"].tolist() == [0.5, 0.5, 0.5]
        assert (report["auc_low"][:2] < 0.1).all()
        assert (report["auc_high"][:2] > 0.9).all()

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
    def test_small_groups_and_rates_at_an_end_are_covered(self):
        # Exactly, over all counts that may be seen; a small version of `python -m benchmarks.coverage`.
        for n in (5, 10, 40):
            seen = np.arange(n + 1)
            low, high = wilson(seen / n, np.full(n + 1, float(n)), 0.95)
            shares = np.linspace(0.01, 0.99, 197)
            held = ((low <= shares[:, None]) & (shares[:, None] <= high)) * binom.pmf(seen, n, shares[:, None])
            assert 0.94 < held.sum(axis=1).mean() < 0.97
            assert held.sum(axis=1).min() > 0.83
        # Nothing was seen: that is no proof that there is nothing.
        report = metrics.group_report([0] * 8 + [1] * 2, np.zeros(10), sensitive_features=["a", "b"] * 5, margins=False)
        assert (report["selection_rate_low"] == 0).all()
        assert (report["selection_rate_high"] > 0.4).all()
        perfect = metrics.group_report([0, 1] * 4, [0.1, 0.9] * 4, sensitive_features=list("aaaabbbb"))
        assert (perfect["auc_high"] == 1).all()
        assert (perfect["auc_low"] < 0.7).all()

    @undefined_is_fine
    def test_no_positives_at_all(self):
        report = metrics.group_report([0] * 6, [0.1, 0.9] * 3, sensitive_features=list("aaabbb"), n_boot=10)
        assert report["auc"].isna().all()
        assert list(report["false_positive_rate"]) == [1 / 3, 2 / 3, 1 / 2]

    def test_no_draws_are_made(self):
        y, p, g, _ = draw(1, 60)
        first = metrics.group_report(y, p, sensitive_features=g, n_boot=25)
        for further in ({"n_boot": 1}, {"random_state": 1}, {"random_state": np.random.default_rng(0)}):
            pd.testing.assert_frame_equal(first, metrics.group_report(y, p, sensitive_features=g, **further))

    def test_resamples_are_resamples(self):
        drawn = np.concatenate(list(_bootstrap.resamples(8, 4000, 0)))
        assert drawn.shape == (4000, 8)
        # Each resample has as many rows as the data; a row is in it with probability 1 - (1 - 1/8)^8.
        assert (drawn.sum(axis=1) == 8).all()
        np.testing.assert_allclose((drawn > 0).mean(axis=0), 1 - (7 / 8) ** 8, atol=0.03)

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

    def test_choice_of_metrics(self):
        y, p, g, _ = draw(2, 30)
        full = metrics.disparity_report(y, p, sensitive_features=g, n_boot=5)
        subset = metrics.disparity_report(y, p, sensitive_features=g, n_boot=5, metrics=["abroca", "equalized_odds"])
        # Leaving metrics out changes nothing about the others, but for how many were looked at.
        alone = [name for name in full if name != "p_adjusted"]
        pd.testing.assert_frame_equal(subset[alone], full.loc[["abroca", "equalized_odds"], alone])
        single = metrics.disparity_report(y, p, sensitive_features=g, n_boot=5, metrics="abroca")
        pd.testing.assert_frame_equal(single[alone], full.loc[["abroca"], alone])
        assert single.loc["abroca", "p_adjusted"] == single.loc["abroca", "p_value"]
        with pytest.raises(ValueError, match=r"metrics.*'statistical_parity'"):
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

    def test_a_rule_may_say_any_number(self):
        y, p = [0, 1, 1], [0.0, 0.6, 1.0]
        for rule in (
            lambda tn, fp, fn, tp: tp / fp,  # endless where no negative is selected
            lambda tn, fp, fn, tp: 1e9 * (tn + tp),
            lambda tn, fp, fn, tp: (tn + tp).astype(int).astype(object),
        ):
            assert metrics.choose_threshold(y, p, rule=rule) == 0.3
        # Probabilities may be 0 and 1, thresholds may not: nothing on the grid passes over a 1.
        assert metrics.choose_threshold(y, p, grid="paper") == 0.001
        assert metrics.choose_threshold([1, 0], [0.0, 1.0], rule=lambda tn, fp, fn, tp: tn, grid="paper") == 0.001

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"rule": "f2"}, ValueError, r"rule.*'f1'.*'accuracy'"),
            ({"grid": "fine"}, ValueError, r"grid.*None.*'paper'"),
            ({"grid": []}, ValueError, "grid is empty"),
            ({"grid": [0.1, np.nan]}, ValueError, "grid must .* 1 missing"),
            ({"y_score": [-1, 2, 3, 4], "grid": "paper"}, ValueError, r"y_score must be .* from 0 to 1, got -1 .*grid"),
            ({"y_score": [-1, 0, 1, 1], "grid": "paper"}, ValueError, r"y_score must be .* from 0 to 1, got -1 .*grid"),
            (
                {"y_score": [0, 1, 1, 1.5], "grid": "paper"},
                ValueError,
                r"y_score must be .* from 0 to 1, got 1.5 in row 3.*grid",
            ),
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

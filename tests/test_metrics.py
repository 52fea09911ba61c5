"""Group metrics on decisions: against loops over rows, against Fairlearn, and their bad input."""

from __future__ import annotations

import itertools
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_xgb import metrics
from pi_xgb.metrics import UndefinedRateWarning

RATES = {
    "selection_rate": metrics.selection_rate,
    "true_positive_rate": metrics.true_positive_rate,
    "false_positive_rate": metrics.false_positive_rate,
    "precision": metrics.precision,
}
GAPS = {
    "statistical_parity": metrics.statistical_parity,
    "equalized_odds": metrics.equalized_odds,
    "equalized_odds_max": partial(metrics.equalized_odds, agg="max"),
    "equal_opportunity": metrics.equal_opportunity,
}


def rate_by_hand(name, y, d, w):
    """One rate over rows, read off its definition; NaN where it does not exist."""
    among = {
        "selection_rate": [True] * len(y),
        "true_positive_rate": y == 1,
        "false_positive_rate": y == 0,
        "precision": d == 1,
    }[name]
    hit = (y == 1) if name == "precision" else (d == 1)
    whole = sum(w[i] for i in range(len(y)) if among[i])
    part = sum(w[i] for i in range(len(y)) if among[i] and hit[i])
    return part / whole if whole > 0 else float("nan")


def gap_by_hand(name, y, d, g, w):
    """A difference between groups: the largest of every pair."""
    sides = [(g == a, g == b) for a, b in itertools.combinations(sorted(set(g)), 2)]
    found = []
    for item, other in sides:
        difference = {
            rate: abs(rate_by_hand(rate, y[item], d[item], w[item]) - rate_by_hand(rate, y[other], d[other], w[other]))
            for rate in ("selection_rate", "true_positive_rate", "false_positive_rate")
        }
        odds = difference["true_positive_rate"], difference["false_positive_rate"]
        found.append(
            {
                "statistical_parity": difference["selection_rate"],
                "equal_opportunity": difference["true_positive_rate"],
                "equalized_odds": sum(odds),
                "equalized_odds_max": max(odds),
            }[name]
        )
    return max(found)


def draw_rows(rng, n_groups, n_rows, complete):
    """Random rows; ``complete`` puts both labels and both decisions in every group."""
    y, d, g = rng.integers(0, 2, n_rows), rng.integers(0, 2, n_rows), rng.integers(0, n_groups, n_rows)
    if complete:
        corners = np.array(list(itertools.product(range(n_groups), (0, 1), (0, 1))))
        g, y, d = np.r_[g, corners[:, 0]], np.r_[y, corners[:, 1]], np.r_[d, corners[:, 2]]
    return y, d, g


rows = st.builds(
    lambda seed, n_groups, n_rows: draw_rows(np.random.default_rng(seed), n_groups, n_rows, complete=True),
    st.integers(0, 2**32 - 1),
    st.integers(2, 4),
    st.integers(0, 30),
)
few = settings(max_examples=20, deadline=None)


class TestAgainstDefinitions:
    @pytest.mark.parametrize("name", RATES)
    @few
    @given(rows, st.booleans())
    def test_rates(self, name, drawn, weighted):
        y, d, g = drawn
        w = np.random.default_rng(len(y)).random(len(y)) + 0.1 if weighted else None
        unit = np.ones(len(y)) if w is None else w
        got = RATES[name](y, d, sensitive_features=g, sample_weight=w)
        expected = [rate_by_hand(name, y[g == a], d[g == a], unit[g == a]) for a in sorted(set(g))]
        np.testing.assert_allclose(got.to_numpy(), expected, rtol=1e-12)
        assert list(got.index) == sorted(set(g))
        np.testing.assert_allclose(RATES[name](y, d, sample_weight=w), rate_by_hand(name, y, d, unit), rtol=1e-12)

    @pytest.mark.parametrize("name", GAPS)
    @few
    @given(rows, st.booleans())
    def test_gaps(self, name, drawn, weighted):
        y, d, g = drawn
        w = np.random.default_rng(len(y)).random(len(y)) + 0.1 if weighted else None
        got = GAPS[name](y, d, sensitive_features=g, sample_weight=w)
        expected = gap_by_hand(name, y, d, g, np.ones(len(y)) if w is None else w)
        assert got == pytest.approx(expected, abs=1e-12)

    def test_equalized_odds_is_a_sum_within_one_pair(self):
        # Three groups: the true positive rates differ most between a and b, the false positive rates between
        # b and c, and no pair has both.
        y = [1, 1, 0, 0] * 3
        d = [1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 1, 1]
        g = ["a"] * 4 + ["b"] * 4 + ["c"] * 4
        # a: tpr 1, fpr 1/2; b: 0, 1/2; c: 1/2, 1. Pairs: ab 1 + 0, ac 1/2 + 1/2, bc 1/2 + 1/2; never 1 + 1/2.
        assert metrics.equalized_odds(y, d, sensitive_features=g) == 1.0
        assert metrics.equalized_odds(y, d, sensitive_features=g, agg="max") == 1.0

    @pytest.mark.parametrize("name", GAPS)
    @few
    @given(rows)
    def test_each_against_the_rest(self, name, drawn):
        y, d, g = drawn
        weight = 1.0 + np.arange(len(y)) % 3
        each = metrics.one_vs_rest(GAPS[name], y, d, sensitive_features=g, sample_weight=weight)
        by_hand = [gap_by_hand(name, y, d, (g == a).astype(int), weight) for a in sorted(set(g))]
        np.testing.assert_allclose(each.to_numpy(), by_hand, atol=1e-12)
        assert each.index.tolist() == sorted(set(g))
        assert each.name == getattr(GAPS[name], "__name__", None)
        named = metrics.one_vs_rest(GAPS[name], y, d, sensitive_features=np.where(g == max(g), "the rest", "a"))
        np.testing.assert_allclose(
            named, gap_by_hand(name, y, d, (g == max(g)).astype(int), np.ones(len(y))), atol=1e-12
        )


class TestProperties:
    @pytest.mark.parametrize("name", GAPS)
    @few
    @given(rows, st.randoms(use_true_random=False))
    @pytest.mark.slow
    def test_invariances(self, name, drawn, random):
        y, d, g = drawn
        metric = GAPS[name]
        value = metric(y, d, sensitive_features=g)
        # Shares are between 0 and 1, and so are differences; two of them sum to 2 at most.
        assert 0 <= value <= (2 if name == "equalized_odds" else 1)
        order = random.sample(range(len(y)), len(y))
        assert metric(y[order], d[order], sensitive_features=g[order]) == pytest.approx(value, abs=1e-12)
        # What the groups are called, and in which order they sort, does not matter.
        renamed = np.array(["z", "y", "x", "w"])[g]
        assert metric(y, d, sensitive_features=renamed) == pytest.approx(value, abs=1e-12)
        # A whole-number weight is the same as repeating the row, and the scale of weights does not matter.
        weight = np.array([random.randint(1, 3) for _ in y])
        repeated = metric(np.repeat(y, weight), np.repeat(d, weight), sensitive_features=np.repeat(g, weight))
        for scale in (1, 0.25):
            weighted = metric(y, d, sensitive_features=g, sample_weight=scale * weight)
            assert weighted == pytest.approx(repeated, abs=1e-12)
        twice = np.repeat(["a", "b"], len(y))
        assert metric(np.r_[y, y], np.r_[d, d], sensitive_features=twice) == 0

    def test_arguments_are_not_changed(self):
        y, d, g = draw_rows(np.random.default_rng(0), 3, 20, complete=True)
        given_rows = pd.DataFrame({"y": y, "d": d, "g": g.astype(str), "p": np.linspace(0, 1, len(y)), "w": 1.0})
        before = given_rows.copy()
        metrics.group_report(given_rows.y, given_rows.p, sensitive_features=given_rows[["g"]], n_boot=3)
        for metric in GAPS.values():
            metric(given_rows.y, given_rows.d, sensitive_features=given_rows.g, sample_weight=given_rows.w)
        pd.testing.assert_frame_equal(given_rows, before)


class TestFormsOfInput:
    y = np.array([1, 0, 1, 0, 1, 0])
    d = np.array([1, 1, 0, 0, 1, 0])
    g = np.array(["a", "a", "a", "b", "b", "b"])

    @pytest.mark.parametrize("name", GAPS)
    @pytest.mark.parametrize(
        ("label", "group"),
        [
            (list, list),
            (lambda v: v.astype(bool), lambda g: pd.Series(g, index=range(10, 16))),
            (lambda v: v.astype(np.float32)[:, None], lambda g: g[:, None]),
            (lambda v: pd.Series(v, dtype="Int64"), lambda g: pd.Categorical(g, categories=["z", "b", "a"])),
            (lambda v: pd.Series(v[::1], index=[9, 8, 7, 2, 1, 0]), lambda g: pd.DataFrame({"sex": g})),
            (lambda v: v.astype(object), lambda g: {"sex": g}),
            (lambda v: v, lambda g: [[v] for v in g]),
            (lambda v: v, lambda g: pd.Index(g)),
            (lambda v: v, lambda g: g == "a"),
        ],
    )
    def test_any_container_gives_the_same(self, name, label, group):
        expected = GAPS[name](self.y, self.d, sensitive_features=self.g)
        got = GAPS[name](label(self.y), label(self.d), sensitive_features=group(self.g))
        assert got == expected

    @pytest.mark.parametrize("name", [*GAPS, "recall", "abroca", "group_report", "disparity_report"])
    def test_one_index_in_another_order_raises(self, name):
        y, g = pd.Series(self.y, list("fedcba")), pd.Series(self.g, list("abcdef"))
        metric = GAPS.get(name) or getattr(metrics, name)
        with pytest.raises(ValueError, match="sensitive_features and y_true have the same index in another order"):
            metric(y, self.d, sensitive_features=g)
        with pytest.raises(ValueError, match="predictions and y_true have the same index in another order"):
            metrics.choose_threshold(y, y.sort_index())
        # The default index of predictions numbers them, whatever the rows are called.
        assert metrics.recall(y.set_axis(range(5, -1, -1)), pd.Series(self.d)) == metrics.recall(self.y, self.d)

    def test_several_columns_are_intersections(self):
        rng = np.random.default_rng(1)
        y, d, _ = draw_rows(rng, 2, 60, complete=False)
        table = pd.DataFrame({"sex": rng.choice(["f", "m"], 60), "band": rng.choice([1, 2, 3], 60)})
        pasted = table["sex"] + table["band"].astype(str)
        for metric in (*GAPS.values(), metrics.selection_rate):
            several = metric(y, d, sensitive_features=table)
            np.testing.assert_array_equal(several, metric(y, d, sensitive_features=pasted))
        rates = metrics.selection_rate(y, d, sensitive_features=table)
        assert rates.index.names == ["sex", "band"]
        assert rates[("m", 2)] == d[(table["sex"] == "m") & (table["band"] == 2)].mean()


class TestUndefined:
    # Group b has no positives, group c no negatives.
    y = np.array([1, 1, 0, 0, 0, 0, 1, 1, 1, 0])
    d = np.array([1, 0, 1, 0, 1, 0, 1, 0, 1, 1])
    g = np.array(["a", "a", "a", "a", "b", "b", "c", "c", "d", "d"])

    def test_rate_is_nan_and_the_group_is_named(self):
        with pytest.warns(UndefinedRateWarning, match=r"true_positive_rate.*group 'b'.*no positives") as caught:
            rates = metrics.recall(self.y, self.d, sensitive_features=self.g)
        assert [warning.filename for warning in caught] == [__file__]
        assert (rates.name, rates.index.tolist()) == ("true_positive_rate", list("abcd"))
        assert np.isnan(rates["b"])
        assert rates.notna().sum() == 3
        with pytest.warns(UndefinedRateWarning, match="false_positive_rate.*'c'.*no negatives"):
            assert np.isnan(metrics.false_positive_rate(self.y, self.d, sensitive_features=self.g)["c"])
        with pytest.warns(UndefinedRateWarning, match=r"precision.*\(NaN\).*selected"):
            assert np.isnan(metrics.precision([1, 0], [0, 0]))

    def test_a_gap_with_an_unknown_side_is_unknown(self):
        with pytest.warns(UndefinedRateWarning, match="'b'"):
            assert np.isnan(metrics.equal_opportunity(self.y, self.d, sensitive_features=self.g))
        with pytest.warns(UndefinedRateWarning) as caught:
            assert np.isnan(metrics.equalized_odds(self.y, self.d, sensitive_features=self.g))
        assert [("'b'" in str(w.message), "'c'" in str(w.message)) for w in caught] == [(True, False), (False, True)]
        assert {w.filename for w in caught} == {__file__}
        # Parity needs no labels, so nothing is undefined there.
        assert metrics.statistical_parity(self.y, self.d, sensitive_features=self.g) > 0

    def test_skip_compares_the_others(self):
        skip = partial(metrics.equalized_odds, sensitive_features=self.g, undefined="skip")
        known = np.isin(self.g, ["a", "d"])
        with pytest.warns(UndefinedRateWarning):
            got = skip(self.y, self.d)
        # Only a and d have both rates: a 1/2 and 1/2, d 1 and 1.
        assert got == metrics.equalized_odds(self.y[known], self.d[known], sensitive_features=self.g[known]) == 1
        with pytest.warns(UndefinedRateWarning):
            # The larger of the two needs one rate only: the true positive rate of c counts.
            assert skip(self.y, self.d, agg="max") == 0.5
        y, d, g = [1, 1, 1, 0, 1] * 2, [1, 0, 1, 1, 0] * 2, list("aabbc") * 2
        with pytest.warns(UndefinedRateWarning):
            # Only b has negatives: the true positive rates 1/2, 1, 0 alone can be compared.
            assert metrics.equalized_odds(y, d, sensitive_features=g, agg="max", undefined="skip") == 1

    @pytest.mark.parametrize("undefined", ["nan", "skip"])
    def test_one_known_group_is_no_difference(self, undefined):
        # Never 0: a single group with the rate has nothing to be compared with.
        with pytest.warns(UndefinedRateWarning, match="'b'"):
            value = metrics.equal_opportunity(
                [1, 0, 0, 0], [1, 0, 1, 0], sensitive_features=list("aabb"), undefined=undefined
            )
        assert np.isnan(value)


def call_decision_metric(metric, y=(1, 0, 1, 0), pred=(1, 0, 0, 1), g=("a", "a", "b", "b"), **options):
    return metric(y, pred, sensitive_features=g, **options)


DECISION_METRICS = {**RATES, **GAPS}
SCORE_METRICS = {
    "abroca": metrics.abroca,
    "group_report": partial(metrics.group_report, n_boot=0),
    "disparity_report": partial(metrics.disparity_report, n_boot=0),
}
ALL_METRICS = {**DECISION_METRICS, **SCORE_METRICS}
NEED_TWO_GROUPS = {**GAPS, **SCORE_METRICS}


class TestBadInput:
    @pytest.mark.parametrize("metric", ALL_METRICS.values(), ids=ALL_METRICS)
    @pytest.mark.parametrize(
        ("changed", "error", "message"),
        [
            ({"y": (1, 0, 1)}, ValueError, "y_true must .* got 3"),
            ({"pred": (1, 0, 1)}, ValueError, "y_true must .* 3 rows of y_.*, got 4"),
            ({"g": ("a", "b", "b")}, ValueError, "sensitive_features must .* got 3"),
            ({"g": pd.DataFrame({"s": ["a", "b"]})}, ValueError, "sensitive_features must .* got 2"),
            ({"sample_weight": [1, 1]}, ValueError, "sample_weight must .* 4 rows, got 2"),
            ({"y": (1, 0, 2, 0)}, ValueError, "y_true must be .* got 2 .*recode"),
            ({"y": (1, -1, 1, -1)}, ValueError, "y_true must be .* got -1"),
            ({"y": ("yes", "no", "yes", "no")}, TypeError, "y_true must be .* got 'yes'.*recode"),
            ({"y": (1, 0, np.nan, 0)}, ValueError, "y_true must .* 1 missing values in 4"),
            ({"y": pd.Series([1, 0, None, 0], dtype="Int64")}, ValueError, "y_true must .* 1 missing"),
            ({"pred": (1, 0, np.nan, None)}, ValueError, "must .* 2 missing values in 4"),
            ({"y": (), "pred": (), "g": ()}, ValueError, "is empty"),
            ({"y": 1}, TypeError, "y_true must have one value per row, got 1"),
            ({"pred": "1010"}, TypeError, "must have one value per row"),
            ({"y": np.ones((4, 2))}, ValueError, r"y_true must have one column, got shape \(4, 2\)"),
            ({"sample_weight": [1, -1, 1, 1]}, ValueError, "sample_weight must be .* got -1 in row 1"),
            ({"sample_weight": [1, np.nan, 1, 1]}, ValueError, "sample_weight must .* 1 missing"),
            ({"sample_weight": [1, np.inf, 1, 1]}, ValueError, "sample_weight must be finite.* got inf"),
            ({"sample_weight": [0, 0, 0, 0]}, ValueError, "0 in every row"),
            ({"g": ("a", "b", "c", "d")}, ValueError, "makes 4 groups of 4 rows.*pandas.cut"),
            ({"g": "aabb"}, TypeError, "sensitive_features must have one value per row"),
            ({"g": np.zeros((4, 2, 2))}, ValueError, "one column, got shape"),
            ({"g": pd.DataFrame(index=range(4))}, ValueError, "at least one column, got none"),
            ({"g": pd.DataFrame([["a", "b"]] * 4, columns=["s", "s"])}, ValueError, "several columns called s"),
            ({"g": {"s": pd.DataFrame([["a", "b"]] * 4)}}, ValueError, r"features\['s'\] must have one column"),
        ],
    )
    def test_clear_errors(self, metric, changed, error, message):
        with pytest.raises(error, match=message):
            call_decision_metric(metric, **changed)

    @pytest.mark.parametrize("metric", NEED_TWO_GROUPS.values(), ids=NEED_TWO_GROUPS)
    def test_one_group_only(self, metric):
        with pytest.raises(ValueError, match=r"group.*'a'.*two"):
            call_decision_metric(metric, g=("a",) * 4)
        with pytest.raises(TypeError, match="sensitive_features must have one value per row, got None"):
            call_decision_metric(metric, g=None)
        with pytest.raises(ValueError, match="one group only"):
            metrics.one_vs_rest(metric, [1, 0], [1, 0], sensitive_features=["a", "a"])

    def test_a_name_is_no_metric(self):
        with pytest.raises(TypeError, match=r"metric.*function.*'abroca'"):
            metrics.one_vs_rest("abroca", [1, 0], [1, 0], sensitive_features=["a", "b"])

    @pytest.mark.parametrize("metric", DECISION_METRICS.values(), ids=DECISION_METRICS)
    def test_scores_are_no_decisions(self, metric):
        with pytest.raises(ValueError, match=r"y_pred must be .* got 0.2 .*y_score > threshold"):
            call_decision_metric(metric, pred=(0.2, 0.7, 0.0, 1.0))

    @pytest.mark.parametrize("name", ["group_report", "disparity_report"])
    def test_margins_are_no_probabilities(self, name):
        with pytest.raises(ValueError, match=r"y_score must be .* from 0 to 1, got -2 in row 0: margins become"):
            call_decision_metric(SCORE_METRICS[name], pred=(-2, 0.5, 0.1, 0.2))

    @pytest.mark.parametrize("name", sorted(set(NEED_TWO_GROUPS) - {"group_report"}))
    def test_options(self, name):
        metric = NEED_TWO_GROUPS[name]
        with pytest.raises(ValueError, match="undefined must be one of"):
            call_decision_metric(metric, undefined="zero")

    def test_agg(self):
        with pytest.raises(ValueError, match=r"agg.*'sum'.*'max'.*'worst_case'"):
            call_decision_metric(metrics.equalized_odds, agg="worst_case")

    def test_labels_are_only_optional_where_they_do_not_enter(self):
        assert metrics.statistical_parity(None, [1, 0, 1, 1], sensitive_features=list("aabb")) == 0.5
        for metric in (metrics.equalized_odds, metrics.equal_opportunity, metrics.recall, metrics.precision):
            with pytest.raises(TypeError, match="y_true must have one value per row, got None"):
                metric(None, [1, 0, 1, 1], sensitive_features=list("aabb"))


class TestFairlearn:
    @pytest.fixture
    def fair(self):
        return pytest.importorskip("fairlearn.metrics")

    @pytest.mark.parametrize("n_groups", [2, 5])
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.slow
    def test_same_values(self, fair, n_groups, weighted):
        rng = np.random.default_rng(n_groups)
        for _ in range(5):
            y, d, g = draw_rows(rng, n_groups, 60, complete=True)
            w = rng.random(len(y)) if weighted else None
            # Parity and opportunity are Fairlearn's; odds are, with agg="max".
            for ours, theirs in [
                (metrics.statistical_parity, fair.demographic_parity_difference),
                (metrics.equal_opportunity, fair.equal_opportunity_difference),
                (GAPS["equalized_odds_max"], fair.equalized_odds_difference),
            ]:
                assert ours(y, d, sensitive_features=g, sample_weight=w) == pytest.approx(
                    theirs(y, d, sensitive_features=g, sample_weight=w), abs=1e-12
                )
            if n_groups == 2:
                # For two groups our sum is twice Fairlearn's mean.
                mean = fair.equalized_odds_difference(y, d, sensitive_features=g, sample_weight=w, agg="mean")
                ours = metrics.equalized_odds(y, d, sensitive_features=g, sample_weight=w)
                assert ours == pytest.approx(2 * mean, abs=1e-12)

    def test_rates_in_a_metric_frame(self, fair):
        rng = np.random.default_rng(0)
        y, d, _ = draw_rows(rng, 2, 80, complete=False)
        table = pd.DataFrame({"sex": rng.choice(["f", "m"], 80), "band": rng.choice(["x", "y"], 80)})
        w = rng.random(80)
        frame = fair.MetricFrame(
            metrics=RATES,
            y_true=y,
            y_pred=d,
            sensitive_features=table,
            sample_params={name: {"sample_weight": w} for name in RATES},
        )
        for name, rate in RATES.items():
            ours = rate(y, d, sensitive_features=table, sample_weight=w)
            # The frame finds by calling group by group what one call with groups finds.
            np.testing.assert_allclose(frame.by_group[name].astype(float), ours, rtol=1e-12)
            assert frame.overall[name] == pytest.approx(rate(y, d, sample_weight=w))

    def test_a_group_without_positives(self, fair):
        y, d, g = [1, 1, 0, 0], [1, 1, 1, 0], list("aabb")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = fair.equal_opportunity_difference(y, d, sensitive_features=g)
        with pytest.warns(UndefinedRateWarning, match="'b'"):
            ours = metrics.equal_opportunity(y, d, sensitive_features=g)
        # The one place where we differ on purpose: Fairlearn takes the missing rate for 0.
        assert theirs == 1
        assert np.isnan(ours)

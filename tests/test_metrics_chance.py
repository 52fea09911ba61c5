"""What chance makes of a gap: against all permutations, known truths, and what must not change it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_xgb import metrics
from pi_xgb.metrics import UndefinedRateWarning
from pi_xgb.metrics._chance import Gap
from pi_xgb.metrics._words import sentence, verdict

KNOWN = [
    "statistical_parity", "equalized_odds", "equal_opportunity", "abroca", "predictive_parity",
    "false_positive_rate_parity",
]  # fmt: skip


def rows_of(seed, n=400, n_groups=3, apart=0.0):
    """Calibrated scores of groups, whose first one lies ``apart`` from the others."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, n_groups, n)
    p = np.clip(rng.random(n) + apart * (group == 0), 0, 1)
    return rng.random(n) < p, p, group


def test_the_null_is_that_of_all_permutations():
    y = np.array([1, 1, 1, 0, 0, 0, 1, 0, 1, 0])
    d = np.array([1, 0, 1, 1, 0, 0, 0, 0, 1, 1])
    g = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    # Every way to deal the four places of the first group.
    every = [np.isin(np.arange(10), chosen, invert=True) for chosen in combinations(range(10), 4)]
    same_labels = [dealt for dealt in every if (y[~dealt] == 1).sum() == (y[g == 0] == 1).sum()]
    for name, dealt in {"statistical_parity": every, "equalized_odds": same_labels}.items():
        metric = getattr(metrics, name)
        null = np.array([metric(y, d, sensitive_features=groups) for groups in dealt])
        reported = metrics.disparity_report(y, d, sensitive_features=g, metrics=name, n_null=50_000).loc[name]
        assert reported["p_value"] == pytest.approx((null >= reported["value"] - 1e-9).mean(), abs=0.01)
        assert reported["chance"] == pytest.approx(null.mean(), abs=0.005)


def gap_of(name, y, p, group):
    """A gap by the metric's own function; those that only tables have by their definition."""
    rate = {"predictive_parity": metrics.precision, "false_positive_rate_parity": metrics.false_positive_rate}.get(name)
    if rate is not None:
        return np.ptp(rate(y, p > 0.5, sensitive_features=group))
    return getattr(metrics, name)(y, p if name == "abroca" else p > 0.5, sensitive_features=group)


def alike(name, y, p):
    """Which rows exchange their groups where groups do not matter: those of one code; -1 takes no part."""
    if name == "predictive_parity":
        return np.where(p > 0.5, 0, -1)
    if name in ("equal_opportunity", "false_positive_rate_parity"):
        return np.where(y == (name == "equal_opportunity"), 0, -1)
    return np.zeros(len(y), int) if name == "statistical_parity" else y.astype(int)


@pytest.mark.parametrize("n_groups", [2, 4])
@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.slow
def test_value_and_p_value_are_those_of_permuting_the_groups(name, n_groups):
    y, p, group = rows_of(3, 300, n_groups, apart=0.04)
    reported = metrics.disparity_report(y, p, sensitive_features=group, metrics=name).loc[name]
    assert reported["value"] == pytest.approx(gap_of(name, y, p, group), abs=1e-12)
    rng, code, null = np.random.default_rng(0), alike(name, y, p), []
    for _ in range(500):
        dealt = group.copy()
        for part in set(code) - {-1}:
            dealt[code == part] = rng.permutation(group[code == part])
        null.append(gap_of(name, y, p, dealt))
    assert reported["chance"] == pytest.approx(np.mean(null), rel=0.08)
    assert reported["p_value"] == pytest.approx((np.array(null) >= reported["value"] - 1e-9).mean(), abs=0.06)


@pytest.mark.parametrize("n_groups", [2, 4])
@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.slow
def test_the_interval_of_a_large_gap_is_that_of_resampling_the_rows(name, n_groups):
    # Far from 0 nothing is folded, and inversion gives what the percentiles of resampled rows give.
    rng, n = np.random.default_rng(2), 2000
    group = np.arange(n) % n_groups
    place = np.array([0, 1, 0.5, 0.5])[group]  # two groups at the ends, the others between them
    y = rng.random(n) < 0.7 - 0.5 * place
    decided = rng.random(n) < np.where(y, 0.95 - 0.55 * place, 0.4 - 0.25 * place)
    p = (rng.random(n) + decided) / 2
    reported = metrics.disparity_report(y, p, sensitive_features=group, metrics=name).loc[name]
    drawn = []
    for _ in range(300):
        rows = rng.integers(0, n, n)
        drawn.append(gap_of(name, y[rows], p[rows], group[rows]))
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert (reported["low"], reported["high"]) == pytest.approx(
        (low, high), abs=(reported["high"] - reported["low"]) / 3
    )
    assert reported["low"] < reported["value"] < reported["high"]


@pytest.mark.parametrize("weights", ["equal", "of groups and rows"])
@pytest.mark.slow
def test_the_null_of_curves_is_that_of_permutations(weights):
    y, p, g = rows_of(0, 60)
    p, rng = np.round(p, 2), np.random.default_rng(1)
    own = np.ones(len(y)) if weights == "equal" else np.where(rng.random(len(y)) < 0.1, 20.0, 1.0)
    given = {"sample_weight": own * (1 if weights == "equal" else 1 + 5 * g)}
    reported = metrics.disparity_report(y, p, sensitive_features=g, metrics="abroca", n_null=2000, **given)
    reported, null = reported.loc["abroca"], []
    for cell in ((y == label) & (g == group) for label in (0, 1) for group in np.unique(g)):
        own[cell] /= own[cell].mean()
    for _ in range(400):
        dealt = np.where(y, 0, 0)
        for label in (True, False):
            dealt[y == label] = rng.permutation(g[y == label])
        null.append(metrics.abroca(y, p, sensitive_features=dealt, sample_weight=own))
    assert reported["chance"] == pytest.approx(np.mean(null), rel=0.08)
    assert reported["p_value"] == pytest.approx((np.array(null) >= reported["value"]).mean(), abs=0.08)


def test_a_gap_that_is_there_is_found_and_named():
    y, p, group = rows_of(1, 2000, 4, apart=0.3)
    reported = metrics.disparity_report(y, p, sensitive_features=np.array(list("abcd"))[group], n_boot=200)
    parity = reported.loc["statistical_parity"]
    assert parity["p_value"] == 1 / 2000  # of 1999 draws by default
    assert parity["p_adjusted"] < 0.01
    assert parity["low"] > 0.2
    single, other = parity["between"].split(" – ")
    rates = metrics.selection_rate(y, p > 0.5, sensitive_features=np.array(list("abcd"))[group])
    assert abs(rates[single] - rates[other]) == pytest.approx(parity["value"])


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_what_holds_of_every_table(seed, n_groups):
    y, p, group = rows_of(seed, 150, n_groups, apart=0.2)
    usual = {"n_boot": 100, "n_null": 100, "undefined": "skip"}
    reported = metrics.disparity_report(y, p, sensitive_features=group, **usual)
    assert (
        (reported["low"] >= 0)
        & (reported["low"] <= reported["corrected"])
        & (reported["corrected"] <= reported["high"])
    ).all()
    assert (reported["p_value"] <= reported["p_adjusted"]).all()
    assert reported["p_adjusted"].between(1 / 101, 1).all()
    # A weight that all rows share says nothing.
    weighted = metrics.disparity_report(y, p, sensitive_features=group, sample_weight=np.full(150, 2.0**900), **usual)
    pd.testing.assert_frame_equal(weighted, reported)


def test_a_null_has_a_hundred_draws_or_more():
    of = [1, 0, 1, 0], [1, 0, 1, 0]
    few, usual = (metrics.disparity_report(*of, sensitive_features=list("aabb"), n_null=n) for n in (1, 100))
    pd.testing.assert_frame_equal(few, usual)


@pytest.mark.parametrize(
    ("spoilt", "error", "message"),
    [
        ({"metrics": []}, ValueError, "metrics is an empty list"),
        ({"metrics": None}, ValueError, r"metrics.*'statistical_parity'.*None"),
        ({"random_state": "a"}, TypeError, r"random_state.*least 0.*'a'"),
        ({"random_state": -1}, ValueError, r"random_state.*least 0.*-1"),
        ({"random_state": np.random.RandomState(0)}, TypeError, r"random_state.*Generator.*RandomState"),
    ],
)
def test_what_a_table_cannot_be_made_of(spoilt, error, message):
    with pytest.raises(error, match=message):
        metrics.disparity_report([1, 0, 1, 0], [1, 0, 1, 0], sensitive_features=list("aabb"), **spoilt)


def test_a_group_of_one_row_is_not_surely_apart():
    y, p, group = rows_of(5, 300, 2)
    group[0] = 7
    with pytest.warns(UndefinedRateWarning, match="in group 7"):
        reported = metrics.disparity_report(y, p, sensitive_features=group, n_boot=200, undefined="skip")
    parity = reported.loc["statistical_parity"]
    # Its rate is 0 or 1, so it is always in the widest pair, which is what chance gives as well.
    assert "7" in parity["between"]
    assert parity["chance"] > 0.4
    assert parity["p_adjusted"] > 0.1
    assert "7" not in reported.loc["equalized_odds", "between"]


def test_a_group_without_positives():
    y, p, group = rows_of(6, 300, 3)
    y = y & (group != 2)
    with pytest.warns(UndefinedRateWarning) as caught:
        reported = metrics.disparity_report(y, p, sensitive_features=group, n_boot=100)
    assert all("in group 2" in str(warning.message) for warning in caught)
    assert reported.loc[["equalized_odds", "equal_opportunity", "abroca"], "p_value"].isna().all()
    assert reported.loc["statistical_parity"].notna().all()
    # Holm counts what was looked at.
    assert reported.loc["statistical_parity", "p_adjusted"] == reported.loc["statistical_parity", "p_value"]


def test_rates_without_a_mistake_leave_room_for_some():
    y, group = np.tile([0, 1], 100), np.repeat(["a", "b"], 100)
    right = metrics.disparity_report(y, y.astype(float), sensitive_features=group, random_state=0)
    nobody = metrics.disparity_report(y, np.zeros(200), sensitive_features=group, random_state=0)
    for table, name, rows in (
        (right, "equal_opportunity", 50),
        (right, "equalized_odds", 50),
        (nobody, "statistical_parity", 100),
        (nobody, "equal_opportunity", 50),
    ):
        value, low, high = table.loc[name, ["value", "low", "high"]]
        assert value == low == 0
        # A rate of d in one group shows none in so many rows with the chance (1 - d) ** rows.
        assert 1 - 0.06 ** (1 / rows) < high < 1 - 0.01 ** (1 / rows)
    few = metrics.disparity_report([0, 1, 0, 1], [0.1, 0.9, 0.1, 0.9], sensitive_features=list("aabb"), random_state=0)
    assert (few["high"] > 0.75).all()


@pytest.mark.parametrize(
    ("counts", "of_curves", "rows"),
    [
        ([[[10, 0], [0, 7], [1, 2]]], False, 7),
        ([[[10, 0], [5, 7]], [[4, 4], [1, 2]]], False, 10),
        ([[[1, 2], [3, 4]]], False, np.inf),
        ([[[0, 9], [5, 4]], [[6, 0], [3, 3]]], True, 6),
        ([[[9, 0], [5, 4]], [[0, 20], [3, 3]]], True, 9),  # every negative above every positive
        ([[[1, 9], [5, 4]], [[6, 1], [3, 3]]], True, np.inf),
    ],
)
def test_a_group_without_a_mistake_has_the_upper_limit_of_none_of_its_rows(counts, of_curves, rows):
    gap = Gap(np.array(counts, float), of_curves)
    found = gap.limits(0.0, np.zeros((100, *gap.observed.shape)), 0.95)
    wilson = 1.959964**2 / (rows + 1.959964**2)
    assert found["high"] == pytest.approx(wilson, abs=1e-6)


def tables():
    """A table of gaps in weighted rows, in few, in noisy groups beside quiet ones, and without a mistake."""
    rng, even = np.random.default_rng(12), np.arange(63) % 2
    group = rng.integers(0, 4, 400)
    p = np.clip(rng.random(400) + 0.05 * group, 0, 1)
    y = (rng.random(400) < p) ^ (rng.random(400) < 0.05 * group)
    noisy = np.repeat(np.arange(7), [500, 500, 8, 8, 8, 8, 8])
    chosen = np.arange(1040) % 2 | (np.arange(1040) // 30 == 17)
    rows = {
        "weighted": (y, p, group, rng.uniform(0.5, 2, 400)),
        "few": ((y ^ (group == 1))[:60], p[:60], group[:60], None),
        "noisy": (chosen, chosen / 1, noisy, None),
        "right": (even, even / 1, np.arange(63) // 2 % 3, None),
    }
    for name, (label, score, groups, weight) in rows.items():
        given = {"sensitive_features": groups, "sample_weight": weight, "threshold": 0.6, "confidence": 0.9}
        yield name, metrics.disparity_report(label, score, **given, n_boot=100, n_null=100)


# Low and high end, corrected gap, chance and p-value.
MEASURED = {
    ("weighted", "statistical_parity"): [0, 0.2862593, 0.1821426, 0.1120687, 0.1287129],
    ("weighted", "equalized_odds"): [0.1049729, 0.5709339, 0.3519719, 0.2355684, 0.0396040],
    ("weighted", "abroca"): [0.0787072, 0.3161665, 0.1984605, 0.1199695, 0.0297030],
    ("few", "equalized_odds"): [0, 1.6340989, 0.8015773, 0.7574444, 0.1188119],
    ("few", "abroca"): [0, 0.6958117, 0.2782298, 0.4195185, 0.4554455],
    ("noisy", "statistical_parity"): [0, 0.2695952, 0, 0.4017200, 1],
    ("right", "equalized_odds"): [0, 0.2742361, 0, 0, 1],
}


def test_a_table_has_the_numbers_that_were_measured():
    found = dict(tables())
    for (case, name), numbers in MEASURED.items():
        columns = ["low", "high", "corrected", "chance", "p_value"]
        np.testing.assert_allclose(found[case].loc[name, columns].astype(float), numbers, atol=1e-6, err_msg=case)


GAP = {"value": 0.25, "low": 0.125, "high": 0.375, "chance": 0.0625, "between": "a – b"}
SEEN = "Parity: a – b differ by 0.250"


@pytest.mark.parametrize(
    ("expected", "confidence", "word", "words"),
    [
        (
            {**GAP, "p_value": 0.25, "p_adjusted": 0.5},
            *(0.5, "beyond chance"),
            SEEN + " (true gap 0.125 to 0.375), where chance alone gives 0.062. More than chance (p 0.500).",
        ),
        (
            {**GAP, "low": 0.0, "p_value": 0.25, "p_adjusted": 0.5},
            *(0.5, "beyond chance"),
            SEEN + " (true gap up to 0.375), where chance alone gives 0.062. More than chance (p 0.500).",
        ),
        (
            {**{name: GAP[name] for name in ("value", "chance", "between")}, "p_value": 0.25, "p_adjusted": 0.5},
            *(0.5, "beyond chance"),
            SEEN + ", where chance alone gives 0.062. More than chance (p 0.500).",
        ),
        (
            {**GAP, "p_value": 0.25, "p_adjusted": 0.5},
            *(0.75, "unusual alone"),
            SEEN + ", where chance alone gives 0.062. Significant alone (p 0.250), not after correction for all "
            "gaps (p 0.500): repeat on new rows.",
        ),
        (
            {**GAP, "p_value": 0.25, "p_adjusted": 0.5},
            *(0.875, "chance"),
            SEEN + ", where chance alone gives 0.062. No more than chance (p 0.250); a true gap up to 0.375 is not "
            "ruled out.",
        ),
        (
            {"value": 0.25, "chance": 0.0625, "between": "a – b", "p_value": 0.25, "p_adjusted": 0.5},
            *(0.875, "chance"),
            SEEN + ", where chance alone gives 0.062. No more than chance (p 0.250); a true gap of some size is not "
            "ruled out.",
        ),
        (
            {**GAP, "p_value": np.nan, "p_adjusted": np.nan},
            *(0.95, "undefined"),
            "Parity: undefined, because a group lacks the compared rate.",
        ),
    ],
)
def test_sentence_of_a_gap_has_its_significance(expected, confidence, word, words):
    assert verdict(pd.Series(expected), confidence) == word
    assert sentence("Parity", pd.Series(expected), confidence) == words


def test_many_groups_have_fewer_draws():
    # 2e8 comparisons over 20 true gaps: of 48 heights between all pairs, or of the rate of each group.
    for shape, of_curves, draws in (((2, 60, 64), True, 115), ((1, 50_000, 2), False, 200), ((1, 3, 2), False, 1999)):
        assert Gap(np.ones(shape), of_curves).draws(1999) == draws


def test_the_named_groups_of_abroca_are_those_whose_exact_area_is_largest():
    y, p, group = rows_of(2, 2000, 8)
    reported = metrics.disparity_report(y, p, sensitive_features=group, metrics="abroca", n_boot=0, n_null=100)
    areas = {
        f"{a} – {b}": metrics.abroca(y[rows], p[rows], sensitive_features=group[rows])
        for a, b in combinations(range(8), 2)
        for rows in [np.isin(group, (a, b))]
    }
    assert reported.loc["abroca", "between"] == max(areas, key=areas.get)
    assert reported.loc["abroca", "value"] == pytest.approx(max(areas.values()))

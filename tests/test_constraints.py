"""Constraints as teachers, against their definitions by brute force, and in trainings that can satisfy them."""

from __future__ import annotations

import itertools
import pickle
import sys
import types
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pi_xgb
from pi_xgb import constraints
from pi_xgb.constraints import (
    DemographicParity,
    EqualizedOdds,
    FalsePositiveRateParity,
    IndividualFairness,
    Meritocracy,
    PredictiveParity,
    TruePositiveRateParity,
)

# Every constraint, made from one column of small whole numbers, which serves as group, key, feature and merit.
VARIANTS = {
    "parity": lambda column, soft: DemographicParity(column, soft=soft),
    "parity-mean": lambda column, soft: DemographicParity(column, soft=soft, match="mean"),
    "odds": lambda column, soft: EqualizedOdds(column, soft=soft),
    "odds-mean": lambda column, soft: EqualizedOdds(column, soft=soft, match="mean"),
    "tpr": lambda column, soft: TruePositiveRateParity(column, soft=soft),
    "fpr": lambda column, soft: FalsePositiveRateParity(column, soft=soft),
    "key": lambda column, soft: IndividualFairness(key=column, soft=soft),
    "radius": lambda column, soft: IndividualFairness(radius=1, features=column, soft=soft),
    "nearest": lambda column, soft: IndividualFairness(k=2, features=column, soft=soft),
    "merit": lambda column, soft: Meritocracy(column, soft=soft),
    "precision": lambda column, soft: PredictiveParity(column, soft=soft),
}
every_variant = pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS.keys())
every_parity = pytest.mark.parametrize("match", ["distribution", "mean"])
both_forms = pytest.mark.parametrize("soft", [True, False], ids=["soft", "counted"])


def test_variants_cover_every_public_constraint():
    made = {type(make([0, 0, 1, 1, 2, 2], True)).__name__ for make in VARIANTS.values()}
    assert made == set(constraints.__all__)


def rows(seed, n=60, levels=None, weighted=False):
    """Predictions, labels, weights and a column; few levels of p make ties."""
    rng = np.random.default_rng(seed)
    p = rng.random(n) if levels is None else rng.integers(0, levels + 1, n) / levels
    column = np.concatenate([np.arange(6) % 3, rng.integers(0, 3, n - 6)])
    weight = rng.uniform(0.1, 3, n).astype(np.float32) if weighted else None
    return p.astype(np.float32), rng.integers(0, 2, n).astype(np.float32), weight, column


def examples(count):
    return settings(max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow])


seeds = st.integers(0, 2**31)
level_counts = st.sampled_from([None, 1, 3, 10])


# ---- q against brute force ----


def parity_by_hand(p, group, weight):
    """The mean of the pooled quantile function over the ranks of each row, in exact fractions."""
    mass = [Fraction(float(w)) for w in weight]
    value = [Fraction(float(v)) for v in p]
    total = sum(mass)
    order = sorted(range(len(p)), key=lambda i: value[i])
    answer = []
    for i in range(len(p)):
        own = [j for j in range(len(p)) if group[j] == group[i]]
        size = sum(mass[j] for j in own)
        begin = sum((mass[j] for j in own if value[j] < value[i]), Fraction(0)) / size
        end = sum((mass[j] for j in own if value[j] <= value[i]), Fraction(0)) / size
        area, edge = Fraction(0), Fraction(0)
        for j in order:
            step_begin, edge = edge, edge + mass[j] / total
            area += value[j] * max(Fraction(0), min(end, edge) - max(begin, step_begin))
        answer.append(float(area / (end - begin)))
    return np.array(answer)


@examples(15)
@given(seed=seeds, levels=level_counts, weighted=st.booleans())
def test_demographic_parity_is_the_pooled_quantile_at_the_rank_in_the_group(seed, levels, weighted):
    p, label, weight, column = rows(seed, 20, levels, weighted)
    by_hand = parity_by_hand(p, column, np.ones(20) if weight is None else weight)
    np.testing.assert_allclose(DemographicParity(column).q(p, label, weight), by_hand, atol=1e-6)


def test_mean_parity_within_the_unit_interval_is_a_shift():
    p = np.array([0.2, 0.4, 0.5, 0.9], np.float32)
    q = DemographicParity(list("aabb"), match="mean").q(p, None, None)
    # q = p + mean(p) - mean of the group.
    np.testing.assert_allclose(q, p + 0.5 - np.array([0.3, 0.3, 0.7, 0.7]), atol=1e-7)
    # Outside [0, 1], in regression, nothing stops at an edge.
    np.testing.assert_allclose(DemographicParity(list("aabb"), match="mean").q(10 * p, None, None), 10 * q, atol=1e-6)


@examples(15)
@given(seed=seeds, levels=level_counts, weighted=st.booleans(), power=st.sampled_from([0.1, 1, 8]))
def test_mean_parity_at_the_edges_is_a_projection(seed, levels, weighted, power):
    p, label, weight, column = rows(seed, 40, levels, weighted)
    p[column == 0] **= power  # pushes groups against an edge
    q = DemographicParity(column, match="mean").q(p, label, weight).astype(float)
    w = np.ones(40) if weight is None else weight.astype(float)
    for code in range(3):
        inside = column == code
        assert np.average(q[inside], weights=w[inside]) == pytest.approx(np.average(p, weights=w), abs=1e-6)
        assert q.min() >= 0
        assert q.max() <= 1
        # Rows off the edge share one shift, rows at an edge are shifted by no more: the conditions of a projection.
        shift = (q - p)[inside]
        free = (q[inside] > 1e-6) & (q[inside] < 1 - 1e-6)
        common = shift[free].mean() if free.any() else np.sign(shift.sum())
        assert np.abs(shift[free] - common).max(initial=0) < 1e-6
        assert np.abs(shift).max() <= abs(common) + 1e-6
        assert (shift * np.sign(common)).min() >= -1e-6


@every_parity
def test_equalized_odds_is_parity_within_each_label(match):
    p, label, weight, column = rows(3, weighted=True)
    label[column == column.max()] = 0  # the last group has no positives
    q = EqualizedOdds(column, match=match).q(p, label, weight)
    for value in (0, 1):
        inside = label == value
        alone = DemographicParity(column[inside], match=match).q(p[inside], None, weight[inside])
        np.testing.assert_allclose(q[inside], alone, atol=1e-6)


@every_parity
@pytest.mark.parametrize(("constraint", "value"), [(TruePositiveRateParity, 1), (FalsePositiveRateParity, 0)])
@both_forms
def test_parity_of_one_rate_is_that_of_equalized_odds_for_one_label(match, constraint, value, soft):
    p, label, weight, column = rows(3, weighted=True)
    q = constraint(column, match=match, soft=soft).q(p, label, weight)
    both = EqualizedOdds(column, match=match, soft=soft).q(p, label, weight)
    np.testing.assert_array_equal(q, np.where(label == value, both, p))
    assert not np.array_equal(q, p)


def mean_over(p, weight, similar):
    """Weighted mean of p over the rows j for which similar(i, j)."""
    n = range(len(p))
    return np.array(
        [np.average([p[j] for j in n if similar(i, j)], weights=[weight[j] for j in n if similar(i, j)]) for i in n]
    )


@examples(8)
@given(seed=seeds, weighted=st.booleans())
@pytest.mark.slow
def test_individual_fairness_is_the_mean_over_similar_rows(seed, weighted):
    p, label, weight, column = rows(seed, 30, weighted=weighted)
    rng = np.random.default_rng(seed)
    w = np.ones(30) if weight is None else weight
    # Whole-number coordinates: many rows coincide, and squared distances are exact.
    points = rng.integers(0, 4, (30, 2))
    squared = ((points[:, None] - points) ** 2).sum(axis=2)

    two_keys = pd.DataFrame({"one": column, "two": points[:, 0]})
    expected = mean_over(p, w, lambda i, j: two_keys.iloc[i].equals(two_keys.iloc[j]))
    np.testing.assert_allclose(IndividualFairness(key=two_keys).q(p, label, weight), expected, atol=1e-6)

    expected = mean_over(p, w, lambda i, j: squared[i, j] <= 1)
    np.testing.assert_allclose(IndividualFairness(radius=1, features=points).q(p, label, weight), expected, atol=1e-6)

    # Distinct distances, so that the nearest are not a matter of choice.
    line = rng.permutation(30) ** 2.0
    distance = np.abs(line[:, None] - line)
    for k in (2, 3):
        expected = mean_over(p, w, lambda i, j, k=k: distance[i, j] <= np.sort(distance[i])[k])
        np.testing.assert_allclose(IndividualFairness(k=k, features=line).q(p, label, weight), expected, atol=1e-6)


def test_k_nearest_with_equal_features_takes_all_of_them():
    p = np.array([0.0, 0.3, 0.6, 1.0, 0.1, 0.5], np.float32)
    q = IndividualFairness(k=1, features=[0, 0, 0, 1, 5, 5.5]).q(p, None, None)
    # The three rows at 0 have two others there: enough, although k is 1. The row at 1 has three at its nearest point.
    np.testing.assert_allclose(q, [0.3, 0.3, 0.3, 0.475, 0.3, 0.3], atol=1e-7)


def isotonic_by_hand(p, merit, weight):
    """Over all upper sets U and lower sets L of the order: max over U with i of min over L with i of the mean."""
    n = len(p)
    sets = [frozenset(s) for size in range(n + 1) for s in itertools.combinations(range(n), size)]
    above = {(i, j) for i in range(n) for j in range(n) if merit[j] > merit[i]}
    upper = [s for s in sets if all(j in s for i, j in above if i in s)]
    lower = [s for s in sets if all(i in s for i, j in above if j in s)]

    def mean(rows_in_both):
        chosen = list(rows_in_both)
        return np.average(p[chosen], weights=weight[chosen])

    return np.array([max(min(mean(u & lo) for lo in lower if i in lo) for u in upper if i in u) for i in range(n)])


@examples(8)
@given(seed=seeds, weighted=st.booleans(), levels=st.sampled_from([2, 4, 100]))
def test_meritocracy_is_isotonic_regression_over_merit_levels(seed, weighted, levels):
    p, label, weight, _ = rows(seed, 6, weighted=weighted)
    merit = np.concatenate([[0, 1], np.random.default_rng(seed).integers(0, levels, 4)])
    expected = isotonic_by_hand(p, merit, np.ones(6) if weight is None else weight)
    np.testing.assert_allclose(Meritocracy(merit).q(p, label, weight), expected, atol=1e-6)


def selected_rows(seed, n=80):
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.arange(6) % 3, rng.integers(0, 3, n - 6)])
    label = np.concatenate([np.arange(6) // 3, rng.random(n - 6) < 0.3 + 0.2 * group[6:]]).astype(np.float32)
    p = np.clip(0.5 + 0.2 * (label - 0.5) + 0.1 * rng.normal(size=n), 0.2, 0.8).astype(np.float32)
    return p, label, rng.uniform(0.5, 2, n).astype(np.float32), group


def precision(decided, label, weight):
    return (weight * decided * label).sum() / (weight * decided).sum()


@examples(15)
@given(seed=st.integers(0, 2**31))
def test_predictive_parity_is_the_projection_on_the_precision_of_all(seed):
    p, label, weight, group = selected_rows(seed)
    q = PredictiveParity(group).q(p, label, weight).astype(float)
    wanted = precision(p.astype(float), label, weight)
    for code in range(3):
        own = group == code
        if q[own].min() > 0 and q[own].max() < 1:
            assert precision(q[own], label[own], weight[own]) == pytest.approx(wanted, abs=1e-5)
        # A projection onto one linear equation moves along its normal, y less the precision.
        along = (label - wanted)[own]
        step = (q - p)[own] / along
        free = (q[own] > 0) & (q[own] < 1)
        assert np.ptp(step[free]) < 1e-5


@examples(15)
@given(seed=st.integers(0, 2**31), some_without=st.booleans())
def test_counted_predictive_parity_is_the_best_cut(seed, some_without):
    p, label, weight, group = selected_rows(seed)
    weight[:: 3 if some_without else 80] = 0
    q = PredictiveParity(group, soft=False).q(p, label, weight)
    wanted = precision(p > 0.5, label, weight)
    for code in range(3):
        mine, y, w = p[group == code], label[group == code], weight[group == code]
        if not w[mine > 0.5].any() or len(set(y[w > 0])) < 2:
            continue
        now = precision(mine > 0.5, y, w)
        # Every cut from 1/2 on, one distinct prediction at a time, in the direction that can help.
        values = np.unique(mine)
        cuts = [v for v in values if v > 0.5][:-1] if now < wanted else [*[v for v in values[::-1] if v <= 0.5][1:], -1]
        best, nearest = 0.5, abs(now - wanted)
        for cut in cuts:
            if not w[mine > cut].any():
                break
            found = precision(mine > cut, y, w)
            if abs(found - wanted) < nearest - 1e-12:
                best, nearest = cut, abs(found - wanted)
            if (found >= wanted) if now < wanted else (found <= wanted):
                break
        np.testing.assert_array_equal(q[group == code] > 0.5, mine > best)
        changed = (mine > 0.5) != (mine > best)
        np.testing.assert_allclose(q[group == code], np.where(changed, 1 - mine, mine), atol=1e-7)


@both_forms
def test_predictive_parity_without_both_classes_leaves_a_group_alone(soft):
    p = np.array([0.9, 0.2, 0.8, 0.3, 0.7, 0.1], np.float32)
    parity = PredictiveParity([0, 0, 1, 1, 2, 2], soft=soft)
    label = np.array([1, 0, 0, 0, 1, 1], np.float32)  # a group without positives, and one without negatives
    np.testing.assert_array_equal(parity.q(p, label, None)[2:], p[2:])
    nobody = np.zeros(6, np.float32)
    np.testing.assert_array_equal(parity.q(nobody, label, None), nobody)


@pytest.mark.parametrize(
    ("p", "label", "weight", "group"),
    [
        # A row at 1/2 is not selected: every other one above it is right, in both groups.
        ([0.9, 0.6, 0.5, 0.5, 0.5, 0.5, 0.9, 0.6, 0.4], [1, 0, 0, 0, 0, 0, 1, 0, 0], [1] * 9, "aaaaaabbb"),
        # 3/4 grows to 4/5 where all are selected; 1/3 falls to none where fewer are: no cut comes closer.
        ([0.9, 0.9, 0.8, 0.7, 0.3, 0.9, 0.8, 0.7], [1, 0, 1, 1, 1, 0, 0, 1], [1] * 8, "aaaaabbb"),
        # Only a row without weight is selected in the second group.
        ([0.9, 0.2, 0.8, 0.3], [1, 0, 1, 0], [1, 1, 0, 1], "aabb"),
        ([0.9, 0.2, 0.4, 0.3], [1, 0, 1, 0], [1] * 4, "aabb"),
    ],
    ids=["one half", "no better cut", "no weight", "nobody"],
)
def test_counted_predictive_parity_without_a_better_cut_changes_nothing(p, label, weight, group):
    p, label, weight = (np.array(column, np.float32) for column in (p, label, weight))
    np.testing.assert_array_equal(PredictiveParity(list(group), soft=False).q(p, label, weight), p)


@both_forms
def test_predictive_parity_with_unknown_labels_is_that_of_the_labelled_rows(soft):
    p, label, weight, group = selected_rows(4)
    label[::5] = np.nan
    known = ~np.isnan(label)
    q = PredictiveParity(group, soft=soft).q(p, label, weight)
    expected = PredictiveParity(group[known], soft=soft).q(p[known], label[known], weight[known])
    np.testing.assert_array_equal(q[known], expected)
    np.testing.assert_array_equal(q[~known], p[~known])


def test_counted_parity_pulls_the_rows_nearest_to_one_half():
    # Of group a 1 of 4 is decided 1, of group b 3 of 4: one half of all, so one row of each should change sides.
    p = np.array([0.1, 0.2, 0.3, 0.9, 0.15, 0.55, 0.7, 0.8], np.float32)
    for match in ("distribution", "mean"):
        q = DemographicParity(list("aaaabbbb"), soft=False, match=match).q(p, None, None)
        # Third of four in a: the mean of the fifth and sixth of all eight. Second of four in b: third and fourth.
        np.testing.assert_allclose(q, [0.1, 0.2, 0.625, 0.9, 0.15, 0.25, 0.7, 0.8], atol=1e-7)


@pytest.mark.parametrize(
    ("make", "p", "q"),
    [
        # In a one of three is decided 1: that row gets the share. In b and c one of two, and the means .55 decide.
        (
            lambda: IndividualFairness(key=list("aaabbcc"), soft=False),
            [0.1, 0.3, 0.8, 0.9, 0.2, 0.7, 0.4],
            [0.1, 0.3, 1 / 3, 0.9, 0.55, 0.7, 0.55],
        ),
        (lambda: IndividualFairness(key=list("aaa"), soft=False), [0.5, 0.5, 0.9], [0.5, 0.5, 1 / 3]),
        # Decisions 0 1 0 0 1 pool to 0 1/3 1/3 1/3 1: only the second is on the wrong side.
        (lambda: Meritocracy([1, 2, 3, 4, 5], soft=False), [0.1, 0.8, 0.3, 0.4, 0.9], [0.1, 1 / 3, 0.3, 0.4, 0.9]),
    ],
    ids=["majority", "one half is 0", "pooled"],
)
def test_counted_form_gives_the_share_to_rows_decided_otherwise(make, p, q):
    np.testing.assert_allclose(make().q(np.array(p, np.float32), None, None), q, atol=1e-7)


@every_variant
@examples(8)
@given(seed=seeds, weighted=st.booleans())
def test_counted_form_changes_only_sides_and_one_way_in_each_group(make, seed, weighted):
    p, label, weight, column = rows(seed, 60, weighted=weighted)
    teacher = make(column, False)
    q = teacher.q(p, label, weight)
    changed = q != p
    assert ((q > 0.5) != (p > 0.5))[changed].all()
    if isinstance(teacher, DemographicParity):
        compared = column + 3 * label if isinstance(teacher, EqualizedOdds) else column
        for cell in np.unique(compared):
            assert len(set((q > 0.5)[changed & (compared == cell)].tolist())) <= 1
    # Where training starts, with every row decided 0, there is nothing to count.
    np.testing.assert_array_equal(teacher.q(p / 2, label, weight), p / 2)


@examples(15)
@given(seed=seeds, weighted=st.booleans())
def test_counted_parity_equalises_shares_up_to_one_row(seed, weighted):
    p, label, weight, column = rows(seed, 60, weighted=weighted)
    q = DemographicParity(column, soft=False).q(p, label, weight)
    w = np.ones(60) if weight is None else weight
    pooled = np.average(p > 0.5, weights=w)
    for code in range(3):
        inside = column == code
        share = np.average(q[inside] > 0.5, weights=w[inside])
        assert abs(share - pooled) <= w[inside].max() / w[inside].sum() + 1e-9
        # Those that change sides are the nearest to 1/2 on theirs.
        for side in (True, False):
            mine = inside & ((p > 0.5) == side)
            moved, kept = (np.abs(p - 0.5)[mine & chosen] for chosen in (q != p, q == p))
            assert moved.max(initial=0) <= kept.min(initial=1)


# ---- fixed points and invariances ----


@both_forms
@every_parity
@examples(15)
@given(seed=seeds, levels=level_counts, weighted=st.booleans(), copies=st.integers(1, 5))
def test_predictions_with_parity_are_a_fixed_point(match, soft, seed, levels, weighted, copies):
    p, label, weight, _ = rows(seed, 23, levels, weighted)
    # Group b holds every row of group a, copies times over, and weighs differently as a whole.
    order = np.random.default_rng(seed).permutation(23 * (1 + copies))
    both = np.concatenate([p, np.tile(p, copies)])[order]
    labels = np.concatenate([label, np.tile(label, copies)])[order]
    group = np.repeat(["a", "b"], [23, 23 * copies])[order]
    if weight is not None:
        weight[::5] = 0
        weight = np.concatenate([weight, np.tile(weight / 4, copies)])[order]
    np.testing.assert_array_equal(DemographicParity(group, soft=soft, match=match).q(both, labels, weight), both)
    np.testing.assert_array_equal(EqualizedOdds(group, soft=soft, match=match).q(both, labels, weight), both)
    if soft:
        np.testing.assert_array_equal(PredictiveParity(group).q(both, labels, weight), both)


@examples(8)
@given(seed=seeds)
def test_rounding_in_sums_of_weights_makes_no_difference(seed):
    p, _, _, _ = rows(seed, 23)
    # Next to one very heavy row the sums of the others are rounded, and differently in each group.
    weight = np.random.default_rng(seed).uniform(1, 3, 23)
    weight[p.argmin()] = 2.0**29
    weights = np.concatenate([weight, np.tile(weight, 3)]).astype(np.float32)
    both = np.tile(p**4, 4)  # small predictions beside large ones
    np.testing.assert_array_equal(DemographicParity(np.repeat([0, 1], [23, 69])).q(both, None, weights), both)


def test_demographic_parity_of_a_weightless_row_is_the_nearest_value_at_its_rank():
    # Between the halves of the pooled .1 .2 .8 .9 lies every value from .2 to .8, and that is as near as it may come.
    weight = np.array([1, 1, 0, 1, 1, 0], np.float32)
    for own, expected in ((0.5, 0.5), (0.15, 0.2), (0.85, 0.8), (0.95, 0.95)):
        p = np.array([0.1, 0.9, own, 0.2, 0.8, 0.5], np.float32)
        q = DemographicParity(list("aaabbb")).q(p, None, weight)
        np.testing.assert_allclose(q, [0.15, 0.85, expected, 0.15, 0.85, 0.5], atol=1e-7)


@both_forms
@examples(8)
@given(seed=seeds, levels=level_counts, weighted=st.booleans())
def test_similar_and_rising_predictions_are_fixed_points(soft, seed, levels, weighted):
    p, label, weight, column = rows(seed, 50, levels, weighted)
    agreed, points = p[:3][column], column * 10.0
    for similar in (
        IndividualFairness(key=column, soft=soft),
        IndividualFairness(radius=2, features=points, soft=soft),
        IndividualFairness(k=1, features=points, soft=soft),
    ):
        np.testing.assert_array_equal(similar.q(agreed, label, weight), agreed)
    # Only the order between different merits binds: within one merit any order will do.
    merit, p = np.sort(column), np.sort(p)
    for value in range(3):
        np.random.default_rng(seed).shuffle(p[merit == value])
    np.testing.assert_array_equal(Meritocracy(merit, soft=soft).q(p, label, weight), p)


@every_variant
@both_forms
@examples(8)
@given(seed=seeds, levels=level_counts, weighted=st.booleans())
def test_q_is_a_fresh_probability_that_follows_the_rows(make, soft, seed, levels, weighted):
    p, label, weight, column = rows(seed, 60, levels, weighted)
    untouched = p.copy()
    q = make(column, soft).q(p, label, weight)
    assert q.dtype == np.float32
    assert q.shape == p.shape
    assert not np.shares_memory(q, p)
    np.testing.assert_array_equal(p, untouched)
    # Within the range of p (soft, but for shifted means), and always within [0, 1].
    is_shifted = make is VARIANTS["precision"] or getattr(make(column, soft), "match", "") == "mean"
    low, high = (0, 1) if not soft or is_shifted else (p.min(), p.max())
    assert low <= q.min()
    assert q.max() <= high
    order = np.random.default_rng(seed).permutation(60)
    reordered = make(column[order], soft).q(p[order], label[order], None if weight is None else weight[order])
    np.testing.assert_allclose(reordered, q[order], atol=1e-6)


@every_variant
@both_forms
def test_weights_are_counts_without_a_unit(make, soft):
    p, label, _, column = rows(5, levels=10)
    weight = np.random.default_rng(5).integers(1, 4, 60)
    weight[40:] = 0
    counted = np.arange(60) < 40
    q = make(column, soft).q(p, label, weight.astype(np.float32))
    assert np.isfinite(q).all()
    if getattr(make(column, soft), "k", None) is None:  # k counts rows, also those of weight 0
        many = make(np.repeat(column, weight), soft).q(np.repeat(p, weight), np.repeat(label, weight), None)
        np.testing.assert_allclose(np.repeat(q, weight), many, atol=1e-6)
        alone = make(column[counted], soft).q(p[counted], label[counted], weight[counted].astype(np.float32))
        np.testing.assert_allclose(q[counted], alone, atol=1e-6)
    for unit in (2.0**-80, 2.0**40):
        np.testing.assert_array_equal(make(column, soft).q(p, label, weight * np.float32(unit)), q)
    if soft and make in [VARIANTS[name] for name in ("parity", "odds", "key", "merit")]:  # numbers of any size and sign
        np.testing.assert_allclose(make(column, soft).q(8 * p - 4, label, weight), 8 * q - 4, atol=1e-5)
    if not isinstance(make(column, soft), Meritocracy):
        p = 8 * p - 4 if soft and make is not VARIANTS["precision"] else p
        np.testing.assert_array_equal(make(column, soft).q(p, label, np.zeros(60, np.float32)), p)


@pytest.mark.parametrize(("soft", "weighted"), [(True, False), (False, True)])
@pytest.mark.parametrize(
    "make", [DemographicParity, EqualizedOdds, TruePositiveRateParity, FalsePositiveRateParity, PredictiveParity]
)
def test_rows_of_an_unknown_group_are_as_if_they_were_absent(make, weighted, soft):
    rng = np.random.default_rng(0)
    p, label = rng.random(300).astype(np.float32), rng.integers(0, 2, 300).astype(np.float32)
    group = rng.choice(np.array(["a", "b", "c", None], dtype=object), 300)
    other = np.where(rng.random(300) < 0.5, "x", "y")
    weight = rng.random(300).astype(np.float32) if weighted else None
    known = pd.notna(group)
    for columns in ({"group": group}, {"group": group, "other": other}):
        constraint = make(pd.DataFrame(columns), soft=soft)
        alone = make(pd.DataFrame(columns)[known], soft=soft)
        q = constraint.q(p, label, weight)
        np.testing.assert_array_equal(q[~known], p[~known])
        expected = alone.q(p[known], label[known], None if weight is None else weight[known])
        np.testing.assert_allclose(q[known], expected, atol=1e-6)
        assert (q[known] != p[known]).any()


@pytest.mark.parametrize("name", [name for name in VARIANTS if name not in ("merit", "precision", "tpr", "fpr")])
def test_classes_stay_probabilities(name):
    _, _, weight, column = rows(7, weighted=True)
    rng = np.random.default_rng(7)
    p = rng.dirichlet(np.ones(4), 60).astype(np.float32)
    label = rng.integers(0, 4, 60).astype(np.float32)
    teacher = VARIANTS[name](column, True)
    q = teacher.q(p, label, weight)
    assert q.shape == p.shape
    assert q.min() >= 0
    assert q.max() <= 1
    np.testing.assert_allclose(q.sum(axis=1), 1, atol=1e-5)
    assert np.abs(q - p).max() > 0.01
    # The same row everywhere satisfies everything, to the bit.
    same = np.tile(p[:1], (60, 1))
    np.testing.assert_array_equal(teacher.q(same, label, weight), same)


def test_a_row_of_classes_whose_targets_are_all_0_keeps_its_prediction():
    # In the middle third of its group in every column, where three in four of all rows have 0.
    p = np.concatenate([[[0.25] * 4, [0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]], np.tile(np.eye(4), (20, 1))])
    q = DemographicParity(np.arange(83) < 3).q(p.astype(np.float32), None, None)
    np.testing.assert_array_equal(q[0], p[0])


@every_variant
@both_forms
def test_teacher_can_be_cut_copied_and_pickled(make, soft):
    p, label, weight, column = rows(10, weighted=True)
    given_column = column.astype(float)
    teacher = make(given_column, soft)
    expected = make(column, soft).q(p, label, weight)
    given_column[:] = given_column[::-1].copy()  # what the user passed was copied
    for chosen in (np.arange(0, 60, 2), np.random.default_rng(0).permutation(60)[:30], np.arange(60) < 30):
        part = teacher.subset(chosen)
        part.check(30)
        alone = make(column[chosen], soft).q(p[chosen], label[chosen], weight[chosen])
        np.testing.assert_array_equal(part.q(p[chosen], label[chosen], weight[chosen]), alone)
    for same in (teacher, pickle.loads(pickle.dumps(teacher))):
        np.testing.assert_array_equal(same.q(p, label, weight), expected)
        np.testing.assert_array_equal(same.q(p[:, None], label, weight)[:, 0], expected)
    assert isinstance(teacher, pi_xgb.Teacher)
    assert teacher.kind in repr(teacher)


def test_gpu_arrays_are_answered_with_gpu_arrays(monkeypatch):
    class OnDevice:
        __cuda_array_interface__ = None

        def __init__(self, array):
            self.array = array

        def get(self):
            return self.array

    def module_of(array):
        return cupy if isinstance(array, OnDevice) else np

    cupy = types.SimpleNamespace(get_array_module=module_of, asarray=OnDevice)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    p, label, weight, column = rows(15, weighted=True)
    for make in VARIANTS.values():
        q = make(column, True).q(OnDevice(p), OnDevice(label), OnDevice(weight))
        assert isinstance(q, OnDevice)
        np.testing.assert_array_equal(q.array, make(column, True).q(p, label, weight))


def training_data(n=400):
    """x[0] tells y for every group, x[1] stands in for the group, and y depends on the group as well."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, n)
    x = np.column_stack([rng.normal(size=n), group + rng.normal(0, 0.3, n)])
    y = rng.random(n) < 1 / (1 + np.exp(-(2 * x[:, 0] + 2 * group - 1)))
    return x, y.astype(np.float32), group


def fit(x, y, teacher, kl_weight, rounds):
    params = {"objective": "binary:logistic", "base_score": 0.5, "max_depth": 3, "eta": 0.5, "nthread": 1}
    teacher.hessian = "full"  # the paper's gradient
    return pi_xgb.train(params, xgb.DMatrix(x, y), rounds, teacher=teacher, kl_weight=kl_weight)


def quantile_gap(p, y, group):
    ranks = (np.arange(50) + 0.5) / 50
    return np.abs(np.quantile(p[group == 0], ranks) - np.quantile(p[group == 1], ranks)).mean()


def mean_gap(p, y, group):
    return abs(p[group == 0].mean() - p[group == 1].mean())


def of_label(value, gap):
    return lambda p, y, group: gap(p[y == value], y[y == value], group[y == value])


def within_labels(gap):
    return lambda p, y, group: sum(of_label(value, gap)(p, y, group) for value in (0, 1))


def spread_within_key(p, y, key):
    return np.mean([p[key == k].std() for k in np.unique(key)])


def falls_with_merit(p, y, merit):
    pairs = merit[:, None] > merit
    return np.maximum(p - p[:, None], 0)[pairs].mean()


TRAININGS = {
    "parity": (DemographicParity, quantile_gap, 0),
    "odds-mean": (lambda s: EqualizedOdds(s, match="mean"), within_labels(mean_gap), 0),
    "tpr": (lambda s: TruePositiveRateParity(s, match="mean"), of_label(1, mean_gap), 0),
    # Predictions may vary with x[0] within the group: being similar means having the same sign of it.
    "key": (lambda s: IndividualFairness(key=s), spread_within_key, 1),
    "merit": (Meritocracy, falls_with_merit, 2),
}


def side_information(x, group, kind):
    # Merit runs against x[0], which the labels follow.
    return [group, (x[:, 0] > 0).astype(int), -np.round(x[:, 0])][kind]


@pytest.mark.parametrize("name", TRAININGS)
def test_raising_kl_weight_brings_the_violation_to_near_0(name):
    make, violation, kind = TRAININGS[name]
    x, y, group = training_data()
    side = side_information(x, group, kind)
    found = []
    for kl_weight in (0, 2, 16):
        p = fit(x, y, make(side), kl_weight, 20 + 4 * kl_weight).predict(xgb.DMatrix(x))
        found.append(violation(p, y, side))
    assert found == sorted(found, reverse=True), found
    assert found[-1] < 0.2 * found[0], found


@both_forms
def test_predictive_parity_in_training_closes_the_gap(soft):
    rng = np.random.default_rng(0)
    n = 1500
    group = rng.integers(0, 2, n)
    x = np.column_stack([rng.normal(size=n), rng.normal(size=n), group + rng.normal(0, 0.5, n)])
    # The same score means less in group 1, and the model knows the group only roughly.
    y = (rng.random(n) < 1 / (1 + np.exp(-(2 * x[:, 0] - 1.2 * group + 0.5)))).astype(np.float32)
    dtrain, params = xgb.DMatrix(x, y), {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1}
    gaps = []
    for kl_weight in (0.0, 30.0):
        teacher = PredictiveParity(group, soft=soft)
        p = pi_xgb.train(params, dtrain, 60, teacher=teacher, kl_weight=kl_weight).predict(dtrain)
        decided = p if soft else p > 0.5
        gaps.append(abs(np.subtract(*(precision(decided[group == k], y[group == k], 1.0) for k in (0, 1)))))
    assert gaps[1] < 0.6 * gaps[0]


def test_regression_and_classes_train_towards_parity():
    x, y, group = training_data()
    for objective, label in (
        ("reg:squarederror", 100 + 20 * x[:, 0] + 30 * group),
        ("multi:softprob", y + (x[:, 0] > 1)),
    ):
        params = {"objective": objective, "max_depth": 3, "nthread": 1}
        if objective == "multi:softprob":
            params["num_class"] = 3
        dtrain = xgb.DMatrix(x, label)
        gaps = []
        for kl_weight in (0.0, 20.0):
            p = pi_xgb.train(params, dtrain, 40, teacher=DemographicParity(group), kl_weight=kl_weight).predict(dtrain)
            gaps.append(np.abs(p[group == 0].mean(axis=0) - p[group == 1].mean(axis=0)).max())
        assert gaps[1] < 0.3 * gaps[0]


@pytest.mark.parametrize("objective", ["reg:gamma", "count:poisson"])
def test_mean_parity_of_amounts_stays_in_their_range(objective):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 500)
    x = np.column_stack([rng.normal(size=500), group + rng.normal(scale=0.3, size=500)])
    y = np.round(np.exp(1.5 * x[:, 0] + 1.5 * group)) + (objective != "count:poisson")
    dtrain, params = xgb.DMatrix(x, y), {"objective": objective, "max_depth": 3, "eta": 0.3, "nthread": 1}
    parity = DemographicParity(group, match="mean")
    fair = pi_xgb.train(params, dtrain, 20, teacher=parity, kl_weight=3.0).predict(dtrain)
    plain = xgb.train(params, dtrain, 20).predict(dtrain)
    assert mean_gap(fair, y, group) < mean_gap(plain, y, group) / 2
    # The shift alone would leave the range of these predictions.
    assert DemographicParity(group, match="mean").q(fair, y, None).min() < 0 <= parity.q(fair, y, None).min()


# ---- bad input ----


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: DemographicParity(["missing", None, "b", "b"]), ValueError, "a group has the name 'missing'.*rename"),
        (lambda: DemographicParity(["a", "a"]), ValueError, "one group only"),
        (lambda: DemographicParity(["a", "a", None]), ValueError, "one group only"),
        (lambda: EqualizedOdds(["a", "b"], [0, 1]), TypeError, "EqualizedOdds: too many.*sensitive_features"),
        (lambda: IndividualFairness([1, 1]), TypeError, "IndividualFairness: too many positional.*key, radius, k"),
        (lambda: DemographicParity(np.arange(10)), ValueError, r"10 groups.*10 rows.*pandas.cut"),
        (lambda: DemographicParity(["a", "b"], match="median"), ValueError, "match.*'median'"),
        (lambda: DemographicParity(["a", "b"], hessian="newton"), ValueError, "hessian.*'newton'"),
        (lambda: DemographicParity(["a", "b"], soft="yes"), TypeError, r"soft.*True.*False"),
        (lambda: IndividualFairness(), ValueError, "exactly one of .* got none"),
        (lambda: IndividualFairness(key=[1, 1], k=1), ValueError, r"one of key=.*got key and k\b"),
        (lambda: IndividualFairness(k=1), ValueError, r"columns.*measure"),
        (lambda: IndividualFairness(key=[1, 1], features=[1, 2]), ValueError, r"features=.*key="),
        (lambda: IndividualFairness(key=[1, 2, 3]), ValueError, "no two of the 3 rows are similar by key"),
        (lambda: IndividualFairness(key=[1, None, 1]), ValueError, "key must .* missing values"),
        (lambda: IndividualFairness(k=0, features=[1, 2]), ValueError, "k must be at least 1"),
        (lambda: IndividualFairness(radius=-1, features=[1, 2]), ValueError, "radius must be a finite distance"),
        (lambda: IndividualFairness(radius=np.inf, features=[1, 2]), ValueError, "radius must be a finite distance"),
        (lambda: IndividualFairness(radius=True, features=[1, 2]), ValueError, "radius must be a finite distance"),
        (lambda: IndividualFairness(k=1, features=[1, 2, np.nan]), ValueError, "features must .* 1 missing .* row 2"),
        (lambda: IndividualFairness(k=1, features=["a", "b"]), TypeError, "features must be .*numbers"),
        (lambda: Meritocracy([1, np.nan]), ValueError, "merit must .* 1 missing"),
        (lambda: Meritocracy([1, 1]), ValueError, "merit .* 1.0 in every row"),
        (lambda: Meritocracy(["low", "high"]), TypeError, "merit must be numbers"),
    ],
)
def test_bad_arguments_raise(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "n_rows", "message"),
    [
        *((lambda make=make: make(rows(16)[3], True), 59, "got 60 for 59 rows") for make in VARIANTS.values()),
        (lambda: IndividualFairness(k=4, features=[1, 2, 3, 4]), 4, "at most 3.*k=4"),
        (lambda: IndividualFairness(k=3, features=[1, 2, 3, 4, 5]).subset([0, 1, 2]), 3, "at most 2.*k=3"),
        (lambda: IndividualFairness(radius=0.5, features=[1, 2, 3]), 3, r"3 rows.*radius=0\.5"),
        (lambda: IndividualFairness(radius=1e6, features=np.r_[:7000, 1e9 : 1e9 + 1000, 2e9]), 8001, "makes 50000001"),
    ],
)
def test_rows_that_do_not_fit_raise_before_training(make, n_rows, message):
    with pytest.raises(ValueError, match=message):
        make().check(n_rows)


def test_similar_rows_in_a_fold_may_be_few():
    # Four pairs for four rows, yet not one pair per row.
    assert IndividualFairness(k=2, features=[1, 1, 2, 2]).check(4) is None
    p = np.array([0.25, 0.75], np.float32)
    for chosen in ([0, 1], [2, 3]):
        part = IndividualFairness(key=["x", "x", "y", "y", "z", "z"]).subset(chosen)
        part.check(2)
        assert part.q(p, None, None).tolist() == [0.5, 0.5]


P, LABEL, _, COLUMN = rows(17)
CLASSES = np.stack([P, 1 - P], axis=1)


@pytest.mark.parametrize(
    ("make", "p", "label", "message"),
    [
        *((lambda c, make=make: make(c, True), P * np.inf, LABEL, "NaN or infinite") for make in VARIANTS.values()),
        (lambda c: DemographicParity(c), P[1:], LABEL[1:], "got 60 for 59 rows"),
        (lambda c: DemographicParity(c, soft=False), P * 3, LABEL, r"soft=False\) needs one probability"),
        (lambda c: DemographicParity(c, soft=False), CLASSES, LABEL, r"soft=False\) needs one probability"),
        (PredictiveParity, CLASSES, LABEL, "PredictiveParity needs one probability"),
        (PredictiveParity, P * 3, LABEL, "PredictiveParity needs one probability"),
        (PredictiveParity, P, LABEL / 2, r"label per row, 0 or 1, got \[0\.5"),
        (Meritocracy, CLASSES, LABEL, "Meritocracy needs one prediction"),
        (EqualizedOdds, P, LABEL + 0.5, r"whole numbers, got \[0\.5"),
        (TruePositiveRateParity, P, LABEL + 2, "0 or 1, got .*EqualizedOdds"),
        (FalsePositiveRateParity, CLASSES, LABEL, "needs one prediction"),
        (DemographicParity, np.stack([P, P], axis=1), LABEL, "2 targets"),
        (DemographicParity, np.float32(1.01) * CLASSES, LABEL, "sum to 1"),
    ],
)
def test_predictions_or_labels_of_another_kind_raise(make, p, label, message):
    with pytest.raises(ValueError, match=message), np.errstate(invalid="ignore"):
        make(COLUMN).q(p, label, None)


def test_several_targets_raise_before_training():
    label = np.stack([np.arange(60) % 2, 1 - np.arange(60) % 2], axis=1)  # their rows sum to 1 by chance
    with pytest.raises(ValueError, match="2 targets"):
        pi_xgb.train(
            {"objective": "binary:logistic"}, xgb.DMatrix(COLUMN[:, None], label), 2, teacher=DemographicParity(COLUMN)
        )

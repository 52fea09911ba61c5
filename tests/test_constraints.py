"""Constraints as teachers, against their definitions read slowly, and in trainings that can meet them."""

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
from pi_xgb._constraints import neighbours
from pi_xgb._constraints.constraint import _rescale_rows
from pi_xgb._constraints.merit import _isotonic
from pi_xgb._core.teachers import Teacher
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


def test_every_public_constraint_is_among_the_variants():
    # A constraint that is added later cannot escape the tests over all variants.
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
    # Timing is not what these tests are about, and a busy machine must not fail them.
    return settings(max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow])


seeds = st.integers(0, 2**31)
level_counts = st.sampled_from([None, 1, 3, 10])


# ---- against the definitions, read slowly ------------------------------------------------------------------


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


@examples(40)
@given(seed=seeds, levels=level_counts, weighted=st.booleans())
def test_group_parity_reads_each_rank_off_the_pooled_distribution(seed, levels, weighted):
    p, label, weight, column = rows(seed, 20, levels, weighted)
    by_hand = parity_by_hand(p, column, np.ones(20) if weight is None else weight)
    np.testing.assert_allclose(DemographicParity(column).q(p, label, weight), by_hand, atol=1e-6)


def test_mean_parity_is_the_simple_formula_where_it_stays_within_0_and_1():
    p = np.array([0.2, 0.4, 0.5, 0.9], np.float32)
    q = DemographicParity(list("aabb"), match="mean").q(p, None, None)
    # q = p + mean(p) - mean of the group.
    np.testing.assert_allclose(q, p + 0.5 - np.array([0.3, 0.3, 0.7, 0.7]), atol=1e-7)
    # Outside [0, 1], in regression, nothing stops at an edge.
    np.testing.assert_allclose(DemographicParity(list("aabb"), match="mean").q(10 * p, None, None), 10 * q, atol=1e-6)


@examples(60)
@given(seed=seeds, levels=level_counts, weighted=st.booleans(), power=st.sampled_from([0.1, 1, 8]))
def test_mean_parity_is_the_closest_point_within_0_and_1(seed, levels, weighted, power):
    p, label, weight, column = rows(seed, 40, levels, weighted)
    p[column == 0] **= power  # pushes groups against an edge
    q = DemographicParity(column, match="mean").q(p, label, weight).astype(float)
    w = np.ones(40) if weight is None else weight.astype(float)
    for code in range(3):
        inside = column == code
        # The means agree, and no q leaves [0, 1].
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
    q = EqualizedOdds(column, match=match).q(p, label, weight)
    for value in (0, 1):
        inside = label == value
        alone = DemographicParity(column[inside], match=match).q(p[inside], None, weight[inside])
        np.testing.assert_allclose(q[inside], alone, atol=1e-6)


@every_parity
@pytest.mark.parametrize(("constraint", "value"), [(TruePositiveRateParity, 1), (FalsePositiveRateParity, 0)])
@pytest.mark.parametrize("soft", [True, False])
def test_parity_of_one_rate_is_that_of_equalized_odds_for_one_label(match, constraint, value, soft):
    p, label, weight, column = rows(3, weighted=True)
    q = constraint(column, match=match, soft=soft).q(p, label, weight)
    both = EqualizedOdds(column, match=match, soft=soft).q(p, label, weight)
    np.testing.assert_array_equal(q, np.where(label == value, both, p))
    assert not np.array_equal(q, p)


@pytest.mark.parametrize("constraint", [TruePositiveRateParity, FalsePositiveRateParity])
def test_parity_of_one_rate_needs_two_classes(constraint):
    p, label, _, column = rows(17)
    unknown = np.where(np.arange(len(label)) % 5, label, np.nan).astype(np.float32)
    assert np.isfinite(constraint(column).q(p, unknown, None)).all()
    with pytest.raises(ValueError, match=rf"{constraint.__name__}.*labels 0 and 1, got 3.*EqualizedOdds"):
        constraint(column).q(p, label + 2, None)
    with pytest.raises(ValueError, match=rf"{constraint.__name__}.*labels 0 and 1"):
        constraint(column).q(np.stack([p, 1 - p], axis=1), label, None)


def mean_over(p, weight, similar):
    """Weighted mean of p over the rows j for which similar(i, j)."""
    n = range(len(p))
    return np.array(
        [np.average([p[j] for j in n if similar(i, j)], weights=[weight[j] for j in n if similar(i, j)]) for i in n]
    )


@examples(20)
@given(seed=seeds, weighted=st.booleans())
def test_metric_fairness_is_the_mean_over_similar_rows(seed, weighted):
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
    expected = mean_over(p, w, lambda i, j: distance[i, j] <= np.sort(distance[i])[3])
    np.testing.assert_allclose(IndividualFairness(k=3, features=line).q(p, label, weight), expected, atol=1e-6)


def test_similar_rows_written_out():
    # Rows with the same features are one point, numbered by their features in order.
    features = np.array([[0, 1], [1, 0], [0, 0], [0, 1], [1, 0], [9, 9]], float)
    assert neighbours.within_radius(features, 1.0).point.tolist() == [1, 2, 0, 1, 2, 3]
    near = neighbours.within_radius(np.array([[0.0], [1.0], [1.0], [2.0], [5.0]]), 1.0)
    assert near.point.tolist() == [0, 1, 1, 2, 3]
    assert near.start.tolist() == [0, 2, 5, 7, 8]
    assert [sorted(part) for part in np.split(near.similar, near.start[1:-1])] == [[0, 1], [0, 1, 2], [1, 2], [3]]
    # Of the points at 0, 2, 3 and 7 the second stands for two rows: enough for k = 2 beside any.
    nearest = neighbours.k_nearest(np.array([[0.0], [2.0], [2.0], [3.0], [7.0]]), 2)
    assert [part.tolist() for part in np.split(nearest.similar, nearest.start[1:-1])] == [
        [0, 1],
        [1, 2],
        [2, 1],
        [3, 2, 1],
    ]
    assert near.similar.dtype == nearest.similar.dtype == np.int32  # there may be 50 million of them


def test_a_radius_of_0_is_the_same_features():
    p, features = np.array([0.0, 0.5, 1.0, 0.25], np.float32), np.array([1.0, 2.0, 2.0, 3.0])
    assert IndividualFairness(radius=0, features=features).q(p, None, None).tolist() == [0, 0.75, 0.75, 0.25]


def test_nearest_rows_with_the_same_features_come_in_together():
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


@examples(20)
@given(seed=seeds, weighted=st.booleans(), levels=st.sampled_from([2, 4, 100]))
def test_meritocracy_is_isotonic_regression_with_equal_merit_left_free(seed, weighted, levels):
    p, label, weight, _ = rows(seed, 6, weighted=weighted)
    merit = np.concatenate([[0, 1], np.random.default_rng(seed).integers(0, levels, 4)])
    expected = isotonic_by_hand(p, merit, np.ones(6) if weight is None else weight)
    np.testing.assert_allclose(Meritocracy(merit).q(p, label, weight), expected, atol=1e-6)


@examples(60)
@given(st.lists(st.tuples(st.floats(-1, 1, width=32), st.floats(0.125, 8, width=32)), min_size=1, max_size=60))
def test_isotonic_regression_is_the_largest_of_the_smallest_means(lines):
    value, weight = (np.array(part, float) for part in zip(*lines, strict=True))
    before = [np.concatenate([[0.0], np.cumsum(column)]) for column in (value * weight, weight)]
    n = np.arange(len(value))
    # mean[i, j] is that of lines i to j; the answer at k is the max over i <= k of the min over j >= k.
    total, mass = (running[None, 1:] - running[:-1, None] for running in before)
    mean = np.where(n[:, None] <= n, total / np.where(n[:, None] <= n, mass, 1.0), np.inf)
    smallest = np.minimum.accumulate(mean[:, ::-1], axis=1)[:, ::-1]
    expected = np.where(n[:, None] <= n, smallest, -np.inf).max(axis=0)
    np.testing.assert_allclose(_isotonic(value, weight), expected, atol=1e-9)


# ---- the counted form ---------------------------------------------------------------------------------------


def test_counted_parity_pulls_the_rows_nearest_to_one_half():
    # Of group a 1 of 4 is decided 1, of group b 3 of 4: one half of all, so one row of each should change sides.
    p = np.array([0.1, 0.2, 0.3, 0.9, 0.15, 0.55, 0.7, 0.8], np.float32)
    for match in ("distribution", "mean"):
        q = DemographicParity(list("aaaabbbb"), soft=False, match=match).q(p, None, None)
        # Third of four in a: the mean of the fifth and sixth of all eight. Second of four in b: third and fourth.
        np.testing.assert_allclose(q, [0.1, 0.2, 0.625, 0.9, 0.15, 0.25, 0.7, 0.8], atol=1e-7)


def test_counted_metric_fairness_follows_the_majority_of_similar_rows():
    p = np.array([0.1, 0.3, 0.8, 0.9, 0.2, 0.7, 0.4], np.float32)
    q = IndividualFairness(key=list("aaabbcc"), soft=False).q(p, None, None)
    # In a one of three is decided 1: that row gets the share. In b and c it is one of two, and the means .55 decide.
    np.testing.assert_allclose(q, [0.1, 0.3, 1 / 3, 0.9, 0.55, 0.7, 0.55], atol=1e-7)


def test_one_half_is_decided_0():
    q = IndividualFairness(key=["a", "a", "a"], soft=False).q(np.array([0.5, 0.5, 0.9], np.float32), None, None)
    np.testing.assert_allclose(q, [0.5, 0.5, 1 / 3])


def test_counted_meritocracy_pools_decisions():
    p = np.array([0.1, 0.8, 0.3, 0.4, 0.9], np.float32)
    q = Meritocracy([1, 2, 3, 4, 5], soft=False).q(p, None, None)
    # Decisions 0 1 0 0 1 pool to 0 1/3 1/3 1/3 1: only the second is on the wrong side.
    np.testing.assert_allclose(q, [0.1, 1 / 3, 0.3, 0.4, 0.9], atol=1e-7)


@every_variant
@examples(25)
@given(seed=seeds, weighted=st.booleans())
def test_counted_form_pulls_only_across_one_half_and_no_more_rows_than_it_must(make, seed, weighted):
    p, label, weight, column = rows(seed, 60, weighted=weighted)
    q = make(column, False).q(p, label, weight)
    changed = q != p
    # Whatever is pulled is pulled to the other side.
    assert ((q > 0.5) != (p > 0.5))[changed].all()
    # One side to be pulled to, in each group of rows that are compared with each other by count.
    teacher = make(column, False)
    if isinstance(teacher, DemographicParity):
        compared = column + 3 * label if isinstance(teacher, EqualizedOdds) else column
    elif teacher_is_key(teacher):
        compared = column
    else:
        return
    for cell in np.unique(compared):
        sides = (q > 0.5)[changed & (compared == cell)]
        assert len(set(sides.tolist())) <= 1


def teacher_is_key(teacher):
    return isinstance(teacher, IndividualFairness) and teacher.k is None and teacher.radius is None


@examples(40)
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


@every_variant
def test_counted_form_leaves_alone_decisions_that_are_all_the_same(make):
    # Where training starts, with every row decided 0, there is nothing to count and nothing to freeze.
    p, label, _, column = rows(2)
    np.testing.assert_array_equal(make(column, False).q(p / 2, label, None), p / 2)


# ---- fixed points ---------------------------------------------------------------------------------------------


@both_forms
@every_parity
@examples(40)
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
    # q = p, to the bit, in rows of weight 0 as well.
    np.testing.assert_array_equal(DemographicParity(group, soft=soft, match=match).q(both, labels, weight), both)
    np.testing.assert_array_equal(EqualizedOdds(group, soft=soft, match=match).q(both, labels, weight), both)


@examples(30)
@given(seed=seeds)
def test_rounding_in_sums_of_weights_makes_no_difference(seed):
    p, _, _, _ = rows(seed, 23)
    # Next to one very heavy row the sums of the others are rounded, and differently in each group.
    weight = np.random.default_rng(seed).uniform(1, 3, 23)
    weight[p.argmin()] = 2.0**29
    weights = np.concatenate([weight, np.tile(weight, 3)]).astype(np.float32)
    both = np.tile(p**4, 4)  # small predictions beside large ones
    np.testing.assert_array_equal(DemographicParity(np.repeat([0, 1], [23, 69])).q(both, None, weights), both)


@every_parity
def test_a_label_that_a_group_lacks_is_compared_among_the_others(match):
    p, label = np.array([0.2, 0.4, 0.6, 0.9], np.float32), np.array([0, 1, 0, 0])
    q = EqualizedOdds(list("aabb"), match=match).q(p, label, None)
    assert q[1] == p[1]  # nobody else has label 1
    np.testing.assert_allclose([q[0], q[2:].mean()], [1.7 / 3] * 2, atol=1e-7)


def test_a_row_without_weight_goes_where_its_rank_is():
    # Between the halves of the pooled .1 .2 .8 .9 lies every value from .2 to .8, and that is as near as it may come.
    weight = np.array([1, 1, 0, 1, 1, 0], np.float32)
    for own, expected in ((0.5, 0.5), (0.15, 0.2), (0.85, 0.8)):
        p = np.array([0.1, 0.9, own, 0.2, 0.8, 0.5], np.float32)
        q = DemographicParity(list("aaabbb")).q(p, None, weight)
        np.testing.assert_allclose(q, [0.15, 0.85, expected, 0.15, 0.85, 0.5], atol=1e-7)


@every_parity
def test_a_group_without_weight_is_left_alone(match):
    p, label, _, column = rows(20)
    p = np.float32(0.1) + p / 10  # so far from 0 and 1 that no shift stops there
    weight = (column != 1).astype(np.float32)
    q = DemographicParity(column, match=match).q(p, label, weight)
    # Nothing is asked of it, and the others do as if it were not there.
    np.testing.assert_array_equal(q[column == 1], p[column == 1])
    rest = column != 1
    np.testing.assert_allclose(
        q[rest], DemographicParity(column[rest], match=match).q(p[rest], label[rest], None), atol=1e-6
    )


def test_zero_has_no_sign():
    # -0 and 0 are the same prediction, also in the order of float bits.
    q = DemographicParity(list("aaabbb")).q(np.array([-0.0, 0.0, 1.0, 5.0, 6.0, 7.0], np.float32), None, None)
    assert q[0] == q[1] == pytest.approx(1.5)


@both_forms
@examples(30)
@given(seed=seeds, weighted=st.booleans())
def test_predictions_that_agree_among_similar_rows_are_a_fixed_point(soft, seed, weighted):
    p, label, weight, column = rows(seed, 50, weighted=weighted)
    agreed = p[:3][column]
    points = column * 10.0
    for similar in (
        IndividualFairness(key=column, soft=soft),
        IndividualFairness(radius=2, features=points, soft=soft),
        IndividualFairness(k=1, features=points, soft=soft),
    ):
        np.testing.assert_array_equal(similar.q(agreed, label, weight), agreed)


@both_forms
@examples(30)
@given(seed=seeds, levels=level_counts, weighted=st.booleans())
def test_predictions_that_rise_with_merit_are_a_fixed_point(soft, seed, levels, weighted):
    p, label, weight, column = rows(seed, 50, levels, weighted)
    merit = np.sort(column)
    # Only the order between different merits binds: within one merit any order will do.
    p = np.sort(p)
    for value in range(3):
        np.random.default_rng(seed).shuffle(p[merit == value])
    np.testing.assert_array_equal(Meritocracy(merit, soft=soft).q(p, label, weight), p)


@every_variant
@both_forms
def test_equal_predictions_are_a_fixed_point(make, soft):
    if make is VARIANTS["precision"]:
        pytest.skip("equal predictions have the precision of the base rates, which differ")
    _, label, weight, column = rows(1, weighted=True)
    for value in (0.0, 1e-30, 0.3, 0.75, 1.0):
        p = np.full(60, value, np.float32)
        np.testing.assert_array_equal(make(column, soft).q(p, label, weight), p)


# ---- properties --------------------------------------------------------------------------------------------


@every_variant
@both_forms
@examples(25)
@given(seed=seeds, levels=level_counts, weighted=st.booleans())
def test_q_is_a_fresh_probability_that_follows_the_rows(make, soft, seed, levels, weighted):
    p, label, weight, column = rows(seed, 60, levels, weighted)
    untouched = p.copy()
    q = make(column, soft).q(p, label, weight)
    # float32, in the shape of p, in an array of its own; p is not written to.
    assert q.dtype == np.float32
    assert q.shape == p.shape
    assert not np.shares_memory(q, p)
    np.testing.assert_array_equal(p, untouched)
    # Within the range of p (soft, but for shifted means), and always within [0, 1].
    is_shifted = make is VARIANTS["precision"] or getattr(make(column, soft), "match", "") == "mean"
    low, high = (0, 1) if not soft or is_shifted else (p.min(), p.max())
    assert low <= q.min()
    assert q.max() <= high
    # Reordering the rows reorders q.
    order = np.random.default_rng(seed).permutation(60)
    reordered = make(column[order], soft).q(p[order], label[order], None if weight is None else weight[order])
    np.testing.assert_allclose(reordered, q[order], atol=1e-6)


@every_variant
@both_forms
def test_a_weight_is_a_number_of_rows(make, soft):
    p, label, _, column = rows(5, levels=10)
    weight = np.random.default_rng(5).integers(1, 4, 60)
    # k counts rows, so only the other variants can be repeated row by row.
    if getattr(make(column, soft), "k", None) is not None:
        make = VARIANTS["key"]
    many = make(np.repeat(column, weight), soft).q(np.repeat(p, weight), np.repeat(label, weight), None)
    q = make(column, soft).q(p, label, weight.astype(np.float32))
    np.testing.assert_allclose(np.repeat(q, weight), many, atol=1e-6)


@every_variant
@both_forms
def test_the_unit_of_weights_makes_no_difference(make, soft):
    p, label, weight, column = rows(8, levels=10, weighted=True)
    weight[::7] = 0
    expected = make(column, soft).q(p, label, weight)
    for unit in (2.0**-40, 2.0**40):
        np.testing.assert_array_equal(make(column, soft).q(p, label, weight * np.float32(unit)), expected)


@every_variant
@both_forms
def test_rows_of_weight_0_do_not_count(make, soft):
    p, label, _, column = rows(6)
    weight = np.ones(60, np.float32)
    weight[40:] = 0
    q = make(column, soft).q(p, label, weight)
    # They get a usable q, and the others' q is what it is without them.
    assert np.isfinite(q).all()
    if getattr(make(column, soft), "k", None) is None:
        np.testing.assert_allclose(q[:40], make(column[:40], soft).q(p[:40], label[:40], None), atol=1e-6)
    # With no weight at all nothing is asked of any row but the order by merit.
    if not isinstance(make(column, soft), Meritocracy):
        np.testing.assert_array_equal(make(column, soft).q(p, label, np.zeros(60, np.float32)), p)


@every_parity
@examples(40)
@given(seed=seeds, levels=level_counts, weighted=st.booleans(), odds=st.booleans())
def test_parity_keeps_the_order_within_groups_and_equals_their_means(match, seed, levels, weighted, odds):
    p, label, weight, column = rows(seed, 60, levels, weighted)
    label[:6] = [0, 0, 0, 1, 1, 1]  # every group has both labels
    if weight is not None:
        weight[6::4] = 0
    q = (EqualizedOdds if odds else DemographicParity)(column, match=match).q(p, label, weight)
    w = np.ones(60) if weight is None else weight
    for value in (0, 1):
        stratum = (label == value) | (not odds)
        for code in range(3):
            inside = stratum & (column == code)
            order = np.argsort(p[inside], kind="stable")
            # Higher p, no lower q; equal p, equal q.
            assert (np.diff(q[inside][order]) >= 0).all()
            assert (np.diff(q[inside][order])[np.diff(p[inside][order]) == 0] == 0).all()
            assert np.average(q[inside], weights=w[inside]) == pytest.approx(
                np.average(p[stratum], weights=w[stratum]), abs=1e-6
            )


@examples(30)
@given(seed=seeds, n_groups=st.integers(2, 4))
def test_groups_of_equal_size_get_equal_distributions(seed, n_groups):
    rng = np.random.default_rng(seed)
    p = rng.random(20 * n_groups).astype(np.float32)
    group = np.repeat(np.arange(n_groups), 20)
    q = DemographicParity(group).q(p, None, None)
    first = np.sort(q[group == 0])
    for code in range(1, n_groups):
        np.testing.assert_allclose(np.sort(q[group == code]), first, atol=1e-6)


@examples(30)
@given(seed=seeds)
def test_groups_of_unequal_size_get_the_pooled_distribution_up_to_one_row(seed):
    p, _, _, column = rows(seed, 60)
    q = DemographicParity(column).q(p, None, None)
    for code in range(3):
        inside = column == code
        ranks = (np.arange(5000) + 0.5) / 5000
        distance = np.abs(
            np.quantile(q[inside], ranks, method="inverted_cdf") - np.quantile(p, ranks, method="inverted_cdf")
        ).mean()
        # Averaging over one row's ranks moves values by no more than the range of p, a row's share at a time.
        assert distance <= np.ptp(p) / inside.sum() + 1e-3


@examples(40)
@given(seed=seeds, levels=level_counts, weighted=st.booleans())
def test_meritocracy_never_falls_as_merit_rises(seed, levels, weighted):
    p, label, weight, column = rows(seed, 40, levels, weighted)
    q = Meritocracy(column).q(p, label, weight)
    for low, high in ((0, 1), (1, 2)):
        assert q[column == low].max() <= q[column == high].min()


def test_regression_predictions_may_be_any_numbers():
    p, label, weight, column = rows(4, weighted=True)
    for make in (item for name, item in VARIANTS.items() if name != "precision"):
        # Each soft form commutes with a change of units.
        teacher = make(column, True)
        if getattr(teacher, "match", "") == "mean":
            p = p + 1  # away from [0, 1], where shifted means stop at the edge
        np.testing.assert_allclose(
            teacher.q(200 * p - 500, label, weight), 200 * teacher.q(p, label, weight) - 500, atol=1e-3
        )


# ---- classes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in VARIANTS if name not in ("merit", "precision", "tpr", "fpr")])
def test_classes_stay_probabilities(name):
    _, _, weight, column = rows(7, weighted=True)
    rng = np.random.default_rng(7)
    p = rng.dirichlet(np.ones(4), 60).astype(np.float32)
    label = rng.integers(0, 4, 60).astype(np.float32)
    teacher = VARIANTS[name](column, True)
    q = teacher.q(p, label, weight)
    # Rows within [0, 1] that sum to 1, and not what came in.
    assert q.shape == p.shape
    assert q.min() >= 0
    assert q.max() <= 1
    np.testing.assert_allclose(q.sum(axis=1), 1, atol=1e-5)
    assert np.abs(q - p).max() > 0.01
    # The same row everywhere satisfies everything, to the bit.
    same = np.tile(p[:1], (60, 1))
    np.testing.assert_array_equal(teacher.q(same, label, weight), same)


def test_parity_holds_in_each_class_before_rows_are_rescaled():
    rng = np.random.default_rng(9)
    group = np.repeat([0, 1], 500)
    p = np.where(group[:, None] == 0, rng.dirichlet([4, 2, 1], 1000), rng.dirichlet([1, 2, 4], 1000)).astype(np.float32)

    def gap(values):
        return np.abs(values[group == 0].mean(axis=0) - values[group == 1].mean(axis=0)).max()

    # Rescaling gives back a little of what was gained; repeated, as in training, the gap shrinks away.
    parity, gaps = DemographicParity(group), [gap(p)]
    for _ in range(6):
        p = parity.q(p, None, None)
        gaps.append(gap(p))
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[1] < 0.1 * gaps[0]
    assert gaps[-1] < 0.01 * gaps[0]


def test_one_column_is_not_a_class():
    p, label, _, column = rows(7)
    for make, soft in itertools.product(VARIANTS.values(), (True, False)):
        np.testing.assert_array_equal(
            make(column, soft).q(p[:, None], label, None)[:, 0], make(column, soft).q(p, label, None)
        )


def test_a_row_of_classes_keeps_its_sum():
    wanted, p = np.array([[0.0, 0.0], [0.1, 0.3], [0.5, 0.5]]), np.array([[0.6, 0.4]] * 3, np.float32)
    p[1:] *= np.float32(1.0005)  # as single precision may add up
    total = p.sum(axis=1, dtype=float)
    # Of nothing wanted there is nothing to scale: it stays.
    expected = [p[0], [total[1] / 4, total[1] * 3 / 4], [total[2] / 2] * 2]
    np.testing.assert_allclose(_rescale_rows(wanted, p), expected, rtol=1e-12)
    assert DemographicParity(["a", "b", "b"]).q(p, None, None).shape == (3, 2)


# ---- life in a training ----------------------------------------------------------------------------------------


@every_variant
@both_forms
def test_a_teacher_of_some_rows_is_the_teacher_made_from_them(make, soft):
    p, label, weight, column = rows(10, weighted=True)
    teacher = make(column, soft)
    before = teacher.q(p, label, weight)
    for chosen in (np.arange(0, 60, 2), np.random.default_rng(0).permutation(60)[:30], np.arange(60) < 30):
        part = teacher.subset(chosen)
        part.check(30)
        expected = make(column[chosen], soft).q(p[chosen], label[chosen], weight[chosen])
        np.testing.assert_array_equal(part.q(p[chosen], label[chosen], weight[chosen]), expected)
    # Cutting leaves the teacher as it was.
    np.testing.assert_array_equal(teacher.q(p, label, weight), before)


@every_variant
def test_it_is_a_picklable_teacher_that_follows_the_student(make):
    p, label, weight, column = rows(11, weighted=True)
    teacher = make(column, True)
    assert isinstance(teacher, Teacher)
    assert teacher.is_adaptive
    assert type(teacher).__name__ in repr(teacher)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(teacher)).q(p, label, weight), teacher.q(p, label, weight))


@every_variant
def test_what_the_user_gave_is_copied(make):
    p, label, weight, column = rows(12, weighted=True)
    given_column = column.astype(float)
    teacher = make(given_column, True)
    expected = make(column, True).q(p, label, weight)
    given_column[:] = given_column[::-1].copy()
    np.testing.assert_array_equal(teacher.q(p, label, weight), expected)


def test_groups_come_in_any_container():
    p, label, weight, column = rows(13)
    names = np.array(["x", "y", "z"])[column]
    expected = DemographicParity(column).q(p, label, weight)
    for container in (
        names,
        list(names),
        tuple(names),
        names.astype(object),
        pd.Series(names, index=np.arange(60)[::-1]),
        pd.Series(names, dtype="string"),
        pd.Series(names, dtype="category"),
        pd.Categorical(names),
        pd.Index(names),
        pd.DataFrame({"group": names}),
        {"group": names},
        names[:, None],
    ):
        np.testing.assert_array_equal(DemographicParity(container).q(p, label, weight), expected)


def test_other_libraries_columns_are_read_as_arrays():
    class Column:
        def __array__(self, dtype=None, copy=None):
            return np.array(["x", "y", "x", "y"])

    assert DemographicParity(Column()).groups == ["x", "y"]


def test_several_columns_are_their_intersections():
    p, label, weight, column = rows(14)
    other = np.arange(60) % 2
    teacher = DemographicParity(pd.DataFrame({"one": column, "two": other}))
    np.testing.assert_array_equal(
        teacher.q(p, label, weight), DemographicParity(column * 2 + other).q(p, label, weight)
    )
    assert sorted(teacher.groups) == [(i, j) for i in range(3) for j in range(2)]


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


class Blended:
    """The blended gradient of logistic loss, written out for these tests."""

    def __init__(self, teacher, kl_weight):
        self.teacher, self.kl_weight = teacher, np.float32(kl_weight)

    def __call__(self, margin, dtrain):
        p = np.float32(1) / (np.float32(1) + np.exp(-margin))
        label = dtrain.get_label()
        q = self.teacher.q(p, label, None)
        gradient = (p - label) + self.kl_weight * (p - q)
        hessian = np.maximum((1 + self.kl_weight) * p * (1 - p), np.float32(1e-16))
        return gradient, hessian


class Indifferent(Teacher):
    def q(self, mean, label, weight):
        return np.zeros_like(mean)


def training_data(n=900):
    """x[0] tells y for every group, x[1] stands in for the group, and y depends on the group as well."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, n)
    x = np.column_stack([rng.normal(size=n), group + rng.normal(0, 0.3, n)])
    y = rng.random(n) < 1 / (1 + np.exp(-(2 * x[:, 0] + 2 * group - 1)))
    return x, y.astype(np.float32), group


def fit(x, y, teacher, kl_weight, rounds):
    params = {"objective": "binary:logistic", "base_score": 0.5, "max_depth": 3, "eta": 0.5, "nthread": 1}
    objective = Blended(teacher, kl_weight) if teacher is not None else None
    return xgb.train(params, xgb.DMatrix(x, y), rounds, obj=objective)


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
    "parity": (lambda s, soft: DemographicParity(s, soft=soft), quantile_gap, 0),
    "parity-mean": (lambda s, soft: DemographicParity(s, soft=soft, match="mean"), mean_gap, 0),
    "odds": (lambda s, soft: EqualizedOdds(s, soft=soft), within_labels(quantile_gap), 0),
    "odds-mean": (lambda s, soft: EqualizedOdds(s, soft=soft, match="mean"), within_labels(mean_gap), 0),
    "tpr": (lambda s, soft: TruePositiveRateParity(s, soft=soft, match="mean"), of_label(1, mean_gap), 0),
    "fpr": (lambda s, soft: FalsePositiveRateParity(s, soft=soft, match="mean"), of_label(0, mean_gap), 0),
    # Predictions may vary with x[0] within the group: being similar means having the same sign of it.
    "key": (lambda s, soft: IndividualFairness(key=s, soft=soft), spread_within_key, 1),
    "radius": (lambda s, soft: IndividualFairness(radius=0.5, features=s, soft=soft), spread_within_key, 1),
    "nearest": (lambda s, soft: IndividualFairness(k=1, features=s, soft=soft), spread_within_key, 1),
    "merit": (lambda s, soft: Meritocracy(s, soft=soft), falls_with_merit, 2),
}


def side_information(x, group, kind):
    # Merit runs against x[0], which the labels follow.
    return [group, (x[:, 0] > 0).astype(int), -np.round(x[:, 0])][kind]


def violations(name, soft, kl_weights):
    make, violation, kind = TRAININGS[name]
    x, y, group = training_data()
    side = side_information(x, group, kind)
    found = []
    for kl_weight in kl_weights:
        p = fit(x, y, make(side, soft), kl_weight, 30 + 4 * kl_weight).predict(xgb.DMatrix(x))
        # The counted form is about decisions.
        found.append(violation(p if soft else (p > 0.5).astype(float), y, side))
    return found


@pytest.mark.parametrize("name", TRAININGS)
def test_raising_kl_weight_brings_the_violation_to_near_0(name):
    found = violations(name, True, (0, 1, 4, 16, 64))
    # Each step of kl_weight lowers the violation, to a small part of what it was.
    assert found == sorted(found, reverse=True), found
    assert found[-1] < 0.05 * found[0], found


@pytest.mark.parametrize("name", ["parity-mean", "odds-mean", "key", "merit"])
def test_raising_kl_weight_brings_the_violation_by_decisions_to_near_0(name):
    # Counting pulls a few rows where the soft form pulls all, and needs larger weights for as much.
    found = violations(name, False, (0, 4, 32, 256))
    assert found == sorted(found, reverse=True), found
    assert found[-1] < 0.35 * found[0], found


@every_variant
@both_forms
def test_kl_weight_0_changes_nothing(make, soft):
    x, y, group = training_data(300)
    dtest = xgb.DMatrix(x)
    plain = fit(x, y, Indifferent(), 0, 10).predict(dtest)
    # To the bit: the q of a constraint is finite, whatever the predictions.
    np.testing.assert_array_equal(fit(x, y, make(group, soft), 0, 10).predict(dtest), plain)


def test_parity_costs_less_than_it_brings():
    x, y, group = training_data()
    dtest = xgb.DMatrix(x)
    plain = fit(x, y, None, 0, 40).predict(dtest)
    fair = fit(x, y, DemographicParity(group), 16.0, 200).predict(dtest)
    # The feature that tells y in both groups is still used: parity was not met by saying nothing.
    assert quantile_gap(fair, y, group) < 0.2 * quantile_gap(plain, y, group)
    assert ((fair > 0.5) == y).mean() > 0.7
    assert fair.std() > 0.15


def test_constraints_combine_with_each_other_and_with_a_privileged_teacher():
    x, y, group = training_data()
    dtrain = xgb.DMatrix(x, y)
    params = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1}
    q = 1 / (1 + np.exp(-(2 * x[:, 0] + 2 * group - 1)))
    parity, merit = DemographicParity(group), Meritocracy(-np.round(x[:, 0]))

    def p_of(*teachers):
        return pi_xgb.train(params, dtrain, 150, teacher=list(teachers)).predict(dtrain)

    alone = p_of((q, 1.0))
    guided = p_of((q, 1.0), (parity, 10.0))
    both = p_of((q, 1.0), (parity, 10.0), (merit, 20.0))
    # Each constraint added lowers its own violation.
    assert quantile_gap(guided, y, group) < 0.3 * quantile_gap(alone, y, group)
    assert quantile_gap(both, y, group) < 0.3 * quantile_gap(alone, y, group)
    assert falls_with_merit(both, y, -np.round(x[:, 0])) < 0.3 * falls_with_merit(guided, y, -np.round(x[:, 0]))


def test_cross_validation_cuts_a_constraint_into_folds():
    x, y, group = training_data()
    params = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1}
    history = pi_xgb.cv(params, xgb.DMatrix(x, y), 10, nfold=3, teacher=DemographicParity(group), kl_weight=5.0, seed=1)
    # The loss falls from round to round: the folds trained.
    loss = history["test-logloss-mean"].to_numpy()
    assert loss[-1] < loss[0]


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
            p = pi_xgb.train(params, dtrain, 100, teacher=DemographicParity(group), kl_weight=kl_weight).predict(dtrain)
            gaps.append(np.abs(p[group == 0].mean(axis=0) - p[group == 1].mean(axis=0)).max())
        assert gaps[1] < 0.2 * gaps[0]


def test_as_many_groups_as_pairs_of_rows():
    n = 100_000
    rng = np.random.default_rng(0)
    p = rng.random(n).astype(np.float32)
    label = (rng.random(n) < p).astype(np.float32)
    pairs = np.arange(n) // 2
    for teacher in (
        DemographicParity(pairs),
        DemographicParity(pairs, match="mean"),
        EqualizedOdds(pairs),
        IndividualFairness(key=pairs),
        IndividualFairness(k=5, features=rng.integers(0, 30, (n, 2))),
        Meritocracy(pairs),
        Meritocracy(-label),
    ):
        teacher.check(n)
        q = teacher.q(p, label, None)
        assert q.shape == p.shape
        assert ((q >= 0) & (q <= 1)).all()


@pytest.mark.parametrize("soft", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
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


# ---- bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: DemographicParity(["missing", None, "b", "b"]), ValueError, "a group called 'missing'.*rename"),
        (lambda: DemographicParity(["a", "a"]), ValueError, "one group only"),
        (lambda: DemographicParity(["a", "a", None]), ValueError, "one group only"),
        (lambda: EqualizedOdds(["a", "a"]), ValueError, "one group only"),
        (
            lambda: EqualizedOdds(["a", "b"], [0, 1]),
            TypeError,
            r"EqualizedOdds.*sensitive_features.*2",
        ),
        (lambda: EqualizedOdds("sex", "y"), TypeError, r"position.*2 values"),
        (lambda: IndividualFairness([1, 1]), TypeError, r"IndividualFairness.*1"),
        (lambda: DemographicParity(np.arange(10)), ValueError, r"10 groups.*10 rows.*pandas.cut"),
        (lambda: DemographicParity([]), ValueError, "is empty"),
        (lambda: DemographicParity(None), TypeError, "one value per row"),
        (lambda: DemographicParity(np.zeros((2, 2, 2))), ValueError, "one or two dimensions"),
        (
            lambda: DemographicParity(["a", "b"], match="median"),
            ValueError,
            r"match.*.median.",
        ),
        (lambda: DemographicParity(["a", "b"], soft="yes"), TypeError, r"soft.*True.*False"),
        (lambda: IndividualFairness(), ValueError, "exactly one of .* got none"),
        (lambda: IndividualFairness(key=[1, 1], k=1), ValueError, r"one of key=.*got key and k\b"),
        (lambda: IndividualFairness(k=1), ValueError, r"columns.*measure"),
        (lambda: IndividualFairness(key=[1, 1], features=[1, 2]), ValueError, r"features=.*key="),
        (lambda: IndividualFairness(key=[1, 2, 3]), ValueError, "no two of the 3 rows are similar by key"),
        (lambda: IndividualFairness(key=[1, None, 1]), ValueError, "key must .* 1 missing .* first in row 1.*unknown"),
        (lambda: IndividualFairness(k=4, features=[1, 2, 3, 4]), ValueError, "at most 3.*k=4"),
        (lambda: IndividualFairness(k=0, features=[1, 2]), ValueError, "k must be at least 1"),
        (lambda: IndividualFairness(k=1.5, features=[1, 2]), TypeError, "k must be a whole number"),
        (lambda: IndividualFairness(k=True, features=[1, 2]), TypeError, "k must be a whole number"),
        (lambda: IndividualFairness(radius=-1, features=[1, 2]), ValueError, "radius must be a finite distance"),
        (lambda: IndividualFairness(radius=np.inf, features=[1, 2]), ValueError, "radius must be a finite distance"),
        (lambda: IndividualFairness(radius="1", features=[1, 2]), TypeError, "radius must be a number"),
        (lambda: IndividualFairness(k=1, features=[1, 2, np.nan]), ValueError, "features must .* 1 missing .* row 2"),
        (lambda: IndividualFairness(k=1, features=[1, 2, np.inf]), ValueError, "features must be .* got inf in row 2"),
        (lambda: IndividualFairness(k=1, features=["a", "b"]), TypeError, "features must be .*numbers"),
        (lambda: Meritocracy([1, np.nan]), ValueError, "merit must .* 1 missing"),
        (lambda: Meritocracy([1, 1]), ValueError, "merit .* 1.0 in every row"),
        (lambda: Meritocracy(["low", "high"]), TypeError, "merit must be numbers"),
        (lambda: Meritocracy(np.zeros((3, 2))), ValueError, "merit must be one column, got 2"),
    ],
)
def test_bad_input_is_refused_when_it_is_given(make, error, message):
    with pytest.raises(error, match=message):
        make()


@every_variant
def test_other_numbers_of_rows_are_refused(make):
    p, label, _, column = rows(16)
    teacher = make(column, True)
    with pytest.raises(ValueError, match="got 60 for 59 rows"):
        teacher.check(59)
    with pytest.raises(ValueError, match="got 60 for 59 rows"):
        teacher.q(p[1:], label[1:], None)
    # The right number is accepted.
    assert teacher.check(60) is None


def test_a_fold_may_lack_a_key():
    p = np.array([0.25, 0.75], np.float32)
    for chosen in ([0, 1], [2, 3]):
        part = IndividualFairness(key=["x", "x", "y", "y", "z", "z"]).subset(chosen)
        part.check(2)
        assert part.q(p, None, None).tolist() == [0.5, 0.5]


def test_a_fold_too_small_for_k_is_refused_before_training():
    part = IndividualFairness(k=3, features=[1, 2, 3, 4, 5]).subset([0, 1, 2])
    with pytest.raises(ValueError, match=r"at most 2.*k=3"):
        part.check(3)


def test_a_radius_without_neighbours_is_refused_before_training():
    with pytest.raises(ValueError, match=r"3 rows.*radius=0\.5"):
        IndividualFairness(radius=0.5, features=[1, 2, 3]).check(3)


def test_equal_points_are_neighbours_even_when_as_many_as_rows():
    # Four pairs for four rows, yet not one pair per row.
    assert IndividualFairness(k=2, features=[1, 1, 2, 2]).check(4) is None


def test_a_radius_of_too_many_neighbours_is_refused_before_training(monkeypatch):
    monkeypatch.setattr(neighbours, "MAX_NEIGHBOURS", 400)
    assert len(neighbours.within_radius(np.arange(20.0)[:, None], 100).similar) == 400
    monkeypatch.setattr(neighbours, "MAX_NEIGHBOURS", 100)
    with pytest.raises(ValueError, match=r"radius=100.0.*400 pairs.*20.*most 100"):
        IndividualFairness(radius=100, features=np.arange(20)).check(20)


@every_variant
def test_predictions_that_are_no_numbers_are_refused(make):
    p, label, _, column = rows(17)
    p[3] = np.nan
    with pytest.raises(ValueError, match=r"NaN.*infinite.*diverged"):
        make(column, True).q(p, label, None)


def test_counting_needs_probabilities():
    p, label, _, column = rows(17)
    with pytest.raises(ValueError, match=r"soft=False .* use soft=True for classes"):
        DemographicParity(column, soft=False).q(p * 3, label, None)
    with pytest.raises(ValueError, match=r"soft=False .* use soft=True for classes"):
        DemographicParity(column, soft=False).q(np.stack([p, 1 - p], axis=1), label, None)


def test_labels_of_equalized_odds_must_be_classes():
    p, label, _, column = rows(17)
    with pytest.raises(ValueError, match=r"labels.*0\.5.*DemographicParity"):
        EqualizedOdds(column).q(p, label + 0.5, None)
    with pytest.raises(ValueError, match="one label per row"):
        EqualizedOdds(column).q(p, label[1:], None)


def test_columns_that_are_not_classes_are_refused():
    p, label, _, column = rows(17)
    with pytest.raises(ValueError, match="one model per target"):
        DemographicParity(column).q(np.stack([p, p], axis=1), label, None)
    classes = np.stack([p, 1 - p], axis=1)
    with pytest.raises(ValueError, match="rows that do not sum to 1"):
        DemographicParity(column).q(np.float32(1.01) * classes, label, None)
    DemographicParity(column).q(np.float32(1.0005) * classes, label, None)  # as far as sums in float32 may be from 1
    with pytest.raises(ValueError, match="cannot all rise with merit"):
        Meritocracy(column).q(np.stack([p, 1 - p], axis=1), label, None)


def test_isotonic_regression_without_any_weight_is_unweighted():
    np.testing.assert_array_equal(_isotonic(np.array([3.0, 1.0]), np.zeros(2)), [2.0, 2.0])


@pytest.mark.parametrize("objective", ["reg:gamma", "reg:tweedie", "count:poisson"])
def test_groups_that_are_shifted_stay_among_the_amounts_there_can_be(objective):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 500)
    x = np.column_stack([rng.normal(size=500), group + rng.normal(scale=0.3, size=500)])
    y = np.exp(1.5 * x[:, 0] + 1.5 * group)
    y = np.round(y) if objective == "count:poisson" else y
    dtrain, params = xgb.DMatrix(x, y), {"objective": objective, "max_depth": 3, "eta": 0.3, "nthread": 1}
    parity = DemographicParity(group, match="mean")
    booster = pi_xgb.train(params, dtrain, 20, teacher=parity, kl_weight=3.0)
    means = [booster.predict(dtrain)[group == item].mean() for item in (0, 1)]
    plain = [xgb.train(params, dtrain, 20).predict(dtrain)[group == item].mean() for item in (0, 1)]
    assert abs(means[1] - means[0]) < abs(plain[1] - plain[0]) / 2
    assert parity.q(plain_q := booster.predict(dtrain), y, None).min() < 0 < plain_q.min()  # it would go on below


def test_several_targets_are_refused_before_anything_is_learned():
    label = np.stack([np.arange(60) % 2, 1 - np.arange(60) % 2], axis=1)  # their rows sum to 1 by chance
    dtrain = xgb.DMatrix(np.arange(60)[:, None], label)
    with pytest.raises(ValueError, match=r"2 targets.*1"):
        pi_xgb.train({"objective": "binary:logistic"}, dtrain, 2, teacher=DemographicParity(np.arange(60) % 3))

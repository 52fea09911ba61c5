"""Precision parity as a teacher, against the precision counted by hand and every cut tried."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pi_xgb
from pi_xgb.constraints import PredictiveParity

examples = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def rows(seed, n=80):
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.arange(6) % 3, rng.integers(0, 3, n - 6)])
    label = np.concatenate([np.arange(6) // 3, rng.random(n - 6) < 0.3 + 0.2 * group[6:]]).astype(np.float32)
    p = np.clip(0.5 + 0.2 * (label - 0.5) + 0.1 * rng.normal(size=n), 0.2, 0.8).astype(np.float32)
    return p, label, rng.uniform(0.5, 2, n).astype(np.float32), group


def precision(decided, label, weight):
    return (weight * decided * label).sum() / (weight * decided).sum()


@examples
@given(seed=st.integers(0, 2**31))
def test_q_is_the_closest_point_with_the_precision_of_all(seed):
    p, label, weight, group = rows(seed)
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
    # Who has parity keeps it, but for rounding.
    if q.min() > 0 and q.max() < 1:
        again = PredictiveParity(group).q(q.astype(np.float32), label, weight)
        np.testing.assert_allclose(again, q, atol=1e-5)


@examples
@given(seed=st.integers(0, 2**31), some_without=st.booleans())
def test_the_counted_form_is_the_best_cut_up_to_the_first_that_reaches_it(seed, some_without):
    p, label, weight, group = rows(seed)
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


def test_what_has_no_precision_to_change_is_left_alone():
    p = np.array([0.9, 0.2, 0.8, 0.3, 0.7, 0.1], np.float32)
    group = np.array([0, 0, 1, 1, 2, 2])
    for soft in (True, False):
        parity = PredictiveParity(group, soft=soft)
        label = np.array([1, 0, 0, 0, 1, 1], np.float32)  # a group without positives, and one without negatives
        np.testing.assert_array_equal(parity.q(p, label, None)[2:], p[2:])
        nobody = np.zeros(6, np.float32)
        np.testing.assert_array_equal(parity.q(nobody, label, None), nobody)
        unknown = np.array([1, 0, np.nan, np.nan, 1, 0], np.float32)
        np.testing.assert_array_equal(parity.q(p, unknown, None)[2:4], p[2:4])


def test_rows_without_weight_select_nobody():
    p, label = np.array([0.9, 0.2, 0.8, 0.3, 0.7, 0.1], np.float32), np.array([0, 1, 1, 0, 1, 0], np.float32)
    weight = np.array([1, 1, 0, 1, 1, 1], np.float32)
    q = PredictiveParity([0, 0, 1, 1, 2, 2], soft=False).q(p, label, weight)
    # Nobody who counts is selected in the second group, so that no cut of it brings anything nearer.
    np.testing.assert_array_equal(q[2:4], p[2:4])


def test_a_row_at_one_half_is_not_selected():
    p = np.array([0.9, 0.6, 0.5, 0.5, 0.5, 0.5, 0.9, 0.6, 0.4], np.float32)
    label = np.array([1, 0, 0, 0, 0, 0, 1, 0, 0], np.float32)
    # Of those above 1/2 every other one is right in both groups, and in all.
    np.testing.assert_array_equal(PredictiveParity([0] * 6 + [1] * 3, soft=False).q(p, label, None), p)


def test_a_precision_that_no_cut_brings_nearer_stays():
    p = np.array([0.9, 0.9, 0.8, 0.7, 0.3, 0.9, 0.8, 0.7], np.float32)
    label = np.array([1, 0, 1, 1, 1, 0, 0, 1], np.float32)
    # 3/4 in one group grows to 4/5 where all are selected; 1/3 in the other falls to none where fewer are.
    np.testing.assert_array_equal(PredictiveParity([0] * 5 + [1] * 3, soft=False).q(p, label, None), p)


@pytest.mark.parametrize("soft", [True, False])
def test_rows_without_a_label_count_nowhere(soft):
    p, label, weight, group = rows(4)
    label[::5] = np.nan
    known = ~np.isnan(label)
    q = PredictiveParity(group, soft=soft).q(p, label, weight)
    expected = PredictiveParity(group[known], soft=soft).q(p[known], label[known], weight[known])
    np.testing.assert_array_equal(q[known], expected)
    np.testing.assert_array_equal(q[~known], p[~known])


@pytest.mark.parametrize("soft", [True, False])
def test_training_closes_the_gap(soft):
    rng = np.random.default_rng(0)
    n = 3000
    group = rng.integers(0, 2, n)
    x = np.column_stack([rng.normal(size=n), rng.normal(size=n), group + rng.normal(0, 0.5, n)])
    # The same score means less in group 1, and the model knows the group only roughly.
    y = (rng.random(n) < 1 / (1 + np.exp(-(2 * x[:, 0] - 1.2 * group + 0.5)))).astype(np.float32)
    dtrain, params = xgb.DMatrix(x, y), {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1}

    def gap(kl_weight):
        p = pi_xgb.train(params, dtrain, 60, teacher=PredictiveParity(group, soft=soft), kl_weight=kl_weight).predict(
            dtrain
        )
        decided = p if soft else p > 0.5
        single, other = (precision(decided[group == k], y[group == k], np.ones((group == k).sum())) for k in (0, 1))
        return abs(single - other)

    assert gap(30.0) < 0.6 * gap(0.0)


@pytest.mark.parametrize(
    ("p", "label", "words"),
    [
        ([[0.5, 0.5]] * 4, [0, 1, 0, 1], r"PredictiveParity.*2 classes"),
        ([0.5, 2.0, 0.1, 0.2], [0, 1, 0, 1], "needs probabilities, got predictions from"),
        ([0.5, -2.0, 0.1, 0.2], [0, 1, 0, 1], "needs probabilities, got predictions from"),
        ([0.5, 0.4, 0.1, 0.2], [0, 0.5, 0, 1], r"label 0 or 1.*row"),
        ([0.5, 0.4, 0.1, 0.2], [0, 1, 0], "for 4 rows"),
    ],
)
def test_what_has_no_precision_is_refused(p, label, words):
    with pytest.raises(ValueError, match=words):
        PredictiveParity([0, 0, 1, 1]).q(np.array(p, np.float32), np.array(label, np.float32), None)

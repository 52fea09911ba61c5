"""Folds, resamples and intervals against their definitions; made data; arrays of NumPy and CuPy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pi_xgb._stats import bootstrap, folds, paired
from pi_xgb._stats.gaps import holm
from pi_xgb._stats.wilson import wilson
from pi_xgb.datasets import make_privileged


def test_rows_are_dealt_in_the_order_of_their_labels():
    label = np.random.default_rng(0).integers(0, 3, 50)
    shuffled = np.random.default_rng(7).permutation(50)
    fold = {int(row): i % 4 for i, row in enumerate(sorted(shuffled, key=lambda row: label[row]))}
    for k, (others, own) in enumerate(folds.deal_folds(label, 4, 7)):
        assert own.tolist() == [row for row in range(50) if fold[row] == k]
        assert others.tolist() == [row for row in range(50) if fold[row] != k]


@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("fractional", [True, False])
def test_groups_are_dealt_to_the_fold_that_lacks_their_labels_most(classes, fractional):
    random = np.random.default_rng(1)
    groups, label = random.choice(list("abcdefghijklmnop"), 200) + "", random.integers(0, 7, 200) + 0.5 * fractional
    codes, names = pd.factorize(groups)
    if classes and not fractional:
        kinds = label.astype(int)
    else:  # fifths of the rows by the size of y
        kinds = np.empty(200, int)
        kinds[np.argsort(label, kind="stable")] = np.arange(200) * 5 // 200
    counts = pd.crosstab(codes, kinds).to_numpy(float)
    shuffled = np.random.default_rng(3).permutation(len(names))
    order = sorted(shuffled, key=lambda group: -np.floor(np.log2(counts[group].sum())))
    dealt, fold = np.zeros((3, counts.shape[1])), np.empty(len(names), int)
    for group in order:
        lacks = dealt @ (counts[group] / counts.sum(axis=0))
        fold[group] = min(range(3), key=lambda k: (lacks[k], dealt[k].sum(), k))
        dealt[fold[group]] += counts[group]
    for k, (others, own) in enumerate(folds.deal_groups(label, groups, 3, 3, classes=classes)):
        assert own.tolist() == np.flatnonzero(fold[codes] == k).tolist()
        assert sorted([*own, *others]) == list(range(200))
        folds.check_apart(groups, others, own, k)


@pytest.mark.parametrize(("entries", "blocks"), [(100, [5]), (8, [2, 2, 1]), (3, [1] * 5)])
def test_resamples_are_drawn_in_blocks(monkeypatch, entries, blocks):
    monkeypatch.setattr(bootstrap, "_BLOCK_ENTRIES", entries)
    drawn = list(bootstrap.resamples(4, 5, 9))
    assert [len(block) for block in drawn] == blocks
    rows = np.random.default_rng(9).integers(4, size=(5, 4))
    expected = [[(row == i).sum() for i in range(4)] for row in rows]
    assert np.concatenate(drawn).tolist() == expected
    assert {block.dtype for block in drawn} == {np.dtype(float)}


def test_the_corrected_interval_written_out():
    differences = np.array([0.3, -0.1, 0.4, 0.2])
    error = np.sqrt((1 / 4 + 0.5) * differences.var(ddof=1))
    half = stats.t(3).ppf(0.95) * error
    assert paired.corrected_interval(differences, 0.5, 0.9) == pytest.approx((0.2, error, 0.2 - half, 0.2 + half))
    assert paired.corrected_interval(differences, 0.5) == paired.corrected_interval(differences, 0.5, 0.95)
    alike = paired.corrected_interval(np.full(3, 0.1), 0.5)
    assert alike.low == alike.mean == alike.high == pytest.approx(0.1)
    assert alike.error == 0
    assert str(paired.Interval(0.1, 0, -0.2, 0.3)) == "0.1000 (-0.2000 to 0.3000)"


@pytest.mark.parametrize("wrong", [True, "1", -0.1, np.inf, np.nan])
def test_bad_standard_errors_raise(wrong):
    with pytest.raises((TypeError, ValueError), match="standard_errors must be"):
        paired.check_standard_errors(wrong)


def test_intervals_of_shares_are_those_of_scipy():
    counts, n = np.array([0, 1, 7, 10]), 10
    low, high = wilson(counts / n, np.full(4, 10.0), 0.9)
    for i, count in enumerate(counts):
        expected = stats.binomtest(int(count), n).proportion_ci(0.9, method="wilson")
        assert (low[i], high[i]) == pytest.approx((expected.low, expected.high))
    assert (low[0], high[3]) == (0, 1)
    assert np.isnan(wilson(np.array([np.nan]), np.array([3.0]), 0.9)).all()


def test_made_data_is_what_its_parameters_say():
    data = make_privileged(20_000, x_noise=0.0, group_gap=0.5, seed=3)
    u = data.x["x0"]
    # Without noise the features are the hidden score and its tanh in turn.
    np.testing.assert_allclose(data.x, np.column_stack([u, np.tanh(u)] * 4))
    np.testing.assert_allclose(data.q, 1 / (1 + np.exp(-2.0 * u)))
    assert np.allclose(data.z.sub(u, axis=0).std(), 0.1, atol=0.01)
    assert data.group.mean() == pytest.approx(0.3, abs=0.02)
    assert u[data.group == 0].mean() - u[data.group == 1].mean() == pytest.approx(0.5, abs=0.05)
    assert (data.y - data.q).mean() == pytest.approx(0, abs=0.02)
    assert [data.y.name, data.group.name, data.q.name] == ["y", "group", "q"]
    turned = make_privileged(20_000, x_noise=0.0, group_gap=0.5, label_noise=1.0, seed=3)
    assert (turned.y == 1 - data.y).all()
    noisy = make_privileged(20_000, x_noise=2.0, strength=0.0, seed=4)
    assert (noisy.q == 0.5).all()
    assert (noisy.x["x0"] - noisy.x["x2"]).std() == pytest.approx(2 * np.sqrt(2), abs=0.1)


def test_percentiles_are_of_the_replicates_that_exist():
    replicates = np.random.default_rng(0).normal(size=(50, 3))
    replicates[:20, 1] = replicates[:, 2] = np.nan
    low, high = bootstrap.interval(replicates, 0.8)
    for i in (0, 1):
        known = replicates[~np.isnan(replicates[:, i]), i]
        assert (low[i], high[i]) == pytest.approx(tuple(np.quantile(known, [0.1, 0.9])))
    assert np.isnan([low[2], high[2]]).all()
    assert np.isnan(bootstrap.interval(np.full((4, 1), np.nan), 0.9)).all()


def test_holm_passes_over_what_was_not_looked_at():
    adjusted = holm(np.array([0.5, np.nan, 0.01, 0.4, 0.02]))
    np.testing.assert_allclose(adjusted, [0.8, np.nan, 0.04, 0.8, 0.06])
    assert holm(np.array([0.9, 0.8])).tolist() == [1, 1]

"""Folds, resamples and intervals against their definitions; made data; arrays of NumPy and CuPy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pi_xgb._report import numbers
from pi_xgb._rows import folds
from pi_xgb._stats import intervals
from pi_xgb._stats.intervals import wilson
from pi_xgb.datasets import make_privileged
from pi_xgb.metrics._gaps import Path, holm, limits, p_value


def test_rows_are_dealt_in_the_order_of_their_labels():
    label = np.random.default_rng(0).integers(0, 3, 50)
    shuffled = np.random.default_rng(7).permutation(50)
    fold = {int(row): i % 4 for i, row in enumerate(sorted(shuffled, key=lambda row: label[row]))}
    assert folds.deal_folds(label, 4, 7).tolist() == [fold[row] for row in range(50)]


@pytest.mark.parametrize("classes", [True, False])
@pytest.mark.parametrize("fractional", [True, False])
def test_groups_are_dealt_to_the_fold_that_lacks_their_labels_most(classes, fractional):
    random = np.random.default_rng(1)
    groups, label = random.choice(list("abcdefghijklmnop"), 200), random.integers(0, 7, 200) + 0.5 * fractional
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
    assert folds.deal_folds(label, 3, 3, groups, classes=classes).tolist() == fold[codes].tolist()


def test_the_corrected_interval_written_out():
    differences = np.array([0.3, -0.1, 0.4, 0.2])
    error = np.sqrt((1 / 4 + 0.5) * differences.var(ddof=1))
    half = stats.t(3).ppf(0.95) * error
    assert intervals.corrected_interval(differences, 0.5, 0.9) == pytest.approx((0.2, error, 0.2 - half, 0.2 + half))
    assert intervals.corrected_interval(differences, 0.5) == intervals.corrected_interval(differences, 0.5, 0.95)
    alike = intervals.corrected_interval(np.full(3, 0.1), 0.5)
    assert alike.low == alike.mean == alike.high == pytest.approx(0.1)
    assert alike.error == 0
    assert str(intervals.Interval(0.1, 0, -0.2, 0.3)) == "0.1000 (-0.2000 to 0.3000)"


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
    draws = np.random.default_rng(0).normal(size=(51, len(numbers.COMPARED)))
    draws[1:21, 1] = draws[1:, 2] = np.nan
    table = numbers._table(draws, {"n_boot": 50, "confidence": 0.8})
    for i in (0, 1):
        known = draws[1:, i][~np.isnan(draws[1:, i])]
        assert table.iloc[i, 1:].tolist() == pytest.approx(np.quantile(known, [0.1, 0.9]).tolist())
    assert table.iloc[2, 1:].isna().all()


def test_holm_passes_over_what_was_not_looked_at():
    adjusted = holm(np.array([0.5, np.nan, 0.01, 0.4, 0.02]))
    np.testing.assert_allclose(adjusted, [0.8, np.nan, 0.04, 0.8, 0.06])
    assert holm(np.array([0.9, 0.8])).tolist() == [1, 1]


# --- true gaps by inversion, where the noise is uniform and every limit has a formula ---

TRUTH = np.linspace(0.0, 4.0, 401)
NOISE = np.linspace(-1.0, 1.0, 4001)


def path(slope=1.0):
    """A gap that is seen ``slope`` times as large as it is, with noise between -1 and 1."""
    return Path(TRUTH, slope * TRUTH + NOISE[:, None])


def test_what_equals_a_gap_counts_half_at_each_level():
    seen = np.array([[0, 1, 3], [1, 1, 1], [2, 3, 2]], float)
    np.testing.assert_allclose(Path(np.arange(3.0), seen).above(1), [1 / 2, 2 / 3, 5 / 6])
    np.testing.assert_allclose(Path(np.arange(3.0), seen + 1e-12).above(1), [1 / 2, 2 / 3, 5 / 6])


# At a gap of t more than 2 is seen with a chance of (t - 1) / 2, and the upper tail is .1 - .05 t / 1.8 there; less
# than 2 is seen with a chance of (3 - t) / 2, and the lower tail is .05 by then.
LOW, HIGH = 0.6 / (0.5 + 0.05 / 1.8), 2.9


@pytest.mark.parametrize("slope", [1.0, 0.5, 1.25])
def test_the_limits_are_those_of_the_formula(slope):
    corrected, low, high = limits(2.0, path(slope), path(), 0.9).values()
    assert (low, high) == pytest.approx((LOW / slope, HIGH), abs=2e-3)
    assert corrected == pytest.approx(max(2.0, LOW / slope), abs=2e-3)


def test_groups_more_alike_than_alike_ones_are_no_proof():
    # The upper limit is that of -.68, above which 84 % lie where there is no gap.
    corrected, low, high = limits(-0.9, path(), path(), 0.9).values()
    assert (corrected, low) == (0, 0)
    assert high == pytest.approx(0.16 / (0.5 + 0.05 / 1.8), abs=2e-3)


def test_beyond_all_levels_the_last_one_is_the_limit():
    assert [*limits(10.0, path(), path(), 0.9).values()] == [4, 4, 4]


def test_p_counts_the_rows_as_a_draw():
    null = np.array([0.0, 0.1, 0.2, 0.3])
    assert p_value(null, 0.2 + 1e-12) == 3 / 5
    assert p_value(null, 1.0) == 1 / 5

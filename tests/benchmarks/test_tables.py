"""Intervals, ranks of rows and the choices that tables rest on, against formulas and worked examples."""

import json
import math

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn", reason="the benchmarks need scikit-learn")
pytest.importorskip("matplotlib", reason="the pictures need matplotlib")

from scipy import stats

from benchmarks import curves
from benchmarks.data import made_set
from benchmarks.intervals import Interval, corrected_interval, verdict
from benchmarks.scale import __main__ as scale
from benchmarks.scale import cell as scale_cell
from benchmarks.scale import page as scale_page


def test_the_interval_is_the_formula_worked_by_hand():
    # Differences 1, 2, 3, 4: mean 2.5, s^2 = 5/3, variance (1/4 + 1/8) 5/3 = 0.625, t(.975, 3) = 3.18245.
    found = corrected_interval([1.0, 2.0, 3.0, 4.0])
    assert found.mean == 2.5
    assert found.half == pytest.approx(3.182446 * math.sqrt(0.625), rel=1e-6)
    assert (found.low, found.high, found.folds) == (found.mean - found.half, found.mean + found.half, 4)


def test_without_the_correction_it_is_the_interval_of_scipy():
    differences = np.random.default_rng(0).normal(size=10)
    there = stats.ttest_1samp(differences, 0.0).confidence_interval(0.95)
    found = corrected_interval(differences, test_over_train=0.0)
    assert (found.low, found.high) == pytest.approx((there.low, there.high))
    # With it, the half width of ten folds grows by sqrt(1 + 10 / 8).
    assert corrected_interval(differences).half == pytest.approx(found.half * 1.5)


@pytest.mark.parametrize(
    ("mean", "half", "higher", "expected"),
    [
        (0.2, 0.1, True, "win"),
        (-0.2, 0.1, True, "loss"),
        (0.2, 0.1, False, "loss"),
        (-0.2, 0.1, False, "win"),
        (0.1, 0.1, True, "tie"),
        (0.0, 0.0, True, "tie"),
        (0.1, 0.0, True, "win"),
    ],
)
def test_a_win_is_an_interval_without_zero(mean, half, higher, expected):
    assert verdict(Interval(mean, half, 10), higher_is_better=higher) == expected


def test_slopes_are_exponents():
    rows = np.array([1e5, 1e6, 1e7])
    for exponent in (0.8, 1.0, 1.3):
        assert scale_page.log_log_slope(rows, 3e-6 * rows**exponent) == pytest.approx(exponent)


def test_a_cell_says_its_seconds_and_its_peak():
    cell = scale.USUAL._replace(rows=300, columns=3, rounds=1, threads=1, method="KbPIB", engine="callback")
    found = scale_cell.measured(cell)
    assert json.loads(json.dumps(found)) == found
    assert found["repeats"] == scale_cell.REPEATS
    assert 0 < found["seconds"] < 60
    assert found["peak_mib"] >= found["libraries_mib"] > 10


def table_of(*rows):
    """Lines of the CSV from (dataset, rows, repeat, method, kl_weight, valid_auc, test_auc)."""
    names = [*curves.CELL, "method", "kl_weight", "valid_auc", "test_auc"]
    return pd.DataFrame(rows, columns=names)


def test_a_draw_takes_n_rows_and_leaves_the_test_alone():
    dataset = made_set("made", 420)
    tests = []
    for step in (100, 150, 300):
        rows = curves.draw(dataset, step, 3)
        # n is all that somebody has: what trains and what validates, four to one.
        assert len(rows.train) + len(rows.valid) == step
        assert len(rows.valid) == step // 5
        parts = [set(rows.train), set(rows.valid), set(rows.test)]
        assert len(set.union(*parts)) == sum(map(len, parts))
        # Each part has the set's share of the classes.
        for part in (rows.train, rows.valid):
            assert abs(dataset.y[part].mean() - dataset.y.mean()) < 0.03
        tests.append(sorted(rows.test))
    # All steps of a repeat are tested on the same rows, another repeat on others.
    assert tests[0] == tests[1] == tests[2]
    assert sorted(curves.draw(dataset, 100, 4).test) != tests[0]


def test_kl_weight_is_chosen_on_validation_with_nf_among_the_choices():
    lines = table_of(
        ("heart", 100, 0, "NF", 0.0, 0.70, 0.60),
        ("heart", 100, 0, "JPIB", 0.3, 0.80, 0.50),
        ("heart", 100, 0, "JPIB", 1.0, 0.75, 0.90),
        ("heart", 100, 0, "KbPIB", 0.3, 0.65, 0.90),
        ("heart", 100, 0, "KbPIB", 1.0, 0.70, 0.95),
    )
    chosen = curves.chosen(lines).set_index("method")
    # The best on validation, however it does on the test.
    assert chosen.loc["JPIB", ["kl_weight", "test_auc"]].tolist() == [0.3, 0.50]
    # Of equally good ones the smaller weight; kl_weight 0 is NF.
    assert chosen.loc["KbPIB", ["kl_weight", "test_auc"]].tolist() == [0.0, 0.60]
    assert len(chosen) == 3
    gains = curves.gains_of(lines).loc[("heart", 100)]
    assert gains["JPIB"].tolist() == pytest.approx([-0.10])
    assert gains["KbPIB"].tolist() == pytest.approx([0.0])

"""Intervals of true gaps by inversion, where the noise is uniform and every limit has a formula."""

from __future__ import annotations

import numpy as np
import pytest

from pi_xgb._stats.gaps import Path, limits, p_value

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
    corrected, low, high = limits(2.0, path(slope), path(), 0.9)
    assert (low, high) == pytest.approx((LOW / slope, HIGH), abs=2e-3)
    assert corrected == pytest.approx(max(2.0, LOW / slope), abs=2e-3)


def test_groups_more_alike_than_alike_ones_are_no_proof():
    # The upper limit is that of -.68, above which 84 % lie where there is no gap.
    corrected, low, high = limits(-0.9, path(), path(), 0.9)
    assert (corrected, low) == (0, 0)
    assert high == pytest.approx(0.16 / (0.5 + 0.05 / 1.8), abs=2e-3)


def test_beyond_all_levels_the_last_one_is_the_limit():
    assert limits(10.0, path(), path(), 0.9) == (4, 4, 4)


def test_p_counts_the_rows_as_a_draw():
    null = np.array([0.0, 0.1, 0.2, 0.3])
    assert p_value(null, 0.2 + 1e-12) == 3 / 5
    assert p_value(null, 1.0) == 1 / 5

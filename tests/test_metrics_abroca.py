"""ABROCA: against areas known by hand, exact fractions, and numerical integration."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_xgb import metrics
from pi_xgb.metrics import UndefinedRateWarning

few = settings(max_examples=30, deadline=None)


def rows_of(ranking):
    """Labels and scores of a ranking from the highest score: "P", "N", and "(PN)" for a tie."""
    labels, scores, level, tied = [], [], 0, False
    for mark in ranking:
        if mark in "()":
            tied = mark == "("
        else:
            labels.append(int(mark == "P"))
            scores.append(-level)
        if not tied:
            level += 1
    return labels, scores


def abroca_of(*rankings, **options):
    """ABROCA of groups given as rankings."""
    parts = [rows_of(ranking) for ranking in rankings]
    y = [label for labels, _ in parts for label in labels]
    s = [score for _, scores in parts for score in scores]
    g = [i for i, (labels, _) in enumerate(parts) for _ in labels]
    return metrics.abroca(y, s, sensitive_features=g, **options)


def random_rows(seed, n, levels, n_groups=2):
    """Rows in which every group has both labels; few levels make many ties."""
    rng = np.random.default_rng(seed)
    y = np.r_[rng.integers(0, 2, n), np.tile([0, 1], n_groups)]
    g = np.r_[rng.integers(0, n_groups, n), np.repeat(np.arange(n_groups), 2)]
    return y, rng.integers(0, levels, y.size) / levels, g


random_data = st.builds(
    random_rows, st.integers(0, 2**32 - 1), st.integers(0, 25), st.sampled_from([1, 2, 4, 1000]), st.just(2)
)


def exact_points(y, s):
    """The corners of a ROC curve as fractions."""
    positives, negatives = int(sum(y)), int(len(y) - sum(y))
    points = [(Fraction(0), Fraction(0))]
    for cut in sorted(set(s), reverse=True):
        selected = [label for label, score in zip(y, s, strict=True) if score >= cut]
        hits = int(sum(selected))
        points.append((Fraction(len(selected) - hits, negatives), Fraction(hits, positives)))
    return points


def exact_height(points, t):
    """The curve at a false positive rate that is no corner's."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 < t < x1:
            return y0 + (y1 - y0) * (t - x0) / (x1 - x0)
    raise AssertionError(f"{t} is a corner")


def exact_abroca(y, s, g):
    """The definition in fractions: between corners the difference is a line, given by two of its points."""
    single, other = (exact_points(y[g == a], s[g == a]) for a in (0, 1))
    corners = sorted({x for x, _ in single + other})
    area = Fraction(0)
    for left, right in pairwise(corners):
        width = right - left
        third, two_thirds = (
            exact_height(single, left + width * k / 3) - exact_height(other, left + width * k / 3) for k in (1, 2)
        )
        start, end = 2 * third - two_thirds, 2 * two_thirds - third
        if start * end < 0:
            # Two triangles that meet where the curves cross.
            share = start / (start - end)
            area += width * (share * abs(start) + (1 - share) * abs(end)) / 2
        else:
            area += width * (abs(start) + abs(end)) / 2
    return area


class TestKnownAreas:
    @pytest.mark.parametrize(
        ("single", "other", "area"),
        [
            ("PN", "(PN)", 1 / 2),  # perfect against the diagonal
            ("PN", "NP", 1),  # perfect against perfectly wrong; single points
            ("NP", "(PN)", 1 / 2),
            ("PPNN", "(PPNN)", 1 / 2),
            ("PNPN", "(PN)", 1 / 4),  # stairs 1/2, 1 over the diagonal: 1/8 + 1/8
            ("PNNP", "(PN)", 1 / 4),  # flat at 1/2, crosses the diagonal in the middle of a piece
            ("PNNP", "NPPN", 1 / 2),  # 1/2 against 0, then 1/2 against 1: areas under them agree
            ("(PN)(PN)", "(PPNN)", 0),  # corners on the diagonal
            ("(PPN)N", "(PN)", 1 / 4),  # from 0 to 1 up to fpr 1/2, then flat: a triangle
            ("(PPN)N", "P(PNN)", 1 / 6),  # cross at 1/3: 1/12 before, 1/48 up to 1/2, then 1/16
            ("PPPN", "PN", 0),  # as many rows or not, both are perfect
        ],
    )
    def test_by_hand(self, single, other, area):
        assert abroca_of(single, other) == pytest.approx(area, abs=1e-15)
        assert abroca_of(other, single) == abroca_of(single, other)


class TestSecondFormulations:
    @few
    @given(random_data)
    def test_exact_fractions(self, drawn):
        y, s, g = drawn
        # The fast computation and the definition in fractions agree, ties, verticals and crossings included.
        assert metrics.abroca(y, s, sensitive_features=g) == pytest.approx(float(exact_abroca(y, s, g)), abs=1e-14)

    @pytest.mark.parametrize("n_groups", [3, 5])
    def test_many_groups(self, n_groups):
        y, s, g = random_rows(1, 120, 20, n_groups)
        pairs = [
            metrics.abroca(y[both], s[both], sensitive_features=g[both])
            for a, b in combinations(range(n_groups), 2)
            for both in [(g == a) | (g == b)]
        ]
        # Of many groups: the largest area over all pairs.
        assert metrics.abroca(y, s, sensitive_features=g) == max(pairs)
        each = metrics.one_vs_rest(metrics.abroca, y, s, sensitive_features=g)
        by_hand = [metrics.abroca(y, s, sensitive_features=g == a) for a in range(n_groups)]
        np.testing.assert_allclose(each, by_hand, atol=1e-15)


class TestProperties:
    @few
    @given(random_data, st.randoms(use_true_random=False))
    def test_invariances(self, drawn, random):
        y, s, g = drawn
        area = metrics.abroca(y, s, sensitive_features=g)
        assert metrics.abroca(y, s, sensitive_features=1 - g) == area
        order = random.sample(range(len(y)), len(y))
        assert metrics.abroca(y[order], s[order], sensitive_features=g[order]) == pytest.approx(area, abs=1e-14)
        # Only the order of the scores counts: margins do as well as probabilities.
        assert metrics.abroca(y, 7 * s - 3, sensitive_features=g) == pytest.approx(area, abs=1e-14)
        # Mirroring both curves in the falling diagonal (other label, other direction) keeps the area.
        assert metrics.abroca(1 - y, -s, sensitive_features=g) == pytest.approx(area, abs=1e-14)
        # A whole-number weight repeats the row, a weight of 0 removes it.
        weight = np.array([random.randint(1, 3) for _ in y])
        repeated = metrics.abroca(np.repeat(y, weight), np.repeat(s, weight), sensitive_features=np.repeat(g, weight))
        got = metrics.abroca(y, s, sensitive_features=g, sample_weight=weight / 2)
        assert got == pytest.approx(repeated, abs=1e-14)
        extra = metrics.abroca(
            np.r_[y, y], np.r_[s, s[::-1]], sensitive_features=np.r_[g, g], sample_weight=np.repeat([1, 0], len(y))
        )
        assert extra == pytest.approx(area, abs=1e-14)


class TestUndefined:
    y = np.array([1, 0, 1, 1, 0, 1])
    s = np.array([0.9, 0.1, 0.3, 0.2, 0.7, 0.6])
    g = np.array(list("aabbcc"))

    def test_nan_and_the_group_is_named(self):
        with pytest.warns(UndefinedRateWarning, match=r"ROC.*\(NaN\).*'b'") as caught:
            assert np.isnan(metrics.abroca(self.y, self.s, sensitive_features=self.g))
        assert caught[0].filename == __file__

    def test_skip(self):
        with pytest.warns(UndefinedRateWarning, match="'b'"):
            # What is left is perfect against perfectly wrong.
            assert metrics.abroca(self.y, self.s, sensitive_features=self.g, undefined="skip") == 1

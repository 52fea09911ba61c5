"""The draws behind what chance makes of a gap: against loops, with generators that draw what is expected."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_curve

from pi_xgb import metrics
from pi_xgb._rows.groups import as_groups
from pi_xgb._stats.gaps import Path
from pi_xgb.metrics import _chance, _curve_noise
from pi_xgb.metrics._abroca import merge
from pi_xgb.metrics._chance import Draws
from pi_xgb.metrics._curve_noise import CELLS, Curves, curves_of
from pi_xgb.metrics._disparities import gap
from pi_xgb.metrics._rate_noise import Rates, crowd, rates_of
from pi_xgb.metrics._rates import Decisions, ScoredRows
from pi_xgb.metrics._words import sentence, verdict

STEPS = (np.arange(20) / 19) ** 1.3
GRID = 48
MIDDLES, EDGES = (np.arange(48) + 0.5) / 48, np.arange(49) / 48


def rows_of(seed, n=200, n_groups=4):
    rng = np.random.default_rng(seed)
    group = np.r_[np.arange(n_groups).repeat(4), rng.integers(0, n_groups, n)]
    p = np.clip(rng.random(len(group)) + np.array([0.1, 0, 0.05, 0.4])[group], 0, 1).round(2)
    p[: 4 * n_groups] = np.tile([0.2, 0.4, 0.6, 0.8], n_groups)
    y = rng.random(len(group)) < p
    y[: 4 * n_groups] = np.tile([False, True, False, True], n_groups)
    return y, p, group, rng.uniform(0.5, 3, len(group))


class Expected:
    """A generator that draws what is expected, and keeps what it was asked."""

    def binomial(self, rows, rates, size):
        self.rates = rates
        return np.broadcast_to(rows * rates, size)

    def multinomial(self, rows, shares, size):
        assert shares.sum(axis=-1) == pytest.approx(1)
        assert size[1] == len(rows)
        return np.broadcast_to(rows[:, None] * shares, (*size, shares.shape[-1]))


# --- rates --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["statistical_parity", "equal_opportunity", "equalized_odds", "predictive_parity"])
def test_rates_are_those_of_the_metric_and_of_as_many_equal_rows(name, weighted):
    y, p, group, weight = rows_of(0)
    weight = weight if weighted else None
    found = rates_of(Decisions(y, p > 0.5, weight, as_groups(group)), name)
    table = metrics.disparity_report(y, p, sensitive_features=group, sample_weight=weight, metrics=name, n_boot=0)
    assert found.value == found.observed() == pytest.approx(table.loc[name, "value"])
    among = {
        "statistical_parity": [np.full(len(y), True)],
        "equal_opportunity": [y],
        "equalized_odds": [y, ~y],
        "predictive_parity": [p > 0.5],
    }[name]
    for rows, rates, counted in zip(found.rows, found.rates, among, strict=True):
        for code in range(4):
            own = counted & (group == code)
            w = np.ones(own.sum()) if weight is None else weight[own]
            hit = y[own] if name == "predictive_parity" else p[own] > 0.5
            assert rows[code] == round(w.sum() ** 2 / (w**2).sum())
            assert rates[code] == pytest.approx(np.average(hit, weights=w))
    apart = {(a, b): np.abs(found.rates[:, a] - found.rates[:, b]).sum() for a, b in combinations(range(4), 2)}
    assert found.widest_pair() == max(apart, key=apart.get)
    # Fewer draws would give an interval that says nothing.
    assert (found.draws(7), found.draws(700)) == (100, 700)


def test_of_pairs_that_lie_as_far_apart_the_first_is_named():
    assert Rates(np.array([[0.1, 0.3, 0.1 + 0.2]]), np.full((1, 3), 10)).widest_pair() == (0, 1)
    assert Rates(np.array([[0.3, 0.1, 0.2, 0.4]]), np.full((1, 4), 10)).widest_pair() == (1, 3)
    # A group does not differ from itself, also where all are alike.
    assert Rates(np.zeros((2, 3)), np.full((2, 3), 10)).widest_pair() == (0, 1)


def test_a_group_of_next_to_no_weight_is_one_row():
    groups = as_groups(["a", "a", "b", "b"])
    found = rates_of(
        Decisions(np.ones(4, bool), np.arange(4) > 0, np.array([1.0, 1, 1e-9, 0]), groups), "equal_opportunity"
    )
    assert found.rows.tolist() == [[2, 1]]


def test_groups_crowd_at_both_ends():
    # The middle of the range is 0.5: twice as far from there, but not beyond the ends.
    found = crowd(np.array([[0.1, 0.4, 0.55, 0.8, 0.9], [0.2, 0.29, 0.33, 0.4, 0.3]]), 2.0)
    np.testing.assert_allclose(found, [[0.1, 0.3, 0.6, 0.9, 0.9], [0.2, 0.28, 0.36, 0.4, 0.3]])


def centred(shape, rows):
    return shape - (shape * rows).sum() / rows.sum()


@pytest.mark.parametrize("alike", [False, True])
def test_one_rate_goes_its_own_way_to_the_gap(alike):
    rows = np.array([[40, 30, 90, 20]])
    rates = np.full((1, 4), 0.45) if alike else np.array([[0.4, 0.452, 0.5, 0.48]])
    found, generator = Rates(rates, rows), Expected()
    centre = (rates * rows).sum() / rows.sum()
    shape = np.array([-0.5, 0.5, -0.5, 0.5]) if alike else rates[0] - centre
    error = max(np.sqrt(max(centre * (1 - centre), 0.25 / rows.sum()) / rows[0]))
    paths = {"plain": (found.value + 5 * error, shape)}
    if not alike:
        pushed = (shape.max() + shape.min()) / 2 + np.clip(5 * (shape - (shape.max() + shape.min()) / 2), -0.05, 0.05)
        paths["crowded"] = found.value, pushed
    for name, (furthest, shape) in paths.items():
        path = getattr(found, name)(3, generator)
        steps = furthest * STEPS[:, None] / np.ptp(shape)
        expected = np.clip(centre + steps * centred(shape, rows[0]), 0, 1)
        np.testing.assert_allclose(generator.rates[:, 0], expected)
        np.testing.assert_allclose(path.truth, np.ptp(expected, axis=1), atol=1e-12)
        np.testing.assert_allclose(path.seen, np.tile(path.truth, (3, 1)), atol=1e-12)
    # What nobody or everybody has may be somebody's all the same: a quarter in all rows together.
    never = Rates(np.zeros((1, 2)), np.array([[10, 30]]))
    never.plain(1, generator)
    np.testing.assert_allclose(generator.rates[-1], [[0, 5 * np.sqrt(0.25 / 40 / 10) / 4]])


@pytest.mark.parametrize(
    ("rates", "single", "other"),
    [
        ([[0.4, 0.45, 0.5], [0.52, 0.5, 0.46]], 0, 2),
        ([[0.4, 0.45, 0.5], [0.5, 0.48, 0.5]], 0, 2),  # the second is the same at both ends
        ([[0.55, 0.4, 0.57], [0.45, 0.4, 0.425]], 0, 1),  # the third lies beyond the first, in that direction
    ],
)
def test_two_rates_go_together_each_as_far_as_its_noise(rates, single, other):
    rows, rates = np.array([[40, 30, 90], [300, 200, 100]]), np.array(rates)
    found, generator = Rates(rates, rows), Expected()
    assert found.widest_pair() == (single, other)
    path = found.plain(2, generator)
    centre = [(r * n).sum() / n.sum() for r, n in zip(rates, rows, strict=True)]
    shape = rates - np.array(centre)[:, None]
    # Where the others are between the two that lie furthest apart:
    between, middle = shape[:, single] - shape[:, other], (shape[:, single] + shape[:, other]) / 2
    place = np.clip([between @ (shape[:, k] - middle) / (between @ between) for k in range(3)], -0.5, 0.5)
    variance = [c * (1 - c) / n for c, n in zip(centre, rows, strict=True)]
    signs = np.where(between < 0, -1, 1)
    aligned = np.array([sign * np.sqrt(v.mean()) * place for sign, v in zip(signs, variance, strict=True)])
    furthest = np.abs(between).sum() + 5 * np.sqrt(sum(v.max() for v in variance))
    apart = max(np.abs(aligned[:, a] - aligned[:, b]).sum() for a, b in combinations(range(3), 2))
    moved = np.array([centred(shape, n) for shape, n in zip(aligned, rows, strict=True)])
    expected = np.array(centre)[:, None] + (furthest * STEPS / apart)[:, None, None] * moved
    np.testing.assert_allclose(generator.rates, np.clip(expected, 0, 1))
    np.testing.assert_allclose(path.truth, found.gap(np.clip(expected, 0, 1)))
    np.testing.assert_allclose(path.seen[1], path.truth)


def test_the_path_leads_five_errors_further(monkeypatch):
    monkeypatch.setattr(Rates, "_path", lambda self, shape, furthest, n_draws, generator: furthest)
    rows = np.array([[10, 30], [10, 10]])
    for rates, variances in (
        # The error of the group of which least is known, of each rate; no share is surely 0.
        (np.zeros((2, 2)), (0.25 / 40 / 10, 0.25 / 20 / 10)),
        (np.full((2, 2), 0.5), (0.25 / 10, 0.25 / 10)),
    ):
        assert Rates(rates, rows).plain(1, None) == pytest.approx(5 * np.sqrt(sum(variances)))


def test_without_a_gap_what_there_is_is_dealt():
    y, p, group, weight = rows_of(1)
    found = rates_of(Decisions(y, p > 0.5, weight, as_groups(group)), "equalized_odds")
    dealt, requested = np.random.default_rng(0).integers(0, 9, (2, 5, 4)), []

    class Dealer:
        def multivariate_hypergeometric(self, rows, ones, size):
            requested.append((rows.tolist(), ones, size))
            return dealt[len(requested) - 1]

    null = found.null_gaps(5, Dealer())
    assert requested == [
        (rows.tolist(), round((rows * rates).sum()), 5) for rows, rates in zip(found.rows, found.rates, strict=True)
    ]
    for draw in range(5):
        rates = dealt[:, draw] / found.rows
        # Of one draw, too: the largest gap of two groups.
        largest = max(np.abs(rates[:, a] - rates[:, b]).sum() for a, b in combinations(range(4), 2))
        assert null[draw] == pytest.approx(largest)


@pytest.mark.parametrize("agg", ["sum", "max"])
@pytest.mark.parametrize("undefined", ["nan", "skip"])
@pytest.mark.parametrize("name", ["statistical_parity", "equalized_odds"])
def test_gaps_of_many_tables_are_those_of_each(name, undefined, agg):
    cells = np.random.default_rng(0).integers(1, 9, (2, 3, 4, 4)).astype(float)
    cells[1, 1, 2] = [3, 1, 0, 0]
    found = gap(cells, name, undefined, agg)
    each = [[float(gap(table, name, undefined, agg)) for table in tables] for tables in cells]
    np.testing.assert_allclose(found, each, equal_nan=True)
    assert np.isnan(found).sum() == (name == "equalized_odds" and undefined == "nan")


def test_a_rate_without_noise_keeps_its_place():
    found, generator = Rates(np.array([[0.2, 0.4], [0.0, 0.0]]), np.full((2, 2), 50)), Expected()
    found.plain(1, generator)
    assert np.ptp(generator.rates[:, 1]) < 1e-6
    assert np.isfinite(generator.rates).all()


# --- curves -------------------------------------------------------------------------------------------------


def curves(seed=0, weighted=False):
    y, p, group, weight = rows_of(seed)
    weight = weight if weighted else np.ones(len(y))
    rows = ScoredRows(y, p > 0.5, weight, as_groups(group), p)
    return curves_of(rows), (y, p, group, weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_curves_are_those_of_scikit_learn(weighted):
    found, (y, p, group, weight) = curves(weighted=weighted)
    for code in range(4):
        own = group == code
        fpr, tpr, _ = roc_curve(y[own], p[own], sample_weight=weight[own], drop_intermediate=False)
        for heights, at in ((found.middles, MIDDLES), (found.edges, EDGES)):
            np.testing.assert_allclose(heights[code], np.interp(np.minimum(at + 1e-9, 1), fpr, tpr), atol=1e-6)
    assert found.value == pytest.approx(metrics.abroca(y, p, sensitive_features=group, sample_weight=weight), abs=0.02)


@pytest.mark.parametrize("weighted", [False, True])
def test_cells_count_equal_rows_by_score(weighted):
    found, (y, p, group, weight) = curves(weighted=weighted)
    cuts = sorted({np.sort(p)[int(np.ceil(k / CELLS * (len(p) - 1)))] for k in range(1, CELLS)})
    cell = np.array([sum(cut > score for cut in cuts) for score in p])
    for label, code in ((label, code) for label in (0, 1) for code in range(4)):
        own = (y == label) & (group == code)
        equal = weight[own].sum() / (weight[own] ** 2).sum()
        counts = [round(weight[own & (cell == k)].sum() * equal) for k in range(CELLS)]
        assert found.cells[label, code].tolist() == counts
    np.testing.assert_array_equal(found.rows, found.cells.sum(axis=2))
    if not weighted:
        assert found.rows.sum() == len(y)


@pytest.mark.parametrize("steepness", [1, 9, 99])
def test_groups_of_few_effective_rows_keep_one(steepness):
    y, p, group = np.tile([True, False], 50), np.arange(100) / 100, np.repeat([0, 1], 50)
    weight = np.linspace(0.1, 1, 100) ** steepness
    cells = _curve_noise.curves_of(ScoredRows(y, p > 0.5, weight, as_groups(group), p)).cells
    assert (cells.max(axis=2) > 0).all()
    # So many equal rows tell as much: fewer, the more one of them weighs.
    effective = [
        [np.square(weight[own].sum()) / np.square(weight[own]).sum() for own in (~y & (group == k), y & (group == k))]
        for k in range(2)
    ]
    np.testing.assert_allclose(cells.sum(axis=2), np.transpose(effective), atol=3)


def test_the_gap_of_curves_is_the_largest_of_all():
    found, _ = curves()
    assert found.gap(np.stack([found.middles, found.middles / 2])).tolist() == pytest.approx(
        [found.value, found.value / 2]
    )
    areas = {(a, b): np.abs(found.middles[a] - found.middles[b]).mean() for a, b in combinations(range(4), 2)}
    assert found.value == pytest.approx(max(areas.values()))
    assert found.widest_pair() == max(areas, key=areas.get)


def test_so_many_pairs_take_fewer_draws():
    # 2e8 points, of 48 on each of 20 levels for each of k² / 2 pairs.
    for k, most in ((2, 104_166), (40, 260), (100, 100)):
        source = Curves(np.zeros((k, GRID)), np.zeros((k, GRID + 1)), np.ones((2, k, CELLS), int))
        assert source.draws(10**9) == most
        assert source.draws(100) == 100


def test_counts_make_the_curve_through_them():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 4, (2, 3, 2, 10)) + np.eye(10, dtype=int)[9]
    found = _curve_noise._at_middles(counts)
    for draw, code in ((draw, code) for draw in range(3) for code in range(2)):
        fpr, tpr = (np.r_[0, np.cumsum(side[draw, code])] / side[draw, code].sum() for side in counts)
        np.testing.assert_allclose(found[draw, code], np.interp(MIDDLES, fpr, tpr), atol=1e-9)
    got, _ = curves()
    seen = _curve_noise._at_middles(got.cells[:, None])[0]
    assert got.observed() == pytest.approx(max(np.abs(a - b).mean() for a, b in combinations(seen, 2)))


def test_rows_are_dealt_as_hands_of_cards():
    side = np.zeros((3, CELLS), int)
    side[:, :3] = [[5, 0, 1], [2, 2, 6], [0, 3, 1]]
    dealt = _curve_noise._permuted(side, 4000, np.random.default_rng(0))
    # Every row is dealt, and each group has as many as before.
    assert (dealt.sum(axis=1) == side.sum(axis=0)).all()
    assert (dealt.sum(axis=2) == side.sum(axis=1)).all()
    assert (dealt >= 0).all()
    total, sizes, cells = side.sum(), side.sum(axis=1)[:, None], side.sum(axis=0)
    share = cells / total
    np.testing.assert_allclose(dealt.mean(axis=0), sizes * share, atol=0.1)
    variance = sizes * share * (1 - share) * (total - sizes) / (total - 1)
    np.testing.assert_allclose(dealt.var(axis=0), variance, atol=0.12)


def test_samples_are_drawn_from_the_curve():
    found, _ = curves()
    edges = np.array([0.0 * EDGES, EDGES, 1.5 * EDGES - 0.2, np.sqrt(EDGES)])
    edges[0, 5:9] = [0.5, 0.25, 0.75, 0.6]
    drawn = found._drawn(edges, 2, Expected())
    assert drawn.shape == (2, 4, GRID)
    # A curve rises from 0 to 1, whatever is asked.
    risen = np.maximum.accumulate(np.clip(edges, 0, 1), axis=1)
    risen[:, -1] = 1
    np.testing.assert_allclose(drawn[1], (risen[:, 1:] + risen[:, :-1]) / 2, atol=1e-9)


def along(found, alike):
    """Where each group lies between the two furthest apart, and their difference at the middles and at the edges."""
    single, other = found.widest_pair()
    if alike:
        return np.array([-0.5, 0.5, -0.5, 0.5]), MIDDLES * (1 - MIDDLES), EDGES * (1 - EDGES)
    between = found.middles[single] - found.middles[other]
    middle = (found.middles[single] + found.middles[other]) / 2
    place = [(curve - middle) @ between / (between @ between) for curve in found.middles]
    return np.clip(place, -0.5, 0.5), between, found.edges[single] - found.edges[other]


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("kind", ["plain", "crowded"])
def test_curves_go_their_way_to_the_gap(kind, alike):
    found, _ = curves(3)
    if alike:
        found = Curves(*(np.tile(part[0], (4, 1)) for part in (found.middles, found.edges)), found.cells)
    positives = found.rows[1]
    place, between, between_edges = along(found, alike)
    path = getattr(found, kind)(50, np.random.default_rng(7))
    if kind == "plain":
        noise = found._drawn(found.edges, 50, np.random.default_rng(7)) - found.middles
        single, other = found.widest_pair()
        spread = np.array([np.std([draw[single, j] - draw[other, j] for draw in noise]) for j in range(GRID)])
        shape = (place - np.average(place, weights=positives))[:, None] * np.maximum(spread, 1e-9)
        furthest = found.value + 5 * spread.mean()
    else:
        place = np.clip(5 * place, -0.5, 0.5)  # pushed from the middle, which is 0
        place = place - np.average(place, weights=positives)
        mean, mean_edges = (np.average(part, axis=0, weights=positives) for part in (found.middles, found.edges))
        edges = np.array([mean_edges + at * between_edges / 2 for at in place])
        noise = found._drawn(edges, 50, np.random.default_rng(7)) - mean - place[:, None] * between / 2
        shape, furthest = place[:, None] * between, found.value
    np.testing.assert_allclose(path.truth, furthest * STEPS, atol=1e-12)
    for level in range(20):
        seen = found.gap(path.truth[level] / found.gap(shape) * shape + noise)
        np.testing.assert_allclose(path.seen[:, level], seen, atol=1e-9)


def test_no_curve_lies_beyond_the_two_furthest_apart():
    # Further than the first from the second in that direction, but not as far in all.
    steps = np.array([[0.15, 0.05], [0, 0], [0.17, 0.025]]).repeat(24, axis=1)
    found = Curves(0.3 + steps, np.tile(EDGES, (3, 1)), np.ones((2, 3, CELLS), int))
    assert found.widest_pair() == (0, 1)
    assert found._along_widest()[0].tolist() == [0.5, -0.5, 0.5]


def test_two_knots_in_one_place_are_one():
    assert merge(np.array([0, 0.5, 1]), np.array([0, 0.25, 0.5, 1])).tolist() == [0, 0.25, 0.5, 1]


# --- what is told -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_larger", "n_null", "low"), [(4, 9, 1.0), (5, 9, 0.0), (9, 0, 1.0)])
def test_the_interval_leaves_out_0_where_the_test_does(n_larger, n_null, low, monkeypatch):
    # Without noise the limits are the gap itself.
    path = Path(np.array([0.0, 1.0, 2.0]), np.tile([0.0, 1.0, 2.0], (100, 1)))
    requested = []
    gap = SimpleNamespace(
        value=1.0,
        widest_pair=lambda: (0, 1),
        draws=lambda wanted: requested.append(wanted) or wanted,
        null_gaps=lambda n, generator: np.r_[np.full(n_larger, 2.0), np.zeros(n - n_larger)],
        observed=lambda: 1.0,
        crowded=lambda n, generator: path,
        plain=lambda n, generator: path,
        least_limit=lambda confidence: 0.0,
    )
    rows = SimpleNamespace(groups=SimpleNamespace(names=pd.Index(["a", "b"])))
    monkeypatch.setattr(_chance, "comparable", lambda rows, name: rows)
    monkeypatch.setattr(_chance, "gap_of", lambda *how: gap)
    found = Draws(100, n_null, 0.5).statistics(rows, "abroca", None)
    assert requested == [n_null] * bool(n_null) + [100]
    assert (found["low"], found["between"]) == (pytest.approx(low, abs=0.5 * (low > 0)), "a – b")
    if n_null:
        # One half is not above one half.
        assert found["p_value"] == (1 + n_larger) / 10
        assert found["chance"] == pytest.approx(2 * n_larger / 9)
    else:
        assert np.isnan(found["p_value"])


def test_usually_a_null_of_1999_is_drawn():
    y = np.tile([0, 1], 100)
    reported = metrics.disparity_report(y, y, sensitive_features=y, metrics="statistical_parity", n_boot=10)
    assert reported.loc["statistical_parity", "p_value"] == 1 / 2000
    with pytest.raises(TypeError, match=r"n_null.*100.5"):
        metrics.disparity_report(y, y, sensitive_features=y, n_null=100.5)


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
def test_a_gap_is_told_in_a_sentence(expected, confidence, word, words):
    assert verdict(pd.Series(expected), confidence) == word
    assert sentence("Parity", pd.Series(expected), confidence) == words


def test_a_path_does_not_depend_on_where_each_rate_of_its_shape_lies():
    found = Rates(np.array([[0.2, 0.4, 0.5], [0.3, 0.1, 0.2]]), np.array([[20, 30, 40], [50, 60, 70]]))
    shape = np.array([[-1.0, 0.0, 1.0], [0.5, -0.5, 0.0]])
    moved = shape + np.array([[3.0], [-1.0]])
    here, there = (found._path(each, 0.4, 50, np.random.default_rng(0)) for each in (shape, moved))
    np.testing.assert_allclose(here.truth, there.truth)
    np.testing.assert_array_equal(here.seen, there.seen)

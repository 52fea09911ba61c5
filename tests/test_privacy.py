"""Private teachers: the noise is what the proof needs, budgets add up, what would break the promise is refused."""

from __future__ import annotations

import itertools
import math
import pickle
import re
import sys
import types

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

import pi_xgb
from pi_xgb._privacy import dp_ebm as dp_ebm_module
from pi_xgb._privacy import histogram, mechanisms
from pi_xgb._privacy import teacher as privacy_teacher
from pi_xgb._privacy.audit import _canary, _differing_rows, _scores
from pi_xgb._privacy.bounds import best_cut, bound_of, chance_of, from_guesses, from_rates
from pi_xgb._privacy.budget import LARGEST_EPSILON, SMALLEST_EPSILON, Budget, Spent, check_budget
from pi_xgb._privacy.domain import Domain
from pi_xgb._privacy.mechanisms import (
    STEPS,
    Laplace,
    OpenDPNoise,
    RandomizedResponse,
    SeededNoise,
    noise_named,
)
from pi_xgb._privacy.own_model import OwnModel
from pi_xgb._privacy.smoothing import LEVELS, public_numbers, smoothed
from pi_xgb.constraints import DemographicParity
from pi_xgb.privacy import PrivateTeacher, audit

PARAMS = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1}
EPSILON, DELTA = 1.0, 1e-6
BOUNDS = {"z0": (-3, 3), "z1": (-3, 3)}


@pytest.fixture(autouse=True)
def the_same_noise_in_every_run(monkeypatch):
    """Noise of the same distribution in the place of OpenDP's, which has no seed and need not be installed here."""
    seeds = itertools.count()
    monkeypatch.setattr(privacy_teacher, "OpenDPNoise", lambda: SeededNoise(next(seeds)))


@pytest.fixture(scope="module")
def data():
    return pi_xgb.datasets.make_privileged(400, n_privileged=2, seed=0)


@pytest.fixture(scope="module")
def dtrain(data):
    return xgb.DMatrix(data.x, data.y)


def fitted(data, seed=None, labelled=None, x=None, **options):
    keywords = {"epsilon": EPSILON, "delta": DELTA, "bounds": BOUNDS, "bins": 4, "unsafe_seed": seed, **options}
    teacher = PrivateTeacher(keywords.pop("epsilon"), keywords.pop("delta"), **keywords)
    return teacher.fit(data.z, data.y, labelled=labelled, x=x)


@pytest.fixture
def no_noise_in_tables(monkeypatch):
    real = SeededNoise.laplace

    def laplace(self, values, moved, epsilon):
        return values if moved == histogram.MOVED else real(self, values, moved, epsilon)

    monkeypatch.setattr(SeededNoise, "laplace", laplace)


# ---- the noise


@pytest.fixture(params=["seeded", "opendp"])
def source(request):
    if request.param == "seeded":
        return SeededNoise(1)
    pytest.importorskip("opendp.prelude", reason="OpenDP draws the noise")
    return OpenDPNoise()


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(2, 1.0), (2, 0.25), (1, 3.0)])
def test_laplace_noise_has_the_stated_distribution(source, sensitivity, epsilon):
    noise = source.laplace(np.full(20_000, 7), sensitivity, epsilon) - 7
    rate = epsilon / sensitivity
    edge = int(5 / rate)
    ks = np.arange(-edge, edge + 1)
    chance = np.tanh(rate / 2) * np.exp(-rate * np.abs(ks))
    counts = np.array([(noise == k).sum() for k in ks])
    observed = np.append(counts, len(noise) - counts.sum())
    expected = np.append(chance, 1 - chance.sum()) * len(noise)
    assert stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue > 1e-6


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_bits_are_flipped_with_the_stated_probability(source, epsilon):
    bits = np.arange(50_001) % 3 == 0
    flipped = source.flip(bits, epsilon)
    assert flipped.dtype == bool
    for part in (bits, ~bits):
        n_flipped = int((flipped != bits)[part].sum())
        assert stats.binomtest(n_flipped, int(part.sum()), 1 / (1 + math.exp(epsilon))).pvalue > 1e-6
    assert source.flip(bits[:0], epsilon).shape == (0,)


@pytest.mark.parametrize("epsilon", [1e-6, 1 / 3, 1.0, 20.0, 100.0])
def test_opendp_certifies_the_epsilon_of_the_noise(monkeypatch, epsilon):
    """The mechanism that is called is certified, and its noise is not larger than needed."""
    dp = pytest.importorskip("opendp.prelude", reason="OpenDP draws the noise")
    made = []
    for name in ("make_laplace", "make_randomized_response_bitvec"):
        real = getattr(dp.m, name)
        monkeypatch.setattr(
            dp.m, name, lambda *given, real=real, **more: made.append((given, more)) or real(*given, **more)
        )
    for sensitivity in (histogram.MOVED, STEPS):
        OpenDPNoise().laplace(np.zeros(3, np.int64), sensitivity, epsilon)
        domain, options = made[-1]
        certified = dp.m.make_laplace(*domain, **options).map(sensitivity)
        assert epsilon * (1 - 1e-11) < certified <= epsilon
    OpenDPNoise().flip(np.ones(9, bool), epsilon)
    (_, distance), options = made[-1]
    certified = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(1), distance, **options).map(1)
    assert epsilon * (1 - 1e-5) < certified / 2 <= epsilon


def test_noise_that_opendp_does_not_certify_is_not_released(monkeypatch):
    pytest.importorskip("opendp.prelude", reason="OpenDP draws the noise")
    monkeypatch.setattr(mechanisms, "_ROUNDING", 0.9)
    for release in (
        lambda: OpenDPNoise().laplace(np.zeros(3, int), 2, 1.0),
        lambda: OpenDPNoise().flip(np.ones(3, bool), 1.0),
    ):
        with pytest.raises(RuntimeError, match=r"OpenDP must certify epsilon 1, got 1\.1"):
            release()
    monkeypatch.setattr(mechanisms, "_ROUNDING", 1.0)
    OpenDPNoise().laplace(np.zeros(3, int), 2, 2.0)  # certifies 2 exactly


def test_noise_is_that_of_opendp_unless_there_is_a_seed(monkeypatch):
    monkeypatch.setattr(privacy_teacher, "OpenDPNoise", lambda: "opendp")
    bounds = {"z0": (-3, 3)}
    assert isinstance(PrivateTeacher(1.0, bounds=bounds, unsafe_seed=3)._source, SeededNoise)
    assert PrivateTeacher(1.0, bounds=bounds)._source == "opendp"


def test_without_opendp_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(privacy_teacher, "OpenDPNoise", OpenDPNoise)
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(ImportError, match=r"OpenDP.*\.\[private\]"):
        PrivateTeacher(1.0, bounds=BOUNDS)
    assert PrivateTeacher(1.0, bounds=BOUNDS, unsafe_seed=0)


@pytest.mark.parametrize("epsilon", [0.3, 2.0, 8.0])
@pytest.mark.parametrize("kind", [Laplace, RandomizedResponse])
def test_noisy_predictions_are_unbiased_and_have_the_stated_variance(kind, epsilon):
    shares = np.array([0.0, 0.2, 0.5, 1.0]).repeat(50_000)
    noise = kind(epsilon)
    shown = noise.release(shares, SeededNoise(0)).reshape(4, -1)
    error = (shown.mean(axis=1) - [0, 0.2, 0.5, 1]) / math.sqrt(noise.variance / 50_000)
    assert np.abs(error).max() < 4
    assert shown[2].var() == pytest.approx(noise.variance, rel=0.05)
    assert shown.var(axis=1).max() < 1.05 * noise.variance


def test_laplace_noise_is_added_in_steps(monkeypatch):
    monkeypatch.setattr(SeededNoise, "laplace", lambda self, values, moved, epsilon: values + np.array([5, -3, 0, 0]))
    shown = Laplace(1.0).release(np.array([7 / STEPS, 7.4 / STEPS, 1.001, -0.001]), SeededNoise(0))
    assert (shown * STEPS).tolist() == [12, 4, STEPS, 0]


def test_randomized_response_shows_one_of_two_numbers():
    shown = RandomizedResponse(1.0).release(np.full(1000, 0.3), SeededNoise(0))
    ends = 0.5 + np.array([-0.5, 0.5]) * (math.e + 1) / (math.e - 1)
    np.testing.assert_allclose(np.unique(shown), ends)


def test_auto_takes_the_noise_that_varies_less():
    kinds = [type(noise_named("auto", epsilon)) for epsilon in (0.1, 1, 2, 3, 10)]
    assert kinds == [RandomizedResponse] * 3 + [Laplace] * 2


def test_two_teachers_have_different_noise(data):
    assert not np.array_equal(fitted(data).values, fitted(data).values)


# ---- sensitivity, and what a row enters


def test_the_table_moves_by_two_at_most_brute_force(no_noise_in_tables):
    domain = Domain({0: ["a", "b", "c"]})

    def counts(z, y):
        table = histogram.Histogram(domain, 2)
        table.fit(np.array(z, float)[:, None], np.array(y), Spent(1.0, 0.5), SeededNoise(0))
        return table.counts

    moves = set()
    for y in itertools.product((0, 1), repeat=3):
        for z in itertools.product(range(3), repeat=3):
            for row, value in itertools.product(range(3), range(3)):
                other = [*z[:row], value, *z[row + 1 :]]
                moves.add(int(np.abs(counts(z, y) - counts(other, y)).sum()))
    assert max(moves) == histogram.MOVED


def test_the_table_is_that_of_the_rows(data, no_noise_in_tables):
    domain = Domain({"z0": (-3, 3), "z1": (-3, 3)})
    table = histogram.Histogram(domain, 4)
    values, y = domain.read(data.z), data.y.to_numpy()
    table.fit(values, y, Spent(1e6, 0.5), SeededNoise(0))  # so large an epsilon draws no cell to the mean
    bins = [
        pd.cut(data.z[name].clip(-3, 3), np.linspace(-3, 3, 5), right=False, include_lowest=True) for name in data.z
    ]
    rows = pd.DataFrame({"a": bins[0].cat.codes, "b": bins[1].cat.codes, "y": y}).replace(-1, 3)
    for (a, b), cell in rows.groupby(["a", "b"]):
        assert table.counts[4 * a + b].tolist() == [(cell["y"] == 0).sum(), (cell["y"] == 1).sum()]
    share = rows.groupby(["a", "b"])["y"].transform("mean")
    n = rows.groupby(["a", "b"])["y"].transform("size")
    assert np.allclose(table.predict(values), (share * n + y.mean()) / (n + 1), atol=1e-4)
    assert table.range == (table._shares.min(), table._shares.max())


def test_from_the_model_on_a_row_stands_for_itself(data, no_noise_in_tables, monkeypatch):
    # With the same model, another z in one row changes what is shown of that row alone.
    monkeypatch.setattr(histogram.Histogram, "predict", lambda self, values: 0.3 + 0.1 * (values[:, 0] > 0))
    monkeypatch.setattr(histogram.Histogram, "range", (0.3, 0.4))
    other = data._replace(z=data.z.copy())
    other.z.iloc[7, 0] = -3 if data.z.iloc[7, 0] > 0 else 3
    changed = fitted(data, seed=0, noise="laplace").values != fitted(other, seed=0, noise="laplace").values
    assert np.flatnonzero(changed).tolist() == [7]


def test_a_row_without_a_label_is_in_no_table_and_has_the_whole_epsilon(data):
    labelled = np.arange(400) < 200
    other = data._replace(z=data.z.copy(), y=data.y.copy())
    other.z.iloc[200:] = 0.0
    other.y.iloc[200:] = 7  # is never looked at
    single, two = (fitted(rows, seed=0, labelled=labelled) for rows in (data, other))
    assert np.array_equal(single.values[:200], two.values[:200])
    assert single.noise_variance[0] > single.noise_variance[399]
    width = single.values[200:].max() - single.values[200:].min()  # of randomized response of epsilon 1
    half = fitted(data, seed=0, labelled=labelled, epsilon=2.0)
    assert half.noise_variance[0] / (half.values[:200].max() - half.values[:200].min()) ** 2 == pytest.approx(
        single.noise_variance[399] / width**2, rel=1e-6
    )


def test_a_private_teacher_remembers_its_labelled_rows(data, dtrain):
    labelled = np.arange(400) < 200
    teacher = fitted(data, seed=0, labelled=labelled)
    assert pi_xgb.train(PARAMS, dtrain, 2, teacher=teacher, labelled=labelled).num_boosted_rounds() == 2
    part = teacher.shard(np.arange(190, 210))
    assert part.labelled.tolist() == labelled[190:210].tolist()
    for other, mask in ((teacher, None), (teacher, ~labelled), (fitted(data, seed=0), labelled)):
        with pytest.raises(ValueError, match="labelled must be that of the teacher"):
            pi_xgb.train(PARAMS, dtrain, 2, teacher=other, labelled=mask)


@pytest.mark.parametrize("clip", [0.0, 0.2])
def test_predictions_lie_within_the_models_range_for_any_row(data, clip, monkeypatch):
    seen = []
    real = Laplace.release
    monkeypatch.setattr(
        Laplace, "release", lambda self, shares, source: seen.append(shares) or real(self, shares, source)
    )
    fitted(data, clip=clip, noise="laplace")
    assert all(((shares >= -1e-9) & (shares <= 1 + 1e-9)).all() for shares in seen)


@pytest.mark.parametrize("labelled", [False, True])
def test_rare_outcomes_are_not_flattened(no_noise_in_tables, labelled):
    random = np.random.default_rng(0)
    z = random.integers(0, 4, 20_000)
    y = (random.random(20_000) < 0.004 * z).astype(int)  # 0.6 %
    known = random.random(20_000) < 0.8 if labelled else None
    rare = y.mean() if known is None else y[known].mean()
    for label in (y, 1 - y):
        teacher = PrivateTeacher(4.0, 1e-6, bounds={0: [0, 1, 2, 3]}).fit(z, label, labelled=known)
        assert teacher.clip == pytest.approx(rare / 10)
        assert abs(teacher.values.mean() - label.mean()) < 0.004
    assert PrivateTeacher(4.0, 1e-6, bounds={0: [0, 1, 2, 3]}, clip=0.002).fit(z, y, labelled=known).clip == 0.002
    for clip in (0.05, 0.007):
        with pytest.warns(UserWarning, match=rf"clip={clip} flattens the noisy predictions.*0\.0"):
            PrivateTeacher(4.0, 1e-6, bounds={0: [0, 1, 2, 3]}, clip=clip).fit(z, y, labelled=known)


@pytest.mark.parametrize("label", [0, 1])
def test_a_clip_above_the_share_of_the_rarer_label_warns(label):
    """Nearly all rows are then flattened, whatever the range of the model, which one noisy cell can widen."""
    y = np.full(1000, label)
    y[:10] = 1 - label
    z = np.zeros((1000, 1))
    with pytest.warns(UserWarning, match=r"clip=0\.05 flattens.*rarer label has a share of 0\.01"):
        PrivateTeacher(EPSILON, DELTA, teacher=Own(), clip=0.05).fit(z, y)
    PrivateTeacher(EPSILON, DELTA, teacher=Own(), clip=0.01).fit(z, y)


def test_edges_are_those_that_were_declared_and_not_those_of_the_data(data, no_noise_in_tables):
    far = data._replace(z=data.z.copy())
    far.z.iloc[0], far.z.iloc[1] = 1e9, -1e9  # count as the ends of the range
    near = data._replace(z=data.z.copy())
    near.z.iloc[0], near.z.iloc[1] = 3.0, -3.0
    assert np.array_equal(fitted(far, seed=0).values, fitted(near, seed=0).values)


def test_nothing_of_z_is_kept(data):
    teacher = fitted(data)
    arrays = {name for name, value in vars(teacher).items() if isinstance(value, (np.ndarray, pd.DataFrame))}
    assert arrays == {"_q", "_noise_variance", "labelled"}
    assert data.z.to_numpy()[5].tobytes() not in pickle.dumps(teacher)


# ---- what is released


@pytest.fixture
def spoken(no_noise_in_tables, monkeypatch):
    """What is released is what a table without noise says, in steps; the numbers of rows that tables have seen."""
    seen, real = [], histogram.Histogram.fit
    monkeypatch.setattr(RandomizedResponse, "release", lambda self, shares, source: shares)

    def fit(self, values, label, *rest):
        seen.append(len(label))
        real(self, values, label, *rest)

    monkeypatch.setattr(histogram.Histogram, "fit", fit)
    return seen


def sure(n=4500):
    """Privileged values that nearly tell the label: a number from 0 to 8, and a category."""
    random = np.random.default_rng(0)
    z = pd.DataFrame({"a": random.uniform(0, 8, n), "b": random.choice(["x", "y"], n)})
    y = np.where(random.random(n) < 0.02, 0, (z["a"] > 3) | (z["b"] == "y")).astype(int)
    return z, y, np.arange(n) % 3 > 0


def shares(z, y, rows, epsilon, clip):
    """The clipped share of label 1 in each of the 16 cells, drawn to that of all rows."""
    cell = np.floor(z["a"]).astype(int) * 2 + (z["b"] == "y")
    n, ones = (np.bincount(cell[rows], part[rows], minlength=16) for part in (np.ones(len(y)), y))
    prior = 1 + 2 * math.sqrt(2) * 2 / epsilon
    return np.clip((ones + prior * y[rows].mean()) / (n + prior), clip, 1 - clip), cell


def test_what_is_released_written_out(spoken):
    z, y, known = sure()
    teacher = PrivateTeacher(1.0, 1e-6, bounds={"a": (0, 8), "b": ["x", "y"]}, clip=0.05).fit(z, y, labelled=known)
    table, cell = shares(z, y, known, 0.5, 0.05)
    low, width = table.min(), np.ptp(table)
    assert low == 0.05
    np.testing.assert_allclose(teacher.values, table[cell], rtol=1e-6)
    expected = width**2 * np.where(known, RandomizedResponse(0.5).variance, RandomizedResponse(1.0).variance)
    np.testing.assert_allclose(teacher.noise_variance, expected)
    assert spoken == [3000]  # the budget is that of one table


def test_the_noise_of_counts_is_added_and_counts_below_0_are_none(monkeypatch):
    requested = []

    def laplace(counts, *options):
        requested.append(options)
        return counts + np.array([3, 0, -9, 0, 0, -1])

    table = histogram.Histogram(Domain({0: ["a", "b", "c"]}), 2)
    noise = types.SimpleNamespace(laplace=laplace)
    table.fit(np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 1, 0, 1]), Spent(2.0, 0.0), noise)
    assert requested == [(2, 2.0)]
    assert table.counts.tolist() == [[4, 1], [-8, 1], [0, -1]]
    prior = 1 + 2 * math.sqrt(2) * 2 / 2
    expected = [(1 + prior / 2) / (5 + prior), (1 + prior / 2) / (1 + prior), 1 / 2]
    np.testing.assert_allclose(table.predict(np.array([[0.0], [1.0], [2.0]])), expected)


def test_where_no_row_can_be_told_from_another_there_is_no_noise(no_noise_in_tables):
    teacher = PrivateTeacher(1.0, 1e-3, bounds={0: [0, 1]}).fit(np.arange(8) // 4, np.arange(8) % 2)
    assert teacher.values.tolist() == [0.5] * 8
    assert teacher.noise_variance.tolist() == [0] * 8


def test_a_table_has_10000_cells_at_most():
    assert len(histogram.Histogram(Domain({0: (0, 1), 1: (0, 1)}), 100)._sizes) == 2
    with pytest.raises(ValueError, match="10001 combinations"):
        histogram.Histogram(Domain({0: list(range(73)), 1: list(range(137))}), 2)


# ---- the budget


def test_a_model_may_have_the_whole_delta():
    budget = Budget(Spent(1.0, 1e-6), Spent(0.4, 1e-6))
    budget.check("")
    assert budget.rows == (0.6, 0.0)
    for total, model in (((1.0, 0.9e-6), (0.4, 1e-6)), ((1.0, 0.0), (math.nan, 0.0)), ((1.0, 0.0), (-0.1, 0.0))):
        with pytest.raises(ValueError, match="epsilon must give"):
            Budget(Spent(*total), Spent(*model)).check("")


@pytest.mark.parametrize("split", [None, 0.1, 0.9])
def test_the_budgets_add_up(data, split):
    teacher = fitted(data, split=split)
    budget = teacher.budget
    assert budget.model.epsilon + budget.rows.epsilon == budget.total.epsilon == EPSILON
    assert budget.model.delta + budget.rows.delta == budget.total.delta == DELTA
    assert teacher.spent == (EPSILON, DELTA)


@pytest.mark.parametrize(("n_labelled", "few"), [(100, True), (101, False)])
def test_with_few_labels_each_row_is_in_the_model_or_has_a_prediction(data, n_labelled, few):
    labelled = np.arange(400) < n_labelled
    teacher = fitted(data, labelled=labelled, bins=None)
    rows = (0.0, 0.0) if few else (0.5, 0.0)
    assert (teacher.budget.model.epsilon, teacher.budget.rows) == (1.0 if few else 0.5, rows)
    assert teacher.budget.total == teacher.spent == (EPSILON, DELTA)
    assert (teacher.teacher_weight is not None) == few
    if few:
        assert teacher.teacher_weight.tolist() == (~labelled).tolist()
        assert set(teacher.values[labelled]) == {np.float32(data.y[:n_labelled].mean())}
        assert set(teacher.noise_variance[labelled]) == {0}
    width = np.ptp(teacher.values[~labelled]) * math.tanh(0.5)  # of randomized response of the whole epsilon
    np.testing.assert_allclose(
        teacher.noise_variance[~labelled], width**2 * RandomizedResponse(1.0).variance, rtol=1e-5
    )


def test_with_few_labels_the_table_has_4_bins_unless_told(data, monkeypatch):
    seen, real = [], histogram.Histogram.fit

    def fit(self, *rest):
        seen.append(self._sizes)
        real(self, *rest)

    monkeypatch.setattr(histogram.Histogram, "fit", fit)
    few, many = np.arange(400) < 100, np.arange(400) < 300
    for labelled, bins in ((few, None), (many, None), (few, 3), (many, 3)):
        fitted(data, labelled=labelled, bins=bins)
    assert seen == [[4, 4], [8, 8], [3, 3], [3, 3]]


def test_a_given_split_or_an_own_model_teaches_labelled_rows_too(data):
    labelled = np.arange(400) < 50
    own = PrivateTeacher(EPSILON, DELTA, teacher=Own()).fit(data.z, data.y, labelled=labelled)
    for teacher in (fitted(data, labelled=labelled, split=0.5), own):
        assert teacher.teacher_weight is None
        assert teacher.noise_variance[labelled].min() > 0


def test_with_few_labels_another_z_of_one_row_changes_the_model_or_one_prediction(data):
    # The same noise in both: an unlabelled row is not in the model, a labelled one has no prediction.
    labelled = np.arange(400) < 50
    random = np.random.default_rng(0)
    released = fitted(data, seed=0, labelled=labelled, noise="laplace").values
    for row in (*random.integers(0, 50, 5), *random.integers(50, 400, 5)):
        other = data._replace(z=data.z.copy())
        other.z.iloc[row] = -other.z.iloc[row]
        changed = np.flatnonzero(released != fitted(other, seed=0, labelled=labelled, noise="laplace").values)
        assert row >= 50 or changed.min(initial=50) >= 50
        assert row < 50 or changed.tolist() == [row]


def test_the_student_of_few_labels_learns_labelled_rows_from_their_labels(data, dtrain):
    labelled = np.arange(400) < 100
    teacher = fitted(data, labelled=labelled)
    model = pi_xgb.train(PARAMS, dtrain, 5, teacher=teacher, kl_weight=0.3, labelled=labelled)
    weight = np.where(labelled, 0, 1).astype(np.float32)
    same = pi_xgb.train(PARAMS, dtrain, 5, teacher=teacher, kl_weight=0.3, labelled=labelled, teacher_weight=weight)
    assert np.array_equal(model.predict(dtrain), same.predict(dtrain))
    part = teacher.shard(np.arange(90, 110))
    assert part.teacher_weight.tolist() == [0] * 10 + [1] * 10


def test_it_spends_once(data):
    teacher = fitted(data)
    with pytest.raises(ValueError, match="has spent its budget"):
        teacher.fit(data.z, data.y)


def test_a_fit_that_fails_before_noise_is_drawn_spends_nothing(data):
    teacher = PrivateTeacher(EPSILON, DELTA, bounds=BOUNDS)
    with pytest.raises(ValueError):
        teacher.fit(data.z[:10], data.y)
    assert teacher.spent is None
    assert teacher.fit(data.z, data.y).spent == (EPSILON, DELTA)


# ---- training with noisy q


@pytest.mark.parametrize("noise", ["randomized_response", "laplace"])
def test_the_gradient_is_right_on_average(data, dtrain, noise, no_noise_in_tables):
    margin = np.random.default_rng(0).normal(size=400).astype(np.float32)
    teachers = (fitted(data, seed=seed, noise=noise) for seed in range(400))
    grads = [pi_xgb.KLObjective(teacher, 2.0, objective="binary:logistic")(margin, dtrain)[0] for teacher in teachers]
    exact = Domain(BOUNDS)
    table = histogram.Histogram(exact, 4)
    values = exact.read(data.z)
    table.fit(values, data.y.to_numpy(), Spent(0.5, 0.5), SeededNoise(0))
    clip = min(data.y.mean(), 1 - data.y.mean()) / 10
    q = np.clip(table.predict(values), clip, 1 - clip)
    p = 1 / (1 + np.exp(-margin))
    off = np.mean(grads, axis=0) - ((p - data.y) + 2 * (p - q))
    error = np.std(grads, axis=0) / 20
    assert stats.kstest(off / error, "norm").pvalue > 1e-3


@pytest.mark.parametrize("unlabelled", [False, True])
def test_the_model_is_that_of_the_formula_with_q_as_it_is(data, dtrain, unlabelled):
    labelled = np.arange(400) % 3 == 0 if unlabelled else None
    known = np.ones(400, np.float32) if labelled is None else labelled.astype(np.float32)
    teacher = fitted(data, epsilon=0.5, labelled=labelled)
    q, y = teacher.values, data.y.to_numpy(np.float32)
    assert q.min() < 0
    assert q.max() > 1
    factor = known + np.float32(0.3)
    target = (known * y + np.float32(0.3) * q) / factor

    def objective(margin, matrix):
        p = 1 / (1 + np.exp(-margin))
        return factor * (p - target), factor * np.maximum(p * (1 - p), np.float32(1e-16))

    start = {**PARAMS, "base_score": float(np.clip(np.average(target, weights=factor), 1e-3, 1 - 1e-3))}
    ours = pi_xgb.train(PARAMS, dtrain, 10, teacher=teacher, kl_weight=0.3, labelled=labelled)
    own = xgb.train(start, dtrain, 10, obj=objective)
    assert np.allclose(*(model.predict(dtrain, output_margin=True) for model in (ours, own)), atol=1e-4)


def test_a_mean_beyond_all_predictions_starts_at_the_edge(dtrain, data):
    # The loudest noise there is: the mean of all rows leaves [0, 1].
    teacher = fitted(data, epsilon=1e-4, seed=0)
    assert not 0 < teacher.values.mean() < 1
    model = pi_xgb.train(PARAMS, dtrain, 1, teacher=teacher, kl_weight=1.0)
    assert np.isfinite(model.predict(dtrain)).all()


def test_a_users_own_q_beyond_0_and_1_is_refused_as_ever(dtrain, data):
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]"):
        pi_xgb.train(PARAMS, dtrain, 1, teacher=fitted(data).values)


def test_the_native_engine_is_refused(dtrain, data):
    with pytest.raises(ValueError, match="noisy q"):
        pi_xgb.train(PARAMS, dtrain, 1, teacher=fitted(data), engine="native")
    model = pi_xgb.train({**PARAMS, "objective": "reg:squarederror"}, dtrain, 1, teacher=fitted(data), engine="native")
    assert model.attr("pi_xgb_engine") == "native"  # any number is a label there


@pytest.mark.parametrize("objective", ["reg:absoluteerror", "count:poisson"])
def test_objectives_that_do_not_learn_by_averages_are_refused(dtrain, data, objective):
    with pytest.raises(ValueError, match=f"{objective}.*noisy"):
        pi_xgb.train({**PARAMS, "objective": objective}, dtrain, 1, teacher=fitted(data))


def test_an_estimator_takes_it(data):
    pytest.importorskip("sklearn")
    from sklearn.base import clone

    model = pi_xgb.PrivilegedXGBClassifier(n_estimators=3, n_jobs=1, teacher=fitted(data), kl_weight=0.3)
    assert clone(model).fit(data.x, data.y).get_booster().attr("pi_xgb_epsilon") == "1.0"


def test_a_worker_gets_its_rows_and_the_promise(data):
    teacher = fitted(data)
    part = pickle.loads(pickle.dumps(teacher.shard(np.arange(10))))
    assert part.spent == teacher.spent
    assert np.array_equal(part.values, teacher.values[:10])


# ---- what the model records


def recorded(model):
    return model.attr("pi_xgb_epsilon"), model.attr("pi_xgb_delta")


def test_the_model_records_what_was_spent(data, dtrain):
    teacher, second = fitted(data), fitted(data, epsilon=2.0)
    once = pi_xgb.train(PARAMS, dtrain, 2, teacher=teacher, kl_weight=0.3)
    assert recorded(once) == ("1.0", "1e-06")
    both = pi_xgb.train(PARAMS, dtrain, 2, teacher=[(teacher, 0.3), (second, 0.1)])
    assert recorded(both) == ("3.0", "2e-06")
    continued = pi_xgb.train(PARAMS, dtrain, 2, teacher=second, kl_weight=0.3, xgb_model=once)
    assert recorded(continued) == ("3.0", "2e-06")
    assert once.attr("pi_xgb_epsilon_scope") == "a change of the privileged values of one row; not for x, y"
    assert not any(name in str(once.attributes()) for name in data.z)


def test_no_epsilon_is_recorded_where_z_has_another_path(data, dtrain):
    teacher = fitted(data)
    private = pi_xgb.train(PARAMS, dtrain, 2, teacher=teacher)
    with_margin = xgb.DMatrix(data.x, data.y, base_margin=np.zeros(400))
    for matrix, continued, message in (
        (xgb.DMatrix(data.x.assign(z1=0.0), data.y), None, "dtrain has privileged columns"),
        (dtrain, xgb.train(PARAMS, dtrain, 2), "xgb_model records none"),
        (with_margin, None, "base_margin"),
        (with_margin, private, "base_margin"),
    ):
        with pytest.warns(UserWarning, match=rf"records no epsilon.*{message}"):
            model = pi_xgb.train(PARAMS, matrix, 2, teacher=teacher, xgb_model=continued)
        assert not [name for name in model.attributes() if "epsilon" in name or "delta" in name]


@pytest.mark.parametrize("options", [{}, {"kl_weight": 0}, {"kl_weight": 0, "labelled": np.arange(400) < 300}])
def test_rounds_without_a_teacher_keep_the_record_unless_a_base_margin_may_hold_z(data, dtrain, options):
    labelled = options.get("labelled")
    teacher = fitted(data, labelled=labelled)
    private = pi_xgb.train(PARAMS, dtrain, 2, teacher=teacher, labelled=labelled)
    keywords = {**options, **({"teacher": teacher} if options else {})}
    assert recorded(pi_xgb.train(PARAMS, dtrain, 2, xgb_model=private, **keywords)) == ("1.0", "1e-06")
    with_margin = xgb.DMatrix(data.x, data.y, base_margin=data.z["z0"])
    with pytest.warns(UserWarning, match=r"records no epsilon.*base_margin"):
        model = pi_xgb.train(PARAMS, with_margin, 2, xgb_model=private, **keywords)
    assert not [name for name in model.attributes() if "epsilon" in name or "delta" in name]


def test_names_of_privileged_columns_are_kept_as_digests(data):
    z = data.z.rename(columns={"z0": "viral_load", "z1": "income"})
    teachers = [
        PrivateTeacher(EPSILON, DELTA, bounds={"viral_load": (-3, 3), "income": (-3, 3)}, bins=4).fit(z, data.y)
        for _ in range(2)
    ]
    assert teachers[0].has_any_column(["a", "income"])
    assert not teachers[0].has_any_column(["z0"])
    assert not teachers[0].has_any_column(None)
    assert pickle.loads(pickle.dumps(teachers[0])).has_any_column(["viral_load"])
    assert b"viral" not in pickle.dumps(teachers[0])
    assert not teachers[0]._names & teachers[1]._names  # each has a salt of its own
    unnamed = PrivateTeacher(EPSILON, DELTA, bounds={0: (-3, 3), 1: (-3, 3)}, bins=4).fit(z.to_numpy(), data.y)
    assert not unnamed.has_any_column(["0", "1"])


def test_privileged_columns_of_several_levels_are_found(data):
    z, x = (pd.concat({"lab": data.z}, axis=1), pd.concat({"x": data.x, "lab": data.z}, axis=1))
    bounds = {("lab", "z0"): (-3, 3), ("lab", "z1"): (-3, 3)}
    teacher = PrivateTeacher(EPSILON, DELTA, bounds=bounds, bins=4).fit(z, data.y)
    with pytest.warns(UserWarning, match=r"records no epsilon.*dtrain has privileged columns"):
        model = pi_xgb.train(PARAMS, xgb.DMatrix(x, data.y), 2, teacher=teacher)
    assert recorded(model) == (None, None)
    assert teacher.has_any_column(["('lab', 'z0')"])  # a plain index of pairs


def test_a_model_that_anything_else_taught_records_no_promise(data, dtrain):
    teacher, q = fitted(data), data.q.to_numpy()
    assert recorded(pi_xgb.train(PARAMS, dtrain, 2, teacher=fitted(data, seed=0))) == (None, None)
    open_model = pi_xgb.train(PARAMS, dtrain, 2, teacher=q)
    assert recorded(open_model) == (None, None)
    with pytest.warns(UserWarning, match="xgb_model records none"):
        continued = pi_xgb.train(PARAMS, dtrain, 2, teacher=teacher, xgb_model=open_model)
    assert recorded(continued) == (None, None)
    private = pi_xgb.train(PARAMS, dtrain, 2, teacher=teacher)
    parity, seeded = DemographicParity(data.group), fitted(data, seed=0)
    for name, teachers, continued in (
        ("FixedTeacher", q, private),
        ("DemographicParity", parity, private),
        ("DemographicParity", [(teacher, 0.3), (parity, 1.0)], None),
        ("PrivateTeacher", [(teacher, 0.3), (seeded, 1.0)], None),
        ("DemographicParity, FixedTeacher", [(teacher, 0.3), (q, 1.0), (parity, 1.0)], None),
    ):
        with pytest.warns(UserWarning, match=f"records no epsilon, since {name} has no budget"):
            model = pi_xgb.train(PARAMS, dtrain, 2, teacher=teachers, xgb_model=continued)
        assert recorded(model) == (None, None)
    # There was no epsilon to record, and there is nothing to warn of.
    assert recorded(pi_xgb.train(PARAMS, dtrain, 2, teacher=[(seeded, 0.3), (parity, 1.0)])) == (None, None)
    # One of no weight takes no part.
    assert recorded(pi_xgb.train(PARAMS, dtrain, 2, teacher=[(teacher, 0.3), (q, 0.0)])) == ("1.0", "1e-06")


# ---- what would break the promise, or mislead


def test_cross_validation_is_refused_with_the_reason(data, dtrain):
    with pytest.raises(ValueError, match="would spend its budget again"):
        pi_xgb.cv(PARAMS, dtrain, 2, teacher=fitted(data), kl_weight=[0.0, 1.0])


def test_selection_is_refused_with_the_reason(data, dtrain):
    with pytest.raises(TypeError, match="in every fold"):
        pi_xgb.select(PARAMS, dtrain, 2, privileged=xgb.DMatrix(data.z, data.y), teacher=fitted(data))


def test_jpib_and_learned_teachers_beside_it_are_refused(data, dtrain):
    privileged = xgb.DMatrix(data.z, data.y)
    for other in (pi_xgb.JointTeacher(privileged, PARAMS), pi_xgb.fit_teacher(PARAMS, privileged, 2)):
        with pytest.raises(ValueError, match="without noise"):
            pi_xgb.train(PARAMS, dtrain, 2, teacher=[(fitted(data), 0.5), (other, 0.5)])
    with pytest.raises(ValueError, match="method requires a trainable teacher"):
        pi_xgb.train(PARAMS, dtrain, 2, teacher=fitted(data), method="jpib")
    with pytest.raises(ValueError, match="crossfit requires a trainable teacher"):
        pi_xgb.train(PARAMS, dtrain, 2, teacher=fitted(data), crossfit=5)


def test_it_must_see_its_rows_first(data, dtrain):
    empty = PrivateTeacher(EPSILON, DELTA, bounds=BOUNDS)
    for use in (
        lambda: pi_xgb.train(PARAMS, dtrain, 1, teacher=empty),
        lambda: pi_xgb.KLObjective(empty, objective="binary:logistic")(np.zeros(400, np.float32), dtrain),
        lambda: empty.values,
        lambda: empty.shard(np.arange(3)),
    ):
        with pytest.raises(ValueError, match=r"call fit\(z, y\) first"):
            use()
    with pytest.raises(ValueError, match="400 rows"):
        pi_xgb.train(PARAMS, dtrain.slice(np.arange(10)), 1, teacher=fitted(data))


def test_the_ends_of_a_budget_are_allowed():
    for ends in ((SMALLEST_EPSILON, 0.0), (LARGEST_EPSILON, 0.5)):
        assert check_budget(*ends) == Spent(*ends)
    Budget(Spent(2 * SMALLEST_EPSILON, 0.0), Spent(SMALLEST_EPSILON, 0.0)).check("advice")  # the least for both parts


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"epsilon": 0.0}, ValueError, r"epsilon must lie between 1e-06 and 100"),
        ({"epsilon": -1.0}, ValueError, r"epsilon must lie between 1e-06 and 100"),
        ({"epsilon": math.inf}, ValueError, r"epsilon must lie between 1e-06 and 100"),
        ({"epsilon": math.nan}, ValueError, r"epsilon must lie between 1e-06 and 100"),
        ({"epsilon": "1"}, TypeError, "epsilon must be a number"),
        ({"epsilon": True}, TypeError, "epsilon must be a number"),
        ({"delta": -1e-6}, ValueError, "delta must be at least 0"),
        ({"delta": 1.0}, ValueError, "delta must be at least 0"),
        ({"delta": math.nan}, ValueError, "delta must be at least 0"),
        ({"delta": None}, TypeError, "delta must be a number"),
        ({"delta": 0.0025}, ValueError, r"delta .*400 rows"),
        ({"epsilon": 101}, ValueError, r"epsilon must lie between 1e-06 and 100, got 101"),
        ({"epsilon": 10**400}, ValueError, "epsilon must lie between 1e-06 and 100"),
        (
            {"epsilon": 1e-4, "split": 1 - 1e-9},
            ValueError,
            r"epsilon must give.*1e-06.*with 9.99999999e-05.*split",
        ),
        ({"epsilon": 1e-4, "split": 1e-9}, ValueError, r"epsilon must give.*1e-06.*with 1e-13 and.*for the model"),
        ({"bounds": None}, ValueError, "bounds must be a dict"),
        ({"bounds": {}}, ValueError, "bounds must be a dict"),
        ({"bounds": {"z0": (-3, 3)}}, ValueError, "no bounds for 'z1'"),
        ({"bounds": {**BOUNDS, "z2": (0, 1)}}, ValueError, r"bounds.*'z2'"),
        ({"bounds": {**BOUNDS, "z1": (3, -3)}}, ValueError, "low < high"),
        ({"bounds": {**BOUNDS, "z1": (0, math.inf)}}, ValueError, "pair of finite numbers"),
        ({"bounds": {**BOUNDS, "z1": (0, 1, 2)}}, ValueError, "pair of finite numbers"),
        ({"bounds": {**BOUNDS, "z1": ["a"]}}, ValueError, "at least two different"),
        ({"bounds": {**BOUNDS, "z1": ["a", "a"]}}, ValueError, "at least two different"),
        ({"bounds": {**BOUNDS, "z1": ["a", None]}}, ValueError, "at least two different"),
        ({"bounds": {**BOUNDS, "z1": 3}}, ValueError, "at least two different"),
        ({"bounds": {**BOUNDS, "z1": [[1], [2]]}}, ValueError, "at least two different"),
        ({"bounds": {**BOUNDS, "z1": (-1e308, 1e308)}}, ValueError, "pair of finite numbers"),
        ({"bounds": {**BOUNDS, "z1": (-1e308, 0)}}, ValueError, "pair of finite numbers"),
        ({"bounds": {**BOUNDS, "z1": (0, 1e308)}}, ValueError, "pair of finite numbers"),
        ({"bounds": {**BOUNDS, "z1": (-9e307, 9e307)}}, ValueError, "pair of finite numbers"),  # no finite width
        ({"bounds": {**BOUNDS, "z1": [0, 1]}}, ValueError, r"categories 0.*1"),
        ({"bounds": {**BOUNDS, "z1": (3, 3)}}, ValueError, "low < high"),
        ({"bounds": {**BOUNDS, "z1": (False, True)}}, ValueError, "pair of finite numbers"),
        ({"bounds": {**BOUNDS, "z1": [("a", 1), ("b", 2)]}}, ValueError, "at least two different"),
        ({"split": "half"}, TypeError, "split must be a number"),
        ({"split": 0.0}, ValueError, r"split.*0.*1"),
        ({"split": 1.0}, ValueError, r"split.*0.*1"),
        ({"clip": 0.5}, ValueError, r"clip.*0.*0.5"),
        ({"clip": "0.1"}, TypeError, "clip must be a number"),
        ({"clip": -0.1}, ValueError, r"clip.*0.*0.5"),
        ({"noise": "gauss"}, ValueError, r"noise.*'auto'.*'laplace'.*'randomized_response'"),
        ({"teacher": "xgboost"}, ValueError, r"teacher.*'histogram', 'dp-ebm'.*'xgboost'"),
        ({"teacher": object(), "bounds": None}, TypeError, "without fit, predict_proba, epsilon, delta"),
        ({"bins": 1}, ValueError, r"bins.*least 2"),
        ({"bins": 2000}, ValueError, "4000000 combinations"),
        ({"seed": -1}, ValueError, r"unsafe_seed.*least 0"),
        ({"seed": "a"}, TypeError, r"unsafe_seed.*whole number"),
    ],
)
def test_bad_input_is_refused_before_anything_is_spent(data, options, error, message):
    with pytest.raises(error, match=message):
        fitted(data, **options)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int8])
def test_bounds_of_any_numeric_type_are_read(kind):
    column = Domain({"a": (kind(-2), kind(5))}).columns["a"]
    assert (column.low, column.high) == (-2, 5)
    with pytest.raises(ValueError, match="bounds of 'a' must be a pair of finite numbers"):
        Domain({"a": (np.complex64(0), np.complex64(1))})


def test_each_category_is_the_middle_of_a_part_of_its_own():
    columns = Domain({"a": ["x", "y", "z"], "b": (-2, 5)}).columns
    assert [(column.low, column.high) for column in columns.values()] == [(-0.5, 2.5), (-2, 5)]
    assert (columns["a"].size(9), columns["b"].size(9)) == (3, 9)
    assert Domain({"a": ["x", "y"]}).read(pd.DataFrame({"a": list("yx")})).dtype == np.float64


@pytest.mark.parametrize(
    ("z", "y", "labelled", "message"),
    [
        (lambda z: z.assign(z0=z["z0"].where(z.index != 3)), None, None, "'z0' of z has missing values"),
        (lambda z: z.assign(z1="a"), None, None, "declare its categories as a list"),
        (lambda z: z[:399], None, None, "y must .* 399 rows of z, got 400"),
        (lambda z: z.to_numpy(), None, None, "no bounds for 0, 1"),
        (lambda z: z * np.nan, None, None, r"'z0'.*missing"),
        (lambda z: z.assign(z1=pd.date_range("2020", periods=400)), None, None, r"days since.*date"),
        (lambda z: z.assign(z1=pd.date_range("2020", periods=400).date), None, None, "z1.* must hold numbers"),
        (lambda z: z.assign(z1=pd.to_timedelta(np.arange(400))), None, None, "z1.* must hold numbers"),
        (lambda z: z.assign(z1=z["z1"] * 1j), None, None, "z1.* must hold numbers"),
        (lambda z: z.assign(z1=[[1]] * 400), None, None, "z1.* must hold numbers"),
        (lambda z: z.assign(z1=[10**400] * 400), None, None, "z1.* must hold numbers"),
        (lambda z: z[["z0", "z1", "z0"]], None, None, r"z .*'z0' twice"),
        (lambda z: [[0, 1]] * 399 + [[0]], None, None, r"z .*different lengths"),
        (None, lambda y: y[::-1], None, r"y .*index.*order"),
        (None, lambda y: y.where(y.index != 5, 7), None, r"y .*0.*1.*labelled.*7"),
        (None, lambda y: y.astype(float).where(y.index > 0), None, r"y .*0 or 1.*got nan.*labelled=y\.notna"),
        (None, lambda y: y * 0, None, "both classes"),
        (None, None, np.zeros(400, bool), "both classes"),
        (None, None, np.ones(3, bool), "400 rows of z"),
    ],
)
def test_bad_rows_are_refused(data, z, y, labelled, message):
    given = (z or (lambda same: same))(data.z), (y or (lambda same: same))(data.y)
    with pytest.raises((ValueError, TypeError), match=message):
        PrivateTeacher(EPSILON, DELTA, bounds=BOUNDS, bins=4).fit(*given, labelled=labelled)


def test_what_is_handed_out_cannot_be_written_to(data):
    unfitted = PrivateTeacher(EPSILON, DELTA, bounds=BOUNDS)
    for name in ("values", "noise_variance"):
        with pytest.raises(ValueError, match="must be fitted"):
            getattr(unfitted, name)
    teacher = fitted(data)
    before = teacher.values.copy()
    for array in (teacher.values, teacher.noise_variance, teacher.q(before, before, None)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 99
        again = pickle.loads(pickle.dumps(teacher)).values
        assert not again.flags.writeable
        np.testing.assert_array_equal(again, before)
    learned = pi_xgb.fit_teacher(PARAMS, xgb.DMatrix(data.z, data.y), 2)
    with pytest.raises(ValueError, match="read-only"):
        learned.values[0] = 99


def test_nested_values_are_no_declared_categories(data):
    z = pd.DataFrame({"kind": [["a"]] * 400})
    with pytest.raises(ValueError, match="must hold its declared categories"):
        PrivateTeacher(EPSILON, DELTA, bounds={"kind": ["a", "b"]}).fit(z, data.y)


def test_a_fit_changes_nothing_of_the_user(data):
    z, y, bounds = data.z.copy(), data.y.copy(), dict(BOUNDS)
    PrivateTeacher(EPSILON, DELTA, bounds=bounds, bins=4).fit(z, y)
    assert z.equals(data.z)
    assert y.equals(data.y)
    assert bounds == BOUNDS


def test_categories_of_any_kind_are_read():
    z = pd.DataFrame(
        {"ward": pd.Categorical(list("abab") * 50), "grade": [1, 2, 3, 1] * 50, "old": [True, False] * 100}
    )
    bounds = {"ward": ["a", "b", "c"], "grade": [1, 2, 3], "old": [False, True]}
    y = np.arange(200) % 2
    assert len(PrivateTeacher(1.0, 1e-3, bounds=bounds).fit(z, y).values) == 200
    assert len(PrivateTeacher(1.0, 1e-3, bounds={0: [0, 1]}).fit(y, y).values) == 200  # one column


# ---- noise in sums over all rows


class Recorder:
    """A source of noise that adds none, and stores what it was asked for."""

    def __init__(self):
        self.asked = []

    def laplace(self, values, sensitivity, epsilon):
        self.asked.append((values, sensitivity, epsilon))
        return values


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 12), columns=st.integers(1, 5))
def test_another_share_of_one_row_moves_the_sums_by_the_sensitivity_at_most(seed, n, columns):
    random = np.random.default_rng(seed)
    public = public_numbers(random.integers(0, 4, (n, columns)), n)
    shares, others, source = random.random(n), random.integers(0, 2, n), Recorder()
    smoothed(shares, public, 1.0, source)
    largest = 0
    for row in range(n):
        for ends in ((0.0, 1.0), (shares[row], others[row])):
            for end in ends:
                smoothed(np.where(np.arange(n) == row, end, shares), public, 1.0, source)
            moved = np.abs(source.asked[-1][0] - source.asked[-2][0]).sum()
            assert moved <= source.asked[0][1]
            largest = max(largest, moved)
    assert largest == source.asked[0][1]  # of the row with the largest public numbers, from one end to the other
    assert {sensitivity for _, sensitivity, _ in source.asked} == {largest}


def test_public_numbers_are_ranks():
    x = pd.DataFrame({"a": [10.0, -1e9, np.nan, 30.0], "b": [True, True, False, True], "c": np.ones(4)})
    found = public_numbers(x, 4) / LEVELS
    assert found[:, 0].tolist() == [1, 1, 1, 1]
    assert found[:, 1] == pytest.approx([1 / 3, -1 / 3, 0, 1], abs=1 / LEVELS)  # a gap is in the middle
    assert found[2, 2] < found[0, 2] == found[1, 2]
    assert np.array_equal(public_numbers(x.to_numpy(float), 4), public_numbers(x, 4))
    assert np.array_equal(public_numbers(x[["a", "c"]].map(np.arctan), 4), public_numbers(x[["a", "c"]], 4))


def test_without_noise_the_predictions_are_those_of_a_ridge_model():
    random = np.random.default_rng(0)
    public, shares = public_numbers(random.normal(size=(500, 3)), 500), random.random(500)
    found, _ = smoothed(shares, public, 1e9, Recorder())
    basis = public / LEVELS
    penalty = (basis**2).sum(axis=1).mean()  # prior and residual variance are equal: 1 / 12
    weight = np.linalg.solve(basis.T @ basis + penalty * np.eye(4), basis.T @ (shares - 0.5))
    assert found == pytest.approx(0.5 + basis @ weight, abs=1e-5)


def test_the_variance_of_smoothed_predictions_is_that_of_their_noise():
    random = np.random.default_rng(0)
    public, shares = public_numbers(random.normal(size=(300, 2)), 300), np.full(300, 0.5)
    runs = np.array([smoothed(shares, public, 1.0, SeededNoise(seed))[0] for seed in range(3000)])
    _, variance = smoothed(shares, public, 1.0, SeededNoise(0))
    assert runs.var(axis=0) == pytest.approx(variance, rel=0.15)
    assert runs.mean(axis=0) == pytest.approx(0.5, abs=4 * np.sqrt(variance.max() / 3000))
    assert variance.max() < RandomizedResponse(1.0).variance / 100  # of a single prediction


@pytest.mark.parametrize(("n_labelled", "sums"), [(100, [1.0]), (300, [0.5, 1.0]), (400, [0.5])])
def test_with_x_nothing_but_the_table_and_sums_is_released(data, monkeypatch, n_labelled, sums):
    calls, real = [], SeededNoise.laplace

    def laplace(self, values, sensitivity, epsilon):
        calls.append((values.shape, epsilon))
        return real(self, values, sensitivity, epsilon)

    monkeypatch.setattr(SeededNoise, "laplace", laplace)
    monkeypatch.setattr(SeededNoise, "flip", None)
    teacher = fitted(data, labelled=np.arange(400) < n_labelled, x=data.x)
    table, *others = calls
    assert table == ((32,), teacher.budget.model.epsilon)
    assert others == [((9,), epsilon) for epsilon in sums]
    assert teacher.spent == (EPSILON, DELTA)
    assert np.isfinite(teacher.values).all()
    assert teacher.noise_variance.shape == (400,)


@pytest.mark.parametrize(
    ("x", "options", "error", "message"),
    [
        (np.full((400, 1), "a"), {}, TypeError, "x must hold numbers"),
        (pd.DataFrame({"a": [10**400] * 400}, dtype=object), {}, TypeError, "x must hold numbers"),
        (np.zeros((399, 1)), {}, ValueError, "x must have one value for each of the 400 rows of z, got 399"),
        (np.zeros((400, 1)), {"noise": "randomized_response"}, ValueError, "noise.*with x.*randomized_response"),
        (pd.DataFrame({"a": np.zeros(400)})[::-1], {}, ValueError, "x and z have the same index in another order"),
        (pd.DataFrame({"a": np.zeros(400), "z1": np.ones(400)}), {}, ValueError, "x must have no privileged column"),
    ],
)
def test_bad_public_numbers_are_refused_before_anything_is_spent(data, x, options, error, message):
    teacher = PrivateTeacher(EPSILON, DELTA, bounds=BOUNDS, bins=4, **options)
    with pytest.raises(error, match=message):
        teacher.fit(data.z, data.y, x=x)
    assert teacher.spent is None
    teacher.fit(data.z, data.y)


# ---- a private model of the user's own


class Own:
    """Says what it knows: nothing."""

    def __init__(self, epsilon=0.2, delta=1e-7, **more):
        self.epsilon, self.delta = epsilon, delta
        for name, value in more.items():
            setattr(self, name, value)

    def fit(self, z, y):
        self.seen = z
        return self

    def predict_proba(self, z):
        return np.full((len(z), 2), 0.5)


def test_a_model_that_states_its_budget(data):
    model = Own()
    teacher = PrivateTeacher(EPSILON, DELTA, teacher=model).fit(data.z, data.y)
    assert teacher.budget.model.epsilon == 0.4  # a row that changes is one that goes and one that comes
    assert teacher.budget.model.delta == pytest.approx((1 + math.exp(0.2)) * 1e-7)
    assert teacher.budget.model.epsilon + teacher.budget.rows.epsilon == EPSILON
    assert teacher.spent == (EPSILON, DELTA)
    assert list(model.seen.columns) == ["z0", "z1"]


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (Own(epsilon=0.5), {}, r"epsilon must give.*with 1 and.*for the model.*twice its epsilon"),
        (Own(delta=1e-6), {}, r"delta what the model needs.*2\.2214"),
        (Own(epsilon=0), {}, r"epsilon must lie between 1e-06 and 100"),
        (Own(random_state=0), {}, "can subtract the noise"),
        (Own(privacy_bounds={}), {}, r"feature_types.*continuous.*None"),
        (Own(privacy_bounds={}, feature_types=["nominal"]), {}, r"feature_types.*continuous.*'nominal'"),
        (Own(privacy_bounds={0: (0, 1)}, feature_types=["continuous", "auto"]), {}, r"feature_types.*'auto'"),
        (Own(privacy_bounds={0: (0, 1)}, feature_types=["continuous", ["a", "b"]]), {}, r"feature_types.*\['a', 'b'\]"),
        (Own(privacy_bounds={0: (0, 1)}, feature_types="continuous"), {}, r"feature_types.*'c'"),
        (Own(privacy_bounds=None, feature_types=["continuous"]), {}, r"privacy_bounds.*column 0"),
        (Own(privacy_bounds={0: (0, 1)}, feature_types=["continuous"] * 2), {}, r"privacy_bounds.*2 columns.*column 1"),
        (Own(privacy_bounds={0: (0, math.nan)}, feature_types=["continuous"]), {}, r"privacy_bounds.*column 0"),
        (Own(privacy_bounds={"a": (0, 1)}, feature_types=["continuous"]), {}, r"privacy_bounds.*column 0"),
        (Own(), {"split": 0.5}, "split and bounds must be left out"),
        (Own(), {"bounds": BOUNDS}, "split and bounds must be left out"),
    ],
)
def test_a_model_that_cannot_keep_its_promise_is_refused(model, options, message):
    with pytest.raises(ValueError, match=message):
        PrivateTeacher(EPSILON, DELTA, teacher=model, **options)


@pytest.mark.parametrize(
    ("bounds", "names"), [({0: (0, 1), 1: (-0.5, 2.5)}, None), ({"a": (0, 1), 1: (-0.5, 2.5)}, ["a", "b"])]
)
@pytest.mark.parametrize("array", [False, True])
def test_a_dp_ebm_with_declared_codes_and_all_bounds_is_accepted(bounds, names, array):
    given = np.array([[0, 1], [-0.5, 2.5]]) if array else bounds
    model = Own(privacy_bounds=given, feature_types=["continuous"] * 2, feature_names=names)
    assert PrivateTeacher(EPSILON, DELTA, teacher=model).budget.model.epsilon == 0.4


def test_the_epsilon_of_an_own_model_is_recorded_as_stated_by_the_user(data, dtrain, tmp_path):
    own, proved = PrivateTeacher(EPSILON, DELTA, teacher=Own()).fit(data.z, data.y), fitted(data)
    stated = "stated by the user"
    assert f"epsilon_source='{stated}'" in repr(own)
    assert "epsilon_source='proved'" in repr(proved)
    first = pi_xgb.train(PARAMS, dtrain, 2, teacher=own)
    for model in (
        first,
        pi_xgb.train(PARAMS, dtrain, 2, teacher=[(own, 0.3), (proved, 0.3)]),
        pi_xgb.train(PARAMS, dtrain, 2, teacher=proved, xgb_model=first),
    ):
        assert model.attr("pi_xgb_epsilon_source") == stated
    assert pi_xgb.train(PARAMS, dtrain, 2, teacher=proved).attr("pi_xgb_epsilon_source") == "proved"
    options = {"sensitive_features": data.group, "n_boot": 10, "pictures": False}
    page = pi_xgb.report(tmp_path / "page.html", first, data.x, data.y, **options).read_text()
    assert re.search(rf"pi_xgb_epsilon_source\W.{{0,40}}{stated}", page, flags=re.DOTALL)


def test_what_is_no_model_of_probabilities_is_refused(data):
    for model, absent in (
        (Own, "epsilon, delta"),
        (type("Stated", (Own,), {"epsilon": 1, "delta": 0}), "an instance of it"),
    ):
        with pytest.raises(TypeError, match=f"got type without {absent}"):
            PrivateTeacher(EPSILON, DELTA, teacher=model)
    model = Own()
    model.predict_proba = lambda z: [["a", "b"]] * len(z)
    with pytest.raises(ValueError, match=r"Own\.predict_proba.*<U1"):
        PrivateTeacher(EPSILON, DELTA, teacher=model).fit(data.z, data.y)


def test_a_seed_claims_no_privacy(data):
    assert "unsafe_seed=5: not private" in repr(fitted(data, seed=5))
    assert "unsafe_seed" not in repr(fitted(data))
    single, two = (fitted(data, seed=5) for _ in range(2))
    assert np.array_equal(single.values, two.values)
    assert single.spent is None
    assert PrivateTeacher(EPSILON, DELTA, teacher=Own(random_state=0), unsafe_seed=0).fit(data.z, data.y).spent is None


# ---- DP-EBM


class Machine:
    """In the place of interpret's."""

    noise_scale_binning_ = noise_scale_boosting_ = 1e9
    intercept_ = np.array([0.3])
    term_scores_ = [np.array([-1.0, 2.0]), np.array([0.0, 0.5, -0.25])]  # noqa: RUF012

    def __init__(self, **keywords):
        self.told = keywords

    def fit(self, values, label):
        self.seen = values, label

    def predict_proba(self, values):
        return np.array([[0.75, 0.25], [0.25, 0.75]], np.float32)


def test_noise_is_counted_for_a_row_that_changes():
    noise = types.SimpleNamespace(noise_scale_binning_=2.0, noise_scale_boosting_=0.5)
    expected = math.sqrt(2) * math.hypot(math.sqrt(3) / 2, math.sqrt(300 * 3) * 0.01 / 0.5)
    assert dp_ebm_module.mu_of_noise(noise, 3) == pytest.approx(expected)
    for budget in (Spent(0.3, 1e-6), Spent(5.0, 1e-5)):
        found = dp_ebm_module.epsilon_for_interpret(budget)
        parts = [dp_ebm_module.mu_of_promise(share * found, budget.delta / 2) for share in (0.1, 0.9)]
        delta = dp_ebm_module.delta_of(budget.epsilon, math.sqrt(2) * math.hypot(*parts))
        assert delta == pytest.approx(0.9 * budget.delta)
    assert dp_ebm_module.mu_of_promise(1.0, dp_ebm_module.delta_of(1.0, 12.5)) >= 12.5


def test_interpret_is_told_all_that_the_accounting_counts_on(monkeypatch):
    interpret = types.SimpleNamespace(DPExplainableBoostingClassifier=Machine)
    monkeypatch.setattr(dp_ebm_module, "needed_module", lambda name, message: interpret)
    model = dp_ebm_module.DPEBM(Domain({"a": (0, 5), "b": list(range(62))}), 7)
    model.fit("values", "label", Spent(1.0, 1e-6), None)
    assert model._ebm.seen == ("values", "label")
    assert model._ebm.told == {
        "feature_names": ["z0", "z1"],
        "feature_types": ["continuous", "continuous"],
        "privacy_bounds": {0: (0, 5), 1: (-0.5, 61.5)},
        "epsilon": dp_ebm_module.epsilon_for_interpret(Spent(1.0, 1e-6)),
        "delta": 1e-6,
        "composition": "gdp",
        "max_rounds": 300,
        "learning_rate": 0.01,
        "bin_budget_frac": 0.1,
        "outer_bags": 1,
        "n_jobs": 1,
        "random_state": 7,
    }
    assert model.predict(np.zeros((2, 1))).tolist() == [0.25, 0.75]
    assert model.predict(np.zeros((2, 1))).dtype == np.float64
    with pytest.raises(ValueError, match=r"'b'.*most 62"):
        dp_ebm_module.DPEBM(Domain({"a": (0, 5), "b": list(range(63))}), None)
    # The least and the greatest sum of scores, as probabilities.
    assert model.range == pytest.approx((1 / (1 + math.exp(0.95)), 1 / (1 + math.exp(-2.8))))
    # The ends of what interpret computes noise for, and noise that is just enough for delta.
    model.fit("values", "label", Spent(20.0, 1e-10), None)
    monkeypatch.setattr(Machine, "noise_scale_binning_", 5.0)
    delta = dp_ebm_module.delta_of(1.0, dp_ebm_module.mu_of_noise(Machine, 2))
    model.fit("values", "label", Spent(1.0, delta), None)
    with pytest.raises(RuntimeError, match="noise was too small"):
        model.fit("values", "label", Spent(1.0, 0.999 * delta), None)


@pytest.fixture
def dp_ebm():
    pytest.importorskip("interpret", reason="DP-EBM needs interpret")
    from pi_xgb._privacy import dp_ebm

    return dp_ebm


@pytest.mark.parametrize("budget", [Spent(0.5, 1e-6), Spent(4.0, 1e-5)])
def test_the_noise_of_dp_ebm_keeps_the_budget_for_a_row_that_changes(dp_ebm, data, budget):
    domain = Domain(BOUNDS)
    model = dp_ebm.DPEBM(domain, None)
    model.fit(domain.read(data.z), data.y.to_numpy(), budget, None)
    delta = dp_ebm.delta_of(budget.epsilon, dp_ebm.mu_of_noise(model._ebm, 2))
    assert 0.85 * budget.delta < delta <= budget.delta  # kept, and not much more noise than that takes
    assert dp_ebm.epsilon_for_interpret(budget) < budget.epsilon
    low, high = model.range
    result = model.predict(domain.read(data.z))
    assert low - 1e-12 <= result.min() < result.max() <= high + 1e-12


def test_a_changed_row_moves_the_sums_of_a_boosting_step_by_the_root_of_two(dp_ebm):
    # The row leaves a leaf with one gradient and enters another with another, of the same sign as its label is.
    worst = max(
        math.hypot(p - y, other - y) for y in (0, 1) for p in np.linspace(0, 1, 11) for other in np.linspace(0, 1, 11)
    )
    assert worst == pytest.approx(dp_ebm._MOVED)


def test_delta_of_is_the_curve_of_a_gaussian(dp_ebm):
    # By definition: the integral of (density of N(mu, 1) - exp(epsilon) density of N(0, 1)) where it is positive.
    t = np.linspace(-12, 12, 200_001)
    for epsilon, mu in ((0.5, 0.3), (1.0, 1.0), (3.0, 0.7)):
        gap = stats.norm.pdf(t, mu) - math.exp(epsilon) * stats.norm.pdf(t)
        assert dp_ebm.delta_of(epsilon, mu) == pytest.approx(integrate.trapezoid(np.maximum(gap, 0), t), abs=1e-7)
    assert dp_ebm.delta_of(1.0, dp_ebm.mu_of_promise(1.0, 1e-5)) == pytest.approx(1e-5, rel=1e-6)


def test_a_dp_ebm_that_was_noised_too_little_is_not_released(dp_ebm, data, monkeypatch):
    monkeypatch.setattr(dp_ebm, "epsilon_for_interpret", lambda budget: 3 * budget.epsilon)
    with pytest.raises(RuntimeError, match="noise was too small"):
        fitted(data, teacher="dp-ebm")


def test_dp_ebm_teaches(dp_ebm, data, dtrain):
    bounds = {"z0": (-3, 3), "z1": (-3, 3)}
    teacher = fitted(data, teacher="dp-ebm", bounds=bounds, epsilon=8.0)
    assert np.corrcoef(teacher.values, data.q)[0, 1] > 0.2  # .4 to .6: the noise is fresh in every run
    assert recorded(pi_xgb.train(PARAMS, dtrain, 2, teacher=teacher)) == ("8.0", "1e-06")
    with pytest.warns(UserWarning, match="Privacy violation: using a fixed random_state of 3"):
        assert np.array_equal(*(fitted(data, teacher="dp-ebm", seed=3).values for _ in range(2)))
    with pytest.raises(ValueError, match="at most 62 categories"):
        PrivateTeacher(1.0, 1e-6, bounds={0: list(range(63))}, teacher="dp-ebm")
    for epsilon, delta in ((0.0018, 1e-6), (41, 1e-6), (1.0, 0.0), (1.0, 1e-11)):
        with pytest.raises(ValueError, match=rf"'dp-ebm'.*from 0.001 to 20.*1e-10, got {epsilon / 2:g} and {delta:g}"):
            fitted(data, teacher="dp-ebm", bounds=bounds, epsilon=epsilon, delta=delta)


@pytest.mark.parametrize(
    "budget", [Spent(epsilon, delta) for epsilon in (1e-3, 0.1, 5.0, 15.0, 17.7, 20.0) for delta in (1e-10, 1e-6, 1e-3)]
)
def test_the_rounding_of_interpret_does_not_break_the_budget(dp_ebm, budget):
    noise = pytest.importorskip("interpret.utils._privacy").calc_gdp_noise_multi
    found = dp_ebm.epsilon_for_interpret(budget)
    binning = noise(2, 0.1 * found, budget.delta / 2)
    boosting = noise(600, found - 0.1 * found, budget.delta / 2) * 0.01
    model = types.SimpleNamespace(noise_scale_binning_=binning, noise_scale_boosting_=boosting)
    assert 0.7 * budget.delta < dp_ebm.delta_of(budget.epsilon, dp_ebm.mu_of_noise(model, 2)) <= budget.delta


def test_a_model_with_great_noise_has_a_range(dp_ebm):
    model = dp_ebm.DPEBM(Domain({0: (0, 1)}), None)
    model.fit(np.zeros((40, 1)), np.arange(40) % 2, Spent(1e-3, 1e-10), None)  # the least of both
    model._ebm = types.SimpleNamespace(intercept_=np.zeros(1), term_scores_=[np.array([-1e4, 1e4])])
    assert model.range == (0.0, 1.0)


def test_without_interpret_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "interpret.privacy", None)
    with pytest.raises(ImportError, match=r"\.\[private\]"):
        PrivateTeacher(1.0, 1e-6, bounds=BOUNDS, teacher="dp-ebm")


# ---- the audit


def small(rows=1):
    """Privileged values that say y, and some that are turned over."""
    y = np.arange(120) % 2
    z = y[:, None].astype(float)
    other = z.copy()
    other[:rows] = 1 - z[:rows]
    return z, other, y


@pytest.mark.parametrize("noise", ["randomized_response", "laplace"])
@pytest.mark.parametrize("rows", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_a_private_teacher_stays_below_its_epsilon(noise, rows):
    z, other, y = small(rows=rows)
    seeds = iter(range(10_000))

    def train(table):
        options = {"bounds": {0: [0, 1]}, "noise": noise, "split": 0.05, "unsafe_seed": next(seeds)}
        return PrivateTeacher(2.0, 1e-6, **options).fit(table, y)

    found = audit(train, z, other, lambda teacher: teacher.values[:rows], runs=300, delta=1e-6)
    assert found.attack == ("neighbours" if rows == 1 else "values")
    assert found.epsilon <= 2.0


def students(train_teacher, **teaching):
    """Students that follow single rows."""
    y = np.arange(120) % 2
    dtrain = xgb.DMatrix(np.arange(120)[:, None], y)
    params = {**PARAMS, "max_depth": 8, "min_child_weight": 0, "lambda": 0}
    return lambda z: pi_xgb.train(params, dtrain, 3, kl_weight=5.0, teacher=train_teacher(z, y), **teaching)


def look(rows):
    matrix = xgb.DMatrix(np.arange(rows)[:, None])
    return lambda model: model.predict(matrix, output_margin=True)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 10])
def test_the_audit_finds_noise_that_was_switched_off(monkeypatch, rows):
    z, other, _ = small(rows=rows)

    def teacher(table, y):
        return PrivateTeacher(1.0, 1e-6, bounds={0: [0, 1]}, noise="laplace").fit(table, y)

    private = audit(students(teacher), z, other, look(rows), runs=120, delta=1e-6, confidence=0.999)
    assert private.epsilon <= 1.0
    monkeypatch.setattr(Laplace, "release", lambda self, shares, source: shares)
    broken = audit(students(teacher), z, other, look(rows), runs=120, delta=1e-6, confidence=0.999)
    assert broken.epsilon > 1.0
    assert broken.accuracy > 0.9


def attack_on_the_table():
    """The built-in attack, at a budget that the model has nearly alone."""
    seeds = itertools.count()

    def train(z, y, labelled):
        options = {"bounds": {"cell": [0, 1, 2]}, "split": 0.99, "unsafe_seed": next(seeds)}
        return PrivateTeacher(1.0, 1e-6, **options).fit(z, y, labelled=labelled)

    return audit(train, runs=2000, delta=1e-6)


def attack_on_a_prediction():
    """The noisy prediction of a row whose privileged value is its label, as in nearly all rows."""
    seeds, y = itertools.count(), np.arange(2000) % 2
    z = y[:, None].astype(float)
    other = np.vstack([1 - z[:1], z[1:]])

    def train(table):
        options = {"bounds": {0: [0, 1]}, "split": 0.05, "unsafe_seed": next(seeds), "noise": "randomized_response"}
        return PrivateTeacher(1.0, 1e-6, **options).fit(table, y)

    return audit(train, z, other, lambda teacher: teacher.values[:1], runs=1000, delta=1e-6)


def attack_on_the_width():
    """The largest noisy prediction, where a row alone in its cell may widen the range of all rows."""
    seeds = itertools.count()
    z = np.repeat([2, 0, 1], [1, 1000, 1000])
    y = (np.arange(2001) % 10 == 0) | ((z == 1) & (np.arange(2001) % 10 == 1))
    other = np.append(0, z[1:])

    def train(table):
        options = {"bounds": {0: [0, 1, 2]}, "unsafe_seed": next(seeds), "noise": "randomized_response"}
        return PrivateTeacher(1.0, 1e-6, **options).fit(table, y.astype(int))

    return audit(train, z, other, lambda teacher: teacher.values.max(), runs=600, delta=1e-6)


def halve_the_noise_of_tables(monkeypatch):
    real = SeededNoise.laplace
    monkeypatch.setattr(
        SeededNoise, "laplace", lambda self, values, moved, epsilon: real(self, values, moved, 2 * epsilon)
    )


def halve_the_noise_of_predictions(monkeypatch):
    monkeypatch.setattr("pi_xgb._privacy.teacher.noise_named", lambda name, epsilon: noise_named(name, 2 * epsilon))


def read_the_width_from_rows(monkeypatch):
    real = histogram.Histogram.fit

    def fit(self, values, *rest):
        self.seen = values
        real(self, values, *rest)

    monkeypatch.setattr(histogram.Histogram, "fit", fit)
    ends = property(lambda self: (self.predict(self.seen).min(), self.predict(self.seen).max()))
    monkeypatch.setattr(histogram.Histogram, "range", ends)


def attack_on_the_sums():
    """The prediction of a row without a label, alone with nine others in the sums."""
    seeds, z = itertools.count(), np.repeat([0, 1, 0, 1], [1000, 1000, 5, 5])
    y = np.where(np.arange(2010) % 20 == 0, 1 - z, z)
    other, known = z.copy(), np.arange(2010) < 2000
    other[-1] = 0

    def train(table):
        options = {"bounds": {0: [0, 1]}, "split": 0.99, "unsafe_seed": next(seeds)}
        return PrivateTeacher(2.0, 1e-6, **options).fit(table, y, labelled=known, x=np.zeros(2010))

    return audit(train, z, other, lambda teacher: teacher.values[-1], runs=1000, delta=1e-6)


def halve_the_noise_of_sums(monkeypatch):
    monkeypatch.setattr(
        "pi_xgb._privacy.teacher.smoothed",
        lambda shares, public, epsilon, source: smoothed(shares, public, 2 * epsilon, source),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attack", "break_it"),
    [
        (attack_on_the_table, halve_the_noise_of_tables),
        (attack_on_a_prediction, halve_the_noise_of_predictions),
        (attack_on_the_width, read_the_width_from_rows),
        (attack_on_the_sums, halve_the_noise_of_sums),
    ],
)
def test_the_audit_finds_broken_mechanisms_and_not_the_right_one(monkeypatch, attack, break_it):
    stated = 2.0 if attack is attack_on_the_sums else 1.0
    assert attack().epsilon <= stated
    break_it(monkeypatch)
    assert attack().epsilon > stated


def test_the_built_in_attack_reads_the_counts_of_the_cells_of_the_canary(no_noise_in_tables, monkeypatch):
    monkeypatch.setattr(RandomizedResponse, "release", lambda self, shares, source: shares)
    seen = []

    def train(z, y, labelled):
        seen.append((z["cell"].to_numpy(), y, labelled))
        return PrivateTeacher(1.0, 1e-6, bounds={"cell": [0, 1, 2]}).fit(z, y, labelled=labelled)

    found = audit(train, runs=40)
    assert (found.attack, found.accuracy) == ("neighbours", 1.0)
    assert {(cell[-1], y[-1], labelled[-1]) for cell, y, labelled in seen} == {(1, 1, True), (2, 1, True)}
    for cell, y, labelled in seen:
        assert set(cell[labelled][:-1]) == {0}
        assert y[labelled].tolist() == [1] * 20 + [0] * 380 + [1]
        assert np.bincount(cell[~labelled]).tolist() == [0, 2000, 2000]


def test_the_built_in_attack_guesses_from_a_cell_that_predicts_more_than_the_cut():
    *_, score = _canary(lambda z, y, labelled: None)
    cut = 1.2 * (21 / 401)
    means = [(0.0, cut), (cut, 0.0), (cut, 1.0), (1.0, cut), (1.0, 1.0)]
    assert [score(np.array(of_cells)) for of_cells in means] == [0, 0, 1, -1, 0]


def test_scores_of_the_users_own_are_counted():
    def scored(score, rows=3):
        random = np.random.default_rng(0)
        other = np.vstack([np.ones((rows, 1)), np.zeros((4 - rows, 1))])
        noisy = lambda table: table[:, 0] + random.normal(scale=0.1, size=4)  # noqa: E731
        return audit(noisy, np.zeros((4, 1)), other, lambda look: look, score=score, runs=40)

    assert scored(lambda numbers: numbers[:3] - 0.5).accuracy == 1.0
    assert scored(lambda numbers: 0.5 - numbers[:3]).accuracy == 0.0
    assert scored(lambda numbers: numbers[0] - 0.5, rows=1).epsilon > 0.3
    with pytest.raises(ValueError, match=r"score must return 3 numbers.*got 4"):
        scored(lambda numbers: numbers)
    with pytest.raises(TypeError, match=r"score must return finite"):
        scored(lambda numbers: "x")
    lengths = itertools.count(1)
    for bad in (lambda numbers: numbers[:3] * np.nan, lambda numbers: numbers[: next(lengths) % 3]):
        with pytest.raises(ValueError, match="score must return finite numbers, as many for every model"):
            scored(bad)


def test_a_bound_is_right_about_a_mechanism_that_is_known():
    # Randomised response of epsilon 2: told apart no better, and the bound comes close.
    random = np.random.default_rng(0)
    shown = np.exp(2) / (1 + np.exp(2))

    def train(table):
        return table[0, 0] if random.random() < shown else 1 - table[0, 0]

    z, other, _ = small()
    found = audit(train, z[:1], other[:1], lambda answer: answer, runs=10_000)
    assert 1.7 < found.epsilon <= 2.0
    assert from_guesses(round(shown * 10_000), 10_000, 0.0, 0.05) == pytest.approx(2.0, abs=0.1)


def test_bounds_hold_as_often_as_they_say():
    random = np.random.default_rng(1)
    share = math.e / (1 + math.e)
    too_much = [chance_of(random.binomial(200, share), 200, 1.0, 0.0) <= 0.05 for _ in range(400)]
    assert np.mean(too_much) < 0.08
    rates = [
        from_rates(random.binomial(200, share), 200, random.binomial(200, 1 - share), 200, 0.0, 0.05) > 1.0
        for _ in range(400)
    ]
    assert np.mean(rates) < 0.05


@pytest.mark.parametrize(("hits", "alarms"), [(50, 5), (50, 0), (60, 20)])
def test_rates_are_replaced_by_the_ends_of_exact_intervals(hits, alarms):
    ends = [stats.binomtest(k, 60).proportion_ci(0.95, method="exact") for k in (hits, alarms)]
    assert from_rates(hits, 60, alarms, 60, 0.01, 0.05) == pytest.approx(math.log((ends[0].low - 0.01) / ends[1].high))
    assert from_rates(2, 60, alarms, 60, 0.5, 0.05) == 0.0
    assert from_rates(0, 60, alarms, 60, 0.0, 0.05) == from_rates(hits, 60, 60, 60, 0.0, 0.05) == 0.0


def attacked(rows, runs=61, **options):
    """What an audit says of values that are seen with noise, the coins and the looks of every run."""
    z = np.zeros((4, 1))
    other = z.copy()
    other[:rows] = 1
    random, coins, looks = np.random.default_rng(0), [], []

    def train(table):
        coins.append(table[:rows, 0] == 1)
        looks.append(table[:rows, 0] + 0.45 * random.normal(size=rows))
        return looks[-1]

    found = audit(train, z, other, lambda look: look, runs=runs, **options)
    return found, np.array(coins), np.array(looks)


def guesses_by_hand(coins, looks):
    """In the second half: whichever mean of the first half is nearer."""
    half = len(coins) // 2
    means = [
        np.array([looks[:half, i][coins[:half, i] == side].mean() for i in range(coins.shape[1])]) for side in (1, 0)
    ]
    return np.abs(looks[half:] - means[0]) < np.abs(looks[half:] - means[1])


def test_inferred_values_are_counted_in_the_second_half():
    found, coins, looks = attacked(4, delta=0.001, confidence=0.9)
    right = guesses_by_hand(coins, looks) == coins[30:]
    assert right.shape == (31, 4)
    assert 0.7 < found.accuracy == right.mean() < 1
    assert found.epsilon == from_guesses(int(right.sum()), 124, 0.001, 1 - 0.9) > 0.5
    assert (found.attack, found.runs, found.confidence, found.delta) == ("values", 61, 0.9, 0.001)


def test_an_event_is_chosen_in_the_first_half_and_counted_in_the_second():
    found, coins, looks = attacked(1, delta=0.01, confidence=0.9)
    assert found.accuracy == (guesses_by_hand(coins, looks) == coins[30:]).mean()
    # With 30 looks every cut between two of them is tried.
    bounds = {}
    middles = [(low + high) / 2 for low, high in itertools.pairwise(sorted(looks[:30, 0]))]
    for cut, above, side in itertools.product(middles, (True, False), (True, False)):
        events, sides = ((looks[:, 0] >= cut) == above), coins[:, 0] == side
        counts = [
            (int((events & own)[part].sum()), int(own[part].sum()))
            for part in (slice(30), slice(30, None))
            for own in (sides, ~sides)
        ]
        first, second = (from_rates(*item, *two, 0.01, 0.1) for item, two in (counts[:2], counts[2:]))
        bounds.setdefault(round(first, 12), []).append(second)
    assert found.epsilon in [pytest.approx(bound) for bound in bounds[max(bounds)]]
    assert found.epsilon > 0.1


def test_an_audit_has_400_runs_and_seed_0_unless_told():
    plain, coins, _ = attacked(1, runs=400)
    assert (plain.runs, plain.confidence, plain.delta, len(coins)) == (400, 0.95, 0.0, 400)
    tossed = []
    audit(lambda z: tossed.append(z[0, 0] == 1), np.zeros((1, 1)), np.ones((1, 1)), lambda _: 0.0)
    assert np.array_equal(coins[:, 0], tossed)
    assert attacked(1, runs=400, seed=1)[1].tolist() != coins.tolist()


def test_what_is_the_same_for_all_is_guessed_to_be_tails():
    tossed = []
    z = np.zeros((2, 1))
    for other in (np.ones((2, 1)), np.array([[1.0], [0.0]])):
        tossed.clear()
        found = audit(lambda z: tossed.append(z[:, 0] == 1), z, other, lambda _: 0.0, runs=40)
        assert found.accuracy == 1 - np.array(tossed)[20:, other[:, 0] == 1].mean()
        assert found.epsilon == 0


def from_one_row(scores, coins, half, delta, alpha):
    """The bound on the later runs from the event chosen in the first ones."""
    event = best_cut(scores[:half], coins[:half], delta, alpha)
    return bound_of(event, scores[half:], coins[half:], delta, alpha)


def test_where_only_one_side_came_nothing_is_proved():
    scores = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    for coins in ([1, 0, 1, 0, 1, 1], [1, 0, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 1, 0]):
        assert from_one_row(scores, np.array(coins, bool), 4, 0.0, 0.5) == 0.0
    # Where both did, and each run is told, the rarer side says more; equal scores are one event.
    coins = np.arange(40) % 4 == 0
    assert from_one_row(coins * 1.0, coins, 20, 0.0, 0.1) == from_rates(5, 5, 0, 15, 0.0, 0.1) > 1
    # Later scores a little nearer to the other side's than the first ones are told as well.
    fading = np.where(coins, 1.0, -1.0) * np.linspace(1, 0.9, 40)
    assert from_one_row(fading, coins, 20, 0.0, 0.1) == from_rates(5, 5, 0, 15, 0.0, 0.1)


def test_the_best_cut_lies_midway_between_two_scores():
    # Five runs of one side and 35 of the other, separated by the score: the event that is rare under one proves more.
    scores, coins = np.arange(40.0), np.arange(40) >= 5
    assert best_cut(scores, coins, 0.0, 0.2) == (4.5, False)
    assert best_cut(-scores, ~coins, 0.0, 0.2) == (-4.5, True)
    assert best_cut(np.zeros(4), np.array([True, True, False, False]), 0.0, 0.05) == (0.0, True)
    # High scores speak for the coin: the other way round they prove nothing.
    assert from_one_row(-scores, coins, 20, 0.0, 0.2) == 0.0
    assert best_cut(np.repeat([0.0, 1.0], 20), np.arange(40) >= 20, 0.0, 0.2)[0] == 0.5  # the last cut counts, too
    # Of more scores than cuts those count that are nearest to the quantiles: here 6, to the one at 6.25.
    assert best_cut(np.arange(51.0), np.arange(51) >= 6, 0.0, 0.2) == (5.5, False)


def test_a_gap_that_comes_or_goes_is_a_difference():
    z = pd.DataFrame({"a": [1.0, np.nan, 3.0, np.nan], "b": list("wxyz")})
    other = pd.DataFrame({"a": [1.0, np.nan, np.nan, 4.0], "b": list("wxyz")})
    assert _differing_rows(z, other).tolist() == [2, 3]


@pytest.mark.parametrize("delta", [0.0, 1e-4])
def test_guesses_prove_the_epsilon_at_which_they_have_the_chance_alpha(delta):
    assert from_guesses(50, 100, delta, 0.05) == 0.0
    for right in (62, 90, 99):
        assert chance_of(right, 100, from_guesses(right, 100, delta, 0.05), delta) == pytest.approx(0.05, rel=1e-6)
    assert from_guesses(1, 1, 0.0, chance_of(1, 1, 12.5, 0.0)) >= 12.5  # a chance of alpha itself counts


@pytest.mark.parametrize(("right", "n", "delta"), [(0, 9, 0.1), (1, 1, 0.1), (1, 2, 0.9), (4, 6, 1e-3), (9, 9, 1e-3)])
def test_the_chance_of_right_guesses_written_out(right, n, delta):
    # Theorem 5.2: delta lifts the chance by 2 n delta times the largest mean of the chances just below.
    share = math.e / (1 + math.e)
    chances = [math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(n + 1)]
    lift = max((sum(chances[right - i : right]) / i for i in range(1, right + 1)), default=0.0)
    assert chance_of(right, n, 1.0, delta) == pytest.approx(min(1, sum(chances[right:]) + 2 * n * delta * lift))


def test_delta_only_makes_chances_larger():
    assert chance_of(60, 100, 0.0, 0.0) == pytest.approx(stats.binom.sf(59, 100, 0.5))
    assert chance_of(60, 100, 0.0, 0.0) < chance_of(60, 100, 0.0, 1e-3) <= 1.0
    assert chance_of(0, 100, 1.0, 0.1) == 1.0
    assert from_rates(100, 100, 0, 100, 0.5, 0.05) < from_rates(100, 100, 0, 100, 0.0, 0.05)
    assert from_rates(100, 100, 0, 100, float(stats.beta.ppf(0.025, 100, 1)), 0.05) == 0.0


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda z: z.copy(), {}, "other must differ from z"),
        (lambda z: z[:5], {}, "same rows and columns"),
        (None, {"runs": 5}, r"runs.*least 20"),
        (None, {"delta": 1.0}, r"delta.*least 0 and below 1, got 1\.0"),
        (None, {"confidence": 1.0}, "confidence must lie between"),
    ],
)
def test_bad_input_of_an_audit(change, options, message):
    z, other, _ = small()
    with pytest.raises(ValueError, match=message):
        audit(lambda table: 0.0, z, other if change is None else change(z), lambda model: 1.0, **options)


@pytest.mark.parametrize(
    "options", [{"delta": "a"}, {"delta": None}, {"confidence": "x"}, {"seed": "s"}, {"runs": 2.5}]
)
def test_words_of_an_audit_are_no_numbers(options):
    z, other, _ = small()
    with pytest.raises(TypeError, match=f"{next(iter(options))} must be a"):
        audit(lambda table: 0.0, z, other, lambda model: 1.0, **options)
    for train, observe in ((None, lambda model: 1.0), (lambda table: 0.0, None)):
        with pytest.raises(TypeError, match=r"train.*observe.*functions"):
            audit(train, z, other, observe)
    with pytest.raises(TypeError, match=r"observe.*return finite.*str"):
        audit(lambda table: 0.0, z, other, lambda model: "x", runs=20)
    with pytest.raises(ValueError, match=r"seed.*least 0"):
        audit(lambda table: 0.0, z, other, lambda model: 1.0, seed=-1)


def test_looks_are_told_apart_by_what_differs_clearly():
    # Between heads and tails: 1 apart at a spread of .1, .6 at .15, which is too dim to count, and -.9 at .15.
    heads = [[1.1, 0.75, 0.15], [0.9, 0.45, -0.15]]
    tails = [[0.1, 0.15, 1.05], [-0.1, -0.15, 0.75]]
    coins = np.array([True, True, False, False])
    scored = np.array([[0.5, 9.0, 0.45], [0.6, -9.0, 0.45], [0.5, 0.0, 0.55]])
    found = _scores(np.array(heads + tails), coins, scored)
    np.testing.assert_allclose(found, [0, 0.1 / 0.1, -0.1 * 0.6 / 0.15], atol=1e-12)
    # What never varies is taken for a billionth of the largest difference, and is clearer than all else.
    found = _scores(np.array([[1.1, 4.0], [0.9, 4.0], [0.1, 2.0], [-0.1, 2.0]]), coins, np.array([[0.7, 3.5]]))
    np.testing.assert_allclose(found, [0.5 / 2e-9])
    # Half as clear as the clearest is clear enough: 1 apart at a spread of .5 and of 1.
    found = _scores(np.array([[1.5, 2.0], [0.5, 0.0], [0.5, 1.0], [-0.5, -1.0]]), coins, np.array([[0.5, 2.5]]))
    assert found.tolist() == [2.0 * 0.5]
    # One side alone, or no difference, say nothing.
    assert _scores(np.ones((2, 1)), coins[:2], scored).tolist() == [1, 1, 1]
    assert _scores(np.ones((2, 1)), coins[2:], scored).tolist() == [-1, -1, -1]
    assert _scores(np.ones((4, 1)), coins, scored).tolist() == [0, 0, 0]


def test_an_audit_needs_numbers():
    z, other, _ = small()
    with pytest.raises(ValueError, match="finite numbers"):
        audit(lambda table: 0.0, z, other, lambda model: math.nan, runs=20)
    lengths = itertools.count(1)
    with pytest.raises(ValueError, match="as many for every model"):
        audit(lambda table: 0.0, z, other, lambda model: [1.0] * next(lengths), runs=20)


def test_an_audit_hands_out_tables_of_the_users_kind():
    z, other, _ = small()
    kinds = set()
    for item, two in ((z, other), (pd.DataFrame(z), pd.DataFrame(other))):
        audit(lambda table: kinds.add(type(table)), item, two, lambda model: 0.0, runs=20)
    assert kinds == {np.ndarray, pd.DataFrame}


def test_values_of_another_type_reach_the_training():
    halves = np.full((3, 1), 0.5)
    for z, other in (
        (np.zeros((3, 1), int), halves),
        (pd.DataFrame({"a": [0, 0, 0]}), pd.DataFrame({"a": halves[:, 0]})),
    ):
        seen = set()
        audit(lambda table, seen=seen: seen.update(np.ravel(table)), z, other, lambda _: 0.0, runs=20)
        assert seen == {0.0, 0.5}


class Keeps(Own):
    """Keeps what it has seen, and whatever else a careless model does."""

    def fit(self, z, y):
        self.z = z
        return self


class LooksAround(Own):
    def predict_proba(self, z):
        return np.full((len(z), 2), np.asarray(z, float).max() / 100)


class Stutters(Own):
    def predict_proba(self, z):
        return np.full((len(z), 2), np.where(np.arange(len(z)) == 0, np.nan, 0.5)[:, None])


class SaysLittle(Own):
    def predict_proba(self, z):
        return np.full((3, 2), 0.5)


class Spends(Own):
    def fit(self, z, y):
        self.epsilon = 5.0
        return self


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LooksAround(), r"predict_proba must depend.*other rows"),
        (SaysLittle(), r"\(400, 2\).*\(3, 2\)"),
        (Spends(), r"Spends.*another budget"),
    ],
)
def test_a_model_that_breaks_the_proof_is_refused(data, model, message):
    with pytest.raises(ValueError, match=message):
        PrivateTeacher(EPSILON, DELTA, teacher=model).fit(data.z, data.y)


@pytest.mark.parametrize("odd", range(4))
def test_every_row_is_asked_about_without_its_neighbours(odd):
    model = Own()
    model.predict_proba = lambda z: np.where((z == odd) & (len(z) < 4), 0.6, 0.5).repeat(2, axis=1)
    with pytest.raises(ValueError, match=r"predict_proba must depend.*other rows"):
        OwnModel(model, seeded=False).predict(np.arange(4)[:, None])


def test_a_model_may_say_anything_within_the_clip(data, monkeypatch):
    monkeypatch.setattr(RandomizedResponse, "release", lambda self, shares, source: shares)
    model = Own()
    model.predict_proba = lambda z: np.tile([0.75, 0.25], (len(z), 1))
    teacher = PrivateTeacher(EPSILON, DELTA, teacher=model, noise="randomized_response", clip=0.1).fit(data.z, data.y)
    # On the scale from 0.1 to 0.9, which depends on no row.
    np.testing.assert_allclose(teacher.values, 0.25, atol=1e-6)
    np.testing.assert_allclose(
        teacher.noise_variance, 0.8**2 * RandomizedResponse(teacher.budget.rows.epsilon).variance
    )


def test_a_model_that_states_another_budget_by_now_is_not_trained(data):
    model = Own()
    teacher = PrivateTeacher(EPSILON, DELTA, teacher=model)
    model.epsilon = 0.1
    with pytest.raises(ValueError, match="another budget"):
        teacher.fit(data.z, data.y)
    assert not hasattr(model, "seen")


@pytest.mark.parametrize(
    ("change", "message"),
    [({"random_state": 3}, "random_state=3"), ({"privacy_bounds": {}, "feature_types": ["nominal"]}, "feature_types")],
)
@pytest.mark.parametrize("in_fit", [False, True])
def test_settings_of_a_model_that_change_later_are_checked_again(data, change, message, in_fit):
    class Changes(Own):
        def fit(self, z, y):
            self.__dict__.update(change)

    model = Changes() if in_fit else Own()
    teacher = PrivateTeacher(EPSILON, DELTA, teacher=model)
    model.__dict__.update({} if in_fit else change)
    with pytest.raises(ValueError, match=message):
        teacher.fit(data.z, data.y)
    assert teacher.spent is None


def test_what_a_model_says_becomes_probabilities():
    model = Own()
    found = {0: [0.7, 0.3], 1: [np.nan, np.nan], 2: [3.0, -2.0], 3: [-1.0, 2.0]}
    model.predict_proba = lambda z: [found[number] for number in z[:, 0]]
    own = OwnModel(model, seeded=False)
    assert own.predict(np.arange(4)[:, None]).tolist() == [0.3, 0.5, 0.0, 1.0]
    assert own.predict(np.arange(2)[:, None]).tolist() == [0.3, 0.5]
    # An array stays one, and gaps are refused here as well.
    PrivateTeacher(EPSILON, 1e-3, teacher=Own()).fit(z := np.arange(8.0)[:, None], np.arange(8) % 2)
    assert isinstance(own.read(z), np.ndarray)
    with pytest.raises(ValueError, match="has missing values"):
        own.read(np.array([[1.0], [np.nan]]))


def test_a_model_with_a_seed_is_refused():
    with pytest.raises(ValueError, match="got seed=3"):
        PrivateTeacher(EPSILON, DELTA, teacher=Own(seed=3))


def test_a_verdict_that_is_no_number_does_not_stand_out(data):
    class Gap(Own):
        def predict_proba(self, z):
            odd = np.asarray(z, float)[:, 0] == first
            return np.where(odd, np.nan, 0.5)[:, None].repeat(2, axis=1)

    first = float(np.asarray(data.z, float)[0, 0])
    for noise in ("laplace", "randomized_response"):
        released = PrivateTeacher(EPSILON, DELTA, teacher=Gap(), noise=noise).fit(data.z, data.y).values
        assert np.abs(released).max() < 1e3


def test_what_is_pickled_has_nothing_of_z(data):
    teacher = PrivateTeacher(EPSILON, DELTA, teacher=Keeps()).fit(data.z, data.y)
    assert np.asarray(data.z, float)[:, 0].tobytes() not in pickle.dumps(teacher)
    assert teacher._teacher is teacher._domain is teacher._source is None


def test_a_model_whose_promise_is_exact_has_no_delta(data):
    teacher = PrivateTeacher(EPSILON, DELTA, teacher=Own(delta=0)).fit(data.z, data.y)
    assert teacher.budget.model.delta == 0
    assert teacher.spent == (EPSILON, DELTA)


def test_messages_do_not_tell_values():
    y = np.arange(400) % 2
    for column, bounds in (
        (["HIV+", *["b"] * 399], ["a", "b"]),
        (["secret-17", *[0.5] * 399], (0, 1)),
        ([None, *["b"] * 399], ["a", "b"]),
    ):
        with pytest.raises((ValueError, TypeError), match="the column 'c' of z") as error:
            PrivateTeacher(EPSILON, DELTA, bounds={"c": bounds}).fit(pd.DataFrame({"c": column}), y)
        assert not any(found in str(error.value) for found in ("HIV", "secret", "1 missing"))


def test_another_objective_takes_the_budget_away(data, dtrain):
    taught = pi_xgb.train(PARAMS, dtrain, 2, teacher=fitted(data), kl_weight=0.5)
    own = pi_xgb.KLObjective(np.full(400, 0.5, np.float32))
    assert pi_xgb.train(PARAMS, dtrain, 2, xgb_model=taught).attr("pi_xgb_epsilon") == taught.attr("pi_xgb_epsilon")
    with pytest.warns(UserWarning, match=r"records no epsilon.*obj"):
        continued = pi_xgb.train(PARAMS, dtrain, 2, xgb_model=taught, obj=own)
    assert taught.attr("pi_xgb_epsilon")
    assert (continued.attr("pi_xgb_epsilon"), continued.attr("pi_xgb_delta")) == (None, None)

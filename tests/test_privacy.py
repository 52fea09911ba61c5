"""Private teachers: the noise is what the proof needs, budgets add up, and what would break the guarantee raises."""

from __future__ import annotations

import itertools
import math
import pickle
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
from pi_xgb._privacy.bounds import chance_of, from_guesses, from_rates
from pi_xgb._privacy.budget import Spent
from pi_xgb._privacy.domain import Domain
from pi_xgb._privacy.mechanisms import STEPS, OpenDPNoise, SeededNoise, noisy_shares
from pi_xgb._privacy.smoothing import public_numbers, smoothed
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


# ---- noise ----


@pytest.fixture(params=["seeded", "opendp"])
def source(request):
    if request.param == "seeded":
        return SeededNoise(1)
    pytest.importorskip("opendp.prelude", reason="OpenDP draws the noise")
    return OpenDPNoise()


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(2, 0.25), (1, 3.0)])
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
def test_flip_has_the_stated_probability(source, epsilon):
    bits = np.arange(50_001) % 3 == 0
    flipped = source.flip(bits, epsilon)
    assert flipped.dtype == bool
    for part in (bits, ~bits):
        n_flipped = int((flipped != bits)[part].sum())
        assert stats.binomtest(n_flipped, int(part.sum()), 1 / (1 + math.exp(epsilon))).pvalue > 1e-6
    assert source.flip(bits[:0], epsilon).shape == (0,)


@pytest.mark.parametrize("epsilon", [1e-6, 1 / 3, 100.0])
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


def test_noise_without_certificate_raises(monkeypatch):
    pytest.importorskip("opendp.prelude", reason="OpenDP draws the noise")
    monkeypatch.setattr(mechanisms, "_ROUNDING", 0.9)
    for release in (
        lambda: OpenDPNoise().laplace(np.zeros(3, int), 2, 1.0),
        lambda: OpenDPNoise().flip(np.ones(3, bool), 1.0),
    ):
        with pytest.raises(RuntimeError, match=r"OpenDP must certify epsilon 1, got 1\.1"):
            release()


def test_private_teacher_without_opendp_names_the_extra(monkeypatch):
    monkeypatch.setattr(privacy_teacher, "OpenDPNoise", OpenDPNoise)
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(ImportError, match=r"OpenDP.*\.\[private\]"):
        PrivateTeacher(1.0, bounds=BOUNDS)
    assert PrivateTeacher(1.0, bounds=BOUNDS, unsafe_seed=0)


@pytest.mark.parametrize("epsilon", [0.3, 8.0])
@pytest.mark.parametrize("kind", ["laplace", "randomized_response"])
def test_noisy_shares_are_unbiased_and_have_the_stated_variance(kind, epsilon):
    shares = np.array([0.0, 0.2, 0.5, 1.0]).repeat(50_000)
    noisy, variance = noisy_shares(shares, kind, epsilon, SeededNoise(0))
    noisy = noisy.reshape(4, -1)
    error = (noisy.mean(axis=1) - [0, 0.2, 0.5, 1]) / math.sqrt(variance / 50_000)
    assert np.abs(error).max() < 4
    assert noisy[2].var() == pytest.approx(variance, rel=0.05)
    assert noisy.var(axis=1).max() < 1.05 * variance
    if kind == "randomized_response":
        ends = 0.5 + np.array([-0.5, 0.5]) * (math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)
        np.testing.assert_allclose(np.unique(noisy), ends)
    other = {"laplace": "randomized_response", "randomized_response": "laplace"}[kind]
    smaller = min(variance, variance_of(other, epsilon))
    assert variance_of("auto", epsilon) == smaller


def variance_of(kind, epsilon):
    return noisy_shares(np.zeros(1), kind, epsilon, SeededNoise(0))[1]


# ---- the table, and what a row enters ----


def test_histogram_moves_by_two_for_a_changed_row(no_noise_in_tables):
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


def test_unlabelled_row_has_the_whole_epsilon(data):
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


def test_values_beyond_the_bounds_count_as_the_ends(data, no_noise_in_tables):
    far = data._replace(z=data.z.copy())
    far.z.iloc[0], far.z.iloc[1] = 1e9, -1e9  # count as the ends of the range
    near = data._replace(z=data.z.copy())
    near.z.iloc[0], near.z.iloc[1] = 3.0, -3.0
    assert np.array_equal(fitted(far, seed=0).values, fitted(near, seed=0).values)


def test_release_is_the_noisy_clipped_table(no_noise_in_tables, monkeypatch):
    monkeypatch.setattr(privacy_teacher, "noisy_shares", lambda shares, kind, epsilon, source: (shares, epsilon))
    random = np.random.default_rng(0)
    z = pd.DataFrame({"a": random.uniform(0, 8, 4500), "b": random.choice(["x", "y"], 4500)})
    y = np.where(random.random(4500) < 0.02, 0, (z["a"] > 3) | (z["b"] == "y")).astype(int)
    known = np.arange(4500) % 3 > 0
    teacher = PrivateTeacher(1.0, 1e-6, bounds={"a": (0, 8), "b": ["x", "y"]}, clip=0.05).fit(z, y, labelled=known)
    cell = np.floor(z["a"]).astype(int) * 2 + (z["b"] == "y")
    n, ones = (np.bincount(cell[known], part[known], minlength=16) for part in (np.ones(4500), y))
    prior = 1 + 2 * math.sqrt(2) * 2 / 0.5
    table = np.clip((ones + prior * y[known].mean()) / (n + prior), 0.05, 0.95)
    np.testing.assert_allclose(teacher.values, table[cell], rtol=1e-6)
    np.testing.assert_allclose(teacher.noise_variance, np.ptp(table) ** 2 * np.where(known, 0.5, 1.0))


# ---- the budget ----


@pytest.mark.parametrize(("n_labelled", "few"), [(100, True), (101, False)])
def test_with_few_labels_each_row_is_in_the_model_or_has_a_prediction(data, n_labelled, few):
    labelled = np.arange(400) < n_labelled
    teacher = fitted(data, labelled=labelled, bins=None)
    rows = (0.0, 0.0) if few else (0.5, 0.0)
    assert (teacher.budget.model.epsilon, teacher.budget.rows) == (1.0 if few else 0.5, rows)
    assert teacher.budget.total == teacher.spent == (EPSILON, DELTA)
    assert (teacher.about.weight is not None) == few
    if few:
        assert teacher.about.weight.tolist() == (~labelled).tolist()
        assert set(teacher.values[labelled]) == {np.float32(data.y[:n_labelled].mean())}
        assert set(teacher.noise_variance[labelled]) == {0}
    width = np.ptp(teacher.values[~labelled]) * math.tanh(0.5)  # of randomized response of the whole epsilon
    np.testing.assert_allclose(
        teacher.noise_variance[~labelled], width**2 * variance_of("randomized_response", 1.0), rtol=1e-5
    )


def test_with_few_labels_another_z_of_one_row_changes_the_model_or_one_prediction(data):
    # The same noise in both: an unlabelled row is not in the model, a labelled one has no prediction.
    labelled = np.arange(400) < 50
    random = np.random.default_rng(0)
    released = fitted(data, seed=0, labelled=labelled, noise="laplace").values
    for row in (*random.integers(0, 50, 2), *random.integers(50, 400, 2)):
        other = data._replace(z=data.z.copy())
        other.z.iloc[row] = -other.z.iloc[row]
        changed = np.flatnonzero(released != fitted(other, seed=0, labelled=labelled, noise="laplace").values)
        assert row >= 50 or changed.min(initial=50) >= 50
        assert row < 50 or changed.tolist() == [row]


def test_fit_spends_once_and_nothing_if_it_fails_before(data):
    teacher = PrivateTeacher(EPSILON, DELTA, bounds=BOUNDS)
    with pytest.raises(ValueError, match="10 rows of z, got 400"):
        teacher.fit(data.z[:10], data.y)
    assert teacher.spent is None
    z, y = data.z.copy(), data.y.copy()
    assert teacher.fit(z, y).spent == (EPSILON, DELTA)
    assert z.equals(data.z)
    assert y.equals(data.y)
    with pytest.raises(ValueError, match="has spent the budget"):
        teacher.fit(z, y)
    for array in (teacher.values, teacher.noise_variance, teacher.q(y, y, None)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 99


# ---- training with noisy q ----


def test_gradient_of_a_noisy_teacher_is_unbiased(data, dtrain, no_noise_in_tables):
    margin = np.random.default_rng(0).normal(size=400).astype(np.float32)
    teachers = (fitted(data, seed=seed, noise="randomized_response") for seed in range(100))
    grads = [pi_xgb.KLObjective(teacher, 2.0, objective="binary:logistic")(margin, dtrain)[0] for teacher in teachers]
    exact = Domain(BOUNDS)
    table = histogram.Histogram(exact, 4)
    values = exact.read(data.z)
    table.fit(values, data.y.to_numpy(), Spent(0.5, 0.5), SeededNoise(0))
    clip = min(data.y.mean(), 1 - data.y.mean()) / 10
    q = np.clip(table.predict(values), clip, 1 - clip)
    p = 1 / (1 + np.exp(-margin))
    off = np.mean(grads, axis=0) - ((p - data.y) + 2 * (p - q))
    error = np.std(grads, axis=0) / 10
    assert stats.kstest(off / error, "norm").pvalue > 1e-3


@pytest.mark.parametrize("case", ["all", "unlabelled", "below 0", "above 1"])
def test_student_is_that_of_the_formula(data, case):
    labelled = np.arange(400) % 3 == 0 if case == "unlabelled" else None
    known = np.ones(400, np.float32) if labelled is None else labelled.astype(np.float32)
    teacher = fitted(data, epsilon=0.5, labelled=labelled)
    q, y = teacher.values, data.y.to_numpy(np.float32)
    assert q.min() < 0
    assert q.max() > 1
    counts, rounds = np.ones(400, np.float32), 10
    if case in ("below 0", "above 1"):  # the mean of all targets, where steps grow without a bound
        rounds = 1
        y, counts = np.full(400, case == "above 1", np.float32), np.float32(q < 0 if case == "below 0" else q > 1)
    dtrain, factor = xgb.DMatrix(data.x, y), known + np.float32(0.3) * counts
    target = (known * y + np.float32(0.3) * counts * q) / factor

    def objective(margin, matrix):
        p = 1 / (1 + np.exp(-margin))
        return factor * (p - target), factor * np.maximum(p * (1 - p), np.float32(1e-16))

    start = {**PARAMS, "base_score": float(np.clip(np.average(target, weights=factor), 1e-3, 1 - 1e-3))}
    keywords = {"kl_weight": 0.3, "labelled": labelled, "teacher_weight": counts}
    ours = pi_xgb.train(PARAMS, dtrain, rounds, teacher=teacher, **keywords)
    own = xgb.train(start, dtrain, rounds, obj=objective)
    assert np.allclose(*(model.predict(dtrain, output_margin=True) for model in (ours, own)), atol=1e-4)


@pytest.mark.parametrize(
    ("objective", "engine", "message"),
    [
        ("reg:absoluteerror", "auto", "does not support the noisy q"),
        ("binary:logistic", "native", "engine='native' would not be exact.*values without noise"),
    ],
)
def test_noisy_q_with_other_objectives_or_the_native_engine_raises(dtrain, data, objective, engine, message):
    with pytest.raises(ValueError, match=message):
        pi_xgb.train({**PARAMS, "objective": objective}, dtrain, 1, teacher=fitted(data), engine=engine)


def test_private_teacher_is_cloned_cut_for_workers_and_pickled(data):
    base = pytest.importorskip("sklearn.base")
    teacher = fitted(data)
    model = pi_xgb.PrivilegedXGBClassifier(n_estimators=3, n_jobs=1, teacher=teacher, kl_weight=0.3)
    assert base.clone(model).fit(data.x, data.y).get_booster().attr("pi_xgb_epsilon") == "1.0"
    part = pickle.loads(pickle.dumps(teacher.shard(np.arange(10))))
    assert part.spent == teacher.spent
    assert np.array_equal(part.values, teacher.values[:10])


# ---- what the model records ----


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


@pytest.mark.parametrize("options", [{}, {"kl_weight": 0, "labelled": np.arange(400) < 300}])
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


def test_student_with_a_privileged_column_records_no_epsilon(data):
    z = pd.concat({"lab": data.z.rename(columns={"z0": "viral_load"})}, axis=1)
    teacher = PrivateTeacher(EPSILON, DELTA, bounds=dict.fromkeys(z, (-3, 3)), bins=4).fit(z, data.y)
    assert b"viral" not in pickle.dumps(teacher)  # names are kept as digests
    again = pickle.loads(pickle.dumps(teacher))
    assert recorded(pi_xgb.train(PARAMS, xgb.DMatrix(data.x, data.y), 1, teacher=again)) == ("1.0", "1e-06")
    with pytest.warns(UserWarning, match=r"records no epsilon.*dtrain has privileged columns"):
        model = pi_xgb.train(
            PARAMS, xgb.DMatrix(pd.concat({"x": data.x, "lab": z["lab"]}, axis=1), data.y), 1, teacher=again
        )
    assert recorded(model) == (None, None)


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
    with pytest.warns(UserWarning, match=r"records no epsilon.*obj"):
        continued = pi_xgb.train(PARAMS, dtrain, 2, xgb_model=private, obj=pi_xgb.KLObjective(q))
    assert recorded(continued) == (None, None)
    # There was no epsilon to record, and there is nothing to warn of.
    assert recorded(pi_xgb.train(PARAMS, dtrain, 2, teacher=[(seeded, 0.3), (parity, 1.0)])) == (None, None)
    # One of no weight takes no part.
    assert recorded(pi_xgb.train(PARAMS, dtrain, 2, teacher=[(teacher, 0.3), (q, 0.0)])) == ("1.0", "1e-06")


# ---- bad input ----


def test_private_teacher_in_folds_or_beside_trained_teachers_raises(data, dtrain):
    privileged = xgb.DMatrix(data.z, data.y)
    with pytest.raises(ValueError, match="spends its budget again"):
        pi_xgb.cv(PARAMS, dtrain, 2, teacher=fitted(data), kl_weight=[0.0, 1.0])
    with pytest.raises(TypeError, match="in every fold"):
        pi_xgb.select(PARAMS, dtrain, 2, privileged=privileged, teacher=fitted(data))
    for other in (pi_xgb.JointTeacher(privileged, PARAMS), pi_xgb.fit_teacher(PARAMS, privileged, 2)):
        with pytest.raises(ValueError, match="without noise"):
            pi_xgb.train(PARAMS, dtrain, 2, teacher=[(fitted(data), 0.5), (other, 0.5)])


def test_unfitted_teacher_raises(data, dtrain):
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


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"epsilon": 0.0}, ValueError, r"epsilon must lie between 1e-06 and 100"),
        ({"epsilon": "1"}, TypeError, "epsilon must be a number"),
        ({"delta": -1e-6}, ValueError, "delta must be at least 0"),
        ({"delta": None}, TypeError, "delta must be a number"),
        ({"delta": 0.0025}, ValueError, r"delta .*400 rows"),
        ({"epsilon": 10**400}, ValueError, "epsilon must lie between 1e-06 and 100"),
        ({"epsilon": 1e-4, "split": 1 - 1e-9}, ValueError, r"epsilon must give.*1e-06.*with .9.99.*split"),
        ({"bounds": None}, ValueError, "bounds must be a dict"),
        ({"bounds": {"z0": (-3, 3)}}, ValueError, "bounds must cover.*'z0', 'z1'.* of 'z0'"),
        ({"bounds": {**BOUNDS, "z1": (3, -3)}}, ValueError, "low < high"),
        ({"bounds": {**BOUNDS, "z1": ["a"]}}, ValueError, "at least two different"),
        ({"bounds": {**BOUNDS, "z1": (-9e307, 9e307)}}, ValueError, "pair of finite numbers"),  # no finite width
        ({"bounds": {**BOUNDS, "z1": [0, 1]}}, ValueError, r"categories 0.*1"),
        ({"split": "half"}, TypeError, "split must be a number"),
        ({"clip": 0.5}, ValueError, r"clip.*0.*0.5"),
        ({"clip": "0.1"}, TypeError, "clip must be a number"),
        ({"noise": "gauss"}, ValueError, r"noise.*'auto'.*'laplace'.*'randomized_response'"),
        ({"teacher": "xgboost"}, ValueError, r"teacher.*'histogram', 'dp-ebm'.*'xgboost'"),
        ({"teacher": object(), "bounds": None}, TypeError, "without fit, predict_proba, epsilon, delta"),
        ({"bins": 1}, ValueError, r"bins.*least 2"),
        ({"bins": 2000}, ValueError, "4000000 combinations"),
        ({"seed": "a"}, TypeError, r"unsafe_seed.*whole number"),
    ],
)
def test_bad_arguments_raise(data, options, error, message):
    with pytest.raises(error, match=message):
        fitted(data, **options)


@pytest.mark.parametrize(
    ("z", "y", "labelled", "message"),
    [
        (lambda z: z.assign(z0=z["z0"].where(z.index != 3)), None, None, "'z0' of z has missing values"),
        (lambda z: z.assign(z1="a"), None, None, "declare its categories as a list"),
        (lambda z: z[:399], None, None, "y must .* 399 rows of z, got 400"),
        (lambda z: z.assign(z1=pd.date_range("2020", periods=400)), None, None, r"days since.*date"),
        (lambda z: z.assign(z1=z["z1"] * 1j), None, None, "z1.* must hold numbers"),
        (None, lambda y: y[::-1], None, r"y .*index.*order"),
        (None, lambda y: y.where(y.index != 5, 7), None, r"y must be truth values.*got 7 in row 5.*labelled="),
        (None, lambda y: y.astype(float).where(y.index > 0), None, r"y .*1 missing values.*row 0.*labelled=y\.notna"),
        (None, lambda y: y * 0, None, "both classes"),
        (None, None, np.ones(3, bool), "400 rows of z"),
    ],
)
def test_bad_rows_raise(data, z, y, labelled, message):
    given = (z or (lambda same: same))(data.z), (y or (lambda same: same))(data.y)
    with pytest.raises((ValueError, TypeError), match=message):
        PrivateTeacher(EPSILON, DELTA, bounds=BOUNDS, bins=4).fit(*given, labelled=labelled)


def test_messages_have_no_privileged_values():
    y = np.arange(400) % 2
    for column, bounds in (
        (["HIV+", *["b"] * 399], ["a", "b"]),
        (["secret-17", *[0.5] * 399], (0, 1)),
        ([None, *["b"] * 399], ["a", "b"]),
    ):
        with pytest.raises((ValueError, TypeError), match="the column 'c' of z") as error:
            PrivateTeacher(EPSILON, DELTA, bounds={"c": bounds}).fit(pd.DataFrame({"c": column}), y)
        assert not any(found in str(error.value) for found in ("HIV", "secret", "1 missing"))


class Recorder:
    """A source of noise that adds none, and stores what it was asked for."""

    def __init__(self):
        self.asked = []

    def laplace(self, values, sensitivity, epsilon):
        self.asked.append((values, sensitivity, epsilon))
        return values


@settings(max_examples=20, deadline=None)
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


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_the_released_shares_are_the_posterior_mean(epsilon):
    rng = np.random.default_rng(0)
    x, share = rng.normal(size=(60, 3)), rng.random(60)
    public, source = public_numbers(x, 60), Recorder()
    found, variance = smoothed(share, public, epsilon, source)

    ranks = 2 * (x.argsort(axis=0).argsort(axis=0) + 1) / 60 - 1
    basis = np.rint(128 * np.column_stack([np.ones(60), ranks])) / 128
    most = np.abs(basis).sum(axis=1).max()  # how far the sums move where one share does, by 1
    assert source.asked[0][1:] == (2**20 * 128 * most, epsilon)
    noise = 2 * (most / epsilon) ** 2
    # Shares are spread like uniform numbers (1 / 12): so are the values of the line, on average, and their errors.
    prior = np.eye(4) * 60 / 12 / (basis**2).sum()
    gram = basis.T @ basis
    weights = basis @ prior @ gram @ np.linalg.inv(gram @ prior @ gram + gram / 12 + noise * np.eye(4))
    np.testing.assert_allclose(found, np.clip(0.5 + weights @ basis.T @ (share - 0.5), 0, 1), atol=1e-5)
    np.testing.assert_allclose(variance, noise * (weights**2).sum(axis=1), rtol=1e-6)


def test_the_variance_of_smoothed_predictions_is_that_of_their_noise():
    random = np.random.default_rng(0)
    public, shares = public_numbers(random.normal(size=(300, 2)), 300), np.full(300, 0.5)
    runs = np.array([smoothed(shares, public, 1.0, SeededNoise(seed))[0] for seed in range(600)])
    _, variance = smoothed(shares, public, 1.0, SeededNoise(0))
    assert runs.var(axis=0) == pytest.approx(variance, rel=0.25)
    assert runs.mean(axis=0) == pytest.approx(0.5, abs=4 * np.sqrt(variance.max() / 600))
    assert variance.max() < variance_of("randomized_response", 1.0) / 100  # of a single prediction


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
def test_bad_public_numbers_raise_before_anything_is_spent(data, x, options, error, message):
    teacher = PrivateTeacher(EPSILON, DELTA, bounds=BOUNDS, bins=4, **options)
    with pytest.raises(error, match=message):
        teacher.fit(data.z, data.y, x=x)
    assert teacher.spent is None
    teacher.fit(data.z, data.y)


# ---- a model of the user's own ----


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
        (Own(epsilon=0.5), {}, r"epsilon must give.*with \(1.0.*for the model.*twice its epsilon"),
        (Own(delta=1e-6), {}, r"delta what the model needs.*2\.2214"),
        (Own(random_state=0), {}, "can subtract the noise"),
        (Own(privacy_bounds={}), {}, r"feature_types.*continuous.*None"),
        (Own(privacy_bounds={}, feature_types=["nominal"]), {}, r"feature_types.*continuous.*'nominal'"),
        (Own(privacy_bounds=None, feature_types=["continuous"]), {}, "column 0.*privacy_bounds"),
        (Own(privacy_bounds={0: (0, 1)}, feature_types=["continuous"] * 2), {}, r"column 1.*privacy_bounds"),
        (Own(privacy_bounds={"a": (0, 1)}, feature_types=["continuous"]), {}, "column 0.*privacy_bounds"),
        (Own(), {"split": 0.5}, "split and bounds must be left out"),
    ],
)
def test_own_model_that_cannot_keep_its_budget_raises(model, options, message):
    with pytest.raises(ValueError, match=message):
        PrivateTeacher(EPSILON, DELTA, teacher=model, **options)


def test_epsilon_of_an_own_model_is_recorded_as_stated_by_the_user(data, dtrain):
    own, proved = PrivateTeacher(EPSILON, DELTA, teacher=Own()).fit(data.z, data.y), fitted(data)
    stated = "stated by the user"
    assert f"epsilon_source='{stated}'" in repr(own)
    first = pi_xgb.train(PARAMS, dtrain, 2, teacher=own)
    for model in (
        first,
        pi_xgb.train(PARAMS, dtrain, 2, teacher=[(own, 0.3), (proved, 0.3)]),
        pi_xgb.train(PARAMS, dtrain, 2, teacher=proved, xgb_model=first),
    ):
        assert model.attr("pi_xgb_epsilon_source") == stated
    assert pi_xgb.train(PARAMS, dtrain, 2, teacher=proved).attr("pi_xgb_epsilon_source") == "proved"


def test_seeded_teacher_claims_no_privacy(data):
    single, two = (fitted(data, seed=5) for _ in range(2))
    assert "unsafe_seed=5: not private" in repr(single)
    assert np.array_equal(single.values, two.values)
    assert single.spent is None
    assert PrivateTeacher(EPSILON, DELTA, teacher=Own(random_state=0), unsafe_seed=0).fit(data.z, data.y).spent is None


class LooksAround(Own):
    def predict_proba(self, z):
        return np.full((len(z), 2), np.asarray(z, float).max() / 100)


class SaysLittle(Own):
    def predict_proba(self, z):
        return np.full((3, 2), 0.5)


class Changes(Own):
    """A model whose settings change in ``fit``, if not before."""

    def fit(self, z, y):
        self.__dict__.update(self.change)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LooksAround(), r"predict_proba must depend.*other rows"),
        (SaysLittle(), r"\(400, 2\).*\(3, 2\)"),
        (Changes(change={"epsilon": 5.0}), "another budget"),
        (Changes(change={"random_state": 3}), "random_state=3"),
        (Changes(change={"privacy_bounds": {}, "feature_types": ["nominal"]}), "feature_types"),
    ],
)
@pytest.mark.parametrize("before", [False, True])
def test_own_model_that_breaks_the_proof_raises(data, model, message, before):
    teacher = PrivateTeacher(EPSILON, DELTA, teacher=type(model)(**vars(model)))
    if before:
        vars(teacher._teacher._model).update(getattr(model, "change", {}))
    with pytest.raises(ValueError, match=message):
        teacher.fit(data.z, data.y)
    assert teacher.spent is None


def test_pickled_teacher_has_nothing_of_z(data):
    for teacher in (fitted(data), PrivateTeacher(EPSILON, DELTA, teacher=Own()).fit(data.z, data.y)):
        assert np.asarray(data.z, float)[:, 0].tobytes() not in pickle.dumps(teacher)
        assert data.z.to_numpy()[5].tobytes() not in pickle.dumps(teacher)


# ---- DP-EBM ----


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


@pytest.fixture
def dp_ebm():
    pytest.importorskip("interpret", reason="DP-EBM needs interpret")
    from pi_xgb._privacy import dp_ebm

    return dp_ebm


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_changed_row_moves_the_sums_of_a_boosting_step_by_the_root_of_two(dp_ebm):
    # The row leaves a leaf with one gradient and enters another with another, of the same sign as its label is.
    worst = max(
        math.hypot(p - y, other - y) for y in (0, 1) for p in np.linspace(0, 1, 11) for other in np.linspace(0, 1, 11)
    )
    assert worst == pytest.approx(dp_ebm._MOVED)


@pytest.mark.slow
def test_delta_of_is_the_curve_of_a_gaussian(dp_ebm):
    # By definition: the integral of (density of N(mu, 1) - exp(epsilon) density of N(0, 1)) where it is positive.
    t = np.linspace(-12, 12, 200_001)
    for epsilon, mu in ((0.5, 0.3), (1.0, 1.0), (3.0, 0.7)):
        gap = stats.norm.pdf(t, mu) - math.exp(epsilon) * stats.norm.pdf(t)
        assert dp_ebm.delta_of(epsilon, mu) == pytest.approx(integrate.trapezoid(np.maximum(gap, 0), t), abs=1e-7)
    assert dp_ebm.delta_of(1.0, dp_ebm.mu_of_promise(1.0, 1e-5)) == pytest.approx(1e-5, rel=1e-6)


@pytest.mark.slow
def test_a_dp_ebm_that_was_noised_too_little_is_not_released(dp_ebm, data, monkeypatch):
    monkeypatch.setattr(dp_ebm, "epsilon_for_interpret", lambda budget: 3 * budget.epsilon)
    with pytest.raises(RuntimeError, match="noise was too small"):
        fitted(data, teacher="dp-ebm")


@pytest.mark.slow
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
        with pytest.raises(ValueError, match=rf"dp-ebm.*from 0.001 to 20.*1e-10, got {epsilon / 2:g} and {delta:g}"):
            fitted(data, teacher="dp-ebm", bounds=bounds, epsilon=epsilon, delta=delta)


@pytest.mark.slow
@pytest.mark.parametrize("budget", [Spent(epsilon, delta) for epsilon in (1e-3, 5.0, 17.7) for delta in (1e-10, 1e-3)])
def test_the_rounding_of_interpret_does_not_break_the_budget(dp_ebm, budget):
    noise = pytest.importorskip("interpret.utils._privacy").calc_gdp_noise_multi
    found = dp_ebm.epsilon_for_interpret(budget)
    binning = noise(2, 0.1 * found, budget.delta / 2)
    boosting = noise(600, found - 0.1 * found, budget.delta / 2) * 0.01
    model = types.SimpleNamespace(noise_scale_binning_=binning, noise_scale_boosting_=boosting)
    assert 0.7 * budget.delta < dp_ebm.delta_of(budget.epsilon, dp_ebm.mu_of_noise(model, 2)) <= budget.delta


def test_without_interpret_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "interpret.privacy", None)
    with pytest.raises(ImportError, match=r"\.\[private\]"):
        PrivateTeacher(1.0, 1e-6, bounds=BOUNDS, teacher="dp-ebm")


# ---- the audit ----


def small(rows=1):
    """Privileged values that say y, and some that are turned over."""
    y = np.arange(120) % 2
    z = y[:, None].astype(float)
    other = z.copy()
    other[:rows] = 1 - z[:rows]
    return z, other, y


@pytest.mark.parametrize(("noise", "rows"), [("laplace", 1), ("randomized_response", 10)])
def test_a_private_teacher_stays_below_its_epsilon(noise, rows):
    z, other, y = small(rows=rows)
    seeds = iter(range(10_000))

    def train(table):
        options = {"bounds": {0: [0, 1]}, "noise": noise, "split": 0.05, "unsafe_seed": next(seeds)}
        return PrivateTeacher(2.0, 1e-6, **options).fit(table, y)

    found = audit(train, z, other, lambda teacher: teacher.values[:rows], runs=100, delta=1e-6)
    assert found.attack == ("neighbours" if rows == 1 else "values")
    assert found.epsilon <= 2.0


def attack_on_the_table():
    """The built-in attack, at a budget that the model has nearly alone."""
    seeds = itertools.count()

    def train(z, y, labelled):
        options = {"bounds": {"cell": [0, 1, 2]}, "split": 0.99, "unsafe_seed": next(seeds)}
        return PrivateTeacher(1.0, 1e-6, **options).fit(z, y, labelled=labelled)

    return audit(train, runs=1000, delta=1e-6)


def halve_the_noise_of_tables(monkeypatch):
    real = SeededNoise.laplace
    monkeypatch.setattr(
        SeededNoise, "laplace", lambda self, values, moved, epsilon: real(self, values, moved, 2 * epsilon)
    )


@pytest.mark.slow
def test_the_audit_finds_a_broken_mechanism_and_not_the_right_one(monkeypatch):
    assert attack_on_the_table().epsilon <= 1.0
    halve_the_noise_of_tables(monkeypatch)
    assert attack_on_the_table().epsilon > 1.0


def test_a_bound_is_right_about_a_mechanism_that_is_known():
    # Randomised response of epsilon 2: told apart no better, and the bound comes close.
    random = np.random.default_rng(0)
    shown = np.exp(2) / (1 + np.exp(2))

    def train(table):
        return table[0, 0] if random.random() < shown else 1 - table[0, 0]

    z, other, _ = small()
    found = audit(train, z[:1], other[:1], lambda answer: answer, runs=2000)
    assert 1.4 < found.epsilon <= 2.0
    assert from_guesses(round(shown * 10_000), 10_000, 0.0, 0.05) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize(("hits", "alarms"), [(50, 0), (60, 20)])
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


@pytest.mark.parametrize(
    ("change", "options", "error", "message"),
    [
        (lambda z: z.copy(), {}, ValueError, "other must differ from z"),
        (lambda z: z[:5], {}, ValueError, "same rows and columns"),
        (None, {"runs": 5}, ValueError, r"runs.*least 20"),
        (None, {"delta": 1.0}, ValueError, r"delta.*least 0 and below 1, got 1\.0"),
        (None, {"confidence": 1.0}, ValueError, "confidence must lie between"),
        (None, {"observe": None}, TypeError, "train.*observe.*functions"),
        (None, {"observe": lambda model: "x"}, ValueError, "observe.*return finite.*str"),
        (None, {"score": lambda seen: [1.0, 2.0]}, ValueError, "score must return 1 numbers.*got 2"),
        (None, {"observe": lambda model, seen=[0]: seen.append(0) or seen}, ValueError, "as many for every model"),
    ],
)
def test_audit_with_bad_arguments_raises(change, options, error, message):
    z, other, _ = small()
    given = {"train": lambda table: 0.0, "observe": lambda model: 1.0, **options}
    with pytest.raises(error, match=message):
        audit(z=z, other=other if change is None else change(z), **given)


def test_audit_with_a_score_counts_its_guesses():
    random = np.random.default_rng(0)
    z, other = np.zeros((4, 1)), np.vstack([np.ones((3, 1)), np.zeros((1, 1))])
    for sign, accuracy in ((1, 1.0), (-1, 0.0)):
        noisy = lambda table: table[:, 0] + random.normal(scale=0.1, size=4)  # noqa: E731
        score = lambda seen, sign=sign: sign * (seen[:3] - 0.5)  # noqa: E731
        assert audit(noisy, z, other, lambda seen: seen, score=score, runs=40).accuracy == accuracy

"""The step of teachers that follow the student: how much of their weight the Hessian counts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import xgboost as xgb
from helpers_engines import native_obstacle
from xgboost.callback import LearningRateScheduler

import pi_xgb
from pi_xgb._core.spec import Spec
from pi_xgb._core.step import DampedTarget, hessian_share
from pi_xgb.constraints import DemographicParity, EqualizedOdds, IndividualFairness, Meritocracy

ROUNDS = 8


def data(n=600, seed=0):
    """Rows whose second feature stands in for the group, on which y depends as well."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    x = np.column_stack([rng.normal(size=n), group + rng.normal(0, 0.3, n), rng.normal(size=n)])
    y = rng.random(n) < 1 / (1 + np.exp(-(2 * x[:, 0] + 2 * group - 1)))
    return x.astype(np.float32), y.astype(np.float32), group


def params_of(**more):
    return {"objective": "binary:logistic", "max_depth": 3, "eta": 0.3, "nthread": 1, "base_score": 0.5, **more}


def margins(booster, x):
    return booster.predict(xgb.DMatrix(x), output_margin=True)


def loop(params, dtrain, counted, pull):
    """Boosting written out: ``pull(p)`` is what the constraint adds to p - y, ``counted`` what the Hessian counts."""
    booster = xgb.Booster(params, [dtrain])
    for i in range(ROUNDS):
        p = 1 / (1 + np.exp(-booster.predict(dtrain, output_margin=True, training=True)))
        fixed = dtrain.get_label()
        booster.boost(dtrain, i, grad=pull(p, fixed), hess=counted * p * (1 - p))
    return booster


# Weights on both sides of 1 / eta - 1, from which on the Hessian counts more than the labels.
@pytest.mark.parametrize("kl_weight", [0.5, 4.0, 40.0])
@pytest.mark.parametrize("eta", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("hessian", ["adaptive", "full"])
def test_the_hessian_counts_what_a_step_that_closes_the_gap_needs(kl_weight, eta, hessian):
    x, y, group = data()
    dtrain, params = xgb.DMatrix(x, y), params_of(eta=eta)
    parity = DemographicParity(group, hessian=hessian)
    total = 1 + kl_weight
    counted = total if hessian == "full" else max(1, eta * total)
    expected = loop(params, dtrain, counted, lambda p, y: (p - y) + kl_weight * (p - parity.q(p, y, None)))
    ours = pi_xgb.train(params, dtrain, ROUNDS, teacher=parity, kl_weight=kl_weight)
    np.testing.assert_allclose(margins(ours, x), margins(expected, x), atol=1e-3)
    # An objective on its own finds the step where XGBoost keeps it.
    alone = xgb.train(params, dtrain, ROUNDS, obj=pi_xgb.KLObjective(parity, kl_weight))
    np.testing.assert_array_equal(margins(alone, x), margins(ours, x))


def test_what_stands_still_counts_in_full_and_rows_count_each_for_themselves():
    x, y, group = data()
    known, params, rng = np.arange(len(y)) % 3 > 0, params_of(), np.random.default_rng(1)
    fixed, counts = rng.random(len(y)).astype(np.float32), rng.uniform(0.5, 30, len(y))
    parity, dtrain = DemographicParity(group, hessian="adaptive"), xgb.DMatrix(x, y)
    ours = pi_xgb.train(params, dtrain, ROUNDS, teacher=[(parity, counts), (fixed, 0.7)], labelled=known)
    resting = known + 0.7
    counted = np.maximum(resting, 0.3 * (resting + counts))

    def pull(p, y):
        return known * (p - y) + 0.7 * (p - fixed) + counts * (p - parity.q(p, y, None))

    np.testing.assert_allclose(margins(ours, x), margins(loop(params, dtrain, counted, pull), x), atol=1e-3)


def test_classes_and_linear_students_have_the_same_step():
    x, y, group = data()
    classes = params_of(objective="multi:softprob", num_class=2, base_score=None)
    dtrain = xgb.DMatrix(x, y)
    linear = {**params_of(booster="gblinear", updater="coord_descent", eta=0.5), "max_depth": None}
    for params in (classes, linear):
        made = [
            pi_xgb.train(params, dtrain, 1, teacher=DemographicParity(group, hessian=hessian), kl_weight=1.5)
            for hessian in ("adaptive", "full")
        ]
        start = pi_xgb.train({**params, "eta": 1e-6}, dtrain, 1, teacher=DemographicParity(group), kl_weight=1.5)
        moved = [np.abs(margins(booster, x) - margins(start, x)).max() for booster in made]
        # The gradient of the first round is the same, so the shorter Hessian makes the longer step.
        assert 1.3 * moved[1] < moved[0] < 2.6 * moved[1]


@pytest.mark.parametrize(("kl_weight", "eta"), [(3.9, 0.3), (4.1, 0.3), (200.0, 0.1), (1000.0, 1.0)])
@pytest.mark.parametrize("starts_apart", [False, True])
def test_damped_counts_the_labels_and_averages_the_pull(kl_weight, eta, starts_apart):
    x, y, group = data()
    dtrain, params, resting = xgb.DMatrix(x, y), params_of(eta=eta), 1.7
    parity, fixed = DemographicParity(group, hessian="damped"), np.full(len(y), 0.4, np.float32)
    start = np.where(group == 1, 1.0, -0.5) * starts_apart
    dtrain.set_base_margin(start)
    at_once = min(kl_weight, 0.7 * resting / eta)
    pace = 1 / (1 + eta * (kl_weight - at_once) / (0.1 * resting))
    rounds = [0.0]

    def pull(p, y):
        gap = p - parity.q(p, y, None)
        rounds.append(rounds[-1] + pace * (gap - rounds[-1]))
        requested = np.clip(p - (at_once * gap + (kl_weight - at_once) * rounds[-1]) / kl_weight, 0, 1)
        return (p - y) + 0.7 * (p - fixed) + kl_weight * (p - requested)

    taught = [(parity, kl_weight), (fixed, 0.7)]
    ours = pi_xgb.train(params, dtrain, ROUNDS, teacher=taught)
    expected = loop(params, dtrain, resting, pull)
    shown = xgb.DMatrix(x, base_margin=start)
    close = {"atol": 2e-3, "rtol": 1e-3}
    np.testing.assert_allclose(
        ours.predict(shown, output_margin=True), expected.predict(shown, output_margin=True), **close
    )
    # Below .7 / eta nothing differs from "adaptive".
    adaptive = [(DemographicParity(group, hessian="adaptive"), kl_weight), (fixed, 0.7)]
    same = ours.get_dump() == pi_xgb.train(params, dtrain, ROUNDS, teacher=adaptive).get_dump()
    assert same == (kl_weight == at_once)
    # A second training with the same teacher begins anew, and an objective on its own keeps the rounds as well.
    assert pi_xgb.train(params, dtrain, ROUNDS, teacher=taught).get_dump() == ours.get_dump()
    alone = pi_xgb.KLObjective(taught)
    assert xgb.train(params, dtrain, ROUNDS, obj=alone).get_dump() == ours.get_dump()
    assert xgb.train(params, dtrain, ROUNDS, obj=alone).get_dump() == ours.get_dump()


@pytest.mark.slow
@pytest.mark.parametrize("group_is_a_feature", [False, True])
def test_damped_needs_the_rounds_of_plain_at_every_weight(group_is_a_feature):
    x, y, group = data(1500)
    if group_is_a_feature:
        x = np.column_stack([x, group]).astype(np.float32)
    dtrain, params = xgb.DMatrix(x, y), params_of(eta=0.1, base_score=None)
    for kl_weight in (30.0, 300.0, 3000.0):
        made = [
            pi_xgb.train(params, dtrain, 100, teacher=DemographicParity(group, hessian=hessian), kl_weight=kl_weight)
            for hessian in ("damped", "adaptive")
        ]
        p, slow = (booster.predict(dtrain) for booster in made)
        assert abs(p[group == 0].mean() - p[group == 1].mean()) < 0.02
        # What two classes differ in, the labels have taught: at heavy weights the other has hardly begun.
        assert p[y == 1].mean() - p[y == 0].mean() > 0.25
        if kl_weight == 3000:
            assert slow[y == 1].mean() - slow[y == 0].mean() < 0.1


def test_damped_classes_rows_of_their_own_weight_and_engines():
    x, y, group = data(seed=2)  # no two splits gain the same in it
    dtrain, damped = xgb.DMatrix(x, y), DemographicParity(group, hessian="damped")
    for more in ({}, {"reg_lambda": 3.0, "min_child_weight": 4.0, "max_delta_step": 0.7}):
        made = [
            pi_xgb.train(params_of(**more), dtrain, 5, teacher=damped, kl_weight=10.0, engine=engine)
            for engine in ("callback", "native")
        ]
        np.testing.assert_allclose(margins(made[1], x), margins(made[0], x), atol=5e-4)
    # Two classes by softprob have twice the margin's difference of one by logistic, and the same pull.
    classes = {**params_of(objective="multi:softprob", num_class=2, eta=0.1), "base_score": None}
    p = pi_xgb.train(classes, dtrain, 60, teacher=damped, kl_weight=300.0).predict(dtrain)[:, 1]
    assert abs(p[group == 0].mean() - p[group == 1].mean()) < 0.05
    assert p[y == 1].mean() - p[y == 0].mean() > 0.2
    # Rows without a label have nothing but the constraint to learn.
    known = np.arange(len(y)) % 3 > 0
    p = pi_xgb.train(params_of(), dtrain, 40, teacher=damped, kl_weight=300.0, labelled=known).predict(dtrain)
    assert abs(p[group == 0].mean() - p[group == 1].mean()) < 0.05
    assert p[y == 1].mean() - p[y == 0].mean() > 0.1
    folds = pi_xgb.cv(params_of(), dtrain, 5, teacher=damped, kl_weight=300.0, nfold=3)
    assert len(folds) == 5


class Timid(pi_xgb.Teacher):
    """Wants everything nearer to the mean, of whichever rows there are."""

    hessian = "damped"

    def q(self, mean, label, weight):
        return (mean + mean.mean()) / 2

    def subset(self, rows):
        return self


class Following(Timid):
    hessian = "adaptive"


def test_trainings_that_alternate_keep_their_own_rounds():
    x, y, _ = data()
    dtrain, params = xgb.DMatrix(x, y), params_of()
    objective = pi_xgb.KLObjective(Timid(), 60.0)
    folds = xgb.cv(params, dtrain, ROUNDS, nfold=3, seed=4, obj=objective)
    ours = pi_xgb.cv(params, dtrain, ROUNDS, nfold=3, seed=4, teacher=Timid(), kl_weight=60.0)
    np.testing.assert_allclose(folds["test-logloss-mean"], ours["test-logloss-mean"], rtol=1e-6)
    # Nobody could tell one training from the next in calls by hand: they have the step that needs no rounds.
    dtrain.set_base_margin(x[:, 0])
    by_hand = [pi_xgb.KLObjective(teacher, 60.0, objective="binary:logistic") for teacher in (Timid(), Following())]
    damped, adaptive = (objective(x[:, 0], dtrain) for objective in by_hand)
    np.testing.assert_array_equal(damped, adaptive)


def test_shares_of_rows_that_weigh_little_or_nothing():
    total, following = np.array([0.5, 0.0, 40.0, 2.0]), np.array([0.2, 0.0, 39.0, 2.0])
    damped = hessian_share(total, [following], 0.1, damped=True)
    np.testing.assert_allclose(damped, [0.6, 0, 1 / 40, 0.05], rtol=1e-6)
    adaptive = hessian_share(total, [following], 0.1, damped=False)
    np.testing.assert_allclose(adaptive, [0.6, 0, 0.1, 0.1], rtol=1e-6)


def test_what_follows_at_once_is_not_averaged():
    # As much as a round can close, less, more, and a row that nobody weighs.
    damped = DampedTarget(np.array([1.7, 1.2, 6.0, 0.0]), [np.array([0.7, 0.2, 5.0, 0.0])])
    mean, q = np.full(4, 0.3, np.float32), np.full(4, 1e-8, np.float32)
    found, averaged = damped.update(mean, q, 1.0, None)
    assert found.dtype == np.float32
    assert (found == q).tolist() == [True, True, False, True]
    pace = 1 / (1 + 4.3 / 0.1)
    np.testing.assert_allclose(averaged, 0.3 * np.array([1, 1, pace, 1]), rtol=1e-6)
    np.testing.assert_allclose(found[2], 0.3 - (0.7 + 4.3 * pace) / 5 * 0.3, rtol=1e-6)


def test_steps_are_damped_where_all_who_follow_say_so():
    x, y, group = data()
    dtrain = xgb.DMatrix(x, y)
    adaptive, parity = DemographicParity(group, hessian="adaptive"), DemographicParity(group)

    def dump(*teachers):
        taught = [(teacher, 20.0) for teacher in teachers]
        return pi_xgb.train(params_of(), dtrain, ROUNDS, teacher=taught).get_dump()

    assert dump(parity, Following()) == dump(adaptive, Timid()) == dump(adaptive, Following())
    assert dump(parity, Timid()) != dump(adaptive, Following())


class Smooth(pi_xgb.Teacher):
    """Wants the mean of neighbours in the first feature, which no projection is."""

    def __init__(self, x, hessian):
        self.order, self.hessian = np.argsort(x[:, 0]), hessian

    def q(self, mean, label, weight):
        smooth = np.empty_like(mean)
        sums, counts = (np.convolve(each, np.ones(25), "same") for each in (mean[self.order], np.ones_like(mean)))
        smooth[self.order] = sums / counts
        return smooth


@pytest.mark.slow
@pytest.mark.parametrize("hessian", ["damped", "adaptive"])
@pytest.mark.parametrize("eta", [0.1, 0.3])
def test_no_weight_makes_any_teacher_diverge(hessian, eta):
    x, y, group = data()
    many = np.random.default_rng(3).integers(0, 60, len(y))
    found, params = xgb.DMatrix(x, y), params_of(eta=eta, max_depth=6, base_score=None)
    constant = -np.log(np.where(y == 1, y.mean(), 1 - y.mean())).mean()
    for teacher in (
        DemographicParity(group, hessian=hessian),
        EqualizedOdds(many, hessian=hessian),
        IndividualFairness(key=np.round(2 * x[:, 0]), hessian=hessian),
        Meritocracy(x[:, 2], hessian=hessian),
        Smooth(x, hessian),
    ):
        for kl_weight in (30.0, 1000.0):
            p = pi_xgb.train(params, found, 60, teacher=teacher, kl_weight=kl_weight).predict(found)
            loss = -np.log(np.where(y == 1, p, 1 - p)).mean()
            assert loss < 1.02 * constant, (teacher, kl_weight)


@pytest.mark.parametrize("objective", ["reg:gamma", "reg:tweedie", "count:poisson"])
def test_amounts_have_the_step_of_follow(objective):
    x, y, group = data()
    params = {**params_of(objective=objective, eta=0.1), "base_score": None}
    dtrain = xgb.DMatrix(x, 1 + np.round(np.exp(y + 2 * group)))
    made = [
        pi_xgb.train(params, dtrain, 30, teacher=DemographicParity(group, hessian=hessian), kl_weight=1000.0)
        for hessian in ("damped", "adaptive")
    ]
    assert np.isfinite(margins(made[0], x)).all()
    assert made[0].get_dump() == made[1].get_dump()


def test_rows_too_heavy_for_the_regularisation_have_the_step_of_follow():
    x, y, group = data()

    def is_follow(weight, **more):
        dtrain = xgb.DMatrix(x, y, weight=np.full(len(y), weight) if weight else None)
        made = []
        for hessian in ("damped", "adaptive"):
            parity, params = DemographicParity(group, hessian=hessian), params_of(**more)
            made.append(pi_xgb.train(params, dtrain, 8, teacher=parity, kl_weight=20.0).get_dump())
            # An objective by itself knows the params of the Booster that asks.
            assert xgb.train(params, dtrain, 8, obj=pi_xgb.KLObjective(parity, 20.0)).get_dump() == made[-1]
        return made[0] == made[1]

    assert [is_follow(weight) for weight in (None, 30, 31)] == [False, False, True]
    # A Booster that is continued has its own lambda, where params are silent.
    dtrain = xgb.DMatrix(x, y, weight=np.full(len(y), 90))
    first = xgb.train(params_of(reg_lambda=3), dtrain, 2)
    made = [
        pi_xgb.train(params_of(**more), dtrain, 8, teacher=DemographicParity(group), kl_weight=20.0, xgb_model=first)
        for more in ({}, {"reg_lambda": 3})
    ]
    assert made[0].get_dump() == made[1].get_dump()
    assert not is_follow(90, reg_lambda=3)
    assert not is_follow(90, min_child_weight=3)
    assert is_follow(None, reg_lambda=0, min_child_weight=0)


def test_labels_keep_their_steps_beside_rows_without_one():
    x, y, group = data(1500)
    dtrain, known = xgb.DMatrix(x, y), np.arange(len(y)) % 5 == 0
    apart = []
    for hessian in ("damped", "adaptive"):
        parity = DemographicParity(group, hessian=hessian)
        p = pi_xgb.train(params_of(eta=0.1), dtrain, 100, teacher=parity, kl_weight=1000.0, labelled=known).predict(
            dtrain
        )
        assert abs(p[group == 0].mean() - p[group == 1].mean()) < 0.02
        apart.append(p[y == 1].mean() - p[y == 0].mean())
    assert apart[0] > 0.2 > 0.1 > apart[1]


def test_steps_of_size_0_go_nowhere():
    x, y, group = data()
    for hessian in ("damped", "adaptive"):
        still = pi_xgb.train(
            params_of(eta=0.0), xgb.DMatrix(x, y), 2, teacher=DemographicParity(group, hessian=hessian)
        )
        np.testing.assert_array_equal(margins(still, x), 0)


def test_a_word_for_the_step_that_nobody_knows_is_an_error():
    class Misspelt(Timid):
        hessian = "stedy"

    x, y, _ = data()
    with pytest.raises(ValueError, match=r"Misspelt\.hessian.*'adaptive'.*'full'.*'damped'.*'stedy'"):
        pi_xgb.train(params_of(), xgb.DMatrix(x, y), 2, teacher=Misspelt())


@pytest.mark.parametrize("kl_weight", [5.0, 50.0, 1000.0])
def test_a_constraint_that_comes_late_does_not_overshoot(kl_weight):
    """A model without it, or a base_margin, is far from what it wants: one step towards it must not leap over."""
    x, y, group = data(1500)
    dtrain, params = xgb.DMatrix(x, y), params_of(eta=0.1, base_score=None)
    plain, damped = xgb.train(params, dtrain, 40), DemographicParity(group, hessian="damped")

    def gap(booster):
        p = booster.predict(dtrain)
        return p[group == 1].mean() - p[group == 0].mean()

    gaps = [gap(plain)]
    for _ in range(6):
        n = len(gaps)
        gaps.append(gap(pi_xgb.train(params, dtrain, n, teacher=damped, kl_weight=kl_weight, xgb_model=plain)))
    assert gaps[0] > 0.2
    assert min(gaps) > -0.05
    assert gaps[-1] < 0.25 * gaps[0]
    late = pi_xgb.train(params, dtrain, 40, teacher=damped, kl_weight=kl_weight, xgb_model=plain)
    whole = pi_xgb.train(params, dtrain, 80, teacher=damped, kl_weight=kl_weight)
    loss = [-np.log(np.where(y == 1, p, 1 - p)).mean() for p in (item.predict(dtrain) for item in (late, whole))]
    assert loss[0] < loss[1] + 0.03


@pytest.mark.parametrize("tree_method", ["hist", "exact"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"learning_rate": 0.07, "eta": None},
        {"reg_lambda": 3.0, "reg_alpha": 0.2, "gamma": 0.3, "min_child_weight": 4.0},
        {"max_delta_step": 0.7, "eta": 0.6},
        {"objective": "reg:squarederror"},
        {"subsample": 0.8},
    ],
    ids=lambda more: ",".join(more) or "plain",
)
def test_both_engines_have_the_same_step(tree_method, more):
    x, y, group = data(seed=2)  # no two splits gain the same in it
    params, adaptive = params_of(tree_method=tree_method, **more), DemographicParity(group, hessian="adaptive")
    for kl_weight in (2.0, 10.0):
        made = [
            pi_xgb.train(params, xgb.DMatrix(x, y), ROUNDS, teacher=adaptive, kl_weight=kl_weight, engine=engine)
            for engine in ("callback", "native")
        ]
        np.testing.assert_allclose(margins(made[1], x), margins(made[0], x), atol=2e-4)
        # What the native engine changed for itself is the user's again, for who goes on with the booster.
        dtrain = xgb.DMatrix(x, y)
        further = [xgb.train({"subsample": 1.0}, dtrain, 1, xgb_model=booster) for booster in made]
        np.testing.assert_allclose(margins(further[1], x), margins(further[0], x), atol=2e-4)


# Up to .7 / eta there is no average that would begin anew.
@pytest.mark.parametrize(("hessian", "kl_weight"), [("adaptive", 30.0), ("damped", 2.0)])
def test_a_training_in_parts_is_one_training(hessian, kl_weight):
    x, y, group = data()
    dtrain, guided = xgb.DMatrix(x, y), {"teacher": DemographicParity(group, hessian=hessian), "kl_weight": kl_weight}
    whole = pi_xgb.train(params_of(), dtrain, 6, **guided)
    half = pi_xgb.train(params_of(), dtrain, 3, **guided)
    # Silent params leave the booster its own, the size of its steps among them.
    assert pi_xgb.train({"objective": "binary:logistic", "max_depth": 3}, dtrain, 3, xgb_model=half, **guided).get_dump(
        with_stats=True
    ) == whole.get_dump(with_stats=True)


def test_native_says_where_it_would_have_another_step():
    x, y, group = data()
    dtrain, parity = xgb.DMatrix(x, y), DemographicParity(group)
    for named, words in (
        ({"callbacks": [LearningRateScheduler(lambda i: 0.1)]}, "LearningRateScheduler"),
        ({"teacher_weight": np.arange(len(y)) % 3}, "from row to row"),
    ):
        with pytest.raises(ValueError, match=words):
            pi_xgb.train(params_of(), dtrain, 2, teacher=parity, engine="native", **named)
        # By itself the library takes the engine that is exact, and the paper's Hessian is exact in both.
        assert pi_xgb.train(params_of(), dtrain, 2, teacher=parity, **named).num_boosted_rounds() == 2
        paper = DemographicParity(group, hessian="full")
        assert pi_xgb.train(params_of(), dtrain, 2, teacher=paper, engine="native", **named).num_boosted_rounds() == 2


@pytest.mark.slow
@pytest.mark.parametrize("group_is_a_feature", [False, True])
def test_plain_rounds_are_enough_and_no_weight_is_unstable(group_is_a_feature):
    x, y, group = data(1500)
    if group_is_a_feature:
        x = np.column_stack([x, group]).astype(np.float32)
    dtrain, params = xgb.DMatrix(x, y), params_of(eta=0.1, base_score=None)
    found = {}
    for kl_weight in (0.0, 3.0, 30.0, 100.0, 1000.0):
        p = pi_xgb.train(params, dtrain, 100, teacher=DemographicParity(group), kl_weight=kl_weight).predict(dtrain)
        found[kl_weight] = abs(p[group == 0].mean() - p[group == 1].mean()), ((p > 0.5) == y).mean(), p.std()
    gaps = [gap for gap, *_ in found.values()]
    assert gaps[0] > 0.2
    # More weight, less of a gap, and nothing blows up.
    assert all(later < earlier + 0.005 for earlier, later in itertools.pairwise(gaps))
    assert gaps[3] < 0.02
    # The model of the heavy weights has learned from the labels, too, in the rounds of plain XGBoost.
    slow = pi_xgb.train(params, dtrain, 100, teacher=DemographicParity(group, hessian="full"), kl_weight=100.0)
    assert found[100.0][1] > 0.74
    assert found[100.0][2] > 2 * slow.predict(dtrain).std()


def test_hessian_is_one_of_three_words():
    for constraint in (
        lambda: DemographicParity([0, 1, 0, 1], hessian="half"),
        lambda: DemographicParity([0, 1, 0, 1], hessian=1),
    ):
        with pytest.raises(ValueError, match=r"hessian.*'adaptive'.*'full'.*'damped'"):
            constraint()


def test_native_says_where_gains_would_be_too_small_for_xgboost():
    x, y, group = data()
    dtrain, parity = xgb.DMatrix(x, y), DemographicParity(group)
    q = np.full(len(y), 0.4, np.float32)
    taught = [
        (11, lambda more: {"teacher": parity, "kl_weight": 10.0 + more}),
        (10_001, lambda more: {"teacher": q, "kl_weight": 10_000.0 + more}),
        (11, lambda more: {"teacher": [(parity, 4.0), (q, 6.0 + more)]}),
    ]
    for weight, guided in taught:
        assert pi_xgb.train(params_of(), dtrain, 5, **guided(0), engine="native").num_boosted_rounds() == 5
        with pytest.raises(ValueError, match=f"total weight of {weight:g}"):
            pi_xgb.train(params_of(), dtrain, 5, **guided(1), engine="native")
    # On other devices than the processor the library takes the engine that is exact.
    assert native_obstacle(Spec.read(params_of()), is_adaptive=True, moves_freely=True, total_weight=1000.0)


def test_only_counts_have_the_step_in_their_hessian_too():
    for objective in ("binary:logistic", "reg:gamma", "reg:squarederror"):
        assert native_obstacle(Spec.read({"objective": objective}), is_adaptive=True, moves_freely=True) is None
    poisson = Spec.read({"objective": "count:poisson"})
    assert "max_delta_step" in native_obstacle(poisson, is_adaptive=True, moves_freely=True)
    assert native_obstacle(poisson, is_adaptive=True) is None

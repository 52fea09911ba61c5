"""The step of teachers that follow the student: how much of their weight the Hessian counts."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb

import pi_xgb
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
    takes_part = known | (np.arange(len(y)) % 2 > 0)
    fixed, counts = rng.random(len(y)).astype(np.float32), rng.uniform(0.5, 30, len(y)) * takes_part
    parity, dtrain = DemographicParity(group, hessian="adaptive"), xgb.DMatrix(x, y)
    teachers = [(parity, counts), (fixed, 0.7 * takes_part)]
    with pytest.warns(UserWarning, match="neither a label nor a teacher"):
        ours = pi_xgb.train(params, dtrain, ROUNDS, teacher=teachers, labelled=known)
    resting = known + 0.7 * takes_part
    counted = np.maximum(resting, 0.3 * (resting + counts))

    def pull(p, y):
        return known * (p - y) + 0.7 * takes_part * (p - fixed) + counts * (p - parity.q(p, y, None))

    np.testing.assert_allclose(margins(ours, x), margins(loop(params, dtrain, counted, pull), x), atol=1e-3)


@pytest.mark.parametrize(
    ("kl_weight", "eta", "all_labelled"),
    [(3.9, 0.3, True), (4.1, 0.3, True), (200.0, 0.1, True), (1000.0, 1.0, True), (4.1, 0.3, False)],
)
@pytest.mark.parametrize("starts_apart", [False, True])
def test_damped_counts_the_labels_and_averages_the_pull(kl_weight, eta, starts_apart, all_labelled):
    x, y, group = data()
    dtrain, params = xgb.DMatrix(x, y), params_of(eta=eta)
    known = all_labelled or np.arange(len(y)) % 3 > 0
    counted = np.where(known, 1.7, min(eta * kl_weight, 0.1))
    parity, fixed = DemographicParity(group, hessian="damped"), np.full(len(y), 0.4, np.float32)
    start = np.where(group == 1, 1.0, -0.5) * starts_apart
    dtrain.set_base_margin(start)
    at_once = np.minimum(kl_weight, 0.7 * counted / eta)
    pace = 1 / (1 + eta * (kl_weight - at_once) / (0.1 * counted))
    rounds = [0.0]

    def pull(p, y):
        gap = p - parity.q(p, y, None)
        rounds.append(rounds[-1] + pace * (gap - rounds[-1]))
        requested = np.clip(p - (at_once * gap + (kl_weight - at_once) * rounds[-1]) / kl_weight, 0, 1)
        return known * (p - y + 0.7 * (p - fixed)) + kl_weight * (p - requested)

    taught, labelled = [(parity, kl_weight), (fixed, 0.7 * known)], None if all_labelled else known
    ours = pi_xgb.train(params, dtrain, ROUNDS, teacher=taught, labelled=labelled)
    expected = loop(params, dtrain, counted, pull)
    shown = xgb.DMatrix(x, base_margin=start)
    close = {"atol": 2e-3, "rtol": 1e-3}
    np.testing.assert_allclose(
        ours.predict(shown, output_margin=True), expected.predict(shown, output_margin=True), **close
    )
    # Below .7 / eta nothing differs from "adaptive".
    adaptive = [(DemographicParity(group, hessian="adaptive"), kl_weight), (fixed, 0.7 * known)]
    same = ours.get_dump() == pi_xgb.train(params, dtrain, ROUNDS, teacher=adaptive, labelled=labelled).get_dump()
    assert same == (kl_weight == at_once).all()
    # A second training with the same teacher begins anew, and an objective on its own keeps the rounds as well.
    assert pi_xgb.train(params, dtrain, ROUNDS, teacher=taught, labelled=labelled).get_dump() == ours.get_dump()
    alone = pi_xgb.KLObjective(taught, labelled=labelled)
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


def test_damped_classes_and_rows_without_labels_close_the_gap():
    x, y, group = data(seed=2)  # no two splits gain the same in it
    dtrain, damped = xgb.DMatrix(x, y), DemographicParity(group, hessian="damped")
    # Two classes by softprob have twice the margin's difference of one by logistic, and the same pull.
    classes = {**params_of(objective="multi:softprob", num_class=2, eta=0.1), "base_score": None}
    for per_row in (None, np.where(np.arange(len(y)) % 2, 1.0, 0.9)):
        weights = {"kl_weight": 300.0, "teacher_weight": per_row}
        p = pi_xgb.train(classes, dtrain, 60, teacher=damped, **weights).predict(dtrain)[:, 1]
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


@pytest.mark.parametrize("kl_weight", [5.0, 50.0, 1000.0])
@pytest.mark.slow
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


@pytest.mark.parametrize("how", ["constraint", "jpib"])
def test_native_with_an_adaptive_teacher_raises_and_names_callback(how):
    x, y, group = data()
    guided = {"teacher": DemographicParity(group, hessian="full")}
    if how == "jpib":
        guided = {"privileged": xgb.DMatrix(x[:, :1], y), "teacher": "boosted", "method": "jpib", "allow_overlap": True}
    with pytest.raises(ValueError, match=r"engine='native'.*'callback'"):
        pi_xgb.train(params_of(), xgb.DMatrix(x, y), 2, engine="native", **guided)

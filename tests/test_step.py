"""The step of teachers that follow the student: how much of their weight the Hessian counts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import xgboost as xgb
from xgboost.callback import LearningRateScheduler

import pi_xgb
from pi_xgb._core.native import obstacle_to_native
from pi_xgb._core.spec import Spec
from pi_xgb.constraints import GroupParity

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


# Weights on both sides of 2 / eta - 1, from which on the Hessian counts more than the labels.
@pytest.mark.parametrize("kl_weight", [0.5, 4.0, 40.0])
@pytest.mark.parametrize("eta", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("hessian", ["follow", "paper"])
def test_the_hessian_counts_what_the_largest_stable_step_needs(kl_weight, eta, hessian):
    x, y, group = data()
    dtrain, params = xgb.DMatrix(x, y), params_of(eta=eta)
    parity = GroupParity(group, hessian=hessian)
    total = 1 + kl_weight
    counted = total if hessian == "paper" else max(1, eta * total / 2)
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
    parity, dtrain = GroupParity(group), xgb.DMatrix(x, y)
    ours = pi_xgb.train(params, dtrain, ROUNDS, teacher=[(parity, counts), (fixed, 0.7)], labelled=known)
    resting = known + 0.7
    counted = np.maximum(resting, 0.3 / 2 * (resting + counts))

    def pull(p, y):
        return known * (p - y) + 0.7 * (p - fixed) + counts * (p - parity.q(p, y, None))

    np.testing.assert_allclose(margins(ours, x), margins(loop(params, dtrain, counted, pull), x), atol=1e-3)


def test_classes_and_linear_students_have_the_same_step():
    x, y, group = data()
    classes = params_of(objective="multi:softprob", num_class=2, base_score=None)
    dtrain = xgb.DMatrix(x, y)
    linear = {**params_of(booster="gblinear", updater="coord_descent", eta=0.8), "max_depth": None}
    for params in (classes, linear):
        made = [
            pi_xgb.train(params, dtrain, 1, teacher=GroupParity(group, hessian=hessian), kl_weight=1.5)
            for hessian in ("follow", "paper")
        ]
        start = pi_xgb.train({**params, "eta": 1e-6}, dtrain, 1, teacher=GroupParity(group), kl_weight=1.5)
        moved = [np.abs(margins(booster, x) - margins(start, x)).max() for booster in made]
        # The gradient of the first round is the same, so the shorter Hessian makes the longer step.
        assert 1.3 * moved[1] < moved[0] < 2.6 * moved[1]


# Below 2 / eta - 1 nothing differs from "follow".
@pytest.mark.parametrize(("kl_weight", "eta"), [(4.0, 0.3), (8.0, 0.3), (200.0, 0.1), (1000.0, 1.0)])
def test_steady_counts_the_labels_and_averages_the_pull(kl_weight, eta):
    x, y, group = data()
    dtrain, params, resting = xgb.DMatrix(x, y), params_of(eta=eta), 1.7
    parity, fixed = GroupParity(group), np.full(len(y), 0.4, np.float32)
    bound = resting * (2 / eta - 1)
    at_once = kl_weight if kl_weight <= bound else bound / 2
    pace = 1 / (1 + eta * (kl_weight - at_once) / resting)
    rounds = []

    def pull(p, y):
        gap = p - parity.q(p, y, None)
        rounds.append(gap if not rounds else rounds[-1] + pace * (gap - rounds[-1]))
        asked = np.clip(p - (at_once * gap + (kl_weight - at_once) * rounds[-1]) / kl_weight, 0, 1)
        return (p - y) + 0.7 * (p - fixed) + kl_weight * (p - asked)

    steady = GroupParity(group, hessian="steady")
    ours = pi_xgb.train(params, dtrain, ROUNDS, teacher=[(steady, kl_weight), (fixed, 0.7)])
    np.testing.assert_allclose(margins(ours, x), margins(loop(params, dtrain, resting, pull), x), atol=2e-3)
    follow = pi_xgb.train(params, dtrain, ROUNDS, teacher=[(parity, kl_weight), (fixed, 0.7)])
    assert (ours.get_dump() == follow.get_dump()) == (kl_weight <= bound)
    # A second training with the same teacher begins anew.
    again = pi_xgb.train(params, dtrain, ROUNDS, teacher=[(steady, kl_weight), (fixed, 0.7)])
    np.testing.assert_array_equal(margins(again, x), margins(ours, x))


@pytest.mark.parametrize("group_is_a_feature", [False, True])
def test_steady_needs_the_rounds_of_plain_at_every_weight(group_is_a_feature):
    x, y, group = data(1500)
    if group_is_a_feature:
        x = np.column_stack([x, group]).astype(np.float32)
    dtrain, params = xgb.DMatrix(x, y), params_of(eta=0.1, base_score=None)
    for kl_weight in (30.0, 300.0, 3000.0):
        made = [
            pi_xgb.train(params, dtrain, 100, teacher=GroupParity(group, hessian=hessian), kl_weight=kl_weight)
            for hessian in ("steady", "follow")
        ]
        p, slow = (booster.predict(dtrain) for booster in made)
        assert abs(p[group == 0].mean() - p[group == 1].mean()) < 0.02
        # What two classes differ in, the labels have taught: at heavy weights the other has hardly begun.
        assert p[y == 1].mean() - p[y == 0].mean() > 0.25
        if kl_weight == 3000:
            assert slow[y == 1].mean() - slow[y == 0].mean() < 0.1


def test_steady_classes_rows_of_their_own_weight_and_engines():
    x, y, group = data()
    dtrain, steady = xgb.DMatrix(x, y), GroupParity(group, hessian="steady")
    for more in ({}, {"reg_lambda": 3.0, "min_child_weight": 4.0, "max_delta_step": 0.7}):
        made = [
            pi_xgb.train(params_of(**more), dtrain, 5, teacher=steady, kl_weight=50.0, engine=engine)
            for engine in ("callback", "native")
        ]
        np.testing.assert_allclose(margins(made[1], x), margins(made[0], x), atol=5e-4)
    # Two classes by softprob have twice the margin's difference of one by logistic, and the same pull.
    classes = {**params_of(objective="multi:softprob", num_class=2, eta=0.1), "base_score": None}
    p = pi_xgb.train(classes, dtrain, 60, teacher=steady, kl_weight=300.0).predict(dtrain)[:, 1]
    assert abs(p[group == 0].mean() - p[group == 1].mean()) < 0.05
    assert p[y == 1].mean() - p[y == 0].mean() > 0.2
    # Rows without a label have nothing but the constraint to learn.
    known = np.arange(len(y)) % 3 > 0
    p = pi_xgb.train(params_of(), dtrain, 40, teacher=steady, kl_weight=300.0, labelled=known).predict(dtrain)
    assert abs(p[group == 0].mean() - p[group == 1].mean()) < 0.05
    assert p[y == 1].mean() - p[y == 0].mean() > 0.1
    folds = pi_xgb.cv(params_of(), dtrain, 5, teacher=steady, kl_weight=300.0, nfold=3)
    assert len(folds) == 5


def test_what_cannot_be_steady_says_so():
    x, y, group = data()
    steady = GroupParity(group, hessian="steady")
    with pytest.raises(ValueError, match=r"an objective on its own keeps nothing: use pi_xgb\.train"):
        pi_xgb.KLObjective(steady, 50.0)
    with pytest.raises(ValueError, match=r"differ in hessian .*say hessian='steady' for all"):
        pi_xgb.train(params_of(), xgb.DMatrix(x, y), 2, teacher=[(steady, 3.0), (GroupParity(group), 3.0)])


@pytest.mark.parametrize("tree_method", ["hist", "exact"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"learning_rate": 0.07, "eta": None},
        {"reg_lambda": 3.0, "reg_alpha": 0.2, "gamma": 0.3, "min_child_weight": 4.0},
        {"max_delta_step": 0.2, "eta": 1.0},
        {"objective": "reg:squarederror"},
        {"subsample": 0.8},
    ],
    ids=lambda more: ",".join(more) or "plain",
)
def test_both_engines_have_the_same_step(tree_method, more):
    x, y, group = data()
    params = params_of(tree_method=tree_method, **more)
    for kl_weight in (2.0, 30.0):
        made = [
            pi_xgb.train(
                params, xgb.DMatrix(x, y), ROUNDS, teacher=GroupParity(group), kl_weight=kl_weight, engine=engine
            )
            for engine in ("callback", "native")
        ]
        np.testing.assert_allclose(margins(made[1], x), margins(made[0], x), atol=2e-4)
        # What the native engine changed for itself is the user's again, for who goes on with the booster.
        dtrain = xgb.DMatrix(x, y)
        further = [xgb.train({"subsample": 1.0}, dtrain, 1, xgb_model=booster) for booster in made]
        np.testing.assert_allclose(margins(further[1], x), margins(further[0], x), atol=2e-4)


def test_a_training_in_parts_is_one_training():
    x, y, group = data()
    dtrain, guided = xgb.DMatrix(x, y), {"teacher": GroupParity(group), "kl_weight": 30.0}
    whole = pi_xgb.train(params_of(), dtrain, 6, **guided)
    half = pi_xgb.train(params_of(), dtrain, 3, **guided)
    # Silent params leave the booster its own, the size of its steps among them.
    assert pi_xgb.train({"objective": "binary:logistic", "max_depth": 3}, dtrain, 3, xgb_model=half, **guided).get_dump(
        with_stats=True
    ) == whole.get_dump(with_stats=True)


def test_native_says_where_it_would_have_another_step():
    x, y, group = data()
    dtrain, parity = xgb.DMatrix(x, y), GroupParity(group)
    for named, words in (
        ({"callbacks": [LearningRateScheduler(lambda i: 0.1)]}, "LearningRateScheduler"),
        ({"teacher_weight": np.arange(len(y)) % 3}, "from row to row"),
    ):
        with pytest.raises(ValueError, match=words):
            pi_xgb.train(params_of(), dtrain, 2, teacher=parity, engine="native", **named)
        # By itself the library takes the engine that is exact, and the paper's Hessian is exact in both.
        assert pi_xgb.train(params_of(), dtrain, 2, teacher=parity, **named).num_boosted_rounds() == 2
        paper = GroupParity(group, hessian="paper")
        assert pi_xgb.train(params_of(), dtrain, 2, teacher=paper, engine="native", **named).num_boosted_rounds() == 2


@pytest.mark.parametrize("group_is_a_feature", [False, True])
def test_plain_rounds_are_enough_and_no_weight_is_unstable(group_is_a_feature):
    x, y, group = data(1500)
    if group_is_a_feature:
        x = np.column_stack([x, group]).astype(np.float32)
    dtrain, params = xgb.DMatrix(x, y), params_of(eta=0.1, base_score=None)
    found = {}
    for kl_weight in (0.0, 3.0, 30.0, 100.0, 1000.0):
        p = pi_xgb.train(params, dtrain, 100, teacher=GroupParity(group), kl_weight=kl_weight).predict(dtrain)
        found[kl_weight] = abs(p[group == 0].mean() - p[group == 1].mean()), ((p > 0.5) == y).mean(), p.std()
    gaps = [gap for gap, *_ in found.values()]
    assert gaps[0] > 0.2
    # More weight, less of a gap, and nothing blows up.
    assert all(later < earlier + 0.005 for earlier, later in itertools.pairwise(gaps))
    assert gaps[3] < 0.02
    # The model of the heavy weights has learned from the labels, too, in the rounds of plain XGBoost.
    slow = pi_xgb.train(params, dtrain, 100, teacher=GroupParity(group, hessian="paper"), kl_weight=100.0)
    assert found[100.0][1] > 0.74
    assert found[100.0][2] > 2 * slow.predict(dtrain).std()


def test_hessian_is_one_of_three_words():
    for constraint in (lambda: GroupParity([0, 1, 0, 1], hessian="half"), lambda: GroupParity([0, 1, 0, 1], hessian=1)):
        with pytest.raises(ValueError, match="hessian must be one of 'follow', 'paper', 'steady'"):
            constraint()


def test_only_counts_have_the_step_in_their_hessian_too():
    for objective in ("binary:logistic", "reg:gamma", "reg:squarederror"):
        assert obstacle_to_native(Spec.read({"objective": objective}), follows_student=True, moves_freely=True) is None
    poisson = Spec.read({"objective": "count:poisson"})
    assert "max_delta_step" in obstacle_to_native(poisson, follows_student=True, moves_freely=True)
    assert obstacle_to_native(poisson, follows_student=True) is None

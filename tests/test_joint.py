"""JPIB and KbPIB against the two algorithms written out as plain loops over boosters."""

from __future__ import annotations

import contextlib
import copy
import json
import pickle
import weakref
from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from helpers_joint import (
    N_CLASSES,
    OBJECTIVES,
    assert_same_model,
    base_score_of,
    jpib_loop,
    kbpib_loop,
    margin_of,
    mean_of,
    problem,
    start_at,
    trees,
)

import pi_xgb
from pi_xgb import JointObjective, JointTeacher, KLObjective

every_objective = pytest.mark.parametrize("objective", OBJECTIVES)
with_and_without_weights = pytest.mark.parametrize("weighted", [False, True])
ROUNDS = 6


def start_of(objective: str) -> Any:
    """A base_score that is not the default of any objective."""
    return [0.2, -0.3, 0.1] if objective.startswith("multi") else 0.35


# --- the algorithms, tree by tree ------------------------------------------------------------------------------


@every_objective
@with_and_without_weights
@pytest.mark.parametrize("tree_method", ["hist", "exact", "approx"])
def test_jpib_is_the_alternating_loop(objective, weighted, tree_method):
    case = problem(objective)
    params = case.params(tree_method=tree_method, base_score=start_of(objective))
    ours = pi_xgb.train(
        params,
        case.dtrain(weighted=weighted),
        ROUNDS,
        privileged=case.dprivileged(),
        method="jpib",
        kl_weight=0.7,
    )
    weight = case.weight if weighted else None
    student, _ = jpib_loop(params, case.dtrain(weighted=weighted), case.dprivileged(), ROUNDS, 0.7, weight)
    # f gets a tree with q of f' so far, then f' gets a tree with p of f so far: the same trees to the bit.
    assert_same_model(ours, student)


@every_objective
@with_and_without_weights
def test_the_teacher_of_jpib_is_the_loops_without_its_last_tree(objective, weighted):
    case = problem(objective)
    params = case.params(base_score=start_of(objective))
    teacher = JointTeacher(case.dprivileged(), params)
    pi_xgb.train(params, case.dtrain(weighted=weighted), ROUNDS, teacher=teacher, kl_weight=0.7)
    weight = case.weight if weighted else None
    _, expected = jpib_loop(params, case.dtrain(weighted=weighted), case.dprivileged(), ROUNDS, 0.7, weight)
    per_round = len(trees(expected)) // ROUNDS
    # f' is the loop's f' to the bit; its last tree, which would teach nobody, is never built.
    assert teacher.booster.num_boosted_rounds() == ROUNDS - 1
    assert trees(teacher.booster) == trees(expected)[:-per_round]


@every_objective
@with_and_without_weights
def test_kbpib_is_a_teacher_and_then_a_student(objective, weighted):
    case = problem(objective)
    params = case.params(base_score=start_of(objective))
    dtrain, dprivileged = case.dtrain(weighted=weighted), case.dprivileged(weighted=weighted)
    ours = pi_xgb.train(params, dtrain, ROUNDS, privileged=dprivileged, kl_weight=0.7)

    teacher = xgb.train(params, dprivileged, ROUNDS)
    q = mean_of(objective, teacher.predict(dprivileged, output_margin=True))
    student = kbpib_loop(params, dtrain, ROUNDS, [(q, 0.7)], case.weight if weighted else None)
    # Plain boosting of y on z, its in-sample q, and a student that sees this q in every round: the same to the bit.
    assert_same_model(ours, student)


def test_scale_pos_weight_counts_in_both_boosters():
    case = problem("binary:logistic")
    params = case.params(base_score=0.5, scale_pos_weight=3.0)
    folded = case.weight * np.where(case.y == 1, np.float32(3), np.float32(1))
    ours = pi_xgb.train(
        params, case.dtrain(weighted=True), ROUNDS, privileged=case.dprivileged(), method="jpib", kl_weight=0.7
    )
    student, _ = jpib_loop(params, case.dtrain(weighted=True), case.dprivileged(), ROUNDS, 0.7, folded)
    # Under a custom objective XGBoost ignores scale_pos_weight: it is in the gradient of f and of f'.
    assert_same_model(ours, student)


@pytest.mark.parametrize(
    "extra",
    [
        {"subsample": 0.6},
        {"subsample": 0.6, "seed_per_iteration": True},  # draws by the number of the round
        {"colsample_bytree": 0.6},
        {"num_parallel_tree": 2},
    ],
)
def test_jpib_is_the_loop_with_random_and_parallel_trees(extra):
    case = problem("binary:logistic")
    params = case.params(base_score=0.5, **extra)
    ours = pi_xgb.train(params, case.dtrain(), ROUNDS, privileged=case.dprivileged(), method="jpib", kl_weight=0.7)
    student, _ = jpib_loop(params, case.dtrain(), case.dprivileged(), ROUNDS, 0.7)
    # Draws and parallel trees fall in the same order as in the loop.
    assert_same_model(ours, student)


def test_teacher_and_student_may_have_params_of_their_own():
    case = problem("binary:logistic")
    params = case.params(base_score=0.5)
    own = {"max_depth": 2, "eta": 0.2, "nthread": 1, "seed": 3}
    ours = pi_xgb.train(
        params,
        case.dtrain(),
        ROUNDS,
        privileged=case.dprivileged(),
        method="jpib",
        kl_weight=0.7,
        teacher_params=own,
    )
    theirs = {**own, "objective": "binary:logistic", "base_score": 0.5}
    student, _ = jpib_loop(params, case.dtrain(), case.dprivileged(), ROUNDS, 0.7, teacher_params=theirs)
    # teacher_params belong to f' alone; the objective and the start are shared.
    assert_same_model(ours, student)


@pytest.mark.parametrize("pull", [0.0, 0.7, 4.0])
def test_the_student_may_pull_the_teacher_less_or_more(pull):
    case = problem("binary:logistic")
    params = case.params(base_score=0.5)
    teacher = JointTeacher(case.dprivileged(), params, kl_weight=pull)
    ours = pi_xgb.train(params, case.dtrain(), ROUNDS, teacher=teacher, kl_weight=0.7)
    student, expected = jpib_loop(params, case.dtrain(), case.dprivileged(), ROUNDS, 0.7, pull_on_teacher=pull)
    # The teacher's own kl_weight is its weight on p; that of train stays the student's weight on q.
    assert_same_model(ours, student)
    assert trees(teacher.booster) == trees(expected)[:-1]


def test_a_joint_teacher_among_other_teachers():
    case = problem("binary:logistic")
    params = case.params(base_score=0.5)
    teacher = JointTeacher(case.dprivileged(), params)
    pairs = [(teacher, 0.7), (case.q, 2.0)]
    ours = pi_xgb.train(params, case.dtrain(), ROUNDS, teacher=pairs)
    student, _ = jpib_loop(params, case.dtrain(), case.dprivileged(), ROUNDS, 0.7, others=[(case.q, 2.0)])
    # Each teacher pulls with its own weight; the joint one is pulled back with the same.
    assert_same_model(ours, student)


# --- the start -------------------------------------------------------------------------------------------------


class Watch(JointTeacher):
    """Remembers what the teacher says in every round."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.said: list[np.ndarray] = []

    def q(self, mean: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        self.said.append(super().q(mean, label, weight).copy())
        return self.said[-1]


@pytest.mark.parametrize("objective", ["binary:logistic", "multi:softprob"])
def test_at_a_base_score_of_one_half_the_first_teacher_knows_nothing(objective):
    case = problem(objective)
    start: Any = 0.5 if objective == "binary:logistic" else [0.0] * N_CLASSES
    params = case.params(base_score=start)
    watch = Watch(case.dprivileged(), params)
    xgb.train(params, case.dtrain(), 3, obj=KLObjective(watch, kl_weight=0.7))
    # Both margins start at 0, the paper's text: before its first tree the teacher says the same for every row.
    indifferent = 0.5 if objective == "binary:logistic" else 1 / N_CLASSES
    np.testing.assert_allclose(watch.said[0], indifferent, rtol=1e-6)
    # After it, it does not.
    assert np.ptp(watch.said[1], axis=0).min() > 0.1
    assert len(watch.said) == 3


@every_objective
@with_and_without_weights
def test_both_start_where_xgboost_would(objective, weighted):
    case = problem(objective)
    watch = Watch(case.dprivileged(), case.params())
    student = pi_xgb.train(case.params(), case.dtrain(weighted=weighted), 3, teacher=watch)
    labels = np.eye(N_CLASSES)[case.y.astype(int)] if objective.startswith("multi") else case.y
    expected = start_at(objective, np.average(labels, axis=0, weights=case.weight if weighted else None))
    # Without a base_score both boosters start at the weighted mean of the labels.
    np.testing.assert_allclose(watch.said[0], np.broadcast_to(expected, watch.said[0].shape), rtol=2e-5, atol=2e-6)
    assert student.num_boosted_rounds() == 3


@every_objective
@with_and_without_weights
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_estimated_start_is_shared_to_the_bit(objective, weighted, seed):
    case = problem(objective, seed=seed)
    ours = pi_xgb.train(
        case.params(),
        case.dtrain(weighted=weighted),
        3,
        privileged=case.dprivileged(),
        method="jpib",
        kl_weight=0.7,
        teacher_params={"max_depth": 2, "nthread": 1},
    )
    params = case.params(base_score=base_score_of(ours))
    shared = {key: value for key, value in params.items() if key in ("objective", "num_class", "base_score")}
    student, _ = jpib_loop(
        params,
        case.dtrain(weighted=weighted),
        case.dprivileged(),
        3,
        0.7,
        case.weight if weighted else None,
        teacher_params={**shared, "max_depth": 2, "nthread": 1},
    )
    # The teacher starts at the student's own base_score, not at one read off its rounded margins.
    assert_same_model(ours, student)


@every_objective
@pytest.mark.parametrize("by_objective", [False, True])
def test_a_base_margin_of_the_student_is_no_start_for_the_teacher(objective, by_objective):
    case = problem(objective)
    dtrain = case.dtrain(weighted=True)
    shape = (200, N_CLASSES) if objective.startswith("multi") else 200
    dtrain.set_base_margin(np.random.default_rng(0).normal(size=shape))
    watch = Watch(case.dprivileged(), case.params())
    if by_objective:
        xgb.train(case.params(), dtrain, 2, obj=KLObjective(watch))
    else:
        pi_xgb.train(case.params(), dtrain, 2, teacher=watch)
    labels = np.eye(N_CLASSES)[case.y.astype(int)] if objective.startswith("multi") else case.y
    expected = start_at(objective, np.average(labels, axis=0, weights=case.weight))
    # Each row of the student starts elsewhere; the teacher starts at the mean of the labels.
    np.testing.assert_allclose(watch.said[0], np.broadcast_to(expected, watch.said[0].shape), rtol=2e-5, atol=2e-6)


# --- JPIB as one objective -------------------------------------------------------------------------------------


@every_objective
@with_and_without_weights
def test_joint_objective_in_xgboost_is_train_with_jpib(objective, weighted):
    case = problem(objective)
    params = case.params(base_score=start_of(objective))
    obj = JointObjective(case.dprivileged(), kl_weight=0.7, params=params)
    theirs = xgb.train(params, case.dtrain(weighted=weighted), ROUNDS, obj=obj)
    ours = pi_xgb.train(
        params,
        case.dtrain(weighted=weighted),
        ROUNDS,
        privileged=case.dprivileged(),
        method="jpib",
        kl_weight=0.7,
    )
    # With the intercept given, the objective swapped into an existing script trains train's model to the bit.
    assert_same_model(theirs, ours)
    assert obj.teacher.booster.num_boosted_rounds() == ROUNDS - 1


def test_without_params_it_is_a_binary_classifier():
    case = problem("binary:logistic")
    params = {"objective": "binary:logistic"}
    named = xgb.train(params, case.dtrain(), 3, obj=JointObjective(case.dprivileged(), 0.7, params))
    assert_same_model(xgb.train(params, case.dtrain(), 3, obj=JointObjective(case.dprivileged(), 0.7)), named)


@every_objective
def test_a_second_training_starts_afresh(objective):
    case, other = problem(objective), problem(objective, seed=9)
    params = case.params(base_score=start_of(objective))
    fresh = [
        xgb.train(params, x, ROUNDS, obj=JointObjective(case.dprivileged(), 0.7, params))
        for x in (case.dtrain(), xgb.DMatrix(other.x, case.y))
    ]
    obj = JointObjective(case.dprivileged(), 0.7, params)
    # The same objective, three times, on one student matrix and then on another: never a word of the last training.
    assert_same_model(xgb.train(params, case.dtrain(), ROUNDS, obj=obj), fresh[0])
    assert_same_model(xgb.train(params, xgb.DMatrix(other.x, case.y), ROUNDS, obj=obj), fresh[1])
    assert_same_model(xgb.train(params, case.dtrain(), ROUNDS, obj=obj), fresh[0])


def test_a_training_that_broke_off_leaves_nothing_behind():
    case = problem("binary:logistic")
    params = case.params(base_score=0.5)
    fresh = xgb.train(params, case.dtrain(), ROUNDS, obj=JointObjective(case.dprivileged(), 0.7, params))
    obj = JointObjective(case.dprivileged(), 0.7, params)

    class Stop(xgb.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            if epoch == 2:
                raise RuntimeError("the lights went out")
            return False

    with pytest.raises(RuntimeError, match="lights"):
        xgb.train(params, case.dtrain(), ROUNDS, obj=obj, callbacks=[Stop()])
    assert_same_model(xgb.train(params, case.dtrain(), ROUNDS, obj=obj), fresh)


def test_a_second_training_takes_its_own_start():
    case = problem("binary:logistic")
    teacher = JointTeacher(case.dprivileged(), case.params())
    pi_xgb.train(case.params(), case.dtrain(), 2, teacher=teacher)
    # Another training with another intercept, in xgboost.train, where the teacher sees it only in the margins.
    params = case.params(base_score=0.2)
    again = xgb.train(params, case.dtrain(), ROUNDS, obj=KLObjective(teacher, kl_weight=0.7))
    fresh = JointTeacher(case.dprivileged(), case.params())
    expected = xgb.train(params, case.dtrain(), ROUNDS, obj=KLObjective(fresh, kl_weight=0.7))
    assert_same_model(again, expected)


def test_a_second_training_with_a_base_margin_takes_its_own_start():
    case = problem("binary:logistic")
    dtrain = case.dtrain()
    dtrain.set_base_margin(np.linspace(-1, 1, 200))
    teacher = JointTeacher(case.dprivileged(), case.params())
    pi_xgb.train(case.params(base_score=0.1), case.dtrain(), 2, teacher=teacher)
    again = pi_xgb.train(case.params(), dtrain, ROUNDS, teacher=teacher)
    # A teacher keeps nothing of an earlier training, its start included.
    expected = pi_xgb.train(case.params(), dtrain, ROUNDS, teacher=JointTeacher(case.dprivileged(), case.params()))
    assert_same_model(again, expected)


def test_a_student_grown_elsewhere_cannot_be_continued():
    case = problem("binary:logistic")
    params = case.params(base_score=0.5)
    foreign = xgb.train(params, case.dtrain(), 4)
    with pytest.raises(ValueError, match=r"4 rounds.*0"):
        xgb.train(params, case.dtrain(), 2, obj=JointObjective(case.dprivileged(), 0.7, params), xgb_model=foreign)
    # Having refused once, it refuses again.
    obj = JointObjective(case.dprivileged(), 0.7, params)
    for _ in range(2):
        with pytest.raises(ValueError, match="one round behind its student"):
            xgb.train(params, case.dtrain(), 2, obj=obj, xgb_model=foreign)


def test_a_student_grown_elsewhere_is_told_from_ones_own():
    case, other = problem("binary:logistic"), problem("binary:logistic", seed=9)
    params = case.params(base_score=0.5)
    obj = JointObjective(case.dprivileged(), 0.7, params)
    xgb.train(params, case.dtrain(), 4, obj=obj)
    foreign = xgb.train(params, xgb.DMatrix(other.x, case.y), 4)
    # A stranger with as many rounds as the student whose teacher the objective still holds: continuing would
    # teach it with the teacher of another, without a word.
    with pytest.raises(ValueError, match="student"):
        xgb.train(params, case.dtrain(), 2, obj=obj, xgb_model=foreign)


def test_train_does_not_continue_jpib_without_its_teacher():
    case = problem("binary:logistic")
    student = pi_xgb.train(case.params(), case.dtrain(), 2, privileged=case.dprivileged(), method="jpib")
    with pytest.raises(ValueError, match=r"cannot be continued.*without its teacher"):
        pi_xgb.train(case.params(), case.dtrain(), 2, privileged=case.dprivileged(), method="jpib", xgb_model=student)


@pytest.mark.parametrize("rounds", [1, 3])
def test_two_students_cannot_take_turns_with_one_teacher(rounds):
    case, other = problem("binary:logistic"), problem("binary:logistic", seed=9)
    first, second = case.dtrain(), xgb.DMatrix(other.x, case.y)
    alone = xgb.train(
        case.params(base_score=0.3), first, rounds + 1, obj=JointObjective(case.dprivileged(), 0.7, case.params())
    )
    obj = JointObjective(case.dprivileged(), 0.7, case.params())
    single = xgb.Booster(case.params(base_score=0.3), [first])
    two = xgb.Booster(case.params(base_score=0.6), [second])
    for booster, matrix in ((single, first), (two, second)):
        for i in range(rounds):
            booster.update(matrix, i, fobj=obj)
    # The objective has begun a training with the second. If the first may go on at all, then as if alone.
    with contextlib.suppress(ValueError):
        single.update(first, rounds, fobj=obj)
        assert_same_model(single, alone)


def test_two_students_take_turns_with_an_objective_each():
    case = problem("binary:logistic")
    params = case.params(base_score=0.5)
    dprivileged, dtrain = case.dprivileged(), case.dtrain()
    expected = xgb.train(params, dtrain, ROUNDS, obj=JointObjective(dprivileged, 0.7, params))
    pairs = [(xgb.Booster(params, [dtrain]), JointObjective(dprivileged, 0.7, params)) for _ in range(2)]
    for i in range(ROUNDS):
        for booster, obj in pairs:
            booster.update(dtrain, i, fobj=obj)
    # Objectives share no state, although they share the privileged matrix.
    for booster, _ in pairs:
        assert_same_model(booster, expected)


def test_a_loop_of_ones_own_is_a_training():
    case = problem("binary:logistic")
    params = case.params(base_score=0.5)
    dtrain = case.dtrain()
    expected = xgb.train(params, dtrain, ROUNDS, obj=JointObjective(case.dprivileged(), 0.7, params))
    obj, booster = JointObjective(case.dprivileged(), 0.7, params), xgb.Booster(params, [dtrain])
    for i in range(ROUNDS):
        booster.update(dtrain, i, fobj=obj)
    # Booster.update is what xgboost.train calls.
    assert_same_model(booster, expected)


def test_asking_for_gradients_without_a_booster_never_continues_silently():
    case = problem("binary:logistic")
    params = case.params(base_score=0.5)
    dtrain = case.dtrain()

    def by_hand(obj: JointObjective) -> xgb.Booster:
        booster = xgb.Booster(params, [dtrain])
        for i in range(ROUNDS):
            grad, hess = obj(margin_of(booster, dtrain), dtrain)
            booster.boost(dtrain, i, grad=grad, hess=hess)
        return booster

    expected = xgb.train(params, dtrain, ROUNDS, obj=JointObjective(case.dprivileged(), 0.7, params))
    obj = JointObjective(case.dprivileged(), 0.7, params)
    # Called outside of Booster.update the objective cannot know whose round it is. It may refuse; if it answers,
    # a second training must be like the first.
    try:
        first = by_hand(obj)
    except (TypeError, ValueError):
        return
    assert_same_model(first, expected)
    try:
        second = by_hand(obj)
    except (TypeError, ValueError):
        return
    assert_same_model(second, expected)


def test_asking_for_gradients_by_hand_after_a_training_does_not_go_on_with_it():
    case = problem("binary:logistic")
    params = case.params(base_score=0.5)
    dtrain = case.dtrain()
    obj = JointObjective(case.dprivileged(), 0.7, params)
    xgb.train(params, dtrain, ROUNDS, obj=obj)  # the booster dies at once
    margin = np.zeros(200, np.float32)
    try:
        grad, _ = obj(margin, dtrain)
    except (TypeError, ValueError):
        return
    # The teacher of a training that is over must not teach here: a fresh one says 0.5 to everybody.
    np.testing.assert_allclose(grad, 1.7 * (0.5 - (case.y + 0.7 * 0.5) / 1.7), atol=1e-6)


def test_xgboost_cv_is_refused_with_the_reason():
    case = problem("binary:logistic", n_rows=201)
    obj = JointObjective(case.dprivileged(), 0.7, case.params())
    # A fold has fewer rows than the privileged matrix, and nothing says which.
    with pytest.raises(ValueError, match=r"privileged.*describe.*dtrain"):
        xgb.cv(case.params(), case.dtrain(), 2, nfold=3, obj=obj)


# --- pickling --------------------------------------------------------------------------------------------------


@every_objective
def test_a_pickled_objective_trains_the_same_model(objective):
    case = problem(objective)
    params = case.params(base_score=start_of(objective))
    obj = JointObjective(case.dprivileged(weighted=True), 0.7, params)
    expected = xgb.train(params, case.dtrain(weighted=True), ROUNDS, obj=obj)
    for duplicate in (pickle.loads(pickle.dumps(obj)), copy.deepcopy(obj)):
        # A copy of a used objective brings its data and starts afresh.
        assert_same_model(xgb.train(params, case.dtrain(weighted=True), ROUNDS, obj=duplicate), expected)


def test_a_pickled_objective_keeps_missing_values_zeros_and_categories():
    import pandas as pd

    case = problem("binary:logistic")
    z = case.z.copy()
    z.iloc[::3, 0] = np.nan
    z.iloc[1::3, 1] = 0.0
    z["kind"] = pd.Categorical(np.array(["a", "b", "c"])[np.arange(200) % 3])
    z.iloc[:, 2] = np.nan  # a column without any value must not shift the others
    params = case.params(base_score=0.5)
    obj = JointObjective(xgb.DMatrix(z, case.y, enable_categorical=True), 0.7, params)
    expected = xgb.train(params, case.dtrain(), ROUNDS, obj=obj)
    assert_same_model(xgb.train(params, case.dtrain(), ROUNDS, obj=pickle.loads(pickle.dumps(obj))), expected)


def test_a_pickled_objective_goes_on_with_the_training_it_was_taken_from():
    case = problem("binary:logistic")
    params = case.params(base_score=0.5)
    whole = xgb.train(params, case.dtrain(), 6, obj=JointObjective(case.dprivileged(), 0.7, params))
    obj = JointObjective(case.dprivileged(), 0.7, params)
    student = xgb.train(params, case.dtrain(), 4, obj=obj)
    thawed_student, thawed = pickle.loads(pickle.dumps((student, obj)))
    # Student and objective pickled together are a training that can go on.
    assert_same_model(xgb.train(params, case.dtrain(), 2, obj=thawed, xgb_model=thawed_student), whole)


def test_a_quantile_matrix_cannot_be_pickled_but_can_teach():
    case = problem("binary:logistic")
    params = case.params(base_score=0.5)
    obj = JointObjective(xgb.QuantileDMatrix(case.z, case.y), 0.7, params)
    expected = xgb.train(params, case.dtrain(), ROUNDS, obj=JointObjective(case.dprivileged(), 0.7, params))
    # With fewer rows than bins the quantised matrix teaches what the plain one teaches.
    assert_same_model(xgb.train(params, case.dtrain(), ROUNDS, obj=obj), expected)
    with pytest.raises(TypeError, match=r"QuantileDMatrix.*pickled"):
        pickle.dumps(obj)


# --- errors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["objective", "teacher"])
def test_rows_that_do_not_match_are_an_error(how):
    case = problem("binary:logistic")
    short = xgb.DMatrix(case.z.iloc[:-1], case.y[:-1])
    shuffled = xgb.DMatrix(case.z.iloc[::-1], case.y[::-1].copy())

    def run(dprivileged: xgb.DMatrix) -> None:
        if how == "objective":
            xgb.train(case.params(), case.dtrain(), 2, obj=JointObjective(dprivileged, params=case.params()))
        else:
            pi_xgb.train(case.params(), case.dtrain(), 2, teacher=JointTeacher(dprivileged, case.params()))

    with pytest.raises(ValueError, match=r"dtrain.*200 rows.*199"):
        run(short)
    # Rows in another order betray themselves by their labels.
    with pytest.raises(ValueError, match=r"labels.*dtrain.*disagree"):
        run(shuffled)


def test_what_cannot_be_a_joint_teacher(tmp_path):
    case = problem("binary:logistic")
    with pytest.raises(TypeError, match=r"privileged.*xgboost\.DMatrix.*DataFrame"):
        JointTeacher(case.z, case.params())
    with pytest.raises(ValueError, match="one label per row"):
        JointTeacher(xgb.DMatrix(case.z), case.params())
    with pytest.raises(ValueError, match="booster='dart'"):
        JointObjective(case.dprivileged(), params=case.params(booster="dart"))
    with pytest.raises(ValueError, match="can guide the objectives"):
        JointTeacher(case.dprivileged(), {"objective": "binary:hinge"})
    with pytest.raises(ValueError, match="kl_weight must be finite"):
        JointTeacher(case.dprivileged(), case.params(), kl_weight=-1)
    with pytest.raises(ValueError, match=r"kl_weight.*parameter.*XGBoost"):
        JointObjective(case.dprivileged(), params={**case.params(), "kl_weight": 1})
    with pytest.raises(ValueError, match="has not been trained yet"):
        _ = JointObjective(case.dprivileged()).teacher.booster
    file = tmp_path / "teacher.ubj"
    file.write_text("no booster")
    for name in (file, str(file)):
        with pytest.raises(ValueError, match=r"teacher\.ubj' is not a model that this XGBoost"):
            JointTeacher(case.dprivileged(), case.params(), xgb_model=name)


def test_a_teacher_of_another_objective_is_an_error():
    regression, case = problem("reg:squarederror"), problem("binary:logistic")
    teacher = JointTeacher(case.dprivileged(), regression.params())
    # A regressor's mean is no probability: it would teach values outside of [0, 1].
    with pytest.raises(ValueError, match="objective"):
        pi_xgb.train(case.params(), case.dtrain(), 3, teacher=teacher)


def test_the_users_matrices_and_params_stay_as_they_were():
    case = problem("binary:logistic")
    dtrain, dprivileged, params = case.dtrain(weighted=True), case.dprivileged(), case.params()
    before = json.dumps(params), [m.get_label().tobytes() for m in (dtrain, dprivileged)]
    obj = JointObjective(dprivileged, 0.7, params)
    xgb.train(params, dtrain, 3, obj=obj)
    pi_xgb.train(params, dtrain, 3, privileged=dprivileged, method="jpib")
    # Weights of dtrain count for the teacher, yet its matrix gets none.
    assert (json.dumps(params), [m.get_label().tobytes() for m in (dtrain, dprivileged)]) == before
    assert dprivileged.get_weight().size == 0
    np.testing.assert_array_equal(dtrain.get_weight(), case.weight)


@pytest.mark.filterwarnings("ignore:.*booster=gblinear. is deprecated")  # XGBoost 3.4 says so in every round
def test_gblinear_alternates_as_well():
    case = problem("reg:squarederror")
    params = {"objective": "reg:squarederror", "booster": "gblinear", "base_score": 0.0, "nthread": 1}
    params["updater"] = "coord_descent"  # the default one is not deterministic
    ours = pi_xgb.train(params, case.dtrain(), ROUNDS, privileged=case.dprivileged(), method="jpib", kl_weight=0.7)
    student, _ = jpib_loop(params, case.dtrain(), case.dprivileged(), ROUNDS, 0.7)
    np.testing.assert_allclose(ours.predict(case.dtrain()), student.predict(case.dtrain()), rtol=1e-6)


def test_a_constraint_teaches_beside_the_privileged_booster():
    from pi_xgb.constraints import DemographicParity

    data = pi_xgb.datasets.make_privileged(400, seed=2, group_gap=1.5)
    dtrain, privileged = xgb.DMatrix(data.x, data.y), xgb.DMatrix(data.z, data.y)
    params = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1, "base_score": 0.5}
    parity = (DemographicParity(data.group), 3.0)
    objective = JointObjective(privileged, 0.7, params, extra_teachers=[parity])
    by_objective = xgb.train(params, dtrain, 6, obj=objective)
    by_train = pi_xgb.train(params, dtrain, 6, teacher=[(pi_xgb.JointTeacher(privileged, params), 0.7), parity])
    # The objective with a further teacher is the list of both in train.
    assert by_objective.get_dump() == by_train.get_dump()
    alone = xgb.train(params, dtrain, 6, obj=JointObjective(privileged, 0.7, params))
    # And the constraint counts.
    assert by_objective.get_dump() != alone.get_dump()


class Further(pi_xgb.Teacher):
    """Notes who told it what when a training began."""

    def __init__(self):
        self.starts, self.asked = [], 0

    def start(self, training):
        self.starts.append((training.kl_weight, training.student, training.matrix))

    def q(self, mean, label, weight):
        self.asked += 1
        return mean

    def subset(self, rows):
        return self


def test_a_further_teacher_is_told_when_a_training_begins():
    case, single, silent = problem("binary:logistic"), Further(), Further()
    teacher = JointTeacher(case.dprivileged(), case.params(), extra_teachers=[(single, 3.0), (silent, 0.0)])
    for _ in range(2):
        pi_xgb.train(case.params(), case.dtrain(), 2, teacher=teacher)
    # The student is not the one that it teaches; who counts for nothing is asked nothing.
    assert single.starts == [(3.0, None, None)] * 2
    assert (silent.starts, silent.asked) == ([], 0)


def test_a_further_teacher_of_other_rows_is_an_error():
    case = problem("binary:logistic")
    teacher = JointTeacher(case.dprivileged(), case.params(), extra_teachers=[(case.q[1:], 0.5)])
    with pytest.raises(ValueError, match=r"teacher.*199 rows.*200 rows"):
        pi_xgb.train(case.params(), case.dtrain(), 2, teacher=teacher)


def test_extra_teachers_of_any_weight_pull_the_teacher():
    case = problem("binary:logistic")
    params, dprivileged = case.params(base_score=0.5), case.dprivileged()
    for weight in (0.25, 2.0):
        teacher = JointTeacher(dprivileged, params, kl_weight=0.0, extra_teachers=[(case.q, weight)])
        pi_xgb.train(params, case.dtrain(), 3, teacher=teacher)
        # Pulled by q alone it is the student of q, on the privileged features.
        assert trees(teacher.booster) == trees(kbpib_loop(params, dprivileged, 2, [(case.q, weight)]))


def test_the_teacher_of_some_rows_is_the_teacher_made_of_them():
    case, rows = problem("binary:logistic"), np.arange(199, 60, -1)
    per_row = np.linspace(0.0, 3.0, 200)
    params = case.params()

    def further(rows):
        return [(case.q[rows], per_row[rows]), (1 - case.q[rows], 0.5)]

    whole = JointTeacher(case.dprivileged(), params, kl_weight=4.0, extra_teachers=further(np.arange(200)))
    by_hand = JointTeacher(case.dprivileged().slice(rows), params, kl_weight=4.0, extra_teachers=further(rows))
    students = [
        pi_xgb.train(params, case.dtrain().slice(rows), 4, teacher=teacher) for teacher in (whole.subset(rows), by_hand)
    ]
    assert_same_model(*students)


def test_a_teacher_keeps_no_student_alive():
    case = problem("binary:logistic")
    teacher = JointTeacher(case.dprivileged(), case.params())
    student = weakref.ref(pi_xgb.train(case.params(), case.dtrain(), 2, teacher=teacher))
    assert student() is None
    assert teacher.booster.num_boosted_rounds() == 1


def test_an_objective_has_the_name_that_xgboost_gives_to_params():
    case = problem("binary:logistic")
    for params, objective in (
        (None, "binary:logistic"),
        ({"num_class": 1}, "binary:logistic"),
        ({"num_class": 2}, "multi:softmax"),
        ({"objective": "reg:logistic", "num_class": 0}, "reg:logistic"),
    ):
        assert JointObjective(case.dprivileged(), params=params).objective == objective
    found = {"objective": "binary:logistic", "scale_pos_weight": 3.0, "device": "cuda"}
    joint = JointObjective(case.dprivileged(), 0.7, found)
    assert (joint.scale_pos_weight, joint.device, joint.kl_weight) == (3.0, "cuda", 0.7)


def test_a_teacher_is_asked_in_a_training_only():
    case = problem("binary:logistic")
    with pytest.raises(ValueError, match="training only"):
        JointTeacher(case.dprivileged(), case.params()).q(case.q, case.y, None)


def test_a_student_is_known_again_but_for_rounding():
    case = problem("binary:logistic")
    for off, known in ((5e-5, True), (5e-3, False)):
        keywords = {"teacher": JointTeacher(case.dprivileged(), case.params()), "kl_weight": 0.7}
        student = pi_xgb.train(case.params(), case.dtrain(), 3, **keywords)
        keywords["teacher"]._student_seen += np.float32(off)
        if known:
            assert pi_xgb.train(case.params(), case.dtrain(), 1, xgb_model=student, **keywords)
            continue
        with pytest.raises(ValueError, match="grew with another student"):
            pi_xgb.train(case.params(), case.dtrain(), 1, xgb_model=student, **keywords)


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_teacher_goes_on_with_its_student_from_the_first_rounds_on(rounds):
    case = problem("binary:logistic")
    keywords = {"teacher": JointTeacher(case.dprivileged(), case.params()), "kl_weight": 0.7}
    first = pi_xgb.train(case.params(), case.dtrain(), rounds, **keywords)
    other = xgb.train(case.params(max_depth=1, base_score=0.3), case.dtrain(), rounds)
    with pytest.raises(ValueError, match="grew with another student"):
        pi_xgb.train(case.params(), case.dtrain(), 2, xgb_model=other, **keywords)
    pi_xgb.train(case.params(), case.dtrain(), 2, xgb_model=first, **keywords)

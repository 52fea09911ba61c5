"""JPIB and KbPIB are the two algorithms of the paper, written out as plain loops over boosters."""

from __future__ import annotations

import copy
import pickle
import weakref
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_problems import (
    AMOUNTS,
    BLENDED,
    CLASSES,
    TARGETS,
    Problem,
    assert_same_model,
    base_score_of,
    by_objective,
    jpib_loop,
    kbpib_loop,
    mean_of,
    one_hot,
    start_at,
    trees,
)

import pi_xgb
from pi_xgb import JointObjective, JointTeacher

ROUNDS, A = 6, 0.7
every_objective = pytest.mark.parametrize("name", [*BLENDED, *TARGETS])
JPIB: dict[str, Any] = {"method": "jpib", "teacher": "boosted", "kl_weight": A}


# --- tree by tree, to the bit ----------------------------------------------------------------------------------


@every_objective
@pytest.mark.parametrize(
    ("way", "weighted", "labels"),
    [("train", False, "all"), ("train", True, "some"), ("teacher", True, "all"), ("objective", True, "some")],
)
def test_jpib_is_the_alternating_loop(name, weighted, labels, way):
    rows = Problem(name)
    params, dtrain = rows.params(base_score=rows.start), rows.dtrain(weighted=weighted)
    masks: dict[str, Any] = {}
    if labels == "some":
        masks = {"labelled": rows.labelled, "teacher_weight": rows.teacher_weight}
    joint = JointTeacher(rows.dprivileged(), params)
    if way == "train":
        ours = pi_xgb.train(params, dtrain, ROUNDS, privileged=rows.dprivileged(), **JPIB, **masks)
    elif way == "teacher":
        ours = pi_xgb.train(params, dtrain, ROUNDS, teacher=joint, kl_weight=A, **masks)
    else:
        objective = JointObjective(rows.dprivileged(), A, params, **masks)
        ours, joint = by_objective(params, dtrain, ROUNDS, objective), objective.teacher
    a = A * masks["teacher_weight"] if masks else A
    known: dict[str, Any] = {"weight": rows.weight if weighted else None, "labelled": masks.get("labelled")}
    student, teacher = jpib_loop(params, rows.dtrain(), rows.dprivileged(), rows.y, ROUNDS, a, **known)
    assert_same_model(ours, student)
    if way != "train":  # its last tree, which would teach nobody, is never built
        assert joint.booster.num_boosted_rounds() == ROUNDS - 1
        assert trees(joint.booster) == trees(teacher)[: len(trees(joint.booster))]


@pytest.mark.parametrize(
    "more",
    [
        {"tree_method": "exact"},
        {"tree_method": "approx"},
        {"subsample": 0.6},
        {"subsample": 0.6, "seed_per_iteration": True},  # draws by the number of the round
        {"colsample_bytree": 0.6},
        {"num_parallel_tree": 2},
    ],
    ids=str,
)
def test_jpib_is_the_loop_whatever_the_params(more):
    rows = Problem("binary:logistic")
    params = rows.params(base_score=0.5, **more)
    ours = pi_xgb.train(params, rows.dtrain(), ROUNDS, privileged=rows.dprivileged(), **JPIB)
    student, _ = jpib_loop(params, rows.dtrain(), rows.dprivileged(), rows.y, ROUNDS, A)
    assert_same_model(ours, student)


@every_objective
@pytest.mark.parametrize("weighted", [False, True])
def test_kbpib_is_a_teacher_and_then_a_student(name, weighted):
    rows = Problem(name)
    params, dtrain = rows.params(base_score=rows.start), rows.dtrain(weighted=weighted)
    dprivileged = rows.dprivileged(weighted=weighted)
    keywords = {"teacher": "boosted", "crossfit": 0, "kl_weight": A}
    ours = pi_xgb.train(params, dtrain, ROUNDS, privileged=dprivileged, **keywords)
    q = mean_of(rows.objective, xgb.train(params, dprivileged, ROUNDS).predict(dprivileged, output_margin=True))
    weight = rows.weight if weighted else None
    assert_same_model(ours, kbpib_loop(params, rows.dtrain(), rows.y, ROUNDS, [(q, A)], weight=weight))


@pytest.mark.parametrize("more", [{}, {"monotone_constraints": "(1,0,-1,0)"}], ids=["", "monotone"])
@pytest.mark.parametrize("name", ["multi:softprob", "reg:squarederror/multi_output_tree"])
def test_vector_leaves_are_taught_like_trees_of_one_output(name, more):
    if more and tuple(map(int, xgb.__version__.split(".")[:2])) < (3, 4):
        pytest.skip("XGBoost has monotone vector leaves from 3.4 on")
    rows = Problem(name)
    plain = rows.params(base_score=rows.start, multi_strategy="multi_output_tree")
    params, dtrain, dprivileged = {**plain, **more}, rows.dtrain(), rows.dprivileged()
    keywords = {"privileged": dprivileged, "teacher_params": plain, "kl_weight": A}
    q = mean_of(rows.objective, xgb.train(plain, dprivileged, ROUNDS).predict(dprivileged, output_margin=True))
    student = pi_xgb.train(params, dtrain, ROUNDS, teacher="boosted", crossfit=0, **keywords)
    assert_same_model(student, kbpib_loop(params, dtrain, rows.y, ROUNDS, [(q, A)]))
    student = pi_xgb.train(params, dtrain, ROUNDS, method="jpib", **keywords)
    assert_same_model(student, jpib_loop(params, dtrain, dprivileged, rows.y, ROUNDS, A, teacher_params=plain)[0])
    assert len(trees(student)) == ROUNDS
    if more:
        low, high = (xgb.DMatrix(np.c_[np.full(rows.n, first), rows.x[:, 1:]]) for first in (2, 9))
        margins = [student.predict(matrix, output_margin=True) for matrix in (low, high)]
        assert (margins[0] <= margins[1]).all()


def test_scale_pos_weight_counts_in_both_boosters():
    rows = Problem("binary:logistic")
    params = rows.params(base_score=0.5, scale_pos_weight=3.0)
    folded = rows.weight * np.where(rows.y == 1, np.float32(3), np.float32(1))
    ours = pi_xgb.train(params, rows.dtrain(weighted=True), ROUNDS, privileged=rows.dprivileged(), **JPIB)
    student, _ = jpib_loop(params, rows.dtrain(), rows.dprivileged(), rows.y, ROUNDS, A, weight=folded)
    assert_same_model(ours, student)


@pytest.mark.parametrize("name", AMOUNTS)
def test_a_base_margin_is_an_exposure_for_both_boosters(name):
    rows = Problem(name)
    params, exposed = rows.params(base_score=0.6), {"base_margin": rows.margin}
    ours = pi_xgb.train(params, rows.dtrain(**exposed), ROUNDS, privileged=rows.dprivileged(**exposed), **JPIB)
    matrices = rows.dtrain(**exposed), rows.dprivileged(**exposed)
    assert_same_model(ours, jpib_loop(params, *matrices, rows.y, ROUNDS, A)[0])


def test_the_teacher_has_params_of_its_own():
    rows = Problem("binary:logistic")
    params, own = rows.params(base_score=0.5), {"max_depth": 2, "eta": 0.2, "nthread": 1, "seed": 3}
    ours = pi_xgb.train(params, rows.dtrain(), ROUNDS, privileged=rows.dprivileged(), teacher_params=own, **JPIB)
    theirs = {**own, "objective": "binary:logistic", "base_score": 0.5}
    student, _ = jpib_loop(params, rows.dtrain(), rows.dprivileged(), rows.y, ROUNDS, A, teacher_params=theirs)
    assert_same_model(ours, student)


@pytest.mark.parametrize("weight", [0.0, 4.0])
def test_a_joint_teacher_has_a_weight_of_its_own_on_the_student(weight):
    rows = Problem("binary:logistic")
    params = rows.params(base_score=0.5)
    teacher = JointTeacher(rows.dprivileged(), params, kl_weight=weight)
    ours = pi_xgb.train(params, rows.dtrain(), ROUNDS, teacher=teacher, kl_weight=A)
    student, expected = jpib_loop(
        params, rows.dtrain(), rows.dprivileged(), rows.y, ROUNDS, A, weight_on_teacher=weight
    )
    assert_same_model(ours, student)
    assert trees(teacher.booster) == trees(expected)[:-1]


def test_a_joint_teacher_beside_another_teacher():
    rows = Problem("binary:logistic")
    params = rows.params(base_score=0.5)
    pairs = [(JointTeacher(rows.dprivileged(), params), A), (rows.q, 2.0)]
    ours = pi_xgb.train(params, rows.dtrain(), ROUNDS, teacher=pairs)
    others = ((rows.q, 2.0),)
    student, _ = jpib_loop(params, rows.dtrain(), rows.dprivileged(), rows.y, ROUNDS, A, others=others)
    assert_same_model(ours, student)


@every_objective
@pytest.mark.parametrize("weighted", [False, True])
def test_both_boosters_start_at_the_intercept_of_xgboost(name, weighted):
    rows = Problem(name)
    own = {"max_depth": 2, "nthread": 1}
    keywords = {"privileged": rows.dprivileged(), "teacher_params": own, **JPIB}
    ours = pi_xgb.train(rows.params(), rows.dtrain(weighted=weighted), 3, **keywords)
    plain = xgb.train(rows.params(), rows.dtrain(weighted=weighted), 1)
    np.testing.assert_allclose(base_score_of(ours), base_score_of(plain), rtol=2e-4, atol=2e-6)
    params = rows.params(base_score=base_score_of(ours))
    theirs = {key: params[key] for key in ("objective", "num_class", "base_score") if key in params}
    theirs |= own
    loop = jpib_loop(
        params,
        rows.dtrain(),
        rows.dprivileged(),
        rows.y,
        3,
        A,
        teacher_params=theirs,
        weight=rows.weight if weighted else None,
    )
    assert_same_model(ours, loop[0])


@every_objective
def test_a_base_margin_of_the_student_is_no_start_for_the_teacher(name):
    rows = Problem(name)
    if name.partition("/")[0] in AMOUNTS:
        pytest.skip("there it is an exposure, which the teacher has as well")
    first = []

    class Watched(JointTeacher):
        def q(self, mean, label, weight):
            first.append(super().q(mean, label, weight).copy())
            return first[-1]

    rows.margin[0] = rows.margin.max()
    for margin in (rows.margin, -rows.margin):
        dtrain = rows.dtrain(weighted=True, base_margin=margin)
        teacher, objective = (kind(rows.dprivileged(), params=rows.params()) for kind in (Watched, JointObjective))
        pi_xgb.train(rows.params(), dtrain, 1, teacher=teacher)
        by_objective(rows.params(), dtrain, 1, objective)
        if name not in CLASSES:  # a margin that all classes share moves no mean
            assert base_score_of(objective.teacher.booster) == pytest.approx(base_score_of(teacher.booster), abs=2e-6)
        labels = one_hot(rows.objective, rows.y)
        expected = start_at(rows.objective, np.average(labels, axis=0, weights=rows.weight))
        np.testing.assert_allclose(first[-1], np.broadcast_to(expected, first[-1].shape), rtol=2e-5, atol=2e-6)


def logistic() -> tuple[Problem, dict[str, Any]]:
    rows = Problem("binary:logistic")
    return rows, rows.params(base_score=0.5)


def test_an_objective_starts_each_training_afresh():
    rows, params = logistic()
    other = Problem("binary:logistic", seed=9)
    matrices = rows.dtrain(), xgb.DMatrix(other.x, rows.y)

    class Stop(xgb.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            raise RuntimeError("stopped")

    def new() -> JointObjective:
        return JointObjective(rows.dprivileged(), A, params)

    fresh = [by_objective(params, matrix, ROUNDS, new()) for matrix in matrices]
    objective = new()
    assert_same_model(by_objective(params, matrices[0], ROUNDS, objective), fresh[0])
    assert_same_model(by_objective(params, matrices[1], ROUNDS, objective), fresh[1])
    with pytest.raises(RuntimeError, match="stopped"):
        by_objective(params, matrices[0], ROUNDS, objective, callbacks=[Stop()])
    assert_same_model(by_objective(params, matrices[0], ROUNDS, objective), fresh[0])


@pytest.mark.parametrize("margin", [False, True])
def test_a_teacher_takes_the_start_of_the_training_at_hand(margin):
    rows, _ = logistic()
    teacher = JointTeacher(rows.dprivileged(), rows.params())
    pi_xgb.train(rows.params(base_score=0.1), rows.dtrain(), 2, teacher=teacher)
    dtrain = rows.dtrain(base_margin=rows.margin if margin else None)
    again, fresh = (
        pi_xgb.train(rows.params(), dtrain, ROUNDS, teacher=item, kl_weight=A)
        for item in (teacher, JointTeacher(rows.dprivileged(), rows.params()))
    )
    assert_same_model(again, fresh)


def test_a_teacher_of_an_objective_takes_the_start_of_the_student():
    rows, params = logistic()
    dtrain, start = rows.dtrain(), {"base_score": 0.3}
    objectives = [JointObjective(rows.dprivileged(), A, rows.params(**own)) for own in ({}, start)]
    assert_same_model(*(by_objective(params | start, dtrain, ROUNDS, objective) for objective in objectives))


def test_trainings_with_an_objective_each_may_alternate():
    rows, params = logistic()
    dtrain, dprivileged = rows.dtrain(), rows.dprivileged()
    expected = by_objective(params, dtrain, ROUNDS, JointObjective(dprivileged, A, params))
    pairs = [(xgb.Booster(params, [dtrain]), JointObjective(dprivileged, A, params)) for _ in range(2)]
    for i in range(ROUNDS):
        for booster, objective in pairs:
            booster.update(dtrain, i, fobj=objective)
    for booster, _ in pairs:
        assert_same_model(booster, expected)


def test_two_boosters_cannot_take_turns_with_one_objective():
    rows, params = logistic()
    first, second = rows.dtrain(), xgb.DMatrix(Problem("binary:logistic", seed=9).x, rows.y)
    alone = by_objective(params, first, 2, JointObjective(rows.dprivileged(), A, params))
    objective = JointObjective(rows.dprivileged(), A, params)
    boosters = [xgb.Booster(params, [first]), xgb.Booster(params, [second])]
    for booster, matrix in zip(boosters, (first, second), strict=True):
        booster.update(matrix, 0, fobj=objective)
    try:  # It has begun a training with the second. If the first may go on at all, then as if alone.
        boosters[0].update(first, 1, fobj=objective)
    except ValueError:
        return
    assert_same_model(boosters[0], alone)


def test_a_call_by_hand_does_not_continue_a_training():
    rows, params = logistic()
    objective = JointObjective(rows.dprivileged(), A, params)
    by_objective(params, rows.dtrain(), ROUNDS, objective)
    with pytest.raises(ValueError, match="training of a Booster only"):
        objective(np.zeros(rows.n, np.float32), rows.dtrain())
    with pytest.raises(ValueError, match="training of a Booster only"):
        JointTeacher(rows.dprivileged(), params).q(rows.q, rows.y, None)
    with pytest.raises(ValueError, match="not been trained yet"):
        _ = JointTeacher(rows.dprivileged(), params).booster
    with pytest.raises(TypeError, match="JointTeacher of the training, got JointObjective"):
        pi_xgb.JointCheckPoint(".", objective)


def test_a_teacher_continues_with_no_student_but_its_own():
    rows, params = logistic()
    teachers = [JointTeacher(rows.dprivileged(), params) for _ in range(2)]
    students = [
        pi_xgb.train({**params, "eta": eta}, rows.dtrain(), 3, teacher=teacher, kl_weight=A)
        for eta, teacher in zip((0.5, 0.1), teachers, strict=True)
    ]
    begun, student = JointTeacher(rows.dprivileged(), params), None
    for _ in range(3):
        student = pi_xgb.train(params, rows.dtrain(), 1, teacher=begun, kl_weight=A, xgb_model=student)
    assert student.num_boosted_rounds() == 3
    with pytest.raises(ValueError, match="grew with another student than the continued one"):
        pi_xgb.train(params, rows.dtrain(), 1, teacher=teachers[0], kl_weight=A, xgb_model=students[1])


@pytest.mark.parametrize("way", ["pickled", "copied", "with its student"])
def test_a_pickled_objective_trains_the_same_model(way):
    rows, params = logistic()
    table = pd.DataFrame(rows.z).assign(kind=pd.Categorical(np.array(["a", "b", "c"])[np.arange(rows.n) % 3]))
    table.iloc[::3, 0], table.iloc[1::3, 1], table.iloc[:, 2] = np.nan, 0.0, np.nan
    if way == "with its student":  # a thawed matrix has the numbers of the categories, and not their names
        table = table.drop(columns="kind")
    dprivileged = xgb.DMatrix(table, rows.y, weight=rows.weight, enable_categorical=True)
    dtrain = rows.dtrain(weighted=True)
    objective = JointObjective(dprivileged, A, params)
    whole = by_objective(params, dtrain, ROUNDS, JointObjective(dprivileged, A, params))
    if way == "with its student":  # together they are a training that can go on
        student = by_objective(params, dtrain, 4, objective)
        student, objective = pickle.loads(pickle.dumps((student, objective)))
        ours = by_objective(params, dtrain, ROUNDS - 4, objective, xgb_model=student)
    else:
        by_objective(params, dtrain, 2, objective)
        other = pickle.loads(pickle.dumps(objective)) if way == "pickled" else copy.deepcopy(objective)
        ours = by_objective(params, dtrain, ROUNDS, other)
    assert_same_model(ours, whole)


def test_a_quantile_matrix_teaches_and_cannot_be_pickled():
    rows, params = logistic()
    objective = JointObjective(rows.dprivileged(kind=xgb.QuantileDMatrix), A, params)
    expected = by_objective(params, rows.dtrain(), ROUNDS, JointObjective(rows.dprivileged(), A, params))
    assert_same_model(by_objective(params, rows.dtrain(), ROUNDS, objective), expected)
    with pytest.raises(TypeError, match=r"QuantileDMatrix.*pickled"):
        pickle.dumps(objective)


def test_extra_teachers_teach_the_teacher():
    rows, params = logistic()
    dprivileged = rows.dprivileged()
    for per_row in (0.25, np.linspace(0.0, 3.0, rows.n)):
        teacher = JointTeacher(dprivileged, params, kl_weight=0.0, extra_teachers=[(rows.q, per_row)])
        pi_xgb.train(params, rows.dtrain(), 3, teacher=teacher)
        # Taught by q alone it is the student of q, on the privileged features.
        assert trees(teacher.booster) == trees(kbpib_loop(params, dprivileged, rows.y, 2, [(rows.q, per_row)]))


def test_extra_teachers_of_an_objective_are_those_of_the_student():
    rows, params = logistic()
    parity = (pi_xgb.constraints.DemographicParity(np.arange(rows.n) % 2), 3.0)
    objective = JointObjective(rows.dprivileged(), A, params, extra_teachers=[parity])
    joint = JointTeacher(rows.dprivileged(), params)
    by_train = pi_xgb.train(params, rows.dtrain(), ROUNDS, teacher=[(joint, A), parity])
    found = by_objective(params, rows.dtrain(), ROUNDS, objective)
    assert_same_model(found, by_train)
    alone = by_objective(params, rows.dtrain(), ROUNDS, JointObjective(rows.dprivileged(), A, params))
    assert found.get_dump() != alone.get_dump()


def test_the_teacher_of_some_rows_is_the_teacher_made_of_them():
    rows, params = logistic()
    chosen, per_row = np.arange(rows.n - 1, 20, -1), np.linspace(0.0, 3.0, rows.n)

    def made(part: Any, dprivileged: xgb.DMatrix) -> JointTeacher:
        extra = [(rows.q[part], per_row[part]), (1 - rows.q[part], 0.5)]
        return JointTeacher(dprivileged, params, kl_weight=4.0, extra_teachers=extra)

    whole, by_hand = made(slice(None), rows.dprivileged()), made(chosen, rows.dprivileged().slice(chosen))
    dtrain = rows.dtrain().slice(chosen)
    models = [pi_xgb.train(params, dtrain, 4, teacher=item) for item in (whole.subset(chosen), by_hand)]
    assert_same_model(*models)


def test_a_teacher_keeps_no_student_alive():
    rows, params = logistic()
    teacher = JointTeacher(rows.dprivileged(), params)
    student = weakref.ref(pi_xgb.train(params, rows.dtrain(), 2, teacher=teacher))
    assert student() is None


def test_a_linear_booster_alternates_as_well():
    rows = Problem("reg:squarederror")
    params = {"objective": rows.objective, "booster": "gblinear", "base_score": 0.0, "nthread": 1}
    params["updater"] = "coord_descent"  # the default one is not deterministic
    ours = pi_xgb.train(params, rows.dtrain(), ROUNDS, privileged=rows.dprivileged(), **JPIB)
    student, _ = jpib_loop(params, rows.dtrain(), rows.dprivileged(), rows.y, ROUNDS, A)
    np.testing.assert_allclose(rows.margins(ours), rows.margins(student), rtol=1e-5, atol=1e-6)


def test_the_objective_is_that_of_params_or_binary():
    rows, _ = logistic()
    for params in (None, {"num_class": 1}):
        assert JointObjective(rows.dprivileged(), params=params).objective == "binary:logistic"
    assert JointObjective(rows.dprivileged(), params={"num_class": 2}).objective == "multi:softmax"
    found = JointObjective(rows.dprivileged(), A, {"objective": "reg:logistic", "scale_pos_weight": 3.0})
    assert (found.objective, found.scale_pos_weight, found.kl_weight) == ("reg:logistic", 3.0, A)

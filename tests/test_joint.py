"""JPIB and KbPIB are the two algorithms of the paper, written out as plain loops over boosters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from helpers_problems import (
    AMOUNTS,
    BLENDED,
    TARGETS,
    Problem,
    assert_same_model,
    base_score_of,
    jpib_loop,
    kbpib_loop,
    mean_of,
    trees,
)

import pi_xgb
from pi_xgb import JointObjective, JointTeacher

ROUNDS, A = 6, 0.7
every_objective = pytest.mark.parametrize("name", [*BLENDED, *TARGETS])
JPIB: dict[str, Any] = {"method": "jpib", "teacher": "boosted", "kl_weight": A}


# --- tree by tree, to the bit ----------------------------------------------------------------------------------


@every_objective
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("labels", ["all", "some"])
@pytest.mark.parametrize("way", ["train", "teacher", "objective"])
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
        ours, joint = xgb.train(params, dtrain, ROUNDS, obj=objective), objective.teacher
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
    # The teacher starts at the student's own base_score.
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

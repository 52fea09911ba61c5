"""What the keywords that say who teaches mean together, before anything is trained."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

import pi_xgb
from pi_xgb._core.config import TeacherConfig
from pi_xgb._core.crossfit import Folds
from pi_xgb._core.losses import LOSSES
from pi_xgb._core.spec import Spec
from pi_xgb._core.task import Task
from pi_xgb._core.teachers import FixedTeacher

N = 40
RNG = np.random.default_rng(0)
X, Z = (pd.DataFrame(RNG.normal(size=(N, 2))).add_prefix(name) for name in "xz")
Y = (Z["z0"] + RNG.normal(size=N) > 0).to_numpy(np.float32)
Q = RNG.random(N).astype(np.float32)
SOME = np.arange(N) % 3 > 0
PARAMS = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}


def dtrain():
    return xgb.DMatrix(X, Y)


def privileged(z=Z, y=Y, **more):
    return xgb.DMatrix(z, y, **more)


class Asked(pi_xgb.Teacher):
    """Notes what it is asked."""

    hessian = "full"

    def __init__(self, is_adaptive, calls):
        self.is_adaptive, self.calls = is_adaptive, calls

    def check_compatible(self, others):
        self.calls.append((self, "beside", others))

    def check(self, n_rows):
        self.calls.append((self, "check", n_rows))

    def q(self, mean, label, weight):
        self.calls.append((self, "q", len(mean)))
        return np.full(len(mean), 0.5, np.float32)


Z_MATRIX = privileged()
FOLLOWS, RESTS = (Asked(follows, []) for follows in (True, False))
MEANINGS = ("given", "changes_nothing", "teaches", "learns_first", "is_adaptive", "weight_is_given")
SAID = {
    "nobody": ({}, (0, 1, 1, 0, 0, 0)),
    "a weight for nobody": ({"kl_weight": 0.25}, (0, 1, 1, 0, 0, 1)),
    "q": ({"teacher": Q}, (1, 0, 1, 0, 0, 0)),
    "q at 0": ({"teacher": Q, "kl_weight": 0}, (1, 1, 0, 0, 0, 1)),
    "q at 0 of rows without labels": ({"teacher": Q, "kl_weight": 0, "labelled": SOME}, (1, 0, 0, 0, 0, 1)),
    "a list": ({"teacher": [(Q, 0.25)]}, (1, 0, 1, 0, 0, 1)),
    "a list at 0": ({"teacher": [(Q, 0.0), (Q, 0 * Q)]}, (1, 0, 0, 0, 0, 1)),
    "a list per row": ({"teacher": [(Q, 0.0), (Q, 0.25 * SOME)]}, (1, 0, 1, 0, 0, 1)),
    "one that follows": ({"teacher": FOLLOWS}, (1, 0, 1, 0, 1, 0)),
    "one that follows in a list": ({"teacher": [(RESTS, 0.25), (FOLLOWS, 0.25)]}, (1, 0, 1, 0, 1, 1)),
    "one that rests": ({"teacher": RESTS}, (1, 0, 1, 0, 0, 0)),
    "kbpib": ({"privileged": Z_MATRIX, "kl_weight": 0.25}, (1, 0, 1, 1, 0, 1)),
    "kbpib at 0": ({"privileged": Z_MATRIX, "kl_weight": 0}, (1, 1, 0, 0, 0, 1)),
    "jpib": ({"privileged": Z_MATRIX, "kl_weight": 0.25, "method": "jpib"}, (1, 0, 1, 0, 1, 1)),
    "jpib at 0": ({"privileged": Z_MATRIX, "kl_weight": 0, "method": "jpib"}, (1, 1, 0, 0, 0, 1)),
}


@pytest.mark.parametrize("name", SAID)
def test_what_keywords_mean_together(name):
    keywords, expected = SAID[name]
    config = TeacherConfig(**keywords)
    assert tuple(int(getattr(config, meaning)) for meaning in MEANINGS) == expected
    # XGBoost's affair alone: nobody teaches, or nobody counts for what no teacher could guide.
    for params, obj, unguided in (({}, None, False), ({}, len, True), ({"objective": "binary:hinge"}, None, True)):
        expected_alone = not config.given or (config.changes_nothing and unguided)
        assert config.leaves_to_xgboost(params, obj) == expected_alone


@pytest.mark.parametrize(
    ("keywords", "uniform"),
    [
        ({"teacher": Q}, True),
        ({"teacher": [(Q, 0.25), (Q, np.float32(2))]}, True),
        ({"teacher": [(Q, 0.25), (Q, 2.0 * SOME)]}, False),
        ({"teacher": Q, "labelled": SOME}, False),
        ({"privileged": Z_MATRIX, "teacher_weight": 1.0 * SOME}, False),
        ({"teacher": [(Q, 1.0)], "labelled": SOME}, False),
    ],
)
def test_all_rows_count_alike_or_not(keywords, uniform):
    assert TeacherConfig(**keywords).is_uniform is uniform


def test_a_teacher_with_weights_of_its_own_is_not_uniform():
    teacher = FixedTeacher(Q)
    assert TeacherConfig(teacher=teacher).is_uniform
    teacher.teacher_weight = 1.0 * SOME
    assert not TeacherConfig(teacher=teacher).is_uniform
    assert not TeacherConfig(teacher=[(Q, 1.0), (teacher, 1.0)]).is_uniform


def test_all_matrices_of_the_teachers_are_held():
    one, two = privileged(), privileged()
    assert TeacherConfig(privileged=one, privileged_evals=[(two, "valid")]).matrices == [one, two]
    joint = pi_xgb.JointTeacher(one, PARAMS)
    assert TeacherConfig(teacher=joint).matrices == TeacherConfig(teacher=[(Q, 1.0), (joint, 1.0)]).matrices == [one]
    assert TeacherConfig(teacher=Q).matrices == []


def test_nobody_at_weight_0_is_no_contradiction():
    TeacherConfig(kl_weight=0).check_keywords()
    for keywords in ({"kl_weight": 1.0}, {"kl_weight": 0, "labelled": SOME}, {"teacher_weight": Q}):
        with pytest.raises(ValueError, match=f"teacher=.*{list(keywords)[-1]}"):
            TeacherConfig(**keywords).check_keywords()


def test_a_teacher_of_the_privileged_features_alone_may_have_evals():
    evals = [(privileged(), "valid")]
    TeacherConfig(privileged=Z_MATRIX, teacher="privileged", privileged_evals=evals).check_keywords(3)
    with pytest.raises(ValueError, match="cannot do so with privileged_evals"):
        TeacherConfig(privileged=Z_MATRIX, teacher="all", privileged_evals=evals).check_keywords(3)


def test_every_teacher_is_checked_beside_the_others_and_one_that_rests_is_heard():
    calls = []
    teachers = [Asked(False, calls), Asked(True, calls)]
    config = TeacherConfig(teacher=[(teacher, 1.0) for teacher in teachers])
    task = Task.of_matrix(Spec.read(PARAMS), dtrain())
    assert [weighted_teacher.teacher for weighted_teacher in config.teachers_at_hand(task)] == teachers
    rests, follows = teachers
    assert calls == [
        (rests, "beside", [follows]),
        (rests, "check", N),
        (rests, "q", N),
        (follows, "beside", [rests]),
        (follows, "check", N),
    ]


WRONG = {
    "no label": ({"privileged": lambda: xgb.DMatrix(Z)}, r"privileged.*0 labels.*40 rows"),
    "other labels": ({"privileged": lambda: privileged(y=1 - Y)}, r"labels.*dtrain.*disagree"),
    "a column of dtrain": (
        {"privileged": lambda: privileged(Z.rename(columns={"z0": "x0"}))},
        r"\['x0'\] are in dtrain",
    ),
    "more folds than rows": ({"crossfit": 41}, r"between 2.*40 rows.*41"),
    "more folds than groups": ({"crossfit": 3, "crossfit_groups": np.arange(N) % 2}, r"2 distinct.*3 folds"),
    "no rounds": ({"rounds": 0}, "would end with 0 rounds"),
    "trees that drop": ({"method": "jpib", "teacher_params": {"booster": "dart"}}, "JPIB needs margins that stay"),
    "other params": ({"teacher_params": {"objective": "reg:squarederror"}}, "must share objective"),
    "evals": ({"privileged_evals": [(xgb.DMatrix(Z), "mine")]}, r"privileged_evals 'mine'.*per"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_teacher_is_said_before_any_training(name):
    told, message = WRONG[name]
    told = {"privileged": privileged, **told}
    rounds = told.pop("rounds", 3)
    config = TeacherConfig(**{**told, "privileged": told["privileged"]()})
    with pytest.raises(ValueError, match=message):
        config.of_rows(dtrain()).task(Spec.read(PARAMS), dtrain(), rounds)


def test_a_student_goes_on_with_its_teacher():
    joint = TeacherConfig(privileged=Z_MATRIX, method="jpib")
    for config, model in ((joint, None), (TeacherConfig(privileged=Z_MATRIX), b""), (TeacherConfig(teacher=Q), b"")):
        config.check_continues(model)
    with pytest.raises(ValueError, match=r"continued without.*teacher"):
        joint.check_continues(b"")


def test_no_teacher_is_made_that_weighs_nothing():
    task = Task.of_matrix(Spec.read(PARAMS), dtrain())
    for told, weights in (({"kl_weight": 0}, []), ({"kl_weight": 1}, [1]), ({"kl_weight": 1, "method": "jpib"}, [1])):
        made = TeacherConfig(privileged=privileged(), **told).teachers_from_privileged(task, dtrain(), 2)
        assert [one.weight for one in made] == weights
    assert TeacherConfig(teacher=Q).teachers_from_privileged(task, dtrain(), 2) == []


def test_rows_are_taken_of_all_that_is_said_of_rows():
    rows = np.array([3, 1, 30])
    calls = []

    class Cut(Asked):
        def subset(self, rows):
            calls.append(rows)
            return self

    cut = Cut(True, [])
    whole = TeacherConfig(
        privileged=privileged(),
        crossfit=2,
        labelled=SOME,
        teacher_weight=1.0 * SOME,
        crossfit_groups=np.arange(N),
        folds=Folds(np.arange(N) % 4, 4, 1, "z"),
        constraints=[(cut, 0.5), (cut, Q)],
    )
    part = whole.subset(rows)
    np.testing.assert_array_equal(part.privileged.get_label(), Y[rows])
    for name, values in (("labelled", SOME), ("teacher_weight", SOME), ("crossfit_groups", np.arange(N))):
        np.testing.assert_array_equal(getattr(part, name), values[rows])
    assert part.folds == dataclasses.replace(whole.folds, fold_of=part.folds.fold_of)
    np.testing.assert_array_equal(part.folds.fold_of, rows % 4)
    (one, weight), (other, per_row) = part.constraints
    assert (one, weight, other) == (cut, 0.5, cut)
    np.testing.assert_array_equal(per_row, Q[rows])
    assert all(its is rows for its in calls)
    assert (part.method, part.crossfit, part.kl_weight, part.teacher) == ("kbpib", 2, 0.5, None)
    # Of nothing said nothing is taken; q may be a list, and one of a list has a weight per row.
    assert TeacherConfig().subset(rows) == TeacherConfig()
    assert TeacherConfig(teacher=Q.tolist()).subset(rows).teacher.tolist() == Q[rows].tolist()
    ((q, weight), (same, per_row)) = TeacherConfig(teacher=[(Q, 2.0), (cut, Q.tolist())]).subset(rows).teacher
    assert (q.tolist(), weight, same, per_row.tolist()) == (Q[rows].tolist(), 2.0, cut, Q[rows].tolist())


def test_a_weight_is_given_to_those_who_have_none_of_their_own():
    assert TeacherConfig(teacher=Q).weighing(3.0).kl_weight == 3.0
    listed = TeacherConfig(teacher=[(Q, 2.0)])
    assert listed.weighing(3.0) is listed


def test_teachers_beside_constraints_are_those_of_train():
    spec, valid = Spec.read(PARAMS), privileged(y=RNG.permutation(Y))
    config = TeacherConfig(privileged=privileged(), privileged_evals=[(valid, "valid")], kl_weight=0.3)
    ((teacher, weight),) = config.taught(spec, dtrain(), 40, 3)
    expected = pi_xgb.fit_teacher(PARAMS, privileged(), 40, evals=[(valid, "v")], early_stopping_rounds=3)
    assert weight == 0.3
    assert teacher.booster.num_boosted_rounds() == expected.booster.num_boosted_rounds() < 40
    np.testing.assert_array_equal(teacher.values, expected.values)
    with pytest.raises(ValueError, match=r"stop.*teacher.*early_stopping_rounds"):
        config.taught(spec, dtrain(), 40)
    ((brought, weight),) = TeacherConfig(teacher=Q, kl_weight=0.2).taught(spec, dtrain(), 2)
    assert weight == 0.2
    np.testing.assert_array_equal(brought.values, Q)


# --- a teacher that sees all ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: privileged(y=1 - Y), r"labels.*disagree.*40 rows"),
        (lambda: privileged(Z.rename(columns={"z1": "x1"})), r"columns \['x1'\]"),
        (dtrain, r"columns \['x0', 'x1'\]"),
    ],
)
def test_what_stands_side_by_side_is_of_the_same_rows_and_other_columns(made, message):
    with pytest.raises(ValueError, match=message):
        pi_xgb.train(PARAMS, dtrain(), 2, privileged=made(), teacher="all")
    # Labels that nobody knows need not agree.
    odd = privileged(y=np.where(SOME, Y, 1 - Y))
    assert pi_xgb.train(PARAMS, dtrain(), 2, privileged=odd, teacher="all", crossfit=2, labelled=SOME)


def test_columns_may_be_called_as_those_of_both_are():
    named = X.set_axis(["a", "x:a"], axis=1)
    students = [
        pi_xgb.train(PARAMS, xgb.DMatrix(x, Y), 3, privileged=privileged(), teacher="all", crossfit=2)
        for x in (named, X)
    ]
    rows = [students[0].predict(xgb.DMatrix(named)), students[1].predict(dtrain())]
    np.testing.assert_array_equal(*rows)


def test_columns_that_the_student_has_make_no_row_privileged():
    z = Z.copy()
    z.iloc[:7] = np.nan
    told = {"allow_overlap": True, "crossfit": 2}
    both = privileged(pd.concat([X, z], axis=1))
    with pytest.warns(UserWarning, match=r"7.*40 rows"):
        found = pi_xgb.train(PARAMS, dtrain(), 3, privileged=both, **told)
    said = pi_xgb.train(PARAMS, dtrain(), 3, privileged=both, teacher_weight=np.arange(N) >= 7, **told)
    assert found.save_raw() == said.save_raw()


def test_a_joint_teacher_is_held_to_the_rows_and_weights_of_dtrain():
    weighted = pi_xgb.JointTeacher(privileged(weight=np.full(N, 2.0)), PARAMS)
    with pytest.raises(ValueError, match="weights of privileged differ"):
        pi_xgb.train(PARAMS, dtrain(), 2, teacher=weighted)


def test_objectives_that_no_teacher_guides_stay_xgboosts_where_nobody_counts():
    assert "binary:hinge" not in LOSSES
    params = {"objective": "binary:hinge", "nthread": 1}
    ours = pi_xgb.train(params, dtrain(), 2, privileged=privileged(), kl_weight=0)
    assert ours.save_raw() == xgb.train(params, dtrain(), 2).save_raw()

"""What the keywords that say who teaches mean together, before anything is trained."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

import pi_xgb
from pi_xgb._core.config import TeacherConfig
from pi_xgb._core.job import Boosting
from pi_xgb._core.losses import LOSSES
from pi_xgb._core.spec import Spec
from pi_xgb._core.teachers import FixedTeacher
from pi_xgb.constraints import DemographicParity, IndividualFairness
from pi_xgb.sklearn import PrivilegedXGBClassifier

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


class Recording(pi_xgb.Teacher):
    """Records the calls of its methods."""

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
ADAPTIVE, FIXED = (Recording(is_adaptive, []) for is_adaptive in (True, False))


def read(rounds=3, **keywords):
    """What the keywords mean for the rows of dtrain, the teachers that weigh nothing left out."""
    config = TeacherConfig(**keywords)
    return config.read(Spec.read(PARAMS), dtrain(), Boosting(rounds)).counting()


MEANINGS = ("is_given", "changes_nothing", "weight_is_given")
READ = ("is_adaptive", "is_uniform")
CASES = {
    "nobody": ({}, (0, 1, 0), (0, 1), 0),
    "q": ({"teacher": Q}, (1, 0, 0), (0, 1), 0.5),
    "q at 0": ({"teacher": Q, "kl_weight": 0}, (1, 1, 1), (0, 1), 0),
    "q at 0 of rows without labels": ({"teacher": Q, "kl_weight": 0, "labelled": SOME}, (1, 0, 1), (0, 0), 0),
    "a list": ({"teacher": [(Q, 0.25)]}, (1, 0, 1), (0, 1), 0.25),
    "a list at 0": ({"teacher": [(Q, 0.0), (Q, 0 * Q)]}, (1, 0, 1), (0, 1), 0),
    "a list per row": ({"teacher": [(Q, 0.0), (Q, 0.25 * SOME)]}, (1, 0, 1), (0, 0), 0.25),
    "adaptive": ({"teacher": ADAPTIVE}, (1, 0, 0), (1, 1), 0.5),
    "adaptive in a list": ({"teacher": [(FIXED, 0.25), (ADAPTIVE, 0.25)]}, (1, 0, 1), (1, 1), 0.5),
    "fixed": ({"teacher": FIXED}, (1, 0, 0), (0, 1), 0.5),
    "kbpib": ({"privileged": Z_MATRIX, "kl_weight": 0.25}, (1, 0, 1), (0, 1), 0.25),
    "kbpib at 0": ({"privileged": Z_MATRIX, "kl_weight": 0}, (1, 1, 1), (0, 1), 0),
    "kbpib in some rows": ({"privileged": Z_MATRIX, "teacher_weight": 1.0 * SOME}, (1, 0, 0), (0, 0), 0.5),
    "jpib": ({"privileged": Z_MATRIX, "kl_weight": 0.25, "method": "jpib"}, (1, 0, 1), (1, 1), 0.25),
    "jpib at 0": ({"privileged": Z_MATRIX, "kl_weight": 0, "method": "jpib"}, (1, 1, 1), (0, 1), 0),
    "a word": ({"teacher": "forest"}, (1, 0, 0), (0, 1), 0.5),
    "a word in a list": ({"teacher": [("forest", 2.0), (ADAPTIVE, 1.0)]}, (1, 0, 1), (1, 1), 3.0),
}


@pytest.mark.parametrize("name", CASES)
def test_what_keywords_mean_together(name):
    keywords, meanings, of_rows, weight = CASES[name]
    config = TeacherConfig(**keywords)
    config.check()
    assert tuple(int(getattr(config, meaning)) for meaning in MEANINGS) == meanings
    supervision = read(**keywords)
    assert tuple(int(getattr(supervision, meaning)) for meaning in READ) == of_rows
    assert supervision.total_weight == weight
    # XGBoost's affair alone: nobody teaches, or nobody counts for what no teacher could guide.
    for params, obj, unguided in (({}, None, False), ({}, len, True), ({"objective": "binary:hinge"}, None, True)):
        expected_alone = not config.is_given or (config.changes_nothing and unguided)
        assert config.leaves_to_xgboost(params, obj) == expected_alone


def test_a_teacher_with_weights_of_its_own_is_not_uniform():
    teacher = FixedTeacher(Q)
    assert read(teacher=teacher).is_uniform
    teacher.teacher_weight = 1.0 * SOME
    assert not read(teacher=teacher).is_uniform
    assert not read(teacher=[(Q, 1.0), (teacher, 1.0)]).is_uniform


SEEN = {
    "boosted": ({}, "privileged", 0),
    "boosted, all": ({"teacher": "boosted", "teacher_sees": "all"}, "all", None),
    "forest": ({"teacher": "forest"}, "all", None),
    "mixed on z": ({"teacher": "mixed", "teacher_sees": "privileged"}, "privileged", None),
    "mixed in 3 folds": ({"teacher": "mixed", "crossfit": 3}, "all", 3),
    "forest in-sample": ({"teacher": "forest", "crossfit": 0}, "all", 0),
    "an estimator": ({"teacher": LogisticRegression()}, "all", None),
    "a frozen one": ({"teacher": FrozenEstimator(LogisticRegression())}, "all", 0),
}


@pytest.mark.parametrize("name", SEEN)
def test_what_a_teacher_sees_and_its_folds_follow_from_its_kind(name):
    keywords, sees, crossfit = SEEN[name]
    ((teacher, _, _),) = read(privileged=Z_MATRIX, **keywords).teachers
    columns = {"privileged": ["z0", "z1"], "all": ["x0", "x1", "z0", "z1"]}[sees]
    assert teacher.features.matrix.feature_names == columns
    assert teacher.recipe.crossfit == crossfit
    # Without privileged features it learns from those of the student.
    keywords = {name: value for name, value in keywords.items() if name != "teacher_sees"}
    ((teacher, _, _),) = read(**{"teacher": "boosted", **keywords}).teachers
    assert teacher.features.matrix.feature_names == ["x0", "x1"]
    assert teacher.recipe.crossfit == (None if name == "boosted" else crossfit)


STOPPED = {
    "boosted": ({}, True),
    "in a list": ({"teacher": [("forest", 0.0), ("boosted", 0.25)]}, True),
    "of little weight": ({"kl_weight": 0.25}, True),
    "of no weight": ({"kl_weight": 0}, False),
    "of another kind": ({"teacher": "forest"}, False),
    "beside its student": ({"method": "jpib"}, False),
    "with the columns of its student": ({"teacher": "boosted", "teacher_sees": "all"}, False),
}


@pytest.mark.parametrize("name", STOPPED)
def test_a_boosted_teacher_of_its_own_columns_can_stop_early(name):
    keywords, stops = STOPPED[name]
    assert TeacherConfig(privileged=Z_MATRIX, **keywords).can_stop_early is stops


REFUSED = {
    "an unknown word": ({"teacher": "best"}, "teacher must be one of.*'mixed'.*got 'best'"),
    "the class of a model": (
        {"teacher": LogisticRegression},
        r"must be an instance, got the class LogisticRegression: pass LogisticRegression\(\)",
    ),
    "an unknown view": ({"privileged": Z_MATRIX, "teacher_sees": "x"}, "teacher_sees must be one of.*got 'x'"),
    "a view of nothing": ({"teacher": "mixed", "teacher_sees": "all"}, "teacher_sees requires privileged="),
    "in-sample weights": ({"teacher": "mixed", "crossfit": 0}, "crossfit must be at least 2.*'mixed'.*got 0"),
    "folds of a fitted one": (
        {"teacher": FrozenEstimator(LogisticRegression()), "crossfit": 3},
        "crossfit must be 0 with a frozen estimator.*got 3",
    ),
    "less than no weight": ({"teacher": Q, "kl_weight": -1}, "kl_weight must be finite and at least 0.*got -1"),
    "an unknown method": ({"privileged": Z_MATRIX, "method": "pib"}, "method must be one of.*got 'pib'"),
    "params of no booster": (
        {"teacher": "forest", "teacher_params": {"max_depth": 2}},
        "teacher_params require.*'boosted' or 'mixed'.*got teacher='forest'",
    ),
    "evals of no booster": (
        {"privileged": Z_MATRIX, "teacher": "linear", "privileged_evals": [(Z_MATRIX, "v")]},
        "privileged_evals require teacher='boosted'.*'linear'",
    ),
    "jpib of another kind": (
        {"privileged": Z_MATRIX, "teacher": "mixed", "method": "jpib"},
        "method='jpib' requires.*got teacher='mixed'",
    ),
    "jpib of nothing": ({"teacher": "boosted", "method": "jpib"}, "method='jpib' requires privileged="),
    "jpib in folds": ({"privileged": Z_MATRIX, "method": "jpib", "crossfit": 5}, "crossfit is not supported.*'jpib'"),
    "groups in-sample": ({"privileged": Z_MATRIX, "crossfit_groups": np.arange(N)}, "crossfit_groups require crossfit"),
    "two teachers": ({"privileged": Z_MATRIX, "teacher": Q}, "privileged and teacher were both given"),
    "folds of no teacher": ({"teacher": Q, "crossfit": 5}, "crossfit requires a trainable teacher"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_keywords_that_contradict_each_other(name):
    keywords, message = REFUSED[name]
    with pytest.raises((ValueError, TypeError), match=message):
        pi_xgb.train(PARAMS, dtrain(), 2, early_stopping_rounds=3, **keywords)
    with pytest.raises((ValueError, TypeError), match=message):  # without rows
        TeacherConfig(**keywords).check(early_stopping_rounds=3)


@pytest.mark.parametrize("objective", ["rank:pairwise", "reg:absoluteerror"])
@pytest.mark.parametrize("teacher", ["forest", "linear", "mixed"])
def test_words_for_means_are_refused_where_the_objective_has_none(objective, teacher):
    rows = xgb.DMatrix(X, Y, qid=np.repeat(np.arange(8), 5)) if objective.startswith("rank") else dtrain()
    with pytest.raises(
        ValueError, match=f"teacher must be 'boosted' or an estimator with {objective}, got '{teacher}'"
    ):
        pi_xgb.train({"objective": objective}, rows, 2, teacher=teacher)


def test_an_explicit_crossfit_warns_of_a_rare_class():
    label = np.zeros(N, np.float32)
    label[:3] = 1
    matrix, z = xgb.DMatrix(X, label), xgb.DMatrix(Z, label)
    with pytest.warns(UserWarning, match=r"crossfit should be at most the 3 labelled rows of class 1, got 4"):
        pi_xgb.train(PARAMS, matrix, 2, privileged=z, crossfit=4)
    pi_xgb.train(PARAMS, matrix, 2, privileged=z, crossfit=3)
    booster = pi_xgb.train(PARAMS, matrix, 2, privileged=z, teacher="forest")  # which takes 3 by itself
    assert booster.attr("pi_xgb_teacher") == "forest"


def test_a_teacher_remembers_its_labelled_rows():
    teacher = pi_xgb.fit_teacher(PARAMS, privileged(), 3, labelled=SOME)
    assert pi_xgb.train(PARAMS, dtrain(), 2, teacher=teacher, labelled=SOME).num_boosted_rounds() == 2
    for labelled in (None, np.arange(N) > 2):
        with pytest.raises(ValueError, match="labelled must be that of the teacher"):
            pi_xgb.train(PARAMS, dtrain(), 2, teacher=teacher, labelled=labelled)
        with pytest.raises(ValueError, match="labelled must be that of the teacher"):
            pi_xgb.KLObjective(teacher, labelled=labelled)
    whole = pi_xgb.fit_teacher(PARAMS, privileged(), 3)  # which has learned from the labels that are said to be unknown
    with pytest.raises(ValueError, match=f"has {N} labelled rows of {N}, got another one"):
        pi_xgb.train(PARAMS, dtrain(), 2, teacher=whole, labelled=SOME)
    part = teacher.shard(np.flatnonzero(SOME))  # on a worker whose rows all have a label
    assert pi_xgb.train(PARAMS, dtrain().slice(np.flatnonzero(SOME)), 2, teacher=part).num_boosted_rounds() == 2


def test_what_a_cluster_asks_before_there_are_rows():
    for kl_weight, n_teachers in ((0, 0), (0.5, 1)):
        config = TeacherConfig(privileged=Z_MATRIX, kl_weight=kl_weight)
        assert len(config.supervision_without_rows().teachers) == n_teachers
    for teacher, sees in (
        (None, False),
        ("boosted", False),
        ("forest", True),
        ([("boosted", 1.0), ("forest", 1.0)], True),
    ):
        assert TeacherConfig(privileged=Z_MATRIX, teacher=teacher).sees_student == sees
    assert not TeacherConfig(privileged=Z_MATRIX, teacher="forest", allow_overlap=True).sees_student


def test_all_matrices_of_the_teachers_are_held():
    single, two = privileged(), privileged()
    assert TeacherConfig(privileged=single, privileged_evals=[(two, "valid")]).matrices == [single, two]
    joint = pi_xgb.JointTeacher(single, PARAMS)
    assert TeacherConfig(teacher=joint).matrices == TeacherConfig(teacher=[(Q, 1.0), (joint, 1.0)]).matrices == [single]
    assert TeacherConfig(teacher=Q).matrices == []


def test_nobody_at_weight_0_is_no_contradiction():
    TeacherConfig(kl_weight=0).check()
    for keywords in ({"kl_weight": 1.0}, {"kl_weight": 0, "labelled": SOME}, {"teacher_weight": Q}):
        with pytest.raises(ValueError, match=f"{list(keywords)[-1]} requires? a teacher, and none is configured"):
            TeacherConfig(**keywords).check()


def test_a_teacher_of_the_privileged_features_alone_may_have_evals():
    evals = [(privileged(), "valid")]
    TeacherConfig(privileged=Z_MATRIX, privileged_evals=evals).check(3)
    with pytest.raises(ValueError, match="privileged_evals require early_stopping_rounds"):
        TeacherConfig(privileged=Z_MATRIX, privileged_evals=evals).check()
    with pytest.raises(ValueError, match="privileged_evals are not supported with teacher_sees='all'"):
        TeacherConfig(privileged=Z_MATRIX, teacher_sees="all", privileged_evals=evals).check(3)


def test_every_teacher_is_checked_beside_the_others_and_a_fixed_one_is_asked():
    calls = []
    fixed, adaptive = teachers = [Recording(False, calls), Recording(True, calls)]
    assert [item.teacher for item in read(teacher=[(teacher, 1.0) for teacher in teachers]).teachers] == teachers
    assert calls == [
        (fixed, "beside", [adaptive]),
        (fixed, "check", N),
        (fixed, "q", N),
        (adaptive, "beside", [fixed]),
        (adaptive, "check", N),
    ]


WRONG = {
    "no label": ({"privileged": lambda: xgb.DMatrix(Z)}, r"privileged.*0 labels.*40 rows"),
    "fewer rows": ({"privileged": lambda: privileged(Z[:30], Y[:30])}, "must describe the rows of dtrain.*40.*30"),
    "other labels": ({"privileged": lambda: privileged(y=1 - Y)}, r"labels.*dtrain.*disagree"),
    "a column of dtrain": (
        {"privileged": lambda: privileged(Z.rename(columns={"z0": "x0"}))},
        r"\['x0'\] are in dtrain",
    ),
    "more folds than rows": ({"crossfit": 41}, "between 2 and the 40 rows, got 41"),
    "more folds than groups": ({"crossfit": 3, "crossfit_groups": np.arange(N) % 2}, "2 distinct values for 3 folds"),
    "no rounds": ({"rounds": 0}, "num_boost_round must be at least 1.*got 0"),
    "no rounds of either": ({"rounds": 0, "method": "jpib"}, "num_boost_round must be at least 1.*got 0"),
    "trees that drop": ({"method": "jpib", "teacher_params": {"booster": "dart"}}, "booster='dart'.*JPIB"),
    "other params": ({"teacher_params": {"objective": "reg:squarederror"}}, "must share objective"),
    "evals": ({"privileged_evals": [(xgb.DMatrix(Z), "mine")]}, r"privileged_evals 'mine'.*per"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_teacher_is_an_error_before_any_training(name):
    keywords, message = WRONG[name]
    keywords = {"privileged": privileged, **keywords}
    rounds = keywords.pop("rounds", 3)
    with pytest.raises(ValueError, match=message):
        read(rounds, **{**keywords, "privileged": keywords["privileged"]()})


def test_the_trees_of_a_student_of_jpib_stay_whatever_those_of_its_teacher():
    student, teacher = {**PARAMS, "booster": "dart"}, {"booster": "gbtree"}
    with pytest.raises(ValueError, match=r"booster='dart'.*JPIB"):
        pi_xgb.train(student, dtrain(), 2, privileged=privileged(), method="jpib", teacher_params=teacher)


def test_one_round_is_enough_for_a_teacher():
    ((teacher, _, _),) = read(1, privileged=Z_MATRIX).teachers
    assert teacher.recipe.num_boost_round == 1


def test_a_student_goes_on_with_its_teacher():
    joint = TeacherConfig(privileged=Z_MATRIX, method="jpib")
    for config, model in ((joint, None), (TeacherConfig(privileged=Z_MATRIX), b""), (TeacherConfig(teacher=Q), b"")):
        config.check_continues(model)
    with pytest.raises(ValueError, match=r"xgb_model.*method='jpib'.*without its teacher"):
        joint.check_continues(b"")


def test_the_supervision_of_some_rows():
    rows, seen = np.array([3, 1, 30]), []

    class Cut(Recording):
        def subset(self, rows):
            seen.append(rows)
            return self

    cut = Cut(True, [])
    pairs = [("boosted", 0.5 * SOME), (Q, 2.0), (cut, Q)]
    whole = read(privileged=privileged(), teacher=pairs, crossfit=2, labelled=SOME, crossfit_groups=np.arange(N) // 2)
    part = whole.subset(rows)
    trained, given, own = part.teachers
    np.testing.assert_array_equal(part.labelled, SOME[rows])
    np.testing.assert_array_equal(trained.weight, 0.5 * SOME[rows])
    np.testing.assert_array_equal(trained.teacher.features.matrix.get_label(), Y[rows])
    assert (given.weight, given.teacher.values.tolist()) == (2.0, Q[rows].tolist())
    np.testing.assert_allclose(own.weight, Q[rows], rtol=1e-6)
    assert own.teacher is cut
    assert [item.tolist() for item in seen] == [rows.tolist()]


def test_a_grid_weighs_teachers_that_have_no_weights_of_their_own():
    assert [item.kl_weight for item in read(teacher=Q).weighing(3.0).teachers] == [3.0]
    listed = read(teacher=[(Q, 2.0)])
    assert listed.weighing(3.0) is listed


def test_rows_with_neither_label_nor_teacher_have_no_weight():
    counts = (np.arange(N) % 2).astype(float)
    with pytest.warns(UserWarning, match="have neither a label nor a teacher.*their features count.* Leave these rows"):
        booster = pi_xgb.train(PARAMS, dtrain(), 2, teacher=Q, labelled=SOME, teacher_weight=counts)
    idle = read(teacher=Q, labelled=SOME, teacher_weight=counts).idle_rows(N)
    np.testing.assert_array_equal(idle, ~SOME & (counts == 0))
    kept = np.flatnonzero(~idle)
    cut = xgb.DMatrix(X.iloc[kept], Y[kept])
    params = PARAMS | {"tree_method": "exact"}
    with pytest.warns(UserWarning, match="neither a label"):
        booster = pi_xgb.train(params, dtrain(), 2, teacher=Q, labelled=SOME, teacher_weight=counts)
    alone = pi_xgb.train(params, cut, 2, teacher=Q[kept], labelled=SOME[kept], teacher_weight=counts[kept])
    np.testing.assert_allclose(booster.predict(dtrain()), alone.predict(dtrain()), rtol=1e-5)


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
        pi_xgb.train(PARAMS, dtrain(), 2, privileged=made(), teacher_sees="all")
    # Labels that nobody knows need not agree.
    odd = privileged(y=np.where(SOME, Y, 1 - Y))
    assert pi_xgb.train(PARAMS, dtrain(), 2, privileged=odd, teacher_sees="all", crossfit=2, labelled=SOME)


def test_columns_may_be_called_as_those_of_both_are():
    named = X.set_axis(["a", "z:z0"], axis=1)
    students = [
        pi_xgb.train(PARAMS, xgb.DMatrix(x, Y), 3, privileged=privileged(), teacher_sees="all", crossfit=2)
        for x in (named, X)
    ]
    rows = [students[0].predict(xgb.DMatrix(named)), students[1].predict(dtrain())]
    np.testing.assert_array_equal(*rows)


def test_columns_that_the_student_has_make_no_row_privileged():
    z = Z.copy()
    z.iloc[:7] = np.nan
    keywords = {"allow_overlap": True, "crossfit": 2}
    both = privileged(pd.concat([X, z], axis=1))
    with pytest.warns(UserWarning, match=r"7.*40 rows"):
        found = pi_xgb.train(PARAMS, dtrain(), 3, privileged=both, **keywords)
    result = pi_xgb.train(PARAMS, dtrain(), 3, privileged=both, teacher_weight=np.arange(N) >= 7, **keywords)
    assert found.save_raw() == result.save_raw()


def test_a_joint_teacher_is_held_to_the_rows_and_weights_of_dtrain():
    weighted = pi_xgb.JointTeacher(privileged(weight=np.full(N, 2.0)), PARAMS)
    with pytest.raises(ValueError, match="weights of privileged differ"):
        pi_xgb.train(PARAMS, dtrain(), 2, teacher=weighted)


def test_objectives_that_no_teacher_guides_stay_xgboosts_where_nobody_counts():
    assert "binary:hinge" not in LOSSES
    params = {"objective": "binary:hinge", "nthread": 1}
    ours = pi_xgb.train(params, dtrain(), 2, privileged=privileged(), kl_weight=0)
    assert ours.save_raw() == xgb.train(params, dtrain(), 2).save_raw()


def test_a_frozen_estimator_must_see_the_columns_that_it_was_fitted_on():
    teacher = FrozenEstimator(LogisticRegression().fit(Z[["z0"]], Y))
    for keywords, seen in (
        ({"privileged": Z_MATRIX}, 4),
        ({"privileged": Z_MATRIX, "teacher_sees": "privileged"}, 2),
        ({}, 2),
    ):
        with pytest.raises(ValueError, match=f"teacher_sees .* the 1 columns .*would see {seen}"):
            read(teacher=teacher, **keywords)
    fitted = PrivilegedXGBClassifier(n_estimators=2, n_jobs=1, teacher=teacher)
    with pytest.raises(ValueError, match=r"teacher_sees .* the 1 columns .*would see 3"):
        fitted.fit(X, Y, privileged=Z[["z0"]])
    fitted.set_params(teacher_sees="privileged").fit(X, Y, privileged=Z[["z0"]])


@pytest.mark.parametrize("teacher", ["forest", "linear", "mixed", LogisticRegression()])
@pytest.mark.parametrize("quantised", ["dtrain", "privileged"])
def test_quantiles_are_no_values_to_put_side_by_side(teacher, quantised):
    made = {"dtrain": xgb.DMatrix, "privileged": xgb.DMatrix} | {quantised: xgb.QuantileDMatrix}
    student = made["dtrain"](X, Y)
    keywords = {"privileged": made["privileged"](Z, Y), "teacher_sees": "all", "verbose_eval": False}
    with pytest.raises(TypeError, match=r"teacher='\w+' requires .*values.*QuantileDMatrix.*build a DMatrix"):
        pi_xgb.train(PARAMS, student, 1, teacher=teacher, **keywords)
    # Boosting has the same quantiles in any case.
    assert pi_xgb.train(PARAMS, student, 1, teacher="boosted", **keywords).num_features() == 2


def test_the_model_names_constraints():
    parity, fairness = DemographicParity(np.arange(N) % 2), IndividualFairness(features=Z, k=2)
    teachers = [("boosted", 1.0), (parity, 2.0), (fairness, 1.0)]
    booster = pi_xgb.train(PARAMS, dtrain(), 1, privileged=Z_MATRIX, teacher=teachers)
    assert booster.attr("pi_xgb_teacher") == "boosted,DemographicParity,IndividualFairness(k=2)"

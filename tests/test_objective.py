"""KLObjective in XGBoost's own functions: against the formulas, against XGBoost, in cv and in its estimators."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from helpers_joint import (
    N_CLASSES,
    OBJECTIVES,
    assert_same_model,
    assert_same_splits,
    base_score_of,
    formula_gradient,
    kbpib_loop,
    mean_of,
    problem,
    start_at,
)
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

import pi_xgb
from pi_xgb import KLObjective, ModelTeacher, Teacher, attach_teacher

every_objective = pytest.mark.parametrize("objective", OBJECTIVES)
every_tree_method = pytest.mark.parametrize("tree_method", ["hist", "approx", "exact"])
with_and_without_weights = pytest.mark.parametrize("weighted", [False, True])


def margins(booster: xgb.Booster, dmatrix: xgb.DMatrix) -> np.ndarray:
    return booster.predict(dmatrix, output_margin=True)


# --- in xgboost.train ------------------------------------------------------------------------------------------


@every_objective
@every_tree_method
@with_and_without_weights
def test_training_is_that_of_the_papers_formula(objective, tree_method, weighted):
    case, a = problem(objective), 0.8
    params, dtrain = case.params(tree_method=tree_method), case.dtrain(weighted=weighted)
    weight = case.weight if weighted else None

    def written_out(margin: np.ndarray, matrix: xgb.DMatrix) -> tuple[np.ndarray, np.ndarray]:
        return formula_gradient(objective, margin, case.y, case.q, a, weight)

    ours = xgb.train(params, dtrain, 5, obj=KLObjective(case.q, kl_weight=a, objective=objective))
    theirs = xgb.train(params, dtrain, 5, obj=written_out)
    # w [(p - y) + a (p - q)] and w (1 + a) p (1 - p), written out in float64, grow the same trees.
    assert_same_splits(ours, theirs)
    np.testing.assert_allclose(margins(ours, dtrain), margins(theirs, dtrain), atol=1e-5)


@every_objective
@every_tree_method
@with_and_without_weights
def test_weight_zero_is_xgboost(objective, tree_method, weighted):
    case = problem(objective)
    params, dtrain = case.params(tree_method=tree_method), case.dtrain(weighted=weighted)
    plain = xgb.train(params, dtrain, 8)
    params["base_score"] = base_score_of(plain)
    ours = xgb.train(params, dtrain, 8, obj=KLObjective(case.q, kl_weight=0, objective=objective))
    # With the intercept set, a teacher that counts nothing leaves XGBoost's own trees.
    assert_same_splits(ours, plain)
    np.testing.assert_allclose(margins(ours, dtrain), margins(plain, dtrain), atol=1e-6)


@every_tree_method
@with_and_without_weights
@pytest.mark.parametrize("objective", ["binary:logistic", "reg:squarederror"])
def test_scale_pos_weight_is_applied_as_xgboost_applies_it(objective, tree_method, weighted):
    case = problem("binary:logistic")  # labels of 0 and 1, which squared error scales as well
    params = case.params(tree_method=tree_method, objective=objective, scale_pos_weight=3.0)
    dtrain = case.dtrain(weighted=weighted)
    plain = xgb.train(params, dtrain, 6)
    params["base_score"] = base_score_of(plain)
    obj = KLObjective(case.q, kl_weight=0, objective=objective, scale_pos_weight=3.0)
    ours = xgb.train(params, dtrain, 6, obj=obj)
    # Rows labelled 1 count three times, as under XGBoost's own objective.
    assert_same_splits(ours, plain)
    np.testing.assert_allclose(margins(ours, dtrain), margins(plain, dtrain), atol=1e-6)
    # In params alone XGBoost would ignore it without a word.
    without = KLObjective(case.q, kl_weight=0, objective=objective)
    with pytest.raises(ValueError, match=r"is 3, which XGBoost ignores.*has 1: pass KLObjective\(\.\.\., scale_pos_w"):
        xgb.train(params, dtrain, 6, obj=without)
    # It does make a difference.
    del params["scale_pos_weight"]
    without = xgb.train(params, dtrain, 6, obj=without)
    assert np.abs(margins(without, dtrain) - margins(plain, dtrain)).max() > 0.1


def test_scale_pos_weight_multiplies_the_teachers_pull_as_well():
    case = problem("binary:logistic")
    dtrain, params = case.dtrain(weighted=True), case.params(base_score=0.5)
    obj = KLObjective(case.q, kl_weight=1.5, scale_pos_weight=3.0)
    folded = case.weight * np.where(case.y == 1, np.float32(3), np.float32(1))
    # A row that counts three times counts three times in all it says.
    assert_same_model(
        xgb.train(params, dtrain, 5, obj=obj), kbpib_loop(params, dtrain, 5, [(case.q, 1.5)], weight=folded)
    )


# XGBoost warns that scale_pos_weight is not used for classes.
@pytest.mark.parametrize(
    ("objective", "scale"), [*((name, 1.0) for name in OBJECTIVES), ("binary:logistic", 3.0), ("reg:squarederror", 3.0)]
)
@with_and_without_weights
def test_a_vanishing_weight_starts_where_xgboost_starts(objective, weighted, scale):
    case = problem(objective)
    params, dtrain = case.params(), case.dtrain(weighted=weighted)
    if scale != 1:
        params["scale_pos_weight"] = scale
    plain = xgb.train(params, dtrain, 4)
    ours = pi_xgb.train(params, dtrain, 4, teacher=case.q, kl_weight=1e-12)
    # The intercept that the library estimates is the one that XGBoost estimates: nothing jumps between
    # kl_weight = 0, which is XGBoost itself, and the smallest weight that is not.
    np.testing.assert_allclose(base_score_of(ours), base_score_of(plain), atol=5e-7)
    np.testing.assert_allclose(margins(ours, dtrain), margins(plain, dtrain), atol=2e-6)


@every_objective
def test_the_intercept_is_the_mean_of_the_blended_target(objective):
    case, a = problem(objective), 2.0
    dtrain = case.dtrain(weighted=True)
    ours = pi_xgb.train(case.params(eta=0.0), dtrain, 1, teacher=case.q, kl_weight=a)
    y = np.eye(N_CLASSES)[case.y.astype(int)] if objective.startswith("multi") else case.y.astype(np.float64)
    expected = start_at(objective, np.average((y + a * case.q) / (1 + a), axis=0, weights=case.weight))
    # A model that has learned nothing yet predicts, for every row, the weighted mean of what it is taught.
    predicted = mean_of(objective, margins(ours, dtrain))
    np.testing.assert_allclose(predicted, np.broadcast_to(expected, predicted.shape), rtol=1e-5)


@every_objective
@with_and_without_weights
@pytest.mark.parametrize("attached", [False, True])
def test_its_base_score_gives_the_model_of_train(objective, weighted, attached):
    case, labelled = problem(objective), np.arange(200) % 3 == 0
    params, dtrain = case.params(), case.dtrain(weighted=weighted)
    ours = pi_xgb.train(params, dtrain, 4, teacher=case.q, kl_weight=2.0, labelled=labelled)
    if attached and case.q.min() < 0:
        pytest.skip("a matrix has no room for these q where rows have no label")
    if attached:
        attach_teacher(dtrain, case.q, labelled=labelled)
        objective_of_rows = KLObjective(kl_weight=2.0)
    else:
        objective_of_rows = KLObjective(case.q, kl_weight=2.0, labelled=labelled)
    start = objective_of_rows.base_score(params, dtrain)
    assert "base_score" not in params
    theirs = xgb.train(params | {"base_score": start}, dtrain, 4, obj=objective_of_rows)
    # The matrix keeps q as a margin, which rounds it.
    np.testing.assert_allclose(margins(theirs, dtrain), margins(ours, dtrain), atol=1e-5 if attached else 0)


def test_base_score_of_what_does_not_fit_is_an_error():
    case = problem("binary:logistic")
    params, dtrain = case.params(), case.dtrain()
    scaled = KLObjective(case.q, scale_pos_weight=3.0)
    train = pi_xgb.train(params | {"scale_pos_weight": 3.0}, dtrain, 1, teacher=case.q)
    assert scaled.base_score(params, dtrain) == pytest.approx(base_score_of(train), abs=1e-6)
    for wrong, params_of_it, match in [
        (KLObjective(case.q, objective="reg:squarederror"), params, "reg:squarederror.*binary:logistic"),
        (KLObjective(case.q), params | {"scale_pos_weight": 3.0}, "scale_pos_weight.*3.*1"),
        (KLObjective(case.q, labelled=np.ones(200)[:9] == 0), params, "labelled.*9.*200"),
        (KLObjective(case.q[:9]), params, "9.*200"),
        (KLObjective(case.q), {"objective": "reg:absoluteerror"}, "reg:absoluteerror"),
    ]:
        with pytest.raises(ValueError, match=match):
            wrong.base_score(params_of_it, dtrain)
    with pytest.raises(TypeError, match=r"dtrain.*DMatrix.*ndarray"):
        scaled.base_score(params, case.q)


@every_objective
def test_a_second_training_gives_the_same_model(objective):
    case = problem(objective)
    params, dtrain = case.params(subsample=0.7), case.dtrain(weighted=True)
    obj = KLObjective(case.q, kl_weight=2.0, objective=objective)
    first = xgb.train(params, dtrain, 4, obj=obj)
    # An objective keeps nothing of one training for the next.
    assert_same_model(xgb.train(params, dtrain, 4, obj=obj), first)


@every_objective
def test_copies_train_the_same_model(objective):
    case = problem(objective)
    params, dtrain = case.params(), case.dtrain(weighted=True)
    obj = KLObjective([(case.q, 2.0), (case.q[::-1].copy(), 0.5)], objective=objective, scale_pos_weight=2.0)
    expected = xgb.train(params, dtrain, 4, obj=obj)
    for duplicate in (pickle.loads(pickle.dumps(obj)), copy.deepcopy(obj)):
        # A pickled copy, taken from an objective in use, is the objective.
        assert_same_model(xgb.train(params, dtrain, 4, obj=duplicate), expected)


def test_the_users_q_is_copied():
    case = problem("binary:logistic")
    dtrain, q = case.dtrain(), case.q.copy()
    obj = KLObjective(q, kl_weight=2.0)
    expected = xgb.train(case.params(), dtrain, 3, obj=obj)
    q[:] = 0
    # What the user does to the array afterwards does not reach the objective.
    assert_same_model(xgb.train(case.params(), dtrain, 3, obj=obj), expected)


@pytest.mark.parametrize("kind", ["list", "float64", "series", "readonly"])
def test_q_comes_in_many_forms(kind):
    import pandas as pd

    case = problem("binary:logistic")
    q: Any = {"list": case.q.tolist(), "float64": case.q.astype(float), "series": pd.Series(case.q)}.get(kind)
    if q is None:
        q = case.q.copy()
        q.flags.writeable = False
    expected = xgb.train(case.params(), case.dtrain(), 3, obj=KLObjective(case.q))
    # A list, float64, a Series and a read-only array all mean the same q.
    assert_same_model(xgb.train(case.params(), case.dtrain(), 3, obj=KLObjective(q)), expected)


# --- several teachers, and teachers of one's own ---------------------------------------------------------------


@every_objective
def test_several_teachers_pull_together(objective):
    case = problem(objective)
    dtrain, params = case.dtrain(weighted=True), case.params()
    other = np.roll(case.q, 7, axis=0)
    pairs = [(case.q, 0.5), (other, 2.0), (np.roll(case.q, 3, axis=0), 0.0)]
    ours = xgb.train(params, dtrain, 5, obj=KLObjective(pairs, objective=objective))
    # (p - y) + sum_k a_k (p - q_k): each teacher counts as its weight says, one of weight 0 not at all.
    assert_same_model(ours, kbpib_loop(params, dtrain, 5, pairs[:2], weight=case.weight))
    together = (np.float32(0.5) * case.q + np.float32(2) * other) / np.float32(2.5)
    alone = xgb.train(params, dtrain, 5, obj=KLObjective(together, kl_weight=2.5, objective=objective))
    # Two teachers are one teacher who says their weighted mean.
    assert_same_splits(ours, alone)
    np.testing.assert_allclose(margins(ours, dtrain), margins(alone, dtrain), atol=1e-5)


class Recorder(Teacher):
    """Pulls half of the way to a fixed q, and remembers what it was shown."""

    hessian = "full"

    def __init__(self, q: np.ndarray) -> None:
        self.seen: list[tuple[np.ndarray, np.ndarray, np.ndarray | None]] = []
        self.starts: list[tuple[int, float]] = []
        self._q = q

    def start(self, training: Any) -> None:
        self.starts.append((training.student.num_boosted_rounds(), training.kl_weight))

    def q(self, mean: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        self.seen.append((mean.copy(), label.copy(), None if weight is None else weight.copy()))
        return (mean + self._q) / 2


@every_objective
@with_and_without_weights
def test_a_teacher_of_ones_own_sees_the_student_in_every_round(objective, weighted):
    case, teacher = problem(objective), Recorder(problem(objective).q)
    params, dtrain = case.params(), case.dtrain(weighted=weighted)
    weight = case.weight if weighted else None
    obj = KLObjective(teacher, kl_weight=1.5, objective=objective)
    ours = xgb.train(params, dtrain, 4, obj=obj)

    student, means = xgb.Booster(params, [dtrain]), []
    for i in range(4):
        before = student.predict(dtrain, output_margin=True, training=True)
        means.append(mean_of(objective, before))
        grad, hess = formula_gradient(objective, before, case.y, (means[-1] + case.q) / 2, 1.5, weight)
        student.boost(dtrain, i, grad=grad, hess=hess)
    # Its q is asked for once a round, from the mean that the student has then, and used in that round.
    assert_same_splits(ours, student)
    np.testing.assert_allclose(margins(ours, dtrain), margins(student, dtrain), atol=1e-5)
    assert len(teacher.seen) == 4
    for (mean, label, row_weight), expected in zip(teacher.seen, means, strict=True):
        np.testing.assert_allclose(mean, expected, atol=1e-6)
        np.testing.assert_array_equal(label, case.y)
        assert (row_weight is None) == (weight is None)
        assert weight is None or np.array_equal(row_weight, weight)
    # It is told of the training once, and of the next one again.
    assert teacher.starts == [(0, 1.5)]
    xgb.train(params, dtrain, 2, obj=obj, xgb_model=ours)
    assert teacher.starts == [(0, 1.5), (4, 1.5)]


def test_a_teacher_that_never_changes_counts_in_the_intercept():
    class Pessimist(Teacher):
        is_adaptive = False

        def q(self, mean, label, weight):
            return np.full(len(label), 0.1, np.float32)

    case = problem("binary:logistic")
    booster = pi_xgb.train(case.params(), case.dtrain(), 2, teacher=Pessimist(), kl_weight=1.0)
    # is_adaptive = False says that q is known before the training, so the student starts at the blend.
    assert base_score_of(booster) == pytest.approx((case.y.mean() + 0.1) / 2, abs=1e-6)
    # One that follows the student begins where the student begins and leaves the mean of the labels.
    follower = pi_xgb.train(case.params(), case.dtrain(), 2, teacher=Recorder(case.q), kl_weight=1.0)
    assert base_score_of(follower) == pytest.approx(case.y.mean(), abs=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_teacher_of_ones_own_that_says_nan_is_an_error(bad):
    class Broken(Teacher):
        def q(self, mean, label, weight):
            return np.where(np.arange(len(mean)) == 3, np.float32(bad), mean)

    case = problem("binary:logistic")
    # XGBoost would train on NaN gradients without a word.
    with pytest.raises(ValueError, match="Broken"):
        xgb.train(case.params(), case.dtrain(), 2, obj=KLObjective(Broken()))


def test_a_teacher_of_ones_own_with_the_wrong_shape_is_an_error():
    class Short(Teacher):
        def q(self, mean, label, weight):
            return mean[:-1]

    case = problem("binary:logistic")
    with pytest.raises(ValueError, match=r"q .*Short.*shape \(199,\).*\(200,\)"):
        xgb.train(case.params(), case.dtrain(), 2, obj=KLObjective(Short()))

    class OfBoth(Teacher):
        def q(self, mean, label, weight):
            return np.column_stack([1 - mean, mean])

    with pytest.raises(ValueError, match=r"OfBoth.*\(200, 2\)"):
        xgb.train(case.params(), case.dtrain(), 2, obj=KLObjective(OfBoth()))


def test_a_teacher_without_q_says_so():
    class Empty(Teacher):
        pass

    case = problem("binary:logistic")
    with pytest.raises(NotImplementedError, match="Empty needs a method q"):
        xgb.train(case.params(), case.dtrain(), 2, obj=KLObjective(Empty()))


def test_model_teacher_reads_a_model_once():
    case = problem("binary:logistic")
    expert = LogisticRegression().fit(case.z, case.y)
    teacher = ModelTeacher(expert, case.z)
    # Of two columns of probabilities, q is that of label 1.
    np.testing.assert_array_equal(teacher.values, expert.predict_proba(case.z)[:, 1].astype(np.float32))
    expected = xgb.train(case.params(), case.dtrain(), 4, obj=KLObjective(teacher.values, kl_weight=1.0))
    assert_same_model(xgb.train(case.params(), case.dtrain(), 4, obj=KLObjective(teacher, kl_weight=1.0)), expected)
    expert.coef_[:] = 0
    # What becomes of the model later does not matter.
    assert_same_model(xgb.train(case.params(), case.dtrain(), 4, obj=KLObjective(teacher, kl_weight=1.0)), expected)


def test_model_teacher_takes_classes_and_callables():
    case = problem("multi:softprob")
    expert = LogisticRegression(max_iter=500).fit(case.z, case.y)
    # For classes q has a column each.
    assert ModelTeacher(expert, case.z).values.shape == (200, N_CLASSES)
    regression = problem("reg:squarederror")
    rule = ModelTeacher(lambda z: 10 * z.iloc[:, 0], regression.z, probabilities=False)
    # For regression any number will do, from any function.
    np.testing.assert_array_equal(rule.values, (10 * regression.z.iloc[:, 0]).astype(np.float32))
    with pytest.raises(ValueError, match=r"q .*function.*\[0, 1\]"):
        ModelTeacher(lambda z: 10 * z.iloc[:, 0], regression.z)
    with pytest.raises(TypeError, match=r"predict_proba.*callable"):
        ModelTeacher("the doctor", case.z)
    with pytest.raises(TypeError, match="model must give probabilities, got predict of LogisticRegression"):
        ModelTeacher(expert.predict, case.z)


# --- errors of the objective itself ----------------------------------------------------------------------------


def test_what_cannot_teach_is_an_error_when_the_objective_is_made():
    case = problem("binary:logistic")
    with pytest.raises(TypeError, match=r"pi_xgb\.ModelTeacher"):
        KLObjective(lambda z: z)
    with pytest.raises(TypeError, match=r"pi_xgb\.ModelTeacher"):
        KLObjective(LogisticRegression())
    with pytest.raises(TypeError, match="got a DMatrix"):
        KLObjective(case.dprivileged())
    with pytest.raises(ValueError, match="has its own weights"):
        KLObjective([(case.q, 1.0)], kl_weight=2.0)
    with pytest.raises(ValueError, match=r"weight.*teacher.*list"):
        KLObjective([(case.q, -1.0)])
    with pytest.raises(ValueError, match="can guide the objectives binary:logistic"):
        KLObjective(case.q, objective="rank:ndcg")
    with pytest.raises(ValueError, match="scale_pos_weight must be finite"):
        KLObjective(case.q, scale_pos_weight=-1.0)


@pytest.mark.parametrize("label", [-0.5, 1.5])
def test_labels_that_no_loss_can_take_are_an_error(label):
    case = problem("binary:logistic")
    y = case.y.copy()
    y[5] = label
    dtrain = xgb.DMatrix(case.x)
    dtrain.set_float_info("label", y)
    # Under a custom objective XGBoost checks no label.
    with pytest.raises(ValueError, match=r"labels.*\[0, 1\]"):
        xgb.train(case.params(), dtrain, 2, obj=KLObjective(case.q))


def test_soft_labels_are_labels():
    case = problem("binary:logistic")
    dtrain = xgb.DMatrix(case.x, (case.y + case.q) / 2)
    obj = KLObjective(case.q, kl_weight=1.0)
    # XGBoost takes labels between 0 and 1, and so does the objective.
    assert_same_model(
        xgb.train(case.params(), dtrain, 3, obj=obj), kbpib_loop(case.params(), dtrain, 3, [(case.q, 1.0)])
    )


def test_a_teacher_of_other_rows_is_an_error():
    case = problem("binary:logistic")
    with pytest.raises(ValueError, match=r"shape \(199,\).*\(200,\)"):
        xgb.train(case.params(), case.dtrain(), 2, obj=KLObjective(case.q[:-1]))
    multi = problem("multi:softprob")
    with pytest.raises(ValueError, match=r"shape \(200,\).*\(200, 3\)"):
        xgb.train(multi.params(), multi.dtrain(), 2, obj=KLObjective(case.q))


def test_an_objective_that_does_not_fit_the_params_is_an_error():
    case, multi = problem("binary:logistic"), problem("multi:softprob")
    with pytest.raises(ValueError, match=r"has objective='binary:logistic', .* trains 'multi:softprob'"):
        xgb.train(multi.params(), multi.dtrain(), 2, obj=KLObjective(multi.q, objective="binary:logistic"))
    with pytest.raises(ValueError, match=r"has objective='multi:softprob', .* trains 'binary:logistic'"):
        xgb.train(case.params(), case.dtrain(), 2, obj=KLObjective(case.q, objective="multi:softprob"))
    # Where no Booster asks, the shape of the margins still tells.
    with pytest.raises(ValueError, match="must name the objective in params"):
        KLObjective(case.q, objective="multi:softprob")(np.zeros(200, np.float32), case.dtrain())
    with pytest.raises(ValueError, match="must name the objective in params"):
        KLObjective(multi.q, objective="binary:logistic")(np.zeros((200, 3), np.float32), multi.dtrain())


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_loss_is_that_of_the_booster_that_asks(objective):
    # Nothing but the Booster says which one it is.
    case = problem(objective)
    params = case.params(base_score=0.5)
    named, unnamed = KLObjective(case.q, 1.5, objective=objective), KLObjective(case.q, 1.5)
    assert_same_model(*(xgb.train(params, case.dtrain(), 4, obj=obj) for obj in (named, unnamed)))


def test_no_other_loss_is_trained_than_the_one_that_params_name():
    case = problem("binary:logistic")
    # The labels are 0 and 1, but squared error was asked for, by name or by no name at all.
    expected = xgb.train(
        {"objective": "reg:squarederror"}, case.dtrain(), 3, obj=lambda f, d: (f - d.get_label(), f**0)
    )
    for params in ({"objective": "reg:squarederror"}, {}):
        trained = xgb.train(params, case.dtrain(), 3, obj=KLObjective(case.q, 0.0))
        np.testing.assert_array_equal(trained.predict(case.dtrain()), expected.predict(case.dtrain()))
        with pytest.raises(ValueError, match=r"trains 'reg:squarederror': set params\['objective'\]"):
            xgb.train(params, case.dtrain(), 3, obj=KLObjective(case.q, objective="binary:logistic"))
    with pytest.raises(ValueError, match=r"objectives.*'binary:hinge'"):
        xgb.train({"objective": "binary:hinge"}, case.dtrain(), 3, obj=KLObjective(case.q))
    with pytest.raises(ValueError, match="no Booster calls"):
        KLObjective(case.q)(np.zeros(200, np.float32), case.dtrain())


def test_one_objective_serves_boosters_of_several_losses():
    case = problem("binary:logistic")
    obj = KLObjective(case.q, 1.0)
    for objective in ("binary:logistic", "count:poisson", "reg:tweedie", "binary:logistic"):
        params = case.params(objective=objective, base_score=0.5)
        fresh = KLObjective(case.q, 1.0, objective=objective)
        assert_same_model(xgb.train(params, case.dtrain(), 3, obj=obj), xgb.train(params, case.dtrain(), 3, obj=fresh))
    # q is held to the range of the loss that turns up.
    with pytest.raises(ValueError, match="must be above 0"):
        xgb.train({"objective": "reg:gamma"}, xgb.DMatrix(case.x, case.y + 1), 2, obj=KLObjective(case.q * 0 - 1))


@pytest.mark.parametrize(
    "named",
    [
        {"objective": "count:poisson", "max_delta_step": 0.1},
        {"objective": "reg:tweedie", "tweedie_variance_power": 1.2},
    ],
    ids=lambda named: named["objective"],
)
def test_params_of_the_booster_reach_the_gradient(named):
    case = problem("count:poisson")
    params = case.params(**named, base_score=1.0)
    plain = xgb.train(params, case.dtrain(), 5)
    called = xgb.train(params, case.dtrain(), 5, obj=KLObjective(case.q, 0.0))
    np.testing.assert_allclose(called.predict(case.dtrain()), plain.predict(case.dtrain()), rtol=1e-5)


# --- in XGBoost's estimators -----------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", ["binary:logistic", "multi:softprob"])
@with_and_without_weights
def test_classifier_trains_what_train_trains(objective, weighted):
    case = problem(objective)
    obj = KLObjective(case.q, kl_weight=1.5)
    expected = xgb.train(case.params(), case.dtrain(weighted=weighted), 5, obj=obj)
    settings = {k: v for k, v in case.params().items() if k not in ("objective", "num_class", "seed")}
    model = xgb.XGBClassifier(n_estimators=5, objective=obj.sklearn, random_state=3, **settings)
    weight = case.weight if weighted else None
    fitted = model.fit(case.x, case.y.astype(int), sample_weight=weight)
    # The estimator hands labels, margins and weights in an order of its own; the model is that of xgboost.train.
    assert_same_model(fitted.get_booster(), expected)
    proba = fitted.predict_proba(case.x)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-6)
    # A clone and a pickled copy, which carry the objective along, train it again.
    for duplicate in (clone(model), pickle.loads(pickle.dumps(model))):
        again = duplicate.fit(case.x, case.y.astype(int), sample_weight=weight)
        assert_same_model(again.get_booster(), expected)
        np.testing.assert_array_equal(again.predict_proba(case.x), proba)


@with_and_without_weights
def test_regressor_trains_what_train_trains(weighted):
    case = problem("reg:squarederror")
    obj = KLObjective(case.q, kl_weight=1.5, objective="reg:squarederror")
    expected = xgb.train(case.params(base_score=0.5), case.dtrain(weighted=weighted), 5, obj=obj)
    settings = {k: v for k, v in case.params().items() if k not in ("objective", "seed")}
    model = xgb.XGBRegressor(n_estimators=5, objective=obj.sklearn, random_state=3, base_score=0.5, **settings)
    model.fit(case.x, case.y, sample_weight=case.weight if weighted else None)
    assert_same_model(model.get_booster(), expected)
    np.testing.assert_array_equal(model.predict(case.x), expected.predict(case.dtrain()))


def test_a_message_about_the_objective_can_be_followed_from_an_estimator():
    case = problem("binary:logistic")
    keywords = {"n_estimators": 2, "objective": KLObjective(case.q, objective="binary:logistic").sklearn}
    with pytest.raises(
        ValueError, match=r"XGBRegressor trains reg:squarederror and XGBClassifier its.*to PrivilegedXGBRegressor"
    ):
        xgb.XGBRegressor(**keywords).fit(case.x, case.y)
    xgb.XGBClassifier(**keywords).fit(case.x, case.y.astype(int))


def test_an_estimator_cannot_bring_an_attached_teacher():
    case = problem("binary:logistic")
    model = xgb.XGBClassifier(n_estimators=2, objective=KLObjective(kl_weight=1.0).sklearn)
    # XGBoost's estimators hand over no DMatrix, so there is nothing to read q from.
    with pytest.raises(ValueError, match=r"use KLObjective\("):
        model.fit(case.x, case.y.astype(int))


# --- q that travels with the rows ------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_attached_q_is_the_q_of_an_array(objective):
    case = problem(objective)
    dtrain = case.dtrain(weighted=True)
    expected = xgb.train(case.params(), dtrain, 4, obj=KLObjective(case.q, kl_weight=2.0, objective=objective))
    # Nothing but the two free fields is touched, and the matrix itself comes back.
    assert attach_teacher(dtrain, case.q) is dtrain
    np.testing.assert_array_equal(dtrain.get_label(), case.y)
    np.testing.assert_array_equal(dtrain.get_weight(), case.weight)
    ours = xgb.train(case.params(), dtrain, 4, obj=KLObjective(kl_weight=2.0, objective=objective))
    # For classes the last column is what is missing to 1, which costs the last bit.
    assert_same_splits(ours, expected)
    np.testing.assert_allclose(margins(ours, dtrain), margins(expected, dtrain), atol=1e-5)


@pytest.mark.parametrize("objective", ["binary:logistic", "multi:softprob", "reg:squarederror"])
def test_xgboost_cv_is_a_loop_over_folds(objective):
    case, rounds = problem(objective, n_rows=210), 4
    metric = {"binary:logistic": "logloss", "multi:softprob": "mlogloss", "reg:squarederror": "rmse"}[objective]
    params = case.params(eval_metric=metric)
    folds = list(KFold(3, shuffle=True, random_state=5).split(case.x))
    obj = KLObjective(kl_weight=3.0, objective=objective)
    dtrain = attach_teacher(case.dtrain(weighted=True), case.q)
    history = xgb.cv(params, dtrain, rounds, folds=folds, obj=obj)

    scores = []
    for rest, held_out in folds:
        part = xgb.DMatrix(case.x.iloc[rest], case.y[rest], weight=case.weight[rest])
        test = xgb.DMatrix(case.x.iloc[held_out], case.y[held_out], weight=case.weight[held_out])
        result: dict[str, Any] = {}
        xgb.train(
            params,
            part,
            rounds,
            obj=KLObjective(case.q[rest], kl_weight=3.0, objective=objective),
            evals=[(part, "train"), (test, "test")],
            evals_result=result,
            verbose_eval=False,
        )
        scores.append((result["train"][metric], result["test"][metric]))
    # xgboost.cv hands over slices without row numbers; with q attached, each fold is taught by its own rows' q.
    for which, column in enumerate(("train", "test")):
        expected = np.mean([s[which] for s in scores], axis=0)
        np.testing.assert_allclose(history[f"{column}-{metric}-mean"], expected, atol=1e-5)


def test_attached_q_follows_a_slice():
    case = problem("binary:logistic")
    rows = np.random.default_rng(0).permutation(200)[:120]
    part = attach_teacher(case.dtrain(), case.q).slice(rows)
    expected = xgb.train(case.params(), case.dtrain().slice(rows), 4, obj=KLObjective(case.q[rows], kl_weight=2.0))
    assert_same_model(xgb.train(case.params(), part, 4, obj=KLObjective(kl_weight=2.0)), expected)


def test_attached_q_works_on_a_quantile_matrix():
    case = problem("binary:logistic")
    dtrain = attach_teacher(xgb.QuantileDMatrix(case.x, case.y), case.q)
    expected = xgb.train(case.params(), xgb.QuantileDMatrix(case.x, case.y), 4, obj=KLObjective(case.q))
    assert_same_model(xgb.train(case.params(), dtrain, 4, obj=KLObjective()), expected)


def test_two_classes_have_two_columns():
    case = problem("binary:logistic")
    q = np.stack([1 - case.q, case.q], axis=1)
    params = case.params(objective="multi:softprob", num_class=2)
    expected = xgb.train(params, case.dtrain(), 4, obj=KLObjective(q))
    assert_same_splits(xgb.train(params, attach_teacher(case.dtrain(), q), 4, obj=KLObjective()), expected)


def test_attaching_again_replaces_what_was_attached():
    case = problem("binary:logistic")
    dtrain = attach_teacher(case.dtrain(), np.stack([1 - case.q, case.q], axis=1))
    attach_teacher(dtrain, case.q)
    expected = xgb.train(case.params(), case.dtrain(), 3, obj=KLObjective(case.q))
    assert_same_model(xgb.train(case.params(), dtrain, 3, obj=KLObjective()), expected)


def test_q_that_cannot_be_attached():
    binary, multi = problem("binary:logistic"), problem("multi:softprob")
    with pytest.raises(ValueError, match=r"q .*199 rows.*200"):
        attach_teacher(binary.dtrain(), binary.q[1:])
    with pytest.raises(ValueError, match=r"3 classes.*4"):
        attach_teacher(multi.dtrain(), np.full((200, 4), 0.25))
    with pytest.raises(ValueError, match="must sum to 1"):
        attach_teacher(multi.dtrain(), 0.9 * multi.q)
    with pytest.raises(ValueError, match="NaN"):
        attach_teacher(binary.dtrain(), np.full(200, np.nan))
    dtrain = binary.dtrain()
    with pytest.raises(ValueError, match="q has 3 rows"):
        attach_teacher(dtrain, [0.1, 0.2, 0.3])
    # A q that is refused leaves nothing in the matrix.
    assert dtrain.get_float_info("label_lower_bound").size == 0


def test_an_objective_without_any_teacher_is_an_error():
    case = problem("binary:logistic")
    with pytest.raises(ValueError, match="attach_teacher"):
        xgb.train(case.params(), case.dtrain(), 2, obj=KLObjective(kl_weight=1.0))


def test_attached_q_outside_the_unit_interval_is_an_error():
    case = problem("binary:logistic")
    dtrain = attach_teacher(case.dtrain(), 100 * case.q)  # percentages, which regression would take
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]"):
        xgb.train(case.params(), dtrain, 2, obj=KLObjective())


@pytest.mark.parametrize(("attached", "used"), [(1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2)])
def test_attached_q_of_another_number_of_classes_is_an_error(attached, used):
    n = 200
    q = np.full(n, 0.8) if attached == 1 else np.full((n, attached), 1 / attached)
    x = problem("binary:logistic").x
    dtrain = attach_teacher(xgb.DMatrix(x, np.arange(n) % max(used, 2)), q)
    params: dict[str, Any] = {"objective": "binary:logistic"}
    if used > 1:
        params = {"objective": "multi:softprob", "num_class": used}
    # The first column of two is the probability of class 0: as q of binary:logistic it would teach the opposite.
    with pytest.raises(ValueError, match="class"):
        xgb.train(params, dtrain, 2, obj=KLObjective())


# --- what is said of rows --------------------------------------------------------------------------------------


def test_what_is_said_of_rows_goes_with_a_teacher():
    case = problem("binary:logistic")
    for keywords in ({"labelled": case.y > 0}, {"teacher_weight": case.weight}):
        with pytest.raises(ValueError, match=r"labelled.*teacher_weight.*teacher"):
            KLObjective(**keywords)


def test_a_named_objective_has_q_checked_at_once():
    with pytest.raises(ValueError, match=r"q .*teacher.*\[0, 1\]"):
        KLObjective([0.5, 1.5], objective="binary:logistic")
    later = KLObjective(np.full(200, 1.5))  # which amounts may be
    with pytest.raises(ValueError, match=r"the q of .*1\.5.*1\.5"):
        xgb.train(problem("binary:logistic").params(), problem("binary:logistic").dtrain(), 1, obj=later)


def test_who_weighs_nothing_is_not_asked():
    case, silent = problem("binary:logistic"), Recorder(problem("binary:logistic").q)
    xgb.train(case.params(), case.dtrain(), 2, obj=KLObjective([(case.q, 0.25), (silent, 0.0)]))
    assert (silent.seen, silent.starts) == ([], [])
    xgb.train(case.params(), case.dtrain(), 2, obj=KLObjective([(case.q, 0.25), (silent, 0.25)]))
    assert len(silent.seen) == 2

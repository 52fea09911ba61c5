"""KLObjective and teachers of one's own in XGBoost's functions and estimators, against formulas written out."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from helpers_problems import (
    BLENDED,
    CLASSES,
    N_CLASSES,
    TARGETS,
    Problem,
    assert_same_model,
    base_score_of,
    by_objective,
    engines_of,
    gradient_of,
    kbpib_loop,
    mean_of,
    one_hot,
    start_at,
)
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import pi_xgb
from pi_xgb import KLObjective, ModelTeacher, Teacher

A = 1.5


@pytest.mark.parametrize("name", [*BLENDED, *TARGETS])
def test_the_intercept_is_the_mean_of_labels_and_teachers(name):
    rows = Problem(name)
    guided: dict[str, Any] = {"labelled": rows.labelled, "teacher_weight": rows.teacher_weight}
    dtrain, y = rows.dtrain(weighted=True), one_hot(rows.objective, rows.y)
    found = pi_xgb.train(rows.params(eta=0.0), dtrain, 1, teacher=rows.q, kl_weight=A, **guided)
    known, a = rows.labelled * rows.weight, A * rows.teacher_weight * rows.weight
    mean = (known @ np.where(known.reshape(-1, *[1] * (y.ndim - 1)) > 0, y, 0) + a @ rows.q) / (known + a).sum()
    predicted = mean_of(rows.objective, rows.margins(found))
    expected = np.broadcast_to(start_at(rows.objective, mean), predicted.shape)
    np.testing.assert_allclose(predicted, expected, rtol=2e-5)


@pytest.mark.parametrize("name", BLENDED)
@pytest.mark.parametrize("scale", [1.0, 3.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_vanishing_weight_starts_where_xgboost_starts(name, scale, weighted):
    rows = Problem(name)
    params = rows.params(verbosity=0, **({} if scale == 1 else {"scale_pos_weight": scale}))  # which some have not
    dtrain = rows.dtrain(weighted=weighted)
    plain = xgb.train(params, dtrain, 1)
    for engine in engines_of(name):
        ours = pi_xgb.train(params, dtrain, 1, teacher=rows.q, kl_weight=1e-12, engine=engine)
        np.testing.assert_allclose(base_score_of(ours), base_score_of(plain), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(rows.margins(ours), rows.margins(plain), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", [*BLENDED, *TARGETS])
def test_base_score_gives_the_model_of_train(name):
    rows = Problem(name)
    params, dtrain = rows.params(), rows.dtrain(weighted=True)
    objective = KLObjective(rows.q, A, labelled=rows.labelled)
    start = objective.base_score(params, dtrain)
    assert "base_score" not in params
    theirs = by_objective(params | {"base_score": start}, dtrain, 4, objective)
    ours = pi_xgb.train(params, dtrain, 4, teacher=rows.q, kl_weight=A, labelled=rows.labelled, engine="callback")
    np.testing.assert_array_equal(rows.margins(theirs), rows.margins(ours))


def test_a_teacher_that_adapts_has_no_part_in_the_intercept():
    rows = Problem("reg:logistic")
    rows.fields["label"][:] = rows.y / 2000  # as small as they are: only the mean of noisy q is clipped
    rows.weight[:] = 1e-4  # whose sum is below 1

    class Pessimist(Teacher):
        def __init__(self, is_adaptive):
            self.is_adaptive = is_adaptive

        def q(self, mean, label, weight):
            return np.full(len(label), 1e-4, np.float32)

    for is_adaptive, expected in ((False, (rows.y.mean() + 1e-4) / 2), (True, rows.y.mean())):
        teacher = Pessimist(is_adaptive)
        booster = pi_xgb.train(rows.params(), rows.dtrain(weighted=True), 2, teacher=teacher, kl_weight=1.0)
        assert base_score_of(booster) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("keywords", "params", "match"),
    [
        ({"objective": "reg:squarederror"}, {}, r"reg:squarederror.*binary:logistic"),
        ({}, {"scale_pos_weight": 3.0}, r"scale_pos_weight.*3.*1"),
        ({"labelled": np.arange(9) > 0}, {}, r"labelled.*9.*160"),
        ({}, {"objective": "reg:absoluteerror"}, "reg:absoluteerror"),
    ],
)
def test_base_score_of_what_does_not_fit_raises(keywords, params, match):
    rows = Problem("binary:logistic")
    with pytest.raises(ValueError, match=match):
        KLObjective(rows.q, **keywords).base_score(rows.params(**params), rows.dtrain())
    with pytest.raises(TypeError, match=r"dtrain.*DMatrix.*ndarray"):
        KLObjective(rows.q).base_score(rows.params(), rows.q)


@pytest.mark.parametrize("name", ["binary:logistic", "multi:softprob", "count:poisson"])
def test_an_objective_keeps_nothing_of_a_training_and_copies_train_the_same(name):
    rows, q = Problem(name), Problem(name).q
    params, dtrain = rows.params(subsample=0.7), rows.dtrain(weighted=True)
    objective = KLObjective([(q, 2.0), (rows.other, 0.5)])
    first = by_objective(params, dtrain, 4, objective)
    q[:] = 0  # the user's array was copied
    for again in (objective, pickle.loads(pickle.dumps(objective)), copy.deepcopy(objective)):
        assert_same_model(by_objective(params, dtrain, 4, again), first)


@pytest.mark.parametrize("name", BLENDED)
def test_the_loss_is_that_of_the_calling_booster(name):
    rows = Problem(name)
    params = rows.params(base_score=rows.start)
    named, unnamed = KLObjective(rows.q, A, objective=name), KLObjective(rows.q, A)
    assert_same_model(*(by_objective(params, rows.dtrain(), 4, objective) for objective in (named, unnamed)))


def test_one_objective_serves_boosters_of_several_losses():
    rows = Problem("binary:logistic")
    objective = KLObjective(rows.q, 1.0)
    for name in ("binary:logistic", "count:poisson", "reg:tweedie", "binary:logistic"):
        params = rows.params(objective=name, base_score=0.5)
        fresh = KLObjective(rows.q, 1.0, objective=name)
        assert_same_model(*(by_objective(params, rows.dtrain(), 3, item) for item in (objective, fresh)))
    gamma = Problem("reg:gamma")
    with pytest.raises(ValueError, match="must be above 0"):  # q is held to the range of the loss that turns up
        by_objective(gamma.params(), gamma.dtrain(), 2, KLObjective(0 * gamma.q - 1))


@pytest.mark.parametrize(
    "params", [{"max_delta_step": 0.1}, {"objective": "reg:tweedie", "tweedie_variance_power": 1.2}]
)
def test_params_of_the_booster_reach_the_gradient(params):
    rows = Problem("count:poisson")
    params = rows.params(base_score=1.0, **params)
    plain = xgb.train(params, rows.dtrain(), 5)
    called = by_objective(params, rows.dtrain(), 5, KLObjective(rows.q, 0.0))
    np.testing.assert_allclose(rows.margins(called), rows.margins(plain), rtol=1e-5, atol=1e-6)


def test_scale_pos_weight_multiplies_label_and_teacher():
    rows = Problem("binary:logistic")
    params, dtrain = rows.params(base_score=0.5), rows.dtrain(weighted=True)
    folded = rows.weight * np.where(rows.y == 1, np.float32(3), np.float32(1))
    ours = by_objective(params, dtrain, 5, KLObjective(rows.q, A, scale_pos_weight=3.0))
    assert_same_model(ours, kbpib_loop(params, rows.dtrain(), rows.y, 5, [(rows.q, A)], weight=folded))
    start = KLObjective(rows.q, A, scale_pos_weight=3.0).base_score(rows.params(), dtrain)
    taught = pi_xgb.train(rows.params(scale_pos_weight=3.0), dtrain, 1, teacher=rows.q, kl_weight=A)
    assert base_score_of(taught) == pytest.approx(start, rel=1e-6)


def test_an_objective_that_does_not_fit_the_booster_raises():
    rows, classes = Problem("binary:logistic"), Problem("multi:softprob")
    with pytest.raises(ValueError, match=r"has objective='binary:logistic', .* trains 'multi:softprob'"):
        by_objective(classes.params(), classes.dtrain(), 2, KLObjective(classes.q, objective="binary:logistic"))
    with pytest.raises(ValueError, match=r"trains 'reg:squarederror': set params\['objective'\]"):
        by_objective({}, rows.dtrain(), 2, KLObjective(rows.q, objective="binary:logistic"))
    with pytest.raises(ValueError, match="must name the objective in params"):
        KLObjective(rows.q, objective="multi:softprob")(np.zeros(rows.n, np.float32), rows.dtrain())
    with pytest.raises(ValueError, match="no Booster calls"):
        KLObjective(rows.q)(np.zeros(rows.n, np.float32), rows.dtrain())


class Recorder(Teacher):
    """Wants the mean half of the way to a fixed q, and records what it gets."""

    hessian = "full"

    def __init__(self, q: np.ndarray) -> None:
        self.seen: list[Any] = []
        self._q = q

    def q(self, mean: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        self.seen.append((mean.copy(), label.copy(), None if weight is None else weight.copy()))
        return (mean + self._q) / 2


@pytest.mark.parametrize("name", [*BLENDED, *TARGETS])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("way", ["train", "objective"])
def test_a_teacher_of_ones_own_gets_the_mean_of_each_round(name, weighted, way):
    rows = Problem(name)
    params, dtrain = rows.params(base_score=rows.start), rows.dtrain(weighted=weighted)
    weight, teacher = rows.weight if weighted else None, Recorder(rows.q)
    if way == "train":
        ours = pi_xgb.train(params, dtrain, 4, teacher=teacher, kl_weight=A)
    else:
        ours = by_objective(params, dtrain, 4, KLObjective(teacher, kl_weight=A))
    student, means = xgb.Booster(params, [dtrain]), []
    for i in range(4):
        margin = student.predict(dtrain, output_margin=True, training=True)
        means.append(mean_of(rows.objective, margin))
        q = (means[-1] + rows.q) / 2
        grad, hess = gradient_of(rows.objective, margin, rows.y, [(q, A)], weight=weight)
        student.boost(dtrain, i, grad=grad, hess=hess)
    assert_same_model(ours, student)
    for (mean, label, row_weight), expected in zip(teacher.seen, means, strict=True):
        np.testing.assert_allclose(mean, expected, rtol=1e-6, atol=1e-6)
        np.testing.assert_array_equal(label, rows.y)
        np.testing.assert_array_equal(row_weight, weight)


@pytest.mark.parametrize("name", ["binary:logistic", TARGETS[0]])
def test_a_teacher_of_ones_own_sees_nan_where_no_label_is_known(name):
    rows = Problem(name)
    teacher, known = Recorder(rows.q), rows.labelled if rows.y.ndim == 1 else rows.labelled[:, None]
    pi_xgb.train(rows.params(), rows.dtrain(), 1, teacher=teacher, kl_weight=A, labelled=rows.labelled)
    np.testing.assert_array_equal(teacher.seen[-1][1], np.where(known, rows.y, np.float32(np.nan)))


def test_a_teacher_of_weight_0_is_not_called():
    rows = Problem("binary:logistic")
    silent = Recorder(rows.q)
    pi_xgb.train(rows.params(), rows.dtrain(), 2, teacher=[(rows.q, 0.25), (silent, 0.0)])
    by_objective(rows.params(), rows.dtrain(), 2, KLObjective([(rows.q, 0.25), (silent, 0.0)]))
    assert silent.seen == []


@pytest.mark.parametrize("box", [list, tuple, np.float64])
def test_q_of_a_teacher_may_be_any_container(box):
    rows = Problem("binary:logistic")

    class Boxed(Teacher):
        def q(self, mean, label, weight):
            return box(rows.q)

    class Array(Teacher):
        def q(self, mean, label, weight):
            return rows.q

    models = [pi_xgb.train(rows.params(), rows.dtrain(), 3, teacher=item()) for item in (Boxed, Array)]
    assert models[0].get_dump() == models[1].get_dump()


def test_q_of_a_teacher_has_the_shape_of_the_mean():
    rows = Problem("binary:logistic")
    for wrong, message in (
        (lambda mean: mean[:-1], r"\(159,\).*\(160,\): compute it"),
        (lambda mean: mean[:, None], r"\(160, 1\).*: take the column"),
        (lambda mean: mean[1:, None], r"\(159, 1\).*: compute it"),
    ):

        class Odd(Teacher):
            def q(self, mean, label, weight, wrong=wrong):
                return wrong(mean)

        with pytest.raises(ValueError, match=rf"q .*Odd.*{message}"):
            pi_xgb.train(rows.params(), rows.dtrain(), 2, teacher=Odd())


def test_model_teacher_reads_a_model_once():
    rows, classes = Problem("binary:logistic"), Problem("multi:softprob")
    expert = LogisticRegression().fit(rows.z, rows.y)
    teacher = ModelTeacher(expert, rows.z)
    np.testing.assert_array_equal(teacher.values, expert.predict_proba(rows.z)[:, 1].astype(np.float32))
    expected = pi_xgb.train(rows.params(), rows.dtrain(), 4, teacher=teacher.values, kl_weight=1.0)
    expert.coef_[:] = 0
    assert_same_model(pi_xgb.train(rows.params(), rows.dtrain(), 4, teacher=teacher, kl_weight=1.0), expected)
    of_classes = LogisticRegression(max_iter=500).fit(classes.z, classes.y)
    assert ModelTeacher(of_classes, classes.z).values.shape == (classes.n, N_CLASSES)
    assert (ModelTeacher(Model([1, 0]).chance, rows.z).values == 0.5).all()
    rule = ModelTeacher(lambda z: 10 * z[:, 0], rows.z, probabilities=False)
    np.testing.assert_array_equal(rule.values, 10 * rows.z[:, 0])
    assert [one.about.kind for one in (teacher, rule)] == ["LogisticRegression", "model"]
    with pytest.raises(ValueError, match="read-only"):
        rule.values[0] = 1


class Model:
    def __init__(self, classes: list[Any]) -> None:
        self.classes_ = classes

    def predict_proba(self, data: Any) -> np.ndarray:
        return np.full((len(data), 2), 0.5)

    def chance(self, data: Any) -> np.ndarray:
        return self.predict_proba(data)[:, 1]


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (Model([1, 0]), ValueError, "the classes of Model are"),
        (Model(["bad", "good"]), ValueError, "the classes of Model are"),
        (lambda z: 10 * z[:, 0], ValueError, r"q .*function.*\[0, 1\]"),
        ("the doctor", TypeError, r"predict_proba.*callable"),
        (Model([np.arange(2), np.arange(2)]), TypeError, "model must have one output, got 2"),
        (LogisticRegression().fit([[0], [1]], [0, 1]).predict, TypeError, "model must give probabilities"),
    ],
)
def test_model_teacher_refuses_what_gives_no_probabilities(model, error, message):
    with pytest.raises(error, match=message):
        ModelTeacher(model, np.arange(6.0).reshape(3, 2))


@pytest.mark.parametrize("name", ["binary:logistic", "multi:softprob", "reg:squarederror"])
@pytest.mark.parametrize("weighted", [False, True])
def test_estimators_of_xgboost_train_what_train_trains(name, weighted):
    rows, weight = Problem(name), None
    objective = KLObjective(rows.q, A)
    start = {"base_score": 0.5} if name == "reg:squarederror" else {}
    expected = by_objective(rows.params(**start), rows.dtrain(weighted=weighted), 5, objective)
    settings = {key: value for key, value in rows.params().items() if key not in ("objective", "num_class")}
    kind, y = (xgb.XGBRegressor, rows.y) if name == "reg:squarederror" else (xgb.XGBClassifier, rows.y.astype(int))
    model = kind(n_estimators=5, objective=objective.sklearn, **start, **settings)
    weight = rows.weight if weighted else None
    for item in (model, clone(model), pickle.loads(pickle.dumps(model))):
        fitted = item.fit(rows.x, y, sample_weight=weight)
        assert_same_model(fitted.get_booster(), expected)
    if name in CLASSES:
        np.testing.assert_allclose(fitted.predict_proba(rows.x).sum(axis=1), 1, atol=1e-6)


def test_the_error_in_an_estimator_names_the_estimator_to_use():
    rows = Problem("binary:logistic")
    model = xgb.XGBRegressor(n_estimators=2, objective=KLObjective(rows.q, objective="binary:logistic").sklearn)
    with pytest.raises(ValueError, match=r"XGBoost's own estimators.*PrivilegedXGBRegressor"):
        model.fit(rows.x, rows.y)
    with pytest.raises(TypeError, match=r"objective=pi_xgb.KLObjective\(...\).sklearn"):
        xgb.XGBRegressor(n_estimators=2, objective=KLObjective(rows.q)).fit(rows.x, rows.y)

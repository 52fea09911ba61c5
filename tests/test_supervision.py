"""Rows without labels, rows that a teacher counts more or less in: against stacked rows in plain XGBoost."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st

import pi_xgb
from pi_xgb._core.blend import Blend
from pi_xgb._core.losses import LOSSES

ROUNDS = 8
OBJECTIVES = ("binary:logistic", "reg:squarederror", "multi:softprob")
every_objective = pytest.mark.parametrize("objective", OBJECTIVES)


class Rows:
    """Rows of few distinct values per column, so that every way of drawing cuts draws the same ones."""

    def __init__(self, objective: str, seed: int = 0, n: int = 160) -> None:
        rng = np.random.default_rng(seed)
        self.n, self.objective = n, objective
        self.x = rng.integers(0, 12, (n, 4)).astype(np.float32)
        self.z = rng.integers(0, 12, (n, 3)).astype(np.float32)
        signal = self.x[:, 0] / 4 + self.z[:, 0] / 3 + rng.normal(size=n)
        score = 1 / (1 + np.exp(-(signal - signal.mean())))
        self.q: Any = score.astype(np.float32)
        self.y = (rng.random(n) < score).astype(np.float32)
        self.params: dict[str, Any] = {"objective": objective, "max_depth": 3, "nthread": 1, "base_score": 0.5}
        if objective == "reg:squarederror":
            self.y, self.q = signal.astype(np.float32), (signal + rng.normal(size=n) / 2).astype(np.float32)
        if objective.startswith("multi"):
            self.params |= {"num_class": 3}
            self.y = np.digitize(score, [0.35, 0.65]).astype(np.float32)
            self.q = rng.dirichlet(np.ones(3), n).astype(np.float32)
        self.labelled = rng.random(n) < 0.4
        self.labelled[:6] = True
        self.teacher_weight = rng.choice([0.0, 0.3, 1.0, 2.5], n)
        self.weight = rng.choice([0.5, 1.0, 2.0], n).astype(np.float32)

    def dtrain(self, rows: Any = slice(None), label: Any = None) -> xgb.DMatrix:
        label = self.y if label is None else label
        return xgb.DMatrix(self.x[rows], label[rows], weight=self.weight[rows])

    def privileged(self, rows: Any = slice(None)) -> xgb.DMatrix:
        return xgb.DMatrix(self.z[rows], self.y[rows])


def margins(booster: xgb.Booster, rows: Rows) -> np.ndarray:
    return booster.predict(xgb.DMatrix(rows.x), output_margin=True)


def stacked(rows: Rows, kl_weight: float) -> xgb.Booster:
    """Plain XGBoost on the labelled rows and, below them, all rows once per class with the teacher's answers."""
    y, w, known, a = rows.y, rows.weight, rows.labelled, kl_weight * rows.teacher_weight
    parts = [(rows.x[known], y[known], w[known])]
    if rows.q.ndim == 2:
        parts += [(rows.x, np.full(rows.n, k, np.float32), w * a * rows.q[:, k]) for k in range(3)]
    else:
        parts += [(rows.x, rows.q, w * a)]
    x, label, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    return xgb.train(rows.params | rows.extra, xgb.DMatrix(x, label, weight=weight), ROUNDS)


@pytest.mark.filterwarnings("ignore:.*neither a label nor a teacher")
@every_objective
@pytest.mark.parametrize("tree_method", ["hist", "approx", "exact"])
@pytest.mark.parametrize("engine", ["callback", "native"])
@pytest.mark.parametrize("seed", range(3))
def test_the_student_is_that_of_stacked_rows(objective, tree_method, engine, seed):
    rows = Rows(objective, seed)
    rows.extra = {"tree_method": tree_method}
    if engine == "native" and (objective.startswith("multi") or tree_method == "approx"):
        pytest.skip("the native engine refuses: see test_native_says_where_it_is_not_exact")
    booster = pi_xgb.train(
        rows.params | rows.extra,
        rows.dtrain(),
        ROUNDS,
        teacher=rows.q,
        kl_weight=1.7,
        labelled=rows.labelled,
        teacher_weight=rows.teacher_weight,
        engine=engine,
    )
    takes_part = rows.labelled | (rows.teacher_weight > 0)
    ours, theirs = margins(booster, rows), margins(stacked(rows, 1.7), rows)
    # The two are one model: the blend is the sum of the parts.
    np.testing.assert_allclose(ours[takes_part], theirs[takes_part], atol=2e-5)


def explicit_loop(rows: Rows, kl_weight: float, rounds: int) -> xgb.Booster:
    """JPIB written down: two Boosters, masks and weights in NumPy."""
    m, a, w = rows.labelled.astype(float), kl_weight * rows.teacher_weight, rows.weight
    dtrain, dpriv = rows.dtrain(), rows.privileged()
    student, teacher = xgb.Booster(rows.params, [dtrain]), xgb.Booster(rows.params, [dpriv])
    logistic = rows.objective == "binary:logistic"

    def mean(booster: xgb.Booster, matrix: xgb.DMatrix) -> np.ndarray:
        margin = booster.predict(matrix, output_margin=True, training=True).astype(np.float64)
        return 1 / (1 + np.exp(-margin)) if logistic else margin

    def step(booster: xgb.Booster, matrix: xgb.DMatrix, own: np.ndarray, other: np.ndarray, i: int) -> None:
        curve = own * (1 - own) if logistic else np.ones_like(own)
        booster.boost(matrix, i, grad=w * (m * (own - rows.y) + a * (own - other)), hess=w * (m + a) * curve)

    for i in range(rounds):
        p, q = mean(student, dtrain), mean(teacher, dpriv)
        step(student, dtrain, p, q, i)
        step(teacher, dpriv, q, mean(student, dtrain), i)
    return student


@pytest.mark.filterwarnings("ignore:.*neither a label nor a teacher")
@pytest.mark.parametrize("objective", ["binary:logistic", "reg:squarederror"])
@pytest.mark.parametrize("engine", ["callback", "native"])
def test_jpib_is_two_boosters_that_pull_each_other(objective, engine):
    rows = Rows(objective, 4)
    guided = {"kl_weight": 0.8, "labelled": rows.labelled, "teacher_weight": rows.teacher_weight}
    booster = pi_xgb.train(
        rows.params, rows.dtrain(), ROUNDS, privileged=rows.privileged(), method="jpib", engine=engine, **guided
    )
    by_objective = xgb.train(
        rows.params,
        rows.dtrain(),
        ROUNDS,
        obj=pi_xgb.JointObjective(rows.privileged(), params=rows.params, **guided),
    )
    expected = margins(explicit_loop(rows, 0.8, ROUNDS), rows)
    # Unlabelled rows are in both boosters, each pulled by the other one alone.
    np.testing.assert_allclose(margins(booster, rows), expected, atol=1e-4)
    np.testing.assert_allclose(margins(by_objective, rows), expected, atol=1e-4)


@every_objective
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.2, 0.5, 0.9]), kl_weight=st.sampled_from([0.1, 1.0, 7.0]))
@settings(max_examples=25, deadline=None)
def test_the_blend_is_the_sum_of_its_parts(objective, seed, share, kl_weight):
    loss, rng, n = LOSSES[objective], np.random.default_rng(seed), 30
    rows = Rows(objective, seed, n)
    known, weight = rng.random(n) < share, rng.random(n).astype(np.float32)
    weights = [kl_weight * rng.random(n), 0.5, rng.choice([0.0, 2.0], n)]
    margin = rng.normal(size=rows.q.shape).astype(np.float32)
    mean = loss.mean(margin)
    blend = Blend(loss, rows.y, weights, weight=weight, labelled=known)
    grad, hess = loss.gradient(mean, blend.target([rows.q, mean, rows.q], mean), blend.factor)

    def column(values: Any) -> Any:
        return np.asarray(values, float)[:, None] if mean.ndim == 2 and np.ndim(values) else values

    parts = column(weight * known) * (mean - loss.one_hot(rows.y, mean))
    for q, a in zip([rows.q, mean, rows.q], weights, strict=True):
        parts = parts + column(weight * a) * (mean - q)
    total = weight * (known + sum(weights))
    # Gradient and Hessian are linear in label and teachers, row by row.
    np.testing.assert_allclose(grad, parts, atol=2e-5 * max(1, kl_weight))
    np.testing.assert_allclose(
        hess, column(total) * np.maximum(loss.curvature(mean, mean), 1e-16), rtol=1e-4, atol=1e-9
    )


@every_objective
@pytest.mark.parametrize("engine", ["callback", "native"])
def test_all_rows_labelled_and_every_weight_1_is_the_model_of_before(objective, engine):
    if objective.startswith("multi") and engine == "native":
        engine = "auto"
    rows = Rows(objective)
    for guided in ({"teacher": rows.q}, {"privileged": rows.privileged(), "crossfit": 3}):
        plain = pi_xgb.train(rows.params, rows.dtrain(), ROUNDS, engine=engine, **guided)
        found = pi_xgb.train(
            rows.params,
            rows.dtrain(),
            ROUNDS,
            engine=engine,
            labelled=np.ones(rows.n, bool),
            teacher_weight=[1] * rows.n,
            **guided,
        )
        # To the bit: nothing is said of any row.
        assert found.save_raw("json") == plain.save_raw("json")


@every_objective
@pytest.mark.filterwarnings("ignore:.*neither a label nor a teacher")
@pytest.mark.parametrize("method", ["kbpib", "jpib"])
@pytest.mark.parametrize("engine", ["callback", "native"])
def test_the_labels_of_unlabelled_rows_are_never_looked_at(objective, method, engine):
    if objective.startswith("multi"):
        engine = "callback"
    rows = Rows(objective)
    other = rows.y.copy()
    other[~rows.labelled] = other[~rows.labelled][::-1].copy() + 0.0
    other[~rows.labelled] = 1 - other[~rows.labelled] if objective == "binary:logistic" else 0
    models = []
    for label in (rows.y, other):
        privileged = xgb.DMatrix(rows.z, label)
        guided = {"crossfit": 3} if method == "kbpib" else {}
        booster = pi_xgb.train(
            rows.params,
            rows.dtrain(label=label),
            ROUNDS,
            privileged=privileged,
            method=method,
            engine=engine,
            labelled=rows.labelled,
            **guided,
        )
        models.append(booster.save_raw("json"))
    assert not np.array_equal(other, rows.y)
    # Byte for byte the same model.
    assert models[0] == models[1]


@pytest.mark.parametrize("crossfit", [0, 3])
def test_the_teacher_learns_from_labelled_rows_and_judges_all(crossfit):
    rows = Rows("binary:logistic")
    known = np.flatnonzero(rows.labelled)
    teacher = pi_xgb.fit_teacher(rows.params, rows.privileged(), 5, crossfit=crossfit, labelled=rows.labelled)
    alone = pi_xgb.fit_teacher(rows.params, rows.privileged(known), 5, crossfit=crossfit)
    # What it says of labelled rows is what it says without the others.
    np.testing.assert_array_equal(teacher.values[known], alone.values)
    rest = np.flatnonzero(~rows.labelled)
    found = [booster.predict(xgb.DMatrix(rows.z[rest])) for booster in alone.boosters]
    # And of the others, what its boosters say on average.
    np.testing.assert_allclose(teacher.values[rest], np.mean(found, axis=0), atol=1e-6)


@pytest.mark.parametrize("objective", ["binary:logistic", "reg:gamma"])
def test_a_teacher_on_quantiles_learns_from_labelled_rows_too(objective):
    rows = Rows("binary:logistic")
    params, y = rows.params | {"objective": objective}, rows.y + (objective == "reg:gamma")
    by_weight = xgb.QuantileDMatrix(rows.z, y)
    found = pi_xgb.fit_teacher(params, by_weight, 5, labelled=rows.labelled).values
    # Rows that cannot be cut out are left out by weight, and few distinct values leave no cuts to differ.
    expected = pi_xgb.fit_teacher(params, xgb.DMatrix(rows.z, y), 5, labelled=rows.labelled).values
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_teacher_on_quantiles_that_learns_from_all_rows_needs_no_gradient():
    rows = Rows("reg:squarederror")
    params, matrix = rows.params | {"objective": "reg:absoluteerror"}, xgb.QuantileDMatrix(rows.z, rows.y)
    found = pi_xgb.fit_teacher(params, matrix, 5).values
    np.testing.assert_array_equal(found, xgb.train(params, matrix, 5).predict(matrix))


def visits(n_patients: int = 60, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Patients with six visits: the outcome belongs to the patient, and so do telling but meaningless marks."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n_patients), 6)
    marks = rng.normal(size=(n_patients, 6))[patient] + rng.normal(scale=0.01, size=(len(patient), 6))
    return pd.DataFrame(marks).add_prefix("z"), rng.integers(0, 2, n_patients)[patient].astype(float), patient


def auc(y: np.ndarray, score: np.ndarray) -> float:
    ranks = pd.Series(score).rank().to_numpy()
    ones = y == 1
    return float((ranks[ones].sum() - ones.sum() * (ones.sum() + 1) / 2) / (ones.sum() * (~ones).sum()))


def test_without_groups_a_cross_fitted_teacher_repeats_the_labels_of_patients():
    z, y, patient = visits()
    params = {"objective": "binary:logistic", "max_depth": 4, "nthread": 1}
    apart = pi_xgb.fit_teacher(params, xgb.DMatrix(z, y), 40, crossfit=5)
    together = pi_xgb.fit_teacher(params, xgb.DMatrix(z, y), 40, crossfit=5, crossfit_groups=patient)
    # Other visits of a patient give his label away, though z says nothing about it.
    assert auc(y, apart.values) > 0.97
    assert 0.3 < auc(y, together.values) < 0.7


def test_unlabelled_visits_are_judged_by_those_who_do_not_know_the_patient():
    z, y, patient = visits()
    labelled = np.arange(len(y)) % 6 < 4
    params = {"objective": "binary:logistic", "max_depth": 4, "nthread": 1}
    teacher = pi_xgb.fit_teacher(params, xgb.DMatrix(z, y), 40, crossfit=5, labelled=labelled, crossfit_groups=patient)
    assert 0.3 < auc(y[~labelled], teacher.values[~labelled]) < 0.7


@pytest.mark.parametrize("kl_weight", [0.0, [0.0, 2.0]])
@pytest.mark.parametrize("method", ["kbpib", "jpib"])
def test_cv_tests_on_labelled_rows_and_trains_on_all(kl_weight, method):
    rows = Rows("binary:logistic")
    seen: list[Any] = []

    def looked_at(dtrain: xgb.DMatrix, dtest: xgb.DMatrix, params: Any) -> Any:
        seen.append((dtrain.num_row(), dtest.num_row()))
        return dtrain, dtest, params

    other = np.where(rows.labelled, rows.y, 1 - rows.y).astype(np.float32)
    tables = [
        pi_xgb.cv(
            rows.params,
            rows.dtrain(label=label),
            4,
            privileged=xgb.DMatrix(rows.z, label),
            method=method,
            kl_weight=kl_weight,
            labelled=rows.labelled,
            metrics="auc",
            fpreproc=looked_at,
        )
        for label in (rows.y, other)
    ]
    # Neither a model nor a metric, of training rows either, depends on a label that is not known.
    pd.testing.assert_frame_equal(*tables)
    n_known, n_others = rows.labelled.sum(), (~rows.labelled).sum()
    assert {test for _, test in seen} <= {n_known // 3, n_known // 3 + 1}
    guided = [train for train, test in seen if train + test == rows.n]
    assert len(guided) == (0 if kl_weight == 0.0 else 6)
    assert all(train + test in (rows.n, n_known) for train, test in seen)
    assert n_others > 0


def test_the_objective_alone_is_the_same_training():
    rows = Rows("binary:logistic")
    guided = {"labelled": rows.labelled, "teacher_weight": rows.teacher_weight}
    with pytest.warns(UserWarning, match=r"neither.*label.*teacher"):
        by_train = pi_xgb.train(rows.params, rows.dtrain(), ROUNDS, teacher=rows.q, kl_weight=2.0, **guided)
    by_objective = xgb.train(
        rows.params, rows.dtrain(), ROUNDS, obj=pi_xgb.KLObjective(rows.q, 2.0, objective=rows.objective, **guided)
    )
    np.testing.assert_array_equal(margins(by_train, rows), margins(by_objective, rows))


@pytest.mark.parametrize("objective", ["binary:logistic", "multi:softprob"])
def test_labels_and_teachers_travel_with_a_matrix(objective):
    rows = Rows(objective)
    counts = (rows.teacher_weight > 0).astype(float)
    attached = pi_xgb.attach_teacher(rows.dtrain(), rows.q, labelled=rows.labelled, teacher_weight=counts)
    subset = np.arange(20, 150)
    booster = xgb.train(rows.params, attached.slice(subset), ROUNDS, obj=pi_xgb.KLObjective(kl_weight=2.0))
    with pytest.warns(UserWarning, match=r"neither.*label.*teacher"):
        expected = pi_xgb.train(
            rows.params,
            rows.dtrain(subset),
            ROUNDS,
            teacher=rows.q[subset],
            kl_weight=2.0,
            labelled=rows.labelled[subset],
            teacher_weight=counts[subset],
        )
    np.testing.assert_allclose(margins(booster, rows), margins(expected, rows), atol=1e-5)


def test_a_list_may_have_a_weight_per_row():
    rows = Rows("binary:logistic")
    per_row = 0.5 + rows.teacher_weight
    single = pi_xgb.train(rows.params, rows.dtrain(), ROUNDS, teacher=[(rows.q, per_row), (1 - rows.q, 0.3)])
    other = pi_xgb.train(
        rows.params, rows.dtrain(), ROUNDS, teacher=[(rows.q, per_row / 2), (rows.q, per_row / 2), (1 - rows.q, 0.3)]
    )
    np.testing.assert_allclose(margins(single, rows), margins(other, rows), atol=1e-5)


def test_rows_without_privileged_values_are_not_taught():
    rows = Rows("binary:logistic")
    rows.z[::5] = np.nan
    known = np.ones(rows.n)
    known[::5] = 0
    with pytest.warns(UserWarning, match=r"32.*160 rows"):
        booster = pi_xgb.train(rows.params, rows.dtrain(), ROUNDS, privileged=rows.privileged(), crossfit=3)
    result = pi_xgb.train(
        rows.params, rows.dtrain(), ROUNDS, privileged=rows.privileged(), crossfit=3, teacher_weight=known
    )
    assert booster.save_raw("json") == result.save_raw("json")
    everywhere = pi_xgb.train(
        rows.params, rows.dtrain(), ROUNDS, privileged=rows.privileged(), crossfit=3, teacher_weight=np.ones(rows.n)
    )
    # teacher_weight says otherwise.
    assert not np.array_equal(margins(everywhere, rows), margins(booster, rows))


@pytest.mark.parametrize("tree_method", ["hist", "exact"])
def test_without_weight_it_is_plain_training_on_labelled_rows(tree_method):
    rows = Rows("binary:logistic")
    params = rows.params | {"tree_method": tree_method}
    del params["base_score"]
    guided = {"teacher": rows.q, "kl_weight": 0, "labelled": rows.labelled}
    booster = pi_xgb.train(params, rows.dtrain(), ROUNDS, **guided)
    expected = xgb.train(params, rows.dtrain(rows.labelled), ROUNDS)
    # To the bit: the others are not there.
    assert booster.save_raw("json") == expected.save_raw("json")
    # From quantiles no row can be taken out, so it is left out by weight.
    of_quantiles = xgb.QuantileDMatrix(rows.x, rows.y, weight=rows.weight)
    by_weight = pi_xgb.train(params | {"tree_method": "hist"}, of_quantiles, ROUNDS, **guided)
    np.testing.assert_allclose(margins(by_weight, rows), margins(expected, rows), atol=1e-5)


@pytest.mark.parametrize("engine", ["callback", "native"])
@pytest.mark.parametrize("method", ["kbpib", "jpib"])
def test_a_quantised_matrix_is_taught_like_any_other(method, engine):
    rows = Rows("binary:logistic")
    x = np.random.default_rng(1).normal(size=rows.x.shape)  # more distinct values than bins
    guided = {"privileged": rows.privileged(), "labelled": rows.labelled, "method": method, "engine": engine}
    params = rows.params | {"max_bin": 16}
    plain, of_quantiles = (
        pi_xgb.train(params, matrix, ROUNDS, **guided)
        for matrix in (xgb.DMatrix(x, rows.y), xgb.QuantileDMatrix(x, rows.y, max_bin=16))
    )
    assert plain.get_dump(with_stats=True) == of_quantiles.get_dump(with_stats=True)


def test_native_says_where_it_is_not_exact():
    rows = Rows("binary:logistic")
    with pytest.raises(ValueError, match="differ from row to row"):
        pi_xgb.train(
            rows.params | {"tree_method": "approx"},
            rows.dtrain(),
            teacher=rows.q,
            labelled=rows.labelled,
            engine="native",
        )


def test_the_users_arrays_and_matrices_stay_as_they_are():
    rows = Rows("binary:logistic")
    dtrain, privileged = rows.dtrain(), rows.privileged()
    guided = {"labelled": rows.labelled, "teacher_weight": rows.teacher_weight + 0.1, "crossfit_groups": np.arange(160)}
    before = {name: values.copy() for name, values in guided.items()}
    for engine in ("callback", "native"):
        pi_xgb.train(rows.params, dtrain, 3, privileged=privileged, crossfit=3, engine=engine, **guided)
    for name, values in guided.items():
        np.testing.assert_array_equal(values, before[name])
    for matrix, weight in ((dtrain, rows.weight), (privileged, [])):
        np.testing.assert_array_equal(matrix.get_label(), rows.y)
        np.testing.assert_array_equal(matrix.get_weight(), weight)


SPOILT = {
    "labelled too short": ({"labelled": [True] * 3}, ("labelled", "160", "3")),
    "labelled no truth": ({"labelled": ["yes"] * 160}, ("labelled", "truth values", "'yes'")),
    "labelled with NaN": ({"labelled": [None] + [True] * 159}, ("labelled", "1 missing")),
    "no label at all": ({"labelled": [False] * 160}, ("no row with a label",)),
    "weight of wrong length": ({"teacher_weight": [1.0]}, ("teacher_weight", "160", "1")),
    "weight negative": ({"teacher_weight": [-1.0] + [1.0] * 159}, ("teacher_weight", "from 0", "-1 in row 0")),
    "weight NaN": ({"teacher_weight": [np.nan] + [1.0] * 159}, ("teacher_weight", "1 missing", "row 0")),
    "weight infinite": ({"teacher_weight": [np.inf] + [1.0] * 159}, ("teacher_weight", "inf in row 0")),
    "weight beyond single precision": ({"teacher_weight": np.full(160, 1e30)}, ("teacher_weight", "to 1e+12")),
    "kl_weight beyond it": ({"kl_weight": 1e30}, ("kl_weight", "at most 1e+12")),
    "weight of time": ({"teacher_weight": np.ones(160, "m8[s]")}, ("teacher_weight", "timedelta64")),
    "masked weight": ({"teacher_weight": np.ma.masked_array(np.ones(160), np.arange(160) < 2)}, ("masked array",)),
    "weight of text": ({"teacher_weight": ["a"] * 160}, ("teacher_weight", "numbers")),
    "kl_weight per row": ({"kl_weight": np.ones(160)}, ("kl_weight", "160", "teacher_weight=")),
    "groups too few": ({"crossfit": 3, "crossfit_groups": [0, 1] * 80}, ("crossfit_groups", "2", "3 folds")),
    "groups too short": ({"crossfit": 3, "crossfit_groups": [0, 1]}, ("crossfit_groups", "160", "2")),
    "groups with gaps": ({"crossfit": 3, "crossfit_groups": [None, *range(159)]}, ("crossfit_groups", "missing")),
    "groups without folds": ({"crossfit_groups": list(range(160))}, ("crossfit_groups", "crossfit as well")),
    "dtrain among the evals": ({"labelled": [False] + [True] * 159, "watch": True}, ("among the evals", "slice")),
}


@pytest.mark.parametrize("name", SPOILT)
def test_one_clear_error_before_any_training(name):
    rows = Rows("binary:logistic")
    spoilt, words = dict(SPOILT[name][0]), SPOILT[name][1]
    dtrain = rows.dtrain()
    evals = [(dtrain, "train")] if spoilt.pop("watch", False) else []
    with pytest.raises((ValueError, TypeError)) as caught:
        pi_xgb.train(rows.params, dtrain, privileged=rows.privileged(), evals=evals, **spoilt)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize("keyword", ["labelled", "teacher_weight", "crossfit_groups"])
@pytest.mark.parametrize("function", [pi_xgb.train, pi_xgb.cv])
def test_rows_say_nothing_without_a_teacher(function, keyword):
    rows = Rows("binary:logistic")
    with pytest.raises(ValueError, match=keyword):
        function(rows.params, rows.dtrain(), **{keyword: np.ones(rows.n)})


def test_one_class_among_the_labelled_rows_is_named():
    rows = Rows("binary:logistic")
    with pytest.raises(ValueError, match="of the class 1"):
        pi_xgb.train(rows.params, rows.dtrain(), privileged=rows.privileged(), labelled=rows.y == 1)


def test_a_class_without_a_labelled_row_is_warned_of():
    rows = Rows("multi:softprob")
    with pytest.warns(UserWarning, match="labelled has no row of the class 2"):
        pi_xgb.train(rows.params, rows.dtrain(), 2, teacher=rows.q, labelled=rows.y != 2)


def test_a_nan_where_the_teacher_counts_is_an_error_that_says_the_way_out():
    rows = Rows("binary:logistic")
    q = rows.q.copy()
    q[3] = np.nan
    with pytest.raises(ValueError, match="teacher_weight of 0"):
        pi_xgb.train(rows.params, rows.dtrain(), teacher=q)
    counts = np.ones(rows.n)
    counts[3] = 0
    booster = pi_xgb.train(rows.params, rows.dtrain(), ROUNDS, teacher=q, teacher_weight=counts)
    expected = pi_xgb.train(rows.params, rows.dtrain(), ROUNDS, teacher=rows.q, teacher_weight=counts)
    # Where it does not count it may say anything.
    assert booster.save_raw("json") == expected.save_raw("json")

    class Rule(pi_xgb.Teacher):
        is_adaptive = False

        def q(self, mean, label, weight):
            return q

    ruled = pi_xgb.train(rows.params, rows.dtrain(), ROUNDS, teacher=Rule(), teacher_weight=counts)
    assert ruled.get_dump() == expected.get_dump()


def test_a_constraint_on_labels_leaves_unlabelled_rows_alone():
    from pi_xgb.constraints import EqualizedOdds

    rows = Rows("binary:logistic")
    group = np.arange(rows.n) % 2
    models = []
    for label in (rows.y, np.where(rows.labelled, rows.y, 1 - rows.y)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            models.append(
                pi_xgb.train(
                    rows.params,
                    rows.dtrain(label=label.astype(np.float32)),
                    ROUNDS,
                    teacher=[(EqualizedOdds(group), 3.0), (rows.q, 1.0)],
                    labelled=rows.labelled,
                ).save_raw("json")
            )
    assert models[0] == models[1]


@pytest.mark.parametrize("method", ["kbpib", "jpib"])
def test_a_word_says_what_the_teacher_sees(method):
    rows = Rows("binary:logistic")
    guided = {"method": method, "labelled": rows.labelled} | ({"crossfit": 3} if method == "kbpib" else {})
    by_word = pi_xgb.train(
        rows.params,
        rows.dtrain(),
        ROUNDS,
        privileged=rows.privileged(),
        teacher="boosted",
        teacher_sees="all",
        **guided,
    )
    both = xgb.DMatrix(np.hstack([rows.x, rows.z]), rows.y)
    by_hand = pi_xgb.train(rows.params, rows.dtrain(), ROUNDS, privileged=both, allow_overlap=True, **guided)
    # To rounding: side by side, the weights of the rows come along and need no objective.
    np.testing.assert_allclose(margins(by_word, rows), margins(by_hand, rows), atol=1e-5)
    alone = pi_xgb.train(rows.params, rows.dtrain(), ROUNDS, privileged=rows.privileged(), **guided)
    result = pi_xgb.train(rows.params, rows.dtrain(), ROUNDS, privileged=rows.privileged(), teacher="boosted", **guided)
    assert result.save_raw("json") == alone.save_raw("json")
    assert by_word.save_raw("json") != alone.save_raw("json")


@pytest.mark.parametrize(
    ("guided", "words"),
    [
        ({"teacher": "everything"}, "teacher must be one of.*got 'everything'"),
        ({"teacher_sees": "all", "privileged": None}, "teacher_sees requires.*pass privileged="),
        ({"teacher_sees": "all", "privileged_evals": True}, "side by side"),
    ],
)
def test_words_that_say_nothing(guided, words):
    rows = Rows("binary:logistic")
    given = {"privileged": rows.privileged()} | guided
    if "privileged_evals" in given:
        given |= {"privileged_evals": [(rows.privileged(), "valid")], "early_stopping_rounds": 2}
    with pytest.raises((ValueError, TypeError), match=words):
        pi_xgb.train(rows.params, rows.dtrain(), **given)


@pytest.mark.parametrize(("engine", "hessian"), [("callback", "adaptive"), ("callback", "full"), ("native", "full")])
def test_a_constraint_may_stand_in_both_boosters_of_jpib(engine, hessian):
    from pi_xgb.constraints import DemographicParity

    rows = Rows("binary:logistic", 5)
    group = np.arange(rows.n) % 2
    parity, price = DemographicParity(group, hessian=hessian), 3.0
    joint = pi_xgb.JointTeacher(rows.privileged(), rows.params, extra_teachers=[(parity, price)])
    booster = pi_xgb.train(
        rows.params,
        rows.dtrain(),
        ROUNDS,
        teacher=[(joint, 0.8), (parity, price)],
        labelled=rows.labelled,
        engine=engine,
    )

    m, w = rows.labelled.astype(float), rows.weight
    dtrain, dpriv = rows.dtrain(), rows.privileged()
    student, teacher = xgb.Booster(rows.params, [dtrain]), xgb.Booster(rows.params, [dpriv])

    def mean(single: xgb.Booster, matrix: xgb.DMatrix) -> np.ndarray:
        return 1 / (1 + np.exp(-single.predict(matrix, output_margin=True, training=True)))

    def step(single: xgb.Booster, matrix: xgb.DMatrix, own: np.ndarray, other: np.ndarray, i: int) -> None:
        wanted = parity.q(own, rows.y, w)
        grad = w * (m * (own - rows.y) + 0.8 * (own - other) + price * (own - wanted))
        counted = m + 0.8 + price
        if hessian == "adaptive" and single is student:
            # Of a constraint the Hessian counts what closes the gap; in the teacher the paper's stays.
            counted = np.maximum(m + 0.8, rows.params.get("eta", 0.3) * counted)
        single.boost(matrix, i, grad=grad, hess=w * counted * own * (1 - own))

    for i in range(ROUNDS):
        p, q = mean(student, dtrain), mean(teacher, dpriv)
        step(student, dtrain, p, q, i)
        step(teacher, dpriv, q, mean(student, dtrain), i)
    # Written down with the constraint in both, it is the same student.
    np.testing.assert_allclose(margins(booster, rows), margins(student, rows), atol=1e-3)
    # And in the teacher it matters.
    alone = pi_xgb.JointTeacher(rows.privileged(), rows.params)
    without = pi_xgb.train(
        rows.params,
        rows.dtrain(),
        ROUNDS,
        teacher=[(alone, 0.8), (parity, price)],
        labelled=rows.labelled,
        engine=engine,
    )
    assert np.abs(margins(booster, rows) - margins(without, rows)).max() > 1e-2


def test_extra_teachers_are_pairs():
    rows = Rows("binary:logistic")
    for wrong in (rows.q, pi_xgb.constraints.DemographicParity([0, 1] * 80), [rows.q]):
        with pytest.raises(TypeError, match=r"extra_teachers.*list.*\(teacher, weight\)"):
            pi_xgb.JointTeacher(rows.privileged(), rows.params, extra_teachers=wrong)
        with pytest.raises(TypeError, match=r"extra_teachers.*list.*\(teacher, weight\)"):
            pi_xgb.JointObjective(rows.privileged(), params=rows.params, extra_teachers=wrong)


def test_a_mask_of_arrow_is_a_mask():
    pyarrow = pytest.importorskip("pyarrow")
    rows = Rows("binary:logistic")
    models = [
        pi_xgb.train(rows.params, rows.dtrain(), 3, privileged=rows.privileged(), labelled=mask).save_raw("json")
        for mask in (rows.labelled, pyarrow.array(rows.labelled), pyarrow.chunked_array([rows.labelled]))
    ]
    assert models[0] == models[1] == models[2]


def test_a_margin_that_is_nan_is_an_error():
    rows = Rows("binary:logistic")
    margin = np.zeros(rows.n)
    margin[7] = np.nan
    dtrain = xgb.DMatrix(rows.x, rows.y, base_margin=margin)
    for guided in ({"teacher": rows.q}, {"privileged": rows.privileged(), "method": "jpib"}):
        with pytest.raises(ValueError, match=r"base_margin.*1 row.*row 7"):
            pi_xgb.train(rows.params, dtrain, **guided)


def test_one_class_alone_is_found_on_every_road():
    rows = Rows("binary:logistic")
    ones = rows.y == 1
    with pytest.raises(ValueError, match="of the class 1"):
        pi_xgb.fit_teacher(rows.params, rows.privileged(), 3, labelled=ones)
    with pytest.raises(ValueError, match="of the class 1"):
        pi_xgb.cv(rows.params, rows.dtrain(), 3, privileged=rows.privileged(), labelled=ones)
    with pytest.raises(ValueError, match="6 labelled"):
        pi_xgb.cv(rows.params, rows.dtrain(), 3, nfold=9, teacher=rows.q, labelled=np.arange(rows.n) < 6)
    with pytest.raises(ValueError, match="all labelled rows are of the class 1"):
        pi_xgb.cv(rows.params, rows.dtrain(), 3, teacher=rows.q, labelled=rows.y == 1)


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"labelled": [True] * 5 + [False]}, r"labelled.*6 rows.*160"),
        ({"teacher_weight": [0.5] * 6}, r"teacher_weight.*6 rows.*160"),
        ({"labelled": [False] * 160}, "no row with a label"),
    ],
)
def test_an_objective_says_whose_rows_it_knows(keywords, words):
    rows = Rows("binary:logistic")
    with pytest.raises(ValueError, match=words):
        xgb.train(rows.params, rows.dtrain(), 2, obj=pi_xgb.KLObjective(rows.q, **keywords))

"""Teachers that are trained here: what they see, when they stop, what they say about themselves."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_problems import BLENDED, N_CLASSES, Problem, assert_same_model
from sklearn import metrics
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, PoissonRegressor

import pi_xgb
from pi_xgb._core.learners import recipe

KINDS = ("boosted", "forest", "linear", "mixed")
IN_SAMPLE: dict[str, Any] = {"teacher": "boosted", "crossfit": 0}
PAPER: dict[str, Any] = {**IN_SAMPLE, "teacher_sees": "privileged", "kl_weight": 0.5}


def log_loss(y: np.ndarray, q: np.ndarray, weight: Any = None) -> float:
    return float(np.average(-np.log(np.where(y == 1, q, 1 - q)), weights=weight))


# --- what it learns from -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BLENDED)
@pytest.mark.parametrize("crossfit", [0, 3])
def test_the_weights_of_dtrain_count_for_a_teacher_without_weights(name, crossfit):
    rows = Problem(name)
    params, dtrain = rows.params(tree_method="exact"), rows.dtrain(weighted=True)  # hist draws cuts by weights
    keywords = {**PAPER, "crossfit": crossfit, "kl_weight": 3.0}
    weighted, repeated = (
        rows.margins(pi_xgb.train(params, dtrain, 5, privileged=rows.dprivileged(weighted=own), **keywords))
        for own in (False, True)
    )
    np.testing.assert_allclose(weighted, repeated, atol=2e-5)
    plain = pi_xgb.train(params, rows.dtrain(), 5, privileged=rows.dprivileged(), **keywords)
    assert np.abs(weighted - rows.margins(plain)).max() > 0.01


def test_teacher_params_are_those_of_the_student_without_its_columns():
    rows = Problem("binary:logistic")
    about_columns = {"monotone_constraints": "(1,1,0,0)", "interaction_constraints": "[[0,1],[2,3]]"}
    for own in (None, {"max_depth": 1, "nthread": 1}):
        params = rows.params(**about_columns)
        ours = pi_xgb.train(params, rows.dtrain(), 4, privileged=rows.dprivileged(), teacher_params=own, **PAPER)
        theirs = rows.params() if own is None else {**own, "objective": "binary:logistic"}
        teacher = pi_xgb.fit_teacher(theirs, rows.dprivileged(), 4, **IN_SAMPLE)
        assert_same_model(pi_xgb.train(params, rows.dtrain(), 4, teacher=teacher, kl_weight=0.5), ours)


@pytest.mark.parametrize("objective", ["binary:logistic", "count:poisson", "reg:squarederror/one_output_per_tree"])
@pytest.mark.parametrize("kind", ["boosted", "forest"])
def test_a_teacher_that_sees_all_sees_both_matrices_side_by_side(kind, objective):
    rows = Problem(objective)
    exposure = {} if objective == "binary:logistic" else {"base_margin": rows.margin}
    dtrain, privileged = rows.dtrain(weighted=True, **exposure), rows.dprivileged(**exposure)
    both = rows.matrix(np.hstack([rows.x, rows.z]), weighted=True, **exposure)
    keywords = {"teacher": kind, "crossfit": 3, "kl_weight": 0.5}
    by_word = pi_xgb.train(rows.params(), dtrain, 4, privileged=privileged, teacher_sees="all", **keywords)
    by_hand = pi_xgb.train(rows.params(), dtrain, 4, privileged=both, allow_overlap=True, **keywords)
    np.testing.assert_allclose(rows.margins(by_word), rows.margins(by_hand), atol=1e-5)
    alone = pi_xgb.train(rows.params(), dtrain, 4, privileged=privileged, teacher_sees="privileged", **keywords)
    assert by_word.get_dump() != alone.get_dump()


def test_privileged_with_a_part_of_dtrains_columns_is_read_beside_them():
    rows = Problem("binary:logistic")
    dtrain, privileged = rows.dtrain(), rows.dprivileged()
    dtrain.feature_names, privileged.feature_names = list("abcd"), list("auv")
    how = {"privileged": privileged, "allow_overlap": True, "teacher": "forest"}
    by_default, by_word = (pi_xgb.train(rows.params(), dtrain, 3, teacher_sees=s, **how) for s in (None, "all"))
    assert_same_model(by_default, by_word)


def test_a_teacher_of_rows_that_cannot_be_cut_learns_from_labelled_ones_by_their_weights():
    rows = Problem("binary:logistic")
    whole = xgb.QuantileDMatrix(rows.z, rows.y, weight=rows.weight)
    teacher = pi_xgb.fit_teacher(rows.params(), whole, 3, labelled=rows.labelled, **IN_SAMPLE)
    counting = xgb.DMatrix(rows.z, rows.y, weight=rows.weight * rows.labelled)
    expected = xgb.train(rows.params(), counting, 3).predict(counting)
    np.testing.assert_allclose(teacher.values, expected, atol=1e-6)


def test_a_teacher_that_sees_privileged_features_alone_needs_no_values_of_dtrain():
    rows = Problem("binary:logistic")
    how = {"privileged": rows.dprivileged(), "teacher": "forest", "teacher_sees": "privileged"}
    assert pi_xgb.train(rows.params(), rows.dtrain(kind=xgb.QuantileDMatrix), 2, **how).num_boosted_rounds() == 2


def test_missing_values_categories_and_names_reach_the_teacher():
    rows = Problem("binary:logistic")
    z = pd.DataFrame(rows.z).add_prefix("z")
    z.iloc[::3, 0] = np.nan
    z["kind"] = pd.Categorical(np.array(["a", "b", "c"])[np.arange(rows.n) % 3])
    matrix = xgb.DMatrix(z, rows.y, enable_categorical=True)
    teacher = pi_xgb.fit_teacher(rows.params(), matrix, 4, **IN_SAMPLE)
    assert_same_model(teacher.booster, xgb.train(rows.params(), matrix, 4))
    for kind in KINDS:
        found = pi_xgb.fit_teacher(rows.params(), matrix, 4, teacher=kind, crossfit=3)
        assert np.isfinite(found.values).all()
        assert found.predict(matrix).shape == (rows.n,)


def test_rows_without_privileged_values_are_not_taught():
    rows = Problem("binary:logistic")
    rows.z[::5] = np.nan
    counts = np.where(np.arange(rows.n) % 5 == 0, 0.0, 1.0)
    keywords = {"privileged": rows.dprivileged(), "teacher": "boosted", "crossfit": 3, "kl_weight": 0.5}
    with pytest.warns(UserWarning, match=r"32.*160 rows"):
        found = pi_xgb.train(rows.params(), rows.dtrain(), 4, **keywords)
    named = pi_xgb.train(rows.params(), rows.dtrain(), 4, teacher_weight=counts, **keywords)
    assert found.save_raw() == named.save_raw()
    everywhere = pi_xgb.train(rows.params(), rows.dtrain(), 4, teacher_weight=np.ones(rows.n), **keywords)
    assert everywhere.get_dump() != found.get_dump()


def test_a_class_without_rows_in_a_fold_has_a_column():
    rows = Problem("multi:softprob")
    y = np.where(rows.y == 2, 0, rows.y)
    y[17] = 2
    with pytest.warns(UserWarning, match="crossfit should be at most 1, .* got 3"):
        teacher = pi_xgb.fit_teacher(rows.params(), xgb.DMatrix(rows.z, y), 3, teacher="boosted", crossfit=3)
    assert teacher.values.shape == (rows.n, N_CLASSES)
    np.testing.assert_allclose(teacher.values.sum(axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("objective", ["count:poisson", "reg:tweedie"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_rates_of_0_are_learned(kind, objective):
    count = (np.arange(300) == 1).astype(float)  # most folds have no count at all
    matrix = xgb.DMatrix(np.random.default_rng(0).normal(size=(300, 2)), count)
    params, few = {"objective": objective, "nthread": 1}, np.arange(300) < 10
    teacher = pi_xgb.fit_teacher(params, matrix, 3, teacher=kind, labelled=few, crossfit=5)
    assert np.isfinite([teacher.loss, *(member.loss for member in teacher.members)]).all()
    assert (teacher.values >= 0).all()


@pytest.mark.parametrize(("own", "max_bin"), [({}, 64), ({"max_bin": 8}, 8)])
def test_the_boosted_member_of_a_mixture_has_64_bins_unless_set(own, max_bin):
    x = np.random.default_rng(0).normal(size=(200, 2))
    dtrain, params = xgb.DMatrix(x, x.prod(axis=1)), {"objective": "reg:squarederror", "nthread": 1}
    mixed = pi_xgb.fit_teacher(params | own, dtrain, 3, teacher="mixed", crossfit=2)
    alone = pi_xgb.fit_teacher(params | {"max_bin": max_bin}, dtrain, 3, teacher="boosted", crossfit=2)
    assert [b.get_dump() for b in mixed.boosters[:2]] == [b.get_dump() for b in alone.boosters]


@pytest.mark.parametrize("kind", KINDS)
def test_the_members_of_a_mixture_alone_learn_from_a_part_of_many_rows(kind, monkeypatch):
    rows, values = Problem("binary:logistic"), []
    for most in (rows.n, 50):
        monkeypatch.setattr(recipe, "_MOST_ROWS", most)
        values.append(pi_xgb.fit_teacher(rows.params(), rows.dprivileged(), 3, teacher=kind, crossfit=2).values)
    assert np.array_equal(*values) == (kind != "mixed")


# --- when it stops -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("maximize", [None, True])
@pytest.mark.parametrize("crossfit", [0, 3])
def test_privileged_evals_stop_the_teacher_at_its_best_round(crossfit, maximize):
    rows, held_out = Problem("binary:logistic"), Problem("binary:logistic", seed=4)
    params = rows.params(eval_metric="logloss")
    # Labels that nobody can learn, or a loss that should grow: it stops soon.
    y = held_out.y if maximize else np.random.default_rng(0).permutation(held_out.y)
    pvalid = xgb.DMatrix(held_out.z, y)
    pvalid.feature_names = ["u", "v", "w"]
    watched = {"early_stopping_rounds": 4, "maximize": maximize}
    shown = {"evals": [(held_out.dtrain(), "valid")], "verbose_eval": False, "kl_weight": 0.5, **watched}
    learned = {"teacher": "boosted", "crossfit": crossfit}
    teacher = pi_xgb.fit_teacher(params, rows.dprivileged(), 30, evals=[(pvalid, "p")], **watched, crossfit=crossfit)
    assert all(booster.num_boosted_rounds() < 30 for booster in teacher.boosters)
    if crossfit == 0:
        best = xgb.train(params, rows.dprivileged(), teacher.booster.best_iteration + 1)
        np.testing.assert_allclose(teacher.values, best.predict(rows.dprivileged()), rtol=1e-6)
    brought = pi_xgb.train(params, rows.dtrain(), 30, teacher=teacher, **shown)
    for evals in ([(pvalid, "p")], ((matrix, "p") for matrix in [pvalid])):
        keywords = {"privileged": rows.dprivileged(), "privileged_evals": evals, "teacher_sees": "privileged"}
        found = pi_xgb.train(params, rows.dtrain(), 30, **keywords, **learned, **shown)
        assert_same_model(found, brought)
        assert found.best_iteration == brought.best_iteration


# --- what it says about itself -------------------------------------------------------------------------------------


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_of_a_teacher_is_of_labelled_rows_by_their_weights(labelled, weighted, capsys):
    rows = Problem("binary:logistic")
    known = rows.labelled if labelled else np.ones(rows.n, bool)
    keywords = {"labelled": known} if labelled else {}
    teacher = pi_xgb.fit_teacher(
        rows.params(scale_pos_weight=3.0),
        rows.dprivileged(weighted=weighted),
        4,
        teacher="boosted",
        crossfit=2,
        verbose_eval=True,
        **keywords,
    )
    weight = (rows.weight if weighted else np.ones(rows.n)) * np.where(rows.y == 1, 3, 1)
    expected = log_loss(rows.y[known], teacher.values[known].astype(float), weight[known])
    assert teacher.loss == pytest.approx(expected, rel=1e-5)
    share = np.average(rows.y[known], weights=weight[known])
    constant = log_loss(rows.y[known], np.full(known.sum(), share), weight[known])
    loss = f"loss {expected:.4f} ({constant:.4f} for the mean label) out of fold"
    assert repr(teacher) == f"<LearnedTeacher: boosted 1.00, 2 model(s) each, {loss}>"
    assert capsys.readouterr().out.endswith(f"{teacher}\n")


def test_the_loss_of_numbers_is_the_rmse_and_that_of_counts_the_deviance():
    losses = {"reg:squarederror": metrics.root_mean_squared_error, "count:poisson": metrics.mean_poisson_deviance}
    for objective, loss in losses.items():
        rows = Problem(objective)
        teacher = pi_xgb.fit_teacher(rows.params(), rows.dprivileged(), 4, teacher="boosted", crossfit=2)
        assert teacher.loss == pytest.approx(loss(rows.y, teacher.values), rel=1e-4)


@pytest.mark.parametrize("objective", ["rank:pairwise", "survival:aft", "reg:absoluteerror"])
def test_a_teacher_without_a_mean_has_no_loss(objective):
    rows = Problem(objective)
    teacher = pi_xgb.fit_teacher(rows.params(), rows.dprivileged(), 3, teacher="boosted", crossfit=2)
    assert np.isnan(teacher.loss)
    assert repr(teacher) == "<LearnedTeacher: boosted 1.00, 2 model(s) each>"


def test_a_teacher_in_sample_or_frozen_says_on_which_rows_its_loss_is():
    rows = Problem("binary:logistic")
    estimator = LogisticRegression().fit(pd.DataFrame(rows.z, columns=list("uvw")), rows.y)
    for teacher, where in ((estimator, "its own training rows>"), (FrozenEstimator(estimator), "the labelled rows>")):
        found = pi_xgb.fit_teacher(rows.params(), rows.dprivileged(), 2, teacher=teacher, crossfit=0)
        assert repr(found).endswith(where)
        student = {"teacher": found, "kl_weight": 0.5, "labelled": rows.labelled}
        if teacher is estimator:
            with pytest.raises(ValueError, match="labelled must be that of the teacher"):
                pi_xgb.train(rows.params(), rows.dtrain(), 2, **student)
    # The frozen one learned from other labels.
    assert pi_xgb.train(rows.params(), rows.dtrain(), 2, **student).num_boosted_rounds() == 2


@pytest.mark.parametrize("kind", [*KINDS, LogisticRegression()])
def test_a_pickled_teacher_teaches_the_same(kind):
    rows = Problem("binary:logistic")
    teacher = pi_xgb.fit_teacher(rows.params(), rows.dprivileged(), 4, teacher=kind, crossfit=3)
    thawed = pickle.loads(pickle.dumps(teacher))
    np.testing.assert_array_equal(thawed.values, teacher.values)
    np.testing.assert_array_equal(thawed.predict(rows.dprivileged()), teacher.predict(rows.dprivileged()))
    models = [pi_xgb.train(rows.params(), rows.dtrain(), 3, teacher=item, kl_weight=0.5) for item in (thawed, teacher)]
    assert_same_model(*models)


def without_values(kind: Any) -> tuple[Problem, Any]:
    rows = Problem("binary:logistic")
    rows.z[::5] = np.nan
    with pytest.warns(UserWarning, match="no privileged value"):
        teacher = pi_xgb.fit_teacher(rows.params(), rows.dprivileged(), teacher=kind, crossfit=3)
    return rows, teacher


def test_weights_per_row_in_a_list_count_in_rows_without_values_and_no_warning_says_otherwise():
    rows = Problem("binary:logistic")
    rows.z[::5] = np.nan
    pairs = [("forest", np.full(rows.n, 2.0))]
    assert pi_xgb.train(rows.params(), rows.dtrain(), 2, privileged=rows.dprivileged(), teacher=pairs)


def test_q_of_an_estimator_is_nan_where_there_are_no_values():
    assert np.isnan(without_values(LogisticRegression())[1].values[::5]).all()
    for kind in KINDS:  # which know such rows
        assert np.isfinite(without_values(kind)[1].values).all()


def test_the_loss_of_an_estimator_is_of_rows_with_values():
    rows, teacher = without_values(LogisticRegression())
    taught = np.arange(rows.n) % 5 > 0
    expected = log_loss(rows.y[taught], teacher.values[taught].astype(float))
    assert teacher.loss == pytest.approx(expected, rel=1e-5)
    assert f"{expected:.4f}" in repr(teacher)


@pytest.mark.parametrize("kind", ["linear", "mixed"])
def test_categories_are_read_where_the_first_row_has_weight_0(kind):
    rows = Problem("binary:logistic")
    z = pd.DataFrame(rows.z).add_prefix("z").assign(kind=pd.Categorical(np.array(list("abc"))[np.arange(rows.n) % 3]))
    weight = np.where(np.arange(rows.n) == 0, 0.0, 1.0)
    matrix = xgb.DMatrix(z, rows.y, weight=weight, enable_categorical=True)
    assert np.isfinite(pi_xgb.fit_teacher(rows.params(), matrix, 3, teacher=kind, crossfit=3).values[1:]).all()


@pytest.mark.parametrize("kind", ["forest", "boosted"])
def test_predict_with_an_unseen_category_names_it(kind):
    rows = Problem("binary:logistic")
    kinds = np.array(list("abc"))[np.arange(rows.n) % 3]
    seen, other = (
        xgb.DMatrix(pd.DataFrame({"u": rows.z[:, 0], "kind": pd.Categorical(k)}), rows.y, enable_categorical=True)
        for k in (kinds, np.where(kinds == "a", "new", kinds))
    )
    teacher = pi_xgb.fit_teacher(rows.params(), seen, 3, teacher=kind, crossfit=3)
    with pytest.raises(ValueError, match=r"column 'kind'.*got 'new'"):
        teacher.predict(other)


@pytest.mark.parametrize("seed", range(3))
def test_a_student_of_counts_with_an_exposure_and_unlabelled_rows_is_finite(seed):
    rows = Problem("count:poisson", seed=seed)
    exposure = np.log(np.random.default_rng(seed).choice([0.01, 1.0, 50.0], rows.n))
    keywords = {"teacher": PoissonRegressor(), "crossfit": 3, "labelled": rows.labelled, "kl_weight": 2.0}
    keywords["teacher_sees"] = "privileged"
    privileged = rows.dprivileged(base_margin=exposure)
    booster = pi_xgb.train(rows.params(), rows.dtrain(base_margin=exposure), 8, privileged=privileged, **keywords)
    assert np.isfinite(rows.margins(booster)).all()


def test_two_labelled_rows_are_enough_for_the_default_teacher():
    rows, labelled = Problem("binary:logistic"), np.zeros(160, bool)
    labelled[[np.argmin(rows.y), np.argmax(rows.y)]] = True
    for given in ({}, {"kl_weight": 1.0}):
        guided = {"privileged": rows.dprivileged(), "labelled": labelled, **given}
        assert pi_xgb.train(rows.params(), rows.dtrain(), 2, **guided).attr("pi_xgb_teacher") == "mixed"


def test_each_teacher_of_a_list_sees_the_columns_of_its_kind():
    rows = Problem("binary:logistic")
    params, both = rows.params(), rows.matrix(np.hstack([rows.x, rows.z]))
    boosted = pi_xgb.fit_teacher(params, rows.dprivileged(), 3, teacher="boosted")
    forest = pi_xgb.fit_teacher(params, both, 3, teacher="forest")
    by_hand = pi_xgb.train(params, rows.dtrain(), 3, teacher=[(boosted, 0.5), (forest, 2.0)])
    pairs = [("boosted", 0.5), ("forest", 2.0)]
    booster = pi_xgb.train(params, rows.dtrain(), 3, privileged=rows.dprivileged(), teacher=pairs)
    assert booster.get_dump() == by_hand.get_dump()


def test_a_kind_predicts_rows_without_values_too():
    rows = Problem("binary:logistic")
    rows.z[:5] = np.nan
    weight = (np.arange(160) >= 5).astype(float)
    teacher = pi_xgb.fit_teacher(rows.params(), rows.dprivileged(), 3, teacher="linear", teacher_weight=weight)
    assert np.isfinite(teacher.values).all()

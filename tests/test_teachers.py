"""The learned teacher against explicit trainings, and what a training leaves of the user's objects."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_joint import N_CLASSES, OBJECTIVES, assert_same_model, mean_of, problem
from sklearn.dummy import DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import pi_xgb
from pi_xgb._core.learners.boosted import _global_mean
from pi_xgb._stats.folds import deal_folds

every_objective = pytest.mark.parametrize("objective", OBJECTIVES)
with_and_without_weights = pytest.mark.parametrize("weighted", [False, True])


def says(objective: str, booster: xgb.Booster, matrix: xgb.DMatrix) -> np.ndarray:
    """What a booster says of each row, on the scale of the label; for multi:softmax as well."""
    return mean_of(objective, booster.predict(matrix, output_margin=True))


# --- in-sample -------------------------------------------------------------------------------------------------


@every_objective
@with_and_without_weights
def test_in_sample_teacher_is_train_and_predict(objective, weighted):
    case = problem(objective)
    dprivileged = case.dprivileged(weighted=weighted)
    teacher = pi_xgb.fit_teacher(case.params(), dprivileged, 7)
    expected = xgb.train(case.params(), dprivileged, 7)
    # The teacher is xgboost.train on the privileged matrix, and q is what it predicts there.
    assert_same_model(teacher.booster, expected)
    assert teacher.boosters == [teacher.booster]
    np.testing.assert_array_equal(teacher.values, says(objective, expected, dprivileged))
    if objective not in ("multi:softmax", "binary:logitraw"):
        np.testing.assert_allclose(teacher.values, expected.predict(dprivileged), atol=1e-6)


def test_ten_rounds_are_the_default_as_in_xgboost():
    case = problem("binary:logistic")
    assert pi_xgb.fit_teacher(case.params(), case.dprivileged()).booster.num_boosted_rounds() == 10


@pytest.mark.parametrize("objective", ["binary:logistic", "reg:squarederror"])
def test_q_is_that_of_the_best_round(objective):
    case, held_out = problem(objective), problem(objective, seed=4)
    noise = np.random.default_rng(0).permutation(held_out.y)  # labels that nobody can learn: it stops soon
    valid = xgb.DMatrix(held_out.z, noise)
    teacher = pi_xgb.fit_teacher(
        case.params(), case.dprivileged(), 50, evals=[(valid, "valid")], early_stopping_rounds=5
    )
    expected = xgb.train(
        case.params(), case.dprivileged(), 50, evals=[(valid, "valid")], early_stopping_rounds=5, verbose_eval=False
    )
    best = expected.best_iteration
    assert teacher.booster.best_iteration == best
    assert best + 1 < teacher.booster.num_boosted_rounds() < 50
    # Early stopping is XGBoost's; the rounds after the best one say nothing.
    np.testing.assert_array_equal(teacher.values, says(objective, expected[: best + 1], case.dprivileged()))


def test_maximize_says_which_way_is_better():
    case = problem("binary:logistic")

    def best(maximize: bool | None) -> int:
        teacher = pi_xgb.fit_teacher(
            case.params(eval_metric="logloss"),
            case.dprivileged(),
            20,
            evals=[(case.dprivileged(), "train")],
            early_stopping_rounds=3,
            maximize=maximize,
        )
        return teacher.booster.best_iteration

    # On its own training rows logloss falls in every round.
    assert best(None) == best(False) == 19
    assert best(True) == 0


# --- cross-fitted ----------------------------------------------------------------------------------------------


@every_objective
@with_and_without_weights
@pytest.mark.parametrize("crossfit", [2, 5])
def test_crossfitted_teacher_is_a_loop_over_folds(objective, weighted, crossfit):
    case = problem(objective)
    teacher = pi_xgb.fit_teacher(case.params(), case.dprivileged(weighted=weighted), 4, crossfit=crossfit, seed=11)
    expected = np.full(teacher.values.shape, np.nan, np.float32)
    boosters = []
    for rest, held_out in deal_folds(case.y, crossfit, 11):
        weight = case.weight[rest] if weighted else None
        boosters.append(xgb.train(case.params(), xgb.DMatrix(case.z.iloc[rest], case.y[rest], weight=weight), 4))
        expected[held_out] = says(objective, boosters[-1], xgb.DMatrix(case.z.iloc[held_out]))
    # Each row's q comes from the booster that did not see it.
    for ours, theirs in zip(teacher.boosters, boosters, strict=True):
        assert_same_model(ours, theirs)
    np.testing.assert_array_equal(teacher.values, expected)
    with pytest.raises(ValueError, match=f"booster.*{crossfit}"):
        _ = teacher.booster


@pytest.mark.filterwarnings("ignore:the teacher repeats:UserWarning")
def test_a_row_does_not_hear_its_own_label():
    case, params = problem("binary:logistic"), problem("binary:logistic").params(eta=1.0, max_depth=6)
    in_sample, out_of_fold = [], []
    for seed in range(5):
        noise = np.random.default_rng(seed).permutation(case.y)  # labels of which z says nothing
        dprivileged = xgb.DMatrix(case.z, noise)
        in_sample.append(roc_auc_score(noise, pi_xgb.fit_teacher(params, dprivileged, 20).values))
        out_of_fold.append(roc_auc_score(noise, pi_xgb.fit_teacher(params, dprivileged, 20, crossfit=5).values))
    # An in-sample teacher that trains long repeats even labels that are pure noise.
    assert min(in_sample) > 0.99
    # Out of fold there is nothing to repeat: chance, to three standard errors of five AUCs on 200 rows.
    assert abs(np.mean(out_of_fold) - 0.5) < 0.055


@pytest.mark.parametrize("n_folds", [2, 3, 7])
@pytest.mark.parametrize("seed", range(5))
def test_folds_are_a_partition_with_each_class_dealt_evenly(n_folds, seed):
    rng = np.random.default_rng(seed)
    label = rng.choice([0.0, 1.0, 2.0], size=101, p=[0.7, 0.25, 0.05]).astype(np.float32)
    folds = deal_folds(label, n_folds, seed)
    # Every row is held out once, and trained on in all other folds.
    np.testing.assert_array_equal(np.sort(np.concatenate([held_out for _, held_out in folds])), np.arange(101))
    for rest, held_out in folds:
        np.testing.assert_array_equal(np.sort(np.concatenate([rest, held_out])), np.arange(101))
    sizes = [len(held_out) for _, held_out in folds]
    assert max(sizes) - min(sizes) <= 1
    for k in range(3):
        counts = [int((label[held_out] == k).sum()) for _, held_out in folds]
        # No fold has two rows of a class more than another.
        assert max(counts) - min(counts) <= 1


def test_folds_of_a_regression_have_the_same_range():
    label = np.random.default_rng(0).normal(size=100)
    for _, held_out in deal_folds(label, 4, 0):
        # Of any four neighbours in the order of the labels each fold has one.
        ranks = np.sort(np.argsort(np.argsort(label))[held_out])
        np.testing.assert_array_equal(ranks // 4, np.arange(25))


def test_folds_are_seeded_and_shuffled():
    label = np.tile([0.0, 1.0], 50)
    first = [held_out.tolist() for _, held_out in deal_folds(label, 5, 0)]
    # The same seed, the same folds; another seed, others; never simply every fifth row.
    assert first == [held_out.tolist() for _, held_out in deal_folds(label, 5, 0)]
    assert first != [held_out.tolist() for _, held_out in deal_folds(label, 5, 1)]


def test_crossfit_in_train_is_that_of_fit_teacher():
    case = problem("multi:softprob")
    ours = pi_xgb.train(case.params(), case.dtrain(), 4, privileged=case.dprivileged(), crossfit=3)
    teacher = pi_xgb.fit_teacher(case.params(), case.dprivileged(), 4, crossfit=3)
    assert_same_model(ours, pi_xgb.train(case.params(), case.dtrain(), 4, teacher=teacher))


# --- weights, stopping and params of the teacher inside train --------------------------------------------------


@every_objective
@pytest.mark.parametrize("crossfit", [0, 3])
def test_the_weights_of_dtrain_count_for_a_teacher_that_has_none(objective, crossfit):
    case = problem(objective)
    params = case.params(tree_method="exact")  # hist would place its cuts by the weights of the matrix
    dtrain = case.dtrain(weighted=True)
    ours = pi_xgb.train(params, dtrain, 5, privileged=case.dprivileged(), crossfit=crossfit, kl_weight=3.0)
    theirs = pi_xgb.train(
        params, dtrain, 5, privileged=case.dprivileged(weighted=True), crossfit=crossfit, kl_weight=3.0
    )
    unweighted = pi_xgb.train(params, case.dtrain(), 5, privileged=case.dprivileged(), crossfit=crossfit)
    weighted, repeated, plain = (b.predict(dtrain, output_margin=True) for b in (ours, theirs, unweighted))
    # It makes no difference whether the privileged matrix repeats the weights of dtrain or leaves them out.
    np.testing.assert_allclose(weighted, repeated, atol=2e-5)
    assert np.abs(weighted - plain).max() > 0.01


def test_scale_pos_weight_counts_for_the_teacher_with_and_without_weights():
    case = problem("binary:logistic")
    params = case.params(tree_method="exact", scale_pos_weight=3.0)
    dtrain = case.dtrain(weighted=True)
    ours = pi_xgb.train(params, dtrain, 5, privileged=case.dprivileged(), kl_weight=3.0)
    theirs = pi_xgb.train(params, dtrain, 5, privileged=case.dprivileged(weighted=True), kl_weight=3.0)
    # Where the teacher needs a gradient of the library's own for the weights, the scale is in it too.
    np.testing.assert_allclose(ours.predict(dtrain), theirs.predict(dtrain), atol=1e-5)


@pytest.mark.parametrize("crossfit", [0, 3])
def test_privileged_evals_stop_the_teacher(crossfit):
    case, held_out = problem("binary:logistic"), problem("binary:logistic", seed=4)
    pvalid = xgb.DMatrix(held_out.z, np.random.default_rng(0).permutation(held_out.y))
    valid = held_out.dtrain()
    ours = pi_xgb.train(
        case.params(),
        case.dtrain(),
        30,
        privileged=case.dprivileged(),
        crossfit=crossfit,
        privileged_evals=[(pvalid, "pvalid")],
        evals=[(valid, "valid")],
        early_stopping_rounds=4,
        verbose_eval=False,
    )
    teacher = pi_xgb.fit_teacher(
        case.params(), case.dprivileged(), 30, crossfit=crossfit, evals=[(pvalid, "p")], early_stopping_rounds=4
    )
    assert all(booster.num_boosted_rounds() < 30 for booster in teacher.boosters)
    theirs = pi_xgb.train(
        case.params(),
        case.dtrain(),
        30,
        teacher=teacher,
        evals=[(valid, "valid")],
        early_stopping_rounds=4,
        verbose_eval=False,
    )
    # The teacher stops by its own validation rows, the student by its own, both after the same patience.
    assert_same_model(ours, theirs)
    assert ours.best_iteration == theirs.best_iteration


def test_without_privileged_evals_only_the_student_stops():
    case, held_out = problem("binary:logistic"), problem("binary:logistic", seed=4)
    more: dict[str, Any] = {
        "evals": [(held_out.dtrain(), "valid")],
        "early_stopping_rounds": 3,
        "verbose_eval": False,
    }
    ours = pi_xgb.train(case.params(), case.dtrain(), 40, privileged=case.dprivileged(), **more)
    teacher = pi_xgb.fit_teacher(case.params(), case.dprivileged(), 40)
    assert ours.num_boosted_rounds() < 40
    assert_same_model(ours, pi_xgb.train(case.params(), case.dtrain(), 40, teacher=teacher, **more))


def test_teacher_params_are_the_students_without_its_columns():
    case = problem("binary:logistic")
    params = case.params(monotone_constraints="(1,1,0,0,0)", interaction_constraints="[[0,1],[2,3,4]]")
    ours = pi_xgb.train(params, case.dtrain(), 4, privileged=case.dprivileged())
    teacher = pi_xgb.fit_teacher(case.params(), case.dprivileged(), 4)
    # Constraints on the student's columns mean nothing for the teacher's; all else is shared.
    assert_same_model(ours, pi_xgb.train(params, case.dtrain(), 4, teacher=teacher))
    own = {"max_depth": 1, "nthread": 1}
    ours = pi_xgb.train(params, case.dtrain(), 4, privileged=case.dprivileged(), teacher_params=own)
    teacher = pi_xgb.fit_teacher({**own, "objective": "binary:logistic"}, case.dprivileged(), 4)
    assert_same_model(ours, pi_xgb.train(params, case.dtrain(), 4, teacher=teacher))


def test_the_teacher_is_silent(capfd):
    case = problem("binary:logistic")
    evals = [(case.dprivileged(), "pvalid")]
    pi_xgb.fit_teacher(case.params(), case.dprivileged(), 3, evals=evals)
    assert capfd.readouterr().out == ""
    pi_xgb.train(
        case.params(),
        case.dtrain(),
        3,
        privileged=case.dprivileged(),
        privileged_evals=evals,
        evals=[(case.dtrain(), "valid")],
        early_stopping_rounds=3,
    )
    lines = capfd.readouterr().out.splitlines()
    # verbose_eval belongs to the student: one line a round, and no word of the teacher's rows.
    assert len(lines) == 3
    assert all("valid-logloss" in line and "pvalid" not in line for line in lines)


def test_a_teacher_can_be_kept_as_a_file():
    case = problem("binary:logistic")
    teacher = pi_xgb.fit_teacher(case.params(), case.dprivileged(), 4, crossfit=3)
    thawed = pickle.loads(pickle.dumps(teacher))
    np.testing.assert_array_equal(thawed.values, teacher.values)
    assert_same_model(
        pi_xgb.train(case.params(), case.dtrain(), 3, teacher=thawed),
        pi_xgb.train(case.params(), case.dtrain(), 3, teacher=teacher),
    )


def test_missing_values_categories_and_column_names_reach_the_teacher():
    case = problem("binary:logistic")
    z = case.z.copy()
    z.iloc[::3, 0] = np.nan
    z["kind"] = pd.Categorical(np.array(["a", "b", "c"])[np.arange(200) % 3])
    dprivileged = xgb.DMatrix(z, case.y, enable_categorical=True)
    teacher = pi_xgb.fit_teacher(case.params(), dprivileged, 4)
    assert teacher.booster.feature_names == ["z0", "z1", "z2", "kind"]
    assert_same_model(teacher.booster, xgb.train(case.params(), dprivileged, 4))
    crossfitted = pi_xgb.fit_teacher(case.params(), dprivileged, 4, crossfit=3)
    # A slice keeps names and types of the columns.
    assert all(b.feature_types == teacher.booster.feature_types for b in crossfitted.boosters)
    assert np.isfinite(crossfitted.values).all()


def test_a_base_margin_of_the_privileged_matrix_is_heeded():
    case = problem("binary:logistic")
    dprivileged = case.dprivileged()
    dprivileged.set_base_margin(np.linspace(-2, 2, 200))
    teacher = pi_xgb.fit_teacher(case.params(), dprivileged, 3)
    expected = xgb.train(case.params(), dprivileged, 3)
    np.testing.assert_array_equal(teacher.values, says("binary:logistic", expected, dprivileged))
    # Cross-fitting cuts it along with the rows.
    crossfitted = pi_xgb.fit_teacher(case.params(eta=0.0), dprivileged, 1, crossfit=4)
    np.testing.assert_allclose(crossfitted.values, 1 / (1 + np.exp(-np.linspace(-2, 2, 200))), rtol=1e-6)


def test_a_class_that_is_missing_from_a_fold():
    case = problem("multi:softprob")
    y = case.y.copy()
    y[y == 2] = 0
    y[17] = 2  # one row only: the fold that holds it out never sees its class
    with pytest.warns(UserWarning, match="crossfit should be at most the 1 labelled rows of class 2, got 3"):
        teacher = pi_xgb.fit_teacher(case.params(), xgb.DMatrix(case.z, y), 3, crossfit=3)
    assert teacher.values.shape == (200, N_CLASSES)
    # num_class and not the labels of a fold says how many columns there are.
    np.testing.assert_allclose(teacher.values.sum(axis=1), 1, atol=1e-6)


# --- errors ----------------------------------------------------------------------------------------------------


def test_what_cannot_be_a_teacher():
    case = problem("binary:logistic")
    with pytest.raises(TypeError, match=r"privileged.*xgboost\.DMatrix.*DataFrame"):
        pi_xgb.fit_teacher(case.params(), case.z, 3)
    with pytest.raises(ValueError, match="num_boost_round must be at least 1"):
        pi_xgb.fit_teacher(case.params(), case.dprivileged(), 0)
    with pytest.raises(ValueError, match=r"crossfit.*200 rows, got 1$"):
        pi_xgb.fit_teacher(case.params(), case.dprivileged(), 3, crossfit=1)
    with pytest.raises(ValueError, match=r"between 2.*200 rows.*201"):
        pi_xgb.fit_teacher(case.params(), case.dprivileged(), 3, crossfit=201)
    with pytest.raises(TypeError, match="whole number"):
        pi_xgb.fit_teacher(case.params(), case.dprivileged(), 3, crossfit=2.5)
    with pytest.raises(ValueError, match=r"labels.*\[0, 1\]"):
        pi_xgb.fit_teacher(case.params(), xgb.DMatrix(case.z, 3 * case.y), 3)
    with pytest.raises(ValueError, match="can guide the objectives"):
        pi_xgb.fit_teacher({"objective": "survival:cox"}, case.dprivileged(), 3)
    with pytest.raises(TypeError, match=r"QuantileDMatrix.*folds"):
        pi_xgb.fit_teacher(case.params(), xgb.QuantileDMatrix(case.z, case.y), 3, crossfit=3)
    with pytest.raises(TypeError, match=r"an instance, got the class DummyRegressor: pass DummyRegressor\(\)"):
        pi_xgb.fit_teacher(case.params(), case.dprivileged(), 3, teacher=DummyRegressor)


@pytest.mark.parametrize("box", [list, pd.Series, tuple])
def test_what_a_teacher_says_may_lie_in_any_box(box):
    class Boxed(pi_xgb.Teacher):
        def q(self, mean, label, weight):
            return box(case.q)

    class Array(pi_xgb.Teacher):
        def q(self, mean, label, weight):
            return case.q

    class Masked(pi_xgb.Teacher):
        def q(self, mean, label, weight):
            return np.ma.masked_less(case.q, 0.5)

    case = problem("binary:logistic")
    boxed, array = (pi_xgb.train(case.params(), case.dtrain(), 3, teacher=item()) for item in (Boxed, Array))
    assert boxed.get_dump() == array.get_dump()
    with pytest.raises(TypeError, match=r"q .*Masked.*masked"):
        pi_xgb.train(case.params(), case.dtrain(), 3, teacher=Masked())


def test_leave_one_out_is_the_finest_crossfit():
    case = problem("binary:logistic", n_rows=24)
    with pytest.warns(UserWarning, match="crossfit should be at most the .* got 24"):
        teacher = pi_xgb.fit_teacher(case.params(), case.dprivileged(), 1, crossfit=24)
    assert len(teacher.boosters) == 24


# --- the user's objects ----------------------------------------------------------------------------------------


def contents(matrix: xgb.DMatrix) -> dict[str, Any]:
    """Everything of a DMatrix that a user could have set, as bytes where it is an array."""
    fields = ["label", "weight", "base_margin", "label_lower_bound", "label_upper_bound", "feature_weights"]
    data = matrix.get_data()
    return {
        **{name: matrix.get_float_info(name).tobytes() for name in fields},
        "feature_names": matrix.feature_names,
        "feature_types": matrix.feature_types,
        "data": (data.data.tobytes(), data.indices.tobytes(), data.indptr.tobytes(), data.shape),
    }


class Stop(xgb.callback.TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
        if epoch == 1:
            raise RuntimeError("the lights went out")
        return False


GUIDED = {
    "kbpib": {"method": "kbpib"},
    "crossfit": {"crossfit": 3},
    "jpib": {"method": "jpib"},
    "native": {"engine": "native"},
    "native jpib": {"engine": "native", "method": "jpib"},
    "weight zero": {"kl_weight": 0.0},
    "teacher params": {"teacher_params": {"max_depth": 2, "nthread": 1}},
}


@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("how", GUIDED)
def test_the_users_objects_stay_as_they_were(how, weighted, stops):
    case, held_out = problem("binary:logistic"), problem("binary:logistic", seed=4)
    params = case.params(scale_pos_weight=2.0, eval_metric=["logloss", "auc"])
    matrices = {
        "dtrain": case.dtrain(weighted=weighted),
        "privileged": case.dprivileged(),
        "valid": held_out.dtrain(weighted=True),
        "privileged valid": held_out.dprivileged(),
    }
    matrices["dtrain"].set_info(feature_weights=np.ones(5))
    matrices["privileged"].set_base_margin(np.linspace(-1, 1, 200))
    evals = [(matrices["valid"], "valid")]
    callbacks = [Stop()] if stops else [xgb.callback.EvaluationMonitor(period=1000)]
    given = {
        "params": params,
        "evals": evals,
        "callbacks": callbacks,
        "keywords": GUIDED[how],
    }
    before = {name: contents(matrix) for name, matrix in matrices.items()}
    copies = {name: copy.copy(value) for name, value in given.items()}
    deep = copy.deepcopy(params), copy.deepcopy(GUIDED[how])

    def run() -> None:
        more = dict(GUIDED[how])
        if more.get("method") != "jpib":
            more["privileged_evals"] = [(matrices["privileged valid"], "pvalid")]
            more["early_stopping_rounds"] = 50
        pi_xgb.train(
            params,
            matrices["dtrain"],
            4,
            privileged=matrices["privileged"],
            evals=evals,
            callbacks=callbacks,
            verbose_eval=False,
            **more,
        )

    if stops:
        with pytest.raises(RuntimeError, match="lights"):
            run()
    else:
        run()
    # Labels, weights, margins, bounds, names and data of every matrix are what they were, also after an error.
    for name, matrix in matrices.items():
        assert contents(matrix) == before[name], name
    # So are params, evals and callbacks: the same objects in the same containers.
    assert given == copies
    assert (params, GUIDED[how]) == deep


@pytest.mark.parametrize("how", ["kbpib", "crossfit", "jpib", "native", "native jpib"])
def test_training_twice_with_the_same_objects_gives_the_same_model(how):
    case = problem("binary:logistic")
    params, dtrain, dprivileged = case.params(scale_pos_weight=2.0), case.dtrain(weighted=True), case.dprivileged()
    first = pi_xgb.train(params, dtrain, 4, privileged=dprivileged, **GUIDED[how])
    # Nothing of the first training is left in what the user passes again.
    assert_same_model(pi_xgb.train(params, dtrain, 4, privileged=dprivileged, **GUIDED[how]), first)
    assert_same_model(
        pi_xgb.train(params, case.dtrain(weighted=True), 4, privileged=case.dprivileged(), **GUIDED[how]), first
    )


def test_a_fold_without_a_claim_predicts_almost_nothing():
    x, claim = np.random.default_rng(0).normal(size=(60, 2)), np.zeros(60)
    claim[7] = 5.0
    params = {"objective": "reg:tweedie", "nthread": 1}
    teacher = pi_xgb.fit_teacher(params, xgb.DMatrix(x, claim), 5, crossfit=5)
    assert 0 <= teacher.values[7] < 1e-20
    assert teacher.values.max() > 0.01
    assert pi_xgb.fit_teacher(params | {"base_score": 0.5}, xgb.DMatrix(x, claim), 1, crossfit=5).values.min() > 0.1
    targets = np.float32([[0, 1], [0, 3]])
    assert _global_mean(targets, None).tolist() == [0, 2]
    assert _global_mean(targets, np.float32([1, 3])).tolist() == [0, 2.5]


@pytest.mark.parametrize(("own", "max_bin"), [({}, 64), ({"max_bin": 8}, 8), ({"booster": "gblinear"}, None)])
def test_the_boosted_member_of_a_mixture_has_64_bins_unless_set(own, max_bin):
    x = np.random.default_rng(0).normal(size=(200, 2))
    dtrain = xgb.DMatrix(x, x.prod(axis=1) > 0.1)
    params = {"objective": "binary:logistic", "nthread": 1, **own}
    mixed = pi_xgb.fit_teacher(params, dtrain, 3, teacher="mixed", crossfit=2)
    alone = pi_xgb.fit_teacher(params if max_bin is None else params | {"max_bin": max_bin}, dtrain, 3, crossfit=2)
    assert [b.get_dump() for b in mixed.boosters[:2]] == [b.get_dump() for b in alone.boosters]
    if max_bin == 64:
        assert mixed.boosters[0].get_dump() != pi_xgb.fit_teacher(params, dtrain, 3, crossfit=2).boosters[0].get_dump()


@pytest.mark.parametrize("kind", ["boosted", "forest", "linear", "mixed"])
def test_folds_share_out_the_rows_of_positive_weight(kind):
    x, y = np.random.default_rng(0).normal(size=(200, 2)), np.arange(200) % 2
    weight = np.zeros(200)
    weight[[0, 1, 2, 3]] = 1
    params = {"objective": "binary:logistic", "nthread": 1}
    teacher = pi_xgb.fit_teacher(params, xgb.DMatrix(x, y, weight=weight), 5, teacher=kind, crossfit=2)
    assert [len(member.models) for member in teacher.members] == [2] * len(teacher.members)
    assert np.isfinite(teacher.values).all()
    weight[1:] = 0
    with pytest.raises(ValueError, match="labelled has one row with a label: add labelled rows"):
        pi_xgb.fit_teacher(params, xgb.DMatrix(x, y, weight=weight), 5, teacher=kind, crossfit=2)


# --- its score ------------------------------------------------------------------------------------------------


def trapped(n=400, **data):
    made = pi_xgb.datasets.make_privileged(n, seed=0, **data)
    return xgb.DMatrix(made.x, made.y), xgb.DMatrix(made.z, made.y)


def test_a_cross_fitted_teacher_says_its_score():
    dtrain, privileged = trapped()
    params = {"objective": "binary:logistic", "nthread": 1}
    teacher = pi_xgb.fit_teacher(params, privileged, 20, crossfit=5)
    label, q = dtrain.get_label(), teacher.values
    expected = -np.log(np.where(label == 1, q, 1 - q)).mean()
    assert teacher.loss == pytest.approx(expected, rel=1e-5)
    assert repr(teacher) == f"<LearnedTeacher: boosted, 5 model(s) each, log loss {expected:.4f} out of fold>"


@pytest.mark.parametrize("labelled", [None, np.arange(200) % 3 > 0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_score_of_a_teacher_is_of_the_labelled_rows_by_their_weights(labelled, weighted):
    case, params = problem("binary:logistic"), problem("binary:logistic").params(scale_pos_weight=3.0)
    teacher = pi_xgb.fit_teacher(params, case.dprivileged(weighted=weighted), 4, crossfit=2, labelled=labelled)
    known = np.ones(200, bool) if labelled is None else labelled
    q, y = teacher.values[known].astype(float), case.y[known]
    weight = (case.weight if weighted else np.ones(200))[known] * np.where(y == 1, 3, 1)
    assert teacher.loss == pytest.approx(np.average(-np.log(np.where(y == 1, q, 1 - q)), weights=weight), rel=1e-5)
    assert repr(teacher) == f"<LearnedTeacher: boosted, 2 model(s) each, log loss {teacher.loss:.4f} out of fold>"


def test_nobody_knows_which_rows_a_frozen_estimator_has_seen(capsys):
    privileged = trapped()[1]
    params = {"objective": "binary:logistic", "nthread": 1}
    table, y = pd.DataFrame(privileged.get_data().toarray(), columns=privileged.feature_names), privileged.get_label()
    for frozen, where, watched in (
        (False, "on its own training rows", ", its training rows"),
        (True, "on the labelled rows", ""),
    ):
        estimator = LogisticRegression().fit(table, y)
        keywords = {"teacher": FrozenEstimator(estimator) if frozen else estimator, "crossfit": 0}
        teacher = pi_xgb.fit_teacher(params, privileged, **keywords, verbose_eval=True)
        assert repr(teacher).endswith(f"{where}>")
        assert capsys.readouterr().out.endswith(f" on 400 labelled rows{watched}\n")


@pytest.mark.parametrize("objective", ["rank:pairwise", "survival:aft", "reg:absoluteerror"])
def test_a_teacher_without_a_score_tells_none(objective, capsys):
    x, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60.0) % 7 + 1
    bounds = {"label_lower_bound": y, "label_upper_bound": y}
    keywords = {"rank:pairwise": {"label": y, "qid": np.arange(60) // 6}, "survival:aft": bounds}.get(
        objective, {"label": y}
    )
    params = {"objective": objective, "nthread": 1}
    teacher = pi_xgb.fit_teacher(params, xgb.DMatrix(x, **keywords), 3, crossfit=2, verbose_eval=True)
    # What XGBoost says of q needs one label in each row, and rows by themselves.
    output = capsys.readouterr().out
    assert output.startswith("teacher: q-mae:") if objective == "reg:absoluteerror" else output == ""
    assert np.isnan(teacher.loss)
    assert repr(teacher) == "<LearnedTeacher: boosted, 2 model(s) each>"


def test_the_rounds_of_a_teacher_are_a_whole_number():
    case = problem("binary:logistic")
    with pytest.raises(TypeError, match=r"num_boost_round.*whole.*'a'"):
        pi_xgb.fit_teacher(case.params(), case.dprivileged(), "a")


def test_groups_without_folds_would_be_read_by_nobody():
    case = problem("binary:logistic")
    groups = np.arange(case.dprivileged().num_row()) // 2
    with pytest.raises(ValueError, match="crossfit_groups require crossfit"):
        pi_xgb.fit_teacher(case.params(), case.dprivileged(), 2, crossfit_groups=groups)


def test_a_teacher_of_one_class_alone_is_refused():
    case = problem("binary:logistic")
    labelled = case.dprivileged().get_label() == 1
    with pytest.raises(ValueError, match="all labelled rows are of the class 1"):
        pi_xgb.fit_teacher(case.params(), case.dprivileged(), 3, labelled=labelled)


def test_a_wrong_answer_is_found_before_another_teacher_trains(monkeypatch):
    class Wrong(pi_xgb.Teacher):
        is_adaptive = False

        def q(self, mean, label, weight):
            return np.full(mean.shape, 2.0)

    def no_training(*arguments, **more):
        raise AssertionError("a model was trained")

    case = problem("binary:logistic")
    monkeypatch.setattr(xgb, "train", no_training)
    teachers = [("boosted", 1.0), (Wrong(), 1.0)]
    with pytest.raises(ValueError, match="Wrong"):
        pi_xgb.train(case.params(), case.dtrain(), 3, privileged=case.dprivileged(), teacher=teachers)


def test_other_upper_bounds_are_other_rows():
    case = problem("binary:logistic")
    time = np.exp(case.dprivileged().get_label())
    params = {"objective": "survival:aft", "nthread": 1}

    def bounded(table, upper):
        return xgb.DMatrix(table, label_lower_bound=time, label_upper_bound=upper)

    x, z = (matrix.get_data() for matrix in (case.dtrain(), case.dprivileged()))
    pi_xgb.train(params, bounded(x, time + 1), 2, privileged=bounded(z, time + 1))
    with pytest.raises(ValueError, match="disagree in 1 rows, first in row 3"):
        pi_xgb.train(params, bounded(x, time + 1), 2, privileged=bounded(z, time + 1 + (np.arange(len(time)) == 3)))


def test_labelled_rows_of_weight_0_are_of_no_class():
    case = problem("binary:logistic")
    label = case.dtrain().get_label()
    dtrain = xgb.DMatrix(case.dtrain().get_data(), label, weight=label)
    with pytest.raises(ValueError, match="all labelled rows are of the class 1, rows of weight 0 aside"):
        pi_xgb.train(case.params(), dtrain, 2, privileged=case.dprivileged(), labelled=np.arange(len(label)) < 40)
    dtrain.set_weight(np.arange(len(label)) >= 40)
    with pytest.raises(ValueError, match="the weights of privileged are all 0"):
        pi_xgb.train(case.params(), dtrain, 2, privileged=case.dprivileged(), labelled=np.arange(len(label)) < 40)


@pytest.mark.parametrize("objective", ["count:poisson", "reg:tweedie"])
@pytest.mark.parametrize("kind", ["forest", "linear", "mixed"])
def test_the_loss_of_a_rate_of_0_is_finite(objective, kind):
    z = np.random.default_rng(0).normal(size=(300, 2))
    count = (np.arange(300) == 1).astype(float)
    matrix = xgb.DMatrix(z, count)
    params = {"objective": objective, "nthread": 1}
    teacher = pi_xgb.fit_teacher(params, matrix, 3, teacher=kind, labelled=np.arange(300) < 10, crossfit=5)
    assert all(np.isfinite([teacher.loss, *(member.loss for member in teacher.members)]))


@pytest.mark.parametrize(("objective", "more"), [("reg:squarederror", {}), ("count:poisson", {"base_score": 0.5})])
def test_labels_of_0_alone_are_learned_as_by_xgboost(objective, more):
    matrix, params = xgb.DMatrix(np.arange(20).reshape(10, 2), np.zeros(10)), {"objective": objective, **more}
    teacher = pi_xgb.fit_teacher(params, matrix, 3)
    assert_same_model(teacher.booster, xgb.train(params, matrix, 3))


@pytest.mark.parametrize(("objective", "others"), [("survival:aft", ""), ("reg:gamma", "teacher='mixed', or ")])
def test_the_advice_to_a_wrong_estimator_can_be_followed(objective, others):
    case = problem("binary:logistic")
    time = np.exp(case.dprivileged().get_label())
    z = case.dprivileged().get_data().toarray()

    below = DummyRegressor(strategy="constant", constant=-1.0)
    bounds = {"label_lower_bound": time, "label_upper_bound": time} if objective == "survival:aft" else {"label": time}
    example = " (PoissonRegressor for counts)" if others else ""
    with pytest.raises(ValueError, match=re.escape(f"use {others}an estimator for such labels{example}")):
        pi_xgb.fit_teacher({"objective": objective, "nthread": 1}, xgb.DMatrix(z, **bounds), 3, teacher=below)

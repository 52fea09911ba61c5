"""Kinds of teachers that are trained on rows split over workers: the forest of one machine, or an error."""

import functools
import pickle
from unittest import mock

import numpy as np
import pytest
import xgboost as xgb
from helpers_distributed import N_ROWS, results_of_workers, rows
from sklearn.linear_model import LogisticRegression

import pi_xgb
from pi_xgb._core.learners import forest

pytestmark = pytest.mark.slow

ROUNDS = 4
PARAMS = {"max_depth": 3, "tree_method": "hist", "nthread": 1}
ROW = np.arange(N_ROWS)
# Of two workers the first has no label, of three the first, and the second few.
LABELLED = (np.random.default_rng(3).random(N_ROWS) < 0.5) & (ROW >= 180)
CASES = ["classes", "classes of x alone", "three classes", "numbers", "two targets", "counts", "unlabelled"]


def training(case, start, end):
    """The student's margins for all rows, taught by a forest of some of them."""
    x, z, y, weight, _ = (array[start:end] for array in rows())
    amount = z.sum(axis=1)
    objective, label, more = {
        "three classes": ("multi:softprob", (amount // 9).clip(0, 2), {"num_class": 3}),
        "numbers": ("reg:squarederror", amount, {}),
        "two targets": ("reg:squarederror", np.column_stack([amount, x[:, 0] - z[:, 1]]), {}),
        "counts": ("count:poisson", amount, {}),
    }.get(case, ("binary:logistic", y, {}))
    margin = np.log(1 + x[:, 4] % 3) if case == "counts" else None
    dtrain = xgb.DMatrix(x, label, weight=weight, base_margin=margin)
    privileged = None if case == "classes of x alone" else xgb.DMatrix(z, label, base_margin=margin)
    labelled = LABELLED[start:end] if case == "unlabelled" else None
    # Each worker draws rows of its own: without that a forest does not depend on how they are split.
    with mock.patch.dict(forest._PARAMS, subsample=1.0):
        booster = pi_xgb.train(
            {**PARAMS, **more, "objective": objective},
            dtrain,
            ROUNDS,
            privileged=privileged,
            teacher="forest",
            crossfit=0,
            labelled=labelled,
            kl_weight=2.0,
        )
    assert booster.attr("pi_xgb_teacher") == "forest"
    return booster.predict(xgb.DMatrix(rows()[0]), output_margin=True)


@functools.cache
def on_one_machine(case):
    return training(case, 0, N_ROWS)


def crossfitted(start, end):
    """A forest as it is drawn, cross-fitted by default, and the student that it teaches in one step and in two."""
    x, z, y, *_ = (array[start:end] for array in rows())
    params = {**PARAMS, "objective": "binary:logistic"}
    dtrain, privileged = xgb.DMatrix(x, y), xgb.DMatrix(z, y)
    teacher = pi_xgb.fit_teacher(params, xgb.DMatrix(np.hstack([x, z]), y), teacher="forest")
    student = pi_xgb.train(params, dtrain, ROUNDS, privileged=privileged, teacher="forest")
    again = pi_xgb.train(params, dtrain, ROUNDS, teacher=teacher)
    # A teacher that was trained before does not know which columns are privileged.
    assert student.attr("pi_xgb_teacher_settings") == "forest: crossfit=5, teacher_sees='all'"
    student.set_attr(pi_xgb_teacher_settings=again.attr("pi_xgb_teacher_settings"))
    return [bytes(booster.save_raw("json")) for booster in (student, again, *teacher.boosters)]


FAULTS = {
    "linear": ({"teacher": "linear"}, "teacher must be 'boosted' or 'forest' in a distributed training, got 'linear'"),
    "mixed": ({"teacher": "mixed"}, "in a distributed training, got 'mixed'"),
    "estimator": ({"teacher": LogisticRegression()}, "in a distributed training, got 'LogisticRegression'"),
    "in a list": ({"teacher": [("boosted", 1.0), ("mixed", 2.0)]}, "in a distributed training, got 'mixed'"),
}


def error_of(fault, start, end):
    x, z, y, *_ = (array[start:end] for array in rows())
    params = {**PARAMS, "objective": "binary:logistic"}
    try:
        pi_xgb.train(params, xgb.DMatrix(x, y), 2, privileged=xgb.DMatrix(z, y), **FAULTS[fault][0])
    except ValueError as error:
        return str(error)


def everything(_n_workers, start, end):
    return pickle.dumps(
        {
            "margins": {case: training(case, start, end) for case in CASES},
            "crossfitted": crossfitted(start, end),
            "faults": {fault: error_of(fault, start, end) for fault in FAULTS},
        }
    )


@pytest.fixture(scope="module")
def results():
    return results_of_workers(everything)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n_workers", [2, 3])
def test_a_forest_is_that_of_one_machine(results, n_workers, case):
    first, *others = [result["margins"][case] for result in results[n_workers]]
    # All workers end with one student, up to sums of fractions that of one machine.
    assert all(np.array_equal(margins, first) for margins in others)
    np.testing.assert_allclose(first, on_one_machine(case), rtol=1e-4, atol=1e-4)
    assert len(np.unique(first)) > 3


@pytest.mark.parametrize("n_workers", [2, 3])
def test_all_workers_share_a_drawn_forest_that_is_cross_fitted_by_default(results, n_workers):
    first, *others = [result["crossfitted"] for result in results[n_workers]]
    assert all(models == first for models in others)
    student, again, *folds = first
    assert student == again
    assert len(set(folds)) == 5


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("n_workers", [2, 3])
def test_what_only_one_machine_can_train_is_an_error_on_every_worker(results, n_workers, fault):
    for result in results[n_workers]:
        assert FAULTS[fault][1] in result["faults"][fault]

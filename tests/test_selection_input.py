"""select says what is wrong before it trains anything."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb
from helpers_selection import METHODS, SEES

import pi_xgb
from pi_xgb.constraints import DemographicParity
from pi_xgb.privacy import PrivateTeacher
from pi_xgb.selection import select

ROUNDS = 5
pytestmark = pytest.mark.filterwarnings("ignore:the teacher of:UserWarning")
EVERY = {"method": METHODS, "teacher": "boosted", "teacher_sees": SEES, "crossfit": (0, 2), "kl_weight": [1.0, 5.0]}
FEW = {**EVERY, "nfold": 3, "repeats": 1, "progress": False}


def data(n=150):
    made = pi_xgb.datasets.make_privileged(n, n_features=4, n_privileged=2, seed=0)
    params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
    return params, xgb.DMatrix(made.x, made.y), xgb.DMatrix(made.z, made.y)


def quick(**keywords):
    params, dtrain, privileged = data()
    return select(params, dtrain, ROUNDS, privileged=privileged, **{**FEW, **keywords})


@pytest.mark.filterwarnings("ignore:crossfit should be at most:UserWarning")
@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"kl_weight": []}, ValueError, "kl_weight is an empty list"),
        ({"kl_weight": 0.0}, ValueError, "kl_weight must have a value above 0"),
        ({"kl_weight": [1, 1.0]}, ValueError, "a value twice"),
        ({"kl_weight": [-1.0]}, ValueError, "at least 0"),
        ({"method": "pib"}, ValueError, "method must be one of"),
        ({"teacher": ["both"]}, ValueError, "teacher must be one of 'boosted'.*got 'both'"),
        ({"teacher": ["linear", DemographicParity([0, 1])]}, TypeError, "word or an estimator.*a DemographicParity"),
        ({"teacher": [PrivateTeacher(1.0, bounds={"z0": (-3, 3)})]}, TypeError, "word or an estim.*a PrivateTeacher: "),
        ({"teacher_sees": "both"}, ValueError, "teacher_sees must be one of.*got 'both'"),
        ({"teacher": "linear", "teacher_params": {"max_depth": 2}}, ValueError, "teacher_params require teacher='boos"),
        ({"crossfit": 1}, ValueError, "crossfit must be 0 .* or between 2 and the 150 rows, got 1"),
        ({"crossfit": "5"}, TypeError, r"crossfit.*whole number"),
        ({"crossfit": 101}, ValueError, "crossfit must be 0 .* between 2 and the 100 rows, got 101"),
        ({"nfold": 1}, ValueError, r"nfold.*least 2"),
        ({"nfold": 2.5}, TypeError, r"nfold.*whole number"),
        ({"nfold": 151}, ValueError, r"nfold.*number.*rows"),
        ({"nfold": 100}, ValueError, "rows for 100 folds"),
        ({"repeats": 0}, ValueError, r"repeats.*least 1"),
        ({"seed": -1}, ValueError, r"seed.*least 0.*-1"),
        ({"n_jobs": 0}, ValueError, r"n_jobs.*least 1"),
        ({"progress": "yes"}, TypeError, "progress must be True"),
        ({"standard_errors": -1}, ValueError, "standard_errors must be finite"),
        ({"standard_errors": "one"}, ValueError, "standard_errors must be finite"),
        ({"folds": [(range(100), range(90, 150))]}, ValueError, r"row.*common"),
        ({"folds": [(range(100), range(100, 150))]}, ValueError, "at least two, got 1"),
        ({"folds": [(range(100), [150])] * 2}, ValueError, "from 0 to 149 .*150 rows"),
        ({"folds": [(range(100), [-1])] * 2}, ValueError, r"row numbers.*got \[-1\]"),
        ({"folds": [(range(100), [])] * 2}, ValueError, r"fold 0.*sides"),
        ({"folds": [(range(100), range(100, 150))] * 2}, ValueError, r"fold 1.*fold 0"),
        ({"folds": [1, 2]}, TypeError, "pairs"),
        ({"folds": 5}, TypeError, r"folds.*5"),
        ({"folds": [(range(100), np.ones(149, bool))] * 2}, ValueError, r"truth.*150 rows"),
        ({"metric": "gini"}, ValueError, "metric must be one of XGBoost's .* got 'gini': in Python .* custom_metric"),
        ({"metric": 3}, ValueError, "got 3"),
        ({"metric": "error@0.3", "maximize": False}, ValueError, "maximize is read with custom_metric only"),
        ({"maximize": True}, ValueError, "maximize is read with custom_metric only"),
        ({"custom_metric": lambda p, d: ("m", 0.0)}, ValueError, "needs maximize"),
        ({"custom_metric": "auc"}, TypeError, "must be a function"),
        ({"metric": "auc", "custom_metric": max, "maximize": True}, ValueError, "both given"),
        (
            {"constraints": [(DemographicParity(np.arange(150) % 2), -1.0)]},
            ValueError,
            "the weight of a teacher in the list",
        ),
        (
            {"constraints": [DemographicParity(np.arange(150) % 2)]},
            TypeError,
            r"constraints must be a list of \(teacher, weight\)",
        ),
        ({"constraints": None}, TypeError, r"constraints must be a list of .* got NoneType"),
        ({"metrics": "auc"}, TypeError, "did you mean 'metric'"),
        ({"max_depth": 3}, TypeError, "parameters of the booster"),
    ],
)
def test_wrong_keywords(monkeypatch, wrong, error, message):
    monkeypatch.setattr(xgb, "train", lambda *args, **kwargs: pytest.fail("trained before the error"))
    with pytest.raises(error, match=message):
        quick(**wrong)


@pytest.mark.parametrize(("rounds", "error"), [(0, ValueError), (2.5, TypeError)])
def test_wrong_rounds(rounds, error):
    params, dtrain, privileged = data()
    with pytest.raises(error, match="num_boost_round must be"):
        select(params, dtrain, rounds, privileged=privileged, **FEW)
    # One is enough.
    assert select(params, dtrain, 1, privileged=privileged, **FEW).choice["num_boost_round"] == 1


def test_wrong_matrices():
    params, dtrain, privileged = data()
    y = dtrain.get_label()
    few = xgb.DMatrix(np.zeros((10, 1)), np.arange(10) % 2)
    ranked = xgb.DMatrix(np.zeros((150, 1)), y, qid=np.arange(150) // 10)
    external = xgb.ExtMemQuantileDMatrix.__new__(xgb.ExtMemQuantileDMatrix)
    unequal = xgb.DMatrix(np.zeros((150, 2)), 1 - y)
    for given, error, message in [
        ((dtrain, few), ValueError, "must describe the 150 rows"),
        ((dtrain, xgb.DMatrix(np.zeros((150, 2)))), ValueError, r"privileged must describe.*shape \(0,\).*label="),
        ((dtrain, unequal), ValueError, r"labels.*dtrain.*disagree"),
        ((dtrain, dtrain), ValueError, "dtrain itself"),
        ((ranked, privileged), ValueError, "without qid"),
        ((xgb.QuantileDMatrix(np.zeros((150, 1)), y), privileged), TypeError, "dtrain must be a DMatrix for select"),
        ((dtrain, xgb.QuantileDMatrix(np.zeros((150, 2)), y)), TypeError, "privileged must be a DMatrix for select"),
        ((external, privileged), TypeError, r"dtrain.*ExtMemQuantileDMatrix.*build"),
        ((dtrain, np.zeros((150, 2))), TypeError, "privileged must be an xgboost.DMatrix"),
    ]:
        with pytest.raises(error, match=message):
            select(params, given[0], ROUNDS, privileged=given[1], **FEW)
    for objective in ("binary:logistic", "reg:squarederror"):
        constant = xgb.DMatrix(np.zeros((9, 1)), np.ones(9)), xgb.DMatrix(np.ones((9, 2)), np.ones(9))
        with pytest.raises(ValueError, match="every label is 1"):
            select({"objective": objective}, constant[0], 2, privileged=constant[1])


def test_a_class_of_one_row_needs_more_rows_and_no_number_of_folds():
    params, *_ = data(20)
    y = np.arange(20) == 7
    dtrain, privileged = (xgb.DMatrix(np.zeros((20, 1)), y, feature_names=[name]) for name in "xz")
    with pytest.raises(ValueError, match=r"1 row.* for 3 folds: use more rows$"):
        select(params, dtrain, ROUNDS, privileged=privileged, **FEW)


def test_a_score_without_a_value_is_an_error():
    def sometimes(predictions, matrix):
        return "sometimes", float("nan")

    with pytest.raises(ValueError, match=r"sometimes.*nan"):
        quick(custom_metric=sometimes, maximize=True)

"""Mistakes that are easy to make, cost a model, and are told apart by a glance at what was passed."""

import numpy as np
import pytest
from xgboost import DMatrix

import pi_xgb
from pi_xgb.constraints import DemographicParity

DATA = pi_xgb.datasets.make_privileged(120, seed=0)
PARAMS = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}


class Model:
    """A fitted classifier that knows its classes in some order."""

    def __init__(self, classes):
        self.classes_ = np.array(classes)

    def predict_proba(self, data):
        return np.stack([1 - DATA.q, DATA.q], axis=1)


@pytest.mark.parametrize("classes", [["bad", "good"], [1, 0], [1, 2]])
def test_a_model_whose_columns_are_not_those_of_the_labels_is_refused(classes):
    with pytest.raises(ValueError, match="the classes of Model are"):
        pi_xgb.ModelTeacher(Model(classes), DATA.z)
    # In the order of the labels it is taken as it is.
    assert np.array_equal(pi_xgb.ModelTeacher(Model([0, 1]), DATA.z).values, DATA.q.to_numpy(np.float32))


def train(**guidance):
    return pi_xgb.train(PARAMS, DMatrix(DATA.x, DATA.y), 2, **guidance)


def test_a_list_says_how_its_pairs_are_written():
    for teacher in ([DATA.q, DemographicParity(DATA.group)], [(0.5, DATA.q)]):
        with pytest.raises(TypeError, match=r"pairs \(teacher, weight\)"):
            train(teacher=teacher)


def test_two_columns_for_a_binary_objective_name_the_one_to_take():
    with pytest.raises(ValueError, match=r"q\[:, 1\]"):
        train(teacher=np.stack([1 - DATA.q, DATA.q], axis=1))


@pytest.mark.parametrize("privileged", [None, DMatrix(DATA.z, DATA.y)])
def test_the_class_of_an_estimator_is_not_an_estimator(privileged):
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(TypeError, match=r"class LogisticRegression: pass LogisticRegression\(\)"):
        pi_xgb.train(PARAMS, DMatrix(DATA.x, DATA.y), 2, privileged=privileged, teacher=LogisticRegression)
    with pytest.raises(TypeError, match=r"pass LogisticRegression\(\)"):
        pi_xgb.fit_teacher(PARAMS, DMatrix(DATA.z, DATA.y), teacher=LogisticRegression)


def test_an_array_in_fit_teacher_is_named_and_not_shown():
    with pytest.raises(TypeError, match=r"teacher must be .*got an object of the type ndarray: [a-z ]*pi_xgb.train$"):
        pi_xgb.fit_teacher(PARAMS, DMatrix(DATA.z, DATA.y), teacher=np.asarray(DATA.q))


def test_a_matrix_is_not_its_own_teacher_by_accident():
    unnamed = DMatrix(DATA.x.to_numpy(), DATA.y)
    with pytest.raises(ValueError, match="privileged is dtrain itself"):
        pi_xgb.train(PARAMS, unnamed, 2, privileged=unnamed)


@pytest.mark.parametrize("name", ["kl_weight", "method", "teacher_sees", "crossfit", "teacher_params", "engine"])
def test_our_keywords_do_not_belong_in_params(name):
    with pytest.raises(ValueError, match=f"{name}.*not a parameter"):
        pi_xgb.train({**PARAMS, name: 1}, DMatrix(DATA.x, DATA.y), 2, privileged=DMatrix(DATA.z, DATA.y))


def test_checkpoints_are_of_joint_teachers(tmp_path):
    with pytest.raises(TypeError, match=r"JointTeacher.*training.*Series"):
        pi_xgb.JointCheckPoint(tmp_path, DATA.q)
    assert pi_xgb.JointCheckPoint.latest(tmp_path) is None

"""Mistakes that are easy to make, cost a model, and are told apart by a glance at what was passed."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
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


def matrices(y=None):
    y = np.arange(40) % 2 if y is None else y
    x = np.arange(40.0)[:, None]
    return DMatrix(x, y, feature_names=["a"]), DMatrix(-x, y, feature_names=["z"])


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


def test_a_list_of_names_is_shown_how_to_write_pairs():
    dtrain, privileged = matrices()
    for teacher, kind in ((["mixed", "forest"], "list"), (len, "builtin_function_or_method")):
        with pytest.raises(ValueError, match=rf"teacher must be.*pairs such as.*got {kind}.*ModelTeacher"):
            pi_xgb.train(PARAMS, dtrain, 2, privileged=privileged, teacher=teacher)


def test_labels_or_row_numbers_in_place_of_truth_values_lead_to_notna():
    dtrain, privileged = matrices()
    for labelled, message in ((np.arange(5), "each of the 40 rows.*got 5"), (np.full(40, np.nan), "40 missing")):
        with pytest.raises(ValueError, match=rf"labelled must.*{message}.*build it as y.notna\(\)"):
            pi_xgb.train(PARAMS, dtrain, 2, privileged=privileged, labelled=labelled)


@pytest.mark.parametrize("teacher", ["boosted", "forest", "linear", "mixed"])
def test_too_few_labelled_rows_are_the_reason_and_not_crossfit(teacher):
    dtrain, privileged = matrices()
    for n_labelled, message in [
        (0, "labelled has no row with a label: add"),
        (1, "labelled has one row with a label: add"),
    ]:
        how = {"privileged": privileged, "teacher": teacher, "crossfit": 2, "labelled": np.arange(40) < n_labelled}
        with pytest.raises(ValueError, match=message) as raised:
            pi_xgb.train(PARAMS, dtrain, 2, **how)
        assert "crossfit" not in str(raised.value)


def test_an_error_of_an_estimator_names_the_teacher_and_its_rows():
    dtrain, privileged = matrices()
    teacher = make_pipeline(make_column_transformer(("passthrough", ["note"])), LogisticRegression())
    with pytest.raises(ValueError, match="note") as caught:
        pi_xgb.train(PARAMS, dtrain, 2, privileged=privileged, teacher=teacher, crossfit=2)
    assert caught.value.__notes__ == ["raised by the teacher Pipeline on 20 rows, columns 'a', 'z' of a DMatrix"]


def test_predictions_out_of_range_lead_to_another_teacher():
    dtrain, privileged = matrices(np.arange(40) // 38)
    with pytest.raises(ValueError, match=r"Ridge must be at least 0, got values from -.*PoissonRegressor"):
        pi_xgb.train({"objective": "count:poisson"}, dtrain, 2, privileged=privileged, teacher=Ridge())


def test_two_columns_of_one_name():
    table = pd.DataFrame(np.zeros((8, 2)), columns=["a", "a"])
    for made in ({"X": table}, {"X": table[["a"]].set_axis(["x", "b"], axis=1), "privileged": table}):
        with pytest.raises(ValueError, match=r"distinct name.*'a'"):
            pi_xgb.PrivilegedXGBClassifier().fit(**made, y=[0, 1] * 4)


@pytest.mark.parametrize("keyword", ["constraint", "constraints"])
def test_a_constraint_is_passed_as_a_teacher(keyword):
    with pytest.raises(
        TypeError, match=f"no keyword '{keyword}': pass a constraint as teacher=, and its weight as kl_"
    ):
        train(**{keyword: DemographicParity(DATA.group)})

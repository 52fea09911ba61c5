"""Labels and privileged values that say nothing, or not what they seem to: one message on every road."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

import pi_xgb
from pi_xgb.sklearn import (
    PrivilegedXGBClassifier,
    PrivilegedXGBClassifierCV,
    PrivilegedXGBRegressor,
    PrivilegedXGBRegressorCV,
)

N = 60
DATA = pi_xgb.datasets.make_privileged(N, seed=0)
PARAMS = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
ESTIMATORS = (PrivilegedXGBClassifier, PrivilegedXGBRegressor, PrivilegedXGBClassifierCV, PrivilegedXGBRegressorCV)
every_estimator = pytest.mark.parametrize("made", ESTIMATORS, ids=lambda made: made.__name__)


def matrices(z=DATA.z):
    return xgb.DMatrix(DATA.x, DATA.y), xgb.DMatrix(z, DATA.y)


def fit(made, y, x=DATA.x, z=DATA.z, **keywords):
    return made(n_estimators=2, max_depth=2, n_jobs=1).fit(x, y, privileged=z, verbose=False, **keywords)


ROADS = {
    "train": lambda z, **told: pi_xgb.train(PARAMS, matrices()[0], 2, privileged=matrices(z)[1], **told),
    "jpib": lambda z, **told: pi_xgb.train(PARAMS, matrices()[0], 2, privileged=matrices(z)[1], method="jpib", **told),
    "cv": lambda z, **told: pi_xgb.cv(PARAMS, matrices()[0], 2, privileged=matrices(z)[1], **told),
    "select": lambda z, **told: pi_xgb.select(PARAMS, matrices()[0], 2, privileged=matrices(z)[1], **told),
    "fit_teacher": lambda z, **told: pi_xgb.fit_teacher(PARAMS, matrices(z)[1], 2, **told),
}


@pytest.fixture
def nobody_trains(monkeypatch):
    monkeypatch.setattr(xgb, "train", None)


@pytest.mark.parametrize("road", ROADS)
def test_no_labelled_row_is_one_message(road, nobody_trains):
    with pytest.raises(ValueError, match=r"labelled.*row.*label"):
        ROADS[road](DATA.z, labelled=np.zeros(N, bool))


def test_no_labelled_row_is_the_same_message_where_y_says_it(nobody_trains):
    nothing = "y has no row with a label"
    for made in ESTIMATORS:
        for y in (np.full(N, np.nan), [None] * N, pd.Series([pd.NA] * N)):
            with pytest.raises(ValueError, match=nothing):
                fit(made, y)
    with pytest.raises(ValueError, match=nothing):
        pi_xgb.compare(DATA.x, DATA.y * np.nan, DATA.z, params=PARAMS)
    objective = pi_xgb.KLObjective(np.full(N, 0.5), objective="binary:logistic", labelled=np.zeros(N, bool))
    with pytest.raises(ValueError, match=nothing.replace("y has", "labelled has")):
        objective(np.zeros(N), matrices()[0])


@pytest.mark.parametrize("road", ROADS)
def test_privileged_columns_without_any_value_are_an_error(road, nobody_trains):
    with pytest.raises(ValueError, match=r"values.*60 rows"):
        ROADS[road](DATA.z * np.nan)


@every_estimator
@pytest.mark.parametrize("sees", ["privileged", "all"])
def test_they_are_for_estimators_too(made, sees, nobody_trains):
    with pytest.raises(ValueError, match=r"values.*60 rows"):
        made(n_estimators=2, n_jobs=1, teacher="boosted", teacher_sees=sees).fit(
            DATA.x, DATA.y, privileged=DATA.z * np.nan
        )


def test_they_are_for_a_teacher_of_scikit_learns_kind():
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = PrivilegedXGBClassifier(teacher=HistGradientBoostingClassifier())
    with pytest.raises(ValueError, match=r"values.*60 rows"):
        model.fit(DATA.x, DATA.y, privileged=DATA.z * np.nan)


@pytest.mark.parametrize("word", ["nan", "NaN", "", "  ", "?", "None", "<NA>", "NaT"])
def test_a_class_that_may_mean_no_label_is_pointed_out(word):
    # A NumPy array of texts makes the text "nan" of a NaN.
    y = np.where(DATA.y == 1, "ill", "well").astype(object)
    y[:20] = word
    for labels in (y, y.astype(str), pd.Series(y), list(y)):
        with pytest.warns(UserWarning, match=rf"y .*class '{word.replace('?', '[?]')}'"):
            fit(PrivilegedXGBClassifier, labels)


def test_a_class_of_minus_1_is_pointed_out():
    with pytest.warns(UserWarning, match="y has the class -1 beside 2 others"):
        fit(PrivilegedXGBClassifier, np.arange(N) % 3 - 1)


def test_other_words_are_classes_like_others(recwarn):
    y = np.where(DATA.y == 1, "none", "mild")
    assert fit(PrivilegedXGBClassifier, y).classes_.tolist() == ["mild", "none"]
    assert not recwarn.list


@every_estimator
def test_labels_that_are_no_labels(made):
    with pytest.raises(ValueError, match=f"{made.__name__}.*y .*None"):
        fit(made, None)
    for y, x in [(DATA.y[:50], DATA.x), (np.r_[DATA.y, 1], DATA.x), (DATA.y[:59].tolist(), DATA.x.to_numpy())]:
        with pytest.raises(ValueError, match=f"y must have one value for each of the 60 rows of X, got {len(y)}"):
            fit(made, y, x)
    with pytest.raises(ValueError, match=r"y of eval_set\[0\] must have one value for each of the 60 rows of X of"):
        fit(made, DATA.y, eval_set=[(DATA.x, DATA.y[:50])])


@pytest.mark.parametrize("made", [PrivilegedXGBRegressor, PrivilegedXGBRegressorCV])
@pytest.mark.parametrize("with_gaps", [False, True])
def test_labels_that_are_no_numbers_of_single_precision(made, with_gaps):
    gap = [np.nan] if with_gaps else [0.5]
    for wrong in (np.inf, -np.inf, 1e300):
        y = np.r_[gap, DATA.q[1:58], wrong, 1.0]
        with pytest.raises(ValueError, match=r"y must be .* single precision, got .* in row 58"):
            fit(made, y)
        with pytest.raises(ValueError, match=r"eval_set\[0\] must be .* in row 59"):
            fit(made, DATA.q, eval_set=[(DATA.x, np.r_[DATA.q[:59], wrong])])
    for y in (["a", *DATA.q[1:]], pd.date_range("2020", periods=N), DATA.q * 1j):
        with pytest.raises(TypeError, match=r"y must be .*numbers.* got .* in row 0"):
            fit(made, y)


@pytest.mark.parametrize("made", [PrivilegedXGBClassifier, PrivilegedXGBRegressor])
def test_weights_and_margins_of_the_wrong_length(made):
    short = np.ones(50)
    sets = {"eval_set": [(DATA.x, DATA.y)]}
    for keywords, named in [
        ({"sample_weight": short}, "sample_weight must have one value"),
        ({"base_margin": short}, "base_margin must have one margin"),
        ({"sample_weight_eval_set": [short], **sets}, r"sample_weight_eval_set\[0\] must have one value"),
        ({"base_margin_eval_set": [short], **sets}, r"base_margin_eval_set\[0\] must have one margin"),
    ]:
        with pytest.raises(ValueError, match=f"{named}.*60 rows"):
            fit(made, DATA.y, **keywords)


def test_where_nobody_counts_every_objective_of_xgboost_is_there():
    counts = (10 * DATA.q).round()
    plain = {"n_estimators": 3, "max_depth": 2, "n_jobs": 1}

    def of_the_user(label, predicted):
        return predicted - label, np.ones_like(predicted)

    for objective in ("reg:absoluteerror", "reg:pseudohubererror", of_the_user):
        ours = PrivilegedXGBRegressor(kl_weight=0, objective=objective, **plain)
        ours.fit(DATA.x, counts + 1, privileged=DATA.z)
        theirs = xgb.XGBRegressor(objective=objective, **plain).fit(DATA.x, counts + 1)
        assert ours.get_booster().save_raw() == theirs.get_booster().save_raw()
    params = {**PARAMS, "objective": "reg:absoluteerror"}
    dtrain, privileged = xgb.DMatrix(DATA.x, counts), xgb.DMatrix(DATA.z, counts)
    told = pi_xgb.cv(params, dtrain, 3, privileged=privileged, kl_weight=0)
    pd.testing.assert_frame_equal(told, xgb.cv(params, dtrain, 3))
    # Somebody who counts, or rows without a label, need a loss that a teacher can guide.
    for guidance in ({"kl_weight": 1.0}, {"kl_weight": 0, "labelled": np.arange(N) < 30}):
        with pytest.raises(ValueError, match="can guide"):
            pi_xgb.train({**params, "objective": "survival:cox"}, dtrain, 3, privileged=privileged, **guidance)

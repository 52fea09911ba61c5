"""Labels and privileged values that say nothing, or not what they seem to: one message on every road."""

from __future__ import annotations

from functools import partial

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
    learning = pi_xgb.JointTeacher(matrices()[1], PARAMS)
    objective = pi_xgb.KLObjective(learning, objective="binary:logistic", labelled=np.zeros(N, bool))
    with pytest.raises(ValueError, match=nothing.replace("y has", "labelled has")):
        objective(np.zeros(N), matrices()[0])
    # A given q needs no label: the gradient is that of soft labels of its weight.
    soft = pi_xgb.KLObjective(np.full(N, 0.25), 2.0, objective="binary:logistic", labelled=np.zeros(N, bool))
    np.testing.assert_allclose(soft(np.zeros(N), matrices()[0])[0], 2.0 * (0.5 - 0.25))


@pytest.mark.parametrize("road", ROADS)
def test_privileged_columns_without_any_value_are_an_error(road, nobody_trains):
    with pytest.raises(ValueError, match=r"values.*60 rows"):
        ROADS[road](DATA.z * np.nan)


@pytest.mark.parametrize("word", ["nan", "NaN", "", "  ", "?", "None", "<NA>", "NaT"])
@pytest.mark.slow
def test_a_class_that_may_mean_no_label_is_pointed_out(word):
    # A NumPy array of texts makes the text "nan" of a NaN.
    y = np.where(DATA.y == 1, "ill", "well").astype(object)
    y[:20] = word
    for labels in (y, y.astype(str), pd.Series(y), list(y)):
        with pytest.warns(UserWarning, match=rf"y .*class '{word.replace('?', '[?]')}'"):
            fit(partial(PrivilegedXGBClassifier, teacher="boosted"), labels)


@every_estimator
def test_labels_that_are_no_labels(made):
    with pytest.raises(ValueError, match=f"{made.__name__}.*y .*None"):
        fit(made, None)
    for y, x in [(DATA.y[:50], DATA.x), (np.r_[DATA.y, 1], DATA.x), (DATA.y[:59].tolist(), DATA.x.to_numpy())]:
        with pytest.raises(ValueError, match=f"y must have one value for each of the 60 rows of X, got {len(y)}"):
            fit(made, y, x)
    with pytest.raises(ValueError, match=r"y of eval_set\[0\] must have one value for each of the 60 rows of X of"):
        fit(made, DATA.y, eval_set=[(DATA.x, DATA.y[:50])])


@pytest.mark.parametrize("made", [PrivilegedXGBClassifier, PrivilegedXGBRegressor])
def test_weights_and_margins_of_the_wrong_length(made):
    short = np.ones(50)
    sets = {"eval_set": [(DATA.x, DATA.y)]}
    for keywords, named in [
        ({"sample_weight": short}, "sample_weight must have one value"),
        ({"sample_weight_eval_set": [short], **sets}, r"sample_weight_eval_set\[0\] must have one value"),
    ]:
        with pytest.raises(ValueError, match=f"{named}.*60 rows"):
            fit(made, DATA.y, **keywords)

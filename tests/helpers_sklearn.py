"""Rows, estimators and comparisons of the tests of the scikit-learn estimators."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

import pi_xgb
from pi_xgb.sklearn import PrivilegedXGBClassifier, PrivilegedXGBRegressor

SMALL = {"n_estimators": 8, "max_depth": 3, "n_jobs": 1}

N, ROUNDS = 160, SMALL["n_estimators"]

NAMES = {
    "strings": np.array(["ill", "healthy", "well"]),
    "objects": np.array(["ill", "healthy", "well"], dtype=object),
    "numbers": np.array([7, -2, 30]),
    "floats": np.array([2.0, 1.0, 4.0]),
    "dates": np.array(["2020-01-02", "2021-01-01", "1999-01-01"], dtype="datetime64[D]"),
}

every_target = pytest.mark.parametrize("classes", [2, 3, 0])


def rows(n=240, classes=2, seed=0):
    """X, privileged and y: 0/1, several classes or, with ``classes=0``, numbers."""
    data = pi_xgb.datasets.make_privileged(n, n_features=4, n_privileged=2, seed=seed)
    if classes == 0:
        return data.x, data.z, data.q
    if classes == 2:
        return data.x, data.z, data.y
    return data.x, data.z, pd.qcut(data.q, classes, labels=False)


def estimator(classes=2, **parameters):
    made = PrivilegedXGBRegressor if classes == 0 else PrivilegedXGBClassifier
    return made(**{**SMALL, **parameters})


def plain(classes=2, **parameters):
    made = xgb.XGBRegressor if classes == 0 else xgb.XGBClassifier
    return made(**{**SMALL, **parameters})


def params_of(model, classes):
    params = {key: value for key, value in model.get_xgb_params().items() if value is not None}
    return params if classes in (0, 2) else {**params, "objective": "multi:softprob", "num_class": classes}


def same_model(first, second):
    return first.get_booster().save_raw() == second.get_booster().save_raw()


class Rows:
    """X, privileged, y as numbers without gaps, y with gaps, which rows have a label, and what else goes by row."""

    def __init__(self, classes=2, seed=0):
        data = pi_xgb.datasets.make_privileged(N, n_features=4, n_privileged=2, seed=seed)
        self.x, self.z, self.classes = data.x, data.z, classes
        self.full = data.q if classes == 0 else pd.Series(data.y if classes == 2 else pd.qcut(data.q, 3, labels=False))
        rng = np.random.default_rng(seed)
        self.labelled = rng.random(N) < 0.4
        self.y = self.full.astype(float).where(self.labelled)
        self.weight = rng.choice([0.5, 1.0, 2.0], N).astype(np.float32)
        self.teacher_weight = rng.choice([0.3, 1.0, 2.5], N)
        self.patient = np.arange(N) // 3

    def estimator(self, **parameters):
        made = PrivilegedXGBRegressor if self.classes == 0 else PrivilegedXGBClassifier
        return made(**{**SMALL, **parameters})

    def params(self, **parameters):
        """What the estimator hands to train."""
        made = self.estimator(**parameters).get_xgb_params()
        params = {key: value for key, value in made.items() if value is not None}
        return params | ({"objective": "multi:softprob", "num_class": 3} if self.classes == 3 else {})

    def by_train(self, label=None, weight=None, **guiding):
        """The booster of pi_xgb.train on these rows."""
        # Of a QuantileDMatrix the labelled rows cannot be taken, which are all that count at a weight of 0.
        made = xgb.DMatrix if guiding.get("kl_weight") == 0 else xgb.QuantileDMatrix
        dtrain = made(self.x, self.full if label is None else label, weight=weight)
        return pi_xgb.train(self.params(), dtrain, ROUNDS, **guiding)


def raw(model):
    return (model if isinstance(model, xgb.Booster) else model.get_booster()).save_raw()


def nameless(model):
    """The bytes of a booster, but for the name of its teacher: what an estimator taught may come from an array."""
    booster = (model if isinstance(model, xgb.Booster) else model.get_booster()).copy()
    booster.set_attr(pi_xgb_teacher=None, pi_xgb_teacher_settings=None)
    return booster.save_raw()


def same_as_train(model, x, y, classes, *, weight=None, **guiding):
    dtrain = xgb.QuantileDMatrix(x, y, weight=weight)
    expected = pi_xgb.train(params_of(model, classes), dtrain, SMALL["n_estimators"], **guiding)
    return nameless(model.get_booster()) == nameless(expected)

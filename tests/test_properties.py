"""Properties of every teacher on generated rows; HYPOTHESIS_PROFILE=long draws a thousand examples of each."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xgboost as xgb
from hypothesis import given
from hypothesis import strategies as st
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.pipeline import make_pipeline

import pi_xgb

TEACHERS = ("array", "boosted", "forest", "linear", "mixed", "estimator", "jpib")
OBJECTIVES = ("binary:logistic", "reg:squarederror", "count:poisson")
ESTIMATORS = {"binary:logistic": LogisticRegression, "reg:squarederror": Ridge, "count:poisson": PoissonRegressor}
MARKS = (None, np.nan, -999.0)
"""How missing values are written; None where there are none."""


class Case(NamedTuple):
    """Rows and how they are taught, all from one seed."""

    teacher: str
    objective: str
    seed: int
    masked: bool
    grouped: bool
    zero_weights: bool
    base_margin: bool
    categories: bool
    missing: float | None


CASES = st.builds(
    Case,
    teacher=st.sampled_from(TEACHERS),
    objective=st.sampled_from(OBJECTIVES),
    seed=st.integers(0, 10**6),
    missing=st.sampled_from(MARKS),
    **dict.fromkeys(Case._fields[3:-1], st.booleans()),
)


class Rows:
    def __init__(self, case: Case, n: int = 80) -> None:
        rng = np.random.default_rng(case.seed)
        hidden = rng.normal(size=n)
        self.case, self.n = case, n
        self.x = pd.DataFrame({"a": hidden + rng.normal(size=n), "b": rng.normal(size=n)})
        self.z = pd.DataFrame({"u": hidden, "v": rng.normal(size=n)})
        if case.missing is not None:
            self.x = self.x.mask(rng.random((n, 2)) < 0.2, case.missing)
            self.z["u"] = self.z["u"].mask(rng.random(n) < 0.2, case.missing)
        if case.categories:
            self.x["c"] = pd.Categorical.from_codes(rng.integers(0, 3, n), ["r", "g", "b"])
            self.z["d"] = pd.Categorical.from_codes(np.digitize(hidden, [-1, 1]), ["low", "mid", "high"])
        self.y = {
            "binary:logistic": hidden + rng.normal(size=n) > 0,
            "reg:squarederror": 2 * hidden + rng.normal(size=n),
            "count:poisson": rng.poisson(np.exp(hidden / 2)),
        }[case.objective].astype(np.float32)
        self.q = {
            "binary:logistic": 1 / (1 + np.exp(-hidden)),
            "reg:squarederror": 2 * hidden,
            "count:poisson": np.exp(hidden / 2),
        }[case.objective]
        self.labelled = rng.random(n) < 0.6 if case.masked else None
        self.weight = rng.choice([0.0, 0.5, 1.0, 2.0], n) if case.zero_weights else None
        self.groups = np.arange(n) // 4 if case.grouped else None
        self.margin = rng.choice([-0.5, 0.0, 0.5], n) if case.base_margin else None
        self.params = {"objective": case.objective, "max_depth": 3, "nthread": 1}

    def matrix(self, table: pd.DataFrame, label: Any = None, *, exposed: bool = True) -> xgb.DMatrix:
        margin = self.margin if exposed else None
        label, missing = self.y if label is None else label, self.case.missing
        fields = {"weight": self.weight, "base_margin": margin, "enable_categorical": True}
        return xgb.DMatrix(table, label, missing=np.nan if missing is None else missing, **fields)

    def keywords(self, label: Any = None) -> dict[str, Any]:
        teacher = self.case.teacher
        given_to_all: dict[str, Any] = {"kl_weight": 2.0, "labelled": self.labelled}
        if teacher == "array":
            return {**given_to_all, "teacher": self.q}
        exposed = self.case.objective == "count:poisson"
        given_to_all["privileged"] = self.matrix(self.z, label, exposed=exposed)
        if teacher == "jpib":
            return {**given_to_all, "teacher": "boosted", "method": "jpib"}
        kind = make_pipeline(SimpleImputer(), ESTIMATORS[self.case.objective]()) if teacher == "estimator" else teacher
        learned = {"teacher": kind, "crossfit": 3, "teacher_sees": "privileged", "crossfit_groups": self.groups}
        return {**given_to_all, **learned}

    def train(self, label: Any = None, **more: Any) -> xgb.Booster:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rare classes, or of scikit-learn's solvers
            keywords = self.keywords(label) | more
            return pi_xgb.train(self.params, self.matrix(self.x, label), 4, **keywords)

    def predict(self, booster: xgb.Booster) -> np.ndarray:
        return booster.predict(self.matrix(self.x))


@given(CASES)
def test_a_model_is_finite_and_repeatable_and_has_the_columns_of_the_student(case):
    rows = Rows(case)
    booster = rows.train()
    found, text = rows.predict(booster), booster.save_raw("json")
    assert np.isfinite(found).all()
    assert case.objective == "reg:squarederror" or found.min() >= 0
    assert case.objective != "binary:logistic" or found.max() <= 1
    assert booster.feature_names == list(rows.x)
    assert b'"u"' not in text
    assert b'"v"' not in text
    assert rows.train().save_raw("json") == text


@given(CASES)
def test_labels_of_unlabelled_rows_change_no_byte(case):
    rows = Rows(case._replace(masked=True))
    other = np.where(rows.labelled, rows.y, rows.y[::-1])
    assert rows.train(other).save_raw() == rows.train().save_raw()


@given(CASES)
def test_a_teacher_of_weight_0_is_xgboost(case):
    rows = Rows(case._replace(masked=False))
    plain = xgb.train(rows.params, rows.matrix(rows.x), 4)
    assert rows.train(kl_weight=0).save_raw() == plain.save_raw()


@given(CASES)
def test_rows_of_weight_0_teach_nothing(case):
    # exact draws no cuts by weights, and a fixed q needs no folds.
    rows = Rows(case._replace(teacher="array", zero_weights=True, categories=False))
    rows.params["tree_method"] = "exact"
    rows.weight[1:9] = 0
    counted = rows.predict(rows.train())
    rows.y[1:9], rows.q[1:9] = rows.y[10:18], rows.q[10:18]
    np.testing.assert_array_equal(rows.predict(rows.train()), counted)

"""The columns that a trained teacher reads: their names, order and categories, from matrices and from tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

import pi_xgb

PARAMS = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
DATA = pi_xgb.datasets.make_privileged(200, n_features=3, n_privileged=2, seed=0)
TOWNS = pd.Series(np.array(["a", "b", "c"])[np.arange(200) % 3])
TABLE = DATA.z.assign(town=pd.Categorical(TOWNS), wing=pd.Categorical(np.arange(200) % 4 + 7))
KINDS = {name: name for name in ("boosted", "forest", "linear", "mixed")} | {"estimator": RandomForestClassifier(5)}


def matrix(table, y=None):
    return xgb.DMatrix(table, y, enable_categorical=True)


def teacher_of(kind, table=TABLE):
    return pi_xgb.fit_teacher(PARAMS, matrix(table, DATA.y), 5, teacher=KINDS[kind], crossfit=2)


@pytest.mark.parametrize("kind", KINDS)
def test_a_category_is_known_by_its_name_and_not_by_its_position(kind):
    table = TABLE.copy()
    table.loc[:9, "town"] = None
    teacher = teacher_of(kind, table)
    other = table.assign(
        town=table["town"].cat.reorder_categories(["c", "a", "b"]),
        wing=table["wing"].cat.reorder_categories([10, 7, 9, 8]),
    )
    expected = teacher.predict(matrix(table))
    for rows in (other, matrix(other), table):
        np.testing.assert_array_equal(teacher.predict(rows), expected)
    # A table of some of the categories.
    part = other[other["town"] != "b"]
    part = part.assign(town=part["town"].cat.remove_unused_categories())
    np.testing.assert_array_equal(teacher.predict(part), expected[part.index])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("boosted", "forest")])
def test_a_category_without_training_rows_is_an_error(kind):
    with pytest.raises(ValueError, match=r"column 'town' of rows.*got 'd'"):
        teacher_of(kind).predict(TABLE.assign(town=TABLE["town"].cat.rename_categories({"b": "d"})))


def test_numbers_in_place_of_categories_are_an_error():
    codes = TABLE.assign(town=TABLE["town"].cat.codes.astype(float))
    with pytest.raises(ValueError, match="categories in 'town', 'wing'"):
        teacher_of("linear").predict(codes)
    with pytest.raises(ValueError, match="rows must have the trained columns"):
        teacher_of("linear").predict(TABLE[TABLE.columns[::-1]])


def test_a_fitted_estimator_finds_the_columns_of_both_matrices_by_name():
    both = DATA.x.join(DATA.z).astype(np.float32)
    fitted = LogisticRegression().fit(both, DATA.y)
    dtrain, privileged = matrix(DATA.x, DATA.y), matrix(DATA.z, DATA.y)
    q = fitted.predict_proba(both)[:, 1]
    students = [
        pi_xgb.train(PARAMS, dtrain, 5, privileged=privileged, teacher=FrozenEstimator(fitted), kl_weight=2.0),
        pi_xgb.train(PARAMS, dtrain, 5, teacher=q, kl_weight=2.0),
    ]
    assert students[0].get_dump() == students[1].get_dump()


def test_an_estimator_reads_sparse_tables():
    tables = [sparse.csr_matrix(part.to_numpy()) for part in (DATA.x, DATA.z)]
    model = pi_xgb.PrivilegedXGBClassifier(n_estimators=5, n_jobs=1, teacher=LogisticRegression())
    dense = model.fit(DATA.x.to_numpy(), DATA.y, privileged=DATA.z.to_numpy()).predict_proba(tables[0])
    np.testing.assert_allclose(
        model.fit(tables[0], DATA.y, privileged=tables[1]).predict_proba(tables[0]), dense, atol=1e-3
    )


@pytest.mark.parametrize("kind", KINDS)
def test_fit_teacher_with_categories_and_weight_0_in_the_first_row_equals_the_rows_without_it(kind):
    # XGBoost cannot train on rows of weight 0 alone, and the categories are read from a model of the first row.
    weight = np.r_[0.0, np.ones(199)]
    weighted = xgb.DMatrix(TABLE, DATA.y, weight=weight, enable_categorical=True)
    teacher = pi_xgb.fit_teacher(PARAMS, weighted, 5, teacher=KINDS[kind], crossfit=2)
    assert np.isfinite(teacher.predict(TABLE)).all()

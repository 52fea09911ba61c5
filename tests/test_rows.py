"""Rows as users pass them: tables and columns of every library, groups, weights, and the errors for wrong ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import pi_xgb
from pi_xgb._rows import groups, scores, supervision, tables, views
from pi_xgb._rows.labels import encode_labels, read_target
from pi_xgb.sklearn import PrivilegedXGBClassifier

HIDDEN = np.ma.array([0.0, 1.0, 0.5, 1.0], mask=[True, False, False, False])
READERS = {
    "labelled": lambda values: supervision.read_labelled(values, 4),
    "teacher_weight": lambda values: supervision.read_teacher_weight(values, 4),
    "groups": lambda values: supervision.read_groups(values, 4),
    "y_true": lambda values: scores.as_labels(values, 4),
    "y_score": scores.as_probabilities,
    "sample_weight": lambda values: supervision.row_weights(values, 4),
    "sensitive_features": lambda values: groups.as_groups(values, 4),
    "sensitive_features['sex']": lambda values: groups.as_groups({"sex": values}, 4),
    "merit": pi_xgb.constraints.Meritocracy,
    "features": lambda values: tables.number_table(np.ma.asarray(values)[:, None], "features", 4),
    "the q of teacher": pi_xgb.KLObjective,
    "y of the evaluation set": lambda values: encode_labels(values, None, name="y of the evaluation set"),
    "y": read_target,
}


@pytest.mark.parametrize("name", READERS)
def test_reader_of_masked_array_raises_where_a_value_is_hidden(name):
    with pytest.raises(TypeError, match=f"^{name}".replace("[", r"\[") + " is a masked array"):
        READERS[name](HIDDEN)
    # A mask that hides nothing is as good as none.
    READERS[name](np.ma.array([1.0, 0.0, 1.0, 1.0] if name == "labelled" else [0.0, 1.0, 0.0, 1.0]))


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("labelled", [1, 0, 1, 7], "truth values, or 1 and 0, got 7 in row 3: build it as y.notna"),
        ("labelled", [1, 0, None, 1], "a value in every row, got 1 missing values"),
        ("labelled", [1, 0], "one value for each of the 4 rows of dtrain, got 2"),
        ("labelled", np.ones((4, 2)), r"one column, got shape \(4, 2\)"),
        ("teacher_weight", [0, 1.1e12, 1, 1], r"numbers from 0 to 1e\+12, got 1.1e\+12 in row 1"),
        ("teacher_weight", [0, 1, np.nan, 1], "a value in every row, got 1 missing"),
        ("groups", ["a", None, "b", None], "2 missing values in 4, first in row 1: give a row without a group"),
        ("y_true", [0, 1, 2, 1], "truth values, or 1 and 0, got 2 in row 2"),
        ("y_score", [0.5, 1.5], "numbers from 0 to 1, got 1.5 in row 1: margins"),
        ("sample_weight", [-3, 0, 0, 0], "finite and at least 0, got -3 in row 0: a weight of 0 ignores a row"),
        ("sample_weight", [1e308] * 4, "a finite sum, got 1e.308"),
        ("sample_weight", [0] * 4, "above 0 somewhere, got 0 in every row"),
        ("sensitive_features", [0] * 5, "one value for each of the 4 rows, got 5"),
        ("sensitive_features", ["missing", None] * 2, "missing values .* a group has the name"),
        ("sensitive_features", [0, 1, 2, 3], "4 groups of 4 rows, at most 2: use bins"),
        ("sensitive_features", pd.DataFrame([[1, 2]] * 4, columns=["a", "a"]), "several columns called a: rename"),
        ("features", [1, np.inf, 0, 0], "finite numbers, got inf in row 1: encode text as numbers"),
        ("y", [2.0, 2.0], "the same value in every labelled row, 2.0"),
    ],
)
def test_reader_of_bad_values_raises_with_keyword_value_and_remedy(name, values, message):
    with pytest.raises((TypeError, ValueError), match=f"^{name} .*{message}"):
        READERS[name](values)


def frame(*index):
    return pd.DataFrame({"a": np.arange(len(index))}, index=list(index))


def test_tables_with_the_same_index_in_another_order_raise():
    for other in (frame(0, 1), frame(5, 0), np.zeros(2), pl.DataFrame({"a": [1, 2]})):
        tables.beside(frame(0, 1), other, "X", "z")
    with pytest.raises(ValueError, match="z and X have the same index"):
        tables.check_orders({"X": frame(0, 1), "z": frame(1, 0)})
    with pytest.raises(ValueError, match="sort both by one column"):
        tables.check_orders({"X": frame(0, 0, 1), "z": frame(0, 1, 0)})
    with pytest.raises(ValueError, match="z must have one value for each of the 2 rows of X, got 1"):
        tables.beside([[1], [2]], [[1]], "X", "z")


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2), st.booleans()), min_size=12, max_size=30))
@settings(max_examples=25, deadline=None)
def test_groups_of_several_columns_are_their_intersections_by_name(rows):
    # In any container the codes are the positions among the sorted rows.
    expected = sorted(set(rows))
    table = pd.DataFrame(rows, columns=["s", "t", "u"])
    for held in (table, table.to_dict("list"), pl.DataFrame(table.to_dict("list")), pa.Table.from_pandas(table)):
        found = groups.groups_of(groups.encoded_columns(held, len(rows)))
        assert [tuple(name) for name in found.names] == expected
        assert [expected[code] for code in found.codes] == rows
        assert list(found.names.names) == ["s", "t", "u"]


def test_tables_side_by_side():
    left, right = np.array([[0.0, 1.0], [np.nan, 0.0]]), np.array([[0.0], [3.0]])
    both = np.hstack([left, right])
    np.testing.assert_array_equal(tables.side_by_side(left, right), both)
    for item, other in ((sparse.csr_matrix(left), right), (left, sparse.coo_matrix(right))):
        np.testing.assert_array_equal(tables.side_by_side(item, other).toarray(), both)
    # The zeros of a dense table stay values.
    assert tables.side_by_side(left, sparse.csr_matrix(right)).nnz == 4 + 1
    mixed = tables.side_by_side(left, pd.DataFrame(right, columns=["c"], index=[7, 3]))
    assert list(mixed.columns) == [0, 1, "c"]
    np.testing.assert_array_equal(mixed, both)
    with pytest.raises(TypeError, match="a sparse matrix can be joined with numeric columns only"):
        tables.side_by_side(sparse.eye(2), pd.DataFrame({"c": ["u", "v"]}))


VALUES = {
    "z": st.floats(width=32, allow_infinity=False, allow_nan=False) | st.none(),
    "n": st.integers(-5, 5) | st.none(),
    "t": st.booleans() | st.none(),
}


@given(st.lists(st.fixed_dictionaries(VALUES), min_size=3, max_size=20))
@settings(max_examples=25, deadline=None)
@pytest.mark.slow
def test_tables_of_polars_and_arrow_are_those_of_pandas(rows):
    held = pl.DataFrame(rows, schema={"z": pl.Float32, "n": pl.Int64, "t": pl.Boolean})
    expected = np.array([[np.nan if row[k] is None else float(row[k]) for k in "znt"] for row in rows], np.float32)
    for table in (held, held.lazy(), held.to_arrow()):
        assert tables.column_names(table) == ["z", "n", "t"]
        matrix = xgb.DMatrix(tables.as_table(table, "X"))
        np.testing.assert_array_equal(matrix.get_data().toarray(), np.nan_to_num(expected))
        assert matrix.num_nonmissing() == np.isfinite(expected).sum()
        np.testing.assert_array_equal(
            tables.rows_without_values(tables.as_table(table, "X")), np.isnan(expected).all(axis=1)
        )


@pytest.mark.parametrize("held", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_privileged_features_inside_a_table_of_any_library_give_one_model(held):
    data = pi_xgb.datasets.make_privileged(200, n_features=2, n_privileged=1, seed=0)
    table = {**data.x.to_dict("list"), **data.z.to_dict("list")}
    settings = {"n_estimators": 3, "n_jobs": 1, "teacher": "boosted", "kl_weight": 2.0}
    model = PrivilegedXGBClassifier(**settings, privileged_features=["z0"]).fit(held(table), data.y)
    apart = PrivilegedXGBClassifier(**settings).fit(data.x, data.y, privileged=data.z)
    np.testing.assert_array_equal(model.predict_proba(held(table)), apart.predict_proba(data.x))


MASK = [False, False, True]


@pytest.mark.parametrize("mask", [MASK, np.array(MASK), pd.Series(MASK), [np.False_, 2]], ids=repr)
def test_columns_given_by_truth_values_raise(mask):
    # They would count as the positions 0 and 1.
    for X in (np.arange(12.0).reshape(4, 3), pd.DataFrame(np.arange(12.0).reshape(4, 3))):
        with pytest.raises(TypeError, match=r"columns must be given by names or positions, got truth values"):
            PrivilegedXGBClassifier(privileged_features=mask).fit(X, [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("X", "wanted", "message"),
    [
        (np.zeros((2, 4)), [4], "columns of X, got 4"),
        (np.zeros((2, 4)), [-1], "columns of X, got -1"),
        (np.zeros((2, 4)), [0, "a"], "columns of X, got 'a'"),
        (pd.DataFrame(np.zeros((2, 2)), columns=["a", "b"]), ["a", "c"], "columns of X, got 'c'"),
    ],
)
def test_columns_that_x_lacks_raise(X, wanted, message):
    with pytest.raises(ValueError, match=f"privileged_features must be {message}"):
        views.divide(X, None, None, None, wanted)


def test_x_that_is_no_table_raises():
    assert tables.as_table(pd.Series([1, 2]), "X").shape == tables.as_table([1, 2], "X").shape == (2, 1)
    for X, message in (([[[1]]], r"rows and columns, got a list of shape \(1, 1, 1\)"), ([[1], [1, 2]], "one length")):
        with pytest.raises(ValueError, match=f"X must have .*{message}"):
            tables.as_table(X, "X")


def test_views_of_columns_inside_x():
    X = pd.DataFrame({"a": [1, 2], "z": [3, 4], "g": [5, 6]})
    plain = pd.DataFrame({"a": [7]})
    seen = views.divide(X, [(X, [0, 1]), (plain, [1])], None, None, ["g", "z"])
    assert list(seen.student.columns) == seen.student_labels == ["a"]
    assert list(seen.privileged.columns) == seen.privileged_labels == ["g", "z"]
    assert seen.eval_set[0][0] is seen.student  # by which XGBoost recognises the training rows
    assert seen.eval_privileged == [seen.privileged, None]
    assert seen.eval_set[1][0].equals(plain)
    assert seen.values(["z", "a"], hidden_from_student=False).to_numpy().tolist() == [[3, 1], [4, 2]]
    for column, message in (("a", "the group column 'a' of a constraint is also"), ("q", "a constraint must read a")):
        with pytest.raises(ValueError, match=message):
            seen.values(column, hidden_from_student=True)
    table, evals = seen.for_teacher({"g"}, sees_all=False)
    assert list(table.columns) == ["z"]
    assert (evals[0].equals(table), evals[1]) == (True, None)
    assert list(seen.for_teacher({"g"}, sees_all=True)[0].columns) == ["a", "z"]
    assert seen.for_teacher({"g", "z"}, sees_all=True) == (None, None)
    assert views.student_part(X, ["z", "g"], 1).equals(seen.student)
    # An array without the privileged columns is the student's.
    array = np.arange(6.0).reshape(2, 3)
    assert [views.student_part(table, [0, 2], 1).shape for table in (array, array[:, :1])] == [(2, 1), (2, 1)]


@pytest.mark.parametrize("X", [np.empty((3, 0)), pd.DataFrame(index=range(3))], ids=["array", "frame"])
def test_nobody_learns_from_no_columns(X):
    with pytest.raises(ValueError, match=r"X .*column.*none"):
        views.divide(X, None, np.ones((3, 1)), None, None)


def test_views_of_a_table_apart():
    X, z = np.arange(6.0).reshape(2, 3), np.array([[8.0], [9.0]])
    seen = views.divide(X, [(X, [0, 1]), (X, [0, 1])], z, [z, None], None)
    assert (seen.student_labels, seen.privileged_labels) == ([0, 1, 2], [0])
    table, evals = seen.for_teacher(set(), sees_all=True)
    np.testing.assert_array_equal(table, np.hstack([X, z]))
    np.testing.assert_array_equal(evals[0], table)
    assert evals[1] is None
    sets = [(X, [0, 1])]
    for arguments, found in (
        ((X, sets, z, [z, z], None), "and a table (or None) for each of the 1"),
        ((X, None, z, [z], None), "and a table (or None) for each of the 0"),
        ((X, sets, None, [z], None), "eval_privileged needs privileged"),
        ((X, sets, z, [z[:1]], None), "eval_privileged[0] must have one value for each of the 2 rows of eval_set[0]"),
        ((X, None, z[:1], None, None), "privileged must have one value for each of the 2 rows of X"),
        ((X, sets, z, None, [0]), "privileged and privileged_features were both given"),
        ((X, sets, None, [z], [0]), "eval_privileged and privileged_features were both given"),
        ((X, None, None, None, [0, 1, 2]), "privileged_features must leave the student a column of X, got all 3"),
    ):
        with pytest.raises(ValueError, match=found.replace("(", r"\(").replace(")", r"\)").replace("[", r"\[")):
            views.divide(*arguments)
    lacking = views.divide(X, sets, np.hstack([z, z]), [z], None)
    with pytest.raises(ValueError, match=r"the privileged columns of eval_set\[0\] lack some: pass them"):
        lacking.for_teacher(set(), sees_all=False)
    named = pd.DataFrame({"0": [1.0, 2.0]})
    with pytest.raises(ValueError, match="privileged must have no columns of X, got '0'"):
        views.divide(named, None, named, None, None)

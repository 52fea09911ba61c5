"""What users say of rows, as it is read: tables, columns, groups, numbers, and the words for what is wrong."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from scipy import sparse

import pi_xgb
from pi_xgb._core.checks import check_dmatrix
from pi_xgb._core.losses import loss_named
from pi_xgb._rows import checks, columns, groups, names, row_alignment, supervision, tables, vectors, views, words
from pi_xgb._rows.labels import encode_labels, read_target
from pi_xgb._xgb.threads import usable_cores


def refused(kind, message, call, *arguments, **keywords):
    """The text of the error, all of it."""
    with pytest.raises(kind) as error:
        call(*arguments, **keywords)
    assert str(error.value).startswith(message), error.value


# ---- small checks


def test_jobs_are_a_number_or_all_cores_or_nothing():
    assert checks.check_jobs(None, None) == 0
    assert checks.check_jobs(1, True) == 1
    assert checks.check_jobs(-1, False) == usable_cores()
    for jobs in (0, -2):
        refused(
            ValueError, f"n_jobs must be at least 1, or -1 for all cores, got {jobs}", checks.check_jobs, jobs, None
        )
    refused(TypeError, "n_jobs must be a whole number, got 1.5", checks.check_jobs, 1.5, None)
    refused(TypeError, "progress must be True, False or None, got 'yes'", checks.check_jobs, None, "yes")


def test_bounds_of_small_numbers():
    assert checks.check_whole("n", np.int32(3), 3) is None
    refused(ValueError, "n must be at least 3, got 2: so many", checks.check_whole, "n", 2, 3, "so many")
    with pytest.raises(TypeError, match=r"^n.*whole.*True$"):
        checks.check_whole("n", True)
    for confidence in (0, 1, np.nan):
        refused(ValueError, "confidence must lie between 0 and 1", checks.check_confidence, confidence)
    assert checks.checked_list("ab", "x", str) == ["ab"]
    assert checks.checked_list((3, 1), "x", int) == [3, 1]
    assert checks.checked_list(np.array(3), "x", int) == checks.checked_list(3, "x", int) == [3]
    refused(ValueError, "x has a value twice: [1, 1]", checks.checked_list, [1, 1], "x", int)
    refused(ValueError, "x is an empty list", checks.checked_list, [], "x", int)
    with pytest.raises(ValueError, match="invalid literal"):
        checks.checked_list(["1", "a"], "x", int)
    refused(ValueError, "x must be one of 'a', 'b'; got 'c'", checks.check_choice, "c", ("a", "b"), "x")
    assert checks.check_bootstrap(0, 0.5) is None
    refused(ValueError, "n_boot must be at least 0, got -1: 0 for no intervals", checks.check_bootstrap, -1, 0.5)
    refused(ValueError, "confidence must lie", checks.check_bootstrap, 0, 1)


def test_checkpoints_need_a_folder(tmp_path):
    assert checks.check_folder(str(tmp_path)) == tmp_path
    refused(ValueError, "checkpoints need an existing folder", checks.check_folder, tmp_path / "none")


def test_a_few_names_and_how_many_more():
    assert names.describe(range(8)) == "0, 1, 2, 3, 4, 5, 6, 7"
    assert names.describe([np.int64(1), ("a", np.float64(0.5))]) == "1, ('a', 0.5)"
    assert names.describe(list("abcdefghij")).endswith("'h' and 2 more")
    assert names.describe(range(10)) == "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"
    assert names.in_words(("a", 1)) == "a, 1"
    assert names.printable("a\x00b\tc") == "a\ufffdb\tc"


HIDDEN = np.ma.array([0.0, 1.0, 0.5, 1.0], mask=[True, False, False, False])
X_OF_4 = np.arange(8.0).reshape(4, 2)
READERS = {
    "labelled": lambda values: supervision.read_labelled(values, 4),
    "teacher_weight": lambda values: supervision.read_teacher_weight(values, 4),
    "y_true": vectors.as_labels,
    "y_score": vectors.as_scores,
    "sample_weight": lambda values: supervision.row_weights(values, 4),
    "the weight": lambda values: row_alignment.checked_weight(values, X_OF_4, name="the weight"),
    "base_margin": lambda values: row_alignment.check_one_margin_each(values, X_OF_4),
    "sensitive_features": groups.as_groups,
    "sensitive_features['sex']": lambda values: groups.as_groups({"sex": values}),
    "merit": pi_xgb.constraints.Meritocracy,
    "features": lambda values: columns.number_table(values[:, None], "features"),
    "key": lambda values: pi_xgb.constraints.IndividualFairness(key=values),
    "the q of teacher": lambda values: pi_xgb.KLObjective(values),
    "y of the evaluation set": lambda values: encode_labels(values, None, name="y of the evaluation set"),
    "y": lambda values: read_target(values),
    "y of eval_set[0]": lambda values: pi_xgb.PrivilegedXGBRegressor(n_estimators=1, n_jobs=1, kl_weight=0).fit(
        X_OF_4, [0.0, 1.0, 0.0, 1.0], eval_set=[(X_OF_4, values)], verbose=False
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_what_a_mask_hides_is_not_read(name):
    refused(TypeError, f"{name} is a masked array", READERS[name], HIDDEN)
    # A mask that hides nothing is as good as none.
    READERS[name](np.ma.array([1.0, 0.0, 1.0, 1.0] if name == "labelled" else [0.0, 1.0, 0.0, 1.0]))


def test_masks_of_structured_arrays_are_masks_too():
    table = np.ma.array([(1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)])
    assert checks.check_no_mask(table, "g") is None
    table["b"][1] = np.ma.masked
    refused(TypeError, "g is a masked array", checks.check_no_mask, table, "g")
    assert checks.check_no_mask(np.ma.array([]), "g") is None


# ---- what stands next to X


def frame(*index):
    return pd.DataFrame({"a": np.arange(len(index))}, index=list(index))


def test_the_same_index_in_another_order_is_a_mistake_only_where_it_says_which_row_is_which():
    for other in (frame(0, 1), frame(5, 0), np.zeros(2)):
        assert row_alignment.check_same_order(frame(0, 1), other, "X", "z") is None
    assert row_alignment.check_same_order(frame(0, 1, 1), frame(1, 0, 2), "X", "z") is None
    assert row_alignment.check_same_order(frame(0, 1, 2), frame(1, 0, 0), "X", "z") is None
    refused(
        ValueError, "z and X have the same index", row_alignment.check_same_order, frame(0, 1), frame(1, 0), "X", "z"
    )
    refused(
        ValueError,
        "z must describe the rows of X: X has 2 rows, z has 1",
        row_alignment.check_same_rows,
        [[1], [2]],
        [[1]],
        "X",
        "z",
    )
    sets = [(frame(0, 1), [0, 1]), (frame(0, 1), [0, 1])]
    assert row_alignment.check_eval_orders(sets, {"weight": [frame(0, 1)], "none": None}) is None
    refused(
        ValueError,
        "weight[1] and X of eval_set[1] have",
        row_alignment.check_eval_orders,
        sets,
        {"weight": [None, frame(1, 0)]},
    )


@pytest.mark.parametrize("y", [3, iter([0, 1, 0, 1]), None])
def test_a_label_for_each_row_is_several(y):
    refused(
        TypeError,
        f"y must have one value per row, got {y!r}: give a list",
        row_alignment.check_one_label_each,
        y,
        X_OF_4,
    )


@pytest.mark.parametrize("y", [[0, 1, 0, 1], [[0, 1]] * 4, [None, np.nan, "a", 1]])
def test_labels_of_a_row_may_be_several_or_missing(y):
    assert row_alignment.check_one_label_each(y, X_OF_4) is None


def test_weights_count_where_there_is_a_label():
    labelled = np.array([True, True, False])
    read = row_alignment.checked_weight
    X = [[1]] * 3
    assert read(None, X) is None
    assert read([[0], [2], [0]], X, labelled).tolist() == [0, 2, 0]
    refused(
        ValueError, "sample_weight must be above 0 somewhere, got 0 in every row that", read, [0, 0, 5], X, labelled
    )
    refused(ValueError, "sample_weight must be above 0 somewhere, got 0 in every row:", read, [0, 0, 0], X)
    refused(ValueError, "sample_weight must be finite and at least 0, got -1 in row 1", read, [0, -1, np.inf], X)
    refused(ValueError, "sample_weight must be finite and at least 0, got inf in row 2", read, [0, 1, np.inf], X)
    refused(ValueError, "w must have one value for each of the 3 rows of X", read, [1, 1], sparse.eye(3), name="w")
    refused(TypeError, "sample_weight must be finite and at least 0, got 'a' in row 0", read, ["a", 1, 1], X)
    assert row_alignment.check_one_margin_each(np.zeros((3, 2)), [[1]] * 3) is None
    refused(ValueError, "base_margin must have one margin", row_alignment.check_one_margin_each, np.zeros(4), [[1]] * 3)
    refused(ValueError, "base_margin must have one margin", row_alignment.check_one_margin_each, 0.0, [[1]] * 3)


# ---- columns and groups


def test_numbers_in_columns():
    read = columns.number_table
    refused(ValueError, "f must be finite numbers, got inf in row 0", read, [np.inf, 1], "f")
    refused(ValueError, "f['b'] must be finite numbers, got -inf in row 1", read, {"a": [1, 2], "b": [1, -np.inf]}, "f")
    gaps = pd.Series([1, None], dtype="Int64")
    refused(ValueError, "f must have a value in every row, got 1 missing values in 2, first in row 1", read, gaps, "f")
    message = "f must be finite numbers, got 'a' in row 1: encode text as numbers, ordered categories by"
    refused(TypeError, message, read, pd.Series([1, "a"], dtype=object), "f")
    refused(ValueError, "f['b'] must have one value for each of the 2 rows, got 1", read, {"a": [1, 2], "b": [1]}, "f")
    refused(ValueError, "f must have one value for each of the 3 rows, got 2", read, [1, 2], "f", 3)
    refused(ValueError, "f has no columns", read, {}, "f")
    given = np.array([[1.0, 2.0], [3.0, 4.0]])
    table = read(given, "f")
    assert table.tolist() == given.tolist()
    assert not np.shares_memory(table, given)


def test_groups_keep_the_kinds_of_their_values():
    whole = groups.as_groups([[1, 0.5], [2, 0.5], [1, 0.5], [1, 0.5]])
    assert whole.names.tolist() == [(1, 0.5), (2, 0.5)]
    assert whole.codes.tolist() == [0, 1, 0, 0]
    assert [level.dtype.kind for level in whole.names.levels] == ["i", "f"]
    assert groups.as_groups([2, 1, 2, 2]).names.dtype.kind == "i"
    assert groups.as_groups([2, "a", 2, "a"]).names.tolist() == [2, "a"]  # no order among them
    two = groups.as_groups(pd.DataFrame({"sex": list("fmfm"), "age": [1, 1, 1, 1]}))
    assert list(two.names.names) == ["sex", "age"]
    assert groups.as_groups(np.zeros((4, 2))).names.names == ["sensitive_feature_0", "sensitive_feature_1"]
    assert groups.everyone(3).names.tolist() == [None]
    assert groups.everyone(3).codes.dtype == np.intp
    assert groups.as_groups(list("baba")).names.tolist() == ["a", "b"]
    gaps = groups.as_groups(["a", None, "a", None])
    assert (gaps.names.tolist(), gaps.codes.tolist()) == (["a", "missing"], [0, 1, 0, 1])
    refused(
        ValueError,
        "key must have a value in every row, got 2 missing values, first in row 1",
        groups.as_groups,
        ["a", None, None, "a"],
        name="key",
        missing="error",
    )
    refused(
        ValueError,
        "sensitive_features has missing values in 'sensitive_feature_0', which become a group called 'missing'",
        groups.as_groups,
        ["missing", None] * 2,
    )
    half = groups.as_groups(np.array([1.5, 0, 1.5, 0], np.float16))
    assert (half.names.tolist(), half.codes.tolist()) == ([0, 1.5], [1, 0, 1, 0])
    dates = groups.as_groups(np.array(["2021", "2020"] * 2, dtype="datetime64[ns]"))
    assert dates.names.tolist() == [pd.Timestamp("2020"), pd.Timestamp("2021")]
    table = groups.as_groups(np.array([(1, "f"), (0, "f")] * 2, dtype=[("age", int), ("sex", object)]))
    assert (list(table.names.names), table.names.tolist()) == (["age", "sex"], [(0, "f"), (1, "f")])
    whole = [pd.Series(np.arange(12) // k % 2) for k in (6, 3, 1)]
    crossed = groups.groups_of([groups.as_groups(item) for item in whole], None)
    expected = sorted({tuple(int(item[i]) for item in whole) for i in range(12)})
    assert crossed.names.tolist() == expected
    assert [expected[code] for code in crossed.codes] == [tuple(int(item[i]) for item in whole) for i in range(12)]
    assert groups.check_several(groups.as_groups([0, 1] * 2)) is None
    refused(ValueError, "sensitive_features has one group only, 0", groups.check_several, groups.as_groups([0, 0]))
    assert groups.as_groups(list("abab"), 4).count == 2
    refused(
        ValueError,
        "sensitive_features must have one value for each of the 5 rows, got 4",
        groups.as_groups,
        list("abab"),
        5,
    )
    twice = pd.DataFrame([[1, 2]] * 4, columns=["a", "a"])
    refused(ValueError, "sensitive_features has several columns called a: rename", groups.as_groups, twice)


def test_groups_are_few():
    three, two = groups.as_groups([0, 1, 2], most=None), groups.as_groups([0, 1], most=None)
    assert groups.check_few(two, 2, 1000) is None
    assert groups.check_few(three, 6, 3) is None
    refused(ValueError, "sensitive_features makes 3 groups of 4 rows, and at most 2", groups.check_few, three, 4, 1000)
    refused(ValueError, "sensitive_features makes 3 groups of 60 rows, and at most 2", groups.check_few, three, 60, 2)
    refused(ValueError, "sensitive_features makes 501 groups", groups.as_groups, np.arange(1001) // 2)
    assert groups.as_groups(np.arange(2000) // 2).count == 1000
    refused(ValueError, "sensitive_features makes 1001 groups", groups.as_groups, np.arange(4004) // 4)


# ---- supervision


def test_truth_values_of_rows():
    read = supervision.read_labelled
    known = read([1, 0], 2)
    assert known.dtype == bool
    assert known.tolist() == [True, False]
    assert read([True, True], 2) is read(None, 2) is None
    assert read(np.array([[True], [False]]), 2).tolist() == [True, False]
    assert read([1, 0]).tolist() == [True, False]  # as many as they are
    message = "labelled must be truth values, or 1 and 0, got 7 in row 2: build it as y.notna()"
    refused(ValueError, message, read, [True, False, 7], 3)
    refused(ValueError, "labelled must have a value in every row, got 1 missing values", read, [True, None], 2)
    refused(TypeError, "labelled must be truth values, or 1 and 0, got 'no' in row 1", read, [True, "no"], 2)
    refused(ValueError, "labelled must be one column, got 2", read, np.ones((2, 2)), 2)
    refused(ValueError, "labelled must have one value for each of the 3 rows of dtrain, got 2", read, [1, 0], 3)
    pa = pytest.importorskip("pyarrow")
    assert read(pa.array([True, False]), 2).tolist() == [True, False]


def test_teacher_weights_of_rows():
    read = supervision.read_teacher_weight
    assert read([1, 1.0], 2) is read(None, 2) is None
    assert read([2, 2], 2).tolist() == [2, 2]
    assert read([0, 1e12], 2).tolist() == [0, 1e12]
    assert read(np.ma.array([1.0, 0.5]), 2).tolist() == [1, 0.5]
    refused(TypeError, "w is a masked array", read, np.ma.array([1.0, 0.5], mask=[True, False]), 2, "w")
    for wrong in (1.1e12, -1e-9, np.inf):
        refused(ValueError, f"teacher_weight must be numbers from 0 to 1e+12, got {wrong:g} in row 1", read, [0, wrong])
    for gaps in ([1, np.nan], pd.Series([1, None], dtype="Float64")):
        refused(ValueError, "teacher_weight must have a value in every row, got 1 missing", read, gaps, 2)
    refused(
        TypeError,
        "teacher_weight must be numbers from 0 to 1e+12, got 1j of dtype complex128 in row 0",
        read,
        [1j, 1],
        2,
    )


def test_groups_of_rows_that_stay_together():
    read = supervision.checked_groups
    assert read(None, 3) is None
    assert read(pd.Series(list("aba")), 3).tolist() == ["a", "b", "a"]
    assert read([[1], [2]], 2).tolist() == [1, 2]
    refused(ValueError, "groups must be one column, got 2", read, np.ones((3, 2)), 3)
    refused(ValueError, "groups must have one value for each of the 3 rows, got 2", read, [1, 2], 3)
    for gaps in ([1.0, np.nan, None], ["a", np.nan, None], pd.Series(["a", None, pd.NA], dtype="string")):
        message = "g must have a value in every row, got 2 missing values in 3, first in row 1: give a row"
        refused(ValueError, message, read, gaps, 3, "g")


def test_rows_without_privileged_values():
    z = np.array([[1.0, np.nan], [1.0, 2.0], [1.0, np.nan]])
    privileged, besides = (xgb.DMatrix(z[:, :k], feature_names=["a", "b"][:k]) for k in (2, 1))
    assert supervision.weight_of_known(privileged) is None
    with pytest.warns(UserWarning, match=r"^2.*3 rows"):
        assert supervision.weight_of_known(privileged, besides).tolist() == [0, 1, 0]
    refused(ValueError, "privileged must have values, got none in 3 rows", supervision.weight_beside, np.ones(3, bool))
    with pytest.warns(UserWarning, match=r"^1.*2 rows"):
        supervision.warn_of_idle_rows(np.array([True, False]))


# ---- tables of any library


def test_tables_side_by_side():
    left, right = np.array([[0.0, 1.0], [np.nan, 0.0]]), np.array([[0.0], [3.0]])
    both = np.hstack([left, right])
    np.testing.assert_array_equal(tables.side_by_side(left, right), both)
    for item, other in ((sparse.csr_matrix(left), right), (left, sparse.coo_matrix(right))):
        joined = tables.side_by_side(item, other)
        assert joined.format == "csr"
        np.testing.assert_array_equal(joined.toarray(), both)
    # The zeros of a dense table stay values.
    assert tables.side_by_side(left, sparse.csr_matrix(right)).nnz == 4 + 1
    named = pd.DataFrame(right, columns=["c"], index=[7, 3])
    mixed = tables.side_by_side(left, named)
    assert list(mixed.columns) == [0, 1, "c"]
    np.testing.assert_array_equal(mixed, both)
    refused(
        TypeError,
        "a sparse matrix can be joined with numeric columns only",
        tables.side_by_side,
        sparse.eye(2),
        pd.DataFrame({"c": ["u", "v"]}),
    )


def test_rows_and_columns_of_other_libraries():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    table = pl.DataFrame({"a": [1, None], "b": [3, None]})
    assert tables.as_table(table.lazy(), "X").equals(table)
    assert tables.column_names(table.lazy()) == tables.column_names(table.to_arrow()) == ["a", "b"]
    assert tables.side_by_side(table, table.rename({"a": "c", "b": "d"})).columns == ["a", "b", "c", "d"]
    assert tables.take_rows(pa.table({"a": [1, 2]}), [1]).to_pydict() == {"a": [2]}
    assert tables.take_rows(table, [1]).rows() == [(None, None)]
    for kind in (table, table.to_arrow(), table.to_pandas()):
        assert tables.rows_without_values(kind).tolist() == [False, True]
        assert tables.column_names(tables.take(kind, [1])) == ["b"]
    assert tables.rows_without_values(sparse.csr_matrix((3, 1))).tolist() == [False] * 3


def test_text_is_refused_in_columns():
    fine = pd.DataFrame({"a": [1.0], "b": pd.Categorical(["x"]), "c": pd.Series([1], dtype="Int64")})
    assert tables.check_no_text(fine, "X") is None
    assert tables.check_no_text(np.array([["x"]], object), "X") is None
    for text in (pd.Series(["x"], dtype=object), pd.Series(["x"], dtype="string")):
        refused(
            ValueError, f"the column 'd' of X has dtype {text.dtype}", tables.check_no_text, fine.assign(d=text), "X"
        )
    dates = fine.assign(d=pd.Timestamp("2024-01-01"))
    refused(ValueError, "the column 'd' of X has dtype datetime64", tables.check_no_text, dates, "X")


def test_columns_are_found_by_name_or_place():
    array, named = np.zeros((2, 4)), pd.DataFrame(np.zeros((2, 2)), columns=["a", "b"])
    assert tables.listed(None) == []
    assert tables.listed(np.int64(3)) == [3]
    assert tables.listed(["a", "b", "a"]) == ["a", "b"]
    assert tables.locate(array, [0, np.int64(3)], "X", "what") == [0, 3]
    for outside in (4, -1):
        refused(
            ValueError,
            f"what must be columns of X, which has 4, got {outside}",
            tables.locate,
            array,
            [outside],
            "X",
            "what",
        )
    refused(
        ValueError,
        "what must be positions",
        tables.locate,
        array,
        [0, "a"],
        "X",
        "what",
    )
    refused(ValueError, "what must be columns of X, got 'c'", tables.locate, named, ["a", "c"], "X", "what")
    assert tables.present(named, ["b", "c"], 9) == [1]
    assert tables.present(array, [1, 3], 2) == [1, 3]
    assert tables.present(array, [1, 3], 4) == []
    assert tables.leave_out(named, []) is named
    assert list(tables.leave_out(named, [0]).columns) == ["b"]
    assert tables.as_table(pd.Series([1, 2]), "X").shape == tables.as_table([1, 2], "X").shape == (2, 1)
    refused(ValueError, "X must have rows and columns, got an array of shape (1, 1, 1)", tables.as_table, [[[1]]], "X")


# ---- vectors


def test_labels_scores_and_weights():
    assert vectors.as_labels([1, 0, 1.0]).tolist() == [True, False, True]
    assert vectors.as_decisions([False, True]).tolist() == [False, True]
    refused(ValueError, "y_true must be truth values, or 1 and 0, got 2 in row 2", vectors.as_labels, [0, 1, 2, 0.5])
    assert vectors.as_scores([1, 2]).dtype == np.float64
    assert vectors.as_scores(np.array([1, 0], np.float32)).dtype == np.float32
    assert vectors.as_probabilities([0, 1]).tolist() == [0, 1]
    for wrong in (1.5, -0.5):
        message = f"y_score must be numbers from 0 to 1, got {wrong} in row 1: margins"
        refused(ValueError, message, vectors.as_probabilities, [0.5, wrong])
    assert supervision.row_weights(None, 2) is None
    assert supervision.row_weights([0, 2], 2).tolist() == [0, 2]
    largest = np.finfo(np.float64).max / 2
    assert supervision.row_weights([largest, largest], 2).sum() == 2 * largest
    for weights, message in (
        ([1, np.inf], "sample_weight must be finite and at least 0, got inf in row 1"),
        ([-3, 0], "sample_weight must be finite and at least 0, got -3 in row 0: a weight of 0 ignores a row"),
        ([1e308, 1e308], "sample_weight must have a finite sum, got weights up to 1e+308"),
        ([0, 0], "sample_weight must be above 0 somewhere, got 0 in every row"),
        ([1, 2, 3], "sample_weight must have one value for each of the 2 rows, got 3"),
    ):
        refused(ValueError, message, supervision.row_weights, weights, 2)
    # Too large for single precision: infinite, without a warning of NumPy.
    message = "the q of teacher must be finite, got values from 0.5 to inf"
    refused(ValueError, message, pi_xgb.KLObjective, [0.5, 1e300])
    message = "y_true must have one value for each of the 1 rows of y_score, got 2"
    refused(ValueError, message, vectors.as_scored, [0, 1], [0.5], None)


def test_cuts():
    assert [vectors.as_cut(cut) for cut in (0, 1, -1e-6, np.float32(0.5))] == [0, 1, -1e-6, 0.5]
    for cut in (-2e-6, 1.01):
        refused(ValueError, "threshold must lie between 0 and 1", vectors.as_cut, cut)
    for word in ("0.5", True, None, [0.5]):
        refused(TypeError, "threshold must be one number", vectors.as_threshold, word)
    refused(ValueError, "threshold is NaN", vectors.as_threshold, np.nan)
    assert vectors.as_threshold(7) == 7


# ---- words in columns of numbers


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "x", "2", "y"], "'x' in line 3"),
        (["true", "x"], "'x' in line 3"),
        (["1", "True", "NA"], "'True' in line 3"),
        (["NA", "1"], "'1' in line 3"),
        ([None, "NA"], "'NA' in line 3"),
    ],
)
def test_the_first_word_out_of_place(values, expected):
    column = pd.Series(values, dtype=object)
    assert words.first_text(column, "rows.csv") == expected
    assert words.first_text(column, "rows.PQ") == expected.replace("line 3", "row 2")


def test_text_is_neither_numbers_nor_gaps():
    assert words.is_text(pd.Series(["a", None]))
    for column in ([1, None], [True, None], [None, None], [1, "a"]):
        assert not words.is_text(pd.Series(column, dtype=object))
    assert not words.is_text(pd.Series([1.0]))


# ---- views


def test_views_of_columns_inside_x():
    X = pd.DataFrame({"a": [1, 2], "z": [3, 4], "g": [5, 6]})
    plain = pd.DataFrame({"a": [7]})
    seen = views.divide(X, [(X, [0, 1]), (plain, [1])], None, None, ["g", "z"])
    assert list(seen.student.columns) == seen.student_labels == ["a"]
    assert list(seen.privileged.columns) == seen.privileged_labels == ["g", "z"]
    assert seen.eval_set[0][0] is seen.student  # by which XGBoost recognises the training rows
    assert seen.eval_privileged == [seen.privileged, None]
    assert seen.eval_set[1][0].equals(plain)
    assert seen.values("z", hidden_from_student=True).tolist() == [3, 4]
    assert seen.values(["z", "a"], hidden_from_student=False).to_numpy().tolist() == [[3, 1], [4, 2]]
    refused(ValueError, "the group column 'a' of a constraint is also", seen.values, "a", hidden_from_student=True)
    refused(
        ValueError,
        "a constraint must read a column of X or",
        seen.values,
        "q",
        hidden_from_student=True,
    )
    table, evals = seen.for_teacher({"g"}, sees_all=False)
    assert list(table.columns) == ["z"]
    assert evals[0].equals(table)
    assert evals[1] is None
    assert list(seen.for_teacher({"g"}, sees_all=True)[0].columns) == ["a", "z"]
    assert seen.for_teacher({"g", "z"}, sees_all=True) == (None, None)
    assert views.divide(X, None, None, None, ["z"]).eval_privileged is None
    assert views.student_part(X, ["z", "g"], 1).equals(seen.student)
    assert views.student_part(X, None, 1) is X


@pytest.mark.parametrize("X", [np.empty((3, 0)), pd.DataFrame(index=range(3))], ids=["array", "frame"])
@pytest.mark.parametrize("privileged", [None, np.ones((3, 1))])
def test_nobody_learns_from_no_columns(X, privileged):
    with pytest.raises(ValueError, match=r"X .*column.*none"):
        views.divide(X, None, privileged, None, None)


def test_views_of_a_table_apart():
    X, z = np.arange(6.0).reshape(2, 3), np.array([[8.0], [9.0]])
    seen = views.divide(X, [(X, [0, 1]), (X, [0, 1])], z, [z, None], None)
    assert (seen.student_labels, seen.privileged_labels) == ([0, 1, 2], [0])
    table, evals = seen.for_teacher(set(), sees_all=True)
    np.testing.assert_array_equal(table, np.hstack([X, z]))
    np.testing.assert_array_equal(evals[0], table)
    assert evals[1] is None
    assert views.divide(X, None, None, None, None).for_teacher(set(), sees_all=True) == (None, None)
    for sets in (None, [(X, [0, 1])]):
        lone = views.divide(X, sets, z, None, None)
        assert lone.eval_privileged is None
        assert lone.for_teacher(set(), sees_all=False)[1] is None
    sets = [(X, [0, 1])]
    for arguments, found in (
        ((X, sets, z, [z, z], None), "eval_privileged must have one table (or None) for each of the 1"),
        ((X, None, z, [z], None), "eval_privileged must have one table (or None) for each of the 0"),
        ((X, sets, None, [z], None), "eval_privileged needs privileged"),
        ((X, sets, z, [z[:1]], None), "eval_privileged[0] must describe the rows of eval_set[0]"),
        ((X, None, z[:1], None, None), "privileged must describe the rows of X"),
        ((X, sets, z, None, [0]), "privileged and privileged_features were both given"),
        ((X, sets, None, [z], [0]), "eval_privileged and privileged_features were both given"),
        ((X, None, None, None, [0, 1, 2]), "privileged_features must leave the student a column of X, got all 3"),
    ):
        refused(ValueError, found, views.divide, *arguments)
    lacking = views.divide(X, sets, np.hstack([z, z]), [z], None)
    refused(
        ValueError,
        "the privileged columns of eval_set[0] lack some: pass all columns that the teacher learns from, 0, 1",
        lacking.for_teacher,
        set(),
        sees_all=False,
    )
    named = pd.DataFrame({"0": [1.0, 2.0]})
    refused(ValueError, "privileged must have no columns of X, got '0'", views.divide, named, None, named, None, None)


def test_several_labels_per_row_are_labels():
    row_alignment.check_one_label_each(np.zeros((3, 2)), np.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"y.*3 rows.*got 2"):
        row_alignment.check_one_label_each(np.zeros((2, 2)), np.zeros((3, 4)))


@pytest.mark.parametrize(("objective", "unit"), [("rank:pairwise", "query"), ("binary:logistic", "row")])
def test_the_number_of_weights_is_that_of_queries_or_rows(objective, unit):
    matrix = xgb.DMatrix(np.zeros((4, 1)), [0, 1, 0, 1], qid=[0, 0, 1, 1] if unit == "query" else None)
    three = mock.patch.object(xgb.DMatrix, "get_weight", return_value=np.ones(3))
    with three, pytest.raises(ValueError, match=f"3 weights.*one weight per {unit}"):
        check_dmatrix(matrix, "dtrain", loss_named(objective))

"""The edges of what the small checks let through, which whole calls seldom meet."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb

from pi_xgb._core.checks import (
    check_answer,
    check_base_margin,
    check_dmatrix,
    check_evals,
    check_has_columns,
    check_kl_weight,
    check_labels_per_row,
    check_no_overlap,
    check_q,
    check_queries,
    check_same_labels,
    check_same_rows,
    check_shape,
    check_total_weight,
    check_weights,
)
from pi_xgb._core.losses import LOSSES, NUMBERS, PROBABILITIES, SHARES
from pi_xgb._rows.supervision import MOST_WEIGHT


def test_a_kl_weight_may_be_the_largest_that_there_is():
    assert check_kl_weight(0) == 0
    assert check_kl_weight(MOST_WEIGHT) == MOST_WEIGHT
    with pytest.raises(ValueError, match="at most"):
        check_kl_weight(np.nextafter(MOST_WEIGHT, np.inf))


@pytest.mark.parametrize(
    ("weight", "unit", "message"),
    [
        ([1.0], "row", r"1 weight.*3 rows"),
        ([1.0, 1.0], "query", r"2 weights.*3 queries"),
        ([1.0, -1e-6, 1.0], "row", "finite and at least 0"),
        ([1.0, np.inf, 1.0], "row", "finite and at least 0"),
        ([0.0, 0.0, 0.0], "row", "are all 0"),
    ],
)
def test_weights_that_are_refused(weight, unit, message):
    with pytest.raises(ValueError, match=message):
        check_weights(np.array(weight), 3, "dtrain", unit=unit)


def test_weights_that_are_taken():
    for weight in ([], [0.0, 0.0, 1e-6], [0.5, 1.0, 0.0]):
        check_weights(np.array(weight), 3, "dtrain")
    for weight, n_rows in (([], 1), ([0.0, 1.0], 2), ([0.25, 0.5], 2)):
        check_total_weight(np.array(weight, np.float32), n_rows, "dtrain")
    with pytest.raises(ValueError, match="all 0, on every worker"):
        check_total_weight(np.zeros(2, np.float32), 2, "dtrain")


def test_a_matrix_without_rows_may_be_without_columns():
    check_has_columns(xgb.DMatrix(np.empty((0, 0))), "dtrain")


def test_rows_have_one_label_each_and_are_some():
    check_labels_per_row(np.zeros(1), 1, "dtrain")
    check_labels_per_row(np.zeros((2, 3)), 2, "dtrain")
    with pytest.raises(ValueError, match=r"dtrain.*nothing.*train"):
        check_labels_per_row(np.zeros(0), 0, "dtrain")
    for label, n_rows in ((np.zeros(2), 1), (np.zeros(0), 3)):
        with pytest.raises(ValueError, match=f"{len(label)} labels.*{n_rows} rows"):
            check_labels_per_row(label, n_rows, "dtrain")


def test_a_margin_is_finite_in_every_row():
    margin = np.zeros((5, 2))
    check_base_margin(np.empty(0), "dtrain")
    check_base_margin(margin, "dtrain")
    margin[1:3, 1] = np.nan, np.inf
    for of_rows in (margin, margin[:, 1]):
        with pytest.raises(ValueError, match=r"2 rows.*row 1"):
            check_base_margin(of_rows, "dtrain")


def test_queries_are_counted_and_weigh_one_number_each():
    matrix = xgb.DMatrix(np.zeros((5, 1)), np.zeros(5), qid=[0, 0, 1, 1, 2])
    assert check_queries(matrix, "dtrain") == 3
    matrix.set_weight([1.0, 2.0, 1.0])
    check_dmatrix(matrix, "privileged", LOSSES["rank:pairwise"])
    with pytest.raises(ValueError, match=r"privileged.*3 weights.*5 rows"):
        check_dmatrix(matrix, "privileged", LOSSES["reg:squarederror"])
    matrix.set_weight(np.ones(5))
    with pytest.raises(ValueError, match=r"privileged.*5 weights.*3 queries"):
        check_dmatrix(matrix, "privileged", LOSSES["rank:pairwise"])


def test_shares_sum_to_one_but_for_rounding():
    close, off = np.array([[0.5, 0.5005], [1.0, 0.0]]), np.array([[0.5, 0.502], [1.0, 0.0]])
    np.testing.assert_array_equal(check_q(close), close.astype(np.float32))
    with pytest.raises(ValueError, match="must sum to 1"):
        check_q(off)
    # Only where they are shares of one row.
    check_q(off, PROBABILITIES)
    check_q(np.array([0.5, 0.25]))
    check_q([0.5])


def test_q_may_be_anything_where_it_is_not_needed():
    needed = np.array([True, False, True])
    for odd in (np.nan, np.inf, 1e300, -4.0):
        q = check_q([0.5, odd, 0.25], needed=needed)
        assert q.tolist() == [0.5, 0, 0.25]  # a weight of 0 times infinity would be NaN
    # A truth value for each row of other rows says nothing of these: that is told where the rows are counted.
    with pytest.raises(ValueError, match="1 NaN"):
        check_q([0.5, np.nan], needed=needed)
    assert check_q([np.nan, np.nan], needed=np.array([False, False])).size == 2


@pytest.mark.parametrize(
    ("q", "mean", "message"),
    [
        ((3, 2), (3,), r"take the column of the positive class"),
        ((4, 2), (3,), r"rows, in their order"),
        ((3,), (3, 2), r"\(3,\), .*\(3, 2\)"),
        ((3, 2), (3, 4), r"rows, in their order"),
        ((3, 2, 2), (3,), r"rows, in their order"),
    ],
)
def test_q_has_the_shape_of_what_is_predicted(q, mean, message):
    check_shape(np.zeros(q), np.zeros(q))
    with pytest.raises(ValueError, match=f"q .*Teacher.*shape .*{message}"):
        check_shape(np.zeros(q), np.zeros(mean), "Teacher")


def test_answers_lie_in_their_range_but_for_rounding():
    check_answer(np.array([-5e-7, 1 + 5e-7]), SHARES, "Teacher")
    for beyond in (-1e-5, 1 + 1e-5):
        with pytest.raises(ValueError, match=r"q .*Teacher.*\[0, 1\]"):
            check_answer(np.array([0.5, beyond]), SHARES, "Teacher")
    for endless in (np.inf, -np.inf, np.nan):
        with pytest.raises(ValueError, match=r"q .*Teacher.*NaN"):
            check_answer(np.array([0.5, endless]), NUMBERS, "Teacher")


def test_labels_of_several_targets_differ_by_row():
    label = np.zeros((6, 2), np.float32)
    other = label.copy()
    other[2], other[4, 1], other[5, 0] = 1, 1, 1
    with pytest.raises(ValueError, match=r"disagree.*3 rows.*row 2"):
        check_same_labels(label, other)
    with pytest.raises(ValueError, match=r"disagree.*1 row.*row 5"):
        check_same_labels(label, other, np.arange(6) % 2 == 1)
    check_same_labels(label, other, np.arange(6) < 2)
    with pytest.raises(ValueError, match=r"dtrain has labels of shape \(6, 2\), privileged of shape \(6,\)"):
        check_same_labels(label, label[:, 0])


def test_the_weights_of_privileged_are_none_or_those_of_dtrain():
    y, weight = np.arange(4.0), np.array([1.0, 2.0, 1.0, 3.0])
    dtrain = xgb.DMatrix(np.zeros((4, 1)), y, weight=weight)
    for own in (None, weight):
        check_same_rows(dtrain, xgb.DMatrix(np.ones((4, 1)), y, weight=own))
    for own in (np.ones(4), weight[::-1]):
        with pytest.raises(ValueError, match="weights of privileged differ"):
            check_same_rows(dtrain, xgb.DMatrix(np.ones((4, 1)), y, weight=own))


def test_queries_agree_where_both_have_them():
    x, y = np.zeros((4, 1)), np.arange(4.0)
    several, single, none = (xgb.DMatrix(x, y, qid=qid) for qid in ([0, 0, 1, 1], [0, 0, 0, 0], None))
    for dtrain, privileged in ((several, none), (none, several), (several, several)):
        check_same_rows(dtrain, privileged)
    with pytest.raises(ValueError, match=r"queries.*dtrain.*differ"):
        check_same_rows(several, single)


def test_unnamed_columns_are_told_apart_by_their_matrix():
    dtrain, privileged = xgb.DMatrix(np.zeros((2, 1))), xgb.DMatrix(np.zeros((2, 1)))
    check_no_overlap(dtrain, privileged, allow_overlap=False)
    check_no_overlap(dtrain, dtrain, allow_overlap=True)
    with pytest.raises(ValueError, match="privileged is dtrain itself"):
        check_no_overlap(dtrain, dtrain, allow_overlap=False)


def test_evals_are_pairs():
    matrix = xgb.DMatrix(np.zeros((2, 1)))
    for pairs in ([(matrix, "a")], ([matrix, "a"],), iter([(matrix, "a"), (matrix, "b")])):
        assert all(tuple(pair) == (matrix, pair[1]) for pair in check_evals(pairs, "evals"))
    for wrong in ([(matrix, "a", 1)], [(matrix,)], "ab", [matrix], matrix):
        with pytest.raises(TypeError, match=r"evals.*list.*pairs"):
            check_evals(wrong, "evals")

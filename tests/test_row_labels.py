"""y in any container: the labels, the objective that they ask for, the names of their classes, the gaps."""

from __future__ import annotations

import contextlib
import datetime
import decimal

import numpy as np
import pandas as pd
import pytest

from pi_xgb._cli.labels import training_labels
from pi_xgb._rows.labels import encode_labels, read_target, warn_of_odd_classes
from pi_xgb.sklearn import PrivilegedXGBClassifier

DAY = datetime.date(2020, 1, 1)
GAPS = {
    "numbers": [0.5, np.nan, 2.5, 0.5],
    "decimals": [decimal.Decimal("0.5"), None, decimal.Decimal("2.5"), decimal.Decimal("0.5")],
    "Int64": pd.array([0, pd.NA, 1, 0], dtype="Int64"),
    "boolean": pd.array([False, pd.NA, True, False], dtype="boolean"),
    "text": ["a", None, "b", "a"],
    "pandas' text": pd.Series(["a", None, "b", "a"], dtype="string"),
    "categories": pd.Series(["a", None, "b", "a"], dtype="category"),
    "categories of numbers": pd.Series([3, None, 5, 3], dtype="category"),
    "NaT among objects": pd.Series([DAY, pd.NaT, datetime.date(2021, 1, 1), DAY], dtype=object),
}


@pytest.mark.parametrize("y", GAPS.values(), ids=GAPS)
def test_rows_without_a_label_are_marked(y):
    target = read_target(y)
    assert target.labelled.tolist() == [True, False, True, True]
    # The others are as without the gap, whose value is 0.
    kept = pd.Series(y).drop(index=1)
    whole = read_target(kept)
    assert whole.labelled is None
    assert target.values.tolist() == np.insert(whole.values, 1, 0).tolist()
    assert (target.values.dtype, target.params) == (np.float32, whole.params)
    assert target.params == {"objective": "binary:logistic"}
    assert target.classes.tolist() == whole.classes.tolist()
    # Other rows with such a gap are refused.
    with pytest.raises(ValueError, match=r"other must .* 1 missing values"):
        encode_labels(y, whole.classes, name="other")
    assert encode_labels(kept, whole.classes, name="y").tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("y", "requested", "objective", "classes"),
    [
        ([0, 1, 1], None, "binary:logistic", [0, 1]),
        ([5, 3, 3], None, "binary:logistic", [3, 5]),
        ([True, False], None, "binary:logistic", [False, True]),
        (["b", "a", "c"], None, "multi:softprob", ["a", "b", "c"]),
        (pd.Categorical([3, 4, 5]), None, "multi:softprob", [3, 4, 5]),
        ([1, 2, 3], None, "reg:squarederror", None),
        ([1.5, 2.0, 3.0], None, "reg:squarederror", None),
        ([1, 2, 3], "multi:softmax", "multi:softmax", [1, 2, 3]),
        ([0.0, 0.3, 1.0], "binary:logistic", "binary:logistic", None),  # probabilities as labels
        ([0.2, 0.8, 0.8], None, "binary:logistic", None),
        ([1.0, 2.0, 2.0], "reg:absoluteerror", "reg:absoluteerror", None),
    ],
)
def test_what_labels_ask_for(y, requested, objective, classes):
    target = read_target(y, requested)
    assert target.objective == objective
    assert (None if target.classes is None else target.classes.tolist()) == classes
    expected = np.asarray(y, np.float32) if classes is None else [classes.index(value) for value in y]
    assert target.values.tolist() == list(expected)
    assert target.params.get("num_class") == (len(classes) if objective.startswith("multi:") else None)


def test_classes_can_be_sorted():
    for others, types in (([3], "date, int"), ([object(), object()], "date, object")):
        with pytest.raises(TypeError, match=rf"y .*sortable.*{types}"):
            read_target([DAY, *others])


@pytest.mark.parametrize(("y", "row"), [([1.0, None, 1e300, 2.0], 2), ([None, 1.0, 2.0, np.inf], 3)])
def test_numbers_beyond_single_precision_raise_with_their_row(y, row):
    with pytest.raises(ValueError, match=f"y must .* of single precision, got (1e[+]300|inf) in row {row}"):
        read_target(y, "reg:squarederror")


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([-1, 0, 1] * 9, "-1 beside 2 others.*np.nan"),
        ([-1.0, 2.0, 1.0, 0.0] * 9, "-1 beside 3 others"),
        ([-1, 1] * 9, None),
        ([-2, -1, 0] * 9, None),
        (["-1", "b", "a"] * 9, "-1 beside 2 others.*'-1', None"),
    ],
)
def test_classes_that_mark_gaps_are_pointed_out(y, message):
    target = read_target(y, classes=True)
    frame = pd.DataFrame({"y": pd.Series(y)})
    fit = PrivilegedXGBClassifier(n_estimators=1, n_jobs=1, teacher="boosted", kl_weight=0).fit
    for warn in (
        lambda: warn_of_odd_classes(target),
        lambda: fit(np.arange(len(y))[:, None], y),
        lambda: training_labels(frame, "multi:softprob", "a file"),
    ):
        with contextlib.nullcontext() if message is None else pytest.warns(UserWarning, match=message):
            warn()

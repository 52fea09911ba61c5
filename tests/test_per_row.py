"""The reader of one value per row: every container and dtype, one array; what is wrong, by keyword and value."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_xgb._rows.per_row import FINITE, NOT_NEGATIVE, on_host, per_row
from pi_xgb._rows.supervision import checked_groups

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

DAYS = [datetime.datetime(2024, 1, 1 + i) for i in range(5)]


class OnDevice:
    """An array of CuPy, as far as a reader sees it."""

    __cuda_array_interface__ = None

    def __init__(self, array):
        self.get = lambda: array


class Column(OnDevice):
    """A column of cuDF."""

    def __init__(self, array):
        self.to_numpy = lambda: array


# From a list of values of one type to what users hold them in.
CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "rows of one": lambda values: [[value] for value in values],
    "array": np.array,
    "array of one column": lambda values: np.array(values)[:, None],
    "every other place": lambda values: np.repeat(np.array(values), 2)[::2],
    "read only": lambda values: np.frombuffer(np.array(values).tobytes(), np.array(values).dtype),
    "objects": lambda values: np.array(values, dtype=object),
    "masked, nothing hidden": np.ma.array,
    "Series": lambda values: pd.Series(values, index=range(len(values), 0, -1)),
    "Series of objects": lambda values: pd.Series(values, dtype=object),
    "nullable": lambda values: pd.Series(values).convert_dtypes(),
    "Arrow in pandas": lambda values: pd.Series(values).convert_dtypes(dtype_backend="pyarrow"),
    "categories": pd.Categorical,
    "Index": pd.Index,
    "frame": lambda values: pd.DataFrame({"a": values}),
    "polars": pl.Series,
    "polars frame": lambda values: pl.DataFrame({"a": values}),
    "polars, lazy": lambda values: pl.LazyFrame({"a": values}),
    "Arrow": pa.array,
    "Arrow in chunks": lambda values: pa.chunked_array([values[:1], values[1:]]),
    "Arrow table": lambda values: pa.table({"a": values}),
    "CuPy": lambda values: OnDevice(np.array(values)),
    "cuDF": lambda values: Column(np.array(values)),
}
# What holds values that may be missing.
WITH_GAPS = ("list", "tuple", "objects", "Series", "Series of objects", "nullable", "Arrow in pandas", "categories")
WITH_GAPS += ("polars", "Arrow", "rows of one")

VALUES = {
    "whole": st.integers(-(2**53), 2**53),
    "floats": st.floats(allow_nan=False, width=64),
    "single": st.floats(allow_nan=False, width=32),
    "truth": st.booleans(),
    "text": st.text("ab ", max_size=3),
    "dates": st.sampled_from(DAYS),
}
NUMBERS = ("whole", "floats", "single", "truth")
every_container = pytest.mark.parametrize("container", CONTAINERS)


def lists(kinds):
    return st.sampled_from(kinds).flatmap(lambda kind: st.lists(VALUES[kind], min_size=2, max_size=20))


@every_container
@settings(max_examples=25, deadline=None)
@given(lists(NUMBERS))
def test_numbers_are_the_same_out_of_every_container(container, values):
    held = CONTAINERS[container](values)
    read = per_row("w", held, len(values))
    assert read.dtype == np.float64
    assert read.tolist() == [float(value) for value in values]
    # Nobody else holds the array, so that what is written there changes no other.
    before = on_host(held).copy()
    read[:] = 7
    np.testing.assert_array_equal(on_host(held), before)


def test_truth_values_of_python_and_numpy_side_by_side():
    read = per_row("known", np.array([True, np.False_, True], dtype=object), 3, dtype=None)
    assert read.dtype == np.bool_
    assert read.tolist() == [True, False, True]


@every_container
@settings(max_examples=10, deadline=None)
@given(st.lists(VALUES["truth"], min_size=2, max_size=20), st.sampled_from([bool, int, float]))
def test_truth_values_are_the_same_out_of_every_container(container, values, kind):
    read = per_row("known", CONTAINERS[container]([kind(value) for value in values]), len(values), "truth values")
    assert read.dtype == np.bool_
    assert read.tolist() == values


@every_container
@settings(max_examples=25, deadline=None)
@given(lists(sorted(VALUES)))
def test_values_of_any_type_are_the_same_out_of_every_container(container, values):
    if container == "read only" and isinstance(values[0], datetime.datetime):
        values = [str(value) for value in values]
    read = per_row("group", CONTAINERS[container](values), len(values), "values")
    assert read.shape == (len(values),)
    if isinstance(values[0], datetime.datetime):
        read = pd.to_datetime(read).to_pydatetime()
    assert list(read) == values


@pytest.mark.parametrize("container", WITH_GAPS)
@settings(max_examples=25, deadline=None)
@given(lists(("whole", "floats", "truth", "text")), st.data())
def test_gaps_are_found_in_every_container(container, values, data):
    first = data.draw(st.integers(0, len(values) - 1))
    gaps = [i == first or (i > first and i % 3 == 0) for i in range(len(values))]
    held = CONTAINERS[container]([None if gap else value for gap, value in zip(gaps, values, strict=True)])
    for kind in ("numbers", "truth values", "values"):
        advice = "fill them in" if kind == "numbers" else "name it"
        with pytest.raises(ValueError, match=rf"^w must .* got {sum(gaps)} missing .* in row {first}: {advice}"):
            per_row("w", held, len(values), kind, hint="name it")
    with pytest.raises(ValueError, match="missing"):  # there are two truth values
        per_row("w", held, len(values), "truth values", missing="keep")
    kept = per_row("w", held, len(values), "values", missing="keep")
    assert pd.isna(kept).tolist() == gaps
    if not isinstance(values[0], str) and sum(gaps) < len(gaps):
        numbers = per_row("w", held, len(values), missing="keep")
        expected = [np.nan if gap else float(value) for gap, value in zip(gaps, values, strict=True)]
        np.testing.assert_array_equal(numbers, expected)
        assert numbers.dtype == np.float64


@every_container
@settings(max_examples=10, deadline=None)
@given(lists(("whole", "floats")), st.data())
def test_the_first_number_out_of_range_is_named(container, values, data):
    row = data.draw(st.integers(0, len(values) - 1))
    values = [min(abs(value), 100) for value in values[:row]] + [-1 - abs(value) for value in values[row:]]
    values = [type(values[-1])(value) for value in values]
    with pytest.raises(ValueError, match=rf"^w must be finite and at least 0, got -.* in row {row}: pay"):
        per_row("w", CONTAINERS[container](values), within=NOT_NEGATIVE, hint="pay")
    assert per_row("w", CONTAINERS[container]([abs(value) for value in values]), within=(0, np.inf)).min() >= 0


@every_container
@pytest.mark.parametrize("kind", ["text", "dates"])
def test_what_is_no_number_is_a_type_error(container, kind):
    if container == "read only":
        pytest.skip("buffers hold numbers")
    values = {"text": ["1", "b", "c"], "dates": DAYS[:3]}[kind]
    for requested in ("numbers", "truth values"):
        with pytest.raises(TypeError, match=rf"^w must be {requested}.* got .* in row 0: encode text"):
            per_row("w", CONTAINERS[container](values), 3, requested)


@pytest.mark.parametrize(
    ("values", "got"),
    [
        (np.array([1j, 2]), "1j of dtype complex128 in row 0"),
        (np.array([1, 2], "m8[s]"), "in row 0"),
        (np.array([np.timedelta64(1, "s"), 2], dtype=object), "in row 0"),
        ([1, "b", None], "'b' in row 1"),
        ([True, "b"], "'b' in row 1"),
        ([None, [1], 2], r"\[1\] in row 1"),
    ],
)
def test_the_first_value_that_is_no_number_is_named(values, got):
    with pytest.raises(TypeError, match=rf"^w must be numbers, got .*{got}"):
        per_row("w", pd.Series(values, dtype=object) if isinstance(values, list) else values, missing="keep")


@every_container
def test_as_many_as_rows(container):
    held = CONTAINERS[container]([1.0, 2.0, 3.0])
    for kind in ("numbers", "values"):
        with pytest.raises(ValueError, match=r"^w must have one value for each of the 4 rows of dtrain, got 3: build"):
            per_row("w", held, 4, kind, table="dtrain")
    with pytest.raises(ValueError, match=r"^w must have one value for each of the 2 queries of X, got 3: build"):
        per_row("w", held, 2, unit="query", table="X")
    assert len(per_row("w", held)) == 3


@pytest.mark.parametrize("value", [3, None, "word", b"word", iter([1]), {1, 2}, {"a": [1]}, object(), np.array(1.0)])
def test_one_value_for_all_rows_is_refused(value):
    for kind in ("numbers", "truth values", "values"):
        with pytest.raises(TypeError, match=r"^w must have one value per row, got .*: give a list"):
            per_row("w", value, 1, kind)


def test_what_a_mask_hides_is_refused():
    with pytest.raises(TypeError, match=r"^w is a masked array"):
        per_row("w", np.ma.array([1.0, 2.0], mask=[False, True]))


def test_tables_are_refused_where_a_row_has_one_value():
    for shape, got in (((3, 2), "2"), ((3, 0), "0"), ((1, 3), "3")):
        with pytest.raises(ValueError, match=rf"^w must be one column, got {got}"):
            per_row("w", np.zeros(shape))
    for several in (False, True):
        with pytest.raises(ValueError, match=r"^w must have one or two dimensions, got shape \(3, 1, 1\)"):
            per_row("w", np.zeros((3, 1, 1)), several=several)
    with pytest.raises(ValueError, match=r"^w must have .* lists of several lengths"):
        per_row("w", [[1.0], [1.0, 2.0]])
    for empty in ([], np.empty(0), pd.Series([], dtype=float)):
        with pytest.raises(ValueError, match=r"^w is empty"):
            per_row("w", empty)
        assert per_row("w", empty, 0).shape == (0,)


def test_a_row_may_have_several_values():
    table = np.array([[1.0, np.nan], [3.0, 4.0]])
    assert per_row("q", table[:, :1], several=True).shape == (2,)
    np.testing.assert_array_equal(per_row("q", table, several=True, missing="keep"), table)
    with pytest.raises(ValueError, match=r"^q must have .* 1 missing values in 2, first in row 0"):
        per_row("q", table, several=True)
    with pytest.raises(ValueError, match=r"^q must be finite numbers, got inf in row 1"):
        per_row("q", [[1, 2], [3, np.inf]], several=True, within=FINITE)


def test_dtypes():
    assert per_row("q", [0.1, 1e300], dtype=np.float32).tolist() == [np.float32(0.1), np.inf]
    for dtype in (np.float16, np.float32, np.float64, np.int8, np.uint64, np.bool_):
        given = np.array([0, 1], dtype)
        kept = per_row("qid", given, dtype=None)
        assert kept.dtype == dtype
        assert not np.shares_memory(kept, given)
    # Every whole number has a double of its own, but for the largest.
    assert per_row("qid", [2**53 + 1, 2**53], dtype=None).tolist() == [2**53 + 1, 2**53]
    for small in (np.float16, np.float32):
        with pytest.raises(ValueError, match="got inf in row 1"):
            per_row("w", np.array([1, np.inf], small), within=FINITE)
    mixed = [Decimal("0.5"), Fraction(1, 4), 2, 1.5, np.float32(3)]
    assert per_row("w", mixed).tolist() == [0.5, 0.25, 2, 1.5, 3]
    assert per_row("w", [10**30, 1]).tolist() == [1e30, 1]


def test_lists_keep_gaps_and_numbers_among_texts():
    assert per_row("group", ["a", np.nan, 1, None], kind="values", missing="keep").tolist()[::2] == ["a", 1]
    assert per_row("group", ["a", "b"], kind="values").dtype.kind == "U"
    names = np.array(["a", "b"])
    assert not np.shares_memory(per_row("group", names, kind="values"), names)
    with pytest.raises(ValueError, match=r"^group must have .* 1 missing .* first in row 1: name it"):
        per_row("group", ["a", np.nan], kind="values", hint="name it")


def test_numbers_have_the_wanted_dtype_or_their_own():
    given = np.array([1, 2], np.int16)
    assert per_row("w", given).dtype == np.float64
    assert per_row("w", given, dtype=np.float32).dtype == np.float32
    assert per_row("w", given, dtype=None).dtype == np.int16


def test_a_missing_group_needs_a_value_of_its_own():
    with pytest.raises(ValueError, match=r"groups.*1 missing.*give a row without a group a separate value"):
        checked_groups(["a", None, "b"], 3)


def test_the_remedy_for_wrong_values_is_none_for_a_wrong_number_of_them():
    with pytest.raises(ValueError, match=r"each of the 3 rows of dtrain, got 2: build both from the same table$"):
        per_row("weight", [1.0, 2.0], n_rows=3, table="dtrain", hint="the remedy")
    with pytest.raises(ValueError, match=r"each of the 3 rows, got 2: the remedy$"):
        per_row("labelled", [True, False], kind="truth values", n_rows=3, hint="the remedy")

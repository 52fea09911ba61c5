"""The reader of one value per row: every container and dtype, one array; what is wrong, by keyword and value."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_xgb._rows.per_row import FINITE, NOT_NEGATIVE, on_host, per_row

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

DAYS = [datetime.datetime(2024, 1, 1 + i) for i in range(5)]


class OnDevice:
    """An array of CuPy, or a column of cuDF, as far as a reader sees it."""

    __cuda_array_interface__ = None

    def __init__(self, array, method):
        setattr(self, method, lambda: array)


def nullable(values, **backend):
    with np.errstate(invalid="ignore"):  # older versions of pandas try whole numbers of any size
        return pd.Series(values).convert_dtypes(**backend)


# From a list of values of one type to what users hold them in.
CONTAINERS = {
    "list": list,
    "rows of one": lambda values: [[value] for value in values],
    "array": np.array,
    "read only": lambda values: np.frombuffer(np.array(values).tobytes(), np.array(values).dtype),
    "objects": lambda values: np.array(values, dtype=object),
    "masked, nothing hidden": np.ma.array,
    "Series": lambda values: pd.Series(values, index=range(len(values), 0, -1)),
    "nullable": nullable,
    "Arrow in pandas": lambda values: nullable(values, dtype_backend="pyarrow"),
    "categories": pd.Categorical,
    "frame": lambda values: pd.DataFrame({"a": values}),
    "polars": pl.Series,
    "polars, lazy": lambda values: pl.LazyFrame({"a": values}),
    "Arrow": pa.array,
    "Arrow table": lambda values: pa.table({"a": values}),
    "CuPy": lambda values: OnDevice(np.array(values), "get"),
    "cuDF": lambda values: OnDevice(np.array(values), "to_numpy"),
}
# What holds values that may be missing.
WITH_GAPS = ("list", "objects", "Series", "nullable", "Arrow in pandas", "categories")
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
@settings(max_examples=12, deadline=None)
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


@every_container
@settings(max_examples=12, deadline=None)
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
@settings(max_examples=12, deadline=None)
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
@pytest.mark.parametrize("kind", ["text", "dates"])
def test_what_is_no_number_is_a_type_error(container, kind):
    if container == "read only":
        pytest.skip("buffers hold numbers")
    values = {"text": ["1", "b", "c"], "dates": DAYS[:3]}[kind]
    for requested in ("numbers", "truth values"):
        with pytest.raises(TypeError, match=rf"^w must be {requested}.* got .* in row 0: encode text"):
            per_row("w", CONTAINERS[container](values), 3, requested)


def test_numbers_out_of_range_and_counts_of_rows_raise():
    for values, row in (([0, -2.0, -1.0], 1), (pl.Series([-1, 0]), 0), (pd.array([1, 2, -1], dtype="Int64"), 2)):
        with pytest.raises(ValueError, match=rf"^w must be finite and at least 0, got -.* in row {row}: pay"):
            per_row("w", values, within=NOT_NEGATIVE, hint="pay")
    for keywords, rows in (({"n_rows": 4, "table": "dtrain"}, "4 rows of dtrain"), ({"n_rows": 2}, "2 rows")):
        with pytest.raises(ValueError, match=rf"^w must have one value for each of the {rows}.*, got 3: give"):
            per_row("w", [1.0, 2.0, 3.0], **keywords)


@pytest.mark.parametrize("value", [3, None, "word", b"word", iter([1]), {1, 2}, {"a": [1]}, object(), np.array(1.0)])
def test_one_value_for_all_rows_is_refused(value):
    for kind in ("numbers", "truth values", "values"):
        with pytest.raises(TypeError, match=r"^w must have one value per row, got .*: give a list"):
            per_row("w", value, 1, kind)


def test_a_row_may_have_several_values():
    table = np.array([[1.0, np.nan], [3.0, 4.0]])
    assert per_row("q", table[:, :1], several=True).shape == (2,)
    np.testing.assert_array_equal(per_row("q", table, several=True, missing="keep"), table)
    with pytest.raises(ValueError, match=r"^q must have .* 1 missing values in 2, first in row 0"):
        per_row("q", table, several=True)
    with pytest.raises(ValueError, match=r"^q must be finite numbers, got inf in row 1"):
        per_row("q", [[1, 2], [3, np.inf]], several=True, within=FINITE)

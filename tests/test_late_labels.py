"""Dates to labels: rows whose horizon has passed, against a loop over rows; and the options of the command line."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
from helpers_cli import QUICK, files, misused, one_thread, refused, works
from hypothesis import given
from hypothesis import strategies as st

from pi_xgb import labels

__all__ = ["files", "one_thread"]

NOW = pd.Timestamp("2024-06-01")
SEEN = ["2024-01-01", "2024-02-01", "2024-05-01", "2024-05-20"]
CAME = ["2024-01-05", None, "2024-05-02", None]
ENDS = ("-05:00", "+01:00", "X10:00", "_10")
SPANS = ("0D", "-3D", 180, "180", "6 months", "6m", "300000D", None, pd.NaT)


def plainly(seen, came, days, now):
    """Row by row, with Python's own dates."""
    horizon = datetime.timedelta(days=days)
    labelled = [row + horizon <= now for row in seen]
    y = [
        float(event is not None and event <= row + horizon) if known else float("nan")
        for row, event, known in zip(seen, came, labelled, strict=True)
    ]
    early = [not known and event is not None and event <= now for event, known in zip(came, labelled, strict=True)]
    return labelled, y, early


dates = st.integers(0, 300).map(lambda day: datetime.datetime(2024, 1, 1) + datetime.timedelta(days=day))
rows = st.lists(st.tuples(dates, st.none() | st.integers(0, 200)), min_size=1, max_size=12)


@given(rows, st.integers(1, 120), dates)
def test_each_row_is_labelled_by_its_own_dates(drawn, days, now):
    seen = [row for row, _ in drawn]
    came = [None if wait is None else row + datetime.timedelta(days=wait) for row, wait in drawn]
    labelled, y, early = plainly(seen, came, days, now)
    if not any(labelled):
        with pytest.raises(ValueError, match="as_of must be"):
            labels.mature(seen, came, f"{days}D", now)
        return
    found = labels.mature(seen, came, f"{days}D", now)
    assert found.labelled.tolist() == labelled
    np.testing.assert_array_equal(found.y, y)
    assert found.set_aside.tolist() == early
    assert f"{sum(labelled)} of {len(seen)} rows have a label" in str(found)


CONTAINERS = {
    "texts": list,
    "an array of texts": lambda values: np.array(values, dtype=object),
    "NumPy's dates": lambda values: np.array([value or "NaT" for value in values], "datetime64[D]"),
    "pandas' dates": lambda values: pd.to_datetime(pd.Series(values)),
    "a time zone": lambda values: pd.to_datetime(pd.Series(values)).dt.tz_localize("Asia/Tokyo"),
    "Python's dates": lambda values: [value and datetime.date.fromisoformat(value) for value in values],
}


@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("horizon", ["30D", datetime.timedelta(30), np.timedelta64(30, "D"), pd.Timedelta(days=30)])
def test_dates_of_every_kind_are_taken(kind, horizon):
    as_of = NOW.tz_localize("Asia/Tokyo") if kind == "a time zone" else NOW
    found = labels.mature(CONTAINERS[kind](SEEN), CONTAINERS[kind](CAME), horizon, as_of)
    assert found.labelled.tolist() == [True, True, True, False]
    assert found.y[:3].tolist() == [1, 0, 1]


ARROW = {"polars": polars.from_pandas, "Arrow": pyarrow.Array.from_pandas, "pandas": lambda column: column}


@pytest.mark.parametrize("kind", ARROW)
def test_time_zones_of_columnar_libraries_are_kept(kind):
    """NumPy drops them; two hours after midnight in Tokyo the day before goes on in UTC."""
    seen, came = (pd.to_datetime(pd.Series(values)).dt.tz_localize("Asia/Tokyo") for values in (SEEN, CAME))
    for as_of, labelled in (("2024-05-30T23:00+09:00", 2), ("2024-05-31T00:00+09:00", 3)):
        found = labels.mature(ARROW[kind](seen), ARROW[kind](came), "30D", as_of)
        assert found.labelled.sum() == labelled
    with pytest.raises(ValueError, match=r"as_of has dates without a time zone.*give all a zone or none"):
        labels.mature(ARROW[kind](seen), ARROW[kind](came), "30D", NOW)
    # A column without any date has no zone either.
    assert labels.mature(SEEN, ARROW[kind](came.where(came.isna())), "30D", NOW).labelled.sum() == 3


def test_an_event_at_the_end_of_the_horizon_counts_and_one_after_as_of_is_unknown():
    found = labels.mature(
        ["2024-01-01"] * 3 + ["2024-05-31"], ["2024-01-31", "2024-02-01", None, "2024-06-02"], "30D", NOW
    )
    assert found.y[:3].tolist() == [1, 0, 0]
    assert not found.set_aside.any()
    # An event at as_of is known, within the shortest horizon as well.
    found = labels.mature([*SEEN[:2], NOW], [SEEN[0], None, NOW], "1s", NOW)
    assert found.y[:2].tolist() == [1, 0]
    assert found.set_aside.tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("seen", "came", "horizon", "as_of", "error", "match"),
    [
        (SEEN, CAME, "9D", "2999-01-01", ValueError, "as_of must not lie in the future, got '2999-01-01'"),
        (["2024-01-01", "soon"], [None] * 2, "9D", NOW, ValueError, "observed_at.*'soon'.*row 1"),
        (["03/04/2024"], [None], "9D", NOW, ValueError, "observed_at.*'03/04/2024'.*row 0"),
        # The time zone of a day, and other separators than T and a space, are no time of day.
        *(([f"2024-01-01{end}"], [None], "9D", NOW, ValueError, "observed_at must be dates, got '") for end in ENDS),
        (SEEN, CAME, "9D", "2024-06-01+01:00", ValueError, "as_of must be a date, got '2024-06-01[+]01:00'"),
        ([20240101], [None], "9D", NOW, ValueError, "observed_at.*20240101"),
        (["2024-01-01"], [5.0], "9D", NOW, ValueError, "outcome_at.*5.0"),
        (["2024-01-01", None], [None] * 2, "9D", NOW, ValueError, "observed_at.*1 missing"),
        (SEEN, CAME[:3], "9D", NOW, ValueError, "outcome_at.*4.*3"),
        ([], [], "9D", NOW, ValueError, "observed_at is empty"),
        (SEEN, CAME, "9D", "tomorrow", ValueError, "as_of.*'tomorrow'"),
        (SEEN, CAME, "9D", None, ValueError, "as_of must be a date, got None"),
        (SEEN, CAME, "9D", pd.NaT, ValueError, "as_of must be a date, got NaT"),
        (SEEN, CAME, "9D", SEEN, ValueError, "as_of must be a date, got .*2024-01-01"),
        (SEEN, ["", *CAME[1:]], "9D", NOW, ValueError, "outcome_at.*'' in row 0.*empty .None"),
        (SEEN, CAME, "9D", "2024-06-01T00:00Z", ValueError, "observed_at has dates without a time zone"),
        (["2024-01-01", "2024-01-01T00:00Z"], [None] * 2, "9D", NOW, ValueError, "observed_at.*zone"),
        (["2024-01-01T00:00Z"], [None], "9D", NOW, ValueError, "as_of has dates without a time zone"),
        (SEEN, ["2023-12-31", *CAME[1:]], "9D", NOW, ValueError, "outcome_at.*1 such rows, first row 0"),
        *((SEEN, CAME, span, NOW, ValueError, "horizon must be a time from a second to 106751 days") for span in SPANS),
        (SEEN, CAME, "900D", NOW, ValueError, "as_of must be 2026-06-19 00:00:00 or.*got 2024-06-01 "),
        # Beyond 2262, where nanoseconds end.
        (SEEN, CAME, "100000D", NOW, ValueError, "as_of must be 2297-10-16 00:00:00 or.*got 2024-06-01 "),
        # An event on the day of the observation, of which only the day is known.
        ([f"{SEEN[0]}T10:00", *SEEN[1:]], [SEEN[0], *CAME[1:]], "9D", NOW, ValueError, "observed_at as days"),
    ],
)  # fmt: skip
def test_bad_dates_are_refused(seen, came, horizon, as_of, error, match):
    with pytest.raises(error, match=match):
        labels.mature(seen, came, horizon, as_of)


def test_dates_in_another_order_of_rows_are_refused():
    index = pd.Index(list("abcd"))
    seen, came = pd.Series(SEEN, index), pd.Series(CAME, index)
    with pytest.raises(ValueError, match="outcome_at and observed_at have the same index in another order"):
        labels.mature(seen, came[::-1], "30D", NOW)
    assert labels.mature(seen, came.to_numpy(), "30D", NOW).y[:3].tolist() == [1, 0, 1]


def test_messages_name_instants_in_utc_where_dates_have_a_zone():
    with pytest.raises(ValueError, match=r"as_of must be 2024-01-09 15:00:00 UTC or.*got 2024-01-01 03:00:00 UTC"):
        labels.mature(["2024-01-01T00:00+09:00"], [None], "9D", "2024-01-01T12:00+09:00")


# --- the command line --------------------------------------------------------------------------------------------

HORIZON, AS_OF = "90D", "2024-10-27"
OPTIONS = ["--observed-at", "seen", "--outcome-at", "came", "--horizon", HORIZON, "--as-of", AS_OF]


@pytest.fixture
def late(files):
    """Rows of 300 days, and an event within 200 days of some of them."""
    rng = np.random.default_rng(0)
    seen = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 200), "D")
    came = pd.Series(seen + pd.to_timedelta(rng.integers(0, 200, 200), "D")).where(rng.random(200) < 0.6)
    frame = files[0][["x0", "x1", "z0"]].assign(seen=seen, came=came.where(came <= AS_OF))
    found = labels.mature(frame["seen"], frame["came"], HORIZON, AS_OF)
    within = frame["came"] <= frame["seen"] + pd.Timedelta(HORIZON)
    return frame.assign(ill=np.where(within, "yes", "no")), found


def train(data, *options, out="model.ubj"):
    return ["train", data, "--label", "ill", "--privileged", "z0", *QUICK, "--out", out, *options]


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
@pytest.mark.parametrize("unlabelled", ["teach", "drop"])
@pytest.mark.slow
def test_train_reads_labels_of_rows_whose_horizon_has_passed(late, capsys, name, unlabelled):
    frame, found = late
    cleared = frame.assign(ill=frame["ill"].where(found.labelled)).drop(columns=["seen", "came"])
    for table, file in ((frame, name), (cleared, f"cleared_{name}")):
        table.to_csv(file, index=False) if name.endswith("csv") else table.to_parquet(file)
    works(*train(name, *OPTIONS, "--unlabelled", unlabelled))
    assert f"the label of {found.labelled.sum()} of 200 rows counts; " in capsys.readouterr().err
    works(*train(f"cleared_{name}", "--unlabelled", unlabelled, out="cleared.ubj"))
    # It is as if the others had no label in the file, and the dates are no features.
    assert Path("model.ubj").read_bytes() == Path("cleared.ubj").read_bytes()


def test_dates_of_labels_that_cannot_be_read_are_refused(late, capsys):
    frame, found = late
    frame.to_csv("rows.csv", index=False)
    n_without = int((~found.labelled).sum())
    refused(capsys, f"{n_without} missing values.*--unlabelled teach", *train("rows.csv", *OPTIONS))
    refused(capsys, "--observed-at, --outcome-at, --horizon is incomplete", *train("rows.csv", *OPTIONS[:-2]))
    refused(capsys, "--horizon.*'0D'", *train("rows.csv", *OPTIONS, "--horizon", "0D"))
    refused(capsys, "--as-of must be.*got 2023", *train("rows.csv", *OPTIONS, "--as-of", "2023-01-01"))
    refused(capsys, "no column 'gone'.*--outcome-at", *train("rows.csv", *OPTIONS, "--outcome-at", "gone"))
    file = ["--unlabelled", "teach", "--valid", "rows.csv"]
    refused(capsys, "--valid.*--observed-at.*rows.csv", *train("rows.csv", *OPTIONS, *file))
    works(*train("rows.csv", *OPTIONS, "--unlabelled", "teach", "--valid", "0.2"))
    Path("model.ubj").unlink()
    for text in ("never", "2024-09-01+02:00"):
        frame.assign(came=frame["came"].astype(object).where(frame.index > 0, text)).to_csv("rows.csv", index=False)
        refused(capsys, f"--outcome-at must be dates.*{text!r}.*row 0", *train("rows.csv", *OPTIONS))
    misused(
        capsys, "--observed-at", "tune", "rows.csv", "--label", "ill", "--privileged", "z0", "--observed-at", "seen"
    )


def test_labels_that_contradict_their_dates_are_refused(late, capsys):
    frame, found = late
    # What is written in rows whose horizon has not passed is not read.
    right, is_known, comes = pd.Series(found.y).fillna(1), found.labelled, frame["came"].notna()
    first = int(np.flatnonzero(is_known)[0])
    for wrong in (comes.astype(int), right.where(right.index != first, 1 - right), right.where(comes, 1)):
        frame.assign(ill=wrong).to_csv("wrong.csv", index=False)
        n_wrong = int((wrong != found.y)[is_known].sum())
        message = f"'ill' of wrong.csv must be 1 if --outcome-at is within.*, else 0, got {n_wrong} others, first"
        refused(capsys, message, *train("wrong.csv", *OPTIONS))
    for name, taken in {"right": right, "amounts": wrong + comes}.items():  # amounts say more than the dates
        frame.assign(ill=taken).to_csv("right.csv", index=False)
        how = ["--unlabelled", "drop", "--objective", "reg:squarederror"]
        works(*train("right.csv", *OPTIONS, *how, out=f"{name}.ubj"))

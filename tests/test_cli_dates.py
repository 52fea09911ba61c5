"""Columns of dates: refused by name, taken apart, or taken for categories."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_cli import GUIDED, OTHERS, QUICK, files, one_thread, predicted, refused, works
from helpers_joint import assert_same_model

from pi_xgb._cli.features import learned_features

__all__ = ["files", "one_thread"]


def taken_apart(frame):
    return learned_features(frame, "a file", dates="parts", categories=())


DATES = {
    "iso": [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(200)],
    "with a time": [f"2024-{1 + i % 12}-{1 + i % 28} 12:{i % 60:02}:00.5" for i in range(200)],
    "dotted": [f"{1 + i % 28}.{1 + i % 12}.2024" for i in range(200)],
    "slashes": [f"{1 + i % 12:02}/{1 + i % 28:02}/2024 7:30 PM" for i in range(200)],
}


@pytest.mark.parametrize("kind", [*DATES, "datetime", "date"])
@pytest.mark.parametrize("where", ["feature", "privileged"])
def test_dates_are_named_and_refused(files, capsys, kind, where):
    rows, _ = files
    dates = pd.Series(DATES.get(kind, DATES["iso"]))
    data = "train.csv" if kind in DATES else "train.parquet"
    if kind not in DATES:
        dates = pd.to_datetime(dates)
        dates = dates.dt.date if kind == "date" else dates
    frame = rows.assign(seen=dates.mask(np.arange(200) % 7 == 0))
    frame.to_csv(data, index=False) if kind in DATES else frame.to_parquet(data)
    privileged = "z0,z1,seen" if where == "privileged" else "z0,z1"
    command = ["train", data, "--label", "y", "--privileged", privileged, *OTHERS, *QUICK, "--out", "model.ubj"]
    output = refused(capsys, f"'seen'.*{data}.*dates", *command)
    assert "--drop seen" in output
    assert "--categories seen" in output
    works(*command, "--categories", "seen")
    if where == "feature":
        capsys.readouterr()
        works("predict", data, "--model", "model.ubj")
        # The training's own rows have no value that the training did not have.
        assert capsys.readouterr().err == ""


def parts_of(days):
    """The oracle is pandas."""
    parts = {"year": days.dt.year, "month": days.dt.month, "day": days.dt.day, "weekday": days.dt.day_of_week}
    return pd.DataFrame(parts if not days.dt.hour.any() else {**parts, "hour": days.dt.hour}).add_prefix("seen.")


@pytest.mark.parametrize("kind", ["iso", "with a time", "dotted", "datetime", "date"])
def test_dates_give_their_parts(files, capsys, kind):
    rows, _ = files
    written = pd.Series(DATES.get(kind, DATES["iso"]))
    days = pd.to_datetime(written, dayfirst=kind == "dotted", format="mixed")
    given = {"datetime": days, "date": days.dt.date}.get(kind, written)
    gaps = np.arange(200) % 7 == 0
    there, later = ("train.parquet", "later.parquet") if kind in ("datetime", "date") else ("train.csv", "later.csv")
    frame = rows.assign(seen=given.mask(gaps)).drop(columns="colour")
    for name, part in ((there, frame), (later, frame.iloc[::-1].drop(columns=["z0", "z1", "y"]))):
        part.to_csv(name, index=False) if name.endswith("csv") else part.to_parquet(name, index=False)
    command = ["train", there, "--label", "y", "--privileged", "z0,z1", *OTHERS, *QUICK, "--dates", "parts"]
    works(*command, "--out", "model.ubj")
    parts = parts_of(days)[~gaps]
    by_hand = frame.drop(columns="seen").join(parts)
    taken = taken_apart(frame[["seen"]])
    pd.testing.assert_frame_equal(taken, parts.reindex(frame.index).astype(float))
    by_hand.to_csv("by_hand.csv", index=False)
    works("train", "by_hand.csv", *command[2:], "--out", "by_hand.ubj")
    models = [xgb.Booster(model_file=name) for name in ("model.ubj", "by_hand.ubj")]
    assert models[0].feature_names == models[1].feature_names
    assert_same_model(*models)
    # Later rows have the dates, and no parts; and the other way round.
    expected, _ = predicted(capsys, "by_hand.csv")
    for name, order in ((there, slice(None)), (later, slice(None, None, -1))):
        output, printed = predicted(capsys, name)
        assert printed == ""
        pd.testing.assert_frame_equal(output, expected.iloc[order].reset_index(drop=True))
    works("evaluate", there, "--model", "model.ubj", "--label", "y")
    works(*command, "--valid", there, "--early-stopping", "3", "--out", "model.ubj", "--force")


def test_parts_of_privileged_dates_teach_and_are_not_needed_later(files, capsys):
    rows, _ = files
    rows.assign(seen=DATES["slashes"]).to_csv("train.csv", index=False)
    command = ["train", "train.csv", "--label", "y", "--privileged", "z0,z1,seen", *OTHERS, *QUICK, "--dates", "parts"]
    output = refused(capsys, "'01/01/2024 7:30 PM'.*dates", *command, "--out", "model.ubj")
    assert "write the year first" in output
    days = [f"2024/{1 + i % 12:02}/{1 + i % 28:02} {1 + i % 12}:30 {'AP'[i % 2]}M" for i in range(200)]
    rows.assign(seen=days).to_csv("train.csv", index=False)
    works(*command, "--valid", "train.csv", "--early-stopping", "3", "--out", "model.ubj")
    taught = xgb.Booster(model_file="model.ubj")
    assert not any("seen" in name for name in taught.feature_names)
    hours = [(1 + i % 12) % 12 + 12 * (i % 2) for i in range(200)]
    moments = pd.to_datetime([f"{day.split()[0]} {hour}:30" for day, hour in zip(days, hours, strict=True)])
    parts = parts_of(pd.Series(moments))
    pd.testing.assert_frame_equal(taken_apart(pd.DataFrame({"seen": days})), parts.astype(float))
    rows.join(parts).to_csv("train.csv", index=False)
    command[5] = ",".join(["z0,z1", *parts])
    works(*command, "--valid", "train.csv", "--early-stopping", "3", "--out", "by_hand.ubj")
    assert_same_model(taught, xgb.Booster(model_file="by_hand.ubj"))


@pytest.mark.parametrize("odd", ["99:00", "24:00", "13:30 PM", "0:30 am"])
def test_an_hour_that_no_clock_shows_is_no_date(odd):
    first, last = "2024-01-01 0:00", "2024-01-01 23:59"
    assert taken_apart(pd.DataFrame({"seen": [first, last]}))["seen.hour"].tolist() == [0, 23]
    with pytest.raises(ValueError, match=f"has '2024-01-01 {odd}' among dates, which is not a date"):
        taken_apart(pd.DataFrame({"seen": [first, f"2024-01-01 {odd}"]}))


def test_what_is_no_date_among_dates_is_named(files, capsys):
    rows, _ = files
    command = ["train", "train.csv", *GUIDED, *OTHERS, "--dates", "parts", "--out", "model.ubj"]
    for odd in ("2024-02-30", "2024-13-01 9:00"):
        rows.assign(seen=[*DATES["iso"][:-1], odd]).to_csv("train.csv", index=False)
        refused(capsys, f"'seen'.*train.csv.*{odd!r}.*not a date", *command)
    rows.assign(seen=DATES["iso"], **{"seen.day": 1}).to_csv("train.csv", index=False)
    refused(capsys, "train.csv.*'seen.day'.*'seen'", *command)
    # Words for nothing are gaps, here as among numbers.
    rows.assign(seen=["NA", "-", "NaT", *DATES["iso"][3:]]).to_csv("train.csv", index=False)
    refused(capsys, "'seen'.*train.csv.*2024-04-04", *command[:-4], *command[-2:])
    works(*command)
    for odd in ("soon", "5"):
        rows.assign(seen=odd).to_csv("later.csv", index=False)
        refused(capsys, f"{odd!r}.*not a date", "predict", "later.csv", "--model", "model.ubj")
    rows.drop(columns="x0").assign(seen="").to_csv("later.csv", index=False)
    refused(capsys, "later.csv.*'x0'", "predict", "later.csv", "--model", "model.ubj")
    rows.assign(seen="").to_csv("later.csv", index=False)
    works("predict", "later.csv", "--model", "model.ubj", "--keep", "seen")

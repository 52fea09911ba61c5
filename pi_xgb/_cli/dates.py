"""Columns of dates: how they are known, why they are refused, and the numbers that are in them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .source import MARKS

PARTS = ("year", "month", "day", "weekday", "hour")
"""A part of ``seen`` is the feature ``seen.year``. Monday is 0; there is an hour where some row has a time."""
_MOST = 0.9
"""Of the different texts of a column are dates: it was meant to be one of dates."""
_TIME = r"([T ](?P<hour>\d{1,2}):\d{2}(.*?(?P<half>[AaPp])[Mm]|.*))?\s*"
_YEAR_FIRST = re.compile(r"\s*(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})" + _TIME)
_DAY_FIRST = re.compile(r"\s*(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})" + _TIME)
_EITHER = re.compile(r"\s*\d{1,2}[-/.]\d{1,2}[-/.]\d{4}" + _TIME)
"""Without points the order of day and month is unknown."""


def refused_dates(column: pd.Series[Any], file: str) -> ValueError:
    """The error for a column of dates, each of which would be a category of its own."""
    date = next(text for text in column.dropna() if are_dates([text]))
    return ValueError(
        f"the column {column.name!r} of {file} has dates, such as {date}, and each would be a category of its own: "
        "take year, month, day, weekday and hour out of them with --dates parts, give the number that matters yourself "
        f"(days since an event), leave the column out with --drop {column.name}, or take dates for categories with "
        f"--categories {column.name}"
    )


def parts_of(column: pd.Series[Any], file: str, others: Collection[str]) -> dict[str, pd.Series[Any]]:
    """The features that a training column of dates becomes; the hour only where there are times."""
    parts = _parts(column, str(column.name), file)
    hour = f"{column.name}.{PARTS[-1]}"
    parts = parts if (parts[hour] > 0).any() else parts.drop(columns=hour)
    twice = [part for part in parts if part in others]
    if twice:
        raise ValueError(f"{file} has a column {twice[0]!r}, as the dates in {column.name!r} would give: drop it")
    return {str(name): part for name, part in parts.items()}


def with_parts(frame: pd.DataFrame, wanted: Iterable[Any], file: str) -> pd.DataFrame:
    """The columns that are wanted of later rows, parts of dates among them."""
    wanted, there = list(wanted), set(map(str, frame))
    whole = {name: whole_of(name, there) for name in wanted}
    dates = dict.fromkeys(column for name, column in whole.items() if name != column)
    if not dates:
        return frame[wanted]
    return pd.concat([frame, *(_parts(frame[name], name, file) for name in dates)], axis=1)[wanted]


def whole_of(feature: str, there: Collection[str]) -> str:
    """The column of a file that a feature is made of: itself, or that of dates of which it is a part."""
    whole, _, part = feature.rpartition(".")
    return whole if feature not in there and part in PARTS and whole in there else feature


def are_dates(values: Sequence[str]) -> bool:
    """Whether these different texts are dates, as ISO 8601 and as most programs write them, but for a few."""
    return sum(bool(_YEAR_FIRST.fullmatch(text) or _EITHER.fullmatch(text)) for text in values) > _MOST * len(values)


def _texts(column: pd.Series[Any]) -> pd.Series[Any]:
    """The values as texts, marks of missing ones as missing values."""
    texts = spelled(column)
    return texts.mask(texts.isin(MARKS))


def spelled(column: pd.Series[Any]) -> pd.Series[Any]:
    """Every value as text, but for those that are missing."""
    return column.astype(object).where(column.notna(), None).map(str, na_action="ignore")


def _parts(column: pd.Series[Any], name: str, file: str) -> pd.DataFrame:
    """A column for each part, NaN where no date is."""
    texts = _texts(column)
    read = {text: _read(text) for text in texts.dropna().unique()}
    for text, parts in read.items():
        if parts is None:
            raise ValueError(f"the column {name!r} of {file} has {text!r} among dates, {_why_not(text)}")
    none = (np.nan,) * len(PARTS)
    values = [read.get(text, none) for text in texts]
    return pd.DataFrame(values, column.index, [f"{name}.{part}" for part in PARTS], dtype=np.float64)


def _read(text: str) -> tuple[int, ...] | None:
    """The parts of a date, None where there is no such day or hour."""
    found = _YEAR_FIRST.fullmatch(text) or _DAY_FIRST.fullmatch(text)
    try:
        day = datetime.date(*(int(found[part]) for part in PARTS[:3])) if found else None
    except ValueError:
        day = None
    if found is None or day is None:
        return None
    hour = int(found["hour"] or 0)
    if hour > 23 or (found["half"] and not 1 <= hour <= 12):
        return None
    if found["half"]:
        hour = hour % 12 + 12 * (found["half"] in "Pp")
    return day.year, day.month, day.day, day.weekday(), hour


def _why_not(text: str) -> str:
    if _EITHER.fullmatch(text) and not _DAY_FIRST.fullmatch(text):
        return "whose order of day and month is unknown: write the year first, as in 2024-12-31"
    return "which is no date: mend it, or leave it empty"

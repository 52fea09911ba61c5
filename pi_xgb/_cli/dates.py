"""Columns of dates: how they are recognised and rejected, and the numbers in their parts."""

from __future__ import annotations

import datetime
import re
import shlex
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .source import MARKS

PARTS = ("year", "month", "day", "weekday", "hour")
"""A part of ``seen`` is the feature ``seen.year``. Monday is 0; the hour is a feature if some row has a time."""
_MOST = 0.9
"""The share of dates among the distinct texts of a column above which it counts as a column of dates."""
_TIME = r"([T ](?P<hour>\d{1,2}):\d{2}(.*?(?P<half>[AaPp])[Mm]|.*))?\s*"
_YEAR_FIRST = re.compile(r"\s*(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})" + _TIME)
_DAY_FIRST = re.compile(r"\s*(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})" + _TIME)
_EITHER = re.compile(r"\s*\d{1,2}[-/.]\d{1,2}[-/.]\d{4}" + _TIME)
"""Without points, the order of day and month is ambiguous."""


def refused_dates(column: pd.Series[Any], file: str) -> ValueError:
    """Return the error for a column of dates, where each date would be a category."""
    date, name = next(text for text in column.dropna() if are_dates([text])), shlex.quote(str(column.name))
    return ValueError(
        f"the column {column.name!r} of {file} has dates, such as {date}, and each would be a category: split them "
        "into year, month, day, weekday and hour with --dates parts, or write a number instead (days since an event), "
        f"or leave the column out with --drop {name}, or keep dates as categories with --categories {name}"
    )


def parts_of(column: pd.Series[Any], file: str, others: Collection[str]) -> dict[str, pd.Series[Any]]:
    """Return the features of a training column of dates; the hour only if there are times."""
    parts = _parts(column, str(column.name), file)
    hour = f"{column.name}.{PARTS[-1]}"
    parts = parts if (parts[hour] > 0).any() else parts.drop(columns=hour)
    duplicates = [part for part in parts if part in others]
    if duplicates:
        raise ValueError(f"{file} has a column {duplicates[0]!r}, also a part of the dates in {column.name!r}: drop it")
    return {str(name): part for name, part in parts.items()}


def with_parts(frame: pd.DataFrame, wanted: Iterable[Any], file: str) -> pd.DataFrame:
    """Return the wanted columns of later rows, including parts of dates."""
    wanted, present = list(wanted), set(map(str, frame))
    sources = {name: source_column(name, present) for name in wanted}
    dates = dict.fromkeys(column for name, column in sources.items() if name != column)
    if not dates:
        return frame[wanted]
    return pd.concat([frame, *(_parts(frame[name], name, file) for name in dates)], axis=1)[wanted]


def source_column(feature: str, present: Collection[str]) -> str:
    """Return the column of a file that has a feature: the column of its name, or the dates it is a part of."""
    column, _, part = feature.rpartition(".")
    return column if feature not in present and part in PARTS and column in present else feature


def are_dates(values: Sequence[str]) -> bool:
    """Return whether nearly all of these distinct texts are dates, in ISO 8601 or another common format."""
    return sum(bool(_YEAR_FIRST.fullmatch(text) or _EITHER.fullmatch(text)) for text in values) > _MOST * len(values)


def texts_of(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return the values as texts, with marks of missing values as missing."""
    texts = spelled(column)
    return texts.mask(texts.isin(MARKS))


def spelled(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return every value as text; missing values stay missing."""
    return column.astype(object).where(column.notna(), None).map(str, na_action="ignore")


def _parts(column: pd.Series[Any], name: str, file: str) -> pd.DataFrame:
    """Return a column for each part, NaN without a date."""
    texts = texts_of(column)
    parsed = {text: _parse(text) for text in texts.dropna().unique()}
    for text, parts in parsed.items():
        if parts is None:
            raise ValueError(f"the column {name!r} of {file} has {text!r} among dates, {_reason(text)}")
    empty = (np.nan,) * len(PARTS)
    values = [parsed.get(text, empty) for text in texts]
    return pd.DataFrame(values, column.index, [f"{name}.{part}" for part in PARTS], dtype=np.float64)


def _parse(text: str) -> tuple[int, ...] | None:
    """Return the parts of a date, None if the day or hour does not exist."""
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


def _reason(text: str) -> str:
    if _EITHER.fullmatch(text) and not _DAY_FIRST.fullmatch(text):
        return "whose order of day and month is unknown: write the year first, as in 2024-12-31"
    return "which is not a date: correct it, or leave it empty"

"""Dates to labels: a row has a label once its horizon has passed, whether or not its outcome is known earlier."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._rows.names import plain
from .._rows.per_row import per_row
from .._rows.tables import check_orders

_ISO = "write it in ISO form, as in 2024-12-31 or 2024-12-31T08:00+01:00"


@dataclass(frozen=True)
class Maturity:
    """Which rows have a label on a date, and what it is; the result of :func:`mature`.

    Attributes
    ----------
    labelled : numpy.ndarray of bool
        Whether the horizon of a row had passed: ``labelled=`` of :func:`pi_xgb.train`.
    y : numpy.ndarray of float
        1 where the event came within the horizon, 0 where it did not, NaN in rows without a label: the y of
        estimators.
    set_aside : numpy.ndarray of bool
        Rows without a label whose event is known already. They are not labels: rows without an event cannot be known
        as early, so such labels would be 1 too often.

    Examples
    --------
    >>> from pi_xgb import labels
    >>> found = labels.mature(["2024-01-10", "2024-01-20", "2024-07-01"], ["2024-02-10", None, "2024-07-09"], "90D",
    ...                       as_of="2024-08-01")
    >>> found.labelled.tolist(), found.y.tolist(), found.set_aside.tolist()
    ([True, True, False], [1.0, 0.0, nan], [False, False, True])
    """

    labelled: NDArray[np.bool_]
    y: NDArray[np.float64]
    set_aside: NDArray[np.bool_]

    def __str__(self) -> str:
        rows = self.labelled
        return (
            f"{int(rows.sum())} of {len(rows)} rows have a label, {int(np.nansum(self.y))} of them 1; "
            f"{int((~rows).sum())} have none yet, {int(self.set_aside.sum())} of them with an early event, not used"
        )


def mature(observed_at: Any, outcome_at: Any, horizon: Any, as_of: Any) -> Maturity:
    """Return which rows have a label: those whose horizon has passed.

    Use it where outcomes come late, such as readmissions within 180 days. A yes is known on the day of the event and a
    no at the end of the horizon only. A row whose horizon has not passed therefore has no label, even if its event is
    known; to count early events as labels would bias the model towards yes.

    Parameters
    ----------
    observed_at : array-like of dates
        When each row was observed. NumPy's or pandas' dates, ``datetime`` objects or texts in ISO form, all with a
        time zone or all without.
    outcome_at : array-like of dates
        When the event of each row came; missing (NaT, None, NaN) where none is known. Events after ``as_of`` are not
        known yet. Where it has days without times, ``observed_at`` must have days too.
    horizon : str or timedelta
        How long after ``observed_at`` an event counts, as in pandas: "180D", "12h".
    as_of : str or datetime
        The date on which the labels are read: the last day whose events are all in the data. A date without a time
        means its midnight.

    Returns
    -------
    Maturity
        ``labelled``, ``y`` and ``set_aside``, one value per row.

    Examples
    --------
    >>> from pi_xgb import labels
    >>> left = ["2024-01-10", "2024-01-20", "2024-02-01", "2024-06-20", "2024-07-01"]
    >>> readmitted = ["2024-02-10", None, "2024-12-01", None, "2024-07-09"]
    >>> found = labels.mature(left, readmitted, "90D", as_of="2024-08-01")
    >>> print(found)
    3 of 5 rows have a label, 1 of them 1; 2 have none yet, 1 of them with an early event, not used
    >>> found.y.tolist()
    [1.0, 0.0, 0.0, nan, nan]
    """
    seen, zones = _dates("observed_at", observed_at, None)
    came, came_zones = _dates("outcome_at", outcome_at, len(seen))
    check_orders({"observed_at": observed_at, "outcome_at": outcome_at})
    today = _parsed(as_of)
    if today is None or today is pd.NaT:
        raise ValueError(f"as_of must be a date, got {as_of!r:.60}: {_ISO}")
    if today > pd.Timestamp.now(today.tzinfo) + pd.Timedelta("1D"):
        raise ValueError(f"as_of must not lie in the future, got {as_of!r}: pass the day on which the labels were read")
    zoned = {"observed_at": zones, "outcome_at": came_zones, "as_of": {today.tzinfo is not None}}
    without = [name for name, kinds in zoned.items() if False in kinds]
    if without and any(True in kinds for kinds in zoned.values()):
        raise ValueError(f"{without[0]} has dates without a time zone, unlike other dates: give all a zone or none")
    lasting = pd.to_timedelta(pd.Series([horizon], dtype=object), errors="coerce")[0]
    means_months = str(horizon).strip().endswith("m")  # minutes to pandas
    if means_months or not lasting >= pd.Timedelta("1s"):  # without a unit pandas counts nanoseconds
        raise ValueError(
            f"horizon must be a time from a second to {pd.Timedelta.max.days} days, such as '180D' or '12h', got "
            f"{horizon!r}: name the unit, count days in place of months, and write min for minutes"
        )
    span = lasting.to_timedelta64().astype("timedelta64[us]")
    now = _utc(today).astype("datetime64[us]")  # nanoseconds end in 2262
    earlier = np.flatnonzero(came < seen)
    if earlier.size:
        raise ValueError(
            f"outcome_at must not be before observed_at, got {len(earlier)} such rows, first row {earlier[0]}: correct "
            "the dates, or leave these rows out; where outcome_at has days without times, pass observed_at as days too"
        )
    labelled = seen + span <= now
    if not labelled.any():
        first, zone = pd.Timestamp((seen + span).min()), "" if without else " UTC"
        raise ValueError(f"as_of must be {first}{zone} or later to label a row, got {pd.Timestamp(now)}{zone}")
    y = np.where(labelled, came <= seen + span, np.nan)
    return Maturity(labelled, y, ~labelled & (came <= now))  # False for missing dates


def _dates(name: str, values: Any, n_rows: int | None) -> tuple[NDArray[np.datetime64], set[bool]]:
    """Return dates in UTC, and whether they have a time zone."""
    missing: Literal["keep", "refuse"] = "keep" if name == "outcome_at" else "refuse"
    if hasattr(values, "to_pandas"):  # NumPy would drop the time zones of polars and Arrow
        values = values.to_pandas()
    zoned = isinstance(getattr(values, "dtype", None), pd.DatetimeTZDtype)
    dates = pd.DatetimeIndex(values).tz_convert(None) if zoned else values
    column = per_row(name, dates, n_rows, "values", missing=missing, table="observed_at", hint="leave these rows out")
    if column.dtype.kind == "M":
        return column.astype("datetime64[us]"), set() if np.isnat(column).all() else {zoned}
    codes, distinct = pd.factorize(column)  # to parse each date once
    stamps = [*map(_parsed, distinct)]
    if None in stamps:
        wrong = stamps.index(None)
        raise ValueError(
            f"{name} must be dates, got {plain(distinct[wrong])!r} in row {int(np.argmax(codes == wrong))}: {_ISO}, "
            "and leave a missing date empty (None)"
        )
    dates = np.array([*map(_utc, stamps), np.datetime64("NaT", "us")], "datetime64[us]")  # the code of missing is -1
    return dates[codes], {stamp.tzinfo is not None for stamp in stamps}


def _utc(stamp: pd.Timestamp) -> Any:
    return (stamp.tz_convert(None) if stamp.tzinfo else stamp).to_datetime64()


def _parsed(value: Any) -> Any:
    """Return a date; None for anything else, such as numbers and texts whose order of day and month is unknown."""
    try:
        if isinstance(value, str):
            text = value.strip()
            datetime.date.fromisoformat(text.replace("T", " ").partition(" ")[0])  # the next line takes any separator
            return pd.Timestamp(datetime.datetime.fromisoformat(text))
        return pd.Timestamp(value) if isinstance(value, (datetime.date, np.datetime64)) else None
    except ValueError:
        return None

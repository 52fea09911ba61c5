"""HTML in small pieces: text is escaped unless it is already HTML."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import pandas as pd

from .._rows.names import printable

WIDE = 5  # number of columns from which a phone does not show the whole table
UNDEFINED = "–"  # replaces an undefined number


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: str) -> Html:
    """Return an element. A trailing underscore (``class_``) is dropped, other underscores become hyphens."""
    text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(printable(value))}"' for key, value in attributes.items()
    )
    return Html(f"<{name}{text}>{joined(children)}</{name}>")


def joined(children: Iterable[str]) -> Html:
    """Concatenate pieces of HTML and text."""
    return Html("".join(child if isinstance(child, Html) else escape(printable(child)) for child in children))


def number(value: float, digits: int = 3, *, signed: bool = False) -> Html:
    """Return a rounded number, with its full value in an attribute for programs."""
    if math.isnan(value):
        return tag("span", UNDEFINED, title="not defined on these rows")
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    # A rounded -0.00004 must not read as -0.000.
    text = text.replace("-", "") if float(text) == 0 else text.replace("-", "−")
    return tag("data", text, value=repr(float(value)))


def count(value: Any) -> Html:
    """Return a count, or a sum of weights."""
    value = float(value)
    text = f"{value:,.0f}" if value.is_integer() else f"{value:,.1f}"
    return tag("data", text.replace(",", "\u202f"), value=repr(value))


def estimate(row: pd.Series[Any], name: str, digits: int = 3, *, signed: bool = False) -> Html:
    """Return a number, with its interval on a second line if there is one."""
    value = float(row[name])
    text = number(value, digits, signed=signed)
    if f"{name}_low" not in row or math.isnan(float(row[f"{name}_low"])):
        return text
    ends = [number(float(row[f"{name}{end}"]), digits, signed=signed) for end in ("_low", "_high")]
    return joined([text, tag("small", ends[0], " to ", ends[1])])


def table(
    caption: str, names: Sequence[str], columns: Sequence[str], rows: Iterable[tuple[Sequence[str], Sequence[str]]]
) -> Html:
    """Return a table of (row names, cells) under ``names`` and ``columns``, which scrolls if it is too wide."""
    header = [tag("th", name, scope="col", class_="name") for name in names]
    header += [tag("th", column, scope="col") for column in columns]
    head = tag("thead", tag("tr", *header))
    body = tag(
        "tbody",
        *(
            tag("tr", *(tag("th", name, scope="row") for name in names), *(tag("td", cell) for cell in cells))
            for names, cells in rows
        ),
    )
    inner = tag("table", tag("caption", tag("span", caption)), head, body)
    wide = " wide" if len(header) >= WIDE else ""
    return tag("div", inner, class_=f"scroll{wide}", role="region", tabindex="0", aria_label=caption)


def definitions(pairs: Iterable[tuple[str, str]]) -> Html:
    """Return a list of terms and their meanings."""
    return tag("dl", *(joined([tag("dt", term), tag("dd", meaning)]) for term, meaning in pairs))

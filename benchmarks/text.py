"""Numbers and tables as markdown."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence

NOTHING = "-"


def number(value: float | None, digits: int = 3) -> str:
    """A dash where there is none."""
    return NOTHING if value is None or math.isnan(value) else f"{value:.{digits}f}"


def signed(value: float | None, digits: int = 3) -> str:
    """With its sign; what rounds to nothing has none."""
    if value is None or math.isnan(value):
        return NOTHING
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text


def with_spread(mean: float | None, spread: float | None) -> str:
    """mean (standard deviation)."""
    if mean is None or math.isnan(mean):
        return NOTHING
    return f"{number(mean)} ({number(spread)})"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A markdown table with an empty line behind it; nothing where there are no rows."""
    lines = [[cell.replace("|", "/") for cell in row] for row in rows]
    if not lines:
        return ["Nothing to show yet.", ""]
    if any(len(line) != len(header) for line in lines):
        raise ValueError(f"expected {len(header)} cells in every row")
    marked = ["| " + " | ".join(line) + " |" for line in ([*header], *lines)]
    return [marked[0], "|" + "---|" * len(header), *marked[1:], ""]


def joined(words: Iterable[str]) -> str:
    """a, b and c, or "none"."""
    *first, last = list(words) or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


def paragraph(text: str, indent: str = "") -> str:
    """Lines of the pages' width, the later ones indented; names of programs and links stay whole."""
    whole = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.fill(" ".join(text.split()), 120, subsequent_indent=indent, **whole)


def paragraphs(text: str) -> str:
    """The same for a text of several paragraphs."""
    return "\n\n".join(map(paragraph, text.strip().split("\n\n")))

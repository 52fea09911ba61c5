"""How the pictures look: axes, colours that survive colour blindness and greyscale, names that fit."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._rows.names import in_words, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (4.8, 3.8)  # inches, for an Axes of our own
REFERENCE = "#808080"  # a grey for what is there to compare with: readable on white and on black

# Okabe and Ito's colours, then four of Tol's that lie apart from them. Line styles and markers differ as well, for
# greyscale.
PALETTE = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
    *("#882255", "#999933", "#7A5FC0", "#8C6239"),
)
DASHES = (
    *("5 1.5", "6 1.5 1.2 1.5", "1.2 1.2", "9 2", "3 1 1 1", "12 1.5 1.2 1.5", "3 3", "1 3"),
    "9 1.5 1.2 1.2 1.2 1.5",
)
LINES: tuple[Any, ...] = ("-", *((0, tuple(map(float, dashes.split()))) for dashes in DASHES))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")

MOST = len(PALETTE)  # more groups or methods than this cannot be told apart
FEW = 3  # with more groups, bars and fillings would hide the lines

LONGEST_NAME = 24
SHORT = 22  # entries of a legend that leave room for a second column


@dataclass(frozen=True)
class Look:
    """How one group or method is drawn."""

    color: str
    line: Any
    marker: str

    @property
    def stroke(self) -> dict[str, Any]:
        """Keywords for a line."""
        return {"color": self.color, "linestyle": self.line}


def look(position: int) -> Look:
    """The look of the group or method with this number, 0 to ``MOST - 1``."""
    return Look(PALETTE[position], LINES[position], MARKERS[position])


def largest(sizes: NDArray[np.intp]) -> list[int]:
    """The positions of the ``MOST`` largest, in their own order."""
    return sorted(int(i) for i in np.argsort(-sizes, kind="stable")[:MOST])


def as_axes(ax: Axes | None, n_groups: int = 1) -> Axes:
    """The user's Axes, or a new one in a figure of pyplot's."""
    if ax is None:
        return pyplot().subplots(figsize=with_room(SIZE, n_groups), layout="constrained")[1]  # type: ignore[no-any-return]
    return ax


def with_room(size: tuple[float, float], n_groups: int) -> tuple[float, float]:
    """A size with room for a legend of more than a few groups."""
    return size[0], size[1] + 0.18 * min(n_groups, MOST + 1)


def check_axes(ax: Any) -> None:
    """An Axes or None, and matplotlib to draw with; asked before any work is done."""
    pyplot()
    if ax is not None and not (hasattr(ax, "plot") and hasattr(ax, "fill_between")):
        raise TypeError(
            f"ax must be a matplotlib Axes or None, got {type(ax).__name__}: "
            "of plt.subplots() it is the second value, and an array of several is taken one by one"
        )


def pyplot() -> Any:
    """matplotlib.pyplot, which the core does not need."""
    try:
        from matplotlib import pyplot as module
    except ImportError as error:
        raise ImportError('the pictures need matplotlib: pip install "pi-xgb[plot]"') from error
    return module


def short(name: Hashable) -> str:
    """A name for a picture: cut when long, and never taken for mathematics or for a hidden label."""
    words = printable(in_words(name))
    if len(words) > LONGEST_NAME:
        words = words[: LONGEST_NAME - 1].rstrip() + "…"
    # matplotlib reads dollars as mathematics, and leaves names with an underscore in front out of legends.
    words = words.replace("$", r"\$")
    return f" {words}" if words.startswith("_") else words


def legend(ax: Axes, entries: Iterable[tuple[Any, str]], **options: Any) -> None:
    """A small legend of (artist, text)."""
    handles, texts = zip(*entries, strict=True)
    ax.legend(handles, texts, fontsize="small", **options)


def legend_below(ax: Axes, entries: Sequence[tuple[Any, str]]) -> None:
    """A legend under an Axes and its labels, where it can hide nothing; of many short entries in two columns."""
    below: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16), "borderaxespad": 0}
    longest = max((len(line) for _, text in entries for line in text.split("\n")))
    legend(ax, entries, ncols=2 if len(entries) > FEW + 1 and longest <= SHORT else 1, frameon=False, **below)


def legend_on_top(ax: Axes, entries: Sequence[tuple[Any, str]], title: str | None = None) -> None:
    """A legend at the upper end of an Axes, which is stretched upwards so that nothing lies beneath it."""
    legend(ax, entries, loc="upper center", title=title, title_fontsize="small")
    height = 72 * ax.bbox.height / ax.figure.dpi
    # A line takes 13 points; the labels of the axis will yet take a part of the height.
    lines = len(entries) + (title is not None)
    share = min((15 * lines + 10) / height, 0.6)
    low, high = ax.get_ylim()
    ax.set_ylim(low, low + (high - low) / (1 - share))


def finish(ax: Axes, xlabel: str, ylabel: str) -> Axes:
    """What all pictures share."""
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(True, alpha=0.3)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax

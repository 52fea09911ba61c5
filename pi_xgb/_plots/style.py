"""The style of the plots: axes, colours for colour blindness and greyscale, short names."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._rows.names import in_words, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

SIZE = (4.8, 3.8)  # inches, of a new figure
REFERENCE = "#808080"  # a grey for baselines: readable on white and on black

# Okabe and Ito's colours, then four of Tol's that differ from them. Line styles and markers differ too, for
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

MOST = len(PALETTE)  # the most groups or methods that readers can distinguish
FEW = 3  # with more groups, bars and fills would hide the lines

LONGEST_NAME = 24
SHORT = 22  # the longest legend entry that leaves room for a second column


@dataclass(frozen=True)
class Look:
    """The style of one group or method."""

    color: str
    line: Any
    marker: str

    @property
    def stroke(self) -> dict[str, Any]:
        """Keywords for a line."""
        return {"color": self.color, "linestyle": self.line}


def look(position: int) -> Look:
    """Return the style of the group or method at this position, 0 to ``MOST - 1``."""
    return Look(PALETTE[position], LINES[position], MARKERS[position])


def largest(sizes: NDArray[np.intp]) -> list[int]:
    """Return the positions of the ``MOST`` largest, in increasing order."""
    return sorted(int(i) for i in np.argsort(-sizes, kind="stable")[:MOST])


def as_axes(ax: Axes | None, n_groups: int = 1) -> Axes:
    """Return the user's Axes, or the Axes of a new pyplot figure."""
    if ax is None:
        return pyplot().subplots(figsize=with_room(SIZE, n_groups), layout="constrained")[1]  # type: ignore[no-any-return]
    return ax


def with_room(size: tuple[float, float], n_groups: int) -> tuple[float, float]:
    """Return the size plus room for the legend."""
    return size[0], size[1] + 0.18 * min(n_groups, MOST + 1)


def check_axes(ax: Any) -> None:
    """Raise unless ``ax`` is an Axes or None and matplotlib is installed."""
    pyplot()
    if ax is not None and not (hasattr(ax, "plot") and hasattr(ax, "fill_between")):
        raise TypeError(
            f"ax must be a matplotlib Axes or None, got {type(ax).__name__}: "
            "pass the second value of plt.subplots(), or one element if it is an array"
        )


def pyplot() -> Any:
    """Return matplotlib.pyplot, an optional dependency."""
    try:
        from matplotlib import pyplot as module
    except ImportError as error:
        raise ImportError('plots need matplotlib: pip install ".[plot]" in a checkout') from error
    return module


def short(name: Hashable) -> str:
    """Return a name for a plot: shortened, and escaped for matplotlib."""
    words = printable(in_words(name))
    if len(words) > LONGEST_NAME:
        words = words[: LONGEST_NAME - 1].rstrip() + "…"
    # matplotlib reads dollars as mathematics, and omits names with a leading underscore from legends.
    words = words.replace("$", r"\$")
    return f" {words}" if words.startswith("_") else words


def legend(ax: Axes, entries: Iterable[tuple[Any, str]], **options: Any) -> None:
    """Draw a small legend of (artist, text)."""
    handles, texts = zip(*entries, strict=True)
    ax.legend(handles, texts, fontsize="small", **options)


def legend_below(ax: Axes, entries: Sequence[tuple[Any, str]]) -> None:
    """Draw a legend under the Axes and its labels; many short entries take two columns."""
    below: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16), "borderaxespad": 0}
    longest = max((len(line) for _, text in entries for line in text.split("\n")))
    legend(ax, entries, ncols=2 if len(entries) > FEW + 1 and longest <= SHORT else 1, frameon=False, **below)


def legend_on_top(ax: Axes, entries: Sequence[tuple[Any, str]], title: str | None = None) -> None:
    """Draw a legend at the top of the Axes, and extend the Axes so that the legend hides nothing."""
    legend(ax, entries, loc="upper center", title=title, title_fontsize="small")
    height = 72 * ax.bbox.height / ax.figure.dpi
    # A line takes 13 points; 15 leave room, since axis labels still reduce the height.
    lines = len(entries) + (title is not None)
    share = min((15 * lines + 10) / height, 0.6)
    low, high = ax.get_ylim()
    ax.set_ylim(low, low + (high - low) / (1 - share))
    if ax.dataLim.y1 <= 1:
        _no_tick_above(ax.yaxis, 1)  # a share


def _no_tick_above(axis: Axis, highest: float) -> None:
    """Keep the locator of the axis, which adapts to the size, without its ticks above a value."""
    from matplotlib.ticker import Locator

    located = axis.get_major_locator()

    class Below(Locator):
        def __call__(self) -> Any:
            return [tick for tick in located() if tick <= highest]

    axis.set_major_locator(Below())


def finish(ax: Axes, xlabel: str, ylabel: str) -> Axes:
    """Set labels, grid and spines, and return the Axes."""
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(True, alpha=0.3)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax

"""The style of the plots: axes, colours for colour blindness, short names, labels and legend."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

from .._rows.checks import needed_module
from .._rows.names import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.4, 3.8)  # inches, of a new figure
REFERENCE = "#808080"  # a grey for baselines: readable on white and on black

# Okabe and Ito's colours, then four of Tol's that differ from them. Lines and markers differ too, for greyscale.
PALETTE = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
    *("#882255", "#999933", "#7A5FC0", "#8C6239"),
)
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")

MOST = len(PALETTE)  # the most groups or methods that readers can distinguish
LONGEST_NAME = 24


def stroke(position: int) -> dict[str, Any]:
    """Return the keywords for the line of the group or method at this position, 0 to ``MOST - 1``."""
    return {"color": PALETTE[position], "linestyle": LINES[position % len(LINES)], "marker": MARKERS[position]}


def as_axes(ax: Axes | None) -> Axes:
    """Return the user's Axes, or the Axes of a new pyplot figure; call it once all else is checked."""
    needed_module("matplotlib", "plots need matplotlib", "plot")
    if ax is None:
        from matplotlib import pyplot

        return pyplot.subplots(figsize=SIZE, layout="constrained")[1]
    if not hasattr(ax, "plot") or not hasattr(ax, "fill_between"):
        raise TypeError(f"ax must be a matplotlib Axes or None, got {type(ax).__name__}: pass one of plt.subplots()")
    return ax


def short_names(names: Iterable[Hashable]) -> list[str]:
    """Return names for a plot: shortened while they stay distinct, and escaped for matplotlib."""
    parts = [[printable(str(part)) for part in (name if isinstance(name, tuple) else (name,))] for name in names]
    words = full = [", ".join(own) for own in parts]
    most = LONGEST_NAME
    if max(map(len, full)) > most:
        while len(set(words := [_cut(own, most // len(own)) for own in parts])) < len(set(full)):
            most += 1
    # matplotlib reads dollars as mathematics, and omits names with a leading underscore from legends.
    return [(" " * own.startswith("_") + own).replace("$", r"\$") for own in words]


def _cut(parts: list[str], most: int) -> str:
    return ", ".join(part if len(part) <= most else part[: most - 1].rstrip() + "…" for part in parts)


def finish(ax: Axes, xlabel: str, ylabel: str, *, legend: bool = False, title: str | None = None) -> Axes:
    """Set labels, grid and spines, put the legend on the right, and return the Axes."""
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(True, alpha=0.3)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if legend:
        place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1, 1), "frameon": False}
        ax.legend(title=title, fontsize="small", title_fontsize="small", **place)
    return ax

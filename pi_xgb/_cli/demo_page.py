"""The demonstration as one HTML page: what it printed, and a picture of every act."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._plots.style import PALETTE, REFERENCE, SIZE, finish, pyplot, with_room
from .._report.document import document
from .._report.html import Html, definitions, number, table, tag
from .._report.pictures import picture
from .demo import CONTROL, PLAIN, Played

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "What a teacher is worth where the truth is known"
HEADINGS = ("All labels", "Few labels, many rows")
CAPTION = "Gain in AUC over plain XGBoost: every seed a dot, the mean with two standard errors."


def check_can_draw() -> None:
    """Matplotlib is there; asked before the trainings."""
    pyplot()


def demo_page(acts: Sequence[Played]) -> str:
    """The whole page.

    Examples
    --------
    >>> from pi_xgb._cli.demo import FEW_LABELS, play
    >>> demo_page([play(FEW_LABELS, 2, show=lambda line: None)])[:15]
    '<!DOCTYPE html>'
    """
    sections = [
        _act(heading, played, f"act{i}") for i, (heading, played) in enumerate(zip(HEADINGS, acts, strict=False))
    ]
    return document(TITLE, tag("header", tag("h1", TITLE)), tag("main", *sections))


def _act(heading: str, played: Played, prefix: str) -> Html:
    told, explained = played.table, played.act.explanations
    means = "; ".join(f"{name} {told['gain'].loc[name]:+.3f}" for name in explained if name != PLAIN)
    alt = f"Mean gain in AUC over plain XGBoost: {means}."
    drawn = picture(lambda ax: _draw(ax, played), CAPTION, alt, prefix, with_room(SIZE, len(explained)))
    rows = [
        ([name], [number(float(told[column].loc[name]), 4, signed=column == "gain") for column in told])
        for name in explained
    ]
    return tag(
        "section",
        tag("h2", heading),
        tag("p", " ".join(played.act.opening.format(n_seeds=len(played.scores)).split())),
        tag("figure", drawn.svg, tag("figcaption", drawn.caption), class_="wide"),
        table("Means over the seeds, with standard errors", ["method"], list(told.columns), rows),
        definitions(explained.items()),
        tag("p", tag("strong", played.beyond_control)),
        tag("p", " ".join(played.act.closing.split())),
    )


def _draw(ax: Axes, played: Played) -> None:
    """A line per method, in the order of the explanations."""
    names = [name for name in played.act.explanations if name != PLAIN]
    told, gains = played.table, played.gains
    ax.axvline(0, color=REFERENCE)
    for place, name in enumerate(names):
        color = PALETTE[1] if name == CONTROL else PALETTE[0] if name == played.act.judged else REFERENCE
        ax.plot(gains[name], np.full(len(gains), place), "o", color=color, alpha=0.35)
        mean, error = (float(told[column].loc[name]) for column in ("gain", "gain s.e."))
        ax.errorbar(mean, place, xerr=2 * error, color=color, marker="D")
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    finish(ax, "gain in AUC over plain XGBoost", "").grid(False, axis="y")

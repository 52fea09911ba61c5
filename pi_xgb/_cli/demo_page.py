"""The demonstration as one HTML page: its text, and a picture of every experiment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._plots.style import PALETTE, REFERENCE, SIZE, finish, with_room
from .._report.document import document
from .._report.html import Html, definitions, number, table, tag
from .._report.pictures import picture
from .experiment import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "The gain from a teacher on data with known probabilities"
HEADINGS = ("All labels", "Few labels, many rows")
CAPTION = "Gain in AUC over plain XGBoost: every seed a dot, the mean with two standard errors."


def demo_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page."""
    sections = [
        _section(heading, outcome, f"part{i}")
        for i, (heading, outcome) in enumerate(zip(HEADINGS, outcomes, strict=True))
    ]
    return document(TITLE, tag("header", tag("h1", TITLE)), tag("main", *sections))


def _section(heading: str, outcome: Outcome, prefix: str) -> Html:
    means, experiment = outcome.table, outcome.experiment
    gains = "; ".join(f"{name} {means['gain'].loc[name]:+.3f}" for name in experiment.guided)
    alt = f"Mean gain in AUC over plain XGBoost: {gains}."
    size = with_room(SIZE, len(experiment.explanations))
    drawn = picture(lambda ax: _draw(ax, outcome), CAPTION, alt, prefix, size)
    rows = [
        ([name], [number(float(means[column].loc[name]), 4, signed=column == "gain") for column in means])
        for name in experiment.explanations
    ]
    return tag(
        "section",
        tag("h2", heading),
        tag("p", " ".join(experiment.opening.format(n_seeds=len(outcome.scores)).split())),
        tag("figure", drawn.svg, tag("figcaption", drawn.caption), class_="wide"),
        table("Means over the seeds, with standard errors", ["method"], list(means.columns), rows),
        definitions(experiment.explanations.items()),
        tag("p", tag("strong", outcome.beyond_control)),
        tag("p", " ".join(experiment.closing.split())),
    )


def _draw(ax: Axes, outcome: Outcome) -> None:
    """Draw a line per method, in the order of the explanations."""
    experiment, means, gains = outcome.experiment, outcome.table, outcome.gains
    colors = {experiment.control: PALETTE[1], experiment.best: PALETTE[0]}
    names = experiment.guided
    ax.axvline(0, color=REFERENCE)
    for place, name in enumerate(names):
        color = colors.get(name, REFERENCE)
        ax.plot(gains[name], np.full(len(gains), place), "o", color=color, alpha=0.35)
        mean, error = (float(means[column].loc[name]) for column in ("gain", "gain s.e."))
        ax.errorbar(mean, place, xerr=2 * error, color=color, marker="D")
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    finish(ax, "gain in AUC over plain XGBoost", "").grid(False, axis="y")

"""The demonstration as one HTML page: its text, and a picture of every experiment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._plots.style import PALETTE, REFERENCE, finish
from .._report.page import number, render
from .._report.pictures import picture
from .experiment import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "The gain from a teacher on data with known probabilities"
HEADINGS = ("All labels", "Few labels, many rows")
CAPTION = "Gain in AUC over plain XGBoost: every seed a dot, the mean with two standard errors."


def demo_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page."""
    sections = [_section(heading, outcome) for heading, outcome in zip(HEADINGS, outcomes, strict=True)]
    return render("demo.html", title=TITLE, sections=sections)


def _section(heading: str, outcome: Outcome) -> dict[str, Any]:
    means, experiment = outcome.table, outcome.experiment
    cells = {column: [number(value, 4, signed=column == "gain") for value in means[column]] for column in means}
    return {
        "heading": heading,
        "opening": " ".join(experiment.opening.format(n_seeds=len(outcome.scores)).split()),
        "picture": picture(partial(_draw, outcome), CAPTION, len(experiment.explanations)),
        "table": pd.DataFrame(cells, index=list(means.index)).loc[list(experiment.explanations)],
        "explanations": experiment.explanations,
        "beyond_control": outcome.beyond_control,
        "closing": " ".join(experiment.closing.split()),
    }


def _draw(outcome: Outcome, ax: Axes) -> None:
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

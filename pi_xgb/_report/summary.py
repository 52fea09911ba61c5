"""The head of a report in plain words: what was looked at, what stands out, how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from ..metrics._disparity_report import DISPARITIES
from ..metrics._words import BEYOND, UNDEFINED, sentence, verdict
from .models import JudgedModel, JudgedRows
from .numbers import Numbers, Resampling, View

MOST = 6
"""No more gaps are told one by one: the tables have the rest."""


def summary(models: Sequence[JudgedModel], rows: JudgedRows, numbers: Numbers, how: Resampling) -> list[str]:
    """A few sentences."""
    n_gaps = sum(len(view.gaps) for view in numbers.views)
    by = ", ".join(f"{view.name} ({view.n_groups})" for view in numbers.views)
    looked = f"Looked at: {rows.labels.size} rows, {_models(models)}, groups by {by}; {n_gaps} gaps between groups."
    if not how.n_boot:
        return [looked, "Nothing is said of chance, since no draws were asked for: large gaps may be chance."]
    return [looked, *_gaps(numbers, models, how), *_gains(numbers), _how_sure(how)]


def _models(models: Sequence[JudgedModel]) -> str:
    return "one model" if len(models) == 1 else f"{len(models)} models"


def _gaps(numbers: Numbers, models: Sequence[JudgedModel], how: Resampling) -> Iterator[str]:
    """The gaps that are more than chance, the surest and largest first; that there are none is said as well."""
    named = [
        (view, model.name, gap, row)
        for view in numbers.views
        for model in models
        for gap in DISPARITIES
        if verdict(row := view.gap(model.name, gap), how.confidence) == BEYOND
    ]
    named.sort(key=lambda found: (found[3]["p_adjusted"], -found[3]["low"]))
    for view, model, gap, row in named[:MOST]:
        of = "" if len(models) == 1 else f"{model}, "
        yield sentence(f"{of}{gap.replace('_', ' ')} by {view.name}", row, how.confidence)
    if len(named) > MOST:
        yield f"Besides these, more than chance: {len(named) - MOST}. See Fairness."
    every = sum(len(view.gaps) for view in numbers.views)
    undefined = sum(_count(view, UNDEFINED, how) for view in numbers.views)
    rest = every - len(named) - undefined
    if rest:
        told = "No gap is more than chance" if not named else f"No more than chance: {rest} other gaps"
        yield f"{told}, given how many were looked at. That does not prove them 0: the intervals say how large."
    if undefined:
        yield f"Gaps that cannot be told, since a group lacks what they compare: {undefined}."


def _count(view: View, what: str, how: Resampling) -> int:
    return sum(verdict(row, how.confidence) == what for _, row in view.gaps.iterrows())


def _gains(numbers: Numbers) -> Iterator[str]:
    """What each further model gains in AUC over the first."""
    if numbers.differences is None:
        return
    first = numbers.performance.index[0]
    for name, row in numbers.differences.iterrows():
        low, high = row["auc_low"], row["auc_high"]
        sure = "ranks better than" if low > 0 else "ranks worse than" if high < 0 else "ranks no surely better than"
        yield f"{name} {sure} {first}: AUC {_signed(row['auc'])} ({_signed(low)} to {_signed(high)})."


def _signed(value: float) -> str:
    return "undefined" if pd.isna(value) else f"{value:+.3f}".replace("-", "−")


def _how_sure(how: Resampling) -> str:
    return (
        f"How sure: on groups that are treated alike, at most {100 * (1 - how.confidence):.0f} % of reports call a gap "
        "more than chance, however many gaps they look at. The rows must be a fair sample, drawn one by one. Numbers "
        "say that groups differ, not why."
    )

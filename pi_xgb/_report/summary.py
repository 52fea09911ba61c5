"""The summary of a report in plain words: data, significant gaps, confidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from ..metrics._disparity_report import DISPARITIES
from ..metrics._words import BEYOND, UNDEFINED, sentence, verdict
from .models import ReportRows, ScoredModel
from .numbers import Numbers, Resampling, View

MOST = 6
"""The largest number of gaps that the summary lists."""


def summary(models: Sequence[ScoredModel], rows: ReportRows, numbers: Numbers, how: Resampling) -> list[str]:
    """Return the sentences of the summary."""
    n_gaps = sum(len(view.gaps) for view in numbers.views)
    by = ", ".join(f"{view.name} ({view.n_groups})" for view in numbers.views)
    data = f"Evaluated: {rows.labels.size} rows, {_models(models)}, groups by {by}; {n_gaps} gaps between groups."
    if not how.n_boot:
        return [data, "No intervals or p-values, because n_boot is 0: large gaps may be chance."]
    return [data, *_gaps(numbers, models, how), *_gains(numbers), _how_sure(how)]


def _models(models: Sequence[ScoredModel]) -> str:
    return "one model" if len(models) == 1 else f"{len(models)} models"


def _gaps(numbers: Numbers, models: Sequence[ScoredModel], how: Resampling) -> Iterator[str]:
    """Yield the gaps that are more than chance, smallest p-value first, then the number of the others."""
    named = [
        (view, model.name, gap, row)
        for view in numbers.views
        for model in models
        for gap in DISPARITIES
        if verdict(row := view.gap(model.name, gap), how.confidence) == BEYOND
    ]
    named.sort(key=lambda found: (found[3]["p_adjusted"], -found[3]["low"]))
    for view, model, gap, row in named[:MOST]:
        prefix = "" if len(models) == 1 else f"{model}, "
        yield sentence(f"{prefix}{gap.replace('_', ' ')} by {view.name}", row, how.confidence)
    if len(named) > MOST:
        yield f"Further gaps that are more than chance: {len(named) - MOST}. See Fairness."
    every = sum(len(view.gaps) for view in numbers.views)
    undefined = sum(_count(view, UNDEFINED, how) for view in numbers.views)
    rest = every - len(named) - undefined
    if rest:
        text = "No gap is more than chance" if not named else f"No more than chance: {rest} other gaps"
        yield f"{text}, after correction for all gaps. This does not prove them 0: the intervals show possible sizes."
    if undefined:
        yield f"Undefined gaps, because a group lacks the compared rate: {undefined}."


def _count(view: View, kind: str, how: Resampling) -> int:
    return sum(verdict(row, how.confidence) == kind for _, row in view.gaps.iterrows())


def _gains(numbers: Numbers) -> Iterator[str]:
    """Yield the gain in AUC of each further model over the first."""
    if numbers.differences is None:
        return
    first = numbers.performance.index[0]
    for name, row in numbers.differences.iterrows():
        low, high = row["auc_low"], row["auc_high"]
        sure = "ranks better than" if low > 0 else "ranks worse than" if high < 0 else "is not clearly better than"
        yield f"{name} {sure} {first}: AUC {_signed(row['auc'])} ({_signed(low)} to {_signed(high)})."


def _signed(value: float) -> str:
    return "undefined" if pd.isna(value) else f"{value:+.3f}".replace("-", "−")


def _how_sure(how: Resampling) -> str:
    return (
        f"Confidence: if groups are treated alike, at most {100 * (1 - how.confidence):.0f} % of reports call any gap "
        "more than chance, whatever the number of gaps. The rows must be an independent random sample. The numbers "
        "show that groups differ, not why."
    )

"""The summary of a report in plain words: data, gaps that are more than chance, gains, confidence."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._rows.names import in_words
from ..metrics._words import BEYOND, UNDEFINED, sentence, verdict
from .models import ReportRows
from .numbers import Numbers

MOST = 6  # gaps that the summary lists
UNCLEAR = "is not clearly better than"
FEW_ROWS = 10  # smaller groups get a warning: their numbers are noisy and may identify people


def summary(rows: ReportRows, numbers: Numbers, n_boot: int, confidence: float) -> list[str]:
    """Return the sentences of the summary, gaps with the smallest p-value first."""
    gaps = [
        ((f"{model}, " if len(numbers) > 1 else "") + f"{str(name).replace('_', ' ')} by {view}", row)
        for model, own in numbers.items()
        for view, table in own.gaps.items()
        for name, row in table.iterrows()
    ]
    by = ", ".join(f"{view} ({len(rows.sensitive[on].drop_duplicates())})" for view, on in rows.views())
    n_models = "one model" if len(numbers) == 1 else f"{len(numbers)} models"
    data = f"Evaluated: {rows.labels.size} rows, {n_models}, groups by {by}; {len(gaps)} gaps between groups."
    if not n_boot:
        return [data, "No intervals or p-values, because n_boot is 0: large gaps may be chance."]
    verdicts = [verdict(row, confidence) for _, row in gaps]
    beyond = [gap for gap, found in zip(gaps, verdicts, strict=True) if found == BEYOND]
    beyond.sort(key=lambda gap: (gap[1]["p_adjusted"], -gap[1]["low"]))
    found = [data, *(sentence(what, row, confidence) for what, row in beyond[:MOST])]
    if len(beyond) > MOST:
        found.append(f"Further gaps that are more than chance: {len(beyond) - MOST}. See Fairness.")
    if rest := len(gaps) - len(beyond) - verdicts.count(UNDEFINED):
        text = f"No more than chance: {rest} other gaps" if beyond else "No gap is more than chance"
        found.append(
            f"{text}, after correction for all gaps. This does not prove them 0: the intervals show possible sizes."
        )
    if UNDEFINED in verdicts:
        found.append(f"Undefined gaps, because a group lacks the compared rate: {verdicts.count(UNDEFINED)}.")
    for name, own in numbers.items():
        if len(own.difference):
            auc: Any = own.difference.loc["auc"]
            sure = "ranks better than" if auc["low"] > 0 else "ranks worse than" if auc["high"] < 0 else UNCLEAR
            value, low, high = (f"{end:+.3f}".replace("-", "−") for end in auc)
            found.append(f"{name} {sure} {next(iter(numbers))}: AUC {value} ({low} to {high}).")
    return [
        *found,
        f"Confidence: if groups are treated alike, at most {100 * (1 - confidence):.0f} % of reports call any gap "
        "more than chance, whatever the number of gaps. The rows must be an independent random sample. The numbers "
        "show that groups differ, not why.",
    ]


def small_groups(rows: ReportRows) -> list[str]:
    """Return a warning of groups of few rows, if there are any."""
    named = "; ".join(map(in_words, rows.groups.names[np.bincount(rows.groups.codes) < FEW_ROWS]))
    note = f"Groups of fewer than {FEW_ROWS} rows: {named}. Their rates are noisy and may identify people."
    return [note] * bool(named)

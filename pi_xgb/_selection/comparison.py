"""What ``compare`` found: a table, a summary, a picture and one sentence."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .._plots.selection import plot_comparison
from .._stats.paired import Interval, corrected_interval
from .five_models import MODELS, SELF, SHUFFLED, STUDENT
from .scores import Score
from .verdict import verdict_on


class Comparison:
    """What :func:`compare` found.

    Attributes
    ----------
    table
        A row for each size, repeat, fold and model: its score, its gain over NF there, what was chosen, rounds.
    summary
        By size and model: mean score, mean gain over NF with its corrected interval, positive for the better
        whichever way the metric points.
    verdict
        One sentence on the largest size.
    evidence
        Whether the privileged features have earned a gain: the interval of the student's gain over NF lies above 0,
        and the student is better than each control by a one-sided test at the same level. All three must hold, so
        privileged features that say nothing pass no more often than one of them alone would let them.
    metric, maximize, confidence
        What was measured, whether more is better, and the confidence of the intervals.
    """

    def __init__(self, table: pd.DataFrame, score: Score, ratio: float, confidence: float) -> None:
        self.table, self.metric, self.maximize, self.confidence = table, score.name, score.maximised, confidence
        self._ratio = ratio
        gains = {size: self._intervals(rows) for size, rows in table.groupby("size")}
        means = table.groupby(["size", "model"])["score"].mean()
        self.summary = pd.DataFrame(
            [
                {"size": size, "model": model, "score": means[size, model], **gain._asdict()}
                for size, own in gains.items()
                for model, gain in own.items()
            ]
        )
        self.summary = self.summary.rename(columns={"mean": "gain"}).set_index(["size", "model"])
        largest = table["size"].max()
        self.evidence, self.verdict = verdict_on(
            self.metric,
            gains[largest][STUDENT],
            {control: gains[largest][control] for control in (SELF, SHUFFLED)},
            {control: self._beyond(control) for control in (SELF, SHUFFLED)},
        )

    def difference(self, model: str, other: str, size: int | None = None) -> Interval:
        """How much better one model is than another, on the same held-out rows; by default at the largest size."""
        for name in (model, other):
            if name not in MODELS:
                raise ValueError(f"model must be one of {', '.join(MODELS)}; got {name!r}")
        sizes = sorted(set(self.table["size"]))
        size = sizes[-1] if size is None else size
        if size not in sizes:
            raise ValueError(f"size must be one of {', '.join(map(str, sizes))}; got {size!r}")
        return corrected_interval(self._differences(model, other, size), self._ratio, self.confidence)

    def _beyond(self, control: str) -> Interval:
        """How much better the student is than a control; ``low`` is the bound of the one-sided test."""
        one_sided = max(2 * self.confidence - 1, 0.0)
        return corrected_interval(self._differences(STUDENT, control, self.table["size"].max()), self._ratio, one_sided)

    def plot(self, ax: Any = None) -> Any:
        """The gain of each model over NF with its interval, or along the size; needs matplotlib."""
        return plot_comparison(self.summary, self.metric, ax)

    def _intervals(self, rows: pd.DataFrame) -> dict[str, Interval]:
        gains = rows.pivot(index=["repeat", "fold"], columns="model", values="gain")
        return {model: corrected_interval(gains[model].to_numpy(), self._ratio, self.confidence) for model in MODELS}

    def _differences(self, model: str, other: str, size: int) -> Any:
        rows = self.table[self.table["size"] == size]
        scores = rows.pivot(index=["repeat", "fold"], columns="model", values="score")
        sign = 1.0 if self.maximize else -1.0
        return sign * (scores[model] - scores[other]).to_numpy()

    def __str__(self) -> str:
        return self.verdict

    def __repr__(self) -> str:
        return f"<Comparison: {self.verdict}>"

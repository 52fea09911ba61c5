"""The result of ``compare``: a table, a summary, a plot and one sentence."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .._plots.selection import plot_comparison
from .._rows.checks import check_choice
from .._stats.paired import Interval, corrected_interval
from .five_models import BASELINE, ROWS, SELF, SHUFFLED, STUDENT
from .scores import Score
from .verdict import verdict_on
from .words import better_by


class Comparison:
    """The result of :func:`compare`.

    Attributes
    ----------
    table
        A row for each size, repeat, fold and model: its score, its gain over plain XGBoost there, the chosen
        candidate and its rounds. Sizes, ``n_train`` and ``n_test`` count labelled rows.
    summary
        By size and model: mean score, and mean gain over plain XGBoost with its corrected interval. Positive gains
        are improvements for every metric.
    verdict
        One sentence on the largest size.
    evidence
        Whether privileged features improve the model: the interval of the student's gain over plain XGBoost lies above
        0, and the student is better than each control by a one-sided test at the same level. All three must hold, so
        uninformative privileged features pass no more often than in any single test.
    metric, maximize, confidence
        The metric, whether more is better, and the confidence of the intervals.

    Examples
    --------
    >>> import pi_xgb
    >>> data = pi_xgb.datasets.make_privileged(120, seed=0)
    >>> few = {"nfold": 2, "repeats": 1, "inner_nfold": 2, "crossfit": 2, "num_boost_round": 3, "kl_weight": 1.0}
    >>> comparison = pi_xgb.compare(data.x, data.y, data.z, params={"max_depth": 2, "nthread": 1}, **few)
    >>> gain = comparison.difference("student", "plain XGBoost")
    >>> gain.low <= gain.mean <= gain.high
    True
    """

    def __init__(
        self, table: pd.DataFrame, score: Score, ratio: float, confidence: float, *, unlabelled: bool = False
    ) -> None:
        self.table, self.metric, self.maximize, self.confidence = table, score.name, score.maximised, confidence
        self._ratio, self._unlabelled = ratio, unlabelled
        sizes = sorted(set(table["size"]))
        gains = {size: {model: self._interval(model, BASELINE, size, confidence) for model in ROWS} for size in sizes}
        means = table.groupby(["size", "model"])["score"].mean()
        self.summary = pd.DataFrame(
            [
                {"size": size, "model": model, "score": means[size, model], **gain._asdict()}
                for size, own in gains.items()
                for model, gain in own.items()
            ]
        )
        self.summary = self.summary.rename(columns={"mean": "gain", "error": "gain_se"}).set_index(["size", "model"])
        own, one_sided = gains[sizes[-1]], max(2 * confidence - 1, 0.0)
        self.evidence, self.verdict = verdict_on(
            score,
            own[STUDENT],
            {control: own[control] for control in (SELF, SHUFFLED)},
            {control: self._interval(STUDENT, control, sizes[-1], one_sided) for control in (SELF, SHUFFLED)},
            unlabelled=unlabelled,
        )

    def difference(self, model: str, other: str, size: int | None = None) -> Interval:
        """The gain of one model over another on the same held-out rows; by default at the largest size."""
        for name in (model, other):
            check_choice(name, ROWS, "model")
        sizes = sorted(set(self.table["size"]))
        size = sizes[-1] if size is None else size
        if size not in sizes:
            raise ValueError(f"size must be one of {', '.join(map(str, sizes))}; got {size!r}")
        return self._interval(model, other, size, self.confidence)

    def plot(self, ax: Any = None) -> Any:
        """The gain of each model over plain XGBoost with its interval, or along the size; needs matplotlib."""
        rows = "labelled training rows" if self._unlabelled else "training rows"
        return plot_comparison(self.summary, better_by(Score(self.metric, self.maximize)), ax, rows)

    def _interval(self, model: str, other: str, size: Any, confidence: float) -> Interval:
        rows = self.table[self.table["size"] == size]
        scores = rows.pivot(index=["repeat", "fold"], columns="model", values="score")
        differences = (1.0 if self.maximize else -1.0) * (scores[model] - scores[other]).to_numpy()
        return corrected_interval(differences, self._ratio, confidence)

    def __str__(self) -> str:
        return self.verdict

    def __repr__(self) -> str:
        return f"<Comparison: {self.verdict}>"

"""The result of ``compare``: a table, a summary, a plot and a verdict."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .._plots.selection import plot_comparison
from .._rows.checks import check_choice
from .._stats.paired import Interval, corrected_interval, student
from .compared_models import BASELINE, RIVAL, SELF, SHUFFLED, STUDENT
from .scores import Score
from .verdict import Evidence
from .words import better_by, in_lines


class Comparison:
    """The result of :func:`compare`.

    Attributes
    ----------
    table
        A row for each size, repeat, fold and model: its score, its gain over plain XGBoost there, the chosen
        candidate and its rounds. Sizes, ``n_train`` and ``n_test`` count labelled rows.
    summary
        By size and model: mean score, mean gain over plain XGBoost with its corrected standard error (``gain_se``) and
        interval (``low``, ``high``), and the share of the folds in which the model is better (``better``). Positive
        gains are improvements for every metric.
    recommendation
        The model to deploy, for the largest size: "student", "self-distillation", "best rival", "plain XGBoost" or
        "undecided".
    verdict
        The recommendation and its reason in words; ``print(comparison)`` breaks it into lines.
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
        self,
        table: pd.DataFrame,
        score: Score,
        ratio: float,
        confidence: float,
        n_labelled: int,
        *,
        unlabelled: bool = False,
    ) -> None:
        self.table, self.metric, self.maximize, self.confidence = table, score.name, score.maximised, confidence
        self._ratio, self._unlabelled = ratio, unlabelled
        self._models = list(dict.fromkeys(table["model"]))
        sizes = sorted(set(table["size"]))
        means = table.groupby(["size", "model"])["score"].mean()
        better = (table["gain"] > 0).groupby([table["size"], table["model"]]).mean()
        rows = []
        for size in sizes:
            gains = {model: self._interval(model, BASELINE, size) for model in self._models}
            for model, gain in gains.items():
                values = {"score": means[size, model], "gain": gain.mean, "gain_se": gain.error}
                values |= {"low": gain.low, "high": gain.high, "better": better[size, model]}
                rows.append({"size": size, "model": model, **values})
        self.summary = pd.DataFrame(rows).set_index(["size", "model"])
        largest = table[table["size"] == sizes[-1]]
        folds = largest[["repeat", "fold"]].drop_duplicates()
        must_beat = [model for model in (BASELINE, SELF, SHUFFLED, RIVAL) if model in gains]
        both_sided, one_sided = (student(len(folds) - 1, level) for level in (confidence, max(2 * confidence - 1, 0.0)))
        evidence = Evidence(
            score,
            confidence,
            means[sizes[-1]],
            gains,
            {other: self._interval(STUDENT, other, sizes[-1]) for other in must_beat},
            {other: both_sided if other == BASELINE else one_sided for other in must_beat},
            {model: f"{better[sizes[-1], model] * len(folds):.0f} of {len(folds)}" for model in gains},
            rival=", ".join(largest.loc[largest["model"] == RIVAL, "chosen"].unique()),
            n_labelled=n_labelled,
        )
        self.evidence, self.verdict = evidence.is_earned, evidence.sentence
        self.recommendation = evidence.recommendation

    def difference(self, model: str, other: str, size: int | None = None) -> Interval:
        """The gain of one model over another on the same held-out rows; by default at the largest size."""
        for name in (model, other):
            check_choice(name, self._models, "model")
        sizes = sorted(set(self.table["size"]))
        size = sizes[-1] if size is None else size
        if size not in sizes:
            raise ValueError(f"size must be one of {', '.join(map(str, sizes))}; got {size!r}")
        return self._interval(model, other, size)

    def plot(self, ax: Any = None) -> Any:
        """The gain of each model over plain XGBoost with its interval, or along the size; needs matplotlib."""
        rows = "labelled training rows" if self._unlabelled else "training rows"
        return plot_comparison(self.summary, better_by(Score(self.metric, self.maximize)), ax, rows)

    def _interval(self, model: str, other: str, size: Any) -> Interval:
        rows = self.table[self.table["size"] == size]
        scores = rows.pivot(index=["repeat", "fold"], columns="model", values="score")
        differences = (1.0 if self.maximize else -1.0) * (scores[model] - scores[other]).to_numpy()
        return corrected_interval(differences, self._ratio, self.confidence)

    def __str__(self) -> str:
        return in_lines(self.verdict)

    def __repr__(self) -> str:
        return f"<Comparison: {self.verdict}>"

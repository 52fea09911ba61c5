"""The result of ``compare``: a table, a summary, a plot and a verdict."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .._core.crossfit import Split
from .._plots.selection import plot_comparison
from .._rows.checks import check_choice
from .._stats.paired import Interval, corrected_interval, student
from .candidates import Candidate
from .rivals import BASELINE, FOREST, IMPUTED, LINEAR, MEAN, SELF, SHUFFLED, STUDENT, TEACHER
from .scores import Score
from .verdict import Verdict, student_of

_RIVALS = {
    LINEAR: "a linear model",
    FOREST: "a forest",
    MEAN: "the mean of a linear model and a forest",
    IMPUTED: "the mean of a linear model and a forest on x and the imputed z",
}


class Comparison:
    """The result of :func:`compare`.

    Attributes
    ----------
    table
        A row for each size, repeat, fold and model: its score, its gain over plain XGBoost there, and its rounds.
        Sizes, ``n_train`` and ``n_test`` count labelled rows.
    summary
        By size and model: mean score, mean gain over plain XGBoost with its corrected standard error (``gain_se``) and
        interval (``low``, ``high``), and the share of the folds in which the model is better (``better``). Positive
        gains are improvements for every metric.
    recommendation
        The model to deploy, for the largest size: "student", "self-distillation", "plain XGBoost" or a rival.
    verdict
        What to deploy, the gain to expect, and what would change that; ``print(comparison)`` adds the scores.
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
    >>> few = {"nfold": 2, "repeats": 1, "crossfit": 2, "num_boost_round": 3}
    >>> comparison = pi_xgb.compare(data.x, data.y, data.z, params={"max_depth": 2, "nthread": 1}, **few)
    >>> gain = comparison.difference("student", "plain XGBoost")
    >>> gain.low <= gain.mean <= gain.high
    True
    """

    def __init__(
        self,
        table: pd.DataFrame,
        score: Score,
        candidate: Candidate,
        ratio: float,
        confidence: float,
        n_labelled: int,
        *,
        standard_errors: float | None = None,
        unlabelled: bool = False,
    ) -> None:
        self.table, self.metric, self.maximize, self.confidence = table, score.name, score.maximised, confidence
        self._ratio, self._unlabelled, self._score = ratio, unlabelled, dataclasses.replace(score, custom=None)
        self._models, self._sizes = list(dict.fromkeys(table["model"])), sorted(set(table["size"]))
        better = (table["gain"] > 0).groupby([table["size"], table["model"]]).mean()
        means = table.groupby(["size", "model"])["score"].mean()
        rows = []
        for size in self._sizes:
            for model in self._models:
                gain = self.difference(model, BASELINE, size)
                values = {"score": means[size, model], "gain": gain.mean, "gain_se": gain.error}
                values |= {"low": gain.low, "high": gain.high, "better": better[size, model]}
                rows.append({"size": size, "model": model, **values})
        self.summary = pd.DataFrame(rows).set_index(["size", "model"])
        taught, alone = (student_of(item) for item in (candidate, candidate.without_privileged()))
        words = {BASELINE: BASELINE, STUDENT: taught, SELF: alone, **_RIVALS}
        deployable = [model for model in words if model in self._models]
        scores = self._scores(self._sizes[-1])
        self._verdict = Verdict.of(
            [scores[model].to_numpy() for model in deployable],
            ratio,
            score=self._score,
            models=[words[model] for model in deployable],
            recommended=deployable.index(STUDENT),
            confidence=confidence,
            n_labelled=n_labelled,
            standard_errors=standard_errors,
        )
        self.recommendation = deployable[self._verdict.chosen]
        self.verdict = f"{self._verdict.instruction}\n{self._verdict.expectation}\n{self._verdict.change}"

    @property
    def evidence(self) -> bool:
        """Whether privileged features improve the model."""
        n_folds = int((self.table["size"] == self._sizes[-1]).sum()) // len(self._models)
        one_sided = student(n_folds - 1, max(2 * self.confidence - 1, 0.0))
        gain, *others = (self.difference(STUDENT, model) for model in (BASELINE, SELF, SHUFFLED))
        # A gain that is equal in all folds has an unknown error.
        ahead = all(other.error > 0 and other.mean > one_sided * other.error for other in others)
        return gain.error > 0 and gain.low > 0 and ahead

    def difference(self, model: str, other: str, size: int | None = None) -> Interval:
        """The gain of one model over another on the same held-out rows; by default at the largest size."""
        for name in (model, other):
            check_choice(name, self._models, "model")
        size = self._sizes[-1] if size is None else size
        if size not in self._sizes:
            raise ValueError(f"size must be one of {', '.join(map(str, self._sizes))}; got {size!r}")
        scores = self._scores(size)
        differences = self._score.sign * (scores[model] - scores[other]).to_numpy()
        return corrected_interval(differences, self._ratio, self.confidence)

    def _scores(self, size: int) -> pd.DataFrame:
        rows = self.table[self.table["size"] == size]
        return rows.pivot(index=["repeat", "fold"], columns="model", values="score")

    def plot(self, ax: Any = None) -> Any:
        """The gain of each model over plain XGBoost with its interval, or along the size; needs matplotlib."""
        rows = "labelled training rows" if self._unlabelled else "training rows"
        return plot_comparison(self.summary, self._score.unit, ax, rows)

    def __str__(self) -> str:
        shown = self.summary.loc[self._sizes[-1], ["score", "gain", "low", "high"]]
        return self._verdict.text(shown)

    def __repr__(self) -> str:
        return f"<Comparison: {self._verdict.instruction} {self._verdict.expectation}>"


def table_of(splits: Sequence[Split], found: Sequence[dict[str, Any]], score: Score) -> pd.DataFrame:
    """Return a row per fold and model.

    The rounds of a student are those that are best on average in the other folds of the same size and repeat, so that
    the held-out rows of a fold do not choose the rounds by which they are scored.
    """
    rows = []
    for split, outcome in zip(splits, found, strict=True):
        beside = [
            other
            for place, other in zip(splits, found, strict=True)
            if place is not split and (place.size, place.repeat) == (split.size, split.repeat)
        ]
        best = {
            model: int((score.sign * np.mean([other[model][0] for other in beside], axis=0)).argmax())
            for model in outcome
        }
        scores = {model: curve[best[model]] for model, (curve, _) in outcome.items()} | {TEACHER: outcome[STUDENT][1]}
        rows += [
            {
                "size": split.size,
                "repeat": split.repeat,
                "fold": split.fold,
                "model": model,
                "score": value,
                "gain": score.sign * (value - scores[BASELINE]) + 0.0,  # no -0
                "rounds": best[model] + 1 if model in outcome and len(outcome[model][0]) > 1 else 0,
                "n_train": len(split.train),
                "n_test": len(split.test),
            }
            for model, value in scores.items()
        ]
    return pd.DataFrame(rows)

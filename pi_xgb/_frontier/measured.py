"""One student on held-out rows: accuracy, the gap between groups and its cost, and whether it still decides."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from .._arrays import Array
from .._rows.groups import Groups
from ..metrics import disparity_report
from ..metrics._disparities import gap as largest_gap
from ..metrics._rates import Decisions, UndefinedRateWarning, Values

FEWEST, MOST = 0.2, 5.0
"""A model is degenerate if its share of positive decisions leaves this range of the unconstrained model's share."""


class HeldOut(NamedTuple):
    """The held-out rows, and the settings of the measurement."""

    label: Array
    """Whether a row has label 1."""
    weight: Array
    groups: Groups
    gap: str
    """The name of the difference between groups."""
    threshold: float
    how: dict[str, Any]
    """``n_boot``, ``confidence`` and ``random_state`` of the intervals."""

    def measure(self, scores: Array, plain: Array, train_gap: float) -> dict[str, float]:
        """A row of the table; the cost is the loss of accuracy against ``plain``, the scores of plain XGBoost."""
        correct, baseline = self._correct(scores), self._correct(plain)
        gaps = {**self._gap(scores), f"{self.gap}_train": train_gap}
        row = {**self._mean("accuracy", correct), **gaps, **self._mean("cost", baseline - correct)}
        row["positive"] = self._average(scores > self.threshold)
        return {name: float(value) for name, value in row.items()} | {"degenerate": self._is_degenerate(scores, plain)}

    def _is_degenerate(self, scores: Array, plain: Array) -> bool:
        """Whether nearly all decisions are the same, and those of ``plain`` are not.

        Where plain XGBoost decides for nobody, the base rate takes the place of the threshold.
        """
        threshold = self.threshold if (plain > self.threshold).any() else self._average(self.label)
        share, usual = (self._average(item > threshold) for item in (scores, plain))
        is_outside = usual > 0 and not FEWEST * usual <= share <= MOST * usual
        return is_outside or (self._is_constant(scores) and not self._is_constant(plain))

    def _is_constant(self, scores: Array) -> bool:
        """Whether the accuracy is that of the same decision for all rows."""
        accuracy, base_rate = self._average(self._correct(scores)), self._average(self.label)
        return bool(np.isclose(accuracy, [base_rate, 1 - base_rate], rtol=0, atol=1e-9).any())

    def _average(self, values: Array) -> float:
        return float(np.average(values, weights=self.weight))

    def _correct(self, scores: Array) -> Values:
        return np.asarray((scores > self.threshold) == self.label, np.float64)

    def _mean(self, name: str, values: Values) -> dict[str, float]:
        """Return a weighted mean over rows with its normal interval; it is paired if values are differences by row."""
        from scipy.special import ndtri

        mean = self._average(values)
        error = np.sqrt((self.weight**2 * (values - mean) ** 2).sum()) / self.weight.sum()
        half = float(ndtri((1 + self.how["confidence"]) / 2)) * error
        return {name: mean, f"{name}_low": mean - half, f"{name}_high": mean + half}

    def _gap(self, scores: Array) -> dict[str, float]:
        known = self.groups.codes >= 0
        with warnings.catch_warnings():
            # A group with an undefined rate makes the gap NaN, which the table shows.
            warnings.simplefilter("ignore", UndefinedRateWarning)
            table: Any = disparity_report(
                self.label[known],
                scores[known],
                sensitive_features=self.groups.codes[known],
                threshold=self.threshold,
                sample_weight=self.weight[known],
                metrics=[self.gap],
                **self.how,
            )
        row = table.loc[self.gap]
        return {self.gap: row["value"], **{f"{self.gap}_{end}": row.get(end, np.nan) for end in ("low", "high")}}


def gap_of(name: str, label: Array, selected: Array, weight: Array, groups: Groups) -> float:
    """Return a difference between the groups that have the rates which it compares."""
    known = groups.codes >= 0
    groups = Groups(groups.codes[known], groups.names)
    decided = Decisions(label[known], selected[known], weight[known], groups)
    return float(largest_gap(decided.cells(), name, "skip"))

"""The inputs of the score, and their sums over the rows of a node."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._rows.groups import Groups
from .._xgb.trees import Array, RowSums
from .rows import Labels
from .score import Nodes, ratio
from .sklearn_trees import SklearnSubject
from .subject import Subject


@dataclass(frozen=True)
class Problem:
    """The inputs of the score; ``mean`` only if the model's predictions are the values of the nodes."""

    subject: Subject | SklearnSubject
    groups: Groups
    labels: Labels | None
    weight: Array | None
    mean: Array | None
    metric: str

    def without(self, part_of_row: Array) -> list[Problem]:
        """Return the problem without the rows of each part in turn."""
        weight = np.ones(self.groups.codes.size) if self.weight is None else self.weight
        return [replace(self, weight=np.where(part_of_row == part, 0.0, weight)) for part in np.unique(part_of_row)]

    @property
    def splits_by_label(self) -> bool:
        """Whether rows are counted by label as well, for shares of label 1 and for EO."""
        return self.labels is not None and self.labels.is_hard and (self.metric == "eo" or self.mean is None)

    @property
    def n_codes(self) -> int:
        """The number of kinds of rows that are counted separately."""
        return self.groups.count * (2 if self.splits_by_label else 1)

    @property
    def largest_value(self) -> float:
        """The largest absolute value of a node."""
        if self.mean is not None:
            return float(np.abs(self.mean).max())
        return 1.0 if self.labels is None or self.labels.is_hard else float(np.abs(self.labels.y).max())

    def rows_of_output(self, output: int) -> RowSums:
        """Return the values to add up over rows for one output."""
        code, value = self.groups.codes, None
        if self.mean is not None:
            value = self.mean[:, output]
        if self.labels is not None:
            label = self.labels.for_output(output)
            if self.splits_by_label:
                code = 2 * code + (label == 1)
            elif self.mean is None:
                value = label
        if value is not None and self.weight is not None:
            value = value * self.weight
        return RowSums(code, self.weight, value)

    def nodes(self, sums: Array, value: Array) -> Nodes:
        """Return the quantities of the formula from sums over rows."""
        weight, compared = sums.sum(axis=1), sums
        if self.splits_by_label:
            by_label = sums.reshape(-1, self.groups.count, 2)
            compared = by_label[:, :, 1] if self.metric == "eo" else by_label.sum(axis=2)
            if self.mean is None:
                value = by_label[:, :, 1].sum(axis=1)
        return Nodes(weight, compared, ratio(value, weight))

    def has_positives(self) -> Array:
        """Return which group has rows to compare for which output ``(groups, outputs)``; all with "dp"."""
        n_outputs = self.subject.n_outputs
        found = np.ones((self.groups.count, n_outputs), dtype=bool)
        if self.metric == "eo" and self.labels is not None:
            for output in range(n_outputs):
                positive = (self.labels.for_output(output) == 1).astype(np.float64)
                if self.weight is not None:
                    positive *= self.weight
                found[:, output] = np.bincount(self.groups.codes, positive) > 0
        return found

"""All measures of all groups at once, for many weightings of the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._rows.groups import Groups
from .._rows.vectors import Bools
from ._rates import FN, FP, RATES, TN, TP, ScoredRows, Values, share

Positions = NDArray[np.intp]

MEASURES = (*RATES, "auc")


class ScoredGroups:
    """Rows sorted once by group and falling score, so that each weighting costs a few passes."""

    def __init__(self, rows: ScoredRows) -> None:
        # Products of very large or very small weights leave the range of float64. A power of two keeps all digits.
        self._rows, self._weight = rows, np.ldexp(rows.weight, -np.frexp(rows.weight.max())[1])
        labels, scores, selected, groups = rows.labels, rows.scores, rows.selected, rows.groups
        order = np.lexsort((-scores, groups.codes))
        self._positives = _side(order[labels[order]], selected, groups)
        self._negatives = _side(order[~labels[order]], selected, groups)
        # The positives that rank above each negative of its group, and those that rank above it or beside it.
        ranked, codes = scores[order], groups.codes[order]
        block = np.cumsum(np.append(False, (ranked[1:] != ranked[:-1]) | (codes[1:] != codes[:-1])))
        positive_blocks, negative_blocks = block[labels[order]], block[~labels[order]]
        self._above = np.searchsorted(positive_blocks, negative_blocks)
        self._beside = np.searchsorted(positive_blocks, negative_blocks, side="right")

    def counts(self) -> pd.DataFrame:
        """Return the rows, positives, negatives, selected rows and weight of each group."""
        codes, count, labels = self._rows.groups.codes, self._rows.groups.count, self._rows.labels
        kinds = {"positives": labels, "negatives": ~labels, "selected": self._rows.selected}
        table = {"rows": np.bincount(codes)}
        table |= {name: np.bincount(codes[rows], minlength=count) for name, rows in kinds.items()}
        return pd.DataFrame({**table, "weight": np.bincount(codes, self._rows.weight)})

    def cells(self, multiplicity: Values) -> Values:
        """Return the confusion matrix of each group, ``(b, k, 4)``, with rows counted ``multiplicity`` times."""
        return self._cells(*self._sides(multiplicity))

    def measures(self, multiplicity: Values) -> Values:
        """Return all of ``MEASURES``, ``(b, k, len(MEASURES))``."""
        positive, negative = self._sides(multiplicity)
        cells = self._cells(positive, negative)
        auc = self._auc(positive, negative, cells)
        return np.stack([*(rate.values(cells) for rate in RATES.values()), auc], axis=-1)

    def _sides(self, multiplicity: Values) -> tuple[Values, Values]:
        weight = multiplicity * self._weight
        return weight.take(self._positives.rows, axis=1), weight.take(self._negatives.rows, axis=1)

    def _cells(self, positive: Values, negative: Values) -> Values:
        tp_fn = self._positives.sums(positive)
        fp_tn = self._negatives.sums(negative)
        return np.stack([fp_tn[..., 1], fp_tn[..., 0], tp_fn[..., 1], tp_fn[..., 0]], axis=-1)

    def _auc(self, positive: Values, negative: Values, cells: Values) -> Values:
        so_far = np.zeros((positive.shape[0], positive.shape[1] + 1))
        np.cumsum(positive, axis=1, out=so_far[:, 1:])
        higher = (so_far.take(self._above, axis=1) + so_far.take(self._beside, axis=1)) / 2
        negatives, positives = cells[..., [TN, FP]].sum(axis=-1), cells[..., [FN, TP]].sum(axis=-1)
        # The running sum includes the groups before: subtract them.
        before = so_far.take(self._positives.starts[::2], axis=1) * negatives
        wins = self._negatives.sums(negative * higher).sum(axis=-1) - before
        return share(wins, positives * negatives)


@dataclass(frozen=True)
class _Side:
    """The rows of one label, by group and falling score; the selected rows of each group come first.

    ``starts`` holds, for each group, where its selected rows and where its other rows start.
    """

    rows: Positions
    starts: Positions

    def sums(self, weight: Values) -> Values:
        """Return sums over the selected and over the other rows of each group, ``(b, k, 2)``."""
        filled = np.diff(np.append(self.starts, self.rows.size)) > 0
        sums = np.zeros((weight.shape[0], self.starts.size))
        # reduceat would give an empty slice the value of the next row.
        sums[:, filled] = np.add.reduceat(weight, self.starts[filled], axis=1)
        return sums.reshape(weight.shape[0], -1, 2)


def _side(rows: Positions, selected: Bools, groups: Groups) -> _Side:
    codes = groups.codes[rows]
    starts = np.searchsorted(codes, np.arange(groups.count))
    cuts = starts + np.bincount(codes[selected[rows]], minlength=groups.count)
    return _Side(rows, np.stack([starts, cuts], axis=1).ravel())

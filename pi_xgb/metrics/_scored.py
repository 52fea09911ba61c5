"""All measures of all groups: their values for many weightings of the rows, and the rows that each rests on."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._rows.scores import Floats
from ._rates import RATES, Decisions, Values, share

MEASURES = (*RATES, "auc")


class ScoredGroups:
    """Rows with scores, sorted once by group, label and score."""

    def __init__(self, rows: Decisions) -> None:
        self._rows, self._scores, labels = rows, rows.scores, rows.labels
        # Only proportions of weights matter, and products of very large or small weights leave the range of floats.
        self._weight = np.ldexp(rows.weights, -np.frexp(rows.weights.max())[1])
        order = np.lexsort((self._scores, labels, rows.groups.codes))
        sides = np.split(
            order, np.searchsorted((2 * rows.groups.codes + labels)[order], range(1, 2 * rows.groups.count))
        )
        self._sides = list(zip(sides[1::2], sides[::2], strict=True))

    def counts(self) -> pd.DataFrame:
        """Return the rows, positives, negatives, selected rows and weight of each group."""
        codes, count, labels = self._rows.groups.codes, self._rows.groups.count, self._rows.labels
        kinds = {"positives": labels, "negatives": ~labels, "selected": self._rows.selected}
        table = {"rows": np.bincount(codes)}
        table |= {name: np.bincount(codes[rows], minlength=count) for name, rows in kinds.items()}
        return pd.DataFrame({**table, "weight": np.bincount(codes, self._rows.weights)})

    def cells(self, multiplicity: Values) -> Values:
        """Return the confusion matrix of each group, ``(b, k, 4)``, with rows counted ``multiplicity`` times."""
        return self._rows.cells(multiplicity * self._weight)

    def measures(self, multiplicity: Values) -> Values:
        """Return all of ``MEASURES``, ``(b, k, len(MEASURES))``."""
        cells, weight = self.cells(multiplicity), multiplicity * self._weight
        areas = [self._area(positive, negative, weight) for positive, negative in self._sides]
        return np.stack([*(rate.values(cells) for rate in RATES.values()), np.stack(areas, axis=1)], axis=-1)

    def known_rows(self) -> Values:
        """Return the effective rows behind each group and measure, ``(k, len(MEASURES))``; NaN where undefined.

        So many independent rows of equal weight would give the measure the same variance.
        """
        cells, squares = (self._rows.cells(part) for part in (self._weight, self._weight**2))
        columns = []
        for rate in RATES.values():
            whole, square = (part[:, rate.denominator].sum(axis=1) for part in (cells, squares))
            own, value = squares[:, rate.numerator].sum(axis=1), rate.values(cells)
            error = share(own * (1 - value) ** 2 + (square - own) * value**2, whole**2)
            columns.append(_fewer(value, error, share(whole**2, square)))
        areas = [self._rows_of_area(positive, negative) for positive, negative in self._sides]
        return np.stack([*columns, np.array(areas)], axis=1)

    def _area(self, positive: NDArray[np.intp], negative: NDArray[np.intp], weight: Values) -> Values:
        """Return the area under the ROC curve of one group, ``(b,)``."""
        below = _shares_below(self._scores[positive], self._scores[negative], weight[:, negative])
        return share((weight[:, positive] * below).sum(axis=1), weight[:, positive].sum(axis=1))

    def _rows_of_area(self, positive: NDArray[np.intp], negative: NDArray[np.intp]) -> float:
        """Use DeLong's variance or Hanley and McNeil's, whichever is larger: only the latter is never 0."""
        positive, negative = (side[self._weight[side] > 0] for side in (positive, negative))
        if not (positive.size and negative.size):
            return np.nan
        weights = self._weight[positive], self._weight[negative]
        above = _shares_below(self._scores[positive], self._scores[negative], weights[1])
        beneath = 1 - _shares_below(self._scores[negative], self._scores[positive], weights[0])
        area = float(np.average(above, weights=weights[0]))
        error, rows = 0.0, []
        for places, weight in zip((above, beneath), weights, strict=True):
            equal = float(weight.sum() ** 2 / np.square(weight).sum())
            spread = float(np.square(weight * (places - area)).sum() / weight.sum() ** 2)
            error += spread * (equal / (equal - 1) if equal > 1 else 1)
            rows.append(equal)
        pairs, half = rows[0] * rows[1], sum(rows) / 2 - 1
        most = pairs / (1 + half * ((1 - area) / (2 - area) + area / (1 + area)))
        return float(_fewer(np.array(area), np.array(error), np.array(most)))


def _fewer(value: Values, error: Values, rows: Values) -> Values:
    """Return the rows that give the estimated squared error, at most ``rows``, which do not depend on the estimate."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.fmin(rows, value * (1 - value) / error)


def _shares_below(scores: Floats, others: Floats, weight: Values) -> Values:
    """Return the share of the weight ``(..., m)`` of ``others`` below each score, ties as one half; ``others`` rise."""
    so_far = np.cumsum(np.concatenate([np.zeros((*weight.shape[:-1], 1)), weight], axis=-1), axis=-1)
    places = [np.searchsorted(others, scores, side=side) for side in ("left", "right")]
    return share(so_far[..., places[0]] + so_far[..., places[1]], 2 * so_far[..., -1:])

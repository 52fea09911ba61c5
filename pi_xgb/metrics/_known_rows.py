"""The effective number of rows behind each rate of a group: independent rows of equal weight with the same variance."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from .._rows.vectors import Floats
from ._rates import RATES, ScoredRows, Values, share


def known_rows(rows: ScoredRows) -> Values:
    """Return the effective rows of each group and measure, ``(k, len(MEASURES))``; NaN where the rate is undefined."""
    # Only proportions of weights matter, and squares of large weights overflow.
    weight = rows.weight / rows.weight.max()
    cells, squares = (replace(rows, weights=weights).cells() for weights in (weight, np.square(weight)))
    columns = []
    for rate in RATES.values():
        whole, square = (part[:, rate.denominator].sum(axis=1) for part in (cells, squares))
        own, value = squares[:, rate.numerator].sum(axis=1), rate.values(cells)
        error = share(own * (1 - value) ** 2 + (square - own) * value**2, whole**2)
        columns.append(_fewer(value, error, share(whole**2, square)))
    return np.stack([*columns, _rows_of_auc(replace(rows, weights=weight))], axis=1)


def _fewer(value: Values, error: Values, rows: Values) -> Values:
    """Return the rows that give the estimated squared error, at most ``rows``, which do not depend on the estimate."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.fmin(rows, value * (1 - value) / error)


def _rows_of_auc(scored: ScoredRows) -> Values:
    """Return the effective rows of the area under the ROC curve."""
    labels, scores, weight, groups = scored.labels, scored.scores, scored.weight, scored.groups
    counts = weight > 0
    order = np.lexsort((scores, groups.codes))
    order = order[counts[order]]
    ends = np.searchsorted(groups.codes[order], np.arange(groups.count + 1))
    found = np.full(groups.count, np.nan)
    for code, (first, last) in enumerate(pairwise(ends)):
        rows = order[first:last]
        sides = [(scores[part], weight[part]) for part in (rows[labels[rows]], rows[~labels[rows]])]
        if all(len(side) for side, _ in sides):
            found[code] = _rows_of_pairs(*sides[0], *sides[1])
    return found


def _rows_of_pairs(positive: Floats, positive_weight: Values, negative: Floats, negative_weight: Values) -> float:
    """Use DeLong's variance or Hanley and McNeil's, whichever is larger: only the latter is never 0. Scores rise."""
    above = _shares_below(positive, negative, negative_weight)
    beneath = 1 - _shares_below(negative, positive, positive_weight)
    area = float(np.average(above, weights=positive_weight))
    error, rows = 0.0, []
    for places, weight in ((above, positive_weight), (beneath, negative_weight)):
        equal = float(weight.sum() ** 2 / np.square(weight).sum())
        spread = float((np.square(weight * (places - area))).sum() / weight.sum() ** 2)
        error += spread * (equal / (equal - 1) if equal > 1 else 1)
        rows.append(equal)
    pairs, half = rows[0] * rows[1], sum(rows) / 2 - 1
    most = pairs / (1 + half * ((1 - area) / (2 - area) + area / (1 + area)))
    return float(_fewer(*(np.array([value]) for value in (area, error, most)))[0])


def _shares_below(scores: Floats, others: Floats, weight: Values) -> Values:
    """Return the share of the weight of ``others`` below each score, ties as one half; ``others`` rise."""
    so_far = np.append(0.0, np.cumsum(weight))
    places = (np.searchsorted(others, scores, side=side) for side in ("left", "right"))
    return np.asarray(sum(so_far[place] for place in places) / (2 * so_far[-1]))

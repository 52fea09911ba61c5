"""Parity between cells: values under which all cells of a stratum have one distribution, or one mean.

``table`` comes from :func:`pi_xgb._constraints.distribution.tabulate` with values in float32; ``stratum`` is the
stratum of each cell. The result is float64, one value per line of the table. A cell without weight keeps its values.
"""

from __future__ import annotations

import numpy as np

from .._arrays import Array
from .distribution import Table, bounds, running_share, tabulate

# A line within one step of the pooled distribution, up to this share of the line, takes the step's exact value.
# Sums of fractional weights differ in their last digits between cell and stratum. Without this tolerance, rounding
# would change predictions that have parity already.
_TOLERANCE = 1e-6
# Differences of means below this share of the largest value are rounding errors.
_ROUNDING = 1e-10


def match_distributions(table: Table, stratum: Array) -> Array:
    """Return the mean of the stratum's quantile function over the ranks of each line in its cell.

    A line with share s of its cell's weight covers an interval of ranks of length s. Equal values therefore have
    equal results, and the mean of every cell becomes the mean of its stratum exactly, also with ties.
    """
    n_strata = int(stratum.max()) + 1
    at = stratum[table.cell]
    pooled = tabulate(at, table.value, table.weight)
    step_begin, step_end = running_share(pooled.cell, pooled.weight, n_strata)
    begin, end = running_share(table.cell, table.weight, len(stratum))
    width = end - begin

    # Strata lie one after another on one axis of ranks: one search serves all of them.
    axis = pooled.cell + step_end
    lowest, highest = (edge[at] for edge in bounds(pooled.cell, n_strata))
    # Ranks of 0 and 1, of lines without weight, are also those of the stratum before and after.
    first = np.minimum(np.searchsorted(axis, at + (begin + _TOLERANCE * width), side="right"), highest - 1)
    last = np.maximum(np.searchsorted(axis, at + (end - _TOLERANCE * width)), lowest)

    value = pooled.value.astype(np.float64)
    area = np.cumsum(value * (step_end - step_begin))
    area_at_begin = area[first] - value[first] * (step_end[first] - begin)
    area_at_end = area[last] - value[last] * (step_end[last] - end)
    mean = _divide(area_at_end - area_at_begin, width)
    own = table.value.astype(np.float64)
    mean = np.where(width > 0, mean, own)  # rows of weight 0 cover no ranks
    mean = np.clip(mean, value[np.minimum(first, last)], value[np.maximum(first, last)])
    has_weight = np.bincount(table.cell, table.weight, minlength=len(stratum)) > 0
    return np.where(has_weight[table.cell], mean, own)


def match_means(table: Table, stratum: Array) -> Array:
    """Return the values with each cell shifted to the mean of its stratum; values in [0, 1] stay there.

    Values that would leave [0, 1] stop at the edge, and the rest of the cell shifts further until the mean is right:
    of all values in [0, 1] with that mean, these are the closest.
    """
    n_cells = len(stratum)
    value = table.value.astype(np.float64)
    weight = np.bincount(table.cell, table.weight, minlength=n_cells)
    total = np.bincount(table.cell, table.weight * value, minlength=n_cells)
    pooled_mean = _divide(np.bincount(stratum, total), np.bincount(stratum, weight))
    shift = np.where(weight > 0, pooled_mean[stratum] - _divide(total, weight), 0.0)
    shift[np.abs(shift) <= _ROUNDING * np.abs(value).max()] = 0.0

    shifted = value + shift[table.cell]
    if value.min() < 0 or value.max() > 1 or (shifted.min() >= 0 and shifted.max() <= 1):
        return shifted
    rising = shift[table.cell] > 0
    room = np.where(rising, 1.0 - value, value)
    step = np.minimum(_level(table.cell, room, table.weight, np.abs(shift) * weight)[table.cell], room)
    return np.where(rising, value + step, value - step)


def _level(cell: Array, room: Array, weight: Array, need: Array) -> Array:
    """Return for each cell the level c at which the sum of weight * min(c, room) equals ``need``."""
    n_cells = len(need)
    order = np.lexsort((room, cell))
    room, weight = room[order], weight[order]
    begin, end = bounds(cell, n_cells)
    running_weight = np.concatenate([[0.0], np.cumsum(weight)])
    running_full = np.concatenate([[0.0], np.cumsum(weight * room)])
    # With the level at a line's room, lines up to it are full; lines after it are filled to the level.
    full = running_full[1:] - running_full[begin][cell]
    rest = running_weight[end][cell] - running_weight[1:]
    too_low = np.bincount(cell, full + room * rest < need[cell], minlength=n_cells).astype(np.intp)
    stop = np.minimum(begin + too_low, end - 1)
    missing = need - (full[stop] - weight[stop] * room[stop])
    return np.minimum(_divide(missing, rest[stop] + weight[stop]), room[stop])


def _divide(numerator: Array, denominator: Array) -> Array:
    return numerator / np.where(denominator > 0, denominator, 1.0)

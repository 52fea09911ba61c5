"""Parity between cells: what their values would be if all cells of a stratum had one distribution, or one mean.

``table`` comes from :func:`pi_xgb._constraints.distribution.tabulate` with values in float32; ``stratum`` says for
each cell in which stratum it is compared. The answer is float64, one value per line of the table. A cell that has no
weight keeps its values.
"""

from __future__ import annotations

import numpy as np

from .._arrays import Array
from .distribution import Table, bounds, running_share, tabulate

# A line whose ranks lie within one step of the pooled distribution, up to this share of the line, takes the
# step's value as it is: sums of fractional weights differ in their last digits between cell and stratum, and a
# hair's breadth of the next step would otherwise spoil predictions that have parity already.
_HAIR = 1e-6
# Means that differ by less than this share of the values' size differ by rounding.
_ROUNDING = 1e-10


def match_distributions(table: Table, stratum: Array) -> Array:
    """The mean of the stratum's quantile function over the ranks that the line takes up in its cell.

    A line with share s of its cell's weight takes up an interval of ranks of length s, so that equal values
    have equal answers, and the mean of every cell becomes the mean of its stratum exactly, ties or not.
    """
    n_strata = int(stratum.max()) + 1
    at = stratum[table.cell]
    pooled = tabulate(at, table.value, table.weight)
    step_begin, step_end = running_share(pooled.cell, pooled.weight, n_strata)
    begin, end = running_share(table.cell, table.weight, len(stratum))
    width = end - begin

    # Strata lie one after another on one axis of ranks, so that one search serves all of them.
    axis = pooled.cell + step_end
    lowest, highest = (edge[at] for edge in bounds(pooled.cell, n_strata))
    first = np.searchsorted(axis, at + (begin + _HAIR * width), side="right").clip(lowest, highest - 1)
    last = np.searchsorted(axis, at + (end - _HAIR * width)).clip(lowest, highest - 1)

    value = pooled.value.astype(np.float64)
    area = np.cumsum(value * (step_end - step_begin))
    area_at_begin = area[first] - value[first] * (step_end[first] - begin)
    area_at_end = area[last] - value[last] * (step_end[last] - end)
    mean = _divide(area_at_end - area_at_begin, width)
    own = table.value.astype(np.float64)
    mean = np.where(width > 0, mean, own)  # rows of weight 0 take up no ranks
    mean = np.clip(mean, value[np.minimum(first, last)], value[np.maximum(first, last)])
    has_weight = np.bincount(table.cell, table.weight, minlength=len(stratum)) > 0
    return np.where(has_weight[table.cell], mean, own)


def match_means(table: Table, stratum: Array) -> Array:
    """Each cell shifted to the mean of its stratum; values within [0, 1] stay there.

    Where the shift would leave [0, 1] it stops at the edge and the rest of the cell is shifted further, by just
    as much as the mean needs: of all values in [0, 1] with that mean, these are the closest.
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
    """For each cell the level c at which the sum of weight * min(c, room) is what the cell needs."""
    n_cells = len(need)
    order = np.lexsort((room, cell))
    room, weight = room[order], weight[order]
    begin, end = bounds(cell, n_cells)
    running_weight = np.concatenate([[0.0], np.cumsum(weight)])
    running_full = np.concatenate([[0.0], np.cumsum(weight * room)])
    # With the level at a line's room, the lines up to it are full and those after it are filled to the level.
    full = running_full[1:] - running_full[begin][cell]
    rest = running_weight[end][cell] - running_weight[1:]
    too_low = np.bincount(cell, full + room * rest < need[cell], minlength=n_cells).astype(np.intp)
    stop = np.minimum(begin + too_low, end - 1)
    missing = need - (full[stop] - weight[stop] * room[stop])
    return np.minimum(_divide(missing, rest[stop] + weight[stop]), room[stop])


def _divide(numerator: Array, denominator: Array) -> Array:
    return numerator / np.where(denominator > 0, denominator, 1.0)

"""Predictions as a table: one line for each distinct value in a cell, with its total weight.

A constraint on distributions depends on the rows only through this table, and all rows of a line have the same q.
Workers therefore concatenate their tables, tabulate again, and look up their rows in the result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._arrays import Array
from .._xgb.collective import gathered

_SIGN = np.uint32(1 << 31)
_CELL_SHIFT = np.uint64(32)


class Table(NamedTuple):
    """Lines sorted by cell, then by value. All but ``line`` have one entry per line."""

    cell: Array
    value: Array
    weight: Array
    line: Array
    """The line of each row."""


def tabulate(cell: Array, value: Array, weight: Array | None, *, over_workers: bool = False) -> Table:
    """Return the table of float32 values; without weights each row counts 1.

    ``over_workers`` tabulates the rows of all workers, which send 16 bytes per line.
    """
    keys, line = np.unique(_pack(cell, value), return_inverse=True)
    total: Array = np.bincount(line, weight).astype(np.float64)
    if over_workers:
        merged, line_of_all = np.unique(gathered(keys), return_inverse=True)
        total = np.bincount(line_of_all, gathered(total))
        keys, line = merged, np.searchsorted(merged, keys)[line]
    return Table(*_unpack(keys), total, line)


def _pack(cell: Array, value: Array) -> Array:
    # One 64-bit key per row sorts twice as fast as two columns. Float bits sort like the floats
    # once negative values are inverted and the sign bit is flipped. Adding 0 turns -0 into 0.
    bits = (value + np.float32(0)).view(np.uint32)
    ordered = np.where(bits & _SIGN, ~bits, bits | _SIGN)
    return (cell.astype(np.uint64) << _CELL_SHIFT) | ordered


def _unpack(keys: Array) -> tuple[Array, Array]:
    ordered = keys.astype(np.uint32)  # keeps the lower half
    bits = np.where(ordered & _SIGN, ordered ^ _SIGN, ~ordered)
    return (keys >> _CELL_SHIFT).astype(np.intp), bits.view(np.float32)


def bounds(cell: Array, n_cells: int) -> tuple[Array, Array]:
    """Return the begin and end of each cell's lines in a sorted column of cells."""
    return np.searchsorted(cell, np.arange(n_cells)), np.searchsorted(cell, np.arange(n_cells), side="right")


def running_share(cell: Array, weight: Array, n_cells: int) -> tuple[Array, Array]:
    """Return the share of the cell's weight before each line, and up to and including the line.

    Whole-number weights give correctly rounded quotients of exact sums: two cells with the same distribution
    have the same shares to the bit. A cell without weight has shares of 0.
    """
    begin, end = bounds(cell, n_cells)
    running = np.concatenate([[0.0], np.cumsum(weight)])
    offset, total = running[begin], running[end] - running[begin]
    total = np.where(total > 0, total, 1.0)[cell]
    return (running[:-1] - offset[cell]) / total, (running[1:] - offset[cell]) / total

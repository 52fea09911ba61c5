"""Similar rows, found once, and averages over them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._arrays import Array
from .._xgb.collective import global_sum

MAX_NEIGHBOURS = 50_000_000
"""The most (row, similar row) pairs in memory, at 4 bytes each; averages take 8 bytes each."""


class Neighbours(NamedTuple):
    """Rows with the same features are one point; ``similar[start[i] : start[i + 1]]`` are the points similar to i.

    A point is similar to itself.
    """

    point: Array
    """The point of each row."""
    start: Array
    similar: Array

    def average(self, value: Array, weight: Array | None, *, over_workers: bool) -> Array:
        """Return the weighted mean of ``value`` over the rows similar to each row, in float64.

        ``over_workers`` counts the rows of all workers, which must number the points alike: 16 bytes per point.
        """
        n_points = len(self.start) - 1
        value = value.astype(np.float64)
        mass = np.bincount(self.point, weight, minlength=n_points).astype(np.float64)
        total = np.bincount(self.point, value if weight is None else value * weight, minlength=n_points)
        if over_workers:
            mass, total = global_sum(np.concatenate([mass, total])).reshape(2, n_points)
        mass, total = (np.add.reduceat(part[self.similar], self.start[:-1]) for part in (mass, total))
        # A neighbourhood without weight has no mean: its rows stay as they are.
        mean = total / np.where(mass > 0, mass, 1.0)
        return np.where(mass[self.point] > 0, mean[self.point], value)


def same_key(code: Array, n_codes: int) -> Neighbours:
    """Return neighbours where rows with the same code are similar; a code without rows is an unused point."""
    return Neighbours(code, np.arange(n_codes + 1), np.arange(n_codes))


def within_radius(features: Array, radius: float) -> Neighbours:
    """Return neighbours at a Euclidean distance of at most ``radius``."""
    from scipy.spatial import cKDTree

    points, point = _distinct(features)
    tree = cKDTree(points)
    n_pairs = int(tree.count_neighbors(tree, radius))
    if n_pairs > MAX_NEIGHBOURS:
        raise ValueError(
            f"radius={radius} makes {n_pairs} pairs, above {MAX_NEIGHBOURS}: pass a smaller one, k= or key="
        )
    if n_pairs == len(features):
        raise ValueError(f"no two of the {n_pairs} rows are similar by radius={radius}: pass a larger one")
    pairs = tree.query_pairs(radius, output_type="ndarray").astype(np.int32)
    itself = np.arange(len(points), dtype=np.int32)
    point_of_pair = np.concatenate([pairs[:, 0], pairs[:, 1], itself])
    other = np.concatenate([pairs[:, 1], pairs[:, 0], itself])
    order = np.argsort(point_of_pair, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(point_of_pair))])
    return Neighbours(point, start, other[order])


def k_nearest(features: Array, k: int) -> Neighbours:
    """Return the k nearest other rows of each row.

    Rows with the same features enter together and have the same neighbours; a row can then have more than k.
    """
    from scipy.spatial import cKDTree

    if k >= len(features):
        raise ValueError(f"k must be at most {len(features) - 1} for features of {len(features)} rows, got k={k}")
    points, point = _distinct(features)
    count = np.bincount(point)
    _, nearest = cKDTree(points).query(points, k=np.arange(1, min(k + 1, len(points)) + 1))
    rows = count[nearest]
    # A point counts as long as the nearer points hold fewer than k + 1 rows.
    taken = np.cumsum(rows, axis=1) - rows <= k
    start = np.concatenate([[0], np.cumsum(taken.sum(axis=1))])
    return Neighbours(point, start, nearest[taken].astype(np.int32))


def _distinct(features: Array) -> tuple[Array, Array]:
    """Return the distinct rows, sorted to be the same for any order of rows, and the position of each row there."""
    points, point = np.unique(features, axis=0, return_inverse=True)
    return points, point.ravel()  # a column in NumPy 2.0

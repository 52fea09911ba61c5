"""The fair feature importance score from sums at the nodes of a forest, with arrays only.

Shapes: ``N`` nodes, ``G`` groups, ``K`` outputs (classes or targets), ``F`` features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._xgb.trees import Array, TreeArrays

PARTS = 20
"""The number of parts of rows, and of trees, for the jackknife."""


@dataclass(frozen=True)
class Nodes:
    """By node: the weight of all rows, the weight of the rows compared by group ``(N, G)``, and its value."""

    weight: Array
    compared: Array
    value: Array


def ratio(part: Array, whole: Array) -> Array:
    """Return ``part / whole``, and 0 where ``whole`` is 0."""
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=whole > 0)


def scores(
    forest: TreeArrays, nodes: Nodes, undefined: Array, n_features: int, part: Array, *, bound: bool, carry: bool
) -> Array:
    """Return the scores ``(P, G + 1, K, F)``: each group against all others, and last the largest bias at each node.

    ``part`` is the part of each tree, of ``P = PARTS`` parts of the model.

    ``undefined`` ``(G, K)`` marks groups that cannot be compared: their scores are NaN, and the largest bias is that of
    the other groups. ``bound`` takes the absolute value of each child. With ``carry``, the bias of the level above
    stays where a group is absent; without, the share of the absent group is 0.
    """
    biases = [
        _level_bias(forest, nodes, group, undefined[group], bound=bound, carry=carry)
        for group in range(nodes.compared.shape[1])
    ]
    worst = np.fmax.reduce(biases)  # Unlike maximum it ignores NaN.
    n_outputs = undefined.shape[1]
    by_place = [_by_place(forest, nodes, bias, n_outputs, n_features, part) for bias in [*biases, worst]]
    return np.stack(by_place, axis=1).reshape(PARTS, -1, n_outputs, n_features)


def _level_bias(forest: TreeArrays, nodes: Nodes, group: int, undefined: Array, *, bound: bool, carry: bool) -> Array:
    """Return by node the bias of its level, that of its parent's children; 0 at a root."""
    own = nodes.compared[:, group]
    # Summed, not subtracted from the total: the weight of no rows is then exactly 0.
    others = np.delete(nodes.compared, group, axis=1).sum(axis=1)
    level_bias = np.zeros(forest.n_nodes)
    level_bias[forest.first[:-1]] = np.where(undefined[forest.output], np.nan, 0.0)
    for split in forest.levels:
        left, right = forest.left[split], forest.right[split]
        from_left, from_right = (
            nodes.value[child] * (ratio(own[child], own[split]) - ratio(others[child], others[split]))
            for child in (left, right)
        )
        bias = np.abs(from_left) + np.abs(from_right) if bound else np.abs(from_left + from_right)
        above = level_bias[split]
        incomparable = (own[split] == 0) | (others[split] == 0) if carry else np.isnan(above)
        level_bias[left] = level_bias[right] = np.where(incomparable, above, bias)
    return level_bias


def _by_place(
    forest: TreeArrays, nodes: Nodes, level_bias: Array, n_outputs: int, n_features: int, part: Array
) -> Array:
    """Return the bias that the splits remove, summed by part, output and feature ``(P, K * F)``."""
    n_places = n_outputs * n_features
    if not forest.levels:
        return np.zeros((PARTS, n_places))
    split = np.concatenate(forest.levels)
    tree = np.searchsorted(forest.first, split, side="right") - 1
    share_of_rows = nodes.weight[split] / nodes.weight[forest.first[tree]]
    less_bias = level_bias[split] - level_bias[forest.left[split]]
    place = (part[tree] * n_outputs + forest.output[tree]) * n_features + forest.feature[split]
    sums = np.bincount(place, forest.weight[tree] * share_of_rows * less_bias, minlength=PARTS * n_places)
    return sums.reshape(PARTS, n_places)

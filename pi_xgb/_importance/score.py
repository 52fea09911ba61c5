"""The fair feature importance score from sums at the nodes of a forest; knows arrays only.

Shapes: ``N`` nodes, ``G`` groups, ``K`` outputs (classes or targets), ``F`` features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._xgb.trees import Array, Forest

PARTS = 20
"""Into how many parts rows and trees are dealt, to see what the score owes to some of them."""


@dataclass(frozen=True)
class Nodes:
    """By node: the weight of all rows, the weight of the rows compared by group ``(N, G)``, and its value."""

    weight: Array
    compared: Array
    value: Array


def ratio(part: Array, whole: Array) -> Array:
    """``part / whole``, and 0 where there is nothing."""
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=whole > 0)


def scores(
    forest: Forest, nodes: Nodes, undefined: Array, n_features: int, part: Array, *, bound: bool, carry: bool
) -> Array:
    """Scores ``(P, G + 1, K, F)``: each group against everybody else, and last the worst of them at each node.

    ``part`` says for each tree in which of ``P = PARTS`` parts of the model it counts.

    ``undefined`` ``(G, K)`` says which groups cannot be compared at all: their scores are NaN, and the worst
    is that of the other groups. ``bound`` takes the absolute value of each child. ``carry``: where a group is
    absent the bias of the level above stands; otherwise the share of nobody is 0.
    """
    biases = [
        _level_bias(forest, nodes, group, undefined[group], bound=bound, carry=carry)
        for group in range(nodes.compared.shape[1])
    ]
    worst = biases[0]
    for bias in biases[1:]:
        worst = np.fmax(worst, bias)  # Unlike maximum it passes over NaN.
    n_outputs = undefined.shape[1]
    by_place = [_by_place(forest, nodes, bias, n_outputs, n_features, part) for bias in [*biases, worst]]
    return np.stack(by_place, axis=1).reshape(PARTS, -1, n_outputs, n_features)


def _level_bias(forest: Forest, nodes: Nodes, group: int, undefined: Array, *, bound: bool, carry: bool) -> Array:
    """By node, the bias of its level, which is that of its parent's children; 0 at a root."""
    ours = nodes.compared[:, group]
    # Added up, not subtracted from the total: the weight of no rows is then exactly 0.
    others = np.delete(nodes.compared, group, axis=1).sum(axis=1)
    level_bias = np.zeros(forest.n_nodes)
    level_bias[forest.first[:-1]] = np.where(undefined[forest.output], np.nan, 0.0)
    for split in forest.levels:
        left, right = forest.left[split], forest.right[split]
        from_left, from_right = (
            nodes.value[child] * (ratio(ours[child], ours[split]) - ratio(others[child], others[split]))
            for child in (left, right)
        )
        bias = np.abs(from_left) + np.abs(from_right) if bound else np.abs(from_left + from_right)
        above = level_bias[split]
        incomparable = (ours[split] == 0) | (others[split] == 0) if carry else np.isnan(above)
        level_bias[left] = level_bias[right] = np.where(incomparable, above, bias)
    return level_bias


def _by_place(forest: Forest, nodes: Nodes, level_bias: Array, n_outputs: int, n_features: int, part: Array) -> Array:
    """What the splits take away from the bias, added up by part, output and feature ``(P, K * F)``."""
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

"""The trees of a booster as flat arrays, and sums of row quantities at their nodes.

Shapes: ``n`` rows, ``T`` trees, ``N`` nodes of all trees together. The number of a node in a forest is the first
node of its tree plus XGBoost's node id, as ``predict(pred_leaf=True)`` returns it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import xgboost

Array = npt.NDArray[Any]

ALL_OUTPUTS = -1  # the output of a tree whose leaves hold a vector: it belongs to every output


@dataclass(frozen=True)
class Tree:
    """One tree: children (-1 at a leaf) and split feature by node, its output, its weight in the sum."""

    left: Array
    right: Array
    feature: Array
    output: int
    weight: float


@dataclass(frozen=True)
class TreeModel:
    """The trees of a booster in the order of ``pred_leaf``; ``rounds[i]`` is the first one of round i."""

    trees: list[Tree]
    rounds: list[int]
    n_outputs: int
    is_multiclass: bool
    objective: str

    @property
    def n_rounds(self) -> int:
        """Boosting rounds in the model."""
        return len(self.rounds) - 1


def read_trees(booster: xgboost.Booster) -> TreeModel:
    """Return the trees of a booster's JSON model, or raise for a linear booster."""
    learner = json.loads(booster.save_raw("json"))["learner"]
    gradient_booster, params = learner["gradient_booster"], learner["learner_model_param"]
    if gradient_booster["name"] == "gblinear":
        raise ValueError("the booster must have trees, got booster='gblinear': pass its predictions (a surrogate)")
    # Before XGBoost 3.4, DART nests the trees one level deeper.
    model = gradient_booster.get("model") or gradient_booster["gbtree"]["model"]
    weights = model.get("weight_drop") or gradient_booster.get("weight_drop") or [1.0] * len(model["trees"])
    return TreeModel(
        trees=[_tree(*parts) for parts in zip(model["trees"], model["tree_info"], weights, strict=True)],
        rounds=[int(first) for first in model["iteration_indptr"]],
        n_outputs=max(int(params["num_class"]), int(params["num_target"]), 1),
        is_multiclass=int(params["num_class"]) > 1,
        objective=learner["objective"]["name"],
    )


def _tree(tree: dict[str, Any], output: int, weight: float) -> Tree:
    left, right, feature = (np.array(tree[name]) for name in ("left_children", "right_children", "split_indices"))
    has_vectors = int(tree["tree_param"]["size_leaf_vector"]) > 1
    return Tree(left, right, feature, ALL_OUTPUTS if has_vectors else int(output), float(weight))


@dataclass(frozen=True)
class TreeArrays:
    """Several trees end to end; a tree of all outputs is repeated for each of them.

    ``left``, ``right`` (-1 at a leaf) and ``feature`` are by node, ``(N,)``. ``first`` is where each tree
    begins, with N as its last entry; ``column`` (of the leaf ids), ``output`` and ``weight`` are by tree.
    ``levels`` holds the split nodes of depth 0, 1, 2, ... that can be reached from a root.
    """

    left: Array
    right: Array
    feature: Array
    first: Array
    column: Array
    output: Array
    weight: Array
    levels: list[Array]

    @property
    def n_nodes(self) -> int:
        """Nodes of all trees."""
        return int(self.first[-1])

    def add_up(self, at_leaves: Array) -> Array:
        """Sum the values at the leaves (any shape that starts with N) up to every node, in place."""
        for split in reversed(self.levels):
            at_leaves[split] = at_leaves[self.left[split]] + at_leaves[self.right[split]]
        return at_leaves


def forest_of(trees: Sequence[Tree], n_outputs: int) -> TreeArrays:
    """Lay trees end to end."""
    entries = [
        (column, output, tree)
        for column, tree in enumerate(trees)
        for output in (range(n_outputs) if tree.output == ALL_OUTPUTS else (tree.output,))
    ]
    columns, outputs, repeated = zip(*entries, strict=True)
    first = np.cumsum([0, *(tree.left.size for tree in repeated)])
    starts = np.repeat(first[:-1], np.diff(first))
    sides = [np.concatenate([getattr(tree, side) for tree in repeated]) for side in ("left", "right")]
    left, right = (np.where(child < 0, -1, child + starts) for child in sides)
    levels, nodes = [], first[:-1]
    while (split := nodes[left[nodes] >= 0]).size:
        levels.append(split)
        nodes = np.concatenate([left[split], right[split]])
    feature = np.concatenate([tree.feature for tree in repeated])
    weight = np.array([tree.weight for tree in repeated])
    return TreeArrays(left, right, feature, first, np.array(columns), np.array(outputs), weight, levels)


def forest_with_leaves(
    booster: xgboost.Booster, model: TreeModel, data: xgboost.DMatrix, begin: int, end: int
) -> tuple[TreeArrays, Array]:
    """Return the trees of some rounds with their leaf ids ``(n, T)``."""
    first, last = model.rounds[begin], model.rounds[end]
    if first == last:
        raise ValueError("the booster must have trees, got none: train it for at least one round")
    # XGBoost predicts leaves only from the first round on.
    leaves = booster.predict(data, pred_leaf=True, iteration_range=(0, end)).reshape(data.num_row(), last)
    return forest_of(model.trees[first:last], model.n_outputs), leaves[:, first:]


def sum_rows(
    forest: TreeArrays, leaves: Array, rows_of_output: Callable[[int], tuple[Array, Array, Array]], n_codes: int
) -> tuple[Array, Array]:
    """Return weight by node and code ``(N, n_codes)`` and value by node ``(N,)`` of the rows that pass each node.

    ``rows_of_output`` returns code, weight and (weighted) value of each row.
    """
    weight, value = np.zeros((forest.n_nodes, n_codes)), np.zeros(forest.n_nodes)
    for output in np.unique(forest.output):
        code, row_weight, row_value = rows_of_output(int(output))
        for tree in np.flatnonzero(forest.output == output):
            nodes = slice(forest.first[tree], forest.first[tree + 1])
            size = nodes.stop - nodes.start
            leaf = leaves[:, forest.column[tree]].astype(np.intp)
            value[nodes] = np.bincount(leaf, row_value, minlength=size)
            sums = np.bincount(leaf * n_codes + code, row_weight, minlength=size * n_codes)
            weight[nodes] = sums.reshape(size, n_codes)
    return forest.add_up(weight), forest.add_up(value)

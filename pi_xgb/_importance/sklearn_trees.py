"""Trees and forests of scikit-learn, read without a surrogate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._xgb.trees import ALL_OUTPUTS, MAX_LEAF_IDS, Array, Forest, Tree, forest_of


def has_trees(model: Any) -> bool:
    """Return whether a model is a fitted tree of scikit-learn, or an ensemble of such trees."""
    if not hasattr(model, "apply"):
        return False
    members = getattr(model, "estimators_", None)
    return hasattr(model, "tree_") or (
        members is not None and all(hasattr(tree, "tree_") for tree in np.ravel(members))
    )


class SklearnSubject:
    """The trees of a scikit-learn tree, forest or gradient boosting, and the rows."""

    begin = 0
    predictions = surrogate = None
    objective = ""

    def __init__(self, model: Any, X: Any) -> None:
        self._model, self._X = model, X
        # Gradient boosting has a row of trees per round: one per class, or one for two classes.
        members = np.asarray(getattr(model, "estimators_", [model]))
        self.end = len(members)
        self._per_class = members.ndim == 2
        self._members = members.ravel()
        self.n_trees = self._members.size
        self.n_features = int(model.n_features_in_)
        if isinstance(getattr(model, "classes_", None), list) or getattr(model, "n_outputs_", 1) > 1:
            raise ValueError("a scikit-learn model must have one output, got several: pass one output's predictions")
        classes = getattr(model, "classes_", None)
        self.classes = None if classes is None else np.asarray(classes)
        self.n_outputs = 1 if classes is None or len(classes) <= 2 else len(classes)
        self.output_kind = "target" if classes is None else "class"
        self.output_names = [str(name) for name in (range(self.n_outputs) if classes is None else classes)]
        leaves = np.asarray(model.apply(X))
        self._leaves = leaves.reshape(len(leaves), self.n_trees).astype(np.intp)
        self.n_rows = len(leaves)
        self.weights = np.empty(0)

    @property
    def features(self) -> Sequence[str]:
        """The feature names of the training, else f0, f1, ..."""
        names = getattr(self._model, "feature_names_in_", None)
        return [f"f{i}" for i in range(self.n_features)] if names is None else [str(name) for name in names]

    def forests(self) -> Iterator[tuple[Forest, Array]]:
        """Yield trees and the leaf of each row, as many trees at once as memory allows."""
        per_pass = max(1, MAX_LEAF_IDS // self.n_rows)
        for start in range(0, self.n_trees, per_pass):
            trees = [self._tree(i) for i in range(start, min(start + per_pass, self.n_trees))]
            yield forest_of(trees, self.n_outputs), self._leaves[:, start : start + per_pass]

    def mean(self) -> Array:
        """Return the predictions of the model, ``(n, K)``."""
        if self.classes is None:
            return np.asarray(self._model.predict(self._X))[:, np.newaxis]
        probabilities = np.asarray(self._model.predict_proba(self._X))
        return probabilities[:, -self.n_outputs :]

    def gain(self, kind: str) -> Array:
        """Return the decrease in impurity by feature, as an average over its splits or as a sum."""
        total, splits = np.zeros(self.n_features), np.zeros(self.n_features)
        for member in self._members:
            tree = member.tree_
            split = np.flatnonzero(tree.feature >= 0)
            left, right = tree.children_left[split], tree.children_right[split]
            rows = tree.weighted_n_node_samples * tree.impurity
            decrease = (rows[split] - rows[left] - rows[right]) / tree.weighted_n_node_samples[0]
            np.add.at(total, tree.feature[split], decrease)
            np.add.at(splits, tree.feature[split], 1)
        return total if kind == "total_gain" else total / np.maximum(splits, 1)

    def _tree(self, i: int) -> Tree:
        tree = self._members[i].tree_
        output = i % self.n_outputs if self._per_class else ALL_OUTPUTS
        left, right = tree.children_left.astype(np.intp), tree.children_right.astype(np.intp)
        return Tree(left, right, tree.feature.astype(np.intp), output, 1.0)

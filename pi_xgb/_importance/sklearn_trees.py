"""Trees and forests of scikit-learn, read without a surrogate."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._xgb.trees import ALL_OUTPUTS, Array, Tree, TreeArrays, forest_of


def has_trees(model: Any) -> bool:
    """Return whether a model is a fitted tree of scikit-learn, or an ensemble of such trees."""
    members = np.ravel(getattr(model, "estimators_", [model]))
    return hasattr(model, "apply") and all(hasattr(member, "tree_") for member in members)


class SklearnSubject:
    """The trees of a scikit-learn tree, forest or gradient boosting, and the rows; as ``Subject`` for boosters."""

    begin = 0
    surrogate = None
    objective = ""
    weights = np.empty(0)

    def __init__(self, model: Any, X: Any) -> None:
        self._model, self._X = model, X
        # Gradient boosting has a row of trees per round: one per class, or one for two classes.
        members = np.asarray(getattr(model, "estimators_", [model]))
        self.end, self.n_trees, self.n_features = len(members), members.size, int(model.n_features_in_)
        classes = getattr(model, "classes_", None)
        if isinstance(classes, list) or getattr(model, "n_outputs_", 1) > 1:
            raise ValueError("a scikit-learn model must have one output, got several: pass one output's predictions")
        self.classes = None if classes is None else np.asarray(classes)
        self.n_outputs = 1 if classes is None or len(classes) <= 2 else len(classes)
        self.output_kind = "target" if classes is None else "class"
        names = getattr(model, "feature_names_in_", [f"f{i}" for i in range(self.n_features)])
        self.features = [str(name) for name in names]
        self._trees = [member.tree_ for member in members.ravel()]
        self._outputs = [i % self.n_outputs if members.ndim == 2 else ALL_OUTPUTS for i in range(self.n_trees)]
        leaves = np.asarray(model.apply(X), np.intp)
        self.n_rows, self._leaves = len(leaves), leaves.reshape(len(leaves), self.n_trees)

    def forest(self) -> tuple[TreeArrays, Array]:
        """Return all trees, and the leaf of each row."""
        trees = [
            Tree(tree.children_left, tree.children_right, tree.feature, output, 1.0)
            for tree, output in zip(self._trees, self._outputs, strict=True)
        ]
        return forest_of(trees, self.n_outputs), self._leaves

    def mean(self) -> Array:
        """Return the predictions of the model, ``(n, K)``."""
        if self.classes is None:
            return np.asarray(self._model.predict(self._X))[:, np.newaxis]
        return np.asarray(self._model.predict_proba(self._X))[:, -self.n_outputs :]

    def gain(self, kind: str) -> Array:
        """Return the decrease in impurity by feature, as an average over its splits or as a sum."""
        total = np.sum([tree.compute_feature_importances(normalize=False) for tree in self._trees], axis=0)
        if kind == "total_gain":
            return np.asarray(total)
        features = np.concatenate([tree.feature for tree in self._trees])
        return np.asarray(total / np.maximum(np.bincount(features[features >= 0], minlength=self.n_features), 1))

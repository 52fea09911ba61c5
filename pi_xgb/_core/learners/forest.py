"""A random forest: XGBoost's own, whose trees fit the mean of the labels by squared error."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import xgboost

from ..._arrays import Array
from ..._xgb.collective import global_sum
from ..._xgb.matrix import slice_rows
from ..losses import Loss
from ..training import Spec
from .features import Features, as_rates

# For classes as good, on twelve sets with up to 1,500 rows, as scikit-learn's forest of 300 trees and 2 rows per leaf.
_PARAMS = {
    "objective": "reg:squarederror",
    "eta": 1.0,
    "subsample": 0.63,  # the share of distinct rows in a bootstrap sample
    "min_child_weight": 2.0,
    "reg_lambda": 0.0,  # the average over trees is all the shrinkage that a forest needs
}
_INHERITED = ("seed", "random_state", "nthread", "n_jobs")
# A GPU grows the many small nodes of deep trees slowly. With this many rows and 20 columns an H200 takes 7.8 seconds,
# 16 cores take 3.3; with 10,000 rows 3.5 and 0.8.
_ROWS_FOR_GPU = 300_000
# With fewer rows the bins of numbers would hold several of them, which costs accuracy.
_MANY_ROWS = 500
# Up to so many rows a histogram of each node costs less than the memory of those to subtract it from: the same forest
# takes 0.74 to 1.00 of the time with 30 or 100 columns, 0.89 to 1.06 with 8.
_ROWS_FOR_CACHE = 10_000
# The least distance of a probability from 0 and 1, and the least rate as a share of the mean rate.
_FROM_END = 0.005


def fit_forest(spec: Spec, most_trees: int, features: Features, label: Array, weight: Array | None) -> ForestModel:
    """Train one round of many trees, each on a sample of the rows, each node with a sample of the columns.

    It needs an objective with a mean and inherits seed, threads and device from its params. Rows of weight 0 take no
    part.
    """
    loss, offset = spec.loss, features.offset
    mean = loss.one_hot(label, np.empty(spec.shape(len(label)), np.float32))
    weight = np.ones(len(label)) if weight is None else weight.astype(np.float64)
    if offset is not None:
        start = loss.mean(offset)
        if loss.has_exposure:
            mean, weight = as_rates(mean, weight, start)
        else:
            mean -= start
    rows = np.flatnonzero(weight)
    mean, weight = mean[rows], weight[rows]
    # Over all workers, which grow one forest.
    *sums, total_weight, n_rows = global_sum(np.append(weight @ mean, [weight.sum(), len(rows)]))
    centre = np.reshape(sums, mean.shape[1:]) / total_weight
    matrix = _without_offset(features.matrix, rows)
    matrix.set_label(mean)
    # Weights with mean 1, so that min_child_weight is a number of rows.
    matrix.set_weight(weight * (n_rows / total_weight))
    params = _params(spec, matrix.num_col(), centre.size, n_rows, most_trees) | {"base_score": centre.tolist()}
    return ForestModel(loss, xgboost.train(params, matrix, 1), _FROM_END * centre)


def _params(spec: Spec, n_columns: int, n_outputs: int, n_rows: float, most_trees: int) -> dict[str, Any]:
    names = (*_INHERITED, "device") if n_rows >= _ROWS_FOR_GPU else _INHERITED
    inherited = {name: spec.params[name] for name in names if name in spec.params}
    # XGBoost grows this many trees for each class or target.
    n_trees = max(50, 300 // n_outputs)
    if spec.loss.probabilities:
        depth, share, max_bin = 10, n_columns**-0.5, 64
    else:
        # Numbers are worth deeper trees. Fewer trees and bins pay for the depth.
        most_trees, depth, share, max_bin = 100, 14, 1 / 3, 32 if n_rows >= _MANY_ROWS else 64
    shape = {"num_parallel_tree": min(most_trees, n_trees), "max_depth": depth, "colsample_bynode": share}
    cache = {"max_cached_hist_node": 1} if n_rows <= _ROWS_FOR_CACHE else {}
    return {**_PARAMS, **shape, "max_bin": max_bin, **cache, **inherited}


@dataclasses.dataclass(frozen=True)
class ForestModel:
    """A trained forest."""

    loss: Loss
    booster: xgboost.Booster
    low: Array
    """The least rate that it predicts, where labels are counts or costs."""

    def predict(self, features: Features) -> Array:
        """The mean of each row, within the range of the objective."""
        matrix, offset = features.matrix, features.offset
        if offset is None:
            return self._in_range(self.booster.predict(matrix))
        mean = self.booster.predict(_without_offset(matrix, np.arange(matrix.num_row())))
        start = self.loss.mean(offset)
        return self._in_range(mean) * start if self.loss.has_exposure else self._in_range(mean + start)

    def _in_range(self, mean: Array) -> Array:
        if self.loss.multiclass:
            mean = np.maximum(mean, np.float32(2 * _FROM_END / mean.shape[1]))
            return mean / mean.sum(axis=1, keepdims=True)
        if self.loss.probabilities:
            return np.clip(mean, np.float32(_FROM_END), np.float32(1 - _FROM_END))
        return np.maximum(mean, self.low.astype(np.float32)) if self.loss.has_exposure else mean


def _without_offset(matrix: xgboost.DMatrix, rows: Array) -> xgboost.DMatrix:
    """Return a copy of these rows without base_margin, from which XGBoost would start."""
    cut = slice_rows(matrix, rows)
    cut.set_base_margin(np.empty(0, np.float32))
    return cut

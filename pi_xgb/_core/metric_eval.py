"""Metrics and losses of given means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xgboost

from .._arrays import Array
from .._xgb.matrix import copy_rows_info
from .losses import Loss

_CLOSE = np.float32(1e-7)
_TINY = np.finfo(np.float32).tiny


def mean_loss(loss: Loss, q: Array, label: Array, weight: Array | None) -> float:
    """Return the loss of q as predictions of these labels.

    NaN for rows of total weight 0, and for objectives without a mean.
    """
    weights = np.ones(len(label)) if weight is None or not weight.size else weight
    if not (loss.has_gradient and weights.sum() > 0):
        return float("nan")
    target = loss.one_hot(label, q)
    row_losses = loss.value(margins_of(q, loss), target)
    if loss.has_exposure:
        row_losses = 2 * (row_losses - loss.value(margins_of(target, loss), target))
    mean = float(np.average(row_losses.mean(axis=1) if row_losses.ndim == 2 else row_losses, weights=weights))
    return mean if loss.probabilities or loss.has_exposure else (2 * mean) ** 0.5


def margins_of(mean: Array, loss: Loss) -> Array:
    """The margins of these means; probabilities of 0 and 1 and rates of 0 are moved inside a little."""
    if loss.probabilities:
        mean = np.clip(mean, _CLOSE, 1 - _CLOSE)
    elif loss.has_exposure:
        mean = np.maximum(mean, _TINY)
    return np.asarray(loss.margin_of(mean), np.float32)


def eval_of_means(mean: Array, matrix: xgboost.DMatrix, params: Mapping[str, Any], loss: Loss) -> str:
    """Return the output of ``Booster.eval`` for these means as predictions of the rows of ``matrix``."""
    # A booster without trees predicts the base margin of its rows.
    margin = margins_of(mean, loss)
    empty = xgboost.DMatrix(np.zeros((len(margin), 1)), base_margin=margin)
    copy_rows_info(matrix, empty)
    known = ("objective", "num_class", "nthread", "eval_metric", *loss.parameters)
    own = {name: params[name] for name in known if name in params}
    return str(xgboost.Booster(own, [empty]).eval(empty, "q"))

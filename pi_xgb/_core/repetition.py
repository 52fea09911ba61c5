"""Whether a teacher that judges its own training rows repeats their labels: what it says there, and what it knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost
from xgboost import collective

from .._arrays import Array
from .._stats.folds import deal_folds
from .._warnings import warn_user
from .._xgb.matrix import can_be_cut, slice_rows
from .loss import Loss
from .metric_eval import margins_of
from .spec import Spec

NAMES = {"logloss": "log loss", "mlogloss": "log loss", "rmse": "rmse"}
"""The metrics that are 0 where the labels are repeated."""
_FAR_BELOW = 1 / 3
_ONE_IN, _PATIENCE, _FEWEST_ROWS, _MOST_ROWS = 5, 5, 20, 20_000


def mean_loss(loss: Loss, q: Array, label: Array, weight: Array | None) -> float:
    """The loss of q as predictions of these labels, on the scale of the metric; NaN of rows that weigh nothing."""
    weights = np.ones(len(label)) if weight is None or not weight.size else weight
    if not weights.sum() > 0:
        return float("nan")
    target = loss.one_hot(label, q) if loss.multiclass else label
    of_rows = loss.value(margins_of(q, loss), target)
    mean = float(np.average(of_rows.mean(axis=1) if of_rows.ndim == 2 else of_rows, weights=weights))
    return (2 * mean) ** 0.5 if loss.default_metric == "rmse" else mean


def warn_of_repetition(spec: Spec, matrix: xgboost.DMatrix, weight: Array, q: Array, num_boost_round: int) -> None:
    """Warn where q is far better on its own training rows than any teacher of its kind is on others.

    Costs next to nothing where q is not better than the mean of the labels by as much; where it is, a teacher on four
    fifths of the rows, stopped early. Of many rows, which few teachers can repeat, it says nothing and costs nothing.
    """
    loss, label = spec.loss, spec.loss.label_of(matrix, "privileged")
    if loss.default_metric not in NAMES or label.ndim == 2 or collective.is_distributed():
        return
    if not _FEWEST_ROWS <= len(label) <= _MOST_ROWS:
        return
    on_own_rows = mean_loss(loss, q, label, weight)
    if on_own_rows >= _FAR_BELOW * _loss_of_the_mean(loss, q, label, weight) or not can_be_cut(matrix):
        return
    on_others = _loss_on_others(spec, matrix, weight, num_boost_round)
    if on_own_rows < _FAR_BELOW * on_others:
        warn_user(
            f"the teacher repeats the labels of its own training rows: its {NAMES[loss.default_metric]} is "
            f"{on_own_rows:.3f} there, and {on_others:.3f} on rows that it has not seen. Such a q teaches next to "
            "nothing. crossfit=5 has every row judged by a teacher that did not see it; privileged_evals with "
            "early_stopping_rounds stop the teacher in time; fewer rounds or shallower trees help too"
        )


def _loss_of_the_mean(loss: Loss, q: Array, label: Array, weight: Array) -> float:
    weights = weight if weight.size else None
    target = loss.one_hot(label, q) if loss.multiclass else label
    mean = np.average(target, axis=0, weights=weights).astype(np.float32)
    return mean_loss(loss, np.broadcast_to(mean, q.shape), label, weight)


def _loss_on_others(spec: Spec, matrix: xgboost.DMatrix, weight: Array, num_boost_round: int) -> float:
    """What a teacher of this kind reaches at its best on a fifth of the rows, which are held out."""
    rest, out = deal_folds(matrix.get_label(), _ONE_IN, 0)[0]
    parts = [slice_rows(matrix, rows) for rows in (rest, out)]
    for part, rows in zip(parts, (rest, out), strict=True):
        if weight.size:
            part.set_weight(weight[rows])
    log: dict[str, Any] = {}
    xgboost.train(
        {**spec.params, "eval_metric": spec.loss.default_metric},
        parts[0],
        num_boost_round,
        evals=[(parts[1], "others")],
        evals_result=log,
        early_stopping_rounds=_PATIENCE,
        verbose_eval=False,
    )
    return float(min(log["others"][spec.loss.default_metric]))

"""What XGBoost's metrics say of means that no booster predicted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xgboost

from .._arrays import Array
from .._xgb.matrix import copy_rows_info
from .loss import Loss

_CLOSE = np.float32(1e-7)


def margins_of(mean: Array, loss: Loss) -> Array:
    """The margins of these means; probabilities of 0 and 1 are moved inside a little."""
    if loss.probabilities:
        mean = np.clip(mean, _CLOSE, 1 - _CLOSE)
    return np.asarray(loss.margin_of(mean), np.float32)


def eval_of_means(mean: Array, matrix: xgboost.DMatrix, params: Mapping[str, Any], loss: Loss) -> str:
    """What ``Booster.eval`` says of these means as predictions of the rows of ``matrix``."""
    # A booster without trees predicts the base margin of its rows.
    margin = margins_of(mean, loss)
    empty = xgboost.DMatrix(np.zeros((len(margin), 1)), base_margin=margin)
    copy_rows_info(matrix, empty)
    known = ("objective", "num_class", "nthread", "eval_metric", *loss.parameters)
    own = {name: params[name] for name in known if name in params}
    return str(xgboost.Booster(own, [empty]).eval(empty, "q"))

"""The copies engine: the teachers' predictions become further rows.

It is for objectives whose gradient is not linear in the label. The gradient of ``loss(y, f) + a loss(q, f)`` is then
no gradient at a blended label, but it is always the sum of the gradients of two rows: one labelled y, and a copy of it
labelled q that weighs a times as much. So XGBoost's own objective is trained on such a stack. A row without a label has
copies only. The copies of a query are a new query. The user's matrix stays unchanged, and cuts are drawn from its rows
alone, so that copies do not change where trees may split.

XGBoost divides the weights of queries by their mean, which copies change. The penalties on leaves are multiplied by the
effect on the gradient, so that a ``kl_weight`` near 0 gives the plain model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from ..._arrays import Array
from ..._xgb.joined import set_queries_of_copies, stacked
from ..._xgb.matrix import can_be_cut, query_of_row
from ..._xgb.scaled_params import carried_params, give_back_params, native_params
from ..blend import answer
from ..training import Boosting, Training


def obstacle(training: Training, boosting: Boosting | None, **_: Any) -> str | None:
    """Return why copies would not train the right model; None if they do, and without a teacher."""
    spec, params, guides = training.spec, training.spec.params, training.guides
    if spec.loss.has_gradient:
        return "its labels can be blended, at half the cost. Use engine='auto'"
    if not guides:
        return None
    if spec.loss.obstacle:
        return spec.loss.obstacle
    if any(guide.teacher.is_adaptive for guide in guides):
        return (
            "copies of the rows have fixed labels, and an adaptive teacher (method='jpib', a constraint, a Teacher "
            "whose is_adaptive is True) changes its q. Use method='kbpib', or a fixed q"
        )
    if spec.scale_pos_weight != 1:
        return "scale_pos_weight would weigh those copies of the rows that happen to be labelled 1: leave it out"
    unscaled = params.get("booster") == "gblinear" or str(params.get("sampling_method")) == "gradient_based"
    if spec.loss.by_query and unscaled:
        return "booster='gblinear' and sampling_method='gradient_based' do not scale with the weights of queries"
    if boosting is None:
        return None
    if type(boosting.dtrain) is not xgboost.QuantileDMatrix and not can_be_cut(boosting.dtrain):
        return "the rows of dtrain lie in external memory and cannot be copied: build a DMatrix in memory"
    if not spec.loss.by_query:
        return None
    query: Array = query_of_row(boosting.dtrain)
    for weight in (guide.per_row for guide in guides if guide.per_row is not None):
        if n_torn := int((pd.Series(weight[weight > 0]).groupby(query[weight > 0]).nunique() > 1).sum()):
            return f"teacher_weight differs among the rows of {n_torn} queries: give all rows of a query the same, or 0"
    return None


def fit(training: Training, boosting: Boosting) -> xgboost.Booster:
    """Train the student on its rows and the copies."""
    params, carried = training.spec.params, carried_params(boosting.xgb_model)
    stack, chosen = stack_with_params(training, boosting.dtrain, carried, boosting.xgb_model)
    booster = boosting.run(chosen, stack)
    if chosen is not params:
        give_back_params(booster, params, carried, scales_positives=False)
    return booster


def stack_with_params(
    training: Training, dtrain: xgboost.DMatrix, carried: Mapping[str, Any], xgb_model: Any = None
) -> tuple[xgboost.DMatrix, dict[str, Any]]:
    """Labelled rows and copies as one matrix, and the params for the gradient of that.

    ``carried`` are the parameters that the continued ``xgb_model`` brings along.
    """
    spec = training.spec
    every_weight = np.ones(training.n_rows) if training.weight is None else training.weight.astype(np.float64)
    known = np.flatnonzero(training.known)
    rows, weights, answers = [known], [every_weight[known]], []
    for guide in training.guides:
        per_row = np.broadcast_to(np.asarray(guide.weight, np.float64), training.n_rows)
        copied = np.flatnonzero(per_row > 0)
        rows.append(copied)
        weights.append(every_weight[copied] * per_row[copied])
        answers.append(answer(guide, training, training.like)[copied])
    stack = stacked(dtrain, np.concatenate(rows), spec.params, xgb_model)
    for field in spec.loss.label_fields:
        stack.set_info(**{field: np.concatenate([dtrain.get_float_info(field)[known], *answers])})
    weight = np.concatenate(weights).astype(np.float32)
    query = query_of_row(dtrain) if spec.loss.by_query else None
    if query is None:
        stack.set_weight(weight)
        return stack, spec.params
    scale = set_queries_of_copies(stack, [query[part] for part in rows], weight)
    params = spec.params if scale == 1 else native_params(spec.params, 1 / scale, carried, scales_positives=False)
    return stack, params

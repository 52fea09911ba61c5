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

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xgboost

from ..._arrays import Array
from ..._xgb.collective import global_sum
from ..._xgb.matrix import query_of_row, runs
from ..._xgb.params import carried_params, give_back_params, native_params
from ..._xgb.stack import can_be_stacked, stacked
from ..job import Job, Plan
from ..task import Task
from ..teachers import WeightedTeacher


def obstacle(plan: Plan) -> str | None:
    """Return why copies would not train the right model; None if they do, and without a teacher."""
    spec, params = plan.spec, plan.spec.params
    if spec.loss.has_gradient:
        return "its labels can be blended, at half the cost. Use engine='auto'"
    if not plan.supervision.teachers:
        return None
    if spec.loss.obstacle:
        return spec.loss.obstacle
    if plan.supervision.is_adaptive:
        return (
            "copies of the rows have fixed labels, and an adaptive teacher (method='jpib', a constraint, a Teacher "
            "whose is_adaptive is True) changes its q. Use method='kbpib', or a fixed q"
        )
    if spec.loss.applies_scale_pos_weight and spec.scale_pos_weight != 1:
        return "scale_pos_weight would weigh those copies of the rows that happen to be labelled 1: leave it out"
    if spec.loss.by_query:
        if params.get("booster") == "gblinear":
            return "booster='gblinear' does not scale its regularisation with the weights of queries: use trees"
        if str(params.get("sampling_method", "uniform")) == "gradient_based":
            return "sampling_method='gradient_based' weighs gradients against lambda, which copies of queries scale"
    if plan.dtrain is None:
        return None
    if not can_be_stacked(plan.dtrain):
        return "the rows of dtrain lie in external memory and cannot be copied: build a DMatrix in memory"
    return _torn_query(plan) if spec.loss.by_query else None


def _torn_query(plan: Plan) -> str | None:
    """Return why the weights of a teacher do not fit the queries, which have one weight each; None if they do."""
    query = None if plan.dtrain is None else query_of_row(plan.dtrain)
    for weighted in plan.supervision.teachers:
        weight = weighted.per_row
        if query is None or weight is None:
            continue
        counts = weight > 0
        highest = np.zeros(len(query))
        np.maximum.at(highest, query[counts], weight[counts])
        torn = np.flatnonzero(counts & (weight != highest[query]))
        if torn.size:
            return (
                f"teacher_weight differs among the rows of {len(np.unique(query[torn]))} queries, first in row "
                f"{torn[0]}: give all rows of a query the same weight, or 0"
            )
    return None


class _Rows(NamedTuple):
    """Some rows of the user's matrix, labelled by them or by a teacher."""

    rows: Array
    weight: Array
    answers: Array | None
    """The teacher's predictions for them; None: their own labels."""


def fit(job: Job) -> xgboost.Booster:
    """Train the student on its rows and the copies."""
    params, carried = job.task.spec.params, carried_params(job.boosting.xgb_model)
    stack, chosen = stack_with_params(job.task, job.supervision.teachers, job.dtrain, carried)
    booster = job.boosting.run(chosen, stack, stands_for=job.dtrain)
    if chosen is not params:
        give_back_params(booster, params, carried, scales_positives=False)
    return booster


def stack_with_params(
    task: Task, teachers: Sequence[WeightedTeacher], dtrain: xgboost.DMatrix, carried: Mapping[str, Any]
) -> tuple[xgboost.DMatrix, dict[str, Any]]:
    """Labelled rows and copies as one matrix, and the params for the gradient of that.

    ``carried`` are the parameters that a continued booster brings along.
    """
    params = task.spec.params
    stack, scale = _stack_of(task, teachers, dtrain)
    return stack, params if scale == 1 else native_params(params, 1 / scale, carried, scales_positives=False)


def _stack_of(
    task: Task, teachers: Sequence[WeightedTeacher], dtrain: xgboost.DMatrix
) -> tuple[xgboost.DMatrix, float]:
    """Return the matrix, and how many times too large its gradient is."""
    parts = [_labelled(task), *(_copied(task, weighted) for weighted in teachers)]
    rows = np.concatenate([part.rows for part in parts])
    stack = stacked(dtrain, rows, task.spec.params)
    for field in task.spec.loss.label_fields:
        own = dtrain.get_float_info(field)
        stack.set_info(**{field: np.concatenate([_labels(part, own) for part in parts])})
    weight = np.concatenate([part.weight for part in parts]).astype(np.float32)
    query = query_of_row(dtrain) if task.spec.loss.by_query else None
    if query is not None:
        return stack, _set_queries(stack, [query[part.rows] for part in parts], weight)
    stack.set_weight(weight)
    return stack, 1.0


def _labelled(task: Task) -> _Rows:
    rows = np.arange(task.n_rows) if task.labelled is None else np.flatnonzero(task.labelled)
    return _Rows(rows, _weight(task)[rows], None)


def _copied(task: Task, weighted: WeightedTeacher) -> _Rows:
    per_row = np.broadcast_to(np.asarray(weighted.weight, np.float64), task.n_rows)
    rows = np.flatnonzero(per_row > 0)
    answers = weighted.teacher.answer(task, task.like, weighted.weight)
    return _Rows(rows, _weight(task)[rows] * per_row[rows], answers[rows])


def _weight(task: Task) -> Array:
    return np.ones(task.n_rows) if task.weight is None else task.weight.astype(np.float64)


def _labels(part: _Rows, own: Array) -> Array:
    return own[part.rows] if part.answers is None else part.answers


def _set_queries(stack: xgboost.DMatrix, queries: Sequence[Array], weight: Array) -> float:
    """Set queries and their weights for labelled rows and copies; return how many times too large the gradient is."""
    sizes = [runs(query)[0] for query in queries]
    stack.set_group(np.concatenate(sizes))
    of_query = weight[np.append(0, np.cumsum(np.concatenate(sizes))[:-1])].astype(np.float64)
    stack.set_weight(of_query)
    labelled = of_query[: len(sizes[0])]
    # Over all workers, so that all build the same trees.
    sums = global_sum(np.array([labelled.sum(), len(labelled), of_query.sum(), len(of_query)], np.float64))
    return float((sums[0] / sums[1]) / (sums[2] / sums[3]))

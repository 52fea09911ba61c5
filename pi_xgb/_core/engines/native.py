"""The native engine: the same model through XGBoost's own objective, trained on the blended target.

The blended gradient is (1 + a) times the gradient of XGBoost's own loss at the label t = (y + a q) / (1 + a). So
the label is replaced by t, and the factor 1 + a, which also multiplies the Hessian, is absorbed by dividing lambda,
alpha, gamma and min_child_weight. A factor that differs between rows becomes the weight of the row, once the cuts are
drawn by the user's weights. Fixed teachers need no Python in a round; for adaptive teachers the label is updated before
each round.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import xgboost
from xgboost.callback import LearningRateScheduler, TrainingCallback

from ..._arrays import array_module
from ..._xgb.matrix import restored
from ..._xgb.params import carried_params, give_back_params, native_params
from ..distillation import DistillationLoss
from ..job import Job, Plan
from ..losses import NUMBERS
from ..spec import Spec

# The largest total weight of teachers: XGBoost makes no split that gains less than 1e-6, and this engine divides gains
# by 1 + kl_weight, and by its square where the Hessian counts less of adaptive teachers.
_HEAVIEST, _HEAVIEST_ADAPTIVE = 1e4, 10.0


def obstacle(plan: Plan) -> str | None:
    """Return why this engine would not train the callback's model; None if it does."""
    found = _obstacle(plan)
    other = "callback" if plan.spec.loss.has_gradient else "copies"
    return None if found is None else f"{found}. Use engine={other!r} or 'auto'"


def _obstacle(plan: Plan) -> str | None:
    spec, supervision, params = plan.spec, plan.supervision, plan.spec.params
    moves_freely, total_weight = supervision.moves_freely, supervision.total_weight
    if not spec.loss.has_gradient:
        return "its gradient is not linear in the label"
    if "native" not in spec.loss.engines:
        return f"{spec.objective} takes whole classes as labels, and blended targets are not integers"
    if supervision.is_noisy and spec.loss.range != NUMBERS:
        return f"labels of {spec.objective} must {spec.loss.range.must}, and the blended labels of a noisy q may not"
    if params.get("booster", "gbtree") not in ("gbtree", "dart"):
        return f"booster={params['booster']!r} does not scale its regularisation as trees do"
    if spec.drops_trees and supervision.is_adaptive:
        return "booster='dart' drops different trees in prediction and update"
    if str(params.get("sampling_method", "uniform")) == "gradient_based":
        return "sampling_method='gradient_based' weighs gradients against lambda"
    if params.get("tree_method") == "approx" and (_scales_positives(spec) or not plan.is_uniform):
        cause = (
            "scale_pos_weight changes" if plan.is_uniform else "labels and teachers that differ from row to row change"
        )
        return f"tree_method='approx' places its cuts anew in every round, by weights that {cause} here"
    if total_weight > (_HEAVIEST_ADAPTIVE if moves_freely else _HEAVIEST):
        return f"teachers of a total weight of {total_weight:g} push the gains of splits below XGBoost's threshold"
    if moves_freely and not plan.is_uniform:
        return "labels and teachers that differ from row to row let the Hessian shrink by another factor in each"
    if moves_freely and spec.objective == "count:poisson":
        return "the max_delta_step of count:poisson, by which this engine would scale leaves, is in its Hessian too"
    if moves_freely and any(isinstance(callback, LearningRateScheduler) for callback in plan.boosting.callbacks or ()):
        return "a LearningRateScheduler would undo the size of the steps, by which this engine scales the Hessian"
    if plan.dtrain is not None and any(matrix is plan.dtrain for matrix, _ in plan.boosting.evals):
        return "dtrain is among the evals, and its metrics need the labels that this engine replaces"
    return None


def fit(job: Job) -> xgboost.Booster:
    """Train the student on blended labels. dtrain gets its own back, also after an error."""
    distillation, continued = DistillationLoss(job.task, job.supervision.teachers), job.boosting.xgb_model
    params = distillation.params_with_intercept(continues=continued is not None)
    spec, carried = job.task.spec, carried_params(continued)
    scales, factor, share = spec.loss.applies_scale_pos_weight, 1.0, 1.0
    distillation.use_steps_of(carried, params)
    if distillation.is_uniform:
        factor += sum(weighted.kl_weight for weighted in distillation.teachers)
        share = float(distillation.hessian_share())
    with _lent(distillation, params, job.dtrain) as callbacks:
        scaled = native_params(params, factor, carried, share, scales_positives=scales)
        booster = job.boosting.run(scaled, job.dtrain, callbacks=callbacks)
    give_back_params(booster, spec.params, carried, share, scales_positives=scales)
    return booster


class _UpdateLabels(TrainingCallback):
    """Sets the labels to the blended target of the adaptive teachers before each round."""

    def __init__(self, distillation: DistillationLoss, dtrain: xgboost.DMatrix, base_score: Any) -> None:
        self._distillation, self._dtrain, self._base_score = distillation, dtrain, base_score

    def before_training(self, model: Any) -> Any:
        self._distillation.start(model, self._dtrain, self._base_score)
        return model

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        mean = self._distillation.mean(model.predict(self._dtrain, output_margin=True))
        self._dtrain.set_label(self._distillation.target(mean))
        return False


@contextlib.contextmanager
def _lent(
    distillation: DistillationLoss, params: dict[str, Any], dtrain: xgboost.DMatrix
) -> Iterator[list[TrainingCallback]]:
    """Give the matrix blended labels, and yield the callbacks of the student's training."""
    task, uniform = distillation.task, distillation.is_uniform
    with restored(dtrain):
        if not uniform or _scales_positives(task.spec):
            # A label that is valid in every row: unknown labels may not be.
            dtrain.set_label(task.spec.loss.mean(array_module(task.like).zeros_like(task.like)))
            _quantise(params, dtrain)
            dtrain.set_weight(task.weight if uniform else distillation.blend.row_factor)
        if distillation.is_adaptive:
            yield [_UpdateLabels(distillation, dtrain, params.get("base_score"))]
        else:
            dtrain.set_label(distillation.target(task.like))
            yield []


def _scales_positives(spec: Spec) -> bool:
    return spec.loss.applies_scale_pos_weight and spec.scale_pos_weight != 1


def _quantise(params: dict[str, Any], dtrain: xgboost.DMatrix) -> None:
    """Let hist place its cuts by the user's weights before they change, as the callback engine does."""
    xgboost.train({**params, "max_depth": 1, "num_parallel_tree": 1}, dtrain, 1)

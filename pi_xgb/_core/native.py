"""The native engine: the same model through XGBoost's own objective, trained on the blended target.

The blended gradient is (1 + a) times the gradient of XGBoost's own loss at the label t = (y + a q) / (1 + a). So
the label is replaced by t, and the factor 1 + a, which also multiplies the Hessian, is absorbed by dividing what a
leaf's sums are compared with: lambda, alpha, gamma and min_child_weight. A factor that differs from row to row becomes
the weight of the row, once the cuts are drawn by the user's weights. No Python runs in a round whose teachers
are fixed; teachers that follow the student are asked before each round and the label is set again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import xgboost
from xgboost.callback import LearningRateScheduler, TrainingCallback

from .._arrays import array_module
from .._xgb.matrix import restored
from .._xgb.params import carried_params, give_back_params, native_params, regularisation_of, step_of
from .distillation import DistillationLoss
from .loss import NUMBERS
from .spec import Spec

Evals = Sequence[tuple[xgboost.DMatrix, str]]


def uses_native(engine: str, spec: Spec, obstacle: str | None) -> bool:
    """Whether a training runs natively: on request, or by itself where Python in every round would hurt."""
    if engine == "callback":
        return False
    if engine == "native" and obstacle:
        raise ValueError(f"engine='native' would not be exact here: {obstacle}. Use engine='callback' or 'auto'")
    return obstacle is None and (engine == "native" or spec.device.startswith(("cuda", "gpu")))


# What teachers may weigh here: XGBoost makes no split that gains less than 1e-6, and this engine divides gains by
# 1 + kl_weight, and by its square where the Hessian counts less of those that follow the student.
_HEAVIEST, _HEAVIEST_FOLLOWING = 1e4, 10.0


def obstacle_to_native(
    spec: Spec,
    *,
    is_adaptive: bool,
    moves_freely: bool = False,
    taught: float = 0.0,
    uniform: bool = True,
    noisy: bool = False,
    dtrain: Any = None,
    evals: Evals = (),
    callbacks: Sequence[Any] = (),
) -> str | None:
    """Why the native engine would not give the callback's model here; None where it does.

    ``is_adaptive`` says whether a teacher does, ``moves_freely`` whether the Hessian counts less of it, ``taught``
    what all teachers weigh, ``uniform`` whether labels and teachers count the same in all rows, ``noisy`` whether a
    teacher's q may leave the range of labels.
    """
    params = spec.params
    if "native" not in spec.loss.engines:
        return f"{spec.objective} takes whole classes as labels, and a blended target is none"
    if noisy and spec.loss.range != NUMBERS:
        return f"labels of {spec.objective} must {spec.loss.range.must}, and what a noisy teacher asks for may not"
    if params.get("booster", "gbtree") not in ("gbtree", "dart"):
        return f"booster={params['booster']!r} does not scale its regularisation in the way that trees do"
    if spec.drops_trees and is_adaptive:
        return "booster='dart' drops other trees for the teacher's question than for the student's round"
    if str(params.get("sampling_method", "uniform")) == "gradient_based":
        return "sampling_method='gradient_based' weighs gradients against lambda"
    if params.get("tree_method") == "approx" and (_scales_positives(spec) or not uniform):
        cause = "scale_pos_weight changes" if uniform else "labels and teachers that differ from row to row change"
        return f"tree_method='approx' places its cuts anew in every round, by weights that {cause} here"
    if taught > (_HEAVIEST_FOLLOWING if moves_freely else _HEAVIEST):
        return f"with teachers that weigh {taught:g} the gains of its splits fall below what XGBoost takes for nothing"
    if moves_freely and not uniform:
        return "labels and teachers that differ from row to row let the Hessian shrink by another factor in each"
    if moves_freely and spec.objective == "count:poisson":
        return "the max_delta_step of count:poisson, by which this engine would scale leaves, is in its Hessian too"
    if moves_freely and any(isinstance(one, LearningRateScheduler) for one in callbacks):
        return "a LearningRateScheduler would undo the size of the steps, by which this engine scales the Hessian"
    if any(matrix is dtrain for matrix, _ in evals):
        return "dtrain is among the evals, and its metrics need the labels that this engine replaces"
    return None


def train_native(
    distillation: DistillationLoss,
    params: dict[str, Any],
    dtrain: xgboost.DMatrix,
    xgb_model: Any,
    boost: Callable[..., Any],
) -> xgboost.Booster:
    """Train the student; ``boost(params, callbacks)`` is the user's call of ``xgboost.train``.

    ``params`` are the user's, with the intercept. dtrain lends its labels and weights, and gets back its own whatever
    happens.
    """
    spec, carried = distillation.task.spec, carried_params(xgb_model)
    scales, factor, share = spec.loss.applies_scale_pos_weight, 1.0, 1.0
    distillation.regularisation = regularisation_of(carried, params)
    if distillation.is_uniform:
        factor += sum(weighted_teacher.kl_weight for weighted_teacher in distillation.weighted)
        share = float(distillation.hessian_share(step_of(carried, params)))
    with _lent(distillation, params, dtrain, step_of(carried, params)) as callbacks:
        scaled = native_params(params, factor, carried, share, scales_positives=scales)
        booster: xgboost.Booster = boost(scaled, callbacks)
    give_back_params(booster, spec.params, carried, share, scales_positives=scales)
    return booster


class FollowStudent(TrainingCallback):
    """Before each round, ask the teachers and set the label to the new blended target."""

    def __init__(self, distillation: DistillationLoss, dtrain: xgboost.DMatrix, base_score: Any, eta: float) -> None:
        self._distillation, self._dtrain, self._base_score, self._eta = distillation, dtrain, base_score, eta

    def before_training(self, model: Any) -> Any:
        self._distillation.start(model, self._dtrain, self._base_score)
        return model

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        mean = self._distillation.loss.mean(model.predict(self._dtrain, output_margin=True))
        self._dtrain.set_label(self._distillation.target(mean, self._eta))
        return False


@contextlib.contextmanager
def _lent(
    distillation: DistillationLoss, params: dict[str, Any], dtrain: xgboost.DMatrix, eta: float
) -> Iterator[list[TrainingCallback]]:
    """The matrix with the blended labels, and the callbacks that the student's training needs."""
    task, uniform = distillation.task, distillation.is_uniform
    with restored(dtrain):
        if not uniform or _scales_positives(task.spec):
            # Any label that every row may have: those that nobody knows may be none.
            dtrain.set_label(task.spec.loss.mean(array_module(task.like).zeros_like(task.like)))
            quantise(params, dtrain)
            dtrain.set_weight(task.weight if uniform else distillation.blend.row_factor)
        if distillation.is_adaptive:
            yield [FollowStudent(distillation, dtrain, params.get("base_score"), eta)]
        else:
            dtrain.set_label(distillation.target(task.like, eta))
            yield []


def _scales_positives(spec: Spec) -> bool:
    return spec.loss.applies_scale_pos_weight and spec.scale_pos_weight != 1


def quantise(params: dict[str, Any], dtrain: xgboost.DMatrix) -> None:
    """Let hist place its cuts by the user's weights before these change: the callback engine places them so."""
    xgboost.train({**params, "max_depth": 1, "num_parallel_tree": 1}, dtrain, 1)

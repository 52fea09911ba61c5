"""The native engine: the same model through XGBoost's own objective, trained on the blended target.

The blended gradient is (1 + a) times the gradient of XGBoost's own loss at the label t = (y + a q) / (1 + a). So
the label is replaced by t, and the factor 1 + a, which also multiplies the Hessian, is absorbed by dividing what a
leaf's sums are compared with: lambda, alpha, gamma and min_child_weight. No Python runs in a round whose teachers
are fixed; teachers that follow the student are asked before each round and the label is set again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xgboost
from xgboost.callback import TrainingCallback

from .._arrays import Array
from .._xgb.params import objective_name, scale_pos_weight
from .losses import Loss
from .teachers import Start, Teacher

Pairs = list[tuple[Teacher, float]]


def uses_native(
    engine: str,
    params: Mapping[str, Any],
    loss: Loss,
    dtrain: xgboost.DMatrix,
    pairs: Pairs,
    evals: Sequence[tuple[xgboost.DMatrix, str]],
) -> bool:
    """Whether this training runs natively: on request, or by itself where Python in every round would hurt."""
    if engine == "callback":
        return False
    obstacle = obstacle_to_native(params, loss, dtrain, pairs, evals)
    if engine == "native" and obstacle:
        raise ValueError(f"engine='native' would not be exact here: {obstacle}. Use engine='callback' or 'auto'")
    on_cuda = str(params.get("device", "cpu")).startswith(("cuda", "gpu"))
    return obstacle is None and (engine == "native" or on_cuda)


def obstacle_to_native(
    params: Mapping[str, Any],
    loss: Loss,
    dtrain: xgboost.DMatrix,
    pairs: Pairs,
    evals: Sequence[tuple[xgboost.DMatrix, str]],
) -> str | None:
    """Why the native engine would not give the callback's model here; None where it does."""
    if loss.multiclass:
        return f"{objective_name(params)} takes whole classes as labels, and a blended target is none"
    if params.get("booster", "gbtree") not in ("gbtree", "dart"):
        return f"booster={params['booster']!r} does not scale its regularisation in the way that trees do"
    if params.get("booster") == "dart" and any(t.follows_student for t, _ in pairs):
        return "booster='dart' drops other trees for the teacher's question than for the student's round"
    if str(params.get("sampling_method", "uniform")) == "gradient_based":
        return "sampling_method='gradient_based' weighs gradients against lambda"
    if params.get("tree_method") == "approx" and loss.applies_scale_pos_weight and scale_pos_weight(params) != 1:
        return "tree_method='approx' places its cuts anew in every round, by weights that scale_pos_weight changes here"
    if any(matrix is dtrain for matrix, _ in evals):
        return "dtrain is among the evals, and its metrics need the labels that this engine replaces"
    return None


class FollowStudent(TrainingCallback):
    """Before each round, ask the teachers and set the label to the new blended target."""

    def __init__(self, dtrain: xgboost.DMatrix, loss: Loss, label: Array, weight: Array | None, pairs: Pairs) -> None:
        super().__init__()
        self._dtrain, self._loss = dtrain, loss
        self._label, self._weight, self._pairs = label, weight, pairs

    def before_training(self, model: Any) -> Any:
        for teacher, kl_weight in self._pairs:
            teacher.start(Start(self._loss, kl_weight, model, self._dtrain))
        return model

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        mean = self._loss.mean(model.predict(self._dtrain, output_margin=True, training=True))
        self._dtrain.set_label(blended_label(self._loss, self._label, self._weight, mean, self._pairs))
        return False


def blended_label(loss: Loss, label: Array, weight: Array | None, mean: Array, pairs: Pairs) -> Array:
    """The blended target of the teachers at the student's current mean."""
    target, _ = loss.blend(label, [(t.q(mean, label, weight), a) for t, a in pairs], mean)
    return target


@contextlib.contextmanager
def blended_labels(
    params: dict[str, Any], loss: Loss, dtrain: xgboost.DMatrix, weight: Array | None, pairs: Pairs
) -> Iterator[list[TrainingCallback]]:
    """Lend dtrain its blended labels and, whatever happens, give it back its own.

    Yields the callbacks that the student's training needs.
    """
    label = dtrain.get_label()
    with restored(dtrain):
        if loss.applies_scale_pos_weight and scale_pos_weight(params) != 1:
            _quantise(params, dtrain)
            dtrain.set_weight(weight)
        if any(teacher.follows_student for teacher, _ in pairs):
            yield [FollowStudent(dtrain, loss, label, weight, pairs)]
        else:
            dtrain.set_label(blended_label(loss, label, weight, np.empty_like(label), pairs))
            yield []


@contextlib.contextmanager
def restored(matrix: xgboost.DMatrix) -> Iterator[None]:
    """Leave the labels and weights of a matrix as they were."""
    label, weight = matrix.get_label(), matrix.get_weight()
    try:
        yield
    finally:
        matrix.set_label(label)
        matrix.set_weight(weight)


def _quantise(params: dict[str, Any], dtrain: xgboost.DMatrix) -> None:
    """Let hist place its cuts by the user's weights before these change: the callback engine places them so."""
    xgboost.train({**params, "max_depth": 1, "num_parallel_tree": 1}, dtrain, 1)

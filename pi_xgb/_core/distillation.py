"""The distillation loss: a task, its weighted teachers, and the gradient and intercept that follow from both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xgboost

from .._arrays import Array, module_for, moved_to, read_only, to_host
from .._xgb.collective import global_sum, on_every_worker
from .._xgb.params import regularisation_of, step_of
from .blend import Blend
from .losses import NUMBERS
from .step import DampedTarget, hessian_share, supports_damping
from .task import Task
from .teachers import Start, WeightedTeacher, moves_freely

# The least distance of a start from the ends of the range, where noise puts the mean of all rows outside.
_EDGE = 1e-3


class DistillationLoss:
    """The student's objective: the loss of its labels plus the weighted divergence from its teachers.

    Teachers live in host memory; label, weights and target on the device of the training.
    """

    def __init__(self, task: Task, teachers: Sequence[WeightedTeacher]) -> None:
        self.task, self.teachers = task, list(teachers)
        self.loss = task.spec.loss
        self.is_adaptive = any(weighted.teacher.is_adaptive for weighted in teachers)
        self._xp = module_for(task.spec.device)
        self.blend = Blend.of_task(task, [weighted.weight for weighted in teachers], self._xp)
        self._moving = [weighted for weighted in teachers if moves_freely(weighted.teacher)]
        self._moving_weights = [moved_to(self._xp, weighted.weight) for weighted in self._moving]
        self._damped = DampedTarget(self.blend.total, self._moving_weights)
        self.averages: dict[int, Array] | None = {}
        """The mean of p - q of each teacher over the rounds of a training; None outside of a training."""
        self.eta = step_of({})
        """The learning rate of the training."""
        self.regularisation = 1.0
        """The regularisation of leaves with few rows."""
        self._target: Array | None = None
        # Cached by hand: up to Python 3.11 functools.cached_property holds a lock while it computes, and these values
        # need all workers, which would deadlock as threads of one process.
        self._uniform: bool | None = None
        self._is_damped: bool | None = None

    @property
    def is_uniform(self) -> bool:
        """Whether label and teacher weights are the same in all rows of all workers; call it on every worker.

        All workers must take the same branches, also where only some have rows that differ.
        """
        if self._uniform is None:
            self._uniform = on_every_worker(self.blend.is_uniform)
        return self._uniform

    def use_steps_of(self, *settings: Mapping[str, Any]) -> None:
        """Set learning rate and regularisation from params, or from the settings of a booster."""
        self.eta, self.regularisation = step_of(*settings), regularisation_of(*settings)

    def start(self, student: xgboost.Booster | None, matrix: xgboost.DMatrix | None, base_score: Any = None) -> None:
        """Begin a training of this student."""
        self.averages = {}
        for weighted in self.teachers:
            weighted.teacher.start(Start(self.task, weighted.weight, student, matrix, base_score))

    def mean(self, margin: Array) -> Array:
        """Return the mean of each row on the device of the training."""
        return self.loss.mean(self._xp.asarray(margin))

    def target(self, mean: Array) -> Array:
        """Return the blended target of each row, given its current ``mean``."""
        if self._target is not None:
            return self._target
        shown = read_only(to_host(mean))
        answers = [self._xp.asarray(pair.teacher.answer(self.task, shown, pair.weight)) for pair in self.teachers]
        if self.averages is not None and self._damps:
            answers = [self._damped_answer(self.averages, i, mean, q) for i, q in enumerate(answers)]
        target = self.blend.target(answers, mean)
        if not self.is_adaptive:  # a fixed target is computed once
            self._target = target
        return target

    @property
    def _damps(self) -> bool:
        """Whether steps are damped; call it on every worker."""
        if self._is_damped is None:
            self._is_damped = self._can_damp()
        return self._is_damped

    def _can_damp(self) -> bool:
        """Return whether all adaptive teachers have hessian="damped" and the weights of the rows support it."""
        if not self._moving or any(weighted.teacher.hessian != "damped" for weighted in self._moving):
            return False
        n_rows, weight = len(self.task.like), self.task.weight
        weights, rows = global_sum(np.array([n_rows if weight is None else float(weight.sum()), n_rows], np.float64))
        return supports_damping(self.loss, self.regularisation, weights / max(rows, 1))

    def _damped_answer(self, averages: dict[int, Array], number: int, mean: Array, q: Array) -> Array:
        if not moves_freely(self.teachers[number].teacher):
            return q
        damped, averages[number] = self._damped.update(mean, q, self.eta, averages.get(number))
        return self._xp.clip(damped, self.loss.range.low, self.loss.range.high)

    def gradient(self, margin: Array) -> tuple[Array, Array]:
        """Gradient and Hessian at these margins."""
        mean = self.mean(margin)
        grad, hess = self.loss.gradient(mean, self.target(mean), self.blend.factor)
        if self._moving_weights:
            share = self.hessian_share()
            hess *= share[:, None] if hess.ndim == 2 and np.ndim(share) == 1 else share
        return grad, hess

    def hessian_share(self) -> Any:
        """Return the factor of the Hessian under adaptive teachers, one number or one per row."""
        damped = self.averages is not None and self._damps
        return hessian_share(self.blend.total, self._moving_weights, self.eta, damped=damped)

    def params_with_intercept(self, *, continues: bool) -> dict[str, Any]:
        """Return the student's params, with an intercept where XGBoost would have estimated one."""
        chosen = dict(self.task.spec.params)
        # A base_margin takes the place of the intercept in training only: XGBoost estimates one all the same.
        if not ("base_score" in chosen or continues):
            chosen["base_score"] = self.base_score()
        return chosen

    def base_score(self) -> Any:
        """The ``base_score`` that XGBoost would estimate for the blended target: its weighted mean.

        Adaptive teachers are left out: they start at the student's predictions, where their terms cancel.
        """
        task = self.task
        fixed = [weighted for weighted in self.teachers if not weighted.teacher.is_adaptive]
        weights = [weighted.weight for weighted in fixed]
        blend = Blend.of_task(task, weights, np)
        target = blend.target([pair.teacher.answer(task, task.like, pair.weight) for pair in fixed], task.like)
        weight = task.weight if on_every_worker(blend.is_uniform) else blend.row_factor
        if weight is None:
            total, rows = target.sum(axis=0, dtype=np.float64), float(task.n_rows)
        else:
            exact = weight.astype(np.float64)
            total, rows = exact @ target, float(exact.sum())
        sums = global_sum(np.append(np.atleast_1d(total), rows))
        if sums[-1] <= 0:
            raise ValueError("the weights of dtrain sum to 0: give at least one row a positive weight")
        mean = sums[:-1] / sums[-1]
        if any(weighted.teacher.is_noisy for weighted in fixed) and self.loss.range != NUMBERS:
            mean = np.clip(mean, self.loss.range.low + _EDGE, self.loss.range.high - _EDGE)
        if self.loss.applies_scale_pos_weight and task.spec.scale_pos_weight != 1:
            mean = self.loss.newton_step(mean)
        return self.loss.estimated_base_score(mean if target.ndim == 2 else mean[0])


class DistillationObjective:
    """The gradient of one distillation loss in one training, without checks in each round."""

    def __init__(self, distillation: DistillationLoss) -> None:
        self._distillation = distillation

    def __call__(self, margin: Array, dtrain: xgboost.DMatrix) -> tuple[Array, Array]:
        return self._distillation.gradient(margin)

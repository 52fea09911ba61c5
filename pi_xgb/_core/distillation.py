"""The distillation loss: the gradient and the intercept of a task and its teachers."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost

from .._arrays import Array, module_for, read_only, to_host
from .._rows.supervision import warn_of_idle_rows
from .._xgb.collective import global_sum, on_every_worker
from .blend import Blend
from .loss import NUMBERS
from .step import DampedTarget, hessian_share, supports_damping
from .task import Task
from .teachers import Start, WeightedTeacher, moves_freely

# Where a model starts at most, if noise puts the mean of all rows beyond the predictions that there can be.
_EDGE = 1e-3


class DistillationLoss:
    """The teachers of one task, asked for what they say, and the blend of it with the labels.

    Teachers live in host memory; label, weights and target on the device of the training.
    """

    def __init__(self, task: Task, weighted: list[WeightedTeacher]) -> None:
        self.task, self.weighted = task, weighted
        self.loss = task.spec.loss
        self.is_adaptive = any(weighted_teacher.teacher.is_adaptive for weighted_teacher in weighted)
        self._xp = module_for(task.spec.device)
        self.blend = Blend(
            self.loss,
            self._on_device(task.label),
            [self._on_device(weighted_teacher.weight) for weighted_teacher in weighted],
            weight=self._on_device(task.weight),
            labelled=self._on_device(task.labelled),
        )
        self._freely = [one for one in weighted if moves_freely(one.teacher)]
        self._following = [self._on_device(one.weight) for one in self._freely]
        self._damped_target = DampedTarget(self.blend.total, self._following)
        self.averages: dict[int, Array] | None = {}
        """The mean pull of each teacher over the rounds of a training; None where nothing can be kept."""
        self.regularisation = 1.0
        """What keeps leaves of few rows small, as the training that begins has it."""
        self._target: Array | None = None
        # What all workers were asked is kept by hand: up to Python 3.11 functools.cached_property holds a lock while it
        # computes, and workers that are threads of one process would wait for it and for each other.
        self._uniform: bool | None = None
        self._damped: bool | None = None

    @property
    def is_uniform(self) -> bool:
        """Whether labels and teachers count the same in every row of every worker; to be asked on every worker.

        Workers must take one way through the training, also where only some have rows that differ.
        """
        if self._uniform is None:
            self._uniform = on_every_worker(self.blend.is_uniform)
        return self._uniform

    def start(self, student: xgboost.Booster | None, matrix: xgboost.DMatrix | None, base_score: Any = None) -> None:
        """Tell the teachers that a training begins."""
        self.averages = {}
        for weighted_teacher in self.weighted:
            weighted_teacher.teacher.start(Start(self.task, weighted_teacher.weight, student, matrix, base_score))

    def target(self, mean: Array, eta: float) -> Array:
        """Where the mean of each row should be, now that it is ``mean``, for steps of this size."""
        if self._target is not None:
            return self._target
        told = read_only(to_host(mean))
        answers = [self._xp.asarray(one.teacher.answer(self.task, told, one.weight)) for one in self.weighted]
        if self.averages is not None and self._is_damped:
            answers = [self._damp(self.averages, i, mean, q, eta) for i, q in enumerate(answers)]
        target = self.blend.target(answers, mean)
        if not self.is_adaptive:  # then it stays
            self._target = target
        return target

    @property
    def _is_damped(self) -> bool:
        """Whether the steps are damped ones; to be asked on every worker."""
        if self._damped is None:
            self._damped = self._supports_damping()
        return self._damped

    def _supports_damping(self) -> bool:
        """It needs all teachers that follow to say so, since the step is the sum's, and data that bear it."""
        if not self._freely or any(one.teacher.hessian != "damped" for one in self._freely):
            return False
        n_rows, weight = len(self.task.like), self.task.weight
        weights, rows = global_sum(np.array([n_rows if weight is None else float(weight.sum()), n_rows], np.float64))
        return supports_damping(self.loss, self.regularisation, weights / max(rows, 1))

    def _damp(self, averages: dict[int, Array], number: int, mean: Array, q: Array, eta: float) -> Array:
        if not moves_freely(self.weighted[number].teacher):
            return q
        asked, averages[number] = self._damped_target.asked(mean, q, eta, averages.get(number))
        return self._xp.clip(asked, self.loss.range.low, self.loss.range.high)

    def gradient(self, margin: Array, eta: float) -> tuple[Array, Array]:
        """Gradient and Hessian at these margins, for steps of this size."""
        mean = self.loss.mean(self._xp.asarray(margin))
        grad, hess = self.loss.gradient(mean, self.target(mean, eta), self.blend.factor)
        if self._following:
            share = self.hessian_share(eta)
            hess *= share[:, None] if hess.ndim == 2 and np.ndim(share) == 1 else share
        return grad, hess

    def hessian_share(self, eta: float) -> Any:
        """By what teachers that follow the student let the Hessian shrink, a number or one per row."""
        damped = self.averages is not None and self._is_damped
        return hessian_share(self.blend.total, self._following, eta, damped=damped)

    def base_score(self) -> Any:
        """The ``base_score`` that XGBoost would estimate for the blended target: its weighted mean.

        Teachers that follow the student are left out: they begin where the student does, so that what they add to
        both sides cancels.
        """
        task = self.task
        fixed = [weighted_teacher for weighted_teacher in self.weighted if not weighted_teacher.teacher.is_adaptive]
        weights = [one.weight for one in fixed]
        blend = Blend(task.spec.loss, task.label, weights, weight=task.weight, labelled=task.labelled)
        target = blend.target([one.teacher.answer(task, task.like, one.weight) for one in fixed], task.like)
        weight = task.weight if on_every_worker(blend.is_uniform) else blend.row_factor
        if weight is None:
            total, rows = target.sum(axis=0, dtype=np.float64), float(task.n_rows)
        else:
            exact = weight.astype(np.float64)
            total, rows = exact @ target, float(exact.sum())
        sums = global_sum(np.append(np.atleast_1d(total), rows))
        if sums[-1] <= 0:
            raise ValueError("the weights of dtrain sum to 0: at least one row must weigh something")
        mean = sums[:-1] / sums[-1]
        if any(weighted_teacher.teacher.is_noisy for weighted_teacher in fixed) and self.loss.range != NUMBERS:
            mean = np.clip(mean, self.loss.range.low + _EDGE, self.loss.range.high - _EDGE)
        if self.loss.applies_scale_pos_weight and task.spec.scale_pos_weight != 1:
            mean = self.loss.newton_step(mean)
        return self.loss.estimated_base_score(mean if target.ndim == 2 else mean[0])

    def warn_of_idle_rows(self) -> None:
        """Says how many rows have neither a label nor a teacher."""
        if self.weighted and not self.blend.is_uniform:
            warn_of_idle_rows(to_host(self.blend.total) == 0)

    def _on_device(self, values: Any) -> Any:
        return values if values is None or np.ndim(values) == 0 else self._xp.asarray(values)

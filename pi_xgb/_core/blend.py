"""The blend of label and teachers: the target of each row's mean, and its weight.

With m = 1 where the label is known and 0 where it is not, and a_k the weight of teacher k, which may be one per row:

    target = (m y + sum_k a_k q_k) / (m + sum_k a_k)        factor = weight (m + sum_k a_k)

A row of factor 0 takes no part. Both engines, callback and native, the intercept and the joint teacher use this blend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays import Array, array_module, moved_to
from .losses import Loss
from .task import Task

KLWeight = Any
"""A number, or one number per row."""


class Blend:
    """Target and factor of each row of one task. Arrays are NumPy's or CuPy's, all of one kind."""

    def __init__(
        self,
        loss: Loss,
        label: Array,
        kl_weights: Sequence[KLWeight],
        *,
        weight: Array | None = None,
        labelled: Array | None = None,
    ) -> None:
        self._loss, self._label = loss, label
        self._has_columns = loss.multiclass or label.ndim == 2
        # In float64, so that weights that are equal in all rows give the result of one number.
        total: Any = 1.0 if labelled is None else labelled.astype(np.float64)
        for kl_weight in kl_weights:
            total = total + kl_weight
        divisor = self.total = _single(total)
        self.factor = divisor if weight is None else divisor * weight
        self._kl_weights = [self._per_mean(_single(kl_weight)) for kl_weight in kl_weights]
        self._labelled = None if labelled is None else self._per_mean(labelled.astype(np.float32))
        self.is_uniform = np.ndim(divisor) == 0
        """Whether label and teacher weights are the same in all rows."""
        if not self.is_uniform:
            divisor = self._per_mean(array_module(divisor).where(divisor > 0, divisor, np.float32(1)))
        self._divisor = divisor

    @classmethod
    def of_task(cls, task: Task, kl_weights: Sequence[KLWeight], xp: Any) -> Blend:
        """Return the blend of a task with teachers of these weights; ``xp`` is NumPy or CuPy."""
        label, weight, labelled = (moved_to(xp, values) for values in (task.label, task.weight, task.labelled))
        weights = [moved_to(xp, kl_weight) for kl_weight in kl_weights]
        return cls(task.spec.loss, label, weights, weight=weight, labelled=labelled)

    @property
    def row_factor(self) -> Array:
        """The factor as one value per row, also where all are equal."""
        column = self._label[:, 0] if self._label.ndim == 2 else self._label
        return self.factor * array_module(column).ones_like(column)

    def target(self, answers: Sequence[Array], like: Array) -> Array:
        """Return the blended target of label and teachers' q, in a fresh array of the shape of ``like``."""
        target = self._loss.one_hot(self._label, like)
        if self._labelled is not None:
            target *= self._labelled
        for q, kl_weight in zip(answers, self._kl_weights, strict=True):
            term = kl_weight * q
            # In rows where its weight is 0 a teacher's q may be anything, NaN included.
            target += term if np.ndim(kl_weight) == 0 else array_module(term).where(kl_weight > 0, term, np.float32(0))
        target /= self._divisor
        if self._loss.stand_in and not self.is_uniform:
            idle = self._per_mean(self.total == 0)
            target = array_module(target).where(idle, np.float32(self._loss.stand_in), target)
        return target

    def _per_mean(self, values: Any) -> Any:
        """Return values per row in a shape that broadcasts over several classes or targets."""
        return values[:, None] if self._has_columns and np.ndim(values) == 1 else values


def _single(values: Any) -> Any:
    return values.astype(np.float32) if np.ndim(values) else np.float32(values)

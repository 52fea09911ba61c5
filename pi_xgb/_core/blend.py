"""The blend of label and teachers: the target of each row's mean, its weight, the intercept, the step.

With m = 1 where the label is known and 0 where it is not, and a_k the weight of teacher k, which may be one per row:

    target = (m y + sum_k a_k q_k) / (m + sum_k a_k)        factor = weight (m + sum_k a_k)

A row of factor 0 takes no part. All engines, the intercept and the joint teacher use this blend.

**The step.** q of an adaptive teacher moves with p. So a (p - q) curves less in p than with a fixed q: not at all
where a tree moves all predictions alike, and by a where it moves exactly what the teacher compares. The paper's Hessian
counts all of a, which divides steps by 1 + a. Counting none of it makes steps of size eta (1 + a) in the second case,
and steps of 2 and more never converge. Let r be the weight of labels and fixed teachers in a row, and F that of
adaptive teachers. There are two remedies.

"adaptive" counts max(r, eta (r + F)) instead of r + F: r alone up to F = r (1 / eta - 1), 9 at eta 0.1. Beyond that,
one round closes all that a tree can move. Steps towards the labels are short there as well: the heavier the constraint,
the more rounds a model needs.

"damped" counts r at every weight. Two terms then steer the compared differences. A part of a (p - q) follows p at
once, enough for a round to close most of a gap. The rest weighs the mean of p - q over the rounds, more rounds the
heavier it is. Both end where the paper's gradient does, in as many rounds as the labels need, if p - q has few distinct
values against the rows: groups. Where it differs from row to row, each round brings new differences that a mean over
rounds lacks, and "adaptive" comes closer to the constraint.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays import Array, array_module, module_for, moved_to, read_only, to_host
from .._rows.checks import check_no_mask
from .._xgb.collective import global_sum
from .._xgb.scaled_params import steps_of
from .losses import NUMBERS
from .training import Guide, Student, Training

# Damped steps: 70 % of a gap is closed at once, 10 % per round by the running mean. They converge even if trees move
# 2.7 times what the Hessian implies; with shares that sum to 2 only up to 1.3 times.
_AT_ONCE, _LATER = 0.7, 0.1
# Hessian weight where only adaptive teachers act: small, so that labels keep their steps.
_FREE = 0.1
_ROUNDING = 1e-6
# The largest mean weight of a row, in units of the regularisation, at which damped steps converge in small leaves.
_HEAVIEST = 30.0
# Where noise puts the mean of all rows outside of the range, clip the intercept to [0.001, 0.999].
_EDGE = 1e-3


def total_weight(labelled: Array | None, kl_weights: Sequence[Any]) -> Any:
    """Return m + sum_k a_k in float32, one number or one per row."""
    # In float64, so that weights that are equal in all rows give the result of one number.
    return single(sum(kl_weights, 1.0 if labelled is None else labelled.astype(np.float64)))


def weighted_mean(target: Array, weight: Array | None) -> Array:
    """Return the mean of the targets of all workers, one value or one per class; call it on every worker."""
    if weight is None:
        total, rows = target.sum(axis=0, dtype=np.float64), float(len(target))
    else:
        exact = weight.astype(np.float64)
        total, rows = exact @ target, float(exact.sum())
    sums = global_sum(np.append(np.atleast_1d(to_host(total)), rows))
    if sums[-1] <= 0:
        raise ValueError("the weights of dtrain sum to 0: give at least one row a positive weight")
    return np.reshape(sums[:-1] / sums[-1], target.shape[1:])


def hessian_share(total: Any, adaptive: Any, eta: float, *, damped: bool) -> Any:
    """Return the factor of the Hessian, one number or one per row; 1 is the paper's Hessian.

    ``total`` is the total weight of a row, ``adaptive`` that of its adaptive teachers.
    """
    xp = array_module(total)
    resting = total - adaptive
    counted = _counted(total, resting, eta) if damped else xp.maximum(resting, eta * total)
    share = counted / xp.where(total > 0, total, 1)
    # Without adaptive weight the share is 1 but for rounding.
    return xp.clip(share, 0, 1).astype(np.float32)


def damped_step(mean: Any, q: Any, total: Any, adaptive: Any, eta: float, averaged: Any) -> tuple[Any, Any]:
    """Return the damped q of an adaptive teacher, and the mean of p - q, which was ``averaged`` before this round.

    Of F, up to 0.7 r / eta applies to p - q itself, so that a round closes 0.7 of a gap where trees separate exactly
    what the teacher compares. The rest, L, weighs the mean of p - q. That mean moves by 1 / (1 + eta L / (0.1 r)) of
    the way in a round, so that its weight grows by what closes 0.1 of the gap, whatever L is.
    """
    xp = array_module(mean)
    total, adaptive = xp.asarray(total), xp.asarray(adaptive)
    counted = _counted(total, total - adaptive, eta)
    at_once = counted * (_AT_ONCE / max(eta, _ROUNDING))
    beyond = adaptive > at_once
    later = xp.where(beyond, adaptive - at_once, 0.0)
    pace = 1 / (1 + eta * later / (_LATER * xp.where(beyond, counted, 1.0)))
    part = later / xp.where(beyond, adaptive, 1.0)
    if mean.ndim == 2 and np.ndim(part) == 1:
        pace, part = pace[:, None], part[:, None]
    difference = mean - q
    averaged = pace * difference if averaged is None else averaged + pace * (difference - averaged)
    return xp.where(part > 0, mean - difference + part * (difference - averaged), q).astype(np.float32), averaged


def _counted(total: Any, resting: Any, eta: float) -> Any:
    """Return the weight in damped steps: the fixed weight; without any that of Newton's steps, up to a small weight."""
    xp = array_module(total)
    return xp.where(resting > _ROUNDING * total, resting, xp.minimum(min(max(eta, _ROUNDING), 1) * total, _FREE))


def single(values: Any) -> Any:
    """Return a number or an array in float32."""
    return values.astype(np.float32) if np.ndim(values) else np.float32(values)


class Distillation:
    """The student's objective: the loss of its labels plus the weighted divergence from its teachers.

    Teachers live in host memory; label, weights and target on the device of the training.
    """

    def __init__(self, training: Training) -> None:
        self.training, self.loss = training, training.spec.loss
        self._xp = xp = module_for(training.spec.device)
        label, weight, labelled = (moved_to(xp, a) for a in (training.label, training.weight, training.labelled))
        weights = [moved_to(xp, guide.weight) for guide in training.guides]
        self._has_columns = self.loss.multiclass or label.ndim == 2
        self.total = total_weight(labelled, weights)
        """m + sum_k a_k, one number or one per row."""
        self.factor = self.total if weight is None else self.total * weight
        """The weight of each row in the gradient."""
        self._weights = [self._per_mean(single(kl_weight)) for kl_weight in weights]
        self._known = self.loss.one_hot(label, moved_to(xp, training.like))
        if labelled is not None:
            self._known *= self._per_mean(labelled.astype(np.float32))
        # The Hessian counts less than the full weight of these.
        self._moving = [guide.teacher.is_adaptive and guide.teacher.hessian != "full" for guide in training.guides]
        moving = [kl_weight for kl_weight, moves in zip(weights, self._moving, strict=True) if moves]
        self._moving_weight = sum(moving) if moving else None
        self._fixed: Array | None = None
        """The target, where no teacher changes it."""
        self._averages: dict[int, Array] | None = None
        self.is_adaptive = any(guide.teacher.is_adaptive for guide in training.guides)
        if not self.is_adaptive:
            self._fixed = self.target(training.like)

    def take_steps(self, settings: Mapping[str, Any], averages: dict[int, Array] | None) -> None:
        """Step as a booster of these settings; call it on every worker.

        ``averages`` is the mean of p - q of each teacher over the rounds of a training, which damped steps require.
        Steps are damped if all adaptive teachers ask for it, and they converge. They do not where unbounded means are
        exponentials of the margin, whose steps are longer than the Hessian implies, nor where rows are too heavy for
        the regularisation of small leaves.
        """
        (self._eta, regularisation), self._averages = steps_of(settings), None
        moving = [guide.teacher for guide, moves in zip(self.training.guides, self._moving, strict=True) if moves]
        asks = bool(moving) and all(teacher.hessian == "damped" for teacher in moving)
        if averages is None or not asks or self.loss.has_exposure:
            return
        n_rows, weight = self.training.n_rows, self.training.weight
        weights, rows = global_sum(np.array([n_rows if weight is None else float(weight.sum()), n_rows], np.float64))
        if weights / rows <= _HEAVIEST * regularisation:
            self._averages = averages

    def start(self, student: Student | None) -> None:
        """Tell the teachers that a training of this student begins."""
        training = self.training.replace(student=student)
        for guide in training.guides:
            guide.teacher.start(training)

    def gradient(self, margin: Array, dtrain: Any = None) -> tuple[Array, Array]:
        """Gradient and Hessian at these margins; XGBoost also passes the matrix."""
        mean = self.loss.mean(self._xp.asarray(margin))
        grad, hess = self.loss.gradient(mean, self.target(mean), self.factor)
        if self._moving_weight is not None:
            is_damped = self._averages is not None
            share = hessian_share(self.total, self._moving_weight, self._eta, damped=is_damped)
            hess *= self._per_mean(share)
        return grad, hess

    def target(self, mean: Array) -> Array:
        """Return the blended target of each row, given its current ``mean``."""
        if self._fixed is not None:
            return self._fixed
        is_on_device = all(guide.teacher.about.on_device for guide in self.training.guides)
        shown = mean if is_on_device else read_only(to_host(mean))
        answers = [self._xp.asarray(answer(guide, self.training, shown)) for guide in self.training.guides]
        if self._averages is not None:
            for number in np.flatnonzero(self._moving).tolist():
                before, q = self._averages.get(number), answers[number]
                q, self._averages[number] = damped_step(mean, q, self.total, self._moving_weight, self._eta, before)
                answers[number] = self._xp.clip(q, self.loss.range.low, self.loss.range.high)
        return self.blended(answers)

    def blended(self, answers: Sequence[Array]) -> Array:
        """Return the blended target of label and teachers' q, in a fresh array."""
        xp, target, total = self._xp, self._known.copy(), self._per_mean(self.total)
        for q, kl_weight in zip(answers, self._weights, strict=True):
            term = kl_weight * q
            # In rows where its weight is 0 a teacher's q may be anything, NaN included.
            target += term if np.ndim(kl_weight) == 0 else xp.where(kl_weight > 0, term, np.float32(0))
        if np.ndim(total) == 0:
            target /= total
            return target
        target /= xp.where(total > 0, total, np.float32(1))
        return xp.where(total > 0, target, np.float32(max(self.loss.range.low, 0)))  # a valid label everywhere

    @property
    def row_factor(self) -> Array:
        """The factor as one value per row, also where all are equal."""
        return self.factor * self._xp.ones(self.training.n_rows, np.float32)

    def _per_mean(self, values: Any) -> Any:
        """Return values per row in a shape that broadcasts over several classes or targets."""
        return values[:, None] if self._has_columns and np.ndim(values) == 1 else values

    def params(self, *, continues: bool = False) -> dict[str, Any]:
        """Return the student's params, with an intercept where XGBoost would have estimated one."""
        own = self.training.spec.params
        # A base_margin takes the place of the intercept in training only: XGBoost estimates one all the same.
        return own if continues or "base_score" in own else {**own, "base_score": self.base_score()}

    def base_score(self) -> Any:
        """The ``base_score`` that XGBoost would estimate for the blended target: its weighted mean.

        Adaptive teachers are left out: they start at the student's predictions, where their terms cancel.
        """
        training = self.training
        if self._fixed is None:
            guides = tuple(guide for guide in training.guides if not guide.teacher.is_adaptive)
            on_host = dataclasses.replace(training.spec, device="cpu")
            return Distillation(training.replace(spec=on_host, guides=guides)).base_score()
        weight = moved_to(self._xp, training.weight) if training.is_uniform else self.row_factor
        mean = weighted_mean(self._fixed, weight)
        if any(guide.teacher.about.is_noisy for guide in training.guides):
            mean = np.clip(mean, self.loss.range.low + _EDGE, self.loss.range.high - _EDGE)
        return self.loss.estimated_base_score(mean, training.spec.scale_pos_weight)


def answer(guide: Guide, training: Training, mean: Array) -> Array:
    """Return the q of a teacher, checked where its weight is positive, since XGBoost does not check gradients."""
    about, loss = guide.teacher.about, training.spec.loss
    name = "teacher" if about.kind == "array" else type(guide.teacher).__name__
    q = guide.teacher.q(mean, training.teacher_label, training.weight)
    if not hasattr(q, "__cuda_array_interface__"):
        check_no_mask(q, f"the q of {name}")
        q = np.asarray(q)
    if q.shape != mean.shape:
        remedy = "compute it for the training rows, in their order (in xgboost.cv: use pi_xgb.cv)"
        if q.ndim == 2 and mean.ndim == 1 and len(q) == len(mean):
            of_classes = "take the column of the positive class, q[:, 1]"
            remedy = of_classes if loss.probabilities else "give dtrain a label with as many columns"
        raise ValueError(f"the q of {name} has shape {q.shape}, but must have shape {mean.shape}: {remedy}")
    if about.on_device:  # of the library's own, whose means lie inside: a check would wait for the device every round
        return q
    if about.is_noisy and (loss.has_exposure or not loss.has_gradient):  # the Hessian would contain the noise
        raise ValueError(f"{loss.objective} does not support the noisy q of {name}: use binary:logistic")
    within = NUMBERS if about.is_noisy else loss.range
    within.check(q if np.ndim(guide.weight) == 0 else q[guide.weight > 0], f"the q of {name}", slack=1e-6)
    return q

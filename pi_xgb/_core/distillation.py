"""The gradient and the intercept of a training: the blend of its labels with the answers of its teachers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays import Array, array_module, module_for, moved_to, read_only, to_host
from .._rows.checks import check_no_mask
from .._xgb.collective import global_sum
from .._xgb.params import steps_of
from .blend import damped_step, hessian_share, single, total_weight, weighted_mean
from .losses import AMOUNTS, NUMBERS, POSITIVE
from .training import Guide, Student, Training

# The largest mean weight of a row, in units of the regularisation, at which damped steps converge in small leaves.
_HEAVIEST = 30.0
# Where noise puts the mean of all rows outside of the range, clip the intercept to [0.001, 0.999].
_EDGE = 1e-3


class Blend:
    """Target and factor of the rows of a training, for teachers of these weights, on one device."""

    def __init__(self, training: Training, kl_weights: Sequence[Any], xp: Any) -> None:
        loss, labelled = training.spec.loss, moved_to(xp, training.labelled)
        label, weight = moved_to(xp, training.label), moved_to(xp, training.weight)
        self._has_columns = loss.multiclass or label.ndim == 2
        weights = [moved_to(xp, kl_weight) for kl_weight in kl_weights]
        self.total = total_weight(labelled, weights)
        """m + sum_k a_k, one number or one per row."""
        self.factor = self.total if weight is None else self.total * weight
        """The weight of each row in the gradient."""
        self._total, self._stand_in = self._per_mean(self.total), loss.stand_in
        self._weights = [self._per_mean(single(kl_weight)) for kl_weight in weights]
        self._known = loss.one_hot(label, moved_to(xp, training.like))
        if labelled is not None:
            self._known *= self._per_mean(labelled.astype(np.float32))

    @property
    def row_factor(self) -> Array:
        """The factor as one value per row, also where all are equal."""
        column = self._known[:, 0] if self._known.ndim == 2 else self._known
        return self.factor * array_module(column).ones_like(column)

    def target(self, answers: Sequence[Array]) -> Array:
        """Return the blended target of label and teachers' q, in a fresh array."""
        xp, target, total = array_module(self._known), self._known.copy(), self._total
        for q, kl_weight in zip(answers, self._weights, strict=True):
            term = kl_weight * q
            # In rows where its weight is 0 a teacher's q may be anything, NaN included.
            target += term if np.ndim(kl_weight) == 0 else xp.where(kl_weight > 0, term, np.float32(0))
        if np.ndim(total) == 0:
            target /= total
            return target
        target /= xp.where(total > 0, total, np.float32(1))
        return xp.where(total == 0, np.float32(self._stand_in), target) if self._stand_in else target

    def _per_mean(self, values: Any) -> Any:
        """Return values per row in a shape that broadcasts over several classes or targets."""
        return values[:, None] if self._has_columns and np.ndim(values) == 1 else values


class Distillation:
    """The student's objective: the loss of its labels plus the weighted divergence from its teachers.

    Teachers live in host memory; label, weights and target on the device of the training.
    """

    def __init__(self, training: Training) -> None:
        self.training, self.loss = training, training.spec.loss
        self.is_adaptive = any(guide.teacher.is_adaptive for guide in training.guides)
        self._xp = module_for(training.spec.device)
        self.blend = Blend(training, [guide.weight for guide in training.guides], self._xp)
        self._fixed: Array | None = None
        """The target, where no teacher changes it."""
        if not self.is_adaptive:
            self._fixed = self.target(training.like)
        # The Hessian counts less than the full weight of these.
        self._moving = [guide.teacher.is_adaptive and guide.teacher.hessian != "full" for guide in training.guides]
        weights = [guide.weight for guide, moves in zip(training.guides, self._moving, strict=True) if moves]
        self._moving_weight = moved_to(self._xp, sum(weights)) if weights else None
        self._averages: dict[int, Array] | None = None
        self.take_steps({}, None)

    def take_steps(self, settings: Mapping[str, Any], averages: dict[int, Array] | None) -> None:
        """Step as a booster of these settings; call it on every worker.

        ``averages`` is the mean of p - q of each teacher over the rounds of a training, which damped steps require.
        Steps are damped if all adaptive teachers ask for it, and they converge. They do not where unbounded means are
        exponentials of the margin, whose steps are longer than the Hessian implies, nor where rows are too heavy for
        the regularisation of small leaves.
        """
        (self._eta, regularisation), self._averages = steps_of(settings), averages
        moving = [guide.teacher for guide, moves in zip(self.training.guides, self._moving, strict=True) if moves]
        if averages is None or not moving or any(teacher.hessian != "damped" for teacher in moving):
            self._averages = None
            return
        n_rows, weight = self.training.n_rows, self.training.weight
        weights, rows = global_sum(np.array([n_rows if weight is None else float(weight.sum()), n_rows], np.float64))
        is_heavy = weights / max(rows, 1) > _HEAVIEST * regularisation
        if is_heavy or self.loss.range in (AMOUNTS, POSITIVE):
            self._averages = None

    def start(self, student: Student | None) -> None:
        """Tell the teachers that a training of this student begins."""
        training = self.training.replace(student=student)
        for guide in training.guides:
            guide.teacher.start(training)

    def gradient(self, margin: Array, dtrain: Any = None) -> tuple[Array, Array]:
        """Gradient and Hessian at these margins; XGBoost also passes the matrix."""
        mean = self.loss.mean(self._xp.asarray(margin))
        grad, hess = self.loss.gradient(mean, self.target(mean), self.blend.factor)
        if self._moving_weight is not None:
            is_damped = self._averages is not None
            share = hessian_share(self.blend.total, self._moving_weight, self._eta, damped=is_damped)
            hess *= share[:, None] if hess.ndim == 2 and np.ndim(share) == 1 else share
        return grad, hess

    def target(self, mean: Array) -> Array:
        """Return the blended target of each row, given its current ``mean``."""
        if self._fixed is not None:
            return self._fixed
        if all(guide.teacher.about.on_device for guide in self.training.guides):
            shown = mean
        else:
            shown = read_only(to_host(mean))
        answers = [self._xp.asarray(answer(guide, self.training, shown)) for guide in self.training.guides]
        if self.is_adaptive and self._averages is not None:
            for number in np.flatnonzero(self._moving).tolist():
                before, total = self._averages.get(number), self.blend.total
                q, self._averages[number] = damped_step(
                    mean, answers[number], total, self._moving_weight, self._eta, before
                )
                answers[number] = self._xp.clip(q, self.loss.range.low, self.loss.range.high)
        return self.blend.target(answers)

    def params(self, *, continues: bool = False) -> dict[str, Any]:
        """Return the student's params, with an intercept where XGBoost would have estimated one."""
        chosen = dict(self.training.spec.params)
        # A base_margin takes the place of the intercept in training only: XGBoost estimates one all the same.
        if not ("base_score" in chosen or continues):
            chosen["base_score"] = self.base_score()
        return chosen

    def base_score(self) -> Any:
        """The ``base_score`` that XGBoost would estimate for the blended target: its weighted mean.

        Adaptive teachers are left out: they start at the student's predictions, where their terms cancel.
        """
        training = self.training
        if self._fixed is None:
            guides = tuple(guide for guide in training.guides if not guide.teacher.is_adaptive)
            on_host = dataclasses.replace(training.spec, device="cpu")
            return Distillation(training.replace(spec=on_host, guides=guides)).base_score()
        weight = moved_to(self._xp, training.weight) if training.is_uniform else self.blend.row_factor
        mean = weighted_mean(self._fixed, weight)
        if any(guide.teacher.about.is_noisy for guide in training.guides) and self.loss.range != NUMBERS:
            mean = np.clip(mean, self.loss.range.low + _EDGE, self.loss.range.high - _EDGE)
        return self.loss.estimated_base_score(mean, training.spec.scale_pos_weight)


def answer(guide: Guide, training: Training, mean: Array) -> Array:
    """Return the q of a teacher, checked where its weight is positive, since XGBoost does not check gradients."""
    about, name, loss = guide.teacher.about, type(guide.teacher).__name__, training.spec.loss
    q = guide.teacher.q(mean, training.teacher_label, training.weight)
    if not hasattr(q, "__cuda_array_interface__"):
        check_no_mask(q, f"the q of {name}")
        q = np.asarray(q)
    if q.shape != mean.shape:
        remedy = "compute it for the training rows, in their order (in xgboost.cv: use pi_xgb.cv)"
        if q.ndim == 2 and mean.ndim == 1 and len(q) == len(mean):
            remedy = "take the column of the positive class, q[:, 1]"
        raise ValueError(f"the q of {name} has shape {q.shape}, but must have shape {mean.shape}: {remedy}")
    if about.within == loss.range:  # then its values were checked when it was made
        return q
    if about.is_noisy and not loss.takes_noise:
        raise ValueError(
            f"{loss.objective} does not support the noisy q of {name}: use binary:logistic or reg:squarederror"
        )
    within = NUMBERS if about.is_noisy else loss.range
    within.check(q if np.ndim(guide.weight) == 0 else q[guide.weight > 0], f"the q of {name}", slack=1e-6)
    return q

"""The gradient and the intercept of a training: the blend of its labels with the answers of its teachers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays import Array, array_module, module_for, moved_to, read_only, to_host
from .._rows.checks import check_no_mask
from .._xgb.collective import global_sum
from .._xgb.params import regularisation_of, step_of
from .blend import blended, damped_step, hessian_share, single, total_weight, weighted_mean
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
        return blended(self._known.copy(), answers, self._weights, self._total, self._stand_in)

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
            self._fixed = self.blend.target([self._answer(guide, training.like) for guide in training.guides])
        self.averages: dict[int, Array] | None = {}
        """The mean of p - q of each teacher over the rounds of a training; None outside of a training."""
        self.eta, self.regularisation = step_of({}), 1.0
        moving = [moved_to(self._xp, guide.weight) for guide in training.guides if guide.moves_freely]
        self._moving_weight: Any = sum(moving) if moving else None
        self._is_damped: bool | None = None

    def use_steps_of(self, *settings: Mapping[str, Any]) -> None:
        """Set learning rate and regularisation from params, or from the settings of a booster."""
        self.eta, self.regularisation = step_of(*settings), regularisation_of(*settings)

    def start(self, student: Student | None) -> None:
        """Begin a training of this student."""
        self.averages = {}
        training = self.training.replace(student=student)
        for guide in training.guides:
            guide.teacher.start(training)

    def gradient(self, margin: Array) -> tuple[Array, Array]:
        """Gradient and Hessian at these margins."""
        mean = self.loss.mean(self._xp.asarray(margin))
        grad, hess = self.loss.gradient(mean, self.target(mean), self.blend.factor)
        if self._moving_weight is not None:
            share = hessian_share(self.blend.total, self._moving_weight, self.eta, damped=self._damps)
            hess *= share[:, None] if hess.ndim == 2 and np.ndim(share) == 1 else share
        return grad, hess

    def objective(self, margin: Array, dtrain: Any) -> tuple[Array, Array]:
        """The gradient as XGBoost calls it."""
        return self.gradient(margin)

    def target(self, mean: Array) -> Array:
        """Return the blended target of each row, given its current ``mean``."""
        if self._fixed is not None:
            return self._fixed
        shown = read_only(to_host(mean))
        answers = [self._answer(guide, shown) for guide in self.training.guides]
        if self._damps:
            answers = [self._damped(number, mean, q) for number, q in enumerate(answers)]
        return self.blend.target(answers)

    def _answer(self, guide: Guide, mean: Array) -> Array:
        return self._xp.asarray(answer(guide, self.training, mean))

    @property
    def _damps(self) -> bool:
        """Whether steps are damped: all adaptive teachers ask for it, and steps converge; call it on every worker.

        They do not where unbounded means are exponentials of the margin, whose steps are longer than the Hessian
        implies, nor where rows are too heavy for the regularisation of small leaves.
        """
        # Cached by hand: up to Python 3.11 functools.cached_property holds a lock while it computes, which would
        # deadlock workers that are threads of one process.
        if self._is_damped is None:
            moving = [guide.teacher for guide in self.training.guides if guide.moves_freely]
            self._is_damped = bool(moving) and all(teacher.hessian == "damped" for teacher in moving)
            if self._is_damped:
                n_rows, weight = self.training.n_rows, self.training.weight
                sums = np.array([n_rows if weight is None else float(weight.sum()), n_rows], np.float64)
                weights, rows = global_sum(sums)
                is_light = weights / max(rows, 1) <= _HEAVIEST * self.regularisation
                self._is_damped = is_light and self.loss.range not in (AMOUNTS, POSITIVE)
        return self._is_damped and self.averages is not None

    def _damped(self, number: int, mean: Array, q: Array) -> Array:
        if self.averages is None or not self.training.guides[number].moves_freely:
            return q
        before = self.averages.get(number)
        damped, self.averages[number] = damped_step(mean, q, self.blend.total, self._moving_weight, self.eta, before)
        return self._xp.clip(damped, self.loss.range.low, self.loss.range.high)

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
        guides = tuple(guide for guide in self.training.guides if not guide.teacher.is_adaptive)
        fixed = self.training.replace(guides=guides)
        if self._fixed is not None and self._xp is np:
            blend, target = self.blend, self._fixed
        else:
            blend = Blend(fixed, [guide.weight for guide in guides], np)
            target = blend.target([answer(guide, fixed, fixed.like) for guide in guides])
        mean = weighted_mean(target, fixed.weight if fixed.is_uniform else blend.row_factor)
        if any(guide.teacher.about.is_noisy for guide in guides) and self.loss.range != NUMBERS:
            mean = np.clip(mean, self.loss.range.low + _EDGE, self.loss.range.high - _EDGE)
        return self.training.spec.base_score_at(mean)


def answer(guide: Guide, training: Training, mean: Array) -> Array:
    """Return the q of a teacher, checked where its weight is positive, since XGBoost does not check gradients."""
    about, name, loss = guide.teacher.about, type(guide.teacher).__name__, training.spec.loss
    q = guide.teacher.q(mean, training.teacher_label, training.weight)
    if about.within == loss.range:  # then its values were checked when it was made
        check_shape(q, mean, name)
        return q
    if about.is_noisy and not loss.takes_noise:
        raise ValueError(
            f"{loss.objective} does not support the noisy q of {name}: use binary:logistic or reg:squarederror"
        )
    check_no_mask(q, f"the q of {name}")
    q = q if hasattr(q, "__cuda_array_interface__") else np.asarray(q)
    check_shape(q, mean, name)
    values = q if np.ndim(guide.weight) == 0 else q[guide.weight > 0]
    if values.size:
        within = NUMBERS if about.is_noisy else loss.range
        low, high = float(values.min()), float(values.max())
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ValueError(f"the q of {name} must be finite, got NaN or infinite values: return finite values")
        if not within.holds(low, high, slack=1e-6):
            raise ValueError(f"the q of {name} must {within.must}, got values from {low} to {high}: {within.advice}")
    return q


def check_shape(q: Array, mean: Array, name: str) -> None:
    """Raise unless there is one q for each prediction."""
    if q.shape == mean.shape:
        return
    remedy = "compute it for the training rows, in their order (in xgboost.cv: use pi_xgb.cv)"
    if q.ndim == 2 and mean.ndim == 1 and len(q) == len(mean):
        remedy = "take the column of the positive class, q[:, 1]"
    raise ValueError(f"the q of {name} has shape {q.shape}, but must have shape {mean.shape}: {remedy}")

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

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from .._arrays import Array, array_module, to_host
from .._xgb.collective import global_sum

Hessian = Literal["adaptive", "full", "damped"]
HESSIANS = get_args(Hessian)
"""The Hessians of an adaptive teacher: the bound above, the paper's, or the labels' at every weight."""
# Damped steps: 70 % of a gap is closed at once, 10 % per round by the running mean. They converge even if trees move
# 2.7 times what the Hessian implies; with shares that sum to 2 only up to 1.3 times.
_AT_ONCE, _LATER = 0.7, 0.1
# Hessian weight where only adaptive teachers act: small, so that labels keep their steps.
_FREE = 0.1
_ROUNDING = 1e-6


def total_weight(labelled: Array | None, kl_weights: Sequence[Any]) -> Any:
    """Return m + sum_k a_k in float32, one number or one per row."""
    # In float64, so that weights that are equal in all rows give the result of one number.
    total: Any = 1.0 if labelled is None else labelled.astype(np.float64)
    for kl_weight in kl_weights:
        total = total + kl_weight
    return single(total)


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
    mean = sums[:-1] / sums[-1]
    return mean if target.ndim == 2 else mean[0]


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

"""The step: how much of the weight of adaptive teachers belongs in the Hessian.

q of an adaptive teacher moves with p. So a (p - q) curves less in p than with a fixed q: not at all where a tree moves
all predictions alike, and by a where it moves exactly what the teacher compares. The paper's Hessian counts all of a,
which divides steps by 1 + a. Counting none of it makes steps of size eta (1 + a) in the second case, and steps of 2
and more never converge. Let r be the weight of labels and fixed teachers in a row, and F that of adaptive teachers.
There are two remedies.

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

from .._arrays import array_module
from .losses import AMOUNTS, POSITIVE, Loss

Hessian = Literal["adaptive", "full", "damped"]
HESSIANS = get_args(Hessian)
"""The Hessians of an adaptive teacher: the bound above, the paper's, or the labels' at every weight."""
# Damped steps: the share of a gap that the immediate part closes in a round, and the mean in its first round. They
# converge even if trees move 2.7 times what the Hessian implies; with shares that sum to 2 only up to 1.3 times.
_AT_ONCE, _LATER = 0.7, 0.1
# The weight in damped steps of a row without label or fixed teacher: small, so that labels keep their steps.
_FREE = 0.1
# The largest mean weight of a row, in units of the regularisation, at which damped steps converge in small leaves.
_HEAVIEST = 30.0
_ROUNDING = 1e-6


def hessian_share(total: Any, following: Sequence[Any], eta: float, *, damped: bool) -> Any:
    """Return the factor of the Hessian, one number or one per row; 1 is the paper's Hessian.

    ``total`` is the total weight of a row, ``following`` that of each adaptive teacher.
    """
    if not following:
        return np.float32(1)
    xp = array_module(total)
    resting: Any = total - sum(following)
    counted = _counted(total, resting, eta) if damped else xp.maximum(resting, eta * total)
    share = counted / xp.where(total > 0, total, 1)
    # Without adaptive weight the share is 1 but for rounding.
    return xp.clip(share, 0, 1).astype(np.float32)


def _counted(total: Any, resting: Any, eta: float) -> Any:
    """Return the weight in damped steps: the fixed weight; without any that of Newton's steps, up to a small weight."""
    xp = array_module(total)
    return xp.where(resting > _ROUNDING * total, resting, xp.minimum(min(max(eta, _ROUNDING), 1) * total, _FREE))


def supports_damping(loss: Loss, regularisation: float, mean_weight: float) -> bool:
    """Return whether damped steps converge.

    They do not where unbounded means are exponentials of the margin, whose steps are longer than the Hessian implies,
    nor where rows are too heavy for the regularisation of small leaves.
    """
    return loss.range not in (AMOUNTS, POSITIVE) and mean_weight <= _HEAVIEST * regularisation


class DampedTarget:
    """The q of adaptive teachers, damped so that steps by the Hessian of the labels converge at any weight.

    Of F, up to 0.7 r / eta applies to p - q itself, so that a round closes 0.7 of a gap where trees separate exactly
    what the teacher compares. The rest, L, weighs the mean of p - q. That mean moves by 1 / (1 + eta L / (0.1 r)) of
    the way in a round, so that its weight grows by what closes 0.1 of the gap, whatever L is.
    """

    def __init__(self, total: Any, following: Sequence[Any]) -> None:
        self._total, self._following = total, sum(following)

    def update(self, mean: Any, q: Any, eta: float, averaged: Any) -> tuple[Any, Any]:
        """Return the damped q, and the mean of p - q, which was ``averaged`` before this round."""
        xp = array_module(mean)
        total, following = xp.asarray(self._total), xp.asarray(self._following)
        counted = _counted(total, total - following, eta)
        at_once = counted * (_AT_ONCE / max(eta, _ROUNDING))
        beyond = following > at_once
        later = xp.where(beyond, following - at_once, 0.0)
        pace = 1 / (1 + eta * later / (_LATER * xp.where(beyond, counted, 1.0)))
        part = later / xp.where(beyond, following, 1.0)
        if mean.ndim == 2 and np.ndim(part) == 1:
            pace, part = pace[:, None], part[:, None]
        difference = mean - q
        averaged = pace * difference if averaged is None else averaged + pace * (difference - averaged)
        return xp.where(part > 0, mean - difference + part * (difference - averaged), q).astype(np.float32), averaged

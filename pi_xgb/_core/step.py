"""The step: how much of the weight of adaptive teachers, those that follow the student, belongs in the Hessian.

q of such a teacher moves along with p. So a (p - q) curves less in p than a q at rest would let it: not at all where a
tree moves all predictions alike, and by a where it moves just what the teacher compares. The paper's Hessian counts all
of a: a step is then 1 / (1 + a) of what it was. Counting nothing of it makes a step of size eta (1 + a) in the second
case, and steps of 2 and more never settle. With r what labels and fixed teachers weigh in a row, and F what the
following ones do, there are two ways out.

"adaptive" counts max(r, eta (r + F)) instead of r + F: r alone up to F = r (1 / eta - 1), 9 at eta 0.1, and from there
on what closes in one round all of what a tree can move. There the labels teach by short steps as well: the heavier the
constraint, the more rounds a model needs.

"damped" counts r at every weight. What is compared is then steered by two terms: a part of a (p - q) follows p at once,
so much that a round closes most of a gap, and the rest weighs the mean of p - q over the rounds, the more of them the
heavier it is. That ends where the paper's gradient does, in as many rounds as the labels need, if what p - q differs in
is few against the rows: groups. Where it differs from row to row each round brings new differences, which a mean over
rounds cannot know, and "adaptive" comes closer to what was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from .._arrays import array_module
from .losses import AMOUNTS, POSITIVE, Loss

Hessian = Literal["adaptive", "full", "damped"]
HESSIANS = get_args(Hessian)
"""What an adaptive teacher may ask for: the above bound, what the paper counts, or the labels at every weight."""
# Damped steps: how much of a gap the part that follows at once closes in a round, and the mean in its first. They would
# still settle if trees moved 2.7 times what the Hessian says; where the two sum to 2 they hardly bear 1.3 times.
_AT_ONCE, _LATER = 0.7, 0.1
# How damped steps count a row in which adaptive teachers alone weigh: little, so that labels keep their steps.
_FREE = 0.1
# How many times its regularisation a row may weigh on average, for damped steps to settle in leaves of few rows.
_HEAVIEST = 30.0
_ROUNDING = 1e-6


def hessian_share(total: Any, following: Sequence[Any], eta: float, *, damped: bool) -> Any:
    """By what the Hessian of each row is multiplied; a number or one per row, 1 where the paper's stays.

    ``total`` is what counts in a row, ``following`` what each adaptive teacher weighs in it.
    """
    if not following:
        return np.float32(1)
    xp = array_module(total)
    resting: Any = total - sum(following)
    counted = _counted(total, resting, eta) if damped else xp.maximum(resting, eta * total)
    share = counted / xp.where(total > 0, total, 1)
    # What does not follow may be all there is but for rounding.
    return xp.clip(share, 0, 1).astype(np.float32)


def _counted(total: Any, resting: Any, eta: float) -> Any:
    """What damped steps count in the Hessian: what rests; elsewhere Newton's steps, up to a small weight."""
    xp = array_module(total)
    return xp.where(resting > _ROUNDING * total, resting, xp.minimum(min(max(eta, _ROUNDING), 1) * total, _FREE))


def supports_damping(loss: Loss, regularisation: float, mean_weight: float) -> bool:
    """Whether damped steps settle: not where a mean without an upper bound is reached by exponentials of the margin,
    whose steps are longer than the Hessian says, nor in rows too heavy for what keeps leaves of few rows small."""
    return loss.range not in (AMOUNTS, POSITIVE) and mean_weight <= _HEAVIEST * regularisation


class DampedTarget:
    """The q of adaptive teachers, damped so that steps by the Hessian of the labels settle at any weight.

    Of F up to 0.7 r / eta follows p - q as it is, so that where trees tell apart just what the teacher compares a round
    closes 0.7 of it. The rest, L, weighs the mean of p - q, which moves by 1 / (1 + eta L / (0.1 r)) of the way in a
    round, so that its weight grows by what closes 0.1 of the gap, whatever L is.
    """

    def __init__(self, total: Any, following: Sequence[Any]) -> None:
        self._total, self._following = total, sum(following)

    def update(self, mean: Any, q: Any, eta: float, averaged: Any) -> tuple[Any, Any]:
        """The damped q, and the mean of p - q, which was ``averaged`` before this round."""
        xp = array_module(mean)
        counted = _counted(self._total, self._total - self._following, eta)
        at_once = counted * (_AT_ONCE / max(eta, _ROUNDING))
        beyond = self._following > at_once
        later = xp.where(beyond, self._following - at_once, 0.0)
        pace = 1 / (1 + eta * later / (_LATER * xp.where(beyond, counted, 1.0)))
        part = later / xp.where(beyond, self._following, 1.0)
        if mean.ndim == 2 and np.ndim(part) == 1:
            pace, part = pace[:, None], part[:, None]
        difference = mean - q
        averaged = pace * difference if averaged is None else averaged + pace * (difference - averaged)
        return xp.where(part > 0, mean - difference + part * (difference - averaged), q).astype(np.float32), averaged

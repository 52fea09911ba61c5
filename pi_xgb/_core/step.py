"""The step: how much of what teachers that follow the student weigh belongs in the Hessian.

q of such a teacher moves along with p. So a (p - q) curves less in p than a q at rest would let it: not at all where a
tree moves all predictions alike, and by a where it moves just what the teacher compares. The paper's Hessian counts all
of a: a step is then 1 / (1 + a) of what it was. Counting nothing of it makes a step of size eta (1 + a) in the second
case, and steps of 2 and more never settle. With r what labels and fixed teachers weigh in a row, and F what the
following ones do, the Hessian counts

    max(r, eta (r + F) / 2)        instead of  r + F

which is r alone up to F = r (2 / eta - 1), 19 at eta 0.1, and from there on the least that is stable for any data.

There the labels teach by short steps as well: the heavier the constraint, the more rounds a model needs. Where it
should not ("steady"), the Hessian counts r at every weight, and of a (p - q) no more follows p at once than such a step
can bear, half of the bound above. The rest of a weighs the mean of p - q over the rounds before, the more of them the
heavier it is. That settles where the paper's gradient does, in as many rounds as the labels need.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from .._arrays import array_module

Hessian = Literal["follow", "paper", "steady"]
HESSIANS = get_args(Hessian)
"""What a teacher that follows may say: the above, what the paper counts, or the labels at every weight."""
_LARGEST_STEP = 2.0
_ROUNDING = 1e-6


def hessian_share(total: Any, following: Sequence[Any], eta: float, *, steady: bool = False) -> Any:
    """By what the Hessian of each row is multiplied; a number or one per row, 1 where the paper's stays.

    ``total`` is what counts in a row, ``following`` what each of those teachers weighs that follow the student in it.
    """
    if not following:
        return np.float32(1)
    xp = array_module(total)
    resting: Any = total - sum(following)
    if steady:
        # Where nothing rests there is nothing to learn but the constraint, in Newton's steps.
        counted = xp.where(resting > _ROUNDING * total, resting, xp.minimum(eta, 1) * total)
    else:
        counted = xp.maximum(resting, eta / _LARGEST_STEP * total)
    share = counted / xp.where(total > 0, total, 1)
    # What does not follow may be all there is but for rounding.
    return xp.clip(share, 0, 1).astype(np.float32)


class SteadyPull:
    """What one teacher that follows asks for, so that steps by the Hessian of the labels settle at any weight.

    With B = r (2 / eta - 1) the bound up to which they do anyway, F beyond it is B / 2 of p - q as it is and F - B / 2
    of its mean over the rounds. A round moves the mean by 1 / (1 + eta (F - B / 2) / r). Where trees tell apart just
    what the teacher compares, fast and slow part together then close the gap in one round; elsewhere it takes longer.
    """

    def __init__(self, total: Any, following: Sequence[Any]) -> None:
        xp = array_module(total)
        self._following: Any = sum(following)
        resting = total - self._following
        self._resting = xp.where(resting > _ROUNDING * total, resting, 0.0)
        self._mean: Any = None

    def restart(self) -> None:
        """Forget the rounds before."""
        self._mean = None

    def asked(self, mean: Any, q: Any, eta: float) -> Any:
        """q, moved so that its pull is the steady one."""
        xp = array_module(mean)
        bound = self._resting * max(_LARGEST_STEP / eta - 1, 0.0)
        beyond = (self._following > bound) & (self._resting > 0)
        later = xp.where(beyond, self._following - bound / 2, 0.0)
        pace = 1 / (1 + eta * later / xp.where(beyond, self._resting, 1.0))
        part = later / xp.where(beyond, self._following, 1.0)
        if mean.ndim == 2 and np.ndim(part) == 1:
            pace, part = pace[:, None], part[:, None]
        pull = mean - q
        self._mean = pull if self._mean is None else self._mean + pace * (pull - self._mean)
        return xp.where(part > 0, mean - pull + part * (pull - self._mean), q).astype(np.float32)

"""The step: how much of what teachers that follow the student weigh belongs in the Hessian.

q of such a teacher moves along with p. So a (p - q) curves less in p than a q at rest would let it: not at all where a
tree moves all predictions alike, and by a where it moves just what the teacher compares. The paper's Hessian counts all
of a: a step is then 1 / (1 + a) of what it was. Counting nothing of it makes a step of size eta (1 + a) in the second
case, and steps of 2 and more never settle. With r what labels and fixed teachers weigh in a row, and F what the
following ones do, the Hessian counts

    max(r, eta (r + F) / 2)        instead of  r + F

which is r alone up to F = r (2 / eta - 1), 19 at eta 0.1, and from there on the least that is stable for any data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays import array_module

HESSIANS = ("follow", "paper")
"""What a teacher that follows may say: the above, or what the paper counts."""
_LARGEST_STEP = 2.0


def hessian_share(total: Any, following: Sequence[Any], eta: float) -> Any:
    """By what the Hessian of each row is multiplied; a number or one per row, 1 where the paper's stays.

    ``total`` is what counts in a row, ``following`` what each of those teachers weighs that follow the student in it.
    """
    if not following:
        return np.float32(1)
    xp = array_module(total)
    moving: Any = sum(following)
    counted = xp.maximum(total - moving, eta / _LARGEST_STEP * total)
    share = counted / xp.where(total > 0, total, 1)
    # What does not follow may be all there is but for rounding.
    return xp.clip(share, 0, 1).astype(np.float32)

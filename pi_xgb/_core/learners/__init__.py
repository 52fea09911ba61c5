"""Learners, the kinds of teacher, one per file. A new kind is a file and a line in the registry."""

from __future__ import annotations

from collections.abc import Callable

from ..losses import Loss
from ..training import Spec
from .features import Learner
from .forest import Forest
from .linear import Linear

DEFAULT_TEACHER = "mixed"
"""The kind where the user names none; the paper's is "boosted"."""
LEARNERS: dict[str, Callable[[Spec], Learner]] = {"forest": Forest, "linear": Linear}
"""The kinds besides boosting, by name."""
TEACHERS = ("boosted", *LEARNERS, "mixed")


def members_of(teacher: str, loss: Loss | None = None) -> tuple[str, ...]:
    """Return the kinds of model in a teacher; a mixture for classes is as good without a booster."""
    if teacher != "mixed":
        return (teacher,)
    return tuple(LEARNERS) if loss is not None and loss.probabilities else ("boosted", *LEARNERS)

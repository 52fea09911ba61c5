"""Learners, the kinds of teacher, one per file. A new kind is a file and a line in the registry."""

from __future__ import annotations

from collections.abc import Callable

from ..training import Spec
from .features import Learner
from .forest import Forest
from .linear import Linear

DEFAULT_TEACHER = "boosted"
LEARNERS: dict[str, Callable[[Spec], Learner]] = {"forest": Forest, "linear": Linear}
"""The kinds besides boosting, by name."""
TEACHERS = ("boosted", *LEARNERS, "mixed")


def members_of(teacher: str) -> tuple[str, ...]:
    """Return the kinds of model in a teacher."""
    return ("boosted", *LEARNERS) if teacher == "mixed" else (teacher,)

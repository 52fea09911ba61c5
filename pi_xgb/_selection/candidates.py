"""What a selection chooses among: plain XGBoost, and each way of teaching with each weight."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from .._core.checks import check_kl_weight
from .._core.methods import METHODS
from .._rows.checks import check_choice

TEACHERS = ("in-sample", "cross-fitted", "all")
KL_WEIGHTS = (1.0, 10.0)
CROSSFIT = 5


@dataclasses.dataclass(frozen=True)
class Candidate:
    """One way to train the student; ``teacher`` is empty where the method has but one, or nobody teaches."""

    method: str
    teacher: str
    kl_weight: float

    @property
    def name(self) -> str:
        """How a reader would call it."""
        if self == PLAIN:
            return "plain"
        words = {"all": "all features"}.get(self.teacher, self.teacher)
        return " ".join(word for word in (self.method, words, f"{self.kl_weight:g}") if word)

    @property
    def learns_first(self) -> bool:
        """Whether a teacher is trained before the student."""
        return bool(self.teacher)

    def guiding(self, crossfit: int) -> dict[str, Any]:
        """The keywords of :func:`pi_xgb.train`, next to ``privileged``."""
        if self == PLAIN:
            return {"kl_weight": 0.0}
        guiding: dict[str, Any] = {"method": self.method, "kl_weight": self.kl_weight}
        if self.learns_first:
            guiding |= {"crossfit": folds_of(self.teacher, crossfit), "allow_overlap": self.teacher == "all"}
        return guiding


PLAIN = Candidate("plain", "", 0.0)


def folds_of(teacher: str, crossfit: int) -> int:
    """How many folds the teacher of this kind is cross-fitted with."""
    return 0 if teacher == "in-sample" else crossfit


def candidates_of(method: Any, teacher: Any, kl_weight: Any) -> list[Candidate]:
    """Plain XGBoost first, then every combination that means something."""
    methods = _listed(method, METHODS, "method")
    teachers = _listed(teacher, TEACHERS, "teacher")
    given = kl_weight if isinstance(kl_weight, Iterable) else [kl_weight]
    weights = _distinct([check_kl_weight(w) for w in given], "kl_weight")
    positive = sorted(w for w in weights if w > 0)
    if not positive:
        raise ValueError(
            "kl_weight has no value above 0: plain XGBoost is always among the candidates, give it something to "
            f"compare with, for example kl_weight={KL_WEIGHTS}"
        )
    found = [PLAIN]
    for name in methods:
        found += [Candidate(name, kind, w) for kind in (teachers if name == "kbpib" else ("",)) for w in positive]
    return found


def trainings(candidates: Sequence[Candidate], crossfit: int) -> int:
    """How many boosters one fold costs; a JPIB student brings its teacher along."""
    students = sum(2 if candidate.method == "jpib" else 1 for candidate in candidates)
    return students + sum(max(folds_of(kind, crossfit), 1) for kind in {c.teacher for c in candidates} - {""})


def _listed(value: Any, choices: Sequence[str], name: str) -> list[str]:
    values = [value] if isinstance(value, str) else list(value)
    for item in values:
        check_choice(item, choices, name)
    return _distinct(values, name)


def _distinct(values: list[Any], name: str) -> list[Any]:
    if not values:
        raise ValueError(f"{name} is an empty list: give at least one value")
    if len(set(values)) < len(values):
        raise ValueError(f"{name} has a value twice: {values}")
    return values

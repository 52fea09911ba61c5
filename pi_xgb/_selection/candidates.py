"""What a selection chooses among: plain XGBoost, and each way of teaching with each ``kl_weight``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from .._core.checks import check_kl_weight
from .._core.config import SEES
from .._core.methods import METHODS, MethodName, method_named
from .._core.teachers import Teacher
from .._rows.checks import check_choice, check_whole, checked_list

TEACHERS = SEES
"""The features of a teacher of KbPIB: privileged ones only, or classifier features as well."""
METHOD: MethodName = "kbpib"
TEACHER, CROSSFIT = "all", 5
"""Tried by default, next to plain XGBoost. `python -m benchmarks.selection` measures what the others add."""
KL_WEIGHTS = (1.0, 10.0)


@dataclasses.dataclass(frozen=True)
class Candidate:
    """One way to train the student; ``teacher`` is empty for plain XGBoost and for methods of one teacher."""

    way: str
    """Its name without ``kl_weight``."""
    method: str
    kl_weight: float
    teacher: str = ""
    crossfit: int = 0

    @property
    def name(self) -> str:
        """In tables and sentences."""
        return self.way if self == PLAIN else f"{self.way} {self.kl_weight:g}"

    @property
    def learns_first(self) -> bool:
        """Whether a teacher is trained before the student."""
        return bool(self.teacher)

    @property
    def train_keywords(self) -> dict[str, Any]:
        """The keywords of :func:`pi_xgb.train`, next to ``privileged``."""
        if self == PLAIN:
            return {"kl_weight": 0.0}
        keywords: dict[str, Any] = {"method": self.method, "kl_weight": self.kl_weight}
        if self.learns_first:
            keywords |= {"teacher": self.teacher, "crossfit": self.crossfit}
        return keywords


PLAIN = Candidate("plain", "plain", 0.0)


def candidates_of(method: Any, teacher: Any, crossfit: Any, kl_weight: Any) -> list[Candidate]:
    """Plain XGBoost first, then every valid combination."""
    methods = checked_list(method, "method", lambda name: check_choice(name, METHODS, "method"))
    learners = _learners(teacher, _folds(crossfit))
    weights = positive_weights(kl_weight, KL_WEIGHTS)
    candidates = [PLAIN]
    for name in methods:
        learns = method_named(name).learns_first
        ways = {f"{name} {learner}": how for learner, how in learners.items()} if learns else {name: ()}
        candidates += [Candidate(way, name, weight, *how) for way, how in ways.items() for weight in weights]
    return candidates


def positive_weights(kl_weight: Any, usual: Sequence[float]) -> list[float]:
    """The weights to try besides 0, which is plain XGBoost and always tried."""
    weights = sorted(float(weight) for weight in checked_list(kl_weight, "kl_weight", check_kl_weight) if weight > 0)
    if not weights:
        raise ValueError(
            "kl_weight must have a value above 0, got none: plain XGBoost, which is 0, is always among the candidates. "
            f"Add weights to compare it with, for example kl_weight={tuple(usual)}"
        )
    return weights


def smoothers(candidates: Sequence[Candidate], crossfit: Any) -> list[Candidate]:
    """Self-distillation: a cross-fitted teacher, with every ``kl_weight`` that the student may have."""
    folds = max(_folds(crossfit)) or CROSSFIT
    weights = sorted({candidate.kl_weight for candidate in candidates} - {0.0})
    return [PLAIN, *(Candidate("kbpib cross-fitted", "kbpib", weight, "privileged", folds) for weight in weights)]


def _learners(teacher: Any, folds: list[int]) -> dict[str, tuple[str, int]]:
    """The teachers of KbPIB by name: which features each sees, and its number of cross-fitting folds."""

    def check(sees: Any) -> None:
        if isinstance(sees, Teacher):
            raise TypeError(
                f"teacher must be {' or '.join(map(repr, TEACHERS))}, for teachers that are trained in every fold, got "
                f"a {type(sees).__name__}, which exists already (a private one would spend its budget in every fold): "
                "set rows apart, and compare students of several kl_weight by train(teacher=..., evals=...)"
            )
        check_choice(sees, TEACHERS, "teacher")

    out_of_fold = [n for n in folds if n]
    # In-sample, a teacher that sees all features repeats the labels: tried only where no other is.
    tried = {"privileged": folds, "all": out_of_fold or folds}
    several = len(out_of_fold) > 1
    kinds = checked_list(teacher, "teacher", check)
    return {_name(sees, n, several=several): (sees, n) for sees in kinds for n in tried[sees]}


def _name(sees: str, folds: int, *, several: bool) -> str:
    if not folds:
        return "in-sample" if sees == "privileged" else "all features in-sample"
    name = "cross-fitted" if sees == "privileged" else "all features"
    return f"{name} ({folds} folds)" if several else name


def _folds(crossfit: Any) -> list[int]:
    def check(folds: Any) -> None:
        check_whole("crossfit", folds, 0)
        if folds == 1:
            raise ValueError("crossfit must be at least 2, or 0 for in-sample teachers, got 1")

    return [int(folds) for folds in checked_list(crossfit, "crossfit", check)]

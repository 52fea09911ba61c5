"""What a selection chooses among: plain XGBoost, and each way of teaching with each ``kl_weight``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from .._core.checks import check_kl_weight
from .._core.config import METHODS, SEES, MethodName
from .._core.teachers import Teacher
from .._rows.checks import check_choice, check_whole, checked_list
from .._warnings import warn_user

TEACHERS = SEES
"""What a teacher of KbPIB can see: z alone, or x as well."""
METHOD: MethodName = "kbpib"
TEACHER, CROSSFIT = "all", 5
"""What is tried by default, next to plain XGBoost. `python -m benchmarks.selection` measures what the others add."""
KL_WEIGHTS = (1.0, 10.0)
_OLD_WORDS = ("in-sample", "cross-fitted")


@dataclasses.dataclass(frozen=True)
class Candidate:
    """One way to train the student; ``teacher`` is empty where the method has but one, or nobody teaches."""

    way: str
    """What a reader would call it, next to ``kl_weight``."""
    method: str
    kl_weight: float
    teacher: str = ""
    crossfit: int = 0

    @property
    def name(self) -> str:
        """What a reader would call it."""
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
    """Plain XGBoost first, then every combination that means something."""
    methods = checked_list(method, "method", lambda name: check_choice(name, METHODS, "method"))
    learners = _learners(teacher, _folds(crossfit))
    positive = sorted(float(w) for w in checked_list(kl_weight, "kl_weight", check_kl_weight) if w > 0)
    if not positive:
        raise ValueError(
            "kl_weight has no value above 0: plain XGBoost is always among the candidates, give it something to "
            f"compare with, for example kl_weight={KL_WEIGHTS}"
        )
    found = [PLAIN]
    for name in methods:
        learns = method_named(name).learns_first
        ways = {f"{name} {words}": learner for words, learner in learners.items()} if learns else {name: ()}
        found += [Candidate(way, name, w, *learner) for way, learner in ways.items() for w in positive]
    return found


def smoothers(candidates: Sequence[Candidate], crossfit: Any) -> list[Candidate]:
    """Self-distillation: a cross-fitted teacher, with every ``kl_weight`` that the student may have."""
    folds = max(_folds(crossfit)) or CROSSFIT
    positive = sorted({candidate.kl_weight for candidate in candidates} - {0.0})
    return [PLAIN, *(Candidate("kbpib cross-fitted", "kbpib", w, "privileged", folds) for w in positive)]


def _learners(teacher: Any, folds: list[int]) -> dict[str, tuple[str, int]]:
    """The teachers of KbPIB by the words of a reader: what each sees, and how many folds it judges out of."""
    out_of_fold = [n for n in folds if n]
    pairs_of = {
        "privileged": [("privileged", n) for n in folds],
        # In-sample, a teacher that sees everything repeats the labels: for those alone who ask for nothing else.
        "all": [("all", n) for n in out_of_fold or folds],
        "in-sample": [("privileged", 0)],
        "cross-fitted": [("privileged", n) for n in out_of_fold],
    }

    def check(word: Any) -> None:
        if isinstance(word, Teacher):
            raise TypeError(
                f"teacher says in words what the teachers see that are trained here, in every fold, got a "
                f"{type(word).__name__}: that one exists already, and a private one would spend its budget in every "
                "fold. Set rows apart, and compare students of several kl_weight by train(teacher=..., evals=...)"
            )
        if word not in _OLD_WORDS:
            check_choice(word, TEACHERS, "teacher")

    words = checked_list(teacher, "teacher", check)
    if not set(words).isdisjoint(_OLD_WORDS):
        _warn_of_old_words(max(folds))
    if words == ["cross-fitted"] and not out_of_fold:
        raise ValueError("a cross-fitted teacher needs crossfit of at least 2, got 0")
    several = len(out_of_fold) > 1
    return {_words(sees, n, several=several): (sees, n) for word in words for sees, n in pairs_of[word]}


def _words(sees: str, folds: int, *, several: bool) -> str:
    if not folds:
        return "in-sample" if sees == "privileged" else "all features in-sample"
    words = "cross-fitted" if sees == "privileged" else "all features"
    return f"{words} ({folds} folds)" if several else words


def _warn_of_old_words(folds: int) -> None:
    warn_user(
        "teacher='in-sample' and 'cross-fitted' are old words: teacher says what it sees, crossfit how it judges its "
        "own training rows. Write teacher='privileged' with crossfit=0 for 'in-sample', and with "
        f"crossfit={folds or CROSSFIT} for 'cross-fitted'; crossfit may be several numbers",
        FutureWarning,
    )


def _folds(crossfit: Any) -> list[int]:
    def check(folds: Any) -> None:
        check_whole("crossfit", folds, 0)
        if folds == 1:
            raise ValueError("crossfit must be at least 2, or 0 for in-sample teachers, got 1")

    return [int(folds) for folds in checked_list(crossfit, "crossfit", check)]

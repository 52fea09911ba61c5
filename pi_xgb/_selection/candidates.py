"""The candidates of a selection: plain XGBoost, and each kind of teacher with each ``kl_weight``."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

from .._core.checks import check_kl_weight
from .._core.config import METHODS, SEES, MethodName, seen_by
from .._core.learners.recipe import check_teacher_word, chosen_crossfit
from .._core.losses import LOSSES
from .._core.teachers import Teacher
from .._rows.checks import check_choice, check_whole, checked_list
from .._xgb.params import objective_name, user_params

METHOD: MethodName = "kbpib"
KL_WEIGHTS = (1.0, 10.0)


@dataclasses.dataclass(frozen=True)
class Candidate:
    """One way to train the student. ``teacher`` is None for plain XGBoost; the other fields are as for ``train``."""

    method: str
    kl_weight: float
    teacher: Any = None
    sees: str | None = None
    crossfit: int | None = None

    @property
    def kind(self) -> str:
        """The name of the teacher's kind; for an estimator, its class."""
        if self.teacher is None:
            return ""
        return self.teacher if isinstance(self.teacher, str) else type(self.teacher).__name__

    @property
    def way(self) -> str:
        """The name without ``kl_weight``."""
        if self.teacher is None:
            return "plain"
        if not self.learns_first:
            return self.method
        sees = {None: "", "privileged": " on privileged features", "all": " on all features"}[self.sees]
        folds = "" if self.crossfit is None else " in-sample" if self.crossfit == 0 else f" ({self.crossfit} folds)"
        return f"{self.kind}{sees}{folds}"

    @property
    def name(self) -> str:
        """The name in tables and sentences."""
        return self.way if self == PLAIN else f"{self.way} {self.kl_weight:g}"

    @property
    def learns_first(self) -> bool:
        """Whether a teacher is trained before the student."""
        return self.method == "kbpib"

    @property
    def sees_all(self) -> bool:
        """Whether its teacher sees the classifier features beside the privileged ones."""
        return self.teacher is not None and seen_by(self.teacher, self.sees, has_privileged=True) == "all"

    def crossfits(self, *, has_privileged: bool) -> bool:
        """Whether its teacher is cross-fitted."""
        sees_student = seen_by(self.teacher, self.sees, has_privileged=has_privileged) == "all"
        return self.learns_first and chosen_crossfit(self.crossfit, self.teacher, sees_student=sees_student) != 0

    @property
    def train_keywords(self) -> dict[str, Any]:
        """The keywords of :func:`pi_xgb.train`, next to ``privileged``."""
        if self == PLAIN:
            return {"kl_weight": 0.0}
        keywords: dict[str, Any] = {"method": self.method, "kl_weight": self.kl_weight}
        if self.learns_first:
            chosen = {"teacher": self.teacher, "teacher_sees": self.sees, "crossfit": self.crossfit}
            keywords |= {name: value for name, value in chosen.items() if value is not None}
        return keywords


PLAIN = Candidate("plain", 0.0)


def candidates_of(
    params: Any, method: Any, teacher: Any, teacher_sees: Any, crossfit: Any, kl_weight: Any
) -> list[Candidate]:
    """Return plain XGBoost and then every useful combination.

    Without a ``teacher`` it is a mixed one, or boosting on all features for objectives without a mean.
    """
    if teacher is None:
        loss = LOSSES.get(objective_name(user_params(params)))
        teacher = "mixed" if loss is None or loss.has_gradient else "boosted"
        teacher_sees = teacher_sees or ("all" if teacher == "boosted" else None)
    methods = checked_list(method, "method", lambda name: check_choice(name, METHODS, "method"))
    teachers = _teachers(teacher)
    views = [None] if teacher_sees is None else checked_list(teacher_sees, "teacher_sees", _check_sees)
    folds = [None] if crossfit is None else checked_list(crossfit, "crossfit", _check_folds)
    weights = positive_weights(kl_weight, KL_WEIGHTS)
    ways = [way for way in itertools.product(teachers, views, folds) if _is_useful(*way, folds)]
    candidates = [PLAIN]
    for name in methods:
        tried = ways if name == "kbpib" else [("boosted", None, None)]
        candidates += [Candidate(name, weight, *way) for way in tried for weight in weights]
    _check_names(candidates)
    return candidates


def _check_names(candidates: Sequence[Candidate]) -> None:
    """Raise if two candidates have the same name, which for an estimator is its class."""
    names: set[str] = set()
    for candidate in candidates:
        if candidate.name in names:
            raise ValueError(
                f"teacher must be estimators of different classes, got two of {candidate.kind}, with equal names in "
                "tables: call select once for each, with the same folds"
            )
        names.add(candidate.name)


def _is_useful(teacher: Any, sees: str | None, crossfit: int | None, folds: Sequence[int | None]) -> bool:
    """Return False for in-sample teachers on all features, which repeat the labels, unless only crossfit=0 is set."""
    sees_all = seen_by(teacher, sees, has_privileged=True) == "all"
    return crossfit != 0 or not sees_all or not any(folds)


def positive_weights(kl_weight: Any, usual: Sequence[float]) -> list[float]:
    """Return the weights to try besides 0, plain XGBoost, which is always tried."""
    weights = sorted(float(weight) for weight in checked_list(kl_weight, "kl_weight", check_kl_weight) if weight > 0)
    if not weights:
        raise ValueError(
            "kl_weight must have a value above 0, got none: plain XGBoost, which is 0, is always a candidate. Add "
            f"weights to compare it with, for example kl_weight={tuple(usual)}"
        )
    return weights


def without_privileged(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the same kinds of teachers, cross-fitted on the classifier features, as a control."""
    controls = []
    for candidate in candidates:
        if candidate != PLAIN:
            teacher = candidate.teacher if candidate.learns_first else "boosted"
            controls.append(Candidate("kbpib", candidate.kl_weight, teacher, None, candidate.crossfit or None))
    return [PLAIN, *dict.fromkeys(controls)]


def _teachers(teacher: Any) -> list[Any]:
    """Return the kinds of teachers to try: words and estimators."""
    if isinstance(teacher, Teacher):
        raise TypeError(
            f"teacher must be a word or an estimator, to be trained in every fold, got a {type(teacher).__name__}, "
            "which is trained already (a private teacher would spend its budget in every fold): hold rows out, and "
            "compare students of several kl_weight by train(teacher=..., evals=...)"
        )
    if hasattr(teacher, "fit"):
        return [teacher]
    return checked_list(teacher, "teacher", check_teacher_word)


def _check_sees(sees: Any) -> None:
    check_choice(sees, SEES, "teacher_sees")


def _check_folds(folds: Any) -> None:
    check_whole("crossfit", folds, 0)
    if folds == 1:
        raise ValueError("crossfit must be at least 2, or 0 for in-sample teachers, got 1")

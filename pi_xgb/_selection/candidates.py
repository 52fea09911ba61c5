"""The candidates of a selection: plain XGBoost, and each kind of teacher with each ``kl_weight``."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from .._core.keywords import METHODS, SEES, Keywords, seen_by
from .._core.learners.recipe import check_teacher_word, kind_of
from .._core.teachers import TRAINED_KL_WEIGHT, check_kl_weight, default_kl_weight
from .._core.training import Teacher
from .._rows.checks import check_choice, check_whole, checked_list
from .._xgb.params import objective_name, user_params

STUDENT_FEATURES = "student"
"""As ``sees``: a teacher without privileged features."""
_FEATURES = {
    None: "",
    "privileged": " on privileged features",
    "all": " on all features",
    STUDENT_FEATURES: " without privileged features",
}
_check_sees = partial(check_choice, choices=SEES, name="teacher_sees")
_BEST_FIRST = ("mixed", "forest", "linear", "estimator", "boosted")
"""Kinds of teachers by the gains of their students on public data sets."""


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
        return "" if self.teacher is None else kind_of(self.teacher)

    @property
    def way(self) -> str:
        """The name without ``kl_weight``."""
        if not self.learns_first:
            return self.method
        folds = "" if self.crossfit is None else " in-sample" if self.crossfit == 0 else f" ({self.crossfit} folds)"
        return f"{self.kind}{_FEATURES[self.sees]}{folds}"

    @property
    def name(self) -> str:
        """The name in tables and sentences."""
        return self.way if self == PLAIN else f"{self.way} {self.kl_weight:g}"

    @property
    def learns_first(self) -> bool:
        """Whether a teacher is trained before the student."""
        return self.method == "kbpib"

    @property
    def sees_privileged(self) -> bool:
        """Whether there is a teacher with privileged features, if there are any."""
        return self.teacher is not None and self.sees != STUDENT_FEATURES

    def keywords(self, config: Keywords) -> Keywords:
        """The keywords of its teacher, with the features and the rows of ``config``."""
        own = dataclasses.replace(config, **self.train_keywords, crossfit_groups=None)
        if own.privileged is None:
            own = dataclasses.replace(own, teacher_sees=None)
        return dataclasses.replace(own, crossfit_groups=config.crossfit_groups) if own.is_crossfitted else own

    def without_privileged(self) -> Candidate:
        """The same kind of teacher, cross-fitted on the classifier features."""
        return Candidate("kbpib", self.kl_weight, self.teacher, STUDENT_FEATURES, self.crossfit or None)

    @property
    def train_keywords(self) -> dict[str, Any]:
        """The keywords of :func:`pi_xgb.train`, next to ``privileged``."""
        if self == PLAIN:
            return {"kl_weight": 0.0}
        keywords: dict[str, Any] = {"method": self.method, "kl_weight": self.kl_weight}
        if self.learns_first:
            sees = self.sees if self.sees_privileged else None
            chosen = {"teacher": self.teacher, "teacher_sees": sees, "crossfit": self.crossfit}
            keywords |= {name: value for name, value in chosen.items() if value is not None}
        return keywords if self.sees_privileged else {**keywords, "privileged": None}


PLAIN = Candidate("plain", 0.0)


def candidates_of(
    params: Any, method: Any, teacher: Any, teacher_sees: Any, crossfit: Any, kl_weight: Any
) -> list[Candidate]:
    """Return plain XGBoost and then every useful combination.

    Without a ``teacher`` it is a mixed one, or boosting on all features for objectives without a mean.
    """
    if teacher is None:
        objective = objective_name(user_params(params))
        teacher = Keywords().default_kind(objective)
        teacher_sees = teacher_sees or ("all" if teacher == "boosted" else None)
    methods = checked_list(method, "method", partial(check_choice, choices=METHODS, name="method"))
    teachers = _teachers(teacher)
    views = [None] if teacher_sees is None else checked_list(teacher_sees, "teacher_sees", _check_sees)
    folds = [None] if crossfit is None else checked_list(crossfit, "crossfit", partial(check_whole, "crossfit"))
    weights = None if kl_weight is None else positive_weights(kl_weight, (TRAINED_KL_WEIGHT,))
    ways = [way for way in itertools.product(teachers, views, folds) if _is_useful(*way, folds)]
    candidates = [PLAIN]
    for name in methods:
        for kind, sees, own_folds in ways if name == "kbpib" else [("boosted", None, None)]:
            for weight in weights or [default_kl_weight(kind)]:
                candidates.append(Candidate(name, weight, kind, sees, own_folds))
    names = [candidate.name for candidate in candidates]
    if repeated := [candidate.kind for candidate in candidates if names.count(candidate.name) > 1]:
        raise ValueError(
            f"teacher must be estimators of different classes, got two of {repeated[0]}: call select twice"
        )
    return candidates


def recommended(candidates: Sequence[Candidate]) -> int:
    """Return the position of the student that public data sets recommend: mixed, on all features, cross-fitted."""

    def rank(position: int) -> tuple[Any, ...]:
        candidate = candidates[position]
        kind = candidate.teacher if isinstance(candidate.teacher, str) else "estimator"
        distance = abs(math.log(candidate.kl_weight / default_kl_weight(candidate.teacher)))
        seen = seen_by(candidate.teacher, candidate.sees, has_privileged=True)
        return not candidate.learns_first, _BEST_FIRST.index(kind), seen != "all", candidate.crossfit == 0, distance

    return min(range(1, len(candidates)), key=rank)


def _is_useful(teacher: Any, sees: str | None, crossfit: int | None, folds: Sequence[int | None]) -> bool:
    """Return False for in-sample teachers on all features or in mixtures, unless only crossfit=0 is set."""
    sees_all = seen_by(teacher, sees, has_privileged=True) == "all"
    return crossfit != 0 or not any(folds) or not (sees_all or teacher == "mixed")


def positive_weights(kl_weight: Any, usual: Sequence[float]) -> list[float]:
    """Return the weights to try besides 0, plain XGBoost, which is always tried."""
    weights = sorted(float(weight) for weight in checked_list(kl_weight, "kl_weight", check_kl_weight) if weight > 0)
    if not weights:
        raise ValueError(f"kl_weight must have a value above 0, got none (0 is always tried): add such as {usual[0]:g}")
    return weights


def _teachers(teacher: Any) -> list[Any]:
    """Return the kinds of teachers to try: words and estimators."""
    # An ensemble of scikit-learn's is an estimator and can be iterated over.
    return checked_list([teacher] if hasattr(teacher, "fit") else teacher, "teacher", _check_kind)


def _check_kind(teacher: Any) -> None:
    if isinstance(teacher, Teacher):
        raise TypeError(
            f"teacher must be a word or an estimator, to be trained in every fold, got a {type(teacher).__name__}: "
            "hold rows out, and compare students of several kl_weight by train(teacher=..., evals=...)"
        )
    check_teacher_word(teacher)

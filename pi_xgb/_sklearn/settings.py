"""The parameters of an estimator that say who teaches, and which of them cannot go together."""

from __future__ import annotations

import dataclasses
from typing import Any

from sklearn.frozen import FrozenEstimator

from .._core.checks import check_kl_weight
from .._core.methods import DEFAULT_METHOD, METHODS
from .._core.teachers import Teacher
from .._core.train import Engine
from .._rows.checks import check_choice
from .._selection.candidates import TEACHERS


@dataclasses.dataclass(frozen=True)
class Settings:
    """The parameters of an estimator that say who teaches, as the user set them."""

    method: str
    kl_weight: float
    teacher: Any
    crossfit: int
    teacher_params: Any
    engine: Engine
    constraints: Any
    missing: float
    enable_categorical: bool
    n_jobs: int | None

    @classmethod
    def of(cls, model: Any) -> Settings:
        """Those of this estimator."""
        return cls(**{field.name: getattr(model, field.name) for field in dataclasses.fields(cls)})

    @property
    def learns_here(self) -> bool:
        """Whether the teacher is one that this library trains."""
        return isinstance(self.teacher, str)

    def check(self) -> None:
        """Values that could not mean anything, or that nothing would read."""
        check_choice(self.method, METHODS, "method")
        check_kl_weight(self.kl_weight)
        if self.learns_here:
            check_choice(self.teacher, TEACHERS, "teacher")
            if "n_estimators" in self.checked_teacher_params():
                raise ValueError(
                    "teacher_params are parameters of XGBoost's boosters, and n_estimators is none: a teacher has as "
                    "many rounds as the student. For another number pass an estimator as teacher, for example "
                    "XGBClassifier(n_estimators=...)"
                )
            return
        if isinstance(self.teacher, type) or not (isinstance(self.teacher, Teacher) or hasattr(self.teacher, "fit")):
            raise TypeError(
                f"teacher must be 'privileged', 'all', an estimator or a pi_xgb.Teacher, got {self.teacher!r}. An "
                "array of q belongs to one data set, not to an estimator: pass it to pi_xgb.train"
            )
        unread = {
            f"method={self.method!r}": self.method != DEFAULT_METHOD,
            "teacher_params": self.teacher_params is not None,
            "crossfit": bool(self.crossfit) and isinstance(self.teacher, (Teacher, FrozenEstimator)),
        }
        named = [name for name, is_set in unread.items() if is_set]
        if named:
            raise ValueError(
                f"{', '.join(named)} would be ignored with the teacher {self.teacher!r}: leave it out, or use "
                "teacher='privileged'"
            )

    def checked_teacher_params(self) -> dict[str, Any]:
        """The parameters of the teacher's booster, which are names and values."""
        try:
            return dict(() if self.teacher_params is None else self.teacher_params)
        except (TypeError, ValueError):
            raise TypeError(
                "teacher_params must be a dict, or a list of pairs (name, value), of parameters of XGBoost's boosters, "
                f"got {self.teacher_params!r}: for example {{'max_depth': 2}}"
            ) from None

    @property
    def asked_for(self) -> list[str]:
        """What the user set that needs privileged data."""
        is_set = {
            "method": self.method != DEFAULT_METHOD,
            "crossfit": bool(self.crossfit),
            "teacher": not isinstance(self.teacher, Teacher) and self.teacher != "privileged",
            "teacher_params": self.teacher_params is not None,
        }
        return [name for name, value in is_set.items() if value]

    @property
    def constraint_pairs(self) -> list[tuple[Any, float]]:
        """Every constraint with its ``kl_weight``, checked."""
        constraints = self.constraints
        if isinstance(constraints, Teacher):
            raise TypeError(
                f"constraints must be a list of (constraint, weight), got {constraints!r} alone: say how much it "
                "counts, as in constraints=[(DemographicParity('sex'), 5.0)]"
            )
        pairs = list(constraints or ())
        for pair in pairs:
            if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
                raise TypeError(f"constraints must be a list of (constraint, weight), got the item {pair!r}")
            if not isinstance(pair[0], Teacher):
                raise TypeError(
                    f"a constraint must be one of pi_xgb.constraints, or pi_xgb.sklearn.by_column(...) of one, got "
                    f"{pair[0]!r}"
                )
            check_kl_weight(pair[1], "the weight of a constraint")
        return pairs

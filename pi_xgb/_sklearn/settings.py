"""The parameters of an estimator that describe its teacher, and the checks of their combinations."""

from __future__ import annotations

import dataclasses
from typing import Any

from .._core.checks import check_kl_weight
from .._core.config import DEFAULT_METHOD, TeacherConfig, is_trained_here
from .._core.engines import Engine
from .._core.teachers import Teacher


@dataclasses.dataclass(frozen=True)
class Settings:
    """The parameters of an estimator that describe its teacher, as the user set them."""

    method: str
    kl_weight: float
    teacher: Any
    teacher_sees: str | None
    crossfit: int | None
    teacher_params: Any
    engine: Engine
    constraints: Any
    missing: float
    enable_categorical: bool
    n_jobs: int | None

    @classmethod
    def from_estimator(cls, estimator: Any) -> Settings:
        """Return the parameters of this estimator."""
        return cls(**{field.name: getattr(estimator, field.name) for field in dataclasses.fields(cls)})

    def config(self, **row_keywords: Any) -> TeacherConfig:
        """Return the keywords of ``train``, with those for the rows of one ``fit``."""
        names = ("method", "kl_weight", "teacher", "teacher_sees", "crossfit", "teacher_params")
        return TeacherConfig(**{**{name: getattr(self, name) for name in names}, **row_keywords})

    def check(self, *, has_privileged: bool) -> None:
        """Raise for values that are invalid or would be ignored."""
        if "n_estimators" in self.checked_teacher_params():
            raise ValueError(
                "teacher_params must be parameters of XGBoost's boosters, got n_estimators: the teacher has the rounds "
                "of the student. For another number pass an estimator as teacher, for example "
                "XGBClassifier(n_estimators=...)"
            )
        if not (self.teacher is None or is_trained_here(self.teacher) or isinstance(self.teacher, Teacher)):
            raise TypeError(
                f"teacher must be a name, an estimator or a pi_xgb.Teacher, got {self.teacher!r:.60}. An array of q "
                "belongs to one data set, not to an estimator: pass it to pi_xgb.train"
            )
        if isinstance(self.teacher, Teacher) and has_privileged:
            return
        rows: Any = object() if has_privileged else None
        config = self.config(privileged=rows)
        if config.is_given:
            config.check()

    def checked_teacher_params(self) -> dict[str, Any]:
        """Return the parameters of the teacher's booster as a dict."""
        try:
            return dict(() if self.teacher_params is None else self.teacher_params)
        except (TypeError, ValueError):
            raise TypeError(
                "teacher_params must be a dict, or a list of pairs (name, value), of parameters of XGBoost's boosters, "
                f"got {self.teacher_params!r}: for example {{'max_depth': 2}}"
            ) from None

    @property
    def trainable_keywords(self) -> list[str]:
        """The parameters that the user set and that require a trainable teacher."""
        is_set = {
            "method": self.method != DEFAULT_METHOD,
            "crossfit": self.crossfit is not None,
            "teacher_sees": self.teacher_sees is not None,
            "teacher_params": self.teacher_params is not None,
        }
        return [name for name, value in is_set.items() if value]

    @property
    def constraint_pairs(self) -> list[tuple[Any, float]]:
        """The checked pairs of constraint and ``kl_weight``."""
        constraints = self.constraints
        pairs: list[Any] = [constraints] if isinstance(constraints, Teacher) else list(constraints or ())
        for pair in pairs:
            if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
                raise TypeError(
                    f"constraints must be a list of (constraint, weight), got the item {pair!r}: add its weight, as in "
                    "constraints=[(DemographicParity('sex'), 5.0)]"
                )
            if not isinstance(pair[0], Teacher):
                raise TypeError(
                    "constraints must have items of pi_xgb.constraints or pi_xgb.sklearn.by_column(...), got "
                    f"{pair[0]!r}"
                )
            check_kl_weight(pair[1], "the weight of a constraint")
        return pairs

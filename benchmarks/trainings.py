"""The trainings whose seconds and memory are compared, on one pair of matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import xgboost

import pi_xgb

KL_WEIGHT = 0.5


@dataclass(frozen=True)
class Trainings:
    """``q`` is what KbPIB is told; without it, it has a teacher of its own on ``privileged``, as JPIB has."""

    params: dict[str, Any]
    rounds: int
    dtrain: xgboost.DMatrix
    privileged: xgboost.DMatrix | None
    q: Any = None

    def plain(self) -> None:
        """What KbPIB is compared with."""
        xgboost.train(self.params, self.dtrain, self.rounds)

    def plain_twice(self) -> None:
        """What JPIB is compared with: two boosters trained separately, and kept alive together, as its own are."""
        student = xgboost.train(self.params, self.dtrain, self.rounds)
        teacher = xgboost.train(self.params, self.privileged, self.rounds)
        del student, teacher

    def kbpib(self, engine: str = "callback") -> xgboost.Booster:
        if self.q is None:
            return self._guided(engine, privileged=self.privileged)
        return self._guided(engine, teacher=self.q)

    def jpib(self, engine: str = "callback") -> xgboost.Booster:
        return self._guided(engine, privileged=self.privileged, method="jpib")

    def _guided(self, engine: str, **guidance: Any) -> xgboost.Booster:
        return pi_xgb.train(self.params, self.dtrain, self.rounds, kl_weight=KL_WEIGHT, engine=engine, **guidance)

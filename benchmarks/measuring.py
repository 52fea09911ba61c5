"""Seconds, memory and versions, and the trainings that are timed on one pair of matrices."""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xgboost

import pi_xgb

Training = Callable[[], object]
KL_WEIGHT = 0.5


def seconds(training: Training) -> float:
    """The wall time of a call."""
    start = time.perf_counter()
    training()
    return time.perf_counter() - start


def alternating(ours: Training, plain: Training, repeats: int) -> tuple[float, list[float]]:
    """Median seconds of ``plain``, and the ratios of ``ours`` to it, in rising order.

    The two alternate (A B A B ...), so that whatever else the machine does hits both.
    """
    ours(), plain()  # both warm
    times = [(seconds(plain), seconds(ours)) for _ in range(repeats)]
    return statistics.median(a for a, _ in times), sorted(b / a for a, b in times)


def memory_mib(name: str) -> float:
    """A line of /proc/self/status: VmRSS is the resident size now, VmHWM its highest so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:"))


def versions() -> str:
    """What the times depend on, besides the machine."""
    return f"Python {platform.python_version()}, XGBoost {xgboost.__version__}, NumPy {np.__version__}"


@dataclass(frozen=True)
class Trainings:
    """``q`` is what KbPIB is given; without it, it has a teacher of its own on ``privileged``, as JPIB has."""

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
            return self._guided(engine, privileged=self.privileged, teacher="boosted")
        return self._guided(engine, teacher=self.q)

    def jpib(self, engine: str = "callback") -> xgboost.Booster:
        return self._guided(engine, privileged=self.privileged, method="jpib")

    def recipe(self, labelled: Any) -> xgboost.Booster:
        """A mixed teacher, for rows of which few have a label."""
        guided = {"privileged": self.privileged, "teacher": "mixed", "labelled": labelled, "kl_weight": 2.0}
        return pi_xgb.train(self.params, self.dtrain, self.rounds, **guided)

    def _guided(self, engine: str, **guidance: Any) -> xgboost.Booster:
        return pi_xgb.train(self.params, self.dtrain, self.rounds, kl_weight=KL_WEIGHT, engine=engine, **guidance)

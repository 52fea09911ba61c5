"""The package's audit on private teachers and on others: what each gives away of a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pandas as pd
import xgboost as xgb

import pi_xgb
from pi_xgb.privacy import PrivateTeacher, audit

ROWS, SECRETS = 100, 5
ROUNDS = 10
DELTA = 1e-6
BOUNDS = {"z0": [0, 1]}
SPLIT = 0.2
# Deep trees that follow single rows: what a student can give away at most.
PARAMS: dict[str, Any] = {"objective": "binary:logistic", "max_depth": 8, "eta": 0.3, "lambda": 0, "nthread": 1}
PARAMS["min_child_weight"] = 0
RUNS, RUNS_EBM = 400, 100
ATTACKS = ("neighbours", "values")
KL_WEIGHT = 5.0
EPSILONS = (0.5, 1.0, 3.0)
CONFIDENCE = 0.95
OTHERS: dict[str, dict[str, Any]] = {
    "KbPIB, in-sample": {"teacher": "boosted"},
    "KbPIB, cross-fitted": {"teacher": "boosted", "crossfit": 5},
    "JPIB": {"method": "jpib"},
}


class Setting(NamedTuple):
    """A way of training, and the epsilon that it states; None where it states none."""

    teacher: str
    epsilon: float | None
    train: Callable[[Any], Any]
    runs: int
    sees: str
    """What the attacker looks at."""


class Rows(NamedTuple):
    x: pd.DataFrame
    z: pd.DataFrame
    y: Any


def rows() -> Rows:
    """The worst case: z says y nearly, so that a noisy prediction reveals z, and x tells every row from the others."""
    random = np.random.default_rng(0)
    z = random.integers(0, 2, ROWS)
    y = np.where(random.random(ROWS) < 0.1, 1 - z, z)
    return Rows(pd.DataFrame(random.normal(size=(ROWS, 4))), pd.DataFrame({"z0": z}), y)


def settings() -> Iterator[Setting]:
    """Every way of training that is attacked."""
    data = rows()
    dtrain = xgb.DMatrix(data.x, data.y)

    def student(teaching: Callable[[Any], dict[str, Any]]) -> Callable[[Any], Any]:
        return lambda z: pi_xgb.train(PARAMS, dtrain, ROUNDS, kl_weight=KL_WEIGHT, **teaching(z))

    def private(z: Any, epsilon: float, model: str = "histogram", noise: str = "auto") -> PrivateTeacher:
        return PrivateTeacher(epsilon, DELTA, bounds=BOUNDS, split=SPLIT, teacher=model, noise=noise).fit(z, data.y)

    def silent(z: Any) -> PrivateTeacher:
        with mock.patch("pi_xgb._privacy.teacher.noise_named", return_value=Silence()):
            return private(z, 1.0)

    for epsilon in EPSILONS:
        for noise in ("laplace", "randomized_response"):
            made = lambda z, e=epsilon, n=noise: private(z, e, noise=n)  # noqa: E731
            yield Setting(f"histogram, {noise}", epsilon, made, RUNS, "the noisy predictions")
        yield Setting(
            "histogram", epsilon, student(lambda z, e=epsilon: {"teacher": private(z, e)}), RUNS, "the student"
        )
    yield Setting("DP-EBM", 1.0, student(lambda z: {"teacher": private(z, 1.0, "dp-ebm")}), RUNS_EBM, "the student")
    off = student(lambda z: {"teacher": silent(z)})
    yield Setting("histogram, noise on predictions switched off", 1.0, off, RUNS, "the student")
    for name, more in OTHERS.items():
        other = student(lambda z, more=more: {"privileged": xgb.DMatrix(z, data.y), **more})
        yield Setting(name, None, other, RUNS, "the student")


class Silence:
    """No noise: what an audit must find."""

    variance = 0.0

    def release(self, shares: Any, source: Any) -> Any:
        return shares


def name_of(setting: Setting) -> tuple[str, str, float]:
    return setting.teacher, setting.sees, np.inf if setting.epsilon is None else setting.epsilon


def measure(teacher: str, sees: str, stated: float, attack: str, small: bool = False) -> Iterator[dict[str, Any]]:
    """One attack on one way of training."""
    setting = next(own for own in settings() if name_of(own) == (teacher, sees, stated))
    data = rows()
    count = 1 if attack == "neighbours" else SECRETS
    z, other = data.z.copy(), data.z.copy()
    z.iloc[:count], other.iloc[:count] = 0, 1
    attacked = xgb.DMatrix(data.x.iloc[:count])

    def look(model: Any) -> Any:
        noisy = sees == "the noisy predictions"
        return model.values[:count] if noisy else model.predict(attacked, output_margin=True)

    runs, delta = 40 if small else setting.runs, 0.0 if setting.epsilon is None else DELTA
    found = audit(setting.train, z, other, look, runs=runs, delta=delta, confidence=CONFIDENCE)
    yield {"bound": found.epsilon, "accuracy": found.accuracy, "runs": found.runs}

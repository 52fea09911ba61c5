"""The privacy budget and its division."""

from __future__ import annotations

import dataclasses
from numbers import Real
from typing import Any, NamedTuple

SMALLEST_EPSILON, LARGEST_EPSILON = 1e-6, 100


class Spent(NamedTuple):
    """An (epsilon, delta) guarantee of differential privacy."""

    epsilon: float
    delta: float


@dataclasses.dataclass(frozen=True)
class Budget:
    """The budget of one teacher, divided between its model and the predictions for the rows."""

    total: Spent
    model: Spent
    rows: Spent
    """The part of a labelled row's prediction, or 0 without one. A row without a label has the whole epsilon."""

    @classmethod
    def beside(cls, epsilon: float, delta: float, model: Spent) -> Budget:
        """Return the budget with a model that states its own part."""
        rows = Spent(epsilon - model.epsilon, 0.0)
        if min(model.epsilon, rows.epsilon) < SMALLEST_EPSILON or model.delta > delta:
            raise ValueError(
                f"epsilon and delta must leave at least {SMALLEST_EPSILON:g} and 0 beside the model, got {epsilon:g} "
                f"and {delta:g} with {model.epsilon:g} and {model.delta:g} for the model: raise them, or change split. "
                "(A changed row costs twice the epsilon of your own model, which is for a row added or removed)"
            )
        return cls(Spent(epsilon, delta), model, rows)


def check_epsilon(epsilon: Any) -> float:
    """Return epsilon as a float; raise unless it is positive and finite."""
    check_real(epsilon, "epsilon")
    if not SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON:
        raise ValueError(
            f"epsilon must lie between {SMALLEST_EPSILON:g} and {LARGEST_EPSILON:g}, got {epsilon!r}: 1 is strict, "
            "above 10 the guarantee is weak"
        )
    return float(epsilon)


def check_delta(delta: Any) -> float:
    """Return delta as a float; raise unless it is a small probability."""
    check_real(delta, "delta")
    if not 0 <= delta < 1:
        raise ValueError(f"delta must be at least 0 and below 1, got {delta!r}: pass far less than 1 / number of rows")
    return float(delta)


def check_delta_for_rows(delta: float, n_rows: int) -> None:
    """Raise if delta is 1 / n_rows or more: publishing one row in full would then count as private."""
    if delta * n_rows >= 1:
        raise ValueError(
            f"delta must be below {1 / n_rows:.2g} for {n_rows} rows, got {delta:g}: pass at most {0.1 / n_rows:.1g}, "
            "or publishing a random row would count as private"
        )


def check_share(value: Any, name: str, low: float, high: float, hint: str) -> float:
    """Return the value as a float; raise unless it lies between low and high (``clip`` may be 0)."""
    check_real(value, name)
    if not (low < value < high or (value == low == 0 and name == "clip")):
        raise ValueError(f"{name} must lie between {low:g} and {high:g}, got {value!r}: {hint}")
    return float(value)


def check_real(value: Any, name: str) -> None:
    """Raise TypeError unless the value is a real number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r} of type {type(value).__name__}")

"""The budget: what may be spent, and on what."""

from __future__ import annotations

import dataclasses
import math
from numbers import Real
from typing import Any, NamedTuple

from .mechanisms import sampling_delta

SMALLEST_EPSILON = 1e-6


class Spent(NamedTuple):
    """A promise of (epsilon, delta)-differential privacy."""

    epsilon: float
    delta: float


@dataclasses.dataclass(frozen=True)
class Budget:
    """How the budget of one teacher is divided between its model and the rows that the model judges."""

    total: Spent
    model: Spent
    rows: Spent
    """Of a row whose label the model has seen. A row without a label has the whole epsilon for itself."""

    @classmethod
    def divided(cls, epsilon: float, delta: float, split: float) -> Budget:
        """A share of ``split`` for the model."""
        slack = sampling_delta(epsilon)
        model = Spent(split * epsilon, delta - slack)
        return cls(Spent(epsilon, delta), model, Spent(epsilon - model.epsilon, slack))

    @classmethod
    def beside(cls, epsilon: float, delta: float, model: Spent) -> Budget:
        """What a model that states its own budget leaves to the rows."""
        slack = sampling_delta(epsilon)
        if model.epsilon >= epsilon or model.delta + slack > delta:
            raise ValueError(
                f"the model spends epsilon {model.epsilon:g} and delta {model.delta:g} when one row's privileged "
                f"values change (twice what it states, since it may count rows that come or go), and the rows need "
                f"some as well: there are {epsilon:g} and {delta:g}. Give the model less, or the teacher more"
            )
        return cls(Spent(epsilon, delta), model, Spent(epsilon - model.epsilon, slack))


def check_epsilon(epsilon: Any) -> float:
    """A positive number."""
    check_real(epsilon, "epsilon")
    if not SMALLEST_EPSILON <= epsilon < math.inf:
        raise ValueError(
            f"epsilon must be finite and positive (at least {SMALLEST_EPSILON:g}), got {epsilon!r}: 1 is strict, "
            "beyond 10 little is promised"
        )
    return float(epsilon)


def check_delta(delta: Any, epsilon: float) -> float:
    """A positive number that leaves room for what the noise itself may miss."""
    check_real(delta, "delta")
    if not 0 < delta < 1:
        raise ValueError(f"delta must be positive and below 1, got {delta!r}: take well under 1 / number of rows")
    least = 2 * sampling_delta(epsilon)
    if least >= 1:
        raise ValueError(
            f"epsilon is {epsilon:g}, with which noise made of 64-bit numbers promises nothing at all: give less, "
            "beyond 10 little is promised anyway"
        )
    if delta < least:
        raise ValueError(
            f"delta must be at least {least:.2g} with epsilon {epsilon:g}, got {delta!r}: the noise is made of 64-bit "
            "numbers, and promises no less"
        )
    return float(delta)


def check_delta_for_rows(delta: float, n_rows: int) -> None:
    """Whoever may break the promise for one row in n can publish one row in full."""
    if delta * n_rows >= 1:
        raise ValueError(
            f"delta is {delta:g}, too large for {n_rows} rows: with 1 / {n_rows} = {1 / n_rows:.2g} or more, "
            f"publishing a row at random would count as private. Give at most {0.1 / n_rows:.1g}"
        )


def check_share(value: Any, name: str, low: float, high: float, hint: str) -> float:
    """A number strictly between two others, the lower one of which may be 0 itself."""
    check_real(value, name)
    if not (low < value < high or (value == low == 0 and name == "clip")):
        raise ValueError(f"{name} must lie between {low:g} and {high:g}, got {value!r}: {hint}")
    return float(value)


def check_real(value: Any, name: str) -> None:
    """A number, of whatever kind."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r} of type {type(value).__name__}")

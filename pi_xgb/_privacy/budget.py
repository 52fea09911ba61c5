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

    @property
    def rows(self) -> Spent:
        """The part of a labelled row's prediction, or 0 without one. A row without a label has the whole epsilon."""
        return Spent(self.total.epsilon - self.model.epsilon, 0.0)

    def check(self, advice: str) -> None:
        """Raise unless the model and the rows have a part that is possible."""
        enough = min(self.model.epsilon, self.rows.epsilon) >= SMALLEST_EPSILON
        if not (enough and self.model.delta <= self.total.delta):
            raise ValueError(
                f"epsilon must give at least {SMALLEST_EPSILON:g} to the model and to the rows, and delta what the "
                f"model needs, got {tuple(self.total)}, with {tuple(self.model)} for the model: {advice}"
            )


def check_budget(epsilon: Any, delta: Any) -> Spent:
    """Return both as floats; raise unless epsilon is positive and finite, and delta a probability below 1."""
    check_real(epsilon, "epsilon")
    if not SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON:
        limits = f"between {SMALLEST_EPSILON:g} and {LARGEST_EPSILON:g}"
        raise ValueError(f"epsilon must lie {limits}, got {epsilon!r}: 1 is strict, above 10 the guarantee is weak")
    check_delta(delta)
    return Spent(float(epsilon), float(delta))


def check_delta(delta: Any, n_rows: int = 1) -> None:
    """Raise unless delta is below 1 / n_rows: publishing one row in full would otherwise count as private."""
    check_real(delta, "delta")
    if not 0 <= delta < 1 / n_rows:
        limit = f"{1 / n_rows:.2g} for {n_rows} rows" if n_rows > 1 else "1"
        raise ValueError(f"delta must be at least 0 and below {limit}, got {delta!r}: pass far less than 1 / rows")


def check_real(value: Any, name: str) -> None:
    """Raise TypeError unless the value is a real number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r} of type {type(value).__name__}")

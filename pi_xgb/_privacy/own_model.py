"""A private model of the user's own, with its stated budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .budget import Spent, check_budget
from .domain import Column


class OwnModel:
    """A user's model with ``fit``, ``predict_proba``, ``epsilon`` and ``delta``.

    Its guarantee covers a row that is added or removed. A row that changes is removed and added: twice the epsilon, and
    (1 + exp(epsilon)) times the delta. The prediction for a row must depend on that row alone.
    """

    range = (0.0, 1.0)

    def __init__(self, model: Any, *, seeded: bool) -> None:
        self._model, self._seeded, self._name = model, seeded, type(model).__name__
        absent = [attr for attr in ("fit", "predict_proba", "epsilon", "delta") if not hasattr(model, attr)]
        if absent or isinstance(model, type):
            raise TypeError(
                "teacher must be 'histogram', 'dp-ebm' or a model with fit, predict_proba, epsilon and delta, got "
                f"{self._name} without {', '.join(absent) or 'an instance of it'}"
            )
        self.spent = self._stated()

    def _stated(self) -> Spent:
        """Return the model's present budget, converted to a row that changes; raise if its settings break it."""
        if hasattr(self._model, "privacy_bounds"):
            _check_dp_ebm(self._model)
        seeds = [attr for attr in ("random_state", "seed") if getattr(self._model, attr, None) is not None]
        if seeds and not self._seeded:
            raise ValueError(
                f"{self._name} must have no seed, got {seeds[0]}={getattr(self._model, seeds[0])!r}, with which an "
                "attacker can subtract the noise: leave it out (or pass unsafe_seed= in tests, without any guarantee)"
            )
        epsilon, delta = check_budget(self._model.epsilon, self._model.delta)
        return Spent(2 * epsilon, float((1 + np.exp(epsilon)) * delta))

    def _check_budget_stays(self) -> None:
        if self._stated() != self.spent:
            raise ValueError(f"epsilon and delta of {self._name} must stay constant, got another budget in fit")

    def read(self, table: Any) -> Any:
        """Return the table for the model."""
        return table

    def fit(self, values: Any, label: NDArray[np.int64], budget: Spent, noise: Any) -> None:
        """Train the model, which draws its own noise."""
        self._check_budget_stays()
        self._model.fit(values, label)
        self._check_budget_stays()

    def predict(self, values: Any) -> NDArray[np.float64]:
        """Return the probability of label 1; NaN becomes one half, so that it reveals no row."""
        mean = self._mean(values)
        for part in (slice(0, None, 2), slice(1, None, 2)):
            if not np.allclose(self._mean(values[part]), mean[part]):
                raise ValueError(f"{self._name}.predict_proba must depend on each row alone, and not on other rows")
        return mean

    def _mean(self, values: Any) -> NDArray[np.float64]:
        proba = np.asarray(self._model.predict_proba(values))
        if proba.shape != (len(values), 2):
            expected = f"probabilities of label 0 and 1, shape ({len(values)}, 2)"
            raise ValueError(f"{self._name}.predict_proba must return {expected}, got shape {proba.shape}")
        return np.clip(np.nan_to_num(proba[:, 1].astype(np.float64), nan=0.5), 0.0, 1.0)


def _check_dp_ebm(model: Any) -> None:
    """Raise if interpret's DP-EBM would read types, ranges or names of categories from the data, without privacy."""
    kinds = list(map(str, getattr(model, "feature_types", None) or [None]))
    if set(kinds) != {"continuous"}:
        raise ValueError(
            f"feature_types of {type(model).__name__} must be 'continuous' for every column, got {kinds}: others are "
            "read from the privileged values. Pass categories as codes 0, 1, ... with a range, as (-0.5, 2.5) for three"
        )
    bounds = () if model.privacy_bounds is None else model.privacy_bounds
    declared = bounds if isinstance(bounds, Mapping) else dict(enumerate(bounds))
    for i, name in enumerate(getattr(model, "feature_names", None) or range(len(kinds))):
        pair: Any = declared.get(i, declared.get(name, ()))
        Column(tuple(pair), f"column {i} in privacy_bounds")

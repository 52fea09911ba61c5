"""A private model of the user's own, with its stated budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._rows.tables import as_frame, as_table
from .budget import Spent, check_budget
from .domain import check_no_gaps, is_range


class OwnModel:
    """A user's model with ``fit``, ``predict_proba``, ``epsilon`` and ``delta``.

    Its guarantee covers a row that is added or removed. A row that changes is removed and added: twice the epsilon, and
    (1 + exp(epsilon)) times the delta. The prediction for a row must depend on that row alone.
    """

    range = (0.0, 1.0)

    def __init__(self, model: Any, *, seeded: bool) -> None:
        name = type(model).__name__
        absent = [attr for attr in ("fit", "predict_proba", "epsilon", "delta") if not hasattr(model, attr)]
        if absent or isinstance(model, type):
            raise TypeError(
                f"teacher must be 'histogram', 'dp-ebm' or a model with fit, predict_proba, epsilon and delta, got "
                f"{name} without {', '.join(absent) or 'an instance of it'}: add what is missing"
            )
        self._model, self._seeded = model, seeded
        self.spent = self._stated()

    def _stated(self) -> Spent:
        """Return the model's present budget, converted to a row that changes; raise if its settings break it."""
        model, name = self._model, type(self._model).__name__
        if hasattr(model, "privacy_bounds"):
            _check_dp_ebm(model)
        seeds = [attr for attr in ("random_state", "seed") if getattr(model, attr, None) is not None]
        if seeds and not self._seeded:
            raise ValueError(
                f"{name} must have no seed, got {seeds[0]}={getattr(model, seeds[0])!r}, with which an attacker can "
                "subtract the noise: leave it out (or pass unsafe_seed= in tests, without any guarantee)"
            )
        epsilon, delta = check_budget(model.epsilon, model.delta)
        return Spent(2 * epsilon, float((1 + np.exp(epsilon)) * delta))

    def _check_budget_stays(self) -> None:
        if self._stated() != self.spent:
            raise ValueError(
                f"epsilon and delta of {type(self._model).__name__} must stay constant, got another budget in fit: "
                "create a PrivateTeacher with a model whose budget does not change"
            )

    def read(self, z: Any) -> Any:
        """Return the table for the model."""
        table = as_table(z, "z")
        check_no_gaps(as_frame(table))
        return as_frame(table) if hasattr(table, "columns") else np.asarray(as_frame(table))

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
                raise ValueError(
                    f"{type(self._model).__name__}.predict_proba must depend on each row alone, got another value of "
                    "a row beside other rows: make it independent of the other rows"
                )
        return mean

    def _mean(self, values: Any) -> NDArray[np.float64]:
        proba = np.asarray(self._model.predict_proba(values))
        if proba.dtype.kind not in "fiub" or proba.shape != (len(values), 2):
            raise ValueError(
                f"{type(self._model).__name__}.predict_proba must return numbers of shape ({len(values)}, 2), got "
                f"{proba.dtype} of shape {proba.shape}: return the probabilities of label 0 and of label 1"
            )
        return np.clip(np.nan_to_num(proba[:, 1].astype(np.float64), nan=0.5), 0.0, 1.0)


def _check_dp_ebm(model: Any) -> None:
    """Raise if interpret's DP-EBM would read types, ranges or names of categories from the data, without privacy."""
    name, bounds, types = type(model).__name__, model.privacy_bounds, getattr(model, "feature_types", None)
    kinds = [None] if types is None else list(types)
    if odd := [kind for kind in kinds if not isinstance(kind, str) or kind != "continuous"]:
        raise ValueError(
            f"feature_types of {name} must be 'continuous' for every column, got {odd[0]!r}: it would read types and "
            "categories from the privileged values. Pass categories as declared codes 0, 1, ... with a range, as "
            "(-0.5, 2.5) for three"
        )
    names = getattr(model, "feature_names", None) or [None] * len(kinds)
    declared = bounds if isinstance(bounds, Mapping) else dict(enumerate([] if bounds is None else bounds))
    absent = [i for i, column in enumerate(names) if not is_range(declared.get(i, declared.get(column)))]
    if absent:
        raise ValueError(
            f"privacy_bounds of {name} must have a pair (low, high) for each of its {len(names)} columns, got none for "
            f"column {absent[0]}: it would read the range from the privileged values. Pass a dict of positions"
        )

"""A private model that the user brings, with the budget that it states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._rows.tables import as_frame, as_table
from .budget import Spent, check_delta, check_epsilon
from .domain import check_no_gaps


class OwnModel:
    """Asks a model for ``fit`` and ``predict_proba``, and for what it promises.

    A promise for a row that comes or goes makes one of twice the epsilon for a row that changes, which is one that goes
    and one that comes; its delta grows by 1 + exp(epsilon). What it says of a row must depend on that row alone.
    """

    range = (0.0, 1.0)

    def __init__(self, model: Any, unread: Sequence[str], *, seeded: bool) -> None:
        name = type(model).__name__
        absent = [word for word in ("fit", "predict_proba", "epsilon", "delta") if not hasattr(model, word)]
        if isinstance(model, type):
            raise TypeError(
                f"teacher must be a model, got the class {model.__name__}: make one of it, {model.__name__}(...)"
            )
        if absent:
            raise TypeError(
                f"teacher must be 'histogram', 'dp-ebm' or a private model, and {name} has no {', '.join(absent)}: it "
                "has to state the epsilon and delta that it keeps"
            )
        if unread:
            raise ValueError(f"with a model of your own there is no use for {', '.join(unread)}: {name} decides it")
        # interpret warns of these, and trains without the promise.
        open_ = [word for word in ("privacy_bounds", "feature_types") if getattr(model, word, "") is None]
        if open_:
            raise ValueError(
                f"{name} has no {' and no '.join(open_)}: it would read them from the data, and its promise would be "
                "void. Give them when you make it"
            )
        seeds = [word for word in ("random_state", "seed") if getattr(model, word, None) is not None]
        if seeds and not seeded:
            raise ValueError(
                f"{name} has {seeds[0]}={getattr(model, seeds[0])!r}: whoever knows it can subtract the noise. Leave "
                "it out (for tests pass unsafe_seed= as well, which promises nothing)"
            )
        self._model = model
        self.spent = self._stated()

    def _stated(self) -> Spent:
        """The budget as the model states it now, for a row that changes."""
        epsilon, delta = check_epsilon(self._model.epsilon), self._model.delta
        delta = 0.0 if isinstance(delta, (int, float)) and delta == 0 else check_delta(delta, epsilon)
        return Spent(2 * epsilon, float((1 + np.exp(epsilon)) * delta))

    def _check_budget_stays(self) -> None:
        if self._stated() != self.spent:
            raise ValueError(
                f"{type(self._model).__name__} states another budget than when it was given: the teacher has divided "
                "that one. Make another PrivateTeacher with a model whose epsilon and delta stay"
            )

    def read(self, z: Any) -> Any:
        """The table as the model gets it."""
        table = as_table(z, "z")
        check_no_gaps(as_frame(table))
        return as_frame(table) if hasattr(table, "columns") else np.asarray(as_frame(table))

    def fit(self, values: Any, label: NDArray[np.int64], budget: Spent, words: Any) -> None:
        """Train it; its noise is its own."""
        self._check_budget_stays()
        self._model.fit(values, label)
        self._check_budget_stays()

    def predict(self, values: Any) -> NDArray[np.float64]:
        """The probability of label 1; what is no number counts as one half, so that no row stands out."""
        said = self._said(values)
        for part in (slice(0, None, 2), slice(1, None, 2)):
            if not np.allclose(self._said(values[part]), said[part]):
                raise ValueError(
                    f"{type(self._model).__name__}.predict_proba says something else of a row when other rows are "
                    "asked about with it: what it says of a row must depend on the values of that row alone"
                )
        return said

    def _said(self, values: Any) -> NDArray[np.float64]:
        answer = np.asarray(self._model.predict_proba(values))
        if answer.dtype.kind not in "fiub":
            raise TypeError(
                f"{type(self._model).__name__}.predict_proba gives {answer.dtype}: it must give numbers, the "
                "probabilities of label 0 and of label 1"
            )
        if answer.shape != (len(values), 2):
            raise ValueError(
                f"{type(self._model).__name__}.predict_proba gives shape {answer.shape} for {len(values)} rows: it "
                f"must give ({len(values)}, 2), the probabilities of label 0 and of label 1"
            )
        return np.clip(np.nan_to_num(answer[:, 1].astype(np.float64), nan=0.5), 0.0, 1.0)

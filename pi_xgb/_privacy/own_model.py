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
    and one that comes; its delta grows by 1 + exp(epsilon).
    """

    range = (0.0, 1.0)

    def __init__(self, model: Any, unread: Sequence[str], *, seeded: bool) -> None:
        name = type(model).__name__
        absent = [word for word in ("fit", "predict_proba", "epsilon", "delta") if not hasattr(model, word)]
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
        if getattr(model, "random_state", None) is not None and not seeded:
            raise ValueError(
                f"{name} has random_state={model.random_state!r}: whoever knows it can subtract the noise. Leave it "
                "out (for tests pass unsafe_seed= as well, which promises nothing)"
            )
        epsilon = check_epsilon(model.epsilon)
        self.spent = Spent(2 * epsilon, float((1 + np.exp(epsilon)) * check_delta(model.delta, epsilon)))
        self._model = model

    def read(self, z: Any) -> Any:
        """The table as the model gets it."""
        table = as_table(z, "z")
        check_no_gaps(as_frame(table))
        return as_frame(table) if hasattr(table, "columns") else np.asarray(as_frame(table))

    def fit(self, values: Any, label: NDArray[np.int64], budget: Spent, words: Any) -> None:
        """Train it; its noise is its own."""
        self._model.fit(values, label)

    def predict(self, values: Any) -> NDArray[np.float64]:
        """The probability of label 1."""
        return np.asarray(self._model.predict_proba(values)[:, 1], dtype=np.float64)

"""A private model of y on many privileged columns: interpret's DP-EBM, with a noise that this promise needs.

interpret counts a row that comes or goes. Here a row stays, with its label, and its privileged values change: it leaves
one bin and enters another, so sums and counts change in two places, by at most 1 each. Their distance is the root of 2
and not 1. In terms of Gaussian differential privacy (mu of Dong, Roth and Su) all mu are the root of 2 times as large,
and this file looks for the epsilon that interpret has to be told for that to come out right.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .budget import Spent
from .domain import Domain

ROUNDS, LEARNING_RATE, BINNING_SHARE = 300, 0.01, 0.1
"""interpret's own defaults, given by name because the accounting needs them."""
_MOVED = math.sqrt(2)
_FINE_BINS = 64
"""In as many equal parts interpret cuts a range before it draws bins together: most categories of a column."""


class DPEBM:
    """interpret's differentially private explainable boosting machine."""

    def __init__(self, domain: Domain, random_state: int | None) -> None:
        self._ebm_class = _ebm_class()
        self._bounds = [column.bounds for column in domain.columns.values()]
        self._random_state = random_state
        wide = [name for name, column in domain.columns.items() if column.size(1) > _FINE_BINS]
        if wide:
            raise ValueError(f"DP-EBM takes at most {_FINE_BINS} categories, {wide[0]!r} has more: join rare ones")

    def fit(self, values: NDArray[np.float64], label: NDArray[np.int64], budget: Spent, words: Any) -> None:
        """Train with the noise that ``budget`` asks for; interpret draws it by itself."""
        n_columns = len(self._bounds)
        # Categories go by their numbers: a nominal column's names would be read from the data.
        ebm = self._ebm_class(
            feature_names=[f"z{i}" for i in range(n_columns)],
            feature_types=["continuous"] * n_columns,
            privacy_bounds=dict(enumerate(self._bounds)),
            epsilon=epsilon_to_tell(budget),
            delta=budget.delta,
            composition="gdp",
            max_rounds=ROUNDS,
            learning_rate=LEARNING_RATE,
            bin_budget_frac=BINNING_SHARE,
            outer_bags=1,
            n_jobs=1,
            random_state=self._random_state,
        )
        with warnings.catch_warnings():
            if self._random_state is not None:
                warnings.filterwarnings("ignore", "Privacy violation: using a fixed random_state")
            ebm.fit(values, label)
        spent = delta_of(budget.epsilon, mu_of_noise(ebm, n_columns))
        if not spent <= budget.delta:
            raise RuntimeError(
                f"interpret used less noise than was asked for: delta {spent:.3g} instead of {budget.delta:.3g}. This "
                "version of it cannot be used here, nothing was released"
            )
        self._ebm = ebm

    def predict(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probability of label 1."""
        return np.asarray(self._ebm.predict_proba(values)[:, 1], dtype=np.float64)

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest that it could say of any row."""
        ends = [
            float(self._ebm.intercept_[0]) + sum(float(end(scores)) for scores in self._ebm.term_scores_)
            for end in (np.min, np.max)
        ]
        return 1 / (1 + math.exp(-ends[0])), 1 / (1 + math.exp(-ends[1]))


def _ebm_class() -> Any:
    try:
        from interpret import privacy
    except ImportError as error:
        raise ImportError("teacher='dp-ebm' needs interpret: pip install \"pi-xgb[private]\"") from error
    return getattr(privacy, "DPExplainableBoostingClassifier", None) or privacy.DPEBMClassifier


def delta_of(epsilon: float, mu: float) -> float:
    """The least delta of a mu-Gaussian mechanism at this epsilon."""
    return _normal(-epsilon / mu + mu / 2) - math.exp(epsilon) * _normal(-epsilon / mu - mu / 2)


def mu_of_noise(ebm: Any, n_columns: int) -> float:
    """What the noise that a trained model had is worth, for a row that stays and changes its values."""
    binning = math.sqrt(n_columns) / ebm.noise_scale_binning_
    boosting = math.sqrt(ROUNDS * n_columns) * LEARNING_RATE / ebm.noise_scale_boosting_
    return _MOVED * math.hypot(binning, boosting)


def epsilon_to_tell(budget: Spent) -> float:
    """The epsilon that interpret has to be told for ``budget`` to be kept."""

    def mu_if_told(told: float) -> float:
        half = budget.delta / 2  # so interpret divides it between binning and boosting
        parts = [mu_of_promise(share * told, half) for share in (BINNING_SHARE, 1 - BINNING_SHARE)]
        return _MOVED * math.hypot(*parts)

    low, high = 0.0, 4 * budget.epsilon
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(budget.epsilon, mu_if_told(middle)) <= budget.delta else (low, middle)
    return low * (1 - 1e-6)  # so that rounding errs on the side of noise


def mu_of_promise(epsilon: float, delta: float) -> float:
    """The largest mu whose mechanism keeps (epsilon, delta)."""
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(epsilon, middle) <= delta else (low, middle)
    return low


def _normal(value: float) -> float:
    return math.erfc(-value / math.sqrt(2)) / 2

"""A private model of y on many privileged columns: interpret's DP-EBM, with noise for rows that change.

interpret protects a row that is added or removed. Here a row keeps its label and its privileged values change: it
leaves one bin and enters another, so sums and counts change in two places, by at most 1 each. Their distance is sqrt(2)
instead of 1. In terms of Gaussian differential privacy (mu of Dong, Roth and Su) every mu is sqrt(2) times as large.
:func:`epsilon_for_interpret` is the epsilon for interpret that gives the right mu.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from .._rows.checks import needed_module
from .bounds import largest
from .budget import Spent
from .domain import Domain

ROUNDS, LEARNING_RATE, BINNING_SHARE = 300, 0.01, 0.1
"""interpret's own defaults, passed explicitly because the accounting needs them."""
SMALLEST_SHARE, LARGEST_SHARE, SMALLEST_DELTA = 1e-3, 20, 1e-10
_PLANNED = 0.9
"""The share of delta that is planned for: interpret computes its noise with rounding errors of a few percent."""
_MOVED = math.sqrt(2)
_FINE_BINS = 62
"""The equal bins that interpret cuts a range into before merging: the most categories of a column."""


class DPEBM:
    """interpret's differentially private explainable boosting machine."""

    def __init__(self, domain: Domain, random_state: int | None) -> None:
        self._interpret = needed_module("interpret.privacy", "teacher='dp-ebm' needs interpret", "private")
        self._bounds = [(column.low, column.high) for column in domain.columns]
        self._random_state = random_state
        if wide := [column.name for column in domain.columns if column.size(1) > _FINE_BINS]:
            raise ValueError(f"{wide[0]!r} must have at most {_FINE_BINS} categories for DP-EBM: merge rare ones")

    def fit(self, values: NDArray[np.float64], label: NDArray[np.int64], budget: Spent, noise: Any) -> None:
        """Train with the noise for ``budget``, which interpret draws."""
        if not SMALLEST_SHARE <= budget.epsilon <= LARGEST_SHARE or budget.delta < SMALLEST_DELTA:
            raise ValueError(
                f"the model of 'dp-ebm' takes an epsilon from {SMALLEST_SHARE:g} to {LARGEST_SHARE} and a delta "
                f"of at least {SMALLEST_DELTA:g}, got {budget.epsilon:g} and {budget.delta:g}: pass others"
            )
        n_columns = len(self._bounds)
        # Categories as numbers: interpret would read the names of a nominal column from the data.
        ebm = self._interpret.DPExplainableBoostingClassifier(
            feature_names=[f"z{i}" for i in range(n_columns)],
            feature_types=["continuous"] * n_columns,
            privacy_bounds=dict(enumerate(self._bounds)),
            epsilon=epsilon_for_interpret(budget),
            delta=budget.delta,
            composition="gdp",
            max_rounds=ROUNDS,
            learning_rate=LEARNING_RATE,
            bin_budget_frac=BINNING_SHARE,
            outer_bags=1,
            n_jobs=1,
            random_state=self._random_state,
        )
        ebm.fit(values, label)
        spent = delta_of(budget.epsilon, mu_of_noise(ebm, n_columns))
        if not spent <= budget.delta:
            raise RuntimeError(
                f"interpret must reach delta {budget.delta:.3g}, got {spent:.3g}: its noise was too small, take another"
            )
        self._ebm = ebm

    def predict(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of label 1."""
        return np.asarray(self._ebm.predict_proba(values)[:, 1], dtype=np.float64)

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest possible prediction for any row."""
        low, high = (sum(float(end(scores)) for scores in self._ebm.term_scores_) for end in (np.min, np.max))
        return float(expit(self._ebm.intercept_[0] + low)), float(expit(self._ebm.intercept_[0] + high))


def delta_of(epsilon: float, mu: float) -> float:
    """Return the smallest delta of a mu-Gaussian mechanism at this epsilon."""
    return float(ndtr(-epsilon / mu + mu / 2) - math.exp(epsilon) * ndtr(-epsilon / mu - mu / 2))


def mu_of_noise(ebm: Any, n_columns: int) -> float:
    """Return the mu of a trained model's noise, for a row that changes its values."""
    binning = math.sqrt(n_columns) / ebm.noise_scale_binning_
    boosting = math.sqrt(ROUNDS * n_columns) * LEARNING_RATE / ebm.noise_scale_boosting_
    return _MOVED * math.hypot(binning, boosting)


def epsilon_for_interpret(budget: Spent) -> float:
    """Return the epsilon to pass to interpret, under which a changed row costs at most ``budget``."""

    def mu_at(epsilon: float) -> float:
        half = budget.delta / 2  # interpret divides it equally between binning and boosting
        parts = [mu_of_promise(share * epsilon, half) for share in (BINNING_SHARE, 1 - BINNING_SHARE)]
        return _MOVED * math.hypot(*parts)

    planned = _PLANNED * budget.delta
    return largest(lambda epsilon: delta_of(budget.epsilon, mu_at(epsilon)) <= planned, 4 * LARGEST_SHARE)


def mu_of_promise(epsilon: float, delta: float) -> float:
    """Return the largest mu whose mechanism has (epsilon, delta)."""
    return largest(lambda mu: delta_of(epsilon, mu) <= delta, 100.0)

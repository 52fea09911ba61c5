"""What is drawn again and again: groups that lie apart in a known way.

Two fifths of the rows are positive. Scores are normal, so that every true rate and every true ROC curve is known; the
groups of a design lie apart by one number, which moves positives by all of it and negatives by half. But for "nearly
right": there one group is decided and ranked without a mistake, and the others with few.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import norm

RATES = ("statistical_parity", "equalized_odds", "equal_opportunity", "predictive_parity")
MEASURES = (*RATES, "abroca")
PARTS = {"rates": RATES, "curves": ("abroca",)}
SIZES = ((2, 200), (2, 1000), (2, 5000), (4, 400), (4, 2000), (10, 1000), (10, 5000), (10, 200))
SIZES_OF_FEW_MISTAKES = ((2, 100), (2, 200), (4, 400), (2, 1000))
APART, BASE_RATE = 0.8, 0.4
NEARLY_RIGHT = "nearly right"
DESIGNS = {
    "alike": lambda k: np.zeros(k),
    "ladder": lambda k: np.linspace(0, APART, k),
    "one apart": lambda k: np.where(np.arange(k) == 0, APART, 0.0),
    "two crowds": lambda k: np.where(np.arange(k) % 2, APART, 0.0),
}


class Cell(NamedTuple):
    """A design of a size, and what is asked of it."""

    part: str
    design: str
    groups: int
    rows: int


class Sample(NamedTuple):
    """Rows; 1/2 is the threshold of the scores."""

    y: np.ndarray
    score: np.ndarray
    group: np.ndarray


def cells() -> list[Cell]:
    """All of them; of two groups there is one way to lie apart."""
    return [
        Cell(part, design, groups, rows)
        for groups, rows in SIZES
        for design in (("alike", "one apart") if groups == 2 else DESIGNS)
        for part in PARTS
    ] + [Cell(part, NEARLY_RIGHT, groups, rows) for groups, rows in SIZES_OF_FEW_MISTAKES for part in PARTS]


def means(cell: Cell) -> tuple[np.ndarray, np.ndarray]:
    """Of the normal scores of negatives and positives in each group; 0 is the threshold."""
    if cell.design == NEARLY_RIGHT:
        far = np.where(np.arange(cell.groups) == 0, 8.0, 2.0)
        return -far, far
    shift = DESIGNS[cell.design](cell.groups)
    return -0.6 + shift / 2, 0.2 + shift


def rates(negative: np.ndarray, positive: np.ndarray, base_rate: float = BASE_RATE) -> dict[str, np.ndarray]:
    """The true rates of groups whose normal scores have these means."""
    fpr, tpr = norm.cdf(negative), norm.cdf(positive)
    selected = base_rate * tpr + (1 - base_rate) * fpr
    return {
        "base_rate": np.full_like(tpr, base_rate),
        "selection_rate": selected,
        "true_positive_rate": tpr,
        "false_positive_rate": fpr,
        "precision": base_rate * tpr / selected,
        "accuracy": base_rate * tpr + (1 - base_rate) * (1 - fpr),
        "auc": norm.cdf((positive - negative) / np.sqrt(2)),
    }


def truth(cell: Cell) -> dict[str, float]:
    """The gaps of the population."""
    negative, positive = means(cell)
    source = rates(negative, positive)
    tpr, fpr = source["true_positive_rate"], source["false_positive_rate"]
    at = (np.arange(2000) + 0.5) / 2000
    curves = norm.cdf((positive - negative)[:, None] + norm.ppf(at))
    apart = np.abs(tpr[:, None] - tpr) + np.abs(fpr[:, None] - fpr)
    return {
        "statistical_parity": float(np.ptp(source["selection_rate"])),
        "equalized_odds": float(apart.max()),
        "equal_opportunity": float(np.ptp(tpr)),
        "predictive_parity": float(np.ptp(source["precision"])),
        "abroca": float(np.abs(curves[:, None] - curves).mean(axis=-1).max()),
    }


def sample(cell: Cell, seed: int) -> Sample:
    """Rows of a cell."""
    rng = np.random.default_rng([seed, cell.groups, cell.rows])
    group = rng.integers(0, cell.groups, cell.rows)
    y = rng.random(cell.rows) < BASE_RATE
    negative, positive = means(cell)
    return Sample(y, norm.cdf(rng.normal(np.where(y, positive[group], negative[group]))), group)

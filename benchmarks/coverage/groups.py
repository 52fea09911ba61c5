"""Rates of one group: how often the intervals of ``group_report`` hold the truth."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm

from benchmarks.coverage.cells import BASE_RATE, rates
from benchmarks.coverage.gaps import FIRST
from pi_xgb import metrics
from pi_xgb.metrics import UndefinedRateWarning

MEANS = {"usual": (-0.6, 0.2), "good": (-1.2, 1.5), "seldom": (-2.2, -0.5)}
"""Of the normal scores of negatives and positives: a usual model, a good one, and one that selects few."""
SIZES = (10, 20, 50, 200, 1000)
GROUPS, DRAWS, HEAVIER = 4, 250, 3.0


class Cell(NamedTuple):
    """Scores, the rows of each group, and whether positives weigh ``HEAVIER``."""

    scores: str
    rows: int
    weighted: bool


def cells() -> list[Cell]:
    return [Cell(scores, rows, weighted) for weighted in (False, True) for scores in MEANS for rows in SIZES]


def truth(cell: Cell) -> dict[str, float]:
    """The rates of the population; weights make positives more frequent."""
    heavy = BASE_RATE * HEAVIER if cell.weighted else BASE_RATE
    source = rates(*(np.array([mean]) for mean in MEANS[cell.scores]), heavy / (heavy + 1 - BASE_RATE))
    return {name: float(value[0]) for name, value in source.items()}


def drawn(cell: Cell, seed: int) -> pd.DataFrame:
    """What is said of the groups of one sample."""
    rng = np.random.default_rng([seed, cell.rows])
    group, n_rows = np.repeat(np.arange(GROUPS), cell.rows), GROUPS * cell.rows
    y = rng.random(n_rows) < BASE_RATE
    score = norm.cdf(rng.normal(np.where(y, *reversed(MEANS[cell.scores]))))
    weight = np.where(y, HEAVIER, 1.0) if cell.weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedRateWarning)
        return metrics.group_report(y, score, sensitive_features=group, sample_weight=weight, margins=False)


def lines_of(cell: Cell, draws: int = DRAWS) -> pd.DataFrame:
    """How often each interval held the truth, among the groups that have the rate."""
    found = pd.concat([drawn(cell, FIRST + i) for i in range(draws)])
    lines = []
    for name, true in truth(cell).items():
        known = found[found[name].notna()]
        low, high = known[f"{name}_low"], known[f"{name}_high"]
        below, above = float((high < true).mean()), float((low > true).mean())
        counted = {"covered": 1 - below - above, "below": below, "above": above, "width": float((high - low).mean())}
        lines.append({**cell._asdict(), "measure": name, "true": true, **counted, "intervals": len(known)})
    return pd.DataFrame(lines)

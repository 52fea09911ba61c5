"""Friedman's test and Nemenyi's critical distance (Demsar, JMLR 2006)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, rankdata, studentized_range

LEVEL = 0.05


class Ranking(NamedTuple):
    """Average ranks, the best first, and what may be said of them."""

    ranks: pd.Series[float]
    statistic: float
    p_value: float
    critical: float
    """Two average ranks differ significantly where they are further apart than this."""

    def cliques(self) -> list[tuple[int, int]]:
        """First and last place of the largest groups of neighbours none of which differs from another."""
        places = self.ranks.to_numpy()
        spans = [(i, int(np.flatnonzero(places <= places[i] + self.critical)[-1])) for i in range(len(places))]
        return [(i, j) for i, j in spans if j > i and not any(a < i and j <= b for a, b in spans)]


def critical_distance(methods: int, sets: int) -> float:
    """So far apart must two of these average ranks be."""
    quantile = float(studentized_range.ppf(1 - LEVEL, methods, np.inf)) / math.sqrt(2)
    return quantile * math.sqrt(methods * (methods + 1) / (6 * sets))


def ranking(losses: pd.DataFrame) -> Ranking:
    """Of a row per set and a column per method, the smaller the better; equal ones share their ranks."""
    each = pd.DataFrame([rankdata(row) for row in losses.to_numpy()], columns=losses.columns)
    statistic, p_value = friedmanchisquare(*losses.to_numpy().T)
    ranks = each.mean().sort_values(kind="stable")
    return Ranking(ranks, float(statistic), float(p_value), critical_distance(losses.shape[1], len(losses)))

"""What epsilon a mechanism has at least, from how often an attacker was right."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import stats

CUTS = 41
"""How many events an attacker tries before choosing one."""


def from_rates(hits: int, of: int, alarms: int, of_others: int, delta: float, alpha: float) -> float:
    """From an event that came ``hits`` times under one data set and ``alarms`` times under its neighbour.

    Both chances are replaced by ends of their exact (Clopper-Pearson) intervals, each wrong with chance ``alpha / 2``.
    """
    if not hits or alarms == of_others:
        return 0.0
    low = stats.beta.ppf(alpha / 2, hits, of - hits + 1)
    high = stats.beta.ppf(1 - alpha / 2, alarms + 1, of_others - alarms)
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0


def from_guesses(right: int, of: int, delta: float, alpha: float) -> float:
    """From guesses of values that were each drawn by a fair coin, each independently of the others.

    Theorem 5.2 of Steinke, Nasr and Jagielski, "Privacy auditing with one training run" (2023): with no more than
    epsilon and delta, so many right ones come with at most the chance :func:`chance_of`. The largest epsilon for which
    that is below ``alpha``.
    """
    low, high = 0.0, 50.0
    if chance_of(right, of, low, delta) > alpha:
        return 0.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if chance_of(right, of, middle, delta) <= alpha else (low, middle)
    return low


def chance_of(right: int, of: int, epsilon: float, delta: float) -> float:
    """The largest chance of at least so many right guesses that (epsilon, delta) allows."""
    share = 1 / (1 + math.exp(-epsilon))
    chance = float(stats.binom.sf(right - 1, of, share))
    if right > 0:
        below = stats.binom.pmf(np.arange(right - 1, -1, -1), of, share).cumsum()
        chance += 2 * of * delta * float((below / np.arange(1, right + 1)).max())
    return min(chance, 1.0)


def best_cut(
    scores: NDArray[np.float64], coins: NDArray[np.bool_], delta: float, alpha: float
) -> tuple[float, bool, bool]:
    """The event "score at least (or below) a cut" that tells the two data sets apart best: cut, side, under which.

    Cuts lie midway between two scores: further ones that are a little beyond those seen here still count.
    """
    ones, zeros = np.sort(scores[coins]), np.sort(scores[~coins])
    sizes = len(ones), len(zeros)
    tried = []
    found = np.unique(scores)
    chosen = np.quantile(scores, np.linspace(0, 1, CUTS), method="nearest")
    middles = np.append(found[:1], found[:-1] + np.diff(found) / 2)
    for cut in np.unique(middles[np.searchsorted(found, chosen)]):
        above = sizes[0] - int(np.searchsorted(ones, cut)), sizes[1] - int(np.searchsorted(zeros, cut))
        for is_above in (True, False):
            events = above if is_above else (sizes[0] - above[0], sizes[1] - above[1])
            for under_one in (True, False):
                i, j = (0, 1) if under_one else (1, 0)
                bound = from_rates(events[i], sizes[i], events[j], sizes[j], delta, alpha)
                tried.append((bound, (float(cut), is_above, under_one)))
    return max(tried, key=lambda one: one[0])[1]

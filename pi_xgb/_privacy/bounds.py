"""Lower bounds of epsilon from the success of an attacker."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

CUTS = 41
"""The number of cuts among which an attacker chooses."""


def from_rates(hits: int, n_runs: int, alarms: int, n_others: int, delta: float, alpha: float) -> float:
    """Return the bound from an event with ``hits`` under one data set and ``alarms`` under its neighbour.

    Both rates are replaced by limits of their exact (Clopper-Pearson) intervals, each with error ``alpha / 2``.
    """
    if not hits or alarms == n_others:
        return 0.0
    low = stats.beta.ppf(alpha / 2, hits, n_runs - hits + 1)
    high = stats.beta.ppf(1 - alpha / 2, alarms + 1, n_others - alarms)
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0


def from_guesses(n_right: int, n_guesses: int, delta: float, alpha: float) -> float:
    """Return the bound from guesses of values that independent fair coins selected.

    Theorem 5.2 of Steinke, Nasr and Jagielski, "Privacy auditing with one training run" (2023): under epsilon and
    delta, ``n_right`` right guesses have at most the probability :func:`chance_of`. The bound is the largest epsilon
    for which that is at most ``alpha``.
    """
    return largest(lambda epsilon: chance_of(n_right, n_guesses, epsilon, delta) <= alpha, 50.0)


def largest(holds: Callable[[float], bool], most: float) -> float:
    """Return the largest number from 0 to ``most`` for which it holds, where it holds up to one; 0 if for none."""
    low, high = 0.0, most
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def chance_of(n_right: int, n_guesses: int, epsilon: float, delta: float) -> float:
    """Return the largest probability of ``n_right`` or more right guesses under (epsilon, delta)."""
    share = 1 / (1 + math.exp(-epsilon))
    chance = float(stats.binom.sf(n_right - 1, n_guesses, share))
    if n_right > 0:
        below = stats.binom.pmf(np.arange(n_right - 1, -1, -1), n_guesses, share).cumsum()
        chance += 2 * n_guesses * delta * float((below / np.arange(1, n_right + 1)).max())
    return min(chance, 1.0)


def best_cut(scores: NDArray[np.float64], coins: NDArray[np.bool_], delta: float, alpha: float) -> tuple[float, bool]:
    """Return the event with the largest bound: the cut, and whether scores at or above it count, or those below.

    High scores speak for the coin, so an event above the cut counts under the coin, one below it without. Cuts lie
    midway between two scores, so that new scores slightly beyond the old ones still count.
    """
    found = np.unique(scores)
    chosen = np.quantile(scores, np.linspace(0, 1, CUTS), method="nearest")
    middles = np.append(found[:1], found[:-1] + np.diff(found) / 2)
    cuts = np.unique(middles[np.searchsorted(found, chosen)]).tolist()
    events = [(cut, is_above) for cut in cuts for is_above in (True, False)]
    return max(events, key=lambda event: bound_of(event, scores, coins, delta, alpha))


def bound_of(
    event: tuple[float, bool], scores: NDArray[np.float64], coins: NDArray[np.bool_], delta: float, alpha: float
) -> float:
    """Return the bound from an event of :func:`best_cut`."""
    cut, is_above = event
    hit, side = (scores >= cut) == is_above, coins == is_above
    return from_rates(int(hit[side].sum()), int(side.sum()), int(hit[~side].sum()), int((~side).sum()), delta, alpha)

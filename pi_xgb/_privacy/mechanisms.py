"""The two kinds of noise, in whole numbers: what is noised is an integer before, and stays one.

Noise that is computed as a floating-point number has gaps, and which numbers can come out depends on what the noise was
added to: the promise would break in the last bits. Here random bits are compared with integers, so that nothing depends
on rounding. All that is not exact is that a chance is a multiple of 2 ** -64, which :func:`sampling_delta` pays for.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .randomness import Words

Integers = NDArray[np.int64]
STEPS = 2**20
"""On how many steps a row's value is rounded before noise is added."""
_WORD = 2**64
_CERTAIN = 64
"""A bit of chance exp(-64) never comes."""


def sampling_delta(epsilon: float) -> float:
    """What the noise may miss of its promise, added to delta.

    Laplace noise is made of at most 124 bits, each with a chance that is off by less than 2 ** -64, so one draw is off
    by less than 2 ** -57 in total variation. A row takes part in at most 2 draws of a table and 1 of its own, for each
    of up to 25 tables: less than 2 ** -50. Two distributions that are each off by t break a promise of epsilon by at
    most (1 + exp(epsilon)) t.
    """
    return (1 + math.exp(min(epsilon, 700))) * 2.0**-50


def discrete_laplace(count: int, sensitivity: int, epsilon: float, words: Words) -> Integers:
    """Noise of chance proportional to exp(-epsilon |k| / sensitivity) for each whole number k.

    Two data sets whose integers differ by at most ``sensitivity``, all in all, are then told apart no better than
    epsilon says.
    """
    thresholds = bit_thresholds(Fraction(epsilon) / sensitivity)
    return geometric(count, thresholds, words) - geometric(count, thresholds, words)


def bit_thresholds(rate: Fraction) -> list[int]:
    """For each binary digit of a geometric number the chance that it is 1, times 2 ** 64.

    The digits of a number k >= 0 with chance proportional to exp(-rate k) are independent, and digit j is 1 with chance
    1 / (1 + exp(rate 2 ** j)).
    """
    thresholds: list[int] = []
    with localcontext() as context:
        context.prec = 60
        step = Decimal(rate.numerator) / Decimal(rate.denominator)
        while (exponent := step * 2 ** len(thresholds)) < _CERTAIN:
            thresholds.append(int(_WORD / (1 + exponent.exp())))
    return thresholds


def geometric(count: int, thresholds: list[int], words: Words) -> Integers:
    """Numbers k >= 0 with chance proportional to exp(-rate k)."""
    found = np.zeros(count, np.int64)
    for digit, threshold in enumerate(thresholds):
        found += (words(count) < np.uint64(threshold)).astype(np.int64) << digit
    return found


class Laplace:
    """Adds discrete Laplace noise to a number of steps from 0 to :data:`STEPS`."""

    name = "laplace"

    def __init__(self, epsilon: float) -> None:
        self._epsilon = epsilon

    @property
    def variance(self) -> float:
        """In units of the whole range."""
        half = self._epsilon / STEPS / 2
        return 1 / (2 * math.sinh(half) ** 2) / STEPS**2

    def release(self, steps: Integers, words: Words) -> NDArray[np.float64]:
        """What may be shown of each row, on average ``steps / STEPS``."""
        noise = discrete_laplace(len(steps), STEPS, self._epsilon, words)
        return np.asarray((steps + noise) / STEPS)


class RandomizedResponse:
    """Shows one of two numbers, the larger one the more often the larger the value: a coin for each row.

    The chances of the larger number lie between 1 / (1 + exp(epsilon)) and its complement, so the two differ by a
    factor of exp(epsilon) at most, exactly. Of all unbiased answers by one of two numbers it varies least, and it
    varies less than Laplace noise where epsilon is below about 2.3.
    """

    name = "randomized_response"

    def __init__(self, epsilon: float) -> None:
        with localcontext() as context:
            context.prec = 60
            self._low = math.ceil(_WORD / (1 + Decimal(epsilon).exp()))
        self._step = (_WORD - 2 * self._low) // STEPS

    @property
    def variance(self) -> float:
        """In units of the whole range, where it is largest: in the middle."""
        return (_WORD / (self._step * STEPS)) ** 2 / 4

    def release(self, steps: Integers, words: Words) -> NDArray[np.float64]:
        """What may be shown of each row, on average ``steps / STEPS``."""
        thresholds = np.uint64(self._low) + np.uint64(self._step) * steps.astype(np.uint64)
        shown = (words(len(steps)) < thresholds).astype(np.float64)
        return np.asarray((shown * _WORD - self._low) / (self._step * STEPS))


NOISES: dict[str, Any] = {noise.name: noise for noise in (Laplace, RandomizedResponse)}


def noise_named(name: str, epsilon: float) -> Laplace | RandomizedResponse:
    """This kind of noise; for ``"auto"`` the one that varies less."""
    made = [kind(epsilon) for kind in NOISES.values()] if name == "auto" else [NOISES[name](epsilon)]
    best: Laplace | RandomizedResponse = min(made, key=lambda noise: noise.variance)
    return best

"""The two kinds of noise, added to integers in exact arithmetic.

Floating-point noise has gaps, and the possible sums depend on the value that the noise is added to: the last bits would
reveal it. Here random bits are compared with integers, so nothing depends on rounding. The one error is that
probabilities are multiples of 2 ** -64, which :func:`sampling_delta` covers.
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
"""The number of steps that a row's value is rounded to before noise is added."""
_WORD = 2**64
_CERTAIN = 64
"""Bits of probability exp(-64) and less are left out."""


def sampling_delta(epsilon: float) -> float:
    """Return the addition to delta that covers the error of the noise.

    Laplace noise has at most 124 bits. The probability of each has an error below 2 ** -64, so one draw has an error
    below 2 ** -57 in total variation. A row takes part in at most 2 draws of a table and 1 of its own, for each of up
    to 25 tables: less than 2 ** -50. With an error of t in each of two distributions, epsilon holds up to
    (1 + exp(epsilon)) t.
    """
    return (1 + math.exp(min(epsilon, 700))) * 2.0**-50


def discrete_laplace(count: int, sensitivity: int, epsilon: float, words: Words) -> Integers:
    """Return noise with probability proportional to exp(-epsilon |k| / sensitivity) for each whole number k.

    It gives epsilon-differential privacy to integers whose total change is at most ``sensitivity``.
    """
    thresholds = bit_thresholds(Fraction(epsilon) / sensitivity)
    return geometric(count, thresholds, words) - geometric(count, thresholds, words)


def bit_thresholds(rate: Fraction) -> list[int]:
    """Return for each binary digit of a geometric number the probability of 1, times 2 ** 64.

    The digits of k >= 0 with probability proportional to exp(-rate k) are independent, and digit j is 1 with
    probability 1 / (1 + exp(rate 2 ** j)).
    """
    thresholds: list[int] = []
    with localcontext() as context:
        context.prec = 60
        step = Decimal(rate.numerator) / Decimal(rate.denominator)
        while (exponent := step * 2 ** len(thresholds)) < _CERTAIN:
            thresholds.append(int(_WORD / (1 + exponent.exp())))
    return thresholds


def geometric(count: int, thresholds: list[int], words: Words) -> Integers:
    """Return numbers k >= 0 with probability proportional to exp(-rate k)."""
    numbers = np.zeros(count, np.int64)
    for digit, threshold in enumerate(thresholds):
        numbers += (words(count) < np.uint64(threshold)).astype(np.int64) << digit
    return numbers


class Laplace:
    """Discrete Laplace noise on a number of steps from 0 to :data:`STEPS`."""

    name = "laplace"

    def __init__(self, epsilon: float) -> None:
        self._epsilon = epsilon

    @property
    def variance(self) -> float:
        """The variance in units of the squared range."""
        half = self._epsilon / STEPS / 2
        return 1 / (2 * math.sinh(half) ** 2) / STEPS**2

    def release(self, steps: Integers, words: Words) -> NDArray[np.float64]:
        """Return the noisy value of each row, on average ``steps / STEPS``."""
        noise = discrete_laplace(len(steps), STEPS, self._epsilon, words)
        return np.asarray((steps + noise) / STEPS)


class RandomizedResponse:
    """One of two numbers for each row; the probability of the larger number rises with the value.

    This probability lies between 1 / (1 + exp(epsilon)) and its complement, so the ratio is at most exp(epsilon),
    exactly. Its variance is the smallest of all unbiased releases of one of two numbers, and smaller than that of
    Laplace noise for epsilon below about 2.3.
    """

    name = "randomized_response"

    def __init__(self, epsilon: float) -> None:
        with localcontext() as context:
            context.prec = 60
            self._low = math.ceil(_WORD / (1 + Decimal(epsilon).exp()))
        self._step = (_WORD - 2 * self._low) // STEPS

    @property
    def variance(self) -> float:
        """The largest variance, in the middle of the range, in units of the squared range."""
        return (_WORD / (self._step * STEPS)) ** 2 / 4

    def release(self, steps: Integers, words: Words) -> NDArray[np.float64]:
        """Return the noisy value of each row, on average ``steps / STEPS``."""
        thresholds = np.uint64(self._low) + np.uint64(self._step) * steps.astype(np.uint64)
        bits = (words(len(steps)) < thresholds).astype(np.float64)
        return np.asarray((bits * _WORD - self._low) / (self._step * STEPS))


NOISES: dict[str, Any] = {noise.name: noise for noise in (Laplace, RandomizedResponse)}


def noise_named(name: str, epsilon: float) -> Laplace | RandomizedResponse:
    """Return this kind of noise; for ``"auto"`` the kind with the smaller variance."""
    kinds = [kind(epsilon) for kind in NOISES.values()] if name == "auto" else [NOISES[name](epsilon)]
    best: Laplace | RandomizedResponse = min(kinds, key=lambda noise: noise.variance)
    return best

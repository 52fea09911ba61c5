"""Sources of random numbers: the operating system or, for tests only, a seed."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = Callable[[int], NDArray[np.uint64]]
"""A function that returns independent words of 64 random bits."""


def system_words(count: int) -> NDArray[np.uint64]:
    """Return words from the operating system's cryptographic generator."""
    return np.frombuffer(os.urandom(8 * count), np.uint64)


class SeededWords:
    """The same words in every run: not private, since the seed reveals the noise."""

    def __init__(self, seed: Any) -> None:
        self._random = np.random.default_rng(seed)

    def __call__(self, count: int) -> NDArray[np.uint64]:
        return np.frombuffer(self._random.bytes(8 * count), np.uint64)

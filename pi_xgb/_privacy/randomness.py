"""Where random numbers come from: the operating system, or, for tests alone, a seed."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = Callable[[int], NDArray[np.uint64]]
"""So many independent words of 64 random bits."""


def system_words(count: int) -> NDArray[np.uint64]:
    """From the operating system's generator, which is made for keys; nobody can say what comes next."""
    return np.frombuffer(os.urandom(8 * count), np.uint64)


class SeededWords:
    """The same words in every run: whoever knows the seed can subtract the noise."""

    def __init__(self, seed: Any) -> None:
        self._random = np.random.default_rng(seed)

    def __call__(self, count: int) -> NDArray[np.uint64]:
        return np.frombuffer(self._random.bytes(8 * count), np.uint64)

"""Resampling rows with replacement, as multiplicities: how often each row is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_BLOCK_ENTRIES = 100_000  # small enough to stay in the cache


def resamples(n_rows: int, n_boot: int, random_state: Any) -> Iterator[Values]:
    """Yield multiplicities ``(b, n_rows)`` in blocks, ``n_boot`` resamples in all; each sums to ``n_rows``."""
    generator = np.random.default_rng(random_state)
    per_block = max(1, _BLOCK_ENTRIES // n_rows)
    for first in range(0, n_boot, per_block):
        count = min(per_block, n_boot - first)
        drawn = generator.integers(n_rows, size=(count, n_rows))
        drawn += np.arange(count)[:, None] * n_rows
        yield np.bincount(drawn.ravel(), minlength=count * n_rows).reshape(count, n_rows).astype(np.float64)


def interval(replicates: Values, confidence: float) -> tuple[Values, Values]:
    """Return the percentile interval over the first axis, ignoring NaN."""
    known = ~np.isnan(replicates).all(axis=0)
    low = np.full(replicates.shape[1:], np.nan)
    high = low.copy()
    tail = (1 - confidence) / 2
    if known.any():  # for an empty array nanquantile returns one value instead of a pair
        low[known], high[known] = np.nanquantile(replicates[:, known], [tail, 1 - tail], axis=0)
    return low, high

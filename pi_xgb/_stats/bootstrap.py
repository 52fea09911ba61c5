"""Resampling rows with replacement, as multiplicities: how often each row is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_BLOCK_ENTRIES = 100_000  # small enough to stay in the cache


def check_bootstrap(n_boot: Any, confidence: Any) -> None:
    """How many resamples, and how sure the interval should be."""
    if isinstance(n_boot, bool) or not isinstance(n_boot, (int, np.integer)):
        raise TypeError(f"n_boot must be a whole number, got {n_boot!r}: 0 for no intervals, 1000 is usual")
    if n_boot < 0:
        raise ValueError(f"n_boot must be at least 0, got {n_boot}: 0 means no intervals")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence!r}: 0.95 is usual")


def resamples(n_rows: int, n_boot: int, random_state: Any) -> Iterator[Values]:
    """Multiplicities ``(b, n_rows)`` in blocks, ``n_boot`` resamples in all; each sums to ``n_rows``."""
    generator = np.random.default_rng(random_state)
    per_block = max(1, _BLOCK_ENTRIES // n_rows)
    for first in range(0, n_boot, per_block):
        count = min(per_block, n_boot - first)
        drawn = generator.integers(n_rows, size=(count, n_rows))
        drawn += np.arange(count)[:, None] * n_rows
        yield np.bincount(drawn.ravel(), minlength=count * n_rows).reshape(count, n_rows).astype(np.float64)


def interval(replicates: Values, confidence: float) -> tuple[Values, Values]:
    """Percentile interval over the first axis, of the replicates in which the value exists."""
    known = ~np.isnan(replicates).all(axis=0)
    low = np.full(replicates.shape[1:], np.nan)
    high = low.copy()
    tail = (1 - confidence) / 2
    if known.any():  # of nothing, nanquantile gives one value instead of a pair
        low[known], high[known] = np.nanquantile(replicates[:, known], [tail, 1 - tail], axis=0)
    return low, high

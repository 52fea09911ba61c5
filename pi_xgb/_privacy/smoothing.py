"""Predictions smoothed over rows: a linear model on public numbers, from noisy sums over all rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import Array
from .._rows.per_row import check_count
from .._rows.tables import as_frame, as_table
from .mechanisms import STEPS, Source, in_steps

LEVELS = 128
"""Public numbers are rounded to this many levels on either side of 0, since noise is added to whole numbers."""
_SPREAD = 1 / 12
"""The variance of a share that is anywhere from 0 to 1."""


def public_numbers(x: Any, n_rows: int) -> Array:
    """Return whole numbers for each row: ``LEVELS``, and the rank in each column, from -LEVELS to LEVELS."""
    frame = as_frame(as_table(x, "x"))
    check_count("x", len(frame), n_rows, table="z")
    try:
        ranks = 2 * frame.astype(np.float64).rank(pct=True).to_numpy() - 1
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"x must hold numbers, got other values: encode its categories as numbers ({error})") from error
    return np.rint(LEVELS * np.column_stack([np.ones(n_rows), np.nan_to_num(ranks)])).astype(np.int64)


def smoothed(shares: Array, public: Array, epsilon: float, source: Source) -> tuple[Array, Array]:
    """Return a share from 0 to 1 for each row, and the variance of its noise.

    Released are the sums of the centred shares, times each public number. A share that changes by 1 changes them by at
    most the largest sum of absolute public numbers of a row. The rest is computed from the sums: the posterior mean of
    linear coefficients, all with the same prior variance.
    """
    moved = STEPS * int(np.abs(public).sum(axis=1).max())
    noisy = source.laplace(public.T @ (in_steps(shares) - STEPS // 2), moved, epsilon)
    basis, unit = public / LEVELS, STEPS * LEVELS
    variance = 2 * (moved / unit / epsilon) ** 2
    gram = basis.T @ basis
    prior = _SPREAD * len(basis) / np.trace(gram)
    covariance = prior * gram @ gram + _SPREAD * gram + variance * np.eye(len(gram))
    per_row = prior * basis @ gram @ np.linalg.pinv(covariance, hermitian=True)
    return np.clip(0.5 + per_row @ (noisy / unit), 0, 1), variance * (per_row**2).sum(axis=1)

"""Searches: the rows of a fold, and parts that run in threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from .._arrays import Array
from .._progress import progress_bar
from .._rows.resume_cache import ResumeCache
from .._xgb.threads import in_threads
from .crossfit import SharedFolds as SharedFolds
from .crossfit import Split as Split

P = TypeVar("P")
R = TypeVar("R")


def training_rows(
    rows: Array, held_out: Array, unlabelled: Array | None, groups: Array | None, *, by_query: bool
) -> Array:
    """Return labelled rows and then all ``unlabelled`` ones, except those of a group that is held out."""
    if unlabelled is None:
        return rows
    if groups is not None:
        unlabelled = unlabelled & ~pd.Series(groups).isin(groups[held_out]).to_numpy()
    rows = np.concatenate([rows, np.flatnonzero(unlabelled)])
    return np.sort(rows) if by_query else rows  # the rows of a query stay adjacent


def run_parts(
    work: Callable[[P, Callable[[], None]], R],
    parts: Sequence[P],
    steps: int,
    search: str,
    *,
    jobs: int,
    progress: bool | None,
    cache: ResumeCache,
    read: Callable[[Any], Any] = lambda part: part,
) -> list[R]:
    """Return ``work(part, step)`` of each part, which has a ``name``, from the cache where it is finished.

    ``work`` calls ``step`` so many times; ``read`` decodes what the cache stored.
    """

    def name_of(part: Any) -> str:
        return str(part.name)

    n_left = sum(name_of(part) not in cache for part in parts)
    with progress_bar(n_left * steps, search, progress, steps) as step:
        return in_threads(cache.memoize(lambda part: work(part, step), name_of, read), parts, jobs)

"""Threads: how many a training uses, and several trainings side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import xgboost

T = TypeVar("T")
R = TypeVar("R")
FEW_ROWS = 10_000
"""Up to this many rows a second thread saves little, and on a busy machine threads wait for each other every round."""


def on_one_thread(params: Any, n_rows: int) -> Any:
    """Return the params for one of many trainings: one thread for few rows, unless the user set the threads."""
    if n_rows > FEW_ROWS or {"nthread", "n_jobs"} & set(dict(params or {})):
        return params
    return {**params, "nthread": 1} if isinstance(params, Mapping) else [*(params or ()), ("nthread", 1)]


def jobs_side_by_side(params: Any, n_rows: int, user_function: Any = None) -> int:
    """Return the default number of concurrent trainings: one per core where each has one thread, else one.

    Also one with a function of the user's, which may not be thread-safe.
    """
    return usable_cores() if user_function is None and on_one_thread(params, n_rows) is not params else 1


def threads_of(params: Any) -> int:
    """Return the number of threads that these params allow, all cores by default."""
    named = [int(value) for name, value in dict(params or {}).items() if name in ("nthread", "n_jobs") and value]
    return named[-1] if named and named[-1] > 0 else usable_cores()


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_threads(work: Callable[[T], R], items: Iterable[T], n_jobs: int) -> list[R]:
    """Return the results in order. XGBoost releases Python's lock while it boosts; its settings belong to a thread."""
    if n_jobs == 1:
        return [work(item) for item in items]
    settings = xgboost.get_config()

    def with_settings(item: T) -> R:
        with xgboost.config_context(**settings):
            return work(item)

    with ThreadPoolExecutor(n_jobs) as pool:  # starts no further item after an error
        return list(pool.map(with_settings, items))

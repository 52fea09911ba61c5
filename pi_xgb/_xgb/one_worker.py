"""Work that one worker of a distributed training does alone, while the others wait for it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

import xgboost
from xgboost import collective

from .collective import all_or_none, on_any_worker

T = TypeVar("T")
_PULSE = 30.0
"""Seconds between two signs of life: XGBoost gives up a worker that is silent for its timeout, 300 by default."""


def sent_to_first(thing: T) -> list[T]:
    """Return the things of all workers in the order of their ranks on the first one, nothing elsewhere."""
    rank, things = collective.get_rank(), list[T]()
    for root in range(collective.get_world_size()):
        sent: list[T] = collective.broadcast([thing] if rank == root else [], root)
        if rank == 0:
            things += sent
    return things


def apart(what: str, work: Callable[[], T]) -> T:
    """Return the result of this worker's part, or raise on every worker if one fails.

    It runs in a thread of its own. XGBoost's communicator belongs to a thread, so there XGBoost is alone: whatever it
    trains, builds or predicts concerns this worker only.
    """
    settings = functools.partial(xgboost.set_config, **xgboost.get_config())  # of this thread as well
    with ThreadPoolExecutor(1, initializer=settings) as pool:
        future = pool.submit(work)
        while on_any_worker(not wait([future], _PULSE).done):
            pass
        with all_or_none(what):
            return future.result()

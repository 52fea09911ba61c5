"""Exchange between the workers of a distributed training: sums, columns, names and failures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from xgboost import collective

from .._arrays import Array


def global_sum(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the sum of these values over all workers; on a single worker the values themselves."""
    if not collective.is_distributed():
        return values
    return collective.allreduce(np.ascontiguousarray(values, dtype=np.float64), collective.Op.SUM)


def global_max(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the elementwise maximum over all workers."""
    if not collective.is_distributed():
        return values
    return collective.allreduce(np.ascontiguousarray(values, dtype=np.float64), collective.Op.MAX)


def on_any_worker(condition: Any) -> bool:
    """Return whether the condition holds on at least one worker."""
    return bool(global_sum(np.array([bool(condition)], np.float64))[0])


def gathered(values: Array) -> Array:
    """Return the columns of all workers, concatenated in the order of their ranks, to the bit.

    Each worker adds its column to zeros at its own position. Every worker holds the result, and sends and receives
    about twice its bytes.
    """
    if not collective.is_distributed():
        return values
    rank, lengths = collective.get_rank(), np.zeros(collective.get_world_size(), np.int64)
    lengths[rank] = len(values)
    ends = np.cumsum(collective.allreduce(lengths, collective.Op.SUM))
    column = np.zeros(int(ends[-1]), values.dtype)
    column[ends[rank] - len(values) : ends[rank]] = values
    return collective.allreduce(column, collective.Op.SUM)


def from_each_worker(thing: Any) -> list[Any]:
    """Return the objects of all workers in the order of their ranks. They are pickled: for names, not for rows."""
    if not collective.is_distributed():
        return [thing]
    rank = collective.get_rank()
    return [collective.broadcast(thing if rank == root else None, root) for root in range(collective.get_world_size())]


@contextmanager
def all_or_none(what: str) -> Iterator[None]:
    """Raise on every worker if these checks fail on one, so that no worker waits for a failed one.

    The checks must not communicate: a failed check would leave the other workers waiting.
    """
    failure: Exception | None = None
    try:
        yield
    except Exception as error:
        failure = error
    if on_any_worker(failure is not None):
        own = "" if failure is None else str(failure) or type(failure).__name__
        errors = [text for text in from_each_worker(own) if text]
        if failure is not None:
            raise failure
        raise ValueError(f"{what} failed on {len(errors)} other worker(s) of this distributed training: {errors[0]}")

"""What the workers of a distributed training must know of each other: sums, columns, names, and whether all is well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from xgboost import collective

from .._arrays import Array


def global_sum(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The sum of these values over all workers; the values themselves where there is one."""
    if not collective.is_distributed():
        return values
    return collective.allreduce(np.ascontiguousarray(values, dtype=np.float64), collective.Op.SUM)


def global_max(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The largest of these values over all workers, one by one."""
    if not collective.is_distributed():
        return values
    return collective.allreduce(np.ascontiguousarray(values, dtype=np.float64), collective.Op.MAX)


def on_any_worker(condition: Any) -> bool:
    """Whether this is true of at least one worker."""
    return bool(global_sum(np.array([bool(condition)], np.float64))[0])


def on_every_worker(condition: Any) -> bool:
    """Whether this is true of all workers."""
    return not on_any_worker(not condition)


def gathered(values: Array) -> Array:
    """The columns of all workers, one after another in the order of their ranks, to the bit.

    Each worker adds its column to zeros in its own place. The result lies on every worker, and every worker sends
    and receives about twice its bytes.
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
    """What every worker has, in the order of their ranks. It is pickled: for names, not for rows."""
    if not collective.is_distributed():
        return [thing]
    rank = collective.get_rank()
    return [collective.broadcast(thing if rank == root else None, root) for root in range(collective.get_world_size())]


@contextmanager
def all_or_none(what: str) -> Iterator[None]:
    """Checks that end on every worker as soon as they fail on one, so that nobody waits for a worker that is gone.

    The checks themselves must not talk to other workers: one that fails would leave the others waiting.
    """
    failure: Exception | None = None
    try:
        yield
    except Exception as error:
        failure = error
    if on_any_worker(failure is not None):
        own = "" if failure is None else str(failure) or type(failure).__name__
        told = [text for text in from_each_worker(own) if text]
        if failure is not None:
            raise failure
        raise ValueError(f"{what} failed on {len(told)} other worker(s) of this distributed training: {told[0]}")

"""Numbers that must be the same on every worker of a distributed training."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from xgboost import collective


def global_sum(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The sum of these values over all workers; the values themselves where there is one."""
    if not collective.is_distributed():
        return values
    return collective.allreduce(np.ascontiguousarray(values, dtype=np.float64), collective.Op.SUM)


@contextmanager
def all_or_none(what: str) -> Iterator[None]:
    """Checks that end on every worker as soon as they fail on one, so that nobody waits for a worker that is gone."""
    failure: Exception | None = None
    try:
        yield
    except Exception as error:
        failure = error
    failures = int(global_sum(np.array([failure is not None], dtype=np.float64))[0])
    if failure is not None:
        raise failure
    if failures:
        raise ValueError(
            f"{what} failed on {failures} other worker(s) of this distributed training; the error stands in the log "
            "of the worker that it happened on"
        )

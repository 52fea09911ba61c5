"""Partitions of several Dask collections, matched and assigned to workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import dask.array
import dask.dataframe
import distributed
import numpy as np
from xgboost.dask import DaskDMatrix

from .._arrays import Array
from .._rows.per_row import per_row

_PARTITION_ALIKE = "make both from one table, or repartition (rechunk) one like the other"


class Part(NamedTuple):
    """One partition, its worker and its number of rows."""

    future: Any
    worker: str | None
    rows: int


def is_collection(values: Any) -> bool:
    """Return whether these are values on the cluster."""
    return isinstance(values, (dask.array.Array, dask.dataframe.DataFrame, dask.dataframe.Series))


async def parts_of_matrix(client: Any, matrix: Any, name: str) -> list[Part]:
    """Return the partitions of a DaskDMatrix in the order of its collection."""
    if not isinstance(matrix, DaskDMatrix):
        raise TypeError(f"{name} must be an xgboost.dask.DaskDMatrix, got {type(matrix).__name__}: build one")
    # Recomputed partitions may lie elsewhere.
    if gone := sorted(set(matrix.worker_map) - set((await client.scheduler.identity())["workers"])):
        raise ConnectionError(f"the workers {', '.join(gone)} that held partitions of {name} are lost: rebuild it")
    placed = [(future, worker) for worker, futures in matrix.worker_map.items() for future in futures]
    placed.sort(key=lambda pair: matrix.partition_order[pair[0].key])
    rows = await _rows(client, [future for future, _ in placed])
    return [Part(future, worker, n) for (future, worker), n in zip(placed, rows, strict=True)]


async def parts_of_collection(client: Any, collection: Any, training_parts: Sequence[Part], name: str) -> list[Part]:
    """Return the partitions of a collection of the training rows, computed on the cluster."""
    delayed = np.asarray(collection.to_delayed())
    if delayed.ndim > 1 and delayed.shape[1] > 1:
        raise ValueError(f"{name} must have one block of columns, got {delayed.shape[1]}: use .rechunk({{1: -1}})")
    futures = client.compute(list(delayed.ravel()))
    parts = [Part(future, None, n) for future, n in zip(futures, await _rows(client, futures), strict=True)]
    check_same_parts(training_parts, parts, "dtrain", name)
    return parts


async def _rows(client: Any, futures: Sequence[Any]) -> list[int]:
    counts: list[int] = await client.gather(client.map(_count, futures, pure=False))
    return counts


def _count(part: Any) -> int:
    data = part["data"] if isinstance(part, dict) else part
    return int(data.shape[0])


def check_as_many_parts(n_parts: int, name: str, n_others: int, others_name: str) -> None:
    """Raise unless two collections have equally many partitions."""
    if n_parts != n_others:
        raise ValueError(f"{name} has {n_parts} partitions, {others_name} has {n_others}: {_PARTITION_ALIKE}")


def check_same_parts(parts: Sequence[Part], others: Sequence[Part], name: str, others_name: str) -> None:
    """Raise unless two collections have equal partitions; otherwise rows would be mismatched."""
    check_as_many_parts(len(others), others_name, len(parts), name)
    for i, (part, other) in enumerate(zip(parts, others, strict=True)):
        if part.rows != other.rows:
            raise ValueError(
                f"partition {i} has {other.rows} rows in {others_name} and {part.rows} in {name}: {_PARTITION_ALIKE}"
            )


class Assignment(NamedTuple):
    """For each training worker the numbers of its partitions, in order."""

    numbers: dict[str, list[int]]

    @property
    def workers(self) -> list[str]:
        """The workers that train."""
        return list(self.numbers)

    def futures(self, parts: Sequence[Part], worker: str) -> list[Any]:
        """Return a worker's partitions of a collection partitioned like the training rows."""
        return [parts[i].future for i in self.numbers[worker]]

    def rows(self, parts: Sequence[Part], worker: str) -> Array:
        """Return the positions of a worker's rows among all rows."""
        ends = np.cumsum([part.rows for part in parts])
        return np.concatenate([np.arange(ends[i] - parts[i].rows, ends[i]) for i in self.numbers[worker]])

    def other_futures(self, parts: Sequence[Part], name: str, *, everywhere: bool) -> dict[str, list[Any]]:
        """Return partitions of other rows by worker: in place, or on the worker with the fewest of them.

        With ``everywhere`` every worker gets rows.
        """
        filled = [part for part in parts if part.rows > 0]
        may_stay = not everywhere or {part.worker for part in filled}.issuperset(self.workers)
        if not may_stay and len(filled) < len(self.workers):
            raise ValueError(
                f"{name} must have rows for each worker, to evaluate its teacher, got {len(filled)} partitions "
                f"with rows for {len(self.workers)} workers: repartition it into at least {len(self.workers)}"
            )
        futures: dict[str, list[Any]] = {worker: [] for worker in self.workers}
        for part in filled:
            fewest = min(futures, key=lambda worker: len(futures[worker]))
            futures[part.worker if may_stay and part.worker in futures else fewest].append(part.future)
        return futures


def assign(parts: Sequence[Part]) -> Assignment:
    """Assign each partition to the worker that holds it; workers without rows do not train."""
    numbers: dict[str, list[int]] = {}
    for i, part in enumerate(parts):
        if part.rows > 0 and part.worker is not None:
            numbers.setdefault(part.worker, []).append(i)
    if not numbers:
        raise ValueError("dtrain has no rows on any worker: pass training rows")
    return Assignment(dict(sorted(numbers.items())))


async def parts_per_row(client: Any, values: Any, parts: Sequence[Part], name: str) -> list[Part]:
    """Return the partitions of one value per training row, from a Dask collection or from an array of all rows."""
    if is_collection(values):
        return await parts_of_collection(client, values, parts, name)
    counts = [part.rows for part in parts]
    whole = per_row(name, values, sum(counts), "values", missing="keep", several=True, table="dtrain")
    futures = await client.scatter(np.split(whole, np.cumsum(counts)[:-1]), hash=False)
    return [part._replace(future=future) for part, future in zip(parts, futures, strict=True)]


def this_client(client: Any) -> Any:
    """Return the client; None means the current client."""
    if client is None:
        return distributed.get_client()
    if not isinstance(client, distributed.Client):
        raise TypeError(f"client must be a distributed.Client or None, got {type(client).__name__}")
    return client

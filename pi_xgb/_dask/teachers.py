"""Teachers of rows that lie on a cluster: what each worker is sent, and the teacher that it makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._constraints.by_column import ByColumn
from .._core.losses import NUMBERS
from .._core.teachers import Teacher, as_weighted_teachers, is_list_of_pairs
from .rows import Part, PerRow, Shares, is_collection, joined, lined_up


class OnWorkers(NamedTuple):
    """One teacher before its rows are dealt out: a q or the columns of a constraint on the cluster, or a teacher of all
    rows on the client."""

    columns: dict[str, list[Part]]
    whole: Teacher | None
    """A teacher of all rows, or one that lacks its columns; None for a q."""

    def share(self, shares: Shares, parts: Sequence[Part], worker: str) -> tuple[Any, dict[str, list[Any]]]:
        """What this worker needs: see :func:`made_of`."""
        columns = {name: shares.of(column, worker) for name, column in self.columns.items()}
        whole = self.whole
        if whole is not None and not columns:
            whole = whole.shard(shares.rows(parts, worker))
        return whole, columns


async def teachers_on_workers(client: Any, teacher: Any, parts: Sequence[Part]) -> list[tuple[OnWorkers, Any]] | None:
    """The teachers and their weights, lined up with the training rows: a number or a :class:`PerRow`; None outside a
    list."""
    if teacher is None:
        return None
    if not is_list_of_pairs(teacher):
        return [(await _on_workers(client, teacher, parts), None)]
    name = "the weight of a teacher in the list"
    return [
        (
            await _on_workers(client, one, parts),
            weight if np.ndim(weight) == 0 else await PerRow.of(client, weight, parts, name),
        )
        for one, weight in teacher
    ]


async def _on_workers(client: Any, teacher: Any, parts: Sequence[Part]) -> OnWorkers:
    if is_collection(teacher):
        return OnWorkers({"q": await lined_up(client, teacher, parts, "teacher")}, None)
    if isinstance(teacher, ByColumn):
        named = {}
        for name, column in teacher.columns.items():
            if not is_collection(column):
                raise TypeError(
                    f"by_column needs its {name} as a Dask collection here, got {type(column).__name__}: pass the "
                    "column itself, cut like the training rows"
                )
            named[name] = await lined_up(client, column, parts, name)
        return OnWorkers(named, ByColumn(teacher.constraint, {name: name for name in named}, teacher.options))
    whole = as_weighted_teachers(teacher, 1.0, NUMBERS)[0].teacher
    whole.check(sum(part.rows for part in parts))
    return OnWorkers({}, whole)


def made_of(share: tuple[Any, dict[str, list[Any]]]) -> Any:
    """On a worker: the teacher of its rows."""
    whole, columns = share
    values = {name: joined(column) for name, column in columns.items()}
    return values["q"] if whole is None else whole.resolve_columns(values.__getitem__)

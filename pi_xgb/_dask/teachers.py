"""Teachers, weights and values per row on a cluster: what is sent to each worker, and what it makes of that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xgboost.compat import concat

from .._constraints.by_column import ByColumn
from .._constraints.constraint import Constraint
from .._core.losses import NUMBERS
from .._core.teachers import FixedTeacher, as_teacher, is_list_of_pairs, is_trained_here
from .._core.training import Teacher
from .rows import Assignment, Part, is_collection, parts_of_collection, parts_per_row


async def read_teachers(client: Any, teacher: Any, parts: Sequence[Part]) -> list[tuple[Any, Any]]:
    """Return the teachers and their weights, matched with the training rows.

    A teacher is a string or an estimator to be trained, the partitions of q, a teacher of all rows, or a constraint
    that names columns, with their partitions. A weight is a number, its partitions, or None outside a list.
    """
    if teacher is None:
        return []
    pairs: list[tuple[Any, Any]] = teacher if is_list_of_pairs(teacher) else [(teacher, None)]
    name = "the weight of a teacher in the list"
    found = []
    for member, weight in pairs:
        read = await _read_teacher(client, member, parts)
        found.append((read, weight if np.ndim(weight) == 0 else await parts_per_row(client, weight, parts, name)))
    return found


async def _read_teacher(client: Any, teacher: Any, parts: Sequence[Part]) -> Any:
    if is_trained_here(teacher):
        return teacher
    if is_collection(teacher):
        return await parts_of_collection(client, teacher, parts, "teacher")
    if isinstance(teacher, ByColumn):
        columns = {}
        for name, column in teacher.columns.items():
            if not is_collection(column):
                raise TypeError(
                    f"{name} of by_column must be a Dask collection, got {type(column).__name__}: pass a collection "
                    "partitioned like the training rows"
                )
            columns[name] = await parts_of_collection(client, column, parts, name)
        return ByColumn(teacher.constraint, {name: name for name in columns}, teacher.options), columns
    whole = as_teacher(teacher, NUMBERS, None)
    if whole.about.matrices:
        raise TypeError(
            "a JointTeacher holds a DMatrix of one process: for JPIB on a cluster pass privileged= and method='jpib'"
        )
    if isinstance(whole, (FixedTeacher, Constraint)):
        whole.check(sum(part.rows for part in parts))
    return whole


def for_worker(value: Any, assignment: Assignment, parts: Sequence[Part], worker: str) -> Any:
    """Return what :func:`of_rows` takes on a worker, of a teacher, a weight or values per row."""
    if isinstance(value, list):
        return assignment.futures(value, worker)
    if isinstance(value, tuple):
        teacher, columns = value
        return teacher, {name: assignment.futures(column, worker) for name, column in columns.items()}
    if isinstance(value, FixedTeacher):
        return value.shard(assignment.rows(parts, worker))
    return value.subset(assignment.rows(parts, worker)) if isinstance(value, Teacher) else value


def of_rows(sent: Any) -> Any:
    """Return a teacher, a weight or values of a worker's rows; names, numbers and estimators as they are."""
    if isinstance(sent, list):
        return concat(sent)
    if isinstance(sent, tuple):
        teacher, columns = sent
        return teacher.resolve_columns(lambda name: concat(columns[name]))
    return sent

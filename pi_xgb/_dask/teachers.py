"""Teachers on a cluster: the values for each worker, and its teacher from these values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._constraints.by_column import ByColumn
from .._constraints.constraint import Constraint
from .._core.losses import NUMBERS
from .._core.teachers import FixedTeacher, as_teacher, is_list_of_pairs
from .._core.training import Teacher
from .rows import Assignment, Part, PerRow, is_collection, joined, parts_of_collection


class TeacherParts(NamedTuple):
    """A teacher before its rows are assigned: of all rows, or with its columns still on the cluster."""

    teacher: Teacher
    columns: dict[str, list[Part]]

    def for_worker(self, assignment: Assignment, parts: Sequence[Part], worker: str) -> tuple[Teacher, dict[str, Any]]:
        """Return the argument of :func:`teacher_of_rows` for a worker."""
        if self.columns:
            return self.teacher, {name: assignment.futures(column, worker) for name, column in self.columns.items()}
        rows = assignment.rows(parts, worker)
        of_worker = self.teacher.shard(rows) if isinstance(self.teacher, FixedTeacher) else self.teacher.subset(rows)
        return of_worker, {}


async def read_teachers(client: Any, teacher: Any, parts: Sequence[Part]) -> list[tuple[Any, Any]]:
    """Return the teachers and their weights, matched with the training rows.

    A teacher is a string, a :class:`PerRow` of q or :class:`TeacherParts`; a weight is a number, a :class:`PerRow`, or
    None outside a list.
    """
    if teacher is None:
        return []
    if not is_list_of_pairs(teacher):
        return [(await _read_teacher(client, teacher, parts), None)]
    name = "the weight of a teacher in the list"
    return [
        (
            await _read_teacher(client, member, parts),
            weight if np.ndim(weight) == 0 else await PerRow.read(client, weight, parts, name),
        )
        for member, weight in teacher
    ]


async def _read_teacher(client: Any, teacher: Any, parts: Sequence[Part]) -> Any:
    if isinstance(teacher, str):
        return teacher
    if is_collection(teacher):
        return await PerRow.read(client, teacher, parts, "teacher")
    if isinstance(teacher, ByColumn):
        columns = {}
        for name, column in teacher.columns.items():
            if not is_collection(column):
                raise TypeError(
                    f"{name} of by_column must be a Dask collection, got {type(column).__name__}: pass a collection "
                    "partitioned like the training rows"
                )
            columns[name] = await parts_of_collection(client, column, parts, name)
        return TeacherParts(ByColumn(teacher.constraint, {name: name for name in columns}, teacher.options), columns)
    whole = as_teacher(teacher, NUMBERS, None)
    if whole.about.matrices:
        raise TypeError(
            "a JointTeacher holds a DMatrix of one process: for JPIB on a cluster pass privileged= and method='jpib'"
        )
    if isinstance(whole, (FixedTeacher, Constraint)):
        whole.check(sum(part.rows for part in parts))
    return TeacherParts(whole, {})


def teacher_of_rows(sent: Any) -> Any:
    """Return the teacher of a worker's rows, or the string that names a teacher to train."""
    if isinstance(sent, list):
        return joined(sent)
    if isinstance(sent, str):
        return sent
    teacher, columns = sent
    values = {name: joined(column) for name, column in columns.items()}
    return teacher.resolve_columns(values.__getitem__) if isinstance(teacher, ByColumn) else teacher

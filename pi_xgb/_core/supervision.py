"""The supervision of one training: its teachers, their weights, and the rows with a label."""

from __future__ import annotations

import dataclasses

import numpy as np
import xgboost

from .._arrays import Array
from .spec import Spec
from .task import Task
from .teachers import Teacher, WeightedTeacher, moves_freely


@dataclasses.dataclass(frozen=True)
class Supervision:
    """The teachers of some rows, trained or still to be trained, and the rows that have a label."""

    teachers: tuple[WeightedTeacher, ...] = ()
    labelled: Array | None = None
    """Which rows have a label; None where all have."""
    has_own_weights: bool = False
    """Whether each teacher has its own weight, so that a grid of ``kl_weight`` does not apply."""

    def task(self, spec: Spec, dtrain: xgboost.DMatrix) -> Task:
        """The student's task on these rows, checked."""
        return Task.from_matrix(spec, dtrain, self.labelled)

    @property
    def is_adaptive(self) -> bool:
        """Whether a teacher changes with the student."""
        return any(weighted.teacher.is_adaptive for weighted in self.teachers)

    @property
    def moves_freely(self) -> bool:
        """Whether the Hessian counts less than the full weight of a teacher."""
        return any(moves_freely(weighted.teacher) for weighted in self.teachers)

    @property
    def is_noisy(self) -> bool:
        """Whether the q of a teacher may leave the range of means."""
        return any(weighted.teacher.is_noisy for weighted in self.teachers)

    @property
    def is_uniform(self) -> bool:
        """Whether label and teacher weights are the same in all rows."""
        return self.labelled is None and all(weighted.per_row is None for weighted in self.teachers)

    @property
    def total_weight(self) -> float:
        """The total weight of the teachers; the largest where it differs between rows."""
        return sum(weighted.kl_weight for weighted in self.teachers)

    def counting(self) -> Supervision:
        """Return this without teachers of weight 0 in all rows of all workers; call it on every worker."""
        return self.with_teachers([weighted for weighted in self.teachers if weighted.counts])

    def with_teachers(self, teachers: list[WeightedTeacher]) -> Supervision:
        """Return the same rows with other teachers."""
        return dataclasses.replace(self, teachers=tuple(teachers))

    def weighing(self, kl_weight: float) -> Supervision:
        """The same teachers with another weight, unless the user gave each its own."""
        if self.has_own_weights:
            return self
        return self.with_teachers([weighted._replace(kl_weight=kl_weight) for weighted in self.teachers])

    def subset(self, rows: Array) -> Supervision:
        """The supervision of some of the rows."""
        teachers = tuple(_subset(weighted, rows) for weighted in self.teachers)
        labelled = None if self.labelled is None else self.labelled[rows]
        return dataclasses.replace(self, teachers=teachers, labelled=labelled)

    def idle_rows(self, n_rows: int) -> Array:
        """Which rows have neither a label nor a teacher that counts."""
        idle = np.zeros(n_rows, bool) if self.labelled is None else ~self.labelled
        for weighted in self.teachers:
            idle &= np.broadcast_to(np.asarray(weighted.weight) == 0, n_rows)
        return idle

    def check(self, task: Task) -> None:
        """Raise, before any training, if a teacher cannot teach this task, or not with the others."""
        for weighted in self.teachers:
            teacher = weighted.teacher
            teacher.check_compatible([other.teacher for other in self.teachers if other is not weighted])
            teacher.check(task.n_rows)
            teacher.check_answers(task, weighted.weight)


def _subset(weighted: WeightedTeacher, rows: Array) -> WeightedTeacher:
    per_row = None if weighted.per_row is None else np.asarray(weighted.per_row)[rows]
    teacher: Teacher = weighted.teacher.subset(rows)
    return WeightedTeacher(teacher, weighted.kl_weight, per_row)

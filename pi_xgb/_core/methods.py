"""The ways of teaching from privileged features: what each reads of the keywords, and the teacher that it makes.

A new way of teaching is a class here, with its teacher in a file of its own, and a line in the registry: ``train``,
``cv``, ``select``, the estimators, the clusters and the command line all ask the registry.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar, Literal

import xgboost

from .._arrays import Array
from .crossfit import Folds
from .joint import JointTeacher
from .learned import learn
from .spec import Spec
from .task import Task
from .teachers import Teacher

MethodName = Literal["kbpib", "jpib"]
"""The names of the registry, for type checkers."""


@dataclasses.dataclass(frozen=True)
class Privileged:
    """What a way of teaching has to work with. ``spec`` is the teacher's, ``task`` the student's."""

    spec: Spec
    matrix: xgboost.DMatrix
    task: Task
    weight: Array
    """Of the student's rows, as their matrix has it."""
    num_boost_round: int
    crossfit: int
    crossfit_groups: Array | None
    folds: Folds | None
    """Of crossfit, where they were dealt beforehand."""
    evals: Sequence[tuple[xgboost.DMatrix, str]] | None
    early_stopping_rounds: int | None
    maximize: bool | None


class Method:
    """One way of teaching."""

    name: ClassVar[MethodName]
    learns_first: ClassVar[bool]
    """Whether the teacher is trained before the student, once for every ``kl_weight``, and not along with it."""
    unread: ClassVar[tuple[str, ...]] = ()
    """Keywords that it has no use for."""
    why_unread: ClassVar[str] = ""

    def check(self, student: Spec, teacher: Spec) -> None:
        """Raise, before any training, if it cannot work with these specs."""

    def teacher(self, privileged: Privileged) -> Teacher:
        """The teacher, trained where it learns first."""
        raise NotImplementedError


class KbPIB(Method):
    """Knowledge-based: a teacher learns first, then it guides the student."""

    name: ClassVar[MethodName] = "kbpib"
    learns_first = True

    def teacher(self, privileged: Privileged) -> Teacher:
        return learn(
            privileged.spec,
            privileged.matrix,
            privileged.num_boost_round,
            weight=privileged.weight,
            labelled=privileged.task.labelled,
            crossfit=privileged.crossfit,
            groups=privileged.crossfit_groups,
            folds=privileged.folds,
            evals=privileged.evals,
            early_stopping_rounds=privileged.early_stopping_rounds if privileged.evals else None,
            maximize=privileged.maximize,
        )


class JPIB(Method):
    """Joint: teacher and student get a tree each in turn and pull each other."""

    name: ClassVar[MethodName] = "jpib"
    learns_first = False
    unread = ("crossfit", "crossfit_groups", "privileged_evals")
    why_unread = "its teacher grows with the student and stops with it"

    def check(self, student: Spec, teacher: Spec) -> None:
        student.check_margins_stay()
        teacher.check_margins_stay()

    def teacher(self, privileged: Privileged) -> Teacher:
        return JointTeacher(privileged.matrix, privileged.spec.params)


_REGISTRY: dict[str, Method] = {method.name: method for method in (KbPIB(), JPIB())}
METHODS: tuple[MethodName, ...] = tuple(method.name for method in _REGISTRY.values())
DEFAULT_METHOD = KbPIB.name


def method_named(name: str) -> Method:
    """The way of teaching of this name, which was checked to be one of :data:`METHODS`."""
    return _REGISTRY[name]

"""How a teacher is trained, whatever its rows: its kind, its params, and the checks of both."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import xgboost
from xgboost import collective

from ..._arrays import Array
from ..._rows.checks import check_choice, check_whole
from ..._xgb.matrix import can_be_cut
from ..spec import Spec
from . import LEARNERS, TEACHERS, members_of
from .boosted import Boosted
from .estimator import Estimator, is_estimator, is_frozen
from .features import Features, Learner

MIXED_BINS = 64
"""``max_bin`` of the boosted member of a mixed teacher, unless set: a third of the time of 256 on 2,000 rows."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a teacher is trained, whatever its rows."""

    teacher: Any
    """The name of its kind, or an estimator."""
    spec: Spec
    """The student's spec."""
    boosted_spec: Spec
    """The spec of the teacher's own booster, where it has one."""
    num_boost_round: int
    crossfit: int | None = None
    """None: as many folds as the labelled rows can fill."""
    teacher_sees: str | None = None
    """None in ``fit_teacher``, which has one matrix."""
    seed: int = 0
    keywords: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """The keywords of a booster's training: evaluation and early stopping."""
    classes: Sequence[Any] | None = None
    """The names of the classes that a frozen estimator knows."""

    @property
    def kind(self) -> str:
        """The name of its kind; of an estimator that of its class."""
        return kind_of(self.teacher)

    @property
    def estimator(self) -> Estimator | None:
        """The learner that fits clones of the estimator; None for other kinds."""
        return None if isinstance(self.teacher, str) else Estimator(self.teacher, self.spec, self.classes)

    def on_one_thread(self) -> Recipe:
        """The same teacher, for folds side by side."""
        return dataclasses.replace(self, spec=self.spec.on_one_thread(), boosted_spec=self.boosted_spec.on_one_thread())

    def learners(self) -> dict[str, Learner]:
        """Return the learner of each member, by the name of its kind."""
        if self.estimator is not None:
            return {self.kind: self.estimator}
        return {name: self._learner(name) for name in members_of(self.teacher)}

    def _learner(self, name: str) -> Learner:
        if name == "boosted":
            spec = self.boosted_spec
            if self.teacher == "mixed":
                spec = spec.with_default(max_bin=MIXED_BINS)
            return Boosted(spec, self.num_boost_round, dict(self.keywords))
        return LEARNERS[name](self.spec)

    def check(self, features: Features, label: Array, *, weighted: bool) -> None:
        """Raise, before any training, if it cannot learn from such rows for this objective."""
        check_rounds(self.num_boost_round)
        check_readable(self.teacher, features.matrix)
        if collective.is_distributed():
            check_distributed(self.teacher)
        if self.estimator is not None:
            self.estimator.check(features, label, weighted=weighted)
        elif not self.spec.loss.has_gradient and self.kind != "boosted":
            raise ValueError(
                f"teacher must be 'boosted' or an estimator with {self.spec.objective}, got {self.teacher!r}: the "
                "others learn means, which this objective does not have"
            )


def check_readable(teacher: Any, *matrices: xgboost.DMatrix) -> None:
    """Raise unless the matrices hold values, which every teacher but a boosted one reads."""
    if teacher != "boosted" and not all(map(can_be_cut, matrices)):
        raise TypeError(
            f"teacher={kind_of(teacher)!r} requires a matrix with the values of the rows, got a QuantileDMatrix or "
            "external memory: build a DMatrix, or use teacher='boosted' with crossfit=0"
        )


def kind_of(teacher: Any) -> str:
    """Return the name of its kind; of an estimator that of its class."""
    return teacher if isinstance(teacher, str) else type(teacher).__name__


def check_teacher_word(teacher: Any) -> None:
    """Raise unless this is the name of a kind of teacher, or an estimator."""
    check_instance(teacher)
    if isinstance(teacher, str):
        check_choice(teacher, TEACHERS, "teacher")
    elif not is_estimator(teacher):
        raise TypeError(
            f"teacher must be one of {', '.join(map(repr, TEACHERS))} or an estimator with fit and predict, got "
            f"an object of the type {type(teacher).__name__}: pass predictions to pi_xgb.train"
        )


def check_instance(teacher: Any) -> None:
    """Raise for the class of an estimator in place of an instance."""
    if isinstance(teacher, type):
        raise TypeError(f"teacher must be an instance, got the class {teacher.__name__}: pass {teacher.__name__}()")


def check_distributed(teacher: Any) -> None:
    """Raise unless XGBoost trains this kind of teacher: others cannot learn from the rows of all workers."""
    if teacher not in ("boosted", "forest"):
        raise ValueError(
            f"teacher must be 'boosted' or 'forest' in a distributed training, got {kind_of(teacher)!r}: train it on "
            "the labelled rows of one machine (pi_xgb.fit_teacher) and pass its predictions of all rows"
        )


def chosen_crossfit(crossfit: int | None, teacher: Any, *, sees_student: bool) -> int | None:
    """Return ``crossfit`` if the user set it, 0 for a teacher that may predict its training rows, else None."""
    if crossfit is not None:
        if teacher == "mixed" and crossfit == 0:
            raise ValueError(
                "crossfit must be at least 2 with teacher='mixed', got 0: the weights of its members are chosen by "
                "their out-of-fold loss. Leave crossfit out"
            )
        if crossfit and is_frozen(teacher):
            raise ValueError(
                f"crossfit must be 0 with a frozen estimator, which is fitted already, got {crossfit}: leave it out"
            )
        return crossfit
    in_sample = is_frozen(teacher) if not isinstance(teacher, str) else teacher == "boosted" and not sees_student
    return 0 if in_sample else None


def check_rounds(num_boost_round: int) -> None:
    """Raise for a teacher without rounds, which would predict the average."""
    check_whole("num_boost_round", num_boost_round)
    if num_boost_round < 1:
        raise ValueError(
            f"num_boost_round must be at least 1 with a teacher, got {num_boost_round}: set it higher, or "
            "train without a teacher"
        )

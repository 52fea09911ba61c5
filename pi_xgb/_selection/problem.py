"""One student, what its teachers may learn from, and how both are trained."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import xgboost
from numpy.typing import NDArray

from .._core.checks import check_dmatrix
from .._core.guidance import Guidance
from .._core.losses import Loss
from .._core.spec import Spec
from .._core.task import Task
from .._core.train import train
from .._xgb.matrix import exclusive, side_by_side, slice_rows
from .._xgb.params import objective_name, user_params
from .candidates import PLAIN, Candidate
from .scores import Score

Values = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How candidates are trained, whatever the data."""

    params: dict[str, Any]
    num_boost_round: int
    """The most that a student may have, and what the teachers of KbPIB have."""
    crossfit: int
    teacher_params: Any

    def problem(self, dtrain: xgboost.DMatrix, privileged: xgboost.DMatrix, *, sees_all: bool) -> Problem:
        """The recipe with its data; ``sees_all`` says whether a teacher, or anybody, sees both sides."""
        return Problem(self, dtrain, privileged, side_by_side(dtrain, privileged) if sees_all else None)

    def check(self, dtrain: xgboost.DMatrix, privileged: xgboost.DMatrix, name: str) -> Loss:
        """Everything that can be wrong with the data, before any training; ``name`` is the function that asks."""
        for matrix, role in ((dtrain, "dtrain"), (privileged, "privileged")):
            if isinstance(matrix, (xgboost.QuantileDMatrix, xgboost.ExtMemQuantileDMatrix)):
                raise TypeError(
                    f"{role} is of type {type(matrix).__name__}, which cannot be cut into folds: build a DMatrix for "
                    f"{name}"
                )
            check_dmatrix(matrix, role)
        guidance = Guidance(privileged=privileged, crossfit=self.crossfit, teacher_params=self.teacher_params)
        loss = guidance.task(Spec.read(self.params), dtrain, self.num_boost_round).spec.loss
        if dtrain.get_uint_info("group_ptr").size > 1:
            raise ValueError(f"{name} cannot keep query groups together: build dtrain without qid")
        return loss


@dataclasses.dataclass(frozen=True)
class Problem:
    """A recipe and its rows."""

    recipe: Recipe
    dtrain: xgboost.DMatrix
    privileged: xgboost.DMatrix
    both: xgboost.DMatrix | None
    """Classifier and privileged features side by side, where somebody sees them."""

    def take(self, rows: Any) -> Problem:
        """The same problem for some of the rows, in matrices of its own."""
        with exclusive(*self.matrices):
            return Problem(
                self.recipe,
                slice_rows(self.dtrain, rows),
                slice_rows(self.privileged, rows),
                None if self.both is None else slice_rows(self.both, rows),
            )

    @property
    def matrices(self) -> list[xgboost.DMatrix]:
        """All that there are."""
        return [self.dtrain, self.privileged, *([] if self.both is None else [self.both])]

    def teacher_of(self, candidate: Candidate) -> Any:
        """The teacher that :func:`pi_xgb.train` would train first, to be used for several students."""
        guidance = Guidance(
            privileged=self.both if candidate.teacher == "all" else self.privileged,
            crossfit=candidate.guiding(self.recipe.crossfit)["crossfit"],
            teacher_params=self.recipe.teacher_params,
        )
        with exclusive(self.dtrain, *guidance.matrices):
            task = Task.of_matrix(Spec.read(self.recipe.params), self.dtrain)
            return guidance.teachings_from_privileged(task, self.dtrain, self.recipe.num_boost_round)[0].teacher

    def fit(
        self,
        candidate: Candidate,
        rounds: int,
        teacher: Any = None,
        params: Any = None,
        dtrain: Any = None,
        **keywords: Any,
    ) -> xgboost.Booster:
        """The candidate's student. ``teacher`` is its :meth:`teacher_of`, trained here if it is not given."""
        guiding: dict[str, Any] = {}
        if candidate.learns_first:
            learned = self.teacher_of(candidate) if teacher is None else teacher
            guiding = {"teacher": learned, "kl_weight": candidate.kl_weight}
        elif candidate != PLAIN:
            guiding = {"privileged": self.privileged, "teacher_params": self.recipe.teacher_params}
            guiding |= candidate.guiding(self.recipe.crossfit)
        return train(
            self.recipe.params if params is None else params,
            self.dtrain if dtrain is None else dtrain,
            rounds,
            **guiding,
            **keywords,
        )

    def curve(
        self, candidate: Candidate, rounds: int, held_out: xgboost.DMatrix, score: Score, teacher: Any = None
    ) -> Values:
        """The score on held-out rows after each round."""
        log: dict[str, dict[str, list[float]]] = {}
        self.fit(
            candidate,
            rounds,
            teacher,
            params=score.applied_to(self.recipe.params),
            evals=[(held_out, "test")],
            evals_result=log,
            verbose_eval=False,
            custom_metric=score.custom,
        )
        values = np.array(list(log["test"].values())[-1], dtype=np.float64)
        if not np.isfinite(values).all():
            raise ValueError(
                f"{score.name} is {values[~np.isfinite(values)][0]} on {held_out.num_row()} held-out rows: choose a "
                "metric, or folds, for which every fold has a value"
            )
        return values


def settled(params: Any) -> dict[str, Any]:
    """The params by names that mean one thing, so that not every training of many has to warn."""
    own = user_params(params)
    own["objective"] = objective_name(own)
    if "alpha" in own and "reg_alpha" not in own:
        own["reg_alpha"] = own.pop("alpha")
    return own

"""Folds of objectives that are taught by copies, as ``xgboost.cv`` wants them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import xgboost

from .._arrays import Array
from .._xgb.borrowed import FoldParts
from .._xgb.matrix import slice_rows
from .copies import check_copies, check_whole_queries, stack_with_params
from .guidance import Guidance
from .spec import Spec
from .task import Task


def check_copied_folds(spec: Spec, dtrain: xgboost.DMatrix, guidance: Guidance, *, teaches: bool) -> None:
    """Raise where no fold could be taught by copies."""
    check_copies(spec, dtrain, teaches=teaches, follows_student=guidance.follows_student)
    if spec.loss.by_query:
        check_whole_queries(guidance.teacher_weight, dtrain)


@dataclasses.dataclass(frozen=True)
class CopiedFolds:
    """The folds of one ``kl_weight``: each trains on a stack, and is judged on rows with labels as they are."""

    dtrain: xgboost.DMatrix
    row_folds: Sequence[tuple[Array, Array]]
    guidances: Sequence[Guidance]
    """Of the training rows of each fold, their teachers trained; they weigh 0 where nobody teaches."""
    fpreproc: Callable[..., Any] | None

    def __call__(self, params: dict[str, Any]) -> list[FoldParts]:
        """Matrices and params of each fold."""
        folds = zip(self.row_folds, self.guidances, strict=True)
        return [self._fold(rows, out, guidance, dict(params)) for (rows, out), guidance in folds]

    def _fold(self, rows: Array, out: Array, guidance: Guidance, params: dict[str, Any]) -> FoldParts:
        own, test = slice_rows(self.dtrain, rows), slice_rows(self.dtrain, out)
        if self.fpreproc is not None:
            own, test, params = self.fpreproc(own, test, params)
        task = Task.of_matrix(Spec.read(params), own, guidance.labelled)
        teachings = [one for one in guidance.teachings_at_hand(task) if one.counts]
        shown = own if task.labelled is None else slice_rows(own, np.flatnonzero(task.labelled))
        if not teachings:
            return FoldParts(shown, shown, test, params)
        stack, chosen = stack_with_params(task, teachings, own, {})
        return FoldParts(stack, shown, test, chosen)

"""Folds of objectives that are taught by copies, as ``xgboost.cv`` wants them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import xgboost

from .._arrays import Array
from .._xgb.matrix import slice_rows
from .._xgb.rebind import FoldParts
from .config import TeacherConfig
from .copies import check_copies, check_whole_queries, stack_with_params
from .spec import Spec
from .task import Task


def check_copied_folds(spec: Spec, dtrain: xgboost.DMatrix, config: TeacherConfig, *, teaches: bool) -> None:
    """Raise where no fold could be taught by copies."""
    check_copies(spec, dtrain, teaches=teaches, is_adaptive=config.is_adaptive)
    if spec.loss.by_query:
        check_whole_queries(config.teacher_weight, dtrain)


@dataclasses.dataclass(frozen=True)
class CopiedFolds:
    """The folds of one ``kl_weight``: each trains on a stack, and is judged on rows with labels as they are."""

    dtrain: xgboost.DMatrix
    row_folds: Sequence[tuple[Array, Array]]
    configs: Sequence[TeacherConfig]
    """Of the training rows of each fold, their teachers trained; they weigh 0 where nobody teaches."""
    fpreproc: Callable[..., Any] | None

    def __call__(self, params: dict[str, Any]) -> list[FoldParts]:
        """Matrices and params of each fold."""
        folds = zip(self.row_folds, self.configs, strict=True)
        return [self._fold(rows, out, config, dict(params)) for (rows, out), config in folds]

    def _fold(self, rows: Array, out: Array, config: TeacherConfig, params: dict[str, Any]) -> FoldParts:
        own, test = slice_rows(self.dtrain, rows), slice_rows(self.dtrain, out)
        if self.fpreproc is not None:
            own, test, params = self.fpreproc(own, test, params)
        task = Task.of_matrix(Spec.read(params), own, config.labelled)
        weighted = [one for one in config.teachers_at_hand(task) if one.counts]
        shown = own if task.labelled is None else slice_rows(own, np.flatnonzero(task.labelled))
        if not weighted:
            return FoldParts(shown, shown, test, params)
        stack, chosen = stack_with_params(task, weighted, own, {})
        return FoldParts(stack, shown, test, chosen)

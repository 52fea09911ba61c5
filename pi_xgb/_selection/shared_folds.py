"""Folds whose models serve two splits: a model trained without two folds predicts each while the other is held out."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd

from .._arrays import Array
from .._core.crossfit import SHARED, Folds, M
from .problem import Problem
from .splits import Split

_FEWEST = 4
"""With fewer folds a teacher without two of them would see at most half of the rows."""


class _Once:
    """A model that several threads need, and that is trained once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.model: Any = None


@dataclasses.dataclass(frozen=True)
class SharedFolds:
    """The folds of one repeat of a selection, one of them held out.

    The model of fold j while fold k is held out has seen neither fold, so it is also the model of fold k while j is
    held out.
    """

    fold_of: Array
    number: int
    held_out: int = -1
    way: str = ""
    """The features and the kind of the teachers, where several kinds share the folds."""
    _models: dict[tuple[str, str, frozenset[int]], _Once] = dataclasses.field(default_factory=dict)

    def subset(self, rows: Array) -> SharedFolds:
        """The folds of some of the rows."""
        return dataclasses.replace(self, fold_of=self.fold_of[rows])

    def fitted_on(self, learnable: Array) -> Folds:
        """The folds, their models fitted on these rows."""
        return _ModelsOfFolds(self.fold_of, learnable, shared=self)

    @contextlib.contextmanager
    def model(self, member: str, fold: int, fit: Callable[[], M]) -> Iterator[M]:
        """The model without this fold and the held-out one, locked against other threads."""
        once = self._models.setdefault((self.way, member, frozenset({fold, self.held_out})), _Once())
        with once.lock:
            if once.model is None:
                once.model = fit()
            yield once.model


@dataclasses.dataclass(frozen=True)
class _ModelsOfFolds(Folds):
    shared: SharedFolds = dataclasses.field(kw_only=True)

    def model(self, member: str, fold: int, fit: Callable[[], M]) -> contextlib.AbstractContextManager[M]:
        return self.shared.model(member, fold, fit)


def shared_folds(problem: Problem, splits: Sequence[Split]) -> list[Problem]:
    """Return the problem of each split, with shared folds where the splits of a repeat partition the rows."""
    repeats = {split.repeat for split in splits}
    folds_of = {repeat: _folds(problem, [split for split in splits if split.repeat == repeat]) for repeat in repeats}
    problems = []
    for split in splits:
        folds = folds_of[split.repeat]
        if folds is not None:
            folds = dataclasses.replace(folds, held_out=int(folds.fold_of[split.test[0]]))
        problems.append(dataclasses.replace(problem, folds=folds))
    return problems


def _folds(problem: Problem, splits: Sequence[Split]) -> SharedFolds | None:
    """Return the folds of one repeat, none of them held out yet; None if teachers cannot share them."""
    fold_of = np.full(problem.dtrain.num_row(), SHARED)
    for number, split in enumerate(splits):
        fold_of[split.test] = number
    n_known = len(fold_of) if problem.labelled is None else int(problem.labelled.sum())
    partition = (fold_of >= 0).sum() == n_known == sum(len(split.test) for split in splits)
    complete = all(len(split.train) + len(split.test) == n_known for split in splits)
    # Teachers with other groups need other folds.
    same_groups = np.array_equal(cast("Any", problem.config.crossfit_groups), cast("Any", problem.groups))
    if len(splits) < _FEWEST or not (partition and complete and same_groups):
        return None
    if problem.groups is not None:
        # Rows without a label belong to the fold of their group, if it has labelled rows.
        fold_of = pd.Series(fold_of).groupby(pd.factorize(problem.groups)[0]).transform("max").to_numpy()
    return SharedFolds(fold_of, len(splits))

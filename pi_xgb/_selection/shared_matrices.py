"""Teachers that serve two folds: one that has seen neither of two folds judges each of them while the other is out."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pandas as pd

from .._arrays import Array
from .._core.crossfit import Folds
from .problem import Problem
from .splits import Split

_FEWEST = 4
"""With fewer folds a teacher without two of them would see half of the rows or less."""


def shared_matrices(problem: Problem, splits: Sequence[Split]) -> list[Problem]:
    """The problem of each split, with folds whose teachers are shared wherever the splits of a repeat part the rows."""
    repeats = {split.repeat for split in splits}
    folds_of = {repeat: _folds(problem, [split for split in splits if split.repeat == repeat]) for repeat in repeats}
    problems = []
    for split in splits:
        folds = folds_of[split.repeat]
        if folds is not None:
            folds = dataclasses.replace(folds, held_out=int(folds.fold_of[split.test[0]]))
        problems.append(dataclasses.replace(problem, config=dataclasses.replace(problem.config, folds=folds)))
    return problems


def _folds(problem: Problem, splits: Sequence[Split]) -> Folds | None:
    """The folds of one repeat, none of them held out yet; None where they cannot be those of the teachers too."""
    config = problem.config
    fold_of = np.full(problem.dtrain.num_row(), -1)
    for number, split in enumerate(splits):
        fold_of[split.test] = number
    known = np.ones(len(fold_of), bool) if problem.labelled is None else problem.labelled
    whole = int(known.sum())
    parts = (fold_of >= 0).sum() == whole == sum(len(split.test) for split in splits)
    complete = all(len(split.train) + len(split.test) == whole for split in splits)
    # Who says otherwise of the teachers' groups has other folds in mind for them.
    theirs: Any = config.crossfit_groups
    alike = np.array_equal(theirs, cast("Any", problem.groups))
    if len(splits) < _FEWEST or not (parts and complete and alike):
        return None
    if problem.groups is not None:
        fold_of = _with_their_groups(fold_of, problem.groups)
    return Folds(fold_of, len(splits))


def _with_their_groups(fold_of: Array, groups: Array) -> Array:
    """Rows without a label belong to the fold of their group, where it has one."""
    return pd.Series(fold_of).groupby(pd.factorize(groups)[0]).transform("max").to_numpy()

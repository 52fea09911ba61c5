"""Teachers that serve two folds: one that has seen neither of them predicts each while the other is held out."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pandas as pd

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
        problems.append(dataclasses.replace(problem, folds=folds))
    return problems


def _folds(problem: Problem, splits: Sequence[Split]) -> Folds | None:
    """The folds of one repeat, none of them held out yet; None where they cannot be those of the teachers too."""
    fold_of = np.full(problem.dtrain.num_row(), -1)
    for number, split in enumerate(splits):
        fold_of[split.test] = number
    n_known = len(fold_of) if problem.labelled is None else int(problem.labelled.sum())
    parts = (fold_of >= 0).sum() == n_known == sum(len(split.test) for split in splits)
    complete = all(len(split.train) + len(split.test) == n_known for split in splits)
    # Other groups for the teachers mean other folds for them.
    alike = np.array_equal(cast("Any", problem.config.crossfit_groups), cast("Any", problem.groups))
    if len(splits) < _FEWEST or not (parts and complete and alike):
        return None
    if problem.groups is not None:
        # Rows without a label belong to the fold of their group, where it has one.
        fold_of = pd.Series(fold_of).groupby(pd.factorize(problem.groups)[0]).transform("max").to_numpy()
    return Folds(fold_of, len(splits))

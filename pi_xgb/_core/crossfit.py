"""Who judges whom: the folds of labelled rows, such that no teacher judges a row that it has seen."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import xgboost
from xgboost import collective

from .._arrays import Array
from .._rows.checks import check_whole
from .._rows.groups import on_several_workers
from .._stats.folds import check_enough_groups, deal_folds, deal_groups
from .._xgb.matrix import query_of_row
from .loss import Loss


def check_crossfit(crossfit: Any, labelled: Array | None, n_rows: int, groups: Array | None = None) -> None:
    """0, or a number of folds that the labelled rows can fill, in whole groups where there are some."""
    check_whole("crossfit", crossfit)
    n_labelled = n_rows if labelled is None else int(labelled.sum())
    rows = "rows" if labelled is None else "labelled rows"
    if crossfit < 0 or crossfit == 1 or crossfit > n_labelled:
        hint = ". Each worker deals its own rows to folds: spread them over all workers, or take fewer"
        raise ValueError(
            f"crossfit must be 0 (the teacher sees every row) or between 2 and the {n_labelled} {rows}, got {crossfit}"
            f"{hint if collective.is_distributed() else ''}"
        )
    if groups is not None:
        check_enough_groups(groups if labelled is None else groups[labelled], crossfit, "crossfit_groups")


def check_groups_apart(groups: Array | None) -> None:
    """No group on several workers, which deal folds each for itself; to be asked on every worker."""
    if groups is None or not collective.is_distributed():
        return
    n_torn = on_several_workers(groups)
    if n_torn:
        raise ValueError(
            f"crossfit_groups has {n_torn} groups with rows on several workers, each of which deals its own rows to "
            "folds: put all rows of a group on one worker"
        )


def whole_queries(
    loss: Loss, matrix: xgboost.DMatrix, groups: Array | None, name: str = "crossfit_groups"
) -> Array | None:
    """The groups that stay together in folds: queries at least, where rows are ranked within them."""
    query = query_of_row(matrix) if loss.by_query else None
    if query is None or groups is None:
        return groups if query is None else query
    torn = (groups[1:] != groups[:-1]) & (query[1:] == query[:-1])
    if torn.any():
        raise ValueError(
            f"{name} tear {len(np.unique(query[1:][torn]))} queries apart, whose rows are ranked together: "
            "give all rows of a query the same value, or leave it out, for queries stay whole by themselves"
        )
    return groups


class _Once:
    """A booster that several ask for, from any thread, and that is trained once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.booster: xgboost.Booster | None = None


@dataclasses.dataclass(frozen=True)
class Folds:
    """Folds that were dealt to the rows beforehand, one of which is held out of a whole selection.

    The teacher of fold j while fold k is held out has seen neither, and is that of fold k while j is held out. So two
    folds have one booster, for whoever asks first.
    """

    fold_of: Array
    """-1 for a row that all teachers may judge."""
    number: int
    held_out: int = -1
    whose: str = ""
    """What the teachers are called, of whom there may be several kinds."""
    _kept: dict[tuple[str, frozenset[int]], _Once] = dataclasses.field(default_factory=dict)

    def subset(self, rows: Array) -> Folds:
        """The folds of some of the rows."""
        return dataclasses.replace(self, fold_of=self.fold_of[rows])

    @contextlib.contextmanager
    def booster_without(self, fold: int, fit: Callable[[], xgboost.Booster]) -> Iterator[xgboost.Booster]:
        """The booster that has not seen this fold either, held against other threads."""
        kept = self._kept.setdefault((self.whose, frozenset({fold, self.held_out})), _Once())
        with kept.lock:
            kept.booster = kept.booster or fit()
            yield kept.booster


def deal_labelled(
    label: Array, labelled: Array | None, groups: Array | None, n_folds: int, seed: int, *, classes: bool
) -> Array:
    """The fold of each row; -1 for one that all teachers may judge: it has no label, and belongs to no labelled row.

    Of several targets the first one decides which rows are alike.
    """
    label = label[:, 0] if label.ndim == 2 else label
    rows = np.arange(len(label)) if labelled is None else np.flatnonzero(labelled)
    if groups is None:
        folds = deal_folds(label[rows], n_folds, seed)
    else:
        folds = deal_groups(label[rows], groups[rows], n_folds, seed, classes=classes)
    fold_of = np.full(len(label), -1)
    for fold, (_, held_out) in enumerate(folds):
        fold_of[rows[held_out]] = fold
    if groups is not None and labelled is not None:
        codes = pd.factorize(groups)[0]
        fold_of_group = np.full(codes.max() + 1, -1)
        fold_of_group[codes[rows]] = fold_of[rows]
        fold_of = fold_of_group[codes]
    return fold_of

"""The folds of ``cv`` as row numbers: those of ``xgboost.cv``, of labelled rows, in whole queries."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._arrays import Array
from .._stats.folds import check_apart, pairs_of_rows
from .checks import check_whole

Fold = tuple[Array, Array]


class Dealing(NamedTuple):
    """The keywords of ``xgboost.cv`` for its folds; it does not return their row numbers, which teachers need."""

    nfold: int = 3
    stratified: bool = False
    folds: Any = None
    shuffle: bool = True
    seed: int = 0

    def row_folds(self, label: Array, labelled: Array | None, query: Array | None) -> list[Fold]:
        """The folds that ``xgboost.cv`` makes of the labelled rows, as row numbers; queries stay whole."""
        if query is not None and self.stratified:
            raise ValueError("stratified must be False for queries, which are assigned to folds as a whole, got True")
        rows = np.arange(len(label)) if labelled is None else np.flatnonzero(labelled)
        folds = self.folds
        if folds is None:
            units = np.arange(len(rows)) if query is None else pd.factorize(query[rows])[0]
            what = "queries" if query is not None else "rows" if labelled is None else "labelled rows"
            check_whole("nfold", self.nfold, 2)
            if self.nfold > (n_units := len(np.unique(units))):
                raise ValueError(f"nfold must be at most the {n_units} {what}, got {self.nfold}: use fewer folds")
            if not self.stratified:
                return self._dealt(rows, units)
            from sklearn.model_selection import StratifiedKFold

            folds = StratifiedKFold(self.nfold, shuffle=True, random_state=self.seed)
        if hasattr(folds, "split"):  # a splitter numbers the rows that it gets
            groups = {} if query is None else {"groups": query[rows]}
            pairs = folds.split(X=label[rows], y=label[rows], **groups)
            folds = [(rows[np.asarray(train)], rows[np.asarray(test)]) for train, test in pairs]
        return _checked_folds(folds, labelled, query, len(label))

    def _dealt(self, rows: Array, units: Array) -> list[Fold]:
        """Return the folds of units 0, 1, ... (rows or queries), in an order that XGBoost draws."""
        sizes = np.bincount(units)
        # XGBoost seeds NumPy's global generator and draws from it; a local one gives the same numbers.
        order = np.random.RandomState(self.seed).permutation(len(sizes)) if self.shuffle else np.arange(len(sizes))
        in_order = rows[np.argsort(np.argsort(order)[units], kind="stable")]
        ends = np.cumsum([part.sum() for part in np.array_split(sizes[order], self.nfold)])
        parts = np.split(in_order, ends[:-1])
        return [(np.concatenate([*parts[:k], *parts[k + 1 :]]), test) for k, test in enumerate(parts)]


def _checked_folds(folds: Any, labelled: Array | None, query: Array | None, n_rows: int) -> list[Fold]:
    pairs = pairs_of_rows(folds, n_rows)
    if not pairs:
        raise ValueError("folds must have at least one pair (training rows, held-out rows), got an empty list")
    for number, (train, test) in enumerate(pairs):
        if labelled is not None and not labelled[test].all():
            raise ValueError(
                f"folds must hold out labelled rows, got {int((~labelled[test]).sum())} rows without a label"
            )
        if query is not None:
            check_apart(query, train, test, number)
    known = pairs if labelled is None else [(train[labelled[train]], test) for train, test in pairs]
    return known if query is None else [(np.sort(train), np.sort(test)) for train, test in known]


def with_unlabelled(folds: list[Fold], labelled: Array | None, query: Array | None) -> list[Fold]:
    """Return the folds with the unlabelled rows in every training part; rows of a query stay adjacent."""
    if labelled is None:
        return folds
    unlabelled = np.flatnonzero(~labelled)
    joined = [(np.concatenate([train, unlabelled]), test) for train, test in folds]
    return joined if query is None else [(np.sort(train), test) for train, test in joined]

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
        """The folds that ``xgboost.cv`` makes of the labelled rows, as row numbers."""
        rows = np.arange(len(label)) if labelled is None else np.flatnonzero(labelled)
        if query is not None:
            return self._of_queries(label, labelled, query, rows)
        if self.folds is not None and not hasattr(self.folds, "split"):
            return _checked_folds(self.folds, labelled, len(label))
        if self.folds is None:
            self._check_nfold(len(rows), "rows" if labelled is None else "labelled rows")
        return [(rows[np.asarray(train)], rows[np.asarray(test)]) for train, test in self._split(label[rows])]

    def _split(self, label: Array) -> list[Fold]:
        splitter = self.folds
        if splitter is None and self.stratified:
            try:
                from sklearn.model_selection import StratifiedKFold
            except ImportError as error:
                raise ImportError(
                    'stratified=True needs scikit-learn, as in xgboost.cv: pip install ".[sklearn]" in a checkout'
                ) from error
            splitter = StratifiedKFold(self.nfold, shuffle=True, random_state=self.seed)
        if splitter is not None:
            return list(splitter.split(X=label, y=label))
        # XGBoost seeds NumPy's global generator and draws from it; a local one gives the same numbers.
        n_rows = len(label)
        order = np.random.RandomState(self.seed).permutation(n_rows) if self.shuffle else np.arange(n_rows)
        parts = np.array_split(order, self.nfold)
        return [(np.concatenate([*parts[:k], *parts[k + 1 :]]), test) for k, test in enumerate(parts)]

    def _of_queries(self, label: Array, labelled: Array | None, query: Array, rows: Array) -> list[Fold]:
        """Return folds of whole queries, assigned as in ``xgboost.cv``."""
        if self.stratified:
            raise ValueError("stratified must be False for queries, which are assigned to folds as a whole, got True")
        folds = self.folds
        if folds is not None:
            if hasattr(folds, "split"):  # a splitter numbers the rows that it gets
                split = folds.split(X=label[rows], y=label[rows], groups=query[rows])
                folds = [(rows[np.asarray(train)], rows[np.asarray(test)]) for train, test in split]
            pairs = _checked_folds(folds, labelled, len(label))
            for number, (train, test) in enumerate(pairs):
                check_apart(query, train, test, number)
            return [(np.sort(train), np.sort(test)) for train, test in pairs]
        codes = pd.factorize(query[rows])[0]
        queries = np.unique(codes)
        self._check_nfold(len(queries), "queries")
        where = np.split(rows, np.cumsum(np.bincount(codes))[:-1])
        return [
            (np.concatenate([where[i] for i in train]), np.concatenate([where[i] for i in test]))
            for train, test in self._split(queries)
        ]

    def _check_nfold(self, at_most: int, what: str) -> None:
        check_whole("nfold", self.nfold, 2)
        if self.nfold > at_most:
            raise ValueError(f"nfold must be at most the {at_most} {what}, got {self.nfold}: use fewer folds")


def _checked_folds(folds: Any, labelled: Array | None, n_rows: int) -> list[Fold]:
    pairs = pairs_of_rows(folds, n_rows)
    if not pairs:
        raise ValueError("folds must have at least one pair (training rows, held-out rows), got an empty list")
    return [_labelled_fold(train, test, labelled) for train, test in pairs]


def _labelled_fold(train: Array, test: Array, labelled: Array | None) -> Fold:
    if labelled is None:
        return train, test
    if not labelled[test].all():
        raise ValueError(
            f"folds must hold out labelled rows only, got {int((~labelled[test]).sum())} rows without a label, which "
            "cannot be scored: hold out labelled rows"
        )
    return train[labelled[train]], test


def with_unlabelled(folds: list[Fold], labelled: Array | None, query: Array | None) -> list[Fold]:
    """Return the folds with the unlabelled rows in every training part; rows of a query stay adjacent."""
    if labelled is None:
        return folds
    unlabelled = np.flatnonzero(~labelled)
    joined = [(np.concatenate([train, unlabelled]), test) for train, test in folds]
    return joined if query is None else [(np.sort(train), test) for train, test in joined]

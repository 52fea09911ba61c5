"""The folds of ``cv`` by row numbers: those that ``xgboost.cv`` would make, of labelled rows, in whole queries."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._arrays import Array
from .._stats.folds import check_apart, pairs_of_rows
from .checks import check_whole

Fold = tuple[Array, Array]


class Dealing(NamedTuple):
    """How ``xgboost.cv`` is asked to make its folds. Teachers need their row numbers, which it keeps to itself."""

    nfold: int = 3
    stratified: bool = False
    folds: Any = None
    shuffle: bool = True
    seed: int = 0

    def row_folds(self, label: Array, labelled: Array | None, query: Array | None) -> list[Fold]:
        """The folds that ``xgboost.cv`` would make of the labelled rows, by row number."""
        rows = np.arange(len(label)) if labelled is None else np.flatnonzero(labelled)
        if query is not None:
            return self._of_queries(label, labelled, query, rows)
        if self.folds is not None and not hasattr(self.folds, "split"):
            return _checked_folds(self.folds, labelled, len(label))
        if self.folds is None:
            self._check_nfold(len(rows), "rows" if labelled is None else "labelled rows")
        return [(rows[np.asarray(rest)], rows[np.asarray(out)]) for rest, out in self._split(label[rows])]

    def _split(self, label: Array) -> list[Fold]:
        splitter = self.folds
        if splitter is None and self.stratified:
            try:
                from sklearn.model_selection import StratifiedKFold
            except ImportError as error:
                raise ImportError(
                    'stratified folds need scikit-learn, as in xgboost.cv: pip install "pi-xgb[sklearn]"'
                ) from error
            splitter = StratifiedKFold(self.nfold, shuffle=True, random_state=self.seed)
        if splitter is not None:
            return list(splitter.split(X=label, y=label))
        # XGBoost draws from NumPy's global generator after seeding it; the same numbers without that side effect.
        n_rows = len(label)
        order = np.random.RandomState(self.seed).permutation(n_rows) if self.shuffle else np.arange(n_rows)
        parts = np.array_split(order, self.nfold)
        return [(np.concatenate([*parts[:k], *parts[k + 1 :]]), out) for k, out in enumerate(parts)]

    def _of_queries(self, label: Array, labelled: Array | None, query: Array, rows: Array) -> list[Fold]:
        """The same in whole queries, as ``xgboost.cv`` deals them where it makes the folds."""
        if self.stratified:
            raise ValueError(
                "stratified folds would tear queries apart: leave stratified out, queries are dealt as a whole"
            )
        folds = self.folds
        if folds is not None:
            if hasattr(folds, "split"):  # which numbers the rows that it is shown
                split = folds.split(X=label[rows], y=label[rows], groups=query[rows])
                folds = [(rows[np.asarray(rest)], rows[np.asarray(out)]) for rest, out in split]
            dealt = _checked_folds(folds, labelled, len(label))
            for number, (rest, out) in enumerate(dealt):
                check_apart(query, rest, out, number)
            return [(np.sort(rest), np.sort(out)) for rest, out in dealt]
        codes = pd.factorize(query[rows])[0]
        queries = np.unique(codes)
        self._check_nfold(len(queries), "queries")
        where = np.split(rows, np.cumsum(np.bincount(codes))[:-1])
        return [
            (np.concatenate([where[i] for i in rest]), np.concatenate([where[i] for i in out]))
            for rest, out in self._split(queries)
        ]

    def _check_nfold(self, at_most: int, what: str) -> None:
        check_whole("nfold", self.nfold, 2)
        if self.nfold > at_most:
            raise ValueError(
                f"nfold must be at most the {at_most} {what}, which are dealt to the folds, got {self.nfold}"
            )


def _checked_folds(folds: Any, labelled: Array | None, n_rows: int) -> list[Fold]:
    dealt = pairs_of_rows(folds, n_rows)
    if not dealt:
        raise ValueError("folds is an empty list: give at least one pair (training rows, held-out rows)")
    return [_labelled_fold(rest, out, labelled) for rest, out in dealt]


def _labelled_fold(rest: Array, out: Array, labelled: Array | None) -> Fold:
    if labelled is None:
        return rest, out
    if not labelled[out].all():
        raise ValueError(
            f"{int((~labelled[out]).sum())} rows without a label are among those that a fold holds out, where they "
            "judge nobody: hold out labelled rows alone"
        )
    return rest[labelled[rest]], out


def with_unlabelled(folds: list[Fold], labelled: Array | None, query: Array | None) -> list[Fold]:
    """Rows without a label are in every training part and in no test part; rows of a query stay side by side."""
    if labelled is None:
        return folds
    others = np.flatnonzero(~labelled)
    joined = [(np.concatenate([rest, others]), out) for rest, out in folds]
    return joined if query is None else [(np.sort(rest), out) for rest, out in joined]

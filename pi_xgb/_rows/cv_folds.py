"""The folds of ``cv`` by row numbers: those that ``xgboost.cv`` would make, of labelled rows, in whole queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Array
from .._stats.folds import check_apart, pairs_of_rows
from .checks import check_whole

Fold = tuple[Array, Array]


def row_folds(
    label: Array,
    labelled: Array | None,
    query: Array | None,
    nfold: int,
    stratified: bool,
    folds: Any,
    shuffle: bool,
    seed: int,
) -> list[Fold]:
    """The folds that ``xgboost.cv`` would make of the labelled rows: teachers need the row numbers, which it keeps."""
    if query is not None:
        return _query_folds(label, labelled, query, nfold, stratified, folds, shuffle, seed)
    if folds is not None and not hasattr(folds, "split"):
        return _checked_folds(folds, labelled, len(label))
    rows = np.arange(len(label)) if labelled is None else np.flatnonzero(labelled)
    label = label[rows]
    if folds is None:
        _check_nfold(nfold, len(rows), "rows" if labelled is None else "labelled rows")
    if folds is not None:
        splits = folds.split(X=label, y=label)
    elif stratified:
        try:
            from sklearn.model_selection import StratifiedKFold
        except ImportError as error:
            raise ImportError(
                'stratified folds need scikit-learn, as in xgboost.cv: pip install "pi-xgb[sklearn]"'
            ) from error
        splits = StratifiedKFold(nfold, shuffle=True, random_state=seed).split(X=label, y=label)
    else:
        # XGBoost draws from NumPy's global generator after seeding it; the same numbers without that side effect.
        order = np.random.RandomState(seed).permutation(len(rows)) if shuffle else np.arange(len(rows))
        parts = np.array_split(order, nfold)
        splits = [(np.concatenate([part for j, part in enumerate(parts) if j != k]), parts[k]) for k in range(nfold)]
    return [(rows[np.asarray(rest)], rows[np.asarray(out)]) for rest, out in splits]


def _check_nfold(nfold: Any, at_most: int, what: str) -> None:
    check_whole("nfold", nfold, 2)
    if nfold > at_most:
        raise ValueError(f"nfold must be at most the {at_most} {what}, which are dealt to the folds, got {nfold}")


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


def _query_folds(
    label: Array,
    labelled: Array | None,
    query: Array,
    nfold: int,
    stratified: bool,
    folds: Any,
    shuffle: bool,
    seed: int,
) -> list[Fold]:
    """The same in whole queries, as ``xgboost.cv`` deals them where it makes the folds."""
    if stratified:
        raise ValueError(
            "stratified folds would tear queries apart: leave stratified out, queries are dealt as a whole"
        )
    rows = np.arange(len(label)) if labelled is None else np.flatnonzero(labelled)
    if folds is not None:
        if hasattr(folds, "split"):  # which numbers the rows that it is shown
            split = folds.split(X=label[rows], y=label[rows], groups=query[rows])
            folds = [(rows[np.asarray(rest)], rows[np.asarray(out)]) for rest, out in split]
        dealt = _checked_folds(folds, labelled, len(label))
        for number, (rest, out) in enumerate(dealt):
            check_apart(query, rest, out, number)
        return [(np.sort(rest), np.sort(out)) for rest, out in dealt]
    codes = pd.factorize(query[rows])[0]
    _check_nfold(nfold, len(np.unique(codes)), "queries")
    parts = row_folds(np.unique(codes), None, None, nfold, False, None, shuffle, seed)
    where = np.split(rows, np.cumsum(np.bincount(codes))[:-1])
    return [(np.concatenate([where[i] for i in rest]), np.concatenate([where[i] for i in out])) for rest, out in parts]


def with_unlabelled(folds: list[Fold], labelled: Array | None, query: Array | None) -> list[Fold]:
    """Rows without a label are in every training part and in no test part; rows of a query stay side by side."""
    if labelled is None:
        return folds
    others = np.flatnonzero(~labelled)
    joined = [(np.concatenate([rest, others]), out) for rest, out in folds]
    return joined if query is None else [(np.sort(rest), out) for rest, out in joined]

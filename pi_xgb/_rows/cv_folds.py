"""The folds of ``cv`` as row numbers: those of ``xgboost.cv``, of labelled rows, in whole queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Array
from .._stats.folds import read_folds
from .checks import check_whole

Fold = tuple[Array, Array]


def row_folds(how: Mapping[str, Any], label: Array, labelled: Array | None, query: Array | None) -> list[Fold]:
    """The folds that ``xgboost.cv`` makes of the labelled rows, as row numbers; queries stay whole.

    ``how`` has its keywords. It does not return row numbers, which teachers need.
    """
    folds, nfold = how["folds"], how["nfold"]
    if query is not None and how["stratified"]:
        raise ValueError("stratified must be False for queries, which are assigned to folds as a whole, got True")
    rows = np.arange(len(label)) if labelled is None else np.flatnonzero(labelled)
    if folds is None:
        units = np.arange(len(rows)) if query is None else pd.factorize(query[rows])[0]
        what = "queries" if query is not None else "rows" if labelled is None else "labelled rows"
        check_whole("nfold", nfold, 2)
        if nfold > (n_units := len(np.unique(units))):
            raise ValueError(f"nfold must be at most the {n_units} {what}, got {nfold}: use fewer folds")
        if not how["stratified"]:
            return _dealt(rows, units, how)
        from sklearn.model_selection import StratifiedKFold

        folds = StratifiedKFold(nfold, shuffle=True, random_state=how["seed"])
    if hasattr(folds, "split"):  # a splitter numbers the rows that it gets
        groups = {} if query is None else {"groups": query[rows]}
        pairs = folds.split(X=label[rows], y=label[rows], **groups)
        folds = [(rows[np.asarray(train)], rows[np.asarray(test)]) for train, test in pairs]
    known = read_folds(folds, len(label), labelled, query)
    if not known:
        raise ValueError("folds must have at least one pair (training rows, held-out rows), got an empty list")
    return known if query is None else [(np.sort(train), np.sort(test)) for train, test in known]


def _dealt(rows: Array, units: Array, how: Mapping[str, Any]) -> list[Fold]:
    """Return the folds of units 0, 1, ... (rows or queries), in an order that XGBoost draws."""
    sizes = np.bincount(units)
    # XGBoost seeds NumPy's global generator and draws from it; a local one gives the same numbers.
    order = np.random.RandomState(how["seed"]).permutation(len(sizes)) if how["shuffle"] else np.arange(len(sizes))
    in_order = rows[np.argsort(np.argsort(order)[units], kind="stable")]
    ends = np.cumsum([part.sum() for part in np.array_split(sizes[order], how["nfold"])])
    parts = np.split(in_order, ends[:-1])
    return [(np.concatenate([*parts[:k], *parts[k + 1 :]]), test) for k, test in enumerate(parts)]


def with_unlabelled(folds: list[Fold], labelled: Array | None, query: Array | None) -> list[Fold]:
    """Return the folds with the unlabelled rows in every training part; rows of a query stay adjacent."""
    if labelled is None:
        return folds
    unlabelled = np.flatnonzero(~labelled)
    joined = [(np.concatenate([train, unlabelled]), test) for train, test in folds]
    return joined if query is None else [(np.sort(train), test) for train, test in joined]

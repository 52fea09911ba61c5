"""Folds of rows, one by one or in groups that stay together: dealt here, those of the user, those of ``xgboost.cv``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Array
from .._warnings import warn_user
from .checks import check_whole

Fold = tuple[Array, Array]
"""The numbers of the training rows, and of the rows held out."""

_SIZES_OF_Y = 5


def deal_folds(label: Array, n_folds: int, seed: int, groups: Array | None = None, *, classes: bool = True) -> Array:
    """Return the fold of each row, with each label's rows spread evenly.

    Rows are assigned in turn in the order of their label, shuffled within equal labels. This stratifies classes and
    spreads numbers. ``groups`` stay whole: each is in the fold that most lacks its labels.
    """
    random = np.random.default_rng(seed)
    if groups is None:
        shuffled = random.permutation(len(label))
        fold_of = np.empty(len(label), np.intp)
        fold_of[shuffled[np.argsort(label[shuffled], kind="stable")]] = np.arange(len(label)) % n_folds
        return fold_of
    codes = pd.factorize(groups)[0]
    counts = pd.crosstab(codes, kinds(label, classes=classes)).to_numpy()
    share = counts / counts.sum(axis=0)
    shuffled = random.permutation(len(counts))
    # The largest groups first, since later ones can balance them; random order among groups of similar size.
    magnitude = np.floor(np.log2(counts.sum(axis=1)))
    totals = np.zeros((n_folds, counts.shape[1]))
    fold_of = np.empty(len(counts), np.intp)
    for group in shuffled[np.argsort(-magnitude[shuffled], kind="stable")]:
        # The fold with the fewest rows of these labels; the total number of rows breaks ties.
        fold = np.lexsort((totals.sum(axis=1), totals @ share[group]))[0]
        fold_of[group] = fold
        totals[fold] += counts[group]
    return fold_of[codes]


def kinds(label: Array, *, classes: bool) -> Array:
    """Return the stratum of each row: its class, or a quantile bin of y."""
    if classes and not np.any(label != np.floor(label)):
        return np.unique(label, return_inverse=True)[1]
    rank = np.argsort(np.argsort(label, kind="stable"))
    return rank * min(_SIZES_OF_Y, len(label)) // len(label)


def warn_of_torn_groups(groups: Array, folds: Iterable[Fold], remedy: str) -> None:
    """Warn if rows of one group of ``crossfit_groups`` are on both sides of a fold."""
    if any(pd.Index(groups[test]).isin(groups[train]).any() for train, test in folds):
        warn_user(
            "rows of one group of crossfit_groups are in the training part and in the test part of a fold, so that "
            f"scores may be too good: pass {remedy}"
        )


def check_enough_groups(groups: Array, nfold: int, name: str = "groups") -> None:
    """Raise if there are fewer groups than folds."""
    n_groups = len(pd.unique(groups))
    if n_groups < nfold:
        raise ValueError(f"{name} has {n_groups} distinct values for {nfold} folds: use fewer folds or finer groups")


def read_folds(folds: Any, label: Array, labelled: Array | None, groups: Array | None) -> list[Fold]:
    """Return the folds of the user, pairs of numbers or masks or a splitter, as row numbers (training, held out).

    Rows without a label do not train, and may not be held out. No group may be on both sides.
    """
    rows = np.arange(len(label))
    if hasattr(folds, "split") and not isinstance(folds, str):  # a splitter numbers the rows that it gets
        rows = rows if labelled is None else rows[labelled]
        named = {} if groups is None else {"groups": groups[rows]}
        folds = folds.split(X=label[rows], y=label[rows], **named)
    expected = "folds must be pairs (training rows, held-out rows) or a splitter of scikit-learn's, got"
    if not isinstance(folds, Iterable):
        raise TypeError(f"{expected} {folds!r}: pass the number of folds as nfold")
    found = []
    for number, pair in enumerate(folds):
        try:
            train, test = pair
        except (TypeError, ValueError):
            raise TypeError(f"{expected} {type(pair).__name__} as fold {number}") from None
        train, test = (rows[_row_numbers(part, len(rows), number)] for part in (train, test))
        if labelled is not None:
            train = train[labelled[train]]
            if not (labelled[test].all() and train.size):
                raise ValueError(
                    f"fold {number} must train on labelled rows and hold out labelled rows only, got {train.size} and "
                    f"{(~labelled[test]).sum()} held-out rows without a label: use other rows"
                )
        if groups is not None:
            held_out = pd.Series(groups[test])
            if shared := held_out[held_out.isin(groups[train])].tolist():
                raise ValueError(f"fold {number} has the group {shared[0]!r} on both sides: keep groups together")
        found.append((train, test))
    return found


def _row_numbers(part: Any, n_rows: int, number: int) -> Array:
    """Return row numbers, checked since XGBoost would read numbers outside the range from other memory."""
    rows = np.asarray(part)
    if rows.dtype == bool and rows.shape == (n_rows,):
        rows = np.flatnonzero(rows)
    is_numbers = rows.ndim == 1 and rows.size > 0 and rows.dtype.kind in "iu"
    if not is_numbers or rows.min() < 0 or rows.max() >= n_rows:
        raise ValueError(
            f"fold {number} must have row numbers from 0 to {n_rows - 1} on both sides, or truth values for all "
            f"{n_rows} rows, got {part!r:.60}"
        )
    return rows


def row_folds(how: Mapping[str, Any], label: Array, labelled: Array | None, query: Array | None) -> list[Fold]:
    """The folds that ``xgboost.cv`` makes of the labelled rows, as row numbers; queries stay whole.

    ``how`` has its keywords. It does not return row numbers, which teachers need.
    """
    folds = how["folds"]
    if query is not None and how["stratified"]:
        raise ValueError("stratified must be False for queries, which are assigned to folds as a whole, got True")
    if folds is None and not how["stratified"]:
        return _drawn(how, np.arange(len(label)) if labelled is None else np.flatnonzero(labelled), query)
    if folds is None:
        from sklearn.model_selection import StratifiedKFold

        folds = StratifiedKFold(how["nfold"], shuffle=True, random_state=how["seed"])
    known = read_folds(folds, label, labelled, query)
    if not known:
        raise ValueError("folds must have at least one pair (training rows, held-out rows), got an empty list")
    return known if query is None else [(np.sort(train), np.sort(test)) for train, test in known]


def _drawn(how: Mapping[str, Any], rows: Array, query: Array | None) -> list[Fold]:
    """Return the folds of these rows, or of their queries, in an order that XGBoost draws."""
    units = np.arange(len(rows)) if query is None else pd.factorize(query[rows])[0]
    sizes, nfold = np.bincount(units), how["nfold"]
    check_whole("nfold", nfold, 2)
    if nfold > len(sizes):
        what = "labelled rows" if query is None else "queries"
        raise ValueError(f"nfold must be at most the {len(sizes)} {what}, got {nfold}: use fewer folds")
    # XGBoost seeds NumPy's global generator and draws from it; a local one gives the same numbers.
    order = np.random.RandomState(how["seed"]).permutation(len(sizes)) if how["shuffle"] else np.arange(len(sizes))
    in_order = rows[np.argsort(np.argsort(order)[units], kind="stable")]
    ends = np.cumsum([part.sum() for part in np.array_split(sizes[order], nfold)])
    parts = np.split(in_order, ends[:-1])
    return [(np.concatenate([*parts[:k], *parts[k + 1 :]]), test) for k, test in enumerate(parts)]


def with_unlabelled(folds: list[Fold], labelled: Array | None, query: Array | None) -> list[Fold]:
    """Return the folds with the unlabelled rows in every training part; rows of a query stay adjacent."""
    if labelled is None:
        return folds
    unlabelled = np.flatnonzero(~labelled)
    joined = [(np.concatenate([train, unlabelled]), test) for train, test in folds]
    return joined if query is None else [(np.sort(train), test) for train, test in joined]

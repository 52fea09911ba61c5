"""Assignment of rows to folds, one by one or in groups that stay together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Array

_SIZES_OF_Y = 5


def deal_folds(label: Array, n_folds: int, seed: int) -> list[tuple[Array, Array]]:
    """Return pairs of (other rows, rows of this fold), with each label's rows spread evenly.

    Rows are assigned in turn in the order of their label, shuffled within equal labels. This stratifies classes and
    spreads numbers.
    """
    shuffled = np.random.default_rng(seed).permutation(len(label))
    by_label = shuffled[np.argsort(label[shuffled], kind="stable")]
    fold_of = np.empty(len(label), np.intp)
    fold_of[by_label] = np.arange(len(label)) % n_folds
    return _pairs(fold_of, n_folds)


def check_enough_groups(groups: Array, nfold: int, name: str = "groups") -> None:
    """Raise if there are fewer groups than folds."""
    n_groups = len(pd.unique(groups))
    if n_groups < nfold:
        raise ValueError(f"{name} has {n_groups} distinct values for {nfold} folds: use fewer folds or finer groups")


def deal_groups(label: Array, groups: Array, nfold: int, seed: int, *, classes: bool) -> list[tuple[Array, Array]]:
    """Return pairs of (other rows, rows of this fold) of whole groups, each in the fold that most lacks its labels."""
    codes = pd.factorize(groups)[0]
    counts = pd.crosstab(codes, kinds(label, classes=classes)).to_numpy()
    n_groups = len(counts)
    share = counts / counts.sum(axis=0)
    shuffled = np.random.default_rng(seed).permutation(n_groups)
    # The largest groups first, since later ones can balance them; random order among groups of similar size.
    magnitude = np.floor(np.log2(counts.sum(axis=1)))
    order = shuffled[np.argsort(-magnitude[shuffled], kind="stable")]
    totals = np.zeros((nfold, counts.shape[1]))
    fold_of = np.empty(n_groups, np.intp)
    for group in order:
        # The fold with the fewest rows of these labels; the total number of rows breaks ties.
        fold = np.lexsort((totals.sum(axis=1), totals @ share[group]))[0]
        fold_of[group] = fold
        totals[fold] += counts[group]
    return _pairs(fold_of[codes], nfold)


def pairs_of_rows(folds: Any, n_rows: int) -> list[tuple[Array, Array]]:
    """Return the user's folds as pairs of row numbers (training, held out), from numbers or masks."""
    expected = "folds must be pairs (training rows, held-out rows) or a splitter of scikit-learn's, got"
    if not isinstance(folds, Iterable):
        raise TypeError(f"{expected} {folds!r}: pass the number of folds as nfold")
    pairs = []
    for number, pair in enumerate(folds):
        try:
            train, test = pair
        except (TypeError, ValueError):
            raise TypeError(f"{expected} {type(pair).__name__} as fold {number}") from None
        pairs.append((_rows(train, n_rows, number), _rows(test, n_rows, number)))
    return pairs


def _rows(part: Any, n_rows: int, number: int) -> Array:
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
    return rows.astype(np.int64)


def check_apart(groups: Array, train: Array, test: Array, number: int) -> None:
    """Raise if a group is on both sides of a fold."""
    held_out = pd.Series(groups[test])
    if shared := held_out[held_out.isin(groups[train])].tolist():
        raise ValueError(f"fold {number} has rows of the group {shared[0]!r} on both sides: keep groups together")


def groups_of_classes(label: Array, groups: Array) -> tuple[Array, Array]:
    """Return the classes, and the number of groups that contain each."""
    counts = pd.crosstab(pd.factorize(groups)[0], label)
    return counts.columns.to_numpy(), (counts > 0).sum().to_numpy()


def _pairs(fold_of_row: Array, n_folds: int) -> list[tuple[Array, Array]]:
    return [(np.flatnonzero(fold_of_row != k), np.flatnonzero(fold_of_row == k)) for k in range(n_folds)]


def kinds(label: Array, *, classes: bool) -> Array:
    """Return the stratum of each row: its class, or a quantile bin of y."""
    if classes and not np.any(label != np.floor(label)):
        return np.unique(label, return_inverse=True)[1]
    rank = np.argsort(np.argsort(label, kind="stable"))
    return rank * min(_SIZES_OF_Y, len(label)) // len(label)

"""Assignment of rows to folds, one by one or in groups that stay together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Array

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


def check_enough_groups(groups: Array, nfold: int, name: str = "groups") -> None:
    """Raise if there are fewer groups than folds."""
    n_groups = len(pd.unique(groups))
    if n_groups < nfold:
        raise ValueError(f"{name} has {n_groups} distinct values for {nfold} folds: use fewer folds or finer groups")


def read_folds(
    folds: Any, n_rows: int, labelled: Array | None = None, groups: Array | None = None
) -> list[tuple[Array, Array]]:
    """Return the user's folds as pairs of row numbers (training, held out), from numbers or masks.

    Rows without a label do not train, and may not be held out. No group may be on both sides.
    """
    expected = "folds must be pairs (training rows, held-out rows) or a splitter of scikit-learn's, got"
    if not isinstance(folds, Iterable):
        raise TypeError(f"{expected} {folds!r}: pass the number of folds as nfold")
    pairs = []
    for number, pair in enumerate(folds):
        try:
            train, test = pair
        except (TypeError, ValueError):
            raise TypeError(f"{expected} {type(pair).__name__} as fold {number}") from None
        train, test = (_row_numbers(part, n_rows, number) for part in (train, test))
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
                raise ValueError(
                    f"fold {number} has rows of the group {shared[0]!r} on both sides: keep groups together"
                )
        pairs.append((train, test))
    return pairs


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
    return rows.astype(np.int64)

"""Rows dealt to folds."""

from __future__ import annotations

import numpy as np

from .._arrays import Array


def deal_folds(label: Array, n_folds: int, seed: int) -> list[tuple[Array, Array]]:
    """Pairs of (other rows, rows of this fold), with each label's rows dealt out evenly.

    Dealing rows in the order of their label, shuffled within equal labels, stratifies classes and spreads
    numbers in the same few lines.
    """
    shuffled = np.random.default_rng(seed).permutation(len(label))
    by_label = shuffled[np.argsort(label[shuffled], kind="stable")]
    fold_of = np.empty(len(label), np.intp)
    fold_of[by_label] = np.arange(len(label)) % n_folds
    return [(np.flatnonzero(fold_of != k), np.flatnonzero(fold_of == k)) for k in range(n_folds)]

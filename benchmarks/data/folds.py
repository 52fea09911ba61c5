"""The paper's ten folds: train on eight parts, validate on one, test on one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

N_FOLDS = 10
SEED = 42


@dataclass(frozen=True)
class Fold:
    """Row numbers of one fold, in the order in which the paper stacked them."""

    number: int
    train: npt.NDArray[np.intp]
    valid: npt.NDArray[np.intp]
    test: npt.NDArray[np.intp]


def parts(y: npt.ArrayLike) -> list[npt.NDArray[np.intp]]:
    """Ten disjoint stratified parts of the rows; each is ascending in row number."""
    from sklearn.model_selection import StratifiedKFold

    labels = np.asarray(y)
    splitter = StratifiedKFold(n_splits=N_FOLDS, shuffle=True, random_state=SEED)
    return [test for _, test in splitter.split(np.zeros((labels.size, 1)), labels)]


def ten_folds(y: npt.ArrayLike) -> list[Fold]:
    """Fold i tests on part i and validates on part i + 1 (the last on part 0).

    The training rows are the other eight parts one after the other, not sorted: the order of the rows decides
    how sums are rounded, and so which of two equal splits a tree takes.
    """
    all_parts = parts(y)
    folds = []
    for number in range(N_FOLDS):
        valid = (number + 1) % N_FOLDS
        train = np.concatenate([part for k, part in enumerate(all_parts) if k not in (number, valid)])
        folds.append(Fold(number, train, all_parts[valid], all_parts[number]))
    return folds

"""Folds for scikit-learn's tools where some rows have no label: these are in training parts only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import BaseCrossValidator, GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import check_consistent_length

from .._arrays import Array
from .._rows.folds import Fold, check_enough_groups
from .._rows.labels import read_target, read_targets
from .._rows.per_row import on_host
from .._rows.supervision import read_groups


class LabelledKFold(BaseCrossValidator):  # type: ignore[misc]
    """K folds of the rows that have a label. The others (y is NaN, None, NaT or NA) are in every training part.

    For ``cv=`` of ``cross_val_score``, ``GridSearchCV`` and the like, with :class:`PrivilegedXGBClassifier` or
    :class:`PrivilegedXGBRegressor`. Where all rows have a label the folds are those of scikit-learn's
    ``StratifiedKFold`` or ``KFold``. Training parts lack labels and cannot be scored (``return_train_score``).
    scikit-learn's calibration, stacking and halving searches reject a missing y; ``cross_val_predict`` requires that
    every row is tested.

    Parameters
    ----------
    n_splits, shuffle, random_state : as for scikit-learn's ``KFold``
    stratify : bool, default=None
        Whether to keep the share of each class in every fold. The default is True for anything but numbers, and for
        whole numbers if each has on average ``n_splits`` rows or more; set False if these are amounts.

    Examples
    --------
    >>> import numpy as np
    >>> from pi_xgb.sklearn import LabelledKFold
    >>> y = np.array([0.0, 1.0, np.nan, 0.0, 1.0, np.nan])
    >>> for train, test in LabelledKFold(2).split(np.zeros((6, 1)), y):
    ...     print(train, test)
    [2 3 4 5] [0 1]
    [0 1 2 5] [3 4]
    """

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None, stratify: bool | None = None
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.stratify = stratify

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Fold]:
        """Pairs of (training rows, test rows), as row numbers."""
        label, known, stratified = self._read(X, y)
        splitter = self._splitter(StratifiedKFold if stratified else KFold)
        for _, test in splitter.split(known, label[known]):
            yield np.delete(np.arange(len(label)), known[test]), known[test]

    def _read(self, X: Any, y: Any) -> tuple[Array, Array, bool]:
        """Return encoded labels, the rows with a label, and whether to stratify them."""
        if X is not None:
            check_consistent_length(X, y)
        if on_host(y).ndim == 2 and on_host(y).shape[1] > 1:
            targets, labelled = read_targets(y)
            return targets, np.flatnonzero(labelled), bool(self.stratify)
        target = read_target(y, classes=True)
        known = np.arange(len(y)) if target.labelled is None else np.flatnonzero(target.labelled)
        stratified, classes = self.stratify, np.asarray(target.classes)
        if stratified is None:
            many = classes.dtype.kind in "iuf" and len(classes) * self.n_splits > len(known)
            stratified = not many and (classes.dtype.kind != "f" or not (classes % 1).any())
        return target.values, known, bool(stratified)

    def _splitter(self, splitter: Any) -> Any:
        return splitter(self.n_splits, shuffle=self.shuffle, random_state=self.random_state)


class LabelledGroupKFold(LabelledKFold):
    """:class:`LabelledKFold` that keeps rows of one group (the visits of a patient) on one side of each fold.

    scikit-learn's ``StratifiedGroupKFold`` or ``GroupKFold`` splits the labelled rows. Rows without a label are in
    every training part, except those of the tested groups: their privileged values would be unknown for a new
    patient. Metadata routing requests ``groups``.

    Parameters
    ----------
    n_splits, shuffle, random_state, stratify : as for :class:`LabelledKFold`

    Examples
    --------
    >>> import numpy as np
    >>> from pi_xgb.sklearn import LabelledGroupKFold
    >>> y = np.array([0.0, 1.0, np.nan, 0.0, 1.0, np.nan])
    >>> for train, test in LabelledGroupKFold(2).split(np.zeros((6, 1)), y, groups=[1, 1, 1, 2, 2, 3]):
    ...     print(train, test)
    [3 4 5] [0 1]
    [0 1 2 5] [3 4]
    """

    # Metadata routing then passes groups to split.
    __metadata_request__split = {"groups": True}  # noqa: RUF012

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Fold]:
        """Pairs of (training rows, test rows), as row numbers."""
        label, known, stratified = self._read(X, y)
        groups = read_groups(groups, len(label))
        if groups is None:
            raise ValueError("LabelledGroupKFold requires groups, got None: pass one value per row")
        check_enough_groups(groups[known], self.n_splits, "groups of the rows with a label")
        splitter = StratifiedGroupKFold if stratified else GroupKFold
        for _, test in self._splitter(splitter).split(known, label[known], groups[known]):
            yield np.flatnonzero(~pd.Series(groups).isin(groups[known[test]])), known[test]

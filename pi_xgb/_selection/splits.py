"""Repeated folds: which labelled rows train and which are held out, and the models that the folds of a repeat share."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from .._arrays import Array
from .._core.crossfit import SHARED, folds_of_groups
from .._rows.checks import check_whole
from .._rows.folds import check_enough_groups, deal_folds, kinds, read_folds

_ATTEMPTS = 50
_ROWS_SCORED, _MOST_REPEATS = 1000, 5
_FEWEST_SHARED = 4
"""With fewer folds a teacher without two of them would see at most half of the rows."""
M = TypeVar("M")


class Split(NamedTuple):
    """Numbers of labelled rows in one fold of one repeat. Every training part has unlabelled rows as well."""

    repeat: int
    fold: int
    train: Array
    test: Array
    shared: SharedFolds | None = None
    """The folds of its repeat, if cross-fitted teachers can share them."""

    @property
    def name(self) -> str:
        """The name of the split within a search."""
        return f"{self.repeat}/{self.fold}"


@dataclasses.dataclass
class SharedFolds:
    """The folds of one repeat of a search, one of them held out, whose teachers are shared.

    The model of fold j while fold k is held out has seen neither fold, so it is also the model of fold k while j is
    held out.
    """

    fold_of: Array
    number: int
    held_out: int = -1
    way: str = ""
    """The kind and the features of the teachers, where several share the folds."""
    _models: dict[Any, Any] = dataclasses.field(default_factory=dict)
    """By way, member and the two folds that it has not seen."""
    _locks: dict[Any, threading.Lock] = dataclasses.field(default_factory=dict)
    """Of each model, which several threads need and one of them trains."""

    @classmethod
    def of_splits(
        cls, splits: Sequence[Split], n_rows: int, labelled: Array | None, groups: Array | None
    ) -> list[SharedFolds | None]:
        """Return the folds for each split; None where the splits of its repeat do not partition the labelled rows."""
        n_known = n_rows if labelled is None else int(labelled.sum())
        of_repeat: dict[int, SharedFolds] = {}
        for repeat in {split.repeat for split in splits}:
            own, fold_of = [split for split in splits if split.repeat == repeat], np.full(n_rows, SHARED)
            for split in own:
                fold_of[split.test] = split.fold
            is_partition = (fold_of >= 0).sum() == n_known == sum(len(split.test) for split in own)
            is_complete = all(len(split.train) + len(split.test) == n_known for split in own)
            if len(own) >= _FEWEST_SHARED and is_partition and is_complete:
                of_repeat[repeat] = cls(fold_of if groups is None else folds_of_groups(fold_of, groups), len(own))
        shared = [of_repeat.get(split.repeat) for split in splits]
        return [
            one and dataclasses.replace(one, held_out=split.fold) for split, one in zip(splits, shared, strict=True)
        ]

    def subset(self, rows: Array) -> SharedFolds:
        """The folds of some of the rows."""
        return dataclasses.replace(self, fold_of=self.fold_of[rows])

    @contextlib.contextmanager
    def model(self, member: str, fold: int, fit: Callable[[], M]) -> Iterator[M]:
        """The model without this fold and the held-out one, locked against other threads."""
        key = self.way, member, frozenset({fold, self.held_out})
        with self._locks.setdefault(key, threading.Lock()):
            if key not in self._models:
                self._models[key] = fit()
            yield self._models[key]


def splits_of(
    label: Array,
    nfold: int,
    repeats: int,
    folds: Any,
    seed: int,
    *,
    classes: bool,
    names: Any = None,
    groups: Array | None = None,
    labelled: Array | None = None,
) -> list[Split]:
    """Return the user's folds, or ``repeats`` times ``nfold`` folds with each class (or size of y) spread evenly.

    ``names`` are the user's names of the classes 0, 1, ... Rows of one group are in one fold. Only ``labelled`` rows
    are in folds.
    """
    known = np.arange(len(label)) if labelled is None else np.flatnonzero(labelled)
    if np.ptp(label[known]) == 0:
        raise ValueError(f"every label is {_class_name(label[known[0]], names)}: add rows with other labels")
    if folds is not None:
        return _checked(folds, label, groups, labelled)
    check_whole("nfold", nfold, 2)
    check_whole("repeats", repeats, 1)
    check_whole("seed", seed, 0)
    label, groups = label[known], None if groups is None else groups[known]
    rows = "rows" if labelled is None else "labelled rows"
    if groups is not None:
        check_enough_groups(groups, nfold)
    if nfold > len(label):
        raise ValueError(f"nfold must be at most the number of {rows}, {len(label)}, got {nfold}: use fewer folds")
    if classes:
        check_classes(label, nfold, names, groups, rows)
    splits = _repeated_folds(label, nfold, repeats, seed, classes=classes, groups=groups)
    return [split._replace(train=known[split.train], test=known[split.test]) for split in splits]


def _repeated_folds(
    label: Array, nfold: int, repeats: int, seed: int, *, classes: bool, groups: Array | None
) -> list[Split]:
    """Return folds that differ between repeats: few groups have few partitions."""
    partitions: dict[frozenset[bytes], list[tuple[Array, Array]]] = {}
    strata = kinds(label, classes=classes)  # numbers in their own order would be dealt alike in every repeat
    for attempt in range(repeats if groups is None else repeats + _ATTEMPTS):
        if len(partitions) == repeats:
            break
        fold_of = deal_folds(strata, nfold, seed + attempt, groups)
        pairs = [(np.flatnonzero(fold_of != k), np.flatnonzero(fold_of == k)) for k in range(nfold)]
        partitions.setdefault(frozenset(test.tobytes() for _, test in pairs), pairs)
    if len(partitions) < repeats:
        n_found = len(partitions)
        raise ValueError(f"repeats must be at most {n_found} for so few groups, got {repeats}: use repeats={n_found}")
    return [
        Split(repeat, fold, train, test)
        for repeat, pairs in enumerate(partitions.values())
        for fold, (train, test) in enumerate(pairs)
    ]


def usual_repeats(n_rows: int) -> int:
    """Return the default number of repeats: more for few rows, so that the choice depends less on the folds."""
    return min(max(_ROWS_SCORED // n_rows, 1), _MOST_REPEATS)


def check_classes(label: Array, nfold: int, names: Any, groups: Array | None, rows: str) -> None:
    """Raise if some fold cannot hold out rows of every class."""
    if np.any(label != np.floor(label)):
        return  # labels that are probabilities have no classes
    values, counts = np.unique(label, return_counts=True)
    if counts.min() < nfold:
        # With a single row, no number of folds can hold a row out and train on another.
        fewer = f"at most {counts.min()} folds, or " if counts.min() > 1 else ""
        raise ValueError(
            f"class {_class_name(values[counts.argmin()], names)} has {counts.min()} {rows} for {nfold} folds: use "
            f"{fewer}more {rows}"
        )
    if groups is not None:
        n_groups = pd.Series(groups).groupby(label).nunique()
        if n_groups.min() < 2:
            name = _class_name(n_groups.idxmin(), names)
            raise ValueError(f"class {name} must be in two groups, got one: use finer groups")


def _class_name(label: Any, names: Any) -> str:
    if names is None:
        return f"{label:g}"
    name = names[int(label)]
    return repr(name.item() if isinstance(name, np.generic) else name)


def _checked(folds: Any, label: Array, groups: Array | None, labelled: Array | None) -> list[Split]:
    """Return the user's folds of labelled rows, or raise for rows on both sides, or held out twice alike."""
    splits: list[Split] = []
    seen: dict[bytes, int] = {}
    for number, (train, test) in enumerate(read_folds(folds, label, labelled, groups)):
        if np.intersect1d(train, test).size:
            raise ValueError(f"fold {number} holds out rows that it trains on: the two must have no row in common")
        same = seen.setdefault(np.unique(test).tobytes(), number)
        if same != number:
            raise ValueError(f"fold {number} holds out the same rows as fold {same}: leave one out")
        splits.append(Split(0, number, train, test))
    if len(splits) < 2:
        raise ValueError(f"folds must be at least two, got {len(splits)}: add folds to measure their spread")
    return splits


def held_out_ratio(splits: Sequence[Split]) -> float:
    """Return the mean of n_test / n_train, for the corrected interval."""
    return float(np.mean([len(split.test) / len(split.train) for split in splits]))

"""The fold engine of searches: the rows of a fold, teachers that folds share, and parts that run in threads."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import pandas as pd

from .._arrays import Array
from .._progress import progress_bar
from .._rows.resume_cache import ResumeCache
from .._xgb.threads import in_threads
from .crossfit import SHARED, Folds, M
from .learners.recipe import Recipe
from .training import Training

_FEWEST = 4
"""With fewer folds a teacher without two of them would see at most half of the rows."""


class Named(Protocol):
    """A part of a search, such as a fold."""

    @property
    def name(self) -> str:
        """The name of the part within its search."""
        ...


P = TypeVar("P", bound=Named)
R = TypeVar("R")


class Split(NamedTuple):
    """Numbers of labelled rows in one fold of one repeat. Every training part has unlabelled rows as well."""

    repeat: int
    fold: int
    train: Array
    test: Array

    @property
    def name(self) -> str:
        """The name of the split within a search."""
        return f"{self.repeat}/{self.fold}"


def training_rows(
    rows: Array, held_out: Array, unlabelled: Array | None, groups: Array | None, *, by_query: bool
) -> Array:
    """Return labelled rows and then all ``unlabelled`` ones, except those of a group that is held out."""
    if unlabelled is None:
        return rows
    if groups is not None:
        unlabelled = unlabelled & ~pd.Series(groups).isin(groups[held_out]).to_numpy()
    rows = np.concatenate([rows, np.flatnonzero(unlabelled)])
    return np.sort(rows) if by_query else rows  # the rows of a query stay adjacent


@dataclasses.dataclass(frozen=True)
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
    _models: dict[tuple[str, str, frozenset[int]], _Once] = dataclasses.field(default_factory=dict)

    @classmethod
    def of_splits(
        cls, splits: Sequence[Split], n_rows: int, labelled: Array | None, groups: Array | None
    ) -> list[SharedFolds | None]:
        """Return the folds for each split; None where the splits of its repeat do not partition the labelled rows."""
        repeats = {split.repeat: [other for other in splits if other.repeat == split.repeat] for split in splits}
        n_known = n_rows if labelled is None else int(labelled.sum())
        of_repeat = {repeat: cls._of_repeat(own, n_rows, n_known, groups) for repeat, own in repeats.items()}
        return [
            None if (folds := of_repeat[split.repeat]) is None else folds.without(int(folds.fold_of[split.test[0]]))
            for split in splits
        ]

    @classmethod
    def _of_repeat(cls, splits: Sequence[Split], n_rows: int, n_known: int, groups: Array | None) -> SharedFolds | None:
        fold_of = np.full(n_rows, SHARED)
        for number, split in enumerate(splits):
            fold_of[split.test] = number
        is_partition = (fold_of >= 0).sum() == n_known == sum(len(split.test) for split in splits)
        is_complete = all(len(split.train) + len(split.test) == n_known for split in splits)
        if len(splits) < _FEWEST or not (is_partition and is_complete):
            return None
        if groups is not None:
            # Rows without a label belong to the fold of their group, if it has labelled rows.
            fold_of = pd.Series(fold_of).groupby(pd.factorize(groups)[0]).transform("max").to_numpy()
        return cls(fold_of, len(splits))

    def without(self, held_out: int) -> SharedFolds:
        """The same folds and models with this fold held out."""
        return dataclasses.replace(self, held_out=held_out)

    def subset(self, rows: Array) -> SharedFolds:
        """The folds of some of the rows."""
        return dataclasses.replace(self, fold_of=self.fold_of[rows])

    def fitted_on(self, learnable: Array) -> Folds:
        """The folds, their models fitted on these rows."""
        return _ModelsOfFolds(self.fold_of, learnable, shared=self)

    @contextlib.contextmanager
    def model(self, member: str, fold: int, fit: Callable[[], M]) -> Iterator[M]:
        """The model without this fold and the held-out one, locked against other threads."""
        once = self._models.setdefault((self.way, member, frozenset({fold, self.held_out})), _Once())
        with once.lock:
            if once.model is None:
                once.model = fit()
            yield once.model


class _Once:
    """A model that several threads need, and that is trained once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.model: Any = None


@dataclasses.dataclass(frozen=True)
class _ModelsOfFolds(Folds):
    shared: SharedFolds = dataclasses.field(kw_only=True)

    def model(self, member: str, fold: int, fit: Callable[[], M]) -> contextlib.AbstractContextManager[M]:
        return self.shared.model(member, fold, fit)


def train_in_fold(training: Training, folds: SharedFolds | None, way: str) -> Training:
    """Return the training of a fold's rows with fitted teachers, shared in these ``folds``."""
    guides = []
    for guide in training.guides:
        teacher = guide.teacher
        if isinstance(teacher, Recipe):
            shared: Any = None if folds is None else dataclasses.replace(folds, way=way)
            teacher = dataclasses.replace(teacher, folds=shared).fit()
        guides.append(guide._replace(teacher=teacher))
    return training.replace(guides=tuple(guides))


def run_parts(
    work: Callable[[P, Callable[[], None]], R],
    parts: Sequence[P],
    steps: int,
    search: str,
    *,
    jobs: int,
    progress: bool | None,
    cache: ResumeCache,
    read: Callable[[Any], Any] = lambda part: part,
) -> list[R]:
    """Return ``work(part, step)`` of each part, from the cache where it is finished.

    ``work`` calls ``step`` so many times; ``read`` decodes what the cache stored.
    """
    n_left = sum(part.name not in cache for part in parts)
    with progress_bar(n_left * steps, search, progress) as step:
        return in_threads(cache.memoize(lambda part: work(part, step), lambda part: part.name, read), parts, jobs)

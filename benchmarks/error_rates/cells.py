"""One cell: a method that learned from few rows of a set, and how often it is wrong on the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import train_test_split

from benchmarks.data import PreparedSet, load
from benchmarks.data.folds import Fold
from benchmarks.error_rates import digits
from benchmarks.error_rates.machines import AS_MACHINES
from benchmarks.methods import METHODS
from benchmarks.modes import CURRENT
from benchmarks.modes.fold_work import FoldWork

MOST, FEWEST = 5000, 30
"""So many of the other rows are tested: it is the training that is short of rows, most of all in a smoke run."""
Tested = Callable[[FoldWork], npt.NDArray[Any]]
"""From the rows to the probabilities of the test rows."""


@dataclass(frozen=True)
class Part:
    """Some sets with their methods; ``few``: training rows, and as many validation rows."""

    load: Callable[[str], PreparedSet]
    few: int
    methods: dict[str, Tested]


def tested(name: str, work: FoldWork) -> npt.NDArray[Any]:
    """By a method of the other benchmarks."""
    return METHODS[name].run(work).test


BOOSTED = {name: partial(tested, name) for name in ("NF", "KbPIB", "JPIB", "KbPIB all features")}
PUBLIC = Part(load, 200, {**AS_MACHINES, **BOOSTED})
DIGITS = Part(digits.task, 100, {**AS_MACHINES, **digits.BOOSTED})


def drawn(dataset: PreparedSet, draw: int, few: int) -> Fold:
    """Training, validation and test rows; small sets give at most a half and a quarter."""
    y = dataset.y
    n_train, n_valid = min(few, len(y) // 2), min(few, len(y) // 4)
    train, others = train_test_split(np.arange(len(y)), train_size=n_train, stratify=y, random_state=draw)
    valid, test = train_test_split(others, train_size=n_valid, stratify=y[others], random_state=draw)
    return Fold(draw, np.sort(train), np.sort(valid), np.sort(test[:MOST]))


def measure_public(name: str, draw: int, small: bool = False) -> Iterator[dict[str, Any]]:
    return lines_of(PUBLIC, name, draw, small)


def measure_digits(name: str, draw: int, small: bool = False) -> Iterator[dict[str, Any]]:
    return lines_of(DIGITS, name, draw, small)


def lines_of(part: Part, name: str, draw: int, small: bool) -> Iterator[dict[str, Any]]:
    """The error rates of the methods, all on the same draw of a set."""
    dataset = part.load(name)
    work = FoldWork(dataset, drawn(dataset, draw, FEWEST if small else part.few), CURRENT)
    for method, run in part.methods.items():
        yield {"method": method, **measured(run, work)}


def measured(run: Tested, work: FoldWork) -> dict[str, float]:
    """The share of test rows whose probability is on the wrong side of a half; processor time."""
    start = time.process_time()
    scores = run(work)
    y = work.labels("test")
    return {
        "train": len(work.part("train")),
        "test": len(y),
        "error": float(np.mean((scores > 0.5) != y)),
        "seconds": time.process_time() - start,
    }

"""Values of alpha for one method on one fold: the piece of work that a process of the search does."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

import pi_xgb
from benchmarks.data import PreparedSet, load
from benchmarks.processes import spread
from benchmarks.search.engine import FoldSearch, Point

MADE = ("made_exact", "made_approx")
MADE_ROWS = 300
Points = list[tuple[float, Point]]


class Chunk(NamedTuple):
    """What is done, or lost, as a whole."""

    dataset: str
    fold: int
    method: str
    alphas: tuple[float, ...]
    as_paper: bool


def made_set(name: str) -> PreparedSet:
    """A generated set, all numeric for "exact" or with categories for "approx"."""
    data = pi_xgb.datasets.make_privileged(MADE_ROWS, n_features=5, n_privileged=2, seed=1)
    table = data.x.join(data.z).round(1)
    types = ["q"] * table.shape[1]
    if name == "made_approx":
        for column in ("x1", "x3", "z1"):
            table[column] = pd.qcut(table[column], 7, labels=False, duplicates="drop").astype(float)
            types[table.columns.get_loc(column)] = "c"
    return PreparedSet(name, table, np.asarray(data.y, np.int64), tuple(types), (5, 6), ())


@lru_cache(maxsize=1)
def prepared(name: str) -> PreparedSet:
    """The set by its name."""
    return made_set(name) if name in MADE else load(name)


@lru_cache(maxsize=1)
def fold_search(dataset: str, fold: int, as_paper: bool) -> FoldSearch:
    """The fold that this process works on: chunks come fold by fold."""
    return FoldSearch(prepared(dataset), fold, as_paper=as_paper)


def work_on(chunk: Chunk) -> Points:
    """The trainings of a chunk."""
    search = fold_search(chunk.dataset, chunk.fold, chunk.as_paper)
    return [(alpha, search.train(chunk.method, alpha)) for alpha in chunk.alphas]


def outcomes(chunks: Sequence[Chunk], jobs: int) -> Generator[tuple[Chunk, Points], None, None]:
    """Do the chunks, about in their order; one job works in this process."""
    if jobs == 1 or len(chunks) < 2:
        for chunk in chunks:
            yield chunk, work_on(chunk)
    else:
        yield from spread(work_on, deque(chunks), jobs, {})

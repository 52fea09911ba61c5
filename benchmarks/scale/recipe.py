"""The recipe for few labels, a mixed teacher, against plain XGBoost on all rows in the same run."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import xgboost

from benchmarks.cells import Line
from benchmarks.measuring import Trainings, seconds, versions
from benchmarks.scale.rows import BATCH, rows_of_batch

COLUMNS, ROUNDS, REPEATS = 30, 100, 5
PARAMS = {"objective": "binary:logistic", "max_depth": 4, "eta": 0.1, "tree_method": "hist"}
SIZES, THREADS, BUSY = ((3000, 100), (100_000, 2000), (100_000, 100_000)), (0, 2), (0, 2)
CELLS = [(*size, threads, busy) for size in SIZES for threads in THREADS for busy in BUSY]
SMOKE = [(1000, 100, 1, busy) for busy in (0, 1)]


@contextlib.contextmanager
def busy_processes(number: int) -> Iterator[None]:
    """Others that use a core each, as on a shared machine."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def made(rows: int, params: dict[str, Any], rounds: int) -> Trainings:
    """Both matrices, whose values can be read."""
    sizes = [min(BATCH, rows - first) for first in range(0, rows, BATCH)]
    sides = []
    for privileged in (False, True):
        parts = [rows_of_batch(i, size, COLUMNS, privileged=privileged) for i, size in enumerate(sizes)]
        data, label = (np.concatenate(values) for values in zip(*parts, strict=True))
        sides.append(xgboost.DMatrix(data, label))
    return Trainings(params, rounds, *sides)


def measure(rows: int, labels: int, threads: int, busy: int = 0, small: bool = False, **device: Any) -> list[Line]:
    """Seconds of both, which alternate beside ``busy`` processes: the lowest of each side, and the ratio of these."""
    rounds, repeats = (3, 1) if small else (ROUNDS, REPEATS)
    params = {**PARAMS, **({"nthread": threads} if threads else {}), **device}
    trainings, labelled = made(rows, params, rounds), np.arange(rows) < labels
    recipe = partial(trainings.recipe, labelled)
    trainings.plain(), recipe()  # both warm
    with busy_processes(busy):
        pairs = [(seconds(trainings.plain), seconds(recipe)) for _ in range(repeats)]
    plain, ours = (min(times) for times in zip(*pairs, strict=True))
    return [{"rounds": rounds, "plain_seconds": plain, "seconds": ours, "ratio": ours / plain, "versions": versions()}]

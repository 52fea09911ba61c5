"""The work of the runner: a group of cells that share a fold, done one after the other and recorded as they end."""

from __future__ import annotations

import gc
import importlib.metadata
import os
import platform
import re
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

import pi_xgb
from benchmarks.data import DATASETS, PreparedSet, load
from benchmarks.data.folds import Fold
from benchmarks.methods import METHODS, Method, Refused
from benchmarks.modes import MODES
from benchmarks.modes.fold_work import FoldWork
from benchmarks.run.measures import fold_measures, predictions_of, predictions_path
from benchmarks.run.results_file import Cell, Line, append

MADE = "made"
MADE_ROWS = 300


@dataclass(frozen=True)
class Group:
    """Methods of about the same cost on one fold: they share matrices and teachers."""

    dataset: str
    mode: str
    fold: int
    methods: tuple[str, ...]

    @property
    def cells(self) -> list[Cell]:
        """One cell per method."""
        return [Cell(self.dataset, method, self.mode, self.fold) for method in self.methods]


def made_set() -> PreparedSet:
    """A small generated set, so that the runner can be tried without any data."""
    data = pi_xgb.datasets.make_privileged(MADE_ROWS, n_features=5, n_privileged=2, group_gap=0.5, seed=0)
    table = data.x.join(data.z)
    table["group"] = data.group.astype(float)
    types = ("q",) * (table.shape[1] - 1) + ("c",)
    hidden = tuple(i for i, name in enumerate(table.columns) if not str(name).startswith("x"))
    # Values far from the middle: groups that have both labels in every fold.
    distance = (table.iloc[:, list(hidden[:-1])] - table.iloc[:, list(hidden[:-1])].median()).abs()
    far = [(distance[name] > distance[name].median()).to_numpy().astype(np.int64) for name in distance]
    return PreparedSet(MADE, table, data.y.to_numpy(), types, hidden, (*far, data.group.to_numpy()))


def rows_of(name: str) -> int:
    """The rows of a set, known before it is loaded."""
    return MADE_ROWS if name == MADE else DATASETS[name].rows


UNAVAILABLE: dict[str, Exception] = {}
"""Why a set could not be loaded: a download that failed is not tried again for every fold and method."""


@lru_cache(maxsize=1)
def prepared(name: str) -> tuple[PreparedSet, list[Fold]]:
    """The set and its folds."""
    if name in UNAVAILABLE:
        raise UNAVAILABLE[name]
    try:
        dataset = made_set() if name == MADE else load(name)
    except Exception as error:
        UNAVAILABLE[name] = error
        raise
    return dataset, dataset.folds()


def work_on(group: Group, out: Path, nthread: int) -> list[tuple[Cell, str]]:
    """Do the cells of a group and record each as it ends. Returns the cells that gave no scores, and why."""
    troubles = []
    work = None
    for cell in group.cells:
        begun = time.perf_counter()
        method = METHODS[cell.method]
        try:
            if work is None:
                dataset, folds = prepared(group.dataset)
                work = FoldWork(dataset, folds[group.fold], MODES[group.mode], nthread)
                begun = time.perf_counter()
            measured, note = do(method, work, predictions_path(out, cell))
            values = [(measure, value, "") for measure, value in measured.items()]
            if note:
                values.insert(0, ("note", None, note))
        except Refused as refused:
            values = [("refused", None, one_line(str(refused)))]
        except Exception as error:
            values = [("error", None, described(error))]
        seconds = time.perf_counter() - begun
        append(out, [line(cell, *value, seconds=seconds) for value in values])
        troubles += [(cell, f"{measure}: {text}") for measure, _, text in values if measure in ("refused", "error")]
    del work
    gc.collect()
    return troubles


def do(method: Method, work: FoldWork, path: Path) -> tuple[dict[str, float], str]:
    """Run one method on one fold; its predictions are safe before anything is recorded."""
    if work.mode.name not in method.modes:
        raise Refused(f"runs in mode {' and '.join(method.modes)} only")
    scores = method.run(work)
    predictions = predictions_of(work, scores)
    for name, array in (("validation", scores.valid), ("test", scores.test)):
        if not np.isfinite(array).all():
            raise ValueError(f"expected finite scores for the {name} rows, got {array[~np.isfinite(array)][0]}")
    predictions.save(path)
    return fold_measures(predictions, scores), one_line(scores.note)


def line(cell: Cell, measure: str, value: float | None, note: str = "", *, seconds: float = 0.0) -> Line:
    """One line of the file, with where and with what it was made."""
    versions = library_versions(METHODS[cell.method].library)
    value = None if value is None else float(value)
    return Line(*cell, measure, value, machine(), versions, MODES[cell.mode].seed, seconds, note)


def usable_cores() -> int:
    """The cores that this process may use; ``OMP_NUM_THREADS`` asks for fewer."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    requested = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores, int(requested)) if requested.isdigit() and int(requested) > 0 else cores


@lru_cache
def machine() -> str:
    """What the times depend on."""
    return f"{os.cpu_count()} cores {platform.machine()}"


@lru_cache
def library_versions(library: str = "") -> str:
    """Short, for a column of the results."""
    names = ["xgboost", "numpy", *([library] if library else [])]
    found = []
    for name in names:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{name} -")
    return " ".join([f"pi-xgb {pi_xgb.__version__}", *found, f"python {platform.python_version()}"])


def described(error: BaseException) -> str:
    """One line without folders of this machine."""
    return one_line(f"{type(error).__name__}: {error}")


def one_line(text: str) -> str:
    """No line breaks, no absolute paths, not too long."""
    without_folders = re.sub(r"(?<![\w:/.])/(?:[\w.@+-]+/)+", "", " ".join(text.split()))
    return without_folders[:500]

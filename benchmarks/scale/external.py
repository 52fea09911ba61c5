"""Training in external memory: data of several times the memory that the process is given.

    python -m benchmarks.scale.external       runs it at its full size, some minutes; results/scale_external.json

Three processes train the same models on the same files. One has the memory limit and XGBoost's
``ExtMemQuantileDMatrix`` for both matrices, one has no limit and all in memory, and one has the limit and all in
memory, which must fail, or the limit would show nothing.

The limit is Linux's ``RLIMIT_DATA``: the private memory that a process may write to, libraries and thread stacks
included. ``RLIMIT_AS`` would also count the files that XGBoost maps to read its cache, which hold no memory: the kernel
drops such pages whenever somebody else needs the room. The usual stack of a thread is 8 MiB of which it touches a few
KiB; since all of it counts, the processes get stacks of 1 MiB.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import xgboost

from benchmarks.cells import RESULTS
from benchmarks.measuring import Trainings, memory_mib
from benchmarks.scale.rows import Array, rows_of_batch

# Room is what the limit leaves above the libraries; the data are 3 times the whole limit, or of the room in SMALL.
FULL = {"rows": 700_000, "columns": 250, "room_mib": 160, "batches": 140, "rounds": 10}
SMALL = {"rows": 200_000, "columns": 96, "room_mib": 48, "batches": 30, "rounds": 3}
STACK = 2**20
MODELS = (("kbpib", "callback"), ("kbpib", "native"), ("jpib", "callback"))
ROWS_COMPARED = 5000
MAX_BIN = 64
PARAMS = {"objective": "binary:logistic", "max_depth": 4, "eta": 0.3, "tree_method": "hist", "max_bin": MAX_BIN}


class StoredRows(xgboost.DataIter):
    """The files of one side, batch by batch. With a cache prefix XGBoost keeps what it makes of them on disk."""

    def __init__(self, folder: Path, side: str, cache_prefix: str | None = None) -> None:
        super().__init__(cache_prefix=cache_prefix)
        self._files = sorted(folder.glob(f"{side}-*.npy"))
        self._next = 0

    def reset(self) -> None:
        self._next = 0

    def next(self, input_data: Callable[..., None]) -> bool:
        if self._next == len(self._files):
            return False
        file = self._files[self._next]
        input_data(data=np.load(file), label=np.load(file.with_name(f"label-{file.name[2:]}")))
        self._next += 1
        return True


def uneven(rows: int, batches: int) -> list[int]:
    """Sizes of batches between half and one and a half of the average, the same for everybody."""
    shares = 1 + 0.5 * np.sin(np.arange(1, batches + 1))
    ends = np.rint(np.cumsum(shares) / shares.sum() * rows).astype(int)
    return [int(size) for size in np.diff(ends, prepend=0)]


def few_values(features: Array) -> Array:
    """At most 41 values per column: every value has a bin, in whatever order and batches the rows come."""
    return np.clip(np.rint(4 * features, out=features), -20, 20, out=features)


def store(folder: Path, sizes: Iterable[int], columns: int) -> int:
    """Write the rows of both sides; the bytes of their features."""
    stored = 0
    for number, size in enumerate(sizes):
        for side in ("x", "z"):
            features, label = rows_of_batch(number, size, columns, privileged=side == "z")
            np.save(folder / f"{side}-{number:04}.npy", few_values(features))
            stored += features.nbytes
        np.save(folder / f"label-{number:04}.npy", label)
    return stored


def train_all(folder: Path, out: Path, *, external: bool, rounds: int, threads: int = 2) -> dict[str, float]:
    """Build both matrices, train a model of each kind, and keep them."""
    start = time.perf_counter()
    matrices = []
    for side in ("x", "z"):
        if external:
            stored = StoredRows(folder, side, cache_prefix=str(out / f"cache-{side}"))
            matrices.append(xgboost.ExtMemQuantileDMatrix(stored, max_bin=MAX_BIN, nthread=threads))
        else:
            matrices.append(xgboost.QuantileDMatrix(StoredRows(folder, side), max_bin=MAX_BIN, nthread=threads))
    seconds = {"build": time.perf_counter() - start}
    trainings = Trainings({**PARAMS, "nthread": threads}, rounds, *matrices)
    for method, engine in MODELS:
        start = time.perf_counter()
        booster = getattr(trainings, method)(engine)
        seconds[f"{method} {engine}"] = time.perf_counter() - start
        booster.save_model(out / f"{method}-{engine}.ubj")
    return seconds


def small_stacks() -> None:
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, resource.getrlimit(resource.RLIMIT_STACK)[1]))


def trained(folder: Path, out: Path, *, external: bool, rounds: int, room_mib: int | None) -> dict[str, Any] | None:
    """What :func:`train_all` says in a process of its own; None where all in memory was too much."""
    out.mkdir()
    task = {"folder": str(folder), "out": str(out), "external": external, "rounds": rounds, "room_mib": room_mib}
    arguments = [sys.executable, "-m", "benchmarks.scale.external", json.dumps(task)]
    answer = subprocess.run(arguments, capture_output=True, text=True, check=False, preexec_fn=small_stacks)
    if answer.returncode == 0:
        return dict(json.loads(answer.stdout))
    if external or room_mib is None:
        raise RuntimeError(f"the training failed with {answer.returncode}: {answer.stderr[-2000:]}")
    return None


def difference(folder: Path, single: Path, other: Path) -> float:
    """The largest difference of margins between two sets of models, on some of the rows."""
    rows = xgboost.DMatrix(np.load(folder / "x-0000.npy")[:ROWS_COMPARED])
    largest = 0.0
    for method, engine in MODELS:
        margins = [
            xgboost.Booster(model_file=out / f"{method}-{engine}.ubj").predict(rows, output_margin=True)
            for out in (single, other)
        ]
        largest = max(largest, float(np.abs(margins[0] - margins[1]).max()))
    return largest


def run(*, rows: int, columns: int, room_mib: int, batches: int, rounds: int) -> dict[str, Any]:
    """Store the data, train three times, compare. ``columns`` are those of each side."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stored = store(folder, uneven(rows, batches), columns)
        limited = trained(folder, folder / "limited", external=True, rounds=rounds, room_mib=room_mib)
        free = trained(folder, folder / "free", external=False, rounds=rounds, room_mib=None)
        control = trained(folder, folder / "control", external=False, rounds=rounds, room_mib=room_mib)
        return {
            "rows": rows,
            "columns": columns,
            "rounds": rounds,
            "room_mib": room_mib,
            "data_mib": stored / 2**20,
            "limited": limited,
            "free": free,
            "in_memory_under_the_limit": "failed" if control is None else "trained",
            "largest_difference_of_margins": difference(folder, folder / "limited", folder / "free"),
        }


def work(task: dict[str, Any]) -> dict[str, Any]:
    """What a process of its own does, under its limit."""
    limit_mib = None
    if task["room_mib"] is not None:
        limit_mib = memory_mib("VmData") + task["room_mib"]
        limit = int(limit_mib * 2**20)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    seconds = train_all(Path(task["folder"]), Path(task["out"]), external=task["external"], rounds=task["rounds"])
    return {"limit_mib": limit_mib, "seconds": seconds, "peak_mib": memory_mib("VmHWM")}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(work(json.loads(sys.argv[1]))))
    else:
        (RESULTS / "scale_external.json").write_text(json.dumps(run(**FULL), indent=1), encoding="utf-8")

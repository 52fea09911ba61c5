"""One cell of the scale table: a training in a process of its own, with its seconds and its highest memory.

    python -m benchmarks.scale_cell '{"rows": 10000, "columns": 30, "rounds": 20, "workers": 1, "threads": 2,
                                      "method": "JPIB", "engine": "native"}'

prints what it measured as JSON. With several workers each is a process that has its share of the rows.
"""

from __future__ import annotations

import json
import multiprocessing
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import xgboost
from xgboost import collective
from xgboost.tracker import RabitTracker

import pi_xgb
from benchmarks.scale_data import BATCH, MadeRows

KL_WEIGHT = 0.5
# A short training is repeated, and its median counts.
REPEATS, REPEAT_UNTIL_SECONDS = 3, 15.0
WORKER_TIMEOUT = 1800


class Cell(NamedTuple):
    """What is measured; its fields are the key of a line of the CSV."""

    rows: int
    columns: int
    rounds: int
    workers: int
    threads: int
    method: str
    engine: str

    @property
    def params(self) -> dict[str, Any]:
        """The params of every training."""
        return {
            "objective": "binary:logistic",
            "max_depth": 6,
            "eta": 0.1,
            "tree_method": "hist",
            "nthread": self.threads,
        }


METHODS = {
    "plain": ("",),
    "plain twice": ("",),
    "KbPIB": ("callback", "native"),
    "JPIB": ("callback", "native"),
}


def memory_mib(name: str) -> float:
    """A line of /proc/self/status: VmRSS is the resident size now, VmHWM its highest so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:"))


def matrix(cell: Cell, worker: int, *, privileged: bool) -> xgboost.QuantileDMatrix:
    """This worker's share of the rows."""
    share = cell.rows // cell.workers
    first = worker * -(-share // BATCH)
    made = MadeRows(share, cell.columns, privileged=privileged, first=first)
    return xgboost.QuantileDMatrix(made, nthread=cell.threads)


def training(cell: Cell, dtrain: xgboost.DMatrix, privileged: xgboost.DMatrix | None) -> Callable[[], None]:
    """What is timed. ``plain twice`` trains the two boosters of the other methods without any teaching."""

    def plain() -> None:
        xgboost.train(cell.params, dtrain, cell.rounds)

    def plain_twice() -> None:
        plain()
        xgboost.train(cell.params, privileged, cell.rounds)

    def guided() -> None:
        pi_xgb.train(
            cell.params,
            dtrain,
            cell.rounds,
            privileged=privileged,
            method=cell.method.lower(),
            kl_weight=KL_WEIGHT,
            engine=cell.engine,
        )

    return {"plain": plain, "plain twice": plain_twice}.get(cell.method, guided)


def measured(cell: Cell, worker: int = 0) -> dict[str, float]:
    """Build the matrices and train."""
    libraries = memory_mib("VmRSS")
    start = time.perf_counter()
    dtrain = matrix(cell, worker, privileged=False)
    privileged = None if cell.method == "plain" else matrix(cell, worker, privileged=True)
    built = time.perf_counter() - start
    run = training(cell, dtrain, privileged)
    seconds: list[float] = []
    # A fixed number of repeats where workers must agree on it.
    while not seconds or (len(seconds) < REPEATS and (cell.workers > 1 or sum(seconds) < REPEAT_UNTIL_SECONDS)):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return {
        "seconds": statistics.median(seconds),
        "repeats": len(seconds),
        "build_seconds": built,
        "libraries_mib": libraries,
        "peak_mib": memory_mib("VmHWM"),
    }


def work(cell: Cell, worker: int, tracker: dict[str, Any], answers: Any) -> None:
    try:
        with collective.CommunicatorContext(**tracker):
            answers.put(measured(cell, worker))
    except Exception as error:
        answers.put(f"worker {worker}: {error}")
        raise


def measured_on_workers(cell: Cell) -> dict[str, float]:
    """The slowest and the largest of the workers."""
    tracker = RabitTracker(host_ip="127.0.0.1", n_workers=cell.workers)
    tracker.start()
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    arguments = tracker.worker_args()
    workers = [
        context.Process(target=work, args=(cell, number, arguments, answers), daemon=True)
        for number in range(cell.workers)
    ]
    for process in workers:
        process.start()
    try:
        found = []
        for _ in workers:
            answer = answers.get(timeout=WORKER_TIMEOUT)
            if isinstance(answer, str):
                raise RuntimeError(answer)
            found.append(answer)
    finally:
        for process in workers:
            process.join(20)
            process.kill()
    return {name: max(one[name] for one in found) for name in found[0]}


def main() -> None:
    cell = Cell(**json.loads(sys.argv[1]))
    print(json.dumps(measured(cell) if cell.workers == 1 else measured_on_workers(cell)))


if __name__ == "__main__":
    main()

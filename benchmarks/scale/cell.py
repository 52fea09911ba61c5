"""One cell of the scale table: a training in a process of its own, with its seconds and its highest memory.

    python -m benchmarks.scale.cell '{"rows": 10000, "columns": 30, "rounds": 20, "workers": 1, "threads": 2,
                                      "method": "JPIB", "engine": "callback"}'

prints what it measured as JSON. With several workers each is a process that has its share of the rows.
"""

from __future__ import annotations

import json
import multiprocessing
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import xgboost
from xgboost import collective
from xgboost.tracker import RabitTracker

from benchmarks.measuring import Trainings, memory_mib, seconds
from benchmarks.scale.rows import BATCH, MadeRows

PARAMS = {"objective": "binary:logistic", "max_depth": 6, "eta": 0.1, "tree_method": "hist"}
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


METHODS = {"plain": ("",), "plain twice": ("",), "KbPIB": ("callback", "native"), "JPIB": ("callback",)}


def matrix(cell: Cell, worker: int, *, privileged: bool) -> xgboost.QuantileDMatrix:
    """This worker's share of the rows."""
    share = cell.rows // cell.workers
    first = worker * -(-share // BATCH)
    made = MadeRows(share, cell.columns, privileged=privileged, first=first)
    return xgboost.QuantileDMatrix(made, nthread=cell.threads)


def training(cell: Cell, dtrain: xgboost.DMatrix, privileged: xgboost.DMatrix | None) -> Callable[[], object]:
    """What is timed. ``plain twice`` trains the two boosters of the other methods without any teaching."""
    trainings = Trainings({**PARAMS, "nthread": cell.threads}, cell.rounds, dtrain, privileged)

    def plain_twice() -> None:
        trainings.plain()
        xgboost.train(trainings.params, privileged, cell.rounds)

    return {
        "plain": trainings.plain,
        "plain twice": plain_twice,
        "KbPIB": partial(trainings.kbpib, cell.engine),
        "JPIB": partial(trainings.jpib, cell.engine),
    }[cell.method]


def measured(cell: Cell, worker: int = 0) -> dict[str, float]:
    """Build the matrices and train."""
    libraries = memory_mib("VmRSS")
    start = time.perf_counter()
    dtrain = matrix(cell, worker, privileged=False)
    privileged = None if cell.method == "plain" else matrix(cell, worker, privileged=True)
    built = time.perf_counter() - start
    run = training(cell, dtrain, privileged)
    times: list[float] = []
    # A fixed number of repeats where workers must agree on it.
    while not times or (len(times) < REPEATS and (cell.workers > 1 or sum(times) < REPEAT_UNTIL_SECONDS)):
        times.append(seconds(run))
    return {
        "seconds": statistics.median(times),
        "repeats": len(times),
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
    return {name: max(item[name] for item in found) for name in found[0]}


def main() -> None:
    cell = Cell(**json.loads(sys.argv[1]))
    print(json.dumps(measured(cell) if cell.workers == 1 else measured_on_workers(cell)))


if __name__ == "__main__":
    main()

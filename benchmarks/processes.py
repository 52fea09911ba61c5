"""Groups of cells in processes of their own: one that dies takes a cell with it, not the run."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from benchmarks.cells import Group, line, work_on
from benchmarks.results_file import Cell, append, complete, read

Troubles = list[tuple[Cell, str]]
DIED = "the process died, most likely for want of memory"


def die_with_parent() -> None:
    """End this process when the run is killed, so that nothing is computed twice."""
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()


def pool_of(jobs: int) -> ProcessPoolExecutor:
    """Fresh interpreters: OpenMP does not survive a fork."""
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=die_with_parent)


def outcomes(groups: Sequence[Group], out: Path, jobs: int, nthread: int) -> Iterator[tuple[Group, Troubles]]:
    """Do the groups, about in their order; each comes with the cells that gave no scores, and why."""
    if jobs == 0:
        for group in groups:
            yield group, work_on(group, out, nthread)
        return
    waiting = deque(groups)
    while waiting:
        running: dict[Future[Troubles], Group] = {}
        try:
            with pool_of(jobs) as pool:
                while waiting or running:
                    while waiting and len(running) < jobs:
                        running[pool.submit(work_on, waiting[0], out, nthread)] = waiting[0]
                        waiting.popleft()
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        result = future.result()
                        yield running.pop(future), result
        except BrokenProcessPool:
            for group in running.values():
                yield group, one_by_one(group, out, nthread)


def one_by_one(group: Group, out: Path, nthread: int) -> Troubles:
    """The rest of a group whose process died, each cell in a process of its own."""
    troubles: Troubles = []
    for cell in group.cells:
        recorded = {found.cell: found for found in complete(read(out))}
        if cell in recorded:
            found = recorded[cell]
            if found.measure in ("error", "refused"):
                troubles.append((cell, f"{found.measure}: {found.note}"))
            continue
        alone = Group(cell.dataset, cell.mode, cell.fold, (cell.method,))
        try:
            with pool_of(1) as pool:
                troubles += pool.submit(work_on, alone, out, nthread).result()
        except BrokenProcessPool:
            append(out, [line(cell, "error", None, DIED)])
            troubles.append((cell, f"error: {DIED}"))
    return troubles

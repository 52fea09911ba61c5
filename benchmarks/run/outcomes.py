"""Groups of cells in processes of their own: one that dies takes a cell with it, not the run."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

from benchmarks.processes import pool_of, spread
from benchmarks.run.cells import Group, line, work_on
from benchmarks.run.results_file import Cell, append, complete, read

Troubles = list[tuple[Cell, str]]
DIED = "the process died, most likely for want of memory"


def outcomes(
    groups: Sequence[Group], out: Path, jobs: int, nthread: int
) -> Generator[tuple[Group, Troubles], None, None]:
    """Do the groups, about in their order; each comes with the cells that gave no scores, and why."""
    if jobs == 0:
        for group in groups:
            yield group, work_on(group, out, nthread)
        return
    waiting = deque(groups)
    while waiting:
        running: dict[Future[Troubles], Group] = {}
        try:
            yield from spread(partial(work_on, out=out, nthread=nthread), waiting, jobs, running)
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

"""Groups of cells in processes of their own: one that dies takes a cell with it, not the run."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.cells import Group, line, work_on
from benchmarks.results_file import Cell, append, complete, read

Troubles = list[tuple[Cell, str]]
DIED = "the process died, most likely for want of memory"
INTERRUPTED = 130
SECONDS_TO_STOP = 1.5


@contextmanager
def stopped_by_ctrl_c() -> Iterator[None]:
    """Ctrl-C ends what is done in here at once: one line instead of a traceback, and exit status 130."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # else somebody wants it otherwise, such as a job in the background
        signal.signal(signal.SIGINT, stop)
    try:
        yield
    except KeyboardInterrupt:
        print("stopped; the same command goes on where it was", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    finally:
        if signal.getsignal(signal.SIGINT) is stop:
            signal.signal(signal.SIGINT, before)


def stop(signum: int, frame: FrameType | None) -> None:
    """Leave in order, undisturbed by a second Ctrl-C; and leave in any case, should something hang."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    last_resort = threading.Timer(SECONDS_TO_STOP, os._exit, [INTERRUPTED])
    last_resort.daemon = True
    last_resort.start()
    raise KeyboardInterrupt


@contextmanager
def ctrl_c_held_back() -> Iterator[None]:
    """An interrupt waits until this is over. Processes that are started in here never get one (not on Windows)."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begin() -> None:
    """What a worker does first. A terminal sends Ctrl-C to all processes, and the run is the one to answer it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()


def die_with_parent() -> None:
    """End this process when the run is killed, so that nothing is computed twice."""
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()


class Pool(ProcessPoolExecutor):
    """Leaving it by an exception, such as an interrupt, kills the workers: nobody takes what they are at."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Start the work, and a worker if none is free, which Ctrl-C must not reach while it imports."""
        with ctrl_c_held_back():
            return super().submit(fn, *args, **kwargs)

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> bool | None:
        if kind is None:
            return super().__exit__(kind, *rest)
        with ctrl_c_held_back():
            for process in list((self._processes or {}).values()):
                process.kill()
            return super().__exit__(kind, *rest)


def pool_of(jobs: int) -> Pool:
    """Fresh interpreters: OpenMP does not survive a fork."""
    return Pool(jobs, multiprocessing.get_context("spawn"), initializer=begin)


Outcomes = Generator[tuple[Group, Troubles], None, None]


def outcomes(groups: Sequence[Group], out: Path, jobs: int, nthread: int) -> Outcomes:
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

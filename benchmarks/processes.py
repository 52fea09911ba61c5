"""Work in processes of its own, which Ctrl-C stops at once and in order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

Task, Result = TypeVar("Task"), TypeVar("Result")
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


def spread(
    work: Callable[[Task], Result], waiting: deque[Task], jobs: int, running: dict[Future[Result], Task]
) -> Generator[tuple[Task, Result], None, None]:
    """Keep ``jobs`` processes at work on what is ``waiting``; each task comes with its result when it is done.

    ``running`` is the caller's, who finds in it what was lost where a process died (BrokenProcessPool).
    """
    with pool_of(jobs) as pool:
        while waiting or running:
            while waiting and len(running) < jobs:
                running[pool.submit(work, waiting[0])] = waiting[0]
                waiting.popleft()
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                result = future.result()
                yield running.pop(future), result

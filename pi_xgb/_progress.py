"""The progress of a search, in lines on standard error."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator

_SECONDS = 30.0
"""Between two lines, and before the first one: short searches print none."""


@contextlib.contextmanager
def progress_bar(total: int, name: str, progress: bool | None) -> Iterator[Callable[..., None]]:
    """Yield a function to call after each of ``total`` steps (trainings, boosting rounds), or with the number of
    steps just done (resamples), from any thread.

    Every half minute it prints how many steps are done and how long the others will take: with ``progress`` True from
    the first step on, with None from the first half minute on, with False never.
    """
    began = time.monotonic()
    done, shown, lock = 0, began - _SECONDS if progress else began, threading.Lock()

    def step(n: int = 1) -> None:
        nonlocal done, shown
        with lock:
            done += n
            now = time.monotonic()
            if progress is not False and done < total and now >= shown + _SECONDS:
                shown, taken = now, now - began
                left = _duration(taken / done * (total - done))
                print(f"{name}: {done} of {total}, {_duration(taken)}, about {left} left", file=sys.stderr)

    yield step


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"

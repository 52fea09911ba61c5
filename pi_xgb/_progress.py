"""The progress of a search: a bar in terminals and notebooks, lines at intervals elsewhere."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module

_SECONDS = 30.0
"""Between two lines, and before the first one: short searches print none."""


@contextlib.contextmanager
def progress_bar(total: int, name: str, progress: bool | None) -> Iterator[Callable[..., None]]:
    """Yield a function to call after each of ``total`` steps (trainings, boosting rounds), or with the number of
    steps just done (resamples), from any thread.

    With ``progress`` None there is a bar in terminals and notebooks with tqdm, else a line on standard error every
    half minute. True: the lines come from the first step on.
    """
    if progress is False or not total:
        yield lambda n=1: None
        return
    tqdm = None
    if sys.stderr.isatty() or "ipykernel" in sys.modules:
        with contextlib.suppress(ImportError):
            tqdm = import_module("tqdm.auto" if "ipykernel" in sys.modules else "tqdm").tqdm
    lines = _Lines(total, name, 0.0 if progress else _SECONDS)
    lock = threading.Lock()
    with contextlib.nullcontext(lines) if tqdm is None else tqdm(total=total, desc=name, leave=False) as bar:

        def step(n: int = 1) -> None:
            with lock:
                bar.update(n)

        yield step


class _Lines:
    """Prints at intervals how many steps are done and how long the others will take."""

    def __init__(self, total: int, name: str, patience: float) -> None:
        self._total, self._name = total, name
        self._done, self._began = 0, time.monotonic()
        self._next = self._began + patience

    def update(self, n: int) -> None:
        """Count steps."""
        self._done += n
        now = time.monotonic()
        taken = now - self._began
        left = taken / self._done * (self._total - self._done)
        if now >= self._next and self._done < self._total:
            self._next = now + _SECONDS
            line = f"{self._name}: {self._done} of {self._total}, {_duration(taken)}, about {_duration(left)} left"
            print(line, file=sys.stderr)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"

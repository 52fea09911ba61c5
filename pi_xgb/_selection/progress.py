"""How far a search is: a bar for those who watch a terminal or a notebook, a line every so often elsewhere."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

_SECONDS = 30.0
"""Between two lines, and before the first: what takes less tells nothing."""


@contextlib.contextmanager
def progress_bar(
    total: int, what: str, wanted: bool | None, telling: int | None = None
) -> Iterator[Callable[[], None]]:
    """A function to call after each of ``total`` steps (trainings, boosting rounds), from any thread.

    ``wanted`` is what the user said. None: a bar where somebody watches and tqdm is installed, else a line on standard
    error every half minute. True: a bar in any case, or lines from the first step on where nobody watches. After
    ``telling`` steps, which are like all that follow, an estimate of the whole is said at once if it is long.
    """
    if wanted is False or not total:
        yield lambda: None
        return
    watched = sys.stderr.isatty() or "ipykernel" in sys.modules
    tqdm = _tqdm(wanted) if watched else None
    if tqdm is None:
        yield _Lines(total, what, 0.0 if wanted else _SECONDS, telling).step
        return
    lock = threading.Lock()
    with tqdm(total=total, desc=what, leave=False) as bar:

        def step() -> None:
            with lock:
                bar.update()

        yield step


def _tqdm(wanted: bool | None) -> Any:
    try:
        return import_module("tqdm.auto" if "ipykernel" in sys.modules else "tqdm").tqdm
    except ImportError as error:
        if wanted:
            raise ImportError("progress=True needs tqdm here: pip install tqdm, or leave progress out") from error
        return None


class _Lines:
    """Counts, and says now and then how far it is and how long the rest will take."""

    def __init__(self, total: int, what: str, patience: float, telling: int | None = None) -> None:
        self._total, self._what, self._telling = total, what, telling
        self._done, self._began = 0, time.monotonic()
        self._next = self._began + patience
        self._lock = threading.Lock()

    def step(self) -> None:
        """One more is done."""
        with self._lock:
            self._done += 1
            now = time.monotonic()
            taken = now - self._began
            left = taken / self._done * (self._total - self._done)
            is_first_estimate = self._done == self._telling and taken + left > _SECONDS
            if (now < self._next and not is_first_estimate) or self._done == self._total:
                return
            self._next = now + _SECONDS
            line = f"{self._what}: {self._done} of {self._total}, {_spoken(taken)}, about {_spoken(left)} left"
            print(line, file=sys.stderr)


def _spoken(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"

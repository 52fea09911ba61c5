"""A progress bar for those who watch: on a terminal, where tqdm is installed."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module


@contextlib.contextmanager
def progress_bar(total: int, what: str, wanted: bool | None) -> Iterator[Callable[[], None]]:
    """A function to call after each of ``total`` steps (trainings, boosting rounds), from any thread.

    ``wanted`` is what the user said; None: a bar if standard error is a terminal and tqdm is installed.
    """
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield lambda: None
        return
    try:
        tqdm = import_module("tqdm").tqdm
    except ImportError as error:
        if wanted:
            raise ImportError("progress=True needs tqdm: pip install tqdm, or leave progress out") from error
        yield lambda: None
        return
    lock = threading.Lock()
    with tqdm(total=total, desc=what, file=sys.stderr, leave=False) as bar:

        def step() -> None:
            with lock:
                bar.update()

        yield step

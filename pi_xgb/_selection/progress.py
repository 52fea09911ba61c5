"""A progress bar for those who watch: on a terminal, where tqdm is installed."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module


@contextlib.contextmanager
def progress_bar(total: int, what: str, progress: bool | None) -> Iterator[Callable[[], None]]:
    """A function to call after each of ``total`` steps. None: a bar if standard error is a terminal."""
    wanted = sys.stderr.isatty() if progress is None else progress
    if not wanted:
        yield lambda: None
        return
    try:
        tqdm = import_module("tqdm").tqdm
    except ImportError as error:
        if progress:
            raise ImportError("progress=True needs tqdm: pip install tqdm, or leave progress out") from error
        yield lambda: None
        return
    lock = threading.Lock()
    with tqdm(total=total, desc=what, file=sys.stderr, leave=False) as bar:

        def step() -> None:
            with lock:
                bar.update()

        yield step

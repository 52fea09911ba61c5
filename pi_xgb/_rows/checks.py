"""Small checks of what a user says, one message each: what was expected, what came, what to do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def check_whole(name: str, value: Any, at_least: int) -> None:
    """A whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {value}")


def check_jobs(n_jobs: Any, progress: Any) -> int:
    """How the work is done: the number of jobs, of which -1 is one for each core."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)):
        raise TypeError(f"n_jobs must be a whole number, got {n_jobs!r}")
    if n_jobs < 1 and n_jobs != -1:
        raise ValueError(f"n_jobs must be at least 1, or -1 for all cores, got {n_jobs}")
    if progress not in (None, True, False):
        raise TypeError(f"progress must be True, False or None, got {progress!r}")
    return int(n_jobs) if n_jobs > 0 else os.cpu_count() or 1


def check_folder(path: os.PathLike[str] | str) -> Path:
    """A folder that is there."""
    folder = Path(path)
    if not folder.is_dir():
        raise ValueError(f"checkpoints need an existing folder, {str(path)!r} is none: create it first")
    return folder


def check_choice(value: Any, choices: Sequence[str], name: str) -> None:
    """One of a few names."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")

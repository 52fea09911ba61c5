"""Small checks of arguments, one message each: what was expected, what was passed, what to do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._xgb.params import usable_cores


def check_choice(value: Any, choices: Sequence[str], name: str) -> None:
    """One of a few names."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")


def require(names: Sequence[str]) -> str:
    """The subject and the verb of a message: "crossfit requires", "method, crossfit require"."""
    return f"{', '.join(names)} require{'s' * (len(names) == 1)}"


def check_whole(name: str, value: Any, at_least: int | None = None, hint: str = "") -> None:
    """A whole number that is large enough; ``hint`` is its meaning."""
    advice = f": {hint}" if hint else ""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number, got {value!r}{advice}")
    if at_least is not None and value < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {value}{advice}")


def several(values: Any) -> list[Any]:
    """One value or several; to NumPy one number may be an array without dimensions."""
    if isinstance(values, np.ndarray) and values.ndim == 0:
        values = values.item()
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]


def checked_list(value: Any, name: str, check: Callable[[Any], Any]) -> list[Any]:
    """One value or several, each checked, none of them twice."""
    values = several(value)
    if not values:
        raise ValueError(f"{name} is an empty list: give at least one value")
    for item in values:
        check(item)
    if len(set(values)) < len(values):
        raise ValueError(f"{name} has a value twice: {values}")
    return values


def check_jobs(n_jobs: Any, progress: Any) -> int:
    """How the work is done: the number of jobs, of which -1 is one for each core; 0 by default."""
    if n_jobs is not None:
        check_whole("n_jobs", n_jobs)
    if n_jobs is not None and n_jobs < 1 and n_jobs != -1:
        raise ValueError(f"n_jobs must be at least 1, or -1 for all cores, got {n_jobs}")
    if progress not in (None, True, False):
        raise TypeError(f"progress must be True, False or None, got {progress!r}")
    return usable_cores() if n_jobs == -1 else int(n_jobs or 0)


def check_confidence(confidence: Any) -> None:
    """How sure an interval should be."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence!r}: 0.95 is usual")


def check_bootstrap(n_boot: Any, confidence: Any) -> None:
    """How many resamples, and how sure the interval should be."""
    check_whole("n_boot", n_boot, 0, "0 for no intervals, 1000 is usual")
    check_confidence(confidence)


def check_no_mask(values: Any, name: str) -> None:
    """Nothing is hidden: numpy hands on what lies under a mask as if it were there."""
    if not isinstance(values, np.ma.MaskedArray):
        return
    # As plain truth values, which those of a structured array are not.
    if np.ascontiguousarray(np.ma.getmaskarray(values)).view(np.bool_).any():
        raise TypeError(
            f"{name} is a masked array, and what the mask hides would be seen: fill it first, as in array.filled(0), "
            "or array.astype(float).filled(numpy.nan) where NaN stands for a missing value"
        )


def check_folder(path: os.PathLike[str] | str) -> Path:
    """A folder that is there."""
    folder = Path(path)
    if not folder.is_dir():
        raise ValueError(f"checkpoints need an existing folder, {str(path)!r} is none: create it first")
    return folder

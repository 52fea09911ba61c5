"""Small checks of arguments; each message has the expected value, the passed value and the remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from .._xgb.threads import usable_cores


def check_choice(value: Any, choices: Sequence[str], name: str) -> None:
    """Raise unless the value is among the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")


def require(names: Sequence[str]) -> str:
    """The subject and the verb of a message: "crossfit requires", "method, crossfit require"."""
    return f"{', '.join(names)} require{'s' * (len(names) == 1)}"


def check_whole(name: str, value: Any, at_least: int | None = None, hint: str = "") -> None:
    """Raise unless the value is a whole number of at least ``at_least``; ``hint`` explains its values."""
    advice = f": {hint}" if hint else ""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number, got {value!r}{advice}")
    if at_least is not None and value < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {value}{advice}")


def several(values: Any) -> list[Any]:
    """Return one value or several as a list; a NumPy array without dimensions is one number."""
    if isinstance(values, np.ndarray) and values.ndim == 0:
        values = values.item()
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]


def checked_list(value: Any, name: str, check: Callable[[Any], Any]) -> list[Any]:
    """Return one value or several as a list, each checked, without duplicates."""
    values = several(value)
    if not values:
        raise ValueError(f"{name} is an empty list: give at least one value")
    for item in values:
        check(item)
    if len(set(values)) < len(values):
        raise ValueError(f"{name} has a value twice: {values}")
    return values


def check_jobs(n_jobs: Any, progress: Any) -> int:
    """Return the number of jobs, -1 being one per core; 0 if it is not set. Raise if a keyword is wrong."""
    if progress not in (None, True, False):
        raise TypeError(f"progress must be True, False or None, got {progress!r}")
    if n_jobs is None:
        return 0
    if n_jobs == -1:
        return usable_cores()
    check_whole("n_jobs", n_jobs, 1, "-1 uses all cores")
    return int(n_jobs)


def check_confidence(confidence: Any) -> None:
    """Raise unless the confidence of an interval lies between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence!r}: 0.95 is usual")


def check_bootstrap(n_boot: Any, confidence: Any) -> None:
    """Raise if the number of resamples or the confidence is wrong."""
    check_whole("n_boot", n_boot, 0, "0 for no intervals, 1000 is usual")
    check_confidence(confidence)


def check_no_mask(values: Any, name: str) -> None:
    """Raise if a mask hides values, since NumPy would pass the values under the mask on."""
    if isinstance(values, np.ma.MaskedArray) and np.any(np.ma.getmaskarray(values).tolist()):
        raise TypeError(f"{name} is a masked array, whose hidden values would be read: pass array.filled(...)")


def needed_module(name: str, need: str, extra: str) -> Any:
    """Return a module of an optional library, or raise with its extra; ``need`` says what needs which library."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f'{need}: pip install ".[{extra}]" in a checkout') from error

"""Seconds, memory and versions, for the commands that time trainings."""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import xgboost

Training = Callable[[], object]


def seconds(training: Training) -> float:
    """The wall time of a call."""
    start = time.perf_counter()
    training()
    return time.perf_counter() - start


def alternating(ours: Training, plain: Training, repeats: int) -> tuple[float, list[float]]:
    """Median seconds of ``plain``, and the ratios of ``ours`` to it, in rising order.

    The two alternate (A B A B ...), so that whatever else the machine does hits both.
    """
    ours(), plain()  # both warm
    times = [(seconds(plain), seconds(ours)) for _ in range(repeats)]
    return statistics.median(a for a, _ in times), sorted(b / a for a, b in times)


def memory_mib(name: str) -> float:
    """A line of /proc/self/status: VmRSS is the resident size now, VmHWM its highest so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:"))


def versions() -> str:
    """What the times depend on, besides the machine."""
    return f"Python {platform.python_version()}, XGBoost {xgboost.__version__}, NumPy {np.__version__}"

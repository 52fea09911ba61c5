"""Time and memory of a training with copies, next to plain XGBoost on the same matrix.

    python -m benchmarks.copies.cost '{"objective": "rank:ndcg", "rows": 100000, "rounds": 50, "train": "copies"}'

prints the highest memory of one training in a process of its own.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xgboost as xgb

import pi_xgb
from benchmarks.measuring import memory_mib

OBJECTIVES = ("reg:absoluteerror", "survival:aft", "rank:ndcg")
COLUMNS = 30


def made(objective: str, rows: int) -> tuple[dict[str, Any], xgb.DMatrix, Any]:
    """Params, a matrix of random numbers, and what a teacher says."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, COLUMNS), dtype=np.float32)
    signal = x[:, :5].sum(axis=1) / 3
    noisy = signal + rng.standard_normal(rows, dtype=np.float32)
    params: dict[str, Any] = {"objective": objective, "max_depth": 6, "eta": 0.1, "nthread": 1}
    if objective == "survival:aft":
        times = np.exp(noisy)
        return params, xgb.DMatrix(x, label_lower_bound=times, label_upper_bound=times, nthread=1), np.exp(signal)
    if objective == "rank:ndcg":
        y, q = np.clip(np.round(noisy + 1), 0, 4), np.clip(signal + 1, 0, 4)
        params["ndcg_exp_gain"] = False
        return params, xgb.DMatrix(x, y, qid=np.arange(rows) // 10, nthread=1), q
    return params, xgb.DMatrix(x, noisy, nthread=1), signal


def trainings(objective: str, rows: int, rounds: int) -> dict[str, Callable[[], object]]:
    """The two that are compared, on one matrix."""
    params, dtrain, q = made(objective, rows)
    return {
        "plain": lambda: xgb.train(params, dtrain, rounds),
        "copies": lambda: pi_xgb.train(params, dtrain, rounds, teacher=q, kl_weight=1.0),
    }


def cpu_seconds(training: Callable[[], object]) -> float:
    """Of this process, which trains with one thread: a busy machine does not change it much."""
    start = time.process_time()
    training()
    return time.process_time() - start


def measure(objective: str, small: bool = False) -> Iterator[dict[str, Any]]:
    """The ratios of time and memory."""
    rows, rounds, repeats = (400, 2, 1) if small else (100_000, 50, 3)
    own = trainings(objective, rows, rounds)
    own["plain"]()  # draws the cuts, which stay in the matrix
    pairs = [(cpu_seconds(own["plain"]), cpu_seconds(own["copies"])) for _ in range(repeats)]
    ratios = sorted(copies / plain for plain, copies in pairs)
    requested = {"objective": objective, "rows": rows, "rounds": rounds}
    base, ours = (_peak({**requested, "train": train}) for train in ("plain", "copies"))
    yield {
        "rows": rows,
        "rounds": rounds,
        "plain_seconds": statistics.median(plain for plain, _ in pairs),
        "time_ratio": statistics.median(ratios),
        "low": ratios[0],
        "high": ratios[-1],
        "plain_mib": base,
        "copies_mib": ours,
        "memory_ratio": ours / base,
    }


def _peak(requested: dict[str, Any]) -> float:
    command = [sys.executable, "-m", "benchmarks.copies.cost", json.dumps(requested)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _peak_here(objective: str, rows: int, rounds: int, train: str) -> float:
    libraries = memory_mib("VmRSS")
    trainings(objective, rows, rounds)[train]()
    return memory_mib("VmHWM") - libraries


if __name__ == "__main__":
    print(_peak_here(**json.loads(sys.argv[1])))

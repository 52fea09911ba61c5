"""Time and memory of a training with copies, next to plain XGBoost on the same matrix.

    python -m benchmarks.copies.cost '{"objective": "rank:ndcg", "rows": 100000, "rounds": 20, "copies": true}'

prints the highest memory of one training in a process of its own.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xgboost as xgb

import pi_xgb
from benchmarks.measuring import alternating, memory_mib

OBJECTIVES = ("reg:absoluteerror", "reg:pseudohubererror", "survival:aft", "rank:ndcg")
COLUMNS = 30
KINDS = {"DMatrix": xgb.DMatrix, "QuantileDMatrix": xgb.QuantileDMatrix}


def made(objective: str, rows: int, kind: str) -> tuple[dict[str, Any], xgb.DMatrix, Any]:
    """Params, a matrix of random numbers, and what a teacher says."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, COLUMNS), dtype=np.float32)
    signal = x[:, :5].sum(axis=1) / 3
    noisy = signal + rng.standard_normal(rows, dtype=np.float32)
    params: dict[str, Any] = {"objective": objective, "max_depth": 6, "eta": 0.1, "nthread": 1}
    if objective == "survival:aft":
        time = np.exp(noisy)
        return params, KINDS[kind](x, label_lower_bound=time, label_upper_bound=time, nthread=1), np.exp(signal)
    if objective == "rank:ndcg":
        y, q = np.clip(np.round(noisy + 1), 0, 4), np.clip(signal + 1, 0, 4)
        params["ndcg_exp_gain"] = False
        return params, KINDS[kind](x, y, qid=np.arange(rows) // 10, nthread=1), q
    return params, KINDS[kind](x, noisy, nthread=1), signal


def costs(rows: int, rounds: int, repeats: int, objectives: Sequence[str] = OBJECTIVES) -> Iterator[dict[str, Any]]:
    """A line per objective and kind of matrix: the ratios of time and memory."""
    for objective in objectives:
        for kind in KINDS:
            params, dtrain, q = made(objective, rows, kind)

            def plain(params: Any = params, dtrain: Any = dtrain) -> object:
                return xgb.train(params, dtrain, rounds)

            def copies(params: Any = params, dtrain: Any = dtrain, q: Any = q) -> object:
                return pi_xgb.train(params, dtrain, rounds, teacher=q, kl_weight=1.0)

            seconds, ratios = alternating(copies, plain, repeats)
            asked = {"objective": objective, "rows": rows, "rounds": rounds, "kind": kind}
            empty, base, ours = (_peak({**asked, "train": train}) for train in ("", "plain", "copies"))
            yield {
                **asked,
                "plain_seconds": seconds,
                "time_ratio": statistics.median(ratios),
                "low": ratios[0],
                "high": ratios[-1],
                "matrix_mib": empty,
                "plain_mib": base,
                "copies_mib": ours,
                "memory_ratio": ours / base,
            }


def _peak(asked: dict[str, Any]) -> float:
    command = [sys.executable, "-m", "benchmarks.copies.cost", json.dumps(asked)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _peak_here(objective: str, rows: int, rounds: int, kind: str, train: str) -> float:
    libraries = memory_mib("VmRSS")
    params, dtrain, q = made(objective, rows, kind)
    if train == "plain":
        xgb.train(params, dtrain, rounds)
    elif train == "copies":
        pi_xgb.train(params, dtrain, rounds, teacher=q, kl_weight=1.0)
    return memory_mib("VmHWM") - libraries


if __name__ == "__main__":
    print(_peak_here(**json.loads(sys.argv[1])))

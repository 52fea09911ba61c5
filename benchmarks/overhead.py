"""What a teacher costs in time and memory, next to plain XGBoost on the same matrices.

    python -m benchmarks.overhead            results/overhead.csv and the tables of OVERHEAD.md; some ten minutes
    python -m benchmarks.overhead --report   only the tables, from the CSV
    python -m benchmarks.overhead --smoke    a tiny run that shows that it works

Times are medians of ratios: the two trainings alternate (A B A B ...) in one process, so that whatever else the
machine does hits both. Memory is the highest resident size during the training, each in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost

import pi_xgb
from benchmarks import FOLDER
from benchmarks.command_line import command
from benchmarks.measuring import alternating, memory_mib, seconds, versions
from benchmarks.text import NOTHING, number, table
from benchmarks.trainings import KL_WEIGHT, Trainings

RESULTS = FOLDER / "results" / "overhead.csv"
TIME, MEMORY, STEP = "time", "memory", "step"
"""The tables of the results: ratios, float32 values per row, and milliseconds."""

COLUMNS, PRIVILEGED_COLUMNS = 30, 30
PARAMS = {"objective": "binary:logistic", "max_depth": 6, "eta": 0.1, "tree_method": "hist", "nthread": 2}

# rows, rounds of a training, pairs of trainings
FULL = [(300, 200, 15), (100_000, 40, 11), (1_000_000, 20, 7)]
SMOKE = [(300, 3, 2), (2000, 2, 2)]
LIMITS = {  # the promised ratios
    ("KbPIB", 300): 2.0,
    ("KbPIB", 100_000): 1.05,
    ("KbPIB", 1_000_000): 1.05,
    ("JPIB", 300): 1.8,
    ("JPIB", 100_000): 1.08,
    ("JPIB", 1_000_000): 1.08,
    ("KbPIB native", 300): 1.5,
    ("KbPIB native", 1_000_000): 1.03,
    ("JPIB native", 300): 1.5,
    ("JPIB native", 1_000_000): 1.08,
}
MEMORY_LIMITS = {"KbPIB": 8, "JPIB": 12}


def made(n_rows: int, rounds: int) -> Trainings:
    """Rows of random numbers, and the chances that their labels were drawn with in the place of a teacher."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n_rows, COLUMNS), dtype=np.float32)
    z = rng.standard_normal((n_rows, PRIVILEGED_COLUMNS), dtype=np.float32)
    chance = 1 / (1 + np.exp(-x[:, :5].sum(axis=1) - z[:, :5].sum(axis=1)))
    y = (rng.random(n_rows) < chance).astype(np.float32)
    dtrain, privileged = xgboost.QuantileDMatrix(x, y), xgboost.QuantileDMatrix(z, y)
    return Trainings(PARAMS, rounds, dtrain, privileged, chance.astype(np.float32))


def plain_together(trainings: Trainings) -> None:
    """JPIB's two boosters without teaching, a round each in turn: what any JPIB must hold, and the floor for ours."""
    dtrain, privileged = trainings.dtrain, trainings.privileged
    student, teacher = (xgboost.Booster(PARAMS, [matrix]) for matrix in (dtrain, privileged))
    for i in range(trainings.rounds):
        student.update(dtrain, i)
        teacher.update(privileged, i)


def pairs(trainings: Trainings) -> dict[str, tuple[Callable[[], None], Callable[[], None]]]:
    """Each method with what it is compared to."""
    return {
        "KbPIB": (trainings.kbpib, trainings.plain),
        "JPIB": (trainings.jpib, trainings.plain_twice),
        "KbPIB native": (partial(trainings.kbpib, "native"), trainings.plain),
        "JPIB native": (partial(trainings.jpib, "native"), trainings.plain_twice),
    }


def time_ratios(n_rows: int, rounds: int, repeats: int) -> list[dict[str, Any]]:
    trainings = made(n_rows, rounds)
    rows = []
    for name, (ours, plain) in pairs(trainings).items():
        base, ratios = alternating(ours, plain, repeats)
        rows.append(
            {
                "table": TIME,
                "rows": n_rows,
                "name": name,
                "plain_ms": 1e3 * base / rounds,
                "value": statistics.median(ratios),
                "low": ratios[len(ratios) // 4],
                "high": ratios[-1 - len(ratios) // 4],
                "limit": LIMITS.get((name, n_rows)),
                "objective_share": objective_share(trainings, name),
            }
        )
    return rows


def objective_share(trainings: Trainings, name: str) -> float | None:
    """Which part of a training is spent inside the objective, where the method has one."""
    if "native" in name:
        return None
    spent = 0.0
    original = pi_xgb.KLObjective.__call__

    def timed(self: Any, margin: Any, dtrain: Any) -> Any:
        nonlocal spent
        start = time.perf_counter()
        try:
            return original(self, margin, dtrain)
        finally:
            spent += time.perf_counter() - start

    pi_xgb.KLObjective.__call__ = timed  # type: ignore[method-assign]
    try:
        total = seconds(pairs(trainings)[name][0])
    finally:
        pi_xgb.KLObjective.__call__ = original  # type: ignore[method-assign]
    return spent / total


def stages(n_rows: int) -> list[dict[str, Any]]:
    """Milliseconds per round of what the callback engine does and XGBoost's own objective does not."""
    trainings = made(n_rows, 3)
    booster = xgboost.train(PARAMS, trainings.dtrain, 3)
    objective = pi_xgb.KLObjective(trainings.q, KL_WEIGHT, objective=PARAMS["objective"])
    margin = booster.predict(trainings.dtrain, output_margin=True, training=True)
    grad, hess = objective(margin, trainings.dtrain)

    def median(function: Callable[[], Any]) -> float:
        return 1e3 * statistics.median(seconds(function) for _ in range(15))

    handed_over = xgboost.Booster({**PARAMS, "max_depth": 1}, [trainings.dtrain])
    costs = [
        ("copy the margins out", median(lambda: booster.predict(trainings.dtrain, output_margin=True, training=True))),
        ("read labels and weights", median(lambda: (trainings.dtrain.get_label(), trainings.dtrain.get_weight()))),
        ("the objective, labels included", median(lambda: objective(margin, trainings.dtrain))),
        (
            "a round of one split with gradients handed over",
            median(lambda: handed_over.boost(trainings.dtrain, 0, grad=grad, hess=hess)),
        ),
        ("a round of one split with XGBoost's own objective", median(lambda: handed_over.update(trainings.dtrain, 0))),
    ]
    return [{"table": STEP, "rows": n_rows, "name": name, "value": cost} for name, cost in costs]


def peak_values_per_row(n_rows: int, method: str, rounds: int = 3) -> float:
    """The highest resident size of a training in a process of its own, in float32 values per row."""
    arguments = [sys.executable, "-m", "benchmarks.overhead", "--peak-of", method, "--rows", str(n_rows)]
    answer = subprocess.run([*arguments, "--rounds", str(rounds)], capture_output=True, text=True, check=True)
    return float(json.loads(answer.stdout)["peak_bytes"]) / (4 * n_rows)


def report_peak(method: str, n_rows: int, rounds: int) -> None:
    trainings = made(n_rows, rounds)
    run = {name: ours for name, (ours, _) in pairs(trainings).items()}
    run |= {"plain": trainings.plain, "plain_twice": trainings.plain_twice}
    run["plain_together"] = partial(plain_together, trainings)
    # Linux forgets the highest resident size of a process on this request.
    Path("/proc/self/clear_refs").write_text("5")
    run[method]()
    print(json.dumps({"peak_bytes": memory_mib("VmHWM") * 2**20}))


def memory(n_rows: int) -> list[dict[str, Any]]:
    base = {name: peak_values_per_row(n_rows, name) for name in ("plain", "plain_twice", "plain_together")}
    return [
        {
            "table": MEMORY,
            "rows": n_rows,
            "name": name,
            "against": against.replace("_", " "),
            "value": peak_values_per_row(n_rows, name) - base[against],
            "limit": MEMORY_LIMITS.get(name),
        }
        for name, against in [
            ("KbPIB", "plain"),
            ("JPIB", "plain_twice"),
            ("KbPIB native", "plain"),
            ("JPIB native", "plain_twice"),
            ("JPIB", "plain_together"),
            ("JPIB native", "plain_together"),
        ]
    ]


def show(results: pd.DataFrame) -> str:
    """The tables of OVERHEAD.md."""
    times, peaks, steps = (results[results["table"] == name] for name in (TIME, MEMORY, STEP))
    rows = []
    for row in times.itertuples():
        share = NOTHING if math.isnan(row.objective_share) else f"{row.objective_share:.1%}"
        ratio = f"{row.value:.3f} ({row.low:.3f} to {row.high:.3f})"
        rows.append([f"{row.rows:,}", row.name, f"{row.plain_ms:.2f}", ratio, number(row.limit, 2), share])
    share = "share spent in the objective, JPIB's teacher included"
    lines = table(["rows", "method", "plain, ms a round", "ratio (quartiles)", "promised", share], rows)
    n_rows = f"{int(peaks['rows'].iloc[0]):,} rows"
    lines += table(
        ["method", "above", f"peak memory, float32 values per row ({n_rows})", "promised"],
        [[row.name, row.against, f"{row.value:.1f}", number(row.limit, 0)] for row in peaks.itertuples()],
    )
    costs = [[row.name, f"{row.value:.2f}"] for row in steps.itertuples()]
    lines += table([f"step of a round ({n_rows})", "ms"], costs)
    return "\n".join(lines).rstrip()


def main() -> None:
    parser = command("overhead", __doc__)
    parser.add_argument("--report", action="store_true", help="only the tables, from the CSV")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes")
    parser.add_argument("--peak-of", help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak_of:
        report_peak(arguments.peak_of, arguments.rows, arguments.rounds)
        return
    if arguments.report:
        print(show(pd.read_csv(RESULTS)))
        return
    sizes = SMOKE if arguments.smoke else FULL
    largest = sizes[-1][0]
    timings = [row for size in sizes for row in time_ratios(*size)]
    results = pd.DataFrame([*timings, *memory(largest), *stages(largest)])
    if not arguments.smoke:
        results.to_csv(RESULTS, index=False, float_format="%.6g")
    print(
        f"{COLUMNS} + {PRIVILEGED_COLUMNS} columns, depth 6, hist, QuantileDMatrix, 2 threads; {versions()}, "
        f"{platform.machine()}\n"
    )
    print(show(results))


if __name__ == "__main__":
    main()

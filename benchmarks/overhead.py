"""What a teacher costs in time and memory, next to plain XGBoost on the same matrices.

    python -m benchmarks.overhead            the table of OVERHEAD.md; about ten minutes on two cores
    python -m benchmarks.overhead --smoke    a tiny run that shows that it works

Times are medians of ratios: the two trainings alternate (A B A B ...) in one process, so that whatever else the
machine does hits both. Memory is the highest resident size during the training, each in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import xgboost

import pi_xgb

COLUMNS, PRIVILEGED_COLUMNS = 30, 30
PARAMS = {"objective": "binary:logistic", "max_depth": 6, "eta": 0.1, "tree_method": "hist", "nthread": 2}
KL_WEIGHT = 0.5

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


class Trainings:
    """The trainings that are compared, on one pair of matrices."""

    def __init__(self, n_rows: int, rounds: int) -> None:
        rng = np.random.default_rng(0)
        x = rng.standard_normal((n_rows, COLUMNS), dtype=np.float32)
        z = rng.standard_normal((n_rows, PRIVILEGED_COLUMNS), dtype=np.float32)
        score = x[:, :5].sum(axis=1) + z[:, :5].sum(axis=1)
        y = (rng.random(n_rows) < 1 / (1 + np.exp(-score))).astype(np.float32)
        self.q = (1 / (1 + np.exp(-score))).astype(np.float32)
        self.dtrain = xgboost.QuantileDMatrix(x, y)
        self.privileged = xgboost.QuantileDMatrix(z, y)
        self.rounds = rounds

    def plain(self) -> None:
        xgboost.train(PARAMS, self.dtrain, self.rounds)

    def plain_twice(self) -> None:
        """Two boosters trained separately; kept alive together, as JPIB's are."""
        student = xgboost.train(PARAMS, self.dtrain, self.rounds)
        teacher = xgboost.train(PARAMS, self.privileged, self.rounds)
        del student, teacher

    def plain_together(self) -> None:
        """The same two trainings a round each in turn: what any JPIB must hold, and the floor for ours."""
        student = xgboost.Booster(PARAMS, [self.dtrain])
        teacher = xgboost.Booster(PARAMS, [self.privileged])
        for i in range(self.rounds):
            student.update(self.dtrain, i)
            teacher.update(self.privileged, i)

    def kbpib(self, engine: str = "callback") -> None:
        pi_xgb.train(PARAMS, self.dtrain, self.rounds, teacher=self.q, kl_weight=KL_WEIGHT, engine=engine)

    def jpib(self, engine: str = "callback") -> None:
        pi_xgb.train(
            PARAMS,
            self.dtrain,
            self.rounds,
            privileged=self.privileged,
            method="jpib",
            kl_weight=KL_WEIGHT,
            engine=engine,
        )

    def pairs(self) -> dict[str, tuple[Callable[[], None], Callable[[], None]]]:
        """Each method with what it is compared to."""
        return {
            "KbPIB": (self.kbpib, self.plain),
            "JPIB": (self.jpib, self.plain_twice),
            "KbPIB native": (lambda: self.kbpib("native"), self.plain),
            "JPIB native": (lambda: self.jpib("native"), self.plain_twice),
        }


def seconds(training: Callable[[], None]) -> float:
    start = time.perf_counter()
    training()
    return time.perf_counter() - start


def time_ratios(n_rows: int, rounds: int, repeats: int) -> list[dict[str, Any]]:
    trainings = Trainings(n_rows, rounds)
    rows = []
    for name, (ours, plain) in trainings.pairs().items():
        ours(), plain()  # both warm
        times = [(seconds(plain), seconds(ours)) for _ in range(repeats)]
        ratios = sorted(b / a for a, b in times)
        rows.append(
            {
                "rows": n_rows,
                "method": name,
                "plain_ms_per_round": 1e3 * statistics.median(a for a, _ in times) / rounds,
                "ratio": statistics.median(ratios),
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
        total = seconds(trainings.pairs()[name][0])
    finally:
        pi_xgb.KLObjective.__call__ = original  # type: ignore[method-assign]
    return spent / total


def stages(n_rows: int) -> list[tuple[str, float]]:
    """Milliseconds per round of what the callback engine does and XGBoost's own objective does not."""
    trainings = Trainings(n_rows, 3)
    booster = xgboost.train(PARAMS, trainings.dtrain, 3)
    objective = pi_xgb.KLObjective(trainings.q, KL_WEIGHT)
    margin = booster.predict(trainings.dtrain, output_margin=True, training=True)
    grad, hess = objective(margin, trainings.dtrain)

    def median(function: Callable[[], Any]) -> float:
        return 1e3 * statistics.median(seconds(function) for _ in range(15))

    handed_over = xgboost.Booster({**PARAMS, "max_depth": 1}, [trainings.dtrain])
    return [
        ("copy the margins out", median(lambda: booster.predict(trainings.dtrain, output_margin=True, training=True))),
        ("read labels and weights", median(lambda: (trainings.dtrain.get_label(), trainings.dtrain.get_weight()))),
        ("the objective, labels included", median(lambda: objective(margin, trainings.dtrain))),
        (
            "a round of one split with gradients handed over",
            median(lambda: handed_over.boost(trainings.dtrain, 0, grad=grad, hess=hess)),
        ),
        (
            "a round of one split with XGBoost's own objective",
            median(lambda: handed_over.update(trainings.dtrain, 0)),
        ),
    ]


def peak_values_per_row(n_rows: int, method: str, rounds: int = 3) -> float:
    """The highest resident size of a training in a process of its own, in float32 values per row."""
    arguments = [sys.executable, "-m", "benchmarks.overhead", "--peak-of", method, "--rows", str(n_rows)]
    answer = subprocess.run([*arguments, "--rounds", str(rounds)], capture_output=True, text=True, check=True)
    return float(json.loads(answer.stdout)["peak_bytes"]) / (4 * n_rows)


def report_peak(method: str, n_rows: int, rounds: int) -> None:
    trainings = Trainings(n_rows, rounds)
    run = {
        "plain": trainings.plain,
        "plain_twice": trainings.plain_twice,
        "plain_together": trainings.plain_together,
    }
    run |= {name: pair[0] for name, pair in trainings.pairs().items()}
    # Linux forgets the highest resident size of a process on this request.
    Path("/proc/self/clear_refs").write_text("5")
    run[method]()
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    print(json.dumps({"peak_bytes": int(peak.split()[1]) * 1024}))


def memory(n_rows: int) -> list[dict[str, Any]]:
    base = {name: peak_values_per_row(n_rows, name) for name in ("plain", "plain_twice", "plain_together")}
    return [
        {
            "method": name,
            "against": against.replace("_", " "),
            "above": peak_values_per_row(n_rows, name) - base[against],
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


def show(
    timings: list[dict[str, Any]], peaks: list[dict[str, Any]], costs: list[tuple[str, float]], n_rows: int
) -> str:
    lines = [
        "| rows | method | plain, ms a round | ratio (quartiles) | promised | share spent in the objective, "
        "JPIB's teacher included |",
        "|---|---|---|---|---|---|",
    ]
    for row in timings:
        share = "-" if row["objective_share"] is None else f"{row['objective_share']:.1%}"
        limit = "-" if row["limit"] is None else f"{row['limit']:.2f}"
        lines.append(
            f"| {row['rows']:,} | {row['method']} | {row['plain_ms_per_round']:.2f} | {row['ratio']:.3f} "
            f"({row['low']:.3f} to {row['high']:.3f}) | {limit} | {share} |"
        )
    lines += ["", f"| method | above | peak memory, float32 values per row ({n_rows:,} rows) | promised |"]
    lines += ["|---|---|---|---|"]
    lines += [f"| {row['method']} | {row['against']} | {row['above']:.1f} | {row['limit'] or '-'} |" for row in peaks]
    lines += ["", f"| step of a round ({n_rows:,} rows) | ms |", "|---|---|"]
    lines += [f"| {name} | {cost:.2f} |" for name, cost in costs]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="tiny sizes")
    parser.add_argument("--peak-of", help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peak_of:
        report_peak(arguments.peak_of, arguments.rows, arguments.rounds)
        return
    sizes = SMOKE if arguments.smoke else FULL
    largest = sizes[-1][0]
    timings = [row for size in sizes for row in time_ratios(*size)]
    print(
        f"{COLUMNS} + {PRIVILEGED_COLUMNS} columns, depth 6, hist, QuantileDMatrix, 2 threads; Python "
        f"{platform.python_version()}, XGBoost {xgboost.__version__}, NumPy {np.__version__}, {platform.machine()}\n"
    )
    print(show(timings, memory(largest), stages(largest), largest))


if __name__ == "__main__":
    main()

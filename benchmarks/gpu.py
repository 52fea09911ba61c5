"""What a teacher costs on a GPU, and what a GPU is worth against the cores of the machine.

    python -m benchmarks.gpu                    10 million rows; some minutes on a data-centre GPU
    python -m benchmarks.gpu --out GPU.md       the same, written to a file
    python -m benchmarks.gpu --smoke            tiny sizes; without a CUDA device it says so and is done

Ratios are medians over alternating trainings (A B A B ...) on the same matrices. The callback engine is timed twice
where CuPy is installed: with it, computing on the device, and without it, computing in host memory.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import xgboost

import pi_xgb
from benchmarks.scale_data import MadeRows

PARAMS = {"objective": "binary:logistic", "max_depth": 6, "eta": 0.1, "tree_method": "hist", "device": "cuda"}
COLUMNS, KL_WEIGHT, TEACHER_ROUNDS = 30, 0.5, 5
# rows, rounds, pairs of trainings, rounds on the CPU
FULL, SMOKE = (10_000_000, 50, 7, 5), (2000, 2, 2, 2)
LIMITS = {"KbPIB": 1.05, "JPIB": 1.25}


def why_no_cuda() -> str | None:
    """Why nothing can be trained on a CUDA device here; None where it can."""
    if not xgboost.build_info().get("USE_CUDA"):
        return "this build of XGBoost has no CUDA"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            xgboost.train({"device": "cuda"}, xgboost.DMatrix(np.zeros((4, 1)), [0, 1, 0, 1]), 1)
        except xgboost.core.XGBoostError as error:
            return f"XGBoost cannot use CUDA here: {str(error).splitlines()[0]}"
    # XGBoost trains on the CPU instead, and warns.
    said = [str(warning.message) for warning in caught if "GPU" in str(warning.message)]
    return f"no CUDA device: {said[0].split(': ')[-1]}" if said else None


def has_cupy() -> bool:
    try:
        import cupy
    except ImportError:
        return False
    return bool(cupy.cuda.is_available())


@contextmanager
def without_cupy() -> Iterator[None]:
    """As on a machine where CuPy is not installed."""
    kept = sys.modules.get("cupy")
    sys.modules["cupy"] = None  # type: ignore[assignment]  # what makes an import fail
    try:
        yield
    finally:
        del sys.modules["cupy"]
        if kept is not None:
            sys.modules["cupy"] = kept


class Trainings:
    """The trainings that are compared, on one pair of matrices."""

    def __init__(self, n_rows: int, rounds: int, params: dict[str, Any]) -> None:
        self.params, self.rounds = params, rounds
        self.dtrain = xgboost.QuantileDMatrix(MadeRows(n_rows, COLUMNS, privileged=False))
        self.privileged = xgboost.QuantileDMatrix(MadeRows(n_rows, COLUMNS, privileged=True))
        self.q = xgboost.train(params, self.privileged, TEACHER_ROUNDS).predict(self.privileged)

    def plain(self) -> None:
        xgboost.train(self.params, self.dtrain, self.rounds)

    def plain_twice(self) -> None:
        self.plain()
        xgboost.train(self.params, self.privileged, self.rounds)

    def kbpib(self, engine: str) -> None:
        pi_xgb.train(self.params, self.dtrain, self.rounds, teacher=self.q, kl_weight=KL_WEIGHT, engine=engine)

    def jpib(self, engine: str) -> None:
        guidance: dict[str, Any] = {"privileged": self.privileged, "method": "jpib", "kl_weight": KL_WEIGHT}
        pi_xgb.train(self.params, self.dtrain, self.rounds, engine=engine, **guidance)


def seconds(training: Callable[[], None]) -> float:
    start = time.perf_counter()
    training()
    return time.perf_counter() - start


def bare(training: Callable[[], None]) -> Callable[[], None]:
    def run() -> None:
        with without_cupy():
            training()

    return run


def pairs_of(trainings: Trainings) -> Iterator[tuple[str, str, Callable[[], None], Callable[[], None]]]:
    """Method, engine, ours, and what it is compared with."""
    for method, ours, plain in [
        ("KbPIB", trainings.kbpib, trainings.plain),
        ("JPIB", trainings.jpib, trainings.plain_twice),
    ]:
        yield method, "native", lambda ours=ours: ours("native"), plain  # type: ignore[misc]
        callback = lambda ours=ours: ours("callback")  # noqa: E731
        if has_cupy():
            yield method, "callback, CuPy", callback, plain
        yield method, "callback, no CuPy", bare(callback), plain


def ratios(trainings: Trainings, repeats: int) -> list[str]:
    lines = ["| method | engine | plain, ms a round | ratio (lowest to highest) | promised |", "|---|---|---|---|---|"]
    for method, engine, ours, plain in pairs_of(trainings):
        ours(), plain()  # both warm
        times = [(seconds(plain), seconds(ours)) for _ in range(repeats)]
        found = sorted(b / a for a, b in times)
        plain_ms = 1e3 * statistics.median(a for a, _ in times) / trainings.rounds
        lines.append(
            f"| {method} | {engine} | {plain_ms:.2f} | {statistics.median(found):.3f} ({found[0]:.3f} to "
            f"{found[-1]:.3f}) | {LIMITS[method]:.2f} |"
        )
    return lines


def against_cores(gpu: Trainings, rounds: int) -> list[str]:
    """The same trainings on all cores of the machine, a round each of what the GPU does."""
    cores = os.cpu_count()
    cpu = object.__new__(Trainings)
    cpu.__dict__.update(gpu.__dict__, params={**PARAMS, "device": "cpu", "nthread": cores}, rounds=rounds)
    lines = [
        f"| training | GPU, ms a round | CPU with {cores} threads, ms a round | times faster |",
        "|---|---|---|---|",
    ]
    for name, run in [
        ("plain", Trainings.plain),
        ("KbPIB native", lambda t: t.kbpib("native")),
        ("JPIB native", lambda t: t.jpib("native")),
    ]:
        milliseconds = []
        for trainings in (gpu, cpu):
            run(trainings)
            milliseconds.append(1e3 * seconds(lambda t=trainings, run=run: run(t)) / trainings.rounds)  # type: ignore[misc]
        on_gpu, on_cpu = milliseconds
        lines.append(f"| {name} | {on_gpu:.2f} | {on_cpu:.1f} | {on_cpu / on_gpu:.1f} |")
    return lines


def report(n_rows: int, rounds: int, repeats: int, cpu_rounds: int) -> str:
    trainings = Trainings(n_rows, rounds, PARAMS)
    versions = f"Python {platform.python_version()}, XGBoost {xgboost.__version__}, NumPy {np.__version__}"
    facts = (
        f"Made by `python -m benchmarks.gpu`. {n_rows:,} rows, {COLUMNS} + {COLUMNS} columns, {rounds} rounds, depth "
        f"6, hist, QuantileDMatrix. {versions}, {platform.machine()}. KbPIB is given its teacher and is compared with "
        "`xgboost.train`, JPIB with training its two boosters one after the other, both on the same device."
    )
    tables = [*ratios(trainings, repeats), "", *against_cores(trainings, cpu_rounds)]
    return "\n".join(["# On a GPU", "", facts, "", *tables])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="tiny sizes")
    parser.add_argument("--rows", type=int, help="another number of rows")
    parser.add_argument("--out", type=Path, help="write the tables there")
    given = parser.parse_args()
    reason = why_no_cuda()
    if reason:
        print(f"nothing measured: {reason}")
        sys.exit(0 if given.smoke else 1)
    n_rows, *sizes = SMOKE if given.smoke else FULL
    text = report(given.rows or n_rows, *sizes)
    print(text)
    if given.out:
        given.out.write_text(text + "\n")


if __name__ == "__main__":
    main()

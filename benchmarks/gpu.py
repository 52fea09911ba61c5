"""What a teacher costs on a GPU, and what a GPU is worth against the cores of the machine.

    python -m benchmarks.gpu                    10 million rows; some minutes on a data-centre GPU
    python -m benchmarks.gpu --out GPU.md       the same, written to a file
    python -m benchmarks.gpu --smoke            tiny sizes; without a CUDA device it says so and is done

Ratios are medians over alternating trainings (A B A B ...) on the same matrices. The callback engine is timed twice
where CuPy is installed: with it, computing on the device, and without it, computing in host memory.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xgboost

from benchmarks.command_line import command
from benchmarks.measuring import alternating, seconds, versions
from benchmarks.scale.rows import MadeRows
from benchmarks.text import table
from benchmarks.trainings import Trainings

PARAMS = {"objective": "binary:logistic", "max_depth": 6, "eta": 0.1, "tree_method": "hist", "device": "cuda"}
COLUMNS, TEACHER_ROUNDS = 30, 5
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
    message = [str(warning.message) for warning in caught if "GPU" in str(warning.message)]
    return f"no CUDA device: {message[0].split(': ')[-1]}" if message else None


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


def made(n_rows: int, rounds: int, params: dict[str, Any]) -> Trainings:
    """Made rows, and a teacher of a few rounds."""
    dtrain, privileged = (xgboost.QuantileDMatrix(MadeRows(n_rows, COLUMNS, privileged=side)) for side in (False, True))
    q = xgboost.train(params, privileged, TEACHER_ROUNDS).predict(privileged)
    return Trainings(params, rounds, dtrain, privileged, q)


def pairs_of(trainings: Trainings) -> Iterator[tuple[str, str, Callable[[], None], Callable[[], None]]]:
    """Method, engine, ours, and what it is compared with."""
    for method, ours, plain in [
        ("KbPIB", trainings.kbpib, trainings.plain),
        ("JPIB", trainings.jpib, trainings.plain_twice),
    ]:
        yield method, "native", partial(ours, "native"), plain
        if has_cupy():
            yield method, "callback, CuPy", partial(ours, "callback"), plain
        yield method, "callback, no CuPy", without_cupy()(partial(ours, "callback")), plain


def ratios(trainings: Trainings, repeats: int) -> list[str]:
    rows = []
    for method, engine, ours, plain in pairs_of(trainings):
        base, found = alternating(ours, plain, repeats)
        ratio = f"{statistics.median(found):.3f} ({found[0]:.3f} to {found[-1]:.3f})"
        rows.append([method, engine, f"{1e3 * base / trainings.rounds:.2f}", ratio, f"{LIMITS[method]:.2f}"])
    return table(["method", "engine", "plain, ms a round", "ratio (lowest to highest)", "promised"], rows)


def against_cores(gpu: Trainings, rounds: int) -> list[str]:
    """The same trainings on all cores of the machine, a round each of what the GPU does."""
    cores = os.cpu_count()
    cpu = replace(gpu, params={**PARAMS, "device": "cpu", "nthread": cores}, rounds=rounds)
    rows = []
    for name, run in [
        ("plain", Trainings.plain),
        ("KbPIB native", lambda t: t.kbpib("native")),
        ("JPIB native", lambda t: t.jpib("native")),
    ]:
        milliseconds = []
        for trainings in (gpu, cpu):
            run(trainings)
            milliseconds.append(1e3 * seconds(partial(run, trainings)) / trainings.rounds)
        on_gpu, on_cpu = milliseconds
        rows.append([name, f"{on_gpu:.2f}", f"{on_cpu:.1f}", f"{on_cpu / on_gpu:.1f}"])
    return table(["training", "GPU, ms a round", f"CPU with {cores} threads, ms a round", "times faster"], rows)


def report(n_rows: int, rounds: int, repeats: int, cpu_rounds: int) -> str:
    trainings = made(n_rows, rounds, PARAMS)
    facts = (
        f"Made by `python -m benchmarks.gpu`. {n_rows:,} rows, {COLUMNS} + {COLUMNS} columns, {rounds} rounds, depth "
        f"6, hist, QuantileDMatrix. {versions()}, {platform.machine()}. KbPIB is given its teacher and is compared "
        "with `xgboost.train`, JPIB with training its two boosters one after the other, both on the same device."
    )
    tables = [*ratios(trainings, repeats), *against_cores(trainings, cpu_rounds)]
    return "\n".join(["# On a GPU", "", facts, "", *tables]).rstrip()


def main() -> None:
    parser = command("gpu", __doc__)
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

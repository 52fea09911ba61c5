"""What a teacher costs on a GPU, and what a GPU is worth against the cores of the machine.

    python -m benchmarks.gpu --only rows=1000000       some minutes on a data-centre GPU
    python -m benchmarks.gpu --smoke                    tiny sizes; without a CUDA device it says so and is done

Ratios are medians over alternating trainings (A B A B ...) on the same matrices. The callback engine is timed with
CuPy, computing on the device, and without it, computing in host memory.
"""

from __future__ import annotations

import os
import statistics
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xgboost

from benchmarks.cells import Line, Table, main, read
from benchmarks.measuring import Training, Trainings, alternating, seconds, versions
from benchmarks.scale import recipe
from benchmarks.scale.rows import MadeRows
from benchmarks.text import NOTHING, paragraphs, table

PARAMS: dict[str, Any] = {"objective": "binary:logistic", "max_depth": 6, "eta": 0.1, "tree_method": "hist"}
PARAMS["device"] = "cuda"
COLUMNS, TEACHER_ROUNDS, CPU_ROUNDS = 30, 5, 5
ROWS, ROUNDS, REPEATS = (1_000_000, 10_000_000), 100, 5
SMOKE = (2000, 2, 2)
RECIPE_ROWS, LABELLED_SHARE = 300_000, 0.01
PLAIN, TWICE = "`xgboost.train`", "two boosters, one after the other"
LEAST, LEAST_TWICE = "`obj=`, CuPy", "two boosters with `obj=`, CuPy"


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


class OwnLoss:
    """XGBoost's logistic loss as an objective in CuPy: what a round costs as soon as Python computes the gradient."""

    def __init__(self, dtrain: xgboost.DMatrix) -> None:
        import cupy

        self._label = cupy.asarray(dtrain.get_label())

    def __call__(self, margin: Any, dtrain: xgboost.DMatrix) -> tuple[Any, Any]:
        import cupy

        p = 1 / (1 + cupy.exp(-cupy.asarray(margin)))
        return p - self._label, p * (1 - p)


def pairs_of(trainings: Trainings) -> Iterator[tuple[str, str, Training, str, Training]]:
    """Method, engine and training, and what it is compared with; what matters most first."""
    plain, twice = trainings.plain, trainings.plain_twice
    yield "KbPIB", "native", partial(trainings.kbpib, "native"), PLAIN, plain
    if has_cupy():
        params, rounds = trainings.params, trainings.rounds
        own = [OwnLoss(matrix) for matrix in (trainings.dtrain, trainings.privileged)]
        least = partial(xgboost.train, params, trainings.dtrain, rounds, obj=own[0])

        def least_twice() -> None:
            boosters = least(), xgboost.train(params, trainings.privileged, rounds, obj=own[1])
            del boosters

        yield "no teacher", LEAST, least, PLAIN, plain
        yield "KbPIB", "callback, CuPy", partial(trainings.kbpib, "callback"), LEAST, least
        yield "JPIB", "callback, CuPy", partial(trainings.jpib, "callback"), LEAST_TWICE, least_twice
        yield "KbPIB", "callback, CuPy", partial(trainings.kbpib, "callback"), PLAIN, plain
        yield "JPIB", "callback, CuPy", partial(trainings.jpib, "callback"), TWICE, twice
    yield "KbPIB", "callback, no CuPy", without_cupy()(partial(trainings.kbpib, "callback")), PLAIN, plain
    yield "JPIB", "callback, no CuPy", without_cupy()(partial(trainings.jpib, "callback")), TWICE, twice


def peak_mib(training: Training) -> float:
    """The most device memory in use during a training, above that before it; NaN where CuPy cannot tell."""
    if not has_cupy():
        return float("nan")
    import cupy

    def used() -> int:
        free, total = cupy.cuda.runtime.memGetInfo()
        return int(total - free)

    cupy.get_default_memory_pool().free_all_blocks()
    before, highest, done = used(), 0, threading.Event()

    def watch() -> None:
        nonlocal highest
        while not done.wait(0.001):
            highest = max(highest, used())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        training()
    finally:
        done.set()
        watcher.join()
    return (highest - before) / 2**20


def lines_of(n_rows: int, rounds: int, repeats: int) -> Iterator[Line]:
    """Each comparison: the recipe, then given teachers, then the cores of the machine."""
    yield recipe_line(min(n_rows, RECIPE_ROWS), small=(n_rows, rounds, repeats) == SMOKE)
    trainings = made(n_rows, rounds, PARAMS)
    for method, engine, ours, against, plain in pairs_of(trainings):
        base, ratios = alternating(ours, plain, repeats)
        yield {
            **{"method": method, "engine": engine, "against": against, "plain_ms": 1e3 * base / rounds},
            **{"ratio": statistics.median(ratios), "low": ratios[0], "high": ratios[-1]},
            "memory_mib": peak_mib(ours) - peak_mib(plain),
        }
    cores = os.cpu_count()
    cpu = replace(trainings, params={**PARAMS, "device": "cpu", "nthread": cores}, rounds=CPU_ROUNDS)
    for method, run, against, on_gpu in [
        ("no teacher", cpu.plain, PLAIN, trainings.plain),
        ("KbPIB", partial(cpu.kbpib, "callback"), "native on the GPU", partial(trainings.kbpib, "native")),
        ("JPIB", partial(cpu.jpib, "callback"), "callback on the GPU", partial(trainings.jpib, "callback")),
    ]:
        run()
        base = seconds(on_gpu) / rounds
        ratio = seconds(run) / CPU_ROUNDS / base
        named = {"method": method, "engine": f"{cores} CPU threads", "against": against, "plain_ms": 1e3 * base}
        yield {**named, "ratio": ratio, "low": ratio, "high": ratio, "memory_mib": float("nan")}


def recipe_line(n_rows: int, *, small: bool) -> Line:
    """The recipe for few labels against plain XGBoost on all rows, both on this device."""
    labels = max(int(LABELLED_SHARE * n_rows), 20)
    (found,) = recipe.measure(n_rows, labels, 0, small=small, device=PARAMS["device"])
    engine = f"{n_rows:,} rows, {labels:,} labels"
    named = {"method": "recipe", "engine": engine, "against": PLAIN}
    ratio = found["ratio"]
    plain_ms = 1e3 * found["plain_seconds"] / found["rounds"]
    return {**named, "plain_ms": plain_ms, "ratio": ratio, "low": ratio, "high": ratio, "memory_mib": float("nan")}


def measure(rows: int, small: bool = False) -> Iterator[Line]:
    """A line for each comparison at this size, of 2,000 rows in a smoke run."""
    size = SMOKE if small else (rows, ROUNDS, REPEATS)
    device = name_of_device()
    for line in lines_of(*size):
        yield {**line, "rounds": size[1], "device": device, "versions": versions()}


def name_of_device() -> str:
    if not has_cupy():
        return "unnamed CUDA device"
    import cupy

    return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())


def text(folder: Path, figures: Path) -> str:
    """The section: a table for each device and size."""
    about = f"""
        `python -m benchmarks.gpu`: {COLUMNS} + {COLUMNS} columns, depth 6, hist, QuantileDMatrix. KbPIB is given its
        teacher. Ratios are medians over alternating trainings, with the lowest and the highest. "{LEAST}" is XGBoost's
        own logistic loss, computed by CuPy without any teacher. No callback can cost less: XGBoost hands the margins of
        every round to Python. The lines with CPU threads, over {CPU_ROUNDS} rounds, say how many times longer a round
        takes without the GPU.
    """
    out = ["# On a GPU", "", paragraphs(about), ""]
    header = ["method", "engine", "against", "that, ms a round", "ratio (lowest to highest)"]
    header += ["device memory above, MiB"]
    for (device, rows, rounds, made_with), own in read("gpu", folder).groupby(
        ["device", "rows", "rounds", "versions"], sort=False
    ):
        lines = []
        for row in own.to_dict("records"):
            spread = "" if row["low"] == row["high"] else f" ({row['low']:.2f} to {row['high']:.2f})"
            memory = row.get("memory_mib", np.nan)
            lines.append([row["method"], row["engine"], row["against"], f"{row['plain_ms']:.1f}"])
            lines[-1] += [f"{row['ratio']:.2f}{spread}", NOTHING if np.isnan(memory) else f"{memory:.0f}"]
        out += [f"{device}: {rows:,} rows, {rounds} rounds. {made_with}.", "", *table(header, lines)]
    return "\n".join(out)


TABLES = [Table("gpu", ("rows",), lambda: [(rows,) for rows in ROWS], measure, [(SMOKE[0],)])]

if __name__ == "__main__":
    if reason := why_no_cuda():
        print(f"nothing measured: {reason}")
        sys.exit(0 if "--smoke" in sys.argv else 1)
    main("gpu", __doc__, TABLES, text)

"""What a teacher costs on a GPU, and what a GPU is worth against the cores of the machine.

    python -m benchmarks.gpu                            a million rows; some minutes on a data-centre GPU
    python -m benchmarks.gpu --rows 10000000            the same for another number of rows
    python -m benchmarks.gpu --rounds 500 --repeats 3
    python -m benchmarks.gpu --out FOLDER               gpu.csv there, not in benchmarks/results
    python -m benchmarks.gpu --smoke                    tiny sizes; without a CUDA device it says so and is done

What matters most is measured first, and each line is printed and written as it comes. Ratios are medians over
alternating trainings (A B A B ...) on the same matrices. The callback engine is timed with CuPy, computing on the
device, and without it, computing in host memory.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from benchmarks.cells import RESULTS, Line, append, pack, parser, read, unpack
from benchmarks.measuring import Training, Trainings, alternating, seconds, versions
from benchmarks.scale import recipe
from benchmarks.scale.rows import MadeRows
from benchmarks.text import NOTHING, paragraphs, table

PARAMS: dict[str, Any] = {"objective": "binary:logistic", "max_depth": 6, "eta": 0.1, "tree_method": "hist"}
PARAMS["device"] = "cuda"
COLUMNS, TEACHER_ROUNDS, CPU_ROUNDS = 30, 5, 5
ROWS, ROUNDS, REPEATS = 1_000_000, 100, 5
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
    if has_cupy():
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
    """Each comparison: the recipe after KbPIB and the least callback, then the rest, then the cores of the machine."""
    trainings = made(n_rows, rounds, PARAMS)
    pairs = list(pairs_of(trainings))
    first = 3 if has_cupy() else 1
    for place, (method, engine, ours, against, plain) in enumerate(pairs):
        if place == first:
            yield recipe_line(min(n_rows, RECIPE_ROWS), small=(n_rows, rounds, repeats) == SMOKE)
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


def measured(
    n_rows: int, rounds: int, repeats: int, report: Callable[[Line], object] = lambda line: None
) -> pd.DataFrame:
    """A line for each comparison at this size; ``report`` gets each as it comes."""
    found, device = [], name_of_device()
    for line in lines_of(n_rows, rounds, repeats):
        found.append({**line, "rows": n_rows, "rounds": rounds, "device": device, "versions": versions()})
        report(found[-1])
    return pd.DataFrame(found)


def name_of_device() -> str:
    if not has_cupy():
        return "unnamed CUDA device"
    import cupy

    return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())


def page(results: pd.DataFrame) -> str:
    """The section: a table for each device and size."""
    about = f"""
        `python -m benchmarks.gpu`: {COLUMNS} + {COLUMNS} columns, depth 6, hist, QuantileDMatrix. KbPIB is given its
        teacher. Ratios are medians over alternating trainings, with the lowest and the highest. "{LEAST}" is XGBoost's
        own logistic loss, computed by CuPy without any teacher. No callback can cost less: XGBoost hands the margins of
        every round to Python. The lines with CPU threads, over {CPU_ROUNDS} rounds, say how many times longer a round
        takes without the GPU.
    """
    out = ["# On a GPU", "", paragraphs(about), ""]
    header = [
        "method",
        "engine",
        "against",
        "that, ms a round",
        "ratio (lowest to highest)",
        "device memory above, MiB",
    ]
    for (device, rows, rounds, made_with), own in results.groupby(["device", "rows", "rounds", "versions"], sort=False):
        lines = []
        for row in own.to_dict("records"):
            spread = "" if row["low"] == row["high"] else f" ({row['low']:.2f} to {row['high']:.2f})"
            memory = row.get("memory_mib", np.nan)
            lines.append([row["method"], row["engine"], row["against"], f"{row['plain_ms']:.1f}"])
            lines[-1] += [f"{row['ratio']:.2f}{spread}", NOTHING if np.isnan(memory) else f"{memory:.0f}"]
        out += [f"{device}: {rows:,} rows, {rounds} rounds. {made_with}.", "", *table(header, lines)]
    return "\n".join(out)


def text(folder: Path, figures: Path) -> str:
    return page(read("gpu", folder))


def main() -> None:
    made_parser = parser("gpu", __doc__)
    made_parser.add_argument("--smoke", action="store_true", help="tiny sizes, in a folder that is thrown away")
    made_parser.add_argument("--rows", type=int, default=ROWS, help="default: %(default)s")
    made_parser.add_argument("--rounds", type=int, default=ROUNDS, help="default: %(default)s")
    made_parser.add_argument("--repeats", type=int, default=REPEATS, help="pairs of trainings (default: %(default)s)")
    made_parser.add_argument("--out", type=Path, default=RESULTS, help="the folder of gpu.csv (default: the committed)")
    given = made_parser.parse_args()
    reason = why_no_cuda()
    if reason:
        print(f"nothing measured: {reason}")
        sys.exit(0 if given.smoke else 1)
    with tempfile.TemporaryDirectory() as folder:
        path = (Path(folder) if given.smoke else given.out) / "gpu.csv"
        unpack(path)

        def report(line: Line) -> None:
            append(path, [line])
            print(*(line[name] for name in ("method", "engine", "against")), f"{line['ratio']:.3f}", flush=True)

        size = SMOKE if given.smoke else (given.rows, given.rounds, given.repeats)
        print(page(measured(*size, report=report)))
        if given.out.resolve() == RESULTS.resolve() and not given.smoke:
            pack(path)


if __name__ == "__main__":
    main()

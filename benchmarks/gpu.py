"""What a teacher costs on a GPU, and what a GPU is worth against the cores of the machine.

    python -m benchmarks.gpu              a million rows; two minutes on a data-centre GPU; results/gpu.csv
    python -m benchmarks.gpu --rows N     the same for another number of rows, only printed
    python -m benchmarks.gpu --page       GPU.md from the table
    python -m benchmarks.gpu --smoke      tiny sizes; without a CUDA device it says so and is done

Ratios are medians over alternating trainings (A B A B ...) on the same matrices. The callback engine is timed twice
where CuPy is installed: with it, computing on the device, and without it, computing in host memory.
"""

from __future__ import annotations

import os
import statistics
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from benchmarks import FOLDER
from benchmarks.command_line import command
from benchmarks.measuring import alternating, seconds, versions
from benchmarks.scale.rows import MadeRows
from benchmarks.text import paragraphs, table
from benchmarks.trainings import Trainings

RESULTS, PAGE = FOLDER / "results" / "gpu.csv", FOLDER / "GPU.md"
PARAMS = {"objective": "binary:logistic", "max_depth": 6, "eta": 0.1, "tree_method": "hist", "device": "cuda"}
COLUMNS, TEACHER_ROUNDS, CPU_ROUNDS = 30, 5, 5
# rows, rounds, pairs of trainings
FULL, SMOKE = (1_000_000, 100, 5), (2000, 2, 2)
PLAIN, TWICE = "`xgboost.train`", "two boosters, one after the other"


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


def pairs_of(trainings: Trainings) -> Iterator[tuple[str, str, Callable[[], object], str, Callable[[], object]]]:
    """Method, engine and training, and what it is compared with."""
    if has_cupy():
        params, rounds, dtrain = trainings.params, trainings.rounds, trainings.dtrain
        own = OwnLoss(dtrain)
        yield (
            "no teacher",
            "`obj=`, CuPy",
            partial(xgboost.train, params, dtrain, rounds, obj=own),
            PLAIN,
            trainings.plain,
        )
    for method, ours, name, plain in [
        ("KbPIB", trainings.kbpib, PLAIN, trainings.plain),
        ("JPIB", trainings.jpib, TWICE, trainings.plain_twice),
    ]:
        yield method, "native", partial(ours, "native"), name, plain
        if has_cupy():
            yield method, "callback, CuPy", partial(ours, "callback"), name, plain
        yield method, "callback, no CuPy", without_cupy()(partial(ours, "callback")), name, plain


def ratios(trainings: Trainings, repeats: int) -> list[dict[str, Any]]:
    """Each training against its own on the same device, then the same trainings on all cores of the machine."""
    rows = []
    for method, engine, ours, name, plain in pairs_of(trainings):
        base, found = alternating(ours, plain, repeats)
        rows.append([method, engine, name, base, statistics.median(found), found[0], found[-1]])
    cores = os.cpu_count()
    cpu = replace(trainings, params={**PARAMS, "device": "cpu", "nthread": cores}, rounds=CPU_ROUNDS)
    for method, run, name, on_gpu in [
        ("no teacher", cpu.plain, PLAIN, trainings.plain),
        ("KbPIB", partial(cpu.kbpib, "callback"), "native on the GPU", partial(trainings.kbpib, "native")),
        ("JPIB", partial(cpu.jpib, "callback"), "native on the GPU", partial(trainings.jpib, "native")),
    ]:
        run()
        base = seconds(on_gpu)
        ratio = seconds(run) / CPU_ROUNDS / (base / trainings.rounds)
        rows.append([method, f"{cores} CPU threads", name, base, ratio, ratio, ratio])
    names = ["method", "engine", "against", "plain_ms", "ratio", "low", "high"]
    return [dict(zip(names, row, strict=True)) | {"plain_ms": 1e3 * row[3] / trainings.rounds} for row in rows]


def measured(n_rows: int, rounds: int, repeats: int) -> pd.DataFrame:
    """A line for each comparison at this size."""
    found = pd.DataFrame(ratios(made(n_rows, rounds, PARAMS), repeats))
    return found.assign(rows=n_rows, rounds=rounds, device=name_of_device(), versions=versions())


def name_of_device() -> str:
    if not has_cupy():
        return "unnamed CUDA device"
    import cupy

    return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())


def page(results: pd.DataFrame) -> str:
    """GPU.md."""
    first = results.iloc[0]
    facts = f"""
        Made by `python -m benchmarks.gpu` on an {first.device}: {first.rows:,} rows, {COLUMNS} + {COLUMNS} columns,
        {first.rounds} rounds, depth 6, hist, QuantileDMatrix. {first.versions}. KbPIB is given its teacher. Ratios are
        medians over alternating trainings, with the lowest and the highest.

        "`obj=`, CuPy" is XGBoost's own logistic loss, computed by CuPy without any teacher. No callback can cost less:
        XGBoost hands the margins of every round to Python in host memory. JPIB needs those of two boosters. The lines
        with CPU threads, over {CPU_ROUNDS} rounds, say how many times longer a round takes without the GPU.
    """
    lines = []
    for row in results.to_dict("records"):
        spread = "" if row["low"] == row["high"] else f" ({row['low']:.2f} to {row['high']:.2f})"
        names = [row["method"], row["engine"], row["against"]]
        lines.append([*names, f"{row['plain_ms']:.1f}", f"{row['ratio']:.2f}{spread}"])
    header = ["method", "engine", "against", "that, ms a round", "ratio (lowest to highest)"]
    return "\n".join(["# On a GPU", "", paragraphs(facts), "", *table(header, lines)]).rstrip() + "\n"


def main() -> None:
    parser = command("gpu", __doc__)
    parser.add_argument("--smoke", action="store_true", help="tiny sizes")
    parser.add_argument("--rows", type=int, help="another number of rows")
    parser.add_argument("--page", action="store_true", help="only GPU.md, from the table")
    given = parser.parse_args()
    if given.page:
        PAGE.write_text(page(pd.read_csv(RESULTS)), encoding="utf-8")
        return
    reason = why_no_cuda()
    if reason:
        print(f"nothing measured: {reason}")
        sys.exit(0 if given.smoke else 1)
    n_rows, *size = SMOKE if given.smoke else FULL
    results = measured(given.rows or n_rows, *size)
    if not (given.smoke or given.rows):
        results.to_csv(RESULTS, index=False, float_format="%.6g")
    print(page(results))


if __name__ == "__main__":
    main()

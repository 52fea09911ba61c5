"""What a teacher costs in time and memory, next to plain XGBoost on the same matrices.

    python -m benchmarks.overhead            some ten minutes
    python -m benchmarks.overhead --smoke

Times are medians of ratios: the two trainings alternate (A B A B ...) in one process, so that whatever else the
machine does hits both. Memory is the highest resident size during the training, each in a process of its own.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import xgboost

from benchmarks.cells import Line, Table, main, read
from benchmarks.measuring import Training, Trainings, alternating, memory_mib
from benchmarks.text import number, paragraph
from benchmarks.text import table as markdown

TIME, MEMORY = "time", "memory"
COLUMNS = 30
PARAMS = {"objective": "binary:logistic", "max_depth": 6, "eta": 0.1, "tree_method": "hist", "nthread": 2}
SIZES = {300: (200, 15), 100_000: (40, 11), 1_000_000: (20, 7)}
"""Rounds of a training and pairs of trainings, by rows."""
LIMITS = {  # the promised ratios
    ("KbPIB", 300): 2.0,
    ("KbPIB", 100_000): 1.05,
    ("KbPIB", 1_000_000): 1.05,
    ("JPIB", 300): 1.8,
    ("JPIB", 100_000): 1.08,
    ("JPIB", 1_000_000): 1.08,
    ("KbPIB native", 300): 1.5,
    ("KbPIB native", 1_000_000): 1.03,
}
MEMORY_LIMITS = {"KbPIB": 8, "JPIB": 12}
METHODS = ("KbPIB", "JPIB", "KbPIB native")

ABOUT = """\
`python -m benchmarks.overhead`: {columns} + {columns} columns, depth 6, hist, QuantileDMatrix, 2 threads. KbPIB is
given its teacher's predictions and compared with one `xgboost.train`, JPIB, which trains its teacher, with two. Ratios
are medians over alternating trainings. Memory is the peak above that of the trainings named, in float32 values per
row."""


def made(n_rows: int, rounds: int) -> Trainings:
    """Rows of random numbers, and the chances that their labels were drawn with in the place of a teacher."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n_rows, COLUMNS), dtype=np.float32)
    z = rng.standard_normal((n_rows, COLUMNS), dtype=np.float32)
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


def training(trainings: Trainings, name: str) -> Training:
    """By its name in the tables."""
    return {
        "KbPIB": trainings.kbpib,
        "JPIB": trainings.jpib,
        "KbPIB native": partial(trainings.kbpib, "native"),
        "plain": trainings.plain,
        "plain twice": trainings.plain_twice,
        "plain together": partial(plain_together, trainings),
    }[name]


def measure(table: str, rows: int, name: str, against: str, small: bool = False) -> list[Line]:
    """The ratio of the times, or the difference of the peaks in float32 values per row."""
    rounds, repeats = (2, 2) if small else SIZES[rows]
    if table == MEMORY:
        peaks = [peak_bytes(method, rows, rounds) / (4 * rows) for method in (name, against)]
        return [{"value": peaks[0] - peaks[1], "limit": MEMORY_LIMITS.get(name)}]
    trainings = made(rows, rounds)
    base, ratios = alternating(training(trainings, name), training(trainings, against), repeats)
    spread = {"low": ratios[len(ratios) // 4], "high": ratios[-1 - len(ratios) // 4]}
    ratio = statistics.median(ratios)
    return [{"plain_ms": 1e3 * base / rounds, "value": ratio, **spread, "limit": LIMITS.get((name, rows))}]


def peak_bytes(method: str, rows: int, rounds: int) -> float:
    """The highest resident size of a training, in a process of its own."""
    arguments = [sys.executable, "-m", "benchmarks.overhead", json.dumps([method, rows, rounds])]
    return float(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)


def peak_here(method: str, rows: int, rounds: int) -> float:
    trainings = made(rows, rounds)
    # Linux forgets the highest resident size of a process on this request.
    Path("/proc/self/clear_refs").write_text("5")
    training(trainings, method)()
    return memory_mib("VmHWM") * 2**20


def cells(sizes: list[int]) -> list[tuple[str, int, str, str]]:
    """Times at every size, memory at the largest."""
    against = {name: "plain" if name.startswith("KbPIB") else "plain twice" for name in METHODS}
    times = [(TIME, rows, name, against[name]) for rows in sizes for name in METHODS]
    peaks = [(MEMORY, sizes[-1], name, against[name]) for name in METHODS]
    return times + peaks + [(MEMORY, sizes[-1], "JPIB", "plain together")]


def text(folder: Path, figures: Path) -> str:
    """The section."""
    found = read("overhead", folder)
    times, peaks = (found[found["table"] == name] for name in (TIME, MEMORY))
    rows = []
    for row in times.itertuples():
        ratio = f"{row.value:.3f} ({row.low:.3f} to {row.high:.3f})"
        rows.append([f"{row.rows:,}", row.name, f"{row.plain_ms:.2f}", ratio, number(row.limit, 2)])
    lines = ["# Time and memory of a round", "", paragraph(ABOUT.format(columns=COLUMNS)), ""]
    lines += markdown(["rows", "method", "plain, ms a round", "ratio (quartiles)", "promised"], rows)
    above = [[row.name, row.against, f"{row.value:.1f}", number(row.limit, 0)] for row in peaks.itertuples()]
    values = f"peak memory, float32 values per row ({int(peaks['rows'].iloc[0]):,} rows)"
    return "\n".join([*lines, *markdown(["method", "above", values, "promised"], above)])


KEYS = ("table", "rows", "name", "against")
TABLES = [Table("overhead", KEYS, lambda: cells(list(SIZES)), measure, cells([300])[: len(METHODS) + 1])]

if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].startswith("["):
        print(peak_here(*json.loads(sys.argv[1])))
    else:
        main("overhead", __doc__, TABLES, text)

"""SCALE.md and its picture, from the lines of the CSV."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.cells import exists, read
from benchmarks.scale.cell import METHODS
from benchmarks.text import joined, paragraph, table

Line = dict[str, Any]
SHOWN = tuple((method, engine) for method, engines in METHODS.items() for engine in engines)
SLOPES_FROM_ROWS = 100_000
PROMISED_SLOPE = (0.95, 1.05)

INTRODUCTION = """# Time and memory at scale

`python -m benchmarks.scale`. {machine}, {versions}, {date}. Each cell is a process of its own.

The data are made: {columns} classifier features and as many privileged ones, float32, drawn batch by batch into
`QuantileDMatrix`, so that the floats of all rows never lie in memory at once. Trees of depth 6, hist, 256 bins,
{threads} threads, {rounds} rounds unless noted. *plain* (plain XGBoost, no privileged features) is one
`xgboost.train` on the classifier features; *plain twice* adds a second one on the privileged features: the same two
boosters that KbPIB and JPIB train, without any teaching. Seconds are those of the training, a median of up to three;
building the matrices comes on top. Peak memory is the highest resident size of the whole process: libraries, data and
training.
"""

SLOPES = """Slope of the log-log fit of seconds against rows, from {rows:,} rows on: {slopes}. 1 is linear; the target
was {low} to {high}. Outside it: {missed}. Below 1 the time grows less than linearly, since a fixed cost
of each round counts less the more rows there are; plain XGBoost has it as well.
"""

WORKERS = """Seconds at {rows:,} rows. Workers are processes with their share of the rows, joined by
`xgboost.collective`. They share the cores of one machine: two workers with a thread each have what one worker with two
threads has.
"""

EXTERNAL = """{rows:,} rows with {columns} columns on each side, {data_mib:,.0f} MiB of float32 on disk, and
{limited[limit_mib]:,.0f} MiB of private memory for the process in all (`RLIMIT_DATA`, libraries and thread
stacks included): the data are {times:.1f} times the limit. Both matrices are an `ExtMemQuantileDMatrix`, whose
cache on disk has a byte for a value. The highest resident size was {limited[peak_mib]:,.0f} MiB, which counts
pages of the cache files too. In memory under the same limit, the same trainings {in_memory_under_the_limit}.
The margins of the models differ from those of a run in memory without a limit by
{largest_difference_of_margins:.1g} at most.
"""


RECIPE = """A mixed teacher and its student: the lowest of five alternating trainings each, 100 rounds of depth 4; in
brackets beside two processes that keep both cores busy."""
SIDES = ("plain_seconds", "seconds", "ratio")


def name_of(method: str, engine: str) -> str:
    return f"{method} {engine}".strip()


def lines_of(lines: Sequence[Line], method: str, engine: str) -> list[Line]:
    return [line for line in lines if (line["method"], line["engine"]) == (method, engine)]


def sweep(lines: Sequence[Line], over: str) -> list[Line]:
    """The lines that differ from the usual setting in one field at most, in its order."""
    fixed = {"columns", "rounds", "workers", "threads"} - {over} - ({"threads"} if over == "workers" else set())
    usual = {field: _usual(lines, field) for field in (*fixed, over)}
    if over != "rows":
        # Not the size that most lines have, but the one that this field was varied at.
        varied = [line for line in lines if line[over] != usual[over]]
        usual["rows"], fixed = _usual(varied or lines, "rows"), fixed | {"rows"}
    kept = [line for line in lines if all(line[field] == usual[field] for field in fixed)]
    return sorted(kept, key=lambda line: (line[over], line["threads"]))


def _usual(lines: Sequence[Line], field: str) -> int:
    values = [int(line[field]) for line in lines]
    return max(sorted(set(values)), key=values.count)


def log_log_slope(x: Sequence[float], y: Sequence[float]) -> float:
    """1 where y is proportional to x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def by_method(lines: Sequence[Line], over: Sequence[str], show: Any) -> list[str]:
    """A row for each value of a field and a column for each method; ``show(line, plain twice)`` fills a cell."""
    keys = sorted({tuple(line[field] for field in over) for line in lines})
    body = []
    for key in keys:
        here = [line for line in lines if tuple(line[field] for field in over) == key]
        twice = next(iter(lines_of(here, "plain twice", "")), None)
        cells = [next(iter(lines_of(here, *shown)), None) for shown in SHOWN]
        body.append([*(f"{value:,}" for value in key), *("-" if c is None else show(c, twice) for c in cells)])
    return table([*over, *(name_of(*shown) for shown in SHOWN)], body)


def seconds_and_ratio(line: Line, twice: Line | None) -> str:
    text = f"{line['seconds']:.3g}"
    if twice is None or line["engine"] == "":
        return text
    return f"{text} ({line['seconds'] / twice['seconds']:.2f})"


def slopes(lines: Sequence[Line], from_rows: int) -> list[str]:
    found, missed = [], []
    for shown in SHOWN:
        used = [line for line in lines_of(lines, *shown) if line["rows"] >= from_rows]
        if len({line["rows"] for line in used}) < 2:
            continue
        training = log_log_slope([line["rows"] for line in used], [line["seconds"] for line in used])
        found.append(f"{training:.2f} ({name_of(*shown)})")
        missed += [] if PROMISED_SLOPE[0] <= training <= PROMISED_SLOPE[1] else [name_of(*shown)]
    low, high = PROMISED_SLOPE
    facts = {"rows": from_rows, "low": low, "high": high, "slopes": joined(found), "missed": joined(missed)}
    return [paragraph(SLOPES.format(**facts)), ""]


def external_section(found: Line) -> list[str]:
    limited, free = found["limited"], found["free"]
    return [
        "## In external memory",
        "",
        *(paragraph(EXTERNAL.format(**found, times=found["data_mib"] / limited["limit_mib"])), ""),
        *table(
            [f"step ({found['rounds']} rounds)", "external, under the limit, s", "in memory, no limit, s"],
            [[step, f"{s:.1f}", f"{free['seconds'][step]:.1f}"] for step, s in limited["seconds"].items()],
        ),
    ]


def recipe_section(found: pd.DataFrame) -> list[str]:
    """Seconds with two busy processes beside stand in brackets."""
    found = found.assign(threads=found["threads"].replace(0, "unset"), busy=found["busy"] > 0)
    by = found.pivot(index=["rows", "labels", "threads"], columns="busy", values=["plain_seconds", "seconds", "ratio"])
    rows = [
        [
            f"{key[0]:,}",
            f"{key[1]:,}",
            str(key[2]),
            *(f"{line[one, False]:.2f} ({line[one, True]:.2f})" for one in SIDES),
        ]
        for key, line in by.iterrows()
    ]
    header = ["rows", "labels", "nthread", "plain XGBoost on all rows, s", "recipe, s", "ratio"]
    return ["## The recipe for few labels", "", RECIPE, "", *table(header, rows)]


def text(folder: Path, figures: Path) -> str:
    """The section."""
    lines = read("scale", folder).fillna({"engine": ""}).to_dict("records")
    kept = folder / "scale_external.json"
    external = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else None
    from_rows = min(SLOPES_FROM_ROWS, max(line["rows"] for line in lines) // 4)
    by_rows = sweep(lines, "rows")
    last = lines[-1]
    usual = {field: _usual(by_rows, field) for field in ("columns", "threads", "rounds")}
    out = [INTRODUCTION.format(**usual, **{name: last[name] for name in ("machine", "versions", "date")})]
    out += ["## Rows", "", "Seconds of a training, and in brackets its ratio to plain twice:", ""]
    out += by_method(by_rows, ["rows"], seconds_and_ratio)
    out += [*slopes(by_rows, from_rows)]
    out += ["Peak memory, MiB:", "", *by_method(by_rows, ["rows"], lambda line, _: f"{line['peak_mib']:,.0f}")]
    out += ["Seconds by columns and rounds: [scale.csv.gz](results/scale.csv.gz).", ""]
    swept = sweep(lines, "workers")
    out += ["## Workers", "", WORKERS.format(rows=_usual(swept, "rows"))]
    out += by_method(swept, ["workers", "threads"], seconds_and_ratio)
    out += recipe_section(read("scale_recipe", folder)) if exists("scale_recipe", folder) else []
    out += external_section(external) if external else []
    return "\n".join(out)

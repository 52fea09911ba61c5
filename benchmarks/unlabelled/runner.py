"""The run: what is missing in the CSV files is done, a draw at a time."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from tqdm import tqdm

from benchmarks.data import LOAD_ERRORS, PreparedSet
from benchmarks.processes import spread
from benchmarks.unlabelled import breach
from benchmarks.unlabelled.cell import Draw, budgets_of, lines
from benchmarks.unlabelled.splits import MADE, made_set, split_set

KEY = ["dataset", "labelled", "repeat", "method"]
BREACH_KEY = ["setting", "repeat", "method"]


class Unit(NamedTuple):
    """What is done at once: one draw of a set, and what of it is not in the file yet."""

    dataset: str
    repeat: int
    missing: tuple[tuple[int, tuple[str, ...]], ...]


@lru_cache(maxsize=1)
def loaded(name: str) -> PreparedSet:
    """The set. SystemExit where its data cannot be had."""
    try:
        return made_set(name) if name == MADE else split_set(name)
    except LOAD_ERRORS as error:
        raise SystemExit(f"{name}: {error}") from error


def work(unit: Unit) -> list[dict[str, Any]]:
    """The lines of a unit."""
    draw = Draw(loaded(unit.dataset), unit.repeat)
    return [
        {"dataset": unit.dataset, "labelled": budget, "training": draw.train.y.size, "repeat": unit.repeat, **line}
        for budget, methods in unit.missing
        for line in lines(draw, budget, methods)
    ]


def units(
    names: Sequence[str], methods: Sequence[str], repeats: int, done: set[tuple[Any, ...]], only: Sequence[int] = ()
) -> Iterator[Unit]:
    """All that is missing, the first repeat of all sets before the second."""
    budgets = {name: [b for b in budgets_of(loaded(name).y.size) if not only or b in only] for name in names}
    for repeat in range(repeats):
        for name in names:
            rest = [(b, tuple(m for m in methods if (name, b, repeat, m) not in done)) for b in budgets[name]]
            missing = tuple((budget, waiting) for budget, waiting in rest if waiting)
            if missing:
                yield Unit(name, repeat, missing)


def run(
    names: Sequence[str],
    methods: Sequence[str],
    repeats: int,
    results: Path,
    *,
    jobs: int = 1,
    only: Sequence[int] = (),
) -> None:
    """Append what is missing, a draw at a time."""
    todo = list(units(names, methods, repeats, finished(results, KEY), only))
    done = spread(work, deque(todo), jobs, {}) if jobs > 1 else ((unit, work(unit)) for unit in todo)
    for _, found in tqdm(done, total=len(todo), mininterval=5, desc="unlabelled"):
        append(results, found)


def run_breach(repeats: int, results: Path, **sizes: int) -> None:
    """The same for the made data."""
    done = finished(results, BREACH_KEY)
    for repeat in tqdm(range(repeats), mininterval=5, desc="breach"):
        for setting in breach.SETTINGS:
            missing = [method for method in breach.METHODS if (setting, repeat, method) not in done]
            if missing:
                found = breach.lines(setting, repeat, missing, **sizes)
                append(results, [{"setting": setting, "repeat": repeat, **line} for line in found])


def append(results: Path, found: list[dict[str, Any]]) -> None:
    results.parent.mkdir(parents=True, exist_ok=True)
    text = pd.DataFrame(found).to_csv(index=False, header=not results.exists(), float_format="%.6g")
    with results.open("a", encoding="utf-8") as file:
        file.write(text)


def finished(results: Path, key: list[str]) -> set[tuple[Any, ...]]:
    """The keys of the whole lines; the line that a killed run was at is taken out of the file."""
    if not results.exists():
        return set()
    text = results.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if not whole:
        results.unlink()
        return set()
    header = whole.split("\n", 1)[0].split(",")
    if not set(key) <= set(header):
        raise SystemExit(f"{results} is not a CSV of python -m benchmarks.unlabelled: it has no columns {key}")
    if whole != text:
        results.write_text(whole, encoding="utf-8")
    return set(pd.read_csv(io.StringIO(whole))[key].itertuples(index=False, name=None))

"""The engine of all benchmarks: tables whose cells are measured once, in any number of processes, and resumed.

A benchmark is what it measures and a text. What it measures is a list of `Table`: the cells, and a function that gives
the lines of one cell. Lines are appended to ``results/<table>.csv`` as cells end; when all are done, the file is
packed as ``.csv.gz``, which is what is committed. A run that was stopped goes on where it was: cells in the file are
not measured again. `benchmarks.pages` writes the pages from the tables.
"""

from __future__ import annotations

import gzip
import io
import multiprocessing
import os
import signal
import sys
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from benchmarks import FOLDER

RESULTS = FOLDER / "results"
INTERRUPTED = 130

Line = dict[str, Any]
Cell = tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """One CSV of results.

    Attributes
    ----------
    name : str
        Of the file, without its ending.
    key : tuple of str
        The columns that name a cell.
    cells : function
        The cells, tuples with the values of ``key``, in the order of the work.
    measure : function
        Takes the values of a cell, and ``small=True`` in a smoke run; gives its lines, without the columns of ``key``.
        A function of a module, so that other processes can call it.
    smoke : sequence of tuples
        The cells of a smoke run.
    asked : bool, default=True
        Whether a run without ``--tables`` has it.
    """

    name: str
    key: tuple[str, ...]
    cells: Callable[[], Iterable[Cell]]
    measure: Callable[..., Iterable[Line]]
    smoke: Sequence[Cell] = ()
    asked: bool = True


def read(name: str, folder: Path = RESULTS) -> pd.DataFrame:
    """The lines of a table, of a run that has not ended too. FileNotFoundError if there are none."""
    path = folder / f"{name}.csv"
    return pd.read_csv(path if path.exists() else folder / f"{name}.csv.gz")


def exists(name: str, folder: Path = RESULTS) -> bool:
    """Whether a table has lines."""
    return any((folder / f"{name}{ending}").exists() for ending in (".csv", ".csv.gz"))


def pack(path: Path) -> None:
    """Replace a CSV by its compressed form, whose bytes depend on nothing but the lines."""
    packed = path.with_name(f"{path.name}.gz")
    draft = packed.with_name(f"{packed.name}.draft")
    draft.write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
    draft.replace(packed)
    path.unlink()


def unpack(path: Path) -> None:
    """Make the CSV that lines are appended to, and drop a last line that a killed run left without its end."""
    packed = path.with_name(f"{path.name}.gz")
    if not path.exists() and packed.exists():
        path.write_bytes(gzip.decompress(packed.read_bytes()))
    if path.exists():
        text = path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            path.write_text(whole, encoding="utf-8")
        if not whole:
            path.unlink()


def append(path: Path, lines: Sequence[Line]) -> None:
    """Add the lines of a cell in one write, in the columns that the file has."""
    frame = pd.DataFrame(lines)
    if path.exists():
        columns = list(pd.read_csv(path, nrows=0).columns)
        if unknown := set(frame.columns) - set(columns):
            raise ValueError(f"expected the columns {', '.join(columns)} as in {path.name}, got {sorted(unknown)} too")
        frame = frame.reindex(columns=columns)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = frame.to_csv(index=False, header=not path.exists(), float_format="%.6g")
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(text)


def finished(table: Table, path: Path) -> set[tuple[str, ...]]:
    """The cells in the file, their values as text: what a float or an integer of the key becomes in a CSV."""
    if not path.exists():
        return set()
    known = pd.read_csv(path, dtype=str, keep_default_na=False)
    if missing := set(table.key) - set(known.columns):
        raise SystemExit(f"expected the columns {', '.join(table.key)} in {path.name}, got none called {missing}")
    return set(known[list(table.key)].itertuples(index=False, name=None))


def as_text(table: Table, cells: Sequence[Cell]) -> list[tuple[str, ...]]:
    """Cells as `finished` reads them."""
    text = pd.DataFrame(cells, columns=list(table.key)).to_csv(index=False, header=False, float_format="%.6g")
    frame = pd.read_csv(io.StringIO(text), header=None, dtype=str, keep_default_na=False)
    return list(frame.itertuples(index=False, name=None))


def lines_of(key: Sequence[str], measure: Callable[..., Iterable[Line]], small: bool, cell: Cell) -> list[Line]:
    """The lines of a cell, with the values of its key; its arguments go to other processes."""
    named = dict(zip(key, cell, strict=True))
    return [{**named, **line} for line in (measure(*cell, small=True) if small else measure(*cell))]


def importable(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of the same name in a module that other processes find: ``python -m package`` has no name for it."""
    main_module = sys.modules["__main__"].__spec__
    if function.__module__ != "__main__" or main_module is None:
        return function
    found: Callable[..., Any] = getattr(import_module(main_module.name), function.__name__)
    return found


def _begin(threads: int) -> None:
    """A worker leaves Ctrl-C to the run, and shares the cores with the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = str(threads)


def usable_cores() -> int:
    """The cores that this process may use; ``OMP_NUM_THREADS`` asks for fewer."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    requested = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores, int(requested)) if requested.isdigit() and int(requested) > 0 else cores


def measured(work: Callable[[Cell], list[Line]], cells: Sequence[Cell], jobs: int) -> Iterator[tuple[Cell, Any]]:
    """Each cell with its lines, or with the error that it ended in."""
    if jobs == 1:
        for cell in cells:
            try:
                yield cell, work(cell)
            except Exception as error:
                yield cell, error
        return
    # Fresh interpreters: OpenMP does not survive a fork.
    context, threads = multiprocessing.get_context("spawn"), max(1, usable_cores() // jobs)
    with ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(threads,)) as pool:
        running: dict[Future[list[Line]], Cell] = {pool.submit(work, cell): cell for cell in cells}
        try:
            for future in as_completed(running):
                yield running.pop(future), future.exception() or future.result()
        except BaseException:
            for process in list((pool._processes or {}).values()):
                process.kill()
            raise


def run(table: Table, folder: Path = RESULTS, *, jobs: int = 1, only: Mapping[str, set[str]] = {}) -> int:
    """Measure the cells that are not in the file, those only whose key has one of the values in ``only``.

    Returns how many of them ended in errors. An error ends a cell, not the run; the next run tries it again.
    """
    path, failed = folder / f"{table.name}.csv", 0
    unpack(path)
    done = finished(table, path)

    def wanted(cell: Cell) -> bool:
        values = dict(zip(table.key, map(str, cell), strict=True))
        return all(values.get(column) in chosen for column, chosen in only.items() if column in values)

    asked = [cell for cell in table.cells() if wanted(cell)]
    cells = [cell for cell, text in zip(asked, as_text(table, asked), strict=True) if text not in done] if asked else []
    with tqdm(total=len(cells), desc=table.name, unit="cell", disable=None, mininterval=1.0) as bar:
        for cell, found in measured(partial(lines_of, table.key, importable(table.measure), False), cells, jobs):
            if isinstance(found, BrokenProcessPool):
                raise SystemExit(f"{table.name}: a process died, most likely for want of memory; try fewer --jobs")
            if isinstance(found, BaseException):
                failed += 1
                bar.write(f"{table.name} {cell}: {type(found).__name__}: {found}", file=sys.stderr)
            else:
                append(path, found)
            bar.update()
    if path.exists():
        pack(path)
    return failed


def smoke(tables: Iterable[Table], text: Callable[[Path, Path], str] | None) -> None:
    """Tiny cells into a folder that is thrown away, and the text about them."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for table in tables:
            for cell in table.smoke:
                append(folder / f"{table.name}.csv", lines_of(table.key, table.measure, True, cell))
            if exists(table.name, folder):
                pack(folder / f"{table.name}.csv")
        if text is not None:
            print(text(folder, folder / "figures"))


def parser(name: str, about: str | None) -> ArgumentParser:
    """The parser of ``python -m benchmarks.<name>``; ``about`` is the module's docstring."""
    return ArgumentParser(
        prog=f"python -m benchmarks.{name}", description=about, formatter_class=RawDescriptionHelpFormatter
    )


def conditions(texts: Iterable[str], columns: set[str]) -> dict[str, set[str]]:
    """From ``["dataset=heart,car"]`` to the values of each column. SystemExit where no table has the column."""
    found = {}
    for text in texts:
        column, equals, values = text.partition("=")
        if not equals or column not in columns:
            raise SystemExit(f"--only expects COLUMN=VALUE,... with one of {', '.join(sorted(columns))}, got {text!r}")
        found[column] = set(values.split(","))
    return found


def main(
    name: str,
    about: str | None,
    tables: Sequence[Table],
    text: Callable[[Path, Path], str] | None = None,
    arguments: Sequence[str] | None = None,
) -> None:
    """The command of a benchmark; ``text`` takes the folders of the tables and of the pictures."""
    columns = {column for table in tables for column in table.key}
    made = parser(name, about)
    listed = ", ".join(f"{table.name}{'' if table.asked else ' (only if it is named)'}" for table in tables)
    made.add_argument("--tables", help=f"comma-separated: {listed}")
    made.add_argument(
        "--only", action="append", default=[], metavar="COLUMN=VALUE,...", help=", ".join(sorted(columns))
    )
    made.add_argument("--jobs", type=int, default=1, help="processes; the cores are divided among them (default: 1)")
    made.add_argument(
        "--out", type=Path, default=RESULTS, help="the folder of the tables (default: benchmarks/results)"
    )
    made.add_argument("--smoke", action="store_true", help="a tiny run on made data, printed")
    given = made.parse_args(arguments)
    if given.jobs < 1:
        raise SystemExit(f"--jobs must be at least 1, got {given.jobs}")
    names = [table.name for table in tables if table.asked] if given.tables is None else given.tables.split(",")
    if unknown := set(names) - {table.name for table in tables}:
        raise SystemExit(f"no table is called {', '.join(sorted(unknown))}; there are: {listed}")
    only = conditions(given.only, columns)
    if given.smoke:
        smoke(tables, text)
        return
    try:
        failed = sum(run(table, given.out, jobs=given.jobs, only=only) for table in tables if table.name in names)
    except KeyboardInterrupt:
        print("stopped; the same command goes on where it was", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    except OSError as error:
        raise SystemExit(f"--out expects a folder that can be written: {error}") from error
    if failed:
        raise SystemExit(f"{failed} cells ended in errors; the same command tries them again")
    print("python -m benchmarks.pages writes the pages from the tables")

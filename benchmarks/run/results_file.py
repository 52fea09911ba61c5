"""The tidy CSV of results: one line per (set, method, mode, fold, measure), appended cell by cell.

A cell is what one method gives on one fold. All its lines are written at once and end with one of `LAST`; the lines
of `finishing` come later, once all folds of a method are there. What a killed run left half-written is dropped when
the file is opened again.
"""

from __future__ import annotations

import csv
import errno
import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import IO, NamedTuple

from benchmarks.data import store

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


class Cell(NamedTuple):
    """What is done, or lost, as a whole."""

    dataset: str
    method: str
    mode: str
    fold: int


@dataclass(frozen=True)
class Line:
    """One line of the file; its fields are the columns. ``value`` is empty where there is no number."""

    dataset: str
    method: str
    mode: str
    fold: int
    measure: str
    value: float | None
    machine: str = ""
    versions: str = ""
    seed: int = 0
    seconds: float = 0.0
    note: str = ""

    @property
    def cell(self) -> Cell:
        """The cell that the line belongs to."""
        return Cell(self.dataset, self.method, self.mode, self.fold)


COLUMNS = tuple(field.name for field in fields(Line))
HEADER = ",".join(COLUMNS)
LAST = ("auc", "error", "refused")
FINISHING = ("precision", "recall", "eo:", "sp:", "abroca:", "threshold")
LAST_OF_FINISHING = "threshold"


def is_finishing(line: Line) -> bool:
    """Whether the line needed all folds."""
    return line.measure.startswith(FINISHING)


def text_of(lines: Iterable[Line]) -> str:
    """The lines as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for line in lines:
        row = replace(line, note=" ".join(line.note.split()), seconds=round(line.seconds, 3))
        writer.writerow("" if field is None else field for field in astuple(row))
    return out.getvalue()


def append(path: Path, lines: Sequence[Line]) -> None:
    """Add the lines in one write, so that several processes can append to one file."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND)
    content = text_of(lines).encode()
    try:
        written = os.write(handle, content)
        if written != len(content):
            raise OSError(errno.ENOSPC, f"{written} of {len(content)} bytes arrived", str(path))
        os.fsync(handle)
    finally:
        os.close(handle)


def parsed(row: list[str]) -> Line:
    """One line of the file. ValueError if it is not one."""
    if len(row) != len(COLUMNS):
        raise ValueError(f"expected {len(COLUMNS)} fields, got {len(row)}")
    dataset, method, mode, fold, measure, value, machine, versions, seed, seconds, note = row
    number = float(value) if value else None
    return Line(dataset, method, mode, int(fold), measure, number, machine, versions, int(seed), float(seconds), note)


def read(path: Path) -> list[Line]:
    """The lines that can be read; the unfinished last one of a killed run is not among them."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is not a file of results: expected text, got other bytes") from None
    header, *rows = text.split("\n")[:-1] or [text]
    if text and header != HEADER:
        raise ValueError(f"{path.name} is not a file of results: expected the columns {HEADER}, got {header[:200]}")
    lines = []
    for row in rows:
        try:
            lines.append(parsed(next(csv.reader([row]))))
        except (ValueError, csv.Error):
            continue  # where an earlier run broke off and a later one went on
    return lines


def complete(lines: Iterable[Line]) -> list[Line]:
    """The lines of complete cells, each measure once; without finishing lines that do not cover all folds."""
    once = list({(line.cell, line.measure): line for line in reversed(list(lines))}.values())[::-1]
    ended = {line.cell for line in once if line.measure in LAST}
    scored = Counter(line.cell[:3] for line in once if line.measure == "auc")
    finished = Counter(line.cell[:3] for line in once if line.measure == LAST_OF_FINISHING and line.cell in ended)
    return [
        line
        for line in once
        if line.cell in ended and (not is_finishing(line) or scored[line.cell[:3]] == finished[line.cell[:3]])
    ]


@contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Have the file for one run alone. SystemExit, with the file untouched, where that cannot be."""
    try:
        if path.exists():
            read(path)
            path.open("ab").close()
        folder = path.with_name(f"{path.name}.predictions")
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("a")
    except ValueError as error:
        raise SystemExit(f"{error}; it stays as it is: name another file with --out") from None
    except OSError as error:
        raise SystemExit(
            f"expected a CSV that can be written, got {path} ({error.strerror}): name another file with --out"
        ) from None
    with lock:
        if not locked(lock):
            raise SystemExit(f"another run is writing {path.name}: wait for it, or name another file with --out")
        yield


def locked(file: IO[str]) -> bool:
    """Lock an open file if nobody else has; the system unlocks it when the process ends, however it does."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system that knows no locks, as on some clusters
    return True


def write_whole(path: Path, lines: Iterable[Line]) -> None:
    """Replace the file, so that a reader sees the old one or the new one."""
    store.write_whole(path, f"{HEADER}\n{text_of(lines)}".encode())


def opened(path: Path, keep: Callable[[Line], bool] = lambda line: True) -> list[Line]:
    """Make the file, or repair it; what ``keep`` refuses goes as well. Returns what is in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        write_whole(path, [])
        return []
    before = path.read_text(encoding="utf-8")
    kept = [line for line in complete(read(path)) if keep(line)]
    if before != HEADER + "\n" + text_of(kept):
        write_whole(path, kept)
    return kept

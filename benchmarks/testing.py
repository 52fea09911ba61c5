"""The processor seconds of the tests that docs/testing.md has for each room, written into its table as they are known.

    python -m benchmarks.testing              all rows of the table
    python -m benchmarks.testing --rows _cli  those with this in what is changed

Processor time, of the tests and of all that they start and wait for, hardly depends on what else the machine does. One
thread, as in the tests of every change; the time of collecting them and of importing the libraries is in it.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .command_line import command

PAGE = Path(__file__).parents[1] / "docs" / "testing.md"
ROW = re.compile(r"^\| (?P<change>.+) \| `pytest (?P<options>.+)` \| \d* *\|$", re.MULTILINE)


def seconds_of(options: str) -> float | None:
    """Processor seconds of a run of pytest; None if what they need is not installed. SystemExit if a test fails."""

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = spent()
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options.split()],
        env={**os.environ, "CI": "1", "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "MPLBACKEND": "Agg"},
        cwd=PAGE.parents[1],
        capture_output=True,
        text=True,
    )
    if found.returncode not in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SystemExit(found.stdout + found.stderr)
    return None if found.returncode else spent() - before


def main(arguments: list[str] | None = None) -> None:
    parser = command("testing", __doc__)
    parser.add_argument("--rows", default="", help="part of what is changed, as _cli (default: all rows)")
    requested = parser.parse_args(arguments)
    for row in ROW.finditer(PAGE.read_text()):
        if requested.rows not in row["change"]:
            continue
        start = time.perf_counter()
        seconds = seconds_of(row["options"])
        if seconds is None:
            print(f"not measured, as all tests were skipped: {row['options']}", flush=True)
            continue
        wall, load = time.perf_counter() - start, os.getloadavg()[0]
        print(f"{seconds:6.1f} s of processor, {wall:6.1f} s, load {load:4.1f}: {row['options']}", flush=True)
        measured = f"| {row['change']} | `pytest {row['options']}` | {seconds:.0f} |"
        PAGE.write_text(PAGE.read_text().replace(row[0], measured))


if __name__ == "__main__":
    main()

"""Time and memory against rows, columns, rounds and workers, next to plain XGBoost.

    python -m benchmarks.scale                  every cell that the CSV lacks, then SCALE.md and its picture
    python -m benchmarks.scale --most-rows 300000   leave out what is larger
    python -m benchmarks.scale --external       also the run whose data is larger than the memory it is given
    python -m benchmarks.scale --report         make the page from the CSV again
    python -m benchmarks.scale --smoke          a tiny run that shows that it works

Every cell is measured in a process of its own (``benchmarks/scale/cell.py``) and appended to
``benchmarks/results/scale.csv``; a run that was stopped goes on where it was. Run it on a machine with nothing else to
do.
"""

from __future__ import annotations

import csv
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks import FOLDER
from benchmarks.command_line import command
from benchmarks.measuring import versions
from benchmarks.scale import external
from benchmarks.scale.cell import METHODS, Cell
from benchmarks.scale.page import write_page

RESULTS = FOLDER / "results" / "scale.csv"
PAGE = FOLDER / "SCALE.md"
FIGURE = FOLDER / "figures" / "scale.png"

MEASURES = ("seconds", "repeats", "build_seconds", "libraries_mib", "peak_mib")
FIELDS = (*Cell._fields, *MEASURES, "machine", "versions", "date")

USUAL = Cell(rows=100_000, columns=30, rounds=20, workers=1, threads=2, method="plain", engine="")
ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
COLUMNS = (10, 30, 100, 300)
ROUNDS = (10, 20, 40, 80, 160)
# Workers and threads of each; both share the cores of this machine.
WORKERS = ((1, 1), (1, 2), (2, 1))
ROWS_OF_WORKERS = 300_000

CELL_TIMEOUT = 3600


def cells() -> list[Cell]:
    """The whole plan, small cells first."""
    sizes = [USUAL._replace(rows=rows) for rows in ROWS]
    sizes += [USUAL._replace(columns=columns) for columns in COLUMNS]
    sizes += [USUAL._replace(rounds=rounds) for rounds in ROUNDS]
    sizes += [USUAL._replace(rows=ROWS_OF_WORKERS, workers=workers, threads=threads) for workers, threads in WORKERS]
    each = {size._replace(method=m, engine=e) for size in sizes for m, engines in METHODS.items() for e in engines}
    return sorted(each, key=lambda cell: (cell.rows * cell.columns * cell.rounds, cell))


def smoke_cells() -> list[Cell]:
    small = USUAL._replace(rows=2000, rounds=2, method="JPIB", engine="native")
    return [small._replace(rows=500), small, small._replace(workers=2, threads=1)]


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of the CSV with numbers as numbers; a line that a kill cut short is left out."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        whole = [line for line in csv.DictReader(file) if line.get("date")]
    numbers: dict[str, type] = {**dict.fromkeys(Cell._fields[:5], int), **dict.fromkeys(MEASURES, float)}
    return [{name: numbers.get(name, str)(value) for name, value in line.items()} for line in whole]


def append(path: Path, line: dict[str, Any]) -> None:
    """Add a line, on a line of its own even after one that was cut short."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    cut_short = not is_new and not path.read_bytes().endswith(b"\n")
    with path.open("a", newline="") as file:
        if cut_short:
            file.write("\r\n")
        writer = csv.DictWriter(file, FIELDS)
        if is_new:
            writer.writeheader()
        writer.writerow(line)


def measure(cell: Cell) -> dict[str, Any]:
    """The cell's line of the CSV."""
    arguments = [sys.executable, "-m", "benchmarks.scale.cell", json.dumps(cell._asdict())]
    answer = subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=CELL_TIMEOUT)
    found = json.loads(answer.stdout.splitlines()[-1])  # the tracker of several workers has its say before
    return {
        **cell._asdict(),
        **{name: f"{value:.6g}" for name, value in found.items()},
        "machine": f"{platform.machine()} with {os.cpu_count()} cores",
        "versions": versions(),
        "date": datetime.date.today().isoformat(),
    }


def run(plan: Iterable[Cell], results: Path) -> list[str]:
    """Measure the cells that are not in the CSV yet; what went wrong comes back as text."""
    known = {Cell(*(line[name] for name in Cell._fields)) for line in read(results)}
    troubles = []
    for cell in tqdm([cell for cell in plan if cell not in known], unit="cell"):
        try:
            append(results, measure(cell))
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            output = error.stderr if isinstance(error.stderr, str) else ""
            troubles.append(f"{cell}: {error}\n{output[-2000:]}")
    return troubles


def main() -> None:
    parser = command("scale", __doc__)
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, in a folder that is thrown away")
    parser.add_argument("--report", action="store_true", help="only make the page again")
    parser.add_argument("--external", action="store_true", help="also the run in external memory, some minutes")
    parser.add_argument("--most-rows", type=int, default=ROWS[-1], help="leave out cells of more rows")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the CSV (default: %(default)s)")
    given = parser.parse_args()
    if given.smoke:
        with tempfile.TemporaryDirectory() as folder:
            results = Path(folder) / "scale.csv"
            troubles = run(smoke_cells(), results)
            write_page(read(results), Path(folder) / "SCALE.md", Path(folder) / "scale.png", from_rows=0)
            print((Path(folder) / "SCALE.md").read_text())
    else:
        troubles = [] if given.report else run([c for c in cells() if c.rows <= given.most_rows], given.results)
        kept = given.results.with_name("scale_external.json")
        if given.external:
            kept.write_text(json.dumps(external.run(**external.FULL), indent=1))
        found = json.loads(kept.read_text()) if kept.exists() else None
        write_page(read(given.results), PAGE, FIGURE, external=found)
    if troubles:
        sys.exit("\n".join(troubles))


if __name__ == "__main__":
    main()

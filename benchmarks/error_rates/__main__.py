"""How often GPC+, SVM+ and boosting with privileged features are wrong, with few training rows, and their ranks.

    python -m benchmarks.error_rates                       the cells that are not there yet, and the page
    python -m benchmarks.error_rates --draws 1             of one draw of the rows of each set
    python -m benchmarks.error_rates --parts digits        of the pairs of digits, or of the public sets
    python -m benchmarks.error_rates --datasets heart,car  of some public sets, or "3 or 8,4 or 9"
    python -m benchmarks.error_rates --report              only the page again
    python -m benchmarks.error_rates --smoke               a tiny run on made data, in a folder that is thrown away

Appends to results/error_rates.csv and error_rates_digits.csv when a draw of a set is finished, and writes
ERROR_RATES.md and its pictures. One thread; the digits need no data from elsewhere.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from benchmarks import FOLDER
from benchmarks.command_line import asked, command
from benchmarks.data import DATASETS, LOAD_ERRORS
from benchmarks.error_rates.cells import DIGITS, PUBLIC, Part, lines_of
from benchmarks.error_rates.digits import TASKS
from benchmarks.error_rates.page import write
from benchmarks.run.cells import MADE

RESULTS, PAGE = FOLDER / "results" / "error_rates.csv", FOLDER / "ERROR_RATES.md"
DRAWS = 10
PARTS = {"digits": (DIGITS, tuple(TASKS)), "public": (PUBLIC, tuple(DATASETS))}


def file_of(part: str, results: Path) -> Path:
    """The CSV of a part."""
    return results if part == "public" else results.with_stem(f"{results.stem}_{part}")


def run(part: Part, out: Path, cells: Iterable[tuple[str, int]]) -> None:
    """The draws of sets that are not in the file yet."""
    there = set(pd.read_csv(out)[["set", "draw"]].itertuples(index=False, name=None)) if out.exists() else set()
    for cell in cells:
        if cell not in there:
            lines = pd.DataFrame(lines_of(part, *cell))
            lines.to_csv(out, mode="a", header=not out.exists(), index=False, float_format="%.6g")
            print(*cell, flush=True)


def smoke() -> None:
    """The page of made rows under two names, and of two pairs of digits."""
    made = [{**line, "set": f"{MADE} {line['draw']}"} for draw in range(2) for line in lines_of(PUBLIC, MADE, draw)]
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / RESULTS.name
        pd.DataFrame(made).to_csv(results)
        run(DIGITS, file_of("digits", results), [(task, 0) for task in TASKS[:2]])
        write(results, file_of("digits", results), Path(folder) / PAGE.name)
        print((Path(folder) / PAGE.name).read_text(encoding="utf-8"))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command("error_rates", __doc__)
    parser.add_argument("--parts", help=f"comma-separated (default: {','.join(PARTS)})")
    parser.add_argument("--datasets", help="comma-separated (default: all)")
    parser.add_argument("--draws", type=int, default=DRAWS, help="of the rows of a set (default: %(default)s)")
    parser.add_argument("--report", action="store_true", help="only write the page again")
    parser.add_argument("--smoke", action="store_true", help="a tiny run on made data")
    given = parser.parse_args(arguments)
    if given.smoke:
        smoke()
        return
    parts = list(PARTS) if given.parts is None else asked(given.parts, PARTS, "part")
    known = [name for part in parts for name in PARTS[part][1]]
    names = known if given.datasets is None else asked(given.datasets, known, "data set")
    if not given.report:
        try:
            for name in parts:
                part, sets = PARTS[name]
                cells = [(task, draw) for draw in range(given.draws) for task in sets if task in names]
                run(part, file_of(name, RESULTS), cells)
        except LOAD_ERRORS as error:
            raise SystemExit(str(error)) from None
    write(RESULTS, file_of("digits", RESULTS), PAGE)


if __name__ == "__main__":
    main()

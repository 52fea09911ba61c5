"""How often GPC+, SVM+ and boosting with privileged features are wrong, with 200 training rows, and their ranks.

    python -m benchmarks.error_rates                       the cells that are not there yet, and the page
    python -m benchmarks.error_rates --draws 1             of one draw of the rows of each set
    python -m benchmarks.error_rates --datasets heart,car  of some sets
    python -m benchmarks.error_rates --report              only the page again
    python -m benchmarks.error_rates --smoke               a tiny run on made data, in a folder that is thrown away

Appends to results/error_rates.csv when a draw of a set is finished, and writes ERROR_RATES.md and its picture. One
thread.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from benchmarks import FOLDER
from benchmarks.command_line import asked, command
from benchmarks.data import DATASETS, LOAD_ERRORS
from benchmarks.error_rates.cells import lines_of
from benchmarks.error_rates.page import write
from benchmarks.run.cells import MADE

RESULTS, PAGE = FOLDER / "results" / "error_rates.csv", FOLDER / "ERROR_RATES.md"
DRAWS = 10


def run(out: Path, cells: Iterable[tuple[str, int]]) -> None:
    """The draws of sets that are not in the file yet."""
    there = set(pd.read_csv(out)[["set", "draw"]].itertuples(index=False, name=None)) if out.exists() else set()
    for cell in cells:
        if cell not in there:
            lines = pd.DataFrame(lines_of(*cell))
            lines.to_csv(out, mode="a", header=not out.exists(), index=False, float_format="%.6g")
            print(*cell, flush=True)


def smoke() -> None:
    """The page of made rows under two names."""
    made = [{**line, "set": f"{MADE} {line['draw']}"} for draw in range(2) for line in lines_of(MADE, draw)]
    with tempfile.TemporaryDirectory() as folder:
        pd.DataFrame(made).to_csv(Path(folder) / "error_rates.csv")
        write(Path(folder) / "error_rates.csv", Path(folder) / "ERROR_RATES.md")
        print((Path(folder) / "ERROR_RATES.md").read_text(encoding="utf-8"))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command("error_rates", __doc__)
    parser.add_argument("--datasets", help="comma-separated (default: all)")
    parser.add_argument("--draws", type=int, default=DRAWS, help="of the rows of a set (default: %(default)s)")
    parser.add_argument("--report", action="store_true", help="only write the page again")
    parser.add_argument("--smoke", action="store_true", help="a tiny run on made data")
    given = parser.parse_args(arguments)
    if given.smoke:
        smoke()
        return
    if not given.report:
        names = list(DATASETS) if given.datasets is None else asked(given.datasets, DATASETS, "data set")
        try:
            run(RESULTS, [(name, draw) for draw in range(given.draws) for name in names])
        except LOAD_ERRORS as error:
            raise SystemExit(str(error)) from None
    write(RESULTS, PAGE)


if __name__ == "__main__":
    main()

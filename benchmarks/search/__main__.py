"""The paper's search for alpha: 999 values from .001 to .999 on ten folds, for KbPIB and JPIB, in paper mode.

    python -m benchmarks.search --datasets heart,car --jobs 2
    python -m benchmarks.search --datasets spam --folds 0,1 --alphas 99 --out another_folder
    python -m benchmarks.search --report                      only the table and the pictures, from the CSVs
    python -m benchmarks.search --smoke                       a tiny run on made data that shows that it works

The folder gets a CSV per set and method with (fold, alpha, validation AUC, test AUC, best round), NF among them, then
summary.csv and a picture per set. A run that was stopped goes on where it was and loses the chunks it was at. Sets of
an earlier search stay in summary.csv until they are searched again. Hours of a core for all folds and values of alpha
of both methods, from one or two values on a fold: compas and compas_violent 0.06, oulad 0.3, diabetes 0.5, adult 0.6,
dutch 1, bank and credit 2.4, kdd 20.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks import FOLDER
from benchmarks.command_line import asked, command
from benchmarks.data import DATASETS
from benchmarks.data.folds import N_FOLDS
from benchmarks.processes import stopped_by_ctrl_c
from benchmarks.search.chunks import MADE
from benchmarks.search.engine import METHODS
from benchmarks.search.paths import paper_grid
from benchmarks.search.search import Search

RESULTS = FOLDER / "results" / "search"
PAPER_SETS = ("heart", "car", "spam", "student_mat", "student_por", "communities")
GUIDED = tuple(method for method in METHODS if method != "NF")


def smoke(out: Path | None) -> None:
    """Both kinds of sets, two folds, a few values of alpha, in a folder that is thrown away if no other is named."""
    with tempfile.TemporaryDirectory() as folder:
        search = Search(MADE, GUIDED, [0, 1], paper_grid(5), out or Path(folder))
        search.run()
        summary = search.report(pictures=())
    print(summary.to_string(index=False, float_format="%.4f"))
    if len(summary) != len(MADE) * len(GUIDED) or not np.isfinite(summary.test_highest).all():
        raise SystemExit("the summary of the smoke run is not complete")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = command("search", __doc__)
    made.add_argument("--datasets", default=",".join(PAPER_SETS), help="comma-separated (default: %(default)s)")
    made.add_argument("--methods", default=",".join(GUIDED), help="comma-separated (default: %(default)s)")
    made.add_argument("--folds", default=",".join(map(str, range(N_FOLDS))), help="comma-separated (default: all)")
    made.add_argument("--alphas", type=int, default=999, help="how many of the paper's 999 values (default: all)")
    made.add_argument("--jobs", type=int, default=1, help="processes of one thread each (default: 1)")
    made.add_argument("--out", type=Path, help="the folder of all files (default: benchmarks/results/search)")
    made.add_argument("--as-paper", action="store_true", help='keep "approx" where "hist" has the same cuts')
    made.add_argument("--report", action="store_true", help="only the summary and the pictures of what is there")
    made.add_argument("--smoke", action="store_true", help="a tiny run on made data")
    return made


def search_of(given: argparse.Namespace) -> Search:
    """The search that is asked for. SystemExit where an argument is not one to search with."""
    if given.jobs < 1:
        raise SystemExit(f"--jobs must be at least 1, got {given.jobs}")
    try:
        alphas = paper_grid(given.alphas)
    except ValueError as error:
        raise SystemExit(f"--alphas: {error}") from error
    return Search(
        asked(given.datasets, [*DATASETS, *MADE], "data set"),
        asked(given.methods, GUIDED, "method"),
        [int(i) for i in asked(given.folds, [str(i) for i in range(N_FOLDS)], "fold")],
        alphas,
        given.out or RESULTS,
        as_paper=given.as_paper,
    )


def searched(search: Search, jobs: int) -> list[str]:
    """Run the search, which Ctrl-C can stop at any time. Returns the sets whose data cannot be had."""
    try:
        search.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"--out expects a folder, got {search.out}: {error}") from error
    with stopped_by_ctrl_c():
        return search.run(jobs)


def main(arguments: Sequence[str] | None = None) -> None:
    given = parser().parse_args(arguments)
    if given.smoke:
        smoke(given.out)
        return
    search = search_of(given)
    missing = [] if given.report else searched(search, given.jobs)
    summary = search.report(pictures=search.datasets if given.report else ())
    if summary.empty:
        raise SystemExit(f"nothing to report yet in {search.out}: no set has a fold of NF and of another method")
    print(summary.to_string(index=False, float_format="%.4f"))
    if missing:
        raise SystemExit(f"not searched, for want of data: {', '.join(missing)}")


if __name__ == "__main__":
    main()

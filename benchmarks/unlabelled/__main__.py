"""Few labels, many rows: what privileged features are worth where most outcomes are not known yet.

    python -m benchmarks.unlabelled --jobs 2           all sets; a run that was stopped goes on where it was
    python -m benchmarks.unlabelled --datasets heart,spam --methods select --budgets 50,100
    python -m benchmarks.unlabelled --page             UNLABELLED.md and its pictures from the CSV files
    python -m benchmarks.unlabelled --smoke            a tiny run on made data that shows that it works

A repeat draws a quarter of the set for testing and at most 2,000 of the other rows for training; of these as many as
the budget says get a label. Each line of the CSV is one method, (set, labelled rows, repeat, method). What a breach of
the assumption costs is measured on made data, in a second CSV beside the first.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import FOLDER
from benchmarks.command_line import asked, command
from benchmarks.processes import stopped_by_ctrl_c
from benchmarks.unlabelled.cell import METHODS, SELECT, SELECT_BOOSTED
from benchmarks.unlabelled.page import write_page
from benchmarks.unlabelled.runner import run, run_breach
from benchmarks.unlabelled.splits import MADE, SPLITS

RESULTS = FOLDER / "results" / "unlabelled.csv"
PAGE = FOLDER / "UNLABELLED.md"
REPEATS = 20
QUICK = [method for method in METHODS if method not in (SELECT, SELECT_BOOSTED)]


def breach_of(results: Path) -> Path:
    """The CSV of the made data, beside that of the sets."""
    return results.with_name(f"{results.stem}_breach.csv")


def page_of(results: Path) -> Path:
    """The repository's page is made from the repository's CSV alone; any other CSV has its page beside it."""
    return PAGE if results.resolve() == RESULTS.resolve() else results.with_name(PAGE.name)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = command("unlabelled", __doc__)
    made.add_argument("--datasets", help=f"comma-separated (default: {','.join(SPLITS)})")
    made.add_argument(
        "--methods", help=f"comma-separated (default: all but {SELECT} and {SELECT_BOOSTED}, which are slow)"
    )
    made.add_argument("--budgets", help="comma-separated numbers of labels (default: 50, 100, 200 and so on)")
    made.add_argument("--repeats", type=int, default=REPEATS, help="per set (default: %(default)s)")
    made.add_argument("--jobs", type=int, default=1, help="processes of one thread each (default: %(default)s)")
    made.add_argument("--out", type=Path, default=RESULTS, help="the CSV (default: benchmarks/results/unlabelled.csv)")
    made.add_argument("--page", action="store_true", help="only write the page and its pictures, from the CSV files")
    made.add_argument("--smoke", action="store_true", help="tiny sizes, in a folder that is thrown away")
    return made


def check(given: argparse.Namespace) -> None:
    """SystemExit for numbers that give no run, and for a place that can hold no CSV."""
    for name in ("repeats", "jobs"):
        if getattr(given, name) < 1:
            raise SystemExit(f"--{name} must be at least 1, got {getattr(given, name)}")
    if given.out.is_dir():
        raise SystemExit(f"--out expects a CSV file, got the folder {given.out}")


def smoke() -> None:
    """Two repeats on made data, in a folder that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        results, page = Path(folder) / RESULTS.name, Path(folder) / PAGE.name
        run([MADE], QUICK, 2, results)
        run_breach(2, breach_of(results), training=300, test=300)
        write_page(results, breach_of(results), page)
        print(page.read_text(encoding="utf-8"))


def main(arguments: Sequence[str] | None = None) -> None:
    given = parser().parse_args(arguments)
    check(given)
    names = list(SPLITS) if given.datasets is None else asked(given.datasets, SPLITS, "data set")
    methods = QUICK if given.methods is None else asked(given.methods, METHODS, "method")
    only = [] if given.budgets is None else [int(b) for b in asked(given.budgets, map(str, range(1, 10**4)), "budget")]
    if given.smoke:
        smoke()
        return
    try:
        if not given.page:
            with stopped_by_ctrl_c():
                run(names, methods, given.repeats, given.out, jobs=given.jobs, only=only)
                run_breach(given.repeats, breach_of(given.out))
        write_page(given.out, breach_of(given.out), page_of(given.out))
    except OSError as error:
        raise SystemExit(f"expected a place for files with --out, but {given.out} is none: {error}") from error


if __name__ == "__main__":
    main()

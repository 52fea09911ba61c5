"""Every method on every set, on the paper's ten folds; results go to a CSV, and a run that was killed goes on.

    python -m benchmarks.run                                  all sets, all methods, today's XGBoost
    python -m benchmarks.run --mode paper --datasets heart    the authors' settings to the letter
    python -m benchmarks.run --list                           what there is, and what would not run here
    python -m benchmarks.run --merge mine.csv                 the finished series of another run in the place of these
    python -m benchmarks.run --smoke                          a tiny run on made data that shows that it works

Cheap methods come first on all sets, small sets before large ones. What is in the file is not done again, whatever the
order; cells that failed are, with ``--retry``. The exit status is 1 if cells failed. The predictions are kept in a
folder beside the CSV: the threshold of a method, and what depends on it, is measured once all its folds are there.
Where they were not kept, folds are added by a run of all ten into a file of its own (``--out``), and ``--merge``.
``seconds`` is the wall time of a cell; what methods share in a fold counts for the one that needed it first.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from tqdm import tqdm

from benchmarks import FOLDER
from benchmarks.command_line import asked, command
from benchmarks.data import DATASETS
from benchmarks.data.folds import N_FOLDS
from benchmarks.data.store import FOLDER_VARIABLE, local_path, user_folder
from benchmarks.methods import METHODS
from benchmarks.modes import MODES
from benchmarks.processes import stopped_by_ctrl_c
from benchmarks.run.cells import MADE, Group, rows_of, usable_cores
from benchmarks.run.finisher import Finisher, kept, series_of
from benchmarks.run.listing import listing
from benchmarks.run.merging import replaced
from benchmarks.run.outcomes import outcomes
from benchmarks.run.results_file import (
    LAST_OF_FINISHING,
    Cell,
    Line,
    claimed,
    complete,
    is_finishing,
    opened,
    read,
    write_whole,
)

RESULTS = FOLDER / "results"
SMOKE_METHODS = ("NF", "KbPIB", "JPIB", "All", "KbPIB chosen", "shuffled q", "MFC c=0")


def check_data_folder() -> None:
    """Stop before any work if ``PI_XGB_DATA`` is wrong, which would make each cell an error of its own."""
    try:
        folder = user_folder()
    except OSError as error:
        raise SystemExit(str(error)) from None
    names = [raw for dataset in DATASETS.values() for raw in dataset.files]
    if folder is not None and not any(local_path(raw, folder) for raw in names):
        raise SystemExit(
            f"expected {FOLDER_VARIABLE} to name a folder with raw data files ({names[0].name} and others), "
            f"got {str(folder)!r}, which has none; correct it, or unset it to download the files"
        )


def groups_of(cells: Iterable[Cell]) -> list[Group]:
    """Cells that share a fold and a cost, in the order of the work."""
    order = list(METHODS)
    by_place: dict[tuple[int, int, str, str, int], list[str]] = defaultdict(list)
    for cell in cells:
        place = (METHODS[cell.method].cost, rows_of(cell.dataset), cell.dataset, cell.mode, cell.fold)
        by_place[place].append(cell.method)
    return [Group(*place[2:], tuple(sorted(names, key=order.index))) for place, names in sorted(by_place.items())]


def resumed(out: Path, wanted: Sequence[Cell], *, retry: bool) -> tuple[list[Cell], list[Line]]:
    """What is left to do, and the lines that stay; the file is made or repaired."""
    lines = opened(out)
    ends = {end: {found.cell for found in lines if found.measure == end} for end in ("auc", "error", "refused")}
    finished = {series_of(found.cell) for found in lines if found.measure == LAST_OF_FINISHING}
    done = ends["auc"] | ends["refused"] | (set() if retry else ends["error"])
    todo = {cell for cell in wanted if cell not in done}
    # A series that gets a further fold chooses its threshold anew, from the predictions of all its folds.
    anew = {series_of(cell) for cell in todo}
    unfinished = anew | ({series_of(cell) for cell in wanted} - finished)
    todo |= {cell for cell in ends["auc"] if series_of(cell) in unfinished and not kept(out, cell)}

    def stays(found: Line) -> bool:
        return found.cell not in todo and not (is_finishing(found) and series_of(found.cell) in unfinished)

    return sorted(todo), opened(out, stays)


def run(
    datasets: Sequence[str],
    methods: Sequence[str],
    mode: str,
    folds: Sequence[int],
    out: Path,
    *,
    jobs: int = 1,
    retry: bool = False,
) -> int:
    """Do what is left of the cells; ``jobs=0`` works in this process. Returns how many of them ended in errors."""
    wanted = [Cell(name, method, mode, fold) for name in datasets for method in methods for fold in folds]
    with claimed(out):
        return do_the_rest(wanted, out, jobs=jobs, retry=retry)


def do_the_rest(wanted: Sequence[Cell], out: Path, *, jobs: int, retry: bool) -> int:
    """The work of `run` on a file that nobody else writes."""
    todo, lines = resumed(out, wanted, retry=retry)
    print(what_is_left(todo, lines, wanted), file=sys.stderr)
    errors = 0
    finisher = Finisher(out, lines, todo, wanted)
    nthread = max(1, usable_cores() // max(1, jobs))
    with (
        tqdm(total=len(todo), unit="cell", disable=None, file=sys.stderr, mininterval=1.0) as bar,
        closing(outcomes(groups_of(todo), out, jobs, nthread)) as done,
    ):

        def say(text: str) -> None:
            bar.write(text, file=sys.stderr)

        for text in finisher.finish():
            say(text)
        for group, troubles in done:
            reasons = dict(troubles)
            errors += sum(text.startswith("error: ") for text in reasons.values())
            for cell in group.cells:
                finisher.cell_done(cell, scored=cell not in reasons)
                if cell in reasons:
                    say(f"{cell.dataset}, {cell.method}, fold {cell.fold}: {reasons[cell]}")
            for text in finisher.finish():
                say(text)
            bar.update(len(group.cells))
    return errors


def what_is_left(todo: Sequence[Cell], lines: Sequence[Line], wanted: Sequence[Cell]) -> str:
    """In words; errors of an earlier run are not done again, and must not look as if all were well."""
    failed = len({found.cell for found in lines if found.measure == "error"} & set(wanted))
    recorded = f", {failed} recorded as errors (--retry does them again)" if failed else ""
    return f"{len(todo)} of {len(wanted)} cells to do{recorded}"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = command("run", __doc__)
    made.add_argument("--datasets", help="comma-separated (default: all)")
    made.add_argument("--methods", help="comma-separated (default: all of the mode; in paper mode no peers)")
    made.add_argument("--mode", choices=sorted(MODES), default="current", help="default: %(default)s")
    made.add_argument("--folds", help="comma-separated numbers from 0 to 9 (default: all)")
    made.add_argument(
        "--jobs",
        type=int,
        default=1,
        help="processes; the cores are divided among them; 0: in this process (default: 1)",
    )
    made.add_argument("--out", type=Path, help="the CSV (default: benchmarks/results/<mode>.csv)")
    made.add_argument("--retry", action="store_true", help="do cells again that are recorded as errors")
    made.add_argument("--merge", type=Path, help="a CSV whose finished series replace those of the same name")
    made.add_argument("--list", action="store_true", help="data sets and methods, and what would not run here")
    made.add_argument("--smoke", action="store_true", help="a tiny run on made data")
    return made


def smoke(out: Path | None) -> None:
    """Both modes on made data, two folds, in a folder that is thrown away if no other is named."""
    with tempfile.TemporaryDirectory() as folder:
        path = out or Path(folder) / "smoke.csv"
        run([MADE], SMOKE_METHODS[:4], "paper", [0, 1], path, jobs=0)
        run([MADE], SMOKE_METHODS, "current", [0, 1], path)
        lines = opened(path)
    troubles = [found for found in lines if found.measure in ("error", "refused")]
    series = {found.cell[:3] for found in lines if found.measure == "threshold"}
    print(f"{len(lines)} lines, {len(series)} series with a threshold, {len(troubles)} cells without scores")
    if troubles or len(series) != 4 + len(SMOKE_METHODS):
        raise SystemExit("\n".join(f"{found.method}: {found.note}" for found in troubles) or "a threshold is missing")


def merge(source: Path, out: Path) -> None:
    """Put the finished series of another file into this one."""
    try:
        others = complete(read(source))
    except (OSError, ValueError) as error:
        raise SystemExit(f"expected a CSV of benchmarks.run to merge: {error}") from None
    with claimed(out):
        lines, taken = replaced(opened(out), others)
        write_whole(out, lines)
    print(f"{len(taken)} series replaced", *taken, sep="\n")


def main(arguments: Sequence[str] | None = None) -> None:
    given = parser().parse_args(arguments)
    if given.list:
        check_data_folder()
        print(listing())
        return
    if given.smoke:
        smoke(given.out)
        return
    out = given.out or RESULTS / f"{given.mode}.csv"
    if given.merge is not None:
        merge(given.merge, out)
        return
    if given.jobs < 0:
        raise SystemExit(f"--jobs must be at least 1, or 0 for this process, got {given.jobs}")
    of_mode = [name for name, method in METHODS.items() if given.mode in method.modes]
    if given.mode == "paper":
        of_mode = [name for name in of_mode if METHODS[name].boosted]
    datasets = list(DATASETS) if given.datasets is None else asked(given.datasets, DATASETS, "data set", [MADE])
    methods = of_mode if given.methods is None else asked(given.methods, METHODS, "method")
    numbers = [str(i) for i in range(N_FOLDS)]
    folds = [int(i) for i in (numbers if given.folds is None else asked(given.folds, numbers, "fold"))]
    if datasets != [MADE]:
        check_data_folder()
    with stopped_by_ctrl_c():
        errors = run(
            datasets,
            methods,
            given.mode,
            folds,
            out,
            jobs=given.jobs,
            retry=given.retry,
        )
    if errors:
        raise SystemExit(f"{errors} cells ended in errors (--retry does them again)")


if __name__ == "__main__":
    main()

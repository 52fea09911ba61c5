"""The paper's search for alpha: 999 values from .001 to .999 on ten folds, for KbPIB and JPIB, in paper mode.

    python -m benchmarks.search --datasets heart,car --jobs 2
    python -m benchmarks.search --datasets spam --folds 0,1 --alphas 99 --out another_folder
    python -m benchmarks.search --report                      only the table and the pictures, from the CSVs
    python -m benchmarks.search --smoke                       a tiny run on made data that shows that it works

The folder gets a CSV per set and method with (fold, alpha, validation AUC, test AUC, best round), NF among them, then
summary.csv and a picture per set. A run that was stopped goes on where it was and loses the chunks it was at. Sets of
an earlier search stay in summary.csv until they are searched again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import xgboost as xgb
from tqdm import tqdm

import pi_xgb
from benchmarks.data import DATASETS, LOAD_ERRORS, PreparedSet, load
from benchmarks.folds import N_FOLDS
from benchmarks.processes import pool_of, stopped_by_ctrl_c
from benchmarks.run import asked
from benchmarks.search_engine import METHODS, FoldSearch, Point, search_params
from benchmarks.search_paths import PathFile, mean_path, paper_grid, summary_of
from benchmarks.search_plot import plot

RESULTS = Path(__file__).parent / "results" / "search"
PAPER_SETS = ("heart", "car", "spam", "student_mat", "student_por", "communities")
GUIDED = tuple(method for method in METHODS if method != "NF")
CHUNK = 37
MADE = ("made_exact", "made_approx")
MADE_ROWS = 300


class Chunk(NamedTuple):
    """Values of alpha for one method on one fold: what is done, or lost, as a whole."""

    dataset: str
    fold: int
    method: str
    alphas: tuple[float, ...]
    as_paper: bool


Outcomes = Generator[tuple[Chunk, list[tuple[float, Point]]], None, None]


def made_set(name: str) -> PreparedSet:
    """A generated set, all numeric for "exact" or with categories for "approx"."""
    data = pi_xgb.datasets.make_privileged(MADE_ROWS, n_features=5, n_privileged=2, seed=1)
    table = data.x.join(data.z).round(1)
    types = ["q"] * table.shape[1]
    if name == "made_approx":
        for column in ("x1", "x3", "z1"):
            table[column] = pd.qcut(table[column], 7, labels=False, duplicates="drop").astype(float)
            types[table.columns.get_loc(column)] = "c"
    return PreparedSet(name, table, np.asarray(data.y, np.int64), tuple(types), (5, 6), ())


@lru_cache(maxsize=1)
def prepared(name: str) -> PreparedSet:
    """The set by its name."""
    return made_set(name) if name in MADE else load(name)


@lru_cache(maxsize=1)
def fold_search(dataset: str, fold: int, as_paper: bool) -> FoldSearch:
    """The fold that this process works on: chunks come fold by fold."""
    return FoldSearch(prepared(dataset), fold, as_paper=as_paper)


def work_on(chunk: Chunk) -> list[tuple[float, Point]]:
    """The trainings of a chunk."""
    search = fold_search(chunk.dataset, chunk.fold, chunk.as_paper)
    return [(alpha, search.train(chunk.method, alpha)) for alpha in chunk.alphas]


def outcomes(chunks: Sequence[Chunk], jobs: int) -> Outcomes:
    """Do the chunks, about in their order; one job works in this process."""
    if jobs == 1 or len(chunks) < 2:
        for chunk in chunks:
            yield chunk, work_on(chunk)
        return
    waiting = iter(chunks)
    running: dict[Future[list[tuple[float, Point]]], Chunk] = {}
    with pool_of(jobs) as pool:
        while True:
            while len(running) < jobs and (following := next(waiting, None)):
                running[pool.submit(work_on, following)] = following
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()


def can_be_had(name: str) -> bool:
    """Whether the set can be loaded; if not, stderr is told why."""
    try:
        prepared(name)
    except LOAD_ERRORS as error:
        print(f"{name} is left out: {error}", file=sys.stderr)
        return False
    return True


def earlier_rows(path: Path, anew: Iterable[str]) -> list[dict[str, object]]:
    """The lines of the summary on other sets than these: a search of one set must not remove those before it."""
    if not path.exists() or not path.read_text(encoding="utf-8").startswith("dataset,"):
        return []
    found = pd.read_csv(path)
    return found[~found.dataset.isin(list(anew))].to_dict("records")


class Search:
    """Sets, methods, folds and values of alpha, and the folder that holds what is known of them."""

    def __init__(
        self,
        datasets: Sequence[str],
        methods: Sequence[str],
        folds: Sequence[int],
        alphas: Sequence[float],
        out: Path,
        *,
        as_paper: bool = False,
    ) -> None:
        self.datasets, self.folds, self.out, self.as_paper = datasets, folds, out, as_paper
        self.alphas = {"NF": [0.0], **{method: list(alphas) for method in methods}}

    def run(self, jobs: int = 1) -> list[str]:
        """Do what is left; the summary and a picture are written as soon as a set is done.

        Returns the sets whose data cannot be had; stderr has been told why.
        """
        missing = [name for name in self.datasets if not can_be_had(name)]
        datasets = [name for name in self.datasets if name not in missing]
        files = {
            (name, method): PathFile(self.out, name, method, self._settings(name))
            for name in datasets
            for method in self.alphas
        }
        done = {key: file.open() for key, file in files.items()}
        chunks = [chunk for name in datasets for fold in self.folds for chunk in self._left(name, fold, done)]
        pending = Counter(chunk.dataset for chunk in chunks)
        left = sum(len(chunk.alphas) for chunk in chunks)
        total = len(datasets) * len(self.folds) * sum(map(len, self.alphas.values()))
        with (
            tqdm(total=total, initial=total - left, unit="training", mininterval=1.0) as bar,
            closing(outcomes(chunks, jobs)) as found,
        ):
            for chunk, points in found:
                files[chunk.dataset, chunk.method].append(chunk.fold, points)
                bar.set_description(f"{chunk.dataset}, fold {chunk.fold}", refresh=False)
                bar.update(len(points))
                pending[chunk.dataset] -= 1
                if not pending[chunk.dataset]:
                    self.report(pictures=[chunk.dataset])
        return missing

    def report(self, pictures: Sequence[str]) -> pd.DataFrame:
        """Write the pictures of these sets and the summary of all that have been searched; returns the summary.

        Where there is nothing to sum up, nothing is written.
        """
        rows = []
        for name in self.datasets:
            lines = self._known(name)
            plain = lines.pop("NF", None)
            if plain is None or not lines:
                continue
            paths = {method: mean_path(found) for method, found in lines.items()}
            rows += [summary_of(name, method, path, plain) for method, path in paths.items() if len(path)]
            if name in pictures:
                plot(name, paths, plain, self.out / f"{name}.png")
        summary = pd.DataFrame(rows)
        if rows:
            path = self.out / "summary.csv"
            known = pd.DataFrame([*earlier_rows(path, summary.dataset), *rows])
            known.to_csv(path, index=False, float_format="%.6g")
        return summary

    def _known(self, name: str) -> dict[str, pd.DataFrame]:
        """The lines of each method that has been searched, from the folds that all of these have."""
        files = {method: PathFile(self.out, name, method) for method in self.alphas}
        lines = {method: file.read() for method, file in files.items() if file.path.exists()}
        lines = {method: found for method, found in lines.items() if len(found)}
        common = set.intersection(*(set(found.fold) for found in lines.values())) if lines else set()
        return {method: found[found.fold.isin(common)] for method, found in lines.items()}

    def _settings(self, name: str) -> tuple[str, str]:
        return str(search_params(prepared(name), as_paper=self.as_paper)["tree_method"]), xgb.__version__

    def _left(self, name: str, fold: int, done: Mapping[tuple[str, str], set[tuple[int, float]]]) -> Iterator[Chunk]:
        for method, alphas in self.alphas.items():
            left = [alpha for alpha in alphas if (fold, alpha) not in done[name, method]]
            for start in range(0, len(left), CHUNK):
                yield Chunk(name, fold, method, tuple(left[start : start + CHUNK]), self.as_paper)


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
    made = argparse.ArgumentParser(
        prog="python -m benchmarks.search", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
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

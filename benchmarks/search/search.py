"""A search: what is left of it, its files, its summary and its pictures."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pandas as pd
import xgboost as xgb
from tqdm import tqdm

from benchmarks.data import LOAD_ERRORS
from benchmarks.search.chunks import Chunk, outcomes, prepared
from benchmarks.search.engine import search_params
from benchmarks.search.paths import PathFile, mean_path, summary_of
from benchmarks.search.plot import plot

CHUNK = 37


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

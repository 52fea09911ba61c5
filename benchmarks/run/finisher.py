"""What needs all folds of a method: the threshold, and what is measured at it, from the predictions that were kept."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.run.cells import described, line
from benchmarks.run.measures import Predictions, finishing_measures, paper_threshold, predictions_path
from benchmarks.run.results_file import LAST, LAST_OF_FINISHING, Cell, Line, append


class Series(NamedTuple):
    """A method on all the folds of a set."""

    dataset: str
    method: str
    mode: str

    def __str__(self) -> str:
        return ", ".join(self)


def series_of(cell: Cell) -> Series:
    """The series that a cell belongs to."""
    return Series(cell.dataset, cell.method, cell.mode)


def kept(out: Path, cell: Cell) -> bool:
    """Whether the predictions of a cell are there and can be read; if not, the cell is done again."""
    try:
        Predictions.load(predictions_path(out, cell))
    except ValueError:
        return False
    return True


class Finisher:
    """Measures a series at its threshold as soon as its last fold is done."""

    def __init__(self, out: Path, lines: Sequence[Line], todo: Sequence[Cell], wanted: Sequence[Cell]) -> None:
        self.out = out
        self.pending = Counter(map(series_of, todo))
        self.folds: dict[Series, set[int]] = defaultdict(set)
        self.incomplete: set[Series] = set()
        finished = {series_of(found.cell) for found in lines if found.measure == LAST_OF_FINISHING}
        self.waiting = [series for series in dict.fromkeys(map(series_of, wanted)) if series not in finished]
        for found in lines:
            if found.measure in LAST:
                self.note(found.cell, scored=found.measure == "auc")

    def note(self, cell: Cell, *, scored: bool) -> None:
        """Keep in mind how a cell ended."""
        if scored:
            self.folds[series_of(cell)].add(cell.fold)
        else:
            self.incomplete.add(series_of(cell))

    def cell_done(self, cell: Cell, *, scored: bool) -> None:
        """A cell of this run has ended."""
        self.note(cell, scored=scored)
        self.pending[series_of(cell)] -= 1

    def finish(self) -> Iterator[str]:
        """Append what the series that are ready measure at their thresholds; yields a line to show for each."""
        ready = [series for series in self.waiting if not self.pending[series]]
        self.waiting = [series for series in self.waiting if self.pending[series]]
        for series in ready:
            if self.folds[series] and series not in self.incomplete:
                try:
                    threshold = self.finish_one(series)
                except OSError:  # where nothing can be written the others cannot go on
                    raise
                except Exception as error:  # the other series must go on; the next run tries this one again
                    yield f"{series}: no threshold, {described(error)}"
                else:
                    yield f"{series}: {len(self.folds[series])} folds, threshold {threshold:g}"

    def finish_one(self, series: Series) -> float:
        """Choose the threshold on the validation rows of all folds, and append what it says of the test rows."""
        cells = [Cell(*series, fold) for fold in sorted(self.folds[series])]
        folds = [Predictions.load(predictions_path(self.out, cell)) for cell in cells]
        threshold = paper_threshold(folds)
        lines = [
            line(cell, measure, value)
            for cell, fold in zip(cells, folds, strict=True)
            for measure, value in finishing_measures(fold, threshold).items()
        ]
        append(self.out, lines)
        return threshold

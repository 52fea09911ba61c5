"""Finished series of another file in the place of one's own: how folds are added where the predictions are not kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from benchmarks.run.finisher import Series, series_of
from benchmarks.run.results_file import LAST, LAST_OF_FINISHING, Line


def replaced(lines: Sequence[Line], others: Sequence[Line]) -> tuple[list[Line], list[Series]]:
    """The lines with the finished series of others in the place of shorter ones or equals; and which these are."""
    own, found = by_series(lines), by_series(others)
    better = [
        series
        for series, theirs in found.items()
        if is_finished(theirs) and len(ended(theirs, LAST)) >= len(ended(own[series], LAST))
    ]
    stay = [line for line in lines if series_of(line.cell) not in set(better)]
    return stay + [line for series in better for line in found[series]], better


def by_series(lines: Iterable[Line]) -> defaultdict[Series, list[Line]]:
    found: defaultdict[Series, list[Line]] = defaultdict(list)
    for line in lines:
        found[series_of(line.cell)].append(line)
    return found


def is_finished(lines: Sequence[Line]) -> bool:
    """Whether all scored folds have what is measured at the threshold, and none failed."""
    return ended(lines, ("auc",)) == ended(lines, (LAST_OF_FINISHING,)) and not ended(lines, ("error",))


def ended(lines: Iterable[Line], measures: tuple[str, ...]) -> set[int]:
    """The folds that have a line of one of these measures."""
    return {line.fold for line in lines if line.measure in measures}

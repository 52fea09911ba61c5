"""What the tables are made of: one value per repeat, by set, budget and method, and means over sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from benchmarks.intervals import Interval, corrected_interval, with_bounds
from benchmarks.text import NOTHING
from benchmarks.unlabelled.cell import PLAIN

Place = tuple[str, int]
ALL = "all"


class Scores:
    """One value per repeat, by set, budget and method; methods are compared on the repeats that both have."""

    def __init__(self, lines: pd.DataFrame, measure: str = "auc") -> None:
        """``measure`` is "auc", or "logloss", whose sign is turned, so that higher is better."""
        sign = -1 if measure == "logloss" else 1
        self._wide = sign * lines.pivot(index=["dataset", "labelled", "repeat"], columns="method", values=measure)

    def gain(self, place: Place, method: str, less: str = PLAIN) -> npt.NDArray[np.float64]:
        here = self._wide.loc[place].reindex(columns=[method, less]).to_numpy(np.float64)
        gains = here[:, 0] - here[:, 1]
        return gains[np.isfinite(gains)]

    def mean(self, place: Place, method: str) -> float:
        return float(self._wide.loc[place].get(method, pd.Series(dtype=float)).mean())

    def over_sets(self, places: Sequence[Place], method: str, less: str = PLAIN) -> Interval | None:
        """The mean of one difference per set, its interval over the sets; None where there is none."""
        gains = [self.gain(place, method, less) for place in places]
        means = [float(values.mean()) for values in gains if values.size]
        return corrected_interval(means, 0.0) if means else None


def places_by_labels(lines: pd.DataFrame) -> dict[str, list[Place]]:
    """Set and labelled rows, by the number of labels or "all"."""
    found: dict[str, list[Place]] = {}
    places = lines[["dataset", "labelled", "training"]].drop_duplicates()
    for name, labelled, training in places.itertuples(index=False):
        found.setdefault(ALL if labelled >= training else str(labelled), []).append((name, int(labelled)))
    return dict(sorted(found.items(), key=lambda item: np.inf if item[0] == ALL else int(item[0])))


def bounds(found: Interval | None) -> str:
    return NOTHING if found is None else with_bounds(found)

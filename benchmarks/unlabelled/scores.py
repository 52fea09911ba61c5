"""What the tables are made of: one value per repeat, by set, budget and method."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from benchmarks.unlabelled.cell import PLAIN

DRAW = ["dataset", "labelled", "repeat"]


class Scores:
    """One value per repeat, by set, budget and method; methods are compared on the repeats that both have."""

    def __init__(self, lines: pd.DataFrame, measure: str, sign: int = 1) -> None:
        self._wide = sign * lines.pivot(index=DRAW, columns="method", values=measure)

    def gain(self, dataset: str, labelled: int, method: str, less: str = PLAIN) -> npt.NDArray[np.float64]:
        here = self._wide.loc[(dataset, labelled)].reindex(columns=[method, less]).to_numpy(np.float64)
        gains = here[:, 0] - here[:, 1]
        return gains[np.isfinite(gains)]

    def values(self, dataset: str, labelled: int, method: str) -> npt.NDArray[np.float64]:
        return self._wide.loc[(dataset, labelled)].reindex(columns=[method])[method].dropna().to_numpy(np.float64)

    def mean(self, dataset: str, labelled: int, method: str) -> float:
        return float(self.values(dataset, labelled, method).mean())


def with_all_of(lines: pd.DataFrame, *methods: str) -> pd.DataFrame:
    """The lines of the draws that have all of these methods, with as many labels."""
    there = lines["method"].isin(methods).groupby([lines[name] for name in DRAW]).transform("sum")
    return lines[there == len(methods)]

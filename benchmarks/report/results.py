"""The tables of benchmarks.run as the pages read them, complete or not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from benchmarks.cells import RESULTS, exists, read
from benchmarks.data.registry import PAPER_ORDER
from benchmarks.intervals import Interval, corrected_interval
from benchmarks.peers import PEERS

KEY = ["mode", "dataset", "method"]
NF = "NF"
BASELINES = (NF, "PF", "All")
OURS = ("KbPIB", "JPIB", "KbPIB chosen", "JPIB chosen", "KbPIB cross-fitted", "KbPIB all features", "mixed with z")
CONTROLS = ("self-distillation", "mixed without z", "shuffled q")
GROUP_MEASURES = {"eo": "equalized odds", "sp": "statistical parity", "abroca": "ABROCA"}


class Results:
    """All numbers by (mode, dataset, method, measure), each a series over folds."""

    def __init__(self, lines: pd.DataFrame) -> None:
        self.lines = lines
        by_key: dict[tuple[str, ...], dict[int, float]] = defaultdict(dict)
        numbers = lines[lines["value"].notna()].sort_values("fold", kind="stable")
        for *key, fold, value in numbers[[*KEY, "measure", "fold", "value"]].itertuples(index=False, name=None):
            by_key[tuple(key)][fold] = float(value)
        self._numbers = {key: pd.Series(folds) for key, folds in by_key.items()}

    @classmethod
    def from_tables(cls, folder: Path = RESULTS) -> Results:
        """Both modes, as far as they were run."""
        return cls(pd.concat([read(name, folder) for name in ("paper", "current") if exists(name, folder)]))

    def folds(self, mode: str, dataset: str, method: str, measure: str) -> pd.Series[float]:
        """The values by fold; empty where there are none."""
        return self._numbers.get((mode, dataset, method, measure), pd.Series(dtype=float))

    def mean(self, mode: str, dataset: str, method: str, measure: str) -> float:
        return float(self.folds(mode, dataset, method, measure).mean())

    def spread(self, mode: str, dataset: str, method: str, measure: str) -> float:
        """The standard deviation over the folds, with n - 1 as the paper has it."""
        return float(self.folds(mode, dataset, method, measure).std(ddof=1))

    def difference(self, mode: str, dataset: str, method: str, other: str, measure: str) -> Interval | None:
        """``method`` less ``other`` on the folds that both have; None where there is no such fold."""
        both = self.folds(mode, dataset, method, measure) - self.folds(mode, dataset, other, measure)
        both = both.dropna()
        return corrected_interval(both.to_numpy()) if both.size else None

    def datasets(self, mode: str) -> list[str]:
        """Those with any line in this mode, in the paper's order."""
        return in_order(self.lines[self.lines["mode"] == mode]["dataset"], PAPER_ORDER)

    def methods(self, mode: str, measure: str = "auc") -> list[str]:
        """Those with a number of this measure: baselines, ours, controls and peers."""
        found = {key[2] for key in self._numbers if key[0] == mode and key[3] == measure}
        return [name for name in (*BASELINES, *OURS, *CONTROLS, *PEERS) if name in found]

    def peers(self, mode: str, measure: str = "auc") -> list[str]:
        return [name for name in self.methods(mode, measure) if name in PEERS]

    def privileged_columns(self, mode: str, dataset: str) -> list[str]:
        """The columns that have group measures."""
        found = sorted(key[3] for key in self._numbers if key[:2] == (mode, dataset) and ":" in key[3])
        return list(dict.fromkeys(measure.split(":", 1)[1] for measure in found))

    def words(self, column: str) -> list[str]:
        """The different texts of a column such as versions."""
        return sorted(set(self.lines[column].dropna().astype(str)))


def in_order(names: Iterable[str], order: Iterable[str]) -> list[str]:
    """Each name once, those of ``order`` first and as there, the others as they came."""
    found = dict.fromkeys(names)
    known = [name for name in order if name in found]
    return known + [name for name in found if name not in known]

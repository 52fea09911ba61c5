"""The results of benchmarks.run as the report reads them: any number of files, complete or not."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.data.folds import N_FOLDS
from benchmarks.data.registry import PAPER_ORDER
from benchmarks.intervals import Interval, corrected_interval
from benchmarks.methods.rivals import AS_METHODS
from benchmarks.peers import PEERS
from benchmarks.run.results_file import COLUMNS, Line, complete, read

KEY = ["mode", "dataset", "method"]
NF = "NF"
BASELINES = (NF, "PF", "All")
OURS = ("KbPIB", "JPIB", "KbPIB chosen", "JPIB chosen", "KbPIB cross-fitted", "KbPIB all features", "mixed with z")
CONTROLS = ("self-distillation", "mixed without z", "shuffled q")
RIVALS = tuple(method.name for method in AS_METHODS)
AUCS = ("auc", "valid_auc")
GROUP_MEASURES = {"eo": "equalized odds", "sp": "statistical parity", "abroca": "ABROCA"}


class Results:
    """All numbers by (mode, dataset, method, measure), each a series over folds."""

    def __init__(self, lines: pd.DataFrame) -> None:
        lines = lines.drop_duplicates([*KEY, "fold", "measure"], keep="last")
        self.lines = lines
        by_key: dict[tuple[str, ...], dict[int, float]] = defaultdict(dict)
        numbers = lines[lines["value"].notna()].sort_values("fold", kind="stable")
        for *key, fold, value in numbers[[*KEY, "measure", "fold", "value"]].itertuples(index=False, name=None):
            by_key[tuple(key)][fold] = float(value)
        self._numbers = {key: pd.Series(folds) for key, folds in by_key.items()}

    @classmethod
    def from_files(cls, paths: Iterable[Path]) -> Results:
        """Of a cell that is in several files, the last one counts."""
        found = [astuple(line) for path in paths for line in complete(lines_of(path))]
        return cls(pd.DataFrame(found, columns=list(COLUMNS)))

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
        """Those with a number of this measure, baselines first, then ours, controls and peers; no rivals."""
        known = (key for key in self._numbers if key[0] == mode and key[3] == measure)
        found = sorted(key[2] for key in known if key[2] not in RIVALS)
        return in_order(found, (*BASELINES, *OURS, *CONTROLS, *PEERS))

    def peers(self, mode: str, measure: str = "auc") -> list[str]:
        """What is neither a baseline nor ours nor a control."""
        return [name for name in self.methods(mode, measure) if name not in (*BASELINES, *OURS, *CONTROLS)]

    def privileged_columns(self, mode: str, dataset: str) -> list[str]:
        """The columns that have group measures."""
        found = sorted(key[3] for key in self._numbers if key[:2] == (mode, dataset) and ":" in key[3])
        return list(dict.fromkeys(measure.split(":", 1)[1] for measure in found))

    def unfinished(self, mode: str) -> dict[tuple[str, str], int]:
        """How many of the ten folds, for the sets and methods that have some but not all."""
        counts = {key[1:3]: len(folds) for key, folds in self._numbers.items() if key[0] == mode and key[3] == "auc"}
        return {where: count for where, count in counts.items() if count < N_FOLDS}

    def said(self, column: str) -> list[str]:
        """The different texts of a column such as versions."""
        return sorted({str(text) for text in self.lines[column].replace("", np.nan).dropna()})


def lines_of(path: Path) -> list[Line]:
    """The lines of a file; stderr is told how many there are besides. ValueError if its numbers cannot be right."""
    lines = read(path)
    others = sum(map(bool, path.read_text(encoding="utf-8").split("\n")[1:])) - len(lines)
    if others > 0:
        print(
            f"{path.name}: lines not understood and left out: {others} (one at the end is normal where a run was "
            "stopped)",
            file=sys.stderr,
        )
    for line in lines:
        if line.measure in AUCS and line.value is not None and (line.value < 0 or line.value > 1):
            raise ValueError(
                f"{path.name}: expected an {line.measure} from 0 to 1, got {line.value:g} for {line.dataset}, "
                f"{line.method}, {line.mode} mode, fold {line.fold}; correct or remove that line"
            )
    return lines


def in_order(names: Iterable[str], order: Iterable[str]) -> list[str]:
    """Each name once, those of ``order`` first and as there, the others as they came."""
    found = dict.fromkeys(names)
    known = [name for name in order if name in found]
    return known + [name for name in found if name not in known]

"""The numbers of FINDINGS.md, from the files of benchmarks/results and benchmarks/reference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt
import pandas as pd

from benchmarks.curves.page import Gains, complete_lines, gains_of
from benchmarks.depth import chosen as depth_chosen
from benchmarks.intervals import Interval, corrected_interval, verdict, wins_ties_losses
from benchmarks.report.__main__ import results_of
from benchmarks.report.peers import means_on, most_folds
from benchmarks.report.results import OURS, Results
from benchmarks.selection import page as selection

THIRD = 1 / 3
"""n_test / n_train of the draws with few labels."""


def short(value: float, digits: int = 3) -> str:
    """Without the 0 before the point."""
    return f"{value:.{digits}f}".replace("0.", ".", 1)


def plus(value: float, digits: int = 3) -> str:
    """With its sign."""
    return f"{value:+.{digits}f}".replace("0.", ".", 1)


def around(interval: Interval, digits: int = 3) -> str:
    """mean +- half."""
    return f"{plus(interval.mean, digits)} +- {short(interval.half, digits)}"


class Numbers:
    """What the page asks for by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def runs(self) -> Results:
        return results_of([self.folder / "paper.csv", self.folder / "current.csv"])

    @cached_property
    def sets(self) -> list[str]:
        return self.runs.datasets("current")

    def auc(self, mode: str, dataset: str, method: str) -> str:
        return short(self.runs.mean(mode, dataset, method, "auc"))

    def difference(self, mode: str, dataset: str, method: str, other: str = "NF") -> Interval:
        found = self.runs.difference(mode, dataset, method, other, "auc")
        if found is None:
            raise ValueError(f"{dataset} has no folds of both {method} and {other}")
        return found

    def tally(self, method: str) -> tuple[int, int, int]:
        """Sets on which a method is significantly better, neither, or worse than NF."""
        return wins_ties_losses(verdict(self.difference("current", name, method)) for name in self.sets)

    def sets_lost(self, method: str) -> list[str]:
        return [name for name in self.sets if verdict(self.difference("current", name, method)) == "loss"]

    def median_gain(self, method: str) -> float:
        return median(self.difference("current", name, method).mean for name in self.sets)

    def best_peer(self, dataset: str) -> tuple[str, float]:
        """Among those that ran on all the folds of the most complete peer."""
        return self._best(dataset, self.runs.peers("current"))

    def ours(self, dataset: str) -> tuple[str, float]:
        """The best of ours, NF not among them, on the same folds."""
        return self._best(dataset, OURS)

    def _best(self, dataset: str, methods: Sequence[str]) -> tuple[str, float]:
        means = means_on(self.runs, dataset, methods, most_folds(self.runs, dataset))
        best = max(means, key=means.__getitem__)
        return best, means[best]

    @property
    def lacking(self) -> dict[str, list[str]]:
        """For each method that has not run on ten folds everywhere the sets on which it lacks some."""
        found: dict[str, list[str]] = {}
        for dataset, method in self.runs.unfinished("current"):
            found.setdefault(method, []).append(dataset)
        return found

    @cached_property
    def search(self) -> pd.DataFrame:
        return pd.read_csv(self.folder / "search" / "summary.csv").set_index(["dataset", "method"])

    @cached_property
    def curves(self) -> Gains:
        return gains_of(complete_lines(self.folder / "curves.csv"), "auc", "auc")

    def curve(self, dataset: str, rows: int, method: str, less: str | None = None) -> Interval:
        return corrected_interval(self.curves.at(dataset, rows, method, less), 1 / 4)

    @cached_property
    def few_labels(self) -> pd.DataFrame:
        lines = pd.read_csv(self.folder / "unlabelled.csv")
        return lines.pivot(index=["dataset", "labelled", "repeat"], columns="method", values="auc")

    def labels(self, dataset: str, labels: int, method: str, less: str = "plain") -> Interval:
        """A gain in AUC where so many rows have a label."""
        here = self.few_labels.loc[(dataset, labels)]
        values: npt.NDArray[np.float64] = (here[method] - here[less]).dropna().to_numpy()
        return corrected_interval(values, THIRD)

    def mean_of_labels(self, datasets: Iterable[str], labels: int, method: str) -> float:
        there = [name for name in datasets if (name, labels) in self.few_labels.index.droplevel("repeat")]
        return float(np.mean([self.labels(name, labels, method).mean for name in there]))

    @cached_property
    def breach(self) -> pd.DataFrame:
        lines = pd.read_csv(self.folder / "unlabelled_breach.csv")
        return lines.groupby(["setting", "method"])[["mean", "truth"]].mean()

    @cached_property
    def explosion(self) -> pd.DataFrame:
        return pd.read_csv(self.folder / "explosion.csv").set_index(["set", "version", "round"]).sort_index()

    @cached_property
    def depth(self) -> pd.DataFrame:
        return pd.read_csv(self.folder / "depth.csv")

    def chosen_depth(self, dataset: str) -> Interval:
        """The gain in AUC of the depth that validation likes best over depth 4, the one of all other tables."""
        lines = self.depth[self.depth["set"] == dataset]
        four = lines[lines["depth"] == 4].set_index(["set", "fold"])["test"]
        return corrected_interval((depth_chosen(lines) - four).to_numpy())

    def choice(self, part: str) -> pd.DataFrame:
        """What select chooses by its defaults: a line for each setting."""
        own = selection.PARTS[part]
        lines = pd.read_csv(self.folder / f"selection_{part}.csv")
        return selection.settings_of(selection.cells_of(lines, own, selection.DEFAULT), own)

    @cached_property
    def fixed(self) -> pd.Series[float]:
        """What each candidate gains in log loss on the paper's sets if nobody chooses, the mean over them."""
        return selection.candidate_gains(self.folder, "public").mean()

    @cached_property
    def compared(self) -> pd.DataFrame:
        return pd.read_csv(self.folder / "selection_compare.csv")

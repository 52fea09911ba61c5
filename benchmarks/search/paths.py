"""The paths of the search: one CSV per set and method, a line per (fold, alpha), and what to read off them."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.modes.paper import paper_alphas
from benchmarks.search.engine import Point

COLUMNS = ("dataset", "method", "fold", "alpha", "valid_auc", "test_auc", "best_round", "tree_method", "xgboost")
HEADER = ",".join(COLUMNS) + "\n"
SETTINGS = ["tree_method", "xgboost"]
MEASURES = ("valid_auc", "test_auc")


def paper_grid(size: int) -> list[float]:
    """``size`` values of alpha evenly from the paper's .001, .002 to .999; all of them for 999."""
    if not 1 <= size <= 999:
        raise ValueError(f"the paper's grid has 999 values, expected a number from 1 to 999, got {size}")
    thousandths = np.linspace(1, 999, size) if size > 1 else np.array([500])
    return [round(int(step) / 1000, 3) for step in np.rint(thousandths)]


class PathFile:
    """One set's path of one method, on disk. Lines are added chunk by chunk; a broken last line is dropped."""

    def __init__(self, folder: Path, dataset: str, method: str, settings: Sequence[str] = ()) -> None:
        self.path = folder / f"{dataset}_{method}.csv"
        self._names = (dataset, method)
        self._settings = tuple(settings)

    def open(self) -> set[tuple[int, float]]:
        """Make or repair the file. Returns the (fold, alpha) that are in it."""
        found = self.read()
        whole = self._whole_lines()
        if not self.path.exists() or self.path.read_text(encoding="utf-8") != whole:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(whole, encoding="utf-8")
        for row in found[SETTINGS].drop_duplicates().itertuples(index=False):
            if tuple(row) != self._settings:
                raise SystemExit(
                    f"{self.path.name} was made with {', '.join(row)}, this run would add lines made with "
                    f"{', '.join(self._settings)}: name another folder with --out"
                )
        return set(zip(found.fold, found.alpha, strict=True))

    def read(self) -> pd.DataFrame:
        """The lines, by fold and alpha, each once."""
        found = pd.read_csv(io.StringIO(self._whole_lines()), dtype=dict.fromkeys(SETTINGS, str))
        if tuple(found.columns) != COLUMNS:
            raise SystemExit(f"{self.path.name} is not a file of the search: expected the columns {', '.join(COLUMNS)}")
        return found.drop_duplicates(["fold", "alpha"]).sort_values(["fold", "alpha"], ignore_index=True)

    def _whole_lines(self) -> str:
        """The text without an unfinished last line; the header alone where a run was stopped before it had one."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        return HEADER if HEADER.startswith(text) else text[: text.rfind("\n") + 1] or text

    def append(self, fold: int, points: Iterable[tuple[float, Point]]) -> None:
        """Add a chunk in one write."""
        lines = (
            ",".join(map(str, (*self._names, fold, alpha, *point, *self._settings))) + "\n" for alpha, point in points
        )
        with self.path.open("a", encoding="utf-8", newline="") as file:
            file.write("".join(lines))


def mean_path(lines: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard error over folds for each alpha that all the folds have."""
    folds = lines.fold.nunique()
    by_alpha = lines.groupby("alpha")
    means = by_alpha[list(MEASURES)].mean()
    errors = by_alpha[list(MEASURES)].std().div(np.sqrt(folds)).add_suffix("_error")
    return means.join(errors)[by_alpha.size() == folds]


def summary_of(dataset: str, method: str, path: pd.DataFrame, plain: pd.DataFrame) -> dict[str, object]:
    """Where the mean path has its maxima and where the paper's alpha lies in it.

    ``*_rank`` is 1 where no other alpha has a higher mean; ``share_above_plain`` is the share of values of alpha
    whose mean test AUC exceeds that of plain boosting.
    """
    at_highest_valid = path.iloc[int(path.valid_auc.argmax())]
    row: dict[str, object] = {
        "dataset": dataset,
        "method": method,
        "folds": len(plain),
        "alphas": len(path),
        "plain_valid": plain.valid_auc.mean(),
        "plain_test": plain.test_auc.mean(),
        "test_lowest": path.test_auc.min(),
        "test_median": path.test_auc.median(),
        "test_highest": path.test_auc.max(),
        "share_above_plain": (path.test_auc > plain.test_auc.mean()).mean(),
        "alpha_of_highest_valid": at_highest_valid.name,
        "test_at_highest_valid": at_highest_valid.test_auc,
        "alpha_of_highest_test": path.test_auc.idxmax(),
    }
    alpha = paper_alphas().get((dataset, method))
    if alpha is not None and alpha in path.index:
        row["paper_alpha"] = alpha
        for measure in MEASURES:
            here = path[measure][alpha]
            row[f"{measure}_at_paper"] = here
            row[f"{measure}_rank"] = 1 + int((path[measure] > here).sum())
    return row

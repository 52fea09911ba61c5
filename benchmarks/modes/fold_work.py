"""One fold of one set, and what the methods share in it: rows, matrices, teachers, models that were trained before."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xgboost as xgb

import pi_xgb
from benchmarks.data.folds import Fold
from benchmarks.data.matrices import matrix
from benchmarks.data.prepared import PreparedSet
from benchmarks.modes import Mode

CROSSFIT = 5


@dataclass(frozen=True)
class Scores:
    """What a method says of the validation and the test rows, higher for label 1, and what a table may want to know.

    ``probabilities``: whether a log loss of these scores means something.
    """

    valid: npt.NDArray[Any]
    test: npt.NDArray[Any]
    kl_weight: float | None = None
    trees: int | None = None
    note: str = ""
    probabilities: bool = True


class FoldWork:
    """The rows of one fold under the settings of one mode.

    Columns go by "x" (classifier features), "z" (privileged features) and "xz" (both, in the order of the set);
    rows by "train", "valid" and "test". A teacher goes by the columns that it sees and whether it is cross-fitted.
    """

    def __init__(self, dataset: PreparedSet, rows: Fold, mode: Mode, nthread: int = 1) -> None:
        self.dataset, self.rows, self.mode, self.nthread = dataset, rows, mode, nthread
        # Kept with the fold, not with the class: all of it goes when the fold is done.
        self.matrix = cache(self._matrix)
        self.teacher = cache(self._teacher)
        self.plain = cache(self._plain)

    @property
    def params(self) -> dict[str, Any]:
        """XGBoost's parameters, a fresh dict."""
        return {**self.mode.params(self.dataset), "nthread": self.nthread}

    def part(self, rows: str) -> npt.NDArray[np.intp]:
        """Row numbers."""
        numbers: npt.NDArray[np.intp] = getattr(self.rows, rows)
        return numbers

    def labels(self, rows: str) -> npt.NDArray[np.int64]:
        """0 and 1."""
        return self.dataset.y[self.part(rows)]

    def columns(self, name: str) -> tuple[int, ...]:
        """Positions in the set's table."""
        return {
            "x": self.dataset.classifier,
            "z": self.dataset.privileged,
            "xz": tuple(range(self.dataset.X.shape[1])),
        }[name]

    def features(self, columns: str, rows: str) -> tuple[pd.DataFrame, list[str]]:
        """The table of these columns and rows, and the columns' types."""
        table, types = self.dataset.columns(self.columns(columns))
        return table.iloc[self.part(rows)], types

    def as_matrix(self, table: pd.DataFrame, types: list[str], rows: str) -> xgb.DMatrix:
        """A table of these rows as this mode's matrix."""
        zeros_missing = self.mode.zeros_missing
        return matrix(table, types, self.labels(rows), zeros_missing=zeros_missing, nthread=self.nthread)

    @property
    def every_row(self) -> npt.NDArray[np.float64]:
        """The weight of a teacher that teaches rows without any privileged value too, as the paper's does."""
        return np.ones(len(self.labels("train")))

    def boost(self, columns: str = "x", **guidance: Any) -> xgb.Booster:
        """Train on these columns, stopping early on the validation rows; ``guidance`` is for pi_xgb.train."""
        return pi_xgb.train(
            self.params,
            self.matrix(columns, "train"),
            self.mode.rounds,
            evals=[(self.matrix(columns, "valid"), "valid")],
            early_stopping_rounds=self.mode.early_stopping_rounds,
            verbose_eval=False,
            **guidance,
        )

    def scored(self, booster: xgb.Booster, columns: str = "x", kl_weight: float | None = None) -> Scores:
        """What the booster says at its best round."""
        valid, test = (best_scores(booster, self.matrix(columns, rows)) for rows in ("valid", "test"))
        return Scores(valid, test, kl_weight, booster.best_iteration + 1)

    def _matrix(self, columns: str, rows: str) -> xgb.DMatrix:
        return self.as_matrix(*self.features(columns, rows), rows)

    def _teacher(self, columns: str, crossfit: int = 0, kind: str = "boosted") -> npt.NDArray[np.float32]:
        rounds, stopping = self.mode.rounds, {}
        if kind == "boosted":
            evals = [(self.matrix(columns, "valid"), "valid")]
            stopping = {"evals": evals, "early_stopping_rounds": self.mode.early_stopping_rounds}
        else:  # does not stop early: as many rounds as a booster on the same columns that does
            rounds = self.plain(columns).trees
        teacher = pi_xgb.fit_teacher(
            self.params,
            self.matrix(columns, "train"),
            rounds,
            teacher=kind,
            crossfit=crossfit,
            seed=self.mode.seed,
            teacher_weight=self.every_row,
            **stopping,
        )
        return teacher.values

    def _plain(self, columns: str = "x") -> Scores:
        return self.scored(self.boost(columns), columns)


def best_scores(booster: xgb.Booster, rows: xgb.DMatrix) -> npt.NDArray[np.float32]:
    """Probabilities of label 1 from the rounds up to the best one."""
    scores: npt.NDArray[np.float32] = booster.predict(rows, iteration_range=(0, booster.best_iteration + 1))
    return scores

"""A try for equalized odds: membership in group and label out of fold, in the place of the label itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost as xgb

from benchmarks.frontier.cells import Part
from pi_xgb._constraints.distribution import tabulate
from pi_xgb.constraints import EqualizedOdds

FOLDS, ROUNDS = 5, 60


class SoftOdds(EqualizedOdds):
    """Equalized odds in which each row counts in every group and label with its out-of-fold probability."""

    def __init__(self, group: Any, *, member: np.ndarray, **options: Any) -> None:
        super().__init__(group, **options)
        # Columns by label, then by group in the order of the constraint.
        columns = [2 * label + int(name) for label in (0, 1) for name in self.groups]
        self._member = member[:, columns]

    def _matched(self, match: Any, value: Any, label: Any, weight: Any) -> np.ndarray:
        n_rows, n_cells = self._member.shape
        cell, values = np.tile(np.arange(n_cells), n_rows), np.repeat(value, n_cells)
        found = tabulate(cell, values, self._member.ravel())
        matched = match(found, np.repeat(np.arange(2), n_cells // 2))[found.line].reshape(n_rows, n_cells)
        return np.asarray((matched * self._member).sum(axis=1))

    @staticmethod
    def membership(part: Part) -> np.ndarray:
        """The probability of each label and group (columns 2 label + group) by boosters that did not see the row."""
        code = (2 * part.y + part.group).astype(int)
        fold = np.random.default_rng(0).permutation(len(code)) % FOLDS
        params = {"objective": "multi:softprob", "num_class": 4, "max_depth": 3, "eta": 0.1, "nthread": 1}
        found = np.empty((len(code), 4))
        for k in range(FOLDS):
            seen = fold != k
            booster = xgb.train(params, xgb.DMatrix(part.x[seen], code[seen]), ROUNDS)
            found[~seen] = booster.predict(xgb.DMatrix(part.x[~seen]))
        return found / found.sum(axis=1, keepdims=True)

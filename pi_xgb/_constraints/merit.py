"""The constraint that more merit never means a lower prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Array
from .._core.training import Hessian
from .._rows.groups import Groups
from .._rows.per_row import per_row
from .._xgb.collective import gathered
from .constraint import Constraint
from .distribution import tabulate

# Lines of weight 0 need a value in order with the others, but must not move them.
_NEGLIGIBLE = 1e-18


class Meritocracy(Constraint):
    """Predictions that never fall as merit rises.

    Use it when more merit must not mean a lower prediction and merit is not a classifier feature. (If it is, XGBoost's
    ``monotone_constraints`` holds exactly, for new rows as well.) q is the isotonic regression of the predictions on
    merit: the closest values with q[i] >= q[j] wherever merit[i] > merit[j]. A round sorts the predictions, O(n log n),
    and pools in O(n). Several classes have no single prediction that could rise, so more than one column is an error.

    Parameters
    ----------
    merit : array-like of float
        One number per training row, without NaN; larger is better (use ``-merit`` for the opposite). Rows of
        equal merit may have different predictions.
    soft : bool, default=True
        False for the counted form: decisions are pooled in place of predictions. A row decided against the majority of
        its pool gets the pool's share of decisions 1 as q.
    hessian : {"damped", "adaptive", "full"}, default="adaptive"
        As for :class:`DemographicParity`; "adaptive" comes closer to constraints that differ row by row.

    Examples
    --------
    >>> import numpy as np
    >>> from pi_xgb.constraints import Meritocracy
    >>> p = np.array([0.25, 0.75, 0.25, 1.0], dtype=np.float32)
    >>> Meritocracy([1, 2, 3, 4]).q(p, label=np.array([0, 1, 1, 1]), weight=None).tolist()
    [0.25, 0.5, 0.5, 1.0]
    """

    _row_values_name = "merit"
    _one_prediction = True

    def __init__(self, merit: Any, *, soft: bool = True, hessian: Hessian = "adaptive") -> None:
        hint = "encode ordered categories by their .cat.codes, and give every row a merit"
        levels, rank = np.unique(per_row("merit", merit, hint=hint), return_inverse=True)
        super().__init__(Groups(rank, pd.Index(levels)), soft=soft, hessian=hessian)

    def _check_values(self, rows: Groups, n_rows: int) -> None:
        if rows.count < 2:
            raise ValueError(f"merit must have two different values or more, got {rows.names[0]} in every row: drop it")

    def _agree(self) -> Groups:
        own = self._own.names.to_numpy()
        levels = np.unique(gathered(own))
        return Groups(np.searchsorted(levels, own)[self._own.codes], pd.Index(levels))

    def _satisfied(self, value: Array, label: Array, weight: Array | None) -> Array:
        # The table orders rows by merit and, at equal merit, by value: rows of equal merit may keep any
        # differences.
        table = tabulate(self._rows.codes, value, weight, over_workers=self._over_workers)
        return _isotonic(table.value.astype(np.float64), table.weight)[table.line]


def _isotonic(value: Array, weight: Array) -> Array:
    """Return the weighted least squares fit that rises: value[0] <= value[1] <= ...; float64, weights at least 0."""
    from scipy.optimize import isotonic_regression

    positive = weight[weight > 0]
    if positive.size == 0:
        weight = positive = np.ones_like(weight)
    weight = np.where(weight > 0, weight, _NEGLIGIBLE * positive.min())
    return np.asarray(isotonic_regression(value, weights=weight).x)

"""The constraint that more merit never means a lower prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .._arrays import Array
from .._core.step import Hessian
from .._rows.groups import Groups
from .._rows.per_row import per_row
from .._xgb.collective import gathered
from .constraint import Constraint, rows_are_all
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

    def __init__(self, merit: Any, *, soft: bool = True, hessian: Hessian = "adaptive") -> None:
        hint = "encode ordered categories by their .cat.codes, and give every row a merit"
        self._levels, rank = np.unique(per_row("merit", merit, hint=hint), return_inverse=True)
        if rows_are_all():
            _check_levels(self._levels)
        super().__init__(rank, soft=soft, hessian=hessian)

    def _agree(self) -> Groups:
        levels = np.unique(gathered(self._levels))
        _check_levels(levels)
        return Groups(np.searchsorted(levels, self._levels)[self._row_values], pd.Index(levels))

    def _satisfied(self, value: Array, label: Array, weight: Array | None) -> Array:
        # The table orders rows by merit and, at equal merit, by value: rows of equal merit may keep any
        # differences.
        table = tabulate(self._shared, value, weight, over_workers=self._over_workers)
        return _isotonic(table.value.astype(np.float64), table.weight)[table.line]

    def _check_rows(self, p: Array, label: Array) -> None:
        super()._check_rows(p, label)
        if p.ndim == 2 and p.shape[1] > 1:
            raise ValueError(
                f"Meritocracy needs one prediction per row, got {p.shape[1]} classes, which cannot all rise with "
                "merit: train a binary model of the class that merit should favour"
            )


def _check_levels(levels: Array) -> None:
    if len(levels) < 2:
        raise ValueError(
            f"merit must have at least two different values, got {levels[0]} in every row: drop the constraint"
        )


def _isotonic(value: Array, weight: Array) -> Array:
    """Return the weighted least squares fit that rises: value[0] <= value[1] <= ...; float64, weights at least 0."""
    from scipy.optimize import isotonic_regression

    positive = weight[weight > 0]
    if positive.size == 0:
        weight = positive = np.ones_like(weight)
    weight = np.where(weight > 0, weight, _NEGLIGIBLE * positive.min())
    return np.asarray(isotonic_regression(value, weights=weight).x)

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

# Lines of weight 0 need an answer too, in order with the others, and must not move them.
_NEGLIGIBLE = 1e-18


class Meritocracy(Constraint):
    """Predictions that never fall as merit rises.

    Use it when more merit must not mean a lower prediction, although merit is not among the classifier features
    (if it is one, XGBoost's ``monotone_constraints`` says so exactly and for new rows as well). q is the isotonic
    regression of the predictions on merit: the closest values with q[i] >= q[j] wherever merit[i] > merit[j]. A round
    sorts the predictions, O(n log n), and pools in O(n). With classes there is no single prediction that could rise, so
    more than one column is an error.

    Parameters
    ----------
    merit
        One number per training row, without NaN; larger is better (use ``-merit`` for the opposite). Rows of
        equal merit may have different predictions.
    soft
        False for the counted form: the decisions are pooled in place of the predictions, and q is the share of
        decisions 1 in its pool for a row that is decided otherwise than most of it.
    hessian
        As for :class:`DemographicParity`; "adaptive" comes closer to what is asked for where it differs row by row.

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
        # The table orders rows by merit and, where merit is equal, by value. That is the order in which
        # rows of equal merit bind each other least: they may keep any differences.
        table = tabulate(self._shared, value, weight, over_workers=self._over_workers)
        return _isotonic(table.value.astype(np.float64), table.weight)[table.line]

    def _check_rows(self, p: Array, label: Array) -> None:
        super()._check_rows(p, label)
        if p.ndim == 2 and p.shape[1] > 1:
            raise ValueError(
                f"Meritocracy orders one prediction per row, got {p.shape[1]} classes, which cannot all rise with "
                "merit: train a binary model of the class that merit should favour"
            )


def _check_levels(levels: Array) -> None:
    if len(levels) < 2:
        raise ValueError(
            f"merit is {levels[0]} in every row: there is no order to respect; give it at least two values"
        )


def _isotonic(value: Array, weight: Array) -> Array:
    """Weighted least squares under value[0] <= value[1] <= ...; float64, weights at least 0."""
    from scipy.optimize import isotonic_regression

    positive = weight[weight > 0]
    if positive.size == 0:
        weight = positive = np.ones_like(weight)
    weight = np.where(weight > 0, weight, _NEGLIGIBLE * positive.min())
    return np.asarray(isotonic_regression(value, weights=weight).x)

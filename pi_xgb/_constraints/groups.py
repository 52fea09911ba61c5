"""Constraints between groups: equal distributions of predictions over all rows, or within each label."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from .._arrays import Array
from .._core.training import Hessian
from .._rows.checks import check_choice
from .._rows.groups import MISSING, Groups, check_few, check_several, encoded_columns, groups_of
from .._xgb.collective import gathered
from .constraint import Constraint
from .distribution import Table, tabulate
from .matching import match_distributions, match_means

Match = Callable[[Table, Array], Array]
_MATCH: dict[str, Match] = {"distribution": match_distributions, "mean": match_means}


class BetweenGroups(Constraint):
    """A constraint on differences between groups."""

    _row_values_name = "sensitive_features"
    gap: ClassVar[str]
    """The name in :mod:`pi_xgb.metrics` of the difference that the constraint closes."""

    def __init__(self, sensitive_features: Any, *, soft: bool, hessian: Hessian) -> None:
        super().__init__(groups_of(encoded_columns(sensitive_features)).by_appearance(), soft=soft, hessian=hessian)
        self.groups = self._own.names.tolist()
        has_index = isinstance(sensitive_features, (pd.Series, pd.DataFrame))
        self.index = pd.DataFrame(index=sensitive_features.index) if has_index else None
        """The order of the rows, where pandas names them."""

    def _check_values(self, rows: Groups, n_rows: int) -> None:
        known = rows.names[_are_known(rows.names)]
        check_several(Groups(rows.codes, known if known.size else rows.names))
        check_few(rows, n_rows, most=n_rows)

    @property
    def is_known(self) -> Array:
        """Which rows have a group; of intersections, all parts of it."""
        return _are_known(self._own.names)[self._own.codes]

    def compared(self, rows: Array) -> Groups:
        """Return the groups of these rows, with the code -1 where there is none."""
        return Groups(np.where(self.is_known, self._own.codes, -1)[rows], self._own.names)

    def _target(self, p: Array, label: Array, weight: Array | None) -> Array:
        # A group without weight keeps its predictions, and changes those of no other.
        known = self.is_known
        if not known.all():
            weight = known * (1.0 if weight is None else weight)
        return super()._target(p, label, weight)


def _are_known(names: Any) -> Array:
    return np.array([name != MISSING and not (isinstance(name, tuple) and MISSING in name) for name in names])


class DemographicParity(BetweenGroups):
    """The same distribution of predictions in every group (statistical parity).

    Use it when the model's scores, or its share of positive decisions, should not depend on the group. q of a row
    is the quantile of all predictions at the row's rank within its own group. The order within a group stays; the
    differences between groups vanish.
    It can be relied on for new rows: at ``kl_weight=10`` the gap of held-out decisions fell from 0.18 to 0.02 on a
    public data set, and from 0.40 to 0.17 on generated rows.

    Parameters
    ----------
    sensitive_features : array-like or DataFrame
        The group of each training row. Several columns (DataFrame, 2-D array, dict) mean their intersections.
        A row whose value is missing (or "missing") counts for the labels, not for the constraint: its q is its own
        prediction.
    soft : bool, default=True
        False for the counted form: each group should have the same share of decisions 1 as all rows. The rows nearest
        to 1/2 in their group change, and get the q of the soft form.
    match : {"distribution", "mean"}, default="distribution"
        "distribution" for equal distributions, hence parity at every threshold. "mean" for equal means only,
        q = p + mean(p) - mean of the group, which changes predictions less. Values that would leave [0, 1] stop at the
        edge, and the rest of the group shifts further. With ``soft=False`` the two are the same.
    hessian : {"damped", "adaptive", "full"}, default="damped"
        The part of ``kl_weight`` in the Hessian. "damped": none, so plain XGBoost's number of rounds fits, from forty
        on. "adaptive": as much as a moving q needs. "full": all of it, as in the paper, which shortens every step to
        1 / (1 + kl_weight). The guide shows when the default fails, the mathematics why.

    Notes
    -----
    Equal predictions in a group have equal q: rows that share a rank, or whose weight covers several, get the mean of
    the values at those ranks. Group means of q are therefore always equal; distributions are equal up to one row of the
    smaller group. A round costs one sort, O(n log n), and memory of a few arrays of n. The constraint holds on the
    training rows. New rows satisfy it as far as their features have the training distribution: compute
    :mod:`pi_xgb.metrics` on held-out rows.

    Examples
    --------
    >>> import numpy as np
    >>> from pi_xgb.constraints import DemographicParity
    >>> p = np.array([0.1, 0.2, 0.6, 0.7], dtype=np.float32)
    >>> parity = DemographicParity(["a", "a", "b", "b"])
    >>> parity.q(p, label=np.array([0, 1, 0, 1]), weight=None).round(2).tolist()
    [0.15..., 0.64..., 0.15..., 0.64...]
    >>> DemographicParity(["a", "a", "b", "b"], match="mean").q(p, np.array([0, 1, 0, 1]), None).round(2).tolist()
    [0.34..., 0.44..., 0.34..., 0.44...]
    """

    gap = "statistical_parity"

    def __init__(
        self,
        sensitive_features: Any,
        *,
        soft: bool = True,
        match: Literal["distribution", "mean"] = "distribution",
        hessian: Hessian = "damped",
    ) -> None:
        check_choice(match, tuple(_MATCH), "match")
        super().__init__(sensitive_features, soft=soft, hessian=hessian)
        self.match = match

    def _satisfied(self, value: Array, label: Array, weight: Array | None) -> Array:
        return self._matched(_MATCH[self.match], value, label, weight)

    def _vote(self, p: Array, label: Array, weight: Array | None) -> Array:
        # A share gives the number of decisions 1 in a group, not the rows. Matched distributions give both: the
        # pooled share lies above 1/2, and these are the highest of the group.
        return self._matched(match_distributions, p, label, weight)

    def _matched(self, match: Match, value: Array, label: Array, weight: Array | None) -> Array:
        stratum, n_strata = self._strata(label)
        cell = stratum * self._rows.count + self._rows.codes
        table = tabulate(cell, value, weight, over_workers=self._over_workers)
        matched = match(table, np.repeat(np.arange(n_strata), self._rows.count))[table.line]
        return np.where(self._compared(label), matched, value)

    def _strata(self, label: Array) -> tuple[Array, int]:
        """Return the stratum of each row, within which groups are compared, and the number of strata."""
        return np.zeros(len(self._rows.codes), np.intp), 1

    def _compared(self, label: Array) -> Any:
        """Return which rows are compared; the others stay as they are."""
        return True


class EqualizedOdds(DemographicParity):
    """Group parity among the rows of each label (equal true and false positive rates).

    Use it when base rates may differ between groups, but rows of the same label should get the same predictions
    whatever their group. It is :class:`DemographicParity` within the positive rows and, separately, within the negative
    rows; with more classes, within the rows of each class. The rule for ties and the cost are those of
    :class:`DemographicParity`. A group without rows of some label is not compared there. Labels must be whole numbers
    (classes or counts), because continuous labels seldom repeat.
    Do not rely on it for new rows: on the generated rows of :class:`DemographicParity` the held-out gap fell from 0.59
    to 0.51 only (training rows: 0.53 to 0.17).

    Parameters
    ----------
    sensitive_features, soft, match, hessian : as for :class:`DemographicParity`

    Examples
    --------
    >>> import numpy as np
    >>> from pi_xgb.constraints import EqualizedOdds
    >>> p = np.array([0.1, 0.3, 0.5, 0.9], dtype=np.float32)
    >>> odds = EqualizedOdds(["a", "b", "a", "b"])
    >>> odds.q(p, label=np.array([0, 0, 1, 1]), weight=None).round(2).tolist()
    [0.20..., 0.20..., 0.69..., 0.69...]
    """

    gap = "equalized_odds"
    _labels: ClassVar[Any] = "whole numbers"

    def _strata(self, label: Array) -> tuple[Array, int]:
        labels = pd.unique(np.asarray(label))
        labels = np.unique(gathered(labels) if self._over_workers else labels)
        return np.searchsorted(labels, label), len(labels)

    def _compared(self, label: Array) -> Any:
        return ~np.isnan(label)


class TruePositiveRateParity(EqualizedOdds):
    """Group parity among the rows labelled 1 (equal opportunity).

    Use it when those who deserve a positive decision should get it as often in every group, whatever the others get.
    Fairlearn has the same name and measures the same gap, though its constructor takes other arguments. The rule for
    ties and the cost are those of :class:`DemographicParity`. Rows labelled 0 are left alone. Labels must
    be 0 or 1.
    Do not rely on it for new rows: on the generated rows of :class:`DemographicParity` the held-out gap stayed, 0.39
    to 0.37 (training rows: 0.38 to 0.14).

    Parameters
    ----------
    sensitive_features, soft, match, hessian : as for :class:`DemographicParity`

    Examples
    --------
    >>> import numpy as np
    >>> from pi_xgb.constraints import TruePositiveRateParity
    >>> p = np.array([0.1, 0.3, 0.5, 0.9], dtype=np.float32)
    >>> parity = TruePositiveRateParity(["a", "b", "a", "b"])
    >>> parity.q(p, label=np.array([0, 0, 1, 1]), weight=None).round(2).tolist()
    [0.10..., 0.30..., 0.69..., 0.69...]
    """

    gap = "equal_opportunity"
    _labels = "0 or 1"
    _one_prediction = True
    _compared_label = 1

    def _compared(self, label: Array) -> Any:
        return np.asarray(label) == self._compared_label


class FalsePositiveRateParity(TruePositiveRateParity):
    """Group parity among the rows labelled 0 (predictive equality).

    Use it when a wrong positive decision does harm, such as detention, and should be as frequent in every group. All
    else is as for :class:`TruePositiveRateParity`; rows labelled 1 are left alone.
    Measure it on new rows: on the data named in :class:`DemographicParity` the held-out gap fell from 0.20 to 0.12
    (training rows: 0.18 to 0.07).

    Parameters
    ----------
    sensitive_features, soft, match, hessian : as for :class:`DemographicParity`

    Examples
    --------
    >>> import numpy as np
    >>> from pi_xgb.constraints import FalsePositiveRateParity
    >>> p = np.array([0.1, 0.3, 0.5, 0.9], dtype=np.float32)
    >>> parity = FalsePositiveRateParity(["a", "b", "a", "b"])
    >>> parity.q(p, label=np.array([0, 0, 1, 1]), weight=None).round(2).tolist()
    [0.20..., 0.20..., 0.5, 0.89...]
    """

    gap = "false_positive_rate_parity"
    _compared_label = 0

"""Constraints as teachers: q is what the constraint would have the student's current predictions be.

Use one wherever a teacher is taken, alone, with others, or beside a privileged teacher::

    pi_xgb.train(params, dtrain, 200, teacher=GroupParity(sex), kl_weight=5.0)
    pi_xgb.train(params, dtrain, 200, teacher=[(GroupParity(sex), 5.0), (q, 0.5)])

The sensitive column is needed for the training rows only: the model never sees it.

What ``kl_weight`` does here. q is made anew from the predictions of every round, so the pull is towards
*satisfying* the constraint, not towards fixed values, and ``kl_weight`` is its price against the labels. Labels
that break the constraint keep pulling the other way, so a violation shrinks with growing ``kl_weight`` and does
not vanish at a finite one. Predictions that satisfy the constraint are left alone: there q = p to the bit. A
large ``kl_weight`` slows learning as a whole, since it stays in the Hessian where the pull is 0: with
``kl_weight`` = a, a step is about 1 / (1 + a) of what it was. Give more rounds along with a larger ``kl_weight``,
or part of what looks like fairness is a model that has learned little yet. (One 70/30 split of
adult, depth 6, eta 0.3, GroupParity on sex at ``kl_weight`` = 20: from 100 to 500 rounds the test AUC rose from .864 to
.883 and the accuracy from .829 to .845, with the gap in positive rate going from .020 to .012.)

``soft=True``, the default, works on the predictions themselves and pulls every row. ``soft=False`` works by counting
decisions, p > 1/2: it finds the rows whose decision the constraint would change and pulls those alone; all other
rows have q = p. It therefore acts on the decisions at 1/2 where the soft form acts on scores at every threshold, it
needs probabilities of one class, and for the same effect it wants a larger ``kl_weight``. Why the counts themselves
are not q: a share of decisions as q would have every row repeat its present decision. Training mostly starts with
all rows decided alike, say 0; the share is then 0, and from ``kl_weight`` = 1 on the blended target of a positive
row, 1 / (1 + a), no longer exceeds 1/2.

Row weights count: means, ranks and shares are weighted. Predictions are computed on the host; those of a GPU are
copied there and back in every round. With classes (``multi:softprob``), parity is made for each class and the row
brought back to sum to 1; averages over similar rows sum to 1 by themselves.

Where rows are split over workers (:func:`pi_xgb.train` inside a communicator, :mod:`pi_xgb.dask`), each worker makes
the constraint of its own rows, inside the communicator; means, ranks and shares are those of the rows of all workers,
and the model is that of one machine. A group may be absent on a worker; what workers call by equal names is one group.
The price is communication in every round: 16 bytes for each distinct prediction in each group, gathered on every
worker, which sends and receives about twice that. A million rows with a million distinct predictions are 16 MB.
``MetricFairness(key=)`` sends 16 bytes for each key. Neighbours by ``radius`` or ``k`` are an error there, since no
worker has the rows to find them in. Row weights that are whole numbers have the sums of one machine to the bit; sums of
others differ from them in the last digits of a float64.

Examples
--------
>>> import pi_xgb, xgboost as xgb
>>> from pi_xgb.constraints import GroupParity
>>> data = pi_xgb.datasets.make_privileged(500, seed=0, group_gap=2.0)
>>> dtrain = xgb.DMatrix(data.x, data.y)
>>> def gap(**teaching):
...     params = {"objective": "binary:logistic", "max_depth": 2, "nthread": 1}
...     p = pi_xgb.train(params, dtrain, 30, **teaching).predict(dtrain)
...     return abs(p[data.group == 0].mean() - p[data.group == 1].mean())
>>> bool(gap(teacher=GroupParity(data.group), kl_weight=10.0) < gap() / 3)
True
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from xgboost import collective

from ._collective import gathered
from ._constraints.base import Constraint, rows_are_all
from ._constraints.checks import (
    check_groups,
    check_k,
    check_levels,
    check_radius,
    check_selectors,
    nobody_similar,
    rows_of_all_workers,
)
from ._constraints.codes import group_codes, number_column, number_table, shared_codes
from ._constraints.isotonic import isotonic
from ._constraints.neighbours import Neighbours, k_nearest, same_key, within_radius
from ._constraints.parity import match_distributions, match_means
from ._constraints.tables import Table, tabulate
from ._losses import Array
from ._teachers import Start, Teacher

__all__ = ["EqualizedOdds", "GroupParity", "Meritocracy", "MetricFairness"]

_MATCH = {"distribution": match_distributions, "mean": match_means}


class GroupParity(Constraint):
    """The same distribution of predictions in every group (statistical parity).

    Use it when the model's scores, or its share of positive decisions, should not depend on the group. q of a row
    is the value at its rank within its own group, read off the distribution of predictions over all rows: the
    order within a group stays, the differences between groups go.

    Parameters
    ----------
    sensitive_features
        The group of each training row: a list, array or Series, or several columns (DataFrame, 2-D array,
        dict), whose intersections are then the groups. Missing values are an error: give them a name.
    soft
        False for the counted form (see the module's text): as many rows of each group should be decided 1 as the
        share of all rows says. The rows nearest to 1/2 in their group are those that should change, and get the q
        of the soft form.
    match
        "distribution" for equal distributions, hence parity at every threshold. "mean" for equal means only,
        q = p + mean(p) - mean of the group, which changes predictions less; what would leave [0, 1] stops at the
        edge, and the rest of the group is shifted further. Of decisions (``soft=False``) the two ask the same.

    Notes
    -----
    Equal predictions in a group have equal q: rows that share a rank, or whose weight covers several, get the
    mean of the values at those ranks. Group means of q are therefore always equal, and distributions are up to
    the size of one row of the smaller group. All of it is one sort of the predictions per round, O(n log n), and
    memory of a few arrays of n.

    Parity in the training data is what is taught. On new rows it holds as far as the classifier features
    distribute there as they did in training; look at :mod:`pi_xgb.metrics` on rows kept apart.

    Examples
    --------
    >>> import numpy as np
    >>> from pi_xgb.constraints import GroupParity
    >>> p = np.array([0.1, 0.2, 0.6, 0.7], dtype=np.float32)
    >>> parity = GroupParity(["a", "a", "b", "b"])
    >>> parity.q(p, label=np.array([0, 1, 0, 1]), weight=None).round(2).tolist()
    [0.15..., 0.64..., 0.15..., 0.64...]
    >>> GroupParity(["a", "a", "b", "b"], match="mean").q(p, np.array([0, 1, 0, 1]), None).round(2).tolist()
    [0.34..., 0.44..., 0.34..., 0.44...]
    """

    _row_values_name = "sensitive_features"

    def __init__(
        self,
        sensitive_features: Any,
        *,
        soft: bool = True,
        match: Literal["distribution", "mean"] = "distribution",
    ) -> None:
        if match not in _MATCH:
            raise ValueError(f'match must be "distribution" or "mean", got {match!r}')
        codes, self.groups = group_codes(sensitive_features, "sensitive_features")
        if rows_are_all():
            check_groups(len(self.groups), len(codes))
        super().__init__(codes, soft=soft)
        self._n_groups = len(self.groups)
        self.match = match

    def _agree(self) -> Array:
        codes, self._n_groups = shared_codes(self._row_values, self.groups)
        check_groups(self._n_groups, rows_of_all_workers(codes))
        return codes

    def start(self, training: Start) -> None:
        """Begin a training; among workers, agree on the groups."""
        self._n_groups = len(self.groups)
        super().start(training)

    def _satisfied(self, value: Array, label: Array, weight: Array | None) -> Array:
        return self._matched(_MATCH[self.match], value, label, weight)

    def _vote(self, p: Array, label: Array, weight: Array | None) -> Array:
        # A count says how many of a group should be decided 1, not which. Matched distributions say both: they
        # leave as many above 1/2 as the pooled share is, and those are the highest of the group.
        return self._matched(match_distributions, p, label, weight)

    def _matched(
        self, match: Callable[[Table, Array], Array], value: Array, label: Array, weight: Array | None
    ) -> Array:
        stratum, n_strata = self._strata(label)
        cell = stratum * self._n_groups + self._shared
        table = tabulate(cell, value, weight, over_workers=self._over_workers)
        stratum_of_cell = np.repeat(np.arange(n_strata), self._n_groups)
        return match(table, stratum_of_cell)[table.line]

    def _strata(self, label: Array) -> tuple[Array, int]:
        """Within which rows groups are compared, as a whole number per row, and how many such numbers there are."""
        return np.zeros(len(self._row_values), np.intp), 1

    def _describe(self) -> str:
        return f"{len(self.groups)} groups, match={self.match!r}, "


class EqualizedOdds(GroupParity):
    """Group parity among the rows of each label (equal true and false positive rates).

    Use it when groups may differ in how many of their rows are positive, and the model should treat rows of the
    same label alike whatever their group. It is :class:`GroupParity` within the positive rows and, apart from
    that, within the negative rows; with more classes, within the rows of each class. The parameters, the rule for
    ties and the cost are those of :class:`GroupParity`.

    Notes
    -----
    A group without rows of some label is not compared there. Labels must be whole numbers, classes or
    counts: with measurements every row has a label of its own, and nothing to be compared with.

    Examples
    --------
    >>> import numpy as np
    >>> from pi_xgb.constraints import EqualizedOdds
    >>> p = np.array([0.1, 0.3, 0.5, 0.9], dtype=np.float32)
    >>> odds = EqualizedOdds(["a", "b", "a", "b"])
    >>> odds.q(p, label=np.array([0, 0, 1, 1]), weight=None).round(2).tolist()
    [0.20..., 0.20..., 0.69..., 0.69...]
    """

    def _strata(self, label: Array) -> tuple[Array, int]:
        labels = pd.unique(np.asarray(label))
        labels = np.unique(gathered(labels) if self._over_workers else labels)
        return np.searchsorted(labels, label), len(labels)

    def _check_rows(self, p: Array, label: Array) -> None:
        super()._check_rows(p, label)
        label = np.asarray(label)
        if label.shape != self._row_values.shape:
            raise ValueError(
                f"EqualizedOdds needs one label per row, got labels of shape {label.shape} for "
                f"{len(self._row_values)} rows"
            )
        if not np.array_equal(label, np.floor(label)):
            raise ValueError(
                "EqualizedOdds compares groups among rows of the same label, and needs whole-number labels, got "
                f"labels such as {label[label != np.floor(label)][0]}: for regression use GroupParity"
            )


class MetricFairness(Constraint):
    """Similar rows get the same prediction.

    Use it for individual fairness: say which rows are alike in all that should matter, and predictions are pulled
    together among them. q of a row is the weighted mean prediction of the rows similar to it, itself included.

    Parameters
    ----------
    key
        Rows with the same key are similar: one column, or several that must all agree. Missing values are an
        error.
    radius
        Rows at a Euclidean distance of at most ``radius`` in ``features`` are similar.
    k
        A row is similar to its ``k`` nearest others in ``features``; rows with the same features come in
        together, so there may be more. A neighbour need not have the row among its own.
    features
        The columns in which ``radius`` and ``k`` measure: numbers without NaN, as an array or DataFrame of the
        training rows. Distances add up over columns as they are, so standardise columns of different units
        first. They may be privileged: the model does not need them.
    soft
        False for the counted form (see the module's text): q is the share of similar rows decided 1 for a row that
        is decided otherwise than most of them (in a tie, otherwise than their mean prediction).

    Notes
    -----
    Give exactly one of ``key``, ``radius`` and ``k``. Neighbours are found once, before the first round, and again
    for each fold of a cross-validation; with many columns the search compares nearly all pairs of rows. Memory
    is O(n k), and a radius that makes more than 50 million pairs is refused. A round then costs O(n) for ``key`` and
    O(number of pairs) otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from pi_xgb.constraints import MetricFairness
    >>> p = np.array([0.25, 0.75, 0.5], dtype=np.float32)
    >>> label = np.array([0, 1, 1])
    >>> MetricFairness(key=["north", "north", "south"]).q(p, label, None).tolist()
    [0.5, 0.5, 0.5]
    >>> MetricFairness(k=1, features=[0.0, 1.0, 5.0]).q(p, label, None).tolist()
    [0.5, 0.5, 0.625]
    """

    def __init__(
        self,
        *,
        key: Any = None,
        radius: float | None = None,
        k: int | None = None,
        features: Any = None,
        soft: bool = True,
    ) -> None:
        check_selectors(key=key, radius=radius, k=k, features=features)
        self.radius = None if radius is None else check_radius(radius)
        self.k = None if k is None else check_k(k)
        self._row_values_name = "key" if features is None else "features"
        if features is None:
            row_values, self._keys = group_codes(key, "key")
        else:
            row_values, self._keys = number_table(features, "features"), []
        super().__init__(row_values, soft=soft)
        self._n_keys = len(self._keys)
        self._check_some_others()
        if features is None and rows_are_all():
            self._check_some_pairs()

    def check(self, n_rows: int) -> None:
        """Raise if the rows are not ``n_rows``; find the neighbours, which may be too many."""
        super().check(n_rows)
        self._check_some_others()
        if rows_are_all():
            self._check_some_pairs()
        elif self._row_values_name == "features" and collective.get_world_size() > 1:
            raise ValueError(
                "MetricFairness by radius or k would look for similar rows among those of each worker alone, and this "
                "training is split over workers: give rows that are similar the same key=, or train on one machine"
            )

    def start(self, training: Start) -> None:
        """Begin a training; among workers, agree on the keys."""
        self.__dict__.pop("_neighbours", None)
        self._n_keys = len(self._keys)
        super().start(training)

    def _agree(self) -> Array:
        if self._row_values_name == "features":
            return self._row_values
        codes, self._n_keys = shared_codes(self._row_values, self._keys)
        if self._n_keys == rows_of_all_workers(codes):
            raise ValueError(nobody_similar(self._n_keys, "key"))
        return codes

    def take(self, rows: Array) -> Teacher:  # noqa: D102
        part = super().take(rows)
        for found in ("_neighbours", "_all_alone"):
            part.__dict__.pop(found, None)
        return part

    @cached_property
    def _neighbours(self) -> Neighbours:
        if self.radius is not None:
            return within_radius(self._row_values, self.radius)
        if self.k is not None:
            return k_nearest(self._row_values, self.k)
        return same_key(self._shared, self._n_keys)

    @cached_property
    def _all_alone(self) -> bool:
        """Whether no row has another that is similar to it."""
        n_rows = len(self._row_values)
        if self._row_values_name == "key":
            return len(pd.unique(self._row_values)) == n_rows
        return len(self._neighbours.start) - 1 == n_rows == len(self._neighbours.similar)

    def _satisfied(self, value: Array, label: Array, weight: Array | None) -> Array:
        return self._neighbours.average(value, weight, over_workers=self._over_workers)

    def _check_some_others(self) -> None:
        n_rows = len(self._row_values)
        if self.k is not None and self.k >= n_rows:
            raise ValueError(
                f"k={self.k} nearest others are wanted and features has {n_rows} rows: give k of at most {n_rows - 1}"
            )

    def _check_some_pairs(self) -> None:
        if self._all_alone:
            chosen = "key" if self.radius is None else f"radius={self.radius}"
            raise ValueError(nobody_similar(len(self._row_values), chosen))

    def _describe(self) -> str:
        selector = (
            "key" if self._row_values_name == "key" else f"radius={self.radius}" if self.k is None else f"k={self.k}"
        )
        return f"{selector}, "


class Meritocracy(Constraint):
    """Predictions that never fall as merit rises.

    Use it when more merit must not mean a lower prediction, although merit is not among the classifier features
    (if it is one, XGBoost's ``monotone_constraints`` says so exactly and for new rows as well). q is the isotonic
    regression of the predictions on merit: the closest values with q[i] >= q[j] wherever merit[i] > merit[j].

    Parameters
    ----------
    merit
        One number per training row, without NaN; larger is better (use ``-merit`` for the opposite). Rows of
        equal merit may have different predictions.
    soft
        False for the counted form (see the module's text): the decisions are pooled in place of the predictions,
        and q is the share of decisions 1 in its pool for a row that is decided otherwise than most of it.

    Notes
    -----
    A round sorts the predictions, O(n log n), and pools in O(n) (``scipy.optimize.isotonic_regression``; before
    scipy 1.12 in Python, at about half a second for a million rows). With classes there is no single prediction
    that could rise, so more than one column is an error.

    Examples
    --------
    >>> import numpy as np
    >>> from pi_xgb.constraints import Meritocracy
    >>> p = np.array([0.25, 0.75, 0.25, 1.0], dtype=np.float32)
    >>> Meritocracy([1, 2, 3, 4]).q(p, label=np.array([0, 1, 1, 1]), weight=None).tolist()
    [0.25, 0.5, 0.5, 1.0]
    """

    _row_values_name = "merit"

    def __init__(self, merit: Any, *, soft: bool = True) -> None:
        self._levels, rank = np.unique(number_column(merit, "merit"), return_inverse=True)
        if rows_are_all():
            check_levels(self._levels)
        super().__init__(rank, soft=soft)

    def _agree(self) -> Array:
        levels = np.unique(gathered(self._levels))
        check_levels(levels)
        return np.searchsorted(levels, self._levels)[self._row_values]

    def _satisfied(self, value: Array, label: Array, weight: Array | None) -> Array:
        # The table orders rows by merit and, where merit is equal, by value. That is the order in which
        # rows of equal merit bind each other least: they may keep any differences.
        table = tabulate(self._shared, value, weight, over_workers=self._over_workers)
        return isotonic(table.value.astype(np.float64), table.weight)[table.line]

    def _check_rows(self, p: Array, label: Array) -> None:
        super()._check_rows(p, label)
        if p.ndim == 2 and p.shape[1] > 1:
            raise ValueError(
                f"Meritocracy orders one prediction per row, got {p.shape[1]} classes, which cannot all rise with "
                "merit: train a binary model of the class that merit should favour"
            )

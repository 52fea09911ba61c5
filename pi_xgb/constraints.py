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
brought back to sum to 1; averages over similar rows sum to 1 by themselves. Where rows are split over workers, each
worker takes its own rows for all there are.

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

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from ._codes import group_codes, number_column, number_table
from ._isotonic import isotonic
from ._losses import Array, array_module
from ._neighbours import Neighbours, k_nearest, same_key, within_radius
from ._parity import match_distributions, match_means
from ._tables import Table, tabulate
from ._teachers import Teacher

__all__ = ["EqualizedOdds", "GroupParity", "Meritocracy", "MetricFairness"]

_MATCH = {"distribution": match_distributions, "mean": match_means}


class _Constraint(Teacher):
    """What the constraints share: the rows they know, the soft and the counted form, the columns of classes."""

    follows_student = True
    _row_values_name: str

    def __init__(self, row_values: Array, *, soft: bool) -> None:
        if not isinstance(soft, (bool, np.bool_)):
            raise TypeError(
                f"soft must be True (predictions) or False (decisions by counting), got {soft!r} of type "
                f"{type(soft).__name__}"
            )
        self._row_values = row_values
        self.soft = bool(soft)

    def _satisfied(self, value: Array, label: Array, weight: Array | None) -> Array:
        """One float32 value per row as the constraint would have them, in float64."""
        raise NotImplementedError

    def q(self, mean: Array, label: Array, weight: Array | None) -> Array:
        xp = array_module(mean)
        mean, label, weight = _on_host(mean), _on_host(label), _on_host(weight)
        p = np.asarray(mean, np.float32)
        self._check_mean(p)
        columns = p[:, None] if p.ndim == 1 else p
        wanted = np.stack([self._wanted(column, label, weight) for column in columns.T], axis=1)
        if columns.shape[1] > 1:
            wanted = _rescale_rows(wanted, columns)
        return xp.asarray(wanted.astype(np.float32).reshape(p.shape))

    def _wanted(self, p: Array, label: Array, weight: Array | None) -> Array:
        if self.soft:
            return self._satisfied(p, label, weight)
        vote = self._vote(p, label, weight)
        return np.where((vote > 0.5) == (p > 0.5), p, vote)

    def _vote(self, p: Array, label: Array, weight: Array | None) -> Array:
        """On which side of 1/2 the constraint would have each row decided, and how surely."""
        share = self._satisfied((p > 0.5).astype(np.float32), label, weight)
        tie = share == 0.5
        return np.where(tie, self._satisfied(p, label, weight), share) if tie.any() else share

    def check(self, n_rows: int) -> None:
        if n_rows != len(self._row_values):
            raise ValueError(
                f"{type(self).__name__} was given {self._row_values_name} of {len(self._row_values)} rows for "
                f"{n_rows} training rows: give it one value per training row, in the same order. (Inside xgboost.cv "
                "the rows of a fold cannot be told: use pi_xgb.cv)"
            )

    def take(self, rows: Array) -> Teacher:
        part = copy.copy(self)
        part._row_values = self._row_values[rows]
        return part

    def _check_mean(self, p: Array) -> None:
        self.check(len(p))
        if not np.isfinite(p).all():
            raise ValueError(
                f"{type(self).__name__} was handed predictions that are NaN or infinite: the training has diverged; "
                "lower eta, or check the labels and weights"
            )
        if p.ndim == 2 and p.shape[1] > 1 and not np.allclose(p.sum(axis=1), 1.0, atol=1e-3):
            raise ValueError(
                f"{type(self).__name__} takes several columns as the probabilities of classes, and these rows do "
                "not sum to 1: train one model per target"
            )
        if not self.soft and ((p.ndim == 2 and p.shape[1] > 1) or p.min() < 0 or p.max() > 1):
            raise ValueError(
                "soft=False decides at p > 1/2 and needs one probability per row, got predictions of shape "
                f"{p.shape} from {p.min()} to {p.max()}: use soft=True for classes and for regression"
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._describe()}{len(self._row_values)} rows, soft={self.soft})"

    def _describe(self) -> str:
        return ""


class GroupParity(_Constraint):
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
        _check_groups(len(self.groups), len(codes))
        super().__init__(codes, soft=soft)
        self.match = match

    def _satisfied(self, value: Array, label: Array, weight: Array | None) -> Array:
        return self._matched(_MATCH[self.match], value, label, weight)

    def _vote(self, p: Array, label: Array, weight: Array | None) -> Array:
        # A count says how many of a group should be decided 1, not which. Matched distributions say both: they
        # leave as many above 1/2 as the pooled share is, and those are the highest of the group.
        return self._matched(match_distributions, p, label, weight)

    def _matched(
        self, match: Callable[[Table, Array], Array], value: Array, label: Array, weight: Array | None
    ) -> Array:
        stratum = self._strata(label)
        n_groups = len(self.groups)
        table = tabulate(stratum * n_groups + self._row_values, value, weight)
        stratum_of_cell = np.repeat(np.arange(int(stratum.max()) + 1), n_groups)
        return match(table, stratum_of_cell)[table.line]

    def _strata(self, label: Array) -> Array:
        """Within which rows groups are compared, as a whole number per row."""
        return np.zeros(len(self._row_values), np.intp)

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

    def _strata(self, label: Array) -> Array:
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
        return pd.factorize(label)[0]


class MetricFairness(_Constraint):
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
        _check_selectors(key=key, radius=radius, k=k, features=features)
        self.radius = None if radius is None else _check_radius(radius)
        self.k = None if k is None else _check_k(k)
        self._row_values_name = "key" if features is None else "features"
        super().__init__(
            group_codes(key, "key")[0] if features is None else number_table(features, "features"), soft=soft
        )
        self._check_some_others()
        if features is None:
            self._check_some_pairs()

    def check(self, n_rows: int) -> None:
        """Raise if the rows are not ``n_rows``; find the neighbours, which may be too many."""
        super().check(n_rows)
        self._check_some_others()
        self._check_some_pairs()

    def take(self, rows: Array) -> Teacher:  # noqa: D102
        part = super().take(rows)
        part.__dict__.pop("_neighbours", None)
        return part

    @cached_property
    def _neighbours(self) -> Neighbours:
        if self.radius is not None:
            return within_radius(self._row_values, self.radius)
        if self.k is not None:
            return k_nearest(self._row_values, self.k)
        return same_key(self._row_values)

    def _satisfied(self, value: Array, label: Array, weight: Array | None) -> Array:
        return self._neighbours.average(value, weight)

    def _check_some_others(self) -> None:
        n_rows = len(self._row_values)
        if self.k is not None and self.k >= n_rows:
            raise ValueError(
                f"k={self.k} nearest others are wanted and features has {n_rows} rows: give k of at most {n_rows - 1}"
            )

    def _check_some_pairs(self) -> None:
        n_points = len(self._neighbours.start) - 1
        if n_points == len(self._row_values) == len(self._neighbours.similar):
            chosen = "key" if self.radius is None else f"radius={self.radius}"
            raise ValueError(
                f"no two of the {len(self._row_values)} rows are similar by {chosen}, so there is nothing to teach: "
                "give a coarser key, or a larger radius for features of this scale"
            )

    def _describe(self) -> str:
        selector = (
            "key" if self._row_values_name == "key" else f"radius={self.radius}" if self.k is None else f"k={self.k}"
        )
        return f"{selector}, "


class Meritocracy(_Constraint):
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
        levels, rank = np.unique(number_column(merit, "merit"), return_inverse=True)
        if len(levels) < 2:
            raise ValueError(
                f"merit is {levels[0]} in every row: there is no order to respect; give it at least two values"
            )
        super().__init__(rank, soft=soft)

    def _satisfied(self, value: Array, label: Array, weight: Array | None) -> Array:
        # The table orders rows by merit and, where merit is equal, by value. That is the order in which
        # rows of equal merit bind each other least: they may keep any differences.
        table = tabulate(self._row_values, value, weight)
        return isotonic(table.value.astype(np.float64), table.weight)[table.line]

    def _check_mean(self, p: Array) -> None:
        super()._check_mean(p)
        if p.ndim == 2 and p.shape[1] > 1:
            raise ValueError(
                f"Meritocracy orders one prediction per row, got {p.shape[1]} classes, which cannot all rise with "
                "merit: train a binary model of the class that merit should favour"
            )


def _on_host(array: Array) -> Array:
    return array.get() if hasattr(array, "__cuda_array_interface__") else array


def _rescale_rows(wanted: Array, p: Array) -> Array:
    """Rows of wanted with the sums of p; a row that is p already stays p to the bit."""
    total = wanted.sum(axis=1, keepdims=True)
    rescaled = wanted * (p.sum(axis=1, keepdims=True, dtype=np.float64) / np.where(total > 0, total, 1.0))
    return np.where(total > 0, rescaled, p)


def _check_groups(n_groups: int, n_rows: int) -> None:
    if n_groups < 2:
        raise ValueError("sensitive_features has one group only: parity needs at least two groups to compare")
    if n_groups > max(2, n_rows // 2):
        raise ValueError(
            f"sensitive_features makes {n_groups} groups of {n_rows} rows, fewer than two rows per group: is it an "
            "identifier or a measurement? Cut measurements into bands first, for example with pandas.cut"
        )


def _check_selectors(*, key: Any, radius: Any, k: Any, features: Any) -> None:
    given = [name for name, value in (("key", key), ("radius", radius), ("k", k)) if value is not None]
    if len(given) != 1:
        raise ValueError(
            f"MetricFairness takes exactly one of key=, radius= and k=, got {' and '.join(given) or 'none'}: "
            "say in one way which rows are similar"
        )
    if key is None and features is None:
        raise ValueError(f"{given[0]}= measures distances: give the columns to measure in as features=")
    if key is not None and features is not None:
        raise ValueError("features= is for radius= and k=, and would be ignored beside key=: leave one of them out")


def _check_radius(radius: Any) -> float:
    if isinstance(radius, (bool, np.bool_)) or not isinstance(radius, (int, float, np.number)):
        raise TypeError(f"radius must be a number, got {radius!r} of type {type(radius).__name__}")
    if not (np.isfinite(radius) and radius >= 0):
        raise ValueError(f"radius must be a finite distance of at least 0, got {radius!r}")
    return float(radius)


def _check_k(k: Any) -> int:
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)):
        raise TypeError(f"k must be a whole number of neighbours, got {k!r} of type {type(k).__name__}")
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}: it counts the neighbours besides the row itself")
    return int(k)

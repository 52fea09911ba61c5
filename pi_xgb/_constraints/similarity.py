"""The constraint of equal predictions for similar rows."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from xgboost import collective

from .._arrays import Array
from .._core.step import Hessian
from .._core.teachers import Start, Teacher
from .._rows.checks import check_whole
from .._rows.columns import number_table
from .._rows.groups import Groups, as_groups, shared_codes
from .constraint import Constraint, rows_are_all, rows_of_all_workers
from .neighbours import Neighbours, k_nearest, same_key, within_radius


class IndividualFairness(Constraint):
    """Similar rows get the same prediction.

    Use it for individual fairness: define which rows are similar, and their predictions move towards each other. q of a
    row is the weighted mean prediction of the rows similar to it, itself included. Pass exactly one of ``key``,
    ``radius`` and ``k``.

    Parameters
    ----------
    key : array-like or DataFrame, default=None
        Rows with the same key are similar: one column, or several that must all be equal. Missing values are an
        error, since two unknown keys may differ.
    radius : float, default=None
    k : int, default=None
        Rows at a Euclidean distance of at most ``radius`` in ``features`` are similar; or a row is similar to its
        ``k`` nearest others there. Rows with the same features enter together, so a row can have more than ``k``.
        The relation is not symmetric with ``k``.
    features : array-like or DataFrame, default=None
        The columns in which ``radius`` and ``k`` measure: numbers without NaN, as an array or DataFrame of the
        training rows. Distances add up over unscaled columns: standardise columns of different units first.
        They may be privileged, since the model does not read them.
    soft : bool, default=True
        False for the counted form: a row decided against the majority of its similar rows gets their share of
        decisions 1 as q. Ties are broken by their mean prediction.
    hessian : {"damped", "adaptive", "full"}, default="adaptive"
        As for :class:`DemographicParity`; "adaptive" comes closer to constraints that differ row by row.

    Notes
    -----
    Neighbours are found once before the first round, and again for each fold of a cross-validation. With many columns
    the search compares nearly all pairs of rows. Memory is O(n k); a radius with more than 50 million pairs is an
    error. A round costs O(n) for ``key`` and O(number of pairs) otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from pi_xgb.constraints import IndividualFairness
    >>> p = np.array([0.25, 0.75, 0.5], dtype=np.float32)
    >>> label = np.array([0, 1, 1])
    >>> IndividualFairness(key=["north", "north", "south"]).q(p, label, None).tolist()
    [0.5, 0.5, 0.5]
    >>> IndividualFairness(k=1, features=[0.0, 1.0, 5.0]).q(p, label, None).tolist()
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
        hessian: Hessian = "adaptive",
    ) -> None:
        _check_selectors(key=key, radius=radius, k=k, features=features)
        if radius is not None:
            _check_radius(radius)
        if k is not None:
            check_whole("k", k, 1, "the number of neighbours besides the row itself")
        self.radius = None if radius is None else float(radius)
        self.k = None if k is None else int(k)
        self._row_values_name = "key" if features is None else "features"
        self._keys: list[Any] = []
        if features is None:
            keys = as_groups(key, name="key", missing="error", most=None).by_appearance()
            row_values, self._keys = keys.codes, keys.names.tolist()
        else:
            row_values = number_table(features, "features")
        super().__init__(row_values, soft=soft, hessian=hessian)
        self._check_k()
        if features is None and rows_are_all():
            self._check_some_pairs(len(self._row_values), self._all_alone)

    def check(self, n_rows: int) -> None:
        """Raise if there are not ``n_rows`` rows, or too many or no neighbours."""
        super().check(n_rows)
        self._check_k()
        if rows_are_all():
            self._check_some_pairs(len(self._row_values), self._all_alone)
        elif self._row_values_name == "features" and collective.get_world_size() > 1:
            raise ValueError(
                "IndividualFairness with radius= or k= finds similar rows on one worker only, got distributed "
                "training: pass similar rows the same key=, or train on one machine"
            )

    def start(self, training: Start) -> None:
        """Begin a training: number the keys alike on all workers."""
        self.__dict__.pop("_neighbours", None)
        super().start(training)

    def _agree(self) -> Groups | None:
        if self._row_values_name == "features":
            return None
        shared = shared_codes(self._row_values, self._keys)
        self._check_some_pairs(shared.count, shared.count == rows_of_all_workers(shared.codes))
        return shared

    def subset(self, rows: Array) -> Teacher:
        part = super().subset(rows)
        for cached in ("_neighbours", "_all_alone"):
            part.__dict__.pop(cached, None)
        return part

    @property
    def _chosen(self) -> str:
        """The keyword that defines similar rows."""
        if self._row_values_name == "key":
            return "key"
        return f"k={self.k}" if self.radius is None else f"radius={self.radius}"

    @cached_property
    def _neighbours(self) -> Neighbours:
        if self.radius is not None:
            return within_radius(self._row_values, self.radius)
        if self.k is not None:
            return k_nearest(self._row_values, self.k)
        return same_key(self._shared, len(self._keys) if self._agreed is None else self._agreed.count)

    @cached_property
    def _all_alone(self) -> bool:
        """Whether no two rows are similar."""
        n_rows = len(self._row_values)
        if self._row_values_name == "key":
            return len(pd.unique(self._row_values)) == n_rows
        return len(self._neighbours.start) - 1 == n_rows == len(self._neighbours.similar)

    def _satisfied(self, value: Array, label: Array, weight: Array | None) -> Array:
        return self._neighbours.average(value, weight, over_workers=self._over_workers)

    def _check_k(self) -> None:
        n_rows = len(self._row_values)
        if self.k is not None and self.k >= n_rows:
            raise ValueError(
                f"k must be at most {n_rows - 1} for features of {n_rows} rows, got k={self.k}: pass a smaller k"
            )

    def _check_some_pairs(self, n_rows: int, alone: bool) -> None:
        if alone:
            raise ValueError(
                f"no two of the {n_rows} rows are similar by {self._chosen}: pass a coarser key, or a larger radius "
                "for features of this scale"
            )

    def _describe(self) -> str:
        return f"{self._chosen}, "


def _check_selectors(*, key: Any, radius: Any, k: Any, features: Any) -> None:
    """Raise unless exactly one keyword defines similar rows."""
    given = [name for name, value in (("key", key), ("radius", radius), ("k", k)) if value is not None]
    if len(given) != 1:
        raise ValueError(
            f"IndividualFairness takes exactly one of key=, radius= and k=, got {' and '.join(given) or 'none'}: "
            "define similar rows by one of them"
        )
    if key is None and features is None:
        raise ValueError(f"{given[0]}= needs features=, the columns to measure distances in, got None: pass them")
    if key is not None and features is not None:
        raise ValueError("features= must be left out with key=, which does not read it: leave one of them out")


def _check_radius(radius: Any) -> None:
    """Raise unless the radius is a finite distance."""
    if isinstance(radius, (bool, np.bool_)) or not isinstance(radius, (int, float, np.number)):
        raise TypeError(f"radius must be a number, got {radius!r} of type {type(radius).__name__}")
    if not (np.isfinite(radius) and radius >= 0):
        raise ValueError(f"radius must be a finite distance of at least 0, got {radius!r}")

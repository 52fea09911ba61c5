"""The constraint of equal predictions for similar rows."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from xgboost import collective

from .._arrays import Array
from .._core.training import Hessian, Teacher
from .._rows.checks import check_whole
from .._rows.groups import Groups, encoded_columns, groups_of
from .._rows.tables import columns_of, number_table
from .constraint import Constraint
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
        given = [name for name, value in (("key", key), ("radius", radius), ("k", k)) if value is not None]
        if len(given) != 1:
            raise ValueError(f"pass exactly one of key=, radius= and k=, got {' and '.join(given) or 'none'}")
        if (key is None) == (features is None):
            raise ValueError(f"features= are the columns that radius= and k= measure, not for key=, got {given[0]}=")
        if isinstance(radius, (bool, str)) or (radius is not None and not 0 <= radius < np.inf):
            raise ValueError(f"radius must be a finite distance of at least 0, got {radius!r}")
        if k is not None:
            check_whole("k", k, 1, "the number of neighbours besides the row itself")
        self.radius = None if radius is None else float(radius)
        self.k = None if k is None else int(k)
        self._row_values_name = "key" if features is None else "features"
        self._features = None if features is None else number_table(features, "features")
        if self._features is None:
            table = columns_of(key, "key", "key")
            if table.isna().any(axis=None):
                raise ValueError("key must have a value in every row, got missing values: give these a value each")
            own = groups_of(encoded_columns(table, name="key")).by_appearance()
        else:  # codes are positions in the features
            own = Groups(np.arange(len(self._features)), pd.RangeIndex(len(self._features)))
        super().__init__(own, soft=soft, hessian=hessian)

    def _check_values(self, rows: Groups, n_rows: int) -> None:
        if self._features is None and rows.count == n_rows:
            raise ValueError(f"no two of the {n_rows} rows are similar by key: pass a coarser key")

    def check(self, n_rows: int) -> None:
        """Raise if there are not ``n_rows`` rows, or too many or no neighbours."""
        super().check(n_rows)
        if self._features is not None:
            if collective.get_world_size() > 1:
                raise ValueError("radius= and k= need one worker with all rows, got distributed training: pass key=")
            _ = self._near  # with its errors

    def subset(self, rows: Array) -> Teacher:
        part = super().subset(rows)
        part.__dict__.pop("_near", None)
        return part

    @cached_property
    def _near(self) -> Neighbours:
        features = np.asarray(self._features)[self._own.codes]
        return within_radius(features, self.radius) if self.radius is not None else k_nearest(features, self.k or 0)

    def _satisfied(self, value: Array, label: Array, weight: Array | None) -> Array:
        similar = same_key(self._rows.codes, self._rows.count) if self._features is None else self._near
        return similar.average(value, weight, over_workers=self._over_workers)

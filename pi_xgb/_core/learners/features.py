"""The features of rows, in the forms that learners read: a matrix of XGBoost, an array, or the user's own table."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import pandas as pd
import xgboost

from ..._arrays import Array
from ..._rows.names import describe
from ..._rows.tables import rows_without_values as table_rows_without_values
from ..._rows.tables import take_rows
from ..._xgb.categories import decoded_categories, encoded_categories
from ..._xgb.joined import dense_of
from ..._xgb.matrix import rows_without_values, slice_rows


class Features:
    """The columns of some rows. ``table`` is the user's own table of the same rows, where there is one."""

    def __init__(self, matrix: xgboost.DMatrix, table: Any = None) -> None:
        self.matrix, self.table = matrix, table

    def subset(self, rows: Array) -> Features:
        """The same columns of some of the rows."""
        return Features(slice_rows(self.matrix, rows), None if self.table is None else take_rows(self.table, rows))

    @property
    def empty_rows(self) -> Array:
        """Which rows have no value in any column."""
        return rows_without_values(self.matrix) if self.table is None else table_rows_without_values(self.table)

    @property
    def names(self) -> list[str]:
        """The names of the columns; their numbers where they have none."""
        return list(self.matrix.feature_names or map(str, range(self.matrix.num_col())))

    def as_table(self) -> Any:
        """The user's own table, or one of the values of the matrix: NaN where absent, codes for categories."""
        if self.table is not None:
            return self.table
        return pd.DataFrame(self.dense, columns=pd.Index(self.matrix.feature_names or range(self.matrix.num_col())))

    @functools.cached_property
    def dense(self) -> Array:
        """All columns as float32, ``(n, p)``: NaN where a value is missing, codes for categories."""
        return dense_of(self.matrix.get_data())

    @property
    def is_category(self) -> Array:
        """Which columns hold codes of categories."""
        types = self.matrix.feature_types or ["float"] * self.matrix.num_col()
        return np.array([kind == "c" for kind in types], bool)

    @property
    def offset(self) -> Array | None:
        """The margin where each row starts, ``(n,)`` or ``(n, K)``; None where there is none."""
        margin = self.matrix.get_base_margin()
        if not margin.size:
            return None
        n_rows = self.matrix.num_row()
        return margin if margin.size == n_rows else margin.reshape(n_rows, -1)


def as_rates(mean: Array, weight: Array, exposure: Array) -> tuple[Array, Array]:
    """Means per unit of exposure, and weights times exposure: a row has one, however many targets."""
    return mean / exposure, weight * (exposure.mean(axis=1) if exposure.ndim == 2 else exposure)


class TrainedColumns:
    """The columns that a teacher was trained on, and XGBoost's codes of their categories.

    No codes are stored where XGBoost reads the rows, or an estimator the user's own table: both know the categories.
    """

    def __init__(self, features: Features, *, are_read_by_xgboost: bool) -> None:
        self._names, self._is_category = features.names, features.is_category.tolist()
        has_codes = not are_read_by_xgboost and features.table is None
        self._categories = encoded_categories(features.matrix) if has_codes else None

    def aligned(self, features: Features) -> Features:
        """The same rows with the codes of these categories; raise if they have other columns."""
        names = features.names
        if names != self._names:
            raise ValueError(f"rows must have the trained columns {describe(self._names)}, got {describe(names)}")
        if self._categories is None:
            return features
        if features.is_category.tolist() != self._is_category:
            named = [name for name, is_category in zip(names, self._is_category, strict=True) if is_category]
            raise ValueError(f"rows must have categories in {describe(named) or 'no column'}, as in training")
        aligned = Features(features.matrix)
        own_and_trained = zip(encoded_categories(features.matrix), self._categories, strict=False)
        for position, (own, trained) in enumerate(own_and_trained):
            if own != trained:
                categories = decoded_categories(own, names[position])
                codes = decoded_categories(trained, names[position]).get_indexer(categories)
                if (codes < 0).any():
                    raise ValueError(
                        f"the column {names[position]!r} of rows must have categories that the teacher was trained on, "
                        f"got {describe(categories[codes < 0])}: make them missing"
                    )
                column = aligned.dense[:, position]
                present = ~np.isnan(column)
                column[present] = codes[column[present].astype(int)]
        return aligned


class Model(Protocol):
    """A fitted learner."""

    def predict(self, features: Features) -> Array:
        """The mean of each row, float32, ``(n,)``, or ``(n, K)`` for K classes or targets."""
        ...


Learner = Callable[[Features, Array, Any], Model]
"""Trains on features, labels as XGBoost has them (class numbers, or ``(n, K)`` for K targets), and weights."""

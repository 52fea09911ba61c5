"""A data set ready for training: features, labels, and who may see which column when."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from benchmarks.data.folds import Fold, ten_folds


@dataclass(frozen=True)
class PreparedSet:
    """One public data set after its recipe.

    Attributes
    ----------
    name : str
        As in the paper's tables.
    X : DataFrame of float64, shape (n, d)
        Numeric columns first, then categorical ones as codes 0..K-1. Zeros are zeros here.
    y : array of int64, shape (n,)
        Labels 0 and 1.
    feature_types : tuple of str, length d
        XGBoost's "q" (numeric) or "c" (category).
    privileged : tuple of int
        Positions in X of the features that are missing at prediction. All others are classifier features.
    protected : tuple of arrays of int64, each of shape (n,)
        For each privileged column, 1 where the row belongs to the protected group. Empty where the paper has
        no groups (heart, car, spam).
    """

    name: str
    X: pd.DataFrame
    y: npt.NDArray[np.int64]
    feature_types: tuple[str, ...]
    privileged: tuple[int, ...]
    protected: tuple[npt.NDArray[np.int64], ...]

    @property
    def classifier(self) -> tuple[int, ...]:
        """Positions in X of the features that the student sees."""
        return tuple(i for i in range(self.X.shape[1]) if i not in self.privileged)

    @property
    def tree_method(self) -> str:
        """What the paper used: "exact" without categories, "approx" with them."""
        return "approx" if "c" in self.feature_types else "exact"

    def columns(self, positions: tuple[int, ...]) -> tuple[pd.DataFrame, list[str]]:
        """The features at these positions and their types, zeros kept."""
        return self.X.iloc[:, list(positions)], [self.feature_types[i] for i in positions]

    def student(self) -> tuple[pd.DataFrame, list[str]]:
        """The classifier features and their types."""
        return self.columns(self.classifier)

    def teacher(self) -> tuple[pd.DataFrame, list[str]]:
        """The privileged features and their types."""
        return self.columns(self.privileged)

    def folds(self) -> list[Fold]:
        """The paper's ten folds of these rows."""
        return ten_folds(self.y)


def zero_as_missing(features: pd.DataFrame) -> pd.DataFrame:
    """A copy in which every zero, category 0 included, is missing, as the paper's file format had it."""
    return features.mask(features == 0)

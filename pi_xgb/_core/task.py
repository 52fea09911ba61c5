"""A task: what is to be learned from which rows. Read once, checked once, frozen."""

from __future__ import annotations

import dataclasses

import numpy as np
import xgboost

from .._arrays import Array
from .checks import check_is_dmatrix, check_one_label_each, check_weights
from .spec import Spec


@dataclasses.dataclass(frozen=True)
class Task:
    """A spec and the labels and weights of its rows."""

    spec: Spec
    label: Array
    """As XGBoost has it; 0 where nobody knows it."""
    weight: Array | None
    """What each row weighs, with ``scale_pos_weight`` folded in; None where every row weighs 1."""
    labelled: Array | None = None
    """Which rows have a label; None where all have."""

    @classmethod
    def of(
        cls, spec: Spec, label: Array, weight: Array, labelled: Array | None = None, *, n_rows: int, name: str
    ) -> Task:
        """From the arrays of ``n_rows`` rows, checked; ``name`` is what the user calls their matrix."""
        check_one_label_each(label, n_rows, name)
        check_weights(weight, n_rows, name)
        known = label if labelled is None else label[labelled]
        if known.size:
            spec.loss.check_labels(known, spec.n_classes, name)
        if labelled is not None:
            label = np.where(labelled, label, np.float32(0))
        return cls(spec, label, _effective(spec, label, weight), labelled)

    @classmethod
    def of_matrix(
        cls, spec: Spec, matrix: xgboost.DMatrix, labelled: Array | None = None, *, name: str = "dtrain"
    ) -> Task:
        """From a matrix."""
        check_is_dmatrix(matrix, name)
        return cls.of(spec, matrix.get_label(), matrix.get_weight(), labelled, n_rows=matrix.num_row(), name=name)

    @property
    def n_rows(self) -> int:
        """How many rows there are, labelled or not."""
        return len(self.label)

    @property
    def told_label(self) -> Array:
        """What teachers are told: NaN where nobody knows the label."""
        return self.label if self.labelled is None else np.where(self.labelled, self.label, np.float32(np.nan))

    @property
    def like(self) -> Array:
        """An array of the shape of a mean, its values without meaning."""
        return np.empty(self.spec.shape(self.n_rows), np.float32)


def _effective(spec: Spec, label: Array, weight: Array) -> Array | None:
    if spec.loss.applies_scale_pos_weight and spec.scale_pos_weight != 1:
        positive = np.where(label == 1, np.float32(spec.scale_pos_weight), np.float32(1))
        return positive * weight if weight.size else positive
    return weight if weight.size else None

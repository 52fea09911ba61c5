"""A task: a spec with the labels and weights of its rows, checked once and frozen."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import xgboost

from .._arrays import Array
from .._rows.supervision import no_labelled_row
from .._warnings import warn_user
from .._xgb.collective import global_max, on_any_worker
from .._xgb.matrix import query_of_row
from .checks import (
    check_base_margin,
    check_has_columns,
    check_labels_per_row,
    check_queries,
    check_weights,
)
from .losses import OF_TARGETS
from .spec import Spec


@dataclasses.dataclass(frozen=True)
class Task:
    """A spec and the labels and weights of its rows."""

    spec: Spec
    label: Array
    """XGBoost's label; 0 where it is unknown."""
    weight: Array | None
    """The weight of each row, or of its query, times ``scale_pos_weight``; None where all are 1."""
    labelled: Array | None = None
    """Which rows have a label; None where all have."""

    @classmethod
    def from_arrays(
        cls, spec: Spec, label: Array, weight: Array, labelled: Array | None = None, *, n_rows: int, name: str
    ) -> Task:
        """Return the checked task of ``n_rows`` rows; ``name`` is that of their matrix, for messages."""
        check_labels_per_row(label, n_rows, name)
        check_weights(weight, n_rows, name)
        _check_targets(spec, label, name)
        known = label if labelled is None else label[labelled]
        if known.size:
            spec.loss.check_labels(known, spec.n_classes, name)
        if labelled is not None:
            label = np.where(per_label(labelled, label), label, np.float32(0))
        return cls(spec, label, _effective(spec, label, weight), labelled)

    @classmethod
    def from_matrix(
        cls, spec: Spec, matrix: xgboost.DMatrix, labelled: Array | None = None, *, name: str = "dtrain"
    ) -> Task:
        """Return the checked task of a matrix."""
        check_has_columns(matrix, name)
        check_base_margin(matrix.get_base_margin(), name)
        label, weight = spec.loss.label_of(matrix, name), matrix.get_weight()
        if spec.loss.by_query:
            check_weights(weight, check_queries(matrix, name), name, unit="query")
            weight = weight[query_of_row(matrix)] if weight.size else weight
        return cls.from_arrays(spec, label, weight, labelled, n_rows=matrix.num_row(), name=name)

    def check_labelled_rows(self) -> None:
        """Raise if no row has a label, or all labels of positive weight are of one class; call it on every worker."""
        if not on_any_worker(self.labelled is not None):
            return
        rows = np.ones(len(self.label), bool) if self.labelled is None else self.labelled
        if self.spec.loss.probabilities:
            positive = rows if self.weight is None else rows & (self.weight > 0)
            # Weights of 0 in all rows are another error.
            rows = positive if on_any_worker(positive.any()) else rows
        known = self.label[rows]
        bounds = [known.max(), -known.min()] if known.size else [-np.inf] * 2
        high, below = global_max(np.array(bounds))
        if high == -np.inf:
            raise no_labelled_row("labelled")
        if high == -below and self.spec.loss.probabilities:
            raise ValueError(
                f"all labelled rows are of the class {high:g}, rows of weight 0 aside: label rows of another class"
            )
        classes = np.arange(self.spec.n_classes)
        absent = classes[global_max(np.isin(classes, known).astype(float)) == 0] if classes.size else classes
        if absent.size:
            warn_user(f"labelled has no row of the class {absent[0]}, so only a teacher that knows it can teach it")

    def check_evals(self, dtrain: xgboost.DMatrix, evals: Sequence[tuple[xgboost.DMatrix, str]]) -> None:
        """Raise if dtrain has unlabelled rows and is among the evals: metrics would use unknown labels."""
        if self.labelled is not None and any(matrix is dtrain for matrix, _ in evals):
            raise ValueError(
                "dtrain must not be among the evals, since it has rows without a label: evaluate on its labelled rows, "
                "evals=[(dtrain.slice(np.flatnonzero(labelled)), 'train'), ...]"
            )

    @property
    def n_rows(self) -> int:
        """How many rows there are, labelled or not."""
        return len(self.label)

    @property
    def teacher_label(self) -> Array:
        """The labels as teachers see them: NaN where unknown."""
        if self.labelled is None:
            return self.label
        return np.where(per_label(self.labelled, self.label), self.label, np.float32(np.nan))

    @property
    def like(self) -> Array:
        """An uninitialised array of the shape of a mean."""
        return np.empty(self.label.shape if self.label.ndim == 2 else self.spec.shape(self.n_rows), np.float32)


def _check_targets(spec: Spec, label: Array, name: str) -> None:
    """Raise for several targets where the loss takes one."""
    if label.ndim == 1:
        return
    if not spec.loss.takes_targets:
        raise ValueError(
            f"{name} has {label.shape[1]} labels per row, and a teacher supports several targets for "
            f"{', '.join(OF_TARGETS)} only, not for {spec.objective}: train one model for each"
        )
    if spec.scale_pos_weight != 1:
        raise ValueError(
            "scale_pos_weight is not supported with a teacher and several targets, since a row has one weight: leave "
            "it out"
        )


def per_label(per_row: Array, label: Array) -> Array:
    return per_row[:, None] if label.ndim == 2 else per_row


def _effective(spec: Spec, label: Array, weight: Array) -> Array | None:
    if spec.loss.applies_scale_pos_weight and spec.scale_pos_weight != 1:
        positive = np.where(label == 1, np.float32(spec.scale_pos_weight), np.float32(1))
        return positive * weight if weight.size else positive
    return weight if weight.size else None

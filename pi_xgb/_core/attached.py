"""A teacher that travels with the rows of a DMatrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost

from .._arrays import Array
from .._rows.supervision import read_labelled, read_teacher_weight
from .._xgb.matrix import labels_of
from .checks import check_q
from .losses import NUMBERS, Range
from .teachers import FixedTeacher, Teacher

# Marks in the second field where it holds no probability: the number of values per row, and for one value whether the
# first field marks rows without a label. Groups attached for metrics overwrite it with values below every mark.
_ONE_VALUE, _TWO_CLASSES, _SOME_LABELS = np.float32(-1), np.float32(-2), np.float32(-3)
# The first field of a row without a label is this minus q. NaN marks rows where the teacher does not count, minus
# infinity rows where neither label nor teacher does.
_NO_LABEL = np.float32(-1)


def attach_teacher(
    dtrain: xgboost.DMatrix, q: Any, *, labelled: Any = None, teacher_weight: Any = None
) -> xgboost.DMatrix:
    """Attach q to the rows of a DMatrix, so that slices and ``xgboost.cv`` keep it.

    XGBoost passes a custom objective the rows of a fold without their row numbers, so an array held by the objective
    cannot be aligned with them. Of the fields that XGBoost keeps per row, the two bounds of the
    survival objectives are free for the objectives here; q is stored there.

    Parameters
    ----------
    dtrain : xgboost.DMatrix
        The matrix to write to. Its label bounds are replaced; nothing else is touched.
    q : array-like of float
        One probability per row; for classes ``(rows, K)`` with rows that sum to 1 and K of at most 3, since
        there are two free fields. For more classes use :func:`pi_xgb.cv`.
    labelled, teacher_weight : as for :func:`pi_xgb.train`
        As far as the two fields have room: ``teacher_weight`` of 0 and 1, and rows without a label where no q is below
        0.

    Returns
    -------
    xgboost.DMatrix
        ``dtrain`` itself.

    Examples
    --------
    >>> import pi_xgb, xgboost as xgb
    >>> data = pi_xgb.datasets.make_privileged(300, seed=0)
    >>> dtrain = pi_xgb.attach_teacher(xgb.DMatrix(data.x, data.y), data.q)
    >>> history = xgb.cv({"objective": "binary:logistic"}, dtrain, 5, metrics="auc",
    ...                  obj=pi_xgb.KLObjective(kl_weight=2.0))
    >>> list(history.columns)
    ['train-auc-mean', 'train-auc-std', 'test-auc-mean', 'test-auc-std']
    """
    if not isinstance(dtrain, xgboost.DMatrix):
        raise TypeError(
            f"dtrain must be an xgboost.DMatrix, got {type(dtrain).__name__}: pass the matrix first, then q"
        )
    if isinstance(q, Teacher):
        raise TypeError(
            f"q must be an array, fixed for all rounds, got {q!r}: pass a Teacher as teacher= of pi_xgb.train, or to "
            "pi_xgb.KLObjective(teacher, kl_weight)"
        )
    if labels_of(dtrain).ndim == 2:
        raise ValueError(
            f"q must have one target, since a DMatrix has no room for more, dtrain has {labels_of(dtrain).shape[1]}: "
            "use pi_xgb.cv(..., teacher=q), or pi_xgb.train"
        )
    n_rows = dtrain.num_row()
    known, counts = read_labelled(labelled, n_rows), _read_counts(teacher_weight, n_rows)
    array = check_q(q, NUMBERS, needed=counts)
    if known is not None and (array < 0).any():
        raise ValueError(
            f"q must be at least 0 where rows have no label, for which a DMatrix has no other room, got {array.min()}: "
            "use pi_xgb.cv(..., teacher=q, labelled=...), or pi_xgb.train"
        )
    if len(array) != n_rows:
        raise ValueError(f"q has {len(array)} rows, dtrain has {n_rows}: give one q per row of dtrain")
    if array.ndim == 1:
        lower, upper = array.copy(), np.full_like(array, _ONE_VALUE if known is None else _SOME_LABELS)
    elif array.shape[1] in (2, 3):
        check_q(array, needed=counts)
        lower = array[:, 0].copy()
        upper = array[:, 1].copy() if array.shape[1] == 3 else np.full_like(lower, _TWO_CLASSES)
    else:
        raise ValueError(
            f"q must have at most 3 classes, got {array.shape[1]}, since a DMatrix has no room for more: use pi_xgb.cv"
        )
    if known is not None:
        lower[~known] = _NO_LABEL - lower[~known]
    if counts is not None:
        lower[~counts] = np.nan if known is None else np.where(known[~counts], np.nan, -np.inf)
    dtrain.set_float_info("label_lower_bound", lower)
    dtrain.set_float_info("label_upper_bound", upper)
    return dtrain


def _read_counts(teacher_weight: Any, n_rows: int) -> Array | None:
    """Return where the teacher counts; None where it does everywhere."""
    weights = read_teacher_weight(teacher_weight, n_rows)
    if weights is None:
        return None
    if not np.isin(weights, (0, 1)).all():
        odd = weights[~np.isin(weights, (0, 1))][0]
        raise ValueError(
            f"teacher_weight must be 0 or 1 in each row, since a DMatrix has no room for more, got {odd:g}: use "
            "pi_xgb.train or pi_xgb.cv, which take any"
        )
    return np.asarray(weights == 1)


def attached_teacher(dtrain: xgboost.DMatrix, n_classes: int, within: Range) -> tuple[FixedTeacher, Array | None]:
    """Return the teacher that :func:`attach_teacher` stored in the matrix, and which rows have a label.

    ``n_classes`` is 0 for one value per row.
    """
    lower = dtrain.get_float_info("label_lower_bound")
    upper = dtrain.get_float_info("label_upper_bound")
    if lower.size != dtrain.num_row():
        raise ValueError(
            "this objective has no teacher, and none is attached to the training matrix: call "
            "pi_xgb.attach_teacher(dtrain, q) first, or pass KLObjective(q, ...)"
        )
    mark = upper.min()
    attached = 3 if mark >= 0 else 2 if mark == _TWO_CLASSES else 0
    if attached != n_classes:
        named = {0: "one value per row", 2: "2 classes", 3: "3 classes"}
        raise ValueError(
            f"the teacher attached to this matrix has {named[attached]}, but the objective requires "
            f"{named.get(n_classes, f'{n_classes} classes')}: attach a q of that shape"
        )
    counts, unknown = np.isfinite(lower), (lower <= _NO_LABEL) & (mark != _ONE_VALUE)
    if mark < _SOME_LABELS and within.low < 0 and unknown.any():
        raise ValueError(
            "attach_groups has overwritten the marks that separate a q below 0 from a row without a label: for numbers "
            "leave attach_groups out, or use pi_xgb.cv"
        )
    lower = np.where(unknown, _NO_LABEL - lower, lower)
    q = lower
    if n_classes:
        columns = [lower, 1 - lower] if n_classes == 2 else [lower, upper, np.maximum(1 - lower - upper, 0)]
        q = np.stack(columns, axis=1)
    teacher = FixedTeacher(q, within, needed=counts)
    teacher.teacher_weight = None if counts.all() else counts.astype(np.float64)
    return teacher, ~unknown if unknown.any() else None

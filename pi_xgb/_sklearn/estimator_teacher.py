"""An estimator of scikit-learn's kind as the teacher."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
import xgboost
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import has_fit_parameter

from .._arrays import Array
from .._core.crossfit import check_crossfit, deal_labelled, whole_queries
from .._core.loss import Loss
from .._rows.supervision import checked_groups, read_teacher_weight, weight_beside
from .._rows.tables import rows_without_values, take_rows
from .._xgb.matrix import labels_of, query_of_row


def judged_by(
    model: Any,
    table: Any,
    dtrain: xgboost.DMatrix,
    *,
    crossfit: int,
    loss: Loss,
    classes: Any = None,
    labelled: Array | None = None,
    groups: Any = None,
    teacher_weight: Any = None,
) -> tuple[Array, Array | None]:
    """The q of every training row from clones of a scikit-learn estimator, and what it counts there.

    A clone learns from labelled rows that have a privileged value, with the numbers of the classes as labels. A frozen
    estimator has learned already, from ``classes``.
    """
    label, weight, n_rows = labels_of(dtrain), dtrain.get_weight(), dtrain.num_row()
    query = query_of_row(dtrain)
    if query is not None and weight.size:
        weight = weight[query]
    method = _checked_method(model, loss, weighted=weight.size > 0)
    target = label.astype(np.int64) if loss.probabilities else label
    exact = isinstance(model, FrozenEstimator)
    names = classes if exact and classes is not None else np.arange(max(int(target.max()) + 1, 2))

    empty = rows_without_values(table)
    counts = weight_beside(empty) if teacher_weight is None else read_teacher_weight(teacher_weight, n_rows)
    learned_from = ~empty if labelled is None else ~empty & labelled
    judged = np.ones(n_rows, bool) if counts is None else counts > 0
    fold_of = np.zeros(n_rows, int)
    if crossfit:
        groups = whole_queries(loss, dtrain, checked_groups(groups, n_rows, "crossfit_groups"))
        check_crossfit(crossfit, labelled, n_rows, groups)
        fold_of = deal_labelled(label, labelled, groups, crossfit, 0, classes=loss.probabilities)

    def fitted(rows: Array) -> Any:
        weights = {"sample_weight": weight[rows]} if weight.size else {}
        return clone(model).fit(take_rows(table, np.flatnonzero(rows)), target[rows], **weights)

    def answer(teacher: Any, rows: Array) -> Array:
        q = np.asarray(getattr(teacher, method)(take_rows(table, np.flatnonzero(rows))))
        if not loss.probabilities:
            return q
        q = _in_order(q, teacher, names, exact=exact)
        return q if loss.multiclass else q[:, 1]

    q = np.zeros((n_rows, len(names)) if loss.multiclass else label.shape)
    with sklearn.config_context(enable_metadata_routing=False):
        for fold in range(max(crossfit, 1)):
            teacher = fitted(learned_from & (fold_of != fold) if crossfit else learned_from)
            for rows, share in ((judged & (fold_of == fold), 1), (judged & (fold_of < 0), crossfit)):
                if rows.any():
                    q[rows] += answer(teacher, rows) / share
    return loss.said(q, label, judged if labelled is None else judged & labelled), counts


def _checked_method(model: Any, loss: Loss, *, weighted: bool) -> str:
    """The method of the teacher that says q."""
    method = "predict_proba" if loss.probabilities else "predict"
    if not hasattr(model, method):
        raise TypeError(
            f"the teacher {model!r} has no {method}, which the objective of the student needs: give a classifier "
            "with probabilities (CalibratedClassifierCV adds them) for classes, a regressor for numbers"
        )
    if weighted and not (has_fit_parameter(model, "sample_weight") or isinstance(model, FrozenEstimator)):
        raise ValueError(
            f"the fit of the teacher {model!r} takes no sample_weight, so the weights of the rows would be ignored: "
            "use another estimator, or leave sample_weight out"
        )
    return method


def _in_order(q: Array, model: Any, classes: Any, *, exact: bool) -> Array:
    """The columns of ``predict_proba`` in the order of the student's classes; they come in that of ``classes_``.

    Unless its classes must be these ones exactly, a class that the teacher never met has probability 0.
    """
    if not hasattr(model, "classes_"):
        return q
    own, wanted = list(model.classes_), list(classes)
    if not set(own) <= set(wanted) or (exact and len(own) < len(wanted)):
        raise ValueError(
            f"the teacher {model!r} tells the classes {own[:5]} apart, y has the classes {wanted[:5]}: which is which "
            "cannot be known. Train it on labels with the names that they have in y"
        )
    ordered = np.zeros((len(q), len(wanted)), q.dtype)
    ordered[:, [wanted.index(name) for name in own]] = q
    return ordered

"""An estimator of scikit-learn's kind as the teacher."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
import xgboost
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_predict
from sklearn.utils.validation import has_fit_parameter

from .._arrays import Array
from .._core.learned import check_crossfit
from .._core.losses import Loss
from .._stats.folds import deal_folds


def judged_by(
    model: Any, table: Any, dtrain: xgboost.DMatrix, *, crossfit: int, loss: Loss, classes: Any = None
) -> Array:
    """The q of every training row from a clone of a scikit-learn estimator, trained on privileged columns.

    A clone learns from the numbers of the classes. A frozen estimator has learned already, from ``classes``.
    """
    method = "predict_proba" if loss.probabilities else "predict"
    if not hasattr(model, method):
        raise TypeError(
            f"the teacher {model!r} has no {method}, which the objective of the student needs: give a classifier "
            "with probabilities (CalibratedClassifierCV adds them) for classes, a regressor for numbers"
        )
    label, weight = dtrain.get_label(), dtrain.get_weight()
    if weight.size and not (has_fit_parameter(model, "sample_weight") or isinstance(model, FrozenEstimator)):
        raise ValueError(
            f"the fit of the teacher {model!r} takes no sample_weight, so the weights of the rows would be ignored: "
            "use another estimator, or leave sample_weight out"
        )
    weights = {"sample_weight": weight} if weight.size else {}
    target = label.astype(np.int64) if loss.probabilities else label
    frozen = isinstance(model, FrozenEstimator)
    model = clone(model)
    if crossfit:
        check_crossfit(crossfit, None, len(label))
        folds = deal_folds(label, crossfit, 0)
        with sklearn.config_context(enable_metadata_routing=False):
            q = cross_val_predict(model, table, target, cv=folds, method=method, params=weights)
    else:
        q = getattr(model.fit(table, target, **weights), method)(table)
        if loss.probabilities:
            numbered = np.arange(max(int(target.max()) + 1, 2))
            q = _in_order(np.asarray(q), model, classes if frozen and classes is not None else numbered)
    q = np.asarray(q)
    return q[:, 1] if loss.probabilities and not loss.multiclass else q


def _in_order(q: Array, model: Any, classes: Any) -> Array:
    """The columns of ``predict_proba`` in the order of the student's classes; they come in that of ``classes_``."""
    if not hasattr(model, "classes_"):
        return q
    own, wanted = list(model.classes_), list(classes)
    if len(own) != len(wanted) or set(own) != set(wanted):
        raise ValueError(
            f"the teacher {model!r} tells the classes {own[:5]} apart, y has the classes {wanted[:5]}: which is which "
            "cannot be known. Train it on labels with the names that they have in y"
        )
    return q[:, [own.index(name) for name in wanted]]

"""An estimator with scikit-learn's interface, cloned for every fit."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._arrays import Array
from ..._rows.names import describe
from ..losses import Loss
from ..spec import Spec
from .features import Features


def is_estimator(teacher: Any) -> bool:
    """Whether this is an object that can be fitted."""
    return hasattr(teacher, "fit") and not isinstance(teacher, type)


def is_frozen(estimator: Any) -> bool:
    """Whether it is fitted and must not be fitted again."""
    if not is_estimator(estimator):
        return False
    from sklearn.frozen import FrozenEstimator

    return isinstance(estimator, FrozenEstimator)


@dataclasses.dataclass(frozen=True)
class EstimatorModel:
    """A fitted estimator; ``classes`` are in the order of the labels."""

    estimator: Any
    loss: Loss
    classes: Sequence[Any]
    is_frozen: bool
    """Whether it was fitted by the user, and so must know all the classes."""

    def predict(self, features: Features) -> Array:
        """The mean of each row, checked."""
        import sklearn

        name, method = type(self.estimator).__name__, _method(self.loss)
        with sklearn.config_context(enable_metadata_routing=False):
            q = np.asarray(getattr(self.estimator, method)(features.as_table()))
        if self.loss.probabilities:
            q = self._in_order(q)
            q = q if self.loss.multiclass else q[:, 1]
        elif q.ndim == 2 and q.shape[1] == 1:
            q = q[:, 0]
        n_rows = features.matrix.num_row()
        if len(q) != n_rows:
            raise ValueError(f"the teacher {name} must predict one value per row, got {len(q)} for {n_rows} rows")
        if q.dtype.kind not in "fiub" or not np.isfinite(q).all():
            raise ValueError(f"the {method} of the teacher {name} must be finite numbers: check its training data")
        if self.loss.by_query:  # scores, which have no scale
            return q.astype(np.float32)
        low, high = float(q.min()), float(q.max())
        if not self.loss.range.holds(low, high, slack=1e-6):
            raise ValueError(
                f"the {method} of the teacher {name} must {self.loss.range.must}, got values from {low:g} to {high:g}: "
                "use teacher='mixed', or an estimator for such labels (PoissonRegressor for counts)"
            )
        return np.clip(q, self.loss.range.low, self.loss.range.high).astype(np.float32)

    def _in_order(self, q: Array) -> Array:
        """The columns of ``predict_proba`` in the order of the student's classes; an unseen class has probability 0."""
        name = type(self.estimator).__name__
        own = list(getattr(self.estimator, "classes_", self.classes))
        if q.ndim != 2 or q.shape[1] != len(own):
            raise ValueError(
                f"the predict_proba of the teacher {name} must have one column for each of its {len(own)} classes, got "
                f"shape {q.shape}" + (": for several labels of a row use teacher='mixed'" if q.ndim == 3 else "")
            )
        wanted = list(self.classes)
        if not set(own) <= set(wanted) or (self.is_frozen and len(own) < len(wanted)):
            raise ValueError(
                f"the teacher {name} must have the classes of y, {wanted[:5]}, got {own[:5]}: fit it on labels with "
                "the names of y"
            )
        ordered = np.zeros((len(q), len(wanted)))
        ordered[:, [wanted.index(value) for value in own]] = q
        return ordered


def _method(loss: Loss) -> str:
    return "predict_proba" if loss.probabilities else "predict"


class Estimator:
    """Fits clones of an estimator on tables."""

    def __init__(self, estimator: Any, spec: Spec, classes: Sequence[Any] | None = None) -> None:
        self._estimator, self._spec = estimator, spec
        self._is_frozen = is_frozen(estimator)
        n_classes = max(spec.n_classes, 2)
        self._classes = list(range(n_classes) if classes is None or not self._is_frozen else classes)

    def check(self, features: Features, *, weighted: bool) -> None:
        """Raise, before any training, if it cannot predict for this objective, or was fitted on other columns."""
        from sklearn.utils.validation import has_fit_parameter

        name, method = type(self._estimator).__name__, _method(self._spec.loss)
        if not hasattr(self._estimator, method):
            raise TypeError(
                f"teacher must have {method} for {self._spec.objective}, got {name}: pass a classifier with "
                "probabilities (CalibratedClassifierCV adds them) for classes, a regressor for numbers"
            )
        fitted_on = getattr(self._estimator, "n_features_in_", None) if self._is_frozen else None
        if fitted_on is not None and (n_seen := features.as_table().shape[1]) != fitted_on:
            raise ValueError(
                f"teacher_sees must give the {name} the {fitted_on} columns that it was fitted on, it would see "
                f"{n_seen}: set teacher_sees='privileged' or 'all', or pass a matrix of those columns"
            )
        if weighted and not (has_fit_parameter(self._estimator, "sample_weight") or self._is_frozen):
            raise ValueError(
                f"teacher must take sample_weight in fit where rows have weights, got {name}: use another "
                "estimator, or leave the weights out"
            )

    def fit(self, features: Features, label: Array, weight: Array | None) -> EstimatorModel:
        """Fit a clone on these rows; a frozen estimator stays as it is."""
        import sklearn
        from sklearn.base import clone

        target = label.astype(np.int64) if self._spec.loss.probabilities else label
        weights = {} if weight is None else {"sample_weight": weight}
        model = clone(self._estimator)
        if not self._is_frozen:
            seed = int(self._spec.params.get("seed", self._spec.params.get("random_state", 0)))
            unset = {
                name: seed
                for name, value in model.get_params().items()
                if name.rpartition("__")[2] == "random_state" and value is None
            }
            model.set_params(**unset)
        with sklearn.config_context(enable_metadata_routing=False):
            try:
                model = model.fit(features.as_table(), target, **weights)
            except Exception as error:
                columns = "of your table" if features.table is not None else f"{describe(features.names)} of a DMatrix"
                error.add_note(f"raised by the teacher {type(model).__name__} on {len(target)} rows, columns {columns}")
                raise
        return EstimatorModel(model, self._spec.loss, self._classes, self._is_frozen)

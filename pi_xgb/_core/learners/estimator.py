"""An estimator with scikit-learn's interface, cloned for every fit."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._arrays import Array
from ..losses import NUMBERS, SHARES, Loss
from ..teachers import is_estimator
from ..training import Spec
from .features import Features, as_rates


def is_frozen(estimator: Any) -> bool:
    """Whether it is fitted and must not be fitted again."""
    if not is_estimator(estimator):
        return False
    from sklearn.frozen import FrozenEstimator

    return isinstance(estimator, FrozenEstimator)


def _exposure(loss: Loss, features: Features) -> Array | None:
    """The exposure of each row, None where there is none; an estimator predicts one unit of exposure."""
    return loss.mean(features.offset) if loss.has_exposure and features.offset is not None else None


def _weight_keyword(estimator: Any) -> str | None:
    """The keyword of ``fit`` for row weights, which pipelines, searches and votes pass on; None where it takes none."""
    from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
    from sklearn.utils.validation import has_fit_parameter

    if hasattr(estimator, "steps"):  # a pipeline
        name, last = estimator.steps[-1]
        keyword = _weight_keyword(last)
        return keyword and f"{name}__{keyword}"
    if isinstance(estimator, (GridSearchCV, RandomizedSearchCV)):
        return _weight_keyword(estimator.estimator)
    # Votes pass weights on to their members.
    members = [member for _, member in getattr(estimator, "estimators", ()) if member != "drop"] or [estimator]
    return "sample_weight" if all(has_fit_parameter(member, "sample_weight") for member in members) else None


@dataclasses.dataclass(frozen=True)
class Estimator:
    """An estimator, to be fitted on tables or fitted."""

    estimator: Any
    spec: Spec
    classes: Sequence[Any] | None
    """The names of the student's classes in the order of the labels, which a frozen estimator must know."""

    @property
    def _method(self) -> str:
        # The labels of reg:logistic may be shares, which a regressor learns.
        shares = self.spec.objective == "reg:logistic" and not hasattr(self.estimator, "predict_proba")
        return "predict_proba" if self.spec.loss.probabilities and not shares else "predict"

    def check(self, features: Features, label: Array, *, weighted: bool) -> None:
        """Raise, before any training, if it cannot predict for this objective, or was fitted on other columns."""
        name, objective = type(self.estimator).__name__, self.spec.objective
        learns_classes, frozen = self._method == "predict_proba", is_frozen(self.estimator)
        if not hasattr(self.estimator, self._method):
            raise TypeError(
                f"teacher must have {self._method} for {objective}, got {name}: pass a regressor for numbers, a "
                "classifier with probabilities for classes"
            )
        if hasattr(self.estimator, "predict_proba") and not (learns_classes or self.spec.loss.by_query):
            raise TypeError(f"teacher must predict means for {objective}, got the classifier {name}: pass a regressor")
        if learns_classes and (label.ndim == 2 or (not frozen and (label % 1).any())):
            raise ValueError(f"teacher must learn one class per row, got the classifier {name}: use teacher='mixed'")
        fitted_on = getattr(self.estimator, "n_features_in_", None) if frozen else None
        if fitted_on is not None and (n_seen := features.as_table().shape[1]) != fitted_on:
            raise ValueError(f"teacher_sees must give the {name} the {fitted_on} columns of its fit, not {n_seen}")
        if weighted and not (frozen or _weight_keyword(self.estimator)):
            raise ValueError(f"teacher must take sample_weight where rows have weights, got {name}: leave them out")

    def fit(self, features: Features, label: Array, weight: Array | None) -> Estimator:
        """Fit a clone on these rows; a frozen estimator stays as it is, since it ignores all of this."""
        import sklearn
        from sklearn.base import clone

        target = label.astype(np.int64) if self._method == "predict_proba" else label
        model = clone(self.estimator)
        exposure, keyword = _exposure(self.spec.loss, features), _weight_keyword(model)
        if exposure is not None:
            target, weight = as_rates(label, np.ones(len(label)) if weight is None else weight, exposure)
        weights = {} if weight is None or keyword is None else {keyword: weight}
        seed = int(self.spec.params.get("seed", self.spec.params.get("random_state", 0)))
        unset = [name for name, value in model.get_params().items() if value is None]
        model.set_params(**{name: seed for name in unset if name.rpartition("__")[2] == "random_state"})
        with sklearn.config_context(enable_metadata_routing=False):
            try:
                model.fit(features.as_table(), target, **weights)
            except Exception as error:
                error.add_note(f"raised by the teacher {type(model).__name__} on {len(target)} rows")
                raise
        return dataclasses.replace(self, estimator=model)

    def predict(self, features: Features) -> Array:
        """The mean of each row, checked."""
        import sklearn

        name, method, loss = type(self.estimator).__name__, self._method, self.spec.loss
        with sklearn.config_context(enable_metadata_routing=False):
            q = np.asarray(getattr(self.estimator, method)(features.as_table()))
        if method == "predict_proba":
            q = self._in_order(q)
            q = q if loss.multiclass else q[:, 1]
        elif q.ndim == 2 and q.shape[1] == 1:
            q = q[:, 0]
        if len(q) != (n_rows := features.matrix.num_row()):
            raise ValueError(f"the teacher {name} must predict one value per row, got {len(q)} for {n_rows} rows")
        advice = "use an estimator for such labels (PoissonRegressor for counts)"
        within = NUMBERS if loss.by_query else loss.range._replace(advice=advice)  # scores have no scale
        within.check(q, f"the {method} of the teacher {name}", slack=1e-6)
        exposure = _exposure(loss, features)
        return np.clip(q if exposure is None else q * exposure, within.low, within.high).astype(np.float32)

    def _in_order(self, q: Array) -> Array:
        """The columns of ``predict_proba`` in the order of the student's classes; an unseen class has probability 0."""
        name, frozen = type(self.estimator).__name__, is_frozen(self.estimator)
        wanted = list(self.classes if frozen and self.classes is not None else range(self.spec.n_classes or 2))
        own = list(getattr(self.estimator, "classes_", wanted))
        if q.shape[1:] != (len(own),):
            raise ValueError(f"the predict_proba of {name} must have {len(own)} columns (classes), got shape {q.shape}")
        if not set(own) <= set(wanted) or (frozen and len(own) < len(wanted)):
            raise ValueError(f"the teacher {name} must have the classes of y, {wanted[:5]}, got {own[:5]}: fit it on y")
        ordered = np.zeros((len(q), len(wanted)))
        ordered[:, [wanted.index(value) for value in own]] = q
        SHARES.check(ordered, f"the predict_proba of the teacher {name}", slack=1e-6)
        return ordered

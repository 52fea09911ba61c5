"""The trees of a booster or of a surrogate, and the rows, for fair importance."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost

from .._rows.checks import check_whole
from .._rows.groups import Groups
from .._rows.names import plain
from .._rows.per_row import check_count
from .._rows.scores import as_weights
from .._rows.supervision import row_weights
from .._xgb.booster import rounds_in_use
from .._xgb.trees import ALL_OUTPUTS, Array, TreeArrays, forest_with_leaves, read_trees
from .sklearn_trees import SklearnSubject, has_trees
from .surrogate import DEFAULTS, Predictions, fidelity, fit_surrogate, predictions_of


class Subject:
    """Trees of rounds ``begin`` to ``end`` of a booster, and the rows in XGBoost's form.

    A surrogate has the ``predictions`` that it imitates, and ``surrogate``, its fidelity and settings.
    """

    surrogate: dict[str, Any] | None = None

    def __init__(
        self,
        booster: xgboost.Booster,
        data: xgboost.DMatrix,
        begin: int,
        end: int,
        predictions: Predictions | None = None,
    ) -> None:
        self.booster, self.data, self.begin, self.end, self.predictions = booster, data, begin, end, predictions
        self.model = model = read_trees(booster)
        self.n_rows, self.weights = int(data.num_row()), np.asarray(data.get_weight())
        self._names = booster.feature_names or [f"f{i}" for i in range(booster.num_features())]
        self.features = booster.feature_names or data.feature_names or self._names
        self.n_features, self.n_outputs, self.objective = len(self._names), model.n_outputs, model.objective
        self.n_trees = model.rounds[end] - model.rounds[begin]
        self.classes = None if predictions is None else predictions.classes
        of_classes = model.is_multiclass if predictions is None else predictions.of_classes
        self.output_kind = "class" if of_classes else "target"

    def forest(self) -> tuple[TreeArrays, Array]:
        """Return all trees, and the leaf of each row."""
        return forest_with_leaves(self.booster, self.model, self.data, self.begin, self.end)

    def mean(self) -> Array:
        """Return the predictions on the scale of y, ``(n, K)``."""
        from scipy.special import expit, softmax

        if self.predictions is not None:
            mean = self.predictions.mean
        elif self.objective == "multi:softmax":
            mean = softmax(self.predict(output_margin=True), axis=1)
        elif self.objective == "binary:logitraw":
            mean = expit(self.predict(output_margin=True))
        else:
            mean = self.predict()
        return mean.reshape(self.n_rows, self.n_outputs)

    def gain(self, kind: str) -> Array:
        """Return XGBoost's own importance over the rounds; 0 for features that no split uses.

        NaN where XGBoost has none: for trees with vector leaves before 3.2.
        """
        all_rounds = (self.begin, self.end) == (0, self.model.n_rounds)
        booster = self.booster if all_rounds else self.booster[self.begin : self.end]
        try:
            score = booster.get_score(importance_type=kind)
        except xgboost.core.XGBoostError:
            if all(tree.output != ALL_OUTPUTS for tree in self.model.trees):
                raise
            return np.full(self.n_features, np.nan)
        return np.array([score.get(name, 0.0) for name in self._names])

    def predict(self, **what: bool) -> Array:
        """Return the booster's predictions over the rounds: of labels, margins or SHAP contributions."""
        return np.asarray(self.booster.predict(self.data, iteration_range=(self.begin, self.end), **what), np.float64)


def is_booster(model: Any) -> bool:
    """Return whether a model is a booster or an estimator of XGBoost's scikit-learn interface."""
    return isinstance(model, xgboost.Booster) or hasattr(model, "get_booster")


def booster_subject(estimator: Any, X: Any, n_rows: int, iteration_range: tuple[int, int] | None = None) -> Subject:
    """Return the trees of a booster, and the rows."""
    booster = estimator if isinstance(estimator, xgboost.Booster) else estimator.get_booster()
    n_rounds = booster.num_boosted_rounds()
    chosen = rounds_in_use(booster) if iteration_range is None else iteration_range
    begin, end = int(chosen[0]), int(chosen[1] or n_rounds)
    if not 0 <= begin < end <= n_rounds and (begin, end) != (0, n_rounds):
        raise ValueError(
            f"iteration_range must be (begin, end) with 0 <= begin < end <= {n_rounds} or end = 0, got {chosen}"
        )
    data = X
    if not isinstance(X, xgboost.DMatrix):
        data = xgboost.DMatrix(X, missing=getattr(estimator, "missing", np.nan), enable_categorical=True)
        if data.feature_names is None:  # XGBoost compares the names if there are any
            if data.num_col() != (n_features := booster.num_features()):
                raise ValueError(f"X must have the {n_features} features of the booster, got {data.num_col()}")
            data.feature_names = booster.feature_names
    check_count("sensitive_features", n_rows, data.num_row(), table="X")
    return Subject(booster, data, begin, end)


def subject_of(
    model: Any, X: Any, n_rows: int, iteration_range: Any, weight: Any, surrogate_params: Any, surrogate_rounds: int
) -> Subject | SklearnSubject:
    """Return the trees of a booster or of a scikit-learn model, or of a surrogate for any other model."""
    if is_booster(model):
        if surrogate_params is not None or surrogate_rounds != 1:
            raise ValueError("surrogate_params and surrogate_rounds are not for boosters, got one: leave them out")
        return booster_subject(model, X, n_rows, iteration_range)
    if iteration_range is not None:
        raise ValueError("iteration_range is for boosters only, got another model: leave it out")
    check_whole("surrogate_rounds", surrogate_rounds, 1)
    if has_trees(model) and surrogate_params is None and surrogate_rounds == 1:
        subject = SklearnSubject(model, X)
        check_count("sensitive_features", n_rows, subject.n_rows, table="X")
        return subject
    if isinstance(X, xgboost.DMatrix):
        raise TypeError("X must be a DataFrame or an array where the model is no booster, got a DMatrix: pass a table")
    params = DEFAULTS | dict(surrogate_params or {})
    predictions = predictions_of(model, X, n_rows)
    booster, data = fit_surrogate(X, predictions.mean, row_weights(weight, n_rows), params, surrogate_rounds)
    found = Subject(booster, data, 0, booster.num_boosted_rounds(), predictions)
    found.surrogate = fidelity(booster, data, predictions) | {"params": params, "rounds": surrogate_rounds}
    return found


def read_weights(sample_weight: Any, data_weights: Array, groups: Groups) -> Array:
    """Return the user's weights, else those of the data, else ones."""
    given = data_weights if sample_weight is None and data_weights.size else sample_weight
    weight = as_weights(given, groups.codes.size)
    by_group = np.bincount(groups.codes, weight)
    if not by_group.all():
        raise ValueError(
            "sample_weight must be above 0 in some row of every group, got 0 in all rows of group "
            f"{plain(groups.names[int(by_group.argmin())])!r}: drop its rows"
        )
    return weight

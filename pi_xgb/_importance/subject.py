"""The trees of a booster or of a surrogate, and the rows, for fair importance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xgboost

from .._rows.checks import check_whole
from .._rows.per_row import check_count
from .._rows.supervision import row_weights
from .._xgb.booster import rounds_in_use
from .._xgb.trees import ALL_OUTPUTS, Array, Forest, TreeModel, forests_with_leaves, read_trees
from .sklearn_trees import SklearnSubject, has_trees
from .surrogate import Predictions, fidelity, fit_surrogate, merged_params, predictions_of


@dataclass(frozen=True)
class Subject:
    """Trees of rounds ``begin`` to ``end`` and the rows in XGBoost's form.

    ``output_kind`` is "class" or "target". ``predictions`` and ``surrogate`` (its fidelity and settings) are not None
    if the trees are those of a surrogate.
    """

    booster: xgboost.Booster
    model: TreeModel
    data: xgboost.DMatrix
    begin: int
    end: int
    output_kind: str
    predictions: Predictions | None = None
    surrogate: dict[str, Any] | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.data.num_row())

    @property
    def n_features(self) -> int:
        """The number of features that the trees may split on."""
        return int(self.booster.num_features())

    @property
    def n_outputs(self) -> int:
        """The number of classes or targets."""
        return self.model.n_outputs

    @property
    def objective(self) -> str:
        """The objective of the booster."""
        return self.model.objective

    @property
    def weights(self) -> Array:
        """The weights of the rows; empty without weights."""
        return np.asarray(self.data.get_weight())

    def forests(self) -> Iterator[tuple[Forest, Array]]:
        """Yield trees and the leaf of each row, as many trees at once as memory allows."""
        return forests_with_leaves(self.booster, self.model, self.data, self.begin, self.end)

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return self.model.rounds[self.end] - self.model.rounds[self.begin]

    @property
    def features(self) -> Sequence[str]:
        """The names of the features: the booster's, else those of the rows, else f0, f1, ..."""
        return self.booster.feature_names or self.data.feature_names or self._numbered_features()

    @property
    def classes(self) -> Array | None:
        """The classes of the model that a surrogate imitates, or None."""
        return None if self.predictions is None else self.predictions.classes

    @property
    def output_names(self) -> list[str]:
        """The names of the classes or targets."""
        return [str(name) for name in (range(self.model.n_outputs) if self.classes is None else self.classes)]

    def mean(self) -> Array:
        """Return the predictions on the scale of y, ``(n, K)``."""
        objective = self.model.objective
        if self.predictions is not None:
            mean = self.predictions.mean
        elif objective == "multi:softmax":
            mean = _softmax(self._predict(output_margin=True))
        elif objective == "binary:logitraw":
            mean = 1.0 / (1.0 + np.exp(-self._predict(output_margin=True)))
        else:
            mean = self._predict(output_margin=False)
        return mean.reshape(self.data.num_row(), self.model.n_outputs)

    def contributions(self) -> Array:
        """Return the SHAP contribution of each feature to each row's margin, and last the intercept, ``(n, F + 1)``."""
        rounds = (self.begin, self.end)
        return np.asarray(self.booster.predict(self.data, pred_contribs=True, iteration_range=rounds), np.float64)

    def gain(self, kind: str) -> Array:
        """Return XGBoost's own importance over the rounds; 0 for features that no split uses.

        NaN where XGBoost has none: for trees with vector leaves before 3.2.
        """
        names = self.booster.feature_names or self._numbered_features()
        all_rounds = (self.begin, self.end) == (0, self.model.n_rounds)
        booster = self.booster if all_rounds else self.booster[self.begin : self.end]
        try:
            score = booster.get_score(importance_type=kind)
        except xgboost.core.XGBoostError:
            if all(tree.output != ALL_OUTPUTS for tree in self.model.trees):
                raise
            return np.full(len(names), np.nan)
        return np.array([score.get(name, 0.0) for name in names])

    def _predict(self, *, output_margin: bool) -> Array:
        rounds = (self.begin, self.end)
        mean = self.booster.predict(self.data, output_margin=output_margin, iteration_range=rounds)
        return np.asarray(mean, dtype=np.float64)

    def _numbered_features(self) -> list[str]:
        return [f"f{i}" for i in range(self.booster.num_features())]


def _softmax(margin: Array) -> Array:
    odds = np.exp(margin - margin.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def is_booster(model: Any) -> bool:
    """Return whether a model is a booster or an estimator of XGBoost's scikit-learn interface."""
    return isinstance(model, xgboost.Booster) or hasattr(model, "get_booster")


def booster_subject(estimator: Any, X: Any, n_rows: int, iteration_range: tuple[int, int] | None = None) -> Subject:
    """Return the trees of a booster, and the rows."""
    booster = estimator if isinstance(estimator, xgboost.Booster) else estimator.get_booster()
    model = read_trees(booster)
    begin, end = _rounds(booster, model, iteration_range)
    data = X
    if not isinstance(X, xgboost.DMatrix):
        data = xgboost.DMatrix(X, missing=getattr(estimator, "missing", np.nan), enable_categorical=True)
        if data.feature_names is None:  # XGBoost compares the names if there are any
            if data.num_col() != booster.num_features():
                raise ValueError(
                    f"X must have the {booster.num_features()} features of the booster, got {data.num_col()}"
                )
            data.feature_names = booster.feature_names
    check_count("sensitive_features", n_rows, data.num_row(), table="X")
    return Subject(booster, model, data, begin, end, "class" if model.is_multiclass else "target")


def _rounds(booster: xgboost.Booster, model: TreeModel, iteration_range: tuple[int, int] | None) -> tuple[int, int]:
    """Return the rounds to read, with 0 <= begin <= end <= the rounds of the model."""
    n_rounds = model.n_rounds
    chosen = rounds_in_use(booster) if iteration_range is None else iteration_range
    begin, end = chosen[0], chosen[1] or n_rounds
    if not 0 <= begin < end <= n_rounds and (begin, end) != (0, n_rounds):
        raise ValueError(
            f"iteration_range must be (begin, end) with 0 <= begin < end <= {n_rounds}, the rounds of the "
            f"booster, or end = 0 for all, got {tuple(chosen)}"
        )
    return int(begin), int(end)


def subject_of(
    model: Any,
    X: Any,
    n_rows: int,
    iteration_range: tuple[int, int] | None,
    sample_weight: Any,
    surrogate_params: Mapping[str, Any] | None,
    surrogate_rounds: int,
) -> Subject | SklearnSubject:
    """Return the trees of a booster or of a scikit-learn model, or of a surrogate for any other model."""
    if is_booster(model):
        if surrogate_params is not None or surrogate_rounds != 1:
            raise ValueError(
                "surrogate_params and surrogate_rounds must be left out with a booster: leave them out, or pass the "
                "booster's predictions in its place"
            )
        return booster_subject(model, X, n_rows, iteration_range)
    if iteration_range is not None:
        raise ValueError(
            "iteration_range is for boosters only, got another model: leave it out, or set surrogate_rounds"
        )
    check_whole("surrogate_rounds", surrogate_rounds, 1)
    if has_trees(model) and surrogate_params is None and surrogate_rounds == 1:
        subject = SklearnSubject(model, X)
        check_count("sensitive_features", n_rows, subject.n_rows, table="X")
        return subject
    if isinstance(X, xgboost.DMatrix):
        raise TypeError(
            "X must be a DataFrame or an array for a model that is not a booster, got a DMatrix: pass the table "
            "that it was built from, to train a surrogate on"
        )
    predictions = predictions_of(model, X, n_rows)
    weight = row_weights(sample_weight, n_rows)
    booster, data = fit_surrogate(X, predictions.mean, weight, surrogate_params, surrogate_rounds)
    settings = {"params": merged_params(surrogate_params), "rounds": surrogate_rounds}
    return Subject(
        booster,
        trees := read_trees(booster),
        data,
        begin=0,
        end=trees.n_rounds,
        output_kind="class" if predictions.of_classes else "target",
        predictions=predictions,
        surrogate=fidelity(booster, data, predictions) | settings,
    )

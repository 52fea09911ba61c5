"""The checked input of a report: models with their scores, and the rows of the evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._importance.subject import Subject, booster_subject, is_booster
from .._rows.groups import Groups, as_groups, encoded_columns
from .._rows.names import printable
from .._rows.per_row import SHARE
from .._rows.scores import Bools, Floats, as_cut, as_labels, as_scores
from .._rows.supervision import row_weights
from .._rows.tables import check_orders
from ..metrics._rates import Values


@dataclass(frozen=True)
class ReportRows:
    """The rows of a report. ``sensitive`` has the sensitive columns as text, as the page shows them."""

    labels: Bools
    weights: Values | None
    groups: Groups
    sensitive: pd.DataFrame
    n_columns: int

    def views(self) -> list[tuple[str, list[str]]]:
        """Return name and columns of each sensitive feature with two or more groups, then of their intersections."""
        columns = list(self.sensitive.columns)
        alone = [(name, [name]) for name in columns if self.sensitive[name].nunique() > 1]
        return alone if len(columns) == 1 else [*alone, (" × ".join(columns), columns)]


@dataclass(frozen=True)
class ScoredModel:
    """A model with its probabilities of label 1.

    ``features`` is X as this model takes it. Only models of XGBoost have a ``subject``, their trees and rounds.
    """

    name: str
    model: Any
    features: Any
    scores: Floats
    threshold: float
    subject: Subject | None = None


def read_rows(X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> ReportRows:
    """Return labels, weights and groups; a DMatrix may have its own labels and weights."""
    if isinstance(X, xgboost.DMatrix):
        n_rows, n_columns = X.num_row(), X.num_col()
        y = X.get_label() if y is None else y
        sample_weight = X.get_weight() if sample_weight is None and X.get_weight().size else sample_weight
    elif not hasattr(X, "shape") or len(X.shape) != 2:
        raise TypeError(f"X must be a DataFrame, an array of two dimensions or a DMatrix, got {type(X).__name__}")
    else:
        n_rows, n_columns = map(int, X.shape)
    labels = as_labels(y, n_rows, "y", "X")
    columns = encoded_columns(sensitive_features, labels.size)
    names = _distinct("sensitive_features has columns", [column.names.name for column in columns])
    sensitive = pd.DataFrame({name: _in_words(column) for name, column in zip(names, columns, strict=True)})
    groups = as_groups(sensitive, labels.size, are_compared=True)
    check_orders({"X": X, "y": y, "sensitive_features": sensitive_features})
    return ReportRows(labels, row_weights(sample_weight, labels.size), groups, sensitive, n_columns)


def _in_words(column: Groups) -> pd.Categorical[Any]:
    """Return a sensitive column as text, with its groups in their original order."""
    words = _distinct(f"sensitive_features: {column.names.name!r} has groups", column.names)
    return pd.Categorical.from_codes(column.codes.tolist(), pd.Index(words))


def _distinct(what: str, names: Any) -> list[str]:
    """Return names as a page can show them; raise if two become the same."""
    words = [printable(str(name)) for name in names]
    if len(set(words)) < len(words):
        raise ValueError(f"{what} with names that are the same as text, {words}: rename one")
    return words


def read_models(models: Any, threshold: Any, X: Any, n_rows: int) -> list[ScoredModel]:
    """Return models with their scores and thresholds; a single model is called "model"."""
    given = models if isinstance(models, Mapping) else {"model": models}
    if not given:
        raise ValueError("models is empty: pass at least one model")
    names = _distinct("models has keys", given)
    cuts = threshold if isinstance(threshold, Mapping) else dict.fromkeys(given, threshold)
    if set(cuts) != set(given):
        raise ValueError(f"threshold must have one value for each of the models {names}, got {list(cuts)}")
    return [_scored(name, given[key], X, n_rows, as_cut(cuts[key])) for name, key in zip(names, given, strict=True)]


def _scored(name: str, model: Any, X: Any, n_rows: int, threshold: float) -> ScoredModel:
    """Return a model with its scores; errors name the model."""
    if not is_booster(model) and not hasattr(model, "predict_proba"):
        raise TypeError(
            f"model {name!r} must be a booster, XGBoost estimator or have predict_proba, got {type(model).__name__}: "
            "pass such a model, or a dict from names to models"
        )
    try:
        features, scores, subject = _of_booster(model, X, n_rows) if is_booster(model) else _of_other(model, X)
        scores = as_scores(scores, SHARE, "train it with objective='binary:logistic'", "its predictions")
    except (ValueError, TypeError) as error:
        raise type(error)(f"model {name!r}: {error}") from error
    return ScoredModel(name, model, features, scores, threshold, subject)


def _of_booster(model: Any, X: Any, n_rows: int) -> tuple[Any, Floats, Subject]:
    booster = model if isinstance(model, xgboost.Booster) else model.get_booster()
    subject = booster_subject(model, _own_columns(X, booster.feature_names), n_rows)
    if subject.n_outputs > 1:
        raise ValueError(f"outputs must be 1, got {subject.n_outputs}: pass a model of binary labels")
    return subject.data, subject.mean()[:, 0].astype(np.float32), subject


def _of_other(model: Any, X: Any) -> tuple[Any, Floats, None]:
    if isinstance(X, xgboost.DMatrix):
        raise TypeError("X must be a DataFrame or an array for a model other than a booster, got DMatrix")
    features = _own_columns(X, getattr(model, "feature_names_in_", None))
    proba = np.asarray(model.predict_proba(features))
    if proba.ndim != 2 or proba.shape[1] != 2:
        raise ValueError(f"predict_proba must return two columns, of label 0 and label 1, got shape {proba.shape}")
    return features, proba[:, 1], None


def _own_columns(X: Any, names: Any) -> Any:
    """Select the columns of a DataFrame that the model was trained on, in its order."""
    has_all = isinstance(X, pd.DataFrame) and names is not None and set(names) <= set(X.columns)
    return X[list(names)] if has_all else X

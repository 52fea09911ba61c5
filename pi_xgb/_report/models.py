"""What a report is about: the models with their scores, and the rows they are judged on; all of it checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._importance.subject import booster_subject, is_booster
from .._rows.groups import Groups, as_groups, check_several, encoded_columns
from .._rows.names import printable
from .._rows.supervision import row_weights
from .._rows.vectors import Bools, Floats, as_cut, as_labels, as_scores
from ..metrics._rates import Values


@dataclass(frozen=True)
class JudgedRows:
    """The rows of a report. ``sensitive`` has the sensitive columns in words, which is what the page shows."""

    labels: Bools
    weights: Values | None
    groups: Groups
    sensitive: pd.DataFrame


@dataclass(frozen=True)
class JudgedModel:
    """A model with its probabilities of label 1.

    ``features`` is X as this model takes it. The ``booster`` and its rounds (begin, end, all) are there for models
    of XGBoost.
    """

    name: str
    model: Any
    features: Any
    scores: Floats
    threshold: float
    booster: xgboost.Booster | None = None
    rounds: tuple[int, ...] = ()


def read_rows(X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> JudgedRows:
    """Labels, weights and groups; a DMatrix may bring its own labels and weights."""
    if isinstance(X, xgboost.DMatrix):
        n_rows = X.num_row()
        y = X.get_label() if y is None else y
        sample_weight = X.get_weight() if sample_weight is None and X.get_weight().size else sample_weight
    elif not hasattr(X, "shape") or len(X.shape) != 2:
        raise TypeError(f"X must be a DataFrame, an array of two dimensions or a DMatrix, got {type(X).__name__}")
    else:
        n_rows = int(X.shape[0])
    labels = as_labels(y, n_rows, "y", "X")
    columns = encoded_columns(sensitive_features, labels.size)
    sensitive = pd.DataFrame({printable(str(column.names.name)): _in_words(column) for column in columns})
    if sensitive.shape[1] < len(columns):
        raise ValueError("two columns of sensitive_features have the same name in words: rename one of them")
    groups = as_groups(sensitive, labels.size)
    check_several(groups)
    return JudgedRows(labels, row_weights(sample_weight, labels.size), groups, sensitive)


def _in_words(column: Groups) -> pd.Categorical[Any]:
    """A sensitive column as text, with its groups in their own order."""
    words = pd.Index([printable(str(name)) for name in column.names])
    if len(set(words)) < len(words):
        raise ValueError(f"two groups of {column.names.name!r} read the same in words: rename one of them")
    return pd.Categorical.from_codes(column.codes.tolist(), words)


def as_models(models: Any) -> dict[str, Any]:
    """Models by name; a single one is called "model"."""
    if isinstance(models, (list, tuple)):
        raise TypeError("models must be one model or a dict from names to models, got a sequence: names are needed")
    if not isinstance(models, Mapping):
        return {"model": models}
    if not models:
        raise ValueError("models is empty: give at least one model to report on")
    named = {printable(str(name)): model for name, model in models.items()}
    if len(named) < len(models):
        raise ValueError(f"two models have the same name in words: {[str(name) for name in models]}")
    return named


def as_thresholds(threshold: Any, names: list[str]) -> dict[str, float]:
    """One threshold for all models, or one for each of them."""
    if not isinstance(threshold, Mapping):
        return dict.fromkeys(names, as_cut(threshold))
    given = {printable(str(name)): as_cut(value) for name, value in threshold.items()}
    if set(given) != set(names):
        raise ValueError(f"threshold must have one value for each of the models {names}, it has {list(given)}")
    return given


def read_model(name: str, model: Any, X: Any, n_rows: int, threshold: float) -> JudgedModel:
    """A model's scores, with a message that names it where something does not fit."""
    if not is_booster(model) and not hasattr(model, "predict_proba"):
        raise TypeError(
            f"model {name!r} must be an xgboost.Booster, an estimator of XGBoost's scikit-learn interface, or "
            f"another model with predict_proba, got {type(model).__name__}"
        )
    try:
        return _booster(name, model, X, n_rows, threshold) if is_booster(model) else _other(name, model, X, threshold)
    except (ValueError, TypeError) as error:
        raise type(error)(f"model {name!r}: {error}") from error


def _booster(name: str, model: Any, X: Any, n_rows: int, threshold: float) -> JudgedModel:
    booster = model if isinstance(model, xgboost.Booster) else model.get_booster()
    subject = booster_subject(model, _own_columns(X, booster.feature_names), n_rows)
    if subject.model.n_outputs > 1:
        raise ValueError(f"it has {subject.model.n_outputs} outputs, and a report is about one probability per row")
    scores = booster.predict(subject.data, iteration_range=(subject.begin, subject.end))
    if subject.model.objective == "binary:logitraw":
        scores = 0.5 + 0.5 * np.tanh(scores / 2)
    rounds = (subject.begin, subject.end, subject.model.n_rounds)
    return JudgedModel(name, model, subject.data, _probabilities(scores), threshold, booster, rounds)


def _other(name: str, model: Any, X: Any, threshold: float) -> JudgedModel:
    if isinstance(X, xgboost.DMatrix):
        raise TypeError("it is not a booster and cannot read a DMatrix: pass X as a DataFrame or an array")
    features = _own_columns(X, getattr(model, "feature_names_in_", None))
    answer = np.asarray(model.predict_proba(features))
    if answer.ndim != 2 or answer.shape[1] != 2:
        raise ValueError(f"predict_proba must give two columns, of label 0 and label 1, got shape {answer.shape}")
    return JudgedModel(name, model, features, _probabilities(answer[:, 1]), threshold)


def _own_columns(X: Any, names: Any) -> Any:
    """Of a table with more columns those that the model was trained on, in its order."""
    if isinstance(X, pd.DataFrame) and names is not None and set(names) <= set(X.columns):
        return X[list(names)]
    return X


def _probabilities(scores: Any) -> Floats:
    return as_scores(scores, (0.0, 1.0), "train it with objective='binary:logistic'", "its predictions")

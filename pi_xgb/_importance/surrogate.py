"""A small booster that imitates another model's predictions, and how well it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._rows.per_row import FINITE, per_row
from .._xgb.trees import Array

DEFAULTS = {"objective": "reg:squarederror", "max_depth": 6, "learning_rate": 1.0, "reg_lambda": 0.0}
"""An ordinary regression tree: no shrinkage, no penalty."""

ALIASES = {"learning_rate": "eta", "reg_lambda": "lambda"}


@dataclass(frozen=True)
class Predictions:
    """What a model says: ``(n,)`` numbers or probabilities of the second class, or ``(n, K)``."""

    mean: Array
    classes: Array | None
    of_classes: bool


def predictions_of(model: Any, X: Any, n_rows: int) -> Predictions:
    """The predictions of an object with ``predict_proba`` or ``predict``, or the predictions themselves."""
    classes = getattr(model, "classes_", None)
    classes = None if classes is None else np.asarray(classes)
    if hasattr(model, "predict_proba"):
        answer = model.predict_proba(X)
    elif not hasattr(model, "predict"):
        answer = model
    else:
        answer = model.predict(X)
        answer = answer if classes is None else np.asarray(answer).reshape(-1, 1) == classes
    if np.ndim(answer) == 0:
        raise TypeError(f"booster must be a model with predict_proba or predict, or its predictions, got {answer!r}")
    mean = per_row("the predictions of the model", answer, n_rows, within=FINITE, several=True)
    n_columns = mean.size // len(mean)
    of_classes = hasattr(model, "predict_proba") or classes is not None or n_columns > 1
    if mean.ndim == 2 and n_columns <= 2:  # The second of two classes says all.
        mean = np.ascontiguousarray(mean[:, -1])
    return Predictions(mean, classes, of_classes)


def fit_surrogate(
    X: Any, mean: Array, weight: Array | None, params: Mapping[str, Any] | None, rounds: int
) -> tuple[xgboost.Booster, xgboost.DMatrix]:
    """Fit ``rounds`` trees (for each output) to the predictions; the data comes back for further use."""
    data = xgboost.DMatrix(_with_categories(X), label=mean, weight=weight, enable_categorical=True)
    return xgboost.train(merged_params(params), data, rounds), data


def merged_params(params: Mapping[str, Any] | None) -> dict[str, Any]:
    """The user's parameters over the defaults, whichever name of a parameter they use."""
    given = dict(params or {})
    return {name: value for name, value in DEFAULTS.items() if ALIASES.get(name) not in given} | given


def _with_categories(X: Any) -> Any:
    """A DataFrame whose text columns, which XGBoost refuses, are categories; anything else as it is."""
    if not isinstance(X, pd.DataFrame):
        return X
    text = [column for column in X.columns if X[column].dtype == object or pd.api.types.is_string_dtype(X[column])]
    return X.astype(dict.fromkeys(text, "category")) if text else X


def fidelity(booster: xgboost.Booster, data: xgboost.DMatrix, predictions: Predictions) -> dict[str, float]:
    """How well the surrogate imitates the model on these rows: ``r2``, and the share of equal decisions.

    ``agreement`` compares the likeliest classes (``>= 0.5`` for two) and is NaN for a model of numbers.
    """
    mean = predictions.mean.reshape(data.num_row(), -1)
    imitated = booster.predict(data).astype(np.float64).reshape(mean.shape)
    weight = data.get_weight() if data.get_weight().size else np.ones(data.num_row())
    centre = np.average(mean, axis=0, weights=weight)
    spread = float(weight @ ((mean - centre) ** 2).sum(axis=1))
    missed = float(weight @ ((mean - imitated) ** 2).sum(axis=1))
    # A constant model leaves nothing to explain, and the surrogate's constant is right up to float32.
    explained = 1.0 - missed / spread if spread > 1e-12 * float(weight @ (mean**2).sum(axis=1)) else 1.0
    agreement = np.nan
    if predictions.of_classes:
        agreement = float(np.average(_decisions(mean) == _decisions(imitated), weights=weight))
    return {"r2": explained, "agreement": agreement}


def _decisions(mean: Array) -> Array:
    return np.asarray(mean[:, 0] >= 0.5 if mean.shape[1] == 1 else mean.argmax(axis=1))

"""A small booster that imitates another model's predictions, and its fidelity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._rows.per_row import FINITE, per_row
from .._xgb.trees import Array

DEFAULTS = {"objective": "reg:squarederror", "max_depth": 6, "eta": 1.0, "lambda": 0.0}
"""An ordinary regression tree: no shrinkage, no penalty. A ``learning_rate`` or ``reg_lambda`` wins in XGBoost."""


@dataclass(frozen=True)
class Predictions:
    """The predictions of a model: ``(n,)`` numbers or probabilities of the second class, or ``(n, K)``."""

    mean: Array
    classes: Array | None
    of_classes: bool


def predictions_of(model: Any, X: Any, n_rows: int) -> Predictions:
    """Return the predictions of an object with ``predict_proba`` or ``predict``, or of an array."""
    classes = getattr(model, "classes_", None)
    values: Any = model
    if hasattr(model, "predict_proba"):
        values = model.predict_proba(X)
    elif hasattr(model, "predict"):
        values = model.predict(X)
        values = values if classes is None else np.asarray(values).reshape(-1, 1) == np.asarray(classes)
    if np.ndim(values) == 0:
        raise TypeError(f"booster must be a model with predict_proba or predict, or its predictions, got {values!r}")
    mean = per_row("the predictions of the model", values, n_rows, within=FINITE, several=True)
    n_columns = mean.size // len(mean)
    if mean.ndim == 2 and n_columns <= 2:  # two classes need one probability
        mean = np.ascontiguousarray(mean[:, -1])
    of_classes = hasattr(model, "predict_proba") or classes is not None or n_columns > 1
    return Predictions(mean, None if classes is None else np.asarray(classes), of_classes)


def fit_surrogate(
    X: Any, mean: Array, weight: Array | None, params: dict[str, Any], rounds: int
) -> tuple[xgboost.Booster, xgboost.DMatrix]:
    """Return a booster of ``rounds`` trees (per output) fitted to the predictions, and its matrix."""
    if isinstance(X, pd.DataFrame):  # XGBoost takes text as categories only
        text = [name for name in X.columns if X[name].dtype == object or pd.api.types.is_string_dtype(X[name])]
        X = X.astype(dict.fromkeys(text, "category"))
    data = xgboost.DMatrix(X, label=mean, weight=weight, enable_categorical=True)
    return xgboost.train(params, data, rounds), data


def fidelity(booster: xgboost.Booster, data: xgboost.DMatrix, predictions: Predictions) -> dict[str, float]:
    """Return the fidelity on these rows: ``r2``, and ``agreement``, the share of equal decisions.

    ``agreement`` compares the most probable classes (``>= 0.5`` for two) and is NaN for regression.
    """
    mean = predictions.mean.reshape(data.num_row(), -1)
    imitated = booster.predict(data).astype(np.float64).reshape(mean.shape)
    weight = data.get_weight() if data.get_weight().size else np.ones(data.num_row())
    centre = np.average(mean, axis=0, weights=weight)
    spread = float(weight @ ((mean - centre) ** 2).sum(axis=1))
    missed = float(weight @ ((mean - imitated) ** 2).sum(axis=1))
    # A constant model has no variance to explain; the surrogate's constant is right up to float32.
    explained = 1.0 - missed / spread if spread > 1e-12 * float(weight @ (mean**2).sum(axis=1)) else 1.0
    same = (_decisions(mean) == _decisions(imitated)) if predictions.of_classes else np.full(len(mean), np.nan)
    return {"r2": explained, "agreement": float(np.average(same, weights=weight))}


def _decisions(mean: Array) -> Array:
    return np.asarray(mean[:, 0] >= 0.5 if mean.shape[1] == 1 else mean.argmax(axis=1))

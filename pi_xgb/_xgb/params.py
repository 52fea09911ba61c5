"""XGBoost's params: copied, and read under XGBoost's names and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xgboost

from .booster import configuration_of
from .signature import TRAINING_KEYWORDS

# XGBoost 3.1 starts each class at its share, taken as a margin; later versions at the logarithm of its share.
SHARES_ARE_MARGINS = tuple(int(part) for part in xgboost.__version__.split(".")[:2]) < (3, 2)


def as_number(value: Any, name: str) -> float:
    """Return the value of a parameter, which may be a text, as a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None


def check_scale_pos_weight(scale: Any) -> float:
    """Return the factor on the weight of rows labelled 1, or raise if it is not a finite number of at least 0."""
    number = as_number(scale, "scale_pos_weight")
    if not 0 <= number < np.inf:
        raise ValueError(f"scale_pos_weight must be finite and at least 0, got {scale!r}: 1 changes no weight")
    return number


def user_params(params: Any) -> dict[str, Any]:
    """Return a copy of the params, a dict or a list of pairs (in which eval_metric may be repeated)."""
    try:
        # XGBoost reads None as "not given".
        copied = {key: value for key, value in dict(params or {}).items() if value is not None}
    except (TypeError, ValueError):
        raise TypeError(f"params must be a dict or a list of pairs (name, value), got {params!r}") from None
    if params is not None and not isinstance(params, Mapping):
        metrics = [value for key, value in params if key == "eval_metric"]
        if len(metrics) > 1:
            copied["eval_metric"] = metrics
    for name in TRAINING_KEYWORDS & copied.keys():  # XGBoost would only warn that they are unused
        raise ValueError(
            f"{name} is not a parameter of XGBoost: pass it as a keyword, train(params, dtrain, {name}=...)"
        )
    return copied


def check_by_xgboost(params: dict[str, Any], dtrain: xgboost.DMatrix, xgb_model: Any) -> None:
    """Raise what XGBoost raises for these params and this model when a training begins."""
    booster = xgboost.Booster(params, [dtrain], model_file=xgb_model)
    booster.set_param({"validate_parameters": False})  # the training warns of unused ones
    booster.save_config()


def objective_name(params: Mapping[str, Any]) -> str:
    """Return the objective that XGBoost uses for these params."""
    return str(params.get("objective", "multi:softmax" if class_count(params) > 1 else "reg:squarederror"))


def class_count(params: Mapping[str, Any]) -> int:
    """Return ``num_class``, or 0 if it is not set."""
    return int(params.get("num_class") or 0)


def carried_objective_params(xgb_model: Any) -> dict[str, Any]:
    """Return the objective's parameters stored in a continued booster or its file."""
    if xgb_model is None:
        return {}
    booster = xgb_model if isinstance(xgb_model, xgboost.Booster) else xgboost.Booster(model_file=xgb_model)
    return configuration_of(booster).objective_params

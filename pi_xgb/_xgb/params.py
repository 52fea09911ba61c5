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


def objective_name(params: Mapping[str, Any]) -> str:
    """Return the objective that XGBoost uses for these params."""
    return str(params.get("objective", "multi:softmax" if class_count(params) > 1 else "reg:squarederror"))


def class_count(params: Mapping[str, Any]) -> int:
    """Return ``num_class``, or 0 if it is not set."""
    return int(params.get("num_class") or 0)


# Each key holds all names of a parameter. Of two that are given XGBoost uses the last in the alphabet, in any order.
_LAMBDA, _MIN_CHILD_WEIGHT, _ETA = ("lambda", "reg_lambda"), ("min_child_weight",), ("eta", "learning_rate")
_SCALED = {_LAMBDA: 1.0, ("alpha", "reg_alpha"): 0.0, ("gamma", "min_split_loss"): 0.0, _MIN_CHILD_WEIGHT: 1.0}
_DEFAULTS = {**_SCALED, _ETA: 0.3}


def native_params(
    params: Mapping[str, Any], factor: float, carried: Mapping[str, Any], *, scales_positives: bool
) -> dict[str, Any]:
    """Return the params under which XGBoost's own objective grows the trees of gradient and Hessian times ``factor``.

    ``carried`` are the parameters of a continued booster, which ``params`` override. ``scales_positives``: the
    objective reads ``scale_pos_weight``.
    """
    scaled = {name: value for name, value in params.items() if not any(name in names for names in _SCALED)}
    scaled |= {names[0]: _in_force(names, carried, params) / factor for names in _SCALED}
    if scales_positives:
        # XGBoost applies it to labels of exactly 1, and blended targets rarely are: the row weights contain it.
        scaled["scale_pos_weight"] = 1.0
    return scaled


def give_back_params(
    booster: xgboost.Booster, params: Mapping[str, Any], carried: Mapping[str, Any], *, scales_positives: bool
) -> None:
    """Restore the user's params in the booster, which passes them on to its continuation."""
    given: dict[str, float] = {names[0]: _in_force(names, carried, params) for names in _SCALED}
    if scales_positives:
        given["scale_pos_weight"] = check_scale_pos_weight(params.get("scale_pos_weight", 1))
    booster.set_param(given)


def _in_force(names: tuple[str, ...], *sources: Mapping[str, Any]) -> float:
    given = [source[name] for source in sources for name in names if name in source]
    return float(given[-1] if given else _DEFAULTS[names])


def steps_of(settings: Mapping[str, Any]) -> tuple[float, float]:
    """Return the learning rate, and the larger of lambda and min_child_weight, which both shrink leaves of few rows."""
    return _in_force(_ETA, settings), max(_in_force(names, settings) for names in (_LAMBDA, _MIN_CHILD_WEIGHT))


def carried_params(xgb_model: Any) -> dict[str, Any]:
    """Return the parameters of a continued Booster; a file stores those of trees as defaults."""
    return configuration_of(xgb_model).settings if isinstance(xgb_model, xgboost.Booster) else {}


def carried_objective_params(xgb_model: Any) -> dict[str, Any]:
    """Return the objective's parameters stored in a continued booster or its file."""
    if xgb_model is None:
        return {}
    booster = xgb_model if isinstance(xgb_model, xgboost.Booster) else xgboost.Booster(model_file=xgb_model)
    return configuration_of(booster).objective_params

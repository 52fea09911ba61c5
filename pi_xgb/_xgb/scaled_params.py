"""Params under which XGBoost's own objective grows the trees of a gradient and Hessian times a factor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import xgboost

from .booster import configuration_of
from .params import check_scale_pos_weight

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

"""Reading a booster: its attributes, the rounds that predict, its configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import xgboost


def best_round(booster: xgboost.Booster) -> int | None:
    """Return the best round, counted from 0, of a training that stopped early; else None."""
    best = attribute_of(booster, "best_iteration")
    if best is None:
        return None
    if not best.isdecimal():
        raise ValueError(f"best_iteration of the model must be the number of a round, got {best!r}: it is damaged")
    return int(best)


def recorded_teachers(booster: xgboost.Booster) -> list[tuple[str, float]]:
    """Kind and weight of each teacher, from the attributes of the model."""
    kinds, weights = attribute_of(booster, "pi_xgb_teacher"), attribute_of(booster, "pi_xgb_kl_weight")
    if not kinds or not weights:
        return []
    # Options of one teacher stand in parentheses.
    return list(zip(re.split(r",(?![^(]*\))", kinds), map(float, weights.split(",")), strict=True))


def attribute_of(booster: xgboost.Booster, name: str) -> str | None:
    """Return an attribute of the booster, or None."""
    try:
        return booster.attr(name)
    except AssertionError:  # XGBoost asserts that the text is not empty.
        return ""


def rounds_in_use(booster: xgboost.Booster) -> tuple[int, int]:
    """Return the ``iteration_range`` that predicts: up to the best round, or (0, 0) for all."""
    best = best_round(booster)
    return (0, 0) if best is None else (0, min(best + 1, booster.num_boosted_rounds()))


@dataclass(frozen=True)
class Configuration:
    """How a booster is trained; a file stores only a small part of it."""

    objective: str
    kind: str
    """gbtree, dart or gblinear."""
    base_score: str
    n_classes: int
    """``num_class``: 0 without several classes."""
    tree_params: dict[str, Any]
    objective_params: dict[str, str]
    """The parameters of the objective."""
    settings: dict[str, str]
    """Every parameter that a user can set, under its first name."""


_ALIASES = ("learning_rate", "min_split_loss", "reg_alpha", "reg_lambda")
# The generic parameters that affect a model.
_GENERIC = ("device", "seed")
# Sections without user parameters, or read elsewhere.
_SHAPE = ("generic_param", "gbtree_model_param", "model_param", "learner_model_param", "updater", "metrics")


def configuration_of(booster: xgboost.Booster) -> Configuration:
    """Read ``Booster.save_config``."""
    learner = json.loads(booster.save_config())["learner"]
    model, generic, trees = learner["learner_model_param"], learner["generic_param"], learner["gradient_booster"]
    settings = {name: value for name, value in _leaves(learner) if name not in _ALIASES}
    return Configuration(
        objective=learner["objective"]["name"],
        kind=learner["learner_train_param"]["booster"],
        base_score=str(model["base_score"]),
        n_classes=int(model["num_class"]),
        tree_params=dict(trees.get("gbtree", trees).get("tree_train_param", {})),  # dart holds a gbtree
        objective_params=dict(_leaves(learner["objective"])),
        settings=settings | {name: generic[name] for name in _GENERIC if name in generic},
    )


def _leaves(section: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in section.items():
        if isinstance(value, dict) and name not in _SHAPE:
            yield from _leaves(value)
        elif isinstance(value, str) and name not in ("name", "updater", "updater_seq"):
            yield name, value


def settings_of(booster: xgboost.Booster) -> dict[str, str]:
    """Return every parameter that a user can set, including those of a linear booster's updater."""
    learner = json.loads(booster.save_config())["learner"]
    steps = learner["gradient_booster"].get("updater", {})
    linear = steps.get("linear_train_param", {}) if isinstance(steps, dict) else {}
    return {**linear, **configuration_of(booster).settings}


def base_score_of(booster: xgboost.Booster) -> str:
    """Return the intercept as XGBoost's configuration spells it."""
    return configuration_of(booster).base_score

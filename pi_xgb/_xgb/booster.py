"""Reading a booster: its file, attributes, configuration and the rounds that predict; the booster that calls."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xgboost


def load_booster(name: str | os.PathLike[str]) -> xgboost.Booster:
    """Return the booster in a file, or raise ``ValueError`` if it cannot be read."""
    content = Path(name).read_bytes()
    # XGBoost reads past the end of a truncated UBJSON file and may crash; a whole one is an object, which ends in "}".
    if content[:2] == b"{L" and content[-1:] != b"}":
        raise ValueError(f"{str(name)!r} is a damaged model of XGBoost: it was truncated or changed")
    try:
        return xgboost.Booster(model_file=os.fspath(name))
    except (xgboost.core.XGBoostError, UnicodeDecodeError) as error:
        raise ValueError(f"{str(name)!r} is not a model that this XGBoost ({xgboost.__version__}) can read") from error


def best_round(booster: xgboost.Booster) -> int | None:
    """Return the best round, counted from 0, of a training that stopped early; else None."""
    best = booster.attr("best_iteration")
    return None if best is None else int(best)


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
    """The intercept as XGBoost spells it."""
    n_classes: int
    """``num_class``: 0 without several classes."""
    objective_params: dict[str, str]
    """The parameters of the objective."""
    settings: dict[str, str]
    """Every parameter that a user can set, under its first name, including those of a linear booster's updater."""


# What no user sets, and what stands under another name or in another section.
_SKIPPED = {"learning_rate", "min_split_loss", "reg_alpha", "reg_lambda", "name", "updater", "updater_seq"}
_SKIPPED |= {"generic_param", "gbtree_model_param", "model_param", "learner_model_param", "metrics"}


def configuration_of(booster: xgboost.Booster) -> Configuration:
    """Read ``Booster.save_config``."""
    learner = json.loads(booster.save_config())["learner"]
    model, generic, trees = learner["learner_model_param"], learner["generic_param"], learner["gradient_booster"]
    updater = trees.get("updater")
    linear = updater.get("linear_train_param", {}) if isinstance(updater, dict) else {}
    own = {"device": generic["device"], "seed": generic["seed"]}
    return Configuration(
        objective=learner["objective"]["name"],
        kind=learner["learner_train_param"]["booster"],
        base_score=str(model["base_score"]),
        n_classes=int(model["num_class"]),
        objective_params=dict(_leaves(learner["objective"])),
        settings=dict(_leaves(linear)) | dict(_leaves(learner)) | own,
    )


def _leaves(section: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in section.items():
        if isinstance(value, dict) and name not in _SKIPPED:
            yield from _leaves(value)
        elif isinstance(value, str) and name not in _SKIPPED:
            yield name, value


def calling_booster() -> xgboost.Booster | None:
    """Return the Booster whose update calls this objective, from the call stack, or None.

    XGBoost passes an objective neither its booster nor the round. A teacher that grows with the student needs them
    to distinguish the next round from the first round of another training. Margins do not suffice: a tree may leave
    them unchanged, and a second training may start from any of them.
    """
    frame = sys._getframe(1)  # reading the locals of this function's own frame would keep the Booster alive
    while frame is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, xgboost.Booster):
            return caller
        frame = frame.f_back  # type: ignore[assignment]
    return None

"""The settings of a report: how each model was made, what it was judged on, with which versions."""

from __future__ import annotations

import contextlib
import datetime
import json
import platform
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._version import __version__
from .models import JudgedModel, JudgedRows
from .numbers import Resampling

ALIASES = ("learning_rate", "min_split_loss", "reg_alpha", "reg_lambda")
"""Second names in XGBoost's configuration."""

GENERIC = ("device", "seed")
"""What makes a difference to a model, of the parameters that all boosters have."""

SHAPE = ("generic_param", "gbtree_model_param", "model_param", "learner_model_param", "updater", "metrics")
"""Sections of the configuration that hold no parameter of a user's, or are looked at by name."""

LONGEST = 200


def of_model(model: JudgedModel) -> dict[str, str]:
    """How a model was made, as far as it knows."""
    found = {"kind": type(model.model).__name__}
    if model.booster is None or model.rounds is None:
        return found
    begin, end, n_rounds = model.rounds
    found["features"] = str(model.booster.num_features())
    early = "" if end == n_rounds else " (stopped early: up to the best round)"
    found["rounds in use"] = f"{end - begin} of {n_rounds}{early}"
    found |= {name: _plain(value or "") for name, value in sorted(model.booster.attributes().items())}
    return found


def params_of(model: JudgedModel) -> dict[str, str]:
    """What differs from XGBoost's defaults, and the kind of model; one from a file has forgotten most of it."""
    if model.booster is None:
        return {}
    learner = json.loads(model.booster.save_config())["learner"]
    default = dict(_leaves(_untouched(learner))) | {"device": "cpu", "seed": "0"}
    given = dict(_leaves(learner)) | {name: learner["generic_param"].get(name) for name in GENERIC}
    told = {name: value for name, value in given.items() if value != default.get(name) and name not in ALIASES}
    told["booster"] = learner["learner_train_param"]["booster"]
    told["objective"] = learner["objective"]["name"]
    told["base_score"] = learner["learner_model_param"]["base_score"]
    return {name: _plain(value) for name, value in sorted(told.items())}


def _untouched(learner: dict[str, Any]) -> Any:
    """The configuration of a booster of the same kind for which nothing was set."""
    kind, objective = learner["learner_train_param"]["booster"], learner["objective"]["name"]
    # Other objectives want more of their rows than there is here; they are told as they are.
    simple = {"objective": objective} if objective.startswith(("binary:", "reg:")) else {}
    data = xgboost.DMatrix(np.zeros((2, 1)), [0.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of kinds that will go, the user was told when he chose one
        return json.loads(xgboost.train({"booster": kind} | simple, data, 0).save_config())["learner"]


def _leaves(section: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in section.items():
        if isinstance(value, dict) and name not in SHAPE:
            yield from _leaves(value)
        elif isinstance(value, str) and name not in ("name", "updater", "updater_seq"):
            yield name, value


def _plain(value: str) -> str:
    """Numbers as a user wrote them (0.1, not 0.100000001), and nothing that would fill the page."""
    with contextlib.suppress(ValueError):
        value = f"{float(value.strip('[]')):.6g}"
    return value if len(value) <= LONGEST else value[: LONGEST - 1] + "…"


def of_rows(rows: JudgedRows, how: Resampling) -> dict[str, str]:
    """What the models are judged on; counts only, never a value of a row."""
    counts = np.bincount(rows.groups.codes, minlength=rows.groups.count)
    features = ", ".join(str(name) for name in rows.groups.names.names)
    intervals = f"{100 * how.confidence:g} % percentile bootstrap, {how.n_boot} resamples" if how.n_boot else "none"
    return {
        "rows": str(rows.labels.size),
        "positives (label 1)": str(int(rows.labels.sum())),
        "weights": "none" if rows.weights is None else "given",
        "sensitive features": features,
        "groups": str(rows.groups.count),
        "rows in the smallest group": str(int(counts.min())),
        "intervals": intervals,
    }


def of_software() -> dict[str, str]:
    """Versions and the day."""
    return {
        "pi_xgb": __version__,
        "xgboost": xgboost.__version__,
        "numpy": np.__version__,
        "pandas": pd.__version__,
        "Python": platform.python_version(),
        "written on": datetime.date.today().isoformat(),
    }

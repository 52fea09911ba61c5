"""The settings of a report: how each model was made, what it was judged on, with which versions."""

from __future__ import annotations

import contextlib
import datetime
import platform
import warnings
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._version import __version__
from .._xgb.booster import Configuration, configuration_of, recorded_teachers
from ..metrics._chance import N_NULL
from .models import JudgedModel, JudgedRows
from .numbers import Resampling

LONGEST = 200
OF_RATES = "Wilson intervals of each rate by itself"
OF_GAPS = f"intervals by inversion, p-values by permutation ({N_NULL} draws), Holm over all of the page"


def of_model(model: JudgedModel) -> dict[str, str]:
    """How a model was made, as far as it knows."""
    found = {"kind": type(model.model).__name__}
    if model.booster is None:
        return found
    begin, end, n_rounds = model.rounds
    found["features"] = str(model.booster.num_features())
    early = "" if end == n_rounds else " (stopped early: up to the best round)"
    found["rounds in use"] = f"{end - begin} of {n_rounds}{early}"
    if recorded := recorded_teachers(model.booster):
        found["taught by"] = _taught(model.model, recorded)
    asked = ("teacher_sees", "crossfit", "teacher_params", "privileged_features")
    found |= {name: _plain(str(value)) for name in asked if (value := getattr(model.model, name, None)) is not None}
    found |= {name: _plain(value or "") for name, value in sorted(model.booster.attributes().items())}
    return {name: value for name, value in found.items() if name not in ("pi_xgb_teacher", "pi_xgb_kl_weight")}


def _taught(model: Any, recorded: list[tuple[str, float]]) -> str:
    """Teachers and constraints with their weights, as the booster recorded them.

    The columns of a constraint are no part of a booster; an estimator has them among its parameters.
    """
    teachers = [kind for kind, _ in recorded]
    constraints = [constraint.kind for constraint, _ in getattr(model, "constraints", None) or ()]
    teachers[len(teachers) - len(constraints) :] = constraints
    return "; ".join(
        f"{teacher}, kl_weight {weight:g}" for teacher, (_, weight) in zip(teachers, recorded, strict=True)
    )


def params_of(model: JudgedModel) -> dict[str, str]:
    """What differs from XGBoost's defaults, and the kind of model; one from a file has forgotten most of it."""
    if model.booster is None:
        return {}
    found = configuration_of(model.booster)
    default = _untouched(found) | {"device": "cpu", "seed": "0"}
    told = {name: value for name, value in found.settings.items() if value != default.get(name)}
    told |= {"booster": found.kind, "objective": found.objective, "base_score": found.base_score}
    return {name: _plain(value) for name, value in sorted(told.items())}


def _untouched(found: Configuration) -> dict[str, str]:
    """The settings of a booster of the same kind for which nothing was set."""
    # Other objectives want more of their rows than there is here; they are told as they are.
    simple = {"objective": found.objective} if found.objective.startswith(("binary:", "reg:")) else {}
    data = xgboost.DMatrix(np.eye(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of kinds that will go, the user was told when he chose one
        return configuration_of(xgboost.Booster({"booster": found.kind} | simple, [data])).settings


def _plain(value: str) -> str:
    """Numbers as a user wrote them (0.1, not 0.100000001), and nothing that would fill the page."""
    with contextlib.suppress(ValueError):
        value = f"{float(value.strip('[]')):.6g}"
    return value if len(value) <= LONGEST else value[: LONGEST - 1] + "…"


def of_page(rows: JudgedRows, how: Resampling, importance_metric: str) -> dict[str, str]:
    """What the models are judged on and how, with versions and the day; counts only, never a value of a row."""
    intervals = f"{100 * how.confidence:g} % percentile bootstrap, {how.n_boot} resamples" if how.n_boot else "none"
    return {
        "made on": datetime.date.today().isoformat(),
        "rows": str(rows.labels.size),
        "positives (label 1)": str(int(rows.labels.sum())),
        "weights": "none" if rows.weights is None else "given",
        "sensitive features": ", ".join(map(str, rows.groups.names.names)),
        "groups": str(rows.groups.count),
        "rows in the smallest group": str(np.bincount(rows.groups.codes).min()),
        "fair importance by": importance_metric,
        "intervals": intervals,
        **({"rates of groups": OF_RATES, "differences between groups": OF_GAPS} if how.n_boot else {}),
        **({"random_state": str(how.random_state)} if how.n_boot else {}),
        "pi_xgb": __version__,
        "xgboost": xgboost.__version__,
        "numpy": np.__version__,
        "pandas": pd.__version__,
        "Python": platform.python_version(),
    }

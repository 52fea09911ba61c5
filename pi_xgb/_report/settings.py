"""The settings of a report: training of each model, rows of the evaluation, versions."""

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
from .models import ReportRows, ScoredModel
from .numbers import Resampling

LONGEST = 200
NOT_RECORDED = "file and dates not recorded: booster.set_attr(trained_on=...) names them"
SHOWN_ABOVE = ("pi_xgb_teacher", "pi_xgb_kl_weight", "pi_xgb_rows", "pi_xgb_labelled", "pi_xgb_teacher_settings")
WILSON = "Wilson intervals of each rate"
INVERSION = f"intervals by inversion, p-values by permutation ({N_NULL} draws), Holm's correction over the page"


def model_settings(model: ScoredModel) -> dict[str, str]:
    """Return the recorded training settings of a model."""
    found = {"kind": type(model.model).__name__}
    if model.booster is None:
        return found
    attributes = model.booster.attributes()
    found["trained_on"] = attributes.get("trained_on") or NOT_RECORDED
    if "pi_xgb_rows" in attributes:
        rows, labelled = attributes["pi_xgb_rows"], attributes["pi_xgb_labelled"]
        found["training rows"] = f"{rows}, {'all' if rows == labelled else labelled} with a label"
    begin, end, n_rounds = model.rounds
    found["features"] = str(model.booster.num_features())
    early = "" if end == n_rounds else " (stopped early: up to the best round)"
    found["rounds in use"] = f"{end - begin} of {n_rounds}{early}"
    if recorded := recorded_teachers(model.booster):
        found["teachers"] = _teachers(model.model, recorded)
    names = ("teacher_sees", "crossfit", "teacher_params", "privileged_features")
    found |= {name: _plain(str(value)) for name in names if (value := getattr(model.model, name, None)) is not None}
    if settings := attributes.get("pi_xgb_teacher_settings"):
        found["teacher settings"] = settings
    found |= {name: _plain(value or "") for name, value in sorted(attributes.items())}
    return {name: value for name, value in found.items() if name not in SHOWN_ABOVE}


def _teachers(model: Any, recorded: list[tuple[str, float]]) -> str:
    """Return teachers and constraints with their weights, as recorded in the booster.

    A booster does not record the columns of a constraint; an estimator has them in its parameters.
    """
    teachers = [kind for kind, _ in recorded]
    constraints = [constraint.kind for constraint, _ in getattr(model, "constraints", None) or ()]
    teachers[len(teachers) - len(constraints) :] = constraints
    weights = [weight for _, weight in recorded]
    return "; ".join(f"{kind}, kl_weight {_exact(weight)}" for kind, weight in zip(teachers, weights, strict=True))


def _exact(weight: float) -> str:
    """Return a number with all digits that it needs."""
    return f"{weight:g}" if float(f"{weight:g}") == weight else repr(weight)


def model_params(model: ScoredModel) -> dict[str, str]:
    """Return the kind of model and parameters other than XGBoost's defaults; a file keeps few of them."""
    if model.booster is None:
        return {}
    found = configuration_of(model.booster)
    default = _untouched(found) | {"device": "cpu", "seed": "0"}
    changed = {name: value for name, value in found.settings.items() if value != default.get(name)}
    changed |= {"booster": found.kind, "objective": found.objective, "base_score": found.base_score}
    return {name: _plain(value) for name, value in sorted(changed.items())}


def _untouched(found: Configuration) -> dict[str, str]:
    """Return the default settings of a booster of the same kind."""
    # Other objectives need more than this one row, so their settings are shown in full.
    simple = {"objective": found.objective} if found.objective.startswith(("binary:", "reg:")) else {}
    data = xgboost.DMatrix(np.eye(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the user saw deprecation warnings in training
        return configuration_of(xgboost.Booster({"booster": found.kind} | simple, [data])).settings


def _plain(value: str) -> str:
    """Round numbers to the digits that a user wrote (0.1, not 0.100000001), and cut long texts."""
    with contextlib.suppress(ValueError):
        value = f"{float(value.strip('[]')):.6g}"
    return value if len(value) <= LONGEST else value[: LONGEST - 1] + "…"


def page_settings(
    rows: ReportRows, how: Resampling, importance_metric: str, evaluated_on: str | None
) -> dict[str, str]:
    """Return rows and settings of the evaluation, versions and the day; counts only, no value of a row."""
    intervals = f"{100 * how.confidence:g} % percentile bootstrap, {how.n_boot} resamples" if how.n_boot else "none"
    return {
        "made on": datetime.date.today().isoformat(),
        "evaluated_on": evaluated_on or "file and dates not recorded: report(evaluated_on=...) names them",
        "rows": str(rows.labels.size),
        "columns": str(rows.n_columns),
        "positives (label 1)": str(int(rows.labels.sum())),
        "weights": "none" if rows.weights is None else "given",
        "sensitive features": ", ".join(map(str, rows.groups.names.names)),
        "groups": str(rows.groups.count),
        "rows in the smallest group": str(np.bincount(rows.groups.codes).min()),
        "fair importance by": importance_metric,
        "intervals": intervals,
        **({"rates of groups": WILSON, "differences between groups": INVERSION} if how.n_boot else {}),
        **({"random_state": str(how.random_state)} if how.n_boot else {}),
        "pi_xgb": __version__,
        "xgboost": xgboost.__version__,
        "numpy": np.__version__,
        "pandas": pd.__version__,
        "Python": platform.python_version(),
    }

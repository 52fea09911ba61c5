"""The settings of a report: training of each model, rows of the evaluation, versions."""

from __future__ import annotations

import contextlib
import datetime
import platform
import warnings
from typing import Any

import numpy as np
import xgboost

from .._version import __version__
from .._xgb.booster import configuration_of
from ..metrics._chance import N_NULL
from .models import ReportRows, ScoredModel

LONGEST = 200
NOT_RECORDED = "file and dates not recorded: "


def model_settings(model: ScoredModel) -> dict[str, str]:
    """Return the recorded training settings of a model."""
    found = {"kind": type(model.model).__name__, "threshold": f"{model.threshold:g}"}
    if model.subject is None:
        return found
    n_rounds, n_used = model.subject.model.n_rounds, model.subject.end - model.subject.begin
    early = "" if model.subject.end == n_rounds else " (stopped early: up to the best round)"
    found |= {"features": str(model.subject.n_features), "rounds in use": f"{n_used} of {n_rounds}{early}"}
    names = ("teacher_sees", "crossfit", "teacher_params", "privileged_features")
    found |= {name: _plain(str(value)) for name in names if (value := getattr(model.model, name, None)) is not None}
    # A booster does not record the columns of a constraint; an estimator has them in its parameters.
    if constraints := getattr(model.model, "constraints", None):
        found["constraints"] = "; ".join(f"{constraint.kind}, {weight!r}" for constraint, weight in constraints)
    found["trained_on"] = f"{NOT_RECORDED}booster.set_attr(trained_on=...) names them"
    return found | {name: value or "" for name, value in sorted(model.subject.booster.attributes().items())}


def model_params(model: ScoredModel) -> dict[str, str]:
    """Return the kind of model and parameters other than XGBoost's defaults; a file keeps few of them."""
    if model.subject is None:
        return {}
    found = configuration_of(model.subject.booster)
    data = xgboost.DMatrix(np.eye(1))  # the booster reads it later
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the user saw deprecation warnings in training
        untouched = xgboost.Booster({"booster": found.kind, "objective": found.objective}, [data])
        default = configuration_of(untouched).settings | {"device": "cpu", "seed": "0"}
    changed = {name: value for name, value in found.settings.items() if value != default.get(name)}
    changed |= {"booster": found.kind, "objective": found.objective, "base_score": found.base_score}
    return {name: _plain(value) for name, value in sorted(changed.items())}


def _plain(value: str) -> str:
    """Round numbers to the digits that a user wrote (0.1, not 0.100000001), and cut long texts."""
    with contextlib.suppress(ValueError):
        value = f"{float(value.strip('[]')):.6g}"
    return value if len(value) <= LONGEST else value[: LONGEST - 1] + "…"


def page_settings(rows: ReportRows, how: dict[str, Any], metric: str, evaluated_on: str | None) -> dict[str, str]:
    """Return rows and settings of the evaluation, versions and the day; counts only, no value of a row."""
    sure = f"{100 * how['confidence']:g} %"
    bootstrap = f"{sure} percentile bootstrap, {how['n_boot']} resamples, random_state {how['random_state']}"
    gaps = f"{sure} intervals by inversion, p-values by permutation ({N_NULL} draws), Holm's correction over the page"
    return {
        "made on": datetime.date.today().isoformat(),
        "evaluated_on": evaluated_on or f"{NOT_RECORDED}report(evaluated_on=...) names them",
        "rows": str(rows.labels.size),
        "columns": str(rows.n_columns),
        "positives (label 1)": str(int(rows.labels.sum())),
        "weights": "none" if rows.weights is None else "given",
        "sensitive features": ", ".join(rows.sensitive.columns),
        "groups": str(rows.groups.count),
        "rows in the smallest group": str(np.bincount(rows.groups.codes).min()),
        "fair importance by": metric,
        "intervals": bootstrap if how["n_boot"] else "none",
        "differences between groups": gaps if how["n_boot"] else "none",
        **{"pi_xgb": __version__, "xgboost": xgboost.__version__, "Python": platform.python_version()},
    }

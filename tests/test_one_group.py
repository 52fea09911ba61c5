"""Whoever compares groups refuses rows of one group, at every entrance."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import xgboost as xgb

import pi_xgb
from pi_xgb import constraints, importance, metrics, plotting

N = 40
X, Y = np.random.default_rng(0).normal(size=(N, 2)), np.arange(N) % 2
BOOSTER = xgb.train({"objective": "binary:logistic", "max_depth": 2, "nthread": 1}, xgb.DMatrix(X, Y), 2)
SCORES = np.linspace(0, 1, N)
PASSED: dict[str, Any] = {
    **{"booster": BOOSTER, "models": {"plain": BOOSTER}, "path": "report.html", "metric": lambda *_, **__: 0.0},
    **{"X": X, "y": Y, "y_true": Y, "y_pred": Y, "y_score": SCORES, "y_prob": SCORES},
}


def compares(value: Any) -> bool:
    if not callable(value) or (isinstance(value, type) and issubclass(value, Exception)):
        return False
    parameter = inspect.signature(value).parameters.get("sensitive_features")
    return parameter is not None and parameter.default is parameter.empty and value not in ALONE


# A single group has a calibration and scores of its own; the groups of watch come with a matrix.
ALONE = {metrics.watch, plotting.plot_calibration, plotting.plot_scores}
MODULES = (constraints, importance, metrics, plotting, pi_xgb)
PUBLIC = {name: getattr(module, name) for module in MODULES for name in module.__all__}
ENTRANCES = {name: value for name, value in PUBLIC.items() if compares(value)}


def test_the_entrances_are_found():
    assert {"DemographicParity", "shap_gap", "group_report", "plot_roc", "report"} < set(ENTRANCES)


@pytest.mark.parametrize("name", ENTRANCES)
def test_one_group_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parameters = inspect.signature(ENTRANCES[name]).parameters
    keywords = {
        key: value
        for key, value in PASSED.items()
        if key in parameters and (parameters[key].default is inspect.Parameter.empty or key == "y")
    }
    with pytest.raises(ValueError, match="sensitive_features has one group only, 'a': at least two"):
        ENTRANCES[name](**keywords, sensitive_features=["a"] * N)

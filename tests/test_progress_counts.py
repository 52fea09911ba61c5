"""A progress bar ends at its total: as many steps are counted as were announced."""

from __future__ import annotations

import contextlib
import importlib
import os

import pytest
import xgboost as xgb

import pi_xgb
from pi_xgb.datasets import make_privileged

DATA = make_privileged(90, seed=0)
PARAMS = {"objective": "binary:logistic", "max_depth": 1, "nthread": 1, "eta": 0.5}
WAY = {"teacher": "boosted", "crossfit": 2, "kl_weight": (1.0, 2.0), "nfold": 3, "repeats": 2}

SEARCHES = {
    "select": ("_selection.students", lambda x, z: pi_xgb.select(PARAMS, x, 2, privileged=z, **WAY)),
    "compare": (
        "_selection.students",
        lambda x, z: pi_xgb.compare(
            DATA.x, DATA.y, DATA.z, params=PARAMS, num_boost_round=2, **{**WAY, "kl_weight": 2.0}
        ),
    ),
    "cv": ("_core.cv", lambda x, z: pi_xgb.cv(PARAMS, x, 2, privileged=z, kl_weight=[0, 1, 2, 3], n_jobs=2)),
    "report": (
        "_report.report",
        lambda x, z: pi_xgb.report(
            os.devnull,
            pi_xgb.train(PARAMS, x, 2),
            x,
            sensitive_features=DATA.group,
            n_boot=7,
            pictures=False,
            overwrite=True,
        ),
    ),
    "teachers": (
        "_core.learners.cross_fitted",
        lambda x, z: pi_xgb.fit_teacher(PARAMS, z, teacher="mixed", crossfit=3),
    ),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_as_many_steps_are_counted_as_were_announced(monkeypatch, name):
    module, search = SEARCHES[name]
    totals, steps = [], []

    @contextlib.contextmanager
    def bar(total, *arguments):
        totals.append(total)
        yield lambda n=1: steps.extend([1] * n)

    monkeypatch.setattr(importlib.import_module(f"pi_xgb.{module}"), "progress_bar", bar)
    search(xgb.DMatrix(DATA.x, DATA.y), xgb.DMatrix(DATA.z, DATA.y))
    assert totals == [len(steps)]
    assert len(steps) > 3

"""What a model records of its training: how it was made, and nothing about the privileged features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xgboost

from .._version import __version__
from .._xgb.collective import global_max, global_sum
from .training import ABOUT_COLUMNS, Spec, Teacher, Training

_LONGEST = 200  # of a value in teacher_params


def record(booster: xgboost.Booster, training: Training, engine: str) -> None:
    """Record in the model how it was trained, and no data of the teachers; a plain model is XGBoost's."""
    guides = training.guides
    if not guides:
        return
    methods = {guide.teacher.about.method for guide in guides}
    # A weight can be 0 on this worker alone.
    weights = np.array([float(np.any(guide.weight > 0)) * guide.kl_weight for guide in guides])
    n_rows, n_labelled = global_sum(np.array([training.n_rows, training.known.sum()])).astype(int).tolist()
    settings = [text for guide in guides if (text := _settings(guide.teacher, training.spec))]
    booster.set_attr(
        pi_xgb_method="jpib" if "jpib" in methods else "kbpib",
        pi_xgb_teacher=",".join(_kind(guide.teacher) for guide in guides),
        pi_xgb_teacher_settings="; ".join(settings) or None,  # None removes those of a continued model
        pi_xgb_kl_weight=",".join(map(str, global_max(weights).tolist())),
        pi_xgb_rows=str(n_rows),
        pi_xgb_labelled=str(n_labelled),
        pi_xgb_engine=engine,
        pi_xgb_version=__version__,
    )


def _kind(teacher: Teacher) -> str:
    return teacher.about.kind or type(teacher).__name__


def _settings(teacher: Teacher, spec: Spec) -> str:
    """Return the keywords of its training; without params that are the student's, the default."""
    settings = dict(teacher.about.settings)
    params = _texts(settings.pop("teacher_params", {}))
    if params and params != _texts(spec.of_teacher(None).params):
        settings["teacher_params"] = params
    keywords = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    return f"{_kind(teacher)}: {keywords}" if keywords else ""


def _texts(params: Mapping[str, Any]) -> dict[str, str]:
    """Return the params as texts, without those that may name a privileged column."""
    return {name: str(value)[:_LONGEST] for name, value in sorted(params.items()) if name not in ABOUT_COLUMNS}

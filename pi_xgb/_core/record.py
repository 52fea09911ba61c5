"""What a model records of its training: how it was made, and nothing about the privileged features."""

from __future__ import annotations

import numpy as np
import xgboost

from .._version import __version__
from .._xgb.collective import global_max, global_sum
from .training import ABOUT_COLUMNS, Guide, Spec, Training

_LONGEST = 200  # of a value in teacher_params


def record(booster: xgboost.Booster, training: Training, engine: str) -> None:
    """Record in the model how it was trained, and no data of the teachers."""
    guides = training.guides
    methods = {guide.teacher.about.method for guide in guides}
    # A weight can be 0 on this worker alone.
    weights = np.array([float(np.any(guide.weight > 0)) * guide.kl_weight for guide in guides])
    n_rows, n_labelled = global_sum(np.array([training.n_rows, training.known.sum()])).astype(int).tolist()
    kinds, settings = zip(*(_settings(guide, training.spec) for guide in guides), strict=True)
    booster.set_attr(
        pi_xgb_method="jpib" if "jpib" in methods else "kbpib",
        pi_xgb_teacher=",".join(kinds),
        pi_xgb_teacher_settings="; ".join(filter(None, settings)) or None,  # None removes those of a continued model
        pi_xgb_kl_weight=",".join(map(str, global_max(weights).tolist())),
        pi_xgb_rows=str(n_rows),
        pi_xgb_labelled=str(n_labelled),
        pi_xgb_engine=engine,
        pi_xgb_version=__version__,
    )


def _settings(guide: Guide, spec: Spec) -> tuple[str, str]:
    """Return the kind of a teacher and the keywords of its training; without params that are the student's."""
    about = guide.teacher.about
    kind, settings = about.kind or type(guide.teacher).__name__, dict(about.settings)
    # Without params that may name a privileged column.
    own, shared = (
        {name: str(value)[:_LONGEST] for name, value in sorted(params.items()) if name not in ABOUT_COLUMNS}
        for params in (settings.pop("teacher_params", {}), spec.params)
    )
    if own and own != shared:
        settings["teacher_params"] = own
    keywords = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    return kind, f"{kind}: {keywords}" if keywords else ""

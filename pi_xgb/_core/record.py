"""What a model records of its training: how it was made, and nothing about the privileged features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xgboost

from .._version import __version__
from .._warnings import warn_user
from .._xgb.collective import global_max, global_sum, on_any_worker
from .keywords import METHODS
from .training import ABOUT_COLUMNS, Boosting, Guide, Privacy, Spec, Training

_LONGEST = 200  # of a value in teacher_params
_PRIVACY = ("pi_xgb_epsilon", "pi_xgb_delta", "pi_xgb_epsilon_source", "pi_xgb_epsilon_scope")
_SCOPE = "a change of the privileged values of one row; not for x, y"


def record(booster: xgboost.Booster, training: Training, engine: str) -> None:
    """Record in the model how it was trained, and no data of the teachers."""
    guides = training.guides
    methods = {guide.teacher.about.method for guide in guides}
    # A weight can be 0 on this worker alone.
    weights = np.array([float(np.any(guide.weight > 0)) * guide.kl_weight for guide in guides])
    n_rows, n_labelled = global_sum(np.array([training.n_rows, training.known.sum()])).astype(int).tolist()
    kinds, settings = zip(*(_settings(guide, training.spec) for guide in guides), strict=True)
    booster.set_attr(
        pi_xgb_method=max(methods, key=METHODS.index),
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


def record_privacy(booster: xgboost.Booster, guides: Sequence[Guide], boosting: Boosting, obj: Any = None) -> None:
    """Record the sum of the privacy budgets, or none, with a warning, where privileged values may have another path."""
    given = [(guide.teacher, guide.teacher.about.privacy) for guide in guides]
    earlier, is_continued = [booster.attr(name) for name in _PRIVACY[:3]], boosting.xgb_model is not None
    spent = [privacy for _, privacy in given if privacy is not None]
    if not spent and None in earlier:
        return
    others = ", ".join(sorted({type(teacher).__name__ for teacher, privacy in given if privacy is None}))
    names = boosting.dtrain.feature_names
    shared = any(privacy.has_any_column(names) for privacy in spent if privacy.has_any_column is not None)
    paths = {
        f"{others} has no budget, and its information may come from privileged values": others,
        "obj may read privileged values": obj is not None,
        "dtrain has privileged columns: train without them": on_any_worker(shared),
        "xgb_model records none, and may have used privileged values": is_continued and None in earlier,
        "the base_margin of dtrain may come from privileged values": on_any_worker(
            boosting.dtrain.get_base_margin().size
        ),
    }
    if opened := [path for path, is_open in paths.items() if is_open]:
        warn_user(f"the model records no epsilon, since {opened[0]}")
        booster.set_attr(**dict.fromkeys(_PRIVACY))
    elif spent:
        if None not in earlier:
            spent.append(Privacy(float(str(earlier[0])), float(str(earlier[1])), str(earlier[2])))
        sources = [privacy.source for privacy in spent]
        stated = Privacy(0.0, 0.0).source
        total = (
            str(sum(privacy.epsilon for privacy in spent)),
            str(sum(privacy.delta for privacy in spent)),
            stated if stated in sources else sources[0],
            _SCOPE,
        )
        booster.set_attr(**dict(zip(_PRIVACY, total, strict=True)))

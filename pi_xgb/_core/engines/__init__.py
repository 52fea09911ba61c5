"""Engines: three ways to the same model, each with obstacles and ``fit``, and the choice among them."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Literal, get_args

import xgboost

from ..._rows.checks import check_choice
from ..training import Guide, Spec
from . import callback, copies, native

Engine = Literal["auto", "callback", "native", "copies"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
MODULES: dict[str, ModuleType] = {"native": native, "callback": callback, "copies": copies}


def choose(
    engine: str,
    spec: Spec,
    guides: Sequence[Guide],
    *,
    is_uniform: bool,
    dtrain: xgboost.DMatrix | None = None,
    evals: Sequence[tuple[xgboost.DMatrix, str]] = (),
) -> str:
    """Return the engine that the user named, if it is exact; for "auto" the fastest exact one.

    On CUDA that is the native engine; elsewhere the callback costs little. ``dtrain`` is None on the driver of a
    cluster, where each worker checks its own rows.
    """
    check_choice(engine, ENGINES, "engine")
    on_cuda = spec.device.startswith(("cuda", "gpu"))
    tried = [engine] if engine != "auto" else [name for name in MODULES if name != "native" or on_cuda]
    obstacle = ""
    for name in tried:
        found = MODULES[name].obstacle(spec, guides, is_uniform=is_uniform, dtrain=dtrain, evals=evals)
        if found is None:
            return name
        obstacle = found
    raise ValueError(f"engine={tried[-1]!r} would not be exact for {spec.objective}: {obstacle}")

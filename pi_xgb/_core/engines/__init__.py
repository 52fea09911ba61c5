"""Engines: three ways to the same model, each with obstacles and ``fit``, and the choice among them."""

from __future__ import annotations

from types import ModuleType
from typing import Literal, get_args

from ..._rows.checks import check_choice
from ..training import Boosting, Training
from . import callback, copies, native

Engine = Literal["auto", "callback", "native", "copies"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
MODULES: dict[str, ModuleType] = {"native": native, "callback": callback, "copies": copies}


def choose(engine: str, training: Training, boosting: Boosting | None = None, *, is_uniform: bool) -> str:
    """Return the engine that the user named, if it is exact; for "auto" the fastest exact one.

    On CUDA that is the native engine; elsewhere the callback costs little. ``boosting`` is None on the driver of a
    cluster, where each worker checks its own rows.
    """
    check_choice(engine, ENGINES, "engine")
    on_cuda = training.spec.device.startswith(("cuda", "gpu"))
    tried = [engine] if engine != "auto" else [name for name in MODULES if name != "native" or on_cuda]
    obstacle = ""
    for name in tried:
        found = MODULES[name].obstacle(training, boosting, is_uniform=is_uniform)
        if found is None:
            return name
        obstacle = found
    raise ValueError(f"engine={tried[-1]!r} would not be exact for {training.spec.objective}: {obstacle}")

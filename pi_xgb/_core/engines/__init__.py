"""Engines: three ways to the same model, each with ``obstacle(plan)`` and ``fit(job)``, and the choice among them."""

from __future__ import annotations

from types import ModuleType
from typing import Literal, get_args

from ..._rows.checks import check_choice
from ..job import Plan
from . import callback, copies, native

Engine = Literal["auto", "callback", "native", "copies"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
_MODULES: dict[str, ModuleType] = {"native": native, "callback": callback, "copies": copies}


def choose(engine: str, plan: Plan) -> str:
    """Return the engine that the user named, if it is exact; for "auto" the fastest exact one.

    On CUDA that is the native engine; elsewhere the callback costs little.
    """
    check_choice(engine, ENGINES, "engine")
    on_cuda = plan.spec.device.startswith(("cuda", "gpu"))
    tried = [engine] if engine != "auto" else [name for name in _MODULES if name != "native" or on_cuda]
    obstacle = ""
    for name in tried:
        found = _MODULES[name].obstacle(plan)
        if found is None:
            return name
        obstacle = found
    raise ValueError(f"engine={tried[-1]!r} would not be exact for {plan.spec.objective}: {obstacle}")


def module_of(engine: str) -> ModuleType:
    """Return the module of an engine."""
    return _MODULES[engine]

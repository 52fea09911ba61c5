"""Every public name with its signature, one line each, as users can rely on it."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import pi_xgb

# pi_xgb.spark is missing where PySpark is.
MODULES = ("constraints", "dask", "datasets", "importance", "labels", "metrics", "plotting", "selection", "sklearn")


def lines() -> list[str]:
    """Sorted, without what XGBoost and scikit-learn add of their own."""
    found = {name: getattr(pi_xgb, name) for name in pi_xgb.__all__}
    for module in MODULES:
        loaded = importlib.import_module(f"pi_xgb.{module}")
        found |= {f"{module}.{name}": getattr(loaded, name) for name in _public(loaded)}
    return sorted(line for name, value in found.items() for line in _described(name, value))


def _public(module: Any) -> list[str]:
    own = [name for name in vars(module) if not name.startswith("_") and _is_ours(getattr(module, name))]
    return list(getattr(module, "__all__", own))


def _is_ours(value: Any) -> bool:
    return getattr(value, "__module__", "").startswith("pi_xgb") and (inspect.isclass(value) or callable(value))


def _described(name: str, value: Any) -> Iterator[str]:
    if inspect.ismodule(value) or isinstance(value, str):
        yield name
    elif not _is_ours(value):
        yield f"{name} of {value.__module__.partition('.')[0]}"
    elif inspect.isclass(value) and issubclass(value, Exception):
        yield name
    elif inspect.isclass(value):
        yield f"{name}{_signature(value)}"
        for member, inner in sorted(vars(value).items()):
            inner = getattr(inner, "__func__", inner)
            if inspect.isfunction(inner) and not member.startswith("_"):
                yield f"{name}.{member}{_signature(inner)}"
            elif isinstance(inner, property) and not member.startswith("_"):
                yield f"{name}.{member}"
    else:
        yield f"{name}{_signature(value)}"


def _signature(value: Any) -> str:
    parameters = inspect.signature(value).parameters.values()
    plain = [parameter.replace(annotation=parameter.empty) for parameter in parameters]
    return str(inspect.Signature(plain)).replace("\n", " ")

"""Docstrings of public names give the type and the default of every parameter, as its signature has them."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from typing import Any

import pytest
import xgboost
from helpers_signatures import MODULES
from sklearn.model_selection import KFold

import pi_xgb

# A parameter, or several of one kind: "name : type, default=value".
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : (.+))?$")
SECTION = re.compile(r"^(\w[\w ]*)\n-+$", re.MULTILINE)


def entries(docstring: str) -> dict[str, str | None]:
    """The parameters of a numpydoc docstring, each with the text after its colon."""
    parts = SECTION.split(inspect.cleandoc(docstring))
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    found = {}
    for line in sections.get("Parameters", "").split("\n"):
        if entry := ENTRY.match(line):
            found |= dict.fromkeys(re.split(r", ", entry[1]), entry[2])
    return found


def public() -> dict[str, Any]:
    found = {name: getattr(pi_xgb, name) for name in pi_xgb.__all__}
    for module in (*MODULES, "privacy"):
        loaded = importlib.import_module(f"pi_xgb.{module}")
        names = getattr(loaded, "__all__", None) or [name for name in vars(loaded) if not name.startswith("_")]
        found |= {f"{module}.{name}": getattr(loaded, name) for name in names}
    for name, value in list(found.items()):
        if inspect.isclass(value):
            for member, inner in vars(value).items():
                inner = getattr(inner, "__func__", inner)
                if inspect.isfunction(inner) and not member.startswith("_"):
                    found[f"{name}.{member}"] = inner
    return {
        name: value
        for name, value in sorted(found.items())
        if callable(value)
        and getattr(value, "__module__", "").startswith("pi_xgb")
        and not (inspect.isclass(value) and issubclass(value, BaseException))
    }


PUBLIC = public()

# What only the library makes; the function that returns it describes it.
RESULTS = {"Audit", "ByColumn", "Comparison", "Frontier", "LearnedTeacher", "Maturity", "PrivilegedData", "Selection"}
RESULTS |= {"Shift"}


def reference(name: str, value: Any) -> Any:
    """What "as for NAME" in the docstring of ``value`` names."""
    name = re.search(r"`([\w.]+)`", name)[1]
    short = {whole.rpartition(".")[2]: other for whole, other in PUBLIC.items()}
    scope = {"pi_xgb": pi_xgb, "xgboost": xgboost, "KFold": KFold, **short}
    first, *rest = name.split(".")
    found = functools.reduce(getattr, rest, scope[first])
    return found.fit if inspect.isclass(found) and value.__name__ == "fit" else found


def faults(value: Any) -> list[str]:
    parameters = inspect.signature(value).parameters
    described = entries(inspect.getdoc(value) or "")
    takes_more = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    unknown = [name for name in described if name.lstrip("*") not in parameters]
    found = [] if takes_more else [f"{name} is no parameter" for name in unknown]
    for name, parameter in parameters.items() if described else ():
        default = repr(parameter.default)
        if name == "self" or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if described.get(name) is None:
            found.append(f"{name} has no type")
        elif described[name].startswith("as for "):
            other = inspect.signature(reference(described[name], value)).parameters
            if name in other and repr(other[name].default) != default:
                found.append(f"{name} has {default}, elsewhere {other[name].default!r}")
        else:
            stated = re.search(r"default=(.+)$", described[name])
            if (stated[1].replace('"', "'") if stated else repr(parameter.empty)) != default:
                found.append(f"{name} has {default}, described as {described[name]}")
    return found


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_has_its_type_and_default(name):
    assert faults(PUBLIC[name]) == []


def test_functions_and_classes_describe_their_parameters():
    silent = [
        name
        for name, value in PUBLIC.items()
        if inspect.signature(value).parameters
        and not entries(inspect.getdoc(value) or "")
        and "." not in value.__qualname__
    ]
    assert {name.rpartition(".")[2] for name in silent} == RESULTS

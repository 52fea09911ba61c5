"""XGBoost with features that exist only at training time.

``train`` and ``cv`` are called like XGBoost's functions of these names, ``KLObjective`` and ``JointObjective`` go
into ``xgboost.train(obj=...)``. See the README for a tour.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

# Names are imported at first use: imports take time, Ctrl-C should not end in a traceback of them, and some need an
# extra. The stub beside this file lists them once, for this module and for type checkers.
_STUB = Path(__file__).with_name("__init__.pyi").read_text()
_MODULE_OF = {name: module for module, name in re.findall(r"^from \.(\S*) import (\w+) as", _STUB, re.MULTILINE)}

__all__ = sorted(_MODULE_OF.keys() - {"dask", "spark"})  # which need an extra even to be imported


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not _MODULE_OF[name]:
        return import_module(f".{name}", __name__)
    value = globals()[name] = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})

"""XGBoost with features that exist only at training time.

``train`` and ``cv`` are called like XGBoost's functions of these names, ``KLObjective`` and ``JointObjective`` go
into ``xgboost.train(obj=...)``. See the README for a tour.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import constraints, datasets, importance, labels, metrics, plotting, privacy
    from . import dask as dask
    from . import selection as selection
    from . import sklearn as sklearn
    from . import spark as spark
    from ._core.attached import attach_teacher
    from ._core.checkpoint import JointCheckPoint
    from ._core.cv import cv
    from ._core.joint import JointObjective, JointTeacher
    from ._core.learned import fit_teacher
    from ._core.learners.learned_teacher import LearnedTeacher
    from ._core.objective import KLObjective
    from ._core.teachers import ModelTeacher, Teacher
    from ._core.train import train
    from ._frontier.frontier import frontier
    from ._frontier.result import Frontier
    from ._report.report import report
    from .selection import Comparison, Selection, compare, select
    from .sklearn import (
        LabelledKFold,
        PrivilegedXGBClassifier,
        PrivilegedXGBClassifierCV,
        PrivilegedXGBRanker,
        PrivilegedXGBRegressor,
        PrivilegedXGBRegressorCV,
    )

# Names are imported at first use: imports take time, Ctrl-C should not end in a traceback of them, and some need an
# extra. Each name is defined in the module on its right; with None it is a module itself.
_LATER = {
    "Comparison": "selection",
    "Frontier": "_frontier.result",
    "JointCheckPoint": "_core.checkpoint",
    "JointObjective": "_core.joint",
    "JointTeacher": "_core.joint",
    "KLObjective": "_core.objective",
    "LabelledKFold": "sklearn",
    "LearnedTeacher": "_core.learners.learned_teacher",
    "ModelTeacher": "_core.teachers",
    "PrivilegedXGBClassifier": "sklearn",
    "PrivilegedXGBClassifierCV": "sklearn",
    "PrivilegedXGBRanker": "sklearn",
    "PrivilegedXGBRegressor": "sklearn",
    "PrivilegedXGBRegressorCV": "sklearn",
    "Selection": "selection",
    "Teacher": "_core.teachers",
    "attach_teacher": "_core.attached",
    "compare": "selection",
    "constraints": None,
    "cv": "_core.cv",
    "dask": None,
    "datasets": None,
    "fit_teacher": "_core.learned",
    "frontier": "_frontier.frontier",
    "importance": None,
    "labels": None,
    "metrics": None,
    "plotting": None,
    "privacy": None,
    "report": "_report.report",
    "select": "selection",
    "selection": None,
    "sklearn": None,
    "spark": None,
    "train": "_core.train",
}

__all__ = [
    "Comparison",
    "Frontier",
    "JointCheckPoint",
    "JointObjective",
    "JointTeacher",
    "KLObjective",
    "LabelledKFold",
    "LearnedTeacher",
    "ModelTeacher",
    "PrivilegedXGBClassifier",
    "PrivilegedXGBClassifierCV",
    "PrivilegedXGBRanker",
    "PrivilegedXGBRegressor",
    "PrivilegedXGBRegressorCV",
    "Selection",
    "Teacher",
    "__version__",
    "attach_teacher",
    "compare",
    "constraints",
    "cv",
    "datasets",
    "fit_teacher",
    "frontier",
    "importance",
    "labels",
    "metrics",
    "plotting",
    "privacy",
    "report",
    "select",
    "train",
]


if not TYPE_CHECKING:  # A type checker would take any name at all from this function; it reads the imports above.

    def __getattr__(name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = _LATER[name]
        if module is None:
            return import_module(f".{name}", __name__)
        return getattr(import_module(f".{module}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})

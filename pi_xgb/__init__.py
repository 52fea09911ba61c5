"""XGBoost with features that exist only at training time.

``train`` and ``cv`` are called like XGBoost's functions of these names, ``KLObjective`` and ``JointObjective`` go
into ``xgboost.train(obj=...)``. See the README for a tour.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import constraints, datasets, importance, metrics, plotting
from ._core.attached import attach_teacher
from ._core.checkpoint import JointCheckPoint
from ._core.cv import cv
from ._core.joint import JointObjective, JointTeacher
from ._core.learned import LearnedTeacher, fit_teacher
from ._core.objective import KLObjective
from ._core.teachers import ModelTeacher, Teacher
from ._core.train import train
from ._report.report import report
from ._version import __version__
from .selection import Comparison, Selection, compare, select

if TYPE_CHECKING:
    from ._sklearn.cv import PrivilegedXGBClassifierCV, PrivilegedXGBRegressorCV
    from ._sklearn.estimators import PrivilegedXGBClassifier, PrivilegedXGBRegressor

# scikit-learn, Dask and Spark are extras: what needs them is imported when it is asked for.
_FROM_SKLEARN = (
    "PrivilegedXGBClassifier",
    "PrivilegedXGBClassifierCV",
    "PrivilegedXGBRegressor",
    "PrivilegedXGBRegressorCV",
)
_ON_CLUSTERS = ("dask", "spark")

__all__ = [
    "Comparison",
    "JointCheckPoint",
    "JointObjective",
    "JointTeacher",
    "KLObjective",
    "LearnedTeacher",
    "ModelTeacher",
    "PrivilegedXGBClassifier",
    "PrivilegedXGBClassifierCV",
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
    "importance",
    "metrics",
    "plotting",
    "report",
    "select",
    "train",
]


def __getattr__(name: str) -> Any:
    if name in _FROM_SKLEARN:
        return getattr(import_module(".sklearn", __name__), name)
    if name in _ON_CLUSTERS:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

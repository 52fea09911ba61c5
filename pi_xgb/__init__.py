"""XGBoost with features that exist only at training time.

``train`` and ``cv`` are called like XGBoost's functions of these names, ``KLObjective`` and ``JointObjective`` go
into ``xgboost.train(obj=...)``. See the README for a tour.
"""

from . import datasets
from ._cv import cv
from ._joint import JointCheckPoint, JointObjective, JointTeacher
from ._learned import LearnedTeacher, fit_teacher
from ._objective import KLObjective
from ._teachers import ModelTeacher, Teacher, attach_teacher
from ._version import __version__
from .training import train

__all__ = [
    "JointCheckPoint",
    "JointObjective",
    "JointTeacher",
    "KLObjective",
    "LearnedTeacher",
    "ModelTeacher",
    "Teacher",
    "__version__",
    "attach_teacher",
    "cv",
    "datasets",
    "fit_teacher",
    "train",
]

"""Warnings that point at the user's line, from however deep inside the package."""

from __future__ import annotations

import sys
import warnings

_NOT_THE_USERS = (__package__, "xgboost")
"""Estimators are called through XGBoost, which looks at positional arguments first."""


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn as if the user's own call had done it."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_USERS:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)

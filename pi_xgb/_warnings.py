"""Warnings that point at the user's line, from any depth of the package."""

from __future__ import annotations

import sys
import warnings

_NOT_THE_USERS = (__package__, "xgboost")
"""XGBoost's frames too, since estimators are called through its wrapper for positional arguments."""


def warn_user(message: str) -> None:
    """Warn at the line of the user's call."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_USERS:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)

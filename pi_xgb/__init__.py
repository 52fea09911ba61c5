"""XGBoost with features that exist only at training time."""

from ._version import __version__

__all__ = ["__version__"]

"""Placeholder until the learner is merged."""

from .forest import Forest as Linear

__all__ = ["Linear"]

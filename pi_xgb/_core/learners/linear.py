"""Placeholder until the learner is merged."""

from .forest import Forest as Linear  # noqa: F401

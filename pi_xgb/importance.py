"""Which features make a model's trees fair or unfair: the fair feature importance score FairFIS."""

from ._importance.fair_importance import fair_importance

__all__ = ["fair_importance"]

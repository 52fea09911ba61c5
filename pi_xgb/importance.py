"""Feature importance for differences between groups: by the splits of trees (FairFIS) or by predictions."""

from ._importance.fair_importance import fair_importance
from ._importance.shap_gap import shap_gap

__all__ = ["fair_importance", "shap_gap"]

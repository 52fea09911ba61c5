"""Which features make a model treat groups differently: by the splits of its trees (FairFIS), by its predictions."""

from ._importance.fair_importance import fair_importance
from ._importance.shap_gap import shap_gap

__all__ = ["fair_importance", "shap_gap"]

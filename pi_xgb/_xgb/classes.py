"""The names of the classes, stored in a booster as an attribute."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import xgboost

_CLASSES = "pi_xgb_classes"


def write_classes(booster: xgboost.Booster, classes: Any) -> None:
    """Store the classes in the booster; ``None`` or 0, 1, 2, ... removes the attribute."""
    booster.set_attr(**{_CLASSES: None if classes is None else _encoded(classes)})


def read_classes(booster: xgboost.Booster) -> Any:
    """Return the classes stored in the booster as an array, or None."""
    encoded = booster.attr(_CLASSES)
    if encoded is None:
        return None
    stored = json.loads(encoded)
    return np.array(stored["values"], dtype=np.dtype(stored["dtype"]))


def _encoded(classes: Any) -> str | None:
    """Return the classes as JSON; None for 0, 1, 2, ..., the classes of a model without names."""
    if classes.dtype.kind != "b" and np.array_equal(classes, np.arange(len(classes))):
        return None
    values = classes.tolist()
    if not all(isinstance(value, (str, int, float)) for value in values):
        raise TypeError(f"classes in a model file must be strings or numbers, got {values[:5]}: pickle the estimator")
    return json.dumps({"dtype": classes.dtype.str, "values": values})

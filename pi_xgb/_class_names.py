"""The names of the classes, written into a model's attributes and read from there."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import xgboost

_ATTRIBUTE = "pi_xgb_classes"


def write_classes(booster: xgboost.Booster, classes: Any) -> None:
    """Keep the classes in the booster; ``None``, or 0, 1, 2..., leaves no attribute."""
    booster.set_attr(**{_ATTRIBUTE: None if classes is None else _written(classes)})


def read_classes(booster: xgboost.Booster) -> Any:
    """The classes that were kept in the booster as an array, or None."""
    written = booster.attr(_ATTRIBUTE)
    if written is None:
        return None
    kept = json.loads(written)
    return np.array(kept["values"], dtype=np.dtype(kept["dtype"]))


def _written(classes: Any) -> str | None:
    """The classes as text; None for 0, 1, 2..., which is what a model without names has."""
    if classes.dtype.kind != "b" and np.array_equal(classes, np.arange(len(classes))):
        return None
    values = classes.tolist()
    if not all(isinstance(value, (str, int, float)) for value in values):
        raise TypeError(
            f"a model file can name classes that are strings, numbers or truth values, these are {values[:5]}: pickle "
            "the estimator, or save get_booster() and keep the names apart"
        )
    return json.dumps({"dtype": classes.dtype.str, "values": values})

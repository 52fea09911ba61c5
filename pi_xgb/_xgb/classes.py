"""The names of the classes, kept in a booster as an attribute."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import xgboost

from .booster import attribute_of, configuration_of

_CLASSES = "pi_xgb_classes"

_DAMAGED = f"the names of the classes in the model (its attribute {_CLASSES}) are damaged"


def write_classes(booster: xgboost.Booster, classes: Any) -> None:
    """Keep the classes in the booster; ``None``, or 0, 1, 2..., leaves no attribute."""
    booster.set_attr(**{_CLASSES: None if classes is None else _written(classes)})


@contextlib.contextmanager
def with_classes(booster: xgboost.Booster, classes: Any) -> Iterator[None]:
    """The classes are in the booster while it is saved, and not afterwards, whether that worked or not."""
    write_classes(booster, classes)
    try:
        yield
    finally:
        write_classes(booster, None)


def read_classes(booster: xgboost.Booster) -> Any:
    """The classes that were kept in the booster as an array, or None."""
    written = attribute_of(booster, _CLASSES)
    if written is None:
        return None
    n_classes = max(configuration_of(booster).n_classes, 2)
    try:
        kept = json.loads(written)
        classes = np.array(kept["values"], dtype=np.dtype(kept["dtype"]))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{_DAMAGED}: it cannot be read") from error
    if classes.shape != (n_classes,) or len(set(classes.tolist())) < n_classes:
        raise ValueError(f"{_DAMAGED}: it names {classes.tolist()}, and the model tells {n_classes} classes apart")
    return classes


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

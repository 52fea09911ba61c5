"""The names of the classes, written into a model's attributes and read from there."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
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


def categories_of_model(booster: xgboost.Booster) -> dict[str, pd.Index[Any]]:
    """The categories that XGBoost keeps in a model, by the name of the feature.

    XGBoost hands them out through pyarrow only, so they are read from the model as it is saved. They are needed
    because its versions differ in what they make of a category that the training did not have: a wrong one, or an
    error.
    """
    types, names = booster.feature_types or [], booster.feature_names or []
    if "c" not in types:
        return {}
    text = bytes(booster.save_raw("json")).decode()
    begin = text.find('"cats":{')
    kept = json.JSONDecoder().raw_decode(text, begin + len('"cats":'))[0]["enc"] if begin >= 0 else []
    if len(kept) != len(names):
        raise ValueError(
            "the model has categorical features and does not say what their categories are: it was made by an XGBoost "
            "before 3.1, or from numbers for categories; train it again from a table with text"
        )
    return {name: _decoded(kept[i]) for i, (name, kind) in enumerate(zip(names, types, strict=True)) if kind == "c"}


def _decoded(encoded: Mapping[str, Any]) -> pd.Index[Any]:
    if "offsets" not in encoded:
        numbers: pd.Index[Any] = pd.Index(encoded["values"])
        return numbers
    letters, ends = bytes(value % 256 for value in encoded["values"]), encoded["offsets"]
    return pd.Index([letters[a:b].decode() for a, b in itertools.pairwise(ends)], dtype=object)


def base_score_of(booster: xgboost.Booster) -> str:
    return str(json.loads(booster.save_config())["learner"]["learner_model_param"]["base_score"])

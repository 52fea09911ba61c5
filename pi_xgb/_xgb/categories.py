"""The categories of a model: those that XGBoost keeps, and those that it cannot spell, kept as an attribute."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
import xgboost

from .booster import attribute_of

_CATEGORIES = "pi_xgb_categories"
SPELLS_ALL = tuple(int(part) for part in xgboost.__version__.split(".")[:2]) >= (3, 4)
"""Whether this XGBoost keeps the names of pandas' categories whole, whatever their letters."""


def xgboost_spells(categories: pd.Index[Any]) -> bool:
    """Whether XGBoost can tell these categories apart.

    From 3.1 to 3.3 it takes the names of pandas' categories for bytes but counts their letters: of names that are not
    ASCII it keeps pieces, which may be equal, and then answers for one category as for another.
    """
    return all(not isinstance(name, str) or name.isascii() for name in categories)


def write_categories(booster: xgboost.Booster, categories: Mapping[str, pd.Index[Any]]) -> None:
    """Keep in the booster the categories, by feature, that XGBoost cannot spell."""
    kept = {name: list(index) for name, index in categories.items() if not xgboost_spells(index)}
    booster.set_attr(**{_CATEGORIES: json.dumps(kept) if kept else None})


def categories_of_model(booster: xgboost.Booster) -> dict[str, pd.Index[Any]]:
    """The categories that are kept in a model, by the name of the feature.

    XGBoost hands its own out through pyarrow only, so they are read from the model as it is saved. They are needed
    because its versions differ in what they make of a category that the training did not have: a wrong one, or an
    error.
    """
    types, names = booster.feature_types or [], booster.feature_names or []
    if "c" not in types:
        return {}
    categorical = [name for name, kind in zip(names, types, strict=True) if kind == "c"]
    ours = _kept_categories(attribute_of(booster, _CATEGORIES))
    if set(categorical) <= set(ours):
        return {name: ours[name] for name in categorical}
    kept = _encoded_categories(booster)
    if len(kept) != len(names):
        raise ValueError(
            "the model has categorical features and does not say what their categories are: it was made by an XGBoost "
            "before 3.1, or from numbers for categories; train it again from a table with text"
        )
    by_name = dict(zip(names, kept, strict=True))
    return {name: ours[name] if name in ours else _decoded(by_name[name], name) for name in categorical}


def kept_in_pieces(booster: xgboost.Booster) -> list[str]:
    """The features of whose categories XGBoost may have kept pieces only: it does where they came from pandas."""
    if SPELLS_ALL or "c" not in (booster.feature_types or []):
        return []
    names = booster.feature_names or [str(i) for i in range(booster.num_features())]
    ours = _kept_categories(attribute_of(booster, _CATEGORIES))
    return [
        name
        for name, kept in zip(names, _encoded_categories(booster), strict=False)
        if name not in ours and "offsets" in kept and any(not 0 <= letter < 128 for letter in kept["values"])
    ]


def categories_by_position(booster: xgboost.Booster) -> list[pd.Index[Any]]:
    """Those that XGBoost keeps, one index for each column, empty ones for numbers; none at all where it keeps none."""
    names = booster.feature_names or [str(i) for i in range(booster.num_features())]
    kept = _encoded_categories(booster)
    return [_decoded(one, name) for one, name in zip(kept, names, strict=True)] if len(kept) == len(names) else []


def _encoded_categories(booster: xgboost.Booster) -> list[dict[str, Any]]:
    text = bytes(booster.save_raw("json")).decode()
    begin = text.find('"cats":{')
    return json.JSONDecoder().raw_decode(text, begin + len('"cats":'))[0]["enc"] if begin >= 0 else []


def _kept_categories(written: str | None) -> dict[str, pd.Index[Any]]:
    if written is None:
        return {}
    try:
        kept = json.loads(written)
        if all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in kept.values()):
            return {name: pd.Index(names, dtype=object) for name, names in kept.items()}
    except (ValueError, AttributeError):
        pass
    raise ValueError(f"the names of the categories in the model (its attribute {_CATEGORIES}) are damaged")


def _decoded(encoded: Mapping[str, Any], feature: str) -> pd.Index[Any]:
    if "offsets" not in encoded:
        numbers: pd.Index[Any] = pd.Index(encoded["values"])
        return numbers
    letters, ends = bytes(value % 256 for value in encoded["values"]), encoded["offsets"]
    try:
        return pd.Index([letters[a:b].decode() for a, b in itertools.pairwise(ends)])
    except UnicodeDecodeError:
        raise ValueError(
            f"the model has categories of {feature!r} with letters beyond ASCII, of which XGBoost keeps pieces only "
            "where they come from pandas: train it with pi-xgb train, or from a pyarrow table"
        ) from None

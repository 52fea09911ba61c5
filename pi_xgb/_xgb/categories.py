"""The categories of a model: those that XGBoost stores, and those that it truncates, stored as an attribute."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._warnings import warn_user

_CATEGORIES = "pi_xgb_categories"
SPELLS_ALL = tuple(int(part) for part in xgboost.__version__.split(".")[:2]) >= (3, 4)
"""Whether this XGBoost stores non-ASCII names of pandas' categories completely."""


def xgboost_spells(categories: pd.Index[Any]) -> bool:
    """Return whether XGBoost can distinguish these categories.

    XGBoost 3.1 to 3.3 stores as many bytes of a pandas category as it has characters. Non-ASCII names are truncated
    and may become equal, and then XGBoost predicts one category as another.
    """
    return all(not isinstance(name, str) or name.isascii() for name in categories)


def matrix_of(table: Any, label: Any = None, *, weight: Any = None) -> xgboost.DMatrix:
    """Return a table as a DMatrix; pandas categories that XGBoost would confuse are replaced by their numbers."""
    numbered = set()
    if isinstance(table, pd.DataFrame):
        table = table.copy(deep=False)
        for position, dtype in enumerate(table.dtypes):
            if isinstance(dtype, pd.CategoricalDtype) and not xgboost_spells(dtype.categories):
                numbered.add(position)
                codes = table.iloc[:, position].cat.codes
                table.isetitem(position, codes.where(codes >= 0))
    matrix = xgboost.DMatrix(table, label, weight=weight, enable_categorical=True)
    if numbered:
        matrix.feature_types = ["c" if i in numbered else kind for i, kind in enumerate(matrix.feature_types or [])]
    return matrix


def write_categories(booster: xgboost.Booster, categories: Mapping[str, pd.Index[Any]]) -> None:
    """Store in the booster the categories, by feature, that XGBoost truncates."""
    truncated = {name: list(index) for name, index in categories.items() if not xgboost_spells(index)}
    booster.set_attr(**{_CATEGORIES: json.dumps(truncated) if truncated else None})


def categories_of_model(booster: xgboost.Booster) -> dict[str, pd.Index[Any]]:
    """Return the categories stored in a model, by the name of the feature.

    XGBoost exports its own through pyarrow only, so they are read from its JSON model. They are needed because
    XGBoost's versions treat a category that is new at prediction differently: as a wrong one, or as an error.
    """
    types, names = booster.feature_types or [], booster.feature_names or []
    categorical = [name for name, kind in zip(names, types, strict=True) if kind == "c"]
    ours = _stored_categories(booster) if categorical else {}
    encoded = {} if set(categorical) <= set(ours) else dict(zip(names, _encoded_categories(booster), strict=False))
    if not set(categorical) <= ours.keys() | encoded.keys():
        raise ValueError("the model lacks the names of its categories, as before XGBoost 3.1: train it again")
    return {name: ours[name] if name in ours else decoded_categories(encoded[name], name) for name in categorical}


def kept_in_pieces(booster: xgboost.Booster) -> list[str]:
    """Return the features whose categories XGBoost may have truncated, as it does with those of pandas."""
    if SPELLS_ALL or "c" not in (booster.feature_types or []):
        return []
    ours = _stored_categories(booster)
    return [
        name
        for name, encoded in zip(_names(booster), _encoded_categories(booster), strict=False)
        if name not in ours and "offsets" in encoded and any(not 0 <= byte < 128 for byte in encoded["values"])
    ]


def categories_by_position(booster: xgboost.Booster) -> list[pd.Index[Any]]:
    """Return XGBoost's own categories: an index per column, empty for numbers; an empty list if it stores none."""
    return list(map(decoded_categories, _encoded_categories(booster), _names(booster)))


def encoded_categories(matrix: xgboost.DMatrix) -> list[dict[str, Any]]:
    """Return how XGBoost encodes the categories of the columns of a matrix; an empty list where there are none.

    They are read from a model of its first row, since XGBoost exports them through pyarrow only.
    """
    if "c" not in (matrix.feature_types or []) or not matrix.num_row():
        return []
    row = matrix.slice([0], allow_groups=True)
    row.set_base_margin(np.empty(0, np.float32))
    row.set_label(np.zeros(1, np.float32))
    row.set_weight(np.ones(1, np.float32))  # its own may be 0, with which XGBoost cannot train
    return _encoded_categories(xgboost.train({"nthread": 1}, row, 1))


def _names(booster: xgboost.Booster) -> list[str]:
    return list(booster.feature_names or ()) or [str(i) for i in range(booster.num_features())]


def _encoded_categories(booster: xgboost.Booster) -> list[dict[str, Any]]:
    text = bytes(booster.save_raw("json")).decode()
    begin = text.find('"cats":{')
    return json.JSONDecoder().raw_decode(text, begin + len('"cats":'))[0]["enc"] if begin >= 0 else []


def _stored_categories(booster: xgboost.Booster) -> dict[str, pd.Index[Any]]:
    stored = json.loads(booster.attr(_CATEGORIES) or "{}")
    return {feature: pd.Index(names, dtype=object) for feature, names in stored.items()}


def decoded_categories(encoded: Mapping[str, Any], feature: str) -> pd.Index[Any]:
    """Return the categories of one feature in the order of their codes."""
    if "offsets" not in encoded:
        numbers: pd.Index[Any] = pd.Index(encoded["values"])
        return numbers
    text, ends = bytes(value % 256 for value in encoded["values"]), encoded["offsets"]
    try:
        return pd.Index([text[a:b].decode() for a, b in itertools.pairwise(ends)])
    except UnicodeDecodeError:
        raise ValueError(
            f"the model has categories of {feature!r} with non-ASCII characters, which XGBoost truncated: train it "
            "with pi-xgb train, or from a pyarrow table"
        ) from None


def warn_of_pieces(booster: xgboost.Booster) -> None:
    """Warn of truncated names of categories, by which XGBoost matches categories."""
    if names := kept_in_pieces(booster):
        warn_user(
            f"the categories of {', '.join(map(repr, names))} have non-ASCII characters, which XGBoost "
            f"{xgboost.__version__} truncates and then confuses: use XGBoost 3.4, names in ASCII or numbers"
        )

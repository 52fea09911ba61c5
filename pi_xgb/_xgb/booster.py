"""The one reader of a booster: the rounds that predict, its configuration, its classes, its categories."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xgboost

_CLASSES, _CATEGORIES = "pi_xgb_classes", "pi_xgb_categories"


def best_round(booster: xgboost.Booster) -> int | None:
    """The best round, counted from 0, of a training that stopped early; else None."""
    best = booster.attr("best_iteration")
    return None if best is None else int(best)


def rounds_in_use(booster: xgboost.Booster) -> tuple[int, int]:
    """The rounds that predict, as ``iteration_range`` wants them: up to the best one, or (0, 0) for all."""
    best = best_round(booster)
    return (0, 0) if best is None else (0, min(best + 1, booster.num_boosted_rounds()))


@dataclass(frozen=True)
class Configuration:
    """What a booster knows of how it is trained. One from a file has forgotten most of it."""

    objective: str
    kind: str
    """gbtree, dart or gblinear."""
    base_score: str
    n_classes: int
    """``num_class``: 0 where there are no several classes."""
    tree_params: dict[str, Any]
    objective_params: dict[str, str]
    """Those that the objective itself reads."""
    settings: dict[str, str]
    """Every parameter that a user may set, under its first name."""


_ALIASES = ("learning_rate", "min_split_loss", "reg_alpha", "reg_lambda")
# Of what all boosters have, this makes a difference to a model.
_GENERIC = ("device", "seed")
# Sections that hold no parameter of a user's, or are looked at by name.
_SHAPE = ("generic_param", "gbtree_model_param", "model_param", "learner_model_param", "updater", "metrics")


def configuration_of(booster: xgboost.Booster) -> Configuration:
    """Read ``Booster.save_config``."""
    learner = json.loads(booster.save_config())["learner"]
    model, generic = learner["learner_model_param"], learner["generic_param"]
    settings = {name: value for name, value in _leaves(learner) if name not in _ALIASES}
    return Configuration(
        objective=learner["objective"]["name"],
        kind=learner["learner_train_param"]["booster"],
        base_score=str(model["base_score"]),
        n_classes=int(model["num_class"]),
        tree_params=dict(learner["gradient_booster"].get("tree_train_param", {})),
        objective_params=dict(_leaves(learner["objective"])),
        settings=settings | {name: generic[name] for name in _GENERIC if name in generic},
    )


def _leaves(section: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in section.items():
        if isinstance(value, dict) and name not in _SHAPE:
            yield from _leaves(value)
        elif isinstance(value, str) and name not in ("name", "updater", "updater_seq"):
            yield name, value


def eta_of(booster: xgboost.Booster) -> float:
    """The size of its steps."""
    found = configuration_of(booster).settings.get("eta")
    if found is None:  # a linear booster keeps it in a place of its own
        own = json.loads(booster.save_config())["learner"]["gradient_booster"]
        found = own["updater"]["linear_train_param"]["eta"]
    return float(found)


def base_score_of(booster: xgboost.Booster) -> str:
    """The intercept as XGBoost writes it down."""
    return configuration_of(booster).base_score


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
    written = booster.attr(_CLASSES)
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


def xgboost_spells(categories: pd.Index[Any]) -> bool:
    """Whether XGBoost can tell these categories apart.

    It takes the names of pandas' categories for bytes but counts their letters, in all versions from 3.1 on: of names
    that are not ASCII it keeps pieces, which may be equal, and then answers for one category as for another.
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
    ours = {name: pd.Index(kept, dtype=object) for name, kept in json.loads(booster.attr(_CATEGORIES) or "{}").items()}
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


def categories_by_position(booster: xgboost.Booster) -> list[pd.Index[Any]]:
    """Those that XGBoost keeps, one index for each column, empty ones for numbers; none at all where it keeps none."""
    names = booster.feature_names or [str(i) for i in range(booster.num_features())]
    kept = _encoded_categories(booster)
    return [_decoded(one, name) for one, name in zip(kept, names, strict=True)] if len(kept) == len(names) else []


def _encoded_categories(booster: xgboost.Booster) -> list[dict[str, Any]]:
    text = bytes(booster.save_raw("json")).decode()
    begin = text.find('"cats":{')
    return json.JSONDecoder().raw_decode(text, begin + len('"cats":'))[0]["enc"] if begin >= 0 else []


def _decoded(encoded: Mapping[str, Any], feature: str) -> pd.Index[Any]:
    if "offsets" not in encoded:
        numbers: pd.Index[Any] = pd.Index(encoded["values"])
        return numbers
    letters, ends = bytes(value % 256 for value in encoded["values"]), encoded["offsets"]
    try:
        return pd.Index([letters[a:b].decode() for a, b in itertools.pairwise(ends)], dtype=object)
    except UnicodeDecodeError:
        raise ValueError(
            f"the model has categories of {feature!r} with letters beyond ASCII, of which XGBoost keeps pieces only "
            "where they come from pandas: train it with pi-xgb train, or from a pyarrow table"
        ) from None

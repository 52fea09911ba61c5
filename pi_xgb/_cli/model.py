"""A model file: what it needs, what it says, and what its answers mean."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._xgb.booster import configuration_of, rounds_in_use
from .._xgb.categories import categories_of_model, write_categories
from .._xgb.classes import read_classes, write_classes
from .._xgb.matrix import matrix_of
from .._xgb.model_file import load_booster
from .features import Categories, known_features
from .output import new_output, write_output
from .rows import Say
from .source import Source


@dataclasses.dataclass(frozen=True)
class Model:
    """A booster that was read from a file."""

    booster: xgboost.Booster
    objective: str
    objective_params: dict[str, str]
    features: list[str]
    categories: dict[str, pd.Index[Any]]
    classes: np.ndarray[Any, Any] | None
    """The names of the classes; None for a model of numbers, and for one of 0 and 1."""

    @property
    def rounds(self) -> tuple[int, int]:
        """The rounds that predict: up to the best one where the training stopped early."""
        return rounds_in_use(self.booster)

    def matrix(self, frame: pd.DataFrame, file: str, say: Say, **fields: Any) -> xgboost.DMatrix:
        """Rows as the model takes them."""
        x = known_features(frame[self.features], self.categories, file, say)
        return matrix_of(x, **fields)

    def scores(self, matrix: xgboost.DMatrix) -> np.ndarray[Any, Any]:
        """The answers of the booster."""
        return self.booster.predict(matrix, iteration_range=self.rounds)

    def answers(self, matrix: xgboost.DMatrix) -> pd.DataFrame:
        """The predicted class by its name with probabilities, or the predicted number."""
        scores = self.scores(matrix)
        if self.objective == "binary:logistic":
            classes = np.arange(2) if self.classes is None else self.classes
            chosen = classes[(scores > 0.5).astype(int)]
            return pd.DataFrame({"prediction": chosen, f"probability_{classes[1]}": scores})
        if self.classes is None:
            columns = scores[:, None] if scores.ndim == 1 else scores
            named = ["prediction"] if columns.shape[1] == 1 else [f"prediction_{k}" for k in range(columns.shape[1])]
            return pd.DataFrame(columns, columns=named)
        if scores.ndim == 1:
            return pd.DataFrame({"prediction": self.classes[scores.astype(int)]})
        chosen = self.classes[scores.argmax(axis=1)]
        probabilities = pd.DataFrame(scores, columns=[f"probability_{name}" for name in self.classes])
        return pd.concat([pd.Series(chosen, name="prediction"), probabilities], axis=1)


def load_model(name: str) -> Model:
    """Read a model that was written by XGBoost, through this library or not."""
    if not Path(name).is_file():
        raise FileNotFoundError(f"there is no model file {name!r}")
    booster = load_booster(name)
    if not booster.feature_names:
        raise ValueError(f"the model {name!r} does not know the names of its features: it was trained without names")
    found = configuration_of(booster)
    classes = read_classes(booster)
    if classes is None and found.n_classes > 1:
        classes = np.arange(found.n_classes)
    return Model(
        booster,
        found.objective,
        found.objective_params,
        list(booster.feature_names),
        categories_of_model(booster),
        classes,
    )


def new_model_file(arguments: argparse.Namespace) -> Path:
    """The file that ``--out`` names for a model."""
    return new_output(arguments, endings=(".ubj", ".json"))


def write_model(
    path: Path, booster: xgboost.Booster, classes: Any, categories: Categories, arguments: argparse.Namespace
) -> None:
    """Write a plain file of XGBoost, in the format of its ending, with the names of classes and categories."""
    write_classes(booster, classes)
    write_categories(booster, categories)
    write_output(path, bytes(booster.save_raw(path.suffix.lower()[1:])), arguments)


def check_features(source: Source, model: Model) -> None:
    """The rows have what the model needs; what else they have does not matter."""
    source.check_has(model.features, "the model needs")

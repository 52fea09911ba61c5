"""A model file: its columns and the meaning of its predictions."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from .._files import write_file
from .._xgb.booster import configuration_of, load_booster, rounds_in_use
from .._xgb.categories import categories_of_model, kept_in_pieces, write_categories
from .._xgb.classes import read_classes, write_classes
from .features import categories_of
from .output import new_output
from .rows import TrainingRows


@dataclasses.dataclass(frozen=True)
class SavedModel:
    """A booster read from a file."""

    booster: xgboost.Booster
    objective: str
    objective_params: dict[str, str]
    features: list[str]
    categories: dict[str, pd.Index[Any]]
    in_pieces: list[str]
    """The features whose names of categories XGBoost may have stored incompletely."""
    classes: np.ndarray[Any, Any] | None
    """The names of the classes; None for a regression, and for classes 0 and 1."""

    def scores(self, matrix: xgboost.DMatrix, *, output_margin: bool = False) -> np.ndarray[Any, Any]:
        """Return the booster's predictions, up to the best round if the training stopped early."""
        return self.booster.predict(matrix, output_margin=output_margin, iteration_range=rounds_in_use(self.booster))

    def predictions(self, matrix: xgboost.DMatrix) -> pd.DataFrame:
        """Return the name of the predicted class with probabilities (or the margin), or the predicted number."""
        scores = self.scores(matrix)
        if self.objective.startswith("binary:log") or (self.objective == "reg:logistic" and self.classes is not None):
            classes = np.array([0, 1]) if self.classes is None else self.classes
            kind, even = ("margin", 0.0) if self.objective == "binary:logitraw" else ("probability", 0.5)
            return pd.DataFrame({"prediction": classes[(scores > even).astype(int)], f"{kind}_{classes[1]}": scores})
        if self.classes is None:
            if scores.ndim == 2 and scores.shape[1] > 1:
                return pd.DataFrame(scores).add_prefix("prediction_")
            return pd.DataFrame({"prediction": scores.ravel()})
        if scores.ndim == 1:
            return pd.DataFrame({"prediction": self.classes[scores.astype(int)]})
        probabilities = pd.DataFrame(scores, columns=self.classes).add_prefix("probability_")
        probabilities.insert(0, "prediction", self.classes[scores.argmax(axis=1)])
        return probabilities


def load_model(name: str) -> SavedModel:
    """Read a model file of XGBoost or of this library."""
    booster = load_booster(name)
    if not booster.feature_names:
        raise ValueError(f"the model {name!r} has no feature names: train it on columns with names")
    config = configuration_of(booster)
    classes = read_classes(booster)
    if classes is None and config.n_classes > 1:
        classes = np.arange(config.n_classes)
    features, categories, pieces = list(booster.feature_names), categories_of_model(booster), kept_in_pieces(booster)
    return SavedModel(booster, config.objective, config.objective_params, features, categories, pieces, classes)


def new_model_file(arguments: argparse.Namespace) -> Path:
    """Return the path of ``--out`` for a model."""
    return new_output(arguments, endings=(".ubj", ".json"))


def write_model(path: Path, booster: xgboost.Booster, training: TrainingRows, arguments: argparse.Namespace) -> None:
    """Write an XGBoost file in the format of its ending, with the names of classes and categories."""
    write_classes(booster, training.classes)
    write_categories(booster, categories_of(training.rows.x))
    write_file(path, bytes(booster.save_raw(path.suffix.lower()[1:])), overwrite=arguments.force)

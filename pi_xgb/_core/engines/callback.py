"""The callback engine: the blended gradient is computed in Python, in every round, as the paper writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import xgboost
from xgboost.callback import TrainingCallback

from ..._xgb.booster import configuration_of
from ..blend import Distillation
from ..losses import Loss
from ..training import Boosting, Student, Training


def obstacle(training: Training, *_: Any, **__: Any) -> str | None:
    """Return why this engine would not train the model of labels and teachers as stacked rows; None if it does."""
    if not training.spec.loss.has_gradient:
        return "its gradient is not linear in the label. Use engine='copies' or 'auto'"
    return None


def fit(training: Training, boosting: Boosting) -> xgboost.Booster:
    """Train the student."""
    distillation = Distillation(training)
    params = distillation.params(continues=boosting.xgb_model is not None)
    callbacks, metric = list(boosting.keywords.get("callbacks") or ()), boosting.keywords.get("custom_metric")
    if distillation.is_adaptive:
        callbacks.append(Start({boosting.dtrain: (distillation, params.get("base_score"))}))
    metric = metric and shown_predictions(metric, distillation.loss)
    return boosting.run(params, obj=distillation.gradient, callbacks=callbacks, custom_metric=metric)


class Start(TrainingCallback):
    """Starts adaptive teachers with the booster that they follow: one, or in ``xgboost.cv`` that of each fold."""

    def __init__(self, students: Mapping[xgboost.DMatrix, tuple[Distillation, Any]]) -> None:
        self._students = students
        """By its training matrix, the objective of each student and its intercept."""

    def before_training(self, model: Any) -> Any:
        """Called by XGBoost before the first round."""
        folds = {fold.dtrain: fold.bst for fold in getattr(model, "cvfolds", ())}
        for dtrain, (distillation, base_score) in self._students.items():
            if distillation.is_adaptive:
                booster = folds.get(dtrain, model)
                distillation.take_steps(configuration_of(booster).settings, {})
                distillation.start(Student(booster, dtrain, base_score))
        return model


def shown_predictions(metric: Any, loss: Loss) -> Any:
    """Return a user's custom_metric that sees predictions, as with XGBoost's own objective.

    Under a custom objective XGBoost passes margins, but the user of this library gave no objective.
    """
    return lambda margin, matrix: metric(loss.predict(margin), matrix)

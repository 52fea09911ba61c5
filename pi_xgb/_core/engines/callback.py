"""The callback engine: the blended gradient is computed in Python, in every round, as the paper writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import xgboost
from xgboost.callback import TrainingCallback

from ..._arrays import Array
from ..._xgb.booster import configuration_of
from ..distillation import Distillation
from ..training import Guide, Spec, Student, Training
from .boosting import Boosting, shown_predictions


def obstacle(spec: Spec, guides: Sequence[Guide], **_: Any) -> str | None:
    """Return why this engine would not train the model of labels and teachers as stacked rows; None if it does."""
    if not spec.loss.has_gradient:
        return "its gradient is not linear in the label. Use engine='copies' or 'auto'"
    return None


def fit(training: Training, boosting: Boosting) -> xgboost.Booster:
    """Train the student."""
    distillation = Distillation(training)
    params = distillation.params(continues=boosting.xgb_model is not None)
    return boosting.run(
        params,
        obj=distillation.objective,
        callbacks=[Start(distillation, boosting.dtrain, params.get("base_score"))] if distillation.is_adaptive else (),
        custom_metric=shown_predictions(boosting.keywords.get("custom_metric"), distillation.loss),
    )


class Start(TrainingCallback):
    """Starts adaptive teachers with the booster that they follow."""

    def __init__(self, distillation: Distillation, dtrain: xgboost.DMatrix, base_score: Any) -> None:
        self.distillation, self._dtrain, self._base_score = distillation, dtrain, base_score

    def before_training(self, model: Any) -> Any:
        """Called by XGBoost before the first round."""
        self.distillation.use_steps_of(configuration_of(model).settings)
        self.distillation.start(Student(model, self._dtrain, self._base_score))
        return model

    def __call__(self, margin: Array, dtrain: xgboost.DMatrix) -> tuple[Array, Array]:
        """The gradient of the training, where it is one of several folds."""
        return self.distillation.gradient(margin)


class StartFolds(TrainingCallback):
    """Starts adaptive teachers in each fold of ``xgboost.cv``, by the fold's training matrix."""

    def __init__(self, starts: Mapping[xgboost.DMatrix, Start]) -> None:
        self._starts = starts

    def before_training(self, model: Any) -> Any:
        """Called by XGBoost before the first round, with the folds."""
        for fold in model.cvfolds:
            if self._starts[fold.dtrain].distillation.is_adaptive:
                self._starts[fold.dtrain].before_training(fold.bst)
        return model


class FoldObjective:
    """The objective of the fold that calls it, by the fold's training matrix."""

    def __init__(self, objectives: Mapping[xgboost.DMatrix, Any]) -> None:
        self._objectives = objectives

    def __call__(self, margin: Array, dtrain: xgboost.DMatrix) -> tuple[Array, Array]:
        gradient: tuple[Array, Array] = self._objectives[dtrain](margin, dtrain)
        return gradient

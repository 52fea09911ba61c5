"""The callback engine: the blended gradient is computed in Python, in every round, as the paper writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import xgboost
from xgboost.callback import TrainingCallback

from ..._arrays import Array
from ..._xgb.booster import configuration_of
from ..distillation import DistillationLoss, DistillationObjective
from ..job import Job, Plan, shown_predictions


def obstacle(plan: Plan) -> str | None:
    """Return why this engine would not train the model of labels and teachers as stacked rows; None if it does."""
    if not plan.spec.loss.has_gradient:
        return "its gradient is not linear in the label. Use engine='copies' or 'auto'"
    return None


def fit(job: Job) -> xgboost.Booster:
    """Train the student."""
    start, params = prepared(job)
    distillation = start.distillation
    return job.boosting.run(
        params,
        job.dtrain,
        obj=DistillationObjective(distillation),
        callbacks=[start] if distillation.is_adaptive else [],
        custom_metric=shown_predictions(job.boosting.custom_metric, distillation.loss),
    )


def prepared(job: Job) -> tuple[Start, dict[str, Any]]:
    """Return the callback that starts adaptive teachers, and the params with the intercept."""
    distillation = DistillationLoss(job.task, job.supervision.teachers)
    params = distillation.params_with_intercept(continues=job.boosting.xgb_model is not None)
    return Start(distillation, job.dtrain, params.get("base_score")), params


class Start(TrainingCallback):
    """Starts adaptive teachers with the booster that they follow."""

    def __init__(self, distillation: DistillationLoss, dtrain: xgboost.DMatrix, base_score: Any) -> None:
        self.distillation, self._dtrain, self._base_score = distillation, dtrain, base_score

    def before_training(self, model: Any) -> Any:
        """Called by XGBoost before the first round."""
        self.distillation.use_steps_of(configuration_of(model).settings)
        self.distillation.start(model, self._dtrain, self._base_score)
        return model


class StartFolds(TrainingCallback):
    """Starts adaptive teachers in each fold of ``xgboost.cv``."""

    def __init__(self, starts: Mapping[xgboost.DMatrix, Start]) -> None:
        self._starts = starts

    def before_training(self, model: Any) -> Any:
        """Called by XGBoost before the first round, with the folds."""
        for fold in model.cvfolds:
            if self._starts[fold.dtrain].distillation.is_adaptive:
                self._starts[fold.dtrain].before_training(fold.bst)
        return model


class FoldObjective:
    """The objective of the fold that calls it."""

    def __init__(self, starts: Mapping[xgboost.DMatrix, Start]) -> None:
        self._starts = starts

    def __call__(self, margin: Array, dtrain: xgboost.DMatrix) -> tuple[Array, Array]:
        return self._starts[dtrain].distillation.gradient(margin)

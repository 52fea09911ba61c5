"""Boosting: the teacher of the paper, and the only one for objectives without a mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import xgboost

from ..._arrays import Array
from ..._xgb.booster import rounds_in_use
from ..._xgb.collective import on_any_worker
from ..._xgb.matrix import slice_rows
from ..blend import Distillation, weighted_mean
from ..losses import Loss
from ..training import Spec, Training
from .features import Features


@dataclasses.dataclass(frozen=True)
class BoostedModel:
    """A booster, and the rounds of it that predict: up to the best one where it stopped early."""

    booster: xgboost.Booster
    loss: Loss
    rounds: tuple[int, int]

    def predict(self, features: Features) -> Array:
        """The mean of each row."""
        return self.loss.mean(self.booster.predict(features.matrix, output_margin=True, iteration_range=self.rounds))


def fit_boosted(
    spec: Spec, num_boost_round: int, keywords: Mapping[str, Any], features: Features, label: Array, weight: Array
) -> BoostedModel:
    """Train a booster on all rows of the matrix, with ``weight`` in place of its own weights; empty where all count
    alike. ``keywords`` are those of ``xgboost.train`` about evaluation and early stopping.
    """
    matrix, params, gradient, loss = features.matrix, dict(spec.params), None, spec.loss
    if loss.has_exposure and "base_score" not in params:
        # With labels of 0 alone XGBoost would start Tweedie at the logarithm of 0, and predict NaN.
        mean = weighted_mean(label, weight if weight.size else None)
        if not mean.all():
            params["base_score"] = loss.base_score(np.maximum(mean, np.finfo(np.float32).tiny))
    if on_any_worker(not np.array_equal(matrix.get_weight(), weight)):
        if loss.has_gradient:
            # The matrix stays unchanged, so other weights require an objective.
            training = Training.from_arrays(spec, label, weight, n_rows=len(label), name="privileged")
            distillation = Distillation(training)
            params.setdefault("base_score", distillation.base_score())
            gradient = distillation.gradient
        else:
            matrix = slice_rows(matrix, np.arange(matrix.num_row()), weight)
    booster = xgboost.train(params, matrix, num_boost_round, obj=gradient, **keywords)
    return BoostedModel(booster, loss, rounds_in_use(booster) if keywords.get("early_stopping_rounds") else (0, 0))

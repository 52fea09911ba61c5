"""What an estimator predicts as a teacher, from any container and in any shape, and what cannot be a prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xgboost as xgb

from pi_xgb._core.learners.estimator import EstimatorModel
from pi_xgb._core.learners.features import Features
from pi_xgb._core.losses import LOSSES

ROWS = Features(xgb.DMatrix(np.zeros((2, 1))))
CLASSES = {"binary:logistic": [0, 1], "multi:softprob": [0, 1, 2]}


class Known:
    """Predicts what it was made with."""

    def __init__(self, q: Any) -> None:
        self.predict = self.predict_proba = lambda table: q


def predicted(objective: str, q: Any) -> np.ndarray:
    return EstimatorModel(Known(q), LOSSES[objective], CLASSES.get(objective, []), False).predict(ROWS)


@pytest.mark.parametrize(
    ("objective", "q", "expected"),
    [
        ("reg:squarederror", [1.5, -2], [1.5, -2]),
        ("reg:squarederror", [[1.5], [-2]], [1.5, -2]),
        ("reg:squarederror", [True, False], [1, 0]),
        ("reg:squarederror", [[1, 2], [3, 4]], [[1, 2], [3, 4]]),
        ("count:poisson", [-5e-7, 2], [0, 2]),
        ("binary:logistic", [[0.25, 0.75], [1, 0]], [0.75, 0]),
        ("multi:softprob", [[0.25, 0.5, 0.25], [0, 0, 1]], [[0.25, 0.5, 0.25], [0, 0, 1]]),
        ("rank:ndcg", [-3, 7], [-3, 7]),
    ],
)
def test_a_value_for_each_row(objective, q, expected):
    found = predicted(objective, q)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.float32(expected))


@pytest.mark.parametrize(
    ("objective", "q", "message"),
    [
        ("reg:squarederror", [1, 2, 3], "got 3 for 2 rows"),
        ("reg:squarederror", ["1", "2"], "the predict of the teacher Known must be finite"),
        ("reg:squarederror", [1, np.inf], "the predict of the teacher Known must be finite"),
        ("binary:logistic", [[0, np.nan], [0, 1]], "the predict_proba of the teacher Known must be finite"),
        ("binary:logistic", [0.5, 0.5], r"2 classes, got shape \(2,\)"),
        ("binary:logistic", [[1], [1]], r"2 classes, got shape \(2, 1\)"),
        ("binary:logistic", [[0, -0.5], [0, 1.5]], "from -0.5 to 1.5"),
        ("count:poisson", [-1, 2], "from -1 to 2"),
    ],
)
def test_what_cannot_be_a_prediction(objective, q, message):
    with pytest.raises(ValueError, match=message):
        predicted(objective, q)

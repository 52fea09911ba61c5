"""AUC with few labels: the budget plan of private teachers, the plan with a split in halves, and rivals."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import xgboost as xgb
from sklearn.metrics import roc_auc_score

import pi_xgb
from benchmarks.privacy.cost import OPEN, PARAMS, PLAIN, ROUNDS, TEST, TRAINING, chosen, labelled_rows
from benchmarks.privacy.sets import MADE, SPLITS, Part, Rows, drawn
from pi_xgb.privacy import PrivateTeacher

LABELS = (100, 400, 1000, 2000)
EPSILONS = (0.3, 1.0, 3.0)
APART = 100
SELF, RESPONSE, ALONE = "self-training on x", "randomised response on z", "DP-EBM on x, no student"
DELTA = 1e-6
PLANS: dict[str, dict[str, Any]] = {
    "labelled rows in the model alone, 4 bins": {"bins": 4},
    "split 0.5, 4 bins": {"split": 0.5, "bins": 4},
    "split 0.5, 8 bins": {"split": 0.5, "bins": 8},
}
CELLS = 4
"""The bins of each column of z, before randomised response."""


def measure(n_labels: int, repeat: int, small: bool = False) -> Iterator[dict[str, Any]]:
    """The AUC of every method on one draw of made data."""
    train, apart, test = drawn(MADE, TRAINING, APART, TEST, repeat)
    known = labelled_rows(train.y, n_labels / TRAINING, repeat)
    plain = xgb.train(PARAMS, train.take(np.flatnonzero(known)).matrix(), ROUNDS)

    def line(method: str, epsilon: float, teacher: Any) -> dict[str, Any]:
        booster, weight = (plain, 0.0) if teacher is None else chosen(plain, teacher, train, known, apart)
        auc = roc_auc_score(test.y, booster.predict(test.matrix()))
        return {"method": method, "epsilon": epsilon, "kl_weight": weight, "auc": auc}

    def open_teacher(z: Any) -> Any:
        return pi_xgb.fit_teacher(
            PARAMS, xgb.DMatrix(z, train.y, nthread=1), ROUNDS, teacher="boosted", crossfit=5, labelled=known
        )

    yield line(PLAIN, np.inf, None)
    yield line(OPEN, np.inf, open_teacher(train.z))
    itself = pi_xgb.ModelTeacher(lambda matrix: plain.predict(matrix), train.matrix())
    itself.teacher_weight = (~known).astype(np.float32)
    yield line(SELF, np.inf, itself)
    for epsilon in EPSILONS:
        auc = roc_auc_score(test.y, private_on_x(train.take(np.flatnonzero(known)), epsilon, test))
        yield {"method": ALONE, "epsilon": epsilon, "kl_weight": 0.0, "auc": auc}
        noisy = open_teacher(randomised(train.z.to_numpy(), epsilon, repeat))
        yield line(RESPONSE, epsilon, noisy)
        for name, options in PLANS.items():
            # At every number of labels, to see up to which one the plan is the better one.
            with mock.patch("pi_xgb._privacy.teacher.FEW_LABELS", 1.0):
                teacher = PrivateTeacher(epsilon, bounds=SPLITS[MADE].bounds, **options)
                teacher.fit(train.z, train.y, labelled=known)
            yield line(name, epsilon, teacher)


def private_on_x(train: Part, epsilon: float, test: Part) -> Rows:
    """Probabilities of a DP-EBM on x and y, whose guarantee covers both: a row is added or removed."""
    from interpret.privacy import DPExplainableBoostingClassifier

    # The odd columns are a hyperbolic tangent; the others lie within three standard deviations of 2.2.
    bounds = {i: (-1, 1) if i % 2 else (-6.7, 6.7) for i in range(train.x.shape[1])}
    kinds = ["continuous"] * train.x.shape[1]
    model = DPExplainableBoostingClassifier(
        feature_types=kinds, privacy_bounds=bounds, epsilon=epsilon, delta=DELTA, n_jobs=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few rows
        return model.fit(train.x.to_numpy(), train.y).predict_proba(test.x.to_numpy())[:, 1]


def randomised(z: Rows, epsilon: float, seed: int) -> Rows:
    """z of each row as a cell, which is replaced by a random one: private in each row without a trusted party."""
    low, high = np.array(list(SPLITS[MADE].bounds.values())).T
    bins = np.clip(((z - low) / (high - low) * CELLS).astype(int), 0, CELLS - 1)
    shape, random = (CELLS,) * z.shape[1], np.random.default_rng([seed, 2])
    cells, n_cells = np.ravel_multi_index(bins.T, shape), CELLS ** z.shape[1]
    is_kept = random.random(cells.size) < np.expm1(epsilon) / (np.expm1(epsilon) + n_cells)
    return np.column_stack(np.unravel_index(np.where(is_kept, cells, random.integers(0, n_cells, cells.size)), shape))

"""AUC with noise in sums over all rows, against noise in the prediction of each row, where few rows have a label."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import xgboost as xgb
from sklearn.metrics import roc_auc_score

import pi_xgb
from benchmarks.privacy.cost import OPEN, PARAMS, PLAIN, ROUNDS, TEST, TRAINING, chosen, labelled_rows
from benchmarks.privacy.few import APART, EPSILONS
from benchmarks.privacy.sets import MADE, SPLITS, Part, drawn
from pi_xgb.privacy import PrivateTeacher

LABELS = (100, 400, 1000)
EACH_ROW, SUMS = "noise in each prediction", "noise in sums"
CURVED = "made, half of x curved"
SETS = (MADE, CURVED)


def measure(name: str, n_labels: int, repeat: int, small: bool = False) -> Iterator[dict[str, Any]]:
    """The AUC of every method on one draw."""
    parts = drawn(MADE, TRAINING, APART, TEST, repeat)
    train, apart, test = map(curved, parts) if name == CURVED else parts
    known = labelled_rows(train.y, n_labels / TRAINING, repeat)
    plain = xgb.train(PARAMS, train.take(np.flatnonzero(known)).matrix(), ROUNDS)

    def line(method: str, epsilon: float, teacher: Any) -> dict[str, Any]:
        booster, weight = (plain, 0.0) if teacher is None else chosen(plain, teacher, train, known, apart)
        auc = roc_auc_score(test.y, booster.predict(test.matrix()))
        return {"method": method, "epsilon": epsilon, "kl_weight": weight, "auc": auc}

    yield line(PLAIN, np.inf, None)
    privileged = xgb.DMatrix(train.z, train.y, nthread=1)
    yield line(
        OPEN, np.inf, pi_xgb.fit_teacher(PARAMS, privileged, ROUNDS, teacher="boosted", crossfit=5, labelled=known)
    )
    for epsilon in EPSILONS:
        for method, options in ((EACH_ROW, {}), (SUMS, {"x": train.x})):
            teacher = PrivateTeacher(epsilon, bounds=SPLITS[MADE].bounds)
            yield line(method, epsilon, teacher.fit(train.z, train.y, labelled=known, **options))


def curved(part: Part) -> Part:
    """The rows with every second column of x curved, so that ranks of x do not predict linearly."""
    x = part.x.copy()
    for position, column in enumerate(x.columns):
        if position % 2:
            x[column] = np.abs(x[column] - 0.5) if position % 4 == 1 else np.sin(3 * x[column])
    return dataclasses.replace(part, x=x)

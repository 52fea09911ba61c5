"""What a user would take without privileged features: simple models on x, and the best of them.

They learn from the training and validation rows together, and choose by cross-validation on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import xgboost as xgb
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data.matrices import matrix
from benchmarks.methods._method import Method, Refused
from benchmarks.modes.fold_work import FoldWork, Scores
from benchmarks.unlabelled.cell import FOREST, FOREST_RIVAL, INNER_FOLDS, RIDGE_C, RIDGE_RIVAL, TUNED, one_hot, tuned

BEST_RIVAL = "best rival"
MOST_ROWS = 2000
COST = 4
Values = npt.NDArray[Any]
Predict = Callable[[Values, Values], Values]
"""From the numbers of training rows and of other rows to the probabilities of the latter."""


def simple_models(x: Values, types: Sequence[str], seed: int) -> dict[str, Any]:
    """Ridge regression, whose penalty is chosen by cross-validation, and a random forest."""
    search = GridSearchCV(
        LogisticRegression(max_iter=1000), {"C": RIDGE_C}, scoring="neg_log_loss", cv=INNER_FOLDS, error_score="raise"
    )
    return {
        RIDGE_RIVAL: make_pipeline(one_hot(x, types), StandardScaler(), search),
        FOREST_RIVAL: make_pipeline(one_hot(x, types), RandomForestClassifier(**FOREST, random_state=seed)),
    }


def simple(name: str, work: FoldWork, known: Values) -> Predict:
    """One of the models above."""
    table, types = work.dataset.student()
    x, y = table.to_numpy(np.float32), work.dataset.y
    model = simple_models(x, types, work.mode.seed)[name]
    return lambda rows, others: model.fit(x[rows], y[rows]).predict_proba(x[others])[:, 1]


def tuned_booster(work: FoldWork, known: Values) -> Predict:
    """XGBoost, whose depth and rounds are chosen once on the known rows."""
    table, types = work.dataset.student()

    def rows_of(rows: Values) -> xgb.DMatrix:
        return matrix(table.iloc[rows], types, work.dataset.y[rows], zeros_missing=False, nthread=work.nthread)

    params, rounds = tuned(work.params, rows_of(known), work.mode.seed)
    return lambda rows, others: xgb.train(params, rows_of(rows), rounds).predict(rows_of(others))


RIVALS: dict[str, Callable[[FoldWork, Values], Predict]] = {
    RIDGE_RIVAL: partial(simple, RIDGE_RIVAL),
    FOREST_RIVAL: partial(simple, FOREST_RIVAL),
    TUNED: tuned_booster,
}


@lru_cache(maxsize=len(RIVALS))
def scored(name: str, work: FoldWork) -> tuple[Scores, float]:
    """The scores of a rival, those of the validation rows out of fold, and its log loss in cross-validation."""
    known, y = np.concatenate([work.part("valid"), work.part("train")]), work.dataset.y
    if len(y) > MOST_ROWS:
        raise Refused(f"takes sets of at most {MOST_ROWS} rows")
    predict, chance = RIVALS[name](work, known), np.empty(len(known))
    folds = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=work.mode.seed)
    for rows, held_out in folds.split(known, y[known]):
        chance[held_out] = predict(known[rows], known[held_out])
    scores = Scores(chance[: len(work.part("valid"))], predict(known, work.part("test")))
    return scores, float(log_loss(y[known], chance))


def rival(name: str, work: FoldWork) -> Scores:
    """The scores of one rival."""
    return scored(name, work)[0]


def best_rival(work: FoldWork) -> Scores:
    """The scores of the rival with the lowest log loss in cross-validation."""
    return min((scored(name, work) for name in RIVALS), key=lambda found: found[1])[0]


AS_METHODS = (
    *(
        Method(name, partial(rival, name), f"{name}, settings by cross-validation", COST, boosted=False)
        for name in RIVALS
    ),
    Method(BEST_RIVAL, best_rival, "the best of these in cross-validation by log loss", COST, boosted=False),
)

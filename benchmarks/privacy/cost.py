"""AUC with private teachers of each epsilon, next to plain XGBoost and a teacher that keeps nothing private."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import xgboost as xgb
from sklearn.metrics import log_loss, roc_auc_score

import pi_xgb
from benchmarks.privacy.sets import SPLITS, Part, Rows, drawn
from pi_xgb.privacy import PrivateTeacher

PARAMS: dict[str, Any] = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.1, "nthread": 1}
ROUNDS = 60
KL_WEIGHTS = (0.02, 0.2, 2.0)
"""Those that plain XGBoost, which has 0, is compared with."""
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
DELTA = 1e-6
SHARE, CLIP = 0.5, 0.05
"""The model's share of epsilon, and the clip of its probabilities."""
TRAINING, TEST = 4000, 4000
LABELS = {"all": 1.0, "few": 0.025}
"""Which share of the training rows has a label."""
APART = {"all": 500, "few": 100}
"""How many rows, all labelled, kl_weight is chosen by. They have no part in the teacher: choosing costs no privacy."""
PLAIN, OPEN = "plain", "not private"
MODELS = ("histogram", "dp-ebm")
# Where the question is from how many rows on privacy is cheap.
SIZES = (500, 1000, 2000, 4000, 8000, 16000, 32000)
SIZE_EPSILONS = (1.0, 4.0)
SIZE_LABELS = {"all": 1.0, "few": 0.05}


def measure(name: str, labels: str, repeat: int, small: bool = False) -> Iterator[dict[str, Any]]:
    if small:
        return lines(name, labels, repeat, 300, 0.5, (1.0,), MODELS[:1])
    return lines(name, labels, repeat, TRAINING, LABELS[labels], EPSILONS, MODELS)


def measure_size(name: str, labels: str, repeat: int, rows: int, small: bool = False) -> Iterator[dict[str, Any]]:
    for line in lines(name, labels, repeat, rows, SIZE_LABELS[labels], SIZE_EPSILONS, MODELS[:1]):
        yield {column: value for column, value in line.items() if column != "rows"}


def lines(
    name: str, labels: str, repeat: int, training: int, share: float, epsilons: Iterable[float], models: Iterable[str]
) -> Iterator[dict[str, Any]]:
    """The AUC of every method on one draw."""
    train, apart, test = drawn(name, training, APART[labels], TEST, repeat)
    known = labelled_rows(train.y, share, repeat)
    cell = {"rows": train.y.size, "labelled": int(known.sum())}

    def line(method: str, epsilon: float, booster: xgb.Booster, weight: float) -> dict[str, Any]:
        auc = roc_auc_score(test.y, booster.predict(test.matrix()))
        return {**cell, "method": method, "epsilon": epsilon, "kl_weight": weight, "auc": auc}

    plain = xgb.train(PARAMS, train.take(np.flatnonzero(known)).matrix(), ROUNDS)
    yield line(PLAIN, np.inf, plain, 0.0)
    privileged = xgb.DMatrix(train.z, train.y, nthread=1)
    open_teacher = pi_xgb.fit_teacher(PARAMS, privileged, ROUNDS, teacher="boosted", crossfit=5, labelled=known)
    yield line(OPEN, np.inf, *chosen(plain, open_teacher, train, known, apart))
    split = SPLITS[name]
    for model in models:
        for epsilon in epsilons:
            options = {"bounds": split.bounds, "bins": split.bins, "split": SHARE, "clip": CLIP}
            made = PrivateTeacher(epsilon, DELTA, teacher=model, **options)
            teacher = made.fit(train.z, train.y, labelled=known)
            yield line(model, epsilon, *chosen(plain, teacher, train, known, apart))


def labelled_rows(y: Rows, share: float, repeat: int) -> Rows:
    """Each class its share of labels."""
    if share == 1:
        return np.ones(y.size, bool)
    random = np.random.default_rng([repeat, 1])
    known = np.zeros(y.size, bool)
    for label in (0, 1):
        rows = np.flatnonzero(y == label)
        known[random.permutation(rows)[: max(round(share * rows.size), 5)]] = True
    return known


def chosen(plain: xgb.Booster, teacher: Any, train: Part, known: Rows, apart: Part) -> tuple[xgb.Booster, float]:
    """The model whose ``kl_weight`` has the best log loss on rows set apart, the plain one among them."""
    boosters, dtrain = {0.0: plain}, train.matrix()
    for weight in KL_WEIGHTS:
        boosters[weight] = pi_xgb.train(PARAMS, dtrain, ROUNDS, teacher=teacher, kl_weight=weight, labelled=known)
    scored = apart.matrix()
    losses = {w: log_loss(apart.y, item.predict(scored).astype(float), labels=[0, 1]) for w, item in boosters.items()}
    best = min(losses, key=lambda weight: losses[weight])
    return boosters[best], best

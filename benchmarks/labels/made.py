"""Made rows of known truth: early labels, weights against a shift, labelling functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import xgboost as xgb

import pi_xgb
from benchmarks.unlabelled.cell import CROSSFIT, KL_WEIGHT, PARAMS, ROUNDS, measured
from pi_xgb import labels

Known = npt.NDArray[np.bool_]
Line = dict[str, Any]

TRAINING, TEST = 2000, 5000
DAYS, HORIZON = 240, 180
"""Rows are observed on equally many of these days; an event comes within the horizon."""
STEEP, RARE = 1.5, -2.0
"""The log odds of a label are RARE + STEEP times a score."""
FUNCTIONS, COVERAGE = 8, 0.4
WORST, BEST = 0.55, 0.9
"""The accuracies of the labelling functions lie between these, equally spaced."""
TRUE_LABELS = (50, 200)


RARER = 1.5
"""Bad outcomes (y = 1) are made rarer by this many log odds."""


class Made(NamedTuple):
    """Rows, their outcomes, and the true chance of a bad one given x and z."""

    x: npt.NDArray[np.float64]
    z: npt.NDArray[np.float64]
    y: npt.NDArray[np.int64]
    chance: npt.NDArray[np.float64]

    def take(self, rows: slice) -> Made:
        return Made(self.x[rows], self.z[rows], self.y[rows], self.chance[rows])


def made(seed: int, rows: int) -> Made:
    """`make_privileged` with bad outcomes that are rarer than good ones."""
    data = pi_xgb.datasets.make_privileged(rows, seed=seed)
    q = data.q.to_numpy()
    chance = 1 / (1 + (1 - q) / q * np.exp(RARER))
    y = (np.random.default_rng([seed, 1]).random(rows) < chance).astype(np.int64)
    return Made(data.x.to_numpy(), data.z.to_numpy(), y, chance)


def split(repeat: int, training: int, test: int) -> tuple[Made, Made]:
    rows = made(repeat, training + test)
    return rows.take(slice(training)), rows.take(slice(training, None))


def plain(rows: Made, label: Any, known: Known, weight: Any = None) -> xgb.Booster:
    """XGBoost on the rows that count as labelled."""
    weight = None if weight is None else weight[known]
    return xgb.train(PARAMS, xgb.DMatrix(rows.x[known], label[known], weight=weight, nthread=1), ROUNDS)


def student(rows: Made, label: Any, known: Known, weight: Any = None) -> xgb.Booster:
    """A cross-fitted teacher on x and z of these rows, its student on all rows."""
    label = np.where(known, label, 0)
    dtrain = xgb.DMatrix(rows.x, label, weight=weight, nthread=1)
    teacher_rows = xgb.DMatrix(np.hstack([rows.x, rows.z]), label, weight=weight, nthread=1)
    teacher = pi_xgb.fit_teacher(PARAMS, teacher_rows, ROUNDS, teacher="boosted", crossfit=CROSSFIT, labelled=known)
    guided = {"teacher": teacher, "kl_weight": KL_WEIGHT, "labelled": known}
    return pi_xgb.train(PARAMS, dtrain, ROUNDS, engine="native", **guided)


LEARNERS = {"plain": plain, "student": student}


def scored(booster: xgb.Booster, test: Made) -> Line:
    """AUC, log loss, and how far the mean prediction is from the mean of the true chances."""
    chance = booster.predict(xgb.DMatrix(test.x, nthread=1)).astype(np.float64)
    return {**measured(test.y, chance), "bias": float(chance.mean() - test.chance.mean())}


def dated(rows: Made, random: np.random.Generator) -> tuple[pd.Series[Any], pd.Series[Any], pd.Timestamp]:
    """When each row was observed, when its event came, and the day on which both are read."""
    start = pd.Timestamp("2024-01-01")
    observed = pd.Series(start + pd.to_timedelta(random.integers(0, DAYS, len(rows.y)), "D"))
    wait = pd.to_timedelta(random.integers(0, HORIZON, len(rows.y)), "D")
    return observed, (observed + wait).where(rows.y == 1), start + pd.Timedelta(days=DAYS)


def stays(repeat: int, n_rows: int) -> tuple[pd.DataFrame, str, pd.Timestamp]:
    """Features and dates in one table, the horizon, and the day on which it is read."""
    rows = split(repeat, n_rows, 1)[0]
    observed, came, now = dated(rows, np.random.default_rng([repeat, 3]))
    return pd.DataFrame(rows.x).assign(observed=observed, came=came), f"{HORIZON}D", now


def late(repeat: int, training: int = TRAINING, test: int = TEST) -> Iterator[Line]:
    """Labels of mature rows, of these and early events, and of all rows that have no event yet as well."""
    rows, test_rows = split(repeat, training, test)
    observed, came, now = dated(rows, np.random.default_rng([repeat, 3]))
    found = labels.mature(observed, came, f"{HORIZON}D", now)
    known = found.labelled | found.set_aside
    ways = {
        "mature rows": (found.y, found.labelled),
        "early events too": (np.where(found.set_aside, 1, found.y), known),
        "not yet taken for no": (rows.y * known, np.ones_like(known)),
    }
    for setting, (label, is_labelled) in ways.items():
        for method, learner in LEARNERS.items():
            line = {"setting": setting, "method": method, "labels": int(is_labelled.sum())}
            yield line | scored(learner(rows, label, is_labelled), test_rows)


SCORES: dict[str, Callable[[Made], npt.NDArray[Any]]] = {
    "nothing": lambda rows: np.zeros(len(rows.y)),
    "x": lambda rows: rows.x[:, 0],
    "z": lambda rows: rows.z[:, 0],
    "x and z": lambda rows: (rows.x[:, 0] + rows.z[:, 0]) / 2,
    "the outcome": lambda rows: 2.0 * rows.y - 1,
}
"""What decides which labels are missing."""


def weights(repeat: int, training: int = TRAINING, test: int = TEST) -> Iterator[Line]:
    """Both learners with and without the weights of ``labels.shift``."""
    rows, test_rows = split(repeat, training, test)
    for setting, score in SCORES.items():
        chance = 1 / (1 + np.exp(-RARE - STEEP * score(rows)))
        known = np.random.default_rng([repeat, 4]).random(training) < chance
        found = labels.shift(rows.x, pd.DataFrame(rows.z).add_prefix("z"), known)
        for method, learner in LEARNERS.items():
            for name, weight in ((method, None), (f"{method}, weighted", found.weights)):
                line = {"setting": setting, "method": name, "labels": int(known.sum()), "shift": found.auc.mean}
                yield line | scored(learner(rows, rows.y, known, weight), test_rows)


def votes(y: npt.NDArray[Any], random: np.random.Generator) -> npt.NDArray[np.float64]:
    """One column per labelling function: 0 or 1, NaN where it abstains."""
    shape = (len(y), FUNCTIONS)
    right = random.random(shape) < np.linspace(WORST, BEST, FUNCTIONS)
    answers = np.where(right, y[:, None], 1 - y[:, None]).astype(np.float64)
    return np.where(random.random(shape) < COVERAGE, answers, np.nan)


def functions(repeat: int, training: int = TRAINING, test: int = TEST) -> Iterator[Line]:
    """Weak labels as votes, or as privileged features of a teacher that knows few true labels."""
    rows, test_rows = split(repeat, training, test)
    random = np.random.default_rng([repeat, 5])
    result = votes(rows.y, random)
    share = np.nanmean(np.where(np.isnan(result).all(axis=1, keepdims=True), 0.5, result), axis=1)
    decided = share != 0.5
    everyone = np.ones(training, bool)
    order = random.permutation(training)
    for budget in TRUE_LABELS:
        known = np.isin(np.arange(training), order[:budget])
        voted = np.where(known, rows.y, share > 0.5)
        voted_rows = rows._replace(z=result)
        ways = {
            "true labels only": plain(rows, rows.y, known),
            "majority vote": plain(rows, share > 0.5, decided),
            "majority vote and true labels": plain(rows, voted, decided | known),
            "votes as privileged features": mixed(voted_rows, known),
            "all true labels": plain(rows, rows.y, everyone),
        }
        for method, booster in ways.items():
            yield {"setting": f"{budget} true labels", "method": method, "labels": budget} | scored(booster, test_rows)


def mixed(rows: Made, known: Known) -> xgb.Booster:
    """A mixed teacher that sees the votes and x."""
    label = np.where(known, rows.y, 0)
    dtrain, privileged = (xgb.DMatrix(part, label, nthread=1) for part in (rows.x, rows.z))
    # Rows on which every function abstains are taught as well: the teacher sees x.
    guided = {"teacher": "mixed", "kl_weight": KL_WEIGHT, "labelled": known, "teacher_weight": np.ones(len(label))}
    return pi_xgb.train(PARAMS, dtrain, ROUNDS, privileged=privileged, **guided)

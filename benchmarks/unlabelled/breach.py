"""Made data of known truth: what it costs where which labels are missing depends on the labels themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import xgboost as xgb

import pi_xgb
from benchmarks.unlabelled.cell import CROSSFIT, KL_WEIGHT, PARAMS, ROUNDS, measured

TRAINING, TEST = 2000, 5000
SETTLED = 0.1
"""Share of the training rows that are old enough for every outcome to be known."""
EARLY = 0.3
"""Share of the bad outcomes that show at once in the others."""
WATCHED, UNWATCHED = 0.55, 0.05
"""The same where rows with a first feature above its median are looked at more often."""
RARER = 1.5
BINS = 10


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


class Seen(NamedTuple):
    """What stands in the file: labels, and which of them are taken for known."""

    label: npt.NDArray[np.int64]
    known: npt.NDArray[np.bool_]


def by_chance(rows: Made, random: np.random.Generator) -> Seen:
    return Seen(rows.y, random.random(len(rows.y)) < SETTLED)


def by_z(rows: Made, random: np.random.Generator) -> Seen:
    """As many labels, most of them where z is high."""
    chance = 1 / (1 + np.exp(-2 * rows.z[:, 0]))
    return Seen(rows.y, random.random(len(rows.y)) < 2 * SETTLED * chance)


def bad_ones_early(rows: Made, random: np.random.Generator) -> Seen:
    """The settled rows, and the bad outcomes of the others that show already."""
    return Seen(rows.y, by_chance(rows, random).known | early(rows, EARLY, random))


def not_yet_for_no(rows: Made, random: np.random.Generator) -> Seen:
    """The same file, and no outcome yet is written down as a good one."""
    return Seen(rows.y * bad_ones_early(rows, random).known, np.ones(len(rows.y), dtype=bool))


def not_yet_for_no_watched(rows: Made, random: np.random.Generator) -> Seen:
    """And bad outcomes show sooner in rows that are looked at more often."""
    settled = by_chance(rows, random).known
    often = np.where(rows.x[:, 0] > np.median(rows.x[:, 0]), WATCHED, UNWATCHED)
    return Seen(rows.y * (settled | early(rows, often, random)), np.ones(len(rows.y), dtype=bool))


def early(rows: Made, share: Any, random: np.random.Generator) -> npt.NDArray[np.bool_]:
    return (rows.y == 1) & (random.random(len(rows.y)) < share)


SETTINGS: dict[str, tuple[Callable[[Made, np.random.Generator], Seen], str]] = {
    "by chance": (by_chance, "holds"),
    "by z": (by_z, "holds"),
    "bad ones early": (bad_ones_early, "broken"),
    "not yet taken for no": (not_yet_for_no, "broken"),
    "and some watched closely": (not_yet_for_no_watched, "broken"),
}


def calibration_error(chance: npt.NDArray[Any], truth: npt.NDArray[Any]) -> float:
    """Mean distance of prediction and truth in ten bins of equally many rows, in the order of the prediction."""
    bins = np.array_split(np.argsort(chance, kind="stable"), BINS)
    return float(np.mean([abs(chance[rows].mean() - truth[rows].mean()) for rows in bins]))


def measure(setting: str, repeat: int, method: str, small: bool = False) -> Iterator[dict[str, Any]]:
    """What one method makes of one file."""
    training, test = (300, 300) if small else (TRAINING, TEST)
    rows = made(repeat, training + test)
    train, test_rows = rows.take(slice(training)), rows.take(slice(training, None))
    seen = SETTINGS[setting][0](train, np.random.default_rng([repeat, 2]))
    chance = METHODS[method](train, seen).predict(xgb.DMatrix(test_rows.x, nthread=1)).astype(np.float64)
    yield {
        **measured(test_rows.y, chance),
        "mean": float(chance.mean()),
        "truth": float(test_rows.chance.mean()),
        "calibration": calibration_error(chance, test_rows.chance),
        "labels": int(seen.known.sum()),
    }


def plain(train: Made, seen: Seen, weight: npt.NDArray[np.float64] | None = None) -> xgb.Booster:
    known = seen.known
    weight = None if weight is None else weight[known]
    return xgb.train(PARAMS, xgb.DMatrix(train.x[known], seen.label[known], weight=weight, nthread=1), ROUNDS)


def weighted(train: Made, seen: Seen) -> xgb.Booster:
    """Plain XGBoost with the weights of ``labels.shift``; they are 1 where every row is taken for known."""
    z = pd.DataFrame(train.z).add_prefix("z")
    return plain(train, seen, None if seen.known.all() else pi_xgb.labels.shift(train.x, z, seen.known).weights)


def kbpib(train: Made, seen: Seen) -> xgb.Booster:
    label = np.where(seen.known, seen.label, 0)
    xz = xgb.DMatrix(np.hstack([train.x, train.z]), label, nthread=1)
    teacher = pi_xgb.fit_teacher(PARAMS, xz, ROUNDS, teacher="boosted", crossfit=CROSSFIT, labelled=seen.known)
    dtrain = xgb.DMatrix(train.x, label, nthread=1)
    return pi_xgb.train(
        PARAMS, dtrain, ROUNDS, teacher=teacher, kl_weight=KL_WEIGHT, labelled=seen.known, engine="native"
    )


METHODS: dict[str, Callable[[Made, Seen], xgb.Booster]] = {"plain": plain, "plain, weighted": weighted, "KbPIB": kbpib}

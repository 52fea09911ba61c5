"""Public sets: labels of real dates, retraining with few changed decisions, and features that are retired."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xgboost as xgb

import pi_xgb
from benchmarks.data import DATASETS, PreparedSet, load
from benchmarks.data.fetch import fetch
from benchmarks.data.store import raw_content
from benchmarks.unlabelled.cell import KL_WEIGHT, PARAMS, ROUNDS, Draw, measured
from benchmarks.unlabelled.splits import split_set
from pi_xgb import labels
from pi_xgb.metrics import churn

Line = dict[str, Any]
Positions = npt.NDArray[np.intp]

RETRAINED = {"adult": False, "credit": False, "compas": False, "spam": False, "bank": True}
"""Whether the rows of a set are in the order of time, and so the parts."""
MOST_HALF, MOST_TEST, TEST_SHARE = 2000, 4000, 0.25
KL_WEIGHTS = (0.5, 1.0, 2.0, 5.0, 10.0)
SCRATCH = "from scratch"
RETIRED = ("student_por", "spam", "bank")
LABELS = 200
RETIRED_WEIGHT = 1.0
WINDOW, READ_ON = "730D", "2016-04-01"
"""ProPublica's definition of reoffending, and the day after the last day of its data."""
PEOPLE, EARLY = 7214, 997
"""The rows of the set, and those whose window is not over."""
COUNTS = ["age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"]


@cache
def loaded(name: str, *, split: bool) -> PreparedSet:
    """The set with the privileged columns of the paper, or with those of its split."""
    return split_set(name) if split else load(name)


@cache
def screened() -> pd.DataFrame:
    """The people of compas, with the days of their screening and of their next offence."""
    content = raw_content(DATASETS["compas"].files[0], fetch)
    dates = {"compas_screening_date": "observed", "r_offense_date": "came"}
    frame = pd.read_csv(io.BytesIO(content), usecols=[*COUNTS, "sex", "c_charge_degree", *dates]).rename(columns=dates)
    return frame.assign(sex=frame["sex"] == "Male", c_charge_degree=frame["c_charge_degree"] == "F")


def published() -> tuple[pd.DataFrame, str, str]:
    return screened(), WINDOW, READ_ON


def dated(repeat: int, frame: pd.DataFrame, horizon: str, as_of: Any) -> Iterator[Line]:
    """Labels of mature rows, and early events as labels too, as the set was published; tested on mature rows."""
    found = labels.mature(frame["observed"], frame["came"], horizon, as_of)
    x = frame.drop(columns=["observed", "came"]).to_numpy(np.float32)
    drawn = np.random.default_rng(repeat).random(len(frame)) < 0.5
    test, y = found.labelled & ~drawn, np.where(found.set_aside, 1, found.y)
    ways = {"mature rows": found.labelled, "early events too": found.labelled | found.set_aside}
    for method, known in ways.items():
        rows = known & drawn
        booster = xgb.train(PARAMS, xgb.DMatrix(x[rows], y[rows], nthread=1), ROUNDS)
        chance = booster.predict(xgb.DMatrix(x[test], nthread=1))
        line = {"setting": "compas", "method": method, "labels": int(rows.sum()), **measured(y[test], chance)}
        yield line | {"bias": float(chance.mean() - y[test].mean())}


def parts(dataset: PreparedSet, repeat: int, *, in_time: bool) -> tuple[Positions, Positions, Positions]:
    """Row numbers of the old training, of the new one and of the test, which share no row."""
    random = np.random.default_rng(repeat)
    n_rows = dataset.y.size
    order = np.arange(n_rows) if in_time else random.permutation(n_rows)
    n_test = int(TEST_SHARE * n_rows)
    training, test = order[: n_rows - n_test], order[n_rows - n_test :]
    old, new = np.array_split(training, 2)
    sizes = (MOST_HALF, MOST_HALF, MOST_TEST)
    drawn = [random.permutation(part)[:size] for part, size in zip((old, new, test), sizes, strict=True)]
    return drawn[0], drawn[1], drawn[2]


def retraining(name: str, repeat: int) -> Iterator[Line]:
    """Ways to replace a model that was trained on the old rows, once there are new ones."""
    dataset = loaded(name, split=False)
    rows = parts(dataset, repeat, in_time=RETRAINED.get(name, False))
    types = list(dataset.feature_types)

    def matrix(part: Positions) -> xgb.DMatrix:
        values = dataset.X.to_numpy(np.float32)[part]
        return xgb.DMatrix(values, dataset.y[part], feature_types=types, enable_categorical=True, nthread=1)

    dold, dnew, dtest = map(matrix, rows)
    old = xgb.train(PARAMS, dold, ROUNDS)
    scratch = xgb.train(PARAMS, dnew, ROUNDS)
    teacher = pi_xgb.ModelTeacher(old.predict, dnew)
    predicted = {
        "old model": old.predict(dtest),
        SCRATCH: scratch.predict(dtest),
        "on old and new rows": xgb.train(PARAMS, matrix(np.concatenate(rows[:2])), ROUNDS).predict(dtest),
        "continued": xgb.train(PARAMS, dnew, ROUNDS // 2, xgb_model=old).predict(dtest),
        "mean of scores": (old.predict(dtest) + scratch.predict(dtest)) / 2,
    }
    for weight in KL_WEIGHTS:
        guided = pi_xgb.train(PARAMS, dnew, ROUNDS, teacher=teacher, kl_weight=weight, engine="native")
        predicted[f"old model as teacher, kl_weight {weight:g}"] = guided.predict(dtest)
    y, before = dataset.y[rows[2]], predicted["old model"]
    for method, chance in predicted.items():
        changed = churn(before, chance, y, threshold=float(dataset.y[rows[0]].mean())).loc["(all)"]
        line = {"setting": name, "method": method, "labels": len(rows[1]), **measured(y, chance)}
        yield line | {"flips": changed["flips"], "right_to_wrong": changed["right_to_wrong"]}


def retiring(name: str, repeat: int) -> Iterator[Line]:
    """Ways to replace a model that saw the privileged columns, which will be gone."""
    draw = Draw(loaded(name, split=True), repeat)
    known = draw.labelled_rows(min(LABELS, draw.train.y.size // 2))
    everything, few = draw.train, draw.train.take(known)
    label = np.where(known, everything.y, 0)
    old = xgb.train(PARAMS, draw.matrix("xz", few, few.y), ROUNDS)
    few_x, all_x = draw.matrix("x", few, few.y), draw.matrix("x", everything, label)
    guided = {"kl_weight": RETIRED_WEIGHT, "engine": "native"}
    on_few = pi_xgb.ModelTeacher(old.predict, draw.matrix("xz", few))
    on_all = pi_xgb.ModelTeacher(old.predict, draw.matrix("xz", everything))
    mixed = {"privileged": draw.matrix("z", everything, label), "teacher": "mixed", "kl_weight": KL_WEIGHT}
    boosters = {
        "trained again without it": xgb.train(PARAMS, few_x, ROUNDS),
        "old model as teacher, labelled rows": pi_xgb.train(PARAMS, few_x, ROUNDS, teacher=on_few, **guided),
        "old model as teacher, all rows": pi_xgb.train(PARAMS, all_x, ROUNDS, teacher=on_all, labelled=known, **guided),
        "new mixed teacher, all rows": pi_xgb.train(PARAMS, all_x, ROUNDS, labelled=known, engine="native", **mixed),
    }
    line = {"setting": name, "labels": int(known.sum())}
    for method, booster in boosters.items():
        yield {**line, "method": method} | measured(draw.test.y, booster.predict(draw.matrix("x", draw.test)))
    kept = old.predict(draw.matrix("xz", draw.test))
    yield {**line, "method": "old model, the feature kept"} | measured(draw.test.y, kept)

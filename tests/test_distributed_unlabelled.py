"""Rows without labels, split over workers: one training on one path, whatever the rows of each worker lack."""

import functools
import itertools
import pickle
import warnings

import numpy as np
import pytest
import xgboost as xgb
from helpers_distributed import N_ROWS, results_of_workers, rows

import pi_xgb
from pi_xgb._stats.folds import deal_groups
from pi_xgb.constraints import DemographicParity

pytestmark = pytest.mark.slow

ROUNDS = 6
PARAMS = {"objective": "binary:logistic", "max_depth": 3, "tree_method": "hist", "nthread": 1}
ROW = np.arange(N_ROWS)
SOME = np.random.default_rng(3).random(N_ROWS) < 0.4
# By what the first workers, those of the rows up to 80 and up to 180, know: the others know some labels.
LABELLED = {"all": SOME | (ROW < 180), "some": SOME, "none": SOME & (ROW >= 180), "only there": ROW < 350}
WEIGHTS = np.random.default_rng(4).choice([0.0, 0.5, 1.0, 2.0], N_ROWS)
TEACHER_WEIGHT = {"": None, "1": np.where(ROW < 180, 1.0, WEIGHTS), "0": np.where(ROW < 180, 0.0, WEIGHTS)}
# Rows that belong together, on one worker however many there are.
GROUP = np.where(ROW < 80, ROW // 3, np.where(ROW < 180, 100 + ROW // 3, np.where(ROW < 350, 200, 300) + ROW // 3))

# How the workers differ: in labels, then in the teacher's weights; None where nothing is said.
MASKS = [("all", ""), ("none", ""), ("some", "1"), ("some", "0"), ("only there", "0"), (None, "1"), (None, "0")]
WAYS = [
    ("kbpib", {"engine": "callback"}),
    ("kbpib", {"engine": "native"}),
    ("jpib", {"engine": "callback"}),
    ("jpib", {"engine": "native"}),
    ("q", {"engine": "native", "weighted": True}),
    ("list", {"engine": "native"}),
    ("constraint", {"engine": "callback"}),
    ("objective", {"engine": "callback"}),
    ("classes", {"engine": "callback"}),
    ("nobody", {"engine": "native"}),
]
CASES = {
    f"{way} {'weighted ' * ('weighted' in how)}{how['engine']}, labels {labels}, teacher {weights or 'as ever'}": (
        way,
        how,
        labels,
        weights,
    )
    for way, how in WAYS
    for labels, weights in MASKS
    if not (way == "nobody" and (labels is None or weights))
}


def training(case, start, end):
    """The student's margins for all rows, trained on some of them, and the attributes of its booster."""
    way, how, labels, weights = CASES[case]
    x, z, y, weight, q = (array[start:end] for array in rows())
    known = None if labels is None else LABELLED[labels][start:end]
    counts = TEACHER_WEIGHT[weights]
    counts = None if counts is None else counts[start:end]
    y = (z.sum(axis=1) // 9).clip(0, 2) if way == "classes" else y
    y = y if known is None else np.where(known, y, 0)
    dtrain, privileged = xgb.DMatrix(x, y, weight=weight if "weighted" in how else None), xgb.DMatrix(z, y)
    parity, per_row = DemographicParity((x[:, 0] > 5).astype(int)), {"kl_weight": 2.0, "teacher_weight": counts}
    keywords = {
        "kbpib": {"privileged": privileged, **per_row},
        "jpib": {"privileged": privileged, "method": "jpib", **per_row},
        "q": {"teacher": q, **per_row},
        "list": {"teacher": [(q, 1.5), (q**2, np.ones(len(q)) if counts is None else counts)]},
        "constraint": {"teacher": parity, **per_row},
        "classes": {"privileged": privileged, "method": "jpib", **per_row},
        "nobody": {"privileged": privileged, "kl_weight": 0.0},
    }
    params = {**PARAMS, "objective": "multi:softprob", "num_class": 3} if way == "classes" else PARAMS
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*neither a label nor a teacher", UserWarning)
        if way == "objective":
            obj = pi_xgb.KLObjective(parity, objective="binary:logistic", labelled=known, **per_row)
            booster = xgb.train({**params, "base_score": 0.5}, dtrain, ROUNDS, obj=obj)
        else:
            booster = pi_xgb.train(params, dtrain, ROUNDS, labelled=known, engine=how["engine"], **keywords[way])
    return booster.predict(xgb.DMatrix(rows()[0]), output_margin=True), booster.attributes()


@functools.cache
def on_one_machine(case):
    return training(case, 0, N_ROWS)


def crossfitted(start, end):
    """A teacher whose q each worker makes of its own folds, in groups of a few rows."""
    x, z, y, *_ = (array[start:end] for array in rows())
    known = (ROW % 5 < 2)[start:end] if start else np.ones(end, bool)
    groups = GROUP[start:end]
    teacher = pi_xgb.fit_teacher(PARAMS, xgb.DMatrix(z, y), 3, crossfit=2, labelled=known, crossfit_groups=groups)
    privileged = xgb.DMatrix(z, np.where(known, y, 0))
    more = {"crossfit": 2, "labelled": known, "crossfit_groups": groups}
    student = pi_xgb.train(PARAMS, xgb.DMatrix(x, np.where(known, y, 0)), 3, privileged=privileged, **more)
    again = pi_xgb.train(PARAMS, xgb.DMatrix(x, y), 3, teacher=teacher, labelled=known)
    models = [bytes(booster.save_raw("json")) for booster in (student, again, *teacher.boosters)]
    return {"known": known, "q": teacher.values, "models": models}


def failing(fault, start, end):
    """Something that is wrong on the last worker alone, or only where all of them are looked at."""
    x, z, y, *_ = (array[start:end] for array in rows())
    last, row = end == N_ROWS, ROW[start:end]
    known = SOME[start:end]
    keywords = {
        "no label anywhere": {"labelled": np.zeros(len(row), bool)},
        "one class everywhere": {"labelled": known & (y == 1)},
        "an own class each": {"labelled": known & (y == last)},
        "short mask": {"labelled": known[: len(row) - last]},
        "negative weight": {"labelled": known, "teacher_weight": np.where(last & (row % 2 == 0), -1.0, 1.0)},
        "few labels": {"labelled": known & ~last, "crossfit": 3},
        "few groups": {"labelled": known, "crossfit": 3, "crossfit_groups": row // N_ROWS if last else row},
        "torn groups": {"labelled": known, "crossfit": 3, "crossfit_groups": row % 7},
        "inexact engine": {"labelled": LABELLED["all"][start:end], "engine": "native"},
    }[fault]
    params = {**PARAMS, "tree_method": "approx"} if fault == "inexact engine" else PARAMS
    pi_xgb.train(params, xgb.DMatrix(x, y), 2, privileged=xgb.DMatrix(z, y), **keywords)


def error_of(fault, start, end):
    try:
        return failing(fault, start, end)
    except (ValueError, TypeError) as error:
        return str(error)


FAULTS = {
    # What the last worker says and what the others say.
    "no label anywhere": ("no row with a label", "no row with a label"),
    "one class everywhere": ("of the class 1", "of the class 1"),
    "short mask": ("one value for each", "other worker"),
    "negative weight": ("from 0 to", "other worker"),
    "few labels": ("from which a teacher learns. Each worker deals its own rows", "other worker"),
    "few groups": ("1 distinct values for 3 folds", "other worker"),
    "inexact engine": ("teachers that differ from row to row", "teachers that differ from row to row"),
    "torn groups": ("7 groups on several workers", "7 groups on several workers"),
}


def everything(n_workers, start, end):
    return pickle.dumps(
        {
            "models": {case: training(case, start, end) for case in CASES},
            "crossfitted": crossfitted(start, end),
            "faults": {fault: error_of(fault, start, end) for fault in (*FAULTS, "an own class each")},
        }
    )


@pytest.fixture(scope="module")
def answers():
    return results_of_workers(everything)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n_workers", [2, 3])
def test_the_model_is_that_of_one_machine(answers, n_workers, case):
    margins, attributes = on_one_machine(case)
    for result in answers[n_workers]:
        # Whichever rows of a worker have a label or a teacher, all workers end with the model of one machine.
        np.testing.assert_allclose(result["models"][case][0], margins, atol=1e-5)
        assert result["models"][case][1] == attributes


def test_the_cases_are_models_apart():
    # Labels and weights that were read by nobody would give one model for several cases.
    shown = {case: on_one_machine(case)[0].tobytes() for case, (way, *_) in CASES.items() if way == "kbpib"}
    assert len(set(shown.values())) == len(shown)


@pytest.mark.parametrize("n_workers", [2, 3])
def test_each_worker_deals_its_labelled_rows_to_folds_and_judges_the_others_by_all(answers, n_workers):
    results = [answer["crossfitted"] for answer in answers[n_workers]]
    _, z, y, *_ = rows()
    known, q = (np.concatenate([item[name] for item in results]) for name in ("known", "q"))
    fold = np.full(N_ROWS, -1)
    starts = np.cumsum([0] + [len(item["q"]) for item in results])
    for start, end in itertools.pairwise(starts):
        mine = start + np.flatnonzero(known[start:end])
        for k, (_, held_out) in enumerate(deal_groups(y[mine], GROUP[mine], 2, 0, classes=True)):
            # An unlabelled row of a labelled group is judged by who does not know the group.
            fold[np.isin(GROUP, GROUP[mine[held_out]])] = k
    predictions = []
    for k in range(2):
        seen = known & (fold != k)
        predictions.append(xgb.train(PARAMS, xgb.DMatrix(z[seen], y[seen]), 3).predict(xgb.DMatrix(z)))
    expected = np.where(fold < 0, np.mean(predictions, axis=0), np.where(fold == 0, *predictions))
    np.testing.assert_allclose(q, expected, atol=1e-5)
    # All workers have the same student, whether its teacher was learned along or before, and the same teachers.
    assert all(item["models"] == results[0]["models"] for item in results)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("n_workers", [2, 3])
def test_a_fault_is_an_error_on_every_worker(answers, n_workers, fault):
    *others, last = (result["faults"][fault] for result in answers[n_workers])
    on_last, on_others = FAULTS[fault]
    # Nobody is left waiting, and the worker at fault names the reason.
    assert on_last in last
    assert all(on_others in other for other in others)
    # What all workers find is told as such.
    assert all(("other worker" in other) == (on_others == "other worker") for other in others)


@pytest.mark.parametrize("n_workers", [2, 3])
def test_a_worker_may_know_one_class_alone(answers, n_workers):
    # Both classes are known to all of them together.
    assert all(result["faults"]["an own class each"] is None for result in answers[n_workers])

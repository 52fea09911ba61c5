"""Constraints on rows that are split over workers: statistics of all rows, and the trees of one machine."""

import pickle

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_distributed import N_ROWS, results_of_workers, rows

import pi_xgb
from pi_xgb import constraints
from pi_xgb.constraints import (
    DemographicParity,
    EqualizedOdds,
    FalsePositiveRateParity,
    IndividualFairness,
    Meritocracy,
    PredictiveParity,
    TruePositiveRateParity,
)

pytestmark = pytest.mark.slow

PARAMS = {"objective": "binary:logistic", "max_depth": 3, "tree_method": "hist", "nthread": 1, "eta": 0.5}
ROUNDS = 5


def columns():
    """Groups, keys and merits that lie unevenly: the first 80 rows know one group and one merit only."""
    row = np.arange(N_ROWS)
    rng = np.random.default_rng(7)
    x, *_ = rows()
    group = np.where(row < 80, "a", np.where(rng.random(N_ROWS) + x[:, 0] / 24 < 0.7, "a", "b"))
    group[row >= 500] = np.where(rng.random(100) < 0.5, "c", "b")
    merit = np.where(row < 80, 3.5, np.round(rng.normal(size=N_ROWS), 1))
    return group, rng.integers(0, 40, N_ROWS), merit


MAKE = {
    "parity": lambda group, key, merit: DemographicParity(group),
    "parity counted": lambda group, key, merit: DemographicParity(group, soft=False),
    "parity of means": lambda group, key, merit: DemographicParity(group, match="mean"),
    "parity of two columns": lambda group, key, merit: DemographicParity(pd.DataFrame({"g": group, "k": key % 2})),
    "parity with missing groups": lambda group, key, merit: DemographicParity(np.where(merit < -0.5, None, group)),
    "odds": lambda group, key, merit: EqualizedOdds(group),
    "true positive rate": lambda group, key, merit: TruePositiveRateParity(group),
    "false positive rate": lambda group, key, merit: FalsePositiveRateParity(group, match="mean"),
    "odds counted": lambda group, key, merit: EqualizedOdds(group, soft=False, match="mean"),
    "key": lambda group, key, merit: IndividualFairness(key=key),
    "key counted": lambda group, key, merit: IndividualFairness(key=key, soft=False),
    "merit": lambda group, key, merit: Meritocracy(merit),
    "merit counted": lambda group, key, merit: Meritocracy(merit, soft=False),
    "precision": lambda group, key, merit: PredictiveParity(group),
    "precision counted": lambda group, key, merit: PredictiveParity(group, soft=False),
}


def constraint(name, start, end):
    return MAKE[name](*(column[start:end] for column in columns()))


def test_cases_cover_every_public_constraint():
    assert {type(constraint(name, 0, N_ROWS)).__name__ for name in MAKE} == set(constraints.__all__)


def models(start, end):
    """A model for every constraint, and for some in company."""
    x, z, y, weight, q = (array[start:end] for array in rows())
    y = np.where(np.arange(start, end) < 80, np.float32(1), y)  # A worker may have rows of one label only.
    made = {}

    def train(name, params, label, teacher, weight=None):
        dtrain = xgb.DMatrix(x, label, weight=weight)
        made[name] = bytes(pi_xgb.train(params, dtrain, ROUNDS, teacher=teacher).save_raw("json"))

    for name in MAKE:
        train(name, PARAMS, y, [(constraint(name, start, end), 4.0)])
    parity = constraint("parity", start, end)
    train("weighted, after another training", PARAMS, y, [(parity, 4.0)], weight)
    train("the same object again", PARAMS, y, [(parity, 4.0)], weight)
    train("with q", PARAMS, y, [(parity, 2.0), (q, 1.0)], weight)
    joint = pi_xgb.JointTeacher(xgb.DMatrix(z, y), PARAMS)
    train("with a joint teacher", PARAMS, y, [(joint, 1.0), (parity, 2.0)])
    train("regression", {**PARAMS, "objective": "reg:squarederror"}, x[:, 0] + z[:, 0], [(parity, 4.0)])
    classes = {**PARAMS, "objective": "multi:softprob", "num_class": 3}
    train("classes", classes, (z.sum(axis=1) // 9).clip(0, 2), [(constraint("odds", start, end), 4.0)])
    return made


def failing(case, start, end):
    """Something that is wrong everywhere, or on the last worker alone."""
    x, _, y, _, _ = (array[start:end] for array in rows())
    last = end == N_ROWS
    group, _, merit = (column[start:end] for column in columns())
    row = np.arange(start, end)
    teacher = {
        "radius": lambda: IndividualFairness(radius=0.1, features=merit),
        "one group": lambda: DemographicParity(np.full(len(group), "a")),
        "one merit": lambda: Meritocracy(np.zeros(len(group))),
        "all keys differ": lambda: IndividualFairness(key=row),
        "groups are identifiers": lambda: DemographicParity(row),
        "soft labels on one worker": lambda: EqualizedOdds(group),
        "short column on one worker": lambda: DemographicParity(group[:-1] if last else group),
    }[case]()
    if case == "soft labels on one worker" and last:
        y = np.full_like(y, 0.5)
    pi_xgb.train(PARAMS, xgb.DMatrix(x, y), ROUNDS, teacher=teacher)


def faults(start, end):
    """Each kind of fault, one training after the other, in one group of workers."""
    result = {}
    for case in FAULTS:
        try:
            failing(case, start, end)
        except ValueError as error:
            result[case] = str(error)
    return result


FAULTS = {
    "radius": ("distributed training", "distributed training"),
    "one group": ("one group only", "one group only"),
    "one merit": ("merit must have", "merit must have"),
    "all keys differ": (f"no two of the {N_ROWS} rows", f"no two of the {N_ROWS} rows"),
    "groups are identifiers": (f"{N_ROWS} groups of {N_ROWS} rows", f"{N_ROWS} groups of {N_ROWS} rows"),
    "soft labels on one worker": ("other worker", "whole numbers"),
    "short column on one worker": ("other worker", "one value per training row"),
}


def everything(_n_workers, start, end):
    """All of it in one group of workers, since starting them is what takes the time."""
    return pickle.dumps({"models": models(start, end), "faults": faults(start, end)})


@pytest.fixture(scope="module")
def answers():
    """What each worker says, for two workers and for three, in the order of their rows."""
    return results_of_workers(everything)


@pytest.mark.parametrize("n_workers", [2, 3])
def test_the_model_is_that_of_one_machine(answers, n_workers):
    whole = models(0, N_ROWS)
    for result in answers[n_workers]:
        assert [name for name, model in result["models"].items() if model != whole[name]] == []
        assert result["models"].keys() == whole.keys()
    # No two of them are the same model by accident of a constraint that does nothing.
    assert len(set(whole.values())) == len(whole) - 1
    assert whole["the same object again"] == whole["weighted, after another training"]


@pytest.mark.parametrize("n_workers", [2, 3])
def test_a_fault_ends_the_training_on_every_worker(answers, n_workers):
    *others, last = (result["faults"] for result in answers[n_workers])
    for case, (on_others, on_last) in FAULTS.items():
        # Every worker hears of it, the one at fault of the reason, and the group of workers goes on to its next task.
        assert on_last in last[case], (case, last)
        for other in others:
            assert on_others in other[case], (case, other)

"""Distributed trainings: ``pi_xgb.train`` inside a communicator, on real processes that hold some rows each."""

import pickle

import numpy as np
import pytest
import xgboost as xgb
from helpers_distributed import N_ROWS, results_of_workers, rows

import pi_xgb

pytestmark = pytest.mark.slow

ROUNDS = 8
PARAMS = {"objective": "binary:logistic", "max_depth": 3, "tree_method": "hist", "nthread": 1, "eval_metric": "logloss"}


def training(case, start, end):
    """One worker's part of a training; the whole of it with all rows."""
    x, z, y, weight, q = (array[start:end] for array in rows())
    weight = weight if "weighted" in case else None
    if "one worker" in case:
        weight = np.where(np.arange(start, end) < 80, np.float32(0), weight)  # all of the first of three workers
    dtrain, privileged = xgb.DMatrix(x, y, weight=weight), xgb.DMatrix(z, y)
    keywords = {
        "kbpib": {"privileged": privileged, "kl_weight": 2.0},
        "jpib": {"privileged": privileged, "method": "jpib", "kl_weight": 2.0},
        "given_q": {"teacher": q, "kl_weight": 2.0},
    }[case.split()[0]]
    engine = "native" if "native" in case else "callback"
    booster = pi_xgb.train(PARAMS, dtrain, ROUNDS, engine=engine, verbose_eval=False, **keywords)
    return booster.save_raw("json")


def failing_training(case, start, end):
    """The last worker brings something wrong, or all of them."""
    x, _z, y, weight, q = (array[start:end] for array in rows())
    if end == N_ROWS:
        q = q[:-1] if case == "short q" else q
        if case == "no rows":
            x, y, q = x[:0], y[:0], q[:0]
    weight = np.zeros_like(weight) if case == "no weights" else None
    # With a base_score nobody sums the weights for the intercept.
    pi_xgb.train({**PARAMS, "base_score": 0.5}, xgb.DMatrix(x, y, weight=weight), ROUNDS, teacher=q)


TRAININGS = {
    2: ["kbpib", "jpib", "jpib native", "given_q native"],
    3: ["kbpib weighted", "jpib weighted, but for one worker", "given_q native"],
}
FAULTS = {
    # The worker at fault says what is wrong, the other one that it is not alone.
    "short q": ("other worker", "q of the teacher has"),
    "no rows": ("other worker", "no rows on this worker"),
    # Rows without weight on one worker are fine as long as others weigh something; here none does.
    "no weights": ("all 0, on every worker", "all 0, on every worker"),
}


def everything(n_workers, start, end):
    """All of it in one group of workers, since starting them is what takes the time."""
    results = {case: bytes(training(case, start, end)) for case in TRAININGS[n_workers]}
    for case in FAULTS:
        try:
            failing_training(case, start, end)
        except ValueError as error:
            results[case] = str(error)
    return pickle.dumps(results)


@pytest.fixture(scope="module")
def answers():
    """What each worker says, for two workers and for three, in the order of their rows."""
    return results_of_workers(everything)


@pytest.mark.parametrize(("n_workers", "case"), [(n, case) for n, cases in TRAININGS.items() for case in cases])
def test_workers_build_the_trees_of_one_machine(answers, n_workers, case):
    whole = bytes(training(case, 0, N_ROWS))
    for results in answers[n_workers]:
        # Every worker ends with the model of a single machine, to the bit.
        assert results[case] == whole


@pytest.mark.parametrize("case", FAULTS)
@pytest.mark.parametrize("n_workers", [2, 3])
def test_a_fault_is_an_error_on_every_worker(answers, n_workers, case):
    on_others, on_last = FAULTS[case]
    *others, last = answers[n_workers]
    # Nobody is left waiting: the group of workers went on to the next training after each of these.
    assert on_last in last[case]
    assert all(on_others in other[case] for other in others)

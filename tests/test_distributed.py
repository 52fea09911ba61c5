"""Distributed trainings: ``pi_xgb.train`` inside a communicator, on real processes that hold some rows each."""

import itertools
import multiprocessing
import pickle
import traceback

import numpy as np
import pytest
import xgboost as xgb
from xgboost import collective
from xgboost.tracker import RabitTracker

import pi_xgb

N_ROWS, ROUNDS = 600, 8
PARAMS = {"objective": "binary:logistic", "max_depth": 3, "tree_method": "hist", "nthread": 1, "eval_metric": "logloss"}
# Uneven on purpose.
CUTS = {2: [0, 180, N_ROWS], 3: [0, 80, 350, N_ROWS]}


def rows():
    """Columns of few distinct values, so that every worker's quantiles are those of the whole."""
    rng = np.random.default_rng(5)
    x = rng.integers(0, 12, size=(N_ROWS, 5)).astype(np.float32)
    z = (x[:, :2] + rng.integers(0, 5, size=(N_ROWS, 2))).astype(np.float32)
    y = (z.sum(axis=1) + rng.normal(0, 3, N_ROWS) > 15).astype(np.float32)
    weight = rng.integers(1, 4, N_ROWS).astype(np.float32)
    q = (1 / (1 + np.exp(15 - z.sum(axis=1)))).astype(np.float32)
    return x, z, y, weight, q


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


def work(task, case, start, end, arguments, answers):
    try:
        with collective.CommunicatorContext(**arguments):
            result = task(case, start, end)
            answers.put((start, "done", bytes(result) if result is not None else b""))
    except BaseException as error:
        answers.put((start, type(error).__name__, f"{error}\n{traceback.format_exc()}"))


def on_workers(task, case, n_workers):
    """Run the task on n real processes; their answers, in the order of their rows."""
    tracker = RabitTracker(host_ip="127.0.0.1", n_workers=n_workers)
    tracker.start()
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    cuts = CUTS[n_workers]
    workers = [
        context.Process(target=work, args=(task, case, start, end, tracker.worker_args(), answers), daemon=True)
        for start, end in itertools.pairwise(cuts)
    ]
    for worker in workers:
        worker.start()
    try:
        return [answer[1:] for answer in sorted(answers.get(timeout=120) for _ in workers)]
    finally:
        for worker in workers:
            worker.join(20)
            worker.kill()


TRAININGS = {
    2: ["kbpib", "jpib", "jpib native", "given_q native"],
    3: ["kbpib weighted", "jpib weighted, but for one worker", "given_q native"],
}
FAULTS = {
    # The worker at fault says what is wrong, the other one that it is not alone.
    "short q": ("other worker", "q for"),
    "no rows": ("other worker", "no rows on this worker"),
    # Rows without weight on one worker are fine as long as others weigh something; here none does.
    "no weights": ("all 0, on every worker", "all 0, on every worker"),
}


def everything(n_workers, start, end):
    """All of it in one group of workers, since starting them is what takes the time."""
    told = {case: bytes(training(case, start, end)) for case in TRAININGS[n_workers]}
    for case in FAULTS:
        try:
            failing_training(case, start, end)
        except ValueError as error:
            told[case] = str(error)
    return pickle.dumps(told)


@pytest.fixture(scope="module")
def answers():
    """What each worker says, for two workers and for three, in the order of their rows."""
    told = {n_workers: on_workers(everything, n_workers, n_workers) for n_workers in CUTS}
    for n_workers, said in told.items():
        assert [kind for kind, _ in said] == ["done"] * n_workers, said
    return {n_workers: [pickle.loads(answer) for _, answer in said] for n_workers, said in told.items()}


@pytest.mark.parametrize(("n_workers", "case"), [(n, case) for n, cases in TRAININGS.items() for case in cases])
def test_workers_build_the_trees_of_one_machine(answers, n_workers, case):
    whole = bytes(training(case, 0, N_ROWS))
    for told in answers[n_workers]:
        # Every worker ends with the model of a single machine, to the bit.
        assert told[case] == whole


@pytest.mark.parametrize("case", FAULTS)
@pytest.mark.parametrize("n_workers", [2, 3])
def test_a_fault_is_an_error_on_every_worker(answers, n_workers, case):
    on_others, on_last = FAULTS[case]
    *others, last = answers[n_workers]
    # Nobody is left waiting: the group of workers went on to the next training after each of these.
    assert on_last in last[case]
    assert all(on_others in other[case] for other in others)

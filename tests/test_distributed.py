"""Distributed trainings: ``pi_xgb.train`` inside a communicator, on real processes that hold some rows each."""

import itertools
import multiprocessing
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
    """The last worker brings something wrong."""
    x, _z, y, _, q = (array[start:end] for array in rows())
    if end == N_ROWS:
        q = q[:-1] if case == "short q" else q
        if case == "no rows":
            x, y, q = x[:0], y[:0], q[:0]
    pi_xgb.train(PARAMS, xgb.DMatrix(x, y), ROUNDS, teacher=q)


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


@pytest.mark.parametrize(
    ("case", "n_workers"),
    [
        ("kbpib", 2),
        ("kbpib weighted", 3),
        ("jpib", 2),
        ("jpib weighted", 3),
        ("jpib native", 2),
        ("given_q native", 3),
    ],
)
def test_workers_build_the_trees_of_one_machine(case, n_workers):
    answers = on_workers(training, case, n_workers)
    assert [kind for kind, _ in answers] == ["done"] * n_workers, answers
    whole = bytes(training(case, 0, N_ROWS))
    for _, model in answers:
        # Every worker ends with the model of a single machine, to the bit.
        assert model == whole


@pytest.mark.parametrize(("case", "message"), [("short q", "q for"), ("no rows", "no rows")])
def test_a_fault_on_one_worker_is_an_error_on_all(case, message):
    answers = on_workers(failing_training, case, 2)
    assert [kind for kind, _ in answers] == ["ValueError", "ValueError"], answers
    # The worker at fault says what is wrong, the other one that it is not alone.
    assert message in answers[1][1]
    assert "other worker" in answers[0][1]

"""Rows that are split over workers, and real processes that train on their share of them."""

import functools
import itertools
import multiprocessing
import pickle
import traceback

import numpy as np
from xgboost import collective
from xgboost.tracker import RabitTracker

N_ROWS = 600
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


def work(task, n_workers, start, end, arguments, answers):
    try:
        with collective.CommunicatorContext(**arguments):
            result = task(n_workers, start, end)
            answers.put((start, "done", bytes(result) if result is not None else b""))
    except BaseException as error:
        answers.put((start, type(error).__name__, f"{error}\n{traceback.format_exc()}"))


@functools.cache
def processes():
    """How to start a process that has imported everything already, where the system can fork."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "pytest", "sklearn.ensemble", "sklearn.impute", "pi_xgb.constraints"])
    return context


def on_workers(task, n_workers, cuts=None):
    """Run the task on n real processes; their answers, in the order of their rows."""
    _tracker, workers, answers = started(task, n_workers, cuts)
    try:
        return [answer[1:] for answer in sorted(answers.get(timeout=120) for _ in workers)]
    finally:
        for worker in workers:
            worker.join(20)
            worker.kill()


def started(task, n_workers, cuts=None):
    """The tracker, to be kept, the processes that run the task, and the queue of their answers."""
    tracker = RabitTracker(host_ip="127.0.0.1", n_workers=n_workers)
    tracker.start()
    context = processes()
    answers = context.Queue()
    workers = [
        context.Process(target=work, args=(task, n_workers, start, end, tracker.worker_args(), answers), daemon=True)
        for start, end in itertools.pairwise(cuts or CUTS[n_workers])
    ]
    for worker in workers:
        worker.start()
    return tracker, workers, answers


def results_of_workers(task):
    """What the task says on each of two workers and of three, in the order of their rows; it returns pickled answers.

    All of it in one group of workers, since starting them is what takes the time.
    """
    results = {n_workers: on_workers(task, n_workers) for n_workers in CUTS}
    for n_workers, outcomes in results.items():
        assert [kind for kind, _ in outcomes] == ["done"] * n_workers, outcomes
    return {n_workers: [pickle.loads(answer) for _, answer in outcomes] for n_workers, outcomes in results.items()}

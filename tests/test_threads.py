"""Trainings at the same time on the same matrices give the models of trainings in turn."""

from __future__ import annotations

import functools
import gc
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import xgboost as xgb
from helpers_joint import assert_same_model, problem

import pi_xgb
from pi_xgb._xgb.threads import in_threads

# Long enough for a slow machine; a deadlock would last for ever.
TIMEOUT = 30.0


def at_the_same_time(*tasks: Callable[[], Any]) -> list[Any]:
    """Run the tasks in threads that start together; a task that hangs or raises fails the test."""
    barrier, results, errors = threading.Barrier(len(tasks)), [None] * len(tasks), []

    def run(i: int) -> None:
        try:
            barrier.wait(TIMEOUT)
            results[i] = tasks[i]()
        except BaseException as error:
            errors.append(error)

    # Daemons, so that a deadlock fails the test and does not hang the test run.
    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    assert not any(thread.is_alive() for thread in threads), "two trainings wait for each other"
    if errors:
        raise errors[0]
    return results


class Shared:
    """The matrices of one problem, not yet quantised, and ways to train on them."""

    def __init__(self, n_rows: int = 1000, **params: Any) -> None:
        self.case = problem("binary:logistic", n_rows=n_rows)
        self.params = self.case.params(**params)
        self.dtrain, self.dprivileged = self.case.dtrain(), self.case.dprivileged()

    def train(self, way: str, **more: Any) -> Any:
        mixed: dict[str, Any] = {"privileged": self.dprivileged, "kl_weight": 0.7}
        guided = {**mixed, "teacher": "boosted", "crossfit": 0}
        evaluated = {"evals": [(self.dtrain, "other")], "teacher": self.case.q, "verbose_eval": False}
        if way == "fitted teacher":
            return pi_xgb.fit_teacher(self.params, self.dprivileged, 4, teacher="boosted", crossfit=0).booster
        keywords: dict[str, Any] = {
            "plain": {},
            "given q": {"teacher": self.case.q},
            "evaluated": evaluated,  # the shared matrix among the evals of a training on another one
            "kbpib": guided,
            "jpib": {**mixed, "method": "jpib"},
            "mixed": mixed,
            "crossfit": {**guided, "crossfit": 3},
            "native": {**guided, "engine": "native"},
            "weight 0": {**guided, "kl_weight": 0.0},
            "joint": {"teacher": pi_xgb.JointTeacher(self.dprivileged, self.params), "kl_weight": 0.7},
        }[way]
        dtrain = self.case.dtrain() if way == "evaluated" else self.dtrain
        return pi_xgb.train(self.params, dtrain, 4, **keywords, **more)


def assert_same_as_in_turn(ways: tuple[str, ...], repeats: int, **problem_of: Any) -> None:
    in_turn = [Shared(**problem_of).train(way) for way in ways]
    for _ in range(repeats):
        # Fresh matrices each time: it is the first use of a matrix, its quantisation, that could race.
        shared = Shared(**problem_of)
        together = at_the_same_time(*(functools.partial(shared.train, way) for way in ways))
        for ours, expected in zip(together, in_turn, strict=True):
            assert_same_model(ours, expected)


@pytest.mark.parametrize(
    "ways",
    [
        ("plain", "kbpib", "jpib", "crossfit"),
        ("native", "native", "plain", "evaluated"),
        ("native", "weight 0", "given q", "jpib"),
        ("joint", "joint", "fitted teacher", "mixed"),
    ],
    ids="-".join,
)
@pytest.mark.slow
def test_trainings_at_the_same_time_equal_trainings_in_turn(ways):
    assert_same_as_in_turn(ways, 3)


@pytest.mark.slow
@pytest.mark.parametrize("ways", [("plain",) * 4, ("plain", "kbpib", "jpib", "given q")], ids="-".join)
def test_first_use_of_a_matrix_by_approx_does_not_race(ways):
    # approx sorts the columns of a matrix at its first use, over long enough for threads to meet there: without a
    # lock, two xgboost.train on one fresh matrix give wrong models now and then, and crash on larger data.
    assert_same_as_in_turn(ways, 8, n_rows=4000, tree_method="approx")


@pytest.mark.parametrize("method", ["kbpib", "jpib"])
@pytest.mark.slow
def test_matrices_in_opposite_roles_do_not_deadlock(method):
    case = problem("binary:logistic", n_rows=1000)

    def train(student: xgb.DMatrix, teacher: xgb.DMatrix) -> xgb.Booster:
        return pi_xgb.train(case.params(), student, 4, privileged=teacher, method=method, evals=[])

    a, b = case.dtrain(), case.dprivileged()
    forward, backward = train(case.dtrain(), case.dprivileged()), train(case.dprivileged(), case.dtrain())
    # One thread takes a and wants b, the other takes b and wants a, twice over.
    results = at_the_same_time(*[lambda: train(a, b), lambda: train(b, a)] * 2)
    for ours, expected in zip(results, [forward, backward] * 2, strict=True):
        assert_same_model(ours, expected)


class Callback(xgb.callback.TrainingCallback):
    """Calls a function after each round."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__()
        self.work = work

    def after_iteration(self, model, epoch, evals_log):
        self.work()
        return False


def test_training_that_raises_releases_its_matrices():
    shared = Shared()

    def broken() -> None:
        with pytest.raises(ZeroDivisionError):
            shared.train("kbpib", callbacks=[Callback(lambda: 1 / 0)])

    results = at_the_same_time(broken, lambda: shared.train("kbpib"), broken, lambda: shared.train("kbpib"))
    for result in results[1::2]:
        assert_same_model(result, Shared().train("kbpib"))


def test_locks_do_not_keep_matrices_alive():
    shared = Shared(60)
    shared.train("kbpib")
    gone = [weakref.ref(matrix) for matrix in (shared.dtrain, shared.dprivileged)]
    del shared
    gc.collect()
    assert [reference() for reference in gone] == [None, None]


def test_callback_may_train_on_the_same_matrices():
    shared, inner = Shared(), []
    at_the_same_time(lambda: shared.train("jpib", callbacks=[Callback(lambda: inner.append(shared.train("plain")))]))
    assert len(inner) == 4
    assert_same_model(inner[0], Shared().train("plain"))


@pytest.mark.parametrize("other", ["plain", "evaluated", "fit_teacher", "cv"])
def test_blended_labels_of_the_native_engine_are_invisible_to_other_threads(other):
    case = problem("binary:logistic", n_rows=300)
    params, inside = case.params(), threading.Event()

    def look(shared: xgb.DMatrix) -> Any:
        """Use the shared matrix, and return all that comes of it."""
        log: dict[str, Any] = {}
        if other == "evaluated":
            more: dict[str, Any] = {"evals": [(shared, "shared")], "evals_result": log, "verbose_eval": False}
            return pi_xgb.train(params, case.dtrain(), 2, teacher=case.q, **more).save_raw(), log
        if other == "fit_teacher":
            return pi_xgb.fit_teacher(params, shared, 2).values.tolist()
        return pi_xgb.cv(params, shared, 2).to_dict() if other == "cv" else pi_xgb.train(params, shared, 2).save_raw()

    def linger() -> None:
        inside.set()
        time.sleep(0.1)

    def looking() -> Any:
        assert inside.wait(TIMEOUT)
        return look(shared)

    expected, shared = look(case.dtrain()), case.dtrain()
    # With a given q the blended labels stay in the matrix from the first round to the last.
    native = {"teacher": case.q, "kl_weight": 5.0, "engine": "native", "callbacks": [Callback(linger)]}
    assert at_the_same_time(lambda: pi_xgb.train(params, shared, 3, **native), looking)[1] == expected


def test_in_threads_ends_at_the_first_error():
    calls, failed = [], threading.Event()

    def work(item):
        calls.append(item)
        if item == 0:
            failed.set()
            raise RuntimeError("the first error")
        failed.wait(TIMEOUT)
        time.sleep(0.2)

    with pytest.raises(RuntimeError, match="the first error"):
        in_threads(work, range(50), 2)
    assert len(calls) < 10
    with xgb.config_context(verbosity=2):
        assert in_threads(lambda item: xgb.get_config()["verbosity"] + item, range(3), 2) == [2, 3, 4]

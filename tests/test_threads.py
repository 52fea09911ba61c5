"""Trainings at the same time on the same matrices give the models of trainings in turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import xgboost as xgb
from helpers_joint import assert_same_model, problem

import pi_xgb

# Long enough for a slow machine; a deadlock would last for ever.
TIMEOUT = 30.0
REPEATS = 3


def at_the_same_time(*tasks: Callable[[], Any]) -> list[Any]:
    """Run the tasks in threads that start together; a task that hangs or raises fails the test."""
    barrier = threading.Barrier(len(tasks))
    results: list[Any] = [None] * len(tasks)
    errors: list[BaseException] = []

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
    deadline = time.monotonic() + TIMEOUT
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    assert not any(thread.is_alive() for thread in threads), "two trainings wait for each other"
    if errors:
        raise errors[0]
    return results


class Shared:
    """The matrices of one problem, not yet quantised, and every way to train on them."""

    def __init__(self, n_rows: int = 1000, **params: Any) -> None:
        self.case = problem("binary:logistic", n_rows=n_rows)
        self.params = self.case.params(**params)
        self.dtrain, self.dprivileged = self.case.dtrain(), self.case.dprivileged()

    def kbpib(self, **more: Any) -> xgb.Booster:
        return pi_xgb.train(self.params, self.dtrain, 4, privileged=self.dprivileged, kl_weight=0.7, **more)

    def jpib(self, **more: Any) -> xgb.Booster:
        return self.kbpib(method="jpib", **more)

    def crossfitted(self) -> xgb.Booster:
        return self.kbpib(crossfit=3)

    def native(self) -> xgb.Booster:
        return self.kbpib(engine="native")

    def plain(self) -> xgb.Booster:
        return pi_xgb.train(self.params, self.dtrain, 4)

    def weight_zero(self) -> xgb.Booster:
        return pi_xgb.train(self.params, self.dtrain, 4, privileged=self.dprivileged, kl_weight=0.0)

    def given_q(self) -> xgb.Booster:
        return pi_xgb.train(self.params, self.dtrain, 4, teacher=self.case.q)

    def joint_teacher(self) -> xgb.Booster:
        teacher = pi_xgb.JointTeacher(self.dprivileged, self.params)
        return pi_xgb.train(self.params, self.dtrain, 4, teacher=teacher, kl_weight=0.7)

    def evaluated(self) -> xgb.Booster:
        # The shared training matrix among the evals of a training on another one.
        evals = [(self.dtrain, "other")]
        return pi_xgb.train(self.params, self.case.dtrain(), 4, evals=evals, teacher=self.case.q, verbose_eval=False)

    def fitted_teacher(self) -> xgb.Booster:
        return pi_xgb.fit_teacher(self.params, self.dprivileged, 4).booster


@pytest.mark.parametrize(
    "ways",
    [
        ("kbpib", "kbpib"),
        ("jpib", "jpib"),
        ("plain", "plain"),
        ("kbpib", "jpib"),
        ("plain", "kbpib"),
        ("native", "native"),
        ("native", "plain"),
        ("native", "evaluated"),
        ("kbpib", "fitted_teacher"),
        ("joint_teacher", "joint_teacher"),
        ("joint_teacher", "fitted_teacher"),
        ("kbpib", "jpib", "crossfitted", "plain"),
        ("native", "weight_zero", "given_q", "jpib"),
        ("kbpib", "kbpib", "kbpib", "kbpib"),
    ],
    ids="-".join,
)
def test_trainings_at_the_same_time_are_trainings_in_turn(ways):
    in_turn = [at_the_same_time(getattr(Shared(), way))[0] for way in ways]
    for _ in range(REPEATS):
        # Fresh matrices each time: it is the first use of a matrix, its quantisation, that could race.
        shared = Shared()
        together = at_the_same_time(*(getattr(shared, way) for way in ways))
        for ours, expected in zip(together, in_turn, strict=True):
            assert_same_model(ours, expected)


@pytest.mark.slow
@pytest.mark.parametrize("ways", [("plain",) * 4, ("plain", "kbpib", "jpib", "given_q")], ids="-".join)
def test_the_first_use_of_a_matrix_does_not_race(ways):
    # approx sorts the columns of a matrix at its first use, over long enough for threads to meet there: without a
    # lock, two xgboost.train on one fresh matrix give wrong models now and then, and crash on larger data.
    in_turn = [at_the_same_time(getattr(Shared(4000, tree_method="approx"), way))[0] for way in ways]
    for _ in range(8):
        shared = Shared(4000, tree_method="approx")
        together = at_the_same_time(*(getattr(shared, way) for way in ways))
        for ours, expected in zip(together, in_turn, strict=True):
            assert_same_model(ours, expected)


@pytest.mark.parametrize("method", ["kbpib", "jpib"])
def test_matrices_in_opposite_roles_do_not_deadlock(method):
    case = problem("binary:logistic", n_rows=1000)

    def train(student: xgb.DMatrix, teacher: xgb.DMatrix) -> xgb.Booster:
        return pi_xgb.train(case.params(), student, 4, privileged=teacher, method=method, evals=[])

    a, b = case.dtrain(), case.dprivileged()
    forward, backward = train(case.dtrain(), case.dprivileged()), train(case.dprivileged(), case.dtrain())
    for _ in range(REPEATS):
        # One thread takes a and wants b, the other takes b and wants a, twice over.
        results = at_the_same_time(*[lambda: train(a, b), lambda: train(b, a)] * 2)
        for ours, expected in zip(results, [forward, backward] * 2, strict=True):
            assert_same_model(ours, expected)


def test_a_training_that_raises_lets_the_next_one_in():
    shared = Shared()
    expected = at_the_same_time(Shared().kbpib)[0]

    class Stop(xgb.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            raise RuntimeError("the lights went out")

    def broken() -> None:
        with pytest.raises(RuntimeError, match="lights"):
            shared.kbpib(callbacks=[Stop()])

    # A lock that is not given back would stop every later training on these matrices.
    results = at_the_same_time(broken, shared.kbpib, broken, shared.kbpib)
    assert_same_model(results[1], expected)
    assert_same_model(results[3], expected)


def test_a_callback_may_train_on_the_same_matrices():
    shared = Shared()
    expected = Shared().plain()
    inner: list[xgb.Booster] = []

    class Nested(xgb.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            inner.append(shared.plain())
            return False

    # A training inside a training of the same thread does not wait for itself.
    at_the_same_time(lambda: shared.jpib(callbacks=[Nested()]))
    assert len(inner) == 4
    assert_same_model(inner[0], expected)


class Linger(xgb.callback.TrainingCallback):
    """Says that a training is in its first round, and stays there for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = threading.Event()

    def after_iteration(self, model, epoch, evals_log):
        self.inside.set()
        time.sleep(0.1)
        return False


@pytest.mark.parametrize("other", ["plain", "given_q", "evaluated", "fitted_teacher", "cv", "plain_cv"])
def test_nobody_sees_the_labels_that_the_native_engine_puts_in(other):
    case = problem("binary:logistic", n_rows=300)
    params = case.params()

    def look(shared: xgb.DMatrix) -> Any:
        """A use of the shared matrix, and all that it says."""
        log: dict[str, Any] = {}
        if other == "evaluated":
            evals = [(shared, "shared")]
            more: dict[str, Any] = {"evals": evals, "evals_result": log, "verbose_eval": False}
            return pi_xgb.train(params, case.dtrain(), 2, teacher=case.q, **more).save_raw(), log
        if other == "fitted_teacher":
            return pi_xgb.fit_teacher(params, shared, 2).values.tolist()
        if other == "cv":
            return pi_xgb.cv(params, shared, 2, teacher=case.q).to_dict()
        if other == "plain_cv":
            return pi_xgb.cv(params, shared, 2).to_dict()
        return pi_xgb.train(params, shared, 2, **({"teacher": case.q} if other == "given_q" else {})).save_raw()

    expected, shared, linger = look(case.dtrain()), case.dtrain(), Linger()

    def native() -> None:
        # A given q: its blended labels stay in the matrix from the first round to the last.
        pi_xgb.train(params, shared, 3, teacher=case.q, kl_weight=5.0, engine="native", callbacks=[linger])

    def looking() -> Any:
        assert linger.inside.wait(TIMEOUT)
        return look(shared)

    # Whoever uses the matrix in the meantime waits, and finds the user's own labels.
    assert at_the_same_time(native, looking)[1] == expected

"""Where a training starts: the weighted mean of what labels and teachers at rest say together."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pi_xgb
from pi_xgb._core import distillation as distillation_module
from pi_xgb._core.distillation import DistillationLoss
from pi_xgb._core.losses import LOSSES
from pi_xgb._core.spec import Spec
from pi_xgb._core.task import Task
from pi_xgb._core.teachers import FixedTeacher, WeightedTeacher
from pi_xgb.constraints import DemographicParity

N = 20


class Follows(pi_xgb.Teacher):
    """Says what cannot be the start of anything."""

    def q(self, mean, label, weight):
        return np.full_like(mean, 0.999)


def drawn(objective, rng, targets):
    shape = (N, 2) if targets == 2 else N
    if objective == "reg:squarederror":
        return (rng.normal(size=shape) - 3).astype(np.float32)
    return (rng.random(shape) if objective == "binary:logistic" else rng.gamma(2, 2, shape)).astype(np.float32)


@given(
    seed=st.integers(0, 1000),
    objective=st.sampled_from(["binary:logistic", "reg:squarederror", "reg:gamma"]),
    targets=st.sampled_from([1, 2]),
    scale=st.sampled_from([1.0, 2.0, 3.0]),
    said=st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans()),
)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_a_training_starts_at_the_mean_of_what_is_said(seed, objective, targets, scale, said):
    weighted, masked, per_row, follows = said
    rng = np.random.default_rng(seed)
    label, q, other = (drawn(objective, rng, targets) for _ in range(3))
    scale = scale if targets == 1 else 1.0
    if scale != 1 and objective != "reg:squarederror":
        label[rng.random(N) < 0.5] = 1
    weight = rng.uniform(0.001, 0.02, N).astype(np.float32) if weighted else np.empty(0, np.float32)
    known = rng.random(N) < 0.6 if masked else np.ones(N, bool)
    known[0] = True
    spec = Spec.read({"objective": objective, "scale_pos_weight": scale})
    task = Task.from_arrays(spec, label, weight, known if masked else None, n_rows=N, name="dtrain")
    counts = rng.choice([0.0, 0.5, 2.0], N) if per_row else None
    within = LOSSES[objective].range
    weighted_teachers = [
        WeightedTeacher(FixedTeacher(q, within), 0.7, counts),
        WeightedTeacher(FixedTeacher(other, within), 0.25),
    ]
    weighted_teachers += [WeightedTeacher(Follows(), 50.0)] * follows
    found = DistillationLoss(task, weighted_teachers).base_score()

    w = weight.astype(float) if weighted else np.ones(N)
    if targets == 1:
        w = w * np.where((label == 1) & known, scale, 1)
    a = 0.7 * (np.ones(N) if counts is None else counts)
    column = (lambda values: values[:, None]) if targets == 2 else (lambda values: values)
    pulled = column(w * known) * np.where(column(known), label, 0) + column(w * a) * q + column(w * 0.25) * other
    mean = pulled.sum(axis=0) / (w * (known + a + 0.25)).sum()
    expected = LOSSES[objective].newton_step(mean) if scale != 1 else mean
    np.testing.assert_allclose(found, expected, rtol=2e-5)


def task_of(labelled, weight, label=None):
    label = np.zeros(3, np.float32) if label is None else label
    spec = Spec.read({"objective": "reg:squarederror"})
    return Task.from_arrays(spec, label, np.array(weight, np.float32), np.array(labelled), n_rows=3, name="dtrain")


def test_something_must_weigh_where_something_is_known():
    with pytest.raises(ValueError, match=r"weights.*0"):
        DistillationLoss(task_of([True, False, False], [0, 1, 1]), []).base_score()
    two = np.array([[5, -2], [5, -4], [9, 9]], np.float32)
    assert DistillationLoss(task_of([True, True, False], [0.25, 0.25, 1], two), []).base_score() == [5, -3]


@pytest.mark.parametrize(("objective", "mean"), [("binary:logistic", 1e-4), ("reg:gamma", 1e-4)])
def test_a_mean_near_the_end_of_the_range_is_a_start_too(objective, mean):
    label = np.full(3, mean, np.float32)
    task = Task.from_arrays(Spec.read({"objective": objective}), label, np.empty(0), n_rows=3, name="dtrain")
    assert DistillationLoss(task, []).base_score() == pytest.approx(mean, rel=1e-6)


@pytest.mark.parametrize(("question", "answer"), [("is_uniform", False), ("_damps", True)])
def test_workers_that_are_threads_answer_together(question, answer, monkeypatch):
    # Each waits for the other where all workers are asked, as in a communicator.
    met = threading.Barrier(2, timeout=20)
    monkeypatch.setattr(distillation_module, "on_every_worker", lambda mine: met.wait() >= 0 and mine)
    monkeypatch.setattr(distillation_module, "global_sum", lambda mine: mine + 0 * met.wait())
    task = task_of([True, True, True], [])
    both = [DistillationLoss(task, [WeightedTeacher(DemographicParity([0, 1, 1]), 0.5)]) for _ in range(2)]
    with ThreadPoolExecutor(2) as workers:
        assert list(workers.map(lambda single: getattr(single, question), both)) == [answer, answer]

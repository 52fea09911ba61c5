"""What workers tell each other, and constraints on rows that are split over them; threads stand for workers."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers_workers import on_threads

from pi_xgb.constraints import DemographicParity, EqualizedOdds, IndividualFairness, Meritocracy, PredictiveParity

CUTS = [0, 7, 30, 60]


@pytest.fixture
def workers(monkeypatch):
    def results(task, n_workers=3):
        answers = on_threads(monkeypatch, n_workers, task)
        monkeypatch.undo()
        return answers

    return results


def rows():
    """Few levels of p, so that there are ties; the first worker knows one group and one label only."""
    rng = np.random.default_rng(3)
    p, label = rng.integers(0, 11, 60).astype(np.float32) / 10, rng.integers(0, 2, 60).astype(np.float32)
    column, weight = rng.integers(0, 4, 60), rng.integers(0, 4, 60).astype(np.float32)
    column[:7], label[:7] = 2, 1
    return p, label, weight, column


def part(rank, *columns):
    return [column[CUTS[rank] : CUTS[rank + 1]] for column in columns]


CONSTRAINTS = {
    "parity": DemographicParity,
    "means": lambda column, soft: DemographicParity(column, soft=soft, match="mean"),
    "two columns": lambda column, soft: DemographicParity(pd.DataFrame({"a": column, "b": column % 2}), soft=soft),
    "odds": EqualizedOdds,
    "key": lambda column, soft: IndividualFairness(key=column, soft=soft),
    "keys of two columns": lambda column, soft: IndividualFairness(key=np.stack([column, column % 2], 1), soft=soft),
    "merit": Meritocracy,
    "precision": PredictiveParity,
}


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("soft", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_each_worker_answers_for_its_rows_what_one_machine_would(workers, name, soft, weighted):
    p, label, weight, column = rows()

    def q(rank):
        own = part(rank, p, label, weight, column)
        teacher, requested = CONSTRAINTS[name](own[3], soft=soft), (own[0], own[1], own[2] if weighted else None)
        teacher.q(*requested)  # of its own rows, of which nothing may stay
        teacher.start(SimpleNamespace(loss=SimpleNamespace(range=SHARES)))
        teacher.check(len(own[0]))
        return teacher.q(*requested)

    whole = CONSTRAINTS[name](column, soft=soft).q(p, label, weight if weighted else None)
    np.testing.assert_array_equal(np.concatenate(workers(q)), whole)


def test_a_teacher_forgets_the_workers_as_it_is_cut_or_starts_alone(workers):
    p, label, _, column = rows()

    def one(rank):
        own = part(rank, p, label, column)
        teacher = DemographicParity(own[2])
        teacher.start(SimpleNamespace(loss=SimpleNamespace(range=SHARES)))
        return teacher

    for rank, teacher in enumerate(workers(one)):
        if rank == 0:
            continue  # of one group
        own = part(rank, p, label, column)
        alone = DemographicParity(own[2]).q(*own[:2], None)
        np.testing.assert_array_equal(teacher.subset(np.arange(len(own[0]))).q(*own[:2], None), alone)
        teacher.start(SimpleNamespace(loss=SimpleNamespace(range=SHARES)))
        np.testing.assert_array_equal(teacher.q(*own[:2], None), alone)


def made(rank, make, own):
    teacher = make(own)
    teacher.start(SimpleNamespace(loss=SimpleNamespace(range=SHARES)))
    teacher.check(len(own))


@pytest.mark.parametrize(
    ("make", "column", "words"),
    [
        (DemographicParity, np.zeros(60), "one group only"),
        (DemographicParity, np.arange(60), "60 groups.*60 rows"),
        (Meritocracy, np.ones(60), r"merit.*1\.0"),
        (lambda own: IndividualFairness(key=own), np.arange(60), "60 rows.*similar by key"),
        (lambda own: IndividualFairness(k=1, features=own), np.arange(60), "distributed training"),
    ],
)
def test_what_is_wrong_with_all_rows_is_said_by_every_worker(workers, make, column, words):
    for error in workers(lambda rank: made(rank, make, *part(rank, column))):
        assert re.search(words, str(error)), error
    # The rows of one worker may be alike, or of many groups, where those of all are not.
    fine = np.repeat(np.arange(3.0), np.diff(CUTS))
    if "distributed training" not in words:
        assert workers(lambda rank: made(rank, make, *part(rank, fine))) == [None] * 3


def test_one_worker_alone_may_look_for_neighbours(workers):
    assert workers(lambda rank: made(rank, lambda own: IndividualFairness(k=1, features=own), np.arange(9)), 1) == [
        None
    ]


def test_a_row_that_fails_on_one_worker_fails_on_all(workers):
    p, label, _, column = rows()

    def q(rank):
        own_p, own_label, own_column = part(rank, p, label, column)
        teacher = DemographicParity(own_column)
        teacher.start(SimpleNamespace(loss=SimpleNamespace(range=SHARES)))
        return teacher.q(np.full_like(own_p, np.nan) if rank == 1 else own_p, own_label, None)

    first, own, last = workers(q)
    assert "NaN or infinite predictions" in str(own)
    for other in (first, last):
        assert "a check of the predictions by DemographicParity failed on 1 other worker(s)" in str(other)
        assert "NaN or infinite predictions" in str(other)


def test_a_tie_on_one_worker_is_looked_into_by_all(workers):
    def q(rank):
        teacher = IndividualFairness(key=[rank, rank], soft=False)
        teacher.start(SimpleNamespace(loss=SimpleNamespace(range=SHARES)))
        return teacher.q(np.array([0.25, 0.75 if rank == 0 else 0.5], np.float32), np.zeros(2), None).tolist()

    # On the first worker one of two is decided 1, and the mean of 1/2 leaves both; elsewhere nobody asks.
    assert workers(q) == [[0.25, 0.5], [0.25, 0.5], [0.25, 0.5]]

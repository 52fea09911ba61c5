"""What workers tell each other, and constraints on rows that are split over them; threads stand for workers."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_workers import on_threads

from pi_xgb._constraints.distribution import tabulate
from pi_xgb._core.losses import SHARES
from pi_xgb._core.spec import Spec
from pi_xgb._core.task import Task
from pi_xgb._core.teachers import as_weighted_teachers
from pi_xgb._core.train import _record
from pi_xgb._rows.groups import on_several_workers, shared_codes
from pi_xgb._xgb import collective as ours
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


def test_a_model_records_the_weight_of_a_teacher_where_it_counts(workers):
    spec, counts = Spec.read({"objective": "binary:logistic"}), np.repeat([0.0, 0.25, 0.125], 4).reshape(3, 4)

    def recorded(rank):
        task = Task.from_arrays(spec, np.array([0, 1, 0, 1]), np.empty(0), n_rows=4, name="dtrain")
        booster, teachers = xgb.Booster(), as_weighted_teachers([(np.full(4, 0.5), counts[rank])], 0.5, SHARES)
        _record(booster, teachers, "callback", task)
        return booster.attr("pi_xgb_kl_weight"), booster.attr("pi_xgb_rows")

    assert workers(recorded) == [("0.25", "12")] * 3


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


def test_numbers_of_any_kind_are_one_kind_among_workers(workers):
    def results(rank):  # one worker counts rows, another adds up their weights
        values = np.array([2**24, rank], [np.int64, np.float32, np.float64][rank])
        return ours.global_sum(values).tolist(), ours.global_max(values).tolist()

    assert workers(results) == [([3 * 2**24, 3], [2**24, 2])] * 3


def test_a_tie_on_one_worker_is_looked_into_by_all(workers):
    def q(rank):
        teacher = IndividualFairness(key=[rank, rank], soft=False)
        teacher.start(SimpleNamespace(loss=SimpleNamespace(range=SHARES)))
        return teacher.q(np.array([0.25, 0.75 if rank == 0 else 0.5], np.float32), np.zeros(2), None).tolist()

    # On the first worker one of two is decided 1, and the mean of 1/2 leaves both; elsewhere nobody asks.
    assert workers(q) == [[0.25, 0.5], [0.25, 0.5], [0.25, 0.5]]


def test_sums_and_columns_of_all_workers(workers):
    def results(rank):
        bits = np.array([2**63 + rank] * rank, np.uint64)  # the first one has none
        lines = tabulate(np.array([rank, 0]), np.array([0.5, 0.25], np.float32), None, over_workers=True)
        return [
            ours.global_sum(np.array([rank, 1])).tolist(),
            ours.global_max(np.array([rank, -rank, 7])).tolist(),
            [ours.on_any_worker(rank == 1), ours.on_any_worker(rank == 9)],
            [ours.on_every_worker(rank < 3), ours.on_every_worker(rank < 2)],
            ours.gathered(bits).tolist(),
            ours.from_each_worker(f"worker {rank}"),
            [lines.cell.tolist(), lines.value.tolist(), lines.weight.tolist()],
            on_several_workers(np.array(["a", f"of {rank}", "a", "b" if rank else "c"])),
        ]

    big = 2**63
    expected = [
        [3, 3],
        [2, 0, 7],
        [True, False],
        [True, False],
        [big + 1, big + 2, big + 2],
        ["worker 0", "worker 1", "worker 2"],
        [[0, 0, 1, 2], [0.25, 0.5, 0.5, 0.5], [3, 1, 1, 1]],
        2,
    ]
    assert workers(results) == [expected] * 3


def test_the_names_of_groups_are_those_of_all_workers(workers):
    names = [[("a", 1)], [("b", 1), ("a", 1)], [("c", 2), ("b", 1)]]
    results = workers(lambda rank: shared_codes(np.array([0, *range(len(names[rank]))]), names[rank]))
    for groups in results:
        assert groups.names.tolist() == [("a", 1), ("b", 1), ("c", 2)]
        assert groups.names.nlevels == 1
    assert [groups.codes.tolist() for groups in results] == [[0, 0], [1, 1, 0], [2, 2, 1]]


def test_checks_end_everywhere_or_nowhere(workers):
    def checked(rank, failing):
        with ours.all_or_none("a check"):
            if rank in failing:
                raise failing[rank]
        return "went on"

    assert workers(lambda rank: checked(rank, {})) == ["went on"] * 3
    results = workers(lambda rank: checked(rank, {1: KeyError(), 2: TypeError("too many")}))
    assert str(results[0]) == "a check failed on 2 other worker(s) of this distributed training: KeyError"
    assert [type(error) for error in results] == [ValueError, KeyError, TypeError]


def test_one_process_alone_sends_nothing():
    values = np.array([1.5, 2.5])
    assert ours.global_sum(values) is ours.global_max(values) is ours.gathered(values) is values
    assert ours.from_each_worker("a") == ["a"]
    assert [ours.on_any_worker(1), ours.on_any_worker(0), ours.on_every_worker(1), ours.on_every_worker(0)] == [
        *(True, False),
        *(True, False),
    ]

"""Constraints on rows that are split over workers: statistics of all rows, and the trees of one machine."""

import pickle

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from helpers_distributed import N_ROWS, results_of_workers, rows

import pi_xgb
from pi_xgb import constraints
from pi_xgb._constraints.distribution import tabulate
from pi_xgb._core.spec import Spec
from pi_xgb._core.task import Task
from pi_xgb._core.teachers import Start
from pi_xgb._rows.groups import as_groups, shared_codes
from pi_xgb._xgb import collective as _collective
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


def constraint(name, start, end):
    group, key, merit = (column[start:end] for column in columns())
    return {
        "parity": lambda: DemographicParity(group),
        "parity counted": lambda: DemographicParity(group, soft=False),
        "parity of means": lambda: DemographicParity(group, match="mean"),
        "parity of two columns": lambda: DemographicParity(pd.DataFrame({"g": group, "k": key % 2})),
        "parity with missing groups": lambda: DemographicParity(np.where(merit < -0.5, None, group)),
        "odds": lambda: EqualizedOdds(group),
        "true positive rate": lambda: TruePositiveRateParity(group),
        "false positive rate": lambda: FalsePositiveRateParity(group, match="mean"),
        "odds counted": lambda: EqualizedOdds(group, soft=False, match="mean"),
        "key": lambda: IndividualFairness(key=key),
        "key counted": lambda: IndividualFairness(key=key, soft=False),
        "merit": lambda: Meritocracy(merit),
        "merit counted": lambda: Meritocracy(merit, soft=False),
        "precision": lambda: PredictiveParity(group),
        "precision counted": lambda: PredictiveParity(group, soft=False),
    }[name]()


NAMES = [
    "parity",
    "parity counted",
    "parity of means",
    "parity of two columns",
    "parity with missing groups",
    "odds",
    "true positive rate",
    "false positive rate",
    "odds counted",
    "key",
    "key counted",
    "merit",
    "merit counted",
    "precision",
    "precision counted",
]


def test_every_constraint_is_among_them():
    # A constraint that is added later cannot escape these tests.
    assert {type(constraint(name, 0, N_ROWS)).__name__ for name in NAMES} == set(constraints.__all__)


def models(start, end):
    """A model for every constraint, and for some in company."""
    x, z, y, weight, q = (array[start:end] for array in rows())
    y = np.where(np.arange(start, end) < 80, np.float32(1), y)  # A worker may have rows of one label only.
    made = {}

    def train(name, params, label, teacher, weight=None, engine="callback"):
        dtrain = xgb.DMatrix(x, label, weight=weight)
        made[name] = bytes(pi_xgb.train(params, dtrain, ROUNDS, teacher=teacher, engine=engine).save_raw("json"))

    for name in NAMES:
        train(name, PARAMS, y, [(constraint(name, start, end), 4.0)])
    parity = constraint("parity", start, end)
    train("weighted, native, after another training", PARAMS, y, [(parity, 4.0)], weight, "native")
    train("the same object again", PARAMS, y, [(parity, 4.0)], weight, "native")
    train("with q", PARAMS, y, [(parity, 2.0), (q, 1.0)], weight)
    joint = pi_xgb.JointTeacher(xgb.DMatrix(z, y), PARAMS)
    train("with a joint teacher", PARAMS, y, [(joint, 1.0), (parity, 2.0)])
    train("regression", {**PARAMS, "objective": "reg:squarederror"}, x[:, 0] + z[:, 0], [(parity, 4.0)])
    classes = {**PARAMS, "objective": "multi:softprob", "num_class": 3}
    train("classes", classes, (z.sum(axis=1) // 9).clip(0, 2), [(constraint("odds", start, end), 4.0)])
    return made


def fractional(start, end):
    """Weights that do not add up exactly."""
    x, _, y, weight, _ = (array[start:end] for array in rows())
    dtrain = xgb.DMatrix(x, y, weight=weight / 7)
    parity = constraint("parity", start, end)
    booster = pi_xgb.train({**PARAMS, "max_depth": 2}, dtrain, 3, teacher=parity, kl_weight=4.0)
    return booster.predict(xgb.DMatrix(rows()[0]), output_margin=True)


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
    "soft labels on one worker": ("other worker", "whole-number labels"),
    "short column on one worker": ("other worker", "one value per training row"),
}


def statistics(start, end):
    group, _, merit = (column[start:end] for column in columns())
    own = as_groups(group).by_appearance()
    shared = shared_codes(own.codes, own.names.tolist())
    p = merit.astype(np.float32)
    table = tabulate(shared.codes, p, None, over_workers=True)
    # Two rows of this worker are similar, and only the first worker's are in a tie.
    pair = np.array([0.25, 0.75 if start == 0 else 0.5], np.float32)
    undecided = IndividualFairness(key=[start, start], soft=False)
    spec = Spec.read({"objective": "binary:logistic"})
    undecided.start(Start(Task(spec, np.zeros(2, np.float32), None), 1.0, None, None))
    bits = np.array([start, 2**63 + end], np.uint64)
    return {
        "groups": (shared.codes, shared.count, group),
        "table": table,
        "p": p,
        "undecided": undecided.q(pair, np.zeros(2), None).tolist(),
        "bits": _collective.gathered(bits),
        "some": _collective.on_any_worker(start == 0),
        "none": _collective.on_any_worker(start < 0),
        "nothing": _collective.gathered(np.empty(0, np.float32) if start == 0 else p[:2]),
    }


def everything(_n_workers, start, end):
    """All of it in one group of workers, since starting them is what takes the time."""
    return pickle.dumps(
        {
            "models": models(start, end),
            "faults": faults(start, end),
            "fractional": fractional(start, end),
            "statistics": statistics(start, end),
        }
    )


@pytest.fixture(scope="module")
def answers():
    """What each worker says, for two workers and for three, in the order of their rows."""
    return results_of_workers(everything)


@pytest.mark.parametrize("n_workers", [2, 3])
def test_the_model_is_that_of_one_machine(answers, n_workers):
    whole = models(0, N_ROWS)
    for result in answers[n_workers]:
        # Every worker ends with the trees of one machine to the bit, for each constraint, alone and in company.
        assert [name for name, model in result["models"].items() if model != whole[name]] == []
        assert result["models"].keys() == whole.keys()
    # No two of them are the same model by accident of a constraint that does nothing.
    assert len(set(whole.values())) == len(whole) - 1
    assert whole["the same object again"] == whole["weighted, native, after another training"]


@pytest.mark.parametrize("n_workers", [2, 3])
def test_a_fault_ends_the_training_on_every_worker(answers, n_workers):
    *others, last = (result["faults"] for result in answers[n_workers])
    for case, (on_others, on_last) in FAULTS.items():
        # Every worker hears of it, the one at fault of the reason, and the group of workers goes on to its next task.
        assert on_last in last[case], (case, last)
        for other in others:
            assert on_others in other[case], (case, other)


@pytest.mark.parametrize("n_workers", [2, 3])
def test_fractional_weights_give_the_model_of_one_machine_up_to_rounding(answers, n_workers):
    margins = [result["fractional"] for result in answers[n_workers]]
    # The workers agree to the bit; sums of fractional weights depend on their order, so the whole is another sum.
    assert all(np.array_equal(margin, margins[0]) for margin in margins)
    np.testing.assert_allclose(margins[0], fractional(0, N_ROWS), atol=1e-6)


def test_what_workers_tell_each_other_is_exact(answers):
    results = [answer["statistics"] for answer in answers[3]]
    group, _, merit = columns()
    every = as_groups(group)
    whole = tabulate(every.codes, merit.astype(np.float32), None)
    # Each worker gives a group the same number, whether or not it has rows of every group.
    assert set(results[0]["groups"][2]) == {"a"}
    assert all(t["groups"][1] == every.count == 3 for t in results)
    number = {name: code for t in results for code, name in zip(t["groups"][0].tolist(), t["groups"][2], strict=True)}
    assert np.array_equal([number[name] for name in group], np.concatenate([t["groups"][0] for t in results]))
    assert sorted(number.values()) == [0, 1, 2]
    for t in results:
        # The table is that of all rows, and a worker's rows find their own values in it.
        assert len(t["table"].value) == len(whole.value)
        assert t["table"].weight.sum() == N_ROWS
        assert np.array_equal(t["table"].value[t["table"].line], t["p"])
        assert np.array_equal(np.sort(t["table"].weight), np.sort(whole.weight))
        # A tie on one worker is looked into by all, since its answer needs them all.
        assert t["undecided"] == [0.25, 0.5]
        # 64 bits arrive as they were sent, in the order of the ranks; a worker may have nothing to send.
        assert set(t["bits"].tolist()) == {0, 80, 350, 2**63 + 80, 2**63 + 350, 2**63 + N_ROWS}
        assert len(t["nothing"]) == 4
        assert t["some"] is True
        assert t["none"] is False


def test_one_process_is_its_own_world():
    values = np.array([1.5, 2.5])
    # Without a communicator nothing is sent, and the answers are the process's own.
    assert _collective.gathered(values) is values
    assert _collective.from_each_worker(["a"]) == [["a"]]
    assert _collective.on_any_worker(True)
    assert not _collective.on_any_worker(False)

"""What is taken for a teacher, what it weighs, and what it may answer."""

from __future__ import annotations

import numpy as np
import pytest

from pi_xgb import ModelTeacher, Teacher
from pi_xgb._core.distillation import DistillationLoss
from pi_xgb._core.losses import LOSSES, NUMBERS, PROBABILITIES, SHARES
from pi_xgb._core.spec import Spec
from pi_xgb._core.task import Task
from pi_xgb._core.teachers import FixedTeacher, WeightedTeacher, as_weighted_teachers, is_list_of_pairs, moves_freely

Q = np.array([0.1, 0.5, 0.9], np.float32)
OTHER = np.array([0.2, 0.2, 0.3], np.float32)


def task(objective="binary:logistic", label=(0, 1, 1)):
    spec = Spec.read({"objective": objective})
    return Task.from_arrays(spec, np.array(label, np.float32), np.empty(0), n_rows=3, name="dtrain")


class Says(Teacher):
    is_adaptive = False

    def __init__(self, q, *, noisy=False):
        self.said, self.is_noisy = np.asarray(q, np.float32), noisy

    def q(self, mean, label, weight):
        return self.said


def test_a_list_of_pairs_is_none_of_q():
    for pairs in ([(Q, 1.0)], ((Q, 1.0), (Q, Q)), [(Says(Q), 0)], [(None, 1)]):
        assert is_list_of_pairs(pairs)
    for other in ([], (), [(0.3, 0.7)], [(Q, 1.0, 2.0)], [[Q, 1.0]], [(Q, 1.0), Q], [0.1, 0.2], "ab", Q, {(Q.size, 1)}):
        assert not is_list_of_pairs(other)


def test_one_teacher_weighs_what_is_said_of_all_or_of_each_row():
    (single,) = as_weighted_teachers(Q, 0.25, SHARES)
    assert (single.kl_weight, single.per_row, single.weight, single.counts) == (0.25, None, 0.25, True)
    assert not as_weighted_teachers(Q, 0.0, SHARES)[0].counts
    (subset,) = as_weighted_teachers(Q, 2.0, SHARES, np.array([0.0, 0.25, 1.0]))
    assert subset.weight.tolist() == [0.0, 0.5, 2.0]
    assert subset.counts
    assert not WeightedTeacher(single.teacher, 2.0, np.zeros(3)).counts
    # What the user says takes the place of what the teacher counts by itself.
    own = FixedTeacher(Q)
    own.teacher_weight = np.array([1.0, 0.0, 1.0])
    assert as_weighted_teachers(own, 0.5, SHARES)[0].per_row.tolist() == [1, 0, 1]
    assert as_weighted_teachers(own, 0.5, SHARES, np.array([0.0, 2.0, 0.0]))[0].per_row.tolist() == [0, 2, 0]


def test_a_list_has_weights_of_its_own():
    per_row = [np.array([0.0, 1.0, 4.0]), np.ones(3), np.zeros(3), np.full(3, 0.25)]
    given = as_weighted_teachers([(Q, 0.75), *((Q, weight) for weight in per_row)], 0.5, SHARES)
    # The largest of several weights is that of the teacher, and the others are parts of it.
    assert [item.kl_weight for item in given] == [0.75, 4.0, 1.0, 1.0, 0.25]
    assert [None if item.per_row is None else item.per_row.tolist() for item in given] == [
        None,
        [0, 0.25, 1],
        None,
        [0, 0, 0],
        [1, 1, 1],
    ]
    with pytest.raises(ValueError, match=r"kl_weight=0\.25 .*list.*leave it out"):
        as_weighted_teachers([(Q, 1.0)], 0.25, SHARES)
    with pytest.raises(ValueError, match=r"teacher_weight .*list.*leave it out"):
        as_weighted_teachers([(Q, 1.0)], 0.5, SHARES, np.ones(3))


@pytest.mark.parametrize("weight", [0.25, 0.5, 2.0])
def test_a_gap_is_no_answer_where_it_counts_however_little(weight):
    q = Q.copy()
    q[1] = np.nan
    nowhere, there = np.array([1.0, 0.0, 1.0]), np.array([1.0, weight, 1.0])
    assert as_weighted_teachers(q, 0.5, SHARES, nowhere)[0].teacher.values[[0, 2]].tolist() == q[[0, 2]].tolist()
    with pytest.raises(ValueError, match="1 NaN"):
        as_weighted_teachers(q, 0.5, SHARES, there)
    for of_rows in (weight, there):
        with pytest.raises(ValueError, match=r"q .*finite.*NaN"):
            Says(q).answer(task(), Q, of_rows)
    assert Says(q).answer(task(), Q, nowhere)[0] == q[0]
    assert np.isnan(Says(q * np.nan).answer(task(), Q, 0 * nowhere)).all()
    blended = DistillationLoss(task(), as_weighted_teachers(Says(q), weight, SHARES, nowhere)).target(Q)
    assert blended[1] == task().label[1]


def test_answers_have_the_shape_and_the_range_of_means():
    beyond = [0.5, 1.5, 0.0]
    with pytest.raises(ValueError, match=r"the q of .*0\.0.*1\.5"):
        Says(beyond).answer(task(), Q, 1.0)
    with pytest.raises(ValueError, match=r"q .*shape \(2,\).*\(3,\)"):
        Says(Q[:2]).answer(task(), Q, 1.0)
    # What is right on average may lie beyond, for losses that learn by averages.
    assert Says(beyond, noisy=True).answer(task(), Q, 1.0).tolist() == beyond
    with pytest.raises(ValueError, match=r"count:poisson.*noisy"):
        Says(Q, noisy=True).answer(task("count:poisson"), Q, 1.0)
    with pytest.raises(ValueError, match="NaN or infinite"):
        Says([np.inf, 0, 0], noisy=True).answer(task(), Q, 1.0)
    assert {name for name, loss in LOSSES.items() if loss.takes_noise} == {
        "binary:logistic",
        "binary:logitraw",
        "reg:logistic",
        "reg:squarederror",
        "multi:softprob",
        "multi:softmax",
    }


def test_fixed_answers_are_checked_by_the_range_of_the_student():
    assert FixedTeacher(3 * Q, NUMBERS).answer(task("reg:squarederror"), Q, 1.0).tolist() == (3 * Q).tolist()
    with pytest.raises(ValueError, match=r"FixedTeacher.*got values from"):
        FixedTeacher(3 * Q, NUMBERS).answer(task(), Q, 1.0)
    for within in (PROBABILITIES, SHARES):
        with pytest.raises(ValueError, match=r"column.*positive class"):
            FixedTeacher(np.stack([Q, 1 - Q], axis=1), within).answer(task(), Q, 1.0)


def test_rows_of_a_fixed_teacher_keep_all_that_it_says():
    rows, whole = np.array([2, 0]), FixedTeacher(3 * Q, NUMBERS)
    assert whole.subset(rows).teacher_weight is None
    whole.teacher_weight = np.array([1.0, 2.0, 3.0])
    for part in (whole.subset(rows), whole.shard(rows)):
        assert part.values.tolist() == (3 * Q)[rows].tolist()
        assert part.teacher_weight.tolist() == [3, 1]
        assert part._within == NUMBERS
    with pytest.raises(ValueError, match="read-only"):
        whole.values[0] = 1
    with pytest.raises(ValueError, match=r"q .*3 rows.*2 rows"):
        whole.check(2)
    whole.check(3)


def test_who_moves_freely():
    for follows, hessian, expected in ((True, "adaptive", True), (True, "full", False), (False, "adaptive", False)):
        teacher = Says(Q)
        teacher.is_adaptive, teacher.hessian = follows, hessian
        assert moves_freely(teacher) is expected


class Model:
    """A model whose probabilities have these columns."""

    def __init__(self, q, classes=None):
        self.shown = q
        if classes is not None:
            self.classes_ = classes

    def predict_proba(self, data):
        return self.shown


def test_a_model_says_one_column_or_several():
    two = np.stack([1 - Q, Q], axis=1)
    three = np.stack([Q, OTHER, 1 - Q - OTHER], axis=1)[:1]
    for model, expected in (
        (Model(two), Q),
        (Model(two, [0, 1]), Q),
        (Model(Q), Q),
        (Model(three), three),
        (lambda data: data, Q),
    ):
        np.testing.assert_allclose(ModelTeacher(model, Q).values, expected, atol=1e-7)
    with pytest.raises(ValueError, match=r"classes.*\[1, 0\]"):
        ModelTeacher(Model(two, [1, 0]), Q)
    with pytest.raises(ValueError, match=r"q .*Model.*\[0, 1\]"):
        ModelTeacher(Model(3 * Q), Q)
    assert ModelTeacher(Model(3 * Q), Q, probabilities=False).values.max() > 1

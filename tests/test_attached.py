"""What a matrix carries of a teacher is what was attached to it."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_xgb import attach_teacher
from pi_xgb._core.attached import attached_teacher
from pi_xgb._core.losses import AMOUNTS, NUMBERS, POSITIVE, PROBABILITIES, SHARES
from pi_xgb.constraints import DemographicParity
from pi_xgb.metrics import attach_groups

N = 12
RANGES = {"numbers": NUMBERS, "amounts": AMOUNTS, "probabilities": PROBABILITIES, "above 0": POSITIVE}


def matrix() -> xgb.DMatrix:
    return xgb.DMatrix(np.zeros((N, 1)), np.zeros(N))


@given(
    kind=st.sampled_from(["numbers", "amounts", "probabilities", "above 0", 2, 3]),
    seed=st.integers(0, 1000),
    masks=st.tuples(*[st.sampled_from(["all", "some", "first"])] * 2),
    ends=st.booleans(),
)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_what_is_attached_comes_back(kind, seed, masks, ends):
    rng = np.random.default_rng(seed)
    known, counts = (
        {"all": np.ones(N, bool), "some": rng.random(N) < 0.5}.get(item, np.arange(N) < 1) for item in masks
    )
    known[0] = True
    if kind == "numbers":
        q = 10 * rng.normal(size=N)
        q[:4] = -1, 0, -2, -3  # the marks of other things
        q = q if known.all() else np.abs(q)
    elif isinstance(kind, str):
        q = rng.random(N) if kind == "probabilities" else rng.gamma(1, 3, N) + 0.1
        if ends and kind != "above 0":
            q[:4] = 0, 1, 1, 0
    else:
        q = rng.dirichlet(np.ones(kind), N)
        if ends:
            q[:4] = np.eye(kind)[[0, 1, -1, 0]]
    q = q.astype(np.float32)
    n_classes = kind if isinstance(kind, int) else 0
    result = np.where(counts if q.ndim == 1 else counts[:, None], q, np.float32(np.nan))
    keywords = {} if known.all() else {"labelled": known}
    dtrain = attach_teacher(matrix(), result, teacher_weight=counts.astype(float), **keywords)
    teacher, labelled = attached_teacher(dtrain, n_classes, RANGES.get(kind, SHARES))
    np.testing.assert_array_equal(np.ones(N, bool) if labelled is None else labelled, known)
    weight = np.ones(N) if teacher.teacher_weight is None else teacher.teacher_weight
    np.testing.assert_array_equal(weight, counts)
    assert teacher.values.dtype == np.float32
    assert teacher.values.shape == q.shape
    np.testing.assert_allclose(teacher.values[counts], q[counts], rtol=3e-7, atol=3e-7)
    assert (labelled is None) == known.all()
    assert (teacher.teacher_weight is None) == counts.all()


def test_groups_for_metrics_may_stand_in_the_second_field():
    subset, group = np.arange(N) % 3 > 0, np.arange(N) % 2
    q = np.linspace(0, 1, N).astype(np.float32)
    dtrain = attach_groups(attach_teacher(matrix(), q, labelled=subset), group)
    teacher, labelled = attached_teacher(dtrain, 0, PROBABILITIES)
    np.testing.assert_array_equal(labelled, subset)
    np.testing.assert_allclose(teacher.values, q, atol=1e-7)
    with pytest.raises(ValueError, match=r"q below 0.*label"):
        attached_teacher(dtrain, 0, NUMBERS)
    plain = attach_groups(attach_teacher(matrix(), 3 * q), group)
    np.testing.assert_array_equal(attached_teacher(plain, 0, NUMBERS)[0].values, 3 * q)


@pytest.mark.parametrize("low", [-1.0, -1.5])
def test_a_q_below_the_range_is_no_row_without_a_label(low):
    q = np.full(N, 0.5)
    q[3] = low
    dtrain = attach_teacher(matrix(), q)
    with pytest.raises(ValueError, match=r"\[0, 1\], got.*-1"):
        attached_teacher(dtrain, 0, PROBABILITIES)
    assert attached_teacher(dtrain, 0, NUMBERS)[0].values[3] == low


def test_several_targets_have_no_room():
    dtrain = xgb.DMatrix(np.zeros((N, 1)), np.zeros((N, 3)))
    with pytest.raises(ValueError, match=r"q .*dtrain.*3"):
        attach_teacher(dtrain, np.zeros((N, 3)))


def test_the_number_of_values_comes_back_with_them():
    for width, name in ((0, "one value per row"), (2, "2 classes"), (3, "3 classes")):
        q = np.full((N, width) if width else N, 1 / max(width, 1))
        dtrain = attach_teacher(matrix(), q)
        for other in {0, 2, 3, 5} - {width}:
            needed = {0: "one value per row"}.get(other, f"{other} classes")
            with pytest.raises(ValueError, match=f"has {name}.*{needed}"):
                attached_teacher(dtrain, other, SHARES)
        # A first share of 0 is a share.
        if width == 3:
            q[:, 1], q[:, 2] = 0, 2 / 3
            assert attached_teacher(attach_teacher(matrix(), q), 3, SHARES)[0].values[0, 1] == 0


@pytest.mark.parametrize(
    ("q", "keywords", "message"),
    [
        (np.ones(N + 1), {}, "q has 13 rows, dtrain has 12"),
        (np.full((N, 4), 0.25), {}, "at most 3 classes, got 4"),
        (np.full((N, 2), 0.4), {}, "must sum to 1"),
        (np.full((N, 2), 0.4), {"teacher_weight": np.arange(N) < 1}, "must sum to 1"),
        (-np.ones(N), {"labelled": np.arange(N) < 6}, "must be at least 0"),
        (np.ones(N), {"teacher_weight": np.arange(N) / 2}, r"teacher_weight must be 0 or 1.*0\.5"),
        (np.ones(N), {"teacher_weight": 2 * (np.arange(N) % 2)}, r"0 or 1.*row.*2"),
    ],
)
def test_what_has_no_room_is_refused_and_leaves_nothing(q, keywords, message):
    dtrain = matrix()
    with pytest.raises(ValueError, match=message):
        attach_teacher(dtrain, q, **keywords)
    assert dtrain.get_float_info("label_lower_bound").size == 0


def test_rows_without_a_label_leave_no_room_for_a_q_below_0():
    q, known = np.array([-0.5, 0.0, 2.0]), np.array([True, False, True])
    dtrain = xgb.DMatrix(np.arange(3.0)[:, None], np.zeros(3))
    with pytest.raises(ValueError, match=r"q must be at least 0 .*no label.*got -0.5.*pi_xgb.cv"):
        attach_teacher(dtrain, q, labelled=known)
    # Where it does not count it may be anything.
    attach_teacher(dtrain, q, labelled=known, teacher_weight=[0, 1, 1])
    # Values above 1 are those of numbers.
    assert attached_teacher(dtrain, 0, NUMBERS)[1].tolist() == known.tolist()


def test_a_teacher_that_is_asked_in_every_round_has_no_place_in_a_matrix():
    parity = DemographicParity([0, 1, 0, 1])
    with pytest.raises(TypeError, match=r"q .*DemographicParity\(2"):
        attach_teacher(xgb.DMatrix(np.zeros((4, 1)), [0, 1, 0, 1]), parity)

"""What params say of a training, and which engine is exact for them."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb
from helpers_engines import native_obstacle, plan_of
from xgboost.callback import EvaluationMonitor, LearningRateScheduler

from pi_xgb._core.engines import choose
from pi_xgb._core.spec import Spec
from pi_xgb._core.task import Task

BINARY = {"objective": "binary:logistic"}
CLASSES = {"objective": "multi:softprob", "num_class": 3}


def spec(**params):
    return Spec.read(BINARY | params)


# --- params -----------------------------------------------------------------------------------------------------------


def test_params_are_read_once():
    read = Spec.read({**CLASSES, "device": "cuda:0"})
    assert (read.objective, read.n_classes, read.scale_pos_weight, read.device) == ("multi:softprob", 3, 1.0, "cuda:0")
    assert read.shape(5) == (5, 3)
    read = spec(num_class=1, scale_pos_weight=2.5)
    assert (read.n_classes, read.scale_pos_weight, read.device, read.shape(5)) == (0, 2.5, "cpu", (5,))
    assert Spec.read({**CLASSES, "num_class": 2}).n_classes == 2
    with pytest.raises(ValueError, match=r"least 2.*1"):
        Spec.read({**CLASSES, "num_class": 1})


def test_the_params_of_a_continued_model_hold_where_params_are_silent():
    matrix = xgb.DMatrix(np.arange(8.0)[:, None], np.arange(8.0))
    model = xgb.train({"objective": "reg:tweedie", "tweedie_variance_power": 1.2, "eta": 0.7}, matrix, 1)
    silent = {"objective": "reg:tweedie", "max_depth": 2}
    assert Spec.read(silent, model).loss.default_metric == "tweedie-nloglik@1.2"
    assert float(Spec.read(silent, model).params.pop("tweedie_variance_power")) == pytest.approx(1.2)
    assert Spec.read({**silent, "tweedie_variance_power": 1.7}, model).loss.default_metric == "tweedie-nloglik@1.7"
    assert Spec.read(silent, model).params.keys() == {"objective", "max_depth", "tweedie_variance_power"}
    assert Spec.read(silent).params == silent
    # What XGBoost's own objective is trained with it finds in the model by itself.
    huber = {"objective": "reg:pseudohubererror", "huber_slope": 3.0}
    model = xgb.train(huber, matrix, 1)
    assert Spec.read({"objective": "reg:pseudohubererror"}, model).params == {"objective": "reg:pseudohubererror"}


def test_a_teacher_shares_what_is_modelled():
    student = Spec.read({"objective": "reg:tweedie", "tweedie_variance_power": 1.2, "max_depth": 2, "eta": 0.1})
    own = student.of_teacher({"eta": 0.7})
    assert own.params == {"objective": "reg:tweedie", "tweedie_variance_power": 1.2, "eta": 0.7}
    columns = {"monotone_constraints": "(1)", "interaction_constraints": "[[0]]"}
    assert spec(max_depth=2, **columns).of_teacher(None).params == {**BINARY, "max_depth": 2}
    assert spec(**columns).of_teacher({}).params == BINARY
    # A name of the same loss is no other objective.
    assert spec().of_teacher({"objective": "reg:logistic"}).objective == "reg:logistic"
    for params in ({"objective": "reg:squarederror"}, {"objective": "multi:softprob", "num_class": 2}):
        with pytest.raises(ValueError, match="must share objective and num_class"):
            spec().of_teacher(params)
    with pytest.raises(ValueError, match=r"'multi:softprob'.*3.*teacher_params.*'multi:softmax'.*4"):
        Spec.read(CLASSES).of_teacher({"objective": "multi:softmax", "num_class": 4})


@pytest.mark.parametrize(
    ("params", "drops"),
    [
        ({}, False),
        ({"booster": "gbtree", "rate_drop": 0}, False),
        ({"booster": "dart"}, True),
        ({"rate_drop": 0.5}, True),
        ({"one_drop": "1"}, True),
        ({"one_drop": 0, "rate_drop": "0.1"}, True),
    ],
)
def test_who_drops_trees(params, drops):
    assert spec(**params).drops_trees is drops
    if drops:
        with pytest.raises(ValueError, match=r"booster='dart'.*JPIB"):
            spec(**params).check_margins_stay()
    else:
        spec(**params).check_margins_stay()


@pytest.mark.parametrize(
    ("params", "label", "given", "message"),
    [
        ({"alpha": 0.5, **BINARY}, [0, 1], False, r"pass kl_weight=0\.5"),
        ({"alpha": 0.5, **BINARY}, [0, 1], True, None),
        (BINARY, [0, 1], False, None),
        ({}, [0, 1], True, "no objective is named"),
        ({}, [1, 1], True, "no objective is named"),
        ({}, [0, 0], True, "no objective is named"),
        ({}, [0, 2], True, None),
        ({}, [-1, 1], True, None),
        ({"objective": "reg:squarederror"}, [0, 1], True, None),
        ({"num_class": 2}, [0, 1], True, None),
    ],
)
def test_params_that_may_mean_something_else(params, label, given, message, recwarn):
    Spec.read(params).warn_of_other_meanings(np.array(label), kl_weight_given=given)
    assert [str(item.message) for item in recwarn.list if message is None] == []
    assert len(recwarn.list) == (message is not None)
    if message:
        recwarn.list.clear()
        with pytest.warns(UserWarning, match=message):
            Spec.read(params).warn_of_other_meanings(np.array(label), kl_weight_given=given)


# --- engines ----------------------------------------------------------------------------------------------------------


def obstacle(params=None, **more):
    return native_obstacle(spec(**(params or {})), **more) or ""


D = xgb.DMatrix(np.zeros((2, 1)))
OTHER = xgb.DMatrix(np.zeros((2, 1)))
FREELY = {"is_adaptive": True, "moves_freely": True}
RATES = LearningRateScheduler(lambda _: 0.1)


@pytest.mark.parametrize(
    ("params", "more", "why"),
    [
        ({}, {}, ""),
        ({}, {"is_uniform": False}, ""),
        ({}, {"is_adaptive": True, "is_uniform": False, "callbacks": [RATES]}, ""),
        ({}, {"evals": [(OTHER, "valid")], "dtrain": D}, ""),
        ({}, {"evals": [(OTHER, "valid"), (D, "train")], "dtrain": D}, "dtrain is among the evals"),
        (CLASSES, {}, "whole classes"),
        ({}, {"is_noisy": True}, "blended labels of a noisy q may not"),
        ({"objective": "reg:squarederror"}, {"is_noisy": True}, ""),
        ({"booster": "gbtree"}, {}, ""),
        ({"booster": "gblinear"}, {}, "gblinear"),
        ({"booster": "dart"}, {}, ""),
        ({"booster": "dart"}, {"is_adaptive": True}, "drops different trees"),
        ({"sampling_method": "uniform"}, {}, ""),
        ({"sampling_method": "gradient_based"}, {}, "weighs gradients against lambda"),
        ({"tree_method": "approx"}, {}, ""),
        ({"tree_method": "approx", "scale_pos_weight": 2.0}, {}, "weights that scale_pos_weight changes"),
        ({"tree_method": "approx"}, {"is_uniform": False}, "differ from row to row change"),
        ({"tree_method": "hist", "scale_pos_weight": 2.0}, {"is_uniform": False}, ""),
        # A loss that knows no scale_pos_weight is not scaled by it.
        ({"tree_method": "approx", "objective": "count:poisson", "scale_pos_weight": 2.0}, {}, ""),
        ({}, FREELY, ""),
        ({}, {**FREELY, "is_uniform": False}, "shrink by another factor in each"),
        ({"objective": "count:poisson"}, FREELY, "max_delta_step of count:poisson"),
        ({"objective": "count:poisson"}, {"is_adaptive": True}, ""),
        ({}, {**FREELY, "callbacks": [EvaluationMonitor()]}, ""),
        ({}, {**FREELY, "callbacks": [EvaluationMonitor(), RATES]}, "LearningRateScheduler"),
    ],
)
def test_what_is_in_the_way_of_the_native_engine(params, more, why):
    found = obstacle(params, **more)
    assert why in found
    assert bool(found) == bool(why)


def test_the_native_engine_is_taken_on_request_and_on_cuda():
    for device, by_itself in (("cpu", "callback"), ("cuda", "native"), ("cuda:1", "native"), ("gpu", "native")):
        fits, unfit = plan_of(spec(device=device)), plan_of(spec(device=device, booster="gblinear"))
        assert choose("native", fits) == "native"
        assert choose("auto", fits) == by_itself
        assert choose("auto", unfit) == choose("callback", fits) == choose("callback", unfit) == "callback"
        with pytest.raises(ValueError, match=r"engine='native' would not be exact for binary:logistic.*gblinear"):
            choose("native", unfit)


def test_copies_are_for_gradients_that_are_not_linear_in_the_label():
    median = plan_of(Spec.read({"objective": "reg:absoluteerror"}))
    assert choose("auto", median) == choose("copies", median) == "copies"
    for engine in ("callback", "native"):
        with pytest.raises(ValueError, match=f"engine='{engine}'.*reg:absoluteerror.*not linear.*copies"):
            choose(engine, median)
    with pytest.raises(ValueError, match=r"engine='copies'.*binary:logistic.*blended"):
        choose("copies", plan_of(spec()))
    with pytest.raises(ValueError, match="engine must be one of"):
        choose("fast", median)


# --- tasks ------------------------------------------------------------------------------------------------------------

Y, W = np.array([0, 1, 0.5, 1], np.float32), np.array([1, 2, 3, 4], np.float32)
KNOWN = np.array([True, False, True, True])


def task(source=None, label=Y, weight=W, labelled=None):
    return Task.from_arrays(source or spec(), label, weight, labelled, n_rows=len(label), name="dtrain")


def test_weights_have_the_scale_of_positives_folded_in():
    none = np.empty(0, np.float32)
    assert task().weight.tolist() == W.tolist()
    assert task(weight=none).weight is None
    scaled = spec(scale_pos_weight=3.0)
    assert task(scaled).weight.tolist() == [1, 6, 3, 12]
    assert task(scaled, weight=none).weight.tolist() == [1, 3, 1, 3]
    counts = Spec.read({"objective": "count:poisson", "scale_pos_weight": 3.0})
    assert task(counts).weight.tolist() == W.tolist()
    assert task(counts, weight=none).weight is None


def test_labels_that_nobody_knows_are_0_here_and_nan_to_teachers():
    wrong = np.where(KNOWN, Y, 7).astype(np.float32)
    subset = task(label=wrong, labelled=KNOWN)
    assert subset.label.tolist() == [0, 0, 0.5, 1]
    np.testing.assert_array_equal(subset.teacher_label, np.where(KNOWN, Y, np.nan))
    assert subset.teacher_label.dtype == subset.label.dtype == np.float32
    assert task().teacher_label is task().label or task().teacher_label.tolist() == Y.tolist()
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]"):
        task(label=wrong)
    two = task(Spec.read({"objective": "reg:squarederror"}), np.stack([wrong, Y], axis=1), labelled=KNOWN)
    assert two.label.tolist() == [[0, 0], [0, 0], [0.5, 0.5], [1, 1]]
    assert np.isnan(two.teacher_label).sum() == 2
    assert task(labelled=~KNOWN & KNOWN).label.tolist() == [0, 0, 0, 0]  # the labels of other workers


def test_means_have_a_column_for_each_class_or_target():
    assert task().like.shape == (4,)
    assert task(Spec.read(CLASSES), np.arange(4.0) % 3).like.shape == (4, 3)
    assert task(Spec.read({"objective": "reg:squarederror"}), np.zeros((4, 2))).like.shape == (4, 2)
    assert task().like.dtype == np.float32


@pytest.mark.parametrize(
    ("params", "label", "labelled", "message"),
    [
        (BINARY, [1, 0, 1, 1], [1, 0, 1, 1], r"labelled.*class 1"),
        (BINARY, [0, 1, 0, 0], [1, 0, 1, 1], r"labelled.*class 0"),
        (CLASSES, [2, 0, 2, 2], [1, 0, 1, 1], r"labelled.*class 2"),
        (BINARY, [1, 0, 1, 1], [1, 1, 1, 1], None),
        (BINARY, [1, 1, 1, 1], None, None),
        ({"objective": "reg:squarederror"}, [-2, 0, -2, -2], [1, 0, 1, 1], None),
        (BINARY, [1, 1, 1, 1], [0, 0, 0, 0], "no row with a label"),
        ({"objective": "reg:squarederror"}, [1, 1, 1, 1], [0, 0, 0, 0], "no row with a label"),
    ],
)
def test_labelled_rows_have_something_to_tell_apart(params, label, labelled, message):
    mask = None if labelled is None else np.array(labelled, bool)
    own = task(Spec.read(params), np.array(label, np.float32), labelled=mask)
    if message is None:
        own.check_labelled_rows()
        return
    with pytest.raises(ValueError, match=message):
        own.check_labelled_rows()


def test_metrics_are_of_rows_with_labels():
    own = task(labelled=KNOWN)
    own.check_evals(D, [(OTHER, "valid")])
    task().check_evals(D, [(D, "train")])
    with pytest.raises(ValueError, match=r"dtrain.*evals.*without"):
        own.check_evals(D, [(OTHER, "valid"), (D, "train")])


def test_several_targets_weigh_rows():
    label = np.zeros((4, 2), np.float32)
    assert task(Spec.read({"objective": "reg:squarederror"}), label).n_rows == 4
    with pytest.raises(ValueError, match=r"scale_pos_weight.*several targets"):
        task(Spec.read({"objective": "reg:squarederror", "scale_pos_weight": 2.0}), label)
    with pytest.raises(ValueError, match=r"dtrain.*2 labels"):
        task(Spec.read({"objective": "reg:absoluteerror"}), label)


def test_rows_of_a_matrix_have_finite_margins():
    matrix = xgb.DMatrix(np.zeros((3, 1)), [0, 1, 0], base_margin=[0, np.nan, 0])
    with pytest.raises(ValueError, match=r"base_margin of mine must be finite, got 1 rows.* first row 1:"):
        Task.from_matrix(spec(), matrix, name="mine")


def test_queries_have_one_weight_in_all_their_rows():
    ranking = Spec.read({"objective": "rank:pairwise"})
    matrix = xgb.DMatrix(np.zeros((5, 1)), np.arange(5.0), qid=[0, 0, 1, 2, 2])
    assert Task.from_matrix(ranking, matrix).weight is None
    matrix.set_weight([0.5, 2.0, 3.0])
    assert Task.from_matrix(ranking, matrix).weight.tolist() == [0.5, 0.5, 2, 3, 3]
    matrix.set_weight(np.ones(5))
    with pytest.raises(ValueError, match=r"dtrain.*5 weights.*3 queries"):
        Task.from_matrix(ranking, matrix)
    with pytest.raises(ValueError, match="mine has no queries"):
        Task.from_matrix(ranking, OTHER, name="mine")

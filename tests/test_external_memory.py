"""Matrices in external memory and from iterators: the models of the same rows in memory, with less memory."""

import os
import pickle
import sys

import numpy as np
import pytest
import xgboost as xgb

import pi_xgb
from benchmarks.scale import external as scale_external

ROUNDS = 6
PAPER = {"teacher": "boosted", "crossfit": 0, "teacher_sees": "privileged", "kl_weight": 2.0}
JOINT = {"teacher": "boosted", "method": "jpib", "kl_weight": 2.0}
HOW = [("callback", PAPER), ("native", PAPER), ("callback", JOINT)]
SIZES = (1, 130, 37, 400, 2, 230)  # uneven on purpose
PARAMS = {"objective": "binary:logistic", "max_depth": 3, "eta": 0.3, "tree_method": "hist", "nthread": 1, "seed": 1}


def rows():
    """Columns of few distinct values: the quantiles of the whole are those of any batches."""
    n_rows, rng = sum(SIZES), np.random.default_rng(8)
    x = rng.integers(0, 20, size=(n_rows, 6)).astype(np.float32)
    x[rng.random(x.shape) < 0.05] = np.nan
    z = rng.integers(0, 20, size=(n_rows, 4)).astype(np.float32)
    y = (np.nan_to_num(x).sum(axis=1) + 2 * z.sum(axis=1) + rng.normal(0, 10, n_rows) > 128).astype(np.float32)
    weight = rng.uniform(0.5, 2, n_rows).astype(np.float32)
    return x, z, y, weight


class Batches(xgb.DataIter):
    """Rows in uneven batches, each a copy of its own, as if it came from a file."""

    def __init__(self, data, label, weight=None, cache_prefix=None):
        super().__init__(cache_prefix=None if cache_prefix is None else str(cache_prefix))
        self.fields = {"data": data, "label": label, **({} if weight is None else {"weight": weight})}
        self.ends = np.minimum(np.cumsum(SIZES), len(label))
        self.batch = 0

    def reset(self):
        self.batch = 0

    def next(self, input_data):
        if self.batch == len(SIZES):
            return False
        start, end = ([0, *self.ends])[self.batch : self.batch + 2]
        input_data(**{name: values[start:end].copy() for name, values in self.fields.items()})
        self.batch += 1
        return True


def in_memory(folder, name, *fields):
    data, label, *weight = fields
    return xgb.QuantileDMatrix(data, label, weight=weight[0] if weight else None, nthread=1)


def external(folder, name, *fields):
    return xgb.ExtMemQuantileDMatrix(Batches(*fields, cache_prefix=folder / name), nthread=1)


def iterated(folder, name, *fields):
    return xgb.QuantileDMatrix(Batches(*fields), nthread=1)


def paged(folder, name, *fields):
    """XGBoost's older external memory: pages of floats, quantised by the training."""
    return xgb.DMatrix(Batches(*fields, cache_prefix=folder / name), nthread=1)


def assert_same_model(single, other, x):
    margins = [booster.predict(xgb.DMatrix(x), output_margin=True) for booster in (single, other)]
    np.testing.assert_allclose(*margins, atol=1e-5)
    # Not by being empty: the model has learned something.
    assert margins[0].std() > 0.1


@pytest.mark.parametrize("make", [external, iterated, paged])
@pytest.mark.parametrize(("engine", "method"), HOW, ids=["callback", "native", "jpib"])
def test_the_model_is_the_one_of_the_same_rows_in_memory(tmp_path, make, engine, method):
    x, z, y, weight = rows()
    for number, weighted in enumerate([(), (weight,)]):
        made = []
        for kind in (in_memory, make):
            dtrain = kind(tmp_path, f"x{number}", x, y, *weighted)
            privileged = kind(tmp_path, f"z{number}", z, y)
            made.append(pi_xgb.train(PARAMS, dtrain, ROUNDS, privileged=privileged, engine=engine, **method))
            # Labels and weights of a matrix on disk come back like any other's.
            assert dtrain.get_label().tobytes() == y.tobytes()
            assert dtrain.get_weight().tobytes() == b"".join(w.tobytes() for w in weighted)
        assert_same_model(*made, x)


@pytest.mark.parametrize("make", [external, iterated, paged])
@pytest.mark.parametrize(("engine", "method"), HOW, ids=["callback", "native", "jpib"])
def test_rows_without_labels_are_taught_as_in_memory(tmp_path, make, engine, method):
    x, z, y, weight = rows()
    rng = np.random.default_rng(4)
    labelled, counts = rng.random(len(y)) < 0.4, rng.choice([0.5, 1.0, 2.0], len(y))
    guided = {**method, "engine": engine, "labelled": labelled, "teacher_weight": counts}
    made = []
    for kind, label in ((in_memory, y), (make, np.where(labelled, y, 1 - y))):
        dtrain, privileged = kind(tmp_path, "x", x, label, weight), kind(tmp_path, "z", z, label)
        made.append(pi_xgb.train(PARAMS, dtrain, ROUNDS, privileged=privileged, **guided))
        assert dtrain.get_label().tobytes() == label.tobytes()
        assert dtrain.get_weight().tobytes() == weight.tobytes()
    assert_same_model(*made, x)
    found = [made[0].predict(xgb.DMatrix(x), output_margin=True)]
    for more in ({"labelled": None}, {"teacher_weight": None}):
        plainly = pi_xgb.train(PARAMS, dtrain, ROUNDS, privileged=privileged, **{**guided, **more})
        found.append(plainly.predict(xgb.DMatrix(x), output_margin=True))
        # Each of the two is read.
        assert np.abs(found[0] - found[-1]).max() > 0.01


@pytest.mark.parametrize(("engine", "method"), HOW, ids=["callback", "native", "jpib"])
def test_evaluation_weights_and_early_stopping_in_external_memory(tmp_path, engine, method):
    x, z, y, weight = rows()
    rng = np.random.default_rng(0)
    held_out = rng.permutation(len(y))
    found = []
    for kind in (in_memory, external):
        dtrain = kind(tmp_path, "x", x, y, weight)
        if kind is in_memory:
            valid = xgb.QuantileDMatrix(x[held_out], 1 - y[held_out], ref=dtrain, nthread=1)
        else:
            batches = Batches(x[held_out], 1 - y[held_out], cache_prefix=tmp_path / "valid")
            valid = xgb.ExtMemQuantileDMatrix(batches, ref=dtrain, nthread=1)
        history = {}
        booster = pi_xgb.train(
            {**PARAMS, "scale_pos_weight": 2.0},
            dtrain,
            30,
            privileged=kind(tmp_path, "z", z, y),
            engine=engine,
            **method,
            evals=[(valid, "valid")],
            early_stopping_rounds=3,
            evals_result=history,
            verbose_eval=False,
        )
        found.append((booster.best_iteration, history["valid"]["logloss"]))
    # Wrong labels stop both trainings in the same round, after the same scores.
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-6)


def test_objectives_of_ones_own_take_external_memory(tmp_path):
    x, z, y, _ = rows()
    made = []
    for kind in (in_memory, external):
        dtrain, privileged = kind(tmp_path, "x", x, y), kind(tmp_path, "z", z, y)
        objective = pi_xgb.JointObjective(privileged, kl_weight=2.0, params={**PARAMS, "base_score": 0.5})
        made.append(xgb.train({**PARAMS, "base_score": 0.5}, dtrain, ROUNDS, obj=objective))
    assert_same_model(*made, x)


def test_what_needs_rows_by_number_says_so(tmp_path):
    x, z, y, _ = rows()
    dtrain, privileged = external(tmp_path, "x", x, y), external(tmp_path, "z", z, y)
    with pytest.raises(TypeError, match=r"ExtMemQuantileDMatrix.*folds.*DMatrix"):
        pi_xgb.train(PARAMS, dtrain, 2, privileged=privileged, teacher="boosted", crossfit=2)
    with pytest.raises(TypeError, match=r"ExtMemQuantileDMatrix.*folds.*DMatrix"):
        pi_xgb.train(
            PARAMS, dtrain, 2, privileged=privileged, teacher="boosted", crossfit=2, labelled=np.arange(len(y)) % 2 == 0
        )
    with pytest.raises(TypeError, match=r"ExtMemQuantileDMatrix.*pickled"):
        pickle.dumps(pi_xgb.JointObjective(privileged))


# The full size takes minutes; it is also `python -m benchmarks.scale --external`.
FULL = pytest.param(
    "FULL", marks=pytest.mark.skipif("PI_XGB_LARGE" not in os.environ, reason="PI_XGB_LARGE=1 runs the large sizes")
)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the memory limit and its accounting are Linux's")
@pytest.mark.parametrize("size", ["SMALL", FULL])
def test_data_of_three_times_the_memory_limit_give_the_right_model(size):
    found = scale_external.run(**getattr(scale_external, size))
    # The limit bites: the same trainings do not fit into it with their data in memory.
    assert found["in_memory_under_the_limit"] == "failed"
    # The data are three times what the limit leaves for them; in the full size three times the limit itself.
    allowed = found["limited"]["limit_mib"] if size == "FULL" else found["room_mib"]
    assert found["data_mib"] >= 3 * allowed
    # Every model (both methods, both engines) is that of a process without a limit.
    assert found["largest_difference_of_margins"] <= 1e-5

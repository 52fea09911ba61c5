"""Trainings on CUDA, where a device is at hand; elsewhere, what is said when it is asked for, and CuPy's way."""

import contextlib
import subprocess
import sys
import types
import warnings
from functools import partial

import numpy as np
import pytest
import xgboost as xgb
from helpers_problems import BLENDED, CLASSES

import pi_xgb
from benchmarks import gpu
from pi_xgb.constraints import DemographicParity, EqualizedOdds, PredictiveParity

WHY_NOT = gpu.why_no_cuda()
on_cuda = pytest.mark.skipif(WHY_NOT is not None, reason=f"{WHY_NOT}")
with_cupy = pytest.mark.skipif(not gpu.has_cupy(), reason="CuPy is not installed, or finds no CUDA device")
# From the third round on XGBoost itself builds other trees of these rows on the device: of two nearly equal splits its
# sums in fixed point choose the other.
ROUNDS = 2
METHODS = {
    "kbpib": {"teacher": "boosted", "crossfit": 0, "teacher_sees": "privileged", "kl_weight": 2.0},
    "jpib": {"teacher": "boosted", "method": "jpib", "kl_weight": 2.0},
}
# Histograms on the device are summed in fixed point, which rounds otherwise than the CPU does.
ATOL = 1e-4


def rows(n_rows=2000, seed=0):
    """Rows without tied splits."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 5)).astype(np.float32)
    z = (x[:, :2] + rng.normal(size=(n_rows, 2))).astype(np.float32)
    y = (z.sum(axis=1) + rng.normal(size=n_rows) > 0).astype(np.float32)
    q = (1 / (1 + np.exp(-z.sum(axis=1)))).astype(np.float32)
    return x, z, y, q


def params_of(device="cuda", **more):
    params = {"objective": "binary:logistic", "max_depth": 3, "tree_method": "hist", "device": device, "seed": 1}
    return {**params, "nthread": 2, **more}


def margins(booster, x):
    # Models come back to machines without a device.
    booster.set_param({"device": "cpu"})
    return booster.predict(xgb.DMatrix(x), output_margin=True)


def assert_alike(found, expected):
    """The same model but for a few splits: cuts of few weighted rows lie elsewhere on the device."""
    apart = np.abs(found - expected)
    assert np.median(apart) < 0.03
    assert apart.mean() < 0.05


def train(device, engine, method, *, matrix=xgb.DMatrix, **more):
    x, z, y, _ = rows()
    dtrain, privileged = matrix(x, y), matrix(z, y)
    booster = pi_xgb.train(
        params_of(device, **more), dtrain, ROUNDS, privileged=privileged, engine=engine, **METHODS[method]
    )
    assert dtrain.get_label().tobytes() == y.tobytes()
    return margins(booster, x)


# --- with a device -----------------------------------------------------------------------------------------------


@on_cuda
@pytest.mark.parametrize("matrix", [xgb.DMatrix, xgb.QuantileDMatrix])
@pytest.mark.parametrize("more", [{}, {"scale_pos_weight": 2.0}, {"objective": "reg:squarederror"}])
@pytest.mark.parametrize("method", ["kbpib", "jpib"])
def test_all_engines_build_one_model_on_cuda(method, more, matrix):
    expected = train("cpu", "callback", method, matrix=matrix, **more)
    if method == "kbpib":
        np.testing.assert_allclose(train("cuda", "native", method, matrix=matrix, **more), expected, atol=ATOL)
    assert expected.std() > 0.01
    if gpu.has_cupy():
        np.testing.assert_allclose(train("cuda", "callback", method, matrix=matrix, **more), expected, atol=ATOL)
    with gpu.without_cupy():
        np.testing.assert_allclose(train("cuda", "callback", method, matrix=matrix, **more), expected, atol=ATOL)


@on_cuda
def test_without_a_teacher_it_is_xgboost_on_cuda():
    x, _, y, q = rows()
    ours = pi_xgb.train(params_of(), xgb.DMatrix(x, y), ROUNDS, teacher=q, kl_weight=0)
    plain = xgb.train(params_of(), xgb.DMatrix(x, y), ROUNDS)
    np.testing.assert_array_equal(margins(ours, x), margins(plain, x))


@on_cuda
def test_auto_is_native_on_cuda_where_that_is_exact():
    x, _, y, q = rows()
    dtrain = xgb.DMatrix(x, y)
    assert pi_xgb.train(params_of(), dtrain, 2, teacher=q).attr("pi_xgb_engine") == "native"
    watched = pi_xgb.train(params_of(), dtrain, 2, teacher=q, evals=[(dtrain, "train")], verbose_eval=False)
    assert watched.attr("pi_xgb_engine") == "callback"


@on_cuda
def test_classes_and_a_constraint_on_cuda():
    x, _, y, q = rows()
    two = np.stack([1 - q, q], axis=1)
    classes = params_of(objective="multi:softprob", num_class=2)
    booster = pi_xgb.train(classes, xgb.DMatrix(x, y), 10, teacher=two, kl_weight=1.0)
    assert np.isfinite(margins(booster, x)).all()
    group = (x[:, 0] > 0).astype(int)

    def gap(kl_weight):
        parity = DemographicParity(group)
        booster = pi_xgb.train(params_of(), xgb.DMatrix(x, y), 10, teacher=parity, kl_weight=kl_weight)
        shown = margins(booster, x)
        return abs(shown[group == 1].mean() - shown[group == 0].mean())

    # The constraint closes the gap between the groups on the device too.
    assert gap(10.0) < gap(0.0) / 2


@on_cuda
@pytest.mark.parametrize(
    ("teacher", "few"),
    [*((teacher, few) for teacher in ("boosted", "forest", "linear") for few in (False, True)), ("mixed", True)],
)
def test_every_kind_of_teacher_on_cuda(teacher, few):
    x, z, y, _ = rows()
    shown = []
    for device in ("cpu", "cuda"):
        booster = pi_xgb.train(
            params_of(device),
            xgb.DMatrix(x, y),
            ROUNDS,
            privileged=xgb.DMatrix(z, y),
            teacher=teacher,
            crossfit=0 if teacher == "boosted" else 5,
            teacher_sees="privileged",
            kl_weight=2.0,
            labelled=np.arange(len(y)) % 4 == 0 if few else None,
        )
        shown.append(margins(booster, x))
    # A forest grows on the CPU up to many rows, and so with the samples of the CPU. With all rows labelled, the 64 bins
    # of a mixture's booster lie elsewhere on a GPU.
    assert_alike(shown[1], shown[0])


@on_cuda
@pytest.mark.parametrize("cupy", [False, True])
@pytest.mark.parametrize("constraint", [DemographicParity, EqualizedOdds, PredictiveParity])
def test_constraints_are_the_same_on_cuda(constraint, cupy):
    x, _, y, _ = rows()
    group = (x[:, 0] > 0).astype(int)

    def shown(device):
        teacher = constraint(group)
        booster = pi_xgb.train(params_of(device), xgb.DMatrix(x, y), ROUNDS, teacher=teacher, kl_weight=2.0)
        return margins(booster, x)

    expected = shown("cpu")
    with contextlib.nullcontext() if cupy else gpu.without_cupy():
        assert_alike(shown("cuda"), expected)


@on_cuda
@with_cupy
def test_tables_of_cupy():
    import cupy

    x, z, y, _ = rows()
    estimator = pi_xgb.PrivilegedXGBClassifier(n_estimators=ROUNDS, device="cuda", max_depth=3)
    estimator.fit(cupy.asarray(x), cupy.asarray(y), privileged=cupy.asarray(z))
    on_host = pi_xgb.PrivilegedXGBClassifier(n_estimators=ROUNDS, max_depth=3).fit(x, y, privileged=z)
    np.testing.assert_allclose(margins(estimator.get_booster(), x), margins(on_host.get_booster(), x), atol=ATOL)


@on_cuda
@with_cupy
def test_cupy_computes_the_gradient_on_the_device():
    import cupy

    x, _, y, q = rows()
    dtrain = xgb.DMatrix(cupy.asarray(x), cupy.asarray(y))
    margin = np.linspace(-3, 3, len(y), dtype=np.float32)
    on_device = pi_xgb.KLObjective(q, 2.0, objective="binary:logistic", device="cuda")(margin, dtrain)
    on_host = pi_xgb.KLObjective(q, 2.0, objective="binary:logistic")(margin, dtrain)
    for there, here in zip(on_device, on_host, strict=True):
        assert isinstance(there, cupy.ndarray)
        np.testing.assert_allclose(there.get(), here, atol=1e-6)


# --- anywhere ----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(WHY_NOT is None, reason="a CUDA device is at hand")
@pytest.mark.parametrize(
    ("engine", "method"), [("auto", "kbpib"), ("callback", "kbpib"), ("native", "kbpib"), ("callback", "jpib")]
)
def test_cuda_asked_for_where_there_is_none(engine, method):
    if not xgb.build_info().get("USE_CUDA"):
        pytest.skip("a build without CUDA says it in its own words")
    # XGBoost's verbosity is the whole process's: another test may have lowered it.
    with xgb.config_context(verbosity=1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        requested = train("cuda", engine, method)
    # XGBoost says so in warnings and trains on the CPU; so do we, and the model is the CPU's.
    text = [str(warning.message) for warning in caught]
    assert any("No visible GPU is found" in message for message in text)
    assert all("GPU" in message for message in text)
    np.testing.assert_allclose(requested, train("cpu", "callback", method), atol=1e-5)


class DeviceArray(np.ndarray):
    """Stands in for an array of CuPy's: NumPy's arithmetic among its own, and no other way back than ``get``."""

    def get(self):
        return np.array(self)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if "out" in options:
            options["out"] = tuple(array.view(np.ndarray) for array in options["out"])
        function = partial(super().__array_ufunc__, ufunc, method, **options)
        return of_the_device(lambda *own: function(*(np.asarray(array)[()] for array in own)), *inputs)


def of_the_device(function, *arrays):
    """As CuPy calls a function: with its own arrays and with numbers, never with NumPy's arrays."""
    if any(type(array) is np.ndarray for array in arrays):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    return np.asarray(function(*arrays)).view(DeviceArray)


def cupy_on(available):
    """What of CuPy the losses use."""
    cupy = types.ModuleType("cupy")
    cupy.cuda = types.SimpleNamespace(is_available=lambda: available)
    cupy.ndarray = DeviceArray
    cupy.asarray = lambda array: np.asarray(array).view(DeviceArray)
    cupy.get_array_module = lambda array: cupy if isinstance(array, DeviceArray) else np
    cupy.where = partial(of_the_device, np.where)
    cupy.clip = partial(of_the_device, np.clip)
    for name in ("negative", "minimum", "maximum", "exp", "divide", "zeros_like", "ones_like", "arange"):
        setattr(cupy, name, getattr(np, name))
    return cupy


@pytest.mark.parametrize("objective", BLENDED)
def test_with_cupy_the_gradient_stays_on_the_device_and_is_the_same(monkeypatch, objective):
    x, _, y, q = rows(300)
    seen = []

    class Curious(pi_xgb.Teacher):
        def q(self, mean, label, weight):
            seen.extend([mean, label, weight])
            return np.array(mean)

    margin = np.random.default_rng(1).normal(size=len(y)).astype(np.float32)
    if objective in CLASSES:
        q, margin = np.stack([1 - q, q], axis=1), np.stack([margin, -margin], axis=1)
    dtrain = xgb.DMatrix(x, y + (objective == "reg:gamma"), weight=np.linspace(0.5, 2, len(y)))
    rng = np.random.default_rng(2)
    labelled, counts = rng.random(len(y)) < 0.5, rng.choice([0.0, 0.5, 2.0], len(y))
    teachers = [(q, counts), (Curious(), 1.0)]
    on_host = pi_xgb.KLObjective(teachers, objective=objective, labelled=labelled)(margin, dtrain)
    seen.clear()
    monkeypatch.setitem(sys.modules, "cupy", cupy_on(available=True))
    on_device = pi_xgb.KLObjective(teachers, objective=objective, labelled=labelled, device="cuda")(margin, dtrain)
    for there, here in zip(on_device, on_host, strict=True):
        assert isinstance(there, DeviceArray)
        np.testing.assert_array_equal(there.get(), here)
    # Teachers are written for host memory.
    assert len(seen) == 3
    assert not any(isinstance(array, DeviceArray) for array in seen)


@on_cuda
@pytest.mark.parametrize("method", ["kbpib", "jpib"])
def test_rows_without_labels_on_cuda(method):
    x, z, y, _ = rows()
    guided = {**METHODS[method], "labelled": np.arange(len(y)) % 3 == 0}
    shown = []
    engines = ("callback", "native") if method == "kbpib" else ("callback",)
    for device, engine in (("cpu", "callback"), *(("cuda", engine) for engine in engines)):
        dtrain, privileged = xgb.DMatrix(x, y), xgb.DMatrix(z, y)
        booster = pi_xgb.train(params_of(device), dtrain, ROUNDS, privileged=privileged, engine=engine, **guided)
        shown.append(margins(booster, x))
    for found in shown[1:]:
        assert_alike(found, shown[0])
        np.testing.assert_allclose(found, shown[1], atol=ATOL)


@pytest.mark.slow
def test_the_benchmark_says_why_it_measures_nothing():
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu", "--smoke"], capture_output=True, text=True, check=False, timeout=300
    )
    assert answer.returncode == 0, answer.stderr
    assert ("nothing measured" in answer.stdout) == (WHY_NOT is not None)

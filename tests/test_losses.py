"""The losses against differences, against their definition, against themselves, for every entry of the registry."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers_problems import OBJECTIVES, OF_TARGETS, engines_of, mean_of
from hypothesis import given
from hypothesis import strategies as st

from pi_xgb._core.blend import Distillation
from pi_xgb._core.losses import LOSSES, Loss
from pi_xgb._core.training import Teacher

N_CLASSES = 4
EPS = float(np.finfo(np.float32).eps)


# The definition of each loss in float64, up to a constant in the margin, written down apart from the package.
# A new entry of the registry fails test_every_loss_has_a_reference until it has one here.
def sigmoid(f: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + np.tanh(f / 2))


REFERENCE_MEAN = {
    "binary:logistic": sigmoid,
    "binary:logitraw": sigmoid,
    "reg:logistic": sigmoid,
    "count:poisson": np.exp,
    "reg:gamma": np.exp,
    "reg:tweedie": np.exp,
    "reg:squarederror": lambda f: f,
    "multi:softprob": lambda f: np.exp(f - np.logaddexp.reduce(f, axis=1, keepdims=True)),
    "multi:softmax": lambda f: np.exp(f - np.logaddexp.reduce(f, axis=1, keepdims=True)),
}
every_loss = pytest.mark.parametrize("name", sorted(name for name in LOSSES if LOSSES[name].has_gradient))


def shape_of(loss: Loss, n: int) -> tuple[int, ...]:
    return (n, N_CLASSES) if loss.multiclass else (n,)


def draw_margins(loss: Loss, n: int = 40, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(scale=2, size=shape_of(loss, n)).astype(np.float32)


def extreme_margins(loss: Loss) -> np.ndarray:
    """Every mixture of 0, +-20 and +-1e3, and +-16 to 18, where p (1 - p) underflows in float32.

    The exponential has no use for margins of 1e3, see test_beyond_60_an_exponential_stays.
    """
    values = np.array([0, 16, 17, 18, 20, *([50] if loss.has_exposure else [90, 1e3])], np.float32)
    values = np.concatenate([values, -values[1:]])
    if not loss.multiclass:
        return values
    rows = np.stack(np.meshgrid(values, values, indexing="ij"), axis=-1).reshape(-1, 2)
    return np.concatenate([rows, rows[:, ::-1] / 2], axis=1).astype(np.float32)


def draw_targets(loss: Loss, n: int, seed: int = 1) -> np.ndarray:
    """Any target a teacher could ask for, the ends of the range included."""
    rng = np.random.default_rng(seed)
    if loss.multiclass:
        target = rng.dirichlet(np.full(N_CLASSES, 0.5), n)
        target[0] = np.eye(N_CLASSES)[1]
    elif loss.probabilities:
        target = np.concatenate([[0.0, 1.0], rng.random(n - 2)])
    elif loss.has_exposure:
        target = np.concatenate([[0.0, 1.0], rng.gamma(1.0, 3.0, n - 2)]) + 0.01 * (loss.range.low > 0)
    else:
        target = rng.normal(scale=3, size=n)
    return target.astype(np.float32)


def draw_labels(loss: Loss, n: int, seed: int = 2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if loss.multiclass:
        return rng.integers(0, N_CLASSES, n).astype(np.float32)
    if loss.has_exposure:
        return (rng.poisson(2.0, n) + 0.5 * (loss.range.low > 0)).astype(np.float32)
    return rng.integers(0, 2, n).astype(np.float32) if loss.probabilities else rng.normal(size=n).astype(np.float32)


def difference(function: Any, margin: np.ndarray, step: float) -> np.ndarray:
    """Central differences of a function of the margin, in each of its entries, in float64."""
    f = margin.astype(np.float64)
    if f.ndim == 1:
        return (function(f + step) - function(f - step)) / (2 * step)
    columns = []
    for k in range(f.shape[1]):
        shift = np.zeros(f.shape[1])
        shift[k] = step
        columns.append((function(f + shift) - function(f - shift)) / (2 * step))
    return np.stack(columns, axis=1)


def size_of(loss: Loss, mean: np.ndarray, target: np.ndarray) -> np.ndarray:
    """How large the numbers are that a gradient is made of."""
    return np.maximum(np.maximum(1, np.abs(mean)), 4 * loss.curvature(mean, target) if loss.has_exposure else 0)


def rounding_of(loss: Loss, mean: np.ndarray, target: np.ndarray) -> np.ndarray:
    """What float32 loses when it subtracts them."""
    return EPS * size_of(loss, mean, target)


def blend(loss: Loss, label: Any, weighted_targets: list[tuple[Any, float]], like: Any) -> tuple[Any, Any]:
    """The blended target of pairs (q, weight), and what labels and teachers weigh together."""
    guides = [SimpleNamespace(teacher=Teacher(), weight=weight) for _, weight in weighted_targets]
    rows = {"label": label, "labelled": None, "weight": None, "like": like}
    training: Any = SimpleNamespace(spec=SimpleNamespace(loss=loss, device="cpu"), guides=guides, **rows)
    distillation = Distillation(training)
    return distillation.blended([q for q, _ in weighted_targets]), distillation.factor


def column(factor: Any, like: np.ndarray) -> Any:
    return np.asarray(factor)[:, None] if like.ndim == 2 and np.ndim(factor) == 1 else factor


@pytest.fixture(autouse=True)
def no_floating_point_trouble():
    # Overflow, division by zero and NaN are errors in every test here, not only where a warning would show.
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        yield


def test_every_objective_is_tested():
    # A new entry of the registry is held against a definition here, and against stacked rows in test_stacked_rows.
    # Expectiles, which XGBoost has from 3.3 on, are in test_soft_labels.
    assert set(LOSSES) == {*OBJECTIVES, "reg:expectileerror"}
    assert {name for name in OBJECTIVES if not LOSSES[name].has_gradient} == {
        name for name in OBJECTIVES if engines_of(name) == ("copies",)
    }
    assert set(REFERENCE_MEAN) == {name for name in OBJECTIVES if "callback" in engines_of(name)}
    assert {name for name, loss in LOSSES.items() if loss.takes_targets} == set(OF_TARGETS)


@every_loss
def test_mean_is_the_one_of_the_definition(name):
    loss = LOSSES[name]
    for margin in (draw_margins(loss), extreme_margins(loss)):
        expected = REFERENCE_MEAN[name](margin.astype(np.float64))
        np.testing.assert_allclose(loss.mean(margin), expected, rtol=1e-5, atol=1e-30)
        np.testing.assert_allclose(loss.mean(margin), mean_of(name, margin), rtol=1e-6)


@every_loss
@pytest.mark.parametrize("margins", [draw_margins, extreme_margins])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient_is_the_slope_of_the_loss(name, margins, weighted):
    loss = LOSSES[name]
    margin = margins(loss)
    target = draw_targets(loss, len(margin))
    factor = np.random.default_rng(3).uniform(0.1, 5, len(margin)).astype(np.float32) if weighted else np.float32(1.5)
    grad, _ = loss.gradient(loss.mean(margin), target, factor)
    slope = difference(lambda f: loss.value(f, target.astype(np.float64)), margin, 1e-4)
    # The gradient is the derivative of factor times the loss; what float32 rounds away is all that may be missing.
    bound = 1e-6 + 4 * rounding_of(loss, loss.mean(margin), target)
    assert (np.abs(grad / column(factor, grad) - slope) <= bound).all()


@every_loss
@pytest.mark.parametrize("margins", [draw_margins, extreme_margins])
def test_hessian_is_the_slope_of_the_gradient(name, margins):
    loss = LOSSES[name]
    step = 2.0**-6
    margin = np.round(margins(loss) / step) * np.float32(step)  # so that margin + step is exact in float32
    target = draw_targets(loss, len(margin))
    factor = np.random.default_rng(3).uniform(0.1, 5, len(margin)).astype(np.float32)

    def own_entry(k: int | None) -> np.ndarray:
        def gradient(f: np.ndarray) -> np.ndarray:
            grad, _ = loss.gradient(loss.mean(f.astype(np.float32)), target, factor)
            return grad.astype(np.float64) if k is None else grad[:, k].astype(np.float64)

        slope = difference(gradient, margin, step)
        return slope if k is None else slope[:, k]

    slope = np.stack([own_entry(k) for k in range(N_CLASSES)], axis=1) if loss.multiclass else own_entry(None)
    # XGBoost doubles the diagonal of the softmax's Hessian, and takes that of a count further on.
    times = 2 if loss.multiclass else np.exp(0.7) if name == "count:poisson" else 1
    _, hess = loss.gradient(loss.mean(margin), target, factor)
    assert (hess >= column(factor, hess) * np.float32(1e-16)).all()
    mean = loss.mean(margin)
    bound = 1e-5 + 2 * rounding_of(loss, mean, target) / step
    if loss.has_exposure:  # a difference over a step is no slope where the curve grows on and on
        bound = bound + size_of(loss, mean, target) * step**2
    assert (np.abs(hess - times * slope) / column(factor, hess) <= bound).all()


@every_loss
def test_nothing_overflows_and_no_row_loses_its_hessian(name):
    loss = LOSSES[name]
    margin = extreme_margins(loss)
    for target in (draw_targets(loss, len(margin)), np.full(margin.shape, max(loss.range.low, 0), np.float32)):
        grad, hess = loss.gradient(loss.mean(margin), target, np.float32(1))
        assert np.isfinite(grad).all()
        assert np.isfinite(hess).all()
        assert hess.min() >= np.float32(1e-16)


@pytest.mark.parametrize("name", [name for name, loss in LOSSES.items() if loss.has_exposure])
def test_beyond_60_an_exponential_stays(name):
    # XGBoost goes on to infinity, which ends in NaN; nobody expects e^60 of anything.
    loss, margin = LOSSES[name], np.array([-1e3, -60, 60, 1e3], np.float32)
    mean = loss.mean(margin)
    np.testing.assert_array_equal(mean[::3], mean[1:3])
    np.testing.assert_allclose(mean[1:3], np.exp([-60, 60]), rtol=1e-6)
    for value in loss.gradient(mean, np.ones(4, np.float32), np.float32(1e9)):
        assert np.isfinite(value).all()


def test_a_mean_whose_logarithm_is_the_label_stays_above_minus_1():
    mean = LOSSES["reg:squaredlogerror"].mean(np.array([-3, -1, -0.5, 5], np.float32))
    np.testing.assert_array_equal(mean, np.float32([1e-6 - 1, 1e-6 - 1, -0.5, 5]))


def test_params_that_enter_a_gradient_are_read():
    mean, target = np.array([2, 3], np.float32), np.array([1, 4], np.float32)
    wide = LOSSES["count:poisson"].with_params({"max_delta_step": "1.5"})
    np.testing.assert_allclose(wide.curvature(mean, target), mean * np.exp(1.5), rtol=1e-6)
    power = LOSSES["reg:tweedie"].with_params({"tweedie_variance_power": 1.2})
    np.testing.assert_allclose(power.slope(mean, target), mean**0.8 - target * mean**-0.2, rtol=1e-5)
    least = LOSSES["reg:tweedie"].with_params({"tweedie_variance_power": 1})  # Poisson's
    np.testing.assert_allclose(least.value(np.log(mean), target), mean - target * np.log(mean), rtol=1e-5)
    assert power.default_metric == "tweedie-nloglik@1.2"
    # The registry stays as it is.
    assert LOSSES["reg:tweedie"].default_metric == "tweedie-nloglik@1.5"
    with pytest.raises(TypeError, match=r"max_delta_step.*number.*'wide'"):
        LOSSES["count:poisson"].with_params({"max_delta_step": "wide"})


@every_loss
def test_blending_is_the_loss_plus_the_divergence_from_every_teacher(name):
    loss = LOSSES[name]
    n, label = 40, draw_labels(LOSSES[name], 40)
    q1, q2 = draw_targets(loss, n, seed=5), draw_targets(loss, n, seed=6)
    like = np.zeros(shape_of(loss, n), np.float32)
    target, total = blend(loss, label, [(q1, 0.7), (q2, 2.5)], like)
    y = loss.one_hot(label, like).astype(np.float64)

    def objective(margin: np.ndarray) -> np.ndarray:
        # a KL(q || p) is a value(f, q) plus a constant in f; for squared error a (f - q)^2 / 2 likewise.
        return loss.value(margin, y) + 0.7 * loss.value(margin, q1) + 2.5 * loss.value(margin, q2)

    at_one, at_two = draw_margins(loss, n, seed=7), draw_margins(loss, n, seed=8)
    blended = total * (loss.value(at_one, target) - loss.value(at_two, target))
    # Between any two margins, the blended loss changes as the sum of the loss and the weighted divergences does.
    np.testing.assert_allclose(blended, objective(at_one) - objective(at_two), rtol=1e-5, atol=1e-5)
    assert total == np.float32(1 + 0.7 + 2.5)


@every_loss
@given(seed=st.integers(0, 2**31), weights=st.lists(st.floats(0, 50), max_size=4), scale=st.floats(0, 5))
def test_the_identity_that_everything_rests_on(name, seed, weights, scale):
    loss, n = LOSSES[name], 15
    margin, label = draw_margins(loss, n, seed), draw_labels(loss, n, seed)
    p = loss.mean(margin)
    weighted_targets = [(draw_targets(loss, n, seed + k), a) for k, a in enumerate(weights)]
    row_weight = (scale * np.random.default_rng(seed).random(n)).astype(np.float32)
    target, total = blend(loss, label, weighted_targets, p)
    grad, hess = loss.gradient(p, target, np.float32(total) * row_weight)

    p64, y = p.astype(np.float64), loss.one_hot(label, p).astype(np.float64)
    plain = loss.slope(p64, y) + sum(a * loss.slope(p64, q) for q, a in weighted_targets)
    w = column(row_weight.astype(np.float64), p)
    # (p - y) + sum_k a_k (p - q_k) = (1 + sum_k a_k) (p - t), times the row's weight.
    size = max(1.0, *[float(np.abs(q).max()) for q, _ in weighted_targets], float(size_of(loss, p, target).max()))
    np.testing.assert_allclose(grad, w * plain, rtol=1e-5, atol=20 * EPS * size * total * max(scale, 1e-30))
    # The Hessian is (1 + sum_k a_k) w times that of a row of weight 1.
    alone = np.maximum(loss.curvature(p, target).astype(np.float64), 1e-16)
    np.testing.assert_allclose(hess, total * w * alone, rtol=1e-5, atol=1e-37)


@every_loss
@pytest.mark.parametrize("teachers", [0, 1, 2])
def test_weight_zero_is_the_plain_gradient_to_the_bit(name, teachers):
    loss = LOSSES[name]
    margin, label = draw_margins(loss), draw_labels(LOSSES[name], 40)
    p = loss.mean(margin)
    q = draw_targets(loss, len(p))
    target, total = blend(loss, label, [(q, 0.0)] * teachers, p)
    grad, hess = loss.gradient(p, target, np.float32(total))
    np.testing.assert_array_equal(grad, loss.slope(p, loss.one_hot(label, p)))
    np.testing.assert_array_equal(hess, np.maximum(loss.curvature(p, target), np.float32(1e-16)))
    # A weight on the rows multiplies both, to the bit.
    weight = np.random.default_rng(0).uniform(0.5, 2, len(p)).astype(np.float32)
    weighted_grad, weighted_hess = loss.gradient(p, target, np.float32(total) * weight)
    np.testing.assert_array_equal(weighted_grad, grad * column(weight, grad))
    np.testing.assert_array_equal(weighted_hess, hess * column(weight, hess))


@every_loss
def test_margin_of_inverts_mean(name):
    loss = LOSSES[name]
    margin = draw_margins(loss).astype(np.float64)
    mean = REFERENCE_MEAN[name](margin)
    # A margin for classes is known up to a constant per row, and is given back centred.
    known = margin - margin.mean(axis=1, keepdims=True) if loss.multiclass else margin
    np.testing.assert_allclose(loss.margin_of(mean), known, atol=1e-9)
    np.testing.assert_allclose(loss.mean(loss.margin_of(mean)), mean, rtol=1e-6)


@every_loss
def test_predict_is_what_xgboost_shows(name):
    loss = LOSSES[name]
    margin = draw_margins(loss)
    shown = loss.predict(margin)
    if name == "multi:softmax":
        # multi:softmax shows class numbers, binary:logitraw margins, the others their mean.
        np.testing.assert_array_equal(shown, margin.argmax(axis=1))
    elif name == "binary:logitraw":
        np.testing.assert_array_equal(shown, margin)
    else:
        np.testing.assert_array_equal(shown, loss.mean(margin))
    assert shown.dtype == np.float32


def test_shares_of_classes_are_divided_by_a_sum_in_double_precision():
    # In single precision 1 stays 1 when less than half its last digit is added, however often.
    margin = np.log(np.array([[1, 0.99 * 2**-24, 0.99 * 2**-24]])).astype(np.float32)
    assert LOSSES["multi:softprob"].mean(margin)[0, 0] == 1 - 2**-23


@every_loss
def test_results_are_fresh_arrays_of_float32(name):
    loss = LOSSES[name]
    margin, label, q = draw_margins(loss), draw_labels(loss, 40), draw_targets(loss, 40)
    p, factor = loss.mean(margin), np.full(40, 2, np.float32)
    inputs = [margin, label, q, factor, p]
    before = [array.copy() for array in inputs]
    target, _ = blend(loss, label, [(q, 0.5), (q, 1.5)], p)
    shown = [loss.mean(margin), loss.predict(margin), loss.one_hot(label, p)]
    results = [*shown, target, *loss.gradient(p, target, factor)]
    # XGBoost would convert, and a float64 intermediate costs memory and bits.
    assert {result.dtype for result in results} == {np.dtype(np.float32)}
    for array, copy in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(array, copy)
    assert not any(np.shares_memory(result, array) for result in results for array in inputs)

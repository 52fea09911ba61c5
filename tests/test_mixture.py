"""How much each member of a mixed teacher counts, and its temperature, against searches of all values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pi_xgb._core.learners.mixture import Mixture, RelativeLoss, fit_temperature, tempered
from pi_xgb._core.losses import LOSSES

N_CLASSES = 3
WITH_MEAN = sorted(name for name, loss in LOSSES.items() if loss.has_gradient)
OF_PROBABILITIES = [name for name in WITH_MEAN if LOSSES[name].probabilities]
OF_TARGETS = [name for name in WITH_MEAN if LOSSES[name].takes_targets]
AMOUNTS = [name for name in WITH_MEAN if LOSSES[name].has_exposure]
every_shape = pytest.mark.parametrize(
    ("name", "n_targets"), [(name, 0) for name in WITH_MEAN] + [(name, 2) for name in OF_TARGETS]
)


def cross_entropy(q: np.ndarray, y: np.ndarray) -> np.ndarray:
    return -(y * np.log(q) + (1 - y) * np.log1p(-q))


# The deviance of each loss by its definition on the scale of the mean: 0 where the prediction is the label.
REFERENCE = {
    "binary:logistic": cross_entropy,
    "binary:logitraw": cross_entropy,
    "reg:logistic": cross_entropy,
    "multi:softprob": lambda q, y: -np.log((q * y).sum(axis=1)),
    "multi:softmax": lambda q, y: -np.log((q * y).sum(axis=1)),
    "reg:squarederror": lambda q, y: (y - q) ** 2,
    "count:poisson": lambda q, y: q - y + y * np.log(np.maximum(y, 1) / q),
    "reg:gamma": lambda q, y: np.log(q / y) + y / q - 1,
    "reg:tweedie": lambda q, y: 2 * np.sqrt(q) + 2 * y / np.sqrt(q) - 4 * np.sqrt(y),
}


def members(
    name: str, n: int, seed: int, n_targets: int = 0, n_members: int = 3
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Labels, and means of members of which the first is the best, in float32."""
    rng, loss = np.random.default_rng(seed), LOSSES[name]
    shape = (n, N_CLASSES) if loss.multiclass else (n, n_targets) if n_targets else (n,)
    margin = rng.normal(size=shape)
    mean = loss.mean(margin)
    if loss.multiclass:
        label = np.array([rng.choice(N_CLASSES, p=row / row.sum()) for row in mean.astype(np.float64)])
        label[:N_CLASSES] = np.arange(N_CLASSES)
    elif loss.probabilities:
        label = rng.random(shape) < mean
        label[0], label[1] = 0, 1
    elif name == "reg:gamma":
        label = rng.gamma(2, mean / 2)
    elif loss.has_exposure:
        label = rng.poisson(mean)
        label[0] = 1
    else:
        label = margin + rng.normal(size=shape)
    noise = [rng.normal(scale=0.4 + 0.4 * k, size=shape) for k in range(n_members)]
    return label.astype(np.float32), [loss.mean(margin + each).astype(np.float32) for each in noise]


def mixture_weights(*given) -> np.ndarray:
    return Mixture.fitted(*given).weights


def reference(name: str, label: np.ndarray, weight: np.ndarray, means: list[np.ndarray], weights: np.ndarray) -> float:
    """The criterion by its definition."""
    target = LOSSES[name].one_hot(label, means[0]).astype(np.float64)
    mixed = sum(w * mean.astype(np.float64) for w, mean in zip(weights, means, strict=True))
    constant = np.broadcast_to(np.average(target, axis=0, weights=weight), target.shape)
    lost, room = (np.average(REFERENCE[name](q, target), axis=0, weights=weight) for q in (mixed, constant))
    n_rows = weight.sum() ** 2 / (weight**2).sum()
    return float(np.mean(lost / room) + ((weights - 1 / len(means)) ** 2).sum() / np.sqrt(n_rows))


def simplex(n_members: int, steps: int) -> np.ndarray:
    grid = itertools.product(range(steps + 1), repeat=n_members)
    return np.array([point for point in grid if sum(point) == steps]) / steps


@every_shape
@pytest.mark.parametrize("n", [30, 300])
def test_no_point_of_the_simplex_is_better(name, n_targets, n):
    label, means = members(name, n, seed=n, n_targets=n_targets)
    weight = np.random.default_rng(1).uniform(0.2, 2, n)
    found = mixture_weights(LOSSES[name], label, weight.astype(np.float32), means)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    best = min(reference(name, label, weight, means, point) for point in simplex(3, 25))
    assert reference(name, label, weight, means, found) <= best + 1e-5


def test_targets_of_several_scales_count_the_same():
    label, means = members("reg:squarederror", 80, seed=0, n_targets=2)
    units = np.array([1, 1e4], np.float32)
    loss = LOSSES["reg:squarederror"]
    found = mixture_weights(loss, label, None, means)
    np.testing.assert_allclose(mixture_weights(loss, label * units, None, [m * units for m in means]), found, atol=1e-3)
    # A target of one value has nothing to learn, whatever its value where the weight is 0.
    label[1:, 1] = 5.1
    weight = np.random.default_rng(4).random(80, np.float32)
    weight[0] = 0
    alone = mixture_weights(loss, label[:, 0], weight, [mean[:, 0] for mean in means])
    np.testing.assert_allclose(mixture_weights(loss, label, weight, means), alone, atol=1e-3)


@pytest.mark.parametrize("name", AMOUNTS)
def test_the_unit_of_amounts_changes_no_weight(name):
    label, means = members(name, 80, seed=0)
    loss, unit = LOSSES[name], np.float32(2.0**-40)
    found = mixture_weights(loss, label, None, means)
    np.testing.assert_allclose(mixture_weights(loss, label * unit, None, [m * unit for m in means]), found, atol=1e-3)


@pytest.mark.parametrize("name", WITH_MEAN)
def test_the_best_member_counts_the_more_the_more_rows_there_are(name):
    shares = []
    for n in (20, 4000):
        label, means = members(name, n, seed=3)
        loss = LOSSES[name]
        constant = np.empty_like(means[0])
        constant[:] = loss.one_hot(label, means[0]).mean(axis=0)
        shares.append(mixture_weights(loss, label, None, [means[0], constant])[0])
    assert shares[1] > 0.75
    assert shares[1] > shares[0]


@pytest.mark.parametrize("name", ["binary:logistic", "multi:softprob", *AMOUNTS])
def test_a_member_at_the_ends_of_the_range_may_be_wrong(name):
    loss = LOSSES[name]
    label, means = members(name, 200, seed=0)
    certain = np.zeros_like(means[0])
    if loss.multiclass:
        certain[:, 0] = 1
    found = mixture_weights(loss, label, None, [certain, means[0]])
    assert found[1] > 0.8
    # The same at the other end.
    if name == "binary:logistic":
        assert mixture_weights(loss, label, None, [1 - certain, means[0]])[1] > 0.8
    alone = mixture_weights(loss, label, None, [certain, certain])
    np.testing.assert_allclose(alone, 0.5, atol=1e-6)


def deviance(name: str, label: np.ndarray, weight: np.ndarray, margin: np.ndarray, temperature: float) -> float:
    """The criterion of a temperature by its definition."""
    loss = LOSSES[name]
    target = loss.one_hot(label, margin).astype(np.float64)
    constant = np.broadcast_to(np.average(target, axis=0, weights=weight), target.shape)
    mean = loss.mean(margin.astype(np.float64) / temperature)
    lost, room = (np.average(REFERENCE[name](q, target), weights=weight) for q in (mean, constant))
    return float(lost / room + 3 * np.log(temperature) ** 2 * np.sqrt((weight**2).sum()) / weight.sum())


@pytest.mark.parametrize("name", OF_PROBABILITIES)
@pytest.mark.parametrize("factor", [0.3, 1.0, 3.0])
def test_no_temperature_is_better(name, factor):
    label, means = members(name, 200, seed=0)
    loss = LOSSES[name]
    margin = loss.margin_of(means[0].astype(np.float64)) * factor
    weight = np.random.default_rng(1).uniform(0.2, 2, 200)
    mean = loss.mean(margin).astype(np.float32)
    found = fit_temperature(RelativeLoss(loss, label, weight.astype(np.float32), mean), mean)
    best = min(deviance(name, label, weight, margin, each) for each in np.geomspace(0.25, 4, 200))
    assert deviance(name, label, weight, margin, found) <= best + 1e-4
    assert fit_temperature(RelativeLoss(loss, label, weight * 1e3, mean), mean) == pytest.approx(found, rel=1e-3)


@pytest.mark.parametrize(("factor", "temperature"), [(0.1, 0.25), (10.0, 4.0)])
def test_a_temperature_is_a_quarter_at_least_and_four_at_most(factor, temperature):
    label, means = members("binary:logistic", 40_000, seed=0)
    loss = LOSSES["binary:logistic"]
    mean = loss.mean(loss.margin_of(means[0].astype(np.float64)) * factor).astype(np.float32)
    assert fit_temperature(RelativeLoss(loss, label, None, mean), mean) == pytest.approx(temperature, rel=1e-3)


@pytest.mark.parametrize("name", OF_PROBABILITIES)
def test_a_temperature_divides_margins(name):
    _, means = members(name, 50, seed=0)
    loss = LOSSES[name]
    assert tempered(loss, means[0], 1.0) is means[0]
    margin = loss.margin_of(means[0].astype(np.float64))
    found = tempered(loss, means[0], 2.5)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, loss.mean(margin / 2.5), atol=1e-6)
    ends = np.zeros_like(means[0])
    ends[::2] = 1
    for temperature in (0.25, 4):
        found = tempered(loss, ends, temperature)
        assert loss.range.holds(found.min(), found.max())


def test_other_means_and_labels_of_one_value_have_no_temperature():
    label, means = members("count:poisson", 50, seed=0)
    assert Mixture.fitted(LOSSES["count:poisson"], label, None, means).temperature == 1
    _, means = members("binary:logistic", 50, seed=0)
    alike = Mixture.fitted(LOSSES["binary:logistic"], np.ones(50, np.float32), None, means)
    assert alike.temperature == 1
    np.testing.assert_allclose(alike.weights, 1 / len(means))

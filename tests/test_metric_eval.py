"""Losses and metrics of means that no booster predicted."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb

from pi_xgb._core.losses import LOSSES
from pi_xgb._core.metric_eval import eval_of_means, loss_name, margins_of, mean_loss

N = 60
RNG = np.random.default_rng(0)
WEIGHT = RNG.uniform(0.2, 2, N)
CASES = {
    "binary:logistic": (RNG.integers(0, 2, N), RNG.random(N)),
    "multi:softprob": (RNG.integers(0, 3, N), RNG.dirichlet(np.ones(3), N)),
    "reg:squarederror": (RNG.normal(size=N), RNG.normal(size=N)),
    "reg:squarederror of two": (RNG.normal(size=(N, 2)), RNG.normal(size=(N, 2))),
}
every_case = pytest.mark.parametrize("case", CASES)


def of(case):
    label, q = (part.astype(np.float32) for part in CASES[case])
    return case.partition(" ")[0], label, q


@every_case
@pytest.mark.parametrize("weight", [None, np.empty(0), WEIGHT])
def test_the_loss_of_q_is_that_of_its_definition(case, weight):
    objective, label, q = of(case)
    weights = weight if weight is not None and len(weight) else None
    if objective == "reg:squarederror":  # of several targets XGBoost takes one mean over all
        squares = (label - q) ** 2
        squares = squares.mean(axis=1) if label.ndim == 2 else squares
        expected = np.sqrt(np.average(squares, weights=weights))
    else:
        shares = q / q.sum(axis=1, keepdims=True) if q.ndim == 2 else np.stack([1 - q, q], axis=1)
        own = shares[np.arange(N), label.astype(int)].astype(float)
        expected = np.average(-np.log(own), weights=weights)
    assert mean_loss(LOSSES[objective], q, label, weight) == pytest.approx(expected, rel=1e-5)
    assert mean_loss(LOSSES[objective], q, label, np.full(N, 1e-3)) == pytest.approx(
        mean_loss(LOSSES[objective], q, label, None), rel=1e-6
    )
    assert np.isnan(mean_loss(LOSSES[objective], q, label, np.zeros(N)))


@every_case
@pytest.mark.parametrize("weighted", [False, True])
def test_xgboost_says_the_same_of_it(case, weighted):
    objective, label, q = of(case)
    params = {"objective": objective, "nthread": 1} | ({"num_class": 3} if objective.startswith("multi") else {})
    matrix = xgb.DMatrix(np.zeros((N, 1)), label, weight=WEIGHT if weighted else None)
    text = eval_of_means(q, matrix, params, LOSSES[objective])
    loss = mean_loss(LOSSES[objective], q, label, WEIGHT if weighted else None)
    assert float(text.rpartition(":")[2]) == pytest.approx(loss, rel=1e-5)
    metric = "merror" if "num_class" in params else "mae"
    other = eval_of_means(q, matrix, params | {"eval_metric": metric, "max_depth": 2}, LOSSES[objective])
    assert other.startswith(f"[0]\tq-{metric}:")


def test_certain_probabilities_have_a_margin():
    loss = LOSSES["binary:logistic"]
    margin = margins_of(np.array([0, 0.5, 1], np.float32), loss)
    np.testing.assert_allclose(margin, [-16.1, 0, 15.9], atol=0.3)
    assert margin.dtype == np.float32
    certain = mean_loss(loss, np.array([0, 1], np.float32), np.array([0, 1], np.float32), None)
    assert 0 <= certain < 1e-6


DEVIANCES = {"count:poisson": 1, "reg:gamma": 2, "reg:tweedie": 1.5}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("objective", DEVIANCES)
def test_of_counts_and_costs_it_is_the_deviance(objective, weighted):
    metrics = pytest.importorskip("sklearn.metrics")
    label = RNG.poisson(2.0, N).astype(np.float32) + np.float32(objective == "reg:gamma")
    q, weight = RNG.gamma(2, 1, N).astype(np.float32), WEIGHT if weighted else None
    expected = metrics.mean_tweedie_deviance(label, q, sample_weight=weight, power=DEVIANCES[objective])
    assert mean_loss(LOSSES[objective], q, label, weight) == pytest.approx(expected, rel=1e-5)
    assert loss_name(LOSSES[objective]) == "deviance"


@pytest.mark.parametrize("objective", ["reg:logistic", "binary:logitraw"])
def test_of_every_probability_it_is_the_log_loss(objective):
    label, q = (part.astype(np.float32) for part in CASES["binary:logistic"])
    expected = mean_loss(LOSSES["binary:logistic"], q, label, WEIGHT)
    assert mean_loss(LOSSES[objective], q, label, WEIGHT) == expected
    assert loss_name(LOSSES[objective]) == "log loss"

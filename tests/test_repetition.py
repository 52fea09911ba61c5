"""Whether a teacher repeats labels: what its loss is, and from where on it is told of."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import xgboost as xgb

from pi_xgb._core import repetition
from pi_xgb._core.losses import LOSSES
from pi_xgb._core.metric_eval import eval_of_means, margins_of
from pi_xgb._core.repetition import mean_loss, warn_of_repetition
from pi_xgb._core.spec import Spec

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
    told = eval_of_means(q, matrix, params, LOSSES[objective])
    loss = mean_loss(LOSSES[objective], q, label, WEIGHT if weighted else None)
    assert float(told.rpartition(":")[2]) == pytest.approx(loss, rel=1e-5)
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


def told_of(q, label, weight=None, n_rounds=20, objective="reg:squarederror", others=1.0, monkeypatch=None):
    """Whether a warning comes, and how often another teacher was trained."""
    trained = []
    monkeypatch.setattr(repetition, "_loss_on_others", lambda *_: trained.append(1) or others)
    matrix = xgb.DMatrix(np.zeros((len(label), 1)), label)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        weight = np.empty(0) if weight is None else weight
        warn_of_repetition(Spec.read({"objective": objective}), matrix, weight, q.astype(np.float32), n_rounds)
    return len(caught), len(trained)


def test_it_is_told_of_from_a_third_on(monkeypatch):
    label = RNG.normal(size=N).astype(np.float32)
    spread = np.sqrt(((label - label.mean()) ** 2).mean())
    # The loss of the mean is that of a q which knows nothing; a third of it is where a suspicion begins.
    for share, others, expected in (
        (0.34, 9.0, (0, 0)),
        (0.33, 9.0, (1, 1)),
        (0.3, 0.95 * spread, (1, 1)),
        (0.3, 0.85 * spread, (0, 1)),
    ):
        q = label + share * spread
        assert told_of(q, label, others=others, monkeypatch=monkeypatch) == expected, share
    # Weights count: rows in which q is far off weigh nothing.
    q, weight = label.copy(), np.ones(N)
    q[:20], weight[:20] = 50, 0
    assert told_of(q, label, weight, others=9.0, monkeypatch=monkeypatch) == (1, 1)
    assert told_of(q, label, others=9.0, monkeypatch=monkeypatch) == (0, 0)
    weight = np.where(np.arange(N) == 0, 1.0, 1e-6)
    # Of one row that counts the weighted mean is that row itself.
    assert told_of(label + 0.1, label, weight, others=9.0, monkeypatch=monkeypatch) == (0, 0)


def test_classes_have_a_mean_each(monkeypatch):
    label = np.arange(N) % 3
    q = np.eye(3)[label] * 0.8 + 0.2 / 3
    monkeypatch.setattr(repetition, "_loss_on_others", lambda *_: 9.0)
    matrix, spec = xgb.DMatrix(np.zeros((N, 1)), label), Spec.read({"objective": "multi:softprob", "num_class": 3})
    with pytest.warns(UserWarning, match=r"loss.*0\.1...*9\.000"):
        warn_of_repetition(spec, matrix, np.empty(0), q.astype(np.float32), 5)


@pytest.mark.parametrize(("n_rows", "looked_at"), [(19, 0), (20, 1), (20_000, 1), (20_001, 0)])
def test_neither_few_rows_nor_many_are_looked_at(n_rows, looked_at, monkeypatch):
    label = np.arange(n_rows, dtype=np.float32)
    assert told_of(label, label, others=9.0, monkeypatch=monkeypatch) == (looked_at, looked_at)


def test_what_cannot_repeat_is_not_looked_at(monkeypatch):
    label = np.arange(1.0, N + 1)
    for objective in ("count:poisson", "reg:absoluteerror"):
        assert told_of(label, label, objective=objective, monkeypatch=monkeypatch) == (0, 0)
    two = np.stack([label, label], axis=1)
    assert told_of(two, two, others=9.0, monkeypatch=monkeypatch) == (0, 0)


def stopped(curve, patience):
    """The best of a curve, up to where nothing better came for so many rounds."""
    best = 0
    for i, value in enumerate(curve):
        best = i if value < curve[best] else best
        if i - best == patience:
            break
    return curve[best]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_other_teacher_is_xgboosts_stopped_in_time(weighted, capfd):
    rng = np.random.default_rng(286)  # of which something better comes just after its patience has ended
    x = rng.normal(size=(N, 2))
    y, weight = (x[:, 0] + rng.normal(size=N) > 0).astype(np.float32), rng.uniform(0.2, 2, N)
    params = {"objective": "binary:logistic", "nthread": 1, "eta": 4.0, "max_depth": 3, "min_child_weight": 0}
    parts = [
        xgb.DMatrix(x[rows], y[rows], weight=weight[rows] if weighted else None)
        for rows in repetition.deal_folds(y, 5, 0)[0]
    ]
    log = {}
    watched = {"evals": [(parts[1], "others")], "evals_result": log, "verbose_eval": False}
    xgb.train({**params, "eval_metric": "logloss"}, parts[0], 40, **watched)
    curve = log["others"]["logloss"]
    spec = Spec.read(params | {"eval_metric": "error", "verbosity": 1})
    found = repetition._loss_on_others(spec, xgb.DMatrix(x, y), weight if weighted else np.empty(0), 40)
    assert found == stopped(curve, 5)
    assert weighted or stopped(curve, 6) < found
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("weight", [np.empty(0), WEIGHT])
def test_knowing_nothing_is_saying_the_share_of_each_class(weight):
    label, spec = np.arange(N) % 5 // 2, {"objective": "multi:softprob", "num_class": 3}
    weights = weight if weight.size else np.ones(N)
    share = np.array([weights[label == k].sum() for k in range(3)]) / weights.sum()
    found = repetition._loss_of_the_mean(Spec.read(spec).loss, np.zeros((N, 3)), label.astype(np.float32), weight)
    assert found == pytest.approx(-(share * np.log(share)).sum(), rel=1e-5)

"""Small seeded problems, the formulas written a second time, and the two algorithms as plain loops.

Nothing here calls the package for a formula: what it computes is what the package is held against.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import xgboost as xgb

from pi_xgb._core.losses import LOSSES
from pi_xgb.datasets import make_privileged

OBJECTIVES = [name for name, loss in LOSSES.items() if "callback" in loss.engines]
AMOUNTS = ("count:poisson", "reg:gamma", "reg:tweedie")
LOGISTIC = ("binary:logistic", "binary:logitraw", "reg:logistic")
N_CLASSES = 3


@dataclass(frozen=True)
class Problem:
    """Rows with known labels, a weight and a teacher's q each, for one objective."""

    objective: str
    x: Any
    z: Any
    y: np.ndarray
    weight: np.ndarray
    q: np.ndarray

    def params(self, **more: Any) -> dict[str, Any]:
        base = {"objective": self.objective, "max_depth": 3, "eta": 0.5, "nthread": 1, "seed": 3}
        if self.objective.startswith("multi"):
            base["num_class"] = N_CLASSES
        return {**base, **more}

    def dtrain(self, *, weighted: bool = False) -> xgb.DMatrix:
        return xgb.DMatrix(self.x, self.y, weight=self.weight if weighted else None)

    def dprivileged(self, *, weighted: bool = False) -> xgb.DMatrix:
        return xgb.DMatrix(self.z, self.y, weight=self.weight if weighted else None)


def problem(objective: str, n_rows: int = 200, seed: int = 0) -> Problem:
    """Continuous features, fewer rows than bins: no two splits are equally good and no sketch is approximate."""
    data = make_privileged(n_rows, n_features=5, strength=1.5, seed=seed)
    rng = np.random.default_rng(seed + 1)
    weight = rng.uniform(0.5, 2.0, n_rows).astype(np.float32)
    score = data.z.to_numpy()[:, 0]
    if objective.startswith("multi"):
        q = rng.dirichlet(np.ones(N_CLASSES), n_rows)
        y = np.digitize(score + rng.normal(size=n_rows), [-0.7, 0.7])
    elif objective in LOGISTIC:
        q, y = data.q.to_numpy(), data.y.to_numpy()
    elif objective in AMOUNTS:
        q = np.exp(0.5 * score)
        y = rng.gamma(2.0, q / 2) if objective == "reg:gamma" else rng.poisson(q)
    else:
        q, y = 2 * score, 2 * score + rng.normal(size=n_rows)
    return Problem(objective, data.x, data.z, y.astype(np.float32), weight, q.astype(np.float32))


# --- the formulas, a second time -------------------------------------------------------------------------------


def mean_of(objective: str, margin: np.ndarray) -> np.ndarray:
    """float32 in, float32 out, one expression each."""
    if objective in LOGISTIC:
        return np.float32(1) / (np.float32(1) + np.exp(np.minimum(-margin, np.float32(88.7))))
    if objective in AMOUNTS:
        return np.exp(margin)
    if objective == "reg:squarederror":
        return margin
    e = np.exp(margin - margin.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True, dtype=np.float64).astype(np.float32)


def start_at(objective: str, mean: Any) -> np.ndarray:
    """What a model predicts that has only XGBoost's intercept for labels of this mean.

    XGBoost 3.1 takes the shares of the classes for margins; from 3.2 on it starts at the shares themselves.
    """
    if objective.startswith("multi") and tuple(map(int, xgb.__version__.split(".")[:2])) < (3, 2):
        return np.exp(mean) / np.exp(mean).sum()
    if objective == "binary:logitraw":  # the mean of the labels is taken for a margin
        return 1 / (1 + np.exp(-np.asarray(mean)))
    return np.asarray(mean)


def as_mean(objective: str, y: np.ndarray) -> np.ndarray:
    return np.eye(N_CLASSES, dtype=np.float32)[y.astype(int)] if objective.startswith("multi") else y


def gradient_of(
    objective: str,
    margin: np.ndarray,
    y: np.ndarray,
    weighted_targets: list[tuple[np.ndarray, float]],
    weight: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Blended gradient and Hessian in float32, in the order of operations of the table of objectives."""
    p = mean_of(objective, margin)
    total = 1.0 + sum(a for _, a in weighted_targets)
    pulled = as_mean(objective, y)
    for q, a in weighted_targets:
        pulled = pulled + np.float32(a) * q
    target = pulled / np.float32(total)
    factor = np.float32(total) if weight is None else np.float32(total) * weight
    if objective.startswith("multi") and weight is not None:
        factor = factor[:, None]
    if objective in AMOUNTS:
        slope, curvature = of_amounts(objective, p, target)
        return slope * factor, curvature * factor
    if objective == "reg:squarederror":
        curvature = np.ones_like(p)
    else:
        twice = np.float32(2) if objective.startswith("multi") else np.float32(1)
        curvature = np.maximum((np.float32(1) - p) * p * twice, np.float32(1e-16))
    return (p - target) * factor, curvature * factor


def of_amounts(objective: str, p: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian of counts and costs, at XGBoost's default params."""
    if objective == "count:poisson":
        return p - t, p * np.exp(np.float32(0.7))
    if objective == "reg:gamma":
        return np.float32(1) - t / p, t / p
    down, up = np.float32(-0.5), np.float32(0.5)
    return p**down * p - t * p**down, up * (p**down * p) + up * (t * p**down)


def formula_gradient(
    objective: str, margin: np.ndarray, y: np.ndarray, q: np.ndarray, a: float, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """w [(p - y) + a (p - q)] and w (1 + a) p (1 - p) as the paper writes them, in float64 until the end."""
    f, w = margin.astype(np.float64), 1.0 if weight is None else weight.astype(np.float64)
    if objective.startswith("multi"):
        e = np.exp(f - f.max(axis=1, keepdims=True))
        p = e / e.sum(axis=1, keepdims=True)
        curvature = 2 * p * (1 - p)
        w = w if weight is None else w[:, None]
    elif objective in LOGISTIC:
        p = 1 / (1 + np.exp(-f))
        curvature = p * (1 - p)
    elif objective in AMOUNTS:
        parts = [of_amounts(objective, np.exp(f), found.astype(np.float64)) for found in (y, q)]
        grad, hess = (w * (of_y + a * of_q) for of_y, of_q in zip(*parts, strict=True))
        return grad.astype(np.float32), hess.astype(np.float32)
    else:
        p, curvature = f, np.ones_like(f)
    grad = w * ((p - as_mean(objective, y)) + a * (p - q))
    hess = w * (1 + a) * np.maximum(curvature, 1e-16)
    return grad.astype(np.float32), hess.astype(np.float32)


# --- the two algorithms as plain loops -------------------------------------------------------------------------


def margin_of(booster: xgb.Booster, matrix: xgb.DMatrix) -> np.ndarray:
    return booster.predict(matrix, output_margin=True, training=True)


def kbpib_loop(
    params: dict[str, Any],
    dtrain: xgb.DMatrix,
    rounds: int,
    weighted_targets: list[tuple[np.ndarray, float]],
    weight: np.ndarray | None = None,
) -> xgb.Booster:
    """Algorithm 1's student: one booster, the same q in every round."""
    student, y = xgb.Booster(params, [dtrain]), dtrain.get_label()
    for i in range(rounds):
        grad, hess = gradient_of(params["objective"], margin_of(student, dtrain), y, weighted_targets, weight)
        student.boost(dtrain, i, grad=grad, hess=hess)
    return student


def jpib_loop(
    params: dict[str, Any],
    dtrain: xgb.DMatrix,
    dprivileged: xgb.DMatrix,
    rounds: int,
    a: float,
    weight: np.ndarray | None = None,
    *,
    teacher_params: dict[str, Any] | None = None,
    pull_on_teacher: float | None = None,
    others: list[tuple[np.ndarray, float]] = (),  # type: ignore[assignment]
) -> tuple[xgb.Booster, xgb.Booster]:
    """Algorithm 2: f gets a tree with q of f' so far, then f' gets a tree with p of f so far."""
    objective, y = params["objective"], dtrain.get_label()
    b = a if pull_on_teacher is None else pull_on_teacher
    f = xgb.Booster(params, [dtrain])
    g = xgb.Booster(teacher_params or params, [dprivileged])
    for i in range(rounds):
        q = mean_of(objective, margin_of(g, dprivileged))
        grad, hess = gradient_of(objective, margin_of(f, dtrain), y, [(q, a), *others], weight)
        f.boost(dtrain, i, grad=grad, hess=hess)
        p = mean_of(objective, margin_of(f, dtrain))
        grad, hess = gradient_of(objective, margin_of(g, dprivileged), y, [(p, b)], weight)
        g.boost(dprivileged, i, grad=grad, hess=hess)
    return f, g


# --- comparing models ------------------------------------------------------------------------------------------


def learner(booster: xgb.Booster) -> dict[str, Any]:
    """The saved model without its attributes, which only say who made it. JSON numbers round-trip exactly."""
    model = json.loads(booster.save_raw("json"))["learner"]
    return {key: value for key, value in model.items() if key != "attributes"}


def trees(booster: xgb.Booster) -> list[dict[str, Any]]:
    return learner(booster)["gradient_booster"]["model"]["trees"]


def base_score_of(booster: xgb.Booster) -> Any:
    """The intercept as it stands in the model, in the form in which params take it."""
    saved = json.loads(booster.save_raw("json"))["learner"]["learner_model_param"]["base_score"]
    values = json.loads(saved) if saved.startswith("[") else [float(saved)]
    return values if len(values) > 1 else values[0]


def assert_same_model(actual: xgb.Booster, expected: xgb.Booster) -> None:
    """The same model to the bit; tree by tree first, so that a failure names the round."""
    ours, theirs = trees(actual), trees(expected)
    for i, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
        assert mine == other, f"tree {i} of {len(theirs)} differs"
    assert len(ours) == len(theirs)
    assert learner(actual) == learner(expected)


def assert_same_splits(actual: xgb.Booster, expected: xgb.Booster) -> None:
    """The same splits in every tree; leaf values may differ in the last bits."""
    ours, theirs = actual.trees_to_dataframe(), expected.trees_to_dataframe()
    columns = ["Tree", "Node", "Feature", "Split", "Yes", "No", "Missing"]
    assert ours[columns].equals(theirs[columns])

"""Seeded problems for every objective, the stack of rows that is one model with them, and formulas written twice.

Nothing here calls the package: what it computes is what the package is held against.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import xgboost as xgb

LOGISTIC = ("binary:logistic", "binary:logitraw", "reg:logistic")
AMOUNTS = ("count:poisson", "reg:gamma", "reg:tweedie")
ONE_VALUE = (*LOGISTIC, "reg:squarederror", *AMOUNTS)
CLASSES = ("multi:softprob", "multi:softmax")
BLENDED = (*ONE_VALUE, *CLASSES)
RANKINGS = ("rank:ndcg", "rank:pairwise")
NUMBERS = ("reg:absoluteerror", "reg:pseudohubererror", "reg:quantileerror", "reg:squaredlogerror", "survival:aft")
COPIED = (*NUMBERS, *RANKINGS)
OBJECTIVES = (*BLENDED, *COPIED)
"""Every objective that a teacher can guide; test_losses compares the list with the package's."""

_ONE_TARGET = tuple(map(int, xgb.__version__.split(".")[:2])) < (3, 2)  # XGBoost 3.1: of counts and Tweedie's amounts
OF_TARGETS = tuple(name for name in ONE_VALUE if not (_ONE_TARGET and name in ("count:poisson", "reg:tweedie")))
TARGETS = tuple(f"{name}/{how}" for name in OF_TARGETS for how in ("one_output_per_tree", "multi_output_tree"))
"""Objectives of two targets, as "objective/strategy"."""

N_CLASSES = 3
_OWN = {
    "reg:quantileerror": {"quantile_alpha": 0.7},
    "survival:aft": {"aft_loss_distribution_scale": 0.8},
    "rank:ndcg": {"ndcg_exp_gain": False},
}


def engines_of(name: str) -> tuple[str, ...]:
    """The engines that train this objective."""
    if name in COPIED:
        return ("copies",)
    return ("callback",) if name in CLASSES else ("callback", "native")


class Problem:
    """Rows of few distinct values per column, so that every way of drawing cuts draws the same ones, with gaps."""

    def __init__(self, name: str, seed: int = 0, n_rows: int = 160) -> None:
        self.objective, _, strategy = name.partition("/")
        self.n = n = n_rows
        rng = np.random.default_rng(seed)
        self.x = rng.integers(0, 12, (n, 4)).astype(np.float32)
        self.z = rng.integers(0, 12, (n, 3)).astype(np.float32)
        signal = self.x[:, 0] / 4 + self.z[:, 0] / 3
        signal = signal - signal.mean()
        self.x[rng.random((n, 4)) < 0.15] = np.nan
        y, q = _label_and_q(self.objective, signal, rng)
        other = _label_and_q(self.objective, signal[::-1], rng)[1]
        self.weight = rng.choice([0.5, 1.0, 2.0], n).astype(np.float32)
        self.labelled = rng.random(n) < 0.5
        self.labelled[:9] = True
        self.teacher_weight = rng.choice([0.3, 1.0, 2.5], n)
        self.margin = rng.choice([-0.5, 0.0, 0.5], n).astype(np.float32)
        self.qid = np.repeat(np.arange(n // 10), 10) if self.objective in RANKINGS else None
        if self.qid is not None:  # weights of queries; some queries are labelled in part
            self.labelled = self.labelled[self.qid] | (np.arange(n) % 17 == 0)
            self.teacher_weight, self.weight = self.teacher_weight[self.qid], self.weight[: n // 10]
        self.teacher_weight[self.labelled & (np.arange(n) % 7 == 0)] = 0
        if strategy:
            y, q, other = (np.stack([values, values[::-1]], axis=1) for values in (y, q, other))
        if strategy or self.objective in CLASSES:
            self.margin = np.stack([self.margin] * (2 if strategy else N_CLASSES), axis=1)
        self.q, self.other, self.y = q.astype(np.float32), other.astype(np.float32), y.astype(np.float32)
        self.fields = {"label": self.y}
        if self.objective == "survival:aft":
            upper = np.where(rng.random(n) < 0.3, np.inf, self.y)
            self.fields = {"label_lower_bound": self.y, "label_upper_bound": upper.astype(np.float32)}
        self._params = {"objective": self.objective, **_OWN.get(self.objective, {})}
        if strategy:
            self._params["multi_strategy"] = strategy
        if self.objective in CLASSES:
            self._params["num_class"] = N_CLASSES

    @property
    def start(self) -> Any:
        """A base_score that is no objective's default."""
        return [0.6] * self.margin.shape[1] if self.margin.ndim == 2 else 0.6

    def params(self, **more: Any) -> dict[str, Any]:
        return {**self._params, "max_depth": 3, "eta": 0.5, "nthread": 1, "seed": 3, **more}

    def matrix(self, values: Any, *, weighted: bool = False, kind: Any = xgb.DMatrix, **more: Any) -> xgb.DMatrix:
        return kind(values, **self.fields, weight=self.weight if weighted else None, qid=self.qid, **more)

    def dtrain(self, **more: Any) -> xgb.DMatrix:
        return self.matrix(self.x, **more)

    def dprivileged(self, **more: Any) -> xgb.DMatrix:
        return self.matrix(self.z, feature_names=["u", "v", "w"], **more)

    def margins(self, booster: xgb.Booster, **more: Any) -> np.ndarray:
        return booster.predict(xgb.DMatrix(self.x, **more), output_margin=True)


def _label_and_q(objective: str, signal: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A label and a teacher's q for each row, both of which grow with the signal."""
    n, score = len(signal), 1 / (1 + np.exp(-signal))
    if objective in LOGISTIC:
        return rng.random(n) < score, score
    if objective in CLASSES:
        return np.digitize(signal + rng.normal(size=n), [-0.7, 0.7]), rng.dirichlet(np.ones(N_CLASSES), n)
    if objective in AMOUNTS:
        mean = np.exp(signal / 2)
        return (rng.gamma(2.0, mean / 2) if objective == "reg:gamma" else rng.poisson(mean)), mean
    noisy = signal + rng.normal(size=n) / 2
    if objective in RANKINGS:
        return np.clip(np.round(noisy + 1), 0, 4), np.clip(signal + 1, 0, 4)
    if objective in NUMBERS:
        low = 0.5 if objective == "reg:squaredlogerror" else 0.0  # whose numbers lie above -1
        return np.exp(noisy / 2) - low, np.exp(signal / 2) - low
    return noisy, signal


# --- stacked rows ----------------------------------------------------------------------------------------------


def stacked(
    case: Problem,
    params: dict[str, Any],
    rounds: int,
    teachers: list[tuple[np.ndarray, Any]],
    *,
    labelled: Any = None,
    weighted: bool = False,
    margin: Any = None,
    scale: float = 1.0,
) -> xgb.Booster:
    """XGBoost on the labelled rows and, below them, one part of rows labelled q and weighted a for each teacher."""
    known = np.ones(case.n, bool) if labelled is None else labelled
    weight = case.weight if weighted else np.ones_like(case.weight)
    weight = weight if case.qid is None else weight[case.qid]
    weight = weight * np.where(known & (case.fields.get("label", case.q) == 1), scale, 1) if scale != 1 else weight
    parts: list[tuple[np.ndarray, Any, np.ndarray]] = [(known, None, weight)]
    for q, a in teachers:
        counts = weight * np.broadcast_to(a, case.n)
        if case.objective in CLASSES:  # one row for each class
            parts += [(counts > 0, np.full(case.n, k), counts * q[:, k]) for k in range(N_CLASSES)]
        else:
            parts.append((counts > 0, q, counts))
    rows = np.concatenate([np.flatnonzero(chosen) for chosen, _, _ in parts])
    fields = {
        name: np.concatenate([(own if label is None else label)[chosen] for chosen, label, _ in parts])
        for name, own in case.fields.items()
    }
    more = {} if margin is None else {"base_margin": margin[rows]}
    weights = np.concatenate([values[chosen] for chosen, _, values in parts])
    if case.qid is not None:
        qid = np.concatenate([case.qid[chosen] + 1000 * i for i, (chosen, _, _) in enumerate(parts)])
        more["qid"], first = qid, np.unique(qid, return_index=True)[1]
        # XGBoost divides the weights of queries by their mean: penalties are held against another gradient.
        weights = weights[first]
        ratio = weights[qid[first] < 1000].mean() / weights.mean() if known.any() else 1.0
        params = {**params, "reg_lambda": ratio, "min_child_weight": ratio}
    return xgb.train(params, xgb.DMatrix(case.x[rows], **fields, weight=weights, **more), rounds)


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
    """The mean at which XGBoost starts for labels of this mean."""
    if objective in CLASSES and _ONE_TARGET:  # XGBoost 3.1 takes the shares of the classes for margins
        return np.exp(mean) / np.exp(mean).sum()
    if objective == "binary:logitraw":  # the mean of the labels is taken for a margin
        return 1 / (1 + np.exp(-np.asarray(mean)))
    return np.asarray(mean)


def one_hot(objective: str, y: np.ndarray) -> np.ndarray:
    return np.eye(N_CLASSES, dtype=np.float32)[y.astype(int)] if objective in CLASSES else y


def gradient_of(
    objective: str,
    margin: np.ndarray,
    y: np.ndarray,
    teachers: list[tuple[np.ndarray, Any]],
    *,
    weight: Any = None,
    labelled: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """w [m (p - y) + sum a (p - q)] and its Hessian in float32, as a blended target and a factor."""
    p = mean_of(objective, margin)

    def per_mean(values: Any) -> Any:
        return values[:, None] if p.ndim == 2 and np.ndim(values) == 1 else values

    known = np.ones(len(y)) if labelled is None else labelled.astype(float)
    total = np.float32(known + sum(np.asarray(a, float) for _, a in teachers))
    target = one_hot(objective, y) * per_mean(np.float32(known))
    for q, a in teachers:
        target = target + per_mean(np.float32(a)) * q
    target = target / per_mean(total)
    factor = per_mean(total if weight is None else total * weight)
    if objective in AMOUNTS:
        slope, curvature = of_amounts(objective, p, target)
    else:
        slope, curvature = p - target, np.ones_like(p)
        if objective != "reg:squarederror":
            twice = np.float32(2 if objective in CLASSES else 1)
            curvature = (np.float32(1) - p) * p * twice
    return slope * factor, np.maximum(curvature, np.float32(1e-16)) * factor


def of_amounts(objective: str, p: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and Hessian of counts and costs, at XGBoost's default params."""
    if objective == "count:poisson":
        return p - t, p * np.exp(np.float32(0.7))
    if objective == "reg:gamma":
        return np.float32(1) - t / p, t / p
    down, up = np.float32(-0.5), np.float32(0.5)
    return p**down * p - t * p**down, up * (p**down * p) + up * (t * p**down)


# --- the two algorithms as plain loops -------------------------------------------------------------------------


def margin_of(booster: xgb.Booster, matrix: xgb.DMatrix) -> np.ndarray:
    return booster.predict(matrix, output_margin=True, training=True)


def kbpib_loop(
    params: dict[str, Any], dtrain: xgb.DMatrix, y: np.ndarray, rounds: int, teachers: list[Any], **rows: Any
) -> xgb.Booster:
    """Algorithm 1's student: one booster, the same q in every round."""
    student = xgb.Booster(params, [dtrain])
    for i in range(rounds):
        grad, hess = gradient_of(params["objective"], margin_of(student, dtrain), y, teachers, **rows)
        student.boost(dtrain, i, grad=grad, hess=hess)
    return student


def jpib_loop(
    params: dict[str, Any],
    dtrain: xgb.DMatrix,
    dprivileged: xgb.DMatrix,
    y: np.ndarray,
    rounds: int,
    a: Any,
    *,
    teacher_params: dict[str, Any] | None = None,
    weight_on_teacher: Any = None,
    others: tuple[tuple[np.ndarray, float], ...] = (),
    **rows: Any,
) -> tuple[xgb.Booster, xgb.Booster]:
    """Algorithm 2: f gets a tree with q of f' so far, then f' gets a tree with p of f so far."""
    objective, b = params["objective"], a if weight_on_teacher is None else weight_on_teacher
    f, g = xgb.Booster(params, [dtrain]), xgb.Booster(teacher_params or params, [dprivileged])
    for i in range(rounds):
        q = mean_of(objective, margin_of(g, dprivileged))
        grad, hess = gradient_of(objective, margin_of(f, dtrain), y, [(q, a), *others], **rows)
        f.boost(dtrain, i, grad=grad, hess=hess)
        p = mean_of(objective, margin_of(f, dtrain))
        grad, hess = gradient_of(objective, margin_of(g, dprivileged), y, [(p, b)], **rows)
        g.boost(dprivileged, i, grad=grad, hess=hess)
    return f, g


def by_objective(params: Any, dtrain: xgb.DMatrix, rounds: int, objective: Any, **more: Any) -> xgb.Booster:
    """xgboost.train with an objective that adapts to the booster, as a user calls it."""
    return xgb.train(params, dtrain, rounds, obj=objective, **more)


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
